"""Size on disk and speed of the same readings in DuckDB and in SQLite.

    python server-example/examples/record_peers.py DIR

DIR is a data directory, for example of the example `record`. Its sealed segments are Arrow files:
they are read here by pyarrow as they are. Needs duckdb, numpy and pyarrow.
"""

import os
import pathlib
import sqlite3
import sys
import tempfile
import time

import duckdb
import numpy as np
import pyarrow as pa


def rows(directory):
    """The readings of the segments, flat: station number, series, time, value, quality, source."""
    stations = {}
    for path in sorted(pathlib.Path(directory).rglob("*.arrow")):
        with pa.memory_map(str(path)) as source:
            reader = pa.ipc.open_file(source)
            for i in range(reader.num_record_batches):
                batch = reader.get_batch(i)
                time_list = batch.column("time")
                lengths = np.diff(time_list.offsets.to_numpy())
                number = [stations.setdefault(s, len(stations)) for s in batch.column("station").to_pylist()]
                yield pa.table({
                    "station": np.repeat(np.array(number, dtype=np.int32), lengths),
                    "series": np.repeat(batch.column("series").to_numpy(), lengths),
                    "ts_ms": time_list.flatten().cast(pa.int64()),
                    "value": batch.column("value").flatten(),
                    "quality": batch.column("quality").flatten(),
                })


def main():
    directory = sys.argv[1]
    own = sum(path.stat().st_size for path in pathlib.Path(directory).rglob("*") if path.is_file())
    with tempfile.TemporaryDirectory() as scratch:
        duck_path, lite_path = os.path.join(scratch, "d.db"), os.path.join(scratch, "s.db")
        duck = duckdb.connect(duck_path)
        duck.execute("SET threads = 1")
        lite = sqlite3.connect(lite_path)
        lite.execute("PRAGMA journal_mode = WAL")
        columns = "station INTEGER, series INTEGER, ts_ms BIGINT, value DOUBLE, quality UTINYINT"
        duck.execute(f"CREATE TABLE readings ({columns})")
        lite.execute("CREATE TABLE readings (station INTEGER, series INTEGER, ts_ms INTEGER, value REAL,"
                     " quality INTEGER, PRIMARY KEY (station, series, ts_ms)) WITHOUT ROWID")
        count, seconds = 0, {"duckdb": 0.0, "sqlite": 0.0}
        for readings_of_batch in rows(directory):
            began = time.perf_counter()
            duck.execute("INSERT INTO readings SELECT * FROM readings_of_batch")
            seconds["duckdb"] += time.perf_counter() - began
            columns = [readings_of_batch.column(i).to_pylist() for i in range(readings_of_batch.num_columns)]
            began = time.perf_counter()
            with lite:
                lite.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?)", zip(*columns))
            seconds["sqlite"] += time.perf_counter() - began
            count += readings_of_batch.num_rows
        duck.execute("CHECKPOINT")
        lite.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes = {"mesonet": own, "duckdb": os.path.getsize(duck_path), "sqlite": os.path.getsize(lite_path)}
        print(f"{count} readings in sealed segments")
        for name, size in sizes.items():
            rate = f", {count / seconds[name]:,.0f} inserted a second" if name in seconds else ""
            print(f"{name}: {size:,} bytes, {size / count:.1f} a reading{rate}")
        newest = duck.execute("SELECT max(ts_ms) FROM readings").fetchone()[0]
        latest = ("SELECT station, series, max(ts_ms) FROM readings "
                  f"WHERE ts_ms >= {newest - 12 * 3_600_000} GROUP BY station, series")
        for name, connection in [("duckdb", duck), ("sqlite", lite)]:
            began = time.perf_counter()
            got = len(connection.execute(latest).fetchall())
            print(f"{name}: latest of each series over 12 h: {got} rows in {time.perf_counter() - began:.2f} s")


main()
