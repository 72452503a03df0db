"""The checks over data frames, and explanations as tables."""

import json
import pickle
from pathlib import Path

import mesonet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mesonet import MesonetError, NetworkStation, SeriesReadings

DATA = Path(__file__).parents[1] / "data"
HOURS = np.arange("2021-01-15T00", "2021-01-17T00", dtype="M8[h]")


def network():
    """Seven stations 15 km apart with two series, in random order; the fourth is wrong at the end."""
    rng = np.random.default_rng(3)
    parts = []
    for place in range(7):
        values = 15 + 4 * np.sin(np.arange(48) / 24 * 2 * np.pi) + rng.normal(0, 0.2, 48)
        values[-1:] += 6.0 if place == 3 else 0.0
        for name, column in [("airTemperature", values), ("dewPointTemperature", values - 5)]:
            parts.append(pd.DataFrame({
                "station": f"S{place}", "lon": -100.0 + 0.2 * place, "lat": 45.5, "altitude_m": 200.0,
                "observation_name": name, "interval_type": "Instantaneous", "interval_minutes": 0,
                "timestamp": HOURS.astype("M8[s]"), "value": column,
            }))
    frame = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=5)
    frame.index = [f"row {at}" for at in frame.index]
    return frame


def by_columns(frame, neighbours):
    """The verdicts of the functions over columns, by row."""
    stations, rows = [], []
    for _, of_station in frame.groupby("station"):
        series, of_rows = [], []
        for (name, kind, minutes), of in of_station.groupby(["observation_name", "interval_type", "interval_minutes"]):
            of = of.sort_values("timestamp")
            series.append(SeriesReadings(name, kind, minutes, of["timestamp"].to_numpy(), of["value"].to_numpy()))
            of_rows.append(of.index)
        place = of_station.iloc[0]
        stations.append(NetworkStation(place["lon"], place["lat"], place["altitude_m"], series))
        rows.append(of_rows)
    if neighbours:
        found = mesonet.check_network(stations)
    else:
        found = [mesonet.check_station(of.lon, of.lat, of.altitude_m, of.series) for of in stations]
    base = pd.Series(index=frame.index, dtype=object)
    for of_rows, verdicts in zip(rows, found):
        for index, one in zip(of_rows, verdicts):
            base[index] = [mesonet.BaseQuality(int(code)).name for code in one.base]
    return base


@pytest.mark.parametrize("neighbours", [True, False])
def test_a_frame_has_the_verdicts_of_its_columns(neighbours):
    frame = network()
    wanted = by_columns(frame, neighbours)
    checked = mesonet.check_frame(frame, neighbours=neighbours)
    assert checked.index.equals(frame.index) and list(checked.columns[:-2]) == list(frame.columns)
    assert checked["verdict_base"].astype(object).tolist() == wanted.tolist()
    assert "verdict_base" not in frame
    bad = checked[checked["verdict_base"] < "Good"]
    assert set(bad["station"]) == ({"S3"} if neighbours else set())

    polars = mesonet.check_frame(pl.from_pandas(frame), neighbours=neighbours)
    assert polars["verdict_base"].to_list() == wanted.tolist()
    assert isinstance(polars["verdict_base"].dtype, pl.Enum)
    arrow = mesonet.check_frame(pa.Table.from_pandas(frame), neighbours=neighbours)
    assert arrow["verdict_base"].to_pylist() == wanted.tolist()
    assert arrow["verdict_reason"].to_pylist() == checked["verdict_reason"].astype(object).tolist()
    # A second time the columns are replaced.
    assert mesonet.check_frame(arrow, neighbours=neighbours).column_names == arrow.column_names


def test_columns_of_every_kind():
    frame = network()[["station", "lon", "lat", "observation_name", "interval_type", "interval_minutes", "timestamp", "value"]]
    wanted = mesonet.check_frame(frame)["verdict_base"].tolist()
    kinds = [
        frame.assign(timestamp=frame["timestamp"].dt.tz_localize("UTC").dt.tz_convert("America/Toronto")),
        frame.assign(
            timestamp=frame["timestamp"].dt.tz_localize("UTC").astype(pd.ArrowDtype(pa.timestamp("us", "UTC"))),
            value=frame["value"].astype(pd.ArrowDtype(pa.float64())),
        ),
        frame.assign(timestamp=frame["timestamp"].astype("M8[ns]"), value=frame["value"].astype("Float64")),
        frame.astype({"station": "category", "observation_name": "category", "interval_minutes": "int8"}),
        frame.rename(columns={"station": "station_id"}),
        frame.assign(altitude_m=np.nan, unit="°C", calculated=False, group_bucket_name=""),
        frame.assign(quality_base="Unknown", quality_reason="None"),
        frame.assign(network=np.where(frame["station"] < "S3", "A", "B")),
    ]
    for kind in kinds:
        assert mesonet.check_frame(kind)["verdict_base"].tolist() == wanted
        assert mesonet.check_frame(pl.from_pandas(kind))["verdict_base"].to_list() == wanted
    missing = frame.assign(value=frame["value"].where(frame["station"] != "S0"))
    for view in (missing, pl.from_pandas(missing), pa.Table.from_pandas(missing)):
        verdicts = mesonet.check_frame(view)["verdict_base"]
        listed = verdicts.to_pylist() if isinstance(view, pa.Table) else list(verdicts)
        assert {of for of, station in zip(listed, missing["station"]) if station == "S0"} == {"Missing"}
    kept = mesonet.check_frame(frame.assign(quality_base="Good", quality_reason="None"))
    assert set(kept["verdict_base"]) == {"Good"}
    assert mesonet.check_frame(frame[:0])["verdict_base"].tolist() == []


def test_a_feed_is_a_frame():
    text = b"raw_text,station_id,observation_time,latitude,longitude\n"
    text += b"CYYZ 032000Z 24012KT 15SM 99/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n"
    checked = mesonet.check_frame(mesonet.read_feed(text, received="2024-08-03T20:01Z"))
    assert isinstance(checked, pa.Table)
    verdict = dict(zip(checked["observation_name"].to_pylist(), checked["verdict_base"].to_pylist()))
    assert verdict["airTemperature"] == "Error"


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda of: of.drop(columns=["lat", "value"]), TypeError, "the frame lacks the columns lat, value; it has station"),
        (lambda of: of.assign(value="1"), TypeError, "value must be numbers; got "),
        (lambda of: of.assign(timestamp="2021"), TypeError, "timestamp must be times, all in one time zone; got "),
        (
            lambda of: of.assign(timestamp=[
                t.tz_localize("UTC" if at else "America/Toronto") for at, t in enumerate(of["timestamp"])
            ]).astype({"timestamp": object}),
            TypeError,
            "timestamp must be times, all in one time zone; got object",
        ),
        (lambda of: of.assign(timestamp=of["timestamp"].where(of.index != "row 5")), MesonetError, r"timestamp must be times; row \d+ is NaT"),
        (lambda of: of.assign(timestamp=of["timestamp"].dt.floor("2h")), MesonetError, r"station S\d has two readings of \w+ at 2021-01-15T00:00:00.000Z; keep one of them"),
        (lambda of: of.assign(lon=np.arange(len(of)) / 10), MesonetError, r"station S\d has several values of lon at one time: "),
        (lambda of: of.replace({"observation_name": {"airTemperature": "heat"}}), MesonetError, '"heat" is not a variable name'),
        (lambda of: of.assign(quality_base="Good"), TypeError, "quality_base and quality_reason go together; got only quality_base"),
        (lambda of: of.assign(quality_base="Fine", quality_reason="None"), MesonetError, '"Fine"'),
        (lambda of: of.to_dict(), TypeError, "a frame is of pandas, polars or Arrow; got dict"),
        (lambda of: pl.from_pandas(of).lazy(), TypeError, "a lazy frame is not read; collect it first"),
        (lambda of: pl.from_pandas(of).with_columns(pl.col("timestamp").cast(pl.String)), TypeError, "timestamp must be times"),
        (lambda of: pa.Table.from_pandas(of.assign(value="1")), TypeError, "value must be numbers; got "),
    ],
)
def test_frames_that_are_refused(change, kind, message):
    with pytest.raises(kind, match=message):
        mesonet.check_frame(change(network()))


def explained():
    stations = [
        NetworkStation(-100.0, 45.0 + 0.09 * place, 200.0, [SeriesReadings("airTemperature", "Instantaneous", 0, [0], [value])])
        for place, value in enumerate([20.0, 20.5, 19.5, 33.0, 20.0, 20.5, 19.0])
    ]
    one = stations.pop(3)
    return mesonet.explain(one.lon, one.lat, one.altitude_m, one.series, 0, 0, neighbours=stations)


def test_an_explanation_names_the_neighbours():
    explanation = explained()
    assert explanation["decidedBy"] == "neighbours"
    [check] = [of for of in explanation["checks"] if of["check"] == "neighbours"]
    assert {of["name"] for of in check["neighbours"]} == {"1", "2", "3", "4", "5", "6"}
    lines = str(explanation).splitlines()
    assert lines[0] == "airTemperature 33 °C at 1970-01-01T00:00:00Z: Doubtful (Disagree), by neighbours"
    assert lines[lines.index("neighbours: compared with") + 1].split() == ["station", "km", "rise", "m", "value", "weight", "difference", "in", "sd"]
    with pytest.raises(MesonetError, match="station 0: reading 1 of series 0 is not among the readings given"):
        mesonet.explain(0.0, 0.0, None, [SeriesReadings("airTemperature", "Instantaneous", 0, [0], [1.0])], 0, 1, neighbours=[])


def test_an_explanation_is_a_mapping_and_a_table_of_html():
    explanation = explained()
    assert isinstance(explanation, dict) and json.loads(json.dumps(explanation)) == explanation
    assert pickle.loads(pickle.dumps(explanation)) == explanation
    assert type(pickle.loads(pickle.dumps(explanation))) is mesonet.Explanation
    html = explanation._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    assert html.count("<tr>") == 1 + len(explanation["checks"]) + 1 + 6
    # What comes from files cannot become markup.
    explanation["unit"] = "<script>"
    explanation["checks"][0]["inputs"][0]["name"] = "a&b"
    html = explanation._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "a&amp;b" in html


def test_a_missing_value_is_explained_among_neighbours():
    stations = [NetworkStation(-100.0, 45.1, None, [SeriesReadings("airTemperature", "Instantaneous", 0, [0], [20.0])])]
    series = [SeriesReadings("airTemperature", "Instantaneous", 0, [0], [np.nan])]
    explanation = mesonet.explain(-100.0, 45.0, None, series, 0, 0, neighbours=stations)
    assert explanation["verdict"] == {"baseQuality": "Missing", "reasonQuality": "Missing"}
    assert str(explanation).startswith("airTemperature no value at ")


def readings(**columns):
    """Four readings of a station, an hour apart."""
    return pd.DataFrame({
        "station": "S", "lon": -100.0, "lat": 45.5, "altitude_m": 200.0, "observation_name": "airTemperature",
        "interval_type": "Instantaneous", "interval_minutes": 0,
        "timestamp": pd.date_range("2021-01-15", periods=4, freq="h"), "value": [-12.0, -11.5, 140.0, -11.0], **columns,
    })


@pytest.mark.parametrize(("unit", "other"), [("degC", "°C"), ("°F", "°F"), ("K", "K"), ("Cel", "°C")])
def test_units_are_converted_before_they_are_judged(unit, other):
    """Once a unit that was not the variable's own was judged by nothing, without a word."""
    wanted = mesonet.check_frame(readings())["verdict_base"].tolist()
    assert wanted == ["Good", "Good", "Error", "Good"]
    given = readings(unit=unit, value=mesonet.convert(readings()["value"].to_numpy(), "°C", other))
    for frame in (given, pl.from_pandas(given), pa.Table.from_pandas(given)):
        verdicts = mesonet.check_frame(frame)["verdict_base"]
        assert (verdicts.to_pylist() if isinstance(frame, pa.Table) else list(verdicts)) == wanted
    mixed = readings(unit=[unit, "°C", None, "°C"])
    mixed.loc[0, "value"] = mesonet.convert(-12.0, "°C", other)
    assert mesonet.check_frame(mixed)["verdict_base"].tolist() == wanted


@pytest.mark.parametrize("unit", ["zzz", "kPa", "km/h", "°"])
def test_units_that_do_not_fit_are_refused(unit):
    with pytest.raises(MesonetError, match=f'invalid unit "{unit}" of airTemperature: it must be known and convert'):
        mesonet.check_frame(readings(unit=unit))


def test_a_unit_that_may_be_several_is_judged_by_the_widest_limits():
    assert mesonet.check_frame(readings(unit="F", value=[50.0, 51.0, 900.0, 52.0]))["verdict_base"].tolist()[2] == "Error"


def test_of_several_rows_of_a_moment_the_newest_revision_counts():
    frame = readings(timestamp=pd.to_datetime(["2021-01-15T00:00"] * 3 + ["2021-01-15T01:00"]))
    frame["revision"] = np.array([0, 1, 0, 0], np.uint8)
    frame["value"] = [140.0, -12.0, -12.0, -11.0]
    for of in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        verdicts = mesonet.check_frame(of)["verdict_base"]
        listed = verdicts.to_pylist() if isinstance(of, pa.Table) else verdicts.astype(object).tolist() if of is frame else verdicts.to_list()
        # The first has another value and does not count, the third says what counts.
        assert [None if text is None or text != text else text for text in listed] == [None, "Good", "Good", "Good"]
    # Of one revision the later row; without revisions two values are refused, and one that is said twice is not.
    later = frame.assign(revision=np.uint8(0))
    assert mesonet.check_frame(later)["verdict_base"].isna().tolist() == [True, False, False, False]
    same = readings(timestamp=frame["timestamp"], value=[-12.0, -12.0, -12.0, -11.0])
    assert mesonet.check_frame(same)["verdict_base"].tolist() == ["Good"] * 4


def test_rows_without_a_place_are_judged_alone_and_counted():
    frame = pd.concat([network(), readings(lon=np.nan, lat=np.nan, station="nowhere")])
    with pytest.warns(mesonet.MesonetWarning, match="4 rows of 1 station have no place: they were not compared"):
        checked = mesonet.check_frame(frame)
    assert checked.attrs == {"rows_without_place": 4}
    assert checked[checked["station"] == "nowhere"]["verdict_base"].tolist() == ["Good", "Good", "Error", "Good"]
    placed = mesonet.check_frame(network())
    assert placed.attrs == {"rows_without_place": 0}
    assert checked["verdict_base"].tolist()[:-4] == placed["verdict_base"].tolist()
    with pytest.warns(mesonet.MesonetWarning):
        arrow = mesonet.check_frame(pa.Table.from_pandas(frame, preserve_index=False))
    assert arrow.schema.metadata[b"rows_without_place"] == b"4"
    # A limit that holds in one season or hemisphere only is none.
    mild = readings(lon=np.nan, lat=np.nan, value=[44.0, 44.1, 44.2, 44.3])
    with pytest.warns(mesonet.MesonetWarning):
        assert mesonet.check_frame(mild)["verdict_base"].tolist() == ["Good"] * 4


def test_a_station_is_where_its_newest_row_says():
    frame = readings(lon=[-100.0, -100.0, -100.1, np.nan])
    assert mesonet.check_frame(frame)["verdict_base"].tolist() == ["Good", "Good", "Error", "Good"]


# One file of each reader that is small, and what the checks must take.
READ = [
    "eccc_hourly", "geomet_swob", "ghcnh", "iem_asos", "isd", "ndbc", "nws_observation", "swob",
    pytest.param("metar", marks=pytest.mark.long), "reported/metar", "reported/tables",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::mesonet.MesonetWarning")
@pytest.mark.parametrize("folder", READ)
def test_the_checker_takes_what_each_reader_gives(folder):
    files = sorted(path for path in (DATA / folder).rglob("*") if path.is_file() and path.stat().st_size < 200_000)
    checked = 0
    for path in files[:40]:
        # A text of theirs that was changed to a unit that nobody knows.
        if path.name == "stations_observations_alternate_units.json":
            continue
        try:
            feed = mesonet.read_feed(path)
        except MesonetError:
            continue
        verdicts = mesonet.check_frame(feed)["verdict_base"]
        assert len(verdicts) == len(feed)
        checked += len(feed)
        # A value that cannot be is found in each.
        frame = feed.to_pandas()
        air = frame["observation_name"] == "airTemperature"
        if air.any():
            frame.loc[air, "value"] = -300.0
            assert set(mesonet.check_frame(frame)["verdict_base"][air].dropna()) <= {"Error", "Missing"}, path.name
    assert checked > 0
