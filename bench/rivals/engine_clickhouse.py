"""ClickHouse, as chDB: Memory tables with LowCardinality words and no nulls, as its own guide advises; and, for bytes on
disk and the search of compressed text, the same columns as a MergeTree by time, compressed as ClickHouse does unasked."""

import chdb
import pyarrow
from chdb.session import Session

from questions import ALTERNATION, APPROXIMATELY, EXACTLY, QUANTILES, REWRITTEN, WORDS

WORD = "LowCardinality(String)"
COLUMNS = {
    "time": "UInt32", "kind": WORD, "endpoint": WORD, "country": WORD, "latency_us": "UInt32", "user_id": "UInt64",
    "build": WORD, "rate": "UInt16", "service": WORD, "host": WORD, "datacenter": WORD, "status": "UInt16",
    "bytes": "UInt32", "message": "String", "app": WORD, "device": WORD, "battery_pct": "UInt8", "fps": "Float32",
}
READINGS = {"time": "UInt32", "sensor_id": "UInt16", "temperature": "UInt8"}


def declared(columns):
    return ", ".join(f"{column} {kind}" for column, kind in columns.items())


class Engine:
    name = "clickhouse"
    title = f"ClickHouse {chdb.engine_version}"

    def __init__(self, threads, folder):
        self.session = Session(f"{folder}/chdb")
        self.ask("CREATE DATABASE IF NOT EXISTS bench ENGINE = Atomic")
        self.ask("USE bench")
        self.settings = f"SETTINGS max_threads = {threads}, max_insert_threads = {threads}, use_query_cache = 0"

    def ask(self, sql, form="CSV"):
        return self.session.query(sql, form)

    def load(self, table, path):
        columns = READINGS if table == "readings" else COLUMNS
        self.ask(f"CREATE TABLE {table} ({declared(columns)}) ENGINE = Memory")
        self.fill(table, path, "Parquet", columns)
        if self.settings.startswith("SETTINGS max_threads = 1,"):
            self.ask(f"CREATE TABLE {table}_merge_tree ({declared(columns)}) ENGINE = MergeTree ORDER BY time")
            self.ask(f"INSERT INTO {table}_merge_tree SELECT * FROM {table} {self.settings}")
            self.ask(f"OPTIMIZE TABLE {table}_merge_tree FINAL")

    def fill(self, table, path, form, columns):
        self.ask(f"INSERT INTO {table} SELECT * FROM file('{path}', {form}, '{declared(columns)}') {self.settings},"
                 " input_format_null_as_default = 1")

    def load_file(self, path, form):
        self.ask(f"CREATE TABLE requests ({declared(COLUMNS)}) ENGINE = Memory")
        self.fill("requests", path, {"jsonl": "JSONEachRow", "csv": "CSVWithNames", "parquet": "Parquet"}[form], COLUMNS)
        return int(self.ask("SELECT count() FROM requests").bytes())

    def forms(self, question):
        sql = question.sql
        if question.base == "minutes":
            return {"": (EXACTLY, sql.format(minute="intDiv(time, 60)"))}
        if question.base == "literal":
            forms = {"LIKE": (EXACTLY, sql)}
            if self.settings.startswith("SETTINGS max_threads = 1,"):
                forms["MergeTree"] = (EXACTLY, sql.replace("FROM requests", "FROM requests_merge_tree"))
            return forms
        if question.base == "alternation":
            regex = f"message ~ '{ALTERNATION}'"
            return {
                "match": (EXACTLY, sql.replace(regex, f"match(message, '{ALTERNATION}')")),
                "multiMatchAny": (EXACTLY, sql.replace(regex, f"multiMatchAny(message, ['{ALTERNATION}'])")),
                "multiSearchAny": (REWRITTEN, sql.replace(regex, f"multiSearchAny(message, {list(WORDS)})")),
            }
        if question.base == "percentiles" and question.is_weighted:
            shares = ", ".join(map(str, QUANTILES))
            kinds = {"quantilesExactWeighted": EXACTLY, "quantilesTDigestWeighted": APPROXIMATELY,
                     "quantilesBFloat16Weighted": APPROXIMATELY}
            return {name: (kind, sql.format(percentiles=f"{name}({shares})(latency_us, rate)")) for name, kind in kinds.items()}
        if question.base == "percentiles":
            shares = ", ".join(map(str, QUANTILES))
            kinds = {
                "quantilesExact": (EXACTLY, f"quantilesExact({shares})"),
                "quantilesTDigest": (APPROXIMATELY, f"quantilesTDigest({shares})"),
                "quantilesDD": (APPROXIMATELY, f"quantilesDD(0.01, {shares})"),
                "quantilesBFloat16": (APPROXIMATELY, f"quantilesBFloat16({shares})"),
            }
            return {name: (kind, sql.format(percentiles=f"{text}(latency_us)")) for name, (kind, text) in kinds.items()}
        if question.base == "distinct":
            names = ("uniqExact", "uniq", "uniqCombined", "uniqHLL12")
            return {name: (EXACTLY if name == "uniqExact" else APPROXIMATELY, sql.format(distinct=f"{name}(user_id)"))
                    for name in names}
        return {"": (EXACTLY, sql)}

    def run(self, form):
        return self.ask(f"{form} {self.settings}, output_format_arrow_string_as_string = 1,"
                        " output_format_arrow_low_cardinality_as_dictionary = 0", "Arrow").bytes()

    def rows(self, answer):
        table = pyarrow.ipc.open_file(pyarrow.BufferReader(answer)).read_all()
        return [list(row.values()) for row in table.to_pylist()]

    def facts(self):
        """Bytes of all files of the MergeTree's parts on disk."""
        text = self.ask("SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'bench'"
                        " AND engine = 'MergeTree' GROUP BY table", "TSV").bytes().decode()
        return {"merge_tree_bytes": {table: int(size) for table, size in map(str.split, text.splitlines())}}
