"""Hadal beside DuckDB, ClickHouse (chDB), Polars and DataFusion: the same rows, the same questions, the same answers.

Data is generated once and kept in --cache. Hadal takes it as anybody would send it: JSON lines to a server with a data
folder and default settings; the blocks that come of it serve the figures of load, memory and speed alike. Rivals hold it
in memory in the types that are best for each (the engine modules say which), one process each, all at the same time.

Every answer is compared before it is timed. Then the engines are asked in turn on one core, ours before each of theirs:
ours, theirs, ours, the next one's. Hadal's time is that of an HTTP request; a rival's ends when its answer is in Arrow
form in its own process. Some of the rows are loaded in turn, too, from each form of file, by a new process each time. A ratio
is the median over the rounds; a bar is reached when the lower quartile reaches it.

usage: rivals.py PROGRAM GENERATOR [--quick] [--rows N] [--only NAME,NAME] [--rivals NAME,NAME] ...; --help tells all
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import machine
import report
from expected import percentiles_by_service, plain_bytes
from loading import FORMS, Loading
from measure import ask_in_turn
from processes import SETTLED_SECONDS, Failed, Hadal, Rival, pin, say
from questions import questions

RIVALS = ("duckdb", "clickhouse", "polars", "datafusion")


def spelled(question):
    """Hadal's spelling of a question."""
    return ((question.weighed_by_hadal or question.sql)
            .replace("{minute}", "time_bucket('1 minute', time)")
            .replace("{percentiles}", "p50(latency_us), p95(latency_us), p99(latency_us)")
            .replace("{distinct}", "count(DISTINCT user_id)"))


class Run:
    def __init__(self, options):
        self.options = options
        self.one, self.all, own = machine.cores()
        self.machine = machine.about(options.generator)
        os.sched_setaffinity(0, own)
        self.rows_of = {"requests": options.rows, "readings": options.readings}
        wanted = [question for question in questions(options.readings) if not options.only or question.name in options.only]
        self.questions = wanted
        self.tables = list(dict.fromkeys(question.table for question in wanted))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rivals-", dir=options.cache))
        self.data = machine.Data(options.generator, options.cache / "data", options.rows, options.readings, options.lines)
        self.bars, self.loaded, self.merge_tree, self.titles = report.Bars(), {}, {}, {}

    def go(self):
        with (self.folder / "hadal.log").open("w") as self.log:
            hadal = self.started_hadal(self.folder / "hadal", self.one)
            self.titles["hadal"], self.commit = hadal.title, hadal.commit
            self.fill(hadal)
            self.settled = time.monotonic() + self.options.settle
            one, every = [], []
            if not self.options.all_cores:
                one = self.ask_all(hadal, 1, self.one, self.options.rounds, self.options.clock)
            if not self.options.one_core and len(self.all) > 1:
                # With a thread for each core from the start, like its rivals.
                hadal.stop()
                hadal = self.started_hadal(self.folder / "hadal", self.all)
                every = self.ask_all(hadal, len(self.all), self.all, min(3, self.options.rounds), "seconds")
            blocks = {table: hadal.blocks(table) for table in self.tables}
            hadal.stop()
        return self.told(blocks, one, every)

    def fill(self, hadal):
        """Loads all tables into Hadal in the usual way. While its lines settle, it loads some in turn with its rivals."""
        if "requests" in self.tables:
            say("Hadal takes JSON lines")
            rows = hadal.post_lines("requests", self.data.lines)
            if rows != self.options.rows:
                sys.exit(f"Hadal took {rows} rows of {self.options.rows}")
            until = time.monotonic() + self.options.settle
            if not self.options.all_cores:
                self.load_in_turn()
            hadal.settle(["requests"], until)
        for table in self.tables_of_hadal():
            if table != "requests":
                say(f"Hadal imports {table}")
                hadal.load(table, getattr(self.data, table))

    def load_in_turn(self):
        def started(folder):
            return self.started_hadal(folder, self.one)
        # One form after the other, so that no server merges while the next form is loaded.
        for form in FORMS:
            path = self.data.fewer(form)
            loading = Loading(started, form, path, self.options.lines, self.one, self.folder, self.options.settle)
            self.loaded[form] = loading.in_turn(self.options.rivals, self.options.rounds)

    def started_hadal(self, folder, cores):
        return Hadal(self.options.program, folder, self.options.hadal_env, self.log, cores)

    def tables_of_hadal(self):
        asks_weighted = any(question.is_weighted for question in self.questions)
        return [*self.tables, *(["weighted"] if asks_weighted else [])]

    def ask_all(self, hadal, threads, cores, rounds, clock):
        """Runs all questions on some cores, table by table, so that at most one table of each engine is in memory."""
        pin(hadal.process.pid, cores)
        measured = []
        for table in self.tables:
            with contextlib.ExitStack() as stack:
                rivals = {engine: self.started(stack, engine, threads, cores, table) for engine in self.options.rivals}
                forms_of = {engine: rival("prepare", reading_rows=self.options.readings, table=table) for engine, rival in rivals.items()}
                # The rivals have loaded meanwhile.
                hadal.settle(self.tables_of_hadal(), self.settled)
                for question in self.questions:
                    if question.table == table:
                        say(f"{question.title}, {len(cores)} core{'s' * (len(cores) > 1)}")
                        wanted = None
                        if question.base == "percentiles":
                            wanted = percentiles_by_service(self.data.requests, question.is_weighted)
                        measured.append(ask_in_turn(
                            question, spelled(question), hadal, rivals, forms_of, wanted, rounds, clock))
        return measured

    def started(self, stack, engine, threads, cores, table):
        say(f"{engine} loads {table}")
        folder = self.folder / f"{engine}-{threads}-{table}"
        rival = Rival(engine, threads, cores, folder)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(rival.stop)
        self.titles[engine] = rival.title
        facts = rival("load", table=table, path=str(getattr(self.data, table)))
        self.merge_tree |= facts.get("merge_tree_bytes", {})
        return rival

    def told(self, blocks, one, every):
        """Prints all tables. Returns the contents of the file of results."""
        about = self.machine
        print(f"\n## Hadal and its rivals, {about['date']}\n")
        print(f"{machine.told(about)}; {', '.join(self.titles.values())};"
              f" {self.options.rows:,} requests, {self.options.readings:,} readings, seed {machine.SEED}; {self.options.rounds} rounds,"
              f" {'CPU' if self.options.clock == 'cpu_seconds' else 'wall'} clock\n")
        if one:
            print("### One core\n")
            print(report.speeds(one, self.rows_of, self.options.rivals), "\n")
        if every:
            print(f"### {len(self.all)} cores\n")
            print(report.speeds(every, self.rows_of, self.options.rivals), "\n")
        if one:
            report.judge_questions(self.bars, one, about["read_gb_per_s"])
            report.judge_means(self.bars, one)
        if "requests" in blocks and "readings" in blocks:
            print("### Memory\n")
            print(report.memory(self.bars, self.rows_of, blocks, self.merge_tree, plain_bytes(self.data.requests)), "\n")
        if "requests" in blocks:
            print(report.columns(blocks["requests"]), "\n")
        if self.loaded:
            print("### Load\n")
            print(report.loads(self.bars, self.loaded), "\n")
        print("### Notes\n")
        print("\n".join(report.notes(one)), "\n")
        print("### Bars\n")
        print(report.verdicts(self.bars))
        return {
            "machine": about, "commit": self.commit, "versions": self.titles, "rows": self.rows_of, "rounds": self.options.rounds,
            "clock": self.options.clock, "hadal_env": self.options.hadal_env, "bars": self.bars.lines,
            "one_core": report.as_json(one, self.rows_of), "all_cores": report.as_json(every, self.rows_of),
            "load": {form: {name: dataclasses.asdict(loaded) for name, loaded in of.items()} for form, of in self.loaded.items()},
            "merge_tree_bytes": self.merge_tree,
            "hadal_bytes": {table: of["bytes"] for table, of in blocks.items()},
        }


def names(allowed):
    def read(text):
        chosen = text.split(",")
        if unknown := set(chosen) - set(allowed):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: choose from {', '.join(allowed)}")
        return chosen
    return read


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument("--quick", action="store_true", help="1 M requests, 10 M readings, 3 rounds")
    parser.add_argument("--rows", type=int, help="of requests [default: 10 million]")
    parser.add_argument("--readings", type=int, help="[default: ten times as many]")
    parser.add_argument("--rounds", type=int, help="[default: 7]")
    parser.add_argument("--only", type=names([question.name for question in questions(1)]), help="some questions")
    parser.add_argument("--rivals", type=names(RIVALS), default=list(RIVALS), help="some rivals")
    cores = parser.add_mutually_exclusive_group()
    cores.add_argument("--one-core", action="store_true", help="leave the questions on all cores out")
    cores.add_argument("--all-cores", action="store_true", help="leave the questions on one core out, and what rests on them")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="for one core; cpu where others use the machine, too")
    parser.add_argument("--settle", type=int, default=SETTLED_SECONDS, help="seconds that Hadal has for merging after it was loaded")
    parser.add_argument("--hadal-env", action="append", default=[], metavar="NAME=VALUE", help="for the server; told with the results")
    parser.add_argument("--results", type=pathlib.Path, default=report.RESULTS, help="folder for the file of results")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/rivals"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="folder for data")
    options = parser.parse_args()
    options.rows = options.rows or (1_000_000 if options.quick else 10_000_000)
    options.readings = options.readings or 10 * options.rows
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.lines = min(options.rows, 2_000_000)
    options.clock = {"wall": "seconds", "cpu": "cpu_seconds"}[options.clock]
    options.hadal_env = dict(pair.split("=", 1) for pair in options.hadal_env)
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    return options


def main():
    # The started processes end with this one, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options = read_options()
    run = Run(options)
    try:
        results = run.go()
    finally:
        shutil.rmtree(run.folder, ignore_errors=True)
    print(f"\n{report.keep(results, options.results, '-all-cores' if options.all_cores else '')}")
    return 0 if all(line["reached"] for line in run.bars.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
