"""Sealed readings are opened without mesonet, as the docs show."""

import sys
from pathlib import Path

import duckdb
import mesonet
import polars as pl
import pyarrow as pa
import pytest
from mesonet import Record

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


def test_the_documented_reader_gives_what_the_record_gives(sealed, segments):
    (path,) = (sealed / "segments").glob("*.arrow")
    read = pl.from_arrow(segments.readings(path)).filter(pl.col("name") != "presentWeather")
    assert read.height > 50_000
    with Record(sealed) as record:
        stations = record.stations().to_polars()["station_id"].to_list()
        for station in stations[:: len(stations) // 40]:
            own = read.filter(pl.col("station") == station.replace("-", "")).sort("name", "time", "value")
            bulk = pl.from_arrow(record.bulk(station, *SPAN).to_arrow())
            bulk = bulk.sort("name", "timestamp", "value")
            assert own["name"].to_list() == bulk["name"].cast(pl.String).to_list()
            assert own["time"].dt.epoch("ms").to_list() == bulk["timestamp"].dt.epoch("ms").to_list()
            assert (own["value"] - bulk["value"]).abs().max() < 1e-9
            assert own["quality"].to_list() == codes(bulk)


def codes(bulk):
    names = {name: number for number, name in enumerate(mesonet.BASE_QUALITIES)}
    reasons = {name: number for number, name in enumerate(mesonet.REASONS)}
    pairs = zip(bulk["quality_base"].cast(pl.String), bulk["quality_reason"].cast(pl.String), strict=True)
    return [names[base] << 4 | reasons[reason] for base, reason in pairs]


def test_other_programs_open_a_segment_as_a_table(sealed):
    (path,) = (sealed / "segments").glob("*.arrow")
    table = pa.ipc.open_file(path).read_all()
    assert {"station", "time", "series", "verdict"} < set(table.column_names)
    frame = pl.read_ipc(path, memory_map=False)
    assert frame["readings"].sum() == sum(table["readings"].to_pylist())
    assert (frame["time"].list.len() >= 1).all()
    (counted,) = duckdb.sql("select sum(readings) from table").fetchone()
    assert counted == frame["readings"].sum()
