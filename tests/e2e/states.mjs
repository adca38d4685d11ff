// Every view, menu and dialog of the page on the demo: what pictures are made of, and what the
// checks of accessibility go through.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { freshFolder, startServer } from "./demo.mjs";
import { corner, menu, open, settled, STILL } from "./steps.mjs";

/** An address of each view that shows most of what it can. */
const VIEWS = {
  overview: "",
  time: "&by=service&compare=7d",
  table: "&by=service&by=datacenter&show=count(*)&show=p95(latency_us)&compare=7d",
  distribution: "&of=latency_us&compare=7d",
  samples: "&filter=status >= 500",
  area: "&by=service",
  heat: "&of=latency_us",
  bar: "&by=endpoint&compare=7d",
  pie: "&by=service",
  number: "&show=count(*)&show=p95(latency_us)&show=avg(status >= 500) AS \"error rate\"&compare=7d",
  flame: "",
  treemap: "&by=app&by=service",
  pivot: "&by=service&by=status",
  sankey: "&by=app&by=service&by=datacenter",
  map: "",
  scatter: "&x=bytes&y=latency_us&by=service",
  tail: "&from=-1h",
  why: "&filter=service = checkout",
  sql: "&sql=SELECT service, count(*) AS events FROM requests GROUP BY service ORDER BY events DESC",
};

const root = fileURLToPath(new URL("../../ui/src/views", import.meta.url));
const kinds = readdirSync(root, { withFileTypes: true }).flatMap((folder) => {
  if (!folder.isDirectory() || !readdirSync(`${root}/${folder.name}`).includes("manifest.ts")) return [];
  return /kind: "(\w+)"/.exec(readFileSync(`${root}/${folder.name}/manifest.ts`, "utf8"))[1];
});
assert.deepEqual(kinds.toSorted(), Object.keys(VIEWS).toSorted(), "each view has a state here");

const button = (page, name) => page.getByRole("button", { name, exact: true });
const viewAddress = (url, kind) => `${url}/?${STILL}&view=${kind}${encodeURI(VIEWS[kind]).replaceAll("+", "%2B")}`;

/** A state: its name, and how it is reached. */
const views = Object.keys(VIEWS).map((kind) => [
  kind,
  async ({ page, url }) => {
    await open(page, viewAddress(url, kind));
    assert.equal(await page.getByTestId("misfit").count(), 0, `${kind} does not fit its address`);
  },
]);

/** A state of the sidebar, which a phone shows on request. */
async function openSidebar(page, address) {
  await open(page, address);
  const burger = button(page, "Query panel");
  if (await burger.isVisible()) await burger.click();
}

const others = [
  ["comparison of maps", async ({ page, url }) => open(page, `${viewAddress(url, "map")}&compare=7d`)],
  ["comparison of heat maps", async ({ page, url }) => open(page, `${viewAddress(url, "heat")}&compare=7d`)],
  ["comparison of flames", async ({ page, url }) => open(page, `${viewAddress(url, "flame")}&compare=7d`)],
  ["why since the previous period", async ({ page, url }) => open(page, `${url}/?table=requests&view=why&from=-1h&compare=previous`)],
  ["no rows", async ({ page, url }) => open(page, `${viewAddress(url, "time")}&filter=service = nothing`)],
  [
    "misfit",
    async ({ page, url }) => {
      await page.goto(`${url}/?${STILL}&view=sankey`);
      await page.getByTestId("misfit").waitFor();
    },
  ],
  [
    "wrong SQL",
    async ({ page, url }) => {
      await page.goto(`${url}/?${STILL}&view=time&where=latency >`);
      await page.getByRole("alert").first().waitFor();
    },
  ],
  [
    "query panel",
    async ({ page, url }) => openSidebar(page, `${viewAddress(url, "table")}&filter=service = checkout|cart`),
  ],
  [
    "columns",
    async ({ page, url }) => {
      await openSidebar(page, viewAddress(url, "overview"));
      await page.getByRole("tab", { name: "Columns" }).click();
      await page.getByRole("tabpanel").getByText("latency_us").first().click();
    },
  ],
  [
    "retention",
    async ({ page, url }) => {
      await openSidebar(page, viewAddress(url, "overview"));
      await page.getByRole("tab", { name: "Retention" }).click();
      await page.getByRole("tabpanel").getByText("Save").first().waitFor();
    },
  ],
  [
    "time range",
    async ({ page, url }) => {
      await openSidebar(page, viewAddress(url, "time"));
      await page.locator("#time-input").click();
      await page.getByRole("dialog").waitFor();
    },
  ],
  [
    "menu of a mark",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "bar"));
      await page.getByTestId("view").locator("div[role=button]").first().click();
      await menu(page, "Samples").waitFor();
    },
  ],
  [
    "more views",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "overview"));
      await button(page, "More").click();
      await page.getByRole("menu").waitFor();
    },
  ],
  [
    "share menu",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "time"));
      await button(page, "Share and copy").click();
      await menu(page, "Copy link").waitFor();
    },
  ],
  [
    "wrong SQL in the editor",
    async ({ page, url }) => {
      await page.goto(`${url}/?${STILL}&view=sql&sql=SELECT latency FROM requests`);
      await page.getByRole("alert").first().waitFor();
    },
  ],
  [
    "other languages",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "time"));
      await button(page, "Share and copy").click();
      await menu(page, "Show as SQL, JSON, curl, Python…").click();
      await page.getByTestId("spelling").waitFor();
    },
  ],
  [
    "coverage",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "time"));
      await corner(page).click();
    },
  ],
  [
    "keys",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "time"));
      await page.locator("#answer").focus();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  ],
  [
    "commands",
    async ({ page, url }) => {
      await open(page, viewAddress(url, "time"));
      await page.keyboard.press("Control+k");
      await page.getByRole("option").first().waitFor();
    },
  ],
  [
    "new column",
    async ({ page, url }) => {
      await openSidebar(page, `${viewAddress(url, "table")}&define=ms = latency_us / 1000`);
      await page.getByRole("tab", { name: "Columns" }).click();
      await page.getByRole("button", { name: "New column" }).click();
      await page.getByLabel("SQL expression").fill("floor(ms)");
      await page.getByTestId("preview").waitFor();
    },
  ],
  [
    "cluster",
    async ({ page, url }) => {
      await page.goto(`${url}/?table=requests&page=cluster`);
      await page.getByTestId("cluster").waitFor();
    },
  ],
  [
    "no such table",
    async ({ page, url }) => {
      await page.goto(`${url}/?table=request`);
      await page.getByText(/no table/i).first().waitFor();
    },
  ],
  [
    "start",
    async ({ page }) => {
      const folder = freshFolder();
      const server = await startServer("serve", "--data", folder.path);
      await page.goto(server.url);
      await page.getByText("Nothing is logged here yet").waitFor();
      return async () => {
        // An open page notes the connections that the server closes.
        await page.goto("about:blank");
        await server.stop();
        folder.remove();
      };
    },
  ],
];

export const STATES = [...views, ...others];

/** Waits until nothing moves: menus and dialogs open in some frames. */
export async function atRest(page) {
  await page.waitForFunction(() => document.getAnimations().every((it) => it.playState !== "running" || it.effect.getTiming().iterations === Infinity));
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Whether the views of a state have their answers; states without a view have none. */
export const ready = async (page) => ((await page.getByTestId("view").count()) > 0 ? settled(page) : undefined);
