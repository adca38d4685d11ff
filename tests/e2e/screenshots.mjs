// `make screenshots`: pictures of every view, menu and dialog, light and dark, wide and narrow, from
// the demo, and an index.html that shows them all. An argument names a part of the wanted states.
import { mkdirSync, writeFileSync } from "node:fs";
import { pictures, startBrowser, startServer } from "./demo.mjs";
import { atRest, ready, STATES } from "./states.mjs";

const WIDTHS = [
  ["wide", { width: 1400, height: 900 }],
  ["narrow", { width: 390, height: 844 }],
];
const wanted = process.argv[2] ?? "";
const folder = `${pictures}/every-view`;
mkdirSync(folder, { recursive: true });
const fileOf = (name, colorScheme, width) => `${name.replaceAll(/\W+/g, "-")}-${colorScheme}-${width}.png`;

const ROWS = 1_000_000;
const demo = await startServer("demo", "--rows", String(ROWS), "--seed", "1", "--no-browser");
// Pictures of a demo that is still being filled would lack what they compare with.
for (let rows = 0; rows < ROWS; ) {
  const { tables } = await (await fetch(`${demo.url}/v1/tables`)).json();
  rows = tables.find(({ name }) => name === "requests")?.rows ?? 0;
}
const browser = await startBrowser();
const rows = [];
for (const [name, reach] of STATES) {
  if (!name.includes(wanted)) continue;
  const files = [];
  for (const [width, viewport] of WIDTHS) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ viewport, colorScheme, timezoneId: "UTC" });
      const page = await context.newPage();
      const leave = await reach({ page, url: demo.url });
      await ready(page);
      await atRest(page);
      const file = fileOf(name, colorScheme, width);
      await page.screenshot({ path: `${folder}/${file}` });
      files.push(file);
      await leave?.();
      await context.close();
    }
  }
  rows.push(`<h2>${name}</h2>\n${files.map((file) => `<a href="${file}"><img src="${file}" alt="${file}"></a>`).join("\n")}`);
  console.log(name);
}
await browser.close();
await demo.stop();
const head = '<!doctype html><meta charset="utf-8"><title>Every view</title><style>img { height: 300px; margin: 4px; border: 1px solid gray; }</style>';
writeFileSync(`${folder}/index.html`, `${head}\n${rows.join("\n")}\n`);
console.log(`pictures are in ${folder}/index.html`);
