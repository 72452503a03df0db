"""The package beside others on one core: one table, from one run.

    pip install -r bindings-python/bench/requirements.txt mesonet-*.whl   # a release wheel
    python bindings-python/bench/run.py                                   # prints the table
    python bindings-python/bench/run.py --write docs/performance.md       # and puts it there

Every row first holds the two results against each other, and fails if they do not agree within the
tolerance that it states. Then both run in turn, and the fastest run of each counts, in time of the
processor, so that other work of the machine does not. Inputs are in each library's own form already.
"""

import os

# Before anything is imported that makes threads.
for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import argparse
import csv
import gzip
import importlib.metadata
import io
import platform
import re
import time
import uuid
import warnings
from pathlib import Path

import duckdb
import mesonet
import metpy.calc
import numpy as np
import pandas as pd
import pint
import polars as pl
import pyarrow as pa
from metar.Metar import Metar, ParserError
from metpy.units import units

ROOT = Path(__file__).parents[2]
METARS = ROOT / "server-example" / "sample" / "metar_us_ca.csv.gz"
GRIB = ROOT / "server-example" / "sample" / "nam211_20180917T00Z_f000_181msg.grib2"
BEGIN, END = "<!-- made by bindings-python/bench/run.py -->", "<!-- end -->"
RANDOM = np.random.default_rng(16)


def fastest_s(run, least_s=1.0):
    """The fastest of at least three runs that take at least so long together."""
    best, spent, runs = float("inf"), 0.0, 0
    while runs < 3 or spent < least_s:
        begin = time.process_time()
        run()
        took = time.process_time() - begin
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best


def row(what, peer, aim, ours, theirs, agree, size):
    """A row of the table; `agree` says how the results agree, or raises."""
    said = agree(ours(), theirs())
    # In turn, so that what else the machine does meets both.
    mine, other = zip(*((fastest_s(ours, 0.5), fastest_s(theirs, 0.5)) for _ in range(3)), strict=True)
    return what, size, peer, min(mine), min(other), aim, said


def within(tolerance, unit):
    def agree(ours, theirs):
        ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
        both = ~np.isnan(ours) & ~np.isnan(theirs)
        assert both.mean() > 0.2, "too few values to compare"
        off = np.abs(ours[both] - theirs[both]).max()
        assert off <= tolerance, f"off by {off}"
        return f"within {tolerance:g} {unit}".strip() if tolerance else "equal"

    return agree


# --- the rows ---------------------------------------------------------------------------------


def as_of():
    """1,000 series of a day, a reading each minute or so, on a grid of 5 minutes."""
    series, day_ms, step = 1_000, 86_400_000, 5
    counts = RANDOM.integers(1_000, 1_440, series)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ts = np.concatenate([np.sort(RANDOM.integers(0, day_ms, n)) for n in counts])
    value = RANDOM.normal(15, 8, ts.size)
    times = ts.view("M8[ms]")
    grid = mesonet.resample(times, value, 0, day_ms, step, offsets=offsets)
    positions = grid.times.astype("M8[ms]")
    # Station ids, as the service gives them.
    ids = np.array([str(uuid.uuid5(uuid.NAMESPACE_URL, str(one))) for one in range(series)])
    ids.sort()
    key = np.repeat(ids, counts)
    left = pd.DataFrame({"at": np.tile(positions, series), "key": np.repeat(ids, positions.size)})
    right = pd.DataFrame({"at": times, "key": key, "value": value})
    # merge_asof wants both sorted by time over all keys.
    sorted_left = left.sort_values("at", kind="stable")
    sorted_right = right.sort_values("at", kind="stable")
    polars_left, polars_right = pl.DataFrame(left), pl.DataFrame(right)
    database = duckdb.connect(config={"threads": 1})
    database.register("l", pa.Table.from_pandas(left))
    database.register("r", pa.Table.from_pandas(right))
    database.execute("create table lt as from l; create table rt as from r")
    asof = "select lt.key, lt.at, value from lt asof left join rt on lt.key = rt.key and lt.at >= rt.at"
    size = f"{ts.size / 1e6:.1f} M readings, {series * positions.size / 1e3:.0f} k cells"

    def ours():
        return mesonet.resample(times, value, 0, day_ms, step, offsets=offsets).values

    def by_pandas():
        return pd.merge_asof(sorted_left, sorted_right, on="at", by="key")

    def by_polars():
        return polars_left.join_asof(polars_right, on="at", by="key", check_sortedness=False)

    def same(frame):
        def agree(ours, theirs):
            np.testing.assert_array_equal(ours.ravel(), frame(theirs))
            return "equal"

        return agree

    flat_pandas = lambda made: made.sort_values(["key", "at"]).value.to_numpy()
    flat_polars = lambda made: made.sort("key", "at")["value"].to_numpy()
    what = "readings on a time grid"
    yield row(what, "pandas `merge_asof`", 8, ours, by_pandas, same(flat_pandas), size)
    yield row(what, "polars `join_asof`", 30, ours, by_polars, same(flat_polars), size)
    yield row(
        what,
        "DuckDB `asof join`",
        None,
        ours,
        lambda: database.execute(asof).to_arrow_table(),
        same(lambda made: flat_pandas(made.to_pandas())),
        size,
    )


def metar_rows():
    """The head and the last 10,000 reports of the bundled sample, which are real."""
    with gzip.open(METARS, "rt") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[-10_000:]


def python_metar(rows):
    """The reports as python-metar reads them; None for those that it refuses."""
    month, year = int(rows[0][2][5:7]), int(rows[0][2][:4])
    read = []
    for raw, *_ in rows:
        try:
            read.append(Metar(raw, month=month, year=year, strict=False))
        except ParserError:
            read.append(None)
    return read


def metar():
    """Real reports to a table of readings; the other only parses."""
    head, rows = metar_rows()
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    content = text.getvalue().encode()

    # Both read all groups and remarks; errors of single reports are left out by both.
    def ours():
        return mesonet.read_feed(content, received="2024-08-03T22:00Z")

    def agree(feed, reports):
        frame = feed.to_pandas()
        air = frame[frame.observation_name == "airTemperature"].groupby("station", observed=True)
        compared = 0
        for (raw, station, *_), report in zip(rows, reports, strict=True):
            if report is None or report.temp is None or station not in air.groups:
                continue
            # In a report with tenths the other keeps them too.
            found = frame.loc[air.groups[station], "value"].to_numpy()
            compared += np.abs(found - report.temp.value("C")).min() < 0.051
        assert compared > 9_000, compared
        return f"{compared:,} of {len(rows):,} temperatures equal"

    theirs = lambda: python_metar(rows)
    yield row("METAR to Arrow", "python-metar (parsing only)", 40, ours, theirs, agree, "10,000 reports")


def metar_objects():
    """Real reports as objects, each asked for one member."""
    _, rows = metar_rows()

    def ours():
        read = []
        for raw, *_ in rows:
            try:
                read.append(mesonet.parse_metar(raw).temperature_c)
            except mesonet.MesonetError:
                read.append(None)
        return read

    def agree(temperatures, reports):
        both = [
            abs(ours - report.temp.value("C")) < 0.051
            for ours, report in zip(temperatures, reports, strict=True)
            if ours is not None and report is not None and report.temp is not None
        ]
        assert sum(both) > 9_000, sum(both)
        return f"{sum(both):,} of {len(rows):,} temperatures equal"

    theirs = lambda: python_metar(rows)
    yield row("METAR to objects", "python-metar", 10, ours, theirs, agree, "10,000 reports")


def unit_conversion():
    size = 1_000_000
    knots, fahrenheit = RANDOM.uniform(0, 80, size), RANDOM.uniform(-40, 110, size)
    registry = pint.UnitRegistry()
    quantity, warm = registry.Quantity(knots, "knot"), registry.Quantity(fahrenheit, "degF")
    label = "1 M values"
    speed, heat = (lambda: mesonet.convert(knots, "kt", "km/h")), (
        lambda: mesonet.convert(fahrenheit, "°F", "°C")
    )
    yield row("kt to km/h", "NumPy `x * 1.852`", 1, speed, lambda: knots * 1.852, within(1e-9, "km/h"), label)
    yield row("kt to km/h", "pint", 3, speed, lambda: quantity.to("km/h").magnitude, within(1e-9, "km/h"), label)
    yield row("°F to °C", "NumPy `(x - 32) / 1.8`", 1, heat, lambda: (fahrenheit - 32) / 1.8, within(1e-9, "°C"), label)
    yield row("°F to °C", "pint", 3, heat, lambda: warm.to("degC").magnitude, within(1e-9, "°C"), label)


def derived():
    size = 1_000_000
    air, humidity = RANDOM.uniform(-30, 40, size), RANDOM.uniform(5, 100, size)
    t, rh = air * units.degC, humidity / 100 * units.dimensionless
    label = "1 M values"
    yield row(
        "dew point",
        "MetPy",
        4,
        lambda: mesonet.dew_point_c(air, humidity),
        lambda: metpy.calc.dewpoint_from_relative_humidity(t, rh).m_as("degC"),
        # Another formula for the pressure of saturation: theirs is of Bolton, ours of WMO-No. 8.
        within(0.5, "°C"),
        label,
    )
    hot = RANDOM.uniform(27, 45, size)
    humid = RANDOM.uniform(40, 100, size)
    yield row(
        "heat index",
        "MetPy",
        8,
        lambda: mesonet.heat_index_c(hot, humid),
        lambda: metpy.calc.heat_index(hot * units.degC, humid / 100 * units.dimensionless).m_as("degC"),
        within(1e-9, "°C"),
        label,
    )
    cold, wind = RANDOM.uniform(-40, 0, size), RANDOM.uniform(6, 90, size)
    yield row(
        "wind chill",
        "MetPy",
        None,
        lambda: mesonet.wind_chill_c(cold, wind),
        lambda: metpy.calc.windchill(cold * units.degC, wind * units("km/h")).m_as("degC"),
        within(0.05, "°C"),
        label,
    )


def tile():
    raw = RANDOM.integers(-5_000, 5_000, 65_536).astype("<i2")
    raw[RANDOM.random(raw.size) < 0.1] = -32768
    content = raw.tobytes()

    def theirs():
        integers = np.frombuffer(content, "<i2")
        values = integers * 0.01 + 273.15
        values[integers == -32768] = np.nan
        return values

    ours = lambda: mesonet.decode_bytes(content, 0.01, 273.15, -32768)
    yield row("tile to float64", "NumPy", 4, ours, theirs, within(0, ""), "65,536 pixels")


def grib():
    """The temperature at 500 hPa of NAM, from a file of 181 fields, with latitudes and longitudes."""
    what, size = "GRIB field to xarray", "one of 181 fields, 93 × 65"
    if not hasattr(mesonet, "read_grib"):
        yield (what, size, "cfgrib", None, None, 2, "not in this build")
        return
    import cfgrib

    keys = {"typeOfLevel": "isobaricInhPa", "shortName": "t", "level": 500}

    def theirs():
        return cfgrib.open_dataset(GRIB, filter_by_keys=keys, indexpath="").t.load()

    def ours():
        fields = mesonet.read_grib(GRIB)
        [field] = [of for of in fields if of.wgrib2_name == "TMP" and of.level == (100, 50_000.0)]
        return field.to_xarray().load()

    def agree(mine, others):
        np.testing.assert_allclose(mine.values, others.values, atol=1e-4)
        np.testing.assert_allclose(mine.latitude.values, others.latitude.values, atol=1e-6)
        return "within 0.0001 K"

    yield row(what, "cfgrib", 2, ours, theirs, agree, size)


# --- the table --------------------------------------------------------------------------------


def duration(seconds):
    return f"{seconds * 1e3:,.2f} ms" if seconds < 10 else f"{seconds:,.1f} s"


def table(rows):
    lines = [
        "| What | Size | Beside | mesonet | the other | Ratio | Aim | Agreement |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for what, size, peer, ours, theirs, aim, said in rows:
        aim = "" if aim is None else f"{aim}×"
        if ours is None:
            lines.append(f"| {what} | {size} | {peer} | | | skipped | {aim} | {said} |")
            continue
        ratio = f"{theirs / ours:.1f}×" if theirs / ours < 100 else f"{theirs / ours:.0f}×"
        cells = (what, size, peer, duration(ours), duration(theirs), ratio, aim, said)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def versions():
    names = ["numpy", "pandas", "polars", "duckdb", "pyarrow", "pint", "MetPy", "metar", "cfgrib"]
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def machine():
    model = "unknown processor"
    if Path("/proc/cpuinfo").exists():
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        model = found[1] if found else platform.machine()
    load = ", ".join(f"{of:.1f}" for of in os.getloadavg())
    return f"One core of {os.cpu_count()} ({model}); load of the machine {load} at the end."


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path, help="a document whose table is replaced")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for group in (as_of, metar, metar_objects, unit_conversion, derived, tile, grib):
        for one in group():
            rows.append(one)
            print(table([one]).splitlines()[-1], flush=True)
    python = f"mesonet {mesonet.__version__}, CPython {platform.python_version()}"
    text = f"{table(rows)}\n\n{machine()} {python}; {versions()}."
    print(f"\n{text}")
    if args.write:
        document = args.write.read_text(encoding="utf-8")
        before, rest = document.split(BEGIN)
        args.write.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
