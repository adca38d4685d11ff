"""Those who send and those who ask, while the server comes and goes."""

import http.client
import json
import threading
import time

from model import ABSENT, ACKNOWLEDGED, DOUBTFUL
from processes import Failed

# The tables that get rows, mostly the first one.
TABLES = ("t", "t", "u")
# Statuses that say that nothing of a batch was accepted.
NOT_NOW = (429, 503)
# The pause after such an answer.
PAUSE_SECONDS = 0.02


class Connection:
    """Sends batches to a server, or to its successor."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def send(self, batch):
        """Status and text of the answer; `None` if the outcome is unknown."""
        headers = {"Hadal-Batch": batch.name, "Content-Type": "application/x-ndjson"}
        try:
            self.connection.request("POST", f"/v1/log/{batch.table}", batch.body(), headers)
            response = self.connection.getresponse()
            return response.status, response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return None


def learned(before, batch, answer):
    """The known outcome of a batch after an answer, from the outcome known before; and the fault of the answer."""
    if answer is None:
        return (ACKNOWLEDGED if before == ACKNOWLEDGED else DOUBTFUL), None
    status, text = answer
    said = f"batch {batch.name} of {batch.count} rows ({before}): {status} {text[:300]}"
    if status in NOT_NOW:
        return before, (said if json.loads(text).get("accepted") else None)
    if status != 200:
        return before, said
    told = json.loads(text)
    is_wrong = (told["accepted"] != batch.count or told["rejected_count"] or (before == ACKNOWLEDGED and not told["duplicate"])
                or (before == ABSENT and told["duplicate"]))
    return ACKNOWLEDGED, (said if is_wrong else None)


def send(model, connection, batch):
    """Sends a batch once and records its outcome. Returns the answer and its fault."""
    before = model.state[batch.name]
    if before == ABSENT:
        model.note(batch, DOUBTFUL)
    answer = connection.send(batch)
    after, fault = learned(before, batch, answer)
    model.note(batch, after)
    return answer, fault


class Ingest:
    """Clients that send batch after batch, each until it is acknowledged, and one that runs queries, until they are stopped."""

    def __init__(self, model, address, chances, plan):
        self.model, self.address, self.plan = model, address, plan
        self.over, self.lock = threading.Event(), threading.Lock()
        self.faults, self.taken, self.refused, self.unheard, self.asked = [], 0, 0, 0, 0
        # Each batch is sent by one client at a time.
        self.again = model.unacknowledged()
        self.threads = [threading.Thread(target=self.produce, args=(chance,), daemon=True) for chance in chances]

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        """Begins no more requests. Returns once none is running."""
        self.over.set()
        for thread in self.threads:
            thread.join()

    def next(self, chance):
        with self.lock:
            if self.again:
                return self.again.pop(0)
        table = chance.choice(TABLES)
        # The same id again adds nothing.
        if chance.random() < 0.05 and (known := self.model.acknowledged(table)):
            return chance.choice(known)
        if self.model.bytes > self.plan.bytes_max:
            return None
        return self.model.new(table, chance.choice(self.plan.batch_rows), self.plan.width)

    def produce(self, chance):
        connection = Connection(self.address)
        while not self.over.is_set():
            batch = self.next(chance)
            if batch and chance.random() < 0.03:
                self.send_twice(connection, batch)
            # None when enough bytes were sent.
            while batch and not self.over.is_set():
                answer, fault = send(self.model, connection, batch)
                if fault:
                    self.faults.append(fault)
                if fault or (answer and answer[0] == 200):
                    self.taken += not fault
                    break
                self.unheard += answer is None
                self.refused += answer is not None
                self.over.wait(PAUSE_SECONDS)
            if not batch:
                self.over.wait(PAUSE_SECONDS)

    def send_twice(self, connection, batch):
        """Sends a batch on two connections at the same moment, in unknown order of arrival."""
        if self.model.state[batch.name] == ABSENT:
            self.model.note(batch, DOUBTFUL)
        other = threading.Thread(target=Connection(self.address).send, args=(batch,))
        other.start()
        connection.send(batch)
        other.join()

    def watch(self, server):
        """Queries all rows of a table once: the acknowledged ones are there, and none that were not sent."""
        least = self.model.rows_acknowledged("t")
        try:
            answer = server.ask("SELECT count(*) FROM t", rows=True)
        except (Failed, OSError):
            # A server that stops or is killed does not answer, and before the first batch there is
            # no table.
            return
        count, most = answer["rows"][0][0], self.model.rows_sent("t")
        self.asked += 1
        if answer["covered"] == 1 and not least <= count <= most:
            self.faults.append(f"asked meanwhile, t has {count} rows, of {least} acknowledged and {most} sent")


def send_all(model, address, seconds):
    """Sends unacknowledged batches again until they are acknowledged. Returns the faults."""
    connection, end = Connection(address), time.monotonic() + seconds
    for batch in model.unacknowledged():
        while True:
            answer, fault = send(model, connection, batch)
            if fault:
                return fault
            if answer and answer[0] == 200:
                break
            if time.monotonic() > end:
                return f"batch {batch.name} of {batch.count} rows is not taken within {seconds} s: {answer}"
            time.sleep(PAUSE_SECONDS)
    return None
