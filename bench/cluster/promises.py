"""The figures that a cluster promises, measured with real processes on this machine.

Clusters are on loopback addresses. Answers are checked against those of one server with the same rows, or against what was
posted. Ends with 1 if an answer was wrong or a promise is missed.

usage: promises.py PROGRAM GENERATOR [--rows N] [--only PART] ...; --help tells all
"""

import argparse
import atexit
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "rivals")]
import machine  # noqa: E402
from demo_questions import QUESTIONS  # noqa: E402
from kills import kills  # noqa: E402
from loopback import Cluster, Single, cpu_seconds, say, version  # noqa: E402
from report import RESULTS, Bars, keep, table  # noqa: E402
from rollover import rollover  # noqa: E402

TINY = "SELECT service, count(*), sum(latency_us) FROM small GROUP BY service ORDER BY service"
# CPU time is compared over many rounds: the clock of processes ticks only a hundred times a second.
CPU_ROUNDS = 4
KNOWN_SECONDS = 2.0


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def post_batches(door, name, lines, size):
    """Posts lines in batches of `size` lines, so that every leaf gets some."""
    for start in range(0, len(lines), size):
        body = "".join(lines[start:start + size]).encode()
        door.request("POST", f"/v1/log/{name}", body, {"Content-Type": "application/x-ndjson"})


def same(left, right):
    """Whether two answers have the same rows."""
    return sorted(map(str, left["rows"])) == sorted(map(str, right["rows"]))


def times_of(door, sql, wanted, rounds=None, seconds=None):
    """Asks again and again; returns milliseconds, and raises if an answer is not the wanted one."""
    took, end = [], time.monotonic() + (seconds or math.inf)
    while len(took) < (rounds or math.inf) and time.monotonic() < end:
        answer, milliseconds = door.timed(sql)
        if wanted and not same(answer, wanted):
            raise AssertionError(f"{sql}: {answer['rows'][:3]} instead of {wanted['rows'][:3]}, {answer['coverage']}")
        took.append(milliseconds)
    return took


def told(took):
    return f"p50 {percentile(took, 0.5):.1f} ms, p99 {percentile(took, 0.99):.1f} ms, most {max(took):.1f} ms, n={len(took)}"


def small_lines(count=20_000):
    chosen = random.Random(1)
    return [json.dumps({"service": f"service-{chosen.randrange(10)}", "latency_us": chosen.randrange(100_000),
                        "sample_rate": chosen.choice((1, 10, 100))}) + "\n" for _ in range(count)]


def forty_leaves(options, bars, root):
    """Tiny queries through 40 leaf processes, then with one of them frozen."""
    say("40 leaf processes")
    single = Single(options.program, root, options.network)
    cluster = Cluster(options.program, root, 5, 8, options.network)
    atexit.register(cluster.stop)
    lines = small_lines()
    post_batches(cluster.doors[0], "small", lines, 50)
    post_batches(single.doors[0], "small", lines, 5_000)
    wanted = single.doors[0].ask(TINY)
    alone = times_of(single.doors[0], TINY, wanted, rounds=options.rounds)
    single.stop()
    door = cluster.doors[0]
    healthy = times_of(door, TINY, wanted, rounds=options.rounds)
    bars.judge("tiny query, 40 leaf processes, p50", percentile(healthy, 0.5), 20, told(healthy), most=True, unit=" ms")
    say(f"one process: {told(alone)}")
    say("one leaf of 40 is frozen")
    leaf = cluster.machines[3].leaves()[2]
    os.kill(leaf, signal.SIGSTOP)
    first = times_of(door, TINY, None, seconds=KNOWN_SECONDS)
    later = times_of(door, TINY, None, seconds=options.frozen_seconds)
    os.kill(leaf, signal.SIGCONT)
    frozen = first + later
    p50, p99 = percentile(healthy, 0.5), percentile(healthy, 0.99)
    bars.judge("one of 40 frozen: p50, of the healthy run's", percentile(frozen, 0.5) / p50, 1.5, told(frozen), most=True)
    bars.judge("one of 40 frozen: p99", percentile(frozen, 0.99), 2 * p99 + 20,
               f"the first {KNOWN_SECONDS:.0f} s: {told(first)}", most=True, unit=" ms")
    cluster.stop()
    atexit.unregister(cluster.stop)
    return {"one_process_ms": alone, "healthy_ms": healthy, "frozen_first_ms": first, "frozen_later_ms": later}


def same_rows(options, bars, root):
    """The demo's questions on three machines of two leaves, beside one process with the same rows."""
    say(f"3 x 2 leaf processes beside one process, {options.rows:,} rows")
    path = machine.made(options.generator, options.cache / "data", "requests", "parquet", ("--rows", options.rows))
    single = Single(options.program, root, options.network)
    atexit.register(single.stop)
    cluster = Cluster(options.program, root, 3, 2, options.network + 1)
    atexit.register(cluster.stop)
    sides = {"one process": single, "3 x 2": cluster}
    for name, side in sides.items():
        command = [options.program, "import", "--table", "requests", "--server", side.doors[0].url, path]
        subprocess.run(command, check=True, capture_output=True)
    say("merging")
    time.sleep(options.settle)
    end = single.doors[0].ask("SELECT max(time) - INTERVAL '1 hour' FROM requests")["rows"][0][0]
    rows, results = [], []
    for title, sql in QUESTIONS:
        sql = sql.format(end=f"TIMESTAMP '{end}'")
        wanted = single.doors[0].ask(sql)
        if not same(wanted, cluster.doors[0].ask(sql)) and "LIMIT 50" not in sql:
            bars.judge(f"the same answer: {title}", None, 1, "another", why="wrong")
        took, cpu = {name: [] for name in sides}, dict.fromkeys(sides, 0.0)
        for _ in range(CPU_ROUNDS):
            for name, side in sides.items():
                before = cpu_seconds(side.processes())
                took[name] += times_of(side.doors[0], sql, None, rounds=options.rounds // 20 + 3)
                cpu[name] += cpu_seconds(side.processes()) - before
        alone, spread = (statistics.median(took[name]) for name in sides)
        count = len(took["3 x 2"])
        rows.append([title, f"{alone:.1f}", f"{spread:.1f}", *(f"{cpu[name] / count * 1000:.1f}" for name in sides)])
        results.append({"question": title, "ms": took, "cpu_seconds": cpu, "count": count})
        bars.judge(f"3 x 2: p50 of {title}", spread, 1.5 * alone + 3, f"{alone:.1f} -> {spread:.1f} ms", most=True, unit=" ms")
    used = [sum(result["cpu_seconds"][name] for result in results) for name in sides]
    bars.judge("3 x 2: CPU of all demo questions", used[1] / used[0], 1.25, f"{used[0]:.1f} -> {used[1]:.1f} s", most=True)
    print(table(["demo questions", "one: ms", "3 x 2: ms", "one: CPU ms", "3 x 2: CPU ms"], rows))
    for side in sides.values():
        side.stop()
        atexit.unregister(side.stop)
    return results


def door_to_door(options, bars, root):
    """Rows posted through one door, until they are in an answer of another."""
    say("from door to door")
    cluster = Cluster(options.program, root, 3, 2, options.network)
    atexit.register(cluster.stop)
    chosen, took = random.Random(options.seed), []
    for number in range(options.posts):
        door, other = chosen.sample(cluster.doors, 2)
        start = time.perf_counter()
        door.request("POST", "/v1/log/seen", json.dumps({"number": number}))
        # The other door may not know the table yet when the first row is posted.
        while other.ask(f"SELECT count(*) FROM seen WHERE number = {number}")["rows"] != [[1]] if number else False:
            pass
        if number == 0:
            time.sleep(2)
        else:
            took.append((time.perf_counter() - start) * 1000)
    total = cluster.doors[0].ask("SELECT count(*), sum(number) FROM seen")["rows"]
    if total != [[options.posts, options.posts * (options.posts - 1) // 2]]:
        bars.judge("all posted rows are there once", None, 1, str(total), why="wrong")
    bars.judge("row posted through a door -> in an answer of another, p99", percentile(took, 0.99), 50, told(took), most=True, unit=" ms")
    cluster.stop()
    atexit.unregister(cluster.stop)
    return took


PARTS = {"leaves": forty_leaves, "rows": same_rows, "doors": door_to_door, "rollover": rollover, "kills": kills}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the demo's questions [default: 10,000,000]")
    parser.add_argument("--rounds", type=int, default=400, help="tiny queries [default: 400]")
    parser.add_argument("--posts", type=int, default=400, help="rows posted one by one [default: 400]")
    parser.add_argument("--kills", type=int, default=300, help="processes killed under load [default: 300]")
    parser.add_argument("--frozen-seconds", type=float, default=60, help="[default: 60]")
    parser.add_argument("--settle", type=int, default=20, help="seconds for merging after an import [default: 20]")
    parser.add_argument("--network", type=int, default=77, help="clusters are on 127.0.NETWORK [default: 77]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=PARTS, help="a part")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="folder for the file of results")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/rivals"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="folder for data")
    options = parser.parse_args()
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    (options.cache / "data").mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    title, commit = version(options.program)
    about, bars, parts = machine.about(options.generator), Bars(), {}
    print(f"\n## A cluster, {about['date']}\n\n{machine.told(about)}; {title}\n")
    for name in options.only or PARTS:
        with tempfile.TemporaryDirectory(prefix="hadal-cluster-") as root:
            parts[name] = PARTS[name](options, bars, root)
    print(table(["promise", "measured", "wanted", "verdict"],
                [[line["what"], line["text"], line["bar"], line["verdict"]] for line in bars.lines]))
    results = {"machine": about, "commit": commit, "version": title, "promises": bars.lines, "parts": parts,
               "load_after": os.getloadavg()[0]}
    if not options.only:
        print(f"\n{keep(results, options.results, '-cluster')}")
    return 0 if all(line["reached"] for line in bars.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
