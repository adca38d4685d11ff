"""Polars: one DataFrame, words as categories, whole numbers as narrow as their values; asked lazily, by both of its
engines."""

import polars as pl

from questions import AFTER, ALTERNATION, APPROXIMATELY, BEFORE, EXACTLY, LITERAL, QUANTILES, RANGE, REWRITTEN, SERVICE, WORDS

WORD = pl.Categorical
TYPES = {
    "time": pl.Int32, "kind": WORD, "endpoint": WORD, "country": WORD, "latency_us": pl.Int32, "user_id": pl.Int64,
    "build": WORD, "rate": pl.Int16, "service": WORD, "host": WORD, "datacenter": WORD, "status": pl.Int16,
    "bytes": pl.Int32, "message": pl.String, "app": WORD, "device": WORD, "battery_pct": pl.Int8, "fps": pl.Float32,
}
READINGS = {"time": pl.Int32, "sensor_id": pl.Int16, "temperature": pl.UInt8}


def wide(column, weight=None):
    """A column in 64 bits, because Polars sums 32-bit numbers in 32 bits; times the column of weights."""
    value = pl.col(column).cast(pl.Int64)
    return value if weight is None else value * pl.col(weight)


def wide_sum(column, weight=None):
    return wide(column, weight).sum()


def count(weight):
    return pl.len() if weight is None else wide_sum(weight)


def count_if(condition, weight):
    return condition.sum() if weight is None else (condition * wide(weight)).sum()


def between(span):
    return pl.col("time").is_between(*span, closed="left")


FOUR = ("latency_us", "bytes", "status", "rate")
READING = [pl.len().alias("n"), wide_sum("temperature"), pl.col("temperature").min().alias("min"),
           pl.col("temperature").max().alias("max")]


def top(frame, keys, columns, weight, rows=100):
    sums = [wide_sum(column, weight).alias(f"sum {column}") for column in columns]
    return frame.group_by(keys).agg(count(weight).alias("n"), *sums).top_k(rows, by="n")


class Engine:
    name = "polars"
    title = f"Polars {pl.__version__}"

    def __init__(self, threads, folder):
        # The driver has set POLARS_MAX_THREADS.
        if pl.thread_pool_size() != threads:
            raise RuntimeError(f"{pl.thread_pool_size()} threads instead of {threads}")
        self.frames = {}

    def load(self, table, path):
        types = READINGS if table == "readings" else TYPES
        self.frames[table] = pl.read_parquet(path).select(pl.col(name).cast(kind) for name, kind in types.items()).rechunk()

    def load_file(self, path, form):
        schema = {name: pl.Int64 if kind.is_integer() else pl.String if kind == WORD else kind for name, kind in TYPES.items()}
        self.frames["requests"] = {
            "jsonl": lambda: pl.read_ndjson(path, schema=schema),
            "csv": lambda: pl.read_csv(path, schema_overrides=schema),
            "parquet": lambda: pl.read_parquet(path),
        }[form]()
        return self.frames["requests"].height

    def forms(self, question):
        """A form is a lazy frame and the engine that collects it."""
        forms = {}
        for words, (kind, lazy) in self.lazy(question).items():
            for engine in ("in-memory", "streaming"):
                forms[f"{words} {engine}".strip()] = (kind, (lazy, engine))
        return forms

    def lazy(self, question):
        name, frame = question.base, self.frames[question.table].lazy()
        weight = "rate" if question.is_weighted else None
        if question.table == "readings":
            span = [int(word) for word in question.sql.split() if word.isdigit() and len(word) == 10]
            frame = frame.filter(between(span))
            grouped = frame.select(READING) if name == "readings" else frame.group_by("sensor_id").agg(READING)
            return {"": (EXACTLY, grouped)}
        all_rows = frame.filter(between(RANGE))
        if name == "percentiles" and weight:
            # Polars has no weighted quantiles.
            return {}
        if name == "percentiles":
            quantiles = [pl.col("latency_us").quantile(share, "nearest").alias(str(share)) for share in QUANTILES]
            return {"": (EXACTLY, all_rows.group_by("service").agg(quantiles))}
        if name == "distinct":
            return {
                "n_unique": (EXACTLY, all_rows.group_by("country").agg(pl.col("user_id").n_unique())),
                "approx_n_unique": (APPROXIMATELY, all_rows.group_by("country").agg(pl.col("user_id").approx_n_unique())),
            }
        if name == "alternation":
            def counted(has):
                return all_rows.filter(has).select(count(weight))
            return {
                "regex": (EXACTLY, counted(pl.col("message").str.contains(ALTERNATION))),
                "contains_any": (REWRITTEN, counted(pl.col("message").str.contains_any(list(WORDS)))),
            }
        return {"": (EXACTLY, self.plain(name, frame, all_rows, weight))}

    def plain(self, name, frame, all_rows, weight):
        if name == "sums":
            return all_rows.select(count(weight).alias("n"), wide_sum("latency_us", weight), wide_sum("bytes", weight))
        if name == "minutes":
            keys = ["service", (pl.col("time") // 60).alias("minute")]
            return top(all_rows, keys, ["latency_us"], weight, 1800)
        if name == "hosts":
            return top(all_rows, "host", FOUR, weight)
        if name == "users":
            return top(all_rows, "user_id", [], weight)
        if name == "users_sums":
            return top(all_rows, "user_id", FOUR, weight)
        if name == "messages":
            return top(all_rows, "message", [], weight)
        if name == "literal":
            return all_rows.filter(pl.col("message").str.contains(LITERAL, literal=True)).select(count(weight))
        if name == "filter":
            chosen = all_rows.filter((pl.col("service") == SERVICE) & (pl.col("latency_us") > 20000))
            return top(chosen, "endpoint", ["latency_us"], weight)
        if name == "compare":
            before = count_if(pl.col("time") < BEFORE[1], weight).alias("n")
            after = count_if(pl.col("time") >= AFTER[0], weight).alias("m")
            return frame.filter(between(BEFORE) | between(AFTER)).group_by("endpoint").agg(before, after).top_k(100, by="n")
        if name == "errors":
            errors = count_if(pl.col("status") >= 500, weight).alias("errors")
            return all_rows.group_by("endpoint").agg(count(weight).alias("n"), errors).top_k(100, by="n")
        if name in ("weighted", "weighted_plain"):
            return all_rows.group_by("service").agg(wide_sum("rate").alias("n"))
        raise KeyError(name)

    def run(self, form):
        lazy, engine = form
        return lazy.collect(engine=engine)

    def rows(self, answer):
        return [list(row) for row in answer.rows()]

    def facts(self):
        return {}
