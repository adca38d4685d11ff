"""Logs events from a thread of its own, in batches.

A batch has an id, and is sent again with the same id and the same bytes until the server answers, so
each event counts once. Memory is bounded: events that find no room are dropped and counted.
"""

import atexit
import collections
import datetime
import http.client
import json
import random
import threading
import time
import urllib.parse
import uuid
import weakref

from hadal.transport import Error

# Columns that the server takes for an event's time, if it has one of them.
TIMES = frozenset(
    "time @timestamp timestamp ts _time datetime date eventTime event_time created_at t".split()
)
# Answers after which the same batch may be accepted.
RETRIED = frozenset((408, 429, 500, 502, 503, 504))


class EventLog:
    """`queue_events` and `queue_bytes` bound what waits; `batch_events` and `batch_bytes` bound a
    request; `linger` is how long an event may wait for others, `retry` how long a batch is sent
    again, both in seconds."""

    def __init__(
        self,
        transport,
        queue_events=100_000,
        queue_bytes=64 << 20,
        batch_events=10_000,
        batch_bytes=4 << 20,
        linger=0.2,
        retry=60,
    ):
        self._transport = transport
        self._queue_events = queue_events
        self._queue_bytes = queue_bytes
        self._batch_events = batch_events
        self._batch_bytes = batch_bytes
        self._linger = linger
        self._retry = retry
        self._changed = threading.Condition()
        # Pairs of a table and a line, in the order in which they were logged.
        self._queue = collections.deque()
        self._bytes = 0
        self._logged = 0
        self._settled = 0
        # Until all of these are settled, nothing lingers.
        self._hurry = 0
        self._is_closing = False
        self._thread = None
        self.dropped = 0
        self.rejected = 0
        self.last_error = None

    def log(self, table, event, sample_rate=1):
        if sample_rate != 1:
            if sample_rate < 1:
                raise ValueError(f"sample_rate is {sample_rate}; it is 1 or more")
            if random.random() * sample_rate >= 1:
                return True
            event = {**event, "sample_rate": sample_rate}
        if TIMES.isdisjoint(event):
            event = {"time": datetime.datetime.now(datetime.timezone.utc), **event}
        line = json.dumps(event, default=_plain, separators=(",", ":")).encode()
        with self._changed:
            is_full = (
                len(self._queue) >= self._queue_events
                or self._bytes + len(line) > self._queue_bytes
            )
            if is_full or self._is_closing:
                self.dropped += 1
                return False
            self._queue.append((table, line))
            self._bytes += len(line)
            self._logged += 1
            if self._thread is None:
                self._start()
            elif len(self._queue) in (1, self._batch_events):
                self._changed.notify_all()
        return True

    def _start(self):
        self._thread = threading.Thread(target=self._run, name="hadal-log", daemon=True)
        self._thread.start()
        log = weakref.ref(self)
        atexit.register(lambda: log() and log().close(10))

    def flush(self, timeout=None):
        with self._changed:
            until = self._logged
            self._hurry = max(self._hurry, until)
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._settled >= until, timeout)

    def close(self, timeout=10):
        is_done = self.flush(timeout)
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        return is_done

    def _run(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._is_closing)
                if not self._queue:
                    return
                is_due = lambda: (
                    len(self._queue) >= self._batch_events
                    or self._bytes >= self._batch_bytes
                    or self._hurry > self._settled
                    or self._is_closing
                )
                self._changed.wait_for(is_due, self._linger)
                events = self._take()
            for table, lines in events.items():
                is_taken = self._send(table, lines)
                with self._changed:
                    self.dropped += 0 if is_taken else len(lines)
                    self._settled += len(lines)
                    self._changed.notify_all()

    def _take(self):
        """The lines of the next requests, by table."""
        events, count, size = {}, 0, 0
        while self._queue and count < self._batch_events and size < self._batch_bytes:
            table, line = self._queue.popleft()
            events.setdefault(table, []).append(line)
            count, size = count + 1, size + len(line)
        self._bytes -= size
        return events

    def _send(self, table, lines):
        """Sends one batch until the server answers; returns whether it was taken."""
        path = "/v1/log/" + urllib.parse.quote(table, safe="")
        headers = {"Hadal-Batch": uuid.uuid4().hex, "Content-Type": "application/x-ndjson"}
        body = b"\n".join(lines) + b"\n"
        give_up = time.monotonic() + self._retry
        pause = 0.05
        while True:
            try:
                with self._transport.send("POST", path, body, headers) as response:
                    receipt = json.loads(response.read())
                self.rejected += receipt.get("rejected_count", 0)
                return True
            except Error as error:
                self.last_error = error
                if error.status not in RETRIED:
                    return False
            except (http.client.HTTPException, OSError, ValueError) as error:
                self.last_error = error
                self._transport.close()
            with self._changed:
                left = give_up - time.monotonic()
                if left <= 0 or self._is_closing:
                    return False
                self._changed.wait_for(lambda: self._is_closing, min(pause, left))
            pause = min(2 * pause * random.uniform(0.75, 1), 5)


def _plain(value):
    """Values that JSON has no place for."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted(str(element) for element in value)}
    return str(value)
