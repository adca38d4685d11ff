"""The figures as people read them (Markdown), and as programs do (JSON)."""

import dataclasses
import json
import math
import pathlib
import statistics

from loading import FORMS
from measure import best
from questions import REWRITTEN

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"
# A reading is one of 51 equally likely numbers: no encoding needs fewer bits for one.
READING_BITS = math.log2(51)
BANDWIDTH_SHARE = 0.6
MEAN_BEST, MEAN_DUCKDB = 4.0, 10.0
MEMORY = {"requests": 1.0, "readings": 0.75}
PLAIN = 10.0
LOAD = 1.3
TITLES = {"duckdb": "DuckDB", "clickhouse": "ClickHouse", "polars": "Polars", "datafusion": "DataFusion"}


class Bars:
    """The bars, and whether they were reached."""

    def __init__(self):
        self.lines = []

    def judge(self, what, value, wanted, text, most=False, why=None, unit=" x"):
        """`value` is None if there is none; `why` is the reason why it does not count."""
        reached = value is not None and why is None and (value <= wanted if most else value >= wanted)
        sign = "<=" if most else ">="
        verdict = "ok" if reached else f"MISSED{f': {why}' if why else ''}"
        self.lines.append({"what": what, "value": value, "wanted": wanted, "text": text,
                           "bar": f"{sign} {wanted:g}{unit}", "verdict": verdict, "reached": reached})


def quartiles(values):
    """The lower quartile, the median, the upper quartile."""
    if len(values) < 2:
        return (values[0],) * 3 if values else None
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def million_rows(rows, seconds):
    return rows / quartiles(seconds)[1] / 1e6 if seconds else None


def short(number):
    if number is None:
        return "-"
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speeds(measured, rows_of, engines):
    """Million rows per second of Hadal, of the best form of each rival, and the ratio to the best of all."""
    body = []
    for one in measured:
        rows = rows_of[one.question.table]
        row = [one.question.title, short(million_rows(rows, one.seconds))]
        for engine in engines:
            forms = [form for form in one.forms if form.engine == engine and form.seconds]
            row.append(" / ".join(f"{short(million_rows(rows, form.seconds))} {form.name}".strip() for form in forms) or "-")
        rival = best(one, "any")
        spread = quartiles(rival.ratios()) if rival else None
        row.append(f"{spread[1]:.2f} ({spread[0]:.2f}-{spread[2]:.2f})" if spread else "-")
        row.append(one.refused or one.wrong or "")
        body.append(row)
    head = ["million rows/s", "Hadal", *(TITLES[engine] for engine in engines), "ratio to the best (quartiles)", "Hadal's answer"]
    return table(head, body)


def judge_questions(bars, measured, bandwidth):
    for one in measured:
        why = "refused" if one.refused else "another answer" if one.wrong else from_zones(one)
        for bar in one.question.bars:
            rival = best(one, bar.of)
            spread = quartiles(rival.ratios()) if rival else None
            against = rival.title if rival else f"{bar.of}: no right answer"
            text = f"{spread[1]:.2f} ({spread[0]:.2f}-{spread[2]:.2f})" if spread else "-"
            bars.judge(f"{one.question.title}, against {against}", spread and spread[0], bar.least, text, why=why)
        if one.question.name == "readings" and one.seconds:
            speed = one.stats["bytes_read"] / quartiles(one.seconds)[1] / 1e9
            bars.judge("readings: encoded bytes read, of what memory gives", speed / bandwidth, BANDWIDTH_SHARE,
                       f"{speed:.2f} of {bandwidth:.2f} GB/s", why=why)


def from_zones(one):
    """Reports if the readings were not read: no figure may be a look-up in block headers."""
    if one.question.table == "readings" and one.stats.get("bytes_read", 0) * 8 < READING_BITS * one.stats.get("rows_matched", 0):
        return "too few bytes were read to have read the rows"
    return None


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def judge_means(bars, measured):
    """The means over the questions that Hadal answers right. They count only if these are all questions."""
    counted = [one for one in measured if one.question.counts]
    for what, wanted, pick in (("the best rival of each", MEAN_BEST, lambda one: best(one, "any")),
                               ("DuckDB", MEAN_DUCKDB, best_of_duckdb)):
        low, middle = [], []
        for one in counted:
            rival = pick(one)
            if rival is not None and rival.ours and not (one.wrong or one.refused):
                spread = quartiles(rival.ratios())
                low.append(spread[0])
                middle.append(spread[1])
        why = f"{len(counted) - len(low)} of {len(counted)} questions have no right answer" if len(low) < len(counted) else None
        mean = geometric_mean(low)
        bars.judge(f"geometric mean of {len(low)} questions, against {what}", mean, wanted,
                   f"{geometric_mean(middle):.2f} (lower quartiles: {mean:.2f})" if low else "-", why=why)


def best_of_duckdb(one):
    forms = [form for form in one.forms if form.engine == "duckdb" and form.seconds and form.kind != REWRITTEN]
    return min(forms, key=lambda form: quartiles(form.seconds)[1], default=None)


def memory(bars, rows_of, blocks, merge_tree, plain):
    """Bytes per row of the data from which all answers come."""
    body = []
    for name, most in MEMORY.items():
        ours, theirs = blocks[name]["bytes"] / rows_of[name], merge_tree.get(f"{name}_merge_tree", 0) / rows_of[name]
        if theirs:
            bars.judge(f"{name}: bytes in memory, of the MergeTree's on disk", ours / theirs, most,
                       f"{ours:.2f} of {theirs:.2f} bytes a row", most=True)
        if name == "requests":
            bars.judge("requests: smaller than 8-byte numbers and raw strings", plain / ours, PLAIN,
                       f"{plain:.0f} to {ours:.1f} bytes a row")
        body.append([name, f"{ours:.2f}", f"{theirs:.2f}" if theirs else "-", f"{plain:.1f}" if name == "requests" else "24.0"])
    return table(["bytes a row", "Hadal, in memory", "MergeTree, on disk", "8-byte numbers, raw strings"], body)


def columns(blocks):
    body = [[f"{column['name']} ({column['encoding']})", f"{column['bytes'] / blocks['rows']:.2f}"]
            for column in sorted(blocks["columns"], key=lambda column: -column["bytes"])]
    return table(["requests, bytes a row by column", "Hadal"], body)


def loads(bars, forms):
    """Thousand rows per CPU second of each engine by form of file; of JSON lines also Hadal's ratio to the fastest rival,
    round by round."""
    engines = list(dict.fromkeys(name for loaded in forms.values() for name in loaded))
    head, body = ["thousand rows per CPU second", *(TITLES.get(name, "Hadal") for name in engines)], []
    for form, loaded in forms.items():
        ours, rivals = loaded["hadal"], {name: of for name, of in loaded.items() if name != "hadal"}
        if rivals and form == "jsonl":
            fastest = min(rivals, key=lambda name: rivals[name].median())
            spread = quartiles([theirs / own for own, theirs in zip(ours.cpu_seconds, rivals[fastest].cpu_seconds)])
            bars.judge(f"{FORMS[form]} load, against {TITLES[fastest]}", spread[0], LOAD,
                       f"{spread[1]:.2f} ({spread[0]:.2f}-{spread[2]:.2f})")
        speeds = [f"{loaded[name].rows / loaded[name].median() / 1000:,.0f}" if name in loaded else "-" for name in engines]
        body.append([FORMS[form], *speeds])
    every = [loaded["hadal"] for loaded in forms.values()]
    rounds = (f"{len(every[0].cpu_seconds)} rounds of {every[0].rows:,} rows in turns; Hadal's until it came to rest,"
              f" {sum(of.rows_not_merged for of in every):,} rows of all are still as they came.")
    return f"{table(head, body)}\n\n{rounds}"


def notes(measured):
    """The rivals' forms that were tried and left out, and the errors of estimates."""
    for one in measured:
        for form in one.forms:
            if form.wrong:
                yield f"- {one.question.title}: {form.title} is not counted: it {form.wrong}"
            elif not form.seconds:
                yield f"- {one.question.title}: {form.title} is slower than another form: {form.first:.2f} s"
        estimates = [(form.title, form.error) for form in one.forms if form.error] + ([("hadal", one.error)] if one.error else [])
        if estimates:
            yield f"- {one.question.title}: off by " + ", ".join(f"{title} {error:.2%}" for title, error in estimates)


def verdicts(bars):
    rows = [[line["what"], line["text"], line["bar"], line["verdict"]] for line in bars.lines]
    reached = sum(line["reached"] for line in bars.lines)
    return table(["bar", "measured", "wanted", "verdict"], rows) + f"\n\n{reached} ok, {len(rows) - reached} missed"


def as_json(measured, rows_of):
    """All measurements."""
    return [{
        "question": one.question.name, "title": one.question.title, "rows": rows_of[one.question.table],
        "hadal_seconds": one.seconds, "refused": one.refused, "wrong": one.wrong, "notes": one.notes, "error": one.error, "stats": one.stats,
        "rivals": [dataclasses.asdict(form) | {"ratio_quartiles": quartiles(form.ratios())} for form in one.forms],
    } for one in measured]


def keep(results, folder, what=""):
    """Writes a file of results, named by date, commit and `what` was measured; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{results['machine']['date']}-{results['commit'][:9]}{what}.json"
    file.write_text(json.dumps(results, indent=1) + "\n")
    return file
