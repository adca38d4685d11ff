"""Answers: rows, and what there is to say of them."""

import datetime
import decimal
import http.client
import json

ARROW = "application/vnd.apache.arrow.stream"
# The key of a schema's metadata for the summary of an answer.
SUMMARY = b"hadal.answer"


class Incomplete(Exception):
    """An answer broke off before its end: a query failed meanwhile, or the connection."""


class Answer:
    """The answer to one query.

    `columns` has the names. `warnings` are objects with code, subject, count and message.
    `coverage` says how many of the rows that should have been looked at were: `rows_scanned`,
    `rows_expected`, `fraction`. `truncated` says that a limit of the server ended the rows."""

    def __init__(self, columns, rows, table, summary):
        self.columns = columns
        self._rows = rows
        self._table = table
        self.summary = summary
        self.warnings = summary.get("warnings", [])
        self.coverage = summary.get("coverage", {})
        self.stats = summary.get("stats", {})
        self.truncated = bool(summary.get("truncated"))

    @property
    def rows(self):
        """The rows, as a list of tuples."""
        if self._rows is None:
            columns = [column.to_pylist() for column in self._table.columns]
            self._rows = list(zip(*columns))
        return self._rows

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self._rows) if self._table is None else self._table.num_rows

    def arrow(self):
        """The rows as a `pyarrow.Table`."""
        if self._table is None:
            raise ImportError("answers as Arrow, pandas and polars need pyarrow: pip install pyarrow")
        return self._table

    def pandas(self):
        """The rows as a `pandas.DataFrame`."""
        return self.arrow().to_pandas()

    def polars(self):
        """The rows as a `polars.DataFrame`."""
        import polars

        return polars.from_arrow(self.arrow())

    def __repr__(self):
        return f"<hadal.Answer: {len(self)} rows of {', '.join(self.columns)}>"


def of_json(body):
    """An answer of the JSON format."""
    answer = json.loads(body)
    readers = [_READERS.get(column["type"], _same) for column in answer["columns"]]
    rows = [tuple(read(value) for read, value in zip(readers, row)) for row in answer["rows"]]
    cut = any(warning["code"] == "limit_reached" for warning in answer["warnings"])
    keys = ("coverage", "stats", "warnings", "time")
    summary = {key: answer[key] for key in keys if key in answer}
    summary.update(rows=len(rows), truncated=cut, ended=True)
    return Answer([column["name"] for column in answer["columns"]], rows, None, summary)


def _same(value):
    return value


def _number(value):
    # Numbers that a double loses are strings in JSON.
    if not isinstance(value, str):
        return value
    return int(value) if value.lstrip("-").isdigit() else decimal.Decimal(value)


def _time(value):
    if value is None:
        return None
    text, _, fraction = value.rstrip("Z").partition(".")
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        return value
    return time.replace(microsecond=int(fraction.ljust(6, "0") or 0), tzinfo=datetime.timezone.utc)


_READERS = {"number": _number, "time": _time}


class Batches:
    """The record batches of an answer, as they come; a client that stops stops the query.
    `summary` is complete after the last one."""

    def __init__(self, response):
        import pyarrow

        self._pyarrow = pyarrow
        self._response = response
        self._source = pyarrow.PythonFile(response, mode="r")
        with _whole():
            self._reader = pyarrow.ipc.open_stream(self._source)
        self.schema = self._reader.schema.remove_metadata()
        self.summary = _summary_of(self._reader.schema)

    def __iter__(self):
        return self

    def __next__(self):
        if self._reader is None:
            raise StopIteration
        with _whole():
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                self._end()
                raise
        return batch.replace_schema_metadata(None)

    def _end(self):
        """Reads the stream without rows that ends an answer: it has the summary."""
        self._reader = None
        try:
            last = self._pyarrow.ipc.open_stream(self._source)
        except self._pyarrow.ArrowInvalid as error:
            raise Incomplete("the answer has no end") from error
        self.summary = _summary_of(last.schema)
        if not self.summary.get("ended"):
            raise Incomplete("the answer has no end")
        self._response.read()

    def answer(self):
        """All rows."""
        table = self._pyarrow.Table.from_batches(list(self), self.schema)
        return Answer(self.schema.names, None, table, self.summary)


def _summary_of(schema):
    return json.loads((schema.metadata or {}).get(SUMMARY, b"{}"))


class _whole:
    """Turns a connection that breaks off into `Incomplete`."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _trace):
        if kind is not None and issubclass(kind, (http.client.HTTPException, OSError)):
            raise Incomplete(f"the answer broke off: {error!r}") from error
        return False
