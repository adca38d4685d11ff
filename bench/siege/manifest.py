"""Which files a leaf's manifest names: read as spec/segments.md says, by other code than the program's; checksums are believed."""

import dataclasses
import struct

MAGIC = bytes.fromhex("89 48 44 4C 4D 41 4E 01".replace(" ", ""))
HEADER = struct.Struct("<8sQIIQQ")


@dataclasses.dataclass
class Named:
    """The valid objects: block numbers with their segment and rows, and numbers of log files."""

    blocks: dict = dataclasses.field(default_factory=dict)
    logs: set = dataclasses.field(default_factory=set)

    @property
    def segments(self):
        return {segment for segment, _ in self.blocks.values()}


class Body:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values if len(values) > 1 else values[0]

    def name(self):
        self.at += self.data[self.at] + 1

    def entries(self):
        return range(self.take("I"))


def bodies(data):
    """The bodies of all frames, including the head's, up to an unfinished tail."""
    at = 0
    while at + HEADER.size <= len(data):
        magic, _, length, _, _, _ = HEADER.unpack_from(data, at)
        at += HEADER.size
        if magic != MAGIC or at + length > len(data):
            return
        yield data[at:at + length]
        at += length


def apply(named, body):
    """Applies a record: its lists in their order."""
    for _ in body.entries():  # drops
        body.name()
    for _ in body.entries():  # removes
        del named.blocks[body.take("Q")]
    for _ in body.entries():  # adds
        number, _, segment, _, rows, _ = body.take("QQIIIQ")
        body.name()
        named.blocks[number] = (segment, rows)
    for _ in body.entries():  # consumed
        body.take("QQ")
    for _ in body.entries():  # remembered
        body.name()
        body.name()
        body.take("QqI")
    for _ in body.entries():  # settings
        body.name()
        length = body.take("I")
        body.at += length
    for _ in body.entries():  # forget
        body.take("q")
    # Replaces the lists of earlier records.
    named.logs = {body.take("Q") for _ in body.entries()}


def read(data):
    named = Named()
    for record, body in enumerate(bodies(data)):
        if record:
            apply(named, Body(body))
    return named
