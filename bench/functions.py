"""User functions: rows per second on one core, of a typical scalar function over typed columns and of the paper's covariance.

A server with one leaf and its worker processes have one core together. The time is that of the whole query, from the request to the
answer. Each answer must be equal to that of a query of built-in functions.

usage: functions.py PROGRAM [--rows N] [--rounds N]
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import time

# A scalar function must take as many rows per second on one core.
PROMISED = 1_000_000
COVARIANCE = """CREATE AGGREGATE covariance(x number, y number) RETURNS number LANGUAGE js AS $$
function init() { return { n: 0, x: 0, y: 0, c: 0 } }
function update(s, x, y, weight) {
  s.n += weight;
  const dx = x - s.x;
  s.x += weight * dx / s.n;
  s.y += weight * (y - s.y) / s.n;
  s.c += weight * dx * (y - s.y);
}
function merge(a, b) {
  const n = a.n + b.n, dx = b.x - a.x, dy = b.y - a.y;
  return { n, x: a.x + dx * b.n / n, y: a.y + dy * b.n / n, c: a.c + b.c + dx * dy * a.n * b.n / n };
}
function finish(s) { return s.c / s.n }
$$"""
DEFINITIONS = [
    "CREATE FUNCTION cost(ms number, bytes number) RETURNS number LANGUAGE js AS $$ return ms > 500 ? bytes : ms + bytes $$",
    "CREATE FUNCTION is_slow(ms number) RETURNS bool LANGUAGE js AS $$ return ms > 900 $$",
    "CREATE FUNCTION kind(path string) RETURNS string LANGUAGE js AS $$ return path.slice(0, 4) $$",
    COVARIANCE,
]
# The function's query, the built-in one's, and whether the promise is for it.
QUERIES = [
    ("two numbers to a number", "SELECT sum(cost(ms, bytes)) FROM t",
     "SELECT sum(CASE WHEN ms > 500 THEN bytes ELSE ms + bytes END) FROM t", True),
    ("a number to a condition", "SELECT count(*) FROM t WHERE is_slow(ms)", "SELECT count(*) FROM t WHERE ms > 900", True),
    ("a string of few values to a key", "SELECT kind(path), count(*) FROM t GROUP BY 1 ORDER BY 1",
     "SELECT substr(path, 1, 4), count(*) FROM t GROUP BY 1 ORDER BY 1", False),
    ("covariance of two numbers", "SELECT round(covariance(ms, bytes), 3) FROM t", "SELECT round(covar_pop(ms, bytes), 3) FROM t", False),
]


class Server:
    """A server on one core, with its workers."""

    def __init__(self, program):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        arguments = [program, "serve", "--memory", "--leaves", "1", "--listen", "127.0.0.1:0", "--no-journal", "--allow-functions"]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().split("http://")[1].split()[0]

    def ask(self, path, body):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("POST", path, body)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return json.loads(text)

    def query(self, sql):
        return self.ask("/v1/query", json.dumps({"sql": sql}))["rows"]


def fill(server, rows):
    """Logs rows of whole numbers, so that sums are exact in any order."""
    numbers = random.Random(7)
    for first in range(0, rows, 50_000):
        count = min(50_000, rows - first)
        lines = (json.dumps({"ms": numbers.randrange(1000), "bytes": numbers.randrange(100_000), "path": f"/p{numbers.randrange(300)}/x"})
                 for _ in range(count))
        server.ask("/v1/log/t", "\n".join(lines))


def seconds(server, sql):
    start = time.perf_counter()
    rows = server.query(sql)
    return time.perf_counter() - start, rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    server = Server(options.program)
    missed = []
    try:
        fill(server, options.rows)
        for definition in DEFINITIONS:
            server.query(definition)
        for name, defined, built_in, is_promised in QUERIES:
            times = []
            for _ in range(options.rounds):
                (taken, rows), (_, expected) = seconds(server, defined), seconds(server, built_in)
                assert rows == expected, f"{defined}: {rows} instead of {expected}"
                times.append(taken)
            speed = options.rows / statistics.median(times)
            print(f"{name:34} {speed / 1e6:8.2f} million rows/s")
            if is_promised and speed < PROMISED:
                missed.append(name)
    finally:
        server.process.kill()
    sys.exit(f"below {PROMISED:,} rows/s: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
