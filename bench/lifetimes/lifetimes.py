"""What is promised of lifetimes: durable ingest beside one that does not wait, kill -9 again and again, expiry, row blocks on disk,
more rows than memory.

usage: lifetimes.py PROGRAM GENERATOR MULTIPLY [durable|kills|expiry|mapped|ceiling ...]; --help tells all
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "rivals"))
import machine  # noqa: E402
import report  # noqa: E402

import ceiling  # noqa: E402
import durable  # noqa: E402
import expiry  # noqa: E402
import kills  # noqa: E402
import mapped  # noqa: E402

PARTS = {"durable": durable.measure, "kills": kills.measure, "expiry": expiry.measure, "mapped": mapped.measure, "ceiling": ceiling.measure}


class Run:
    """The state that all parts share."""

    def __init__(self, options, folder, log):
        self.options, self.folder, self.log, self.bars = options, folder, log, report.Bars()
        data = machine.Data(options.generator, options.cache / "data", 1_000_000, 10_000_000, options.rows)
        self.requests, self.lines = data.requests, data.fewer_lines


def part(name):
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(PARTS)}")
    return name


def measured(options, folder):
    about, results = machine.about(options.generator), {}
    print(f"\n## Lifetimes, {about['date']}\n\n{machine.told(about)}\n")
    with (folder / "server.log").open("w") as log:
        run = Run(options, folder, log)
        for name in options.parts:
            results[name] = PARTS[name](run)
    print("\n" + report.verdicts(run.bars), "\n")
    version = subprocess.run([options.program, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout
    commit = re.search(r"[0-9a-f]{9,}", version)
    results |= {"machine": about, "commit": commit[0] if commit else version.strip(), "bars": run.bars.lines}
    print(report.keep(results, options.results, "-lifetimes"))
    return all(line["reached"] for line in run.bars.lines)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument("multiply", type=pathlib.Path, help="the example of crates/store")
    parser.add_argument("parts", nargs="*", type=part, default=tuple(PARTS), help=f"of {', '.join(PARTS)} [default: all]")
    parser.add_argument("--rounds", type=int, default=7, help="of durable ingest [default: 7]")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of durable ingest [default: 1,000,000]")
    parser.add_argument("--kills", type=int, default=1_000, help="[default: 1,000]")
    parser.add_argument("--seed", type=int, default=1, help="of when it is killed [default: 1]")
    parser.add_argument("--results", type=pathlib.Path, default=report.RESULTS, help="folder for the file of results")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/rivals"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="folder for data")
    options = parser.parse_args()
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    options.multiply = options.multiply.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lifetimes-", dir=options.cache))
    try:
        return 0 if measured(options, folder) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
