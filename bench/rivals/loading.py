"""JSON lines taken in turn: what it costs Hadal and its rivals, in CPU time of the whole process.

Hadal's runs on until its rows are merged, which takes minutes and hardly any CPU time: its servers, a new one for each round,
are therefore left alone until the last rival is done, and asked then.
"""

import dataclasses
import shutil
import statistics
import time

from measure import HOPELESS
from processes import Failed, Rival, cpu_seconds, say


@dataclasses.dataclass
class Loaded:
    """The CPU seconds of one engine's rounds."""

    rows: int
    cpu_seconds: list = dataclasses.field(default_factory=list)
    # Hadal's rows, over all rounds, that were not merged when it had come to rest.
    rows_not_merged: int = 0

    def median(self):
        return statistics.median(self.cpu_seconds)


class Loading:
    """Loads the same lines into all engines, `rounds` times."""

    def __init__(self, started, lines, rows, cores, folder, settle):
        """`started(folder)` returns a new Hadal server; after `settle` seconds its rows can be merged."""
        self.started, self.lines, self.rows, self.cores, self.folder, self.settle = started, lines, rows, cores, folder, settle
        self.loaded, self.servers = {"hadal": Loaded(rows)}, []

    def in_turn(self, rivals, rounds):
        """The measurements by engine. A rival that is far from the best one after a round gets no other round; one that
        fails is left out."""
        for number in range(rounds):
            say(f"JSON lines, round {number + 1}: Hadal, {', '.join(rivals)}")
            self.load_hadal(number)
            for engine in rivals:
                self.load_rival(engine)
            rivals = self.worth_another(rivals)
        say("Hadal merges")
        for server in self.servers:
            self.settled(*server)
        return self.loaded

    def load_hadal(self, number):
        folder = self.folder / f"hadal-lines-{number}"
        hadal = self.started(folder)
        cpu = cpu_seconds(hadal.process.pid)
        rows = hadal.post_lines("requests", self.lines)
        if rows != self.rows:
            raise Failed(f"Hadal took {rows} rows of {self.rows}")
        self.servers.append((hadal, folder, cpu, time.monotonic() + self.settle))

    def load_rival(self, engine):
        rival = Rival(engine, 1, self.cores, self.folder / f"{engine}-lines")
        try:
            told = rival("load_lines", path=str(self.lines))
            if told["rows"] != self.rows:
                raise Failed(f"it took {told['rows']} rows of {self.rows}")
            self.loaded.setdefault(engine, Loaded(self.rows)).cpu_seconds.append(told["cpu_seconds"])
        except Failed as failed:
            say(f"{engine}: {failed}")
            self.loaded.pop(engine, None)
        rival.stop()
        shutil.rmtree(self.folder / f"{engine}-lines", ignore_errors=True)

    def worth_another(self, rivals):
        left = [engine for engine in rivals if engine in self.loaded]
        most = HOPELESS * min((self.loaded[engine].median() for engine in left), default=0)
        return [engine for engine in left if self.loaded[engine].median() <= most]

    def settled(self, hadal, folder, cpu, until):
        blocks = hadal.settle(["requests"], until)["requests"]["blocks"]
        mine = self.loaded["hadal"]
        mine.cpu_seconds.append(cpu_seconds(hadal.process.pid) - cpu)
        mine.rows_not_merged += sum(block["rows"] for block in blocks if block["fresh"])
        hadal.stop()
        shutil.rmtree(folder, ignore_errors=True)
