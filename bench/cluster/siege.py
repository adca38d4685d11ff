"""A cluster of several hosts on this machine, cut off from each other and killed, while rows come in and queries run.

Each host is a network namespace. After every scene all hosts come back, and every acknowledged row must be there once.

usage: siege.py PROGRAM [--hosts N] [--seed N] [--seconds N] [--scene NAME]
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time

from hosts import Hosts
from load import Client, Producer, Questioner


def one_cut_off(hosts, chosen):
    chosen.cut("input", "output")


def half_cut_off(hosts, chosen):
    half = hosts.all[len(hosts.all) // 2:]
    for host in half:
        for other in hosts.all[: len(hosts.all) // 2]:
            host.cut("input", "output", of=other)


def hears_nobody(hosts, chosen):
    chosen.cut("input")


def is_heard_by_nobody(hosts, chosen):
    chosen.cut("output")


def slow_link(hosts, chosen):
    chosen.slow("2mbit")


def killed(hosts, chosen):
    chosen.kill()


def replaced(hosts, chosen):
    chosen.replace()


def frozen(hosts, chosen):
    chosen.freeze()


def definitions_down(hosts, chosen):
    hosts.all[0].kill()


SCENES = [one_cut_off, half_cut_off, hears_nobody, is_heard_by_nobody, slow_link, killed, replaced, frozen, definitions_down]


def heal(hosts):
    for host in hosts.all:
        host.heal()
        if host.server.poll() is not None:
            host.start()


def wait_for_all(client, hosts, seconds=60):
    """Waits until every door answers with all rows; returns what is wrong after that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answers = [client.query(host.url, "SELECT count(*) FROM load")[1] for host in hosts.all]
        whole = [
            answer and answer.get("coverage", {}).get("fraction") == 1.0
            and answer["coverage"]["leaves_answered"] == 2 * len(hosts.all)
            for answer in answers
        ]
        if all(whole):
            return None
        time.sleep(0.2)
    said = ", ".join(f"{host.name} {missing(answer)}" for host, answer in zip(hosts.all, answers))
    return f"not every door has all rows after {seconds} s: {said}"


def missing(answer):
    """Which leaves are missing in an answer, in a few words."""
    if not answer or "coverage" not in answer:
        return "does not answer" if not answer else answer.get("detail", "fails")
    coverage = answer["coverage"]
    leaves = [leaf["name"] for leaf in coverage["leaves"] if leaf["outcome"] != "answered"]
    return f"has {coverage['fraction']:.4f} without {leaves}"


def count_rows(client, hosts, producers):
    """Compares the rows of each producer with those it knows to be acknowledged; returns the faults."""
    sql = "SELECT producer, count(*), count(DISTINCT n), max(n) FROM load GROUP BY producer"
    status, answer = client.query(hosts.all[0].url, sql, 10_000)
    if status != 200:
        return [f"no answer: {answer}"]
    rows = {row[0]: row[1:] for row in answer["rows"]}
    faults = []
    for producer in producers:
        count, distinct, last = rows.get(producer.number, (0, 0, -1))
        if count < producer.acknowledged:
            faults.append(f"producer {producer.number}: {producer.acknowledged - count} acknowledged rows are lost")
        if count > producer.acknowledged + producer.under_way:
            faults.append(f"producer {producer.number}: {count} rows, and {producer.acknowledged} are acknowledged")
    return faults


def play(scene, client, hosts, options, producers, chooser):
    chosen = chooser.choice(hosts.all[1:])
    questioners = [Questioner(client, host, producers) for host in hosts.all]
    for questioner in questioners:
        questioner.start()
    time.sleep(1)
    before = sum(producer.acknowledged for producer in producers)
    scene(hosts, chosen)
    time.sleep(options.seconds)
    during = sum(producer.acknowledged for producer in producers) - before
    fractions = [f"{min(fraction for _, fraction in q.fractions):.2f}" for q in questioners if q.fractions]
    for questioner in questioners:
        questioner.stopping = True
    heal(hosts)
    for questioner in questioners:
        questioner.join()
    faults = [f"{q.host.url}: {fault}" for q in questioners for fault in q.faults[:3]]
    late = wait_for_all(client, hosts)
    faults += [late] if late else []
    answers, none = sum(q.answers for q in questioners), sum(q.unanswered for q in questioners)
    slowest = max((max(q.times) for q in questioners if q.times), default=0)
    print(
        f"{scene.__name__:20} {chosen.name}: {answers} answers ({none} refused), slowest {slowest:.2f} s, "
        f"lowest coverage {' '.join(fractions)}, {during} rows acknowledged meanwhile, {len(faults)} faults",
        flush=True,
    )
    for fault in faults[:8]:
        print(f"  {fault}")
    return faults


def siege(options, root):
    chooser, faults = random.Random(options.seed), []
    hosts = Hosts(options.hosts, options.program, root)
    try:
        client = Client(hosts.token)
        urls = [host.url for host in hosts.all]
        producers = [Producer(number, client, hosts.all, options.seed) for number in range(3)]
        while any(client.send(url, "/readyz")[0] != 200 for url in urls):
            time.sleep(0.1)
        for producer in producers:
            producer.start()
        for scene in SCENES:
            if options.scene in (None, scene.__name__):
                faults += play(scene, client, hosts, options, producers, chooser)
        for producer in producers:
            producer.stopping = True
        for producer in producers:
            producer.join(60)
        faults += [fault for fault in [wait_for_all(client, hosts)] if fault]
        faults += count_rows(client, hosts, producers)
        rows, tries = sum(p.acknowledged for p in producers), sum(p.tries for p in producers)
        print(f"{rows} rows acknowledged in {tries} tries (seed {options.seed}); {len(faults)} faults")
        for fault in faults:
            print(f"- {fault}")
    finally:
        if faults:
            for host in hosts.all:
                print(f"== {host.name}")
                print((host.folder.parent / f"{host.name}.log").read_text()[-2000:])
        hosts.close()
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--hosts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each scene lasts")
    parser.add_argument("--scene", choices=[scene.__name__ for scene in SCENES])
    options = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("nft") or not shutil.which("ip"):
        print("skipped: needs root, ip and nft (network namespaces)")
        return 0
    # The hosts are removed, too, when the siege is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as root:
        return 0 if siege(options, root) else 1


if __name__ == "__main__":
    sys.exit(main())
