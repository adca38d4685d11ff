"""Random rows, as JSON lines for Hadal and as a table for DuckDB, all from a seed."""

import datetime
import json
import random
from decimal import Decimal

EPOCH = datetime.datetime(1970, 1, 1)
# The name of a column, its type in expressions, and its type in DuckDB.
COLUMNS = [
    ("time", "time", "TIMESTAMP"),
    ("service", "text", "VARCHAR"),
    ("path", "text", "VARCHAR"),
    ("host", "text", "VARCHAR"),
    ("digits", "text", "VARCHAR"),
    ("started", "text", "VARCHAR"),
    ("status", "int", "HUGEINT"),
    ("bytes", "int", "HUGEINT"),
    ("change", "int", "HUGEINT"),
    ("price", "decimal", "DECIMAL(18,2)"),
    ("latency", "double", "DOUBLE"),
    ("id", "id", "HUGEINT"),
    ("ok", "bool", "BOOLEAN"),
    ("tags", "set", "VARCHAR[]"),
]
TAGS = ["beta", "eu", "us", "slow", "new"]
SERVICES = ["web", "api", "Auth", "search", "données", "ÄPFEL", "", "a b"]
PATHS = ["/", "/home", "/a%b", "/it's", "/x_y", "/Home/é", "/a,b,c", "/user/17", "/user/4711/edit", "  /pad "]
DIGITS = ["12", "-7", "3.5", "0", "abc", "", "1e3", "007"]
# Clocks in Berlin are changed at 01:00 UTC on 29 March 2026, in New York at 07:00 on 8 March.
DENSE_FROM = datetime.datetime(2026, 3, 27)
DENSE_SECONDS = 3 * 86_400
WIDE_FROM = datetime.datetime(2025, 10, 1)
WIDE_SECONDS = 400 * 86_400
RATES = [None, None, 1, 2, 5, 10, 50]


class Table:
    """The rows of a seed: their name, cells, and whether they are sampled."""

    def __init__(self, seed):
        draw = random.Random(seed * 2 + 1)
        self.name = f"t{seed}"
        self.sampled = seed % 3 != 0
        # Percentiles are exact in groups of up to 256 rows.
        self.small = draw.random() < 0.4
        count = draw.randint(1, 250) if self.small else draw.randint(300, 3000)
        self.rows = [make_row(draw) for _ in range(count)]
        times = unique_times(draw, count)
        for row, time in zip(self.rows, times):
            row["time"] = time
            row["sample_rate"] = draw.choice(RATES) if self.sampled else None
        self.fill_columns(draw)

    def fill_columns(self, draw):
        """Gives a value to each column without one: Hadal has no such columns."""
        for name in [name for name, _, _ in COLUMNS if all(row[name] is None for row in self.rows)]:
            row = draw.choice(self.rows)
            while row[name] is None:
                row[name] = make_row(draw)[name]

    def json_lines(self):
        return "".join(json_line(row) + "\n" for row in self.rows).encode()

    def load(self, connection):
        """Creates two relations: the rows, and as `…_events` each row as often as its sample_rate says.

        `copy` numbers the copies of a row.
        """
        types = ", ".join(f'"{name}" {kind}' for name, _, kind in COLUMNS)
        connection.execute(f"CREATE OR REPLACE TABLE {self.name} ({types}, sample_rate BIGINT)")
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        cells = [[*(row[name] for name, _, _ in COLUMNS), row["sample_rate"]] for row in self.rows]
        connection.executemany(f"INSERT INTO {self.name} VALUES ({marks})", cells)
        connection.execute(f"""CREATE OR REPLACE TABLE {self.name}_events AS
            SELECT t.*, unnest(range(coalesce(sample_rate, 1))) AS copy FROM {self.name} AS t""")


def unique_times(draw, count):
    times = {}
    while len(times) < count:
        dense = draw.random() < 0.6
        start, seconds = (DENSE_FROM, DENSE_SECONDS) if dense else (WIDE_FROM, WIDE_SECONDS)
        micros = draw.choice([0, 0, 500_000, draw.randrange(1_000_000)])
        times[start + datetime.timedelta(seconds=draw.randrange(seconds), microseconds=micros)] = None
    return list(times)


def make_row(draw):
    def maybe(value, percent=8):
        return None if draw.randrange(100) < percent else value

    service = draw.choice(SERVICES)
    return {
        "service": maybe(service),
        "path": maybe(draw.choice(PATHS)),
        "host": maybe(f"host-{draw.randrange(30):03}"),
        "digits": maybe(draw.choice(DIGITS), 20),
        "started": maybe((WIDE_FROM + datetime.timedelta(seconds=draw.randrange(WIDE_SECONDS))).isoformat()),
        "status": maybe(draw.choice([200, 200, 200, 204, 301, 404, 500, 503])),
        "bytes": maybe(draw.choice([0, 1, draw.randrange(5_000), draw.randrange(10**12)])),
        "change": maybe(draw.randint(-20, 20), 15),
        "price": maybe(Decimal(draw.randint(-50_000, 50_000)) / 100),
        "latency": maybe(draw.random() * 10 ** draw.randint(0, 3)),
        "id": maybe(draw.choice([draw.randrange(2**63, 2**64), 2**53 + draw.randrange(9), draw.randrange(100)])),
        "ok": maybe(draw.random() < 0.7),
        "tags": maybe(sorted(draw.sample(TAGS, draw.randrange(4))), 20),
    }


def json_line(row):
    cells = {}
    for name, value in row.items():
        if value is None:
            continue
        if name == "tags":
            value = {"$set": value}
        elif isinstance(value, datetime.datetime):
            value = value.isoformat() + "Z"
        elif isinstance(value, Decimal):
            value = float(value)
        cells[name] = value
    return json.dumps(cells)
