"""The as-of grid beside pandas and polars, on the same arrays in the same run.

    pip install numpy pandas polars
    python core/benches/peers/asof.py

50,000 series × 72 irregular readings × 10 positions, one core. Prints the fastest of several runs
of each, the ratio to mesonet, and fails if the three do not find the same readings.
"""

import os
import subprocess
import sys
import tempfile
import time

os.environ["POLARS_MAX_THREADS"] = "1"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np
import pandas as pd
import polars as pl

SERIES, READINGS, POSITIONS = 50_000, 72, 10
STEP_MS = 160 * 60_000
SPACING_MS = (POSITIONS - 1) * STEP_MS // READINGS

rng = np.random.default_rng(20240803)
times = np.arange(READINGS) * SPACING_MS + rng.integers(0, SPACING_MS, (SERIES, READINGS))
at = np.arange(POSITIONS) * STEP_MS


def fastest(run, repeats):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return best * 1e3, result


def mesonet():
    with tempfile.NamedTemporaryFile(suffix=".i64") as file:
        np.array([SERIES, READINGS, POSITIONS, STEP_MS], dtype="<i8").tofile(file)
        times.astype("<i8").tofile(file)
        file.flush()
        command = ["cargo", "run", "--release", "-q", "-p", "mesonet", "--example", "as_of_file"]
        out = subprocess.run([*command, file.name], check=True, capture_output=True, text=True)
    milliseconds, found = out.stdout.split()
    return float(milliseconds), int(found)


# Both peers join sorted frames: by time for pandas, by series and time for polars.
series = np.repeat(np.arange(SERIES), READINGS)
index = np.tile(np.arange(READINGS), SERIES)
right = pd.DataFrame({"series": series, "ts": times.ravel(), "index": index})
left = pd.DataFrame({"series": np.tile(np.arange(SERIES), POSITIONS), "ts": np.repeat(at, SERIES)})
right_by_time = right.sort_values("ts", kind="stable", ignore_index=True)
pandas_ms, joined = fastest(lambda: pd.merge_asof(left, right_by_time, on="ts", by="series"), 5)
pandas_found = int((joined["index"].fillna(-1) + 1).sum())

left_pl = pl.from_pandas(left).sort("series", "ts")
right_pl = pl.from_pandas(right).sort("series", "ts")
polars_ms, joined = fastest(
    lambda: left_pl.join_asof(right_pl, on="ts", by="series", check_sortedness=False), 5
)
polars_found = int((joined["index"].fill_null(-1) + 1).sum())

mesonet_ms, found = mesonet()
for name, milliseconds in [("mesonet", mesonet_ms), ("pandas", pandas_ms), ("polars", polars_ms)]:
    print(f"{name:8} {milliseconds:8.1f} ms  {milliseconds / mesonet_ms:6.1f} ×")
if not found == pandas_found == polars_found:
    sys.exit(f"different readings: {found}, {pandas_found}, {polars_found}")
