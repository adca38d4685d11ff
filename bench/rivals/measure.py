"""Asking all engines the same questions in turn, and keeping what it took."""

import dataclasses
import statistics

from answers import difference
from processes import Failed
from questions import APPROXIMATELY, EXACTLY, REWRITTEN

# A form that takes this many times as long as its engine's best one of the same kind is not run
# again.
HOPELESS = 1.5
# The form that queries ClickHouse's compressed table.
MERGE_TREE = "MergeTree"


@dataclasses.dataclass
class Form:
    """One form of a question for one rival."""

    engine: str
    name: str
    kind: str
    first: float = 0.0
    error: float = 0.0
    # Why its answer is wrong; such a form is reported, not judged.
    wrong: str | None = None
    seconds: list = dataclasses.field(default_factory=list)
    # Hadal's seconds just before each run.
    ours: list = dataclasses.field(default_factory=list)

    @property
    def title(self):
        return f"{self.engine}: {self.name}" if self.name else self.engine

    def ratios(self):
        return [theirs / ours for theirs, ours in zip(self.seconds, self.ours)]


@dataclasses.dataclass
class Measured:
    """One question with the measurements of all engines."""

    question: object
    forms: list = dataclasses.field(default_factory=list)
    # Hadal's seconds.
    seconds: list = dataclasses.field(default_factory=list)
    # Why Hadal has no answer, or how its answer differs from the rivals'.
    refused: str | None = None
    wrong: str | None = None
    # Hadal's first answer, with its warnings.
    rows: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    error: float = 0.0
    stats: dict = dataclasses.field(default_factory=dict)


def first_answers(question, rivals, forms_of, wanted, clock):
    """Runs every form of every rival once. Its answer is compared (if `wanted` is None, with the first exact answer),
    and the data is loaded into caches."""
    measured, rows_of = Measured(question), {}
    for engine, rival in rivals.items():
        for name, kind in forms_of[engine][question.name].items():
            form = Form(engine, name, kind)
            measured.forms.append(form)
            try:
                answer = rival("run", question=question.name, form=name, rows=True)
                form.first, rows_of[form.title] = answer[clock], answer["rows"]
            except Failed as failed:
                form.wrong = str(failed)
    exact = [form for form in measured.forms if form.kind != APPROXIMATELY and form.wrong is None]
    if wanted is None and exact:
        wanted = rows_of[exact[0].title]
    for form in measured.forms:
        if form.wrong is None and wanted is not None:
            form.wrong, error = difference(question, wanted, rows_of[form.title])
            form.error = error or 0.0
            if form.kind == APPROXIMATELY and error is not None:
                # A rival's estimate may be as rough as its makers chose.
                form.wrong = None
    return measured, wanted


def first_answer_of_hadal(measured, hadal, sql, wanted):
    try:
        answer = hadal.ask(sql, rows=True)
    except Failed as failed:
        measured.refused = str(failed)
        return
    measured.stats, measured.rows = answer["stats"], answer["rows"]
    if wanted is not None:
        measured.wrong, error = difference(measured.question, wanted, answer["rows"])
        measured.error = error or 0.0
    measured.notes = [warning["message"] for warning in answer["warnings"]]
    if answer["covered"] != 1.0:
        measured.notes.append(f"only {answer['covered']:.1%} of the rows were asked")
    if measured.wrong and measured.notes:
        measured.wrong += f" ({'; '.join(measured.notes)})"


def worth_asking(forms):
    """The best form of every engine and kind, and those about as good; none with a wrong answer."""
    right = [form for form in forms if form.wrong is None]
    best = {}
    for form in right:
        best[rank(form)] = min(best.get(rank(form), form.first), form.first)
    return [form for form in right if form.first <= HOPELESS * best[rank(form)]]


def rank(form):
    """The group of forms with which this one competes for another run."""
    return form.engine, form.kind, form.name == MERGE_TREE


def ask_in_turn(question, sql, hadal, rivals, forms_of, wanted, rounds, clock):
    """Checks all answers, then measures: Hadal, a rival, Hadal, the next rival, and so on, `rounds` times."""
    measured, wanted = first_answers(question, rivals, forms_of, wanted, clock)
    first_answer_of_hadal(measured, hadal, sql, wanted)
    forms = worth_asking(measured.forms)
    for _ in range(rounds):
        for form in forms:
            try:
                if measured.refused is None:
                    form.ours.append(hadal.ask(sql)[clock])
            except Failed as failed:
                measured.refused = str(failed)
            try:
                if form.wrong is None:
                    form.seconds.append(rivals[form.engine]("run", question=question.name, form=form.name)[clock])
            except Failed as failed:
                form.wrong = str(failed)
    for form in forms:
        measured.seconds += form.ours
    return measured


def best(measured, of):
    """The fastest form by its median: of "any" kind but rewritten ones, of one kind, or the one of this title. None if there is
    none. A MergeTree is compared where a title names it: it is on disk."""
    forms = [form for form in measured.forms if form.seconds]
    in_memory = [form for form in forms if form.name != MERGE_TREE]
    if of == "any":
        forms = [form for form in in_memory if form.kind != REWRITTEN]
    elif of in (EXACTLY, APPROXIMATELY):
        forms = [form for form in in_memory if form.kind == of]
    else:
        forms = [form for form in forms if form.title == of]
    return min(forms, key=lambda form: statistics.median(form.seconds), default=None)
