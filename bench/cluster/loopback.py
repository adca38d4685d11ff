"""Clusters and single servers on loopback addresses of this machine: real processes, no namespaces, no root."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time


class Failed(Exception):
    """A server refused something, or did not come up."""


class Door:
    """Queries to one front door, over one connection for each thread."""

    def __init__(self, address, port):
        self.address, self.port, self.local = address, port, threading.local()
        self.url = f"http://{address}:{port}"

    def request(self, method, path, body=None, headers=None):
        """Returns the JSON of the answer; a connection that the server closed meanwhile is opened again."""
        for fresh in (False, True):
            if fresh or not hasattr(self.local, "connection"):
                self.local.connection = http.client.HTTPConnection(self.address, self.port, timeout=120)
            try:
                self.local.connection.request(method, path, body, headers or {})
                response = self.local.connection.getresponse()
                text = response.read()
                break
            except (http.client.HTTPException, OSError):
                self.local.connection.close()
                if fresh:
                    raise
        if response.status != 200:
            raise Failed(f"{method} {path}: {response.status} {text.decode(errors='replace')[:500]}")
        return json.loads(text)

    def ask(self, sql, deadline_ms=60_000):
        return self.request("POST", "/v1/query", json.dumps({"sql": sql, "deadline_ms": deadline_ms}))

    def timed(self, sql, deadline_ms=60_000):
        """Returns the answer, and the milliseconds until all of it had arrived."""
        start = time.perf_counter()
        answer = self.ask(sql, deadline_ms)
        return answer, (time.perf_counter() - start) * 1000


def children(pid):
    """The ids of a process and of all below it, whichever thread started them."""
    below = [child for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    return [pid, *(grandchild for child in below for grandchild in children(int(child)))]


def cpu_seconds(pids):
    """The CPU time that processes have used so far."""
    ticks = 0
    for pid in pids:
        # The name of the program is in brackets and may have spaces.
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Machine:
    """One server: a machine of a cluster with its leaf processes, or a single server."""

    def __init__(self, program, folder, address, options):
        self.door, self.folder, self.url = Door(address, 4280), folder, f"http://{address}:4280"
        self.log = open(f"{folder}.log", "w")
        self.command = [program, "serve", "--listen", f"{address}:4280", "--data", folder, *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, start_new_session=True)

    def processes(self):
        return children(self.process.pid)

    def leaves(self):
        """The ids of its leaf processes."""
        of = lambda pid: pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return [pid for pid in self.processes() if len(of(pid)) > 1 and of(pid)[1] == b"leaf"]

    def stop(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()


class Cluster:
    """Machines that have found each other. `network` tells clusters of one moment apart."""

    def __init__(self, program, root, machines, leaves, network=77, options=()):
        addresses = [f"127.0.{network}.{number}" for number in range(1, machines + 1)]
        self.machines = [
            Machine(program, pathlib.Path(root) / f"machine-{number}", address, [
                "--cluster", f"figures-{network}", "--machine", f"machine-{number}", "--join", f"{addresses[0]}:4282",
                "--leaves", str(leaves), *options])
            for number, address in enumerate(addresses, 1)]
        self.doors = [machine.door for machine in self.machines]
        self.count = machines * leaves
        self.wait()

    def wait(self, seconds=120):
        """Waits until every door asks every leaf and all answer."""
        end = time.monotonic() + seconds
        for door in self.doors:
            while not self.is_whole(door):
                if time.monotonic() > end:
                    raise Failed(f"{door.url} does not reach {self.count} leaves within {seconds} s")
                time.sleep(0.1)

    def is_whole(self, door):
        try:
            if [table["name"] for table in door.request("GET", "/v1/tables")["tables"]].count("first") == 0:
                door.request("POST", "/v1/log/first", '{"n": 1}')
            return door.ask("SELECT count(*) FROM first")["coverage"]["leaves_answered"] == self.count
        except (Failed, OSError, http.client.HTTPException):
            return False

    def processes(self):
        return [pid for machine in self.machines for pid in machine.processes()]

    def stop(self):
        for machine in self.machines:
            machine.stop()


class Single:
    """One server, started in the usual way."""

    def __init__(self, program, root, network=77, options=()):
        self.machine = Machine(program, pathlib.Path(root) / "single", f"127.0.{network}.200", options)
        self.doors = [self.machine.door]
        end = time.monotonic() + 60
        while True:
            try:
                self.doors[0].request("GET", "/v1/tables")
                return
            except (Failed, OSError, http.client.HTTPException):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def processes(self):
        return self.machine.processes()

    def stop(self):
        self.machine.stop()


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def version(program):
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\(([0-9a-f]{9,})", told)
    return told.strip(), found[1] if found else "unknown"
