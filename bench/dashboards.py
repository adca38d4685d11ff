"""Many people with a dashboard each: 64 clients that refresh 12 queries over the demo's table, below and beyond the capacity.

Every answer must be equal to the first one of its query. The capacity is measured in the same run, with all clients asking without a
pause. Ends with 1 if an answer was wrong or a promise is missed.

usage: dashboards.py PROGRAM [--rows N] [--clients N] [--seconds S]
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE / "cluster"))
from loopback import Door, Failed, say, version  # noqa: E402

NOW = "2026-11-20T12:00:00Z"
PROMISED_P99, PROMISED_SLOWEST = 10, 0.5
LAST_DAY = "time >= '{end}'::timestamp - INTERVAL '1 day' AND time < '{end}'"
SINCE = {"all": "time < '{end}'", "day": LAST_DAY}
# Four of all rows, and eight of the last day, as a dashboard has them. Most rows have a sample_rate.
TILES = [
    ("all", "SELECT count(*) FROM requests WHERE {since}"),
    ("all", "SELECT service, count(*), avg(latency_us) FROM requests WHERE {since} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("all", "SELECT date_trunc('hour', time) AS hour, count(*) FROM requests WHERE {since} GROUP BY 1 ORDER BY 1"),
    ("all", "SELECT country, count(*) FROM requests WHERE status >= 500 AND {since} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("day", "SELECT time_bucket('10 minutes', time) AS t, service, count(*) FROM requests WHERE {since} GROUP BY 1, 2 ORDER BY 1, 2"),
    ("day", "SELECT time_bucket('10 minutes', time) AS t, p95(latency_us) FROM requests WHERE {since} GROUP BY 1 ORDER BY 1"),
    ("day", "SELECT endpoint, count(*), sum(latency_us) FROM requests WHERE {since} GROUP BY 1 ORDER BY 2 DESC LIMIT 20"),
    ("day", "SELECT status, count(*) FROM requests WHERE {since} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("day", "SELECT count(DISTINCT user_id) FROM requests WHERE {since}"),
    ("day", "SELECT avg(latency_us), p50(latency_us), p99(latency_us) FROM requests WHERE {since}"),
    ("day", "SELECT count(*) FROM requests WHERE endpoint LIKE '%checkout%' AND {since}"),
    ("day", "SELECT country, avg(latency_us) FROM requests WHERE service = 'web' AND {since} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
]


class Server:
    def __init__(self, program, rows):
        # A client of its own address each would be as in life; here all have the same one.
        arguments = [program, "demo", "--rows", str(rows), "--now", NOW, "--no-browser", "--no-journal", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.port = None
        for line in self.process.stdout:
            if "http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0])
                break
        if self.port is None:
            raise Failed("the server did not start")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.door = Door("127.0.0.1", self.port)

    def wait_for(self, rows):
        end = time.monotonic() + 600
        while self.door.ask("SELECT raw_count(*) FROM requests")["rows"][0][0] < rows:
            if time.monotonic() > end:
                raise Failed(f"{rows} rows are not there after 10 minutes")
            time.sleep(0.5)

    def peak_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Load:
    """What clients met in a phase."""

    def __init__(self):
        self.milliseconds, self.refused, self.failures = [], collections.Counter(), []
        self.answers = collections.Counter()


def client(door, number, queries, expected, load, until, pause):
    """Refreshes the dashboard; `pause` is the time from the beginning of a refresh to that of the next."""
    draw = random.Random(number)
    due = time.monotonic() + draw.random() * pause
    while (now := time.monotonic()) < until:
        if now < due:
            time.sleep(min(due, until) - now)
            continue
        due = max(due + pause, now - pause)
        for query in draw.sample(queries, len(queries)):
            if time.monotonic() >= until:
                return
            try:
                answer, milliseconds = door.timed(query, 10_000)
            except Failed as error:
                status = str(error).split(": ")[1].split()[0]
                load.refused[status] += 1
                if status != "429":
                    load.failures.append(str(error))
                time.sleep(1)
                continue
            load.milliseconds.append(milliseconds)
            load.answers[number] += 1
            if answer["rows"] != expected[query]:
                load.failures.append(f"{query}: {answer['rows'][:2]} instead of {expected[query][:2]}, {answer['coverage']}")


def phase(door, clients, queries, expected, seconds, pause):
    load, until = Load(), time.monotonic() + seconds
    threads = [threading.Thread(target=client, args=(door, number, queries, expected, load, until, pause)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return load


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    sys.setswitchinterval(0.001)
    print(f"{version(options.program)[0]}, {os.cpu_count()} processors, {options.rows} rows, {options.clients} clients")
    server = Server(options.program, options.rows)
    try:
        say("rows are being made")
        server.wait_for(options.rows)
        before = server.peak_bytes()
        end = NOW.rstrip("Z")
        queries = [text.format(since=SINCE[since].format(end=end)) for since, text in TILES]
        expected = {query: server.door.ask(query)["rows"] for query in queries}
        alone = phase(server.door, 1, queries, expected, options.seconds / 3, 0)
        p50 = percentile(alone.milliseconds, 0.5)
        print(f"one client: p50 {p50:.1f} ms, p99 {percentile(alone.milliseconds, 0.99):.1f} ms")
        full = phase(server.door, options.clients, queries, expected, options.seconds, 0)
        capacity = len(full.milliseconds) / options.seconds
        print(f"{options.clients} clients without a pause: {capacity:.1f} queries a second, p99 {percentile(full.milliseconds, 0.99):.0f} ms")
        round_of_all = options.clients * len(queries)
        half = phase(server.door, options.clients, queries, expected, options.seconds, 2 * round_of_all / capacity)
        p99 = percentile(half.milliseconds, 0.99)
        print(f"at half of the capacity: {len(half.milliseconds) / options.seconds:.1f} queries a second, p50 "
              f"{percentile(half.milliseconds, 0.5):.1f} ms, p99 {p99:.1f} ms: {p99 / p50:.1f} x the unloaded p50 (at most {PROMISED_P99})")
        twice = phase(server.door, options.clients, queries, expected, options.seconds, round_of_all / capacity / 2)
        answers = [twice.answers[number] for number in range(options.clients)]
        slowest = min(answers) / (sum(answers) / len(answers))
        print(f"at twice the capacity: {len(twice.milliseconds) / options.seconds:.1f} queries a second, p99 "
              f"{percentile(twice.milliseconds, 0.99):.0f} ms; the slowest client has {slowest:.2f} x the mean (at least {PROMISED_SLOWEST}); "
              f"refused: {json.dumps(twice.refused)}")
        grown = (server.peak_bytes() - before) / 2**20
        print(f"peak of memory: {grown:.0f} MiB above that before the queries")
        failures = [text for load in (alone, full, half, twice) for text in load.failures]
        for text in failures[:5]:
            print(f"wrong: {text}")
        missed = failures or p99 > PROMISED_P99 * p50 or slowest < PROMISED_SLOWEST
        print("a promise is missed" if missed else "all promises are kept")
        sys.exit(1 if missed else 0)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
