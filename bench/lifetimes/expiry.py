"""Expiry of a gibibyte: how soon its memory is there again, and what questions to other tables feel of it."""

import json
import pathlib
import statistics
import subprocess
import time

from processes import SETTLED_SECONDS, Hadal, say

GONE_BYTES = 1 << 30
ALL_BYTES = 3 << 30
BLOCKS_A_TABLE = 200
SECONDS_BEFORE = 20
MEMORY_SECONDS_MAX = 1.0
SLOWER_MAX = 1.2
QUESTION = 'SELECT service, count(*), sum(bytes) FROM "{table}" GROUP BY service'


def held():
    """Bytes that all tmpfs have."""
    lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return 1024 * int(lines["Shmem"].split()[0])


def p99(values):
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def filled(run):
    """A leaf of many tables with requests in settled row blocks."""
    folder = run.folder / "expiry"
    server = Hadal(run.options.program, folder, {}, run.log, options=("--leaves", "1", "--no-journal"))
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


def measure(run):
    folder = filled(run)
    server = Hadal(run.options.program, folder, {}, run.log, options=("--leaves", "1", "--no-journal"))
    while server.get("/v1/status")["waiting_rows"]:
        time.sleep(0.1)
    say("waiting for the scrub and merges")
    server.settle(["requests"], time.monotonic() + 70)
    # Not before: row blocks that are merged take less.
    tables = {table["name"]: table["block_bytes"] for table in server.get("/v1/tables")["tables"]}
    going, gone = [], 0
    for name in sorted(tables, key=lambda name: -tables[name]):
        if name != "requests" and gone < GONE_BYTES:
            going.append(name)
            gone += tables[name]
    asked = QUESTION.format(table=next(name for name in tables if name not in going and name != "requests"))
    expected = server.ask(asked, rows=True)["rows"]

    def ask_until(is_over):
        times = []
        while not is_over():
            start = time.perf_counter()
            if server.ask(asked, rows=True)["rows"] != expected:
                raise SystemExit("another answer while rows go")
            times.append(time.perf_counter() - start)
        return times

    end = time.perf_counter() + SECONDS_BEFORE
    before = ask_until(lambda: time.perf_counter() > end)
    full, start = held(), time.perf_counter()
    for name in going:
        set_age(server, name, "1m")
    told = time.perf_counter()
    # What was rounded up to pages is more, so this is reached when all is back.
    during = ask_until(lambda: full - held() >= gone or time.perf_counter() > told + 60)
    back, freed = time.perf_counter() - told, full - held()
    end = time.perf_counter() + SECONDS_BEFORE
    after = ask_until(lambda: time.perf_counter() > end)
    server.stop()
    slower = p99(during + after) / p99(before)
    run.bars.judge("expiry of a gibibyte: memory back", back, MEMORY_SECONDS_MAX, f"{back:.2f} s", most=True, unit=" s")
    run.bars.judge("99th percentile of questions meanwhile and after", slower, SLOWER_MAX, f"{slower:.2f}", most=True)
    print(f"- {len(going)} tables of {gone / 2**30:.2f} GiB expired; {freed / 2**30:.2f} GiB of memory back {back:.2f} s after the"
          f" last was told (the first {told - start:.2f} s before). Questions to another table: 99th percentile"
          f" {p99(before) * 1000:.1f} ms before ({len(before)}), {p99(during + after) * 1000:.1f} ms while and after"
          f" ({len(during)} and {len(after)})")
    return {"gone_bytes": gone, "freed_bytes": freed, "back_seconds": back, "p99_before": p99(before),
            "p99_after": p99(during + after), "questions_during": during}
