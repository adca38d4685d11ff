"""Random processes of a cluster are killed while rows come in through all doors: none may be lost or count twice."""

import atexit
import contextlib
import os
import random
import signal
import time

from load import Client, Producer
from loopback import Cluster, say

# Between two kills, in seconds: sometimes before the process before is back, sometimes after.
PAUSE = (0.1, 2.0)


def kill_one(cluster, chooser):
    """Kills a process of one machine, a leaf or the aggregator; returns whether it was the aggregator."""
    machine = chooser.choice(cluster.machines)
    victim = chooser.choice(machine.processes())
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    is_aggregator = victim == machine.process.pid
    if is_aggregator:
        machine.process.wait()
        machine.start()
    return is_aggregator


def differences(cluster, producers):
    """What is lost or doubled of the rows of each producer, in sentences."""
    rows = cluster.doors[0].ask("SELECT producer, count(*), sum(n) FROM load GROUP BY producer")["rows"]
    stored = {producer: (count, total) for producer, count, total in rows}
    for producer in producers:
        count = producer.acknowledged
        wanted, got = (count, count * (count - 1) // 2), stored.get(producer.number, (0, 0))
        if wanted != got:
            yield f"producer {producer.number}: {wanted[0]} rows with the sum {wanted[1]} acknowledged, {got[0]} with {got[1]} there"


def kills(options, bars, root):
    """`options.kills` times kill -9, while three producers send batches through changing doors."""
    say(f"{options.kills} kills (seed {options.seed})")
    cluster, chooser = Cluster(options.program, root, 3, 2, options.network), random.Random(options.seed)
    atexit.register(cluster.stop)
    producers = [Producer(number, Client(), cluster.machines, options.seed) for number in range(3)]
    for producer in producers:
        producer.start()
    aggregators = 0
    for _ in range(options.kills):
        aggregators += kill_one(cluster, chooser)
        time.sleep(chooser.uniform(*PAUSE))
    for producer in producers:
        producer.stopping = True
    for producer in producers:
        producer.join(120)
    cluster.wait()
    found, end = list(differences(cluster, producers)), time.monotonic() + 30
    # Copies of batches that moved are dropped about two seconds after their leaf is back.
    while found and time.monotonic() < end:
        time.sleep(0.5)
        found = list(differences(cluster, producers))
    rows, tries = sum(producer.acknowledged for producer in producers), sum(producer.tries for producer in producers)
    told = "; ".join(found) or f"{aggregators} of aggregators; {rows:,} rows acknowledged in {tries:,} tries"
    bars.judge(f"{options.kills} kills: producers with lost or doubled rows", len(found), 0, told, most=True)
    cluster.stop()
    atexit.unregister(cluster.stop)
    return {"kills": options.kills, "aggregators": aggregators, "rows": rows, "tries": tries, "differences": found}
