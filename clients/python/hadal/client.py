"""A connection to a server."""

import json

from hadal.answer import ARROW, Batches, of_json
from hadal.event_log import EventLog
from hadal.transport import Transport


def connect(url, token=None, timeout=600, **log_options):
    """A client of the server at this URL. `timeout` is in seconds. The options of the log are those
    of `hadal.event_log.EventLog`."""
    return Client(url, token, timeout, log_options)


class Client:
    """Logs events and queries them. May be used by several threads."""

    def __init__(self, url, token=None, timeout=600, log_options=None):
        self._transport = Transport(url, token, timeout)
        self._log = EventLog(Transport(url, token, timeout), **(log_options or {}))

    def log(self, table, event, sample_rate=1):
        """Logs one event, a dict. Never waits: a thread sends events in batches, and events that
        find the queue full are dropped and counted (`dropped`). With a `sample_rate` of n, one of n
        events is logged, at random, and counts as n. Returns whether the event will be sent; one
        that sampling leaves out counts as sent."""
        return self._log.log(table, event, sample_rate)

    def flush(self, timeout=None):
        """Waits until all events that were logged before are accepted or given up. Returns whether
        that happened within `timeout` seconds."""
        return self._log.flush(timeout)

    def close(self, timeout=10):
        """Sends what is left, for at most `timeout` seconds. Returns whether all was sent in time."""
        is_done = self._log.close(timeout)
        self._transport.close()
        return is_done

    @property
    def dropped(self):
        """Events that were not sent: the queue was full, or the server did not take them in time."""
        return self._log.dropped

    @property
    def rejected(self):
        """Events that the server refused one by one; its table `_rejects` has the reasons."""
        return self._log.rejected

    @property
    def last_error(self):
        """The last exception of the thread that sends events, or None."""
        return self._log.last_error

    def query(self, sql, deadline_ms=None):
        """The answer to one statement. With pyarrow, it may have 10,000,000 rows if these are in the
        order of time and LIMIT asks for them; without, 100,000."""
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            with self._ask("application/json", sql, deadline_ms) as response:
                return of_json(response.read())
        return self.batches(sql, deadline_ms).answer()

    def batches(self, sql, deadline_ms=None):
        """The record batches of an answer, one by one: an answer of any length in little memory.
        Needs pyarrow."""
        return Batches(self._ask(ARROW, sql, deadline_ms))

    def _ask(self, accept, sql, deadline_ms):
        body = {"sql": sql}
        if deadline_ms is not None:
            body["deadline_ms"] = deadline_ms
        headers = {"Accept": accept, "Content-Type": "application/json"}
        return self._transport.send("POST", "/v1/query", json.dumps(body).encode(), headers)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()
