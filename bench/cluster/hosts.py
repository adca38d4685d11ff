"""Hosts of a cluster as network namespaces of this machine. Needs root, ip and nft.

Two bridges join them: one for the calls of members, which scenes cut and slow down, and one for the clients of doors.
"""

import os
import pathlib
import signal
import subprocess
import time

MEMBERS, CLIENTS = "10.77.0.", "10.78.0."
BRIDGES = {"hadal-members": MEMBERS, "hadal-clients": CLIENTS}


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Host:
    """One host: a namespace with an address, and a Hadal server with its leaf processes in it."""

    def __init__(self, number, program, folder, seed, leaves):
        self.number, self.program, self.folder, self.seed, self.leaves = number, program, folder, seed, leaves
        self.name, self.address = f"hadal-{number}", f"{MEMBERS}{number}"
        self.url = f"http://{CLIENTS}{number}:4280"
        self.server = None
        # Whether it cannot hear of rows that other hosts acknowledge.
        self.is_cut_off = self.is_frozen = False
        self.freezes = 0
        run("ip", "netns", "add", self.name)
        for index, (bridge, network) in enumerate(BRIDGES.items()):
            link, inner = self.link(index), f"eth{index}"
            run("ip", "link", "add", link, "type", "veth", "peer", "name", inner, "netns", self.name)
            run("ip", "link", "set", link, "master", bridge, "up")
            self.inside("ip", "addr", "add", f"{network}{number}/24", "dev", inner)
            self.inside("ip", "link", "set", inner, "up")
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("nft", "add", "table", "inet", "cut")
        for chain in ("input", "output"):
            self.inside("nft", "add", "chain", "inet", "cut", chain, f"{{ type filter hook {chain} priority 0; }}")

    def link(self, index):
        """The outer end of the link to one of the bridges."""
        return f"hadal-v{self.number}-{index}"

    def inside(self, *words):
        return run("ip", "netns", "exec", self.name, *words)

    def start(self):
        """Starts the server of the host."""
        log = open(self.folder.parent / f"{self.name}.log", "ab")
        self.server = subprocess.Popen(
            [
                "ip", "netns", "exec", self.name, self.program, "serve", "--cluster", "hosts", "--machine", self.name,
                "--join", f"{self.seed}:4282", "--no-tls",
                "--listen", self.url.removeprefix("http://"), "--member-listen", f"{self.address}:4282",
                "--leaves", str(self.leaves), "--memory-max", "1GiB", "--data", str(self.folder),
                "--token-file", str(self.folder.parent / "admin-token"),
                "--cluster-token-file", str(self.folder.parent / "cluster-token"),
            ],
            stdout=log, stderr=log, start_new_session=True,
        )

    def processes(self):
        """The ids of all processes of the host."""
        return [int(word) for word in run("ip", "netns", "pids", self.name).stdout.split()]

    def send(self, number):
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def freeze(self):
        self.is_frozen = True
        self.freezes += 1
        self.send(signal.SIGSTOP)

    def kill(self):
        """Kills all processes of the host at once, as a power cut would."""
        # Stopped first, so that none starts another again.
        self.send(signal.SIGSTOP)
        self.send(signal.SIGKILL)
        while self.processes():
            time.sleep(0.01)
        self.server.wait()

    def cut(self, *chains, of=None):
        """Drops members' packets that come in ("input"), go out ("output"), or both; of one other host, or of all."""
        self.is_cut_off = True
        for chain in chains:
            side = "saddr" if chain == "input" else "daddr"
            match = ["ip", side, of.address] if of else ["meta", "oifname" if chain == "output" else "iifname", "eth0"]
            match = match if of else match[1:]
            self.inside("nft", "add", "rule", "inet", "cut", chain, *match, "drop")

    def slow(self, rate):
        """Limits what the host sends, such as to "1mbit"."""
        self.inside("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "32kbit", "latency", "400ms")

    def replace(self):
        """Kills the host, and starts another one with its data folder and another address."""
        self.kill()
        old, self.address = self.address, f"{MEMBERS}{100 + self.number}"
        # In this order: with the first address of a network, the system removes the others.
        self.inside("ip", "addr", "del", f"{old}/24", "dev", "eth0")
        self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.start()

    def heal(self):
        """Ends all cuts and limits, and continues frozen processes."""
        self.is_cut_off = self.is_frozen = False
        self.send(signal.SIGCONT)
        self.inside("nft", "flush", "table", "inet", "cut")
        run("ip", "netns", "exec", self.name, "tc", "qdisc", "del", "dev", "eth0", "root", check=False)

    def close(self):
        if self.server and self.server.poll() is None:
            self.kill()
        run("ip", "netns", "del", self.name, check=False)
        for index in range(len(BRIDGES)):
            run("ip", "link", "del", self.link(index), check=False)


class Hosts:
    """All hosts. The first one keeps the definitions."""

    def __init__(self, count, program, root, leaves=2):
        for bridge, network in BRIDGES.items():
            run("ip", "link", "del", bridge, check=False)
            run("ip", "link", "add", bridge, "type", "bridge")
            run("ip", "addr", "add", f"{network}254/24", "dev", bridge)
            run("ip", "link", "set", bridge, "up")
        self.token = os.urandom(32).hex()
        for name, secret in (("admin-token", self.token), ("cluster-token", os.urandom(32).hex())):
            file = pathlib.Path(root) / name
            file.write_text(secret + "\n")
            file.chmod(0o600)
        self.all = [
            Host(number, program, pathlib.Path(root) / f"host-{number}", f"{MEMBERS}1", leaves)
            for number in range(1, count + 1)
        ]
        for host in self.all:
            host.start()

    def close(self):
        for host in self.all:
            host.close()
        for bridge in BRIDGES:
            run("ip", "link", "del", bridge, check=False)
