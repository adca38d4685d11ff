"use strict";
// node-postgres against a server with the rows of crates/hadal/tests/cli/postgres_clients.rs.
// usage: node client.cjs HOST PORT, with node-postgres in NODE_PATH

const assert = require("node:assert/strict");
const pg = require("pg");

const [host, port] = process.argv.slice(2);
const options = { host, port: Number(port), user: "me", database: "hadal" };

async function reads(client) {
  const all = await client.query("SELECT time, host, ok, status, tags, ms FROM requests ORDER BY time");
  assert.equal(all.rowCount, 3);
  assert.deepEqual(all.rows[0], {
    time: new Date("2026-11-20T10:00:00Z"),
    host: "a",
    ok: true,
    status: "200", // 64-bit integers come as texts
    tags: ["x", "y"],
    ms: 1.5,
  });
  assert.equal(all.rows[1].tags, null);
  const sql = "SELECT count(*) AS n FROM requests WHERE host = $1 AND status >= $2 AND time >= $3";
  const values = ["a", 200, new Date("2026-11-20T10:00:00Z")];
  assert.deepEqual((await client.query(sql, values)).rows, [{ n: "2" }]);
  // A named statement is prepared once.
  for (const status of [200, 500, 200]) {
    const counted = await client.query({
      name: "of-status",
      text: "SELECT count(*) AS n FROM requests WHERE status = $1",
      values: [status],
      rowMode: "array",
    });
    assert.deepEqual(counted.rows, [[status === 200 ? "2" : "1"]]);
  }
  const list = await client.query("SELECT host FROM requests WHERE host = ANY($1) ORDER BY time", [["b", "c"]]);
  assert.deepEqual(list.rows, [{ host: "b" }]);
  const several = await client.query("SELECT 1 AS a; SELECT host FROM requests LIMIT 0");
  assert.deepEqual(several.map((result) => result.rows.length), [1, 0]);
}

async function fails(client) {
  await assert.rejects(client.query("SELECT * FROM nope"), { code: "42P01" });
  await assert.rejects(client.query("SELECT nope FROM requests"), { code: "42703", position: "8" });
  await client.query("BEGIN");
  await assert.rejects(client.query("SELEC 1"), { code: "42601" });
  await assert.rejects(client.query("SELECT 1"), { code: "25P02" });
  await client.query("ROLLBACK");
  assert.equal((await client.query("SELECT 1 AS one")).rows.length, 1);
}

async function writes(client) {
  const insert = "INSERT INTO logged (time, host, n) VALUES ($1, $2, $3)";
  const written = await client.query(insert, [new Date("2026-11-20T10:00:00Z"), "it's", 7]);
  assert.equal(written.rowCount, 1);
  // node-postgres sends 7 as text without a type; it is a number all the same.
  const logged = await client.query("SELECT host, n, n + 1 AS next FROM logged");
  assert.deepEqual(logged.rows, [{ host: "it's", n: "7", next: "8" }]);
  // The column is one of strings now, so that "7" stays a string.
  await client.query(insert, [new Date("2026-11-20T10:00:01Z"), "7", 8]);
  const strings = await client.query("SELECT host || 'x' AS host FROM logged WHERE n = 8");
  assert.deepEqual(strings.rows, [{ host: "7x" }]);
  await client.query("DROP TABLE logged");
}

async function explains(client) {
  const plan = await client.query("EXPLAIN ANALYZE SELECT host, count(*) FROM requests GROUP BY host");
  assert.equal(plan.command, "EXPLAIN");
  const lines = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(lines, /Groups by host/);
  assert.match(lines, /Leaf leaf-0: answered/);
}

async function main() {
  const client = new pg.Client(options);
  await client.connect();
  for (const part of [reads, fails, writes, explains]) {
    await part(client);
  }
  await client.end();
  const pool = new pg.Pool({ ...options, max: 4 });
  const counts = await Promise.all(Array.from({ length: 20 }, () => pool.query("SELECT count(*) AS n FROM requests")));
  assert.ok(counts.every((result) => result.rows[0].n === "3"));
  await pool.end();
  console.log("fine");
}

main();
