"""Processes of Hadal: started, taken over, stopped, killed, and what they said."""

import pathlib
import re
import subprocess
import threading
import time

from processes import Failed, Hadal

# Longer than any start or stop takes; a server that takes longer hangs.
START_SECONDS_MAX, STOP_SECONDS_MAX = 120, 200
STOPPED, STOPPED_LATE = 0, 3
# The words by which the output reports losses.
TOLD = re.compile(r"LOST|DAMAGED|damaged|\bcut \d|lost")


class Fault(Exception):
    """A fault: Hadal did something that it must never do."""


class Server(Hadal):
    """A server, and a file with all its output."""

    def __init__(self, program, folder, log, options=(), listen="127.0.0.1:0"):
        self.log = pathlib.Path(log)
        self.is_hanging = False
        with self.log.open("ab") as said:
            super().__init__(program, folder, {}, said, options=("--no-journal", *options), listen=listen)

    def heard(self):
        def give_up():
            self.is_hanging = True
            self.process.kill()

        timer = threading.Timer(START_SECONDS_MAX, give_up)
        timer.start()
        try:
            return super().heard()
        finally:
            timer.cancel()

    def said(self):
        return self.log.read_text(errors="replace")

    def kill(self):
        self.process.kill()
        self.stop()
        self.check_words()

    def stop_in_order(self, ask):
        """Stops the server by `ask`, and checks its exit."""
        ask()
        try:
            code = self.process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Fault(f"it does not stop within {STOP_SECONDS_MAX} s") from None
        self.stop()
        if code not in (STOPPED, STOPPED_LATE):
            raise Fault(f"it stopped with {code}")
        self.check_words()

    def tell_to_stop(self):
        """As `hadal stop` does."""
        command = [self.program, "stop", "--server", f"http://{self.address}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Fault(f"hadal stop: {done.returncode} {done.stderr.strip()}")

    def check_alive(self):
        if (code := self.process.poll()) is not None:
            raise Fault(f"it ended by itself with {code}: {last_words(self.said())}")
        self.check_words()

    def check_words(self):
        said = self.said()
        if "panicked" in said:
            raise Fault(f"it panicked: {said[said.index('panicked') - 100:][:400]}")

    def status(self):
        return self.get("/v1/status")

    def wait_until_back(self, seconds=60):
        """Waits until all rows of an earlier process are restored."""
        end = time.monotonic() + seconds
        while (status := self.status())["waiting_rows"]:
            if time.monotonic() > end:
                raise Fault(f"{status['waiting_rows']} rows are not brought back in {seconds} s")
            time.sleep(0.005)
        return status


def last_words(said):
    return said.strip()[-400:]


def started(program, folder, log, options, **more):
    """A server that has to start."""
    try:
        return Server(program, folder, log, options, **more)
    except Failed as failed:
        raise Fault(f"{failed}: {last_words(pathlib.Path(log).read_text(errors='replace'))}") from None


def started_or_refused(program, folder, log, options):
    """Starts a server over damaged files. Returns `None` if it refused with a reason, as it may; it must not crash."""
    try:
        return Server(program, folder, log, options)
    except Failed as failed:
        said = pathlib.Path(log).read_text(errors="replace")
        if not (ended := re.search(r"ended with (-?\d+)$", str(failed))):
            raise Fault(f"it says where it listens, and does not answer: {failed}: {last_words(said)}") from None
        code = int(ended[1])
        if code <= 0 or code > 100 or "panicked" in said:
            raise Fault(f"its start ended with {code}: {last_words(said)}") from None
        if "error:" not in said:
            raise Fault(f"it refused to start without a reason ({code}): {last_words(said)}") from None
        return None


def launched(program, folder, log, options, listen="127.0.0.1:0"):
    """Starts a server without waiting for it."""
    command = [program, "serve", "--listen", listen, "--data", folder, "--no-journal", *options]
    with open(log, "ab") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
    process.log = pathlib.Path(log)
    return process


def kill_launched(process):
    """Kills the server. If it has ended by itself before, that is a fault."""
    code = process.poll()
    process.kill()
    process.wait()
    said = process.log.read_text(errors="replace")
    if code is not None or "panicked" in said:
        raise Fault(f"it ended with {code}: {last_words(said)}")
