"""DuckDB: tables in memory, words as ENUMs, whole numbers as narrow as their values."""

import duckdb

import questions
from questions import ALTERNATION, APPROXIMATELY, EXACTLY, LITERAL, REWRITTEN, WORDS

ENUMS = ("kind", "endpoint", "country", "build", "service", "host", "datacenter", "app", "device")
COLUMNS = {
    "time": "INTEGER", "kind": "VARCHAR", "endpoint": "VARCHAR", "country": "VARCHAR", "latency_us": "INTEGER",
    "user_id": "BIGINT", "build": "VARCHAR", "rate": "SMALLINT", "service": "VARCHAR", "host": "VARCHAR",
    "datacenter": "VARCHAR", "status": "SMALLINT", "bytes": "INTEGER", "message": "VARCHAR", "app": "VARCHAR",
    "device": "VARCHAR", "battery_pct": "TINYINT", "fps": "FLOAT",
}
READINGS = {"time": "INTEGER", "sensor_id": "SMALLINT", "temperature": "UTINYINT"}


def weighted_percentiles(sql):
    """The nearest ranks of latencies that count `rate` times each: DuckDB has no aggregate for them."""
    rows = sql[sql.index("FROM"):sql.index(" GROUP BY")]
    each = ", ".join(f"min(latency_us) FILTER (WHERE above >= {share} * every)" for share in questions.QUANTILES)
    return (f"WITH counted AS (SELECT service, latency_us, sum(rate) AS n {rows} GROUP BY service, latency_us), running AS ("
            "SELECT service, latency_us, sum(n) OVER (PARTITION BY service ORDER BY latency_us) AS above,"
            " sum(n) OVER (PARTITION BY service) AS every FROM counted)"
            f" SELECT service, {each} FROM running GROUP BY service")


class Engine:
    name = "duckdb"
    title = f"DuckDB {duckdb.__version__}"

    def __init__(self, threads, folder):
        self.connection = duckdb.connect(":memory:")
        self.connection.execute(f"SET threads = {threads}")
        self.connection.execute("SET preserve_insertion_order = true")

    def load(self, table, path):
        types = dict(READINGS if table == "readings" else COLUMNS)
        if table == "requests":
            for column in ENUMS:
                self.connection.execute(
                    f"CREATE TYPE {column}_word AS ENUM (SELECT DISTINCT {column} FROM '{path}'"
                    f" WHERE {column} IS NOT NULL ORDER BY {column})")
                types[column] = f"{column}_word"
        cast = ", ".join(f"{column}::{kind} AS {column}" for column, kind in types.items())
        self.connection.execute(f"CREATE TABLE {table} AS SELECT {cast} FROM '{path}'")

    def load_file(self, path, form):
        columns = ", ".join(f"{column}: '{kind}'" for column, kind in COLUMNS.items())
        cast = ", ".join(f"{column}::{kind} AS {column}" for column, kind in COLUMNS.items())
        source = {
            "jsonl": f"* FROM read_json('{path}', format = 'newline_delimited', columns = {{{columns}}})",
            "csv": f"* FROM read_csv('{path}', header = true, columns = {{{columns}}})",
            "parquet": f"{cast} FROM '{path}'",
        }[form]
        self.connection.execute(f"CREATE TABLE requests AS SELECT {source}")
        return self.connection.execute("SELECT count(*) FROM requests").fetchone()[0]

    def forms(self, question):
        sql = question.sql
        if question.base == "minutes":
            return {"": (EXACTLY, sql.format(minute="time // 60"))}
        if question.base == "literal":
            return {"LIKE": (EXACTLY, sql), "contains": (EXACTLY, sql.replace(
                f"message LIKE '%{LITERAL}%'", f"contains(message, '{LITERAL}')"))}
        if question.base == "alternation":
            regex = f"message ~ '{ALTERNATION}'"
            # DuckDB's ~ matches the whole text.
            return {
                "regexp_matches": (EXACTLY, sql.replace(regex, f"regexp_matches(message, '{ALTERNATION}')")),
                "contains OR": (REWRITTEN, sql.replace(
                    regex, "(" + " OR ".join(f"contains(message, '{word}')" for word in WORDS) + ")")),
            }
        if question.base == "percentiles" and question.is_weighted:
            return {"running sum": (EXACTLY, weighted_percentiles(sql))}
        if question.base == "percentiles":
            shares = str(list(questions.QUANTILES))
            return {
                "quantile_disc": (EXACTLY, sql.format(percentiles=f"quantile_disc(latency_us, {shares})")),
                "approx_quantile": (APPROXIMATELY, sql.format(percentiles=f"approx_quantile(latency_us, {shares})")),
            }
        if question.base == "distinct":
            return {
                "count distinct": (EXACTLY, sql.format(distinct="count(DISTINCT user_id)")),
                "approx_count_distinct": (APPROXIMATELY, sql.format(distinct="approx_count_distinct(user_id)")),
            }
        return {"": (EXACTLY, sql)}

    def run(self, form):
        return self.connection.sql(form).to_arrow_table()

    def rows(self, answer):
        return [list(row.values()) for row in answer.to_pylist()]

    def facts(self):
        return {}
