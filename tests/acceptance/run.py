"""Real data through the program, and every answer held against DuckDB's in the same run.

usage: run.py PROGRAM FOLDER   where FOLDER has flights-3m.parquet, flights.csv, earthquakes.json
"""

import datetime
import decimal
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import duckdb

from questions import FLIGHTS, NYC, QUAKES

ROUNDS = 7
EXACT = 1e-9

IMPORTS = {
    "flights": ["flights-3m.parquet"],
    "nyc": ["flights.csv"],
    "quakes": ["earthquakes.json", "--split", "types=,", "--split", "sources=,", "--sets", "types,sources"],
}


class Server:
    """A server with a new data folder; it ends with the program."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--data", self.folder.name],
            stdout=subprocess.PIPE, text=True)
        self.url = read_url(self.process)

    def load(self, table, arguments):
        command = [self.program, "import", "--table", table, "--server", self.url, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout + done.stderr, end="")
        done.check_returncode()

    def ask(self, sql):
        return ask(self.url, sql)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def read_url(process):
    for line in process.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    sys.exit("the server ended before it told its address")


def ask(url, sql):
    """The answer and its milliseconds."""
    start = time.perf_counter()
    request = urllib.request.Request(f"{url}/v1/query", json.dumps({"sql": sql}).encode())
    try:
        with urllib.request.urlopen(request) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        sys.exit(f"{sql}\n{error.read().decode()}")
    return answer, (time.perf_counter() - start) * 1000


def plain(cell):
    """A cell of either side as a number, a text, a sorted list, or None."""
    if isinstance(cell, (list, tuple)):
        return sorted(map(str, cell))
    if isinstance(cell, datetime.datetime):
        return cell.replace(tzinfo=None).isoformat()
    if isinstance(cell, datetime.date):
        return f"{cell.isoformat()}T00:00:00"
    if isinstance(cell, decimal.Decimal):
        return float(cell)
    if isinstance(cell, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", cell):
        return datetime.datetime.fromisoformat(cell[:-1]).isoformat()
    return cell


def equal(ours, theirs, tolerance):
    ours, theirs = plain(ours), plain(theirs)
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float, str)):
        try:
            return math.isclose(float(ours), float(theirs), rel_tol=tolerance, abs_tol=1e-12)
        except ValueError:
            return False
    return ours == theirs


def difference(ours, theirs, tolerances):
    """The first difference of two answers, in words; None if there is none."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB has {len(theirs)}"
    for row, (mine, their) in enumerate(zip(ours, theirs)):
        if len(mine) != len(their):
            return f"{len(mine)} columns, DuckDB has {len(their)}"
        for column, (a, b) in enumerate(zip(mine, their)):
            if not equal(a, b, tolerances.get(column, EXACT)):
                return f"row {row}, column {column}: {a!r}, DuckDB has {b!r}"
    return None


def prepare(folder):
    rival = duckdb.connect()
    rival.execute("SET TimeZone = 'UTC'")
    rival.execute(f"CREATE TABLE flights AS FROM '{folder}/flights-3m.parquet'")
    # NA is a missing number; in a column of texts it is an ordinary text.
    rival.execute(f"""
        CREATE TABLE nyc AS SELECT * REPLACE (
            time_hour::TIMESTAMP AS time_hour, coalesce(tailnum, 'NA') AS tailnum)
        FROM read_csv('{folder}/flights.csv', nullstr = 'NA')""")
    rival.execute(f"""
        CREATE TABLE quakes AS SELECT p.* REPLACE (
            make_timestamp(p.time * 1000) AS time,
            list_distinct(list_filter(string_split(p.types, ','), lambda x: x <> '')) AS types,
            list_distinct(list_filter(string_split(p.sources, ','), lambda x: x <> '')) AS sources)
        FROM (SELECT unnest(features).properties AS p
              FROM read_json('{folder}/earthquakes.json', maximum_object_size = 100000000, sample_size = -1))""")
    return rival


def check(server, rival, name, questions):
    """Runs all questions of a data set. Returns the number of equal answers and of different ones."""
    good = bad = 0
    print(f"\n{name:<50} {'Hadal':>18} {'DuckDB':>10}")
    for words, sql, other, tolerances in questions:
        answers = [server.ask(sql) for _ in range(ROUNDS)]
        took = [milliseconds for _, milliseconds in answers]
        start = time.perf_counter()
        theirs = rival.execute(other or sql).fetchall()
        their_time = (time.perf_counter() - start) * 1000
        ours = answers[0][0]
        wrong = difference(ours["rows"], theirs, tolerances)
        if ours["coverage"]["fraction"] != 1:
            wrong = f"coverage {ours['coverage']}"
        median = f"{statistics.median(took):.1f} ({min(took):.1f}-{max(took):.1f}) ms"
        print(f"{words:<44} {median:>24} {their_time:>7.1f} ms  {wrong or 'equal'}")
        if wrong:
            print(f"FAILED  {name}: {words}")
        good, bad = good + (wrong is None), bad + (wrong is not None)
    return good, bad


def open_has_all_rows(program, file):
    """Checks that `hadal open FILE` answers over all rows. `make bench` measures how fast."""
    process = subprocess.Popen([program, "open", str(file), "--no-browser"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        url = read_url(process)
        count = 0
        while count < 3_000_000:
            tables = json.load(urllib.request.urlopen(f"{url}/v1/tables"))["tables"]
            if tables:
                count = ask(url, f'SELECT count(*) FROM "{tables[0]["name"]}"')[0]["rows"][0][0]
        print(f"hadal open {file.name}: {count} rows")
    finally:
        process.terminate()
        process.wait()


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    open_has_all_rows(program, folder / "flights-3m.parquet")
    server = Server(program)
    good = bad = 0
    try:
        for table, (file, *options) in IMPORTS.items():
            server.load(table, [str(folder / file), *options])
        rival = prepare(folder)
        for name, questions in (("flights", FLIGHTS), ("nyc", NYC), ("quakes", QUAKES)):
            more_good, more_bad = check(server, rival, name, questions)
            good, bad = good + more_good, bad + more_bad
    finally:
        server.stop()
    print(f"\ntest result: {good} passed; {bad} failed;")
    sys.exit(bad > 0)


main()
