"""Series of a table on a time grid: every kind of table and column, and what is refused."""

import datetime
import pickle

import mesonet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mesonet import Caps, MesonetError

START = np.datetime64("2024-08-03T20:00", "ms")
WINDOW = {"start": START, "end": START + np.timedelta64(2, "D"), "step": 17}
NAMES = {"key": "station", "time": "at", "value": "v"}


def frame(stations=5, readings=300, seed=3):
    """Series of several lengths, one after the other, as a polars frame."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, readings, stations)
    at = [np.sort(rng.choice(3 * 86_400_000, count, replace=False)) for count in counts]
    return pl.DataFrame(
        {
            "station": np.repeat([f"S{(7 * which) % stations}" for which in range(stations)], counts),
            "at": START + np.concatenate(at).astype("m8[ms]"),
            "v": rng.normal(15, 8, counts.sum()),
        }
    )


def plain(table):
    """Columns of any table as lists, with texts for categories."""
    return pl.DataFrame(pa.table(table)).with_columns(pl.col(pl.Categorical).cast(pl.String)).to_dict(as_series=False)


def test_each_series_is_as_one_alone():
    table = frame()
    most = np.timedelta64(40, "m")
    grid = mesonet.resample_table(table, **NAMES, **WINDOW, max_age=most)
    assert grid.columns == ["station", "at", "v", "age", "row"]
    first = 0
    for (station,), rows in table.group_by("station", maintain_order=True):
        alone = mesonet.resample(rows["at"].to_numpy(), rows["v"].to_numpy(), **WINDOW, max_age=most)
        of = grid.filter(pl.col("station") == station)
        there = alone.reading >= 0
        np.testing.assert_array_equal(of["at"].to_numpy(), alone.times)
        np.testing.assert_array_equal(of["v"].fill_null(np.nan).to_numpy(), alone.values)
        assert of["row"].to_list() == [int(row) + first if row >= 0 else None for row in alone.reading]
        assert of["age"].drop_nulls().to_numpy().tolist() == alone.age[there].tolist()
        assert of["v"].null_count() == (~there).sum() > 0
        first += rows.height
    assert grid["station"].unique(maintain_order=True).to_list() == table["station"].unique(maintain_order=True).to_list()


def test_polars_finds_the_same_readings():
    table = frame(stations=20)
    grid = mesonet.resample_table(table, **NAMES, **WINDOW)
    left = grid.select("station", pl.col("at").cast(pl.Datetime("ms"))).sort("at")
    joined = left.join_asof(table.sort("at"), on="at", by="station").sort("station", "at")
    assert joined["v"].equals(grid.sort("station", "at")["v"])


def test_a_table_of_every_library_comes_back_as_it_was():
    table = frame()
    wanted = plain(mesonet.resample_table(table, **NAMES, **WINDOW))
    arrow = table.to_arrow()
    given = {
        pl.DataFrame: table,
        pa.Table: arrow,
        pd.DataFrame: table.to_pandas(),
        mesonet.Table: Stream(arrow),
    }
    for kind, one in given.items():
        made = mesonet.resample_table(one, **NAMES, **WINDOW)
        assert type(made) is kind
        assert plain(made) == wanted
    [batch] = arrow.combine_chunks().to_batches()
    assert type(mesonet.resample_table(batch, **NAMES, **WINDOW)) is pa.Table


class Stream:
    """Nothing but Arrow's interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_columns_of_every_type():
    table = frame().with_columns(pl.col("v").round())
    arrow = table.to_arrow()
    wanted = plain(mesonet.resample_table(arrow, **NAMES, **WINDOW))
    changes = {
        "at": [pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("ms"), pa.int64()],
        "station": [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string())],
        "v": [pa.float32(), pa.int8(), pa.int16(), pa.int32(), pa.int64()],
    }
    for name, types in changes.items():
        for of in types:
            place = arrow.column_names.index(name)
            changed = arrow.set_column(place, name, arrow[name].cast(of))
            made = mesonet.resample_table(changed, **NAMES, **WINDOW)
            if pa.types.is_int64(made["at"].type) or name == "at" and of == pa.int64():
                assert made.schema.field("at").type == pa.timestamp("us", "UTC")
                made = made.set_column(1, "at", made["at"].cast(pa.timestamp("us")))
            assert plain(made) == wanted, (name, of)
            if name == "station":
                assert made.schema.field("station").type == of
    number = {name: which for which, name in enumerate(dict.fromkeys(table["station"]))}
    for of in [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]:
        keys = pa.array([number[name] for name in table["station"]], of)
        made = mesonet.resample_table(arrow.set_column(0, "station", keys), **NAMES, **WINDOW)
        assert made["v"].to_pylist() == wanted["v"] and made.schema.field("station").type == of


def test_a_time_zone_stays():
    aware = frame().with_columns(pl.col("at").dt.replace_time_zone("UTC").dt.convert_time_zone("America/Toronto"))
    grid = mesonet.resample_table(aware, **NAMES, **WINDOW)
    assert grid.schema["at"] == pl.Datetime("us", "America/Toronto")
    naive = mesonet.resample_table(frame(), **NAMES, **WINDOW)
    assert grid["v"].equals(naive["v"])
    assert grid["at"].dt.convert_time_zone("UTC").dt.replace_time_zone(None).equals(naive["at"])


def test_rows_in_any_order():
    table = frame()
    wanted = plain(mesonet.resample_table(table, **NAMES, **WINDOW))
    mixed = table.with_row_index("original").sample(fraction=1, shuffle=True, seed=5)
    grid = mesonet.resample_table(mixed, **NAMES, **WINDOW, sort=True)
    original = mixed["original"].to_list()
    rows = [None if row is None else original[row] for row in grid["row"]]
    found = dict(zip(zip(grid["station"], grid["at"]), zip(grid["v"], rows, grid["age"])))
    expected = zip(zip(wanted["station"], wanted["at"]), zip(wanted["v"], wanted["row"], wanted["age"]))
    assert found == dict(expected)
    # Of rows of one time the last counts, sorted or not.
    same = pl.DataFrame({"station": [1, 1], "at": [0, 0], "v": [1.0, 2.0]})
    of = {**NAMES, "start": 0, "end": 60_000, "step": 1}
    for sort in [False, True]:
        assert mesonet.resample_table(same, **of, sort=sort)["v"].to_list() == [2.0, 2.0]


def test_several_keys_and_several_chunks():
    table = frame().with_columns(kind=pl.lit("air"))
    both = pl.concat([table, table.with_columns(kind=pl.lit("sea"), v=pl.col("v") + 1)], rechunk=False)
    assert both["v"].n_chunks() == 2
    grid = mesonet.resample_table(both, key=["kind", "station"], time="at", value="v", **WINDOW)
    assert grid.columns[:2] == ["kind", "station"]
    half = grid.height // 2
    assert (grid["v"][:half] + 1).equals(grid["v"][half:])


def test_columns_are_read_in_place():
    table = frame().to_arrow().combine_chunks()
    columns = mesonet._mesonet.TableColumns(table, ["station"], "at", "v", False)
    own = tuple(table[name].chunk(0).buffers()[1].address for name in ["at", "v"])
    assert columns.addresses() == own
    part = table.slice(10)
    columns = mesonet._mesonet.TableColumns(part, ["station"], "at", "v", False)
    assert columns.addresses() == tuple(address + 80 for address in own)
    frame_of_polars = frame()
    columns = mesonet._mesonet.TableColumns(frame_of_polars, ["station"], "at", "v", False)
    assert columns.addresses()[1] == frame_of_polars["v"].to_numpy(allow_copy=False).ctypes.data
    made = mesonet.resample_table(Stream(table), **NAMES, **WINDOW)
    twice = [pa.table(made)["v"].chunk(0).buffers()[1].address for _ in range(2)]
    assert twice[0] == twice[1]


def test_nulls_nans_and_no_rows():
    table = pl.DataFrame({"station": ["a"] * 3, "at": [0, 60_000, 120_000], "v": [1.0, None, 2.0]})
    of = {**NAMES, "start": 0, "end": 180_000, "step": 1}
    grid = mesonet.resample_table(table, **of)
    # A reading without a number is a reading.
    assert grid["row"].to_list() == [0, 1, 2, 2] and np.isnan(grid["v"][1])
    empty = mesonet.resample_table(table.clear(), **of)
    assert empty.height == 0 and empty.columns == grid.columns
    categories = pl.DataFrame({"station": pl.Series([], dtype=pl.Categorical), "at": [], "v": []}).cast({"at": pl.Int64, "v": pl.Float64})
    assert mesonet.resample_table(categories, **of).height == 0


def test_caps_make_the_step_coarser():
    table = frame(stations=4)
    grid = mesonet.resample_table(table, **NAMES, **{**WINDOW, "step": 1}, caps=Caps(cells=40))
    assert grid.height == 40


TABLE = pa.table({"k": ["a", "b", "a"], "t": [0, 1, 2], "v": [1.0, 2.0, 3.0], "age": [1, 2, 3], "o": [[1], [2], [3]]})
OF = {"key": "k", "time": "t", "value": "v", "start": 0, "end": 60_000, "step": 1}
FAR = pa.table({"k": ["a"], "t": pa.array([1 << 60], pa.timestamp("s")), "v": [1.0]})


def resample(table=TABLE, **changes):
    return mesonet.resample_table(table, **{**OF, **changes})


REFUSED = {
    "split": (resample, "row 2 has the key of row 0, and others are between them; sort=True takes"),
    "order": (
        lambda: resample(pa.table({"k": [1, 1], "t": [1, 0], "v": [1, 2]})),
        "reading 1 of series 0 is earlier than the one before; sort=True takes",
    ),
    "column": (lambda: resample(key="x"), "the table has no column x; it has k, t, v, age, o"),
    "twice": (lambda: resample(key=["k", "k"]), "must be different columns; got k twice"),
    "no key": (lambda: resample(key=[]), "key must name at least one column"),
    "name": (lambda: resample(value="age"), "no column may be named age"),
    "two columns": (lambda: resample(TABLE.append_column("k", TABLE["v"])), "several columns k"),
    "null key": (lambda: resample(pa.table({"k": ["a", None], "t": [0, 1], "v": [1, 2]})), "column k must have a value in each row; row 1 has none"),
    "null category": (
        lambda: resample(pa.table({"k": pa.array(["a", None]).dictionary_encode(), "t": [0, 1], "v": [1, 2]})),
        "column k must have a value in each row; row 1 has none",
    ),
    "NaT": (
        lambda: resample(pd.DataFrame({"k": [1], "t": [pd.NaT], "v": [1.0]})),
        "column t must have a value in each row; row 0 has none",
    ),
    "far": (lambda: resample(FAR), "the times of column t must fit 64-bit milliseconds"),
    "window": (lambda: resample(start=60_000, end=0, sort=True), "start must be before end"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_table_that_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(MesonetError) as error:
        call()
    assert message in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: resample({"k": [1]}), "__arrow_c_stream__.*got dict"),
        (lambda: resample(value="k"), "got k twice|must hold numbers; got Utf8"),
        (lambda: resample(key="o", value="v"), "column o must hold texts, categories or integers to be a key"),
        (lambda: resample(key="v", value="o"), "column (v|o) must hold"),
        (lambda: resample(time="v", value="o"), "column v must hold timestamps, or int64 milliseconds; got Float64"),
        (lambda: resample(pa.table({"k": [1], "t": [0], "v": [True]})), "column v must hold numbers; got Boolean"),
        (lambda: resample(pa.table({"k": [1], "t": pa.array([0], pa.date32()), "v": [1]})), "column t must hold timestamps"),
        (lambda: resample(key=[3]), "a column is named by a text; got int"),
        # A column of pandas with times of two zones is one of objects.
        (lambda: resample(mixed_zones()), "column t must hold timestamps|Could not convert|tz-aware"),
    ],
)
def test_a_type_that_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def mixed_zones():
    at = [pd.Timestamp("2024-08-03T20:00", tz=zone).isoformat() for zone in ["UTC", "America/Toronto"]]
    return pd.DataFrame({"k": [1, 1], "t": pd.Series(at, dtype=object), "v": [1.0, 2.0]})


def test_a_candidate_with_too_many_readings():
    # Its times take no memory: they are all the same eight bytes.
    endless = np.broadcast_to(np.int64(0), 1 << 32)
    with pytest.raises(MesonetError, match="4294967294 readings at most; candidate 1 has 4294967296"):
        mesonet.pick_series([[0], endless], 0, datetime.timedelta(hours=1) // datetime.timedelta(milliseconds=1), 60)


def test_tables_of_feeds_go_on_a_grid():
    text = b"METAR KBUF 312254Z 21014KT 03/M07 A2973=\nMETAR KBUF 312354Z 21014KT 02/M07 A2973=\n"
    feed = mesonet.read_feed(text, received="2020-01-01T00:00Z")
    grid = mesonet.resample_table(
        feed, key=["station", "observation_name", "interval_type"], time="timestamp", value="value",
        start="2019-12-31T22:00Z", end="2020-01-01T00:00Z", step=60, sort=True,
    )
    assert type(grid) is mesonet.Table
    air = grid.to_polars().filter(pl.col("observation_name") == "airTemperature")
    assert air["value"].to_list() == [None, 3.0, 2.0]
