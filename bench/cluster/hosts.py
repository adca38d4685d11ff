"""Hosts of a cluster as network namespaces of this machine, joined by a bridge. Needs root, ip and nft."""

import os
import pathlib
import signal
import subprocess
import time

NETWORK = "10.77.0."
BRIDGE = "hadal-bridge"


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Host:
    """One host: a namespace with an address, and a Hadal server with its leaf processes in it."""

    def __init__(self, number, program, folder, seed, leaves):
        self.number, self.program, self.folder, self.seed, self.leaves = number, program, folder, seed, leaves
        self.name, self.address = f"hadal-{number}", f"{NETWORK}{number}"
        self.url = f"http://{self.address}:4280"
        self.server = None
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", f"hadal-v{number}", "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "link", "set", f"hadal-v{number}", "master", BRIDGE, "up")
        self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("nft", "add", "table", "inet", "cut")
        for chain in ("input", "output"):
            self.inside("nft", "add", "chain", "inet", "cut", chain, f"{{ type filter hook {chain} priority 0; }}")

    def inside(self, *words):
        return run("ip", "netns", "exec", self.name, *words)

    def start(self):
        """Starts the server of the host."""
        log = open(self.folder.parent / f"{self.name}.log", "ab")
        self.server = subprocess.Popen(
            [
                "ip", "netns", "exec", self.name, self.program, "serve", "--cluster", "hosts", "--machine", self.name,
                "--join", f"{self.seed}:4281", "--listen", f"{self.address}:4280", "--no-tls",
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

    def kill(self):
        """Kills all processes of the host at once, as a power cut would."""
        # Stopped first, so that none starts another again.
        self.send(signal.SIGSTOP)
        self.send(signal.SIGKILL)
        while self.processes():
            time.sleep(0.01)
        self.server.wait()

    def cut(self, *chains, of=None):
        """Drops packets that come in ("input"), go out ("output"), or both; of one other host, or of all."""
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
        old, self.address = self.address, f"{NETWORK}{100 + self.number}"
        self.url = f"http://{self.address}:4280"
        self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.inside("ip", "addr", "del", f"{old}/24", "dev", "eth0")
        self.start()

    def heal(self):
        """Ends all cuts and limits."""
        self.inside("nft", "flush", "table", "inet", "cut")
        run("ip", "netns", "exec", self.name, "tc", "qdisc", "del", "dev", "eth0", "root", check=False)

    def close(self):
        if self.server and self.server.poll() is None:
            self.kill()
        run("ip", "netns", "del", self.name, check=False)
        run("ip", "link", "del", f"hadal-v{self.number}", check=False)


class Hosts:
    """All hosts. The first one keeps the definitions."""

    def __init__(self, count, program, root, leaves=2):
        run("ip", "link", "del", BRIDGE, check=False)
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NETWORK}254/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        self.token = os.urandom(32).hex()
        for name, secret in (("admin-token", self.token), ("cluster-token", os.urandom(32).hex())):
            file = pathlib.Path(root) / name
            file.write_text(secret + "\n")
            file.chmod(0o600)
        self.all = [
            Host(number, program, pathlib.Path(root) / f"host-{number}", f"{NETWORK}1", leaves)
            for number in range(1, count + 1)
        ]
        for host in self.all:
            host.start()

    def close(self):
        for host in self.all:
            host.close()
        run("ip", "link", "del", BRIDGE, check=False)
