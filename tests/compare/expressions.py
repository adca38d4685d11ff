"""Random expressions, each as Hadal and as DuckDB spell it.

An expression is exact if both compute the same digits; only those are compared for equality, grouped or sorted.
"""

import datetime
from dataclasses import dataclass

from rows import COLUMNS, DENSE_FROM, DENSE_SECONDS, DIGITS, PATHS, SERVICES, TAGS, WIDE_FROM, WIDE_SECONDS

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]
FIELDS = ["year", "quarter", "month", "week", "isoyear", "day", "doy", "dow", "isodow", "hour", "minute"]
UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
INTERVALS = ["1 hour", "90 minutes", "1 day", "36 hours", "1 month", "2 months", "1 year", "15 seconds"]
BUCKETS = ["1 second", "1 minute", "5 minutes", "1 hour", "6 hours", "1 day", "7 days"]
MONTHS = ["1 month", "2 months", "1 quarter", "1 year", "5 years"]
PATTERNS = ["a", "^/", "[0-9]+", "e$", "(?i)A", "^$", "[a-c]", r"\d", "h(.)", "(s)(e)", "é"]
LIKES = ["a%", "%e%", "/_%", "%\\%%", "", "%", "_", "%É%", "WEB", "host-0__", "%'%"]
FORMATS = ["%Y-%m-%d", "%H:%M:%S", "%d.%m.%y %%", "%Y week"]


@dataclass
class Expr:
    """A text for each engine, a type, and whether the value has the same digits in both."""

    kind: str
    ours: str
    theirs: str
    exact: bool = True


def same(kind, text, exact=True):
    return Expr(kind, text, text, exact)


def quote(text):
    return "'" + text.replace("'", "''") + "'"


class Expressions:
    """Expressions over the columns of a row."""

    def __init__(self, draw):
        self.draw = draw

    def percent(self, share):
        return self.draw.randrange(100) < share

    def build(self, kind, form, *arguments):
        """An expression from a format text, or from one for each engine."""
        ours, theirs = form if isinstance(form, tuple) else (form, form)
        return Expr(
            kind,
            ours.format(*(argument.ours for argument in arguments)),
            theirs.format(*(argument.theirs for argument in arguments)),
            all(argument.exact for argument in arguments))

    def column(self, *kinds):
        name, kind, _ = self.draw.choice([column for column in COLUMNS if column[1] in kinds])
        return same(kind, name, kind != "double")

    def any_key(self, depth):
        """An exact expression of any type that can be a group's key, and depends on the row."""
        while is_constant(key := self.drawn_key(depth)):
            pass
        return key

    def drawn_key(self, depth):
        choice = self.draw.randrange(10)
        if choice < 4:
            return self.text(depth)
        if choice < 6:
            return self.time_key()
        if choice < 9:
            return self.exact_number(depth)
        return self.boolean(depth)

    def exact_number(self, depth):
        while not (number := self.number(depth)).exact:
            pass
        return number

    # Texts

    def text(self, depth):
        if depth == 0 or self.percent(30):
            return self.column("text") if self.percent(85) else self.text_literal()
        return self.draw.choice([
            self.changed_case, self.cut, self.trimmed, self.replaced, self.joined, self.by_pattern,
            self.text_choice, self.converted, self.padded])(depth - 1)

    def text_literal(self):
        return same("text", quote(self.draw.choice(SERVICES + PATHS + DIGITS)))

    def changed_case(self, depth):
        return self.build("text", self.draw.choice(["lower({})", "upper({})", "reverse({})"]), self.text(depth))

    def cut(self, depth):
        start, length = self.draw.randint(1, 6), self.draw.randint(0, 6)
        form = self.draw.choice([
            f"substr({{}}, {start})", f"substr({{}}, {start}, {length})", f"left({{}}, {length - 3})",
            f"right({{}}, {length - 3})",
            f"split_part({{}}, {quote(self.draw.choice([',', '/', '-', 'e']))}, {self.draw.choice([1, 2, 3, -1])})"])
        return self.build("text", form, self.text(depth))

    def trimmed(self, depth):
        name = self.draw.choice(["trim", "ltrim", "rtrim"])
        characters = self.draw.choice(["", ", '/'", ", 'ab'", ", 'h-0'"])
        return self.build("text", f"{name}({{}}{characters})", self.text(depth))

    def replaced(self, depth):
        old, new = self.draw.choice(["a", "/", "e", "web", "é"]), self.draw.choice(["", "x", "yy", "é"])
        return self.build("text", f"replace({{}}, '{old}', '{new}')", self.text(depth))

    def joined(self, depth):
        if self.percent(50):
            return self.build("text", ("({} || {})", "concat({}, {})"), self.text(depth), self.text(depth))
        return self.build("text", "concat({}, '-', {})", self.text(depth), self.text(depth))

    def by_pattern(self, depth):
        pattern = quote(self.draw.choice(PATTERNS))
        if self.percent(50):
            form = (f"regexp_extract({{0}}, {pattern})",
                    f"CASE WHEN regexp_matches({{0}}, {pattern}) THEN regexp_extract({{0}}, {pattern}) END")
        else:
            new, flags = self.draw.choice(["", "x", "[é]"]), self.draw.choice(["", ", 'g'"])
            form = f"regexp_replace({{}}, {pattern}, '{new}'{flags})"
        return self.build("text", form, self.text(depth))

    def text_choice(self, depth):
        if self.percent(25):
            return self.build(
                "text", "CASE WHEN {} THEN {} ELSE {} END", self.boolean(depth), self.text(depth), self.text(depth))
        form = self.draw.choice(["coalesce({}, {})", "nullif({}, {})", "greatest({}, {})", "least({}, {})"])
        return self.build("text", form, self.text(depth), self.text(depth))

    def converted(self, depth):
        if self.percent(50):
            return self.build("text", ("{}::string", "{}::VARCHAR"), self.column("int", "id"))
        return self.build("text", f"strftime({{}}, '{self.draw.choice(FORMATS)}')", self.time(depth))

    def padded(self, depth):
        count = self.draw.randint(0, 7)
        form = self.draw.choice([f"lpad({{}}, {count}, 'xy')", f"rpad({{}}, {count}, '.')", f"repeat({{}}, {count % 3})"])
        return self.build("text", form, self.text(depth))

    # Numbers

    def number(self, depth):
        if depth == 0 or self.percent(25):
            return self.number_leaf()
        return self.draw.choice([
            self.sum_or_product, self.sum_or_product, self.quotient, self.rounded, self.function,
            self.number_choice, self.measured, self.field, self.distance])(depth - 1)

    def number_leaf(self):
        choice = self.draw.randrange(10)
        if choice < 4:
            return self.column("int")
        if choice < 6:
            return self.column("decimal")
        if choice < 8:
            return self.column("double")
        return same("decimal", self.draw.choice(["0", "1", "2", "-3", "10", "200", "404", "0.5", "2.25", "1000"]))

    def sum_or_product(self, depth):
        if self.percent(30):
            return self.build("number", f"({{}} * {self.draw.choice([0, 2, -1, 10, '0.5'])})", self.number(depth))
        return self.build("number", self.draw.choice(["({} + {})", "({} - {})"]), self.number(depth), self.number(depth))

    def quotient(self, depth):
        if self.percent(30):
            form = ("({} % {})", "({} % nullif({}, 0))")
            return self.build("number", form, self.column("int"), self.column("int"))
        if self.percent(20):
            ours = f"({self.draw.randint(-9, 9)} / {self.draw.randint(1, 4)})"
            return Expr("int", ours, ours.replace("/", "//"))
        form = ("({0} / ({1} * 1.0))", "({0}::DOUBLE / nullif({1}::DOUBLE, 0))")
        result = self.build("number", form, self.number(depth), self.number(depth))
        result.exact = False
        return result

    def rounded(self, depth):
        number = self.exact_number(min(depth, 1))
        width = self.draw.choice([2, 10, 100])
        form = self.draw.choice([
            "floor({})", "ceil({})", "round({})", "trunc({})", "round({}, 1)", "sign({})", "round({}, 2)",
            ("mod({}, 7)", "({} % 7)"),
            (f"bucket({{}}, {width})", f"floor({{}} / {width}) * {width}")])
        return self.build("number", form, number)

    def function(self, depth):
        form = self.draw.choice([
            "abs({0})",
            "sqrt(abs({0}))",
            ("ln({0})", "CASE WHEN {0} > 0 THEN ln({0}) END"),
            ("log10({0})", "CASE WHEN {0} > 0 THEN log10({0}) END"),
            ("power({0}, 2)", "power({0}::DOUBLE, 2)"),
            "greatest({0}, 3)",
            "least({0}, 100)",
        ])
        result = self.build("number", form, self.number(depth))
        ours = result.ours
        result.exact = result.exact and ours.startswith(("abs", "greatest", "least"))
        return result

    def number_choice(self, depth):
        if self.percent(20):
            form = ("CASE {} WHEN 'web' THEN 1 WHEN '' THEN 0.5 ELSE {} END",
                    "CASE {} WHEN 'web' THEN 1 WHEN '' THEN 0.5000 ELSE {} END")
            return self.build("number", form, self.text(0), self.number(depth))
        if self.percent(40):
            return self.build(
                "number", "CASE WHEN {} THEN {} ELSE {} END", self.boolean(depth), self.number(depth),
                self.number(depth))
        if self.percent(50):
            return self.build("number", "coalesce({}, {})", self.number(depth), self.number(depth))
        return self.build("number", "nullif({}, {})", self.exact_number(0), self.exact_number(0))

    def measured(self, depth):
        if self.percent(20):
            return self.build("int", ("cardinality({})", "len({})"), self.column("set"))
        if self.percent(20):
            form = ("to_number({})", "TRY_CAST({} AS DOUBLE)")
            return self.build("decimal", form, self.column("text") if self.percent(30) else same("text", "digits"))
        if self.percent(40):
            return self.build("int", "strpos({}, " + quote(self.draw.choice(["/", "e", "a", "0"])) + ")", self.text(depth))
        return self.build("int", "length({})", self.text(depth))

    def field(self, depth):
        if self.percent(10):
            return self.build("number", ("epoch({})", "(epoch_us({}) * 0.000001::DECIMAL(7,6))"), self.time(depth))
        field = self.draw.choice(FIELDS)
        time = self.time(depth)
        if self.percent(70):
            return self.build("int", f"extract({field} FROM {{}})", time)
        zone = self.draw.choice(ZONES)
        form = (f"date_part('{field}', {{}}, '{zone}')", f"date_part('{field}', {in_zone('{}', zone)})")
        return self.build("int", form, time)

    def distance(self, depth):
        form = ("({} - {})", "((epoch_us({}) - epoch_us({})) * 0.000001::DECIMAL(7,6))")
        return self.build("number", form, self.time(depth), self.time(depth))

    # Times

    def time(self, depth):
        if depth == 0 or self.percent(50):
            return same("time", "time") if self.percent(80) else same("time", "started::timestamp")
        if self.percent(50):
            sign = self.draw.choice("+-")
            form = f"({{}} {sign} INTERVAL '{self.draw.choice(INTERVALS)}')"
            return self.build("time", form, self.time(depth - 1))
        return self.bucketed(self.time(depth - 1))

    def time_key(self):
        return self.bucketed(self.time(1))

    def bucketed(self, time):
        if self.percent(10):
            # DuckDB counts days from a Monday in 2000.
            form = ("time_bucket('5 days', {})", "time_bucket(INTERVAL '5 days', {}, TIMESTAMP '1970-01-01')")
            return self.build("time", form, time)
        if self.percent(15):
            # A day of a zone has 23 to 25 hours.
            zone, width = self.draw.choice(ZONES), self.draw.choice(["1 day", "1 month"])
            start = f"time_bucket(INTERVAL '{width}', {in_zone('{}', zone)})"
            form = (f"time_bucket('{width}', {{}}, '{zone}')", f"({start} AT TIME ZONE '{zone}' AT TIME ZONE 'UTC')")
            return self.build("time", form, time)
        if self.percent(40):
            width = self.draw.choice(BUCKETS + MONTHS)
            form = (f"time_bucket('{width}', {{}})", f"time_bucket(INTERVAL '{width}', {{}})")
            return self.build("time", form, time)
        unit = self.draw.choice(UNITS)
        if self.percent(50):
            return self.build("time", f"date_trunc('{unit}', {{}})", time)
        # A wall clock shows an hour twice, so that hours in a zone are left to the oracle.
        zone, unit = self.draw.choice(ZONES), self.draw.choice(UNITS[3:])
        there = f"date_trunc('{unit}', {in_zone('{}', zone)})"
        form = (f"date_trunc('{unit}', {{}}, '{zone}')", f"({there} AT TIME ZONE '{zone}' AT TIME ZONE 'UTC')")
        return self.build("time", form, time)

    def time_literal(self):
        start, seconds = (DENSE_FROM, DENSE_SECONDS) if self.percent(60) else (WIDE_FROM, WIDE_SECONDS)
        time = start + datetime.timedelta(seconds=self.draw.randrange(seconds))
        return same("time", f"TIMESTAMP '{time}'")

    # Conditions

    def boolean(self, depth):
        if depth == 0 or self.percent(20):
            return self.draw.choice([self.compare_numbers, self.compare_texts, self.is_missing, self.plain])(0)
        return self.draw.choice([
            self.both, self.both, self.compare_numbers, self.compare_texts, self.compare_times, self.one_of,
            self.like, self.about_set, self.is_missing, self.distinct_from, self.about_text])(depth - 1)

    def plain(self, _depth):
        return same("bool", self.draw.choice(["ok", "(ok IS TRUE)", "(ok IS NOT FALSE)", "(ok = false)", "(NOT ok)"]))

    def both(self, depth):
        if self.percent(25):
            return self.build("bool", "(NOT {})", self.boolean(depth))
        return self.build("bool", self.draw.choice(["({} AND {})", "({} OR {})"]), self.boolean(depth), self.boolean(depth))

    def compare_numbers(self, depth):
        if self.percent(30):
            low = self.draw.randint(-10, 300)
            negated = self.draw.choice(["", "NOT "])
            return self.build("bool", f"({{}} {negated}BETWEEN {low} AND {low + 150})", self.exact_number(depth))
        if self.percent(50):
            operator = self.draw.choice(["=", "<>", "<", "<=", ">", ">="])
            return self.build("bool", f"({{}} {operator} {{}})", self.exact_number(depth), self.exact_number(0))
        number = self.draw.choice(["0.123", "1.7", "33.33", "251.9", "-0.37"])
        return self.build("bool", f"({{}} {self.draw.choice('<>')} {number})", self.number(depth))

    def compare_texts(self, depth):
        operator = self.draw.choice(["=", "<>", "<", "<=", ">", ">="])
        other = self.text_literal() if self.percent(70) else self.text(depth)
        return self.build("bool", f"({{}} {operator} {{}})", self.text(depth), other)

    def compare_times(self, depth):
        return self.build("bool", f"({{}} {self.draw.choice(['<', '>=', '='])} {{}})", self.time(depth), self.time_literal())

    def one_of(self, depth):
        negated = self.draw.choice(["", "NOT "])
        if self.percent(60):
            items = ", ".join(quote(self.draw.choice(SERVICES + PATHS)) for _ in range(self.draw.randint(1, 4)))
            return self.build("bool", f"({{}} {negated}IN ({items}))", self.text(depth))
        items = ", ".join(str(self.draw.choice([200, 404, 500, 0, 1, -3, "NULL"])) for _ in range(self.draw.randint(1, 4)))
        form = self.draw.choice([f"({{}} {negated}IN ({items}))", f"({{}} = ANY(ARRAY[{items}]))"])
        return self.build("bool", form, self.exact_number(depth))

    def like(self, depth):
        pattern = quote(self.draw.choice(LIKES))
        if self.percent(60):
            operator = self.draw.choice(["LIKE", "NOT LIKE", "ILIKE"])
            form = (f"({{}} {operator} {pattern})", f"({{}} {operator} {pattern} ESCAPE '\\')")
            return self.build("bool", form, self.text(depth))
        pattern = quote(self.draw.choice(PATTERNS))
        return self.build("bool", (f"({{}} ~ {pattern})", f"regexp_matches({{}}, {pattern})"), self.text(depth))

    def about_set(self, _depth):
        items = ", ".join(quote(tag) for tag in self.draw.sample(TAGS, self.draw.randint(1, 2)))
        return Expr("bool", *self.draw.choice([
            (f"includes_any(tags, {items})", f"list_has_any(tags, [{items}])"),
            (f"includes_all(tags, {items})", f"list_has_all(tags, [{items}])"),
            (f"includes_none(tags, {items})", f"(NOT list_has_any(tags, [{items}]))"),
            ("is_empty(tags)", "(len(tags) = 0)"),
        ]))

    def is_missing(self, _depth):
        return self.build("bool", self.draw.choice(["({} IS NULL)", "({} IS NOT NULL)"]),
                          self.column("text", "int", "decimal", "double", "id", "bool", "set"))

    def distinct_from(self, depth):
        operator = self.draw.choice(["IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
        return self.build("bool", f"({{}} {operator} {{}})", self.text(depth), self.text(0))

    def about_text(self, depth):
        name = self.draw.choice(["starts_with", "ends_with", "contains"])
        return self.build("bool", f"{name}({{}}, {quote(self.draw.choice(['/', 'a', 'e', 'host', '']))})", self.text(depth))


def is_constant(expression):
    return not any(name in expression.ours for name, _, _ in COLUMNS)


def in_zone(time, zone):
    """What a wall clock of the zone shows at a TIMESTAMP of DuckDB that is in UTC."""
    return f"({time} AT TIME ZONE 'UTC' AT TIME ZONE '{zone}')"
