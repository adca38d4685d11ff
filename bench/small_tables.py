"""Many small tables that grow slowly: milliseconds and CPU milliseconds of a question.

100 tables of 10,000 rows each, which came in 50 batches. Hadal answers over HTTP, with weights; DuckDB answers in its own
process, in SQL that weights. Both on one core. The counts of whole tables are checked against the generated rows, and
counts, sums and top lists against DuckDB's. Percentiles, estimates and newest rows are not compared.

usage: small_tables.py PROGRAM [--tables N] [--rounds N] [--only TITLE]
"""

import argparse
import datetime
import decimal
import http.client
import json
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))
import duckdb
import machine
from processes import DEADLINE_MS, Hadal, cpu_seconds

BATCHES, BATCH_ROWS = 50, 200
MINUTE = "time_bucket('1 minute', time)"
# Title, Hadal's SQL, DuckDB's.
QUESTIONS = [
    ("count", "SELECT count(*) FROM {t}", "SELECT sum(sample_rate) FROM {t}"),
    ("2 sums", "SELECT sum(latency_us), sum(bytes) FROM {t}",
     "SELECT sum(latency_us * sample_rate), sum(bytes * sample_rate) FROM {t}"),
    ("by service", "SELECT service, count(*) AS n FROM {t} GROUP BY service",
     "SELECT service, sum(sample_rate) AS n FROM {t} GROUP BY service"),
    ("by minute", f"SELECT {MINUTE} AS m, count(*) FROM {{t}} GROUP BY m",
     "SELECT time // 60 AS m, sum(sample_rate) FROM {t} GROUP BY m"),
    ("service × minute", f"SELECT service, {MINUTE} AS m, count(*) FROM {{t}} GROUP BY service, m",
     "SELECT service, time // 60 AS m, sum(sample_rate) FROM {t} GROUP BY service, m"),
    ("top 100 users", "SELECT user_id, count(*) AS n FROM {t} GROUP BY user_id ORDER BY n DESC, user_id LIMIT 100",
     "SELECT user_id, sum(sample_rate) AS n FROM {t} GROUP BY user_id ORDER BY n DESC, user_id LIMIT 100"),
    ("p95 by service", "SELECT service, p95(latency_us) FROM {t} GROUP BY service", None),
    ("distinct users", "SELECT count(DISTINCT user_id) FROM {t}", "SELECT approx_count_distinct(user_id) FROM {t}"),
    ("filter", "SELECT host, count(*) FROM {t} WHERE status = 500 AND endpoint = '/api/7' GROUP BY host",
     "SELECT host, sum(sample_rate) FROM {t} WHERE status = 500 AND endpoint = '/api/7' GROUP BY host"),
    ("newest 50 rows", "SELECT * FROM {t} ORDER BY time DESC LIMIT 50", "SELECT * FROM {t} ORDER BY time DESC LIMIT 50"),
]
# Their answers are compared as numbers, group by group.
COMPARED = ("count", "2 sums", "by service", "by minute", "service × minute", "top 100 users", "filter")


def batches(seed):
    """The batches of a table: rows of the last hour."""
    draw = random.Random(seed)
    start = int(time.time()) - 3_600
    for batch in range(BATCHES):
        yield [{"time": start + batch * 60 + draw.randrange(60), "service": draw.choice(("web", "api", "db", "cache")),
                "host": f"host-{draw.randrange(50)}", "endpoint": f"/api/{draw.randrange(40)}",
                "status": draw.choice((200, 200, 200, 404, 500)), "latency_us": int(draw.expovariate(1 / 5_000)),
                "bytes": draw.randrange(100_000), "user_id": draw.randrange(5_000), "sample_rate": draw.choice((1, 10))}
               for _ in range(BATCH_ROWS)]


def filled(hadal, duck, tables, folder):
    """Loads the tables into both. Returns the represented rows of each table."""
    represented = []
    lines = pathlib.Path(folder) / "lines"
    for table in range(tables):
        of_table = list(batches(table))
        for batch in of_table:
            hadal.request("POST", f"/v1/log/t{table}", "\n".join(map(json.dumps, batch)), {"content-type": "application/x-ndjson"})
        rows = [row for batch in of_table for row in batch]
        lines.write_text("\n".join(map(json.dumps, rows)))
        duck.execute(f"CREATE TABLE t{table} AS SELECT * FROM read_json_auto('{lines}', format = 'newline_delimited')")
        represented.append(sum(row["sample_rate"] for row in rows))
    return represented


def comparable(row):
    """A row with integers for numbers and minutes for times."""
    def value(cell):
        if isinstance(cell, (int, float, decimal.Decimal)):
            return int(cell)
        return int(datetime.datetime.fromisoformat(cell).timestamp()) // 60 if cell.endswith("Z") else cell
    return tuple(map(value, row))


def check(hadal, duck, tables, represented):
    """Fails if an answer differs."""
    for table in range(0, tables, 7):
        for title, sql, other in QUESTIONS:
            if title not in COMPARED:
                continue
            ours = sorted(map(comparable, hadal.ask(sql.format(t=f"t{table}"), rows=True)["rows"]))
            theirs = sorted(map(comparable, duck.execute(other.format(t=f"t{table}")).fetchall()))
            if ours != theirs:
                sys.exit(f"t{table}, {title}: {ours[:3]} is not {theirs[:3]}")
            if title == "count" and ours != [(represented[table],)]:
                sys.exit(f"t{table} represents {represented[table]} rows, not {ours}")


def asked_hadal(hadal, sql, tables, rounds):
    """Seconds of each question, and its mean CPU seconds."""
    connection = http.client.HTTPConnection(hadal.address, timeout=DEADLINE_MS / 1_000)
    seconds, cpu = [], cpu_seconds(hadal.process.pid)
    for ask in range(tables * rounds):
        body = json.dumps({"sql": sql.format(t=f"t{ask % tables}")})
        start = time.perf_counter()
        connection.request("POST", "/v1/query", body, {"content-type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        seconds.append(time.perf_counter() - start)
        if response.status != 200:
            sys.exit(f"{sql}: {response.status} {text.decode()[:300]}")
    return seconds, (cpu_seconds(hadal.process.pid) - cpu) / len(seconds)


def asked_duck(duck, sql, tables, rounds):
    seconds, cpu = [], time.process_time()
    for ask in range(tables * rounds):
        start = time.perf_counter()
        duck.execute(sql.format(t=f"t{ask % tables}")).fetchall()
        seconds.append(time.perf_counter() - start)
    return seconds, (time.process_time() - cpu) / len(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of a title")
    options = parser.parse_args()
    one, _, _ = machine.cores()
    with tempfile.TemporaryDirectory(prefix="hadal-small-") as folder, open(pathlib.Path(folder) / "log", "w") as log:
        hadal = Hadal(options.program.resolve(), pathlib.Path(folder) / "data", {}, log, one)
        duck = duckdb.connect(config={"threads": 1})
        represented = filled(hadal, duck, options.tables, folder)
        check(hadal, duck, options.tables, represented)
        blocks = statistics.mean(hadal.blocks(f"t{table}")["block_count"] for table in range(options.tables))
        print(f"{hadal.title}, DuckDB {duckdb.__version__}: {options.tables} tables of {BATCHES * BATCH_ROWS:,} rows, "
              f"{blocks:.0f} row blocks each; ms, one core\n")
        print(f"{'':18}{'p50':>8}{'p95':>8}{'CPU':>8}{'DuckDB p50':>12}{'CPU':>8}{'CPU ratio':>11}")
        ratios = []
        for title, sql, other in QUESTIONS:
            if options.only not in title:
                continue
            seconds, cpu = asked_hadal(hadal, sql, options.tables, options.rounds)
            of = statistics.quantiles(seconds, n=20)
            line = f"{title:18}{of[9] * 1e3:8.2f}{of[18] * 1e3:8.2f}{cpu * 1e3:8.2f}"
            if other:
                seconds, duck_cpu = asked_duck(duck, other, options.tables, options.rounds)
                ratios.append(duck_cpu / cpu)
                line += f"{statistics.median(seconds) * 1e3:12.2f}{duck_cpu * 1e3:8.2f}{ratios[-1]:9.2f} ×"
            print(line, flush=True)
        if ratios:
            print(f"\ngeometric mean: {statistics.geometric_mean(ratios):.2f} × DuckDB")
        hadal.stop()


if __name__ == "__main__":
    main()
