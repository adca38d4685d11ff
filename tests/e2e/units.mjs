// Numbers in their units: those that names say, and those that a person sets.
import { strict as assert } from "node:assert";
import { drop, log, open, picture, settled, STILL, view } from "./steps.mjs";

export const tests = [
  [
    "shows numbers in the unit that a person sets for a column",
    async ({ page, url }) => {
      const rows = Array.from({ length: 20 }, (_, at) => ({ took: 250_000 + at, kind: "a" }));
      await log(url, "timed", rows);
      try {
        await open(page, `${url}/?table=timed&view=table&by=kind&show=max(took)`);
        await page.getByText("250 k", { exact: true }).first().waitFor();
        await page.getByRole("tab", { name: "Columns" }).click();
        await page.getByRole("tabpanel").getByRole("button", { name: "took" }).click();
        await page.getByLabel("Unit of took").selectOption("us");
        await page.getByRole("cell", { name: "250 ms" }).first().waitFor();
        for (const name of ["Bars", "Time series", "Distribution"]) {
          await (await view(page, name).count() > 0 ? view(page, name).click() : chooseMore(page, name));
          await settled(page);
          await page.getByTestId("view").getByText(/250 ms/).first().waitFor();
        }
        await picture(page, "units");
        // The table's settings have the unit, and so do other browsers.
        await page.waitForFunction(() => localStorage.getItem("hadal-units:timed") === null);
        await page.reload();
        await settled(page);
        await page.getByTestId("view").getByText(/250 ms/).first().waitFor();
      } finally {
        await drop(url, "timed");
      }
    },
  ],
  [
    "reads the same number with the same unit in every view",
    async ({ page, url }) => {
      for (const name of ["table", "bar", "pivot&by=datacenter", "number"]) {
        await open(page, `${url}/?${STILL}&view=${name}&by=service&show=max(latency_us)`);
        const words = await page.getByTestId("view").locator(".fresh").innerText();
        assert.match(words, /\d( s|\.\d+ s| ms)\b/, name);
        assert.doesNotMatch(words, /\d (k|M)\b(?! rows)/, name);
      }
    },
  ],
  [
    "offers a number column in round steps to group by",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=latency_us`);
      await page.getByRole("button", { name: /^Many values: use latency_us by / }).click();
      await settled(page);
      const [by] = new URL(page.url()).searchParams.getAll("by");
      assert.match(by, /^bucket\(latency_us, \d+\) AS "latency_us by [\d.]+ m?s"$/);
      const rows = await page.locator("table.groups tbody tr").count();
      assert.ok(rows > 3 && rows <= 101, `${rows} rows`);
      await picture(page, "steps");
    },
  ],
  [
    "shows each group's share of the total, and sorts by the whole of a heading's cell",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=datacenter`);
      const shares = await page.locator("table.groups .share").allInnerTexts();
      const sum = shares.reduce((all, text) => all + Number.parseFloat(text), 0);
      assert.ok(Math.abs(sum - 100) < 1, `${shares}`);
      const cell = await page.getByRole("columnheader", { name: "events" }).boundingBox();
      await page.mouse.click(cell.x + 4, cell.y + cell.height / 2);
      await page.locator("th[aria-sort=ascending]").waitFor();
      await page.setViewportSize({ width: 2560, height: 1200 });
      await page.waitForFunction(() => document.querySelector("table.groups").clientWidth < 1300);
      await picture(page, "table-wide");
    },
  ],
  [
    "shows stored rows beside events only where these differ",
    async ({ page, url }) => {
      await log(url, "plain", [{ kind: "a" }, { kind: "a" }, { kind: "b" }]);
      try {
        await open(page, `${url}/?table=plain&view=table&by=kind`);
        await page.getByRole("columnheader", { name: "events" }).waitFor();
        assert.equal(await page.getByRole("columnheader", { name: "rows" }).count(), 0);
        await open(page, `${url}/?${STILL}&view=table&by=datacenter`);
        await page.getByRole("columnheader", { name: "rows" }).waitFor();
      } finally {
        await drop(url, "plain");
      }
    },
  ],
];

async function chooseMore(page, name) {
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name }).first().click();
}
