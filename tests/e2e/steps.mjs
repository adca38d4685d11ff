// The steps of the browser tests. Elements are found by their roles and labels on the page, so that
// a page that a screen reader cannot use fails here.
import { strict as assert } from "node:assert";
import { pictures } from "./demo.mjs";

export const picture = (page, name) => page.screenshot({ path: `${pictures}/${name}.png` });

/** Waits until every view on the page has its answer and drew it. */
export async function settled(page) {
  await page.getByTestId("view").first().waitFor();
  await page.waitForFunction(() => {
    const views = [...document.querySelectorAll("[data-testid=view]")];
    return views.length > 0 && !document.querySelector("[data-busy=true]") && !document.querySelector(".mantine-Skeleton-root");
  });
}

export async function open(page, address) {
  await page.goto(address);
  await settled(page);
}

export const view = (page, name) => page.getByRole("radiogroup", { name: "View" }).getByText(name, { exact: true });
export const keys = (page) => new URL(page.url()).searchParams;
export const menu = (page, item) => page.getByRole("menuitem", { name: item, exact: true });
export const corner = (page) => page.getByTestId("coverage").first();

/** The number of rows that the corner tells. */
export async function rowsBehind(page) {
  await settled(page);
  const text = await corner(page).innerText();
  return Number(/([\d,]+) rows?/.exec(text)?.[1].replaceAll(",", ""));
}

/** What the same question gets when it is asked without the page. */
export async function ask(url, sql) {
  const response = await fetch(`${url}/v1/query`, { method: "POST", body: JSON.stringify({ sql }) });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer.rows;
}

/** So many days ago, to the second. */
const daysAgo = (days) => new Date(Math.floor(Date.now() / 1000 - days * 86_400) * 1000).toISOString();
export const [FROM, TO] = [daysAgo(2), daysAgo(1)];
/** A closed range of the demo, so that live events do not move under a test. */
export const STILL = `table=requests&from=${FROM}&to=${TO}`;
export const IN_STILL = `time >= '${FROM}' AND time < '${TO}'`;

/** The same range a week earlier, in SQL. */
export function weekBefore(from, to) {
  const [first, last] = [from, to].map((it) => new Date(Date.parse(it) - 7 * 86_400_000).toISOString());
  return `time >= '${first}' AND time < '${last}'`;
}

/** A number that is written with commas. */
export const numberIn = (text) => Number(text.replaceAll(",", ""));

/** The moment that the page asked from or to, by its link to a fixed time. */
export async function bound(page, key) {
  await page.getByRole("button", { name: "Share and copy" }).click();
  await menu(page, "Copy link to this fixed time").click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  return new URL(link).searchParams.get(key);
}

/** Logs rows into a table. */
export async function log(url, table, rows, headers = {}) {
  const response = await fetch(`${url}/v1/log/${table}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(rows),
  });
  assert.ok(response.ok, await response.text());
}

/** Drops a table. */
export const drop = (url, table) => fetch(`${url}/v1/tables/${table}`, { method: "DELETE" });
