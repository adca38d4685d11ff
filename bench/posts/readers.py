"""One cluster, read by several parallel readers: how the post's tool scans.

A coordinator hands out parts of the table, each a few sensors and days. Every reader asks a front door of its own for the
totals of one part after the other, and the coordinator adds them up. The post's readers are machines; these are threads.
"""

import concurrent.futures
import decimal
import itertools
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
sys.path.append(str(HERE.parent / "cluster"))
from loopback import Cluster  # noqa: E402
from plot import Line, draw  # noqa: E402

READERS = (1, 2, 4, 8, 16)
DAY = 24 * 60 * 60
# A part has at most so many sensors and days; the post's parts have 25,000 days of sensors.
SENSORS, DAYS = 25, 31
TOTALS = "count(*), sum(temperature), min(temperature), max(temperature)"


def parts(sensors, first, end):
    """Ranges of sensors and of seconds that together are the scan."""
    return list(itertools.product(
        [(start, min(start + SENSORS, sensors + 1)) for start in range(1, sensors + 1, SENSORS)],
        [(start, min(start + DAYS * DAY, end)) for start in range(first, end, DAYS * DAY)]))


def sql_of(table, part, without):
    (low, high), (first, end) = part
    sql = (f"SELECT {TOTALS} FROM {table} WHERE sensor_id >= {low} AND sensor_id < {high}"
           f" AND time >= {first} AND time < {end}")
    return sql if without is None else f"{sql} AND sensor_id <> {without}"


def add(totals):
    """The totals of all parts: rows, sum, least, greatest. Sums are added as decimals, as they were told."""
    there = [one for one in totals if one[0]]
    return [sum(one[0] for one in there), float(sum(decimal.Decimal(str(one[1])) for one in there)),
            min(one[2] for one in there), max(one[3] for one in there)]


def scan(doors, queries, readers):
    """Reads all parts; returns their totals and the seconds that it took."""
    def read(door, mine):
        return [door.ask(sql)["rows"][0] for sql in iter(lambda: next(mine, None), None)]

    waiting = iter(queries)
    # Taking the next part of an iterator over a list is one step for Python's threads.
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(readers) as threads:
        running = [threads.submit(read, doors[number % len(doors)], waiting) for number in range(readers)]
        totals = [one for reader in running for one in reader.result()]
    return add(totals), time.monotonic() - start


def measure(program, root, load, table, scans, sensors, rounds):
    """Loads a cluster of three machines of two leaves, and reads each scan with 1 to 16 readers.

    `scans` has (name, first second, end, excluded sensor, right totals). Returns lines of results.
    """
    cluster = Cluster(program, root, 3, 2, network=78)
    try:
        load(cluster.doors[0].url)
        lines = []
        for (name, first, end, without, wanted), readers in itertools.product(scans, READERS):
            queries = [sql_of(table, part, without) for part in parts(sensors, first, end)]
            took = []
            for _ in range(rounds):
                totals, seconds = scan(cluster.doors, queries, readers)
                if any(abs(one - right) > 1e-6 * abs(right) for one, right in zip(totals, wanted)):
                    raise AssertionError(f"{name}, {readers} readers: {totals} instead of {wanted}")
                took.append(seconds)
            rates = sorted(wanted[0] / seconds for seconds in took)
            lines.append({"scan": name, "readers": readers, "parts": len(queries), "rows": wanted[0],
                          "rows_per_s": rates[len(rates) // 2], "least": rates[0], "most": rates[-1]})
        return lines
    finally:
        cluster.stop()


def picture(lines):
    """Million rows per second by the number of readers."""
    names = list(dict.fromkeys(line["scan"] for line in lines))
    drawn = [Line(name, [(line["readers"], *(line[key] / 1e6 for key in ("rows_per_s", "least", "most")))
                         for line in lines if line["scan"] == name]) for name in names]
    return draw("Parallel readers of one cluster, 3 x 2 leaves", "readers", "million rows per second", drawn, READERS, x_log=True)
