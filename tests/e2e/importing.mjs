// Files that are dropped on the page: how they would be read, then what became of them.
import { strict as assert } from "node:assert";
import { ask, drop, open, picture } from "./steps.mjs";

/** Drops a file with this text on the page. */
async function dropFile(page, name, text) {
  const data = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], fileName));
      return transfer;
    },
    [name, text],
  );
  await page.dispatchEvent("body", "dragenter", { dataTransfer: data });
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
}

const today = new Date().toISOString().slice(0, 10);
const [year, month, day] = today.split("-");
const german = `Umsatz;Quelle;Datum\n10;Web;${day}.${month}.${year} 00:15\n20;Filiale;${day}.${month}.${year} 00:30\n`;

export const tests = [
  [
    "shows how a dropped file would be read, stores nothing before it is told to, then imports it",
    async ({ page, url }) => {
      await open(page, `${url}/?table=requests&from=-1h`);
      await dropFile(page, "umsatz 2026.csv", german);
      const dialog = page.getByRole("dialog");
      await dialog.getByTestId("preview").getByText("Filiale").waitFor();
      assert.match(await dialog.getByTestId("detected").innerText(), /CSV with .?;.?, head in line 1.*Datum/s);
      assert.equal(await dialog.getByLabel("Table").inputValue(), "umsatz_2026");
      await picture(page, "import-preview");
      const tables = async () => (await (await fetch(`${url}/v1/tables`)).json()).tables.map((it) => it.name);
      assert.ok(!(await tables()).includes("umsatz_2026"));
      await dialog.getByLabel("Table").fill("umsatz");
      await dialog.getByRole("button", { name: "Import", exact: true }).click();
      await dialog.getByTestId("receipt").waitFor();
      assert.match(await dialog.getByTestId("receipt").innerText(), /2 rows went to table umsatz/);
      await picture(page, "import-receipt");
      assert.deepEqual(await ask(url, "SELECT sum(Umsatz), count(*) FROM umsatz"), [[30, 2]]);
      await dialog.getByRole("button", { name: "Open the table" }).click();
      await page.waitForURL(/table=umsatz/);
      await drop(url, "umsatz");
    },
  ],
  [
    "does not judge a record of a large file that the preview cuts",
    async ({ page, url }) => {
      await open(page, `${url}/?table=requests&from=-1h`);
      // The quote is closed after the part that a preview is made of.
      const rows = [...Array(999).keys()].map((n) => `${n},a\n`).join("");
      await dropFile(page, "cut.csv", `n,text\n${rows}999,"${"line\n".repeat(300_000)}"\n`);
      const dialog = page.getByRole("dialog");
      await dialog.getByTestId("preview").waitFor();
      assert.ok(!(await dialog.innerText()).includes("would be rejected"));
      await dialog.getByRole("button", { name: "Cancel" }).click();
    },
  ],
  [
    "takes a file that is dropped on the home page, and opens its table",
    async ({ page, url }) => {
      await page.goto(`${url}/?page=home`);
      await page.getByText("Choose a file, or drop one here").waitFor();
      await dropFile(page, "home_drop.csv", "n;kind\n1;a\n2;b\n");
      const dialog = page.getByRole("dialog");
      await dialog.getByTestId("preview").waitFor();
      await dialog.getByRole("button", { name: "Import", exact: true }).click();
      await dialog.getByTestId("receipt").waitFor();
      await dialog.getByRole("button", { name: "Open the table" }).click();
      await page.waitForURL(/table=home_drop/);
      assert.equal(new URL(page.url()).searchParams.get("page"), null);
      await drop(url, "home_drop");
    },
  ],
  [
    "says what a dropped file is that cannot be read here",
    async ({ page, url, wrong }) => {
      await open(page, `${url}/?table=requests&from=-1h`);
      await dropFile(page, "book.xlsx", "PK\u0003\u0004\u0014\u0000");
      const alert = page.getByRole("dialog").getByRole("alert");
      await alert.waitFor();
      assert.match(await alert.innerText(), /zip/);
      await picture(page, "import-refused");
      wrong.splice(0); // The browser notes the refusal that this test is about.
    },
  ],
  [
    "marks a table in the picker whose rows were rejected",
    async ({ page, url }) => {
      const body = '{"n": 1}\nnonsense\n';
      await fetch(`${url}/v1/log/spoiled`, { method: "POST", body, headers: { "Content-Type": "application/x-ndjson" } });
      await open(page, `${url}/?table=requests&from=-1h`);
      // The journal is written within a second.
      await page.waitForFunction(async () => {
        const sql = "SELECT sum(rejected) FROM _ingest WHERE table = 'spoiled'";
        const answer = await fetch("/v1/query", { method: "POST", body: JSON.stringify({ sql }) });
        return answer.ok && (await answer.json()).rows[0]?.[0] > 0;
      }).catch(() => undefined);
      await open(page, `${url}/?table=spoiled`);
      await page.getByRole("button", { name: /^Table: spoiled/ }).getByLabel(/1 row rejected/).waitFor();
      await picture(page, "picker-mark");
      await drop(url, "spoiled");
    },
  ],
];
