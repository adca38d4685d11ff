// How the time view draws its series: by logarithms, each in a chart, with marks in time.
import { strict as assert } from "node:assert";
import { drop, keys, log, open, picture, settled, STILL } from "./steps.mjs";

const pressed = (page, name) => page.getByRole("button", { name, exact: true, pressed: true });

export const tests = [
  [
    "draws each series in a chart of its own, on the same axes",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=time&by=service&series=4`);
      await page.getByRole("button", { name: "A chart each" }).click();
      await pressed(page, "A chart each").waitFor();
      assert.equal(keys(page).get("panels"), "each");
      const charts = page.getByTestId("panels").getByRole("img");
      await charts.nth(4).waitFor();
      assert.equal(await charts.count(), 5, "four series, and the others");
      await page.getByRole("checkbox", { name: "Draw Other" }).click();
      await charts.nth(4).waitFor({ state: "detached" });
      await picture(page, "series-panels");
      await page.setViewportSize({ width: 390, height: 844 });
      await page.waitForFunction(() => document.documentElement.scrollWidth <= 390);
    },
  ],
  [
    "draws values by their logarithms, and says what has no place there",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=time&by=service&show=p95(latency_us)`);
      await page.getByRole("button", { name: "Log scale" }).click();
      await pressed(page, "Log scale").waitFor();
      assert.equal(keys(page).get("scale"), "log");
      assert.equal(await page.getByText("have no place on a logarithmic axis").count(), 0);
      await picture(page, "series-log");
      await page.reload();
      await settled(page);
      await pressed(page, "Log scale").waitFor();
      await open(page, `${url}/?${STILL}&view=time&show=min(status)+-+1000&scale=log`);
      await page.getByText("have no place on a logarithmic axis").waitFor();
    },
  ],
  [
    "marks the rows of a table in time, by what a column calls them",
    async ({ page, url }) => {
      const at = new Date(Date.now() - 30 * 3_600_000).toISOString();
      await log(url, "deploys", [{ time: at, version: "r99 <b>new</b>" }]);
      try {
        await open(page, `${url}/?${STILL}&view=time`);
        await page.getByRole("button", { name: "Marks" }).click();
        await page.getByRole("combobox", { name: "Marks are the rows of" }).fill("depl");
        await page.getByRole("option", { name: "deploys" }).click();
        await page.getByTestId("marks").getByText(/deploys$/).waitFor();
        await page.getByRole("combobox", { name: "Named by" }).click();
        await page.getByRole("option", { name: "version" }).click();
        await page.getByTestId("marks").getByText(/r99 <b>new<\/b>$/).waitFor();
        assert.equal(keys(page).get("marks"), "deploys version");
        await page.keyboard.press("Escape");
        await picture(page, "series-marks");
        await open(page, `${url}/?${STILL}&view=time&marks=nowhere`);
        await page.getByText("There is no table nowhere to take marks from.").waitFor();
      } finally {
        await drop(url, "deploys");
      }
    },
  ],
];
