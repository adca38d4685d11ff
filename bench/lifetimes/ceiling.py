"""More rows than there is memory for: a server finds how much its control group allows, and lives with half of it while clients log
and ask as fast as they can. What finds no room is read from disk."""

import contextlib
import http.client
import itertools
import os
import statistics
import threading
import time

from durable import CLIENTS, bodies
from group import Group
from processes import Failed, Hadal, say

LIMIT = 1 << 30
# A server takes half of the memory that it finds.
CEILING = LIMIT // 2
# The logged bytes as a multiple of the ceiling, and the number of tables.
TIMES, TABLES = 1.5, 3
ROWS = 200_000
# A query with an unbounded number of groups, and one with few.
QUESTIONS = ("SELECT user_id, message, count(*) FROM t{table} GROUP BY user_id, message", "SELECT service, count(*), sum(bytes) FROM t{table} GROUP BY service")
# Busy, or no room at the moment: reported as such, and tried again.
PASSING = (429, 503)
LOOK_SECONDS = 2
# Shares of the ceiling. Freed memory is noticed once a second, and memory freed by queries is
# returned after two.
USUAL, MOST = 1.0, 1.9


class Log(threading.Thread):
    """Logs the same rows repeatedly."""

    def __init__(self, address, requests, over):
        super().__init__(daemon=True)
        self.address, self.requests, self.over, self.rows, self.refused, self.failed = address, requests, over, [0] * TABLES, 0, None

    def run(self):
        connection = http.client.HTTPConnection(self.address, timeout=600)
        headers = {"Content-Type": "application/x-ndjson", "Hadal-Any-Age": "true"}
        for request, table in zip(itertools.cycle(self.requests), itertools.cycle(range(TABLES))):
            while not self.over.is_set():
                try:
                    connection.request("POST", f"/v1/log/t{table}", request, headers)
                    response = connection.getresponse()
                    text = response.read()
                except (OSError, http.client.HTTPException) as error:
                    self.failed = f"{error!r}"
                    return
                if response.status == 200:
                    self.rows[table] += request.count(b"\n")
                    break
                if response.status not in PASSING:
                    self.failed = f"{response.status} {text[:300]}"
                    return
                self.refused += 1
                time.sleep(float(response.headers.get("Retry-After", 1)))
            if self.over.is_set():
                return


class Ask(threading.Thread):
    """Runs one query after the other. A query that needs too much memory is refused."""

    def __init__(self, server, over):
        super().__init__(daemon=True)
        self.server, self.over, self.answers, self.refused = server, over, 0, 0

    def run(self):
        for question, table in zip(itertools.cycle(QUESTIONS), itertools.cycle(range(TABLES))):
            if self.over.is_set():
                return
            try:
                self.server.ask(question.format(table=table))
                self.answers += 1
            except Failed:
                self.refused += 1


def until_logged(server, group):
    """The group's bytes, sampled every few milliseconds until enough rows are logged, or the server is gone."""
    held, end = [], time.monotonic()
    with contextlib.suppress(Failed):
        while server.get("/v1/status")["block_bytes"] < TIMES * CEILING:
            end += LOOK_SECONDS
            while time.monotonic() < end:
                held.append(group.held())
                time.sleep(0.01)
    return held


def check(server, clients):
    """Checks that all acknowledged rows are there."""
    for table in range(TABLES):
        rows, counted = sum(client.rows[table] for client in clients), server.ask(f"SELECT count(*) FROM t{table}", rows=True)["rows"]
        if counted != [[rows]]:
            raise SystemExit(f"{rows} rows were acknowledged, there are {counted}")


def lived(server, group, requests):
    """Clients log and query until enough rows are logged."""
    over, start = threading.Event(), time.perf_counter()
    clients, ask = [Log(server.address, requests[at::CLIENTS], over) for at in range(CLIENTS)], Ask(server, over)
    for thread in (*clients, ask):
        thread.start()
    held = until_logged(server, group)
    over.set()
    for thread in (*clients, ask):
        thread.join()
    seconds, failed = time.perf_counter() - start, [client.failed for client in clients if client.failed]
    if server.process.poll() is None:
        check(server, clients)
        failed += [f"{group.kills()} kills"] if group.kills() else []
    else:
        failed.append(f"it ended with {server.process.poll()}")
    rows, refused = sum(sum(client.rows) for client in clients), sum(client.refused for client in clients)
    print(f"- {LIMIT >> 20} MiB for a control group: {rows:,} rows logged in {seconds:.0f} s, row blocks of {int(TIMES * CEILING) >> 20} MiB;"
          f" {refused} requests told to come again, {ask.answers} questions answered, {ask.refused} refused; {int(statistics.median(held)) >> 20} MiB held, at most {max(held) >> 20}")
    return {"held": statistics.quantiles(held, n=100), "most": max(held), "failed": failed, "rows": rows, "refused": refused, "answers": ask.answers, "answers_refused": ask.refused, "seconds": seconds}


def measure(run):
    if os.geteuid() != 0:
        raise SystemExit("more rows than memory: a control group wants root")
    requests, group = bodies(run.lines, ROWS), Group(LIMIT)
    try:
        server = Hadal(group.within(run.options.program, run.folder / "within"), run.folder / "ceiling", {}, run.log)
        try:
            if (found := server.get("/v1/status")["memory"]["max"]) != CEILING:
                raise SystemExit(f"the server found {found} bytes of memory, half of what its group allows is {CEILING}")
            say(f"logging {TIMES} times the memory that there is")
            results = lived(server, group, requests)
        finally:
            server.stop()
    finally:
        group.remove()
    told = "; ".join(results["failed"]) or "none"
    run.bars.judge("more rows than memory: servers killed, requests failed", len(results["failed"]), 0, told, most=True, unit="")
    usual, most = statistics.median(results["held"]) / CEILING, results["most"] / CEILING
    run.bars.judge("the same: memory held, of the ceiling", usual, USUAL, f"{usual:.2f}", most=True)
    run.bars.judge("the most of it, of the ceiling", most, MOST, f"{most:.2f}", most=True)
    return results | {"limit": LIMIT, "ceiling": CEILING}
