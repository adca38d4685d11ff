// The cluster on the page: one process, and a cluster whose leaf is killed and comes back.
import { strict as assert } from "node:assert";
import { fakeCluster } from "./fake-cluster.mjs";
import { startServer } from "./demo.mjs";
import { keys, open, picture, settled, STILL } from "./steps.mjs";

const sign = (page) => page.getByTestId("cluster-sign");
const leaf = (page, name) => page.getByTestId("leaf").filter({ hasText: name });
const coverage = (page) => page.getByTestId("cluster-coverage");

/** Answers for a cluster until the page is closed; `set` changes what the next answer is. */
async function fake(page) {
  let make = () => fakeCluster({});
  await page.route("**/v1/cluster?*", (route) => route.fulfill({ json: make() }));
  return { set: (next) => (make = next) };
}

/** What a person sees of a leaf that is killed and comes back, whoever kills it. */
async function watchOutage(page, { machine, name, silence, restore }) {
  const card = page.getByRole("group", { name: machine });
  await leaf(card, name).getByText("alive").waitFor();
  await silence();
  await leaf(card, name).getByText(/silent/).waitFor();
  await page.getByTestId("problems").getByText(new RegExp(`${machine}/${name} is silent`)).waitFor();
  assert.match(await coverage(page).innerText(), /^\d?\d\.\d+ %$/);
  assert.match(await sign(page).innerText(), /1 silent/);
  await restore();
  await leaf(card, name).getByText("alive").waitFor();
  await coverage(page).getByText("100 %").waitFor();
}

const width = (page) => page.evaluate(() => document.documentElement.scrollWidth);

export const tests = [
  [
    "shows one process as one machine, and the way back to the query",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=time&by=service`);
      const before = [...keys(page)];
      await sign(page).click();
      await page.getByRole("heading", { name: "One machine" }).waitFor();
      assert.equal(keys(page).get("page"), "cluster");
      await page.reload();
      await page.getByRole("group", { name: "This machine" }).waitFor();
      assert.equal(await coverage(page).innerText(), "100 %");
      const status = await (await fetch(`${url}/v1/cluster`)).json();
      assert.equal(await page.getByTestId("leaf").count(), status.leaves);
      assert.match(await page.getByTestId("join").innerText(), /^hadal serve --cluster NAME --join /);
      await page.getByRole("rowheader", { name: "requests" }).waitFor();
      await picture(page, "cluster-one");
      await page.getByRole("button", { name: "Explore" }).click();
      await settled(page);
      assert.deepEqual([...keys(page)], before);
      await page.goBack();
      await page.getByRole("heading", { name: "One machine" }).waitFor();
      await page.getByRole("button", { name: "requests", exact: true }).click();
      await settled(page);
      assert.equal(keys(page).get("page"), null);
      assert.equal(keys(page).get("table"), "requests");
    },
  ],
  [
    "shows a leaf that falls silent and comes back",
    async ({ page, url }) => {
      const cluster = await fake(page);
      await page.goto(`${url}/?page=cluster`);
      const since = new Date(Date.now() - 7000).toISOString();
      const unusual = (change) => (name) => (name === "machine-2/leaf-0" ? change : {});
      const silence = () =>
        cluster.set(() =>
          fakeCluster({
            change: unusual({ state: "silent", since }),
            problems: ["machine-2/leaf-0 is silent for 7 s; answers lack its 273,034 rows"],
          }),
        );
      const restore = async () => {
        await picture(page, "cluster-silent");
        cluster.set(() => fakeCluster({ change: unusual({ state: "disk recovery", share: 0.4 }) }));
        await page.getByText("restoring 40.0 %").waitFor();
        await picture(page, "cluster-restoring");
        cluster.set(() => fakeCluster({}));
      };
      await watchOutage(page, { machine: "machine-2", name: "leaf-0", silence, restore });
      const line = page.getByRole("img", { name: /^Rows in answers over the last 5 minutes/ });
      assert.match(await line.getAttribute("aria-label"), /now 100 %, at least 83\.3 %$/);
      await page.getByRole("button", { name: "Dark" }).click();
      await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
      await picture(page, "cluster-dark");
    },
  ],
  [
    "shows a leaf of a real cluster that freezes and is killed, and a rollover of all leaves",
    async ({ page }) => {
      const args = ["--machines", "3", "--rows", "20000", "--seed", "1", "--no-browser"];
      const demo = await startServer("demo", ...args);
      // Its newest process.
      const pid = () => Number([...demo.said().matchAll(/machine-2\/leaf-0 is process (\d+)/g)].at(-1)?.[1]);
      const signal = (name) => process.kill(pid(), name);
      try {
        await page.goto(`${demo.url}/?page=cluster`);
        await page.getByText("6 leaves").waitFor();
        const card = page.getByRole("group", { name: "machine-2" });
        await leaf(card, "leaf-0").getByText(/^[1-9][\d,.]*( k)? rows/).waitFor();
        await watchOutage(page, {
          machine: "machine-2",
          name: "leaf-0",
          silence: () => signal("SIGSTOP"),
          restore: () => signal("SIGCONT"),
        });
        // Its supervisor starts it again before anybody misses it.
        const before = pid();
        signal("SIGKILL");
        await leaf(card, "leaf-0").getByTestId("restart").first().waitFor({ state: "attached" });
        await leaf(card, "leaf-0").getByText(/^alive for \d+ s$/).waitFor();
        await coverage(page).getByText("100 %").waitFor();
        assert.notEqual(pid(), before);
        await picture(page, "cluster-real");
        const rollover = page.getByTestId("rollover");
        await rollover.getByRole("button", { name: "Restart all leaves" }).click();
        await page.getByRole("button", { name: "Begin the rollover" }).click();
        await rollover.getByRole("button", { name: "Stop", exact: true }).waitFor();
        await rollover.getByText("6 of 6").waitFor();
        await rollover.getByText(/^done in/).waitFor();
        await coverage(page).getByText("100 %").waitFor();
        await picture(page, "cluster-rollover");
      } finally {
        signal("SIGCONT");
        // It would still ask a server that has stopped.
        await page.goto("about:blank");
        await demo.stop();
      }
    },
  ],
  [
    "says in the head of every page that a leaf is silent",
    async ({ page, url }) => {
      const cluster = await fake(page);
      const silent = (name) => (name === "machine-1/leaf-1" ? { state: "silent" } : {});
      cluster.set(() => fakeCluster({ change: silent, problems: ["machine-1/leaf-1 is silent"] }));
      await open(page, `${url}/?${STILL}&view=time`);
      await sign(page).getByText("83.3 % · 1 silent").waitFor();
      await picture(page, "cluster-sign");
      await sign(page).click();
      await page.getByRole("heading", { name: "Cluster abyss" }).waitFor();
    },
  ],
  [
    "tells all of a leaf and of a share by keyboard",
    async ({ page, url }) => {
      await fake(page);
      await page.goto(`${url}/?page=cluster`);
      const first = page.getByRole("group", { name: "machine-1" }).getByTestId("leaf").first();
      await first.focus();
      await page.keyboard.press("Enter");
      const detail = page.getByTestId("leaf-detail");
      await detail.getByText("machine-1/leaf-0").waitFor();
      await detail.getByText("Rows expected").waitFor();
      await picture(page, "cluster-detail");
      await page.keyboard.press("Escape");
      await detail.waitFor({ state: "detached" });
      assert.ok(await first.evaluate((it) => it === document.activeElement), "the focus is back");
      await page.getByRole("row", { name: /^requests/ }).getByRole("cell").first().focus();
      await page.keyboard.press("ArrowRight");
      await page.getByText(/^requests on machine-1\/leaf-1: 206,667 rows, 16\.7 %/).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.getByText(/^posts on machine-1\/leaf-1/).waitFor();
    },
  ],
  [
    "shows many leaves as squares, and a cluster on a phone",
    async ({ page, url }) => {
      const cluster = await fake(page);
      const change = (name) => (name === "machine-2/leaf-3" ? { state: "silent" } : {});
      cluster.set(() => fakeCluster({ machines: 20, leaves: 8, change }));
      await page.goto(`${url}/?page=cluster`);
      await page.getByRole("button", { name: /^leaf-3: silent/ }).waitFor();
      await picture(page, "cluster-many");
      assert.equal(await page.getByTestId("leaf").count(), 160);
      assert.ok((await width(page)) <= 1440);
      await page.setViewportSize({ width: 390, height: 844 });
      assert.ok((await width(page)) <= 390, `the page is ${await width(page)} pixels wide`);
      cluster.set(() => fakeCluster({ change: (name) => (name === "machine-2/leaf-0" ? { state: "prepare" } : {}) }));
      await page.getByText("about to stop").first().waitFor();
      await picture(page, "cluster-phone");
      assert.ok((await width(page)) <= 390, `the page is ${await width(page)} pixels wide`);
    },
  ],
  [
    "shows names and problems of a cluster as text, whatever is in them",
    async ({ page, url }) => {
      const cluster = await fake(page);
      const hostile = '<img src=x onerror="document.title=`taken`">';
      cluster.set(() => {
        const shown = fakeCluster({ problems: [hostile] });
        shown.cluster = hostile;
        for (const machine of shown.machines) {
          machine.name += hostile;
          machine.aggregator.url = `javascript:document.title="taken"//${hostile}`;
          machine.aggregator.address = hostile;
          for (const one of machine.leaves) one.name = `${machine.name}/${hostile}`;
        }
        return shown;
      });
      await page.goto(`${url}/?page=cluster`);
      await page.getByRole("heading", { name: /<img src=x/ }).waitFor();
      await page.getByTestId("leaf").first().click();
      await page.getByTestId("leaf-detail").waitFor();
      assert.equal(await page.getByRole("link").count(), 1, "the logo");
      assert.equal(await page.title(), "Cluster · Hadal");
    },
  ],
  [
    "says that the server does not answer, and keeps what it knows",
    async ({ page, url, wrong }) => {
      await fake(page);
      await page.goto(`${url}/?page=cluster`);
      await page.getByRole("heading", { name: "Cluster abyss" }).waitFor();
      await page.unroute("**/v1/cluster?*");
      await page.route("**/v1/cluster?*", (route) => route.abort());
      await page.getByRole("alert").getByText("The server does not answer").waitFor();
      assert.equal(await page.getByTestId("machine").count(), 3);
      await fake(page);
      await page.getByRole("alert").waitFor({ state: "detached" });
      wrong.splice(0); // The browser notes the requests that failed.
    },
  ],
];
