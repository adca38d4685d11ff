"""Which files may be in a data folder and in the tmpfs: what nobody knows is left behind."""

import os
import re

import manifest

NUMBERED = r"\d{8,}"
DATA = ("admin-token", r"definitions\.sqlite", "leaves", r"leaf-\d+", r"leaf-\d+/(manifest|manifest\.copy|manifest\.damaged|losses|losses\.damaged|reserve|started|log|segments)",
        rf"leaf-\d+/log/{NUMBERED}\.log", rf"leaf-\d+/segments/{NUMBERED}\.segment")
WHILE_IT_RUNS = ("handover", r"definitions\.sqlite-(journal|wal|shm)")
# Files that were being written when a process was killed; the next start removes them.
HALF_MADE = (r"leaf-\d+/(manifest|manifest\.copy|losses|started)\.new", rf"leaf-\d+/segments/{NUMBERED}\.segment\.new", r"leaves\.new", r"admin-token\.new.*", r"definitions\.sqlite\.new-\d+(-journal)?")
MEMORY = (r"hadal-\d+-[0-9a-f]{16}", rf"hadal-\d+-[0-9a-f]{{16}}/(leaf|{NUMBERED}\.segment)")
MARK = (r"hadal-\d+-[0-9a-f]{16}/stopped",)
# The mark of a server without memory.
MARK_ON_DISK = (r"leaf-\d+/stopped",)
NOTES_PAGES = 16
RUNS, STOPPED, KILLED = "runs", "stopped", "killed"


def unknown(names, *known):
    pattern = re.compile("|".join(f"(?:{one})" for some in known for one in some))
    return sorted(name for name in names if not pattern.fullmatch(name))


def names_in(folder):
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield os.path.relpath(os.path.join(path, name), folder)


def numbers(folder, ending):
    """The numbers of files such as 00000001.log."""
    return {int(path.stem) for path in folder.glob(f"*.{ending}")}


def in_data(folder, state, is_older=False):
    """The faults of the files in a data folder, perhaps of an older program."""
    more = {RUNS: (WHILE_IT_RUNS,), STOPPED: (MARK_ON_DISK,), KILLED: (WHILE_IT_RUNS, HALF_MADE, MARK_ON_DISK)}[state]
    if is_older:
        # Hadal leaves files of other names alone.
        more = (*more, MARK_ON_DISK, HALF_MADE)
    faults = [f"left behind: {name}" for name in unknown(names_in(folder), DATA, *more)]
    if state == STOPPED:
        for leaf in sorted(folder.glob("leaf-*")):
            faults += in_leaf(leaf)
    return faults


def in_leaf(leaf):
    """After a stop the manifest names every segment and, but for the last one, every log."""
    named = manifest.read((leaf / "manifest").read_bytes())
    segments, logs = numbers(leaf / "segments", "segment"), numbers(leaf / "log", "log")
    faults = []
    if segments != named.segments:
        faults.append(f"{leaf.name} has the segments {sorted(segments)}, and its manifest names {sorted(named.segments)}")
    if not named.logs <= logs or not logs - {max(logs, default=0)} <= named.logs:
        faults.append(f"{leaf.name} has the logs {sorted(logs)}, and its manifest names {sorted(named.logs)}")
    return faults


def owner(memory):
    """The leaf to which the memory belongs, if that is recorded."""
    return (memory / "leaf").read_text() if (memory / "leaf").exists() else ""


def is_full(tmpfs):
    """Whether some leaves may have had no room to record that the memory is theirs."""
    return os.statvfs(tmpfs).f_bavail < NOTES_PAGES


def in_memory(tmpfs, data, state, is_used, was_full):
    """The faults of the files in the tmpfs: it may have memory of these leaves only.

    If it was full when the last server started, some memory may belong to no leaf.
    """
    known = (MEMORY, (), ("ballast",)) if state == RUNS else (MEMORY, MARK, ("ballast",))
    faults = [f"left behind in the tmpfs: {name}" for name in unknown(names_in(tmpfs), *known)]
    if state == KILLED:
        return faults
    leaves = {os.path.realpath(leaf): leaf for leaf in data.glob("leaf-*")} if is_used else {}
    if was_full and not all(owner(memory) for memory in tmpfs.glob("hadal-*")):
        return faults
    for memory in tmpfs.glob("hadal-*"):
        of = owner(memory) or "nobody"
        leaf = leaves.pop(of, None)
        if leaf is None:
            faults.append(f"left behind in the tmpfs: {memory.name}, memory of {of}")
        elif more := numbers(memory, "segment") - numbers(leaf / "segments", "segment"):
            faults.append(f"left behind in the tmpfs: segments {sorted(more)} in the memory of {leaf.name}")
    return faults + [f"{leaf.name} has no memory" for leaf in leaves.values()]
