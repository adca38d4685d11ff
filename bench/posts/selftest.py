"""What the comparisons with published benchmarks must never get wrong; needs Python alone. `cargo test -p hadal-bench` runs it."""

import unittest
import unittest.mock

import druid
import picture
import post
import scylla
from measure import Measured
from questions import EXACT, Question
from report import Bars


def asked(*seconds, cores=1, **more):
    return post.Asked(post.READ, cores, Measured(Question("q", "a question", "t", (EXACT,), "", ()), seconds=list(seconds), **more))


class Speed(unittest.TestCase):
    def test_a_rate_is_of_one_core_and_slow_runs_are_its_lower_quartile(self):
        self.assertEqual(asked(1.0, 2.0, 4.0).rate(8), (8 / 3, 4.0, 8 / 1.5))
        self.assertEqual(asked(2.0, cores=2).rate(8), (2.0, 2.0, 2.0))

    def test_no_right_answer_has_no_rate(self):
        self.assertIsNone(asked().rate(8))
        self.assertIsNone(asked(1.0, refused="busy").rate(8))
        self.assertFalse(post.all_right([asked(1.0), asked(wrong="says 2")]))

    def test_what_is_wrong_is_told_once(self):
        wrong = asked(wrong="has other groups", stats={"elapsed_micros": 2_500_000})
        told = post.notes([wrong, wrong, asked(1.0, notes=["rows were dropped"])])
        self.assertEqual(told, "- a question: has other groups, after 2.5 s\n- a question: rows were dropped")
        self.assertIn("without a warning", post.notes([asked(1.0)]))


class Druid(unittest.TestCase):
    def verdict(self, one):
        bars = Bars()
        druid.judge(bars, one, 1e-6, 100)
        return bars.lines[0]["reached"]

    def test_a_bar_is_reached_by_rows_that_were_read(self):
        self.assertTrue(self.verdict(asked(20.0, stats={"bytes_read": 100})))
        self.assertFalse(self.verdict(asked(21.0, stats={"bytes_read": 100})), "too slow")
        self.assertFalse(self.verdict(asked(1.0, stats={"bytes_read": 4})), "a look-up")
        self.assertFalse(self.verdict(asked(stats={"bytes_read": 100}, wrong="has other groups")))


class Scylla(unittest.TestCase):
    def told(self, name, row, there=True):
        one = asked(1.0, rows=[row])
        one.measured.question = Question(name, "", "", (EXACT,), "", ())
        expected = unittest.mock.Mock(needle=7, has=lambda *row: there)
        scylla.check_extremes(expected, [one])
        return one.measured.wrong

    def test_the_needle_is_found_or_the_answer_is_wrong(self):
        right = [7, "2025-08-27T10:17:00Z", 19.71]
        self.assertIsNone(self.told("months_lowest", right))
        self.assertIn("not there", self.told("months_lowest", right, there=False))
        self.assertIn("not the needle", self.told("months_lowest", [8, *right[1:]]))
        self.assertIn("not the needle", self.told("months_highest", [7, "2025-08-28T10:17:00Z", 19.71]))
        self.assertIsNone(self.told("year_lowest", [8, *right[1:]]))

    def test_a_scan_is_told_with_and_without_its_extremes(self):
        parts = {("day" + part, post.READ, 1): asked(2.0, rows=[[12]], stats={"bytes_read": 6}) for part in scylla.PARTS}
        told = scylla.rates(parts, "day", (post.READ, 1))
        self.assertEqual((told["totals"][1], told["all"][1], told["bytes_a_row"]), (6.0, 2.0, [0.5] * 3))
        parts["day_highest", post.READ, 1].measured.wrong = "says 2"
        self.assertIsNone(scylla.rates(parts, "day", (post.READ, 1)))


class Picture(unittest.TestCase):
    def test_days_reach_from_least_to_greatest(self):
        told = picture.days([("2025-06-30", 0, 1, 2), ("2025-07-01", 2, 3, 4)], height=5)
        self.assertEqual(told.splitlines(), [
            "    4.00  |", "    3.00  o", "    2.00 ||", "    1.00 o", "    0.00 |", "         2025-06"])

    def test_equal_values_are_a_line(self):
        self.assertEqual(picture.days([("2025-06-30", 7, 7, 7)], height=2).splitlines()[1], "    7.00 o")

    def test_months_are_named_where_there_is_room(self):
        names = [f"2025-06-{day:02}" for day in range(25, 31)] + [f"2025-07-{day:02}" for day in range(1, 32)] + ["2025-08-01"]
        self.assertEqual(picture.months(names), "2025-06" + " " * 30 + "2025-08")


if __name__ == "__main__":
    unittest.main()
