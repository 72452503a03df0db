"""Columns and series of the bench's model store through zarr and xarray, beside what criterion has
of the readers in Rust.

`core/benches/peers/model_store` calls it with the folder of the store and that of criterion. Prints
the median of reads at random cells, files cached, and how often this library's fits into it.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import xarray
import zarr

ROWS, COLUMNS, LEVELS, HOURS = 1059, 1799, 19, 25
READS = ("column of 19 levels", "series of 25 hours")

store, criterion = map(Path, sys.argv[1:])
run = store / "bench" / "20230722T060000Z"
rng = np.random.default_rng(1)
CELLS = [(int(row), int(column)) for row, column in rng.integers(0, (ROWS, COLUMNS), (200, 2))]


def generated(seeds, row, column):
    """What `benches/model_store` writes."""
    noise = (row * COLUMNS + column + seeds) * 2_654_435_761 % 2**32 >> 28
    return (((3 * row + 2 * column) // 16 + 31 * seeds + noise) % 600 - 300) * 10


def in_rust():
    """Medians of criterion in microseconds."""
    medians = []
    for read in READS:
        estimates = json.loads((criterion / "grid store" / read / "new" / "estimates.json").read_text())
        medians.append(estimates["median"]["point_estimate"] / 1e3)
    return medians


def timed(read):
    spent = []
    for row, column in CELLS:
        start = time.perf_counter()
        read(row, column)
        spent.append(time.perf_counter() - start)
    return statistics.median(spent) * 1e6


t, t2 = (zarr.open_array(run / name, mode="r") for name in ("t", "t2"))
dataset = xarray.open_zarr(run, consolidated=False, chunks=None)
PEERS = {
    "zarr": (lambda row, column: t[0, :, row, column], lambda row, column: t2[:, row, column]),
    "xarray": (
        lambda row, column: dataset.t[0, :, row, column].values,
        lambda row, column: dataset.t2[:, row, column].values,
    ),
}

for cell in CELLS[:50]:
    for at, seeds in enumerate((np.arange(LEVELS), np.arange(HOURS))):
        wanted = generated(seeds, *cell)
        np.testing.assert_array_equal(PEERS["zarr"][at](*cell), wanted)
        np.testing.assert_allclose(PEERS["xarray"][at](*cell), wanted * 0.01 + 273.15, rtol=1e-6)

rows = {"mesonet": in_rust()}
rows |= {name: [timed(read) for read in reads] for name, reads in PEERS.items()}
print(f"{'reader':12}" + "".join(f"{read:>24}{'ratio':>8}" for read in READS))
for reader, medians in rows.items():
    cells = (f"{of:21.2f} µs{of / ours:8.0f}" for of, ours in zip(medians, rows["mesonet"]))
    print(f"{reader:12}" + "".join(cells))
