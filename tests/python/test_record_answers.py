"""What a record in process answers when it is asked narrowly, written beside, damaged or replayed."""

import datetime
import shutil
import sqlite3
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import mesonet
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mesonet import DamagedWarning, MesonetError, Record

pytestmark = pytest.mark.wheel

ISD = Path(__file__).parents[1] / "data" / "isd"
RECEIVED = "2024-08-03T20:01Z"
WINDOW = ("2024-08-03T12:00Z", "2024-08-04T00:00Z")
TORONTO = ("METAR", "CYYZ")
REPORT = b"METAR CYYZ 03%02d00Z 24012G20KT P6SM FEW060 BKN120 29/17 A2991 RMK SLP125=\n"


@pytest.fixture
def record(tmp_path):
    """Reports of Toronto from 12 to 20 UTC."""
    with Record(tmp_path / "data", write=True) as record:
        for hour in range(12, 21):
            record.ingest(REPORT % hour, received=RECEIVED)
        yield record


def rows(table):
    return table.to_arrow().to_pylist()


def test_keywords_choose_among_the_series_of_a_variable(record):
    layers = {of["group_bucket_name"] for of in rows(record.series(TORONTO, "cloudCover", *WINDOW))}
    assert layers == {"layer 1", "layer 2"}
    chosen = rows(record.series(TORONTO, "cloudCover", *WINDOW, bucket="layer 2"))
    assert {of["group_bucket_name"] for of in chosen} == {"layer 2"} and len(chosen) == 9
    everything = rows(record.series(TORONTO, "windGust", *WINDOW))
    assert {(of["interval_type"], of["interval_minutes"]) for of in everything} == {("Max", 10)}
    for none in (
        {"interval_type": "Average"},
        {"interval_minutes": 60},
        {"calculated": True},
        {"unit": "kt"},
        {"bucket": "layer 1"},
    ):
        assert rows(record.series(TORONTO, "windGust", *WINDOW, **none)) == [], none
    same = {"interval_type": "Max", "interval_minutes": 10, "calculated": False}
    assert rows(record.series(TORONTO, "windGust", *WINDOW, **same)) == everything != []


def test_qualifiers_and_entries_of_an_export(record):
    plain = record.bulk(TORONTO, *WINDOW, names=["visibility"]).to_arrow()
    assert "qualifier" not in plain.column_names and plain.num_rows == 9
    said = record.bulk(TORONTO, *WINDOW, names=["visibility"], qualifiers=True).to_arrow()
    assert set(said["qualifier"].to_pylist()) == {"at_least"}
    # The end is not included.
    short = record.bulk(TORONTO, WINDOW[0], "2024-08-03T20:00Z", names=["visibility"]).to_arrow()
    assert short.num_rows == 8
    two = [{"name": "airTemperature"}, {"name": "dewPointTemperature"}]
    both = record.bulk(TORONTO, *WINDOW, requests=two).to_arrow()["observation_name"].to_pylist()
    assert both == ["dewPointTemperature", "airTemperature"] * 9
    low = [{**one, "upperValueBound": 17} for one in two]
    assert set(record.bulk(TORONTO, *WINDOW, requests=low).to_arrow()["value"].to_pylist()) == {17.0}


def test_of_exports_to_one_path_at_once_one_is_kept_and_whole(record, tmp_path):
    path, folder = tmp_path / "out" / "toronto.parquet", tmp_path / "out"
    folder.mkdir()
    asked = {"names": ["airTemperature"], "parquet": path}

    def export(_):
        try:
            return record.bulk(TORONTO, *WINDOW, **asked)
        except MesonetError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(export, range(32)))
    assert said.count(None) == 1
    assert all("exists" in why for why in said if why is not None)
    assert pq.read_table(path).num_rows == 9
    assert list(folder.iterdir()) == [path]


def test_a_reading_that_is_too_old_fills_nothing(record):
    asked = {"names": ["airTemperature"], "step": 60}
    carried = record.readings("2024-08-03T18:00Z", "2024-08-03T23:00Z", **asked)
    assert [of["age_s"] for of in rows(carried)] == [0, 0, 0, 3600, 7200, 10800]
    young = record.readings("2024-08-03T18:00Z", "2024-08-03T23:00Z", max_age=datetime.timedelta(hours=1), **asked)
    assert [of["age_s"] for of in rows(young)] == [0, 0, 0, 3600]


def test_what_is_said_of_a_station_is_of_a_time(record):
    at = [record.details(TORONTO, at=f"2024-08-{at}Z")["qualities"] for at in ("03T11:00", "03T20:01", "05T20:01")]
    assert at == [[], ["Good"], []]


def test_an_explanation_is_of_the_reading_that_was_asked_for(record):
    warm = record.series(TORONTO, "airTemperature", *WINDOW).to_arrow().to_pylist()
    [number] = {of["type_id"] for of in warm}
    first, last = (record.explain(TORONTO, number, warm[at]["timestamp"]) for at in (0, -1))
    assert (first["timestamp"], last["timestamp"]) == ("2024-08-03T12:00:00Z", "2024-08-03T20:00:00Z")
    other = record.series(TORONTO, "dewPointTemperature", *WINDOW).to_arrow()["type_id"][0].as_py()
    told = record.explain(TORONTO, other, warm[0]["timestamp"])
    assert told["value"] == 17.0 and first["value"] == 29.0
    assert first["verdict"]["baseQuality"] == warm[0]["quality_base"] == "Good"
    with pytest.raises(MesonetError, match="has no reading"):
        record.explain(TORONTO, number, "2024-08-03T12:30Z")


def test_an_export_is_whole_while_others_write_merge_and_look(tmp_path):
    """What was there at its beginning comes once each, in order, whatever the folder does meanwhile."""
    source = max(ISD.glob("DS3505*"), key=lambda path: path.stat().st_size)
    span = ("1900-01-01T00:00Z", "2030-01-01T00:00Z")
    with Record(tmp_path, write=True) as writer, Record(tmp_path) as reader:
        writer.ingest(source)
        [station] = [of["station_id"] for of in rows(writer.stations())]
        wanted = writer.bulk(station, *span).to_arrow()
        batches = iter(reader.bulk(station, *span).to_batches())
        got = [next(batches)]
        assert got[0].num_rows < wanted.num_rows
        writer.seal()
        for hour in range(12, 21):
            writer.ingest(REPORT % hour, received=RECEIVED)
            writer.seal()
        # Takes in what was written, while the export is under way.
        assert reader.readings(*WINDOW, stations=[TORONTO]).to_arrow().num_rows > 0
        got.extend(batches)
    assert pa.Table.from_batches(got).combine_chunks().to_pylist() == wanted.to_pylist()


def test_one_changed_byte_is_found_and_said(tmp_path):
    """While the record is open too: what is read is checked each time a file is opened."""
    folder = tmp_path / "data"
    with Record(folder, write=True) as writer:
        for hour in range(12, 21):
            writer.ingest(REPORT % hour, received=RECEIVED)
        writer.seal()
        whole = rows(writer.readings(*WINDOW))
    # That of the readings; the next one has the texts of their reports.
    segment, _ = sorted((folder / "segments").iterdir())
    content = bytearray(segment.read_bytes())
    seen = 0
    # Within the data and not in the padding between columns: most bytes count.
    for at in range(64, len(content) - 64, max(1, len(content) // 12)):
        content[at] ^= 0x55
        segment.write_bytes(content)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with Record(folder) as record:
                found, faults = record.readings(*WINDOW), record.health().faults
                answer = rows(found)
        if found.damaged:
            assert [of.category for of in said] == [DamagedWarning] and faults
            seen += 1
        else:
            assert answer == whole
        content[at] ^= 0x55
    segment.write_bytes(content)
    assert seen >= 6, seen
    with Record(folder) as record:
        assert rows(record.readings(*WINDOW)) == whole


def test_damaged_alerts_are_said(tmp_path):
    sample = Path(__file__).parents[2] / "server-example" / "sample"
    with Record(tmp_path, write=True) as record:
        for path in sorted(sample.glob("alerts_canada_*")):
            assert record.ingest(path).alerts_added == 1
        statuses = [
            [of["properties"]["status"] for of in record.alerts(at="2026-08-12T23:20Z", replay=replay)]
            for replay in (False, True)
        ]
        # In a replay what was sent later does not count, and so does not end the alert before it.
        assert statuses == [["Ended", "Superseded", "Superseded", "Ended"], ["Unknown", "Active", "Superseded", "Ended"]]
        assert record.health().faults == ()
    database = sqlite3.connect(tmp_path / "alerts.sqlite")
    cut = "update alert set message = substr(message, 1, 20) where id = (select min(id) from alert)"
    assert database.execute(cut).rowcount == 1
    database.commit()
    database.close()
    with Record(tmp_path) as record:
        assert len(record.alerts(at="2026-08-12T23:20Z")) == 3
        [fault] = record.health().faults
        assert fault.startswith("alerts.sqlite")


def test_a_replay_ends_when_somebody_brings_readings(server, tmp_path):
    """A server that shows its sample has the sample's clock; with readings of others, that of the day."""
    folder = tmp_path / "data"
    shutil.copytree(server.data, folder, ignore=shutil.ignore_patterns("models", "products"))

    def origin():
        with closing(sqlite3.connect(folder / "mesonet.sqlite")) as database:
            return database.execute("select text from meta where name = 'user.origin'").fetchone()[0]

    assert origin() == "sample"
    with Record(folder, write=True) as record:
        # What adds nothing changes nothing.
        assert record.ingest(b"METAR EGLL 032000Z 24012KT=\n", received=RECEIVED).added == 0
    assert origin() == "sample"
    with Record(folder, write=True) as record:
        assert record.ingest(b"METAR CYYZ 042000Z 24012KT 20/10=\n", received="2024-08-04T20:01Z").added > 0
    assert origin() == "own"


def test_a_box_holds_the_stations_within_it(tmp_path):
    """And the readings of many stations come by station."""
    with Record(tmp_path, write=True) as record:
        known = mesonet.known_stations().to_arrow()
        some = [of for of in known.to_pylist() if of["network"] == "METAR"][:200]
        text = "".join(f"METAR {of['native_id']} 032000Z 24012KT 20/10=\n" for of in some)
        assert record.ingest(text.encode(), received=RECEIVED).read == 200
        found = record.readings(*WINDOW, names=["airTemperature"]).to_arrow()
        assert found["station_id"].to_pylist() == sorted(of["station_id"] for of in some)
        lon, lat = np.array([(of["lon"], of["lat"]) for of in some]).T
        box = (-80.0, 42.0, -70.0, 50.0)
        inside = (lon >= box[0]) & (lon <= box[2]) & (lat >= box[1]) & (lat <= box[3])
        chosen = record.readings(*WINDOW, names=["airTemperature"], bbox=box).to_arrow()
        assert chosen.num_rows == inside.sum() and 0 < inside.sum() < 200
