"""The questions of the comparison, in SQL that most engines understand, and what must come out.

Every question has a time range that cuts the blocks at both of its ends. An engine's own module spells differently what
that engine spells differently or has better words for. Rows per second always count the rows of the table.

The questions of `requests` are asked again of sampled rows, each of which stands for `rate` events. Rivals are asked in SQL
that weighs every row. Hadal has the column under the name `sample_rate`, and is asked as without weights.
"""

import dataclasses
import re

# The start of both tables (as in hadal-bench): 2026-01-05, in seconds since 1970.
START = 1_767_571_200
SENSORS = 10_000

# Most of the 29 hours of `requests`; two times six hours; and most of the minutes of `readings`.
RANGE = (START + 17 * 60 + 7, START + 28 * 3600 + 36 * 60 + 49)
BEFORE = (START + 3 * 3600 + 17 * 60 + 11, START + 9 * 3600 + 17 * 60 + 11)
AFTER = (START + 22 * 3600 + 5 * 60 + 31, START + 28 * 3600 + 5 * 60 + 31)

LITERAL = "refund"
WORDS = ("refund", "voucher", "giftcard")
ALTERNATION = "|".join(WORDS)
SERVICE = "cart-gateway"
QUANTILES = (0.5, 0.95, 0.99)

# How a column of an answer is compared.
KEY, MINUTE, EXACT, PERCENTILE, DISTINCT = "key", "minute", "exact", "percentile", "distinct"

# The end of the names of questions about sampled rows.
WEIGHTED = "_weighted"

# Kinds of forms. A rewritten form is another question that happens to have the same answer; it is
# shown, not judged.
EXACTLY, APPROXIMATELY, REWRITTEN = "exact", "approximate", "rewritten"


@dataclasses.dataclass(frozen=True)
class Bar:
    """The required speed relative to one of the rivals' forms: the fastest `of` a kind, or one by the engine's and form's name."""

    least: float
    of: str = "any"


@dataclasses.dataclass(frozen=True)
class Question:
    name: str
    title: str
    table: str
    columns: tuple
    sql: str
    bars: tuple
    # The column that orders a top list: rows that tie with its last one may differ.
    order: int | None = None
    # Whether it counts in the geometric means.
    counts: bool = True
    # What Hadal is asked instead, of the table whose rows have weights.
    weighed_by_hadal: str | None = None

    @property
    def base(self):
        """The name of the question without weights."""
        return self.name.removesuffix(WEIGHTED)

    @property
    def is_weighted(self):
        return self.weighed_by_hadal is not None


def within(span):
    return f"time >= {span[0]} AND time < {span[1]}"


def readings_range(rows):
    """The range without the first and the last twentieth, and some seconds."""
    minutes = max(rows // SENSORS, 20)
    return START + minutes // 20 * 60 + 7, START + (minutes - minutes // 20) * 60 - 11


FOUR_SUMS = "sum(latency_us), sum(bytes), sum(status), sum(rate)"
READING = "count(*), sum(temperature), min(temperature), max(temperature)"
ALL = within(RANGE)


def weighed(question):
    """The question of rows that count `rate` times each. Percentiles and distinct counts are spelled by the engines."""
    sums = re.sub(r"sum\((\w+)\)", r"sum(CAST(\1 AS BIGINT) * rate)", question.sql)
    sums = sums.replace("THEN 1 ELSE 0 END", "THEN rate ELSE 0 END")
    own = question.sql.replace("FROM requests", "FROM weighted").replace("sum(rate)", "sum(sample_rate)")
    return dataclasses.replace(
        question, name=question.name + WEIGHTED, title=f"sampled: {question.title}", sql=sums.replace("count(*)", "sum(rate)"),
        bars=(), weighed_by_hadal=own)


def questions(reading_rows):
    """All questions."""
    plain = plain_questions(reading_rows)
    sampled = [question for question in plain if question.table == "requests" and question.counts and not question.is_weighted]
    return [*plain, *map(weighed, sampled)]


def plain_questions(reading_rows):
    """The questions of rows without weights, but one. Each engine has its own spelling of `minute(time)`, `percentiles(x)` and `count_if(c)`."""
    readings = within(readings_range(reading_rows))
    return [
        Question("sums", "count, 2 sums, all rows", "requests", (EXACT,) * 3,
                 f"SELECT count(*), sum(latency_us), sum(bytes) FROM requests WHERE {ALL}", (Bar(2.5),)),
        Question("minutes", "count, sum by service x minute, top 1,800", "requests", (KEY, MINUTE, EXACT, EXACT),
                 f"SELECT service, {{minute}} AS minute, count(*) AS n, sum(latency_us) FROM requests WHERE {ALL}"
                 " GROUP BY service, minute ORDER BY n DESC LIMIT 1800", (Bar(10),), order=2),
        Question("hosts", "top 100 of 5,000 strings, 4 sums", "requests", (KEY,) + (EXACT,) * 5,
                 f"SELECT host, count(*) AS n, {FOUR_SUMS} FROM requests WHERE {ALL}"
                 " GROUP BY host ORDER BY n DESC LIMIT 100", (Bar(4),), order=1),
        Question("users", "top 100 of a 10 M-value int by count", "requests", (KEY, EXACT),
                 f"SELECT user_id, count(*) AS n FROM requests WHERE {ALL}"
                 " GROUP BY user_id ORDER BY n DESC LIMIT 100", (Bar(1.5),), order=1),
        Question("users_sums", "the same with 4 sums", "requests", (KEY,) + (EXACT,) * 5,
                 f"SELECT user_id, count(*) AS n, {FOUR_SUMS} FROM requests WHERE {ALL}"
                 " GROUP BY user_id ORDER BY n DESC LIMIT 100", (Bar(2.5),), order=1),
        Question("messages", "top 100 of almost all distinct strings", "requests", (KEY, EXACT),
                 f"SELECT message, count(*) AS n FROM requests WHERE {ALL}"
                 " GROUP BY message ORDER BY n DESC LIMIT 100", (Bar(3),), order=1),
        Question("literal", "count where text has a literal", "requests", (EXACT,),
                 f"SELECT count(*) FROM requests WHERE {ALL} AND message LIKE '%{LITERAL}%'",
                 (Bar(3, "clickhouse: MergeTree"), Bar(0.3, "clickhouse: LIKE"))),
        Question("alternation", "count where text ~ an alternation", "requests", (EXACT,),
                 f"SELECT count(*) FROM requests WHERE {ALL} AND message ~ '{ALTERNATION}'", (Bar(3),)),
        Question("percentiles", "p50, p95, p99 by service", "requests", (KEY,) + (PERCENTILE,) * 3,
                 f"SELECT service, {{percentiles}} FROM requests WHERE {ALL} GROUP BY service",
                 (Bar(4, EXACTLY), Bar(6, APPROXIMATELY))),
        Question("distinct", "distinct 10 M-value int by country", "requests", (KEY, DISTINCT),
                 f"SELECT country, {{distinct}} FROM requests WHERE {ALL} GROUP BY country", (Bar(2, APPROXIMATELY),)),
        Question("filter", "filter + group by endpoint", "requests", (KEY, EXACT, EXACT),
                 f"SELECT endpoint, count(*) AS n, sum(latency_us) FROM requests WHERE {ALL} AND service = '{SERVICE}'"
                 " AND latency_us > 20000 GROUP BY endpoint ORDER BY n DESC LIMIT 100", (Bar(3),), order=1),
        Question("compare", "two 6 h ranges compared by endpoint", "requests", (KEY, EXACT, EXACT),
                 f"SELECT endpoint, count(*) FILTER (WHERE time < {BEFORE[1]}) AS n,"
                 f" count(*) FILTER (WHERE time >= {AFTER[0]}) AS m FROM requests"
                 f" WHERE ({within(BEFORE)}) OR ({within(AFTER)}) GROUP BY endpoint ORDER BY n DESC LIMIT 100",
                 (Bar(3),), order=1),
        Question("errors", "count, errors by endpoint", "requests", (KEY, EXACT, EXACT),
                 f"SELECT endpoint, count(*) AS n, sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END) AS errors FROM requests"
                 f" WHERE {ALL} GROUP BY endpoint ORDER BY n DESC LIMIT 100", (), order=1),
        Question("weighted", "weighted count by service", "requests", (KEY, EXACT),
                 f"SELECT service, sum(rate) AS n FROM requests WHERE {ALL} GROUP BY service", (Bar(3),),
                 weighed_by_hadal=f"SELECT service, count(*) AS n FROM weighted WHERE {ALL} GROUP BY service"),
        Question("weighted_plain", "the same, as a sum over unweighted rows", "requests", (KEY, EXACT),
                 f"SELECT service, sum(rate) AS n FROM requests WHERE {ALL} GROUP BY service", (), counts=False),
        Question("readings", "readings: count, sum, min, max", "readings", (EXACT,) * 4,
                 f"SELECT {READING} FROM readings WHERE {readings}", (Bar(2),)),
        Question("sensors", "readings: the same by sensor", "readings", (KEY,) + (EXACT,) * 4,
                 f"SELECT sensor_id, {READING} FROM readings WHERE {readings} GROUP BY sensor_id", (Bar(4),)),
    ]
