// Derived columns: an expression with a name, used like any other column.
import { strict as assert } from "node:assert";
import { ask, IN_STILL, keys, menu, open, picture, settled, STILL } from "./steps.mjs";

const cells = (page) => page.locator("main table tbody td").allInnerTexts();

export const tests = [
  ["a derived column is previewed, grouped by, filtered on and measured", async ({ page, url, wrong }) => {
    await open(page, `${url}/?${STILL}&view=table&filter=${encodeURIComponent("kind = server")}`);
    await page.getByRole("tab", { name: "Columns" }).click();
    await page.getByRole("button", { name: "New column" }).click();
    const form = page.getByRole("region", { name: "Derived columns" });
    await form.getByLabel("Name").fill("Status class");
    await form.getByLabel("SQL expression").fill("floor(statsu / 100)");
    await form.getByRole("alert").getByText("no column statsu").waitFor();
    assert.equal(await form.getByRole("button", { name: "Add column" }).isDisabled(), true);
    wrong.splice(0); // The browser notes the refusal.
    await form.getByLabel("SQL expression").fill("floor(status / 100)");
    await form.getByTestId("preview").getByText(/^number: 2 · /).waitFor();
    await picture(page, "derived-preview");
    await form.getByRole("button", { name: "Add column" }).click();
    await page.waitForURL(/define=/);
    assert.equal(keys(page).get("define"), '"Status class" = floor(status / 100)');
    await page.getByRole("tabpanel").getByRole("button").filter({ hasText: "Status class" }).click();
    await page.getByRole("button", { name: "Group by", exact: true }).last().click();
    await page.waitForURL(/by=/);
    await settled(page);
    const [[first, events]] = await ask(url, `SELECT floor(status / 100), count(*) FROM requests WHERE ${IN_STILL} AND kind = 'server' GROUP BY 1 ORDER BY 2 DESC LIMIT 1`);
    const shown = await cells(page);
    assert.equal(shown[0], String(first));
    await picture(page, "derived-table");
    // The value is a filter on the derived column, and a measure of it goes to the same views.
    await page.locator("main table tbody td button").first().click();
    await menu(page, "Filter to this").click();
    await page.waitForURL(/filter=%22Status\+class%22/);
    await settled(page);
    const measured = `${page.url()}&show=${encodeURIComponent('max("Status class")')}&show=count(*)`;
    await open(page, measured);
    const [after] = [await cells(page)];
    assert.ok(after.includes(String(first)), after.join());
    assert.ok(events > 0);
    // Samples have it as a field, and every other view draws.
    for (const kind of ["samples", "time", "overview", "distribution", "heat", "bar", "number"]) {
      const address = new URL(page.url());
      address.searchParams.set("view", kind);
      address.searchParams.set("of", "Status class");
      await open(page, address.href);
      assert.equal(await page.getByRole("alert").count(), 0, kind);
    }
    await page.getByRole("tab", { name: "Columns" }).click();
    await page.getByRole("button", { name: "Remove Status class" }).click();
    await page.waitForURL((to) => !to.searchParams.has("define"));
    assert.equal(keys(page).get("by"), null);
  }],
];
