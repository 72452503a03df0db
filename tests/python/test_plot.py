"""Drawings: the numbers in them, what they refuse, and that each library draws them."""

import datetime

import mesonet
import numpy as np
import pytest
from matplotlib.figure import Figure
from mesonet._plotted import rose_of, series_of_station

# Two hourly reports and a special one between; the gust, the peak and the amount are of the second.
REPORTS = b"""\
METAR CYYZ 031900Z 24008KT 15SM FEW060 28/17 A2992 RMK SLP130=
SPECI CYYZ 031930Z 25020G35KT 2SM TSRA BKN030 22/19 A2995 RMK SLP140=
METAR CYYZ 032000Z 00000KT 15SM FEW060 24/18 A2991 RMK SLP125=
"""


def readings():
    return mesonet.read_feed(REPORTS, received="2024-08-03 20:30")


def test_each_variable_is_one_series_of_times_and_values():
    of = series_of_station(readings(), "Doubtful")
    times, values = of["airTemperature"]
    assert values.tolist() == [28.0, 22.0, 24.0]
    assert times[0].astype("M8[s]").item() == datetime.datetime(2024, 8, 3, 19)
    assert of["windSpeed10m"][1].round(1).tolist() == [14.8, 37.0, 0.0]
    assert (of.minutes["airTemperature"], of.minutes["windSpeed10m"]) == (0, 2)
    # Whatever holds them.
    for table in (readings().to_polars(), readings().to_pandas()):
        same = series_of_station(table, "Doubtful")
        assert list(same) == list(of) and all((same[name][1] == of[name][1]).all() for name in of)
        assert (same["mslp"][0] == of["mslp"][0]).all()


def test_readings_in_doubt_are_left_out():
    table = {
        "observation_name": np.array(["mslp"] * 4, object),
        "timestamp": np.arange(4).astype("M8[h]"),
        "value": np.array([1.0, 2.0, np.nan, 4.0]),
        "quality_base": np.array([6, 2, 6, 3], np.uint8),
    }
    of = series_of_station(mesonet.ServiceTable(table), "Doubtful")
    assert of["mslp"][1].tolist() == [1.0, 4.0]
    assert series_of_station(mesonet.ServiceTable(table), "Good")["mslp"][1].tolist() == [1.0]
    with pytest.raises(mesonet.MesonetError, match="at_least must be one of Suppressed, .*; got 'good'"):
        mesonet.plot.meteogram(mesonet.ServiceTable(table), at_least="good")


# Amounts of an hour, and at 18 h and 0 h of six hours.
RAIN = b"""\
METAR KBUF 031754Z 24008KT 10SM RA 28/17 A2992 RMK AO2 P0003 60012=
METAR KBUF 031854Z 24008KT 10SM RA 28/17 A2992 RMK AO2 P0004=
METAR KBUF 031954Z 24008KT 10SM RA 28/17 A2992 RMK AO2 P0001=
METAR KBUF 032354Z 24008KT 10SM RA 28/17 A2992 RMK AO2 P0002 60020=
"""


def test_amounts_of_one_interval_are_drawn():
    rain = mesonet.read_feed(RAIN, received="2024-08-04 00:30")
    assert set(rain.to_pandas().query("observation_name == 'precipitation'")["interval_minutes"]) == {60, 360}
    of = series_of_station(rain, "Doubtful")
    hourly = [0.762, 1.016, 0.254, 0.508]
    assert of["precipitation"][1].tolist() == pytest.approx(hourly) and of.minutes["precipitation"] == 60
    axes = mesonet.plot.meteogram(rain).axes[-1]
    assert axes.get_ylabel() == "precipitation,\nmm in 60 min"
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(hourly)


def test_an_interval_that_is_not_known_is_not_named(server):
    """The readings of the client have no interval, but tell series apart."""
    frame = mesonet.read_feed(RAIN, received="2024-08-04 00:30").to_pandas()
    frame["series_id"] = frame["interval_minutes"]
    frame = frame[["observation_name", "series_id", "timestamp", "value"]]
    # The series of most times, whichever comes first.
    for given in (frame, frame[::-1]):
        of = series_of_station(given, "Doubtful")
        assert of["precipitation"][1].tolist() == pytest.approx([0.762, 1.016, 0.254, 0.508])
        assert of.minutes["precipitation"] is None
    axes = mesonet.plot.meteogram(frame).axes[-1]
    assert (axes.get_ylabel(), len(axes.patches), len(axes.collections[0].get_segments())) == ("precipitation,\nmm", 0, 4)
    # An amount whose interval a report does not say is no amount of an instant.
    table = {
        "observation_name": np.array(["precipitation"] * 3, object),
        "timestamp": np.arange(3).astype("M8[h]"),
        "value": np.array([1.0, 2.0, 3.0]),
        "interval_minutes": np.array([0, 0, 60]),
        "interval_type": np.array(["Unknown", "Cumulative", "Cumulative"], object),
    }
    of = series_of_station(mesonet.ServiceTable(table), "Doubtful")
    assert (of["precipitation"][1].tolist(), of.minutes["precipitation"]) == ([3.0], 60)

    # Real stations report the pressure at sea level at some times, and at others it is derived.
    with mesonet.Client(server.origin) as client:
        day = client.readings(start="2024-08-03T12:00Z", end="2024-08-03T21:30Z", step="10min", names=["mslp"])
    by_station = day.to_pandas().groupby("station_id")
    several = [rows for _, rows in by_station if rows["series_id"].nunique() > 1]
    assert len(several) > 100
    for rows in several[:20]:
        times, values = series_of_station(rows, "Suppressed")["mslp"]
        most = rows.groupby("series_id")["timestamp"].nunique()
        drawn = [series for series in most.index if len(times) == most[series] and set(values) == set(rows["value"][rows["series_id"] == series])]
        assert drawn and most[drawn[0]] == most.max()


def test_values_are_drawn_in_the_unit_of_their_axis():
    hour = np.datetime64("2024-08-03T20", "ms")
    given = {
        "airTemperature": (86.0, "°F", 30.0),
        "windSpeed10m": (10.0, "kt", 18.52),
        "windDirection": (270.0, "degrees_true", 270.0),
        "mslp": (30.0, "inHg", 1015.917),
        "precipitation": (0.5, "in", 12.7),
        "rainfall": (3.0, "kg/m²", 3.0),
    }

    def table(units):
        return mesonet.ServiceTable(
            {
                "observation_name": np.array(list(given), object),
                "timestamp": np.full(len(given), hour),
                "value": np.array([value for value, *_ in given.values()]),
                "unit": np.array([units.get(name, unit) for name, (_, unit, _) in given.items()], object),
            }
        )

    of = series_of_station(table({}), "Doubtful")
    assert {name: values.tolist() for name, (_, values) in of.items()} == {
        name: [pytest.approx(drawn, rel=1e-6)] for name, (_, _, drawn) in given.items()
    }
    for draw in (mesonet.plot.meteogram, mesonet.chart.meteogram):
        for unit, message in [
            ("F", 'airTemperature is drawn in °C: "F" is ambiguous; it may stand for °F'),
            ("hPa", "airTemperature is drawn in °C: hPa .* pressure"),
            ("furlong", '"furlong" is not a known unit'),
            (None, "airTemperature is drawn in °C: there are readings without a unit"),
            (float("nan"), "airTemperature is drawn in °C: there are readings without a unit"),
        ]:
            with pytest.raises(mesonet.MesonetError, match=message):
                draw(table({"airTemperature": unit}))


def test_a_meteogram_has_a_panel_for_what_there_is():
    figure = mesonet.plot.meteogram(readings(), title="Toronto")
    assert isinstance(figure, Figure)
    assert [axes.get_ylabel().partition("\n")[0] for axes in figure.axes] == ["°C", "wind at 10 m,", "sea-level"]
    air = figure.axes[0].lines[0]
    assert air.get_ydata().tolist() == [28.0, 22.0, 24.0]
    only = readings().to_pandas().query("observation_name == 'airTemperature'")
    assert len(mesonet.plot.meteogram(only).axes) == 1
    for draw in (mesonet.plot.meteogram, mesonet.chart.meteogram):
        with pytest.raises(mesonet.MesonetError, match="the readings have no temperature, humidity, wind, pressure or precipitation to draw"):
            draw(only[:0])
        two = mesonet.read_feed([REPORTS, REPORTS.replace(b"CYYZ", b"CYUL")], received="2024-08-03 20:30")
        with pytest.raises(mesonet.MesonetError, match="must be of one station; got CYUL, CYYZ"):
            draw(two)
        with pytest.raises(mesonet.MesonetError, match="must have the columns observation_name, timestamp and value"):
            draw(mesonet.ServiceTable({"value": np.zeros(1)}))


def test_both_libraries_draw_the_same_panels():
    """Every variable that is drawn, alone: the titles of its axis and its values."""
    titles = {
        "airTemperature": ("°C", "°C"),
        "dewPointTemperature": ("°C", "°C"),
        "seaSurfaceTemperature": ("°C", "°C"),
        "relativeHumidity": ("relative\nhumidity, %", "%"),
        "windSpeed10m": ("wind at 10 m,\nkm/h; barbs in kt", "km/h"),
        "windSpeed": ("wind,\nkm/h; barbs in kt", "km/h"),
        "windGust10m": ("gust,\nkm/h", "km/h"),
        "windGust": ("gust,\nkm/h", "km/h"),
        "mslp": ("sea-level\npressure, hPa", "hPa"),
        "altimeterSetting": ("altimeter\nsetting, hPa", "hPa"),
        "precipitation": ("precipitation,\nmm in 60 min", "mm in 60 min"),
        "rainfall": ("rainfall,\nmm in 60 min", "mm in 60 min"),
    }
    for name, (of_plot, of_chart) in titles.items():
        table = mesonet.ServiceTable(
            {
                "observation_name": np.array([name, "cloudCover"], object),
                "timestamp": np.full(2, np.datetime64("2024-08-03T20", "ms")),
                "value": np.array([9.0, 8.0]),
                "interval_minutes": np.array([60, 0]),
            }
        )
        [axes] = mesonet.plot.meteogram(table).axes
        assert axes.get_ylabel() == of_plot
        chart = mesonet.chart.meteogram(table).to_dict()
        [panel] = chart["vconcat"]
        [layer] = panel["layer"]
        assert layer["encoding"]["y"]["title"] == of_chart
        data = next(of["data"] for of in (layer, panel, chart) if "data" in of)
        assert [row["value"] for row in data["values"]] == [9.0]
    # The altimeter setting is drawn where there is no pressure at sea level.
    report = mesonet.read_feed(b"METAR KBUF 032000Z A2991=", received="2024-08-03 20:30")
    assert len(mesonet.chart.meteogram(report).to_dict()["vconcat"]) == 1
    both = mesonet.plot.meteogram(readings())
    assert len(both.axes) == len(mesonet.chart.meteogram(readings()).to_dict()["vconcat"]) == 3


def test_a_wind_rose_counts_each_wind_once():
    rng = np.random.default_rng(7)
    speed, degrees = rng.gamma(2, 9, 5_000), rng.uniform(0, 360, 5_000)
    speed[:250] = 0
    degrees[100:200] = np.nan
    speed[250:260], degrees[300:310] = np.nan, np.nan
    rose = rose_of(speed, degrees, 16, (10, 20, 30))
    assert rose.count == 4_980 and rose.calm == pytest.approx(250 / 49.8)
    assert rose.shares.sum() + rose.calm == pytest.approx(100)
    assert rose.labels == ["0–10", "10–20", "20–30", "from 30"]
    moves = (speed > 0) & ~np.isnan(degrees)
    # The north sector reaches half its width to both sides.
    north = moves & ((degrees >= 348.75) | (degrees < 11.25))
    assert rose.shares[:, 0].sum() == pytest.approx(north.sum() / 49.8, abs=0.021)
    fast = (moves & (speed >= 30)).sum() / 49.8
    assert rose.shares[3].sum() == pytest.approx(fast)


def test_an_infinite_wind_is_not_known():
    inf = np.inf
    rose = rose_of([inf, -inf, 5, 5, 5, 0], [10, 10, inf, -inf, 20, inf], 16, (10, 20))
    assert (rose.count, rose.calm, rose.shares.sum()) == (2, 50.0, 50.0)
    for draw in (mesonet.plot.wind_rose, mesonet.chart.wind_rose):
        assert draw([inf, 5], [10, 20]) and draw([5, 5], [inf, 20])
        with pytest.raises(mesonet.MesonetError, match="there are no winds"):
            draw([inf], [10])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0], [0.0, 1.0]), "columns of one length"),
        (([np.nan], [0.0]), "there are no winds"),
        (([], []), "there are no winds"),
        (([1.0], [0.0], {"sectors": 3}), "sectors must be from 4 to 72; got 3"),
        (([1.0], [0.0], {"classes_kmh": (20, 10)}), "classes_kmh must be above 0 and ascend"),
        (([1.0], [0.0], {"classes_kmh": (0, 10)}), "classes_kmh must be above 0 and ascend"),
    ],
)
def test_winds_that_make_no_rose_are_refused(given, message):
    speed, degrees, *options = given
    for draw in (mesonet.plot.wind_rose, mesonet.chart.wind_rose):
        with pytest.raises(mesonet.MesonetError, match=message):
            draw(speed, degrees, **(options[0] if options else {}))


def test_a_sounding_is_drawn_in_any_order_of_levels():
    hpa, air = [250.0, 1000.0, 500.0], [-45.0, 25.0, -12.0]
    figure = mesonet.plot.skew_t(hpa, air, u_kt=[50, 5, 20], v_kt=[0, 5, 0])
    line = figure.axes[0].lines[-1]
    assert line.get_ydata().tolist() == [1000.0, 500.0, 250.0]
    # An isotherm leans by 37 degrees over a factor e.
    assert line.get_xdata().tolist() == pytest.approx(
        [25 + 37 * np.log(1.05), -12 + 37 * np.log(2.1), -45 + 37 * np.log(4.2)]
    )
    for draw in (mesonet.plot.skew_t, mesonet.chart.skew_t):
        with pytest.raises(mesonet.MesonetError, match="must have a value for each of 3 levels; got 2"):
            draw(hpa, air[:2])


def test_moist_adiabats_are_those_of_metpy():
    calc = pytest.importorskip("metpy.calc")
    from metpy.units import units
    from mesonet.plot import _moist

    levels = np.geomspace(1050, 200, 60)
    for start in (0.0, 20.0):
        own = _moist(start, levels)
        theirs = calc.moist_lapse(levels * units.hPa, start * units.degC).to("degC").magnitude
        assert np.abs(own - theirs).max() < 0.3


def test_summaries_of_days_are_drawn(tmp_path):
    with mesonet.Record(tmp_path / "record", write=True) as record:
        record.ingest(REPORTS, received="2024-08-03 20:30")
        hours = record.summary(("METAR", "CYYZ"), "2024-08-03", "2024-08-03", period="hour")
        none = record.summary(("METAR", "CYYZ"), "2024-07-01", "2024-07-02")
    [axes] = mesonet.plot.summary(hours).axes
    bars = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    assert bars == [(22.0, 28.0), (24.0, 24.0)]
    chart = mesonet.chart.summary(hours).to_dict()
    assert len(chart["vconcat"]) == 1
    for draw in (mesonet.plot.summary, mesonet.chart.summary):
        with pytest.raises(mesonet.MesonetError, match="neither temperatures nor precipitation"):
            draw(none)


def test_charts_are_valid_and_have_the_same_numbers():
    """Altair checks a chart against the schema of Vega-Lite as it turns it into a dict."""
    meteogram = mesonet.chart.meteogram(readings(), title="Toronto").to_dict()

    def values(chart):
        return chart["data"]["values"] if "values" in chart["data"] else meteogram["datasets"][chart["data"]["name"]]

    [first, *_] = meteogram["vconcat"]
    rows = values(first if "data" in first else first["layer"][0])
    assert [row["value"] for row in rows if row["of"] == "air"] == [28.0, 22.0, 24.0]
    arrows = values(meteogram["vconcat"][1]["layer"][-1])
    # They point to where the wind blows, and a calm has none.
    assert [row["angle"] for row in arrows] == [60.0, 70.0]
    rose = mesonet.chart.wind_rose([0, 12, 15, 33], [0, 350, 10, 180]).to_dict()
    shares = [row["share"] for row in rose["data"]["values"]]
    assert sum(shares) == 75.0
    sounding = mesonet.chart.skew_t([1000, 500], [25, np.nan], [20, -30]).to_dict()
    assert len(sounding["layer"][1]["data"]["values"]) == 3
