// The command palette, the last queries, undo and redo.
import { strict as assert } from "node:assert";
import { keys, open, picture, settled, STILL } from "./steps.mjs";

const field = (page) => page.getByRole("textbox", { name: "Find a command" });
const option = (page, name) => page.getByRole("option", { name, exact: true });

export const tests = [
  ["the command palette leads to views, columns and tables", async ({ page, url }) => {
    await open(page, `${url}/?${STILL}&view=time`);
    await page.locator("#answer").focus();
    await page.keyboard.press("Control+k");
    await field(page).fill("heat");
    await option(page, "Heat map").waitFor();
    await picture(page, "palette");
    await page.keyboard.press("Enter");
    await page.waitForURL(/view=heat/);
    await settled(page);
    await page.keyboard.press("Control+k");
    await field(page).fill("group datac");
    await option(page, "datacenter").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(/by=datacenter/);
    await page.keyboard.press("Control+k");
    await field(page).fill("tables processes");
    await option(page, "processes").click();
    await page.waitForURL(/table=processes/);
    await settled(page);
    await page.keyboard.press("Control+k");
    await field(page).fill("service health");
    await option(page, "Service health").click();
    await page.getByTestId("board").waitFor();
    await page.keyboard.press("Control+k");
    await field(page).fill("pages home");
    await option(page, "Home").click();
    await page.getByTestId("home").waitFor();
  }],
  ["the last queries are one key away, also in a new tab", async ({ page, url, context }) => {
    await open(page, `${url}/?${STILL}&view=table&by=service`);
    await open(page, `${url}/?${STILL}&view=bar&by=kind`);
    const other = await context.newPage();
    await open(other, `${url}/?${STILL}&view=number`);
    await other.getByRole("button", { name: "Commands and recent queries (Ctrl K)" }).click();
    await other.getByRole("option", { name: /^requests · Table · .* · by service$/ }).click();
    await other.waitForURL(/view=table/);
    await settled(other);
    assert.equal(keys(other).get("by"), "service");
    await other.locator("#answer").focus();
    await other.keyboard.press("Control+z");
    await other.waitForURL(/view=number/);
    await other.keyboard.press("Control+Shift+z");
    await other.waitForURL(/view=table/);
  }],
];
