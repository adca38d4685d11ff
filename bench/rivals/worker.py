"""One rival in a process of its own: takes commands as JSON lines, answers each with one.

usage: worker.py ENGINE THREADS FOLDER, on cores chosen by whoever starts it
"""

import importlib
import json
import os
import sys
import time

import questions


class Worker:
    def __init__(self, engine, threads, folder):
        self.engine = importlib.import_module(f"engine_{engine}").Engine(threads, folder)
        self.forms = {}

    def about(self):
        return {"name": self.engine.name, "title": self.engine.title, "pid": os.getpid()}

    def load(self, table, path):
        self.engine.load(table, path)
        return self.engine.facts()

    def load_file(self, path, form):
        """The number of rows, and the CPU seconds of this whole process for loading them."""
        start = time.process_time()
        rows = self.engine.load_file(path, form)
        return {"rows": rows, "cpu_seconds": time.process_time() - start}

    def prepare(self, reading_rows, table):
        """The names and kinds of the forms of every question."""
        wanted = [question for question in questions.questions(reading_rows) if question.table == table]
        self.forms = {question.name: self.engine.forms(question) for question in wanted}
        return {name: {form: kind for form, (kind, _) in forms.items()} for name, forms in self.forms.items()}

    def run(self, question, form, rows=False):
        """Wall-clock and CPU seconds until the answer, and its rows if they are wanted."""
        asked = self.forms[question][form][1]
        cpu, start = time.process_time(), time.perf_counter()
        answer = self.engine.run(asked)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
        told = {"seconds": seconds, "cpu_seconds": cpu_seconds}
        if rows:
            told["rows"] = self.engine.rows(answer)
        return told


def main():
    # Engines may print; what they print is not an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    for line in sys.stdin:
        command, arguments = json.loads(line)
        try:
            answer = {"ok": getattr(worker, command)(**arguments)}
        except BaseException as error:  # Rust engines panic with a BaseException.
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()


main()
