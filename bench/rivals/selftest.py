"""What the comparison must never get wrong; needs Python alone, no rival. `cargo test -p hadal-bench` runs it."""

import unittest

from answers import difference
from loading import Loaded
from measure import Form, Measured, best, first_answers, worth_asking
from questions import APPROXIMATELY, DISTINCT, EXACT, EXACTLY, KEY, MINUTE, PERCENTILE, REWRITTEN, Bar, Question
from report import Bars, geometric_mean, judge_means, judge_questions, loads, quartiles

BANDWIDTH = 10.0


def question(*columns, order=None, bars=(), table="requests", name="q"):
    return Question(name, "a question", table, columns, "", bars, order)


def measured(asked, *forms, ours=1.0, **more):
    one = Measured(asked, list(forms), [ours], **more)
    for form in forms:
        form.ours = [ours] * len(form.seconds)
    return one


def judged(*questions):
    bars = Bars()
    judge_questions(bars, questions, BANDWIDTH)
    return bars.lines


class Answers(unittest.TestCase):
    def test_exact_means_exact(self):
        one = question(KEY, EXACT)
        self.assertEqual(difference(one, [["a", 1], [None, 2]], [["", 2], ["a", 1.0]]), (None, 0.0))
        for other in ([["a", 1]], [["a", 1], ["b", 2]], [["a", 1], ["", 3]], [["a", 1, 1], ["", 2, 2]], [["a", "x"], ["", 2]]):
            self.assertIsNotNone(difference(one, [["a", 1], [None, 2]], other)[0], other)

    def test_rows_that_tie_with_the_last_may_be_others(self):
        one = question(KEY, EXACT, order=1)
        wanted = [["a", 3], ["b", 1], ["c", 1]]
        self.assertIsNone(difference(one, wanted, [["a", 3], ["d", 1], ["e", 1]])[0])
        self.assertIsNotNone(difference(one, wanted, [["x", 3], ["b", 1], ["c", 1]])[0])
        self.assertIsNotNone(difference(one, wanted, [["a", 3], ["b", 1], ["c", 0]])[0])

    def test_estimates_have_bounds(self):
        percentile = question(KEY, PERCENTILE)
        wanted = [["a", (100, 110)]]
        for value, right in ((100, True), (105, True), (99.1, True), (98, False), (111, True), (112, False)):
            self.assertEqual(difference(percentile, wanted, [["a", value]])[0] is None, right, value)
        distinct = question(KEY, DISTINCT)
        # One group may be 3 % off if the others are exact.
        wanted = [["a", 1000], ["b", 1000], ["c", 1000], ["d", 1000]]
        given = lambda value: [["a", value], ["b", 1000], ["c", 1000], ["d", 1000]]
        self.assertIsNone(difference(distinct, wanted, given(1030))[0])
        self.assertIsNotNone(difference(distinct, wanted, given(1050))[0])

    def test_minutes_are_the_same_however_spelled(self):
        one = question(MINUTE, EXACT)
        self.assertIsNone(difference(one, [[29_459_520, 1]], [["2026-01-05T00:00:00Z", 1]])[0])


class Judging(unittest.TestCase):
    def test_the_lower_quartile_reaches_a_bar_or_none(self):
        one = question(EXACT, bars=(Bar(2),))
        for seconds, reached in (([2.0, 2.0, 2.0], True), ([1.9, 1.9, 5.0, 5.0], False), ([1.0, 5.0, 5.0, 5.0, 5.0], True)):
            [line] = judged(measured(one, Form("duckdb", "", EXACTLY, seconds=seconds)))
            self.assertEqual(line["reached"], reached, seconds)

    def test_a_wrong_or_refused_answer_reaches_nothing(self):
        one = question(EXACT, bars=(Bar(2),))
        form = Form("duckdb", "", EXACTLY, seconds=[9.0])
        self.assertTrue(judged(measured(one, form))[0]["reached"])
        self.assertFalse(judged(measured(one, form, wrong="says 2 instead of 1"))[0]["reached"])
        self.assertFalse(judged(measured(one, Form("duckdb", "", EXACTLY, seconds=[9.0]), refused="busy"))[0]["reached"])
        self.assertFalse(judged(measured(one))[0]["reached"], "nothing to compare with")

    def test_the_bar_is_against_the_fastest(self):
        forms = [Form("duckdb", "", EXACTLY, seconds=[3.0]), Form("polars", "", EXACTLY, seconds=[1.5]),
                 Form("clickhouse", "guess", APPROXIMATELY, seconds=[1.2]), Form("clickhouse", "other words", REWRITTEN, seconds=[0.1]),
                 Form("clickhouse", "MergeTree", EXACTLY, seconds=[0.2])]
        one = measured(question(EXACT), *forms)
        self.assertEqual(best(one, "any").name, "guess")
        self.assertEqual(best(one, EXACTLY).engine, "polars")
        self.assertEqual(best(one, "clickhouse: MergeTree").seconds, [0.2])
        self.assertIsNone(best(one, "clickhouse: nothing"))

    def test_a_rival_with_a_wrong_answer_is_not_asked(self):
        forms = [Form("duckdb", "a", EXACTLY, first=1.0, wrong="is off"), Form("duckdb", "b", EXACTLY, first=5.0),
                 Form("duckdb", "c", EXACTLY, first=9.0), Form("duckdb", "d", APPROXIMATELY, first=8.0)]
        self.assertEqual([form.name for form in worth_asking(forms)], ["b", "d"])

    def test_only_estimates_of_rivals_may_be_rough(self):
        asked = question(KEY, DISTINCT)
        answers = {"exact": [["a", 100]], "rough": [["a", 90]], "other": [["b", 100]], "also exact": [["a", 90]]}
        rival = lambda command, question, form, rows: {"seconds": 1.0, "rows": answers[form]}
        kinds = {"exact": EXACTLY, "rough": APPROXIMATELY, "other": APPROXIMATELY, "also exact": EXACTLY}
        one, wanted = first_answers(asked, {"duckdb": rival}, {"duckdb": {"q": kinds}}, None, "seconds")
        self.assertEqual(wanted, answers["exact"])
        self.assertEqual([form.name for form in one.forms if form.wrong], ["other", "also exact"])
        self.assertAlmostEqual(one.forms[1].error, 0.1)

    def test_readings_must_be_read(self):
        one = question(EXACT, bars=(Bar(2),), table="readings", name="readings")
        for bytes_read, reached in ((800, True), (100, False)):
            form = Form("duckdb", "", EXACTLY, seconds=[9.0])
            lines = judged(measured(one, form, ours=1e-7, stats={"bytes_read": bytes_read, "rows_matched": 1000}))
            self.assertEqual([line["reached"] for line in lines], [reached, reached], bytes_read)

    def test_loads_are_compared_round_by_round(self):
        ours = Loaded(2_000_000, [2.0, 4.0, 2.0])
        for theirs, value in (([3.0, 6.0, 3.0], 1.5), ([2.0, 6.0, 3.0], 1.25)):
            bars = Bars()
            loaded = {"hadal": ours, "polars": Loaded(2_000_000, [90.0]), "duckdb": Loaded(2_000_000, theirs)}
            told = loads(bars, {"jsonl": loaded})
            self.assertEqual([(line["value"], line["reached"]) for line in bars.lines], [(value, value >= 1.3)])
            self.assertIn("| JSON lines | 1,000 | 22 | 667 |", told)

    def test_means_count_all_questions(self):
        right = lambda: measured(question(EXACT), Form("duckdb", "", EXACTLY, seconds=[16.0]))
        for questions, reached in (([right()], [True, True]), ([right(), measured(question(EXACT), refused="busy")], [False, False])):
            bars = Bars()
            judge_means(bars, questions)
            self.assertEqual([line["reached"] for line in bars.lines], reached)
        self.assertAlmostEqual(geometric_mean([2.0, 8.0]), 4.0)
        self.assertEqual(quartiles([1, 2, 3, 4, 5]), (2, 3, 4))


if __name__ == "__main__":
    unittest.main()
