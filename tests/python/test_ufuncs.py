"""What the ufuncs promise beyond their values: NumPy's call styles, and what is refused."""

import pickle
import sys
import threading

import mesonet
import numpy as np
import pytest
from mesonet import BaseQuality, MesonetError

KELVIN = (0.01, 273.15, -32768)


# Those that know their units hand what does not say one to a ufunc.
UFUNC = (np.ufunc, mesonet.UnitFunction)
UFUNCS = [name for name in mesonet.__all__ if isinstance(getattr(mesonet, name), UFUNC)]


@pytest.mark.parametrize("name", UFUNCS)
def test_they_are_ufuncs_and_pickle_by_name(name):
    function = getattr(mesonet, name)
    assert isinstance(function, UFUNC) and function.nin > 0
    assert pickle.loads(pickle.dumps(function)) is function


def test_scalars_give_scalars():
    assert mesonet.decode(np.int16(-1000), *KELVIN) == 263.15
    assert mesonet.decode(-1000, *KELVIN) == 263.15
    assert np.isnan(mesonet.decode(-32768, *KELVIN))
    assert mesonet.encode(263.15, *KELVIN) == -1000
    assert isinstance(mesonet.decode(-1000, *KELVIN), np.float64)


def test_every_layout_gives_the_same_values():
    raw = np.arange(-300, 300, dtype=np.int16).reshape(20, 30)
    wanted = raw * 0.01 + 273.15
    for layout in (
        raw,
        raw.T,
        raw[::-1, ::2],
        raw[:, 3:4],
        raw.astype(">i2"),
        np.asfortranarray(raw),
        raw[:0],
    ):
        expected = layout * 0.01 + 273.15
        np.testing.assert_array_equal(mesonet.decode(layout, *KELVIN), expected)
    unaligned = np.frombuffer(b"\0" + raw.tobytes(), np.uint8)[1:].view(np.int16)
    np.testing.assert_array_equal(mesonet.decode(unaligned, *KELVIN), wanted.ravel())


def test_parameters_broadcast():
    raw = np.array([[1, 2], [3, -1]], np.int16)
    per_level = mesonet.decode(raw, [[1.0], [10.0]], [[0.0], [5.0]], np.int16(-1))
    np.testing.assert_array_equal(per_level, [[1.0, 2.0], [35.0, np.nan]])
    u, v = mesonet.rotate([[0.0], [1.0]], [[1.0], [0.0]], [3.0, 4.0], [10.0, 20.0])
    np.testing.assert_array_equal(u, [[10.0, 20.0], [3.0, 4.0]])
    np.testing.assert_array_equal(v, [[-3.0, -4.0], [10.0, 20.0]])


def test_out_and_where():
    raw = np.array([1, 2, 3, 4], np.int16)
    out = np.zeros(4)
    got = mesonet.decode(raw, 1.0, 0.5, 0, out=out, where=raw % 2 == 0)
    assert got is out
    np.testing.assert_array_equal(out, [0.0, 2.5, 0.0, 4.5])


def test_out_may_be_an_input():
    u, v = np.array([0.0, 5.0]), np.array([10.0, 0.0])
    mesonet.rotate(0.0, 1.0, u, v, out=(u, v))
    np.testing.assert_array_equal((u, v), ([10.0, 0.0], [0.0, -5.0]))
    mesonet.rotate(0.0, 1.0, u, v, out=(v, u))
    np.testing.assert_array_equal((v, u), ([0.0, -5.0], [-10.0, 0.0]))


def test_out_may_share_memory_with_an_input():
    room = np.zeros(4)
    for start in range(5):
        raw = room.view(np.int16)[start : start + 4]
        raw[:] = [1, 2, 3, 4]
        mesonet.decode(raw, 0.5, 0.0, -1, out=room)
        np.testing.assert_array_equal(room, [0.5, 1.0, 1.5, 2.0])


def test_pandas_series_keep_their_index():
    pandas = pytest.importorskip("pandas")
    raw = pandas.Series([1, 2, -1], index=["a", "b", "c"], dtype="int16", name="t")
    values = mesonet.decode(raw, 0.5, 1.0, -1)
    pandas.testing.assert_series_equal(
        values, pandas.Series([1.5, 2.0, np.nan], index=["a", "b", "c"], name="t")
    )
    assert mesonet.worst(pandas.Series(["Good", "Error"])) is BaseQuality.Error


def test_worse_reduces_along_axes():
    codes = np.array([[6, 3, 7], [7, 6, 6]], np.uint8)
    assert mesonet.worse.reduce(codes, axis=None) == BaseQuality.Doubtful
    assert mesonet.worse.reduce(codes, axis=0).tolist() == [6, 3, 6]
    assert mesonet.worse.accumulate(codes, axis=1).tolist() == [[6, 3, 3], [7, 6, 6]]
    assert mesonet.worse(codes, BaseQuality.Good).tolist() == [[6, 3, 6], [6, 6, 6]]
    assert mesonet.worse.reduceat(codes[0], [0, 2]).tolist() == [3, 7]
    with pytest.raises(ValueError, match="no identity"):
        mesonet.worse.reduce(np.array([], np.uint8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mesonet.decode([1], 0.0, 0.0, 0), "scale must be finite and not 0; got 0"),
        (lambda: mesonet.decode([1], [np.nan], 0.0, 0), "scale must be finite and not 0; got NaN"),
        (lambda: mesonet.encode([1.0], 1.0, np.inf, 0), "offset must be finite; got inf"),
        (
            lambda: mesonet.decode([1], 1.0, 0.0, 70000),
            "nodata must be an integer from -32768 to 32767; got 70000",
        ),
        (
            lambda: mesonet.decode(np.array([1, -32769]), 1.0, 0.0, 0),
            "raw must be an integer from -32768 to 32767; got -32769",
        ),
        (
            lambda: mesonet.decode_bytes(b"ab", 1.0, 0.0, 70000),
            "nodata must be an integer from -32768 to 32767; got 70000",
        ),
        (
            lambda: mesonet.worse(np.array([6, 9], np.uint8), np.uint8(6)),
            "9 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)",
        ),
        (
            lambda: mesonet.worse(-1, 6),
            "-1 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)",
        ),
    ],
)
def test_bad_values_are_refused(call, message):
    with pytest.raises(MesonetError) as error:
        call()
    assert str(error.value) == message
    assert isinstance(error.value, ValueError)
    copy = pickle.loads(pickle.dumps(error.value))
    assert (type(copy), str(copy)) == (MesonetError, message)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mesonet.decode(np.array([1.0]), *KELVIN),
        lambda: mesonet.decode(np.array([1], np.uint64), *KELVIN),
        lambda: mesonet.decode("1", *KELVIN),
        lambda: mesonet.decode([1], 0.01, 273.15, -32768.0),
        lambda: mesonet.encode(np.array([1j]), *KELVIN),
        lambda: mesonet.worse(6.0, 3),
        lambda: mesonet.rotate("0", 1.0, 1.0, 1.0),
        lambda: mesonet.decode_bytes("ab", *KELVIN),
        lambda: mesonet.decode_bytes(np.array([1, 2], np.int16), *KELVIN),
        lambda: mesonet.decode_bytes(b"ab", "0.01", 273.15, 0),
    ],
)
def test_wrong_types_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_bytes_of_every_kind():
    tile = b"\x01\0\x02\0\xff\xff"
    every_other = memoryview(bytes(byte for byte in tile for _ in range(2)))[::2]
    for data in (tile, bytearray(tile), memoryview(tile), every_other, np.frombuffer(tile, "u1")):
        values = mesonet.decode_bytes(data, 0.5, 0.0, -1)
        np.testing.assert_array_equal(values, [0.5, 1.0, np.nan])


def test_missing_values_raise_no_warning():
    with np.errstate(all="raise"):
        mesonet.encode([np.nan, np.inf, -np.inf, 1e300], 1.0, 0.0, -32768)
        mesonet.rotate(1.0, 0.0, np.nan, 1.0)


def test_threads_get_their_own_results():
    tiles = [np.full(200_000, at, np.int16) for at in range(8)]
    sums = [0.0] * len(tiles)

    def run(at):
        sums[at] = float(mesonet.decode(tiles[at], 0.5, 0.0, -1).sum())

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(tiles))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [at * 100_000.0 for at in range(8)]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (mesonet.decode, lambda: (np.zeros(20_000_000, np.int16), *KELVIN)),
        (mesonet.decode_bytes, lambda: (bytes(40_000_000), *KELVIN)),
        (mesonet.worst, lambda: (np.full(100_000_000, BaseQuality.Good, np.uint8),)),
        (mesonet.worse.reduce, lambda: (np.broadcast_to(np.uint8(6), 50_000_000),)),
    ],
    ids=["decode", "decode_bytes", "worst", "worse.reduce"],
)
def test_a_long_call_lets_other_threads_run(function, arguments):
    arguments = arguments()
    started, finished = threading.Event(), threading.Event()

    def run():
        started.set()
        function(*arguments)
        finished.set()

    thread = threading.Thread(target=run)
    # Threads are no longer forced to yield, so this one runs only while the other releases the GIL.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        started.wait()
        assert not finished.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()
