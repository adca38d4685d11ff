"""Hadal beside "How Scylla Scaled to One Billion Rows a Second" (ScyllaDB, 2019): its three scans, rows per second.

Sensors tell their temperatures each minute of a year, and one is wrong on one day. The scans: three months, which find it;
that day without that sensor; the year without it. Each tells rows, sum, min, max, and sensor and day of both extremes. The
table is invented after the post's: see bench/src/year.rs.

usage: scylla.py PROGRAM GENERATOR [--sensors N] ...; --help tells all
"""

import datetime
import subprocess
import sys

import picture
import post
import readers
import report
from post import READ, Run, read_options
from questions import EXACT, KEY, Question, within

TABLE = "year"
POST = "How Scylla Scaled to One Billion Rows a Second"
NODES, NODE_CORES = 83, 28
WRONG_DAY = "2025-08-27"
# Name, title, first day, day after the last, whether the sensor is excluded, the post's rows per
# second.
SCANS = (
    ("months", "three months", "2025-06-01", "2025-09-01", False, 1_194_666_083),
    ("day", "one day without the sensor", WRONG_DAY, "2025-08-28", True, 1_533_812_721),
    ("year", "the year without the sensor", "2025-01-01", "2026-01-01", True, 969_398_554),
)
# The queries of a scan: the totals, and the row of either extreme.
PARTS = ("", "_lowest", "_highest")
TOTALS = "count(*), sum(temperature), min(temperature), max(temperature)"
MINUTE = "%Y-%m-%dT%H:%M:00Z"

NOT_THE_SAME = """\
- The same: a reading a minute of each sensor over a year, one wrong sensor, the three ranges, what each scan tells.
- The post's million sensors are {sensors:,} here, as many times fewer rows: what one server holds in memory by default. The
  post's rows were on disk in the first and the third scan, and cached in the second; these are in memory, packed.
- A day without the sensor has only {day_rows:,} rows here: its rate is that of asking, more than of reading.
- The post reads each day of each sensor by its key and keeps the extremes' sensor and day; here three questions are asked:
  the totals, and the row of either extreme. Both rates are shown, that of the totals alone and that of all three together.
- The post's rates include its network and {worker_cores} cores of workers beside the {cores:,} of the database; only these are counted.
  Its cores are of 2017, at 2.2 GHz. Hadal's rates include HTTP on one machine.
- The ranges begin and end with days, as in the post. Where "{read}" is said, the totals come from rows; the row of an extreme
  is looked for only where the zones of a block do not rule it out, as the bytes tell that were read."""


def seconds(day):
    return int(datetime.datetime.fromisoformat(day + "T00:00:00+00:00").timestamp())


def where(first, end, without):
    text = within((seconds(first), seconds(end)))
    return text if without is None else f"{text} AND sensor_id <> {without}"


def questions(needle):
    asked = []
    for name, title, first, end, is_without, _ in SCANS:
        rows = where(first, end, needle if is_without else None)
        asked.append(Question(name, f"{title}: count, sum, min, max", TABLE, (EXACT,) * 4,
                              f"SELECT {TOTALS} FROM {TABLE} WHERE {rows}", ()))
        for extreme, order in (("lowest", "ASC"), ("highest", "DESC")):
            # Any row with that temperature may be returned: a later check tests that it is one of
            # them.
            asked.append(Question(f"{name}_{extreme}", f"{title}: the {extreme}", TABLE, (KEY, KEY, EXACT),
                                  f"SELECT sensor_id, time, temperature FROM {TABLE} WHERE {rows}"
                                  f" ORDER BY temperature {order} LIMIT 1", (), order=2))
    return asked


def by_day():
    rows = where("2025-06-01", "2025-09-01", None)
    return Question("daily", "three months by day: min, average, max", TABLE, (KEY, EXACT, EXACT, EXACT),
                    "SELECT time_bucket('1 day', time) AS day, min(temperature), avg(temperature), max(temperature)"
                    f" FROM {TABLE} WHERE {rows} GROUP BY day ORDER BY day", ())


class Expected:
    """DuckDB on the same file."""

    def __init__(self, path):
        self.duck = post.duckdb()
        self.duck.execute(f"CREATE VIEW {TABLE} AS SELECT * REPLACE (temperature::DECIMAL(9, 2) AS temperature) FROM '{path}'")
        self.rows = self.duck.execute(f"SELECT count(*) FROM {TABLE}").fetchone()[0]
        # The needle that the first scan must find.
        [self.needle] = self.duck.execute(
            f"SELECT DISTINCT sensor_id FROM {TABLE} WHERE temperature < 68 OR temperature >= 80").fetchone()

    def answers(self, asked):
        return {question.name: self.answer(question) for question in asked}

    def answer(self, question):
        sql = question.sql
        if question.name == "daily":
            # An average of decimals is a double that rounds on the way.
            sql = (sql.replace("time_bucket('1 day', time)", "strftime(make_timestamp(time // 86400 * 86400000000), '%Y-%m-%dT%H:%M:%SZ')")
                   .replace("avg(temperature)", "sum((temperature * 100)::BIGINT) / count(*) / 100"))
        return post.rows_of(self.duck, sql)

    def has(self, sensor, time, temperature):
        told = int(datetime.datetime.strptime(time, MINUTE).replace(tzinfo=datetime.timezone.utc).timestamp())
        return self.duck.execute(f"SELECT count(*) FROM {TABLE} WHERE time = {told} AND sensor_id = {sensor}"
                                 f" AND temperature = {temperature}").fetchone()[0] == 1


def check_extremes(expected, measured):
    """Names answers whose row is not in the table, or is not the needle if that was queried."""
    for of in measured:
        one = of.measured
        if not one.question.name.endswith(("_lowest", "_highest")) or one.wrong or one.refused:
            continue
        [(sensor, time, temperature)] = one.rows
        if not expected.has(sensor, time, temperature):
            one.wrong = f"tells a row that is not there: {one.rows[0]}"
        elif one.question.name.startswith("months_") and (sensor, time[:10]) != (expected.needle, WRONG_DAY):
            one.wrong = f"is not the needle: {one.rows[0]}"


def compare(run):
    expected = Expected(run.path)
    asked = questions(expected.needle)
    daily = by_day()
    measured = run.go([*asked, daily], expected.answers([*asked, daily]))
    check_extremes(expected, measured)
    by_case = {(of.measured.question.name, of.settings, of.cores): of for of in measured}
    scans = {name: {post.case_title(*case): rates(by_case, name, case) for case in run.cases()} for name, *_ in SCANS}
    print(run.about(POST, expected.rows))
    for name, title, *_ in SCANS:
        tell_scan(title, *(by_case[name + part, READ, 1].measured.rows for part in PARTS))
    print("\n" + speeds(scans))
    print(f"\nBefore the slash the totals alone, after it with the rows of both extremes. The post: {NODES} nodes of {NODE_CORES} cores;"
          f" the last column is what one core of them scanned.\n")
    for name, title, *_, theirs in SCANS:
        tell_worth(title, scans[name], theirs, run.cases())
    print("\n### Three months by day: from the least to the greatest temperature, o the average\n")
    series = by_case["daily", READ, 1].measured.rows
    print("```\n" + (picture.days([(day[:10], *values) for day, *values in series]) if series else "no answer") + "\n```\n")
    parallel = read_in_parallel(run, expected)
    print("### Answers\n\n" + post.notes(measured), "\n")
    print("### What was the same, and what was not\n\n" + NOT_THE_SAME.format(
        sensors=run.options.sensors, cores=NODES * NODE_CORES, worker_cores=24 * 24, read=READ,
        day_rows=(run.options.sensors - 1) * 24 * 60))
    return post.all_right(measured), run.results(measured, expected.rows, {"sensors": run.options.sensors, "scans": scans, "readers": parallel})


def read_in_parallel(run, expected):
    """One cluster with the same rows, read by 1 to 16 readers; prints and draws the speed."""
    def load(url):
        command = [run.options.program, "import", "--table", TABLE, "--server", url, run.path]
        subprocess.run(command, check=True, capture_output=True)

    scans = []
    for name, title, first, end, is_without, _ in SCANS:
        rows = where(first, end, expected.needle if is_without else None)
        [wanted] = post.rows_of(expected.duck, f"SELECT {TOTALS} FROM {TABLE} WHERE {rows}")
        scans.append((title, seconds(first), seconds(end), expected.needle if is_without else None, wanted))
    post.say("a cluster with parallel readers")
    lines = readers.measure(
        run.options.program, run.folder, load, TABLE, scans, run.options.sensors, run.options.rounds)
    head = ["million rows/s, totals, one cluster of 3 x 2", *(f"{count} readers" for count in readers.READERS)]
    body = [[title, *(f"{line['rows_per_s'] / 1e6:,.0f}" for line in lines if line["scan"] == title)] for title, *_ in scans]
    print("\n" + report.table(head, body) + "\n")
    if run.options.pictures:
        run.options.pictures.mkdir(parents=True, exist_ok=True)
        (run.options.pictures / "readers.svg").write_text(readers.picture(lines))
    return lines


def rates(by_case, name, case):
    """Rows per second of a scan, of its totals, and of these and both extremes, and the bytes read for each row; None where
    an answer is wrong."""
    parts = [by_case[name + part, *case] for part in PARTS]
    if not post.all_right(parts):
        return None
    rows = parts[0].measured.rows[0][0]
    speed = lambda spent: [rows / one for one in reversed(report.quartiles(spent))]
    return {"rows": rows, "totals": speed(parts[0].measured.seconds),
            "all": speed([sum(three) for three in zip(*(part.measured.seconds for part in parts))]),
            "bytes_a_row": [part.bytes_a_row(rows) for part in parts]}


def speeds(scans):
    head = ["million rows/s", *scans[SCANS[0][0]], f"bytes read a row, {READ}: totals, extremes", "the post", "its core"]
    body = []
    for name, title, *_, theirs in SCANS:
        told = scans[name][post.case_title(READ, 1)]
        read = ", ".join(f"{one:.2f}" for one in told["bytes_a_row"]) if told else "-"
        body.append([title, *map(spelled, scans[name].values()), read, f"{theirs / 1e6:,.0f}", f"{theirs / NODES / NODE_CORES / 1e6:.2f}"])
    return report.table(head, body)


def spelled(of):
    if of is None:
        return "-"
    return " / ".join(f"{middle / 1e6:,.0f} ({low / 1e6:,.0f}-{high / 1e6:,.0f})" for low, middle, high in (of["totals"], of["all"]))


def tell_scan(title, totals, lowest, highest):
    """Prints the scan as the post's program does."""
    if not totals:
        print(f"{title}: no answer")
        return
    rows, total, low, high = totals[0]
    print(f"{title}: {rows:,} rows, sum {total:,.2f}")
    for what, value, extreme in (("min", low, lowest), ("max", high, highest)):
        place = f", date {extreme[0][1][:10]}, sensorID {extreme[0][0]}" if extreme else ""
        print(f"  absolute {what}: {value:.2f}{place}")


def tell_worth(title, scan, theirs, cases):
    """The number of the post's cores, and of its nodes, with the speed of these cores; totals and extremes together."""
    for settings, cores in cases:
        of = scan[post.case_title(settings, cores)]
        if settings == READ and of:
            speed, nodes = of["all"][1], of["all"][1] / theirs * NODES
            print(f"- {title}, {cores} core{'s' * (cores > 1)}: {speed / 1e6:,.0f} million rows/s, as {nodes * NODE_CORES:,.0f} of the"
                  f" post's cores, or {nodes:.1f} of its {NODES} nodes")


def main():
    options = read_options(__doc__, "sensors", 200, "the table; each has 525,600 rows")
    return post.measured(Run(options, TABLE, ("--sensors", options.sensors)), compare, "-scylla")


if __name__ == "__main__":
    sys.exit(main())
