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
        for (const name of ["Bar chart", "Time series", "Distribution"]) {
          await (await view(page, name).count() > 0 ? view(page, name).click() : chooseMore(page, name));
          await settled(page);
          await page.getByTestId("view").getByText(/250 ms/).first().waitFor();
        }
        await picture(page, "units");
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
        const words = await page.getByTestId("view").innerText();
        assert.match(words, /\d( s|\.\d+ s| ms)\b/, name);
        assert.doesNotMatch(words, /\d (k|M)\b(?! rows)/, name);
      }
    },
  ],
];

async function chooseMore(page, name) {
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name }).first().click();
}
