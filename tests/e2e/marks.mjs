// The menu of a mark: a bar, a point of a line, a cell of a table. The result of each item is
// compared with the same query without the page.
import { strict as assert } from "node:assert";
import { ask, IN_STILL, keys, menu, numberIn, open, picture, rowsBehind, settled, STILL, view } from "./steps.mjs";

/** Stored rows of the still range, of which a condition is true. */
const rowsOf = async (url, condition) =>
  (await ask(url, `SELECT raw_count(*) FROM requests WHERE ${IN_STILL} AND (${condition})`))[0][0];

/** The groups and their rows as the table shows them. */
async function groupsShown(page) {
  await view(page, "Table").click();
  await page.waitForURL(/view=table/);
  await settled(page);
  const lines = await page.locator("table.groups tbody tr:not(.sums)").all();
  const cells = await Promise.all(lines.map((line) => line.getByRole("cell").allInnerTexts()));
  return cells.map((texts) => [...texts.slice(0, -2), numberIn(texts.at(-1))]);
}

/**
 * Chooses each item of a mark. `press` opens its menu and says what it stands for: `condition` in SQL,
 * `only` and `without` as the address has it, and `inTime`, the part of the time that samples are of.
 */
async function chooseEach(page, url, address, press) {
  const all = await rowsOf(url, "true");
  const choose = async (item) => {
    await open(page, address);
    const mark = await press();
    await menu(page, item).click();
    return mark;
  };
  const asked = (key) => keys(page).getAll(key);

  const only = await choose("Filter to this");
  await page.waitForURL(/filter=/);
  const kept = await rowsOf(url, only.condition);
  assert.ok(kept > 0 && kept < all, `${kept} of ${all}`);
  assert.deepEqual(asked("filter"), only.only);
  assert.equal(await rowsBehind(page), kept);

  const exclude = await choose("Exclude");
  await page.waitForURL(/(filter|where)=/);
  assert.deepEqual([...asked("filter"), ...asked("where")], exclude.without);
  assert.equal(await rowsBehind(page), all - kept);

  const group = await choose("Group by…");
  await page.getByLabel("Find a column").fill("status");
  await page.getByRole("menuitem", { name: "status", exact: true }).click();
  await page.waitForURL(/by=status/);
  assert.deepEqual(asked("filter"), group.only);
  const by = asked("by").join(", ");
  const groups = await ask(
    url,
    `SELECT ${by}, raw_count(*) FROM requests WHERE ${IN_STILL} AND (${group.condition}) GROUP BY ${by}`,
  );
  const told = groups.map((row) => row.map((cell, at) => (at < row.length - 1 ? String(cell ?? "(none)") : cell)));
  assert.deepEqual((await groupsShown(page)).toSorted(), told.toSorted());

  const samples = await choose("Samples");
  await page.waitForURL(/view=samples/);
  assert.deepEqual(asked("filter"), samples.only);
  const inTime = samples.inTime ?? "true";
  assert.equal(await rowsBehind(page), await rowsOf(url, `(${samples.condition}) AND ${inTime}`));
}

/** What the menu that is open is about. */
async function label(page) {
  await page.getByRole("menu").waitFor();
  return page.getByRole("menu").locator(".clipped").first().innerText();
}

const tip = (page, text) => page.locator("body > [aria-hidden=true]").filter({ hasText: text });

export const tests = [
  [
    "a bar of a distribution leads to its rows",
    async ({ page, url }) => {
      const bars = page.getByRole("slider", { name: "Values, by size" });
      await chooseEach(page, url, `${url}/?${STILL}&view=distribution&of=latency_us`, async () => {
        const { width, height } = await bars.boundingBox();
        const position = { x: width * 0.3, y: height * 0.8 };
        await bars.hover({ position });
        const said = await tip(page, "values").innerText();
        const [, low, high, events] = /^(\S+) – (\S+)\s+values\s+(\S+)/.exec(said);
        const [from, to] = [numberIn(low), numberIn(high)];
        await bars.click({ position });
        assert.match(await label(page), /^latency_us from \S+ (µs|ms|s) to \S+ (µs|ms|s)$/);
        const condition = `latency_us >= ${from} AND latency_us < ${to}`;
        const [[counted]] = await ask(url, `SELECT count(*) FROM requests WHERE ${IN_STILL} AND ${condition}`);
        assert.equal(numberIn(events), counted);
        return {
          condition,
          only: [`latency_us >= ${from}`, `latency_us < ${to}`],
          without: [`(NOT (${condition}) OR latency_us IS NULL)`],
        };
      });
    },
  ],
  [
    "a point of a line leads to its series, and to its moment",
    async ({ page, url }) => {
      const time = page.getByRole("slider", { name: /by time/ });
      await chooseEach(page, url, `${url}/?${STILL}&view=time&by=kind`, async () => {
        const { width, height } = await time.boundingBox();
        const x = width * 0.5;
        await time.hover({ position: { x, y: height / 2 } });
        const top = await time.locator("[class*=dot]").first().evaluate((dot) => Number.parseFloat(dot.style.top));
        await time.hover({ position: { x, y: top } });
        const rows = numberIn(/(\S+) rows?\b/.exec(await tip(page, "row").innerText())[1]);
        await picture(page, "point");
        await time.click({ position: { x, y: top } });
        const [, name, day, start, endDay = day, end] =
          /^(\w+), (\S+) (\S+) – (?:(\S+) )?(\S+)$/.exec(await label(page));
        const [first, last] = [`${day}T${start}:00Z`, `${endDay}T${end}:00Z`];
        const [condition, inTime] = [`kind = '${name}'`, `time >= '${first}' AND time < '${last}'`];
        assert.equal(await rowsOf(url, `${condition} AND ${inTime}`), rows);
        return { condition, inTime, only: [`kind = ${name}`], without: [`kind != ${name}`] };
      });
    },
  ],
  [
    "a cell of a table leads to its group",
    async ({ page, url }) => {
      await chooseEach(page, url, `${url}/?${STILL}&view=table&by=service`, async () => {
        await page.getByRole("button", { name: "gateway", exact: true }).click();
        assert.equal(await label(page), "gateway");
        return { condition: "service = 'gateway'", only: ["service = gateway"], without: ["service != gateway"] };
      });
    },
  ],
];
