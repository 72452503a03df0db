"""Makes a partitioned Parquet archive of real reports, for the examples beside this file.

`python archive.py FOLDER FILE…` reads files of any feed and writes
`FOLDER/part=N/readings.parquet`: every station is whole in one partition, so that partitions can be
checked alone.
"""

import sys
import zlib
from pathlib import Path

import mesonet
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

PARTITIONS = 8


def write(folder, files, copies=1, partitions=PARTITIONS):
    """Writes the readings of files, `copies` times a week apart, and returns how many there are."""
    feed = mesonet.read_feed(files)
    table = with_places(feed.to_arrow())
    names = table["station"].combine_chunks()
    part_of = [zlib.crc32(name.encode()) % partitions for name in names.dictionary.to_pylist()]
    part = pa.array(part_of, pa.int32()).take(names.indices)
    for number in range(partitions):
        rows = table.filter(pa.compute.equal(part, number))
        path = Path(folder) / f"part={number}"
        path.mkdir(parents=True, exist_ok=True)
        at = rows.column_names.index("timestamp")
        with pq.ParquetWriter(path / "readings.parquet", rows.schema) as writer:
            for copy in range(copies):
                week = pa.scalar(copy * 7 * 86_400_000, pa.duration(rows["timestamp"].type.unit))
                times = pa.compute.add(rows["timestamp"], week)
                writer.write_table(rows.set_column(at, rows.schema.field(at), times))
    return len(table) * copies


def with_places(table):
    """The places that the package knows, for stations that have none; null where it does not either."""

    def key(network, station):
        return pa.compute.binary_join_element_wise(network.cast(pa.string()), station.cast(pa.string()), " ")

    known = mesonet.known_stations().to_arrow()
    listed = key(known["network"], known["native_id"]).combine_chunks()
    row = pa.compute.index_in(key(table["network"], table["station"]), listed)
    for name in ("lat", "lon", "altitude_m"):
        at = table.column_names.index(name)
        table = table.set_column(at, name, pa.compute.coalesce(table[name], known[name].take(row)))
    return table


if __name__ == "__main__":
    print(write(sys.argv[1], sys.argv[2:]), "readings")
