"""Random SELECTs, each as Hadal and as DuckDB spell it."""

import random
import re
from dataclasses import dataclass, field

from expressions import Expr, Expressions, same


@dataclass
class Query:
    """Both texts, the columns, and whether the order of the rows is part of the answer."""

    ours: str
    theirs: str
    columns: list = field(default_factory=list)
    ordered: bool = False


@dataclass
class Part:
    """A SELECT without ORDER BY and LIMIT: its columns by alias, the keys that make a row unique, its two texts."""

    columns: dict
    keys: list
    ours: str
    theirs: str


AGGREGATES_OF_EXACT = ["min({})", "max({})", "count(DISTINCT {})", "any_value({})", "first({})", "last({})"]


class Queries(Expressions):
    """The query of a seed over a table."""

    def __init__(self, seed, table):
        super().__init__(random.Random(seed * 2))
        self.table = table

    def query(self):
        if self.percent(8):
            return self.finished(self.groups_of_rows())
        part = self.draw.choice([self.groups, self.groups, self.groups, self.rows, self.distinct])()
        if self.percent(20):
            part = self.wrapped(part)
        return self.finished(part)

    # Aggregates

    def aggregate(self):
        if self.percent(12):
            return self.ratio()
        result = self.draw.choice([
            self.counted, self.counted, self.summed, self.summed, self.extreme, self.extreme, self.percentile,
            self.spread, self.related, self.picked])()
        if not self.percent(20):
            return self.with_filter(result, None)
        return self.with_filter(result, self.boolean(1))

    def with_filter(self, result, condition):
        """Replaces the marks `{filter}` and `{and}`, which stand for FILTER and for a further condition of it."""
        result = Expr(result.kind, result.ours, result.theirs, result.exact)
        ours = f" FILTER (WHERE {condition.ours})" if condition else ""
        theirs = f" FILTER (WHERE {condition.theirs})" if condition else ""
        and_theirs = f" AND {condition.theirs}" if condition else ""
        result.ours = result.ours.replace("@filter", ours)
        result.theirs = result.theirs.replace("@filter", theirs).replace("@and", and_theirs)
        return result

    def ratio(self):
        top, bottom = self.summed(), self.counted()
        # Counts of many distinct values are estimates.
        while not bottom.exact:
            bottom = self.counted()
        form = ("{} / {}", "{}::DOUBLE / nullif({}, 0)")
        result = self.build("double", form, self.with_filter(top, None), self.with_filter(bottom, self.boolean(0)))
        result.exact = False
        return result

    def counted(self):
        number = self.draw.randrange(4)
        if number == 0:
            return same("int", "count(*)@filter")
        if number == 1:
            return self.build("int", "count({})@filter", self.column("text", "int", "double", "bool", "set"))
        if number == 2:
            return Expr("int", "raw_count(*)@filter", "count(*) FILTER (WHERE copy = 0@and)")
        result = self.build("distinct", "count(DISTINCT {})@filter", self.any_key(1))
        result.exact = self.table.small
        return result

    def summed(self):
        if self.percent(15):
            return Expr("int", "sum(ok)@filter", "sum(ok::INT)@filter")
        number = self.number(1)
        function = self.draw.choice(["sum", "avg"])
        kind = "int" if number.exact and function == "sum" else "double"
        return Expr(kind, f"{function}({number.ours})@filter", f"{function}({number.theirs})@filter", kind == "int")

    def extreme(self):
        key = self.any_key(1)
        function = self.draw.choice(["min", "max", "any_value"])
        theirs = "min" if function == "any_value" else function
        return self.build(key.kind, (f"{function}({{}})@filter", f"{theirs}({{}})@filter"), key)

    def percentile(self):
        share = self.draw.choice([0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.999, 1])
        number = self.column("int", "decimal", "double") if self.table.small else self.draw.choice([
            same("int", "status"), same("double", "latency"), same("int", "bytes")])
        ours = self.draw.choice([
            f"percentile_cont({share}) WITHIN GROUP (ORDER BY {{}})", f"quantile_cont({{}}, {share})",
            f"percentile({{}}, {share * 100:g})"])
        if share in (0.25, 0.5, 0.95):
            ours = self.draw.choice([ours, {0.25: "p25({})", 0.5: "median({})", 0.95: "p95({})"}[share]])
        theirs = f"quantile_cont({{}}, {share})"
        if self.percent(30):
            ours = self.draw.choice([f"quantile_disc({{}}, {share})",
                                     f"percentile_disc({share}) WITHIN GROUP (ORDER BY {{}})"])
            theirs = f"quantile_disc({{}}, {share})"
        theirs = theirs.replace("{}", "{}::DOUBLE")
        result = self.build("percentile", (ours + "@filter", theirs + "@filter"), number)
        result.exact = False
        return result

    def spread(self):
        name = self.draw.choice(["stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop"])
        result = self.build("spread", f"{name}({{}})@filter", self.column("decimal", "double") if self.percent(60)
                            else self.draw.choice([same("int", "status"), same("int", "change")]))
        result.exact = False
        return result

    def related(self):
        name = self.draw.choice(["covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept"])
        numbers = ["price", "latency", "status", "change"]
        y, x = self.draw.sample(numbers, 2)
        form = f"{name}({{}}, {{}})@filter"
        result = self.build("spread", (form, form.replace("{}", "{}::DOUBLE")), same("double", y), same("double", x))
        result.exact = False
        return result

    def picked(self):
        value = self.any_key(1)
        by = same("time", "time") if self.percent(50) else self.column("int", "decimal", "text")
        largest = self.draw.choice([True, False])
        if by.ours == "time" and self.percent(70):
            ours = f"{'last' if largest else 'first'}({value.ours})@filter"
        else:
            ours = f"{'arg_max' if largest else 'arg_min'}({value.ours}, {by.ours})@filter"
        way = "DESC" if largest else "ASC"
        theirs = (f"first({value.theirs} ORDER BY {by.theirs} {way}, {value.theirs})"
                  f" FILTER (WHERE {value.theirs} IS NOT NULL AND {by.theirs} IS NOT NULL@and)")
        return Expr(value.kind, ours, theirs, value.exact)

    # Queries

    def where(self):
        """The WHERE of both, mostly with a time range."""
        conditions = []
        if self.percent(60):
            low, high = sorted([self.time_literal().ours, self.time_literal().ours])
            conditions.append(same("bool", f"time >= {low} AND time < {high}"))
        if self.percent(50):
            conditions.append(self.boolean(3))
        if not conditions:
            return "", ""
        return tuple(
            " WHERE " + " AND ".join(getattr(condition, side) for condition in conditions)
            for side in ("ours", "theirs"))

    def groups(self):
        keys = {f"k{index}": self.any_key(2) for index in range(self.draw.choice([0, 1, 1, 1, 2, 3]))}
        if self.percent(8):
            keys["tags"] = Expr("set", "tags", "list_sort(tags)")
        values = {f"a{index}": self.aggregate() for index in range(self.draw.randint(1, 4))}
        columns = {**keys, **values}
        where = self.where()
        grouped, having = "", ("", "")
        if keys:
            grouped = self.draw.choice([
                " GROUP BY ALL", " GROUP BY " + ", ".join(str(index + 1) for index in range(len(keys))),
                " GROUP BY " + ", ".join(keys)])
        if self.percent(25):
            having = self.having(values)
        return Part(columns, list(keys), *(
            f"SELECT {items(columns, side)} FROM {table}{where[index]}{grouped}{having[index]}"
            for index, (side, table) in enumerate([("ours", self.table.name), ("theirs", self.table.name + "_events")])))

    def having(self, values):
        texts = [value for value in values.values() if value.kind == "text"]
        if texts and self.percent(30):
            result = self.build("bool", f" HAVING {{}} {self.draw.choice(['<', '>=', '<>'])} 'h'", texts[0])
            return result.ours, result.theirs
        numbers = [value for value in values.values() if value.exact and value.kind == "int"]
        subject = self.draw.choice(numbers) if numbers and self.percent(60) else same("int", "count(*)")
        limit, operator = self.draw.choice([0, 1, 2, 5, 20, 300]), self.draw.choice([">", "<=", "<>"])
        form = f" HAVING {{}} {operator} {limit}"
        result = self.build("bool", form, subject)
        return result.ours, result.theirs

    def rows(self):
        columns = {"time": same("time", "time")}
        for index in range(self.draw.randint(1, 4)):
            choose = self.draw.choice([self.any_key, self.number, self.text, self.time, self.boolean])
            columns[f"c{index}"] = choose(3)
        if self.percent(20):
            columns["tags"] = Expr("set", "tags", "list_sort(tags)")
        where = self.where()
        return Part(columns, ["time"], *(
            f"SELECT {items(columns, side)} FROM {self.table.name}{where[index]}"
            for index, side in enumerate(["ours", "theirs"])))

    def distinct(self):
        columns = {f"k{index}": self.any_key(2) for index in range(self.draw.randint(1, 3))}
        where = self.where()
        return Part(columns, list(columns), *(
            f"SELECT DISTINCT {items(columns, side)} FROM {self.table.name}{where[index]}"
            for index, side in enumerate(["ours", "theirs"])))

    def wrapped(self, part):
        """A query around another one, which filters and selects its columns."""
        # DuckDB's NaN is not null.
        conditions = [
            f"{name} IS NOT NULL" for name, column in part.columns.items()
            if self.percent(20) and column.kind not in ("set", "spread")]
        where = " WHERE " + " AND ".join(conditions) if conditions else ""
        return Part(part.columns, part.keys, *(
            f"SELECT * FROM ({text}) AS t{where}" for text in (part.ours, part.theirs)))

    def groups_of_rows(self):
        """Groups around a query of rows."""
        rows = self.rows()
        keys = [name for name, column in rows.columns.items()
                if name != "time" and column.exact and column.kind != "set" and self.percent(40)]
        columns = {f"k{index}": Expr(rows.columns[name].kind, f"t.{name}", f"t.{name}")
                   for index, name in enumerate(keys[:2])}
        keys = list(columns)
        columns["a0"] = same("int", "count(*)")
        for index, (name, column) in enumerate(rows.columns.items()):
            if column.exact and column.kind in ("int", "decimal", "number") and self.percent(60):
                columns[f"a{index + 1}"] = same("int", f"sum({name})")
            elif column.exact and column.kind in ("text", "time") and self.percent(60):
                columns[f"a{index + 1}"] = same(column.kind, f"{self.draw.choice(['min', 'max'])}(t.{name})")
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        condition = "" if self.percent(50) else " WHERE time IS NOT NULL"
        events = re.sub(rf"FROM {self.table.name}\b", f"FROM {self.table.name}_events", rows.theirs)
        return Part(columns, keys, *(
            f"SELECT {items(columns, side)} FROM ({text}) AS t{condition}{grouped}"
            for side, text in (("ours", rows.ours), ("theirs", events))))

    def finished(self, part):
        columns = list(part.columns.values())
        sortable = [name for name, column in part.columns.items()
                    if column.exact and column.kind not in ("set",)]
        unique = all(part.columns[key].kind != "set" for key in part.keys)
        if not self.percent(60) or not sortable or not unique:
            return Query(part.ours, part.theirs, columns)
        first = [name for name in sortable if name not in part.keys or self.percent(40)]
        self.draw.shuffle(first)
        names = first[:2] + [key for key in part.keys if key not in first[:2]]
        ours, theirs = [], []
        for name in names:
            descending, nulls = self.percent(50), self.draw.choice(["", " NULLS FIRST", " NULLS LAST"])
            way = " DESC" if descending else ""
            # An aggregate by its text, or by its alias.
            by_text = name.startswith("a") and "FROM (" not in part.ours and self.percent(30)
            ours.append((part.columns[name].ours if by_text else name) + way + nulls)
            theirs.append(name + way + (nulls or (" NULLS FIRST" if descending else " NULLS LAST")))
        limit = ""
        if self.percent(60):
            limit = f" LIMIT {self.draw.choice([0, 1, 3, 10, 100])}"
            if self.percent(25):
                limit += f" OFFSET {self.draw.randint(1, 6)}"
        return Query(
            f"{part.ours} ORDER BY {', '.join(ours)}{limit}", f"{part.theirs} ORDER BY {', '.join(theirs)}{limit}",
            columns, ordered=True)


def items(columns, side):
    def item(name, column):
        text = getattr(column, side)
        return text if text == name else f"{text} AS {name}"

    return ", ".join(item(name, column) for name, column in columns.items())
