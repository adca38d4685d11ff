// Dashboards, saved views and frozen answers.
import { strict as assert } from "node:assert";
import { ask, FROM, keys, menu, open, picture, settled, STILL, TO } from "./steps.mjs";

const share = (page) => page.getByRole("button", { name: "Share and copy" });
const tile = (page, name) => page.getByRole("region", { name, exact: true });

export const tests = [
  ["boards: the demo ships a dashboard whose tiles share a time and a variable", async ({ page, url }) => {
    await open(page, `${url}/?page=dashboards`).catch(() => {});
    await page.getByRole("link", { name: "Service health" }).click();
    await settled(page);
    assert.ok((await page.getByTestId("tile").count()) >= 12);
    await page.getByLabel("Variable service").first().fill("checkout");
    await page.keyboard.press("Enter");
    await page.waitForURL((address) => address.searchParams.get("var") === "service=checkout");
    await settled(page);
    await picture(page, "board");
    await tile(page, "Requests").getByRole("link").click();
    await settled(page);
    assert.equal(keys(page).get("filter"), "service = checkout");
    assert.equal(keys(page).get("compare"), "7d");
    await page.getByRole("button", { name: "Service health" }).click();
    await page.getByTestId("board").waitFor();
    assert.equal(keys(page).get("var"), "service=checkout");
  }],
  ["boards: a query becomes a tile of a new dashboard, which is edited and saved", async ({ page, url, wrong }) => {
    await open(page, `${url}/?table=requests&view=time&by=service&from=-3h`);
    await share(page).click();
    await menu(page, "Add to dashboard…").click();
    await page.getByRole("combobox", { name: "Dashboard" }).fill("Mine <b>");
    await page.getByRole("textbox", { name: "Title of the tile" }).fill("By service");
    await page.getByRole("button", { name: "Create the dashboard" }).click();
    await tile(page, "By service").waitFor();
    await settled(page);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Title of the tile" }).fill("Renamed");
    await page.getByRole("button", { name: "Menu of Renamed" }).click();
    await menu(page, "Duplicate").click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.reload();
    await settled(page);
    assert.equal(await tile(page, "Renamed").count(), 2);
    // Somebody else saves meanwhile.
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const path = `${url}/v1/dashboards/${encodeURIComponent("Mine <b>")}`;
    const other = await fetch(path, { method: "PUT", body: JSON.stringify({ tiles: [] }) });
    assert.ok(other.ok);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Replace what was saved meanwhile" }).click();
    wrong.splice(0); // The browser notes the conflict.
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    const { dashboard } = await (await fetch(path)).json();
    assert.equal(dashboard.tiles.length, 2);
    await fetch(path, { method: "DELETE" });
  }],
  ["boards: a tile of SQL says which filters it leaves out, and a tile is called by its query", async ({ page, url }) => {
    const path = `${url}/v1/dashboards/Filtered`;
    const sql = (where) => `SELECT service, avg(latency_us), count(*) FROM requests ${where} GROUP BY service LIMIT 3`;
    const inSql = (where, title) => {
      const query = `${new URLSearchParams({ table: "requests", view: "sql", sql: sql(where), draw: "table", filter: "datacenter = $dc" })}`;
      return { title, query, x: 0, y: 0, w: 6, h: 9 };
    };
    const tiles = [inSql("", "All"), { ...inSql("WHERE datacenter IN ($dc)", "Of one"), x: 6 }];
    const [[datacenter]] = await ask(url, "SELECT datacenter FROM requests WHERE datacenter IS NOT NULL LIMIT 1");
    const variables = [{ name: "dc", value: datacenter, table: "requests", column: "datacenter" }];
    const put = await fetch(path, { method: "PUT", body: JSON.stringify({ from: FROM, to: TO, tiles, variables }) });
    assert.ok(put.ok, await put.text());
    await open(page, `${url}/?page=dashboard&dashboard=Filtered`);
    await tile(page, "All").getByText("not filtered by datacenter").waitFor();
    assert.equal(await tile(page, "Of one").getByText("not filtered by").count(), 0);
    // The mean of microseconds is one of milliseconds; the number of all rows is behind three groups.
    await tile(page, "All").getByText(/^[\d.]+ ms$/).first().waitFor();
    await picture(page, "board-sql");
    await open(page, `${url}/?${STILL}&view=time&by=service`);
    await share(page).click();
    await menu(page, "Add to dashboard…").click();
    await page.getByRole("combobox", { name: "Dashboard" }).fill("Filtered");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await tile(page, "events by service").waitFor();
    await settled(page);
    await picture(page, "board-series");
    await fetch(path, { method: "DELETE" });
  }],
  ["boards: changes that are not saved are asked about before they are lost", async ({ page, url }) => {
    await open(page, `${url}/?table=requests&view=time&from=-3h`);
    const path = `${url}/v1/dashboards/Unsaved`;
    const tiles = [{ title: "Events", query: "table=requests&view=time", x: 0, y: 0, w: 6, h: 9 }];
    await fetch(path, { method: "PUT", body: JSON.stringify({ tiles }) });
    await page.getByRole("button", { name: "Dashboards and saved views" }).click();
    await page.getByRole("link", { name: "Unsaved" }).click();
    await settled(page);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Leave without saving?" });
    // Nothing is changed yet.
    await page.goBack();
    await page.getByRole("link", { name: "Unsaved" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Title of the tile" }).fill("Changed");
    await page.goBack();
    await picture(page, "board-leave");
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "detached" });
    assert.equal(keys(page).get("dashboard"), "Unsaved");
    assert.equal(await page.getByRole("textbox", { name: "Title of the tile" }).inputValue(), "Changed");
    // The shared time is no other page.
    await page.getByLabel("Compare with").first().click();
    await page.getByRole("option", { name: "vs previous week" }).click();
    await page.waitForURL((address) => address.searchParams.get("compare") === "7d");
    // The browser asks before the tab is closed.
    const asked = page.waitForEvent("dialog");
    const closing = page.close({ runBeforeUnload: true });
    const dialog = await asked;
    assert.equal(dialog.type(), "beforeunload");
    await dialog.dismiss();
    await closing;
    await page.getByRole("link", { name: "Hadal: home" }).click();
    await question.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL((address) => address.searchParams.get("page") === "home");
    const { dashboard } = await (await fetch(path)).json();
    assert.equal(dashboard.tiles[0].title, "Events");
    await fetch(path, { method: "DELETE" });
  }],
  ["boards: every view is drawn within its tile, and SQL without its editor", async ({ page, url }) => {
    const text = "SELECT datacenter, count(*) AS n FROM requests GROUP BY 1 ORDER BY 2 DESC LIMIT 5";
    const queries = {
      Pie: "view=pie&by=service",
      Map: "view=map",
      Flame: "view=flame",
      Bars: "view=bar&by=service&limit=6",
      SQL: `view=sql&sql=${encodeURIComponent(text)}`,
    };
    const tiles = Object.entries(queries).map(([title, query], at) => {
      return { title, query: `table=requests&${query}`, x: (at % 3) * 4, y: Math.floor(at / 3) * 8, w: 4, h: 8 };
    });
    const path = `${url}/v1/dashboards/Kinds`;
    await fetch(path, { method: "PUT", body: JSON.stringify({ tiles }) });
    await open(page, `${url}/?page=dashboard&dashboard=Kinds`);
    await picture(page, "board-kinds");
    const drawn = { Pie: "svg", Map: "svg", Flame: "[data-frame] >> nth=0 >> xpath=../..", Bars: "li >> nth=5", SQL: "li >> nth=4" };
    for (const [name, mark] of Object.entries(drawn)) {
      const [outer, inner] = [await tile(page, name).boundingBox(), await tile(page, name).locator(mark).last().boundingBox()];
      assert.ok(inner.y + inner.height <= outer.y + outer.height, `${name} ends within its tile`);
    }
    assert.equal(await page.getByTestId("sql-editor").count(), 0);
    await tile(page, "SQL").getByText("own time range").waitFor();
    await tile(page, "SQL").getByRole("link").click();
    await page.getByTestId("sql-editor").waitFor();
    await fetch(path, { method: "DELETE" });
  }],
  ["boards: a tile of SQL asks of the dashboard's time and variables, and names what has no value", async ({ page, url, wrong }) => {
    const text = "SELECT service, count(*) AS n FROM requests WHERE time >= $from AND time < $to AND service IN ($service) GROUP BY 1";
    const query = `table=requests&view=sql&sql=${encodeURIComponent(text)}`;
    const tiles = [{ title: "Of the time", query, x: 0, y: 0, w: 6, h: 9 }];
    const path = `${url}/v1/dashboards/Asked`;
    const variables = [{ name: "service", value: "", table: "requests", column: "service" }];
    await fetch(path, { method: "PUT", body: JSON.stringify({ tiles, variables }) });
    await page.goto(`${url}/?page=dashboard&dashboard=Asked&from=2024-01-01&to=2024-01-02`);
    await tile(page, "Of the time").getByText("parameter $service has no value").waitFor();
    wrong.splice(0); // The browser notes the refusal.
    const asked = [];
    page.on("request", (request) => {
      const { sql } = request.url().endsWith("/v1/query") ? JSON.parse(request.postData()) : {};
      if (sql) asked.push(sql);
    });
    await page.goto(`${url}/?page=dashboard&dashboard=Asked&from=${FROM}&to=${TO}&var=service=checkout|gateway`);
    await settled(page);
    await picture(page, "board-sql");
    const time = (text) => `TIMESTAMP '${new Date(text).toISOString()}'`;
    const filled = `time >= ${time(FROM)} AND time < ${time(TO)} AND service IN ('checkout', 'gateway')`;
    assert.deepEqual(asked.map((sql) => / WHERE (.*) GROUP/.exec(sql)[1]), [filled]);
    assert.equal(await tile(page, "Of the time").getByText("own time range").count(), 0);
    for (const name of ["checkout", "gateway"]) await tile(page, "Of the time").getByText(name, { exact: true }).first().waitFor();
    // Explore asks the same of its own time.
    await tile(page, "Of the time").getByRole("link").click();
    await page.getByTestId("sql-editor").getByText("$from").waitFor();
    await settled(page);
    assert.equal(/ WHERE (.*) GROUP/.exec(asked.at(-1))[1], filled);
    await fetch(path, { method: "DELETE" });
  }],
  ["boards: variables are added, renamed and removed on the page", async ({ page, url }) => {
    const path = `${url}/v1/dashboards/Varied`;
    const tiles = [{ title: "Events", query: "table=requests&view=bar&by=service", x: 0, y: 0, w: 6, h: 9 }];
    await fetch(path, { method: "PUT", body: JSON.stringify({ tiles }) });
    const stored = async () => (await (await fetch(path)).json()).dashboard;
    await open(page, `${url}/?page=dashboard&dashboard=Varied`);
    const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
    const save = async () => {
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    };
    await edit();
    await page.getByRole("button", { name: "Variables" }).click();
    const form = page.getByRole("form");
    await form.getByRole("combobox", { name: "Column" }).click();
    await page.getByRole("option", { name: "service", exact: true }).click();
    await picture(page, "board-variables");
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Change the variable service" }).click();
    await form.getByRole("textbox", { name: "Name" }).fill("app");
    await form.getByRole("button", { name: "Change" }).click();
    await page.getByText("$app").waitFor();
    await save();
    const { variables, tiles: [first] } = await stored();
    assert.deepEqual(variables, [{ name: "app", table: "requests", column: "service", value: "" }]);
    assert.equal(new URLSearchParams(first.query).get("filter"), "service = $app");
    await page.getByLabel("Variable app").first().fill("checkout");
    await page.keyboard.press("Enter");
    await page.waitForURL((address) => address.searchParams.get("var") === "app=checkout");
    await settled(page);
    assert.equal(await tile(page, "Events").getByRole("listitem").count(), 1);
    await edit();
    await page.getByRole("button", { name: "Variables" }).click();
    await page.getByRole("button", { name: "Remove the variable app" }).click();
    await save();
    const after = await stored();
    assert.deepEqual(after.variables, []);
    assert.equal(new URLSearchParams(after.tiles[0].query).get("filter"), null);
    await fetch(path, { method: "DELETE" });
  }],
  ["boards: a view is saved under a name and opened again", async ({ page, url }) => {
    await open(page, `${url}/?table=requests&view=pie&by=service&from=-3h`);
    await share(page).click();
    await menu(page, "Save view…").click();
    await page.getByRole("textbox", { name: "Name" }).fill("Shares");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Dashboards and saved views" }).click();
    await page.getByRole("link", { name: "Shares" }).click();
    await settled(page);
    assert.equal(keys(page).get("view"), "pie");
    await fetch(`${url}/v1/views/Shares`, { method: "DELETE" });
  }],
  ["boards: a frozen answer stays as it was", async ({ page, url }) => {
    await open(page, `${url}/?table=requests&view=table&by=service&from=-3h`);
    await share(page).click();
    await menu(page, "Freeze this answer").click();
    await page.getByTestId("snapshot").waitFor();
    await settled(page);
    const before = await page.getByTestId("view").innerText();
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/query")) asked++;
    });
    await page.reload();
    await page.getByTestId("snapshot").waitFor();
    await settled(page);
    assert.equal(await page.getByTestId("view").innerText(), before);
    assert.equal(asked, 0, "the frozen answer is not asked again");
    await picture(page, "frozen");
    await page.getByRole("button", { name: "Ask again now" }).click();
    await settled(page);
    assert.equal(keys(page).get("table"), "requests");
    // It is listed at home, and can be removed.
    await page.getByRole("link", { name: "Hadal: home" }).click();
    const listed = page.getByRole("region", { name: "Frozen answers" });
    await listed.getByRole("link", { name: /^requests · Table · by service \(/ }).click();
    await page.getByTestId("snapshot").waitFor();
    await page.getByRole("button", { name: "Dashboards and saved views" }).click();
    await picture(page, "boards-all");
    await listed.getByRole("button", { name: /^Remove the frozen answer of/ }).first().click();
    await listed.getByText(/^None yet/).waitFor();
  }],
];
