"""The model: which batches were sent, which were acknowledged, and what is wrong with an answer about them."""

import bisect
import threading

from batches import Batch

# The known outcome of a batch: refused each time or never sent; in doubt; acknowledged.
ABSENT, DOUBTFUL, ACKNOWLEDGED = "refused", "in doubt", "acknowledged"
# The number of faults reported; more would say the same.
TOLD = 3


class Model:
    """All batches of a scene, shared by all clients."""

    def __init__(self, start_micros):
        self.start_micros, self.next_row, self.next_batch = start_micros, 0, 0
        self.tables, self.state, self.bytes = {}, {}, 0
        # Batches of dropped tables: if the record of the drop is damaged, they may be back.
        self.dropped = []
        self.lock = threading.Lock()

    def new(self, table, count, width):
        """Returns a new batch to send."""
        with self.lock:
            batch = Batch(f"b{self.next_batch}", table, self.next_row, count, width, self.start_micros)
            self.next_row += count
            self.next_batch += 1
            self.bytes += count * (width + 100)
            self.tables.setdefault(table, {})[batch.name] = batch
            self.state[batch.name] = ABSENT
        return batch

    def note(self, batch, state):
        """Records the known outcome of a batch."""
        with self.lock:
            self.state[batch.name] = state

    def unacknowledged(self):
        """The batches to send again, in the order of their creation."""
        with self.lock:
            return [batch for batches in self.tables.values() for batch in batches.values() if self.state[batch.name] != ACKNOWLEDGED]

    def acknowledged(self, table):
        with self.lock:
            return [batch for batch in self.tables.get(table, {}).values() if self.state[batch.name] == ACKNOWLEDGED]

    def rows_acknowledged(self, table):
        return sum(batch.count for batch in self.acknowledged(table))

    def rows_sent(self, table):
        with self.lock:
            return sum(batch.count for batch in self.tables.get(table, {}).values())

    def forget(self, table):
        """The table was dropped."""
        with self.lock:
            batches = self.tables.pop(table, {}).values()
            self.dropped += batches
            for batch in batches:
                del self.state[batch.name]

    def take_back(self, batches):
        """Forgets batches that were sent to a copy which no longer exists."""
        with self.lock:
            for batch in batches:
                del self.tables[batch.table][batch.name]
                del self.state[batch.name]

    def ever_sent(self, table):
        """The batches of a table, and of earlier tables of this name."""
        return [*self.tables.get(table, {}).values(), *(batch for batch in self.dropped if batch.table == table)]

    def judge_batches(self, table, answer):
        """Judges rows [batch, *Batch.totals] of a complete answer. Returns the stored batches and the faults."""
        faults, there, batches = [], [], self.tables.get(table, {})
        for name, *totals in answer:
            batch = batches.get(name)
            if batch is None:
                faults.append(f"{table}: {totals[0]} rows of batch {name}, which was never sent to it")
                continue
            there.append(batch)
            if totals != batch.totals:
                faults.append(f"{table}: batch {name} ({self.state[name]}) has {totals} instead of {batch.totals}")
            elif self.state[name] == ABSENT:
                faults.append(f"{table}: batch {name} was refused, and is there")
        found = {batch.name for batch in there}
        missing = [name for name in batches if self.state[name] == ACKNOWLEDGED and name not in found]
        if missing:
            rows = sum(batches[name].count for name in missing)
            faults.append(f"{table}: {rows} acknowledged rows of {len(missing)} batches are missing: {missing[:TOLD]}")
        return there, faults


def grouped(batches):
    """[k, rows, sum of x] of all rows of these batches."""
    sums = {}
    for batch in batches:
        for group, (rows, total) in batch.groups.items():
            before = sums.get(group, (0, 0))
            sums[group] = (before[0] + rows, before[1] + total)
    return sorted([f"k{group}", rows, total] for group, (rows, total) in sums.items())


def judge_damaged(batches, answer):
    """Judges rows [batch, *Batch.totals] of which some may be missing: no surplus rows, and complete batches correct."""
    faults, of_name = [], {batch.name: batch for batch in batches}
    for name, *totals in answer:
        batch = of_name.get(name)
        if batch is None:
            faults.append(f"{totals[0]} rows of batch {name}, which was never sent")
        elif totals[0] > batch.count or (totals[0] == batch.count and totals != batch.totals):
            faults.append(f"batch {name} has {totals} instead of {batch.totals}")
        elif totals[3] < batch.first or totals[4] >= batch.first + batch.count:
            faults.append(f"batch {name} has the numbers {totals[3]} to {totals[4]}, of {batch.totals}")
    return faults


class Rows:
    """Judges raw rows."""

    COLUMNS = ("n", "x", "k", "s", "batch", "m")

    def __init__(self, batches):
        self.batches = sorted(batches, key=lambda batch: batch.first)
        self.firsts = [batch.first for batch in self.batches]
        self.seen = set()

    def judge(self, shown):
        faults = []
        for values in shown:
            row = dict(zip(self.COLUMNS, values))
            number = row["n"]
            at = bisect.bisect_right(self.firsts, number) - 1 if isinstance(number, int) else -1
            batch = self.batches[at] if at >= 0 else None
            if batch is None or number >= batch.first + batch.count:
                faults.append(f"a row that was never sent: {row}")
                continue
            expected = {"m": None} | batch.row(number)
            if any(row[name] != expected[name] for name in self.COLUMNS):
                faults.append(f"a row with other values: {row} instead of {expected}")
            elif number in self.seen:
                faults.append(f"a row twice: {row}")
            self.seen.add(number)
        return faults

    def missing(self, batches):
        """The number of these rows that were not shown."""
        return sum(number not in self.seen for batch in batches for number in range(batch.first, batch.first + batch.count))
