// Answers of `/v1/cluster` for tests of what one process cannot show: machines, and leaves that are
// silent, restoring or about to stop.

const TABLES = [
  ["requests", 1_240_000, 190],
  ["posts", 310_000, 260],
  ["processes", 84_000, 90],
  ["_queries", 4_200, 120],
];

const rowsOf = (rows, rows_expected, rows_waiting = 0) => ({
  rows,
  rows_expected,
  rows_waiting,
  coverage: rows_expected === 0 ? 1 : rows / rows_expected,
});

const MIB = 1 << 20;

/** A leaf: its state, and the share of its rows that answers have. */
function leafOf({ name, state = "alive", share = 1, since = null, release = "0.1.0", weight = 1 }, started) {
  const there = state === "silent" || state === "prepare" ? 0 : share;
  const tables = TABLES.map(([table, rows, bytes]) => {
    const expected = Math.round((rows / 6) * weight);
    const present = Math.round(expected * there);
    const waiting = state.endsWith("recovery") ? expected - present : 0;
    return { name: table, ...rowsOf(present, expected, waiting), block_bytes: present * bytes };
  });
  const sum = (key) => tables.reduce((total, table) => total + table[key], 0);
  const used = Math.round(sum("rows_expected") * 200);
  return {
    name,
    state,
    answers: state !== "silent" && state !== "prepare",
    since,
    release,
    started,
    used_bytes: used,
    free_bytes: 256 * MIB - used,
    block_bytes: sum("block_bytes"),
    ...rowsOf(sum("rows"), sum("rows_expected"), sum("rows_waiting")),
    tables,
    tables_left_out: 0,
  };
}

/** A cluster of machines with leaves; `change(leaf)` says what is unusual about a leaf. */
export function fakeCluster({ machines = 3, leaves = 2, at = Date.now(), change = () => ({}), problems = [], release = "0.1.0" }) {
  const started = new Date(at - 7_384_000).toISOString();
  const list = Array.from({ length: machines }, (_, machine) => {
    const name = `machine-${machine + 1}`;
    const port = 4280 + machine * 10;
    const aggregator = {
      name,
      address: `127.0.0.1:${port + 1}`,
      url: `http://127.0.0.1:${port}`,
      state: "alive",
      answers: true,
      since: started,
      release,
      started,
    };
    const own = Array.from({ length: leaves }, (_, leaf) => {
      const leafName = `${name}/leaf-${leaf}`;
      return leafOf({ name: leafName, since: started, release, ...change(leafName, machine * leaves + leaf) }, started);
    });
    return { name, rack: machines > 1 ? `rack-${(machine % 2) + 1}` : "", aggregator, leaves: own };
  });
  const all = list.flatMap((machine) => machine.leaves);
  const sum = (of, key) => of.reduce((total, one) => total + one[key], 0);
  const tables = TABLES.map(([name], index) => {
    const shares = all.map((leaf) => leaf.tables[index]);
    return {
      name,
      ...rowsOf(sum(shares, "rows"), sum(shares, "rows_expected"), sum(shares, "rows_waiting")),
      block_bytes: sum(shares, "block_bytes"),
    };
  });
  return {
    cluster: "abyss",
    at: new Date(at).toISOString(),
    leaves: all.length,
    leaves_answering: all.filter((leaf) => leaf.answers).length,
    ...rowsOf(sum(all, "rows"), sum(all, "rows_expected"), sum(all, "rows_waiting")),
    block_bytes: sum(all, "block_bytes"),
    used_bytes: sum(all, "used_bytes"),
    free_bytes: sum(all, "free_bytes"),
    problems,
    machines: list,
    tables,
    tables_left_out: 3,
  };
}
