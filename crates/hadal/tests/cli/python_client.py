"""Uses the Python client as its README does: python_client.py URL."""

import datetime
import decimal
import http.server
import json
import socket
import subprocess
import sys
import threading

import hadal

url = sys.argv[1]


def logs_and_queries():
    with hadal.connect(url) as db:
        time = datetime.datetime(2026, 11, 20, 10, tzinfo=datetime.timezone.utc)
        for n in range(1_000):
            event = {
                "time": time + datetime.timedelta(seconds=n),
                "n": n,
                "half": n / 2,
                "big": 2**64 + n,
                "name": "é" if n % 2 else "a",
                "tags": {"x", "y"},
                "ok": n % 2 == 0,
            }
            assert db.log("events", event)
        assert db.flush(60)
        assert (db.dropped, db.rejected, db.last_error) == (0, 0, None)
        answer = db.query("SELECT time, n, half, big, name, tags, ok FROM events ORDER BY n LIMIT 2")
        first = (time, 0, 0.0, decimal.Decimal(2**64), "a", ["x", "y"], True)
        assert answer.rows[0] == first, answer.rows
        assert answer.columns == ["time", "n", "half", "big", "name", "tags", "ok"]
        assert list(answer) == answer.rows and len(answer) == 2
        assert answer.coverage["rows_scanned"] == 1_000 and not answer.truncated
        assert [warning["code"] for warning in answer.warnings] == ["no_time_range"]
        counts = db.query("SELECT name, count(*) AS c FROM events GROUP BY name ORDER BY name")
        assert counts.rows == [("a", 500), ("é", 500)]
        assert counts.arrow().to_pydict() == {"name": ["a", "é"], "c": [500, 500]}
        frame = counts.pandas()
        assert frame["c"].sum() == 1_000 and str(frame["c"].dtype) == "int64"
        assert counts.polars()["c"].to_list() == [500, 500]
        try:
            db.query("SELECT nothing FROM events")
        except hadal.Error as error:
            assert (error.status, error.kind) == (400, "bad-query") and error.position, error
        else:
            raise AssertionError("a query of an unknown column")


def many_rows_come_in_batches():
    with hadal.connect(url, queue_events=10**6) as db:
        start = 1_763_632_800_000_000
        for n in range(150_000):
            db.log("many", {"time": start + n // 2, "n": n})
        assert db.flush(120) and db.dropped == 0
        batches = db.batches("SELECT n FROM many ORDER BY time LIMIT 1000000")
        sizes = [batch.num_rows for batch in batches]
        assert len(sizes) > 2 and sum(sizes) == 150_000, sizes
        assert batches.summary["ended"] and batches.summary["rows"] == 150_000
        table = db.query("SELECT time, n FROM many LIMIT 1000000").arrow()
        numbers = table["n"].to_pylist()
        assert sorted(numbers) == list(range(150_000)) and numbers[:2] == [149_998, 149_999]
        assert db.query("SELECT n FROM many").truncated
        # The next query after one that was left.
        next(db.batches("SELECT n FROM many LIMIT 1000000"))
        assert db.query("SELECT 1").rows == [(1,)]


def sampling_keeps_the_counts():
    with hadal.connect(url) as db:
        for n in range(10_000):
            db.log("sampled", {"n": n}, sample_rate=10)
        assert db.flush(60)
        ((count,),) = db.query("SELECT count(*) FROM sampled")
        rows = len(db.query("SELECT n FROM sampled"))
        assert count == 10 * rows and 700 < rows < 1_300, (count, rows)


def a_full_queue_drops_and_counts():
    # Nobody accepts connections there.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    db = hadal.connect(f"http://127.0.0.1:{port}", queue_events=100, retry=0.2)
    sent = sum(db.log("t", {"n": n}) for n in range(1_000))
    assert db.dropped >= 1_000 - sent > 0
    assert db.flush(60)
    assert db.dropped == 1_000 and isinstance(db.last_error, OSError)
    assert db.close() and not db.log("t", {"n": 1})


class Deaf(http.server.BaseHTTPRequestHandler):
    """Refuses each batch once, and remembers ids and bodies."""

    requests = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Deaf.requests.append((self.headers["Hadal-Batch"], body))
        is_first = len(Deaf.requests) == 1
        answer = json.dumps({"detail": "busy"} if is_first else {"rejected_count": 1}).encode()
        self.send_response(429 if is_first else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def a_retry_has_the_same_id_and_bytes():
    server = http.server.HTTPServer(("127.0.0.1", 0), Deaf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with hadal.connect(f"http://127.0.0.1:{server.server_port}") as db:
        db.log("t", {"n": 1})
        assert db.flush(60)
        assert (db.dropped, db.rejected, db.last_error.status) == (0, 1, 429)
    server.shutdown()
    assert len(Deaf.requests) == 2 and Deaf.requests[0] == Deaf.requests[1], Deaf.requests


def an_answer_that_breaks_off_is_no_answer():
    with hadal.connect(url) as db:
        response = db._ask("application/vnd.apache.arrow.stream", "SELECT n FROM many LIMIT 1000000", None)
        whole = response.read()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (len(whole) // 2, whole[: len(whole) // 2])
    empty = b"%x\r\n%s\r\n" % (len(whole) - 500, whole[:-500])
    for body in (chunk, chunk + b"0\r\n\r\n", empty + b"0\r\n\r\n"):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def answer():
                stream, _ = listener.accept()
                with stream:
                    stream.recv(65536)
                    stream.sendall(head + body)

            threading.Thread(target=answer, daemon=True).start()
            port = listener.getsockname()[1]
            try:
                hadal.connect(f"http://127.0.0.1:{port}").query("SELECT n FROM many")
            except hadal.Incomplete:
                continue
            raise AssertionError("half an answer")


def nothing_else_is_needed():
    """Without pyarrow, answers are JSON."""
    program = f"""
import sys
sys.modules["pyarrow"] = None
import datetime, decimal, hadal
with hadal.connect({url!r}) as db:
    answer = db.query("SELECT time, big, tags FROM events ORDER BY n LIMIT 1")
    time = datetime.datetime(2026, 11, 20, 10, tzinfo=datetime.timezone.utc)
    assert answer.rows == [(time, 2**64, ["x", "y"])], answer.rows
    assert answer.coverage["fraction"] == 1 and not answer.truncated
    try:
        answer.arrow()
    except ImportError as error:
        assert "pip install pyarrow" in str(error)
    else:
        raise AssertionError("arrow without pyarrow")
"""
    subprocess.run([sys.executable, "-B", "-c", program], check=True)


logs_and_queries()
many_rows_come_in_batches()
sampling_keeps_the_counts()
a_full_queue_drops_and_counts()
a_retry_has_the_same_id_and_bytes()
an_answer_that_breaks_off_is_no_answer()
nothing_else_is_needed()
print("fine")
