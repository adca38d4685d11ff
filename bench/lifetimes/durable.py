"""What durability costs: JSON lines over HTTP from four clients, acknowledged once they are on disk, and at once."""

import http.client
import shutil
import threading
import time

import report
from processes import Hadal, say

CLIENTS = 4
# Rows of one request: a few hundred kilobytes.
ROWS_AT_ONCE = 1_000
MODES = ("sync", "async")
LEAST = 0.6


def bodies(path, rows):
    """Requests with `rows` rows in total, each with different lines."""
    with path.open("rb") as file:
        lines = [file.readline() for _ in range(rows)]
    return [b"".join(lines[first:first + ROWS_AT_ONCE]) for first in range(0, rows, ROWS_AT_ONCE)]


def send(address, table, requests):
    """Posts requests over one connection until there are no more."""
    connection = http.client.HTTPConnection(address, timeout=600)
    headers = {"Content-Type": "application/x-ndjson", "Hadal-Any-Age": "true"}
    for request in requests:
        while True:
            connection.request("POST", f"/v1/log/{table}", request, headers)
            response = connection.getresponse()
            text = response.read()
            if response.status == 200:
                break
            # Too many bytes at once are refused with 429, and tried again.
            if response.status != 429:
                raise SystemExit(f"{response.status} {text[:300]}")
            time.sleep(float(response.headers["Retry-After"]))
    connection.close()


def rate(server, table, requests, rows):
    """The number of rows acknowledged per second."""
    clients = [threading.Thread(target=send, args=(server.address, table, requests[at::CLIENTS])) for at in range(CLIENTS)]
    start = time.perf_counter()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    seconds = time.perf_counter() - start
    counted = server.ask(f"SELECT count(*) FROM {table}", rows=True)["rows"][0][0]
    if counted != rows:
        raise SystemExit(f"{counted} rows of {rows} are there")
    return rows / seconds


def measure(run):
    """Measures both in turns, each time on a server with a new folder."""
    requests = bodies(run.lines, run.options.rows)
    rates = {mode: [] for mode in MODES}
    for turn in range(run.options.rounds):
        for mode in MODES if turn % 2 else reversed(MODES):
            folder = run.folder / mode
            server = Hadal(run.options.program, folder, {}, run.log, options=("--durability", mode, "--no-journal"))
            rates[mode].append(rate(server, "t", requests, run.options.rows))
            server.stop()
            shutil.rmtree(folder)
            say(f"{mode}: {rates[mode][-1]:,.0f} rows/s")
    ratios = [sync / at_once for sync, at_once in zip(rates["sync"], rates["async"])]
    low, middle, high = report.quartiles(ratios)
    run.bars.judge("durable ingest, beside one that does not wait", low, LEAST, f"{middle:.2f} ({low:.2f}-{high:.2f})")
    told = {mode: report.quartiles(rates[mode])[1] for mode in MODES}
    print(f"- {CLIENTS} clients, {ROWS_AT_ONCE:,} rows a request: "
          + ", ".join(f"{mode} {one:,.0f} rows/s" for mode, one in told.items()))
    return {"rates": rates, "ratios": ratios}
