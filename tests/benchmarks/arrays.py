"""Arrays: the grid of times, units, formulas and tiles, beside what people use for the same work.

Inputs are in each library's own form before the clock starts.
"""

import uuid
from statistics import median

import duckdb
import mesonet
import metpy.calc
import numpy as np
import pandas as pd
import pint
import polars as pl
import pyarrow as pa
from metpy.units import units

from .measure import in_process, once_us
from .table import Row

PACKAGES = ("numpy", "pandas", "polars", "duckdb", "pyarrow", "pint", "MetPy")
RANDOM = np.random.default_rng(16)
SIZE = 1_000_000
VALUES = "1 M values"


def cases():
    for group in (as_of, unit_conversion, humidity, comfort, wet_bulb, tile):
        yield from group()
    yield checked_frame()


def within(tolerance, unit=""):
    """Agreement of two arrays wherever neither is NaN, which must be for at least a fifth of the values."""

    def agree(ours, other):
        ours, other = np.asarray(ours, float), np.asarray(other, float)
        both = ~np.isnan(ours) & ~np.isnan(other)
        assert both.mean() > 0.2, "too few values to compare"
        off = np.abs(ours[both] - other[both]).max()
        assert off <= tolerance, f"off by {off:g} {unit}, allowed is {tolerance:g}"
        return f"within {tolerance:g} {unit}".strip() if tolerance else "equal"

    return agree


def degrees(values):
    return values.m_as("degC")


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
        def agree(ours, other):
            np.testing.assert_array_equal(ours.ravel(), frame(other))
            return "equal"

        return agree

    flat_pandas = lambda made: made.sort_values(["key", "at"]).value.to_numpy()
    flat_polars = lambda made: made.sort("key", "at")["value"].to_numpy()
    what = "readings on a time grid"
    yield in_process(what, size, "pandas `merge_asof`", 8, ours, by_pandas, same(flat_pandas))
    yield in_process(what, size, "polars `join_asof`", 30, ours, by_polars, same(flat_polars))
    yield in_process(
        *(what, size, "DuckDB `asof join`", None, ours),
        lambda: database.execute(asof).to_arrow_table(),
        same(lambda made: flat_pandas(made.to_pandas())),
    )


def unit_conversion():
    knots, fahrenheit = RANDOM.uniform(0, 80, SIZE), RANDOM.uniform(-40, 110, SIZE)
    registry = pint.UnitRegistry()
    quantity, warm = registry.Quantity(knots, "knot"), registry.Quantity(fahrenheit, "degF")

    def rows(what, ours, agree, *peers):
        for peer, aim, other in peers:
            yield in_process(what, VALUES, peer, aim, ours, other, agree)

    yield from rows(
        "kt to km/h",
        lambda: mesonet.convert(knots, "kt", "km/h"),
        within(1e-9, "km/h"),
        ("NumPy `x * 1.852`", 1, lambda: knots * 1.852),
        ("pint", 3, lambda: quantity.to("km/h").magnitude),
    )
    # Nothing is faster than to read each value once and to write one. The values differ, of course.
    yield in_process(
        *("kt to km/h", VALUES, "limit: `x.copy()`", None),
        lambda: mesonet.convert(knots, "kt", "km/h"),
        knots.copy,
        lambda ours, other: within(1e-9, "km/h")(ours, other * 1.852) + " of the product",
    )
    yield from rows(
        "°F to °C",
        lambda: mesonet.convert(fahrenheit, "°F", "°C"),
        within(1e-9, "°C"),
        ("NumPy `(x - 32) / 1.8`", 1, lambda: (fahrenheit - 32) / 1.8),
        ("pint", 3, lambda: warm.to("degC").magnitude),
    )


def humidity():
    air, pct = RANDOM.uniform(-30, 40, SIZE), RANDOM.uniform(5, 100, SIZE)

    def dew_point():
        exponent = np.log(pct / 100) + 17.62 * air / (243.12 + air)
        return 243.12 * exponent / (17.62 - exponent)

    ours = lambda: mesonet.dew_point_c(air, pct)
    yield in_process("dew point", VALUES, "NumPy, the same formula", 2, ours, dew_point, within(1e-9, "°C"))
    t, share = air * units.degC, pct / 100 * units.dimensionless
    yield in_process(
        *("dew point", VALUES, "MetPy", 4, ours),
        lambda: degrees(metpy.calc.dewpoint_from_relative_humidity(t, share)),
        # Another formula for the pressure of saturation: theirs is of Bolton, ours of WMO-No. 8.
        within(0.5, "°C"),
    )
    dew = air - RANDOM.uniform(0, 15, SIZE)

    def relative_humidity():
        return 100 * np.exp(17.62 * dew / (243.12 + dew) - 17.62 * air / (243.12 + air))

    ours = lambda: mesonet.relative_humidity_pct(air, dew)
    what = "relative humidity"
    yield in_process(what, VALUES, "NumPy, the same formula", 2, ours, relative_humidity, within(1e-9, "%"))
    dew_point_of = dew * units.degC
    yield in_process(
        *(what, VALUES, "MetPy", 4, ours),
        lambda: metpy.calc.relative_humidity_from_dewpoint(t, dew_point_of).m_as("percent"),
        within(0.5, "%"),
    )


def comfort():
    cold, wind = RANDOM.uniform(-40, 0, SIZE), RANDOM.uniform(6, 90, SIZE)

    def wind_chill():
        power = wind**0.16
        return 13.12 + 0.6215 * cold - 11.37 * power + 0.3965 * cold * power

    ours = lambda: mesonet.wind_chill_c(cold, wind)
    yield in_process("wind chill", VALUES, "NumPy, the same formula", 1.2, ours, wind_chill, within(1e-9, "°C"))
    t, speed = cold * units.degC, wind * units("km/h")
    chill = lambda: degrees(metpy.calc.windchill(t, speed))
    yield in_process("wind chill", VALUES, "MetPy", None, ours, chill, within(0.05, "°C"))

    hot, humid = RANDOM.uniform(27, 45, SIZE), RANDOM.uniform(40, 100, SIZE)
    ours = lambda: mesonet.heat_index_c(hot, humid)
    heat_index = lambda: heat_index_c(hot, humid)
    yield in_process("heat index", VALUES, "NumPy, the same formula", None, ours, heat_index, within(1e-9, "°C"))
    t, share = hot * units.degC, humid / 100 * units.dimensionless
    heat = lambda: degrees(metpy.calc.heat_index(t, share))
    yield in_process("heat index", VALUES, "MetPy", 8, ours, heat, within(1e-9, "°C"))


def heat_index_c(air_c, pct):
    """The regression of Rothfusz with the adjustment for damp air, in °F as it is published. In hot, damp air neither
    Steadman's formula nor the adjustment for dry air is used."""
    t, rh = air_c * 1.8 + 32, pct
    index = -42.379 + 2.04901523 * t + 10.14333127 * rh - 0.22475541 * t * rh - 0.00683783 * t * t
    index += -0.05481717 * rh * rh + 0.00122874 * t * t * rh + 0.00085282 * t * rh * rh
    index += -0.00000199 * t * t * rh * rh
    damp = (rh > 85) & (t >= 80) & (t <= 87)
    index += np.where(damp, (rh - 85) * 0.02 * (87 - t), 0)
    return (index - 32) / 1.8


def wet_bulb():
    count = 200
    air, hpa = RANDOM.uniform(-20, 40, count), RANDOM.uniform(850, 1_050, count)
    dew = air - RANDOM.uniform(0, 15, count)
    pressure, t, dew_point = hpa * units.hPa, air * units.degC, dew * units.degC
    yield in_process(
        *("wet bulb", f"{count} values", "MetPy", None),
        lambda: mesonet.wet_bulb_c(hpa, air, dew),
        lambda: degrees(metpy.calc.wet_bulb_temperature(pressure, t, dew_point)),
        # Normand's rule in both, along moist adiabats of other vapour pressures.
        within(0.05, "°C"),
        # A fifth of the 3.35 µs that a value took.
        aim_us=0.67 * count,
    )
    warm, pct = RANDOM.uniform(-20, 50, SIZE), RANDOM.uniform(5, 99, SIZE)

    def stull():
        return (
            warm * np.arctan(0.151977 * np.sqrt(pct + 8.313659))
            + np.arctan(warm + pct)
            - np.arctan(pct - 1.676331)
            + 0.00391838 * pct**1.5 * np.arctan(0.023101 * pct)
            - 4.686035
        )

    ours = lambda: mesonet.stull_wet_bulb_c(warm, pct)
    what = "wet bulb by Stull's regression"
    yield in_process(what, VALUES, "NumPy, the same formula", None, ours, stull, within(1e-9, "°C"))


def tile():
    raw = RANDOM.integers(-5_000, 5_000, 65_536).astype("<i2")
    raw[RANDOM.random(raw.size) < 0.1] = -32768
    content = raw.tobytes()

    def other():
        integers = np.frombuffer(content, "<i2")
        values = integers * 0.01 + 273.15
        values[integers == -32768] = np.nan
        return values

    ours = lambda: mesonet.decode_bytes(content, 0.01, 273.15, -32768)
    yield in_process("tile to float64", "65,536 pixels", "NumPy", 4, ours, other, within(0))


def checked_frame():
    """A month of 50 stations 30 km apart, six variables every quarter of an hour, with all checks. Nothing else does them."""
    stations, times = 50, pd.date_range("2024-06-01", periods=2_880, freq="15min", tz="UTC")
    hours = np.arange(times.size) / 4
    # Name, interval, minutes, middle, daily amplitude, noise.
    variables = [
        ("airTemperature", "Instantaneous", 0, 15, 6, 0.4),
        ("dewPointTemperature", "Instantaneous", 0, 8, 1, 0.3),
        ("mslp", "Instantaneous", 0, 1_013, 2, 0.1),
        ("relativeHumidity", "Instantaneous", 0, 60, 20, 2),
        ("windSpeed", "Average", 10, 15, 5, 2),
        ("windDirection", "Average", 10, 180, 60, 10),
    ]
    frames = []
    for station in range(stations):
        for name, kind, minutes, middle, amplitude, noise in variables:
            daily = amplitude * np.sin((hours - 9) / 24 * 2 * np.pi)
            frames.append(
                pd.DataFrame(
                    {
                        "station": f"S{station}",
                        "lon": -100 + station % 7 * 0.4,
                        "lat": 45 + station // 7 * 0.27,
                        "altitude_m": 300.0,
                        "observation_name": name,
                        "interval_type": kind,
                        "interval_minutes": minutes,
                        "timestamp": times,
                        "value": (middle + daily + RANDOM.normal(0, noise, times.size)).round(1),
                    }
                )
            )
    frame = pd.concat(frames, ignore_index=True)
    verdicts = []
    times_us = [once_us(lambda: verdicts.append(mesonet.check_frame(frame)["verdict_base"]), 1) for _ in range(3)]
    good = (verdicts[0] == "Good").mean()
    return Row(
        *("arrays", "`check_frame`, with neighbours", f"{len(frame):,} rows", ""),
        **{"ours_us": median(times_us), "aim_us": 5 * len(frame), "rounds": len(times_us)},
        agreement=f"{good:.0%} good",
    )
