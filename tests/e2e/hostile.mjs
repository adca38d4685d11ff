// Values and names that want to break a page: markup, long texts, right-to-left, emoji, names that
// objects of JavaScript have. Every view draws them; nothing runs.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drop, open, picture, settled, view } from "./steps.mjs";

const SCRIPT = '<script>globalThis.ran = true</script><img src=x onerror="globalThis.ran = true">';
const TEXTS = [
  SCRIPT,
  "x".repeat(200),
  "لوحة القيادة مع نص طويل من اليمين إلى اليسار",
  "שלום עולם",
  "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301",
  "\u202Egnp.exe",
  "${7*7} {{7*7}} %s \\ ' \" ` |",
  "__proto__",
  "constructor",
  "",
  "  spaces  ",
  "line\nbreak\ttab",
];
const COLUMNS = ["__proto__", "constructor", "toString", SCRIPT, "x".repeat(120), "שלום", "👩‍👩‍👧‍👦", "a.b", 'say "x"', "select"];
const TABLE = "hostile";

/** 10,000 different values in one column, and odd texts in all columns of odd names. */
function rows() {
  const now = Date.now();
  return Array.from({ length: 10_000 }, (_, at) => {
    const odd = COLUMNS.map((name, place) => `${JSON.stringify(name)}: ${JSON.stringify(TEXTS[(at + place) % TEXTS.length])}`);
    const rest = JSON.stringify({
      time: new Date(now - at * 300).toISOString(),
      id: `series ${at}`,
      n: at % 97,
      m: (at * 7) % 1013,
      country: TEXTS[at % TEXTS.length],
      trace: [SCRIPT, TEXTS[at % TEXTS.length], "__proto__"],
      tags: TEXTS.slice(0, 1 + (at % 4)),
    });
    // As text: an object of JavaScript has no column named __proto__.
    return `{${odd.join(", ")}, ${rest.slice(1)}`;
  });
}

const root = fileURLToPath(new URL("../../ui/src/views", import.meta.url));
const kinds = readdirSync(root, { withFileTypes: true })
  .filter((folder) => folder.isDirectory() && readdirSync(`${root}/${folder.name}`).includes("manifest.ts"))
  .map(({ name }) => /kind: "(\w+)"/.exec(readFileSync(`${root}/${name}/manifest.ts`, "utf8"))[1]);

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
const query = (entries) => new URLSearchParams(entries).toString();

async function logHostile(url) {
  const all = rows();
  for (let at = 0; at < all.length; at += 2000) {
    const response = await fetch(`${url}/v1/log/${TABLE}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-ndjson" },
      body: all.slice(at, at + 2000).join("\n"),
    });
    assert.ok(response.ok, await response.text());
  }
}

/** Opens an address; the page stands, nothing in the data ran, and nothing was refused. */
async function stands(page, address, name) {
  await page.goto(address);
  await Promise.race([page.getByTestId("view").first().waitFor(), page.getByTestId("misfit").waitFor()]);
  if ((await page.getByTestId("view").count()) > 0) await settled(page);
  assert.equal(await page.evaluate(() => globalThis.ran), undefined, `${name} ran a script`);
  assert.equal(await page.getByText("The page crashed").count(), 0, name);
  assert.equal(await page.getByRole("alert").count(), 0, `${name}: ${await page.getByRole("alert").allInnerTexts()}`);
  // Long texts are cut or wrapped; the page itself is no wider than the window.
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${name} is ${wider} pixels wider than the window`);
}

export const tests = [
  ["draws hostile values and names in every view, and runs none", async ({ page, url }) => {
    await logHostile(url);
    try {
      const of = (kind, more) => `${url}/?${query([["table", TABLE], ["from", "all"], ["view", kind], ...more])}`;
      const odd = COLUMNS.map(quoted);
      const filters = [["filter", `${quoted("__proto__")} = ${SCRIPT}`], ["filter", "constructor !null"]];
      for (const kind of kinds) {
        await stands(page, of(kind, []), kind);
        await stands(page, of(kind, [["by", odd[0]], ["by", odd[3]], ["show", `approx_count_distinct(${odd[1]})`], ["show", "count(*)"]]), `${kind} by odd names`);
        await stands(page, of(kind, [["by", "country"], ["by", odd[9]], ["of", "n"], ["compare", "previous"], ...filters]), `${kind} with filters`);
      }
      await picture(page, "hostile");
    } finally {
      await drop(url, TABLE);
    }
  }],
  ["draws 10,000 series in every view, and on a phone", async ({ page, url }) => {
    await logHostile(url);
    try {
      const of = (kind) => `${url}/?${query([["table", TABLE], ["from", "all"], ["view", kind], ["by", "id"], ["limit", "1000"], ["series", "50"]])}`;
      for (const width of [1400, 360]) {
        await page.setViewportSize({ width, height: 800 });
        for (const kind of kinds) await stands(page, of(kind), `${kind}, ${width} pixels wide`);
      }
    } finally {
      await drop(url, TABLE);
    }
  }],
  ["offers hostile names in the panel, the menu and the palette", async ({ page, url }) => {
    await logHostile(url);
    try {
      await open(page, `${url}/?${query([["table", TABLE], ["from", "all"], ["view", "bar"], ["by", quoted(SCRIPT)]])}`);
      await page.getByTestId("view").locator("div[role=button]").first().click();
      await page.getByRole("menuitem", { name: "Filter to this" }).click();
      await page.waitForURL(/filter=/);
      await settled(page);
      await page.getByRole("tab", { name: "Columns" }).click();
      for (const name of ["__proto__", "constructor", "toString"]) {
        await page.getByLabel("Find a column").fill(name);
        await page.getByRole("tabpanel").locator("button[aria-expanded]").filter({ hasText: name }).first().click();
        await page.getByRole("button", { name: "Group by", exact: true }).last().click();
        await page.waitForURL((to) => to.searchParams.getAll("by").some((it) => it.includes(name)));
        await settled(page);
      }
      await page.locator("#answer").focus();
      await page.keyboard.press("Control+k");
      await page.getByRole("option").first().waitFor();
      await page.keyboard.press("Escape");
      await view(page, "SQL").click();
      await page.waitForURL(/view=sql/);
      await settled(page);
      assert.equal(await page.evaluate(() => globalThis.ran), undefined);
      await picture(page, "hostile-panel");
    } finally {
      await drop(url, TABLE);
    }
  }],
];
