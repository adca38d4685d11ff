#!/usr/bin/env python3
"""The figures that Hadal promises, and those that the README tells, measured now, on this machine.

Starts servers and a demo of its own, asks them over HTTP as a client would, and checks each answer before its time is
told. Memory bandwidth is measured in the same run, so that speeds can be read as shares of what the machine can do.
`make bench` builds the program and brings the real data first. Ends with 1 if a promise is missed.

usage: figures.py PROGRAM DATA [--rows N] [--tests] [--cold]   where DATA has flights-3m.parquet
"""

import argparse
import atexit
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/acceptance"), str(ROOT / "bench")]
from demo_questions import QUESTIONS  # noqa: E402
from questions import FLIGHTS  # noqa: E402

# Besides the ten questions: raw rows.
RAW_ROWS = [
    ("the oldest 20 rows", "SELECT * FROM flights ORDER BY date LIMIT 20"),
    ("the newest 20 rows from one place", "SELECT * FROM flights WHERE origin = 'ORD' LIMIT 20"),
    ("the 20 latest flights", "SELECT * FROM flights ORDER BY delay DESC LIMIT 20"),
]
ROUNDS = 15
POSTS = 400

# The promises. The names are those of the output lines with the measurements.
WANTED = {
    "make demo, warm, to an answering page": (5, "s"),
    "make demo, cold, to an answering page": (12 * 60, "s"),
    "hadal open flights-3m.parquet -> first picture": (6, "s"),
    "row posted -> in an answer, kept on disk, p99": (250, "ms"),
    "the slowest of the ten questions on 3 M flights, median": (60, "ms"),
    "the newest 20 of 3 M flights, median": (20, "ms"),
    "as many of 3 M flights as an answer has, median": (1000, "ms"),
    "memory of an idle server": (60, "MB"),
    "make test, warm": (6 * 60, "s"),
    "make test, cold": (25 * 60, "s"),
    "demo: first million rows": (3, "s"),
    "demo: all rows": (60, "s"),
}


class Promises:
    """The promises that were kept, and those that were missed."""

    def __init__(self):
        self.missed, self.open = [], dict(WANTED)

    def measured(self, what, value, more=""):
        most, unit = self.open.pop(what)
        held = value <= most
        if not held:
            self.missed.append(what)
        tell(what, f"{value:.1f} {unit}{more}", f"<= {most} {unit}: {'ok' if held else 'MISSED'}")

    def end(self):
        for what, (most, unit) in self.open.items():
            tell(what, "not measured", f"<= {most} {unit}: see --help")
        print(f"{len(WANTED) - len(self.open) - len(self.missed)} ok, {len(self.missed)} missed, {len(self.open)} not measured")
        return 1 if self.missed else 0


class Server:
    """A server process, and queries to it."""

    def __init__(self, *command, **how):
        self.started = time.monotonic()
        # A process group of its own, so that the processes that `make` starts end with it.
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **how)
        atexit.register(self.stop)
        self.port = None
        while self.port is None:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"{' '.join(command)} ended with {self.process.wait()}")
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
        atexit.unregister(self.stop)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.stdout.close()
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


def serve(program, folder):
    return Server(program, "serve", "--listen", "127.0.0.1:0", "--data", folder)


def idle(program, promises):
    with tempfile.TemporaryDirectory() as folder:
        server = serve(program, folder)
        server.request("GET", "/v1/tables")
        now, most = server.memory()
        promises.measured("memory of an idle server", now, f" (at most {most:.0f})")
        posted_to_visible(server, promises)
        server.stop()


def posted_to_visible(server, promises):
    """Posts each row alone; then queries until the row is in the answer."""
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
    promises.measured("row posted -> in an answer, kept on disk, p99", p99, f" (p50 {p50:.1f}, n={POSTS})")


def first_picture(program, data, promises):
    """A browser paints the chart of what `hadal open` has read."""
    command = ["node", ROOT / "bench/first_picture.mjs", program, data / "flights-3m.parquet", "3000000"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"no first picture: {done.stderr}")
    promises.measured("hadal open flights-3m.parquet -> first picture", float(done.stdout))


def asked(server, words, sql):
    """The median milliseconds of a question about the flights. Prints all of them."""
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        answer = server.ask(sql)
        took.append((time.perf_counter() - start) * 1000)
        if answer["coverage"]["fraction"] != 1.0:
            sys.exit(f"{sql}: incomplete")
    tell(f"flights: {words}", spread(took))
    return statistics.median(took)


def flights(program, data, promises):
    """Measures the ten questions. tests/acceptance shows that the answers are right."""
    with tempfile.TemporaryDirectory() as folder:
        server = serve(program, folder)
        address = f"http://127.0.0.1:{server.port}"
        command = [program, "import", "--table", "flights", "--server", address, data / "flights-3m.parquet"]
        subprocess.run(command, check=True, capture_output=True)
        slowest = max(asked(server, words, sql) for words, sql, *_ in FLIGHTS)
        promises.measured("the slowest of the ten questions on 3 M flights, median", slowest)
        newest = asked(server, "the newest 20 rows", "SELECT * FROM flights LIMIT 20")
        promises.measured("the newest 20 of 3 M flights, median", newest)
        for words, sql in RAW_ROWS:
            asked(server, words, sql)
        most = asked(server, "rows without a limit", "SELECT * FROM flights")
        promises.measured("as many of 3 M flights as an answer has, median", most)
        server.stop()


def make_demo(what, promises, **how):
    """From the command to a page, and an answer about the demo's rows."""
    server = Server("make", "demo", "ARGS=--no-browser --listen 127.0.0.1:0", **{"cwd": ROOT} | how)
    server.connection.request("GET", "/")
    page = server.connection.getresponse().read()
    if b'<div id="root">' not in page:
        sys.exit(f"this is not the page: {page[:200]}")
    while [table["name"] for table in server.request("GET", "/v1/tables")["tables"]].count("requests") == 0:
        pass
    if server.ask("SELECT count(*) FROM requests")["rows"][0][0] == 0:
        sys.exit("the demo has no rows")
    promises.measured(f"make demo, {what}, to an answering page", time.monotonic() - server.started)
    server.stop()


def make_test(what, promises, **how):
    start = time.monotonic()
    done = subprocess.run(["make", "test"], capture_output=True, text=True, **{"cwd": ROOT} | how)
    if done.returncode != 0:
        sys.exit(f"make test: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    promises.measured(f"make test, {what}", time.monotonic() - start)


def cold(promises):
    """Builds the last commit as on a new machine: nothing downloaded, nothing compiled."""
    for what, run in (("demo", make_demo), ("test", make_test)):
        with tempfile.TemporaryDirectory(prefix=f"hadal-cold-{what}-") as folder:
            place = pathlib.Path(folder)
            subprocess.run(["git", "clone", "--quiet", ROOT, place / "checkout"], check=True)
            settings = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")) / "config.toml"
            (place / "cargo").mkdir()
            if settings.exists():
                shutil.copy(settings, place / "cargo")
            surroundings = os.environ | {
                "CARGO_HOME": f"{place}/cargo", "CARGO_TARGET_DIR": f"{place}/target",
                "XDG_CACHE_HOME": f"{place}/cache", "npm_config_cache": f"{place}/npm"}
            run("cold", promises, cwd=place / "checkout", env=surroundings)


def demo(program, rows, copying, promises):
    server = Server(program, "demo", "--rows", str(rows), "--seed", "1", "--no-browser", "--listen", "127.0.0.1:0")
    first = None
    while True:
        line = server.process.stdout.readline()
        told = re.match(r"([\d,]+) rows", line)
        there = int(told[1].replace(",", "")) if told else 0
        if first is None and there >= min(1_000_000, rows):
            first = time.monotonic() - server.started
        if there >= rows:
            break
    promises.measured("demo: first million rows", first)
    promises.measured("demo: all rows", time.monotonic() - server.started, f" ({rows:,})")
    questions(server, rows, copying)
    now, most = server.memory()
    tell("demo: memory", f"{now:.0f} MB (at most {most:.0f})")
    server.stop()


def questions(server, rows, copying):
    """Live rows keep arriving, some of them late, so all questions end an hour ago."""
    end = server.ask("SELECT now() - INTERVAL '1 hour'")["rows"][0][0]
    end = f"TIMESTAMP '{end}'"
    whole = server.ask(f"SELECT raw_count(*) FROM requests WHERE time < {end}")["rows"][0][0]
    if not 0.95 * rows < whole <= rows:
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
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path, help="folder of real data")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the demo")
    parser.add_argument("--tests", action="store_true", help="measure `make test` warm, too")
    parser.add_argument("--cold", action="store_true", help="measure `make demo` and `make test` in a new clone, too")
    options = parser.parse_args()
    promises = Promises()
    print(subprocess.run([options.program, "--version"], capture_output=True, text=True).stdout.strip())
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    copying = bandwidth()
    tell("memory bandwidth: copying, one core", f"{copying:.1f} GB/s")
    idle(options.program, promises)
    first_picture(options.program, options.data, promises)
    flights(options.program, options.data, promises)
    demo(options.program, options.rows, copying, promises)
    make_demo("warm", promises)
    if options.tests:
        make_test("warm", promises)
    if options.cold:
        cold(promises)
    sys.exit(promises.end())


if __name__ == "__main__":
    main()
