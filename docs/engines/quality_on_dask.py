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
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dask.distributed import Client, LocalCluster, as_completed

SERIES = ["station", "observation_name", "interval_type", "interval_minutes", "unit", "group_bucket_name", "calculated"]


def check_stations(frame):
    """The readings with `quality_base` and `quality_reason` of the checks, each series in order.

    Of two readings of a series at one time the later row counts, as in the service.
    """
    frame = frame.drop_duplicates([*SERIES, "timestamp"], keep="last")
    frame = frame.sort_values([*SERIES, "timestamp"], ignore_index=True)
    ts = frame.timestamp.dt.tz_convert(None).to_numpy()
    value = frame.value.to_numpy()
    # Where a series begins, and where a station does.
    series = frame.groupby(SERIES, observed=True, dropna=False).ngroup().to_numpy()
    begins = np.flatnonzero(np.diff(series, prepend=-1))
    ends = np.append(begins[1:], len(frame))
    heads = frame.iloc[begins].reset_index(drop=True)
    # What cannot be checked, as the place of its station is not known, says so: Unknown.
    base = np.full(len(frame), mesonet.BaseQuality.Unknown, np.uint8)
    reason = np.zeros(len(frame), np.uint8)
    for _, which in heads.groupby("station", observed=True).indices.items():
        place = heads.iloc[which[0]]
        if pd.isna(place.lat) or pd.isna(place.lon):
            continue
        altitude = None if pd.isna(place.altitude_m) else float(place.altitude_m)
        given = [
            mesonet.SeriesReadings(
                head.observation_name,
                head.interval_type,
                int(head.interval_minutes),
                ts[begins[row] : ends[row]],
                value[begins[row] : ends[row]],
                calculated=bool(head.calculated),
                reported_unit=head.unit,
                bucket=head.group_bucket_name or "",
            )
            for row, head in zip(which, heads.iloc[which].itertuples(), strict=True)
        ]
        verdicts = mesonet.check_station(place.lon, place.lat, altitude, given)
        for row, verdict in zip(which, verdicts, strict=True):
            base[begins[row] : ends[row]] = verdict.base
            reason[begins[row] : ends[row]] = verdict.reason
    return frame.assign(quality_base=base, quality_reason=reason)


def check_partition(source, target):
    """Checks one file into another, which is there only once it is whole; returns counts by verdict."""
    checked = check_stations(pq.read_table(source).to_pandas())
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    pq.write_table(pa.Table.from_pandas(checked, preserve_index=False), part)
    part.replace(target)
    return np.bincount(checked.quality_base, minlength=len(mesonet.BaseQuality))


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
