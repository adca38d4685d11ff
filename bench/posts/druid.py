"""Hadal beside "Scaling the Druid Data Store" (Metamarkets, January 2012): its six questions, rows per second and core.

The table is invented after what the post tells of its own: see bench/src/druid.rs.

usage: druid.py PROGRAM GENERATOR [--rows N] ...; --help tells all
"""

import sys

import post
import report
from post import READ, Run, read_options
from questions import EXACT, KEY, START, Question, within

TABLE = "druid"
POST = "Scaling the Druid Data Store"
# From the morning of the first of seven days to the evening of the last: both ends cut blocks.
RANGE = (START + 3 * 3600 + 17 * 60 + 7, START + 6 * 86_400 + 21 * 3600 + 42 * 60 + 49)
METRICS = ("impressions", "clicks", "revenue", "price")
LEAST = 5.0
# Fewer bytes per row mean that no column was read: zone maps showed that whole blocks and vectors
# match.
LOOK_UP = 0.05
# The fastest of the post's clusters, in million rows per second and core, without and with groups.
TOTALS = {0: 33.132853, 1: 11.004006, 4: 5.061070}
TOPS = {0: 8.374350, 1: 6.179214, 4: 3.187433}
# The dimension of 30 million values, to which the bars apply, and that of 300,000, shown beside it.
HIGH, LOWER = "viewer", "site"

NOT_THE_SAME = """\
- The same: the questions, a range of time as the only filter, a dozen dimensions of text with tens to tens of millions of
  values by zipf laws, four metrics. Rows in the range per second and core.
- The post's data is Metamarkets' own, tens of billions of rows in shards of about 8 million; this is invented, by default as
  much as one shard. The post does not tell which dimension it asked for: the bars are on that of 30 million values.
- The post's range held all rows; this one cuts the first and the last block, and only rows within it are counted.
- The post's "ORDER BY cnt" is taken for descending, as its "top 100" says. Druid may estimate such a list, shard by shard.
- The post cut its shards by a dimension of far more than a million values, so that each was in few of them; here each may be
  in all blocks.
- The post's figures are the best of its clusters, of 200 to 1,500 cores of before 2012, and include a network. These include
  HTTP on one machine."""


def questions():
    asked = []
    for sums, rate in TOTALS.items():
        columns = ", ".join(["count(*) AS cnt", *(f"sum({metric})" for metric in METRICS[:sums])])
        asked.append((Question(f"total_{sums}", title(sums), TABLE, (EXACT,) * (1 + sums),
                               f"SELECT {columns} FROM {TABLE} WHERE {within(RANGE)}", ()), rate))
    for dimension in (HIGH, LOWER):
        for sums, rate in TOPS.items():
            columns = ", ".join([dimension, "count(*) AS cnt", *(f"sum({metric})" for metric in METRICS[:sums])])
            asked.append((Question(f"{dimension}_{sums}", f"top 100 of {dimension}: {title(sums)}", TABLE,
                                   (KEY,) + (EXACT,) * (1 + sums),
                                   f"SELECT {columns} FROM {TABLE} WHERE {within(RANGE)} GROUP BY {dimension}"
                                   " ORDER BY cnt DESC LIMIT 100", (), order=1), rate if dimension == HIGH else None))
    return asked


def title(sums):
    return "count" + (f", {sums} sum{'s' * (sums > 1)}" if sums else "")


def expected(path, asked):
    """DuckDB's answers, the number of rows, and the number of different values of each dimension."""
    duck = post.duckdb()
    decimals = ", ".join(f"{metric}::DECIMAL(12, 3) AS {metric}" for metric in ("revenue", "price"))
    duck.execute(f"CREATE VIEW {TABLE} AS SELECT * REPLACE ({decimals}) FROM '{path}'")
    wanted = {question.name: post.rows_of(duck, question.sql) for question, _ in asked}
    rows, high, lower = duck.execute(f"SELECT count(*), count(DISTINCT {HIGH}), count(DISTINCT {LOWER}) FROM {TABLE}").fetchone()
    return wanted, rows, {HIGH: high, LOWER: lower}


def compare(run):
    asked = questions()
    wanted, rows, values = expected(run.path, asked)
    matched = wanted["total_0"][0][0]
    measured = run.go([question for question, _ in asked], wanted)
    by_case = {(of.measured.question.name, of.settings, of.cores): of for of in measured}
    bars, body, cases = report.Bars(), [], run.cases()
    for question, theirs in asked:
        ours = by_case[question.name, READ, 1]
        body.append([question.title, f"{theirs:.1f}" if theirs else "-",
                     *(millions(by_case[question.name, *case].rate(matched)) for case in cases),
                     f"{ours.bytes_a_row(matched):.2f}" if ours.measured.stats else "-"])
        if theirs:
            judge(bars, ours, theirs, matched)
    print(run.about(POST, rows))
    print(f"{matched:,} rows are in the range; {values[HIGH]:,} different {HIGH}s, {values[LOWER]:,} different {LOWER}s\n")
    head = ["million rows/s/core", "the post", *(post.case_title(*case) for case in cases), f"bytes read a row, {READ}"]
    print(report.table(head, body), "\n")
    print(report.verdicts(bars), "\n")
    print("### Answers\n\n" + post.notes(measured), "\n")
    print("### What was the same, and what was not\n\n" + NOT_THE_SAME)
    reached = all(line["reached"] for line in bars.lines) and post.all_right(measured)
    return reached, run.results(measured, rows, {"bars": bars.lines, "rows_in_range": matched, "different_values": values})


def judge(bars, ours, theirs, matched):
    """As everywhere, the lower quartile must reach a bar; a question answered from zone maps of time reaches none."""
    rate = ours.rate(matched)
    why = None if rate else "refused, or another answer"
    if rate and ours.bytes_a_row(matched) < LOOK_UP:
        why = "told by zones of time, hardly a byte was read"
    low, middle, high = (one / theirs / 1e6 for one in rate) if rate else (None,) * 3
    text = f"{middle:.1f} ({low:.1f}-{high:.1f})" if rate else "-"
    bars.judge(ours.measured.question.title, low, LEAST, text, why=why)


def millions(rate):
    return f"{rate[1] / 1e6:,.1f} ({rate[0] / 1e6:,.1f}-{rate[2] / 1e6:,.1f})" if rate else "-"


def main():
    options = read_options(__doc__, "rows", 8_000_000, "the table")
    return post.measured(Run(options, TABLE, ("--rows", options.rows)), compare, "-druid")


if __name__ == "__main__":
    sys.exit(main())
