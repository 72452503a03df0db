"""Quality control of a partitioned Parquet archive with Ray Data.

`python quality_on_ray.py ARCHIVE OUT --workers 2` does what `quality_on_dask.py` does, by the same
function. Ray brings the rows of a partition together itself, so they may be spread over several files.
OUT is a folder of Parquet files, which must not exist yet. Needs `pip install ray`.
"""

import argparse
from pathlib import Path

import pyarrow.dataset
import ray
from quality_on_dask import check_stations
from ray.data.datasource.partitioning import Partitioning


def check_archive(archive, out, workers):
    """Checks an archive on worker processes; returns the readings by verdict."""
    if Path(out).exists():
        raise SystemExit(f"{out} exists already")
    # Workers find the function beside this file.
    environment = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
    ray.init(num_cpus=workers, include_dashboard=False, runtime_env=environment)
    try:
        readings = ray.data.read_parquet(str(archive), partitioning=Partitioning("hive"))
        parts = readings.groupby("part", num_partitions=2 * workers)
        parts.map_groups(check_stations, batch_format="pandas").write_parquet(str(out))
    finally:
        ray.shutdown()
    verdicts = pyarrow.dataset.dataset(out).to_table(["verdict_base"])["verdict_base"]
    return {row["values"]: row["counts"] for row in verdicts.value_counts().to_pylist()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    for name, count in sorted(check_archive(args.archive, args.out, args.workers).items()):
        print(f"{name:16}{count:>12,}")


if __name__ == "__main__":
    main()
