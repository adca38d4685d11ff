"""DataFusion: record batches in memory, words as dictionaries, long texts as views, numbers as narrow as their values."""

import datafusion
import pyarrow
import pyarrow.parquet
from datafusion import SessionConfig, SessionContext

from questions import ALTERNATION, APPROXIMATELY, EXACTLY, QUANTILES, REWRITTEN, WORDS

SHORT = pyarrow.dictionary(pyarrow.int8(), pyarrow.string())
LONG = pyarrow.dictionary(pyarrow.int16(), pyarrow.string())
TYPES = {
    "time": pyarrow.int32(), "kind": SHORT, "endpoint": LONG, "country": LONG, "latency_us": pyarrow.int32(),
    "user_id": pyarrow.int64(), "build": SHORT, "rate": pyarrow.int16(), "service": SHORT, "host": LONG,
    "datacenter": SHORT, "status": pyarrow.int16(), "bytes": pyarrow.int32(), "message": pyarrow.string_view(),
    "app": SHORT, "device": LONG, "battery_pct": pyarrow.int8(), "fps": pyarrow.float32(),
}
READINGS = {"time": pyarrow.int32(), "sensor_id": pyarrow.int16(), "temperature": pyarrow.uint8()}
BATCH_ROWS = 8192


def packed(column, kind):
    if not pyarrow.types.is_dictionary(kind):
        return column.cast(kind)
    # One dictionary for all batches.
    words = column.combine_chunks().dictionary_encode()
    words = words.combine_chunks() if isinstance(words, pyarrow.ChunkedArray) else words
    return pyarrow.DictionaryArray.from_arrays(words.indices.cast(kind.index_type), words.dictionary)


class Engine:
    name = "datafusion"
    title = f"DataFusion {datafusion.__version__}"

    def __init__(self, threads, folder):
        self.threads = threads
        config = SessionConfig().with_target_partitions(threads).with_batch_size(BATCH_ROWS)
        self.context = SessionContext(config)

    def load(self, table, path):
        types = READINGS if table == "readings" else TYPES
        columns = pyarrow.parquet.ParquetFile(path)
        arrays = [packed(columns.read([name]).column(0), kind) for name, kind in types.items()]
        batches = pyarrow.table(arrays, names=list(types)).to_batches(BATCH_ROWS)
        share = -(-len(batches) // self.threads)
        parts = [batches[at:at + share] for at in range(0, len(batches), share)]
        self.context.register_record_batches(table, parts)

    def load_file(self, path, form):
        kinds = {name: pyarrow.string() if pyarrow.types.is_dictionary(kind) else kind for name, kind in TYPES.items()}
        frame = {
            "jsonl": lambda: self.context.read_json(path, schema=pyarrow.schema(kinds), file_extension=".jsonl"),
            "csv": lambda: self.context.read_csv(path, schema=pyarrow.schema(kinds)),
            "parquet": lambda: self.context.read_parquet(path),
        }[form]()
        self.context.register_record_batches("requests", [frame.collect()])
        return self.context.sql("SELECT count(*) FROM requests").collect()[0][0][0].as_py()

    def forms(self, question):
        sql = question.sql
        if question.base == "minutes":
            return {"": (EXACTLY, sql.format(minute="time / 60"))}
        if question.base == "alternation":
            contains = "(" + " OR ".join(f"message LIKE '%{word}%'" for word in WORDS) + ")"
            return {"~": (EXACTLY, sql), "LIKE OR": (REWRITTEN, sql.replace(f"message ~ '{ALTERNATION}'", contains))}
        if question.base == "percentiles" and question.is_weighted:
            each = ", ".join(f"approx_percentile_cont_with_weight(rate, {share}) WITHIN GROUP (ORDER BY latency_us)"
                             for share in QUANTILES)
            return {"approx_percentile_cont_with_weight": (APPROXIMATELY, sql.format(percentiles=each))}
        if question.base == "percentiles":
            def each(function):
                return ", ".join(f"{function}({share}) WITHIN GROUP (ORDER BY latency_us)" for share in QUANTILES)
            return {
                "percentile_cont": (EXACTLY, sql.format(percentiles=each("percentile_cont"))),
                "approx_percentile_cont": (APPROXIMATELY, sql.format(percentiles=each("approx_percentile_cont"))),
            }
        if question.base == "distinct":
            return {
                "count distinct": (EXACTLY, sql.format(distinct="count(DISTINCT user_id)")),
                "approx_distinct": (APPROXIMATELY, sql.format(distinct="approx_distinct(user_id)")),
            }
        return {"": (EXACTLY, sql)}

    def run(self, form):
        return self.context.sql(form).collect()

    def rows(self, answer):
        return [list(row.values()) for batch in answer for row in batch.to_pylist()]

    def facts(self):
        return {}
