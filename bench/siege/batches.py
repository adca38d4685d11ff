"""What is sent: batches of rows all of whose values follow from one number, so that any answer can be judged by it."""

import dataclasses
import functools
import json

GROUPS = 17
# Letters of a row's text, by the needs of a life: few, or so many that no encoding makes them much
# smaller.
NARROW, WIDE = 12, 160
# Microseconds from a row's time to that of the next.
MICROS_APART = 1_000
_MASK = (1 << 64) - 1


def mixed(number):
    """A number that looks unrelated to this one (splitmix64, Steele and others, OOPSLA 2014)."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def text_of(number, width):
    words = (mixed(number * 31 + word) for word in range(-(-width // 16)))
    return "".join(f"{word:016x}" for word in words)[:width]


@dataclasses.dataclass(frozen=True)
class Batch:
    """Rows that are acknowledged together, numbered from `first` on."""

    name: str
    table: str
    first: int
    count: int
    width: int
    start_micros: int

    def row(self, number):
        some = mixed(number)
        row = {"time": self.start_micros + number * MICROS_APART, "n": number, "x": some & 0xFFFFF, "k": f"k{some % GROUPS}",
               "s": text_of(number, self.width), "batch": self.name}
        if self.has_m(number):
            row["m"] = some >> 44
        return row

    def has_m(self, number):
        """Whether the row has an m. Other rows have none, but each table has such a column."""
        return number % 3 == 0 or number == self.first

    def rows(self):
        return map(self.row, range(self.first, self.first + self.count))

    def body(self):
        """JSON lines: the same bytes however often they are sent."""
        return "".join(json.dumps(row) + "\n" for row in self.rows()).encode()

    @functools.cached_property
    def totals(self):
        """The answer of a query for this batch alone: rows, sum of n, sum of x, the first n, the last n, rows that have an m."""
        numbers = range(self.first, self.first + self.count)
        sum_x = sum(mixed(number) & 0xFFFFF for number in numbers)
        with_m = sum(map(self.has_m, numbers))
        return [self.count, sum(numbers), sum_x, self.first, self.first + self.count - 1, with_m]

    @functools.cached_property
    def groups(self):
        """The same by k: rows and sum of x."""
        groups = {}
        for number in range(self.first, self.first + self.count):
            some = mixed(number)
            rows, total = groups.get(some % GROUPS, (0, 0))
            groups[some % GROUPS] = (rows + 1, total + (some & 0xFFFFF))
        return groups
