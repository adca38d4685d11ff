"""Where Hadal and DuckDB differ on purpose.

Rules of the first table are about spelling: the generator writes the two texts so that both mean the same. Rules of the
second table are applied to answers: a failure of DuckDB, or a cell, that one of them explains is no difference.
Each rule has its reason; spec/sql.md has the meaning in Hadal.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

SPELLING = {
    "weights": "a row with sample_rate r is r events; DuckDB reads a table with each row r times",
    "raw_count": "counts stored rows: the first copy of each",
    "integer division": "7 / 2 of constants truncates, as in PostgreSQL; DuckDB spells that 7 // 2",
    "quotients of whole numbers": "lengths and differences of times are such, too; the generator multiplies by 1.0",
    "division by zero": "null; DuckDB has infinity",
    "ln, log10 of no positive number": "null; an error in DuckDB",
    "||": "leaves out nulls; DuckDB spells that concat",
    "regexp_extract without a match": "null; empty in DuckDB",
    "LIKE": "a backslash escapes, as in PostgreSQL; DuckDB has no escape character unless it is named",
    "order of nulls": "null is the largest, as in PostgreSQL; in DuckDB it is always last",
    "CASE of large whole numbers and decimals": "exact; DuckDB's common type has the decimals of the literal beside "
        "whole numbers, and cuts off those of other arguments",
    "any_value": "the smallest, so that the same query has the same answer",
    "first, last, arg_min, arg_max": "the smallest of several first values; DuckDB takes any",
    "keys that are constants": "a group for them only if there is a row; DuckDB's GROUP BY ALL leaves them out",
    "buckets of days": "counted from the Unix epoch; in DuckDB from Monday, 3 January 2000",
    "sets": "have no order; DuckDB's lists are sorted",
    "a time minus a time": "a number of seconds; DuckDB has intervals",
    "hours in a time zone": "left out, since DuckDB's wall clocks show an hour twice and so join two buckets",
}


@dataclass(frozen=True)
class Rule:
    """A pattern of DuckDB's message, and why the query has an answer in Hadal."""

    name: str
    pattern: str
    reason: str


FAILURES = [
    Rule("overflow", r"Out of Range|Overflow|overflow|out of range|Could not cast|precision",
         "Hadal's numbers have 38 digits and are doubles beyond; DuckDB's types end with an error"),
    Rule("text is no time", r"invalid timestamp|date field value out of range",
         "a text that is no time is null in Hadal"),
]


REFUSALS = [
    Rule("time buckets", r"time buckets in the time range", "a closed range has at most 10,080 buckets"),
]


def explained_by(rules, message):
    """The first of the rules that explains a message, or None."""
    return next((rule for rule in rules if re.search(rule.pattern, message)), None)


def explained_cell(column, ours, theirs):
    """The name of the rule that explains a difference of two cells, or None."""
    is_odd = isinstance(theirs, float) and not math.isfinite(theirs)
    if ours is None and is_odd:
        return "null where doubles have no number"
    if is_cut_decimal(column.theirs, ours, theirs):
        return "decimals that DuckDB's common type cuts off"
    return None


# Functions that give one of their arguments, all in one type.
CHOICES = re.compile(r"\b(coalesce|CASE|greatest|least|nullif)\b")


def is_cut_decimal(text, ours, theirs):
    """Whether DuckDB has rounded one of several arguments to the common type of all, which has at most 38 digits."""
    if not (isinstance(ours, Decimal) and isinstance(theirs, Decimal) and CHOICES.search(text)):
        return False
    lost = theirs.as_tuple().exponent - ours.as_tuple().exponent
    return lost > 0 and abs(ours - theirs) * 2 <= Decimal(1).scaleb(theirs.as_tuple().exponent)
