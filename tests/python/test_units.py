"""Conversion in Python: types, NumPy's call styles, and what is refused."""

import mesonet
import numpy as np
import pytest
from mesonet import MesonetError


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (7, np.float64),
        (7.0, np.float64),
        (np.float32(7), np.float32),
        ([7.0], np.float64),
        (np.array([7], np.int16), np.float64),
        (np.array([7], np.uint64), np.float64),
        (np.array([7], np.float32), np.float32),
        (np.array([7], ">f8"), np.float64),
        (np.zeros((2, 0, 3)), np.float64),
    ],
)
def test_the_width_of_values_is_kept(values, dtype):
    got = mesonet.convert(values, "kt", "km/h")
    assert got.dtype == dtype
    assert np.shape(got) == np.shape(values)
    assert np.all(got == dtype(12.964))


def test_out_and_where():
    values = np.array([7.0, 8.0, 9.0])
    got = mesonet.convert(values, "kt", "km/h", out=values, where=[True, False, True])
    assert got is values
    np.testing.assert_array_equal(values, [12.964, 8.0, 16.668])
    strided = np.zeros(6)[::2]
    mesonet.convert(np.ones(3), "in", "mm", out=strided)
    np.testing.assert_array_equal(strided, 25.4)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 1000])
def test_every_layout_gives_the_same_values(count):
    values = np.linspace(-5.0, 500.0, 2 * count)
    for given in (values, values[::2], values[::-1], values.reshape(2, count).T):
        wanted = [mesonet.convert(value, "kt", "km/h") for value in given.ravel()]
        got = mesonet.convert(given, "kt", "km/h")
        np.testing.assert_array_equal(got.ravel(), wanted)
        own = given.copy()
        np.testing.assert_array_equal(mesonet.convert(own, "kt", "km/h", out=own), got)


def test_pandas_series_keep_their_index():
    pandas = pytest.importorskip("pandas")
    speeds = pandas.Series([7.0, np.nan], index=["a", "b"], name="wind")
    wanted = pandas.Series([12.964, np.nan], index=["a", "b"], name="wind")
    pandas.testing.assert_series_equal(mesonet.convert(speeds, "kt", "km/h"), wanted)
    stored, unit = mesonet.to_canonical("windSpeed", speeds, "kt")
    pandas.testing.assert_series_equal(stored, wanted)
    assert unit == "km/h"


def test_nothing_warns():
    with np.errstate(all="raise"):
        mesonet.convert([np.nan, np.inf, -np.inf, 1e300, 5e-324], "°F", "K")
        mesonet.dew_point_c([np.nan, 0.0, 0.0, np.inf], [50.0, 0.0, -1.0, 1e300])
        mesonet.wind_at_10m([1.0, np.inf, 1e300], [0.0, -1.0, 1e-300], [0.03, 0.0, -1.0])
        mesonet.station_pressure_hpa([-1.0, 1e300, 1013.0], [0.0, 1e300, 1e9])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mesonet.convert(1.0, "C", "K"),
            '"C" is ambiguous; it may stand for °C (degree Celsius) or C (coulomb)',
        ),
        (
            lambda: mesonet.resolve_unit("kt", "SWOB"),
            '"SWOB" is not a vocabulary; allowed are swob, wmo, ucum, cf, metar, plain',
        ),
    ],
)
def test_bad_values_are_refused(call, message):
    with pytest.raises(MesonetError) as error:
        call()
    assert str(error.value) == message


def test_unknown_variables_are_refused():
    with pytest.raises(MesonetError, match='^"wind" is not a variable name; allowed are air'):
        mesonet.to_canonical("wind", 1.0, "kt")


@pytest.mark.parametrize("values", ["7", [1j], np.array(["now"], "M8[s]"), None])
def test_wrong_types_are_refused(values):
    with pytest.raises(TypeError):
        mesonet.convert(values, "kt", "km/h")
    with pytest.raises(TypeError):
        mesonet.dew_point_c(values, 50.0)
