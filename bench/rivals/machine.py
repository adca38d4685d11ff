"""What the figures were measured on, and the data that they were measured with."""

import os
import pathlib
import re
import subprocess
import time

# The seed of every table.
SEED = "1"
# The name of the column of weights that is not special to Hadal.
RATE = ["--weight-column", "rate"]


def about(generator):
    """A short description of the machine, as a dictionary."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    bandwidth = subprocess.run([generator, "bandwidth"], check=True, capture_output=True, text=True)
    return {
        "cpu": cpu[1] if cpu else "unknown", "cores": os.cpu_count(), "memory_gib": round(memory / 2**30, 1),
        "read_gb_per_s": float(bandwidth.stdout), "load_before": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d"),
    }


def told(about):
    return (f"{about['cpu']}, {about['cores']} cores, {about['memory_gib']} GiB, reads {about['read_gb_per_s']} GB/s per core,"
            f" load {about['load_before']:.1f} before")


def cores():
    """The measured core, all cores, and those for this program itself: another one, if there is another."""
    every = sorted(os.sched_getaffinity(0))
    return {every[-1]}, set(every), set(every[:-1] or every)


class Data:
    """The files. Each is generated when it is first needed, and kept outside of the checkout."""

    def __init__(self, generator, folder, rows, reading_rows, line_rows):
        self.generator, self.folder = generator, folder
        self.rows, self.reading_rows, self.line_rows = rows, reading_rows, line_rows
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def requests(self):
        return self.made("requests", self.rows, "parquet", RATE)

    @property
    def weighted(self):
        return self.made("requests", self.rows, "parquet", [])

    @property
    def lines(self):
        return self.made("requests", self.rows, "jsonl", RATE)

    @property
    def fewer_lines(self):
        """Enough rows to measure how fast a rival reads them."""
        return self.fewer("jsonl")

    def fewer(self, form):
        """The same rows as JSON lines, CSV or Parquet."""
        if form != "csv":
            return self.made("requests", self.line_rows, form, RATE)
        parquet = self.fewer("parquet")
        path = parquet.with_suffix(".csv")
        if not path.exists():
            # These packages are installed for the rivals only.
            import pyarrow.csv
            import pyarrow.parquet
            part = path.with_suffix(".part")
            pyarrow.csv.write_csv(pyarrow.parquet.read_table(parquet), part)
            part.rename(path)
        return path

    @property
    def readings(self):
        return self.made("readings", self.reading_rows, "parquet", [])

    def made(self, table, rows, form, more):
        return made(self.generator, self.folder, table, form, ("--rows", rows), more)


def made(generator, folder, table, form, size, more=()):
    """A file of the generator, of a `size` that is one of its options. It is generated once and kept in the folder."""
    option, number = size
    words = [table, *(word.strip("-") for word in more), "seed", SEED, str(number)]
    path = folder / f"{'-'.join(words)}.{form}"
    if not path.exists():
        print(f"making {path.name}", flush=True)
        # The file has another name until it is complete.
        part = path.with_suffix(".part")
        subprocess.run(
            [generator, table, option, str(number), "--seed", SEED, "--format", form, "--out", part, *more], check=True)
        part.rename(path)
    return path
