"""A build for any x86-64 processor beside a build for this one: the same commit, rows, questions and core.

What is fast in Hadal is compiled for several processors, and chosen when it starts. So the build that everybody gets should be
hardly slower than one that knows the processor.

usage: native.py PROGRAM GENERATOR NATIVE_PROGRAM [--rows N] ...; --help tells all
"""

import argparse
import math
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))
import machine  # noqa: E402
import report  # noqa: E402
from processes import Failed, Hadal, cpu_seconds, pin, say  # noqa: E402
from questions import questions  # noqa: E402
from rivals import spelled  # noqa: E402

# The minimum speed of the plain build relative to the native build, over all questions.
LEAST = 0.9
TABLES = ("requests", "weighted", "readings")
ENVIRONMENT = {"HADAL_ZONE_ANSWERS": "off"}


class Failure(Exception):
    """The comparison is impossible."""


class Build:
    """One build's server and its measurements: seconds by question, and CPU seconds for the lines."""

    def __init__(self, program, folder, log, core):
        self.hadal = Hadal(program, folder, ENVIRONMENT, log)
        pin(self.hadal.process.pid, core)
        self.seconds, self.load = {}, 0.0

    def fill(self, data):
        """Loads JSON lines first, with their CPU time until all are encoded; then the other tables."""
        before = cpu_seconds(self.hadal.process.pid)
        self.hadal.post_lines("requests", data.lines)
        self.hadal.settle(["requests"], time.monotonic())
        self.load = cpu_seconds(self.hadal.process.pid) - before
        for table in TABLES[1:]:
            self.hadal.load(table, getattr(data, table))

    def ask(self, question):
        cpu = self.hadal.ask(spelled(question))["cpu_seconds"]
        self.seconds.setdefault(question.name, []).append(cpu)


def check(question, builds):
    """Checks that both builds answer the same; rows in order, since both begin with the same rows."""
    answers = [build.hadal.ask(spelled(question), rows=True)["rows"] for build in builds]
    if not answers[0] or answers[0] != answers[1]:
        raise Failure(f"{question.title}: the builds' answers differ, or are empty")


def ratios(plain, native, name):
    """The speed of the plain build relative to the native one, run by run."""
    return [theirs / ours for theirs, ours in zip(native.seconds[name], plain.seconds[name])]


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def compare(options, folder, log):
    core, _, own = machine.cores()
    about = machine.about(options.generator)
    os.sched_setaffinity(0, own)
    data = machine.Data(options.generator, options.cache / "data", options.rows, 10 * options.rows, options.rows)
    builds = [Build(program, folder / name, log, core) for name, program in (("plain", options.program), ("native", options.native))]
    plain, native = builds
    for build in builds:
        say(f"{build.hadal.program} takes {options.rows:,} lines and the other tables")
        build.fill(data)
    asked = questions(10 * options.rows)
    for build in builds:
        build.hadal.settle(TABLES, time.monotonic())
    for question in asked:
        say(question.title)
        check(question, builds)
        for turn in range(options.rounds):
            # The builds take turns in being first.
            for build in builds if turn % 2 else reversed(builds):
                build.ask(question)
    return told(about, asked, plain, native, options)


def told(about, asked, plain, native, options):
    """Prints the table. Returns whether the bar is reached, and the results."""
    quartiles = {question.name: report.quartiles(ratios(plain, native, question.name)) for question in asked}
    rounds = [mean([ratios(plain, native, question.name)[turn] for question in asked]) for turn in range(options.rounds)]
    overall, load = report.quartiles(rounds), native.load / plain.load
    print(f"\n## Any x86-64 beside this processor, {about['date']}\n\n{machine.told(about)}; {plain.hadal.title};"
          f" {options.rows:,} requests, {10 * options.rows:,} readings, seed {machine.SEED}; {options.rounds} rounds,"
          " CPU clock on one core, over HTTP\n")
    spread = lambda of: f"{of[1]:.2f} ({of[0]:.2f}-{of[2]:.2f})"
    body = [[question.title, f"{1e3 * statistics.median(plain.seconds[question.name]):.1f}",
             f"{1e3 * statistics.median(native.seconds[question.name]):.1f}", spread(quartiles[question.name])] for question in asked]
    body.append(["JSON lines until all are encoded, s", f"{plain.load:.2f}", f"{native.load:.2f}", f"{load:.2f}"])
    print(report.table(["CPU ms", "any x86-64", "this processor", "speed of the first to the second"], body))
    reached = overall[0] >= LEAST
    print(f"\nGeometric mean of the questions: {spread(overall)}, wanted {LEAST}: {'reached' if reached else 'missed'}")
    return reached, {
        "machine": about, "commit": plain.hadal.commit, "rows": options.rows, "rounds": options.rounds, "mean": overall,
        "load": {"plain_cpu_seconds": plain.load, "native_cpu_seconds": native.load},
        "questions": {question.name: {"plain": plain.seconds[question.name], "native": native.seconds[question.name],
                                      "ratio": quartiles[question.name]} for question in asked}}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal, as it is built for everybody")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument("native", type=pathlib.Path, help="hadal, built for this processor")
    parser.add_argument("--rows", type=int, default=2_000_000, help="of requests, and ten times as many readings [default: 2 million]")
    parser.add_argument("--rounds", type=int, default=7, help="[default: 7]")
    parser.add_argument("--results", type=pathlib.Path, default=report.RESULTS, help="folder for the file of results")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/rivals"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="folder for data")
    options = parser.parse_args()
    for name in ("program", "generator", "native"):
        setattr(options, name, getattr(options, name).resolve())
    options.cache.mkdir(parents=True, exist_ok=True)
    return options


def main():
    # The started processes end with this one, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options = read_options()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="native-", dir=options.cache))
    try:
        with (folder / "hadal.log").open("w") as log:
            reached, results = compare(options, folder, log)
    except (Failed, Failure) as failed:
        print(f"error: {failed}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{report.keep(results, options.results, '-native')}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
