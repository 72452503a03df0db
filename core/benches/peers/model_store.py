"""Columns and series of the bench's model store through zarr and xarray.

    pip install numpy xarray zarr
    MESONET_BENCH_STORE=FOLDER cargo bench -p mesonet --features grid-store --bench model_grids
    python core/benches/peers/model_store.py FOLDER

Prints the median of reads at random cells, files cached.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np
import xarray
import zarr

run = Path(sys.argv[1]) / "bench" / "20230722T060000Z"
rng = np.random.default_rng(1)
CELLS = list(zip(rng.integers(0, 1059, 200), rng.integers(0, 1799, 200)))


def timed(name, read):
    spent = []
    for row, column in CELLS:
        start = time.perf_counter()
        read(int(row), int(column))
        spent.append(time.perf_counter() - start)
    print(f"{name}: {statistics.median(spent) * 1e6:.0f} µs")


t, t2 = (zarr.open_array(run / name, mode="r") for name in ("t", "t2"))
timed("zarr, column of 19 levels", lambda row, column: t[0, :, row, column])
timed("zarr, series of 25 hours", lambda row, column: t2[:, row, column])
dataset = xarray.open_zarr(run, consolidated=False, chunks=None)
timed("xarray, column", lambda row, column: dataset.t[0, :, row, column].values)
timed("xarray, series", lambda row, column: dataset.t2[:, row, column].values)
