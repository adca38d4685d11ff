#!/usr/bin/env python3
"""The figures that the README tells, measured now, on this machine.

Starts a server and a demo of its own, asks them over HTTP as a client would, and checks each answer before its time is
told. Memory bandwidth is measured in the same run, so that speeds can be read as shares of what the machine can do.
Needs nothing but Python; `make bench` builds the program first.

usage: figures.py PROGRAM [--rows N]
"""

import argparse
import atexit
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15
POSTS = 400


class Server:
    """A process of the program, and questions to it."""

    def __init__(self, program, *arguments):
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [program, *arguments, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        atexit.register(self.process.kill)
        self.port = None
        while self.port is None:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"{program} {' '.join(arguments)} ended with {self.process.wait()}")
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            self.port = found and int(found[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def request(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        response = self.connection.getresponse()
        text = response.read()
        if response.status != 200:
            sys.exit(f"{method} {path}: {response.status} {text.decode()}")
        return json.loads(text)

    def ask(self, sql):
        return self.request("POST", "/v1/query", json.dumps({"sql": sql}))

    def memory(self):
        """Resident MB now, and at most so far."""
        status = open(f"/proc/{self.process.pid}/status").read()
        return [int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1024 for key in ("VmRSS", "VmHWM")]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def bandwidth():
    """GB/s that copying reads, one core: the best of a few rounds over 256 MB."""
    source = bytearray(os.urandom(1 << 20) * 256)
    target = bytearray(len(source))
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        target[:] = source
        best = max(best, len(source) / (time.perf_counter() - start) / 1e9)
    return best


def tell(what, value, wanted=""):
    print(f"{what:<62} {value:>34}  {wanted}", flush=True)


def spread(milliseconds):
    low, middle, high = min(milliseconds), statistics.median(milliseconds), max(milliseconds)
    return f"{middle:.1f} ms ({low:.1f}-{high:.1f}, n={len(milliseconds)})"


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def idle(program):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, "serve", "--data", folder)
        server.request("GET", "/v1/tables")
        now, most = server.memory()
        tell("memory of an idle server", f"{now:.0f} MB (at most {most:.0f})", "<= 60 MB")
        posted_to_visible(server)
        server.stop()


def posted_to_visible(server):
    """Each row is posted alone; then the server is asked until the row is in the answer."""
    took = []
    for number in range(POSTS):
        start = time.perf_counter()
        answer = server.request("POST", "/v1/log/seen", json.dumps({"number": number}))
        if answer["accepted"] != 1:
            sys.exit(f"a row was not taken: {answer}")
        while server.ask(f"SELECT count(*) FROM seen WHERE number = {number}")["rows"] != [[1]]:
            pass
        took.append((time.perf_counter() - start) * 1000)
    total = server.ask("SELECT count(*), sum(number) FROM seen")["rows"]
    if total != [[POSTS, POSTS * (POSTS - 1) // 2]]:
        sys.exit(f"rows are missing: {total}")
    p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
    tell("row posted -> in an answer, kept on disk", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, n={POSTS}", "p99 <= 250 ms")


QUESTIONS = [
    ("count and sum of all rows", "SELECT count(*), sum(latency_us) FROM requests WHERE time < {end}"),
    ("count by service", "SELECT service, count(*) FROM requests WHERE time < {end} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("p95 by service", "SELECT service, p95(latency_us) FROM requests WHERE time < {end} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("errors per hour", "SELECT date_trunc('hour', time) AS hour, count(*) FROM requests WHERE status >= 500 AND time < {end} GROUP BY 1"),
    ("different users", "SELECT count(DISTINCT user_id) FROM requests WHERE time < {end}"),
    ("by country, of one endpoint", "SELECT country, count(*), avg(latency_us) FROM requests WHERE endpoint LIKE '%checkout%' AND time < {end} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("rows with a word anywhere", "SELECT count(*) FROM requests WHERE search('timeout') AND time < {end}"),
    ("a day, per 10 minutes, by service", "SELECT time_bucket('10 minutes', time) AS t, service, count(*) FROM requests WHERE time >= {end} - INTERVAL '1 day' AND time < {end} GROUP BY 1, 2"),
]


def demo(program, rows, copying):
    server = Server(program, "demo", "--rows", str(rows), "--seed", "1", "--no-browser")
    first = None
    while True:
        line = server.process.stdout.readline()
        told = re.match(r"([\d,]+) rows", line)
        there = int(told[1].replace(",", "")) if told else 0
        if first is None and there >= min(1_000_000, rows):
            first = time.monotonic() - server.started
        if there >= rows:
            break
    tell("demo: first million rows", f"{first:.1f} s", "<= 3 s")
    tell(f"demo: all {rows:,} rows", f"{time.monotonic() - server.started:.1f} s", "<= 60 s")
    questions(server, rows, copying)
    now, most = server.memory()
    tell("demo: memory", f"{now:.0f} MB (at most {most:.0f})")
    server.stop()


def questions(server, rows, copying):
    """Live rows go on to come, some of them late, so all questions end an hour ago."""
    end = server.ask("SELECT now() - INTERVAL '1 hour'")["rows"][0][0]
    end = f"TIMESTAMP '{end}'"
    whole = server.ask(f"SELECT raw_count(*) FROM requests WHERE time < {end}")["rows"][0][0]
    if not 0.98 * rows < whole <= rows:
        sys.exit(f"{whole} rows of {rows}")
    tell("rows that the questions below are asked of", f"{whole:,}")
    for name, sql in QUESTIONS:
        sql = sql.format(end=end)
        expected, took, read = None, [], 0
        for _ in range(ROUNDS):
            start = time.perf_counter()
            answer = server.ask(sql)
            took.append((time.perf_counter() - start) * 1000)
            if answer["coverage"]["fraction"] != 1.0:
                sys.exit(f"{sql}: incomplete")
            expected = expected or answer["rows"]
            # Percentiles and distinct counts too: merging does not depend on the order.
            if sorted(map(str, answer["rows"])) != sorted(map(str, expected)):
                sys.exit(f"{sql}: another answer to the same question")
            read = answer["stats"]["bytes_read"]
        speed = read / min(took) / 1e6
        share = f"{read / 1e6:.0f} MB, {speed:.1f} GB/s = {speed / copying:.0%} of copying"
        tell(f"{name}", spread(took), share)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    print(subprocess.run([options.program, "--version"], capture_output=True, text=True).stdout.strip())
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    copying = bandwidth()
    tell("memory bandwidth: copying, one core", f"{copying:.1f} GB/s")
    idle(options.program)
    demo(options.program, options.rows, copying)


main()
