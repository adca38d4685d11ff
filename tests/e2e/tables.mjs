// The page's description of a whole table.
import { strict as assert } from "node:assert";
import { drop, log, open, picture } from "./steps.mjs";

export const tests = [
  [
    "says which column places the rows in time, and from when on there are some",
    async ({ page, url }) => {
      const [first, last] = [2, 1].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString());
      const rows = [first, last].map((moment) => ({ happened: moment, due: "2026-01-01T00:00:00Z", state: "done" }));
      await log(url, "deliveries", rows, { "Hadal-Time": "happened" });
      await open(page, `${url}/?table=deliveries`);
      await page.keyboard.press("t");
      const words = await page.getByText("A row’s time is its").innerText();
      const clock = (moment) => moment.slice(11, 19).replace(/:00$/, "");
      assert.match(words, new RegExp(`its happened: rows from .+ ${clock(first)} to .+ ${clock(last)}, none older than 30 days$`));
      await picture(page, "row-time");
      await page.keyboard.press("Escape");
      await page.getByRole("tab", { name: "Columns" }).click();
      const marked = page.getByRole("button").filter({ hasText: "row time" });
      assert.match(await marked.innerText(), /^happened/);
      assert.equal(await marked.count(), 1);
      await picture(page, "columns");
      await drop(url, "deliveries");
    },
  ],
  [
    "copies a link to one row",
    async ({ page, url }) => {
      const rows = [1, 2, 3].map((n) => ({ time: new Date(Date.now() - n * 60_000).toISOString(), n }));
      await log(url, "linked", rows);
      try {
        await open(page, `${url}/?table=linked&view=samples`);
        await page.getByRole("button", { name: "Row details" }).nth(1).click();
        await page.getByRole("button", { name: "Copy link" }).click();
        await page.getByText("Copied a link to this row").waitFor();
        await open(page, await page.evaluate(() => navigator.clipboard.readText()));
        const shown = page.locator("table.samples tbody tr");
        assert.equal(await shown.count(), 1);
        assert.match(await shown.innerText(), /2$/);
      } finally {
        await drop(url, "linked");
      }
    },
  ],
  [
    "shows the columns of a table that was made anew",
    async ({ page, url }) => {
      await log(url, "again", [{ before: 1 }]);
      await open(page, `${url}/?table=again&from=-1h`);
      await page.getByRole("tab", { name: "Columns" }).click();
      const column = (name) => page.getByRole("tabpanel").getByRole("button", { name });
      await column("before").waitFor();
      await drop(url, "again");
      await log(url, "again", [{ after: 1 }]);
      await column("after").waitFor();
      assert.equal(await column("before").count(), 0);
      await drop(url, "again");
    },
  ],
];
