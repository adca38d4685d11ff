"""Restarts: how long a server is away, and how long until all of its rows are there again.

A leaf is filled with so many bytes of encoded row blocks. Then it is restarted in order, on the same port, by a successor that
takes over, and stopped and started; killed, and started again; and started with nothing in memory. A client asks all the while, on a
connection for each question. Every count is compared with the one before. What the disk reads and the tmpfs takes is measured in
turns with the starts from disk: on a virtual machine both change from minute to minute. A leaf of 1 GiB is restarted in turns with the
large one: one with fewer row blocks, or (--as-many) with smaller ones.

usage: restart.py PROGRAM GENERATOR MULTIPLY [--gib N] [--tables] ...; --help tells all
"""

import argparse
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
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))
import machine  # noqa: E402
import report  # noqa: E402
from processes import SETTLED_SECONDS, say  # noqa: E402

# After this time unused memory has been returned, and a server whose row blocks do not change any
# more is at rest.
REST_SECONDS = 5
# A large leaf may be away this many times as long as one of this size.
SMALL_BYTES, TIMES_SMALL = 1 << 30, 1.5
# Rows of the tables that are multiplied, and the maximum of a row block.
ROWS, BLOCK_ROWS = {"requests": 1_000_000, "readings": 10_000_000}, 65_536
# The tmpfs with the row blocks.
TMPFS = pathlib.Path("/dev/shm")
# The number of starts with nothing in memory.
DISK_ROUNDS = 5
# The interval of checks for missing rows: the status of a thousand tables takes a processor a
# while.
LOOK_SECONDS = 0.02
COUNT = 'SELECT count(*) FROM "{table}"'
SUM = 'SELECT count(*), sum({column}) FROM "{table}"'


def memory():
    """Bytes of memory in use, with those of the tmpfs, without caches of files. The free memory is not used, because in a virtual
    machine it changes by itself: free pages go back to the host."""
    lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return 1024 * sum(int(lines[name].split()[0]) for name in ("AnonPages", "Shmem", "SUnreclaim", "PageTables", "KernelStack"))


class Server:
    """A server on a fixed port, which others take over."""

    def __init__(self, options, folder, port):
        self.arguments = [options.program, "serve", "--data", folder, "--listen", f"127.0.0.1:{port}", "--leaves", "1",
                          "--memory-max", "12GiB", "--storage", options.storage, "--no-journal"]
        self.process = None
        self.address = f"127.0.0.1:{port}"

    def start(self, *more):
        self.process = subprocess.Popen([*self.arguments, *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def wait_until_up(self):
        for line in self.process.stdout:
            if "http://" in line:
                return line.strip()
        raise SystemExit(f"the server ended with {self.process.wait()}")

    def ask(self, sql, timeout=60):
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        try:
            connection.request("POST", "/v1/query", json.dumps({"sql": sql}), {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "rows" not in answer:
            raise SystemExit(f"{sql}: {answer}")
        return answer

    def get(self, path):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


class Watch(threading.Thread):
    """Repeats a count, and records the time of each answer and the rows that it covers; samples memory, too."""

    def __init__(self, server, table):
        super().__init__(daemon=True)
        self.server, self.table, self.answers, self.over, self.memory = server, table, [], False, 0
        # Consecutive failures; a client that asks once more notices all but the first.
        self.failures, self.in_a_row = 0, 0

    def run(self):
        sampler = threading.Thread(target=self.sample, daemon=True)
        sampler.start()
        self.ask_again_and_again()
        sampler.join()

    def sample(self):
        """Samples memory, also while it waits for an answer."""
        while not self.over:
            self.memory = max(self.memory, memory())
            time.sleep(0.005)

    def ask_again_and_again(self):
        in_a_row = 0
        while not self.over:
            try:
                answer = self.server.ask(COUNT.format(table=self.table))
                coverage = answer["coverage"]
                self.answers.append((time.perf_counter(), coverage["rows_scanned"], coverage["rows_expected"]))
                in_a_row = 0
            except (OSError, http.client.HTTPException, ValueError):
                self.failures, in_a_row = self.failures + 1, in_a_row + 1
                self.in_a_row = max(self.in_a_row, in_a_row)

    def stop(self):
        self.over = True
        self.join()

    def gap(self, since):
        """The longest gap since then: seconds from the last answer before it to the first complete one after it."""
        answers = [answer for answer in self.answers if answer[0] >= since]
        pairs = list(zip(answers, answers[1:]))
        before, after = max(pairs, key=lambda pair: pair[1][0] - pair[0][0])
        whole = next(answer for answer in answers if answer[0] >= after[0] and answer[1] == answer[2])
        return whole[0] - before[0]


def wait_for_rest(server):
    """Waits until its row blocks have not changed for some seconds: it may merge blocks that it finds together for the first time."""
    before, found = None, server.get("/v1/status")["block_bytes"]
    while found != before:
        time.sleep(REST_SECONDS)
        before, found = found, server.get("/v1/status")["block_bytes"]


def full(server):
    """Seconds until all rows are restored."""
    start = time.perf_counter()
    while server.get("/v1/status")["waiting_rows"]:
        time.sleep(LOOK_SECONDS)
    return time.perf_counter() - start


def remove_memory(folder):
    """Removes the memory of leaves whose folders are this one or in it."""
    for memory in TMPFS.glob("hadal-*/leaf"):
        if pathlib.Path(os.fsdecode(memory.read_bytes())).is_relative_to(folder):
            shutil.rmtree(memory.parent)


def drop_caches():
    """Drops all cached files. If this is a virtual machine that does so, free memory has gone back to the host."""
    os.sync()
    if os.geteuid() == 0:
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
    time.sleep(REST_SECONDS)


def read_speed(files):
    """Bytes per second at which the disk reads some files one after the other, none of them cached."""
    drop_caches()
    buffer, size, start = bytearray(8 << 20), 0, time.perf_counter()
    for file in files:
        with file.open("rb", buffering=0) as opened:
            while read := opened.readinto(buffer):
                size += read
    return size / (time.perf_counter() - start)


def fill_speed(size):
    """Bytes per second that can be written to the tmpfs."""
    drop_caches()
    some = os.urandom(8 << 20)
    with tempfile.TemporaryFile(dir=TMPFS, buffering=0) as file:
        start = time.perf_counter()
        for _ in range(size // len(some)):
            file.write(some)
        return size / (time.perf_counter() - start)


def first_answer(server, table, start):
    """Seconds from `start` to the first answer, and to the first with all rows of the table. After the first it asks less often:
    the queries use the same processors."""
    first = whole = None
    while whole is None:
        try:
            coverage = server.ask(COUNT.format(table=table))["coverage"]
        except (OSError, http.client.HTTPException):
            continue
        now = time.perf_counter() - start
        first = first or now
        whole = now if coverage["rows_scanned"] == coverage["rows_expected"] else None
        if whole is None:
            time.sleep(LOOK_SECONDS)
    return first, whole


def median(values):
    return f"{statistics.median(values) * 1000:.0f} ms ({min(values) * 1000:.0f}-{max(values) * 1000:.0f}, n={len(values)})"


def speeds(values):
    return f"{statistics.median(values) / 1e9:.2f}"


def load(options, folder, port, rows):
    """Creates a leaf with the rows to be multiplied, at rest and stopped."""
    data = machine.Data(options.generator, options.cache / "data", rows, rows, rows)
    server = Server(options, folder, port)
    say("loading what is multiplied")
    server.start()
    server.wait_until_up()
    path = getattr(data, options.table)
    subprocess.run([options.program, "import", "--server", f"http://{server.address}", "--table", options.table, path],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    say("waiting until its blocks are settled")
    time.sleep(SETTLED_SECONDS)
    server.process.terminate()
    server.process.wait()


class Leaf:
    """A leaf with `bytes` bytes of row blocks, and its current server."""

    def __init__(self, options, folder, port, bytes):
        self.options, self.folder, self.table = options, folder / "leaf-0", f"{options.table}-1"
        made = subprocess.run([options.multiply, self.folder, str(bytes), str(options.blocks)], check=True, text=True, stdout=subprocess.PIPE)
        self.made = made.stdout.strip()
        say(self.made)
        self.server = Server(options, folder, port)
        self.gaps, self.sums, self.stops, self.failures, self.in_a_row, self.memory_over = [], [], [], 0, 0, 0

    def forget(self):
        """Restores the state after a machine's start: no server, nothing in memory, and marks of an orderly stop not believed."""
        if self.server.process:
            self.die()
        remove_memory(self.folder)
        (self.folder / "stopped").unlink(missing_ok=True)

    def start_from_disk(self):
        """Seconds until the first answer, and until all rows are in memory."""
        drop_caches()
        start = time.perf_counter()
        self.server.start()
        first, _ = first_answer(self.server, self.table, start)
        full(self.server)
        seconds = time.perf_counter() - start
        status = self.server.get("/v1/status")
        self.rows, self.block_bytes, self.expected = status["rows"], status["block_bytes"], self.sum()
        return first, seconds

    def sum(self):
        column = {"requests": "bytes", "readings": "temperature"}[self.options.table]
        return self.server.ask(SUM.format(table=self.table, column=column))["rows"]

    def take_over(self, before):
        """A successor takes over during queries; `before` bytes of memory were in use."""
        watch = Watch(self.server, self.table)
        watch.start()
        time.sleep(0.3)
        old, since = self.server.process, time.perf_counter()
        self.server.start("--take-over")
        self.server.wait_until_up()
        if old.wait() != 0:
            raise SystemExit("the server before did not end in order")
        start = time.perf_counter()
        if self.sum() != self.expected:
            raise SystemExit("another answer after the restart")
        self.sums.append(time.perf_counter() - start)
        time.sleep(0.2)
        watch.stop()
        self.gaps.append(watch.gap(since))
        self.failures += watch.failures
        self.in_a_row = max(self.in_a_row, watch.in_a_row)
        self.memory_over = max(self.memory_over, watch.memory - before)

    def stop_and_start(self):
        """From the signal to the first whole answer of the next server."""
        start = time.perf_counter()
        self.end()
        self.server.start()
        _, whole = first_answer(self.server, self.table, start)
        self.stops.append(whole)

    def kill(self):
        """Seconds from a kill to the first answer of the next server, and until all is verified."""
        self.die()
        start = time.perf_counter()
        self.server.start()
        first, _ = first_answer(self.server, self.table, start)
        full(self.server)
        seconds = time.perf_counter() - start
        if (found := self.server.get("/v1/status")["rows"]) != self.rows:
            raise SystemExit(f"{found} rows after a kill, {self.rows} before")
        return first, seconds

    def die(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()

    def end(self):
        self.server.process.terminate()
        if self.server.process.wait() != 0:
            raise SystemExit("the server did not end in order")


def from_disk(leaf, size):
    """Measures starts with nothing in memory, and the speeds of the disk and the tmpfs before each of them."""
    say("what the disk reads and the tmpfs takes, and starts with nothing in memory")
    # A virtual machine may have to be given its memory first.
    fill_speed(size)
    files = sorted((leaf.folder / "segments").iterdir())
    rounds = {"disk_bytes_per_s": [], "tmpfs_bytes_per_s": [], "from_disk_first_answer": [], "from_disk_all": []}
    for _ in range(DISK_ROUNDS):
        leaf.forget()
        measured = (read_speed(files), fill_speed(size), *leaf.start_from_disk())
        for values, value in zip(rounds.values(), measured):
            values.append(value)
    return rounds


def measure(options, folder):
    port = 20_000 + os.getpid() % 10_000
    load(options, folder / "large", port, ROWS[options.table])
    with_small = options.bytes > SMALL_BYTES
    if with_small and options.as_many:
        load(options, folder / "small", port + 1, BLOCK_ROWS * SMALL_BYTES // options.bytes)
    elif with_small:
        shutil.copytree(folder / "large", folder / "small")
    large = Leaf(options, folder / "large", port, options.bytes)
    leaves = [large] + ([Leaf(options, folder / "small", port + 1, SMALL_BYTES)] if with_small else [])
    results = {"made": large.made, "made_small": [leaf.made for leaf in leaves[1:]]} | from_disk(large, options.bytes)
    for small in leaves[1:]:
        small.forget()
        small.start_from_disk()
    # The load of the first servers while they verify all that they have just read would disturb the
    # measurement.
    for leaf in leaves:
        wait_for_rest(leaf.server)
    say("restarting")
    before = memory()
    for _ in range(options.rounds):
        for leaf in leaves:
            leaf.take_over(before)
    for _ in range(options.rounds):
        for leaf in leaves:
            leaf.stop_and_start()
    for small in leaves[1:]:
        small.end()
        results |= {"small_taken_over": small.gaps, "small_stopped_and_started": small.stops}
    kills = [large.kill() for _ in range(options.rounds)]
    large.end()
    results |= {"block_bytes": large.block_bytes, "memory_over": large.memory_over, "failures": sum(leaf.failures for leaf in leaves),
                "failures_in_a_row": max(leaf.in_a_row for leaf in leaves)}
    results |= {"taken_over": large.gaps, "sum_after": large.sums, "stopped_and_started": large.stops}
    return results | {"killed_first_answer": [first for first, _ in kills], "killed_all": [all for _, all in kills]}


def bars(results):
    """Judges the promises on restarts, in the order in which they happen."""
    judged = report.Bars()
    rates = [results["block_bytes"] / seconds for seconds in results["from_disk_all"]]
    possible = [min(both) for both in zip(results["disk_bytes_per_s"], results["tmpfs_bytes_per_s"])]
    shares = [rate / most for rate, most in zip(rates, possible)]
    judged.judge("from disk only, of what disk and tmpfs give", statistics.median(shares), 0.8,
                 f"{statistics.median(shares):.2f} ({min(shares):.2f}-{max(shares):.2f}): {speeds(rates)} of"
                 f" {speeds(results['disk_bytes_per_s'])} and {speeds(results['tmpfs_bytes_per_s'])} GB/s")
    share = results["memory_over"] / results["block_bytes"]
    # A count and a sum may take longer by the time to read their columns, but need not.
    results["summed"] = [gap + seconds for gap, seconds in zip(results["taken_over"], results["sum_after"])]
    upper = lambda name: report.quartiles(results[name])[2]
    for what, value, most, text, unit in (
            ("taken over, to the first whole answer", upper("taken_over"), 0.3, median(results["taken_over"]), " s"),
            ("taken over, to a count and a sum", upper("summed"), 0.3, median(results["summed"]), " s"),
            ("stopped and started, to the first whole answer", upper("stopped_and_started"), 0.3, median(results["stopped_and_started"]), " s"),
            ("killed, to the first answer", upper("killed_first_answer"), 0.5, median(results["killed_first_answer"]), " s"),
            ("killed, until all is verified", upper("killed_all"), 3.0, median(results["killed_all"]), " s"),
            ("memory while two have it", share, 0.01, f"{share:.2%} more", " of the row blocks")):
        judged.judge(what, value, most, text, most=True, unit=unit)
    judged.judge("failed requests in a row", results["failures_in_a_row"], 1, str(results["failures_in_a_row"]), most=True, unit="")
    for what, name in (("taken over, beside 1 GiB", "taken_over"), ("stopped and started, beside 1 GiB", "stopped_and_started")):
        if small := results.get(f"small_{name}"):
            low, middle, high = report.quartiles([one / other for one, other in zip(results[name], small)])
            judged.judge(what, middle, TIMES_SMALL, f"{middle:.2f} ({low:.2f}-{high:.2f}); 1 GiB: {median(small)}", most=True)
    return judged


def told(results):
    gib = results["block_bytes"] / 2**30
    print(f"\n### {results['made']}, {gib:.2f} GiB in memory\n")
    print(f"- taken over in order: last answer of the old to the first whole one of the new {median(results['taken_over'])};"
          f" failed requests {results['failures']}; memory at most {results['memory_over'] / 2**20:.0f} MiB more")
    print(f"- stopped and started: from the signal to the first whole answer {median(results['stopped_and_started'])}")
    print(f"- count and sum of a table right after it {median(results['sum_after'])}")
    print(f"- killed: first answer {median(results['killed_first_answer'])}, all verified {median(results['killed_all'])}")
    print(f"- from disk only: first answer {median(results['from_disk_first_answer'])}, all {median(results['from_disk_all'])}\n")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument("multiply", type=pathlib.Path, help="the example of crates/store")
    parser.add_argument("--gib", type=float, default=1, help="of encoded row blocks [default: 1]")
    parser.add_argument("--table", choices=("requests", "readings"), default="requests")
    parser.add_argument("--blocks", type=int, default=400, help="a table [default: 400]")
    parser.add_argument("--as-many", action="store_true", help="row blocks in the leaf of 1 GiB, each of them smaller")
    parser.add_argument("--storage", choices=("memory", "mmap"), default="memory")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--results", type=pathlib.Path, default=report.RESULTS, help="folder for the file of results")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/rivals"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="folder for data")
    options = parser.parse_args()
    options.bytes = int(options.gib * 2**30)
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    about = machine.about(options.generator)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="restart-", dir=options.cache))
    try:
        results = measure(options, folder / "data")
    finally:
        remove_memory(folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n## Restarts, {about['date']}\n\n{machine.told(about)}; --storage {options.storage}")
    told(results)
    judged = bars(results)
    print(report.verdicts(judged))
    results["bars"] = judged.lines
    version = subprocess.run([options.program, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout
    commit = re.search(r"[0-9a-f]{9,}", version)
    results |= {"machine": about, "commit": commit[0] if commit else version.strip(), "storage": options.storage}
    print(report.keep(results, options.results, f"-restart-{options.table}-{options.gib:g}-gib{'-as-many' * options.as_many}"))
    return 0 if all(line["reached"] for line in judged.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
