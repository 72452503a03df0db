"""What a notebook shows of results, and what it takes as people write it."""

import ast
import copy
import datetime
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import mesonet
import numpy as np
import pytest

DATA = Path(__file__).parents[1] / "data"
BULLETIN = b"METAR KBUF 312354Z 21014KT 10SM 02/M07 A2973=\nMETAR CYYZ 312300Z 24012G20KT 15SM 29/17 A2991=\n"


def feed():
    return mesonet.read_feed(BULLETIN, received="2020-01-01")


def rows_of(html):
    """The texts of the cells, row by row."""
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in rows]


def test_a_column_is_an_array_and_is_what_arrow_has():
    readings = feed()
    arrow = pytest.importorskip("polars").DataFrame(readings)
    assert readings.column_names == arrow.columns
    for name in readings.column_names:
        column = readings[name].tolist()
        expected = arrow[name].to_list()
        if name == "timestamp":
            column = [at.replace(tzinfo=datetime.UTC) for at in column]
        for got, of in zip(column, expected, strict=True):
            assert got == of or (of is None and (got is None or got != got)), name
    assert readings["timestamp"].dtype == "M8[ms]" and readings["value"].dtype == np.float64
    with pytest.raises(KeyError, match="no column 'temperature'; there are network, station"):
        readings["temperature"]


def test_rows_are_taken_by_slices_and_walked_as_dicts():
    readings = feed()
    rows = list(readings)
    assert len(rows) == len(readings) and rows[0]["station"] == "KBUF" and rows[-1]["station"] == "CYYZ"
    assert rows[0]["timestamp"] == datetime.datetime(2019, 12, 31, 23, 54, tzinfo=datetime.UTC)
    part = readings[3:6]
    assert type(part) is mesonet.FeedReadings and list(part["value"]) == list(readings["value"][3:6])
    assert part.files == readings.files
    assert [len(readings.head()), len(readings.head(2)), len(readings.head(0)), len(readings[-2:])] == [5, 2, 0, 2]
    assert len(readings[5:2]) == 0 and list(readings[5:2]) == []
    for key in (3, 1.5, None):
        with pytest.raises(TypeError, match="rows are taken by the name of a column or a slice; got"):
            readings[key]
    with pytest.raises(mesonet.MesonetError, match="the step of a slice must be 1; got 2"):
        readings[::2]


def test_tables_can_be_pickled_and_copied():
    readings = feed()
    for again in (pickle.loads(pickle.dumps(readings)), copy.deepcopy(readings[2:])):
        assert type(again) is mesonet.FeedReadings and again.files == readings.files
    assert list(pickle.loads(pickle.dumps(readings))["value"]) == list(readings["value"])
    stations = mesonet.known_stations()
    again = pickle.loads(pickle.dumps(stations))
    assert type(again) is mesonet.Table and again["native_id"].tolist() == stations["native_id"].tolist()
    with pytest.raises(mesonet.MesonetError):
        mesonet._mesonet.ArrowTable.from_ipc(b"no table")


def test_a_table_shows_its_first_and_last_rows():
    stations = mesonet.known_stations()
    header, *rows = rows_of(stations._repr_html_())
    assert header == stations.column_names[: len(header)] and len(rows) == 11
    assert rows[5] == ["…"] * len(header)
    place = header.index("native_id")
    ids = stations["native_id"]
    assert [rows[0][place], rows[-1][place]] == [ids[0], ids[-1]]
    assert len(rows_of(feed()._repr_html_())) == 12


def test_what_came_from_outside_is_escaped():
    text = "<script>alert(1)</script>"
    table = mesonet.ServiceTable({"name": np.array([text], object), "value": np.array([np.nan])})
    assert rows_of(table._repr_html_()) == [["name", "value"], ["&lt;script&gt;alert(1)&lt;/script&gt;", ""]]
    one = {"type": "Feature", "id": text, "geometry": None, "properties": {text: text}}
    features = mesonet.Features({"type": "FeatureCollection", "features": [one]})
    assert "<script>" not in features._repr_html_()


def test_results_show_what_they_hold(tmp_path):
    metar = mesonet.parse_metar("METAR KBUF 312354Z 21014KT 10SM 02/M07 A2973", received="2020-01-01")
    assert ["station", "KBUF"] in rows_of(metar._repr_html_())
    with mesonet.Record(tmp_path / "record", write=True) as record:
        # Each on its own, in one call.
        outcomes = record.ingest([BULLETIN, BULLETIN], received="2020-01-01")
        assert [outcome.added > 0 for outcome in outcomes] == [True, False]
        assert ["read", "2"] in rows_of(outcomes[0]._repr_html_())
        readings = record.readings("2019-12-31", "2020-01-01")
        assert readings["observation_name"].tolist() == list(readings.to_polars()["observation_name"])
        assert rows_of(readings._repr_html_())[0] == readings.column_names
        assert ["stations", "2"] in rows_of(record.health()._repr_html_())
        station = record.stations()["station_id"][0]
        export = record.bulk(station, "2019-12-31", "2020-01-01")
        assert export._repr_html_() == "&lt;mesonet.RecordTable: damaged 0&gt;"
        with pytest.raises(TypeError, match="an export is read once, in batches"):
            export.head()
    alerts = mesonet.read_nws_alerts(DATA / "nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz")
    assert rows_of(alerts._repr_html_())[0] == ["sent", "status", "message_type", "id"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2024-08-03", "2024-08-03T00:00:00Z"),
        ("2024-08-03 20:00", "2024-08-03T20:00:00Z"),
        ("2024-08-03T20:00", "2024-08-03T20:00:00Z"),
        ("2024-08-03T20:00:30.5", "2024-08-03T20:00:30.5Z"),
        ("2024-08-03T20:00-04:00", "2024-08-04T00:00:00Z"),
        (datetime.date(2024, 8, 3), "2024-08-03T00:00:00Z"),
    ],
)
def test_times_are_taken_as_people_write_them(given, expected):
    first = mesonet.plan_grid(given, "2025-01-01", "1d").times[0]
    assert first == mesonet.plan_grid(expected, "2025-01-01T00:00:00Z", 1440).times[0]


@pytest.mark.parametrize("wrong", ["2024-13-01", "2024-08-03 25:00", "yesterday", "2024-8-3", ""])
def test_a_text_that_is_no_time_is_refused(wrong):
    with pytest.raises(mesonet.MesonetError):
        mesonet.plan_grid(wrong, "2025-01-01", 60)


def test_spans_are_taken_as_people_write_them():
    def of(step):
        return mesonet.plan_grid("2024-08-03", "2024-08-04", step)

    for text, minutes in (("10min", 10), ("10m", 10), ("1h", 60), ("2 h", 120), ("1d", 1440), ("120s", 2)):
        assert of(text).step_minutes == of(minutes).step_minutes == minutes
    for wrong in ("1", "h", "1w", "-1h", "1.5h", "9" * 30 + "d"):
        with pytest.raises(mesonet.MesonetError, match="step must be a length of time such as 90s, 10min"):
            of(wrong)
    with pytest.raises(mesonet.MesonetError, match="step must be a whole number of minutes; got 90s"):
        of("90s")


def test_what_is_not_a_path_is_said():
    with pytest.raises(mesonet.MesonetError, match="an address is not fetched; pass bytes, or a path"):
        mesonet.read_feed("https://example.org/metars.csv.gz")
    for text in ("METAR CYYZ 032000Z 24012KT=", "a\nb", "<alert/>"):
        with pytest.raises(mesonet.MesonetError, match="a text is a path; pass the content of a file as bytes"):
            mesonet.read_feed(text)


def test_a_file_of_fields_is_one_dataset():
    pytest.importorskip("xarray")
    file = mesonet.read_grib(DATA / "grib/nam211_20180917T00Z_f000.grib2.gz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = file.to_xarray()
    assert set(data.data_vars) == {"prmsl", "gust", "gh", "u", "v"}
    assert dict(data.sizes) == {"y": 65, "x": 93, "isobaricInhPa": 2}
    seen = 0
    for field in file:
        values = data[field.called]
        if "isobaricInhPa" in values.dims:
            values = values.sel(isobaricInhPa=field.level.value / 100)
        assert np.array_equal(values.values, field.values, equal_nan=True), field
        seen += 1
    assert seen == len(file) == 7
    assert list(file.to_xarray(eccodes_name="prmsl").data_vars) == ["prmsl"]
    with pytest.raises(mesonet.MesonetError, match="there are no fields"):
        file.to_xarray(eccodes_name="t")
    assert rows_of(file._repr_html_())[0][0] == "name" and len(rows_of(file._repr_html_())) == 8


def test_fields_that_do_not_fit_are_left_out_and_named():
    pytest.importorskip("xarray")
    paths = ("grib/nam211_20180917T00Z_f000.grib2.gz", "grib/hrdps_20260219T00Z_f000_cape.grib2.gz")
    own, other = (mesonet.read_grib(DATA / path) for path in paths)
    from mesonet._grib_dataset import dataset

    with pytest.warns(mesonet.MesonetWarning, match="2 of the fields are not in the dataset: .*another grid.*twice"):
        data = dataset([*own, *other, own[0]])
    assert "CAPE" not in data
    with pytest.raises(mesonet.MesonetError, match="none of the fields can be read: .*packing template"):
        mesonet.read_grib(DATA / "grib/grids/refused_logarithms.grib2").to_xarray()


def test_importing_the_package_imports_no_module_of_it_that_is_not_used():
    code = (
        "import sys, mesonet\n"
        "print(sorted(name for name in sys.modules if name.startswith('mesonet') or name in ('asyncio', 'httpx')))\n"
        "print(mesonet.worst.__module__, mesonet.client.__name__, 'Client' in dir(mesonet))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["['mesonet', 'mesonet._mesonet']", "mesonet.quality mesonet.client True"]


def test_each_public_name_comes_from_its_module():
    named = set(mesonet._MODULE_OF) | {"MesonetError", "__version__"}
    assert named == set(mesonet.__all__)
    assert all(getattr(mesonet, name) is not None for name in mesonet.__all__)
    with pytest.raises(AttributeError, match="module 'mesonet' has no attribute 'nothing'"):
        mesonet.nothing
    # Those that type checkers see are the same.
    source = Path(mesonet.__file__).read_text()
    seen = ast.parse(source)
    [checked] = [of for of in seen.body if isinstance(of, ast.If)]
    typed = {(of.module, one.name) for of in checked.body for one in of.names}
    assert typed == {(module, name) for name, module in mesonet._MODULE_OF.items()}
