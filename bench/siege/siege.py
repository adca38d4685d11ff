"""Random lives of a real server: killed, stopped, taken over, without room, over altered files, while clients send.

After each life every acknowledged row is there once, every other batch whole or not at all, all answers are those of a plain model,
and no file is left behind. Files that were altered may cost rows, which must be told, and never show another value.

usage: siege.py PROGRAM [--minutes N] [--seed N] [--scene N] [--archive]; --help tells all
"""

import argparse
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "rivals"))
from processes import Failed, say  # noqa: E402

from archived import Archived  # noqa: E402
from rooms import can_mount, copy  # noqa: E402
from scene import Scene  # noqa: E402
from servers import Fault  # noqa: E402


def played(options, number, root, mounts, counts):
    """Plays a scene. Returns its fault, if there was one."""
    folder = root / f"scene-{number}"
    scene = Scene(options, number, folder, mounts)
    try:
        scene.play()
    except (Fault, Failed) as fault:
        kept = options.keep / f"siege-{options.seed}-{number}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        scene.server and scene.server.process.kill()
        scene.keep(kept)
        say(f"FAULT in scene {number} of seed {options.seed}: {fault}\n  kept in {kept}; the last steps:")
        for step in scene.steps[-8:]:
            say(f"  {step}")
        return str(fault)
    finally:
        counts.update(scene.counts)
        scene.close()
        shutil.rmtree(folder, ignore_errors=True)
    return None


def siege(options, root):
    mounts, counts, faults = can_mount(root / "mount"), collections.Counter(), []
    if not mounts:
        print("skipped: needs root (small disks and small tmpfs that become full)")
    end, number = time.monotonic() + options.minutes * 60, options.scene or 0
    while time.monotonic() < end:
        if fault := played(options, number, root, mounts, counts):
            faults.append(f"scene {number}: {fault}")
        number += 1
        if options.scene is not None:
            break
        if number % 10 == 0:
            say(f"{number} scenes, {told(counts)}, {len(faults)} faults")
    print(f"\n{number - (options.scene or 0)} scenes, {told(counts)} (seed {options.seed})")
    for fault in faults:
        print(f"- {fault}")
    print(f"{len(faults)} faults")
    return not faults


def archived(options, root):
    """Plays the scene of the archive alone. Returns whether it had no fault."""
    scene, fault = Archived(options, root / "archive"), None
    try:
        scene.play()
    except (Fault, Failed) as error:
        fault = error
    finally:
        scene.close()
    if fault:
        kept = options.keep / f"siege-{options.seed}-archive"
        shutil.rmtree(kept, ignore_errors=True)
        copy(scene.folder, kept)
        print(f"FAULT: {fault}\n  kept in {kept}")
    batches, files = len(scene.batches), len(scene.files())
    print(f"\n{batches} batches, {scene.kills} kills, {scene.kills_in_between} of them half-way, {files} files (seed {options.seed})")
    print(f"{1 if fault else 0} faults")
    return not fault


def told(counts):
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


def version(program):
    return subprocess.run([program, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="hadal")
    parser.add_argument("--before", type=pathlib.Path, metavar="PROGRAM", help="an earlier hadal: each life is of this one or of that one, in any order")
    parser.add_argument("--minutes", type=float, default=10, help="how long [default: 10]")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"), help="of all that is drawn [default: another each time]")
    parser.add_argument("--scene", type=int, help="only this one of the seed's scenes")
    parser.add_argument("--archive", action="store_true", help="the scene of rows that go to an archive instead, some minutes")
    parser.add_argument("--tmpfs", type=pathlib.Path, default="/dev/shm", help="for row blocks, where nothing may be mounted")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "hadal/siege"
    parser.add_argument("--keep", type=pathlib.Path, default=cache, help="folder for what is at work, and for what failed")
    options = parser.parse_args()
    options.program, options.before = options.program.resolve(), options.before and options.before.resolve()
    options.keep.mkdir(parents=True, exist_ok=True)
    versions = [version(program) for program in (options.program, options.before) if program]
    print(f"{' and '.join(versions)}, seed {options.seed}", flush=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="at-work-", dir=options.keep))
    try:
        return 0 if (archived if options.archive else siege)(options, root) else 1
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
