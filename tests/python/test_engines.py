"""Each elementwise function on what data scientists hold: arrays of every kind, pandas, polars, xarray, dask."""

import pickle

import mesonet
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

# A function and columns of arguments within its range, three values each.
AIR = np.array([31.25, 24.5, 28.0])
DEW = np.array([17.5, 12.0, 21.25])
HUMIDITY = np.array([45.0, 70.0, 90.0])
CASES = {
    "dew_point_c": (AIR, HUMIDITY),
    "heat_index_c": (AIR, HUMIDITY),
    "heat_index_f": (AIR * 3, HUMIDITY),
    "humidex": (AIR, DEW),
    "mean_sea_level_pressure_hpa": (np.array([1000.0, 990.0, 1013.0]), np.array([10.0, 120.0, 0.0]), AIR),
    "relative_humidity_pct": (AIR, DEW),
    "rotate": (np.array([0.0, 0.6, 1.0]), np.array([1.0, 0.8, 0.0]), AIR, DEW),
    "station_pressure_hpa": (np.array([1013.25, 1000.0, 1020.5]), np.array([173.0, 0.0, 706.0])),
    "stull_wet_bulb_c": (AIR, HUMIDITY),
    "wet_bulb_c": (np.array([1000.0, 990.0, 1013.0]), AIR, DEW),
    "wind_at_10m": (np.array([18.0, 5.5, 36.0]), np.array([2.0, 10.0, 3.0]), np.array([0.25, 0.03, 0.5])),
    "wind_chill_c": (-AIR, np.array([20.0, 36.0, 10.0])),
    "wind_chill_f": (-AIR, np.array([20.0, 36.0, 10.0])),
    "decode": (np.array([100, -200, 300], np.int16), np.full(3, 0.5), np.zeros(3), np.full(3, -1, np.int16)),
    "encode": (AIR, np.full(3, 0.25), np.zeros(3), np.full(3, -1, np.int16)),
    "worse": (np.array([6, 3, 7], np.uint8), np.array([7, 6, 2], np.uint8)),
    "convert": (AIR,),
}


def function(name):
    if name == "convert":
        return lambda values, **more: mesonet.convert(values, "°C", "°F", **more)
    return getattr(mesonet, name)


def outputs(found):
    return found if isinstance(found, tuple) else (found,)


def same(found, wanted):
    for one, other in zip(outputs(found), outputs(wanted), strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.fixture(params=CASES)
def case(request):
    """A function, its columns and what it gives for them, element by element."""
    of, columns = function(request.param), CASES[request.param]
    rows = [outputs(of(*row)) for row in zip(*columns)]
    wanted = tuple(np.array(column) for column in zip(*rows))
    assert all(np.isfinite(column).all() for column in wanted)
    return of, columns, wanted if len(wanted) > 1 else wanted[0]


def test_every_elementwise_function_is_here():
    assert {name for name in mesonet.__all__ if isinstance(getattr(mesonet, name), (np.ufunc, mesonet.UnitFunction))} == CASES.keys() - {"convert"}


def test_arrays_broadcast(case):
    of, columns, wanted = case
    same(of(*columns), wanted)
    if len(columns) > 1:
        table = of(columns[0][:, None], *(column[None, :] for column in columns[1:]))
        for one, other in zip(outputs(table), outputs(wanted)):
            assert one.shape == (3, 3)
            np.testing.assert_array_equal(np.diagonal(one), other)


def test_out_and_where(case):
    of, columns, wanted = case
    rooms = tuple(np.zeros_like(column) for column in outputs(wanted))
    which = np.array([True, False, True])
    got = of(*columns, out=rooms if len(rooms) > 1 else rooms[0], where=which)
    for room, one, other in zip(rooms, outputs(got), outputs(wanted)):
        assert one is room
        np.testing.assert_array_equal(room, np.where(which, other, 0))


def test_strides_and_byte_order(case):
    of, columns, wanted = case
    spread = [np.repeat(column, 2)[::2] for column in columns]
    assert not spread[0].flags.contiguous
    same(of(*spread), wanted)
    same(of(*(column[::-1] for column in columns)), tuple(one[::-1] for one in outputs(wanted)))
    swapped = [column.astype(column.dtype.newbyteorder()) for column in columns]
    same(of(*swapped), wanted)


def test_single_precision(case):
    """f32 goes in exactly; a conversion of units stays f32, and the formulas give f64."""
    of, columns, _ = case
    narrow = [column.astype(np.float32) if column.dtype == np.float64 else column for column in columns]
    wide = [column.astype(np.float64) if column.dtype == np.float32 else column for column in narrow]
    found, wanted = outputs(of(*narrow)), outputs(of(*wide))
    for one, other in zip(found, wanted):
        if len(columns) == 1:
            assert one.dtype == np.float32
            np.testing.assert_array_equal(one, other.astype(np.float32))
        else:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_masked_arrays_stay_masked(case):
    of, columns, wanted = case
    mask = np.array([False, True, False])
    found = of(np.ma.array(columns[0], mask=mask), *columns[1:])
    for one, other in zip(outputs(found), outputs(wanted)):
        assert isinstance(one, np.ma.MaskedArray) and one.mask.tolist() == mask.tolist()
        np.testing.assert_array_equal(one.compressed(), other[~mask])


def test_pandas_series_keep_their_index(case):
    of, columns, wanted = case
    index = pd.Index(["a", "b", "c"], name="place")
    found = of(*(pd.Series(column, index) for column in columns))
    for one in outputs(found):
        assert isinstance(one, pd.Series) and one.index.equals(index)
    same(found, wanted)


def of_polars(of, series):
    """Polars passes its series on to ufuncs whose one result is of the type of their first argument."""
    if of is mesonet.encode or of is mesonet.rotate:
        with pytest.raises((TypeError, NotImplementedError)):
            of(*series)
        found = of(*(one.to_numpy() for one in series))
        return found if isinstance(found, tuple) else pl.Series(found)
    return of(*series)


def test_polars_series(case):
    of, columns, wanted = case
    found = of_polars(of, [pl.Series(column) for column in columns])
    assert all(isinstance(one, pl.Series) for one in outputs(found)) or isinstance(wanted, tuple)
    same(found, wanted)


def test_polars_nulls_stay_null():
    air = pl.Series("air", [31.25, None, 28.0])
    assert mesonet.convert(air, "°C", "°F").to_list() == [88.25, None, 82.4]
    assert mesonet.convert(air, "°C", "°F").name == "air"
    assert mesonet.humidex(air, pl.Series(DEW)).to_list()[1] is None


def test_polars_expressions(case):
    of, columns, wanted = case
    if isinstance(wanted, tuple):
        frame = pl.DataFrame(dict(zip("abcd", columns)))
        both = pl.struct("a", "b", "c", "d").map_batches(
            lambda rows: pl.DataFrame(dict(zip("uv", of(*rows.struct.unnest().to_numpy().T)))).to_struct(),
            return_dtype=pl.Struct({"u": pl.Float64, "v": pl.Float64}),
        )
        found = frame.lazy().select(both.alias("wind")).collect()["wind"].struct.unnest()
        same((found["u"], found["v"]), wanted)
        return
    frame = pl.DataFrame({f"c{place}": column for place, column in enumerate(columns)})
    kind = pl.Series(wanted).dtype
    expression = pl.map_batches([pl.col(name) for name in frame.columns], lambda of_batch: of_polars(of, of_batch), return_dtype=kind)
    found = frame.lazy().select(expression.alias("found")).collect()["found"]
    assert found.dtype == kind
    same(found, wanted)


def test_xarray_with_dask_is_lazy(case):
    of, columns, wanted = case
    many = len(outputs(wanted))
    arrays = [xr.DataArray(column, dims="x", attrs={"kept": 1}) for column in columns]
    same(xr.apply_ufunc(of, *arrays, output_core_dims=[()] * many), wanted)
    calls = []

    def counted(*block):
        calls.append(len(block[0]))
        return of(*block)

    lazy = xr.apply_ufunc(
        counted,
        *(array.chunk(x=2) for array in arrays),
        dask="parallelized",
        output_core_dims=[()] * many,
        output_dtypes=[column.dtype for column in outputs(wanted)],
    )
    assert calls == [] or max(calls) <= 1, "dask looks at the result of an empty or single call only"
    calls.clear()
    assert all(one.chunks == ((2, 1),) for one in outputs(lazy))
    same(tuple(one.compute() for one in outputs(lazy)), wanted if many > 1 else (wanted,))
    assert sorted(set(calls)) == [1, 2]


def test_dask_arrays_stay_lazy(case):
    import dask.array as da

    of, columns, wanted = case
    if isinstance(wanted, tuple):
        # Dask passes no ufunc on that has two results.
        blocks = [da.from_array(column, chunks=2) for column in columns]
        both = da.map_blocks(lambda *block: np.stack(of(*block)), *blocks, new_axis=0, chunks=(2, (2, 1)), dtype="f8")
        same(tuple(both.compute()), wanted)
        return
    # What a packing is made of are numbers: dask tries functions on arrays of any content.
    packing = of is mesonet.decode or of is mesonet.encode
    others = [column[0] if packing else da.from_array(column, chunks=2) for column in columns[1:]]
    found = of(da.from_array(columns[0], chunks=2), *others)
    assert isinstance(found, da.Array) and found.chunks == ((2, 1),)
    same(found.compute(), wanted)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"convert"}))
def test_pickling(name):
    of = getattr(mesonet, name)
    assert pickle.loads(pickle.dumps(of)) is of


def test_a_missing_value_stays_missing():
    for name, columns in CASES.items():
        if columns[0].dtype != np.float64 or name == "encode":
            continue
        found = function(name)(np.full(3, np.nan), *columns[1:])
        assert all(np.isnan(one).all() or name == "rotate" for one in outputs(found)), name


def buffer_of(array):
    return array.__array_interface__["data"][0]


def test_tables_go_out_without_a_copy():
    """What Arrow holds is what pyarrow, polars and NumPy look at."""
    text = b"METAR KBUF 312354Z 21014KT P10SM 02/M07 A2973=\n"
    feed = mesonet.read_feed(text, received="2020-01-01T00:00Z")
    import pyarrow as pa

    one, other = pa.table(feed), pa.table(feed)
    for name in ("value", "timestamp", "interval_minutes"):
        first, second = one[name].chunk(0), other[name].chunk(0)
        assert first.buffers()[1].address == second.buffers()[1].address
    values = one["value"].chunk(0).to_numpy(zero_copy_only=True)
    assert buffer_of(values) == one["value"].chunk(0).buffers()[1].address
    assert buffer_of(feed.to_polars()["value"].to_numpy(allow_copy=False)) == buffer_of(values)


def test_columns_go_in_without_a_copy():
    """Contiguous columns of the core's types are read where they are; others are converted."""
    from mesonet import _columns

    times = np.arange(5) * 60_000
    values = np.arange(5.0)
    assert buffer_of(_columns.milliseconds(times)) == buffer_of(times)
    assert buffer_of(_columns.milliseconds(times.view("M8[ms]"))) == buffer_of(times)
    assert buffer_of(_columns.numbers(values)) == buffer_of(values)
    assert buffer_of(_columns.numbers(pl.Series(values).to_numpy(allow_copy=False))) != 0
    frame = pd.DataFrame({"value": values}, copy=False)
    assert buffer_of(_columns.numbers(frame["value"])) == buffer_of(frame["value"].to_numpy())
    assert buffer_of(_columns.numbers(values[::2])) != buffer_of(values)
    assert buffer_of(_columns.milliseconds(times.view("M8[ms]").astype("M8[s]"))) != buffer_of(times)
