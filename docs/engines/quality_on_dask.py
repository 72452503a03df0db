"""Quality control of a partitioned Parquet archive on dask worker processes.

`python quality_on_dask.py ARCHIVE OUT --workers 2` reads `ARCHIVE/part=*/`, checks each station with all
its series, and writes the readings with their verdicts to `OUT/part=*/`. The partitions are files of
whole stations (`archive.py` makes such an archive), so no reading moves between workers, and each worker
needs memory for one partition.
"""

import argparse
import time
from pathlib import Path

import mesonet
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dask.distributed import Client, LocalCluster, as_completed

SERIES = ["station", "observation_name", "interval_type", "interval_minutes", "unit", "group_bucket_name", "calculated"]


def check_stations(frame):
    """The readings with `verdict_base` and `verdict_reason` of the checks, in their order.

    Of two readings of a series at one time the later row counts, as in the service. Stations whose place
    is not known cannot be checked, and say so: Unknown.
    """
    frame = frame.drop_duplicates([*SERIES, "timestamp"], keep="last", ignore_index=True)
    placed = frame.lat.notna() & frame.lon.notna()
    checked = mesonet.check_frame(frame[placed], neighbours=False)
    verdicts = checked[["verdict_base", "verdict_reason"]].reindex(frame.index)
    return frame.assign(
        verdict_base=verdicts.verdict_base.fillna("Unknown"),
        verdict_reason=verdicts.verdict_reason.fillna("None"),
    )


def check_partition(source, target):
    """Checks one file into another, which is there only once it is whole; returns counts by verdict."""
    checked = check_stations(pq.read_table(source).to_pandas())
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    pq.write_table(pa.Table.from_pandas(checked, preserve_index=False), part)
    part.replace(target)
    return np.bincount(checked.verdict_base.cat.codes, minlength=len(mesonet.BaseQuality))


def check_archive(archive, out, workers):
    """Checks an archive on worker processes; returns the readings by verdict and the seconds."""
    sources = sorted(Path(archive).glob("part=*/*.parquet"))
    if not sources:
        raise SystemExit(f"{archive} holds no part=*/*.parquet")
    targets = [Path(out) / source.parent.name / source.name for source in sources]
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        # Workers import what they need before the clock runs.
        client.run(__import__, "mesonet")
        begun = time.perf_counter()
        futures = client.map(check_partition, sources, targets, pure=False)
        counts = sum(future.result() for future in as_completed(futures))
        return counts, time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    counts, took_s = check_archive(args.archive, args.out, args.workers)
    for code, count in enumerate(counts):
        if count:
            print(f"{mesonet.BaseQuality(code).name:16}{count:>12,}")
    print(f"{counts.sum():,} readings in {took_s:.1f} s on {args.workers} workers: {counts.sum() / took_s:,.0f} a second")


if __name__ == "__main__":
    main()
