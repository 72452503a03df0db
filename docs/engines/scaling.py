"""How quality control scales from one dask worker to two: the table of `docs/scale.md`.

`python scaling.py ARCHIVE` makes an archive of 8 copies of the six captures of 2024-08-03 in the folder
ARCHIVE if there is none, checks it with one worker and with two in turn, `--runs` times each, and prints
the fastest run of each. It wants a release wheel, two idle cores, and the packages `dask`, `distributed`
and `pyarrow`.
"""

import argparse
import os
import tempfile
from pathlib import Path

import archive
from quality_on_dask import check_archive

CAPTURES = sorted((Path(__file__).parents[2] / "tests" / "data" / "metar").glob("liveairdata_metars_20240803*.csv.gz"))
COPIES = 8


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", type=Path)
    parser.add_argument("--runs", type=int, default=2)
    args = parser.parse_args()
    if not args.archive.exists():
        archive.write(args.archive, CAPTURES, copies=COPIES)
    fastest_s = {1: float("inf"), 2: float("inf")}
    for _ in range(args.runs):
        for workers in fastest_s:
            with tempfile.TemporaryDirectory() as out:
                counts, took_s = check_archive(args.archive, out, workers)
            fastest_s[workers] = min(fastest_s[workers], took_s)
    print("| Workers | Seconds | Readings a second | Times one worker |")
    print("| ---: | ---: | ---: | ---: |")
    for workers, took_s in fastest_s.items():
        print(f"| {workers} | {took_s:.1f} | {counts.sum() / took_s:,.0f} | {fastest_s[1] / took_s:.2f} |")
    print(f"\n{counts.sum():,} readings; load of the machine {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
