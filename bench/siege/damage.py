"""Files that somebody altered while no server ran."""

import os
import re
import stat

# Losing one of these loses nothing: the disk has everything in the tmpfs, and reserve files have no
# data.
NEEDLESS = re.compile(r"reserve|handover|hadal-\d+-[0-9a-f]{16}/.*|.*/reserve")
# Files with rows, or with the list of valid ones, are altered more often than the rest.
OFTEN = re.compile(r".*(manifest|\.log|\.segment)")
PAGE = 4096


def written_ranges(file, size):
    """The ranges of a file that have bytes; segments have large holes."""
    at, ranges = 0, []
    while at < size:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
            at = os.lseek(file, start, os.SEEK_HOLE)
        except OSError:
            break
        ranges.append((start, min(at, size)))
    return ranges or [(0, size)]


def some_place(chance, path):
    """A random written byte of a file. In half of the cases it is not zero, since most of a page's rest is."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start, end = chance.choice(written_ranges(file.fileno(), size))
        for _ in range(20 if chance.random() < 0.5 else 1):
            place = chance.randrange(start, end)
            file.seek(place)
            if file.read(1) != b"\0":
                break
    return place


def flip(chance, path):
    place = some_place(chance, path)
    with path.open("r+b") as file:
        file.seek(place)
        before = file.read(1)[0]
        after = before ^ chance.choice((1 << chance.randrange(8), chance.randrange(1, 256)))
        file.seek(place)
        file.write(bytes([after]))
    return f"byte {place} is {after:#04x} instead of {before:#04x}"


def blank(chance, path):
    place = some_place(chance, path) // PAGE * PAGE
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes(min(PAGE, size - place)))
    return f"zeros from byte {place} on"


def cut(chance, path):
    size = chance.choice((0, chance.randrange(path.stat().st_size)))
    os.truncate(path, size)
    return f"cut to {size} bytes"


def lengthen(chance, path):
    more = chance.randbytes(chance.randrange(1, 3 * PAGE))
    with path.open("ab") as file:
        file.write(more)
    return f"{len(more)} bytes more"


def remove(_, path):
    path.unlink()
    return "removed"


WAYS = (flip, flip, flip, flip, flip, flip, blank, cut, lengthen, remove)


def kind(name):
    """The kind of a file. Each kind is equally likely to be altered, however many files it has."""
    return re.sub(r"[0-9a-f]{16}|\d+", "#", name)


def files(folder):
    return [path for path in sorted(folder.rglob("*")) if stat.S_ISREG(path.lstat().st_mode) and path.name != "ballast"]


def alter(chance, folders):
    """Alters one file. Returns the alteration, and whether anything may be lost by it."""
    kinds = {}
    for folder in folders:
        for path in files(folder):
            kinds.setdefault(kind(str(path.relative_to(folder))), []).append((folder, path))
    often = [name for name in sorted(kinds) if OFTEN.fullmatch(name)]
    folder, path = chance.choice(kinds[chance.choice([*sorted(kinds), *3 * often])])
    way = chance.choice(WAYS) if path.stat().st_size else chance.choice((lengthen, remove))
    name = str(path.relative_to(folder))
    return f"{name}: {way(chance, path)}", NEEDLESS.fullmatch(name) is None
