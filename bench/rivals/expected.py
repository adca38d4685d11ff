"""What is told of the generated data itself, by no engine."""

import math

import numpy
import pyarrow.compute
import pyarrow.parquet

from questions import QUANTILES, RANGE


def percentiles_by_service(path):
    """The expected rows of the question about percentiles, computed here. Every percentile is a pair of the least and the most that
    it can be: engines take the rank below it, the one above, or something in between."""
    table = pyarrow.parquet.read_table(path, columns=["time", "service", "latency_us"])
    time = table["time"]
    table = table.filter(pyarrow.compute.and_(
        pyarrow.compute.greater_equal(time, RANGE[0]), pyarrow.compute.less(time, RANGE[1])))
    services = table["service"].combine_chunks().dictionary_encode(null_encoding="encode")
    codes, latency = services.indices.to_numpy(zero_copy_only=False), table["latency_us"].to_numpy()
    latency = latency[numpy.lexsort((latency, codes))]
    rows, end = [], 0
    for service, count in zip(services.dictionary.to_pylist(), numpy.bincount(codes).tolist()):
        group = latency[end:end + count]
        end += count
        ranks = [share * (count - 1) for share in QUANTILES]
        bounds = [(max(math.floor(rank) - 1, 0), min(math.ceil(rank) + 1, count - 1)) for rank in ranks]
        rows.append([service, *((int(group[low]), int(group[high])) for low, high in bounds)])
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
