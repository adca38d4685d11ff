"""What the comparisons with published benchmarks share: their table, made once and loaded into one server with a data
folder and default settings, and their questions, asked over HTTP.

Every answer is compared with DuckDB's on the same file before it is timed. All is asked twice: with HADAL_ZONE_ANSWERS=off,
where rows are read even where the heads of blocks could tell their sums (these are the figures that count), and as a
server is by default. Each of the two on one core, and on all. How many bytes were read is told beside, for zones of time
and of values still say which blocks and vectors need not be looked at.
"""

import argparse
import dataclasses
import decimal
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "rivals"))
import machine  # noqa: E402
import report  # noqa: E402
from measure import Measured, first_answer_of_hadal  # noqa: E402
from processes import SETTLED_SECONDS, Failed, Hadal, say  # noqa: E402

READ, DEFAULT = "all rows read", "by default"
SETTINGS = {READ: {"HADAL_ZONE_ANSWERS": "off"}, DEFAULT: {}}


@dataclasses.dataclass
class Asked:
    """One question under some settings on some cores."""

    settings: str
    cores: int
    measured: Measured

    def rate(self, rows):
        """Rows per second and core: the lower quartile, the median, the upper quartile; None without a right answer."""
        if not self.measured.seconds or self.measured.refused:
            return None
        return tuple(rows / seconds / self.cores for seconds in reversed(report.quartiles(self.measured.seconds)))

    def bytes_a_row(self, rows):
        return self.measured.stats.get("bytes_read", 0) / rows


class Run:
    """One table, loaded and asked."""

    def __init__(self, options, table, size):
        self.options, self.table = options, table
        self.one, self.all, own = machine.cores()
        self.machine = machine.about(options.generator)
        os.sched_setaffinity(0, own)
        self.path = machine.made(options.generator, options.cache / "data", table, "parquet", size)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{table}-", dir=options.cache))

    def served(self, environment, cores):
        """Restarts the server for other cores: it has as many threads as cores at its start."""
        return Hadal(self.options.program, self.folder / "hadal", environment, self.log, cores)

    def load(self):
        hadal = self.served({}, self.all)
        self.title, self.commit = hadal.title, hadal.commit
        say(f"Hadal imports {self.path.name}")
        start = time.monotonic()
        hadal.load(self.table, self.path)
        self.load_seconds = time.monotonic() - start
        say("Hadal merges")
        self.blocks = hadal.settle([self.table], time.monotonic() + self.options.settle)[self.table]
        hadal.stop()

    def go(self, questions, wanted):
        """Runs all questions under all settings on one core and on all; `wanted` has the right rows by question."""
        asked = []
        with (self.folder / "hadal.log").open("w") as self.log:
            self.load()
            for settings, environment in SETTINGS.items():
                for cores, clock in self.cores():
                    hadal = self.served(environment, cores)
                    hadal.settle([self.table], time.monotonic())
                    say(case_title(settings, len(cores)))
                    asked += [Asked(settings, len(cores), self.ask(hadal, question, wanted[question.name], clock))
                              for question in questions]
                    hadal.stop()
        return asked

    def cores(self):
        """The sets of cores that are measured, and the clock of each: CPU seconds of several cores give no speed."""
        every = [] if self.options.one_core or self.all == self.one else [(self.all, "seconds")]
        return [(self.one, self.options.clock), *every]

    def cases(self):
        """All settings and numbers of cores."""
        return [(settings, len(cores)) for settings in SETTINGS for cores, _ in self.cores()]

    def ask(self, hadal, question, wanted, clock):
        """A question with a wrong answer is not run again: its time would be meaningless."""
        measured = Measured(question)
        first_answer_of_hadal(measured, hadal, question.sql, wanted)
        try:
            for _ in range(0 if measured.refused or measured.wrong else self.options.rounds):
                measured.seconds.append(hadal.ask(question.sql)[clock])
        except Failed as failed:
            measured.refused = str(failed)
        return measured

    def about(self, post, rows):
        """The lines above all figures."""
        size = self.blocks["bytes"]
        clock = "CPU" if self.options.clock == "cpu_seconds" else "wall"
        return (f"\n## Hadal beside \"{post}\", {self.machine['date']}\n\n{machine.told(self.machine)}; {self.title};"
                f" {rows:,} rows, {len(self.blocks['blocks'])} blocks, {size / 2**20:,.0f} MiB in memory,"
                f" {size / rows:.2f} bytes a row, seed {machine.SEED}; imported from Parquet in {self.load_seconds:.0f} s;"
                f" {self.options.rounds} rounds, {clock} clock on one core, over HTTP\n")

    def results(self, asked, rows, more):
        by_settings = [one | {"settings": of.settings, "cores": of.cores}
                       for of in asked for one in report.as_json([of.measured], {self.table: rows})]
        return {"machine": self.machine, "commit": self.commit, "version": self.title, "rows": rows,
                "rounds": self.options.rounds, "clock": self.options.clock, "questions": by_settings,
                "bytes": self.blocks["bytes"], "load_seconds": self.load_seconds} | more


def case_title(settings, cores):
    return f"{settings}, {cores} core{'s' * (cores > 1)}"


def duckdb():
    """An empty DuckDB in memory."""
    # Imported only here, so that the self-tests need Python alone.
    import duckdb as package
    return package.connect(":memory:")


def rows_of(duck, sql):
    """DuckDB's answer with numbers as JSON has them."""
    plain = lambda cell: float(cell) if isinstance(cell, decimal.Decimal) else cell
    return [[plain(cell) for cell in row] for row in duck.execute(sql).fetchall()]


def notes(asked):
    """The faults of answers and Hadal's warnings about them, each once."""
    told = {}
    for of in asked:
        one = of.measured
        if one.wrong:
            # The seconds differ from run to run; the first are reported.
            told.setdefault(f"- {one.question.title}: {one.wrong}", f", after {one.stats['elapsed_micros'] / 1e6:.1f} s")
        for note in [f"refused: {one.refused}"] if one.refused else [] if one.wrong else one.notes:
            told.setdefault(f"- {one.question.title}: {note}", "")
    return "\n".join(note + more for note, more in told.items()) or "- every answer is DuckDB's, without a warning"


def read_options(about, size, default, table):
    parser = argparse.ArgumentParser(description=about.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument(f"--{size}", type=int, default=default, help=f"of {table} [default: {default:,}]")
    parser.add_argument("--rounds", type=int, default=7, help="[default: 7]")
    parser.add_argument("--one-core", action="store_true", help="leave the questions on all cores out")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="for one core; cpu where others use the machine, too")
    parser.add_argument("--settle", type=int, default=SETTLED_SECONDS, help="seconds that Hadal has for merging after it was loaded")
    parser.add_argument("--results", type=pathlib.Path, default=report.RESULTS, help="folder for the file of results")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for plots")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/rivals"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="folder for data")
    options = parser.parse_args()
    options.clock = {"wall": "seconds", "cpu": "cpu_seconds"}[options.clock]
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    return options


def all_right(asked):
    return all(not of.measured.refused and not of.measured.wrong for of in asked)


def measured(run, compare, what):
    """Runs a comparison, which returns whether all bars are reached, and its results. Keeps these. Returns the exit code."""
    # The started server ends with this program, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        reached, results = compare(run)
    finally:
        shutil.rmtree(run.folder, ignore_errors=True)
    print(f"\n{report.keep(results, run.options.results, what)}")
    return 0 if reached else 1
