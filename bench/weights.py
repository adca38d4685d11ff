"""What weights cost: the same rows and questions, once with a `sample_rate` and once with a column of another name.

The two tables have the same values; in one, each row counts as many times as its rate. Each question runs on both in
turn, on one core, by the CPU clock. The weighted counts are checked against sums of the plain column. The time range cuts
no more than two blocks, but is one that keeps answers out of the zone maps.

usage: weights.py PROGRAM GENERATOR [--rows N] [--rounds N] [--only TITLE]
"""

import argparse
import pathlib
import re
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))
import machine
from processes import Hadal
from questions import ALL

TOP = "ORDER BY n DESC LIMIT 100"
# Title, aggregates, and what follows FROM.
QUESTIONS = [
    ("count + 2 sums", "count(*) AS n, sum(latency_us), sum(bytes)", "WHERE {all}"),
    ("avg, min, max", "count(*) AS n, avg(latency_us), min(latency_us), max(latency_us)", "WHERE {all}"),
    ("by service", "service, count(*) AS n", "WHERE {all} GROUP BY service"),
    ("service, 2 sums", "service, count(*) AS n, sum(latency_us), sum(bytes)", "WHERE {all} GROUP BY service"),
    ("service × minute", "service, time_bucket('1 minute', time) AS t, count(*) AS n, sum(latency_us)",
     "WHERE {all} GROUP BY service, t ORDER BY n DESC LIMIT 1800"),
    ("hosts + 4 sums", "host, count(*) AS n, sum(latency_us), sum(bytes), sum(status), sum(user_id)",
     "WHERE {all} GROUP BY host " + TOP),
    ("top 100 users", "user_id, count(*) AS n", "WHERE {all} GROUP BY user_id " + TOP),
    ("users + 4 sums", "user_id, count(*) AS n, sum(latency_us), sum(bytes), sum(status), avg(latency_us)",
     "WHERE {all} GROUP BY user_id " + TOP),
    ("messages", "message, count(*) AS n", "WHERE {all} GROUP BY message " + TOP),
    ("percentiles", "service, count(*) AS n, p50(latency_us), p99(latency_us)", "WHERE {all} GROUP BY service"),
    ("filter", "endpoint, count(*) AS n, sum(latency_us)",
     "WHERE {all} AND service = 'checkout' AND latency_us > 20000 GROUP BY endpoint " + TOP),
    ("distinct", "country, count(*) AS n, count(DISTINCT user_id)", "WHERE {all} GROUP BY country"),
]


def asked(hadal, table, aggregates, rest):
    return hadal.ask(f"SELECT {aggregates} FROM {table} {rest.format(all=ALL)}", rows=True)


def check(hadal, title, aggregates, rest):
    """Fails if the weighted counts of a question are not the sums of the plain rates."""
    weighted = asked(hadal, "weighted", aggregates, rest)
    plain = asked(hadal, "plain", aggregates.replace("count(*) AS n", "sum(rate) AS n"), rest)
    column = re.sub(r"\([^)]*\)", "", aggregates.split(" AS n")[0]).count(",")
    counts = [sorted(row[column] for row in answer["rows"]) for answer in (weighted, plain)]
    if counts[0] != counts[1]:
        sys.exit(f"{title}: the weighted counts are not the sums of the rates")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("generator", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="part of a title")
    parser.add_argument("--settle", type=int, default=0, help="seconds for merging")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache/hadal/rivals/data")
    options = parser.parse_args()
    data = machine.Data(options.generator.resolve(), options.cache, options.rows, 0, 0)
    one, _, _ = machine.cores()
    with tempfile.TemporaryDirectory(prefix="hadal-weights-") as folder, open(pathlib.Path(folder) / "log", "w") as log:
        hadal = Hadal(options.program.resolve(), pathlib.Path(folder) / "data", {}, log, one)
        hadal.load("weighted", data.weighted)
        hadal.load("plain", data.requests)
        if options.settle:
            import time
            hadal.settle(["weighted", "plain"], time.monotonic() + options.settle)
        print(f"{hadal.title}, {options.rows:,} rows, one core, CPU clock: million rows/s\n")
        print(f"{'':18}{'plain':>8}{'weighted':>10}{'time':>8}")
        ratios = []
        for title, aggregates, rest in QUESTIONS:
            if options.only not in title:
                continue
            check(hadal, title, aggregates, rest)
            seconds = {"plain": [], "weighted": []}
            for _ in range(options.rounds):
                for table, of_table in seconds.items():
                    of_table.append(asked(hadal, table, aggregates, rest)["cpu_seconds"])
            plain, weighted = (min(of_table) for of_table in seconds.values())
            ratio = statistics.median(w / p for w, p in zip(seconds["weighted"], seconds["plain"]))
            ratios.append(ratio)
            print(f"{title:18}{options.rows / plain / 1e6:8.0f}{options.rows / weighted / 1e6:10.0f}{ratio:7.2f} ×", flush=True)
        print(f"\ngeometric mean: {statistics.geometric_mean(ratios):.2f} × the time")
        hadal.stop()


if __name__ == "__main__":
    main()
