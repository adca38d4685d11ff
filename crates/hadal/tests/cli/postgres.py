"""psycopg 3, SQLAlchemy and pandas against a server with the rows of postgres.rs."""

import sys
import threading
from datetime import datetime, timezone
from decimal import Decimal

import pandas
import psycopg
import sqlalchemy

host, port = sys.argv[1:]
# A query of the catalog that would take years.
LONG = "SELECT count(*) FROM " + ", ".join(f"pg_type t{number}" for number in range(15))
FIRST = datetime(2026, 11, 20, 10, tzinfo=timezone.utc)


def psycopg_reads(binary):
    with psycopg.connect(host=host, port=port, user="me", dbname="hadal") as connection:
        cursor = connection.cursor(binary=binary)
        cursor.execute("SELECT time, host, ok, status, tags, ms FROM requests ORDER BY time")
        first = cursor.fetchone()
        assert first == (FIRST, "a", True, 200, ["x", "y"], 1.5), first
        assert cursor.fetchone()[4] is None
        sql = "SELECT count(*) FROM requests WHERE host = %s AND status >= %s AND time >= %s"
        cursor.execute(sql, ("a", 200, FIRST))
        assert cursor.fetchone() == (2,)
        cursor.execute("SELECT host FROM requests WHERE ok = %s LIMIT %s", (False, 5))
        assert cursor.fetchall() == [("a",)]
        cursor.execute("SELECT host FROM requests WHERE host = %s", ("x' OR 'a' = 'a",))
        assert cursor.fetchall() == []
        for _ in range(8):  # psycopg prepares a statement that it has run five times
            cursor.execute("SELECT sum(ms) FROM requests WHERE status = %s", (200,), prepare=True)
            assert cursor.fetchone()[0] in (11.5, Decimal("11.5"))


def psycopg_fails():
    with psycopg.connect(host=host, port=port, user="me", autocommit=True) as connection:
        for sql, error in [
            ("SELECT * FROM nope", psycopg.errors.UndefinedTable),
            ("SELECT nope FROM requests", psycopg.errors.UndefinedColumn),
            ("SELECT FROM WHERE", psycopg.errors.SyntaxError),
        ]:
            try:
                connection.execute(sql)
            except error as failure:
                assert failure.diag.message_primary
            else:
                raise AssertionError(sql)
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with psycopg.connect(host=host, port=port, user="me") as connection:
        try:
            connection.execute("SELECT * FROM nope")
        except psycopg.errors.UndefinedTable:
            pass
        try:
            connection.execute("SELECT 1")
        except psycopg.errors.InFailedSqlTransaction:
            connection.rollback()
        else:
            raise AssertionError("the transaction has failed")


def psycopg_cancels():
    with psycopg.connect(host=host, port=port, user="me", autocommit=True) as connection:
        ended = threading.Event()

        def cancel():
            # A request that comes too early has no effect.
            while not ended.is_set():
                connection.cancel_safe()
                ended.wait(0.05)

        canceller = threading.Thread(target=cancel)
        canceller.start()
        try:
            connection.execute(LONG)
        except psycopg.errors.QueryCanceled:
            pass
        else:
            raise AssertionError("the query has ended")
        finally:
            ended.set()
            canceller.join()
        while True:
            try:
                assert connection.execute("SELECT 1").fetchone() == (1,)
                break
            except psycopg.errors.QueryCanceled:
                continue  # the last request came late


def psycopg_writes():
    with psycopg.connect(host=host, port=port, user="me") as connection:
        cursor = connection.cursor()
        rows = [(FIRST, "p", index) for index in range(3)]
        cursor.executemany("INSERT INTO logged (time, host, n) VALUES (%s, %s, %s)", rows)
        with cursor.copy("COPY logged (time, host, n) FROM STDIN") as copy:
            copy.write_row((FIRST, "c\td", 10))
            copy.write_row((FIRST, None, 11))
        connection.commit()
        cursor.execute("SELECT host, n FROM logged ORDER BY n")
        expected = [("p", 0), ("p", 1), ("p", 2), ("c\td", 10), (None, 11)]
        assert cursor.fetchall() == expected
        cursor.execute("DROP TABLE logged")


def sqlalchemy_inspects():
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://me@{host}:{port}/hadal")
    inspector = sqlalchemy.inspect(engine)
    assert inspector.get_table_names() == ["requests"], inspector.get_table_names()
    assert "public" in inspector.get_schema_names()
    columns = {column["name"]: column["type"] for column in inspector.get_columns("requests")}
    assert isinstance(columns["time"], sqlalchemy.types.TIMESTAMP), columns
    assert isinstance(columns["status"], sqlalchemy.types.NUMERIC), columns
    assert isinstance(columns["host"], sqlalchemy.types.TEXT), columns
    assert inspector.has_table("requests") and not inspector.has_table("nope")
    frame = pandas.read_sql("SELECT time, host, status, ms FROM requests ORDER BY time", engine)
    assert list(frame["status"]) == [200, 500, 200]
    kinds = [frame[name].dtype.kind for name in ["status", "ms"]]
    assert kinds == ["i", "f"], frame.dtypes
    assert frame["time"][0] == pandas.Timestamp(FIRST)
    counts = pandas.read_sql("SELECT host, count(*) AS n FROM requests GROUP BY host ORDER BY n", engine)
    assert list(counts["n"]) == [1, 2]


psycopg_reads(binary=False)
psycopg_reads(binary=True)
psycopg_fails()
psycopg_cancels()
psycopg_writes()
sqlalchemy_inspects()
print("fine")
