"""What the siege must never get wrong; needs Python alone. `cargo test -p hadal-bench` runs it."""

import pathlib
import random
import struct
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "rivals"))

import damage  # noqa: E402
import leftovers  # noqa: E402
import manifest  # noqa: E402
import rooms  # noqa: E402
from clients import learned  # noqa: E402
from model import ABSENT, ACKNOWLEDGED, DOUBTFUL, Model, Rows, grouped, judge_damaged  # noqa: E402


def two_batches():
    model = Model(1_000_000)
    return model, model.new("t", 5, 12), model.new("t", 7, 12)


def answer(*batches):
    return [[batch.name, *batch.totals] for batch in batches]


def shown(batch):
    return [[row.get(name) for name in Rows.COLUMNS] for row in batch.rows()]


class Sent(unittest.TestCase):
    def test_a_batch_has_the_same_bytes_each_time_and_its_totals_are_those_of_its_rows(self):
        _, one, two = two_batches()
        self.assertEqual(one.body(), one.body())
        self.assertEqual(one.body().count(b"\n"), 5)
        rows = list(two.rows())
        with_m = sum("m" in row for row in rows)
        self.assertEqual(two.totals, [7, sum(range(5, 12)), sum(row["x"] for row in rows), 5, 11, with_m])
        self.assertEqual(sum(count for count, _ in two.groups.values()), 7)
        self.assertEqual(sum(count for _, count, _ in grouped([one, two])), 12)

    def test_what_is_learned_of_a_batch(self):
        _, one, _ = two_batches()
        taken = (200, '{"accepted": 5, "rejected_count": 0, "duplicate": false}')
        again = (200, '{"accepted": 5, "rejected_count": 0, "duplicate": true}')
        for before, after_silence in ((ABSENT, DOUBTFUL), (DOUBTFUL, DOUBTFUL), (ACKNOWLEDGED, ACKNOWLEDGED)):
            self.assertEqual(learned(before, one, None), (after_silence, None))
            self.assertEqual(learned(before, one, (503, "{}")), (before, None))
        for before, said, is_right in ((ABSENT, taken, True), (ABSENT, again, False), (DOUBTFUL, taken, True), (DOUBTFUL, again, True),
                                       (ACKNOWLEDGED, again, True), (ACKNOWLEDGED, taken, False)):
            after, fault = learned(before, one, said)
            self.assertEqual((after, fault is None), (ACKNOWLEDGED, is_right), (before, said))
        self.assertIsNotNone(learned(ABSENT, one, (409, "{}"))[1])
        self.assertIsNotNone(learned(ABSENT, one, (503, '{"accepted": 3}'))[1])


class Judging(unittest.TestCase):
    def test_acknowledged_batches_are_there_and_others_whole_or_not_at_all(self):
        model, one, two = two_batches()
        model.note(one, ACKNOWLEDGED)
        model.note(two, DOUBTFUL)
        self.assertEqual(model.judge_batches("t", answer(one)), ([one], []))
        self.assertEqual(model.judge_batches("t", answer(one, two)), ([one, two], []))
        half = [two.name, 6, *two.totals[1:]]
        for wrong in (answer(two), [*answer(one), half], [*answer(one), ["b9", 1, 0, 0, 0, 0, 0]]):
            self.assertEqual(len(model.judge_batches("t", wrong)[1]), 1, wrong)
        model.note(two, ABSENT)
        self.assertEqual(len(model.judge_batches("t", answer(one, two))[1]), 1)
        model.forget("t")
        self.assertEqual(model.judge_batches("t", []), ([], []))
        self.assertEqual(model.unacknowledged(), [])

    def test_of_damaged_batches_rows_may_be_missing_and_none_may_be_other(self):
        _, one, two = two_batches()
        less = [one.name, 4, *one.totals[1:]]
        self.assertEqual(judge_damaged([one, two], [less]), [])
        other_sum = [one.name, 5, one.totals[1] + 1, *one.totals[2:]]
        beyond = [one.name, 4, 1, 1, 0, 6, 1]
        for wrong in (other_sum, beyond, [one.name, 6, *one.totals[1:]], ["b9", 1, 0, 0, 0, 0, 0]):
            self.assertEqual(len(judge_damaged([one, two], [wrong])), 1, wrong)

    def test_rows_are_judged_one_by_one(self):
        _, one, two = two_batches()
        rows = Rows([one, two])
        self.assertEqual(rows.judge(shown(one)), [])
        self.assertEqual(rows.missing([one]), 0)
        self.assertEqual(rows.missing([one, two]), 7)
        self.assertEqual(len(rows.judge(shown(one)[:1])), 1)
        altered = shown(two)[0]
        altered[1] += 1
        for wrong in (altered, [12, *altered[1:]], [None, *altered[1:]]):
            self.assertEqual(len(Rows([one, two]).judge([wrong])), 1, wrong)


def frame(body, sequence):
    return manifest.HEADER.pack(manifest.MAGIC, sequence, len(body), 0, 0, 0) + body


def record(removes=(), adds=(), logs=()):
    body = struct.pack("<I", 0) + struct.pack(f"<I{len(removes)}Q", len(removes), *removes) + struct.pack("<I", len(adds))
    for number, segment in adds:
        body += struct.pack("<QQIIIQ", number, 4096, segment, 100, 10, 1) + b"\x01t"
    body += struct.pack("<I", 1) + struct.pack("<QQ", 1, 2)
    body += struct.pack("<I", 1) + b"\x01t\x01b" + struct.pack("<QqI", 1, 2, 3)
    body += struct.pack("<I", 1) + b"\x01t" + struct.pack("<I", 2) + b"{}"
    return body + struct.pack("<I", 0) + struct.pack(f"<I{len(logs)}Q", len(logs), *logs) + struct.pack("<I", 0)


class Files(unittest.TestCase):
    def test_a_manifest_is_read_as_specified(self):
        whole = frame(b"head", 0) + frame(record(adds=[(1, 1), (2, 3)], logs=[1]), 1) + frame(record(removes=[1], logs=[2, 3]), 2)
        named = manifest.read(whole)
        self.assertEqual((named.segments, named.logs), ({3}, {2, 3}))
        self.assertEqual(manifest.read(whole + frame(record(), 3)).logs, set())
        self.assertEqual(manifest.read(whole + frame(record(), 3)[:-1]).logs, {2, 3}, "half a record")

    def test_files_that_nobody_knows_are_found(self):
        fine = ("leaves", "leaf-0", "leaf-12/log/00000001.log", "leaf-0/segments/00000010.segment", "leaf-0/manifest", "definitions.sqlite")
        self.assertEqual(leftovers.unknown(fine, leftovers.DATA), [])
        half = ("leaf-0/manifest.new", "handover", "definitions.sqlite.new-17")
        self.assertEqual(leftovers.unknown(half, leftovers.DATA), sorted(half))
        self.assertEqual(leftovers.unknown(half, leftovers.DATA, leftovers.WHILE_IT_RUNS, leftovers.HALF_MADE), [])
        for name in ("leaf-0/segments/1.segment", "leaf-0/log/00000001.log.old", "core", "leaf-0/x"):
            self.assertEqual(leftovers.unknown([name], leftovers.DATA), [name])
        memory = ("hadal-0-0123456789abcdef", "hadal-0-0123456789abcdef/leaf", "hadal-0-0123456789abcdef/stopped")
        self.assertEqual(leftovers.unknown(memory, leftovers.MEMORY), [memory[2]])

    def test_each_damage_alters_a_file_and_it_can_be_put_back(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder, kept = pathlib.Path(scratch) / "data", pathlib.Path(scratch) / "kept"
            (folder / "leaf-0/segments").mkdir(parents=True)
            whole = {"leaf-0/manifest": bytes(range(256)) * 40, "leaf-0/segments/00000001.segment": b"block" * 3000, "leaves": b"1\n"}
            for name, data in whole.items():
                (folder / name).write_bytes(data)
            rooms.copy(folder, kept)
            leaf = (folder / "leaf-0").stat().st_ino
            for seed in range(200):
                told, may_lose = damage.alter(random.Random(seed), [folder])
                now = {str(path.relative_to(folder)): path.read_bytes() for path in damage.files(folder)}
                self.assertNotEqual(now, whole, told)
                self.assertTrue(may_lose)
                rooms.put_back(kept, folder)
            now = {str(path.relative_to(folder)): path.read_bytes() for path in damage.files(folder)}
            self.assertEqual((now, (folder / "leaf-0").stat().st_ino), (whole, leaf))

    def test_what_the_disk_has_too_is_needless(self):
        for name in ("leaf-0/reserve", "hadal-0-0123456789abcdef/stopped", "hadal-0-0123456789abcdef/00000001.segment", "handover"):
            self.assertTrue(damage.NEEDLESS.fullmatch(name), name)
        for name in ("leaf-0/segments/00000001.segment", "leaf-0/manifest", "leaves", "definitions.sqlite"):
            self.assertIsNone(damage.NEEDLESS.fullmatch(name), name)
        self.assertEqual(damage.kind("hadal-0-0123456789abcdef/00000001.segment"), "hadal-#-#/#.segment")


if __name__ == "__main__":
    unittest.main()
