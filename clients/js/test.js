// Uses the client against a real server: node test.js URL.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect, HadalError } from "./hadal.js";

const url = process.argv[2];

/** A server that answers as told, and its URL. */
async function fake(answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

const db = connect(url);
for (let n = 0; n < 1_000; n += 1) assert(db.log("js_events", { n, name: "é", tags: new Set(["y", "x"]) }));
await db.flush();
assert.deepEqual([db.dropped, db.rejected, db.lastError], [0, 0, null]);
const answer = await db.query("SELECT name, tags, count(*) AS c FROM js_events GROUP BY name, tags");
assert.deepEqual([...answer], [["é", ["x", "y"], 1_000]]);
assert.deepEqual(answer.objects(), [{ name: "é", tags: ["x", "y"], c: 1_000 }]);
assert.equal(answer.coverage.rows_scanned, 1_000);
assert.equal(answer.truncated, false);
let sum = 0;
for await (const row of db.rows("SELECT n FROM js_events")) sum += row.n;
assert.equal(sum, 499_500);
for await (const row of db.rows("SELECT n FROM js_events")) {
  assert("n" in row);
  break;
}
const refused = await db.query("SELECT nothing FROM js_events").catch((error) => error);
assert(refused instanceof HadalError && refused.status === 400 && refused.kind === "bad-query");
await db.close();
assert.equal(db.log("js_events", { n: 1 }), false);

// A batch is sent again with the same id and bytes.
const requests = [];
const busy = await fake((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    requests.push([request.headers["hadal-batch"], body]);
    response.writeHead(requests.length === 1 ? 429 : 200);
    response.end('{"rejected_count": 1}');
  });
});
const retrying = connect(busy.url);
retrying.log("t", { n: 1 });
await retrying.close();
assert.equal(requests.length, 2);
assert.deepEqual(requests[0], requests[1]);
assert.deepEqual([retrying.dropped, retrying.rejected], [0, 1]);
busy.server.close();
busy.server.closeAllConnections();

// A full queue drops and counts.
const nobody = connect(busy.url, { queueEvents: 100, retryMs: 100 });
for (let n = 0; n < 1_000; n += 1) nobody.log("t", { n });
assert.equal(nobody.dropped, 900);
await nobody.close();
assert.equal(nobody.dropped, 1_000);
assert(nobody.lastError instanceof Error);

// An answer that breaks off is an error.
const breaking = await fake((_request, response) => {
  response.write('{"n": 1}\n', () => response.destroy());
});
const broken = (async () => {
  for await (const row of connect(breaking.url).rows("SELECT n FROM t")) assert.equal(row.n, 1);
})();
await assert.rejects(broken);
breaking.server.close();
console.log("fine");
