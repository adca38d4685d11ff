"""Expiry of a gigabyte, some times: how soon its memory is there again, and what questions to other tables feel."""

import json
import pathlib
import statistics
import subprocess
import time

from processes import SETTLED_SECONDS, Hadal, say

GONE_BYTES = 1_000_000_000
# A round takes a part of a second, so one round has too few queries for a percentile.
ROUNDS = 6
ALL_BYTES = (ROUNDS + 1) << 30
BLOCKS_A_TABLE = 95
SECONDS_BEFORE = 10
MEMORY_SECONDS_MAX = 1.0
SLOWER_MAX = 1.2
QUESTION = 'SELECT service, count(*), sum(bytes) FROM "{table}" GROUP BY service'


def held():
    """Bytes in all tmpfs."""
    lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return 1024 * int(lines["Shmem"].split()[0])


def p99(values):
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def filled(run):
    """A leaf of many tables with requests in settled row blocks."""
    folder = run.folder / "expiry"
    server = Hadal(run.options.program, folder, {}, run.log, options=("--leaves", "1", "--no-journal", "--clock-proving", "0"))
    server.load("requests", run.requests)
    say("waiting until its blocks are settled")
    time.sleep(SETTLED_SECONDS)
    server.stop()
    subprocess.run([run.options.multiply, folder / "leaf-0", str(ALL_BYTES), str(BLOCKS_A_TABLE)], check=True,
                   stdout=subprocess.DEVNULL)
    return folder


def set_age(server, table, age):
    version = server.get(f"/v1/tables/{table}/settings")["version"]
    server.request("PUT", f"/v1/tables/{table}/settings", json.dumps({"version": version, "settings": {"age": age}}))


def questions_until(server, asked, expected, is_over):
    """Repeats a query. Returns the seconds of each answer."""
    times = []
    while not is_over():
        start = time.perf_counter()
        if server.ask(asked, rows=True)["rows"] != expected:
            raise SystemExit("another answer while rows go")
        times.append(time.perf_counter() - start)
    return times


def parted(tables):
    """The tables of a gigabyte for each round, and one that stays."""
    names = sorted((name for name in tables if name != "requests"), key=lambda name: -tables[name])
    rounds = []
    for _ in range(ROUNDS):
        going, gone = [], 0
        while gone < GONE_BYTES:
            going.append(names.pop(0))
            gone += tables[going[-1]]
        rounds.append((going, gone))
    return rounds, names[0]


def measure(run):
    folder = filled(run)
    server = Hadal(run.options.program, folder, {}, run.log, options=("--leaves", "1", "--no-journal", "--clock-proving", "0"))
    while server.get("/v1/status")["waiting_rows"]:
        time.sleep(0.1)
    say("waiting for the scrub and merges")
    server.settle(["requests"], time.monotonic() + 90)
    # Not before: merged row blocks take fewer bytes.
    tables = {table["name"]: table["block_bytes"] for table in server.get("/v1/tables")["tables"]}
    rounds, stays = parted(tables)
    asked = QUESTION.format(table=stays)
    expected = server.ask(asked, rows=True)["rows"]

    def ask_until(is_over):
        return questions_until(server, asked, expected, is_over)

    quiet, meanwhile, backs, freed = [], [], [], []
    for number, (going, gone) in enumerate(rounds):
        say(f"expiry {number + 1} of {ROUNDS}")
        end = time.perf_counter() + SECONDS_BEFORE
        quiet += ask_until(lambda: time.perf_counter() > end)
        full = held()
        # The first tables expire while the settings of the others are sent; the measured time
        # includes this.
        told = time.perf_counter()
        for name in going:
            set_age(server, name, "1m")
        # Sizes rounded up to pages are larger, so this is reached when all memory is returned.
        meanwhile += ask_until(lambda: full - held() >= gone or time.perf_counter() > told + 60)
        backs.append(time.perf_counter() - told)
        freed.append(full - held())
    server.stop()
    back, slower = statistics.median(backs), p99(meanwhile) / p99(quiet)
    run.bars.judge("expiry of a gigabyte: memory back", back, MEMORY_SECONDS_MAX,
                   f"{back:.2f} s ({min(backs):.2f}–{max(backs):.2f})", most=True, unit=" s")
    run.bars.judge("99th percentile of questions meanwhile", slower, SLOWER_MAX, f"{slower:.2f}", most=True)
    print(f"- {ROUNDS} times a gigabyte of rows expired; {statistics.median(freed) / 2**30:.2f} GiB of memory were back"
          f" {back:.2f} s after. Questions to another table: median and 99th percentile"
          f" {statistics.median(quiet) * 1000:.1f} and {p99(quiet) * 1000:.1f} ms before ({len(quiet)}),"
          f" {statistics.median(meanwhile) * 1000:.1f} and {p99(meanwhile) * 1000:.1f} ms meanwhile ({len(meanwhile)})")
    return {"gone_bytes": [gone for _, gone in rounds], "freed_bytes": freed, "back_seconds": backs,
            "p99_before": p99(quiet), "p99_meanwhile": p99(meanwhile), "questions_meanwhile": meanwhile}
