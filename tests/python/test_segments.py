"""Sealed readings are opened without mesonet, as the docs show."""

import sys
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from mesonet import Record
from mesonet._mesonet import BASE_QUALITY_NAMES as BASES
from mesonet._mesonet import REASON_QUALITY_NAMES as REASONS

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[2]
METAR = sorted((ROOT / "tests" / "data" / "metar").glob("*cache_2022-10-22*"))
SPAN = ("2022-10-21T00:00Z", "2022-10-24T00:00Z")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sealed")
    with Record(folder, write=True) as record:
        for path in METAR:
            record.ingest(path)
        record.seal()
    return folder


@pytest.fixture(scope="module")
def segments():
    sys.path.insert(0, str(ROOT / "docs" / "engines"))
    import segments

    yield segments
    sys.path.remove(str(ROOT / "docs" / "engines"))


def of_readings(folder):
    """The segments of readings: those of texts of reports have one more column."""
    paths = sorted((folder / "segments").glob("*.arrow"))
    return [path for path in paths if "text" not in pa.ipc.open_file(path).schema.names]


def test_texts_of_reports_are_in_segments_of_their_own(sealed):
    paths = set((sealed / "segments").glob("*.arrow")) - set(of_readings(sealed))
    (path,) = paths
    opened = pa.ipc.open_file(path).read_all()
    assert opened.schema.metadata[b"mesonet.text_dictionary"] == b"metar-1"
    texts = [len(times) for times in opened["time"].to_pylist()]
    assert sum(texts) == sum(opened["readings"].to_pylist()) > 2_000
    # With ten reports of a station or more in a segment, 60 bytes a report.
    per_text = opened["text"].nbytes / sum(texts)
    per_row = (path.stat().st_size - opened["text"].nbytes) / len(opened)
    assert per_text + per_row / 10 < 60, (per_text, per_row)


def test_the_documented_reader_gives_what_the_record_gives(sealed, segments):
    (path,) = of_readings(sealed)
    read = pl.from_arrow(segments.readings(path)).filter(pl.col("name") != "presentWeather")
    assert read.height > 50_000
    with Record(sealed) as record:
        stations = record.stations().to_polars()["station_id"].to_list()
        for station in stations[:: len(stations) // 40]:
            own = read.filter(pl.col("station") == station.replace("-", "")).sort("name", "time", "value")
            bulk = pl.from_arrow(record.bulk(station, *SPAN).to_arrow())
            bulk = bulk.sort("observation_name", "timestamp", "value")
            assert own["name"].to_list() == bulk["observation_name"].cast(pl.String).to_list()
            assert own["time"].dt.epoch("ms").to_list() == bulk["timestamp"].dt.epoch("ms").to_list()
            assert (own["value"] - bulk["value"]).abs().max() < 1e-9
            assert own["quality"].to_list() == codes(bulk)


def codes(bulk):
    pairs = zip(bulk["quality_base"].cast(pl.String), bulk["quality_reason"].cast(pl.String), strict=True)
    return [BASES.index(base) << 4 | REASONS.index(reason) for base, reason in pairs]


def test_other_programs_open_a_segment_as_a_table(sealed):
    (path,) = of_readings(sealed)
    opened = pa.ipc.open_file(path).read_all()
    assert {"station", "time", "series", "verdict"} < set(opened.column_names)
    frame = pl.read_ipc(path)
    assert frame["readings"].sum() == sum(opened["readings"].to_pylist())
    assert (frame["time"].list.len() >= 1).all()
    ((counted,),) = duckdb.sql("select sum(readings) from opened").fetchall()
    assert counted == frame["readings"].sum()
