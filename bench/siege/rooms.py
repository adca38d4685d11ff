"""Where a scene's files are: a folder, or a small file system of its own that can be made full."""

import contextlib
import os
import shutil
import subprocess

BALLAST = "ballast"


class Room:
    """A folder; with a size, a tmpfs of that many bytes is mounted there."""

    def __init__(self, path, size=None):
        self.path, self.size = path, size
        path.mkdir(mode=0o700, parents=True)
        if size:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "hadal-siege", path], check=True, capture_output=True)

    def free_bytes(self):
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    @property
    def is_full(self):
        return (self.path / BALLAST).exists()

    def fill(self, left):
        """Fills the disk so that `left` bytes stay free, as another process would."""
        with (self.path / BALLAST).open("ab") as file:
            # Another process may take some of the room first: then the disk is as full as can be.
            with contextlib.suppress(OSError):
                if (size := self.free_bytes() - left) > 0:
                    os.posix_fallocate(file.fileno(), file.tell(), size)

    def empty(self):
        (self.path / BALLAST).unlink(missing_ok=True)

    def close(self):
        if self.size:
            subprocess.run(["umount", "-l", self.path], check=False)
        shutil.rmtree(self.path, ignore_errors=True)


def can_mount(folder):
    """Whether this process may mount small file systems."""
    try:
        Room(folder, 1 << 20).close()
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(folder, ignore_errors=True)
        return False
    return True


def copy(source, target):
    """Copies the contents of a folder to another, with holes as holes."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--sparse=always", f"{source}/.", target], check=True)


def put_back(source, target):
    """Makes a folder again what it was when it was copied. Folders that were there stay the same to the system: memory of a leaf is
    found by where its folder is, by device and inode."""
    for path in sorted(target.rglob("*"), reverse=True):
        known = source / path.relative_to(target)
        if not path.is_dir() or path.is_symlink():
            path.unlink()
        elif not known.is_dir():
            path.rmdir()
    copy(source, target)
