"""What results say of themselves: never what their inputs said."""

import pickle

import mesonet
import mesonet.xarray  # registers the accessor
import numpy as np
import pandas as pd
import pint
import pytest
import xarray as xr
from mesonet import MesonetError

CELSIUS, PERCENT, HPA, METRE = ("°C", "degF", 20.0), ("%", "1", 50.0), ("hPa", "Pa", 1000.0), ("m", "ft", 300.0)
KMH, MPH, FAHRENHEIT = ("km/h", "kt", 30.0), ("mph", "m/s", 20.0), ("°F", "K", 80.0)

# Each function: what it takes (its unit, another one, a value in its own), and what its result says.
FUNCTIONS = {
    "dew_point_c": ([CELSIUS, PERCENT], {"units": "°C", "standard_name": "dew_point_temperature"}),
    "heat_index_c": ([("°C", "K", 35.0), PERCENT], {"units": "°C"}),
    "heat_index_f": ([("°F", "°C", 96.0), PERCENT], {"units": "°F"}),
    "humidex": ([("°C", "K", 30.0), ("°C", "°F", 15.0)], {"units": "1"}),
    "mean_sea_level_pressure_hpa": (
        [HPA, METRE, CELSIUS], {"units": "hPa", "standard_name": "air_pressure_at_mean_sea_level"}
    ),
    "relative_humidity_pct": ([CELSIUS, ("°C", "K", 10.0)], {"units": "%", "standard_name": "relative_humidity"}),
    "station_pressure_hpa": ([HPA, METRE], {"units": "hPa", "standard_name": "surface_air_pressure"}),
    "stull_wet_bulb_c": ([CELSIUS, PERCENT], {"units": "°C", "standard_name": "wet_bulb_temperature"}),
    "wet_bulb_c": ([HPA, CELSIUS, ("°C", "K", 10.0)], {"units": "°C", "standard_name": "wet_bulb_temperature"}),
    "wind_chill_c": ([("°C", "K", -10.0), KMH], {"units": "°C"}),
    "wind_chill_f": ([("°F", "°C", 10.0), MPH], {"units": "°F"}),
}  # fmt: skip
SAID = {
    "standard_name": "air_temperature", "long_name": "what it is", "cell_methods": "time: mean",
    "valid_min": -80.0, "valid_range": [-80.0, 60.0], "packing_error": 0.1, "comment": "theirs",
}  # fmt: skip


def pair(value):
    return value if np.ndim(value) else np.array([value, value + 1])


def array(unit, value):
    made = xr.DataArray(pair(value), dims="t", coords={"t": ("t", [0, 1], {"long_name": "time"})}, name="mine")
    made.attrs = {**SAID, "units": unit}
    made.encoding = {"scale_factor": 0.1, "add_offset": 3.0}
    return made


def series(unit, value):
    made = pd.Series(pair(value), name="mine")
    made.attrs = {**SAID, "units": unit}
    return made


def test_every_function_of_the_derived_values_is_here():
    derived = {name for name in mesonet.derived.__all__ if isinstance(getattr(mesonet, name), mesonet.UnitFunction)}
    assert derived == {*FUNCTIONS, "wind_at_10m"}


@pytest.mark.parametrize("make", [array, series])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_say_their_own_unit_and_nothing_of_their_inputs(name, make):
    function, (takes, says) = getattr(mesonet, name), FUNCTIONS[name]
    plain = function(*[np.array([value, value + 1]) for _, _, value in takes])
    given = function(*[make(unit, value) for unit, _, value in takes])
    np.testing.assert_array_equal(np.asarray(given), plain)
    assert (given.attrs, given.name) == (says, None)
    # Units that differ are converted, those that do not fit are refused.
    others = [make(other, mesonet.convert(pair(value), unit, other)) for unit, other, value in takes]
    converted = function(*others)
    np.testing.assert_allclose(np.asarray(converted), plain, rtol=1e-9)
    assert converted.attrs == says
    for wrong in ("zzz", "kg"):
        with pytest.raises(MesonetError, match=name):
            function(make(wrong, 1.0), *[value for _, _, value in takes[1:]])
    if make is array:
        assert given.t.attrs == {"long_name": "time"} and given.encoding == {}
        with xr.set_options(keep_attrs=True):
            assert function(*[make(unit, value) for unit, _, value in takes]).attrs == says
    # Without a unit it is taken to be in that of the name.
    bare = [make("", value) for _, _, value in takes]
    for of in bare:
        del of.attrs["units"]
    np.testing.assert_array_equal(np.asarray(function(*bare)), plain)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_quantities_of_pint_have_their_unit(name):
    registry = pint.UnitRegistry()
    function, (takes, says) = getattr(mesonet, name), FUNCTIONS[name]
    known = {"°C": "degC", "°F": "degF", "%": "percent", "1": ""}
    plain = function(*[value for _, _, value in takes])
    given = function(*[registry.Quantity(value, known.get(unit, unit)) for unit, _, value in takes])
    assert given.magnitude == plain and given.units == registry.Unit(known.get(says["units"], says["units"]))
    with pytest.raises(pint.DimensionalityError):
        function(registry.Quantity(1.0, "kg"), *[value for _, _, value in takes[1:]])


def test_winds_keep_their_unit_and_get_their_names():
    wind = mesonet.wind_at_10m(array("kt", 10.0), array("ft", 9.84), 0.03)
    assert wind.attrs == {"units": "kt", "standard_name": "wind_speed"}
    np.testing.assert_allclose(wind, mesonet.wind_at_10m(np.array([10.0, 11.0]), np.array([9.84, 10.84]) * 0.3048, 0.03))
    u, v = mesonet.rotate(array("m/s", 1.0), array("m/s", 0.0), 1.0, 0.0)
    assert u.attrs == {"units": "m/s", "standard_name": "eastward_wind"}
    assert v.attrs == {"units": "m/s", "standard_name": "northward_wind"} and (u.name, v.name) == (None, None)


@pytest.mark.parametrize("make", [array, series])
def test_converted_values_say_the_new_unit(make):
    given = mesonet.convert(make("degC", 20.0), "°C", "K")
    np.testing.assert_allclose(np.asarray(given), [293.15, 294.15])
    kept = {name: SAID[name] for name in ("standard_name", "long_name", "cell_methods", "comment")}
    assert (given.attrs, given.name) == ({**kept, "units": "K"}, "mine")
    with pytest.raises(MesonetError, match='their unit is "degC"; got °F'):
        mesonet.convert(make("degC", 20.0), "°F", "K")
    if make is array:
        assert given.encoding == {}
        both = xr.Dataset({"one": make("degC", 20.0)}, attrs={"title": "mine"})
        converted = mesonet.convert(both, "°C", "K")
        assert (converted.one.attrs, converted.attrs) == (given.attrs, {"title": "mine"})
        assert "valid_min" not in make("degC", 20.0).mesonet.to_units("K").attrs


def test_a_quantity_is_not_converted_behind_its_back():
    with pytest.raises(TypeError, match="a quantity of pint knows its unit"):
        mesonet.convert(pint.UnitRegistry().Quantity(1.0, "degC"), "°C", "K")


def test_they_are_still_ufuncs():
    function = mesonet.dew_point_c
    assert (function.nin, function.nout, repr(function)) == (2, 1, "<ufunc 'dew_point_c'>")
    assert pickle.loads(pickle.dumps(function)) is function
    out = np.empty(1)
    assert function(np.array([20.0]), 50.0, out=out) is out
    assert function.outer([20.0, 21.0], [50.0]).shape == (2, 1)
