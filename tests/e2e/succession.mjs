// A server that is followed by another on the same folder, while a person uses its page.
import { strict as assert } from "node:assert";
import { freshFolder, startServer } from "./demo.mjs";
import { ask, log, open, rowsBehind } from "./steps.mjs";

const BATCH_ROWS = 100;

/** Logs batch after batch, each again if the first try fails, until told to stop. */
function ingest(url) {
  const state = { rows: 0, retries: 0, isOver: false };
  const batches = async () => {
    for (let batch = 0; !state.isOver; batch++) {
      const now = Date.now();
      const rows = Array.from({ length: BATCH_ROWS }, (_, row) => ({ time: now, n: batch * BATCH_ROWS + row }));
      const send = () => log(url, "t", rows, { "Hadal-Batch": `batch-${batch}` });
      await send().catch(async () => {
        state.retries++;
        // The pool of connections does not know yet that another idle one was closed as well.
        await new Promise(setImmediate);
        return send();
      });
      state.rows += BATCH_ROWS;
    }
  };
  return { state, ended: batches() };
}

export const tests = [
  [
    "goes on by itself while one server follows another, and nobody notices",
    async ({ page, wrong }) => {
      const folder = freshFolder();
      let server = await startServer("serve", "--data", folder.path);
      const { url, direct } = server;
      const { state, ended } = ingest(url);
      try {
        while (state.rows === 0) await Promise.race([ended, new Promise(setImmediate)]);
        await open(page, `${url}/?table=t&view=time&from=-5m&refresh=1s`);
        await page.evaluate(() => {
          globalThis.saidSo = 0;
          const look = () => (globalThis.saidSo += /No answer since|does not answer/.test(document.body.innerText) ? 1 : 0);
          new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
        });
        for (let successor = 0; successor < 3; successor++) {
          const before = await rowsBehind(page);
          const first = server;
          server = await startServer("serve", "--data", folder.path, "--take-over", "--listen", new URL(direct).host);
          await first.stop();
          assert.equal(server.direct, direct);
          await page.waitForFunction(
            (rows) => Number(/([\d,]+) rows/.exec(document.querySelector("[data-testid=coverage]").innerText)?.[1].replaceAll(",", "")) > rows,
            before,
          );
        }
        state.isOver = true;
        await ended;
        assert.equal(await page.evaluate(() => globalThis.saidSo), 0, "the page said that nobody answers");
        assert.ok(state.retries <= 3, `${state.retries} retries`);
        const sum = (state.rows * (state.rows - 1)) / 2;
        assert.deepEqual(await ask(url, "SELECT count(*), sum(n) FROM t"), [[state.rows, sum]]);
        // The browser reports a connection that was closed without an answer; the page asks once
        // more.
        const closed = wrong.splice(0).filter((it) => !/ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET/.test(it));
        assert.deepEqual(closed, []);
      } finally {
        state.isOver = true;
        await server.stop();
        folder.remove();
      }
    },
  ],
];
