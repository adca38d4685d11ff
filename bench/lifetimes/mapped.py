"""Row blocks that are read from disk (`--storage mmap`), with less and less memory for them: the questions of bench/posts/druid.py in
a control group that allows what the process takes for itself, and for files a part of the row blocks' bytes."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "posts"))
import druid  # noqa: E402
import machine  # noqa: E402
from processes import SETTLED_SECONDS, Hadal, say  # noqa: E402
from report import geometric_mean, short, table  # noqa: E402

from group import Group  # noqa: E402

# Ratios of the bytes of row blocks to the memory for them.
RATIOS = (1, 1.33, 2, 4)
ROWS = 8_000_000
# The number of copies of their row blocks, so that the queried data exceeds the process's own
# memory.
COPIES = 4
TABLE = f"{druid.TABLE}-1"
# The minimum number of runs of each query, and the minimum of seconds.
ROUNDS, SECONDS = 3, 1.5
# After a start all row blocks are verified for 30 seconds; plus a margin.
VERIFIED_SECONDS = 35
LEAST = 0.9
OPTIONS = ("--leaves", "1", "--no-journal")
# The process's own memory varies a little.
SPARE = 16 << 20


def own_bytes(pid):
    """A process's own memory in bytes."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def drop_caches():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def ask_all(server, expected):
    """Seconds of each question, and the largest own memory of the process after one."""
    seconds, most = {}, 0
    for question, _ in druid.questions():
        times, end = [], time.monotonic() + SECONDS
        # The first run reads the needed data from disk.
        while len(times) <= ROUNDS or time.monotonic() < end:
            answer = server.ask(question.sql.replace(druid.TABLE, f'"{TABLE}"'), rows=True)
            if answer["rows"] != expected.setdefault(question.name, answer["rows"]):
                raise SystemExit(f"{question.title}: another answer")
            times.append(answer["seconds"])
            most = max(most, own_bytes(server.process.pid))
        seconds[question.name] = statistics.median(times[1:])
    return seconds, most


def allowed(own, data, ratio):
    """Bytes of memory for a process and the files it reads."""
    return own + SPARE + int(data / ratio)


def filled(run):
    folder, path = run.folder / "mapped", machine.made(run.options.generator, run.options.cache / "data", "druid", "parquet", ("--rows", ROWS))
    server = Hadal(run.options.program, folder, {}, run.log, options=OPTIONS)
    server.load(druid.TABLE, path)
    say("waiting until its blocks are settled")
    server.settle([druid.TABLE], time.monotonic() + SETTLED_SECONDS)
    of_one = server.blocks(druid.TABLE)["bytes"]
    server.stop()
    many = (folder / "leaf-0", str((COPIES + 1) * of_one), str(1 << 20))
    subprocess.run([run.options.multiply, *many], check=True, stdout=subprocess.DEVNULL)
    server = Hadal(run.options.program, folder, {}, run.log, options=OPTIONS)
    say("waiting until the copies are in memory")
    server.settle([TABLE], time.monotonic() + VERIFIED_SECONDS)
    return folder, server


def measure(run):
    if os.geteuid() != 0:
        raise SystemExit("row blocks on disk: a control group wants root")
    folder, server = filled(run)
    say("Druid's questions, row blocks in memory")
    expected = {}
    in_memory, own = ask_all(server, expected)
    data = server.blocks(TABLE)["bytes"]
    server.stop()
    curve = {}
    for ratio in RATIOS:
        say(f"the same from disk, data : memory {ratio}")
        drop_caches()
        server = Hadal(run.options.program, folder, {}, run.log, options=(*OPTIONS, "--storage", "mmap"))
        group = Group(allowed(own, data, ratio))
        group.add(server.process.pid)
        try:
            server.settle([TABLE], time.monotonic() + VERIFIED_SECONDS)
            curve[ratio], _ = ask_all(server, expected)
            alive = server.process.poll() is None
        finally:
            server.stop()
            group.remove()
        if not alive:
            raise SystemExit(f"data : memory {ratio}: the server was killed")
    speed = {ratio: {name: in_memory[name] / seconds[name] for name in in_memory} for ratio, seconds in curve.items()}
    titles = [(question.name, question.title) for question, _ in druid.questions()]
    body = [[title, f"{in_memory[name] * 1000:,.0f} ms", *(f"{speed[ratio][name]:.2f}" for ratio in RATIOS)] for name, title in titles]
    means = {ratio: geometric_mean(list(of.values())) for ratio, of in speed.items()}
    body.append(["geometric mean", "", *(f"{means[ratio]:.2f}" for ratio in RATIOS)])
    body.append(["data : all memory of the group", "", *(f"{data / allowed(own, data, ratio):.2f}" for ratio in RATIOS)])
    print(f"\n{short(data / 2**20)} MiB of row blocks, {short(own / 2**20)} MiB of the process's own; speed from disk beside that from memory\n")
    print(table(["data : memory", "in memory", *(f"{ratio:g}" for ratio in RATIOS)], body))
    run.bars.judge("row blocks on disk, with as much memory: speed beside memory mode", means[1], LEAST, f"{means[1]:.2f}")
    run.bars.judge("the same with a quarter of it: servers killed", 0, 0, "none", most=True, unit="")
    return {"bytes": data, "own_bytes": own, "in_memory": in_memory, "from_disk": {str(ratio): of for ratio, of in curve.items()}}
