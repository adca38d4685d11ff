// Functions in JavaScript, defined on the page and called by a query.
import { strict as assert } from "node:assert";
import { freshFolder, startServer } from "./demo.mjs";
import { ask, log, open, picture } from "./steps.mjs";

const field = (page, name) => page.getByRole("textbox", { name });
const button = (page, name) => page.getByRole("button", { name, exact: true });

export const tests = [
  [
    "defines a function, calls it, says what is wrong with it, and drops it",
    async ({ page, wrong }) => {
      const folder = freshFolder();
      const server = await startServer("serve", "--allow-functions", "--data", folder.path);
      try {
        await log(server.url, "views", [{ page: "/home?id=7" }, { page: "/home" }, { page: "/cart?x" }]);
        await open(page, `${server.url}/?table=views`);
        await button(page, "Functions").click();
        await page.getByText("No function is defined yet.").waitFor();
        await field(page, "Name").fill("stem");
        await button(page, "Save").click();
        await page.getByText(/^Version \d+$/).waitFor();
        await picture(page, "functions");
        assert.deepEqual(await ask(server.url, "SELECT stem(page) AS s, count(*) FROM views GROUP BY s ORDER BY s"), [
          ["/cart", 1],
          ["/home", 2],
        ]);
        await field(page, "Body").fill("return page.split('?'[0];");
        await button(page, "Save").click();
        await page.getByRole("alert").getByText(/stem/).first().waitFor();
        wrong.splice(0); // The browser notes the refusal.
        await button(page, "Drop…").click();
        await button(page, "Drop stem").click();
        await page.getByText("No function is defined yet.").waitFor();
        const response = await fetch(`${server.url}/v1/functions`);
        assert.deepEqual(await response.json(), { functions: [] });
        await button(page, "Explore").click();
        await page.getByTestId("view").first().waitFor();
      } finally {
        await server.stop();
        folder.remove();
      }
    },
  ],
  [
    "says that functions are off, and how to allow them",
    async ({ page, url, wrong }) => {
      await page.goto(`${url}/?page=functions`);
      await field(page, "Name").fill("stem");
      await button(page, "Save").click();
      await page.getByRole("alert").getByText(/allow-functions/).first().waitFor();
      wrong.splice(0); // The browser notes the refusal that this test is about.
    },
  ],
];
