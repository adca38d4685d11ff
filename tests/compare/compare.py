"""Random queries to Hadal and to DuckDB: every answer must be the same.

usage: compare.py PROGRAM [--queries N] [--seed FIRST]

The seed of a query is its number. `--seed S --queries 1` asks the same query of the same rows again.
"""

import argparse
import collections
import datetime
import http.client
import json
import math
import re
import subprocess
import sys
from decimal import Decimal

import duckdb

from differences import FAILURES, REFUSALS, explained_by, explained_cell
from queries import Queries
from rows import Table

# So many queries are about the same rows.
QUERIES_PER_TABLE = 100
# The largest relative difference of doubles, of variances, and of percentiles in larger groups.
DOUBLE, SPREAD, PERCENTILE = 1e-9, 1e-6, 0.0101
# Three standard errors of a HyperLogLog of 2^14 registers, which counts more values than these.
DISTINCT, DISTINCT_EXACT_MAX = 0.025, 1_024
# Sums of doubles in another order; the values are below 1e12.
DOUBLE_ABSOLUTE, SPREAD_ABSOLUTE = 1e-9, 1e-6
FAILURES_SHOWN = 5
# More failures of DuckDB, in percent, would mean that the generator compares little.
EXPLAINED_PERCENT_MAX = 5


class Server:
    """A server in memory, which ends with this program."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "serve", "--memory", "--listen", "127.0.0.1:0", "--pg-listen", "off"],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if address := re.search(r"http://([\d.]+:\d+)", line):
                self.connection = http.client.HTTPConnection(address[1])
                return
        sys.exit("the server ended before it told its address")

    def post(self, path, body):
        self.connection.request("POST", path, body)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read(), parse_float=Decimal)

    def load(self, table):
        status, receipt = self.post(f"/v1/log/{table.name}", table.json_lines())
        if status != 200 or receipt["accepted"] != len(table.rows):
            sys.exit(f"{table.name}: {status} {receipt}")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def plain(cell):
    """A cell of either side as None, a bool, a number, a text or a tuple."""
    if isinstance(cell, (list, tuple)):
        return tuple(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat()
    if isinstance(cell, str) and re.fullmatch(r"-?\d{4,}-\d\d-\d\dT[\d:.]+Z", cell):
        return datetime.datetime.fromisoformat(cell[:-1]).isoformat()
    return cell


def equal(column, ours, theirs, small):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    is_number = isinstance(theirs, (int, float, Decimal)) and not isinstance(theirs, bool)
    if not is_number or column.kind == "text":
        return ours == theirs
    # Numbers beyond 2^53 come as texts.
    ours = Decimal(ours)
    if isinstance(theirs, float) and not math.isfinite(theirs):
        return False
    if column.exact and not isinstance(theirs, float):
        # Beyond 38 digits, and for sums of the largest ids, Hadal has doubles.
        return ours == theirs or (abs(theirs) > 2**63 and math.isclose(ours, theirs, rel_tol=DOUBLE))
    tolerance, absolute = DOUBLE, DOUBLE_ABSOLUTE
    if column.kind == "spread":
        tolerance, absolute = SPREAD, SPREAD_ABSOLUTE
    if column.kind == "percentile" and not small:
        tolerance = PERCENTILE
    if column.kind == "distinct" and theirs > DISTINCT_EXACT_MAX:
        tolerance = DISTINCT
    return math.isclose(float(ours), float(theirs), rel_tol=tolerance, abs_tol=absolute)


def order_key(columns):
    def key(row):
        cells = [cell for cell, column in zip(row, columns) if column.exact]
        rest = [cell for cell, column in zip(row, columns) if not column.exact]
        return [sortable(cell) for cell in cells + rest]
    return key


def sortable(cell):
    if cell is None:
        return (1, 0, "")
    if isinstance(cell, (int, float, Decimal)):
        return (0, float(cell), "")
    return (0, 0, str(cell))


def difference(query, ours, theirs, small, rules):
    """The first difference of two answers in words; None if there is none."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB has {len(theirs)}"
    ours = [[number_of(plain(cell), column) for cell, column in zip(row, query.columns)] for row in ours]
    theirs = [[plain(cell) for cell in row] for row in theirs]
    if not query.ordered:
        ours.sort(key=order_key(query.columns))
        theirs.sort(key=order_key(query.columns))
    for index, (mine, their) in enumerate(zip(ours, theirs)):
        for column, a, b in zip(query.columns, mine, their):
            if equal(column, a, b, small):
                continue
            if rule := explained_cell(column, a, b):
                rules[rule] += 1
                continue
            return f"row {index}, {column.ours}: {a!r}, DuckDB has {b!r}"
    return None


def number_of(cell, column):
    """A number beyond 2^53 as a number."""
    is_number = column.kind in ("int", "id", "decimal", "double", "number", "percentile", "spread", "distinct")
    return Decimal(cell) if is_number and isinstance(cell, str) else cell


class Comparison:
    """The counts of a run."""

    def __init__(self, server):
        self.server = server
        self.rival = duckdb.connect()
        self.rival.execute("SET TimeZone = 'UTC'")
        self.rival.execute("SET threads = 1")
        self.rival.execute("SET order_by_non_integer_literal = true")
        self.rules = collections.Counter()
        self.equal = self.rows = 0
        self.different = []

    def ask(self, seed, table):
        query = Queries(seed, table).query()
        status, answer = self.server.post("/v1/query", json.dumps({"sql": query.ours}))
        try:
            theirs = self.rival.execute(query.theirs).fetchall()
        except duckdb.Error as error:
            if rule := explained_by(FAILURES, str(error)):
                self.rules[rule.name] += 1
                return
            return self.differs(seed, query, "an answer" if status == 200 else str(answer), str(error))
        if status != 200:
            if rule := explained_by(REFUSALS, answer["detail"]):
                self.rules[rule.name] += 1
                return
            return self.differs(seed, query, str(answer), theirs[:3])
        if problem := difference(query, answer["rows"], theirs, table.small and not table.sampled, self.rules):
            return self.differs(seed, query, problem, theirs[:3])
        self.equal += 1
        self.rows += len(theirs)

    def differs(self, seed, query, problem, theirs):
        self.different.append(seed)
        if len(self.different) <= FAILURES_SHOWN:
            print(f"seed {seed}: {problem}\n  Hadal:  {query.ours}\n  DuckDB: {query.theirs}\n  DuckDB's: {theirs}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    server = Server(options.program)
    comparison = Comparison(server)
    try:
        table = None
        for seed in range(options.seed, options.seed + options.queries):
            if table is None or table.name != f"t{seed // QUERIES_PER_TABLE}":
                table = Table(seed // QUERIES_PER_TABLE)
                server.load(table)
                table.load(comparison.rival)
            comparison.ask(seed, table)
    finally:
        server.stop()
    explained = sum(comparison.rules[rule.name] for rule in FAILURES + REFUSALS)
    print(f"seeds {options.seed} to {options.seed + options.queries - 1}: {comparison.equal} queries with "
          f"{comparison.rows} rows are equal, {explained} are explained, {len(comparison.different)} differ")
    for rule, count in comparison.rules.most_common():
        print(f"  {rule}: {count}")
    if comparison.different:
        print(f"seeds that differ: {comparison.different[:100]}")
    if explained * 100 > EXPLAINED_PERCENT_MAX * options.queries:
        sys.exit(f"DuckDB fails for more than {EXPLAINED_PERCENT_MAX} % of the queries")
    sys.exit(bool(comparison.different))


main()
