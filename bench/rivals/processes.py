"""The processes that are measured: a worker for each rival, and Hadal's server; each on the cores that it is given."""

import atexit
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Far longer than any query takes: a rival has no deadline either.
DEADLINE_MS = 600_000

# After this time a block's batches cannot be revoked, and it is merged in order of time; plus a
# margin.
SETTLED_SECONDS = 130
# A server is at rest when it uses less than this share of a core for this many seconds.
REST_SECONDS, REST_CPU = 3, 0.05


class Failed(Exception):
    """An engine failed to do its task."""


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def pin(pid, cores):
    """Moves all threads of a process to some cores; new threads inherit that."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), cores)


def cpu_seconds(pid):
    """The CPU seconds of all threads of a process: its CPU clock, by the kernel's encoding of clock ids."""
    return time.clock_gettime((~pid << 3) | 2)


def end(process):
    process.terminate()
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


class Rival:
    """A worker process."""

    def __init__(self, engine, threads, cores, folder):
        environment = os.environ | {"POLARS_MAX_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", engine, str(threads), folder], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        atexit.register(self.stop)
        about = self("about")
        self.name, self.title = about["name"], about["title"]

    def __call__(self, command, **arguments):
        try:
            self.process.stdin.write(json.dumps([command, arguments]) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failed(f"the process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["ok"]

    def stop(self):
        atexit.unregister(self.stop)
        end(self.process)


class Hadal:
    """A server with a data folder, started in the usual way."""

    name = "hadal"

    def __init__(self, program, folder, environment, log, cores=None, options=(), listen="127.0.0.1:0"):
        """Starts on these cores with a thread for each; without them, on the cores of this program."""
        self.program = program
        self.process = subprocess.Popen(
            [program, "serve", "--listen", listen, "--data", folder, *options], text=True,
            env=os.environ | environment, stdout=subprocess.PIPE, stderr=log,
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None)
        atexit.register(self.stop)
        self.address = self.heard()
        version = self.get("/v1/version")
        self.title = f"Hadal {version['version']} {version['commit'][:9]}"
        self.commit = version["commit"]

    def heard(self):
        """The address that it announces."""
        for line in self.process.stdout:
            if found := re.search(r"http://(127\.0\.0\.1:\d+)", line):
                return found[1]
        raise Failed(f"hadal serve ended with {self.process.wait()}")

    def request(self, method, path, body=None, headers=None):
        """The raw body of the answer, and the seconds until it had arrived."""
        # A new connection each time, made before the clock starts: the server closes idle
        # connections.
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE_MS / 1000)
        try:
            connection.connect()
            start = time.perf_counter()
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            text = response.read()
            seconds = time.perf_counter() - start
        except (http.client.HTTPException, OSError) as error:
            raise Failed(f"{method} {path}: {error}") from error
        finally:
            connection.close()
        if response.status != 200:
            raise Failed(f"{response.status} {text.decode(errors='replace')[:500]}")
        return text, seconds

    def get(self, path):
        return json.loads(self.request("GET", path)[0])

    def ask(self, sql, rows=False):
        """The wall-clock seconds until the whole answer has arrived over HTTP, and the process's CPU seconds."""
        body = json.dumps({"sql": sql, "deadline_ms": DEADLINE_MS})
        cpu = cpu_seconds(self.process.pid)
        text, seconds = self.request("POST", "/v1/query", body)
        told = {"seconds": seconds, "cpu_seconds": cpu_seconds(self.process.pid) - cpu}
        if rows:
            answer = json.loads(text)
            told |= {"rows": answer["rows"], "stats": answer["stats"], "warnings": answer["warnings"],
                     "covered": answer["coverage"]["fraction"]}
        return told

    def load(self, table, path):
        """Imports a file. Returns the CPU seconds of `hadal import`."""
        command = [self.program, "import", "--table", table, "--server", f"http://{self.address}", path]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def post(self, table, path, media_type):
        """Posts a file. Returns the number of accepted rows."""
        with path.open("rb") as file:
            headers = {"content-length": str(path.stat().st_size), "content-type": media_type}
            return json.loads(self.request("POST", f"/v1/log/{table}", file, headers)[0])["accepted"]

    def post_lines(self, table, path):
        return self.post(table, path, "application/x-ndjson")

    def count(self, table):
        return self.ask(f"SELECT raw_count(*) FROM {table}", rows=True)["rows"][0][0]

    def blocks(self, table):
        return self.get(f"/v1/tables/{table}/blocks?limit=10000")

    def settle(self, tables, until):
        """Waits until `until` (of the monotonic clock) has passed and the server is at rest: for some seconds no
        block was merged and hardly any CPU time was used. Returns the blocks of each table."""
        before = None
        while True:
            cpu, start = cpu_seconds(self.process.pid), time.monotonic()
            time.sleep(REST_SECONDS)
            used = (cpu_seconds(self.process.pid) - cpu) / (time.monotonic() - start)
            now = {table: self.blocks(table) for table in tables}
            shape = {table: [(block["leaf"], block["rows"], block["bytes"]) for block in of["blocks"]] for table, of in now.items()}
            if shape == before and used < REST_CPU and time.monotonic() >= until:
                return now
            before = shape

    def stop(self):
        atexit.unregister(self.stop)
        end(self.process)
