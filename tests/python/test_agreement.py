"""The functions beside MetPy, pint, pandas and polars, on real reports.

Each tolerance has its reason beside it. "Rounding" is 1e-9: both compute the same formula in double
precision, and values of at most some thousands lose no more.
"""

from pathlib import Path

import mesonet
import numpy as np
import pandas as pd
import pint
import polars as pl
import pytest

METAR = Path(__file__).parents[1] / "data" / "metar"
# A cold morning of October, and an afternoon of August.
CAPTURES = [
    METAR / "awc_metars_cache_2022-10-22T1913Z.csv.gz",
    *sorted(METAR.glob("liveairdata_metars_20240803T19*.csv.gz")),
]
ROUNDING = 1e-9


@pytest.fixture(scope="module")
def metpy():
    calc = pytest.importorskip("metpy.calc")
    from metpy.units import units

    return calc, units


@pytest.fixture(scope="module")
def readings():
    """The readings of the reports themselves, by station and time."""
    frame = mesonet.read_metar(CAPTURES).to_pandas()
    frame = frame[~frame["calculated"] & (frame["interval_type"] != "Max")]
    # By name, and not by the order of the categories.
    frame["station"] = frame["station"].astype(str)
    # The captures of an hour repeat reports.
    kept = ["station", "timestamp", "observation_name", "group_bucket_name"]
    return frame.drop_duplicates(kept).sort_values(["station", "timestamp"], kind="stable")


@pytest.fixture(scope="module")
def reports(readings):
    """A row for each report, a column for each variable."""
    rows = readings[readings["group_bucket_name"] == ""]
    wide = rows.pivot(index=["station", "timestamp"], columns="observation_name", values="value")
    wide["altitude_m"] = rows.groupby(["station", "timestamp"], observed=True)["altitude_m"].first()
    return wide


def columns(reports, *names, least):
    """Columns of the reports that have them all."""
    whole = reports.dropna(subset=list(names))
    assert len(whole) > least, len(whole)
    return [whole[name].to_numpy(np.float64) for name in names]


def numbers(quantity, unit):
    """The numbers of a quantity; NaN where it is masked."""
    return np.ma.filled(np.ma.asarray(quantity.m_as(unit)), np.nan)


def assert_close(ours, theirs, tolerance, least):
    """Where both are defined, which must be `least` places."""
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    assert both.sum() > least, both.sum()
    np.testing.assert_allclose(ours[both], theirs[both], rtol=0, atol=tolerance)


def test_humidity_and_dew_point_are_those_of_metpy(metpy, reports):
    calc, units = metpy
    air, dew = columns(reports, "airTemperature", "dewPointTemperature", least=10_000)
    humidity = mesonet.relative_humidity_pct(air, dew)
    # Three reports have a dew point above the temperature, for which ours gives no humidity.
    assert 0 < np.isnan(humidity).sum() < 10
    # MetPy has the pressure of saturation of Ambaum (2020), ours is Magnus's formula of WMO-No. 8. They
    # are within 0.42 % of one another from -45 to 45 °C; most of that is lost in the ratio.
    theirs = calc.relative_humidity_from_dewpoint(air * units.degC, dew * units.degC)
    assert_close(humidity, numbers(theirs, "percent"), 0.15, least=10_000)
    # Bolton's formula (1980) gives MetPy's dew point. It is within 0.42 % of Magnus's, which are 0.15 °C
    # in air that is saturated at 45 °C, and less in all other air.
    found = mesonet.dew_point_c(air, humidity)
    theirs = calc.dewpoint_from_relative_humidity(air * units.degC, humidity / 100 * units.dimensionless)
    assert_close(found, numbers(theirs, "degC"), 0.15, least=10_000)
    # And ours is the inverse of our humidity.
    assert_close(found, dew, ROUNDING, least=10_000)


def test_wet_bulbs_are_those_of_metpy(metpy, reports):
    calc, units = metpy
    names = "airTemperature", "dewPointTemperature", "altimeterSetting"
    air, dew, altimeter = (of[::30] for of in columns(reports, *names, least=10_000))
    found = mesonet.wet_bulb_c(altimeter, air, dew)
    # Normand's rule in both, along moist adiabats of other vapour pressures, as for the humidity.
    pressure = altimeter * units.hPa
    theirs = calc.wet_bulb_temperature(pressure, air * units.degC, dew * units.degC)
    assert_close(found, numbers(theirs, "degC"), 0.03, least=300)


def test_heat_indices_are_those_of_metpy(metpy, reports):
    calc, units = metpy
    air, dew = columns(reports, "airTemperature", "dewPointTemperature", least=10_000)
    humidity = mesonet.relative_humidity_pct(air, dew)
    found = mesonet.heat_index_c(air, humidity)
    share = humidity / 100 * units.dimensionless
    theirs = numbers(calc.heat_index(air * units.degC, share, mask_undefined=False), "degC")
    warm = mesonet.convert(air, "°C", "°F")
    simple = 0.5 * (warm + 61 + (warm - 68) * 1.2 + humidity * 0.094)
    regression = ((simple + warm) / 2 >= 80) & (simple >= 79)
    # Rothfusz's regression and its adjustments.
    assert_close(found[regression], theirs[regression], ROUNDING, least=4_000)
    # The National Weather Service goes over to it when the mean of Steadman's formula and the
    # temperature reaches 80 °F, and uses that mean below; MetPy when the formula alone reaches 79 °F,
    # and uses it alone below. So they are 2 °C apart where only one has gone over.
    assert_close(found[~regression], theirs[~regression], 2.0, least=1_000)


def test_wind_chills_are_those_of_metpy(metpy, reports):
    calc, units = metpy
    air, wind = columns(reports, "airTemperature", "windSpeed", least=10_000)
    theirs = calc.windchill(air * units.degC, wind * units("km/h"))
    assert_close(mesonet.wind_chill_c(air, wind), numbers(theirs, "degC"), ROUNDING, least=100)
    # MetPy has the one formula, in °C. That in °F is the same one with coefficients rounded to four
    # digits, as both services publish it: 0.1 °F down to -40.
    found = mesonet.wind_chill_f(mesonet.convert(air, "°C", "°F"), mesonet.convert(wind, "km/h", "mph"))
    assert_close(found, numbers(theirs, "degF"), 0.1, least=500)


def test_pressures_are_those_of_metpy(metpy, reports):
    calc, units = metpy
    names = "altimeterSetting", "altitude_m", "airTemperature"
    altimeter, altitude, air = columns(reports, *names, least=4_000)
    station = mesonet.station_pressure_hpa(altimeter, altitude)
    theirs = calc.altimeter_to_station_pressure(altimeter * units.hPa, altitude * units.m)
    assert_close(station, numbers(theirs, "hPa"), ROUNDING, least=4_000)
    found = mesonet.mean_sea_level_pressure_hpa(station, altitude, air)
    theirs = calc.altimeter_to_sea_level_pressure(
        altimeter * units.hPa, altitude * units.m, air * units.degC
    )
    assert_close(found, numbers(theirs, "hPa"), ROUNDING, least=4_000)


def test_components_of_winds_are_those_of_metpy(metpy, reports):
    calc, units = metpy
    speed, direction = columns(reports, "windSpeed", "windDirection", least=10_000)
    angle = np.radians(direction)
    # A wind blows against the direction that it comes from.
    u, v = mesonet.rotate(np.cos(angle), np.sin(angle), 0.0, -speed)
    theirs = calc.wind_components(speed * units("km/h"), direction * units.degrees)
    assert_close(u, numbers(theirs[0], "km/h"), ROUNDING, least=10_000)
    assert_close(v, numbers(theirs[1], "km/h"), ROUNDING, least=10_000)


@pytest.mark.parametrize(
    ("variable", "unit", "pint_unit", "to_unit", "to_pint_unit"),
    [
        ("windSpeed", "km/h", "km/h", "kt", "knot"),
        ("windSpeed", "km/h", "km/h", "m/s", "m/s"),
        ("windSpeed", "km/h", "km/h", "mph", "mph"),
        ("airTemperature", "°C", "degC", "°F", "degF"),
        ("airTemperature", "°C", "degC", "K", "kelvin"),
        ("altimeterSetting", "hPa", "hPa", "inHg", "inHg"),
        ("visibility", "km", "km", "mi", "mile"),
        ("cloudBaseHeight", "m", "m", "ft", "foot"),
    ],
)
def test_units_are_those_of_pint(readings, variable, unit, pint_unit, to_unit, to_pint_unit):
    of = readings[readings["observation_name"] == variable]
    assert set(of["unit"]) == {unit}
    values = of["value"].to_numpy()
    theirs = pint.UnitRegistry().Quantity(values, pint_unit).m_as(to_pint_unit)
    assert_close(mesonet.convert(values, unit, to_unit), theirs, ROUNDING, least=4_000)


@pytest.mark.parametrize("minutes", [None, 45])
def test_readings_on_a_grid_are_those_of_pandas_and_polars(readings, minutes):
    """The temperatures of all stations on a grid of five minutes, in both forms of the function."""
    of = readings[(readings["observation_name"] == "airTemperature") & (readings["timestamp"] > "2024")]
    rows = pd.DataFrame(
        {"station": of["station"], "at": of["timestamp"].dt.tz_localize(None), "value": of["value"]}
    ).drop_duplicates(["station", "at"]).reset_index(drop=True)
    start, end = np.datetime64("2024-08-03T17:00", "us"), np.datetime64("2024-08-03T20:00", "us")
    rows["at"] = rows["at"].astype("M8[us]")
    names, first = np.unique(rows["station"], return_index=True)
    offsets = np.append(first, len(rows))
    max_age = None if minutes is None else np.timedelta64(minutes, "m")
    assert (names.size > 2_000, len(rows) > 4_000) == (True, True)
    grid = mesonet.resample(
        rows["at"], rows["value"], start, end, 5, offsets=offsets, max_age=max_age
    )
    assert grid.values.shape == (names.size, 37)

    cells = pd.DataFrame({"station": np.repeat(names, 37), "at": np.tile(grid.times, names.size)})
    merged = pd.merge_asof(
        cells.sort_values("at", kind="stable"),
        rows.sort_values("at", kind="stable"),
        on="at",
        by="station",
        tolerance=None if minutes is None else pd.Timedelta(minutes=minutes),
    ).sort_values(["station", "at"])
    np.testing.assert_array_equal(grid.values.ravel(), merged["value"])
    joined = pl.DataFrame(cells).join_asof(
        pl.DataFrame(rows),
        on="at",
        by="station",
        tolerance=None if minutes is None else f"{minutes}m",
        check_sortedness=False,
    )
    np.testing.assert_array_equal(grid.values.ravel(), joined["value"].fill_null(np.nan))
    empty = np.isnan(grid.values).mean()
    assert 0.05 < empty < 0.9, empty

    table = mesonet.resample_table(
        pl.DataFrame(rows),
        key="station",
        time="at",
        value="value",
        start=start,
        end=end,
        step=5,
        max_age=max_age,
    )
    np.testing.assert_array_equal(table["value"].fill_null(np.nan), joined["value"].fill_null(np.nan))
