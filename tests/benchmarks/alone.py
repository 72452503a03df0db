"""What has no peer, beside its aim: what is taken in, what is read from a folder on disk, the first start.

The benchmarks of the core measure the first two; they are built by `tests/bench`. The server takes made-up reports into a
folder (`tests/scale/slope.py` makes them). All of it may use every core, and times are those of a clock: it is what a user
waits for.
"""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from scale import slope

from .http import BOX, free_port, listening
from .measure import CORES, Skipped
from .table import Row

PACKAGES = ()
ROUNDS = 3
PATIENCE_S = 600
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
# The folders in which Criterion keeps measurements of the core's benchmarks: the row, its size, and its aim in microseconds.
OF_CORE = {
    "intake": {
        "take in/single reports": ("a report is taken in", "8 readings, 1,000 stations", 100),
        "take in/a report of every station": ("a report of every station is taken in", "8,000 readings", 60_000),
        "take in/a year of one station": ("a year of a station is taken in", "70,080 readings", 150_000),
        "take in/a month of one station among others": (
            *("a month of a station is taken in, which those around it have", "5,760 readings"),
            None,
        ),
    },
    "store": {
        "store_snapshot of 12 h": ("snapshot of 12 hours, from disk", "10,000 stations, 80 k series", 15_000),
        "store_grid of 10 h": ("readings on a time grid, from disk", "10,000 stations, 480 k cells", 45_000),
    },
}
# Readings a second that a folder takes in.
RATE_AIM = 300_000
NEWEST = f"/api/v1/stations/readings?{BOX}"


def cases():
    os.sched_setaffinity(0, CORES)
    try:
        for bench, rows in OF_CORE.items():
            yield from of_core(bench, rows)
        for stations, hours in ((1_000, 24), (5_000, 24), (20_000, 24)):
            yield taken_into_a_folder(stations, hours)
        yield memory_of_intake(2_000)
        yield from first_start()
    finally:
        os.sched_setaffinity(0, CORES[-1:])


def row(what, size, **measured):
    return Row("alone", what, size, "", **measured)


# --- benchmarks of the core -----------------------------------------------------------------------


def of_core(bench, rows):
    """Runs a benchmark, and reads the medians that Criterion keeps."""
    command = ["cargo", "bench", "--locked", "-p", "mesonet", "--all-features", "--bench", bench, "--", "--noplot"]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False).returncode
    except subprocess.TimeoutExpired:
        ended = f"{PATIENCE_S} s"
    for name, (what, size, aim_us) in rows.items():
        kept = TARGET / "criterion" / name / "new" / "estimates.json"
        if ended != 0 or not kept.exists():
            yield Skipped(what, "", f"the benchmark {bench} ended with {ended}", size)
            continue
        ours_us = json.loads(kept.read_text())["median"]["point_estimate"] / 1e3
        yield row(what, size, ours_us=ours_us, aim_us=aim_us, agreement="median of Criterion")


# --- the server -------------------------------------------------------------------------------------


def ingest(folder, file, into):
    """The seconds and the readings of one ingest into a new folder, and the most memory it had, bytes."""
    command = [os.environ["MESONET_SERVER_BIN"], "ingest", "--json", "--data", into, file]
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    most = 0
    # What the system counts for a process that has ended includes what its parent had.
    while process.poll() is None:
        most = max(most, peak_bytes(process.pid))
        time.sleep(0.01)
    took_s, said = time.monotonic() - begin, process.stdout.read()
    assert process.returncode == 0, said[:300]
    kind = next(iter(json.loads(said)["kinds"].values()))
    return took_s, kind["added"], most


def peak_bytes(pid):
    found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) << 10 if found else 0


def taken_into_a_folder(stations, hours):
    with tempfile.TemporaryDirectory() as folder:
        slope.make(Path(folder) / "metars.csv.gz", stations, hours)
        runs = [ingest(folder, "metars.csv.gz", f"data-{at}") for at in range(ROUNDS)]
    readings = runs[0][1]
    assert {run[1] for run in runs} == {readings}
    ours_us = median(run[0] for run in runs) * 1e6 / readings
    return row(
        "a reading is taken into a folder",
        f"{stations:,} stations",
        ours_us=ours_us,
        aim_us=round(1e6 / RATE_AIM, 2),
        rounds=ROUNDS,
        agreement=f"{1e6 / ours_us:,.0f} readings a second",
    )


def memory_of_intake(stations):
    """Two hours of reports every minute, in the order of time."""
    with tempfile.TemporaryDirectory() as folder:
        slope.make(Path(folder) / "metars.csv.gz", stations, 2, every_min=1)
        _, readings, most = ingest(folder, "metars.csv.gz", "data")
    size = f"{stations:,} stations, {readings / 1e6:.1f} M readings"
    return row(
        "memory while reports of every minute are taken in", size, ours_mb=most / 1e6, aim_mb=300, agreement="VmHWM"
    )


def first_start():
    """The seconds until the server answers in a new folder, and until the readings of its sample are there."""
    answered_s, filled_s = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            folder, port = Path(name), free_port()
            command = [os.environ["MESONET_SERVER_BIN"], "--data", folder / "record", "--listen", f"127.0.0.1:{port}"]
            begin = time.monotonic()
            with listening(command, port, folder / "server.log") as server:
                server.ask("/healthz")
                answered_s.append(time.monotonic() - begin)
                while not json.loads(server.ask(NEWEST)[2])["stations"]:
                    assert time.monotonic() < begin + PATIENCE_S
                    time.sleep(0.02)
                filled_s.append(time.monotonic() - begin)
    for what, seconds, aim_s in (("first answer", answered_s, 1), ("readings of the sample", filled_s, 3)):
        yield row(f"{what} in a new folder", "", ours_us=median(seconds) * 1e6, aim_us=aim_s * 1e6, rounds=ROUNDS)
