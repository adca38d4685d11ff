"""How fast many rows reach a Python program as Arrow: arrow.py HADAL [--rows N] [--repeat N].

Starts a server in memory, logs rows whose sums are known, asks for all of them with the Python
client, checks the sums, and prints the rows per second of each answer. Needs pyarrow.
"""

import argparse
import pathlib
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients" / "python"))

import hadal  # noqa: E402

SERVICES = ["web", "api", "search", "billing"]
BODY_ROWS = 100_000
START = 1_763_632_800_000_000


def rows_of(first, count, rate):
    for n in range(first, first + count):
        yield '{"time":%d,"n":%d,"ms":%d.5,"service":"%s"%s}\n' % (
            START + n,
            n,
            n % 1_000,
            SERVICES[n % 4],
            ',"sample_rate":%d' % (1 + n % 3) if rate else "",
        )


def fill(url, rows, table, rate):
    for first in range(0, rows, BODY_ROWS):
        body = "".join(rows_of(first, min(BODY_ROWS, rows - first), rate)).encode()
        request = urllib.request.Request(f"{url}/v1/log/{table}", body, method="POST")
        with urllib.request.urlopen(request) as response:
            response.read()


def check(table, rows):
    import pyarrow.compute as compute

    assert table.num_rows == rows, table.num_rows
    assert compute.sum(table["n"]).as_py() == rows * (rows - 1) // 2
    expected = sum(n % 1_000 + 0.5 for n in range(rows))
    assert abs(compute.sum(table["ms"]).as_py() - expected) < 1e-3
    counts = table["service"].value_counts().to_pylist()
    expected = {name: len(range(index, rows, 4)) for index, name in enumerate(SERVICES)}
    assert {entry["values"]: entry["counts"] for entry in counts} == expected


def measure(url, table, options):
    questions = {
        "all columns": "time, n, ms, service",
        "one number": "n",
    }
    with hadal.connect(url) as db:
        for name, columns in questions.items():
            sql = f"SELECT {columns} FROM {table} ORDER BY time LIMIT {options.rows + 1}"
            best = None
            for _ in range(options.repeat):
                begin = time.perf_counter()
                answer = db.query(sql)
                taken = time.perf_counter() - begin
                best = taken if best is None else min(best, taken)
            if name == "all columns":
                check(answer.arrow(), options.rows)
            size = answer.arrow().nbytes
            print(
                f"{table}, {name}: {options.rows / best / 1e6:.2f} M rows/s, "
                f"{size / best / 1e6:.0f} MB/s (best of {options.repeat}), "
                f"scan {answer.stats['scan_micros'] / 1e3:.0f} ms of {best * 1e3:.0f} ms"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hadal")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    arguments = [options.hadal, "serve", "--memory", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    try:
        words = next(line for line in server.stdout if "http://" in line).split()
        url = next(word for word in words if word.startswith("http://"))
        for table, rate in [("events", False), ("sampled", True)]:
            fill(url, options.rows, table, rate)
            measure(url, table, options)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
