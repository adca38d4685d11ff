"""kill -9 under ingest, again and again: what was acknowledged is there once, and the server starts."""

import http.client
import random
import threading
import time

from processes import Failed, Hadal, say

ROWS = 7
# Seconds from the first row of a life to its end.
LIFE = (0.005, 0.15)


class Producer(threading.Thread):
    """Logs short batches until the server is gone. The first one was in doubt at the end of the life before."""

    def __init__(self, address, first):
        super().__init__(daemon=True)
        self.address, self.next, self.refused = address, first, None

    def run(self):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        while True:
            body = "".join(f'{{"n": {self.next * ROWS + row}}}\n' for row in range(ROWS))
            try:
                connection.request("POST", "/v1/log/t", body, {"Hadal-Batch": f"batch-{self.next}"})
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                return
            if response.status != 200:
                self.refused = f"{response.status} {text[:300]}"
                return
            self.next += 1


def check(server, batches):
    """Checks that every row of these batches is stored once, and the next batch completely or not at all. Returns the fault."""
    if not batches:
        return None
    # Answers come before all rows are restored, and say so.
    while (answer := server.ask("SELECT count(*), sum(n), min(n), max(n) FROM t", rows=True))["covered"] < 1:
        pass
    row = answer["rows"][0]
    for count in (batches * ROWS, (batches + 1) * ROWS):
        if row == [count, count * (count - 1) // 2, 0, count - 1]:
            return None
    return f"of {batches} batches of {ROWS} rows there are {row}"


def measure(run):
    chance = random.Random(run.options.seed)
    folder, batches, failures = run.folder / "kills", 0, []
    start = time.perf_counter()
    for life in range(run.options.kills + 1):
        try:
            server = Hadal(run.options.program, folder, {}, run.log, options=("--no-journal",))
        except Failed as failed:
            failures.append(f"life {life}: {failed}")
            break
        if wrong := check(server, batches):
            failures.append(f"life {life}: {wrong}")
        if life == run.options.kills or failures:
            server.stop()
            break
        producer = Producer(server.address, batches)
        producer.start()
        time.sleep(chance.uniform(*LIFE))
        server.process.kill()
        server.stop()
        producer.join()
        batches = producer.next
        if producer.refused:
            failures.append(f"life {life}: {producer.refused}")
        if life % 100 == 99:
            say(f"{life + 1} kills, {batches:,} batches")
    minutes = (time.perf_counter() - start) / 60
    run.bars.judge(f"kill -9, {run.options.kills} times: faults", len(failures), 0, "; ".join(failures) or "none", most=True, unit="")
    print(f"- {life} kills in {minutes:.1f} minutes, {batches * ROWS:,} rows acknowledged (seed {run.options.seed})")
    return {"kills": life, "batches": batches, "failures": failures, "minutes": minutes}
