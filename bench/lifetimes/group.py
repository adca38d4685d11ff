"""A control group of the system, which allows so many bytes of memory and kills who wants more."""

import contextlib
import os
import pathlib
import stat


class Group:
    """A group of version 1 or 2. Creating it needs root."""

    def __init__(self, limit):
        root = pathlib.Path("/sys/fs/cgroup")
        self.is_old = (root / "memory").is_dir()
        self.folder = (root / "memory" if self.is_old else root) / f"hadal-{os.getpid()}"
        self.folder.mkdir()
        (self.folder / ("memory.limit_in_bytes" if self.is_old else "memory.max")).write_text(str(limit))

    def add(self, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))

    def within(self, program, script):
        """Writes a script that starts a program as a member, so that it finds the limit when it starts."""
        script.write_text(f'#!/bin/sh\necho $$ >"{self.folder}/cgroup.procs"\nexec "{program}" "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return script

    def told(self, file):
        """The numbers of a file of the group."""
        lines = (self.folder / file).read_text().splitlines()
        return {name: int(number) for name, number in (line.split() for line in lines)}

    def held(self):
        """Bytes that cannot be reclaimed: the members' own memory, and their files in a tmpfs."""
        told = self.told("memory.stat")
        return told["total_rss"] + told["total_shmem"] if self.is_old else told["anon"] + told["shmem"]

    def kills(self):
        return self.told("memory.oom_control" if self.is_old else "memory.events")["oom_kill"]

    def remove(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()
