"""The record in process: the answers of the service from the same folder, writers beside readers, damage."""

import copy
import hashlib
import json
import multiprocessing
import os
import pickle
import shutil
import sys
import threading
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import mesonet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from child import run, serving
from mesonet import DamagedWarning, MesonetError, Record

pytestmark = pytest.mark.wheel

DATA = Path(__file__).parents[1] / "data"
SAMPLE = Path(__file__).parents[2] / "server-example" / "sample"
ALERTS = sorted(SAMPLE.glob("alerts_*"))
# The end of what the files of METAR hold.
END = pd.Timestamp("2022-10-22T19:13Z")
KEY = "a key for the tests of the record"
WINDOW = ("2024-08-03T12:00Z", "2024-08-04T00:00Z")
TORONTO = ("METAR", "CYYZ")
PLACES = {"CYYZ": (-79.63, 43.68, 173.0), "KBUF": (-78.74, 42.94, 218.0)}
RECEIVED = "2024-08-03T20:01Z"


def bulletin(hour, temperature=29):
    lines = [f"METAR {icao} 03{hour:02}00Z 24012KT 15SM FEW060 {temperature}/17 A2991=" for icao in PLACES]
    return ("\n".join(lines) + "\n").encode()


def filled(folder, hours=range(12, 21)):
    with Record(folder, write=True) as record:
        for hour in hours:
            assert record.ingest(bulletin(hour), received=RECEIVED, places=PLACES).read == 2
    return folder


@pytest.fixture(scope="module")
def service(binary, tmp_path_factory):
    """A server on the folder that a record wrote, to which files can be pushed."""
    folder = tmp_path_factory.mktemp("record")
    with Record(folder / "data", write=True) as record:
        for path in sorted((DATA / "metar").glob("*cache_2022-10-22*")):
            assert record.ingest(path).read > 4000
        record.seal()
        record.ingest(bulletin(20), received=RECEIVED, places=PLACES)
        for path in ALERTS:
            assert record.ingest(path).alerts_added > 0, path
    shutil.copytree(DATA / "model_grids" / "store", folder / "data" / "models")
    hashed = hashlib.sha256(KEY.encode()).hexdigest()
    command = [binary, "--listen", "127.0.0.1:0", "--data", folder / "data", "--rate-requests", "0"]
    command += ["--assume-plan", "commercial", "--ingest-key-hashes", hashed]
    with serving(*command, log=folder / "log") as origin:
        yield folder / "data", origin


def ask(origin, path, body=None, **headers):
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **{name.replace("_", "-"): of for name, of in headers.items()}}
    request = urllib.request.Request(origin + path, data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.headers, answer.read()


def get_json(origin, path, body=None):
    return json.loads(ask(origin, path, body)[1])


def test_readings_are_those_of_the_service(service):
    folder, origin = service
    window = (END - pd.Timedelta("2h"), END)
    query = f"start={window[0].strftime('%FT%TZ')}&end={window[1].strftime('%FT%TZ')}"
    with Record(folder) as record:
        for step in ("", "&step=20"):
            answer = get_json(origin, f"/api/v1/stations/readings?{query}{step}")
            table = record.readings(*window, step=20 if step else None)
            assert table.damaged == 0 and table.step_minutes == answer.get("step")
            rows = table.to_arrow().to_pylist()
            sent = [(station, of) for station, of in answer["stations"].items() for of in of["readings"]]
            assert len(rows) == len(sent) > 10_000
            for row, (station, of) in zip(rows, sent):
                assert row["station_id"] == station
                assert pd.Timestamp(row["timestamp"]) == pd.Timestamp(of["timestamp"])
                named = (row["observation_name"], row["type_id"], row["value"], row["qualifier"])
                assert named == (of["type"], of["typeId"], of["value"], of.get("qualifier"))
                verdict = {"baseQuality": row["quality_base"], "reasonQuality": row["quality_reason"]}
                assert verdict == of["quality"]
                assert row.get("age_s") == of.get("age")


def test_one_station_is_that_of_the_service(service, tmp_path):
    folder, origin = service
    end = END
    with Record(folder) as record:
        stations = record.stations().to_polars()
        place = stations.filter(pl.col("native_id") == "CYYZ").row(0, named=True)
        assert (place["network"], place["update_time"].tzinfo is not None) == ("METAR", True)
        identity = place["station_id"]
        assert mesonet._mesonet.station_id(*TORONTO) == identity

        start = end - pd.Timedelta("1D")
        query = f"start={start.strftime('%FT%TZ')}&end={end.strftime('%FT%TZ')}"
        series = record.series(TORONTO, "airTemperature", start, end).to_arrow().to_pylist()
        asked = {"stationId": identity, "name": "airTemperature"}
        sent = get_json(origin, f"/api/v1/observations/series?{query}", asked)["readings"]
        assert [row["value"] for row in series] == [of["value"] for of in sent] and len(series) > 1
        assert [row["quality_base"] for row in series] == [of["quality"]["baseQuality"] for of in sent]
        assert record.series(identity, "airTemperature", "1990-01-01T00:00Z", "1990-01-02T00:00Z").to_arrow().num_rows == 0

        headers, body = ask(
            origin, f"/api/v1/historical/bulk?{query}", {"stationId": identity},
            Accept="application/vnd.apache.arrow.stream",
        )
        assert headers["X-Has-More"] == "False"
        sent = pa.ipc.open_stream(body).read_all()
        bulk = record.bulk(TORONTO, start, end)
        assert bulk.to_arrow().equals(sent) and sent.num_rows > 20
        # It can be read again.
        assert bulk.to_arrow().equals(sent)
        path = tmp_path / "toronto.parquet"
        assert record.bulk(TORONTO, start, end, parquet=path) is None
        assert pq.read_table(path).to_pylist() == sent.to_pylist()
        with pytest.raises(MesonetError, match="exists already; it was not overwritten"):
            record.bulk(TORONTO, start, end, parquet=path)
        assert list(tmp_path.iterdir()) == [path]

        details = record.details(TORONTO, at=end)
        sent = get_json(origin, f"/api/v1/stations/{identity}")
        details.pop("qualities"), sent.pop("qualities")  # as of now, and as of then
        assert details == sent
        assert record.details(at=end).keys() == get_json(origin, "/api/v1/stations/map/details").keys()

        row = record.series(TORONTO, "dewPointTemperature", start, end).to_arrow().to_pylist()[-1]
        time = row["timestamp"].strftime("%FT%TZ")
        sent = get_json(origin, f"/api/v1/observations/explain?stationId={identity}&typeId={row['type_id']}&timestamp={time}")
        explanation = record.explain(TORONTO, row["type_id"], row["timestamp"])
        assert explanation == sent and "neighbours: compared with" in str(explanation)


def test_alerts_are_those_of_the_service(service):
    folder, origin = service
    sent = get_json(origin, "/api/v1/alerts")
    at = "2026-07-15T20:05:00Z"
    with Record(folder) as record:
        own = record.alerts(at=at)
        assert [of["id"] for of in own] == [of["id"] for of in sent["features"]] != []
        drawn = 0
        for mine, theirs in zip(own, sent["features"]):
            assert mine["properties"]["alertHeadline"] == theirs["properties"]["alertHeadline"]
            if not mine["properties"].get("missingZones"):
                drawn += mine["geometry"] is not None
                if mine["properties"]["status"] == theirs["properties"]["status"]:
                    assert mine["geometry"] == theirs["geometry"]
        assert drawn > 10
        assert len(record.alerts(at=at, place=(-97.5, 35.5), active=True)) < len(own)
        assert len(record.alerts(at="2026-07-01T00:00Z", replay=True)) <= len(own)
        frame = own.to_geopandas()
        assert frame.index.tolist() == [of["id"] for of in own] and frame.geometry.notna().sum() > 10
        with pytest.raises(MesonetError, match='lang must be en or fr; got "de"'):
            record.alerts(at=at, lang="de")


def test_with_zones_all_alerts_have_the_outlines_of_the_service(service):
    folder, origin = service
    sent = get_json(origin, "/api/v1/alerts")["features"]
    with Record(folder, zones=SAMPLE / "zones.bin.gz") as record:
        own = record.alerts(at=pd.Timestamp.now("UTC"))
    assert len(own) == len(sent)
    same = 0
    for mine, theirs in zip(own, sent):
        assert mine["properties"].get("missingZones") == theirs["properties"].get("missingZones")
        assert mine["properties"]["status"] == theirs["properties"]["status"]
        assert mine["geometry"] == theirs["geometry"]
        same += mine["geometry"] is not None
    assert same > 300
    with pytest.raises(MesonetError, match="bundle of zones"):
        Record(folder, zones=b"zones")


def test_places_are_known_without_being_given(tmp_path):
    """A bulletin does not say where its stations are."""
    with Record(tmp_path, write=True) as record:
        outcome = record.ingest(b"METAR CYYZ 032000Z 24012KT=\nMETAR EGLL 032000Z 24012KT=\n", received=RECEIVED)
        assert outcome.place_unknown == {"METAR EGLL": 1}
        moved = record.ingest(b"METAR KBUF 032000Z 24012KT=\n", received=RECEIVED, places={"KBUF": (-78.0, 43.0, None)})
        assert moved.place_unknown == {}
        stations = {of["native_id"]: of for of in record.stations().to_arrow().to_pylist()}
    toronto, buffalo = stations["CYYZ"], stations["KBUF"]
    known = mesonet.known_stations().to_pandas().set_index(["network", "native_id"])
    assert len(known) > 7_000 and known.index.is_unique and known.index.is_monotonic_increasing
    for name in ("station_id", "name", "lat", "lon", "altitude_m"):
        assert toronto[name] == known.loc[TORONTO, name]
    # What is given counts before what is known.
    assert (buffalo["lon"], buffalo["lat"], buffalo["altitude_m"]) == (-78.0, 43.0, None)


def test_model_values_are_those_of_the_service(service):
    folder, origin = service
    run_of = "20180917T000000Z"
    with Record(folder) as record:
        assert record.models()["nam211"] == [run_of]
        fields = ["prmsl", "u", "v"]
        for winds in ("grid", "earth"):
            query = f"run={run_of}&lat=35.5&lon=-97.5&fields={','.join(fields)}&winds={winds}"
            sounding = record.model_point("nam211", fields, hour=0, lon=-97.5, lat=35.5, winds=winds)
            assert sounding == get_json(origin, f"/models/nam211/point?{query}&hour=0")
            assert len(sounding["fields"]["u"]["values"]) > 1
            series = record.model_series("nam211", fields, lon=-97.5, lat=35.5, winds=winds)
            assert series == get_json(origin, f"/models/nam211/series?{query}")
        # As the client, and unlike the interface: the first hour, and winds of true north.
        assert record.model_point("nam211", fields, lon=-97.5, lat=35.5) == sounding
        cell = record.model_point("nam211", ["u"], valid="2018-09-17T00:00Z", row=37, column=68, level=0)
        assert len(cell["fields"]["u"]["values"]) == 1
        with pytest.raises(MesonetError, match="is not an hour of run"):
            record.model_point("nam211", ["u"], valid="2019-09-17T00:00Z", row=37, column=68)
        with pytest.raises(TypeError, match="a cell is required"):
            record.model_point("nam211", ["u"], hour=0, lon=1.0, row=2)
        with pytest.raises(MesonetError, match="nosuch"):
            record.model_series("nosuch", ["u"], row=1, column=1)


def test_what_the_server_takes_in_is_seen_at_once(service):
    folder, origin = service
    with Record(folder) as record:
        before = record.health()
        assert record.health() == before
        for hour, value in [(1, 3), (2, 4)]:
            text = f"METAR CYYZ 03{hour:02}00Z 24012KT {value:02}/01 A2991=\n".encode()
            ask(origin, "/api/v1/ingest?received=2023-01-03T03:00:00Z", text, Authorization=f"Bearer {KEY}")
            series = record.series(TORONTO, "airTemperature", "2023-01-03T00:00Z", "2023-01-04T00:00Z")
            assert series.to_arrow()["value"].to_pylist()[-1] == value


def test_a_second_writer_is_told_who_the_first_is(service, tmp_path):
    folder, _ = service
    with pytest.raises(MesonetError, match=r"is in use by process \d+ \(mesonet-server\); only one process at a time"):
        Record(folder, write=True)
    with Record(tmp_path / "own", write=True):
        with pytest.raises(MesonetError, match=rf"is in use by process {os.getpid()} \("):
            Record(tmp_path / "own", write=True)
    Record(tmp_path / "own", write=True).close()


def test_outcomes_of_ingest(tmp_path):
    path = tmp_path / "sa.txt"
    path.write_bytes(bulletin(20) + b"METAR CYXX 0320Z 24012KT=\nMETAR EGLL 032000Z 24012KT 10/01=\n")
    with Record(tmp_path / "data", write=True) as record:
        first = record.ingest(path, received=RECEIVED, places=PLACES)
        assert (first.name, first.kind, first.read, first.refused) == ("sa.txt", "metar-bulletin", 3, 1)
        assert "0320Z" in first.refusals[0] and first.place_unknown == {"METAR EGLL": 1}
        assert first.added > 10 and first.unchanged == 0
        again = record.ingest(str(path), received=RECEIVED, feed="metar-bulletin")
        assert (again.added, again.unchanged) == (0, first.added)
        late = record.ingest(bulletin(20), received="2100-01-03T20:01Z", places=PLACES)
        assert late.in_the_future == {"METAR CYYZ": 1, "METAR KBUF": 1} and late.added == 0
        for wrong in (b"hello", b""):
            with pytest.raises(MesonetError, match="the kind of \"content\" is unknown"):
                record.ingest(wrong)
        with pytest.raises(MesonetError, match="longitude must be"):
            record.ingest(bulletin(20), received=RECEIVED, places={"CYYZ": (999.0, 0.0, None)})
    with Record(tmp_path / "data") as record:
        with pytest.raises(MesonetError, match="is open for reading; to write, open it with write=True"):
            record.ingest(path)
        with pytest.raises(MesonetError, match="open for writing"):
            record.seal()


def test_a_file_of_several_that_is_refused_does_not_hide_what_is_stored(tmp_path):
    with Record(tmp_path / "data", write=True) as record:
        given = {"received": RECEIVED, "places": PLACES}
        with pytest.raises(mesonet.IngestError, match='^file 2: the kind of "content" is unknown.* of the files before it are stored$') as raised:
            record.ingest([bulletin(20), b"nonsense bytes", bulletin(21)], **given)
        [first] = raised.value.outcomes
        assert first.added > 10 and f"; {first.added} readings of the files" in str(raised.value)
        with Record(tmp_path / "alone", write=True) as alone:
            assert alone.ingest(bulletin(20), **given) == first and alone.health() == record.health()
        again = pickle.loads(pickle.dumps(raised.value))
        assert (type(again), str(again), again.outcomes) == (mesonet.IngestError, str(raised.value), (first,))
        # The same again: no reading is new.
        with pytest.raises(mesonet.IngestError, match="; nothing was stored before it$") as raised:
            record.ingest(iter([bulletin(20), b"nonsense bytes"]), **given)
        assert raised.value.outcomes[0].unchanged == first.added
        # An error of another class keeps it.
        for wrong, kind in ((tmp_path / "nowhere.txt", FileNotFoundError), (5, TypeError), ([bulletin(20)], TypeError)):
            with pytest.raises(kind) as raised:
                record.ingest([bulletin(22), wrong], **given)
            assert raised.value.__notes__[0].startswith("file 2: ")
        assert [one.read for one in record.ingest([bulletin(20), bulletin(21)], **given)] == [2, 2]
        assert record.ingest([], **given) == []


def test_answers_as_frames_of_every_kind(tmp_path):
    with Record(filled(tmp_path)) as record:
        table = record.readings(*WINDOW, stations=[TORONTO], names=["airTemperature"], step=pd.Timedelta("1h"))
        frame = table.to_pandas()
        assert frame["value"].tolist() == [29.0] * len(frame) and len(frame) == 13  # carried to the end
        assert str(frame["timestamp"].dtype) == "datetime64[ms, UTC]"
        assert table.to_polars()["quality_base"].to_list() == frame["quality_base"].tolist()
        assert pa.table(table).num_rows == sum(batch.num_rows for batch in table.to_batches())
        box = record.readings(*WINDOW, bbox=(-80, 43, -79, 44), names=["airTemperature"]).to_arrow()
        assert box["station_id"].to_pylist() == [mesonet._mesonet.station_id(*TORONTO)]
        coarse = record.readings(*WINDOW, step=1, caps=mesonet.Caps(positions=10))
        assert (coarse.coarsening.limited_by, coarse.step_minutes) == ("positions", coarse.coarsening.factor)
        requests = [{"name": "airTemperature", "lowerValueBound": 29.5}]
        assert record.bulk(TORONTO, *WINDOW, requests=requests).to_arrow().num_rows == 0
        assert set(record.bulk(TORONTO, *WINDOW, names=["dewPointTemperature"], qualifiers=True).to_arrow()["qualifier"].to_pylist()) == {None}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda of: of.readings("2024-08-04T00:00Z", "2024-08-03T00:00Z"), MesonetError, "start must be before end"),
        (lambda of: of.readings(*WINDOW, names="airTemperature"), TypeError, "names must be several texts"),
        (lambda of: of.readings(*WINDOW, names=["heat"]), MesonetError, '"heat"'),
        (lambda of: of.readings(*WINDOW, stations=["nowhere"]), MesonetError, 'no station has the id "nowhere"'),
        (lambda of: of.readings(*WINDOW, stations=[5]), TypeError, "a station is an id or a pair"),
        (lambda of: of.readings(*WINDOW, stations=[], bbox=(0, 0, 1, 1)), MesonetError, "either stations or bbox"),
        (lambda of: of.readings(*WINDOW, bbox=(0, 50, 1, 40)), MesonetError, "minLat must not be greater than maxLat"),
        (lambda of: of.readings(*WINDOW, step=0), MesonetError, "step"),
        (lambda of: of.readings(pd.NaT, "2024-08-03T00:00Z"), MesonetError, "start must be a time; got NaT"),
        (lambda of: of.series(("METAR", "CYVR"), "airTemperature", *WINDOW), MesonetError, "no station has the id"),
        (lambda of: of.series(TORONTO, "heat", *WINDOW), MesonetError, '"heat"'),
        (lambda of: of.bulk(TORONTO, *WINDOW, requests=[{"qualityRange": {"worst": "Bad"}}]), MesonetError, "Bad"),
        (lambda of: of.bulk(TORONTO, *WINDOW, names=[], requests=[]), TypeError, "either names or requests"),
        (lambda of: of.details(("METAR", "CYVR"), at=WINDOW[0]), MesonetError, "no station has the id"),
        (lambda of: of.explain(TORONTO, 5, WINDOW[0]), MesonetError, "has no reading of 5 at 2024-08-03T12:00:00Z"),
        (lambda of: pickle.dumps(of), TypeError, "cannot be pickled or copied: open '.*' again"),
        (lambda of: copy.copy(of), TypeError, "cannot be pickled or copied"),
        (lambda of: Record(b"data"), TypeError, "folder must be a path as text; got bytes"),
    ],
)
def test_what_is_refused(tmp_path, call, kind, message):
    with Record(filled(tmp_path, [20])) as record:
        with pytest.raises(kind, match=message) as error:
            call(record)
        if kind is MesonetError:
            assert isinstance(error.value, ValueError)
            assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_a_closed_record(tmp_path):
    record = Record(filled(tmp_path, [20]))
    bulk = record.bulk(TORONTO, *WINDOW)
    record.close()
    record.close()
    with pytest.raises(MesonetError, match="the record in .* is closed"):
        record.stations()
    # What was begun is finished.
    assert bulk.to_arrow().num_rows > 0
    assert repr(record) == f"<mesonet.Record '{tmp_path}' for reading>"
    with pytest.raises(MesonetError, match="there is no record here"):
        Record(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_damage_is_said(tmp_path):
    """A file that was cut short costs its readings, and each answer that lacks some says so."""
    filled(tmp_path)
    with Record(tmp_path, write=True) as record:
        record.seal()
    # That of the readings; the next one has the texts of their reports.
    segment, _ = sorted((tmp_path / "segments").iterdir())
    segment.write_bytes(segment.read_bytes()[:2000])
    with Record(tmp_path) as record:
        with pytest.warns(DamagedWarning, match="^1 damaged block holds, or may hold, readings that this answer lacks"):
            table = record.readings(*WINDOW)
        assert (table.damaged, table.to_arrow().num_rows) == (1, 0)
        with pytest.warns(DamagedWarning):
            assert record.series(TORONTO, "airTemperature", *WINDOW).damaged == 1
        with pytest.warns(DamagedWarning):
            assert record.bulk(TORONTO, *WINDOW).damaged == 1
        with pytest.warns(DamagedWarning):
            record.bulk(TORONTO, *WINDOW, parquet=tmp_path / "bulk.parquet")
        with pytest.warns(DamagedWarning):
            record.details(TORONTO, at=WINDOW[1])
        assert any(fault.startswith("segments/") for fault in record.health().faults)
        # What is not of the damaged file is whole.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert record.readings("2020-01-01T00:00Z", "2020-01-02T00:00Z").damaged == 0


def test_threads_share_a_record(tmp_path):
    """Two threads read, one writes: whole batches are seen, and nobody waits for the GIL."""
    writer = Record(tmp_path, write=True)
    reader = Record(tmp_path)
    faults, stop = [], threading.Event()

    def look(record):
        try:
            while not stop.is_set():
                rows = record.readings(*WINDOW, names=["airTemperature"]).to_arrow().num_rows
                assert rows in (0, 2), rows
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=look, args=[of]) for of in (reader, reader, writer)]
    for thread in threads:
        thread.start()
    for hour in range(12, 22):
        writer.ingest(bulletin(hour), received=RECEIVED, places=PLACES)
        writer.seal()
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert reader.health().stations == writer.health().stations == 2
    reader.close()
    writer.close()


@pytest.mark.skipif(sys.platform == "win32", reason="fork is of Unix")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_must_open_its_own(tmp_path):
    """It is told so, and when it ends, the folder of its parent stays open and whole."""
    record = Record(filled(tmp_path, [19]), write=True)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()

    def forked():
        try:
            record.stations()
        except MesonetError as error:
            answers.put(str(error))
        record.close()
        with Record(tmp_path) as own:
            answers.put(own.stations().to_arrow().num_rows)

    process = context.Process(target=forked)
    process.start()
    refused, count = answers.get(timeout=60), answers.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0 and count == 2
    assert f"was opened by process {os.getpid()}, which is not this one" in refused
    assert record.ingest(bulletin(20), received=RECEIVED, places=PLACES).added > 0
    record.close()
    with Record(tmp_path) as again:
        assert again.health().faults == ()


def test_an_export_needs_constant_memory(tmp_path):
    """Ten times the rows take about the memory of one: a batch at a time is read."""
    script = """
import resource, sys, mesonet
record = mesonet.Record(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = sum(len(batch) for batch in record.bulk(tuple(sys.argv[2:]), "1990-01-01T00:00Z", "2030-01-01T00:00Z").to_batches())
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    source = Path(__file__).parents[1] / "data" / "isd"
    with Record(tmp_path, write=True) as record:
        for path in sorted(source.iterdir()):
            if path.name.startswith("DS3505"):
                record.ingest(path)
        record.seal()
        stations = record.stations().to_arrow().select(["network", "native_id"]).to_pylist()
    answers = [run(sys.executable, "-c", script, str(tmp_path), *one.values()).split() for one in stations]
    most = max(tuple(map(int, answer)) for answer in answers)
    rows, grown_kb = most
    # 200,000 rows of 11 columns would be 14 MB of a table; the file is mapped.
    assert rows > 100_000 and grown_kb < 40_000, most


def test_the_frame_of_a_record_is_whole(tmp_path):
    """Values and texts go through Arrow unchanged."""
    with Record(filled(tmp_path)) as record:
        bulk = record.bulk(TORONTO, *WINDOW).to_polars()
        assert bulk["value"].dtype == pl.Float64 and np.isfinite(bulk["value"].to_numpy()).all()
        assert set(bulk["quality_base"].to_list()) <= {code.name for code in mesonet.BaseQuality}


def test_reports_are_given_as_they_came_in(tmp_path):
    bulletin = b"SACN31 CWAO 032000\nMETAR CYYZ 032000Z 24012KT\n  29/17 A2991=\n"
    station, span = ("METAR", "CYYZ"), ("2024-08-03T19:00Z", "2024-08-03T21:00Z")
    with Record(tmp_path, write=True) as record:
        record.ingest(bulletin, received="2024-08-03T20:01Z")
        (fresh,) = record.reports(station, *span)
        record.seal()
        assert record.reports(station, *span) == [fresh]
        assert record.reports(station, "2024-08-03T20:01Z", "2024-08-03T21:00Z") == []
        # The texts are counted apart from the readings.
        assert record.health().segments == 1
    assert (fresh.header, fresh.text) == ("SACN31 CWAO 032000", "METAR CYYZ 032000Z 24012KT 29/17 A2991")
    assert (fresh.timestamp.isoformat(), fresh.revision) == ("2024-08-03T20:00:00+00:00", 0)
    with Record(tmp_path) as record, pytest.raises(MesonetError, match="no station has the id"):
        record.reports(("METAR", "XXXX"), *span)


def test_readings_of_several_series_of_a_variable_are_a_frame(tmp_path):
    """Each text of a column is in its dictionary once: pandas refuses a category that is there twice."""
    csv = (
        b"raw_text,station_id,observation_time,latitude,longitude\n"
        b"CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n"
        b"CYTZ 032000Z 23010KT 15SM 28/18 A2990,CYTZ,2024-08-03T20:00:00Z,43.63,-79.39\n"
    )
    with mesonet.Record(tmp_path / "record", write=True) as record:
        record.ingest(csv)
        table = record.readings("2024-08-03T19:00Z", "2024-08-03T21:00Z")
        one = record.series(("METAR", "CYYZ"), "windSpeed", "2024-08-03T19:00Z", "2024-08-03T21:00Z")
    for of in (table, one):
        frame = of.to_pandas()
        assert len(frame) == len(of) > 0
        assert frame.observation_name.cat.categories.is_unique and frame.unit.cat.categories.is_unique
    assert set(table.to_pandas().station_id.astype(str)) == set(table.to_polars()["station_id"].cast(str).to_list())
