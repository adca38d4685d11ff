"""What must be true of a server's answers, after a life and over damaged files."""

import contextlib
import time

from model import Rows, grouped, judge_damaged
from processes import Failed
from servers import TOLD, Fault

BY_BATCH = "SELECT batch, count(*), sum(n), sum(x), min(n), max(n), count(m) FROM {table} GROUP BY batch LIMIT 100000"
BY_GROUP = "SELECT k, count(*), sum(x) FROM {table} GROUP BY k LIMIT 100"
# Rows shown at once are fewer than an answer may have.
ROWS_AT_ONCE = 50_000
# A scrub finds altered bytes in memory within a minute.
PATIENCE_SECONDS = 90
# Up to this number different values are counted exactly.
DISTINCT_EXACT = 1_000


def demand(faults):
    if faults:
        raise Fault("; ".join(faults[:3])[:2000])


def known_tables(server):
    return {table["name"] for table in server.get("/v1/tables")["tables"]}


def whole(server, sql):
    """The rows of an answer with full coverage."""
    answer = server.ask(sql, rows=True)
    if answer["covered"] != 1:
        raise Fault(f"only {answer['covered']:.4%} of the rows answer: {sql}: {answer['warnings']}")
    return answer["rows"]


def equals_model(server, model, chance):
    """Checks that each acknowledged row is stored once, each other batch completely or not at all, and all answers equal the model's."""
    status = server.wait_until_back()
    if status["lost_rows"] or status["damage"]:
        raise Fault(f"{status['lost_rows']} rows are lost, damage {status['damage']}")
    tables = known_tables(server)
    for table in sorted(tables | set(model.tables)):
        rows = whole(server, BY_BATCH.format(table=table)) if table in tables else []
        there, faults = model.judge_batches(table, rows)
        demand(faults)
        if there:
            same_groups(server, table, there)
            same_within(server, table, there, chance)
    server.check_alive()


def same(sql, rows, expected):
    if rows != expected:
        raise Fault(f"{sql} answers {rows} instead of {expected}"[:2000])


def same_groups(server, table, there):
    sql = BY_GROUP.format(table=table)
    same(sql, sorted(whole(server, sql)), grouped(there))


def same_within(server, table, there, chance):
    """The same queries over a range of numbers, and over the same range of times."""
    one = chance.choice(there)
    first = one.first + chance.randrange(one.count)
    end = first + chance.randrange(1, DISTINCT_EXACT)
    numbers = [number for batch in there for number in range(max(first, batch.first), min(end, batch.first + batch.count))]
    expected = [[len(numbers), len(set(numbers)), sum(numbers) if numbers else None]]
    select = f"SELECT count(*), count(DISTINCT n), sum(n) FROM {table} WHERE "
    times = [one.row(number)["time"] for number in (first, end)]
    for where in (f"n >= {first} AND n < {end}", "time >= {} AND time < {}".format(*map(quoted_time, times))):
        same(select + where, whole(server, select + where), expected)


def quoted_time(micros):
    seconds = time.gmtime(micros // 1_000_000)
    return f"'{time.strftime('%Y-%m-%dT%H:%M:%S', seconds)}.{micros % 1_000_000:06}Z'"


def shown(server, table, end):
    """All raw rows of a table, and whether all answers had full coverage."""
    rows, covered = [], 1
    for first in range(0, end, ROWS_AT_ONCE):
        sql = f"SELECT {', '.join(Rows.COLUMNS)} FROM {table} WHERE n >= {first} AND n < {first + ROWS_AT_ONCE} LIMIT 100000"
        answer = asked_of_the_rest(server, sql)
        rows += answer["rows"]
        covered = min(covered, answer["covered"])
    return rows, covered


def asked_of_the_rest(server, sql):
    """An answer over tables with lost blocks: if all blocks of a table are lost, its columns are unknown too."""
    try:
        return server.ask(sql, rows=True)
    except Failed as failed:
        if "has no column" in str(failed) and server.status()["lost_rows"]:
            return {"rows": [], "covered": 0}
        raise


def look(server, model, certain):
    """Reads all rows of a server over damaged files: none may differ from the sent ones, and those of `certain` are there.
    Returns the number of missing acknowledged rows, and whether the loss is reported."""
    server.wait_until_back()
    tables, missing, covered = known_tables(server), 0, 1
    for table in sorted(tables | set(model.tables)):
        batches = model.ever_sent(table)
        judge = Rows(batches)
        if table in tables:
            rows, at_most = shown(server, table, model.next_row)
            demand([f"{table}: {fault}" for fault in judge.judge(rows)])
            answer = asked_of_the_rest(server, BY_BATCH.format(table=table))
            demand([f"{table}: {fault}" for fault in judge_damaged(batches, answer["rows"])])
            covered = min(covered, at_most, answer["covered"])
        missing += judge.missing(model.acknowledged(table))
        if less := judge.missing(batch for batch in certain if batch.table == table):
            raise Fault(f"{table}: {less} rows are missing that were acknowledged since the damage")
    status = server.status()
    is_told = covered < 1 or status["lost_rows"] or status["damage"] or TOLD.search(server.said())
    server.check_alive()
    return missing, bool(is_told)


def nothing_wrong(server, model, may_lose, was_told, certain):
    """Checks a server over damaged files: no wrong values, and losses are reported, by this server or an earlier one. If nothing
    may be missing, all rows are there after a while; `certain` always is. Returns the number of missing rows, and whether a loss
    was reported."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        missing, is_told = look(server, model, certain)
        if missing and not is_told and not was_told:
            raise Fault(f"{missing} acknowledged rows are missing, and nothing tells that")
        if may_lose or not missing:
            return missing, is_told
        if time.monotonic() > end:
            raise Fault(f"{missing} acknowledged rows are missing after {PATIENCE_SECONDS} s, though the disk has them")


def drop(server, table):
    """Whether the table is gone: a full disk may have no room to record a drop."""
    with contextlib.suppress(Failed):
        server.request("DELETE", f"/v1/tables/{table}")
        return True
    return False
