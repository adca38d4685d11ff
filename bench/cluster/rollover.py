"""All leaves of a cluster restart in turn while rows come in and queries run: coverage at every moment, and the rows after it."""

import atexit
import http.client
import json
import threading
import time

from kills import differences
from load import Client, Producer
from loopback import Cluster, Failed, say

MACHINES, LEAVES = 5, 8
# Batches that the leaves have before, so that each has about as many rows, and their rows.
BATCHES, ROWS = 1_000, 400
# The pause of each producer after a batch of 200 rows: some thousand rows come per second.
PAUSE_SECONDS = 0.1
PAPER = "in the paper (Restarts 7) a cluster of hundreds of machines takes under an hour, with 98 % of its data online"


class Watcher(threading.Thread):
    """Asks for all rows again and again, and keeps the coverage that each answer prints."""

    def __init__(self, door):
        super().__init__(daemon=True)
        self.door, self.stopping, self.lines, self.refused = door, False, [], []

    def run(self):
        start = time.monotonic()
        while not self.stopping:
            try:
                answer = self.door.ask("SELECT raw_count(*) FROM before", 5_000)
            except (Failed, OSError, http.client.HTTPException) as error:
                self.refused.append(str(error))
            else:
                self.lines.append((round(time.monotonic() - start, 3), answer["coverage"]["fraction"], answer["rows"][0][0]))
            time.sleep(0.05)


def rolled(door):
    """Begins a rollover with the usual settings and waits for its end; returns its last state."""
    door.request("POST", "/v1/rollover", "{}", {"Content-Type": "application/json"})
    while True:
        state = door.request("GET", "/v1/rollover")["rollover"]
        if state["phase"] in ("stopped", "done"):
            return state
        time.sleep(0.2)


def rollover(options, bars, root):
    """Restarts 40 leaves with data in turn, under load."""
    say(f"rollover of {MACHINES * LEAVES} leaves")
    cluster = Cluster(options.program, root, MACHINES, LEAVES, options.network)
    atexit.register(cluster.stop)
    for batch in range(BATCHES):
        body = "".join(json.dumps({"service": f"service-{row % 10}", "batch": batch, "sample_rate": 10}) + "\n" for row in range(ROWS))
        cluster.doors[batch % MACHINES].request("POST", "/v1/log/before", body, {"Content-Type": "application/x-ndjson"})
    producers = [Producer(number, Client(), cluster.machines, options.seed, pause=PAUSE_SECONDS) for number in range(3)]
    watcher = Watcher(cluster.doors[1])
    for thread in (*producers, watcher):
        thread.start()
    time.sleep(3)
    start = time.monotonic()
    state = rolled(cluster.doors[0])
    seconds = time.monotonic() - start
    for thread in (*producers, watcher):
        thread.stopping = True
    for thread in (*producers, watcher):
        thread.join(60)
    least = min(fraction for _, fraction, _ in watcher.lines)
    counts = [count for _, _, count in watcher.lines]
    wrong = list(differences(cluster, producers))
    rows = sum(producer.acknowledged for producer in producers)
    bars.judge("rollover of 40 leaves: least coverage of an answer", 100 * least, 97,
               f"{len(counts)} answers, printed {100 * least:.2f} %, had {100 * min(counts) / BATCHES / ROWS:.2f} %", unit=" %")
    bars.judge("rollover of 40 leaves: queries without an answer", len(watcher.refused), 0, "; ".join(watcher.refused[:1]) or "none", most=True)
    bars.judge("rollover of 40 leaves: producers with lost or doubled rows", len(wrong), 0, "; ".join(wrong) or f"{rows:,} rows", most=True)
    bars.judge("rollover of 40 leaves: restarted", state["new"], MACHINES * LEAVES, state["reason"] or state["phase"], unit="")
    say(f"{seconds:.0f} s, {seconds / MACHINES / LEAVES:.1f} s per leaf; {PAPER}")
    cluster.stop()
    atexit.unregister(cluster.stop)
    return {"seconds": seconds, "answers": watcher.lines, "state": state, "rows": rows, "differences": wrong}
