"""Producers and questioners of a cluster. Producers note what was acknowledged; questioners compare answers with it."""

import json
import random
import threading
import time
import urllib.error
import urllib.request

DEADLINE_MS = 2_000
# How far an answer may be behind its deadline on a machine that many processes share, in seconds.
LATE = 0.05


def decode(body):
    """The JSON of a body; None for any other text."""
    try:
        return json.loads(body)
    except ValueError:
        return None


class Client:
    """Sends requests to doors, with the admin token if there is one."""

    def __init__(self, token=None):
        self.token = token

    def send(self, url, path, body=None, headers=(), timeout=3.0):
        """Returns the status and the JSON of the response; None for both when there is none."""
        request = urllib.request.Request(url + path, data=body, headers=dict(headers))
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.status, decode(response.read())
        except urllib.error.HTTPError as error:
            return error.code, decode(error.read())
        except OSError:
            return None, None

    def query(self, url, sql, deadline_ms=DEADLINE_MS):
        body = json.dumps({"sql": sql, "deadline_ms": deadline_ms}).encode()
        return self.send(url, "/v1/query", body, [("Content-Type", "application/json")], deadline_ms / 1000 + 5)


class Producer(threading.Thread):
    """Sends batches of numbered rows through changing doors, each until it is acknowledged."""

    def __init__(self, number, client, hosts, seed, rows=200, pause=0):
        super().__init__(daemon=True)
        self.number, self.client, self.hosts, self.rows, self.pause = number, client, hosts, rows, pause
        self.random = random.Random(f"{seed} {number}")
        self.acknowledged, self.under_way, self.stopping, self.tries = 0, 0, False, 0

    def run(self):
        batch = 0
        while not self.stopping:
            first = batch * self.rows
            lines = "".join(f'{{"producer": {self.number}, "n": {first + row}}}\n' for row in range(self.rows))
            headers = [("Hadal-Batch", f"p{self.number}-{batch}"), ("Content-Type", "application/x-ndjson")]
            self.under_way = self.rows
            while True:
                self.tries += 1
                url = self.random.choice(self.hosts).url
                status, receipt = self.client.send(url, "/v1/log/load", lines.encode(), headers)
                if status == 200:
                    break
                if status not in (None, 429, 503, 504):
                    raise AssertionError(f"producer {self.number}: {status} {receipt}")
                time.sleep(0.1)
            self.acknowledged += self.rows
            self.under_way = 0
            batch += 1
            time.sleep(self.pause)


class Questioner(threading.Thread):
    """Asks the door of a host for all rows again and again, and checks deadlines and coverage.

    A door that is cut off cannot know what others acknowledge meanwhile: it must say that its coverage is an upper bound.
    """

    def __init__(self, client, host, producers):
        super().__init__(daemon=True)
        self.client, self.host, self.producers, self.stopping = client, host, producers, False
        self.answers, self.unanswered, self.faults, self.fractions, self.times = 0, 0, [], [], []

    def run(self):
        while not self.stopping:
            before = sum(producer.acknowledged for producer in self.producers)
            is_cut_off, is_frozen, freezes = self.host.is_cut_off, self.host.is_frozen, self.host.freezes
            start = time.monotonic()
            status, answer = self.client.query(self.host.url, "SELECT count(*) FROM load")
            took = time.monotonic() - start
            was_frozen = is_frozen or self.host.freezes != freezes
            if status != 200:
                self.unanswered += 1
                time.sleep(0.05)
                continue
            self.answers += 1
            self.times.append(took)
            if took > DEADLINE_MS / 1000 + LATE and not was_frozen:
                self.faults.append(f"an answer took {took:.3f} s")
            after = sum(producer.acknowledged + producer.under_way for producer in self.producers)
            rows, fraction = answer["rows"][0][0] or 0, answer["coverage"]["fraction"]
            self.fractions.append((time.monotonic(), fraction))
            if rows > after:
                self.faults.append(f"{rows} rows of at most {after}")
            is_bound = is_cut_off and answer["coverage"]["fraction_is_upper_bound"]
            if before and fraction > rows / before + 0.005 and not is_bound:
                self.faults.append(f"coverage {fraction:.4f}, but {rows} of {before} acknowledged rows")
