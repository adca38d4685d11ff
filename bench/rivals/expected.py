"""What is told of the generated data itself, by no engine."""

import math

import numpy
import pyarrow.compute
import pyarrow.parquet

from questions import QUANTILES, RANGE


def percentiles_by_service(path, is_weighted=False):
    """The expected rows of the question about percentiles, computed here. Every percentile is a pair of the least and the most that
    it can be: engines take the rank below it, the one above, or something in between. With weights, a row is `rate` values."""
    table = pyarrow.parquet.read_table(path, columns=["time", "service", "latency_us", "rate"])
    time = table["time"]
    table = table.filter(pyarrow.compute.and_(
        pyarrow.compute.greater_equal(time, RANGE[0]), pyarrow.compute.less(time, RANGE[1])))
    services = table["service"].combine_chunks().dictionary_encode(null_encoding="encode")
    codes, latency = services.indices.to_numpy(zero_copy_only=False), table["latency_us"].to_numpy()
    order = numpy.lexsort((latency, codes))
    rates = table["rate"].to_numpy()[order] if is_weighted else numpy.ones(len(order), dtype=int)
    latency = latency[order]
    rows, end = [], 0
    for service, count in zip(services.dictionary.to_pylist(), numpy.bincount(codes).tolist()):
        group, ends = latency[end:end + count], numpy.cumsum(rates[end:end + count])
        end += count
        values = int(ends[-1])
        ranks = [share * (values - 1) for share in QUANTILES]
        bounds = [(max(math.floor(rank) - 1, 0), min(math.ceil(rank) + 1, values - 1)) for rank in ranks]
        at = [[int(group[numpy.searchsorted(ends, rank, side="right")]) for rank in pair] for pair in bounds]
        rows.append([service, *map(tuple, at)])
    return rows


def plain_bytes(path):
    """Bytes per row if every number takes 8 bytes and every string its length; absent values take none."""
    file = pyarrow.parquet.ParquetFile(path)
    total = 0
    for batch in file.iter_batches():
        for column in batch.columns:
            if pyarrow.types.is_string(column.type):
                total += pyarrow.compute.sum(pyarrow.compute.binary_length(column)).as_py() or 0
            else:
                total += 8 * (len(column) - column.null_count)
    return total / file.metadata.num_rows
