"""A scene of its own: leaves are killed while they write old rows to an archive. Each batch is in the table then, or in one file."""

import json
import pathlib
import random
import subprocess
import time

from batches import NARROW, Batch
from checks import BY_BATCH, known_tables, whole
from clients import Connection
from processes import SETTLED_SECONDS, Failed, say
from servers import Fault, started

DAY_SECONDS = 86_400
# Rows have times of this many days, with a few batches per day. A batch is within one afternoon, as
# a file is for one day.
DAYS, BATCHES_A_DAY, BATCH_ROWS = 20, 8, 2_500
AFTERNOON_SECONDS = 14 * 3_600
# In each round this many more days expire, and the server is killed this many times before that, if
# it is still writing.
DAYS_A_ROUND, KILLS_A_ROUND = 2, 7
# Tables are checked each second; writing a file takes about as long as the longest delay of a kill.
WRITES_SECONDS_MAX, POLL_SECONDS, KILLED_AFTER_SECONDS = 3, 0.001, 0.03
# Small blocks wait up to ten minutes for others; then all expired rows are gone.
GONE_SECONDS_MAX, LOOK_SECONDS = 900, 1
TABLE, BACK = "t", "back"


def made(now):
    """Batches of each day before this moment, by their names."""
    midnight, first, batches = int(now) // DAY_SECONDS * DAY_SECONDS, 0, {}
    for number in range(DAYS * BATCHES_A_DAY):
        # A row's time follows from its number; `start` is the time of the batch's first row.
        start = midnight - (1 + number % DAYS) * DAY_SECONDS + AFTERNOON_SECONDS
        batch = Batch(f"b{number}", TABLE, first, BATCH_ROWS, NARROW, (start * 1_000_000) - first * 1_000)
        batches[batch.name] = batch
        first += BATCH_ROWS
    return batches


def days_old(batch, now):
    """The age of a batch's day in days: all moments after that day are younger."""
    start_seconds = batch.row(batch.first)["time"] // 1_000_000
    return (int(now) // DAY_SECONDS) - start_seconds // DAY_SECONDS


class Archived:
    """A server with an archive, its clients, and a reader of the files."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.chance = random.Random(f"{options.seed}/archive")
        self.archive = self.folder / "archive"
        self.archive.mkdir(parents=True)
        self.logs, self.ages, self.kills, self.kills_in_between = 0, 0, 0, 0
        self.batches, self.server = made(time.time()), None

    def start(self):
        self.logs += 1
        settings = ["--leaves", "2", "--clock-proving", "0", "--tmpfs", str(self.options.tmpfs), "--archive", str(self.archive),
                    "--storage", self.chance.choice(("memory", "mmap")), "--after-crash", self.chance.choice(("memory", "disk"))]
        self.server = started(self.options.program, self.folder / "data", self.folder / f"{self.logs:03}.log", settings)

    def set_age(self, days):
        """Sets the age, a second more or less each time: only a change starts a pass, and whole days count."""
        self.ages += 1
        path = f"/v1/tables/{TABLE}/settings"
        version = self.server.get(path)["version"]
        body = {"version": version, "settings": {"age": f"{days * DAY_SECONDS + self.ages % 2}s", "archive": True}}
        self.server.request("PUT", path, json.dumps(body), {"Content-Type": "application/json"})

    def files(self, names="*.parquet"):
        return sorted(path for path in self.archive.rglob(names) if path.is_file())

    def send(self):
        connection = Connection(self.server.address)
        for batch in self.batches.values():
            answer = connection.send(batch)
            if answer is None or answer[0] != 200 or json.loads(answer[1])["accepted"] != batch.count:
                raise Fault(f"batch {batch.name}: {answer}")

    def play(self):
        self.start()
        self.send()
        say(f"archive: {len(self.batches)} batches of {DAYS} days are sent; {SETTLED_SECONDS} s until they are settled")
        time.sleep(SETTLED_SECONDS)
        for age in range(DAYS - DAYS_A_ROUND, 0, -DAYS_A_ROUND):
            for _ in range(KILLS_A_ROUND):
                if not self.killed_while_archiving(age):
                    break
            self.let_all_go(age)
            say(f"archive: age {age}d, {self.kills} kills, {self.kills_in_between} of them with files that were taken back, {len(self.files())} files")
        self.server.stop_in_order(self.server.process.terminate)
        if not self.kills_in_between:
            raise Fault("no kill came while a file was there whose rows were not gone: nothing was shown")

    def killed_while_archiving(self, age):
        """Kills the server just after it began a file. Returns whether it did begin one."""
        before = set(self.files("*.parquet*"))
        self.set_age(age)
        end = time.monotonic() + WRITES_SECONDS_MAX
        while not set(self.files("*.parquet*")) - before:
            if time.monotonic() > end:
                return False
            time.sleep(POLL_SECONDS)
        time.sleep(self.chance.uniform(0, KILLED_AFTER_SECONDS))
        self.server.kill()
        self.kills += 1
        left = set(self.files("*.parquet*"))
        self.start()
        self.server.wait_until_back()
        # An unfinished file is removed before anything else is written.
        self.kills_in_between += bool(left - set(self.files("*.parquet*")))
        return True

    def let_all_go(self, age):
        """Waits until all expired rows are gone from the table. Then each batch must be in one place, with all of its rows."""
        end = time.monotonic() + GONE_SECONDS_MAX
        while True:
            self.set_age(age)
            time.sleep(LOOK_SECONDS)
            in_table = self.totals(self.server, TABLE)
            late = [name for name in in_table if days_old(self.batches[name], time.time()) > age]
            if not late:
                break
            if time.monotonic() > end:
                raise Fault(f"{len(late)} batches are not archived in {GONE_SECONDS_MAX} s: {self.server.status()}")
        self.judge(in_table, self.read_back())

    def totals(self, server, table):
        """The rows of each batch in a table."""
        rows = whole(server, BY_BATCH.format(table=table)) if table in known_tables(server) else []
        return {name: totals for name, *totals in rows}

    def read_back(self):
        """The rows of each batch in all files of the archive, as another server reads them."""
        folder = self.folder / "reader"
        reader = started(self.options.program, folder, self.folder / "reader.log", ["--storage", "mmap"])
        try:
            command = [self.options.program, "import", "--server", f"http://{reader.address}", "--table", BACK, *self.files()]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise Fault(f"hadal import of {len(self.files())} files: {done.returncode} {done.stderr.strip()[-400:]}")
            found = self.totals(reader, BACK)
            reader.request("DELETE", f"/v1/tables/{BACK}")
            return found
        except Failed as failed:
            raise Fault(f"the files of the archive: {failed}") from None
        finally:
            reader.kill()

    def judge(self, in_table, archived):
        faults = []
        for batch in self.batches.values():
            found = [totals for place in (in_table, archived) for totals in [place.get(batch.name)] if totals]
            if found != [batch.totals]:
                places = f"table {in_table.get(batch.name)}, archive {archived.get(batch.name)}"
                faults.append(f"batch {batch.name}: {places} instead of {batch.totals} in one of them")
        if faults:
            raise Fault("; ".join(faults[:3]))

    def close(self):
        if self.server:
            self.server.process.kill()
            self.server.stop()
