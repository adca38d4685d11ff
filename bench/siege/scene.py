"""One scene: a data folder from its first server to its last, by a seed: what happens is drawn, when it happens is the machine's."""

import contextlib
import dataclasses
import os
import random
import shutil
import time

import checks
import damage
import leftovers
from batches import NARROW, WIDE
from clients import Connection, Ingest, send, send_all
from model import ACKNOWLEDGED, Model
from processes import Failed
from rooms import Room, copy, put_back
from servers import Fault, kill_launched, launched, started, started_or_refused

MIB = 1 << 20
LIVES = (3, 7)
CLIENTS = (2, 4)
# Seconds under ingest, mostly few.
LIFE = (0.05, 2.5)
# Bytes sent, mostly few, so that there are many lives; and the share of a small disk, which should
# be full because of other files.
SENT_BYTES, SENT_SHARE = (2 * MIB, 8 * MIB, 8 * MIB, 40 * MIB), 0.2
ROOM_SECONDS = 30


@dataclasses.dataclass
class Plan:
    """The parameters that all lives of a scene share."""

    clients: int
    batch_rows: tuple
    width: int
    bytes_max: int


class Scene:
    def __init__(self, options, number, folder, mounts):
        self.options, self.number, self.folder = options, number, folder
        self.chance = chance = random.Random(f"{options.seed}/{number}")
        disk = chance.choice((None, 64, 128, 300)) if chance.random() < 0.7 else None
        self.disk = Room(folder / "disk", disk * MIB if disk and mounts else None)
        memory = chance.choice((300, 512)) * MIB
        # A folder in the shared tmpfs, if mounting is not permitted.
        self.tmpfs = Room(folder / "tmpfs", memory) if mounts else Room(options.tmpfs / f"siege-{os.getpid()}-{number}")
        self.mounts = mounts
        self.data = self.disk.path / "data"
        sent = min(chance.choice(SENT_BYTES), int((self.disk.size or 1 << 40) * SENT_SHARE))
        rows = chance.choice(((1, 7), (7, 50, 300), (200, 1_000), (1, 2_000)))
        self.plan = Plan(chance.randint(*CLIENTS), rows, chance.choice((NARROW, NARROW, WIDE)), sent)
        self.model = Model(int(time.time() - 3_600) * 1_000_000)
        self.steps, self.logs, self.server, self.leaves_made = [], 0, None, 0
        self.counts = {"kills": 0, "stops": 0, "take-overs": 0, "full disks": 0, "damages": 0, "batches": 0}
        self.settings = self.drawn_settings()
        self.program = options.program

    def step(self, text):
        self.steps.append(f"{time.strftime('%H:%M:%S')} {text}")
        with (self.folder / "steps").open("a") as file:
            file.write(self.steps[-1] + "\n")

    def log(self):
        self.logs += 1
        return self.folder / f"{self.logs:03}.log"

    def drawn_settings(self):
        chance = self.chance
        storage = chance.choice(("memory", "memory", "mmap"))
        return ["--storage", storage, "--tmpfs", str(self.tmpfs.path), "--after-crash", chance.choice(("memory", "disk")),
                "--leaves", str(chance.choice((1, 1, 2, 3))), "--durability", chance.choice(("sync", "sync", "async"))]

    @property
    def is_in_memory(self):
        return self.settings[1] == "memory"

    @property
    def leaves(self):
        return int(self.settings[7])

    @property
    def has_new_leaves(self):
        """Whether the next start creates leaves, which need room; existing leaves have their reserve."""
        return self.leaves > self.leaves_made

    def start(self, **more):
        self.step(f"start {' '.join(self.settings)} {more or ''}, log {self.logs + 1:03}")
        self.was_full = leftovers.is_full(self.tmpfs.path)
        settings = [*self.settings, *(("--take-over",) if more else ())]
        self.server = started(self.program, self.data, self.log(), settings, **more)
        self.leaves_made = max(self.leaves_made, self.leaves)

    def start_without_room(self):
        """The first start of a leaf on a full disk may be refused, but must not obstruct the next one."""
        left = self.left()
        self.step(f"start on a disk that is full but for {left} bytes, log {self.logs + 1:03}")
        self.disk.fill(left)
        if server := started_or_refused(self.program, self.data, self.log(), self.settings):
            server.kill()
        self.disk.empty()

    def left(self):
        """The bytes that stay free on a filled disk: none, enough for a few files, or for some batches."""
        return self.chance.choice((0, 4096 * self.chance.randrange(100), self.chance.randrange(3 * MIB)))

    def check_files(self, state):
        faults = leftovers.in_data(self.data, state, self.program != self.options.program)
        checks.demand(faults + leftovers.in_memory(self.tmpfs.path, self.data, state, self.is_in_memory, self.was_full))

    def play(self):
        """Plays all lives, and the end of the last one."""
        for life in range(self.chance.randint(*LIVES)):
            self.step(f"life {life}")
            if self.chance.random() < 0.4:
                self.settings = self.drawn_settings()
            self.draw_program()
            self.live()
        self.end()

    def draw_program(self):
        """The program of the next start, perhaps of another version."""
        if self.options.before:
            self.program = self.chance.choice((self.options.program, self.options.before))
            self.step(f"by {self.program}")

    def live(self):
        chance = self.chance
        if self.has_new_leaves and self.disk.size and (self.disk.is_full or chance.random() < 0.5):
            self.start_without_room()
        if chance.random() < 0.25:
            seconds = chance.uniform(0, 0.3)
            self.step(f"killed {seconds:.3f} s after its start, log {self.logs + 1:03}")
            process = launched(self.program, self.data, self.log(), self.settings)
            time.sleep(seconds)
            kill_launched(process)
            self.counts["kills"] += 1
        self.start()
        self.step("compare with the model")
        checks.equals_model(self.server, self.model, chance)
        self.check_files(leftovers.RUNS)
        if chance.random() < 0.15:
            self.drop("u")
        self.under_ingest()
        if chance.random() < 0.5:
            self.damage()

    def drop(self, table):
        gone = checks.drop(self.server, table)
        self.step(f"drop {table}: {gone}")
        if gone:
            self.model.forget(table)

    def under_ingest(self):
        """Clients send during the events of a life, until the server ends in one way or another."""
        chance = self.chance
        ingest = Ingest(self.model, self.server.address, [random.Random(chance.random()) for _ in range(self.plan.clients)], self.plan)
        ingest.start()
        events = [chance.choice((self.fill_disk, self.fill_tmpfs, self.give_room, self.take_over)) for _ in range(chance.randint(0, 3))]
        try:
            for event in events:
                self.pause(ingest)
                event()
            self.pause(ingest)
            chance.choice((self.kill, self.kill, self.terminate, self.stop_by_command, self.kill_while_it_stops,
                           self.kill_while_taken_over))(ingest)
        finally:
            ingest.end()
        self.step(f"{ingest.taken} batches acknowledged, {ingest.refused} refused, {ingest.unheard} unheard of, {ingest.asked} answers")
        self.counts["batches"] += ingest.taken
        checks.demand(ingest.faults)

    def pause(self, ingest):
        end = time.monotonic() + self.chance.uniform(*LIFE) * self.chance.random()
        while time.monotonic() < end:
            ingest.watch(self.server)
            time.sleep(0.01)
        self.server.check_alive()

    def fill_disk(self):
        if self.disk.size:
            left = self.left()
            self.step(f"the disk is full but for {left} bytes")
            self.disk.fill(left)
            self.counts["full disks"] += 1

    def fill_tmpfs(self):
        if self.tmpfs.size:
            left = self.left()
            self.step(f"the tmpfs is full but for {left} bytes")
            self.tmpfs.fill(left)

    def give_room(self):
        self.step("room again on disk and in the tmpfs")
        self.disk.empty()
        self.tmpfs.empty()

    def take_over(self):
        before = self.server
        if self.chance.random() < 0.3:
            self.settings = self.drawn_settings()
        if self.has_new_leaves:
            self.disk.empty()
        self.draw_program()
        self.start(listen=before.address)
        before.stop_in_order(lambda: None)
        self.counts["take-overs"] += 1

    def kill(self, ingest):
        ingest.over.set()
        self.step("kill -9")
        self.server.kill()
        self.after(ingest, leftovers.KILLED)

    def terminate(self, ingest):
        self.step("SIGTERM")
        self.server.stop_in_order(self.server.process.terminate)
        self.after(ingest, leftovers.STOPPED)

    def stop_by_command(self, ingest):
        self.step("hadal stop")
        self.server.stop_in_order(self.server.tell_to_stop)
        self.after(ingest, leftovers.STOPPED)

    def kill_while_it_stops(self, ingest):
        seconds = self.chance.uniform(0, 0.2)
        self.step(f"SIGTERM, and kill -9 {seconds:.3f} s later")
        self.server.process.terminate()
        time.sleep(seconds)
        ingest.over.set()
        self.server.kill()
        self.after(ingest, leftovers.KILLED)

    def kill_while_taken_over(self, ingest):
        """Kills the successor while it waits, starts or serves, or kills the server before it first."""
        chance = self.chance
        is_first, times = chance.random() < 0.3, (chance.uniform(0, 0.2), chance.uniform(0, 0.3))
        self.step(f"a successor, log {self.logs + 1:03}; kill -9 {times} s later, {'the first one first' if is_first else 'it first'}")
        before = self.server
        self.draw_program()
        after = launched(self.program, self.data, self.log(), (*self.settings, "--take-over"), before.address)
        time.sleep(times[0])
        if is_first:
            before.kill()
        time.sleep(times[1])
        ingest.over.set()
        kill_launched(after)
        before.kill()
        self.after(ingest, leftovers.KILLED)

    def after(self, ingest, state):
        ingest.end()
        self.counts["kills" if state == leftovers.KILLED else "stops"] += 1
        self.check_files(state)

    def damage(self):
        """Alters copies of the last server's files, one after the other, and restores the files."""
        self.give_room()
        kept = self.folder / "kept"
        copy(self.data, kept / "data")
        copy(self.tmpfs.path, kept / "tmpfs")
        for _ in range(self.chance.randint(1, 3)):
            self.damage_once()
            put_back(kept / "data", self.data)
            put_back(kept / "tmpfs", self.tmpfs.path)
        shutil.rmtree(kept)

    def damage_once(self):
        chance, may_lose = self.chance, False
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            done, harms = damage.alter(chance, (self.data, self.tmpfs.path))
            may_lose |= harms
            self.step(f"damage: {done}")
        self.counts["damages"] += 1
        more, is_told = [], False
        try:
            # The second start uses the result of the first one.
            for _ in range(2):
                self.step(f"start over it, log {self.logs + 1:03}")
                server = started_or_refused(self.program, self.data, self.log(), self.settings)
                if server is None:
                    self.step("refused")
                    checks.demand([] if may_lose else ["it does not start, though the disk has everything"])
                    return
                self.server = server
                certain = [batch for batch in more if self.model.state[batch.name] == ACKNOWLEDGED]
                missing, tells = checks.nothing_wrong(server, self.model, may_lose, is_told, certain)
                is_told |= tells
                self.step(f"{missing} acknowledged rows are missing")
                more += self.send_more()
                server.kill() if chance.random() < 0.5 else server.stop_in_order(server.process.terminate)
        finally:
            self.model.take_back(more)

    def send_more(self):
        """Sends some batches to a server over damaged files, which may refuse them."""
        batches = [self.model.new("t", self.chance.choice(self.plan.batch_rows), self.plan.width) for _ in range(self.chance.randint(0, 3))]
        connection = Connection(self.server.address)
        faults = [fault for batch in batches for fault in [send(self.model, connection, batch)[1]] if fault]
        checks.demand(faults)
        return batches

    def end(self):
        """Sends everything until it is acknowledged. Then drops all tables: no segment may be left."""
        self.program = self.options.program
        self.give_room()
        self.start()
        self.step("send all that is not acknowledged")
        if fault := send_all(self.model, self.server.address, ROOM_SECONDS):
            raise Fault(fault)
        checks.equals_model(self.server, self.model, self.chance)
        for table in list(self.model.tables):
            self.drop(table)
        checks.equals_model(self.server, self.model, self.chance)
        self.terminate_quietly()
        left = [str(path) for folder in (self.data, self.tmpfs.path) for path in folder.rglob("*.segment")]
        checks.demand([f"left behind after all tables were dropped: {left}"] if left else [])
        self.go_away()

    def go_away(self):
        """Removes the data folder: the next start frees its memory."""
        shutil.rmtree(self.data)
        self.start()
        self.terminate_quietly()

    def terminate_quietly(self):
        self.step("SIGTERM")
        self.server.stop_in_order(self.server.process.terminate)
        self.check_files(leftovers.STOPPED)

    def keep(self, place):
        """Keeps the files for a person to examine."""
        copy(self.disk.path, place / "disk")
        copy(self.tmpfs.path, place / "tmpfs")
        for path in self.folder.iterdir():
            if path.name not in ("disk", "tmpfs"):
                path.rename(place / path.name)

    def close(self):
        if self.server:
            with contextlib.suppress(Failed, OSError):
                self.server.process.kill()
                self.server.stop()
        self.disk.close()
        self.tmpfs.close()
