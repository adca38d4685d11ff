"""The experiments of "Scuba: Diving into Data at Facebook" (VLDB 2013), section 5: measures, draws and reports them.

usage: scuba.py PROGRAM GENERATOR [--quick] [--pictures FOLDER] [-- ARGUMENT...]   with arguments for the program
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "rivals")]
import machine  # noqa: E402
from plot import COLOURS, Line, draw  # noqa: E402
from report import RESULTS, Bars, keep, table  # noqa: E402

KINDS = ("scan", "time series")
QUICK = ["--repeats", "5", "--queries", "5", "--rows", "131072"]
# Predictions count where the work of all played machines does not share the few cores.
WITHIN = 0.2


def measured(lines, kind, x, key="ms"):
    """Points of mean, least and greatest."""
    return [(line[x], line[key]["mean"], line[key]["min"], line[key]["max"]) for line in lines if line["question"] == kind]


def predicted(lines, kind, x, key="model_ms"):
    return [(line[x], line[key]) for line in lines if line["question"] == kind]


def beside_model(title, x_title, lines, x, **how):
    """Measured times of both queries, and the model's as dashed lines."""
    drawn = []
    for kind, colour in zip(KINDS, COLOURS):
        drawn += [Line(kind, measured(lines, kind, x), colour=colour),
                  Line(f"{kind}, model", predicted(lines, kind, x), True, colour)]
    values = sorted({line[x] for line in lines})
    return draw(title, x_title, "milliseconds", drawn, values, **how)


def by_clients(title, y_title, lines, value):
    drawn = []
    lines = [line for line in lines if "overloaded" not in line]
    for place, (kind, hours) in enumerate((kind, hours) for kind in KINDS for hours in (3, 6, 29)):
        of = [line for line in lines if (line["question"], line["hours"]) == (kind, hours)]
        drawn.append(Line(f"{kind}, {hours} h", [(line["clients"], *value(line)) for line in of], colour=COLOURS[place]))
    return draw(title, "clients", y_title, drawn, sorted({line["clients"] for line in lines}), x_log=True, y_log=True)


def pictures(results):
    """The plots, by file name."""
    latency = lambda line: (line["ms"]["mean"], line["ms"]["min"], line["ms"]["max"])
    return {
        "speed-up.svg": beside_model(
            "More data per leaf, 20 machines (paper: figure 10)", "units of data per leaf", results["speed_up"], "units"),
        "scale-up.svg": beside_model(
            "More machines (paper: figure 11)", "machines", results["scale_up"], "machines", x_log=True),
        "fanout.svg": beside_model("Fanouts, 160 machines", "fanout", results["fanouts"], "fanout"),
        "throughput.svg": by_clients(
            "Throughput (paper: figure 12)", "queries per second", results["clients"], lambda line: (line["queries_per_s"],)),
        "latency.svg": by_clients("Response time (paper: figure 13)", "milliseconds", results["clients"], latency),
    }


def judge(bars, results):
    for name in ("speed_up", "scale_up", "fanouts"):
        for line in results.get(name, []):
            what = f"{name.replace('_', '-')}: {line['question']}, {line['machines']} machines, F {line['fanout']}, {line['units']} units"
            off = abs(line["ratio"] - 1)
            bars.judge(what, off, WITHIN, f"{line['model_ms']:.1f} for {line['ms']['median']:.1f} ms", most=True, unit="")
    for line in results.get("steps", []):
        if line["question"] == "time series":
            five = line["merge_five"]["median"]
            bars.judge("merging five children's 1,800 groups", five, 1.0, f"{five:.3f} ms", most=True, unit=" ms")


def tables(results):
    """A table for each part that was measured."""
    parts = {
        "codec": lambda lines: table(["partial", "bytes", "encoding, ms", "decoding, ms", "merge of five, ms"], [
            [line["partial"], f"{line['bytes']:,}", *(f"{line[key]['median']:.3f}" for key in ("encode_ms", "decode_ms", "merge_five_ms"))]
            for line in lines]),
        "steps": lambda lines: table(["step, ms", "T_S", "T_D", "T_G", "T_A", "merge of five", "bytes of a partial"], [
            [line["question"], *(f"{line[key]:.3f}" for key in ("t_s", "t_d", "t_g", "t_a")),
             f"{line['merge_five']['median']:.3f}", f"{line['partial_bytes']:,}"] for line in lines]),
        "scale_up": lambda lines: table(["machines", "equation 4", "model", "simulated", "measured", "model / measured"], [
            [f"{line['machines']}, {line['question']}", *(f"{line[key]:.1f}" for key in ("paper_ms", "model_ms", "simulated_ms")),
             f"{line['ms']['median']:.1f}", f"{line['ratio']:.2f}"] for line in lines]),
        "fanouts": lambda lines: table(["fanout", "model", "measured"], [
            [f"{line['fanout']}, {line['question']}", f"{line['model_ms']:.1f}", f"{line['ms']['median']:.1f}"] for line in lines]),
        "whole": lambda lines: table(["machines, all on this one", "model", "work", "measured"], [
            [f"{line['machines']}, {line['question']}", f"{line['model_ms']:.1f}", f"{line['work_ms']:.1f}",
             f"{line['ms']['median']:.1f}" if "ms" in line else "too much for this machine"] for line in lines]),
    }
    return "\n\n".join(draw_table(results[name]) for name, draw_table in parts.items() if results.get(name))


def page(results, figures):
    """The page of figures beside the plots, with all that was measured."""
    about = results["machine"]
    plots = "\n\n".join(f"![{name.removesuffix('.svg')}]({name})" for name in pictures(results))
    return (f"# Figures of scaling\n\nWritten by `make bench-scuba` on {about['date']} at commit {results['commit'][:9]}:"
            f" {machine.told(about)}, {results['load_after']:.1f} after. [scaling.md](../scaling.md) says what was measured."
            f" Leaves are replay leaves. Times are medians in milliseconds.\n\n{figures}\n\n{plots}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal-scuba")
    parser.add_argument("generator", type=pathlib.Path, help="hadal-bench")
    parser.add_argument("--quick", action="store_true", help="fewer rows and queries; nothing is kept")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for the plots")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="folder for the file of results")
    parser.add_argument("--draw", type=pathlib.Path, help="draw this file of results again, and measure nothing")
    parser.add_argument("arguments", nargs="*", help="for the program, after --")
    options = parser.parse_args()
    if options.draw:
        results = json.loads(options.draw.read_text())
    else:
        about = machine.about(options.generator)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "results.json"
            command = [options.program, *(QUICK if options.quick else []), *options.arguments, "--out", out]
            subprocess.run(command, check=True)
            results = json.loads(out.read_text())
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
        results |= {"machine": about, "commit": commit or "unknown", "load_after": os.getloadavg()[0]}
    about = results["machine"]
    print(f"\n## The experiments of the Scuba paper, {about['date']}\n\n{machine.told(about)}, {results['load_after']:.1f} after\n")
    print(tables(results))
    bars = Bars()
    judge(bars, results)
    missed = [line for line in bars.lines if not line["reached"]]
    print(f"\npredicted within {WITHIN:.0%} of measured, and merges: {len(bars.lines) - len(missed)} of {len(bars.lines)}")
    for line in missed:
        print(f"- {line['what']}: {line['text']}, wanted {line['bar']}")
    is_whole = all(results.get(name) for name in ("steps", "speed_up", "scale_up", "fanouts", "whole", "clients"))
    if options.pictures and is_whole:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures(results).items():
            (options.pictures / name).write_text(picture)
        (options.pictures / "figures.md").write_text(page(results, tables(results)))
    if not options.quick and not options.draw and is_whole:
        print(f"\n{keep(results, options.results, '-scuba')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
