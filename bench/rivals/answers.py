"""Whether two engines gave the same answer: exact for exact, within bounds where an estimate was allowed."""

import datetime
import math

from questions import DISTINCT, EXACT, KEY, MINUTE, PERCENTILE

PERCENTILE_ERROR = 0.01
# For counts of distinct values: the root mean square error over the groups.
DISTINCT_ERROR = 0.02


def cells(row):
    """The cells of a row; lists within it count as cells one after the other."""
    for cell in row:
        if isinstance(cell, list):
            yield from cell
        else:
            yield cell


def normal(cell, kind):
    """A cell in normal form: a missing text is '', a missing number 0, a minute is counted from 1970."""
    if kind == KEY:
        return "" if cell is None else str(cell)
    if kind == MINUTE:
        if isinstance(cell, str):
            moment = datetime.datetime.fromisoformat(cell.replace("Z", "+00:00"))
            return int(moment.replace(tzinfo=datetime.timezone.utc).timestamp()) // 60
        return int(cell)
    if cell is None:
        return 0
    if isinstance(cell, tuple):
        return cell
    number = float(cell)
    return int(number) if number.is_integer() and not isinstance(cell, int) else cell


def normalized(question, rows):
    """Rows as (key, values); the first columns are the key."""
    width = sum(kind in (KEY, MINUTE) for kind in question.columns)
    plain = []
    for row in rows:
        row = list(cells(row))
        if len(row) != len(question.columns):
            raise ValueError(f"{len(row)} columns instead of {len(question.columns)}")
        row = [normal(cell, kind) for cell, kind in zip(row, question.columns)]
        plain.append((tuple(row[:width]), tuple(row[width:])))
    return plain


def difference(question, wanted, given):
    """The fault of an answer, or None; and the largest error of the estimates."""
    try:
        wanted, given = normalized(question, wanted), normalized(question, given)
    except (TypeError, ValueError) as error:
        return f"is no such answer: {error}", None
    if len(wanted) != len(given):
        return f"has {len(given)} rows instead of {len(wanted)}", None
    if question.order is not None:
        place = question.order - len(question.columns) + len(wanted[0][1]) if wanted else 0
        if sorted(values[place] for _, values in wanted) != sorted(values[place] for _, values in given):
            return "has other rows at the top", None
        last = min((values[place] for _, values in wanted), default=0)
        wanted, given = ([row for row in rows if row[1][place] > last] for rows in (wanted, given))
    wanted, given = dict(wanted), dict(given)
    if wanted.keys() != given.keys():
        return f"has other groups: {sorted(wanted.keys() ^ given.keys())[:3]}", None
    return compared(question, wanted, given)


def compared(question, wanted, given):
    kinds = [kind for kind in question.columns if kind not in (KEY, MINUTE)]
    squares, worst = [], 0.0
    for key, values in wanted.items():
        for kind, value, other in zip(kinds, values, given[key]):
            low, high = value if kind == PERCENTILE else (value, value)
            nearest = min(max(other, low), high)
            error = abs(other - nearest) / max(abs(nearest), 1e-9)
            if kind == EXACT and error > 1e-12:
                return f"says {other} instead of {value} for {key}", None
            if kind == PERCENTILE:
                worst = max(worst, error)
            if kind == DISTINCT:
                squares.append(error * error)
    typical = math.sqrt(sum(squares) / len(squares)) if squares else 0.0
    if worst > PERCENTILE_ERROR:
        return f"is {worst:.1%} off, more than {PERCENTILE_ERROR:.0%}", worst
    if typical > DISTINCT_ERROR:
        return f"is {typical:.1%} off, more than {DISTINCT_ERROR:.0%}", typical
    return None, max(worst, typical)
