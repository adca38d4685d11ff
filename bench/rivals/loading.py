"""The same rows as JSON lines, CSV and Parquet, taken in turn: what they cost Hadal and its rivals in CPU time.

The CPU time is that of the whole process; of Hadal, that of the server and of `hadal import`, which reads Parquet. Hadal's
server runs on until its rows are merged, which takes minutes and hardly any CPU time: its servers, a new one for each round,
are therefore left alone until the last rival is done, and asked then.
"""

import dataclasses
import shutil
import statistics
import time

from measure import HOPELESS
from processes import Failed, Rival, cpu_seconds, say

FORMS = {"jsonl": "JSON lines", "csv": "CSV", "parquet": "Parquet"}
MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv"}


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
    """Loads the same file into all engines, `rounds` times."""

    def __init__(self, started, form, path, rows, cores, folder, settle):
        """`started(folder)` returns a new Hadal server; after `settle` seconds its rows can be merged."""
        self.started, self.form, self.path, self.rows, self.cores, self.folder = started, form, path, rows, cores, folder
        self.settle, self.loaded, self.servers = settle, {"hadal": Loaded(rows)}, []

    def in_turn(self, rivals, rounds):
        """The measurements by engine. A rival that is far from the best one after a round gets no other round; one that
        fails is left out."""
        for number in range(rounds):
            say(f"{FORMS[self.form]}, round {number + 1}: Hadal, {', '.join(rivals)}")
            self.load_hadal(number)
            for engine in rivals:
                self.load_rival(engine)
            rivals = self.worth_another(rivals)
        say("Hadal merges")
        for server in self.servers:
            self.settled(*server)
        return self.loaded

    def load_hadal(self, number):
        folder = self.folder / f"hadal-{self.form}-{number}"
        hadal = self.started(folder)
        cpu, clients = cpu_seconds(hadal.process.pid), 0.0
        if media_type := MEDIA_TYPES.get(self.form):
            hadal.post("requests", self.path, media_type)
        else:
            clients = hadal.load("requests", self.path)
        rows = hadal.count("requests")
        if rows != self.rows:
            raise Failed(f"Hadal took {rows} rows of {self.rows}")
        self.servers.append((hadal, folder, cpu - clients, time.monotonic() + self.settle))

    def load_rival(self, engine):
        folder = self.folder / f"{engine}-{self.form}"
        rival = Rival(engine, 1, self.cores, folder)
        try:
            told = rival("load_file", path=str(self.path), form=self.form)
            if told["rows"] != self.rows:
                raise Failed(f"it took {told['rows']} rows of {self.rows}")
            self.loaded.setdefault(engine, Loaded(self.rows)).cpu_seconds.append(told["cpu_seconds"])
        except Failed as failed:
            say(f"{engine}: {failed}")
            self.loaded.pop(engine, None)
        rival.stop()
        shutil.rmtree(folder, ignore_errors=True)

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
