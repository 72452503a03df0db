"""The accessors of xarray and pandas, on a run of the server and on real readings."""

import doctest
from pathlib import Path

import mesonet
import mesonet.pandas
import mesonet.xarray
import numpy as np
import pandas
import pytest
import xarray

METAR = Path(__file__).parent.parent / "data" / "metar" / "liveairdata_metars_20240803T2119Z.csv.gz"
PLACES = {"lat": [43.7, 43.7, 30.3], "lon": [-125.8, -79.4, -97.7]}


@pytest.mark.parametrize("module", [mesonet.xarray, mesonet.pandas])
def test_the_examples(module):
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 10) == (0, True)


@pytest.fixture(scope="module")
def run(server):
    """NAM on its own grid, as xarray opens it: lazily, on dask."""
    folder = server.data / "models" / "nam211" / "20180917T000000Z"
    return xarray.open_zarr(folder, consolidated=False, decode_coords="all", chunks={})


@pytest.fixture(scope="module")
def client(server):
    with mesonet.Client(server.origin) as client:
        yield client


def test_places_and_winds_are_those_of_the_service(run, client):
    turned = run.mesonet.rotate_winds()
    assert turned.u_wind.chunks is not None, "it is lazy"
    assert turned.u_wind.attrs["standard_name"] == "eastward_wind"
    assert turned.v_wind_10m.attrs["standard_name"] == "northward_wind"
    assert turned.mesonet.rotate_winds() is turned, "winds are turned once"
    cells = turned.mesonet.sel_place(**PLACES)
    assert cells.sizes["place"] == 3
    for place, (lat, lon) in enumerate(zip(*PLACES.values(), strict=True)):
        point = client.point("nam211", ["temperature", "u_wind", "v_wind_10m"], lat=lat, lon=lon)
        cell = cells.isel(place=place, valid_time=0)
        assert (float(cell.lat), float(cell.lon)) == (point.json["lat"], point.json["lon"])
        np.testing.assert_allclose(cell.temperature, point["temperature"], atol=1e-9)
        # The service gives two more decimals than the packing has.
        np.testing.assert_allclose(cell.u_wind, point["u_wind"], atol=5.1e-5)
        np.testing.assert_allclose(cell.v_wind_10m, point["v_wind_10m"], atol=5.1e-5)
        alone = run.temperature_2m.mesonet.sel_place(lat, lon, grid=client.grid("nam211"))
        assert alone.name == "temperature_2m" and alone.dims == ("valid_time",)
        assert float(alone[0]) == float(run.mesonet.sel_place(lat, lon).temperature_2m[0])
    with pytest.raises(mesonet.MesonetError, match="is not on the grid"):
        run.mesonet.sel_place(lat=0, lon=0)


def test_units_are_those_of_convert_lazily_too(run):
    warm = run.mesonet.to_units(temperature_2m="degC", wind_gust="km/h", pressure_msl="hPa")
    assert warm.temperature_2m.chunks is not None
    np.testing.assert_array_equal(
        warm.temperature_2m.values, mesonet.convert(run.temperature_2m.values, "K", "°C")
    )
    np.testing.assert_array_equal(
        warm.wind_gust.values, mesonet.convert(run.wind_gust.values, "m/s", "km/h")
    )
    assert warm.temperature_2m.attrs["units"] == "°C"
    assert warm.temperature_2m.attrs["packing_error"] == pytest.approx(0.005)
    assert warm.pressure_msl.attrs["packing_error"] == pytest.approx(
        run.pressure_msl.attrs["packing_error"] / 100
    )
    single = run.temperature_2m.astype(np.float32).mesonet.to_units("°C")
    assert single.dtype == single.compute().dtype == np.float32
    for name, unit, said in [
        ("temperature_2m", "furlong", "temperature_2m: "),
        ("temperature_2m", "hPa", "temperature_2m: .* measures temperature"),
        ("gust", "K", "no variable 'gust'"),
    ]:
        with pytest.raises(mesonet.MesonetError, match=said):
            run.mesonet.to_units({name: unit})


def test_components_without_a_counterpart_are_refused(run, client):
    with pytest.raises(mesonet.MesonetError, match="v_wind has no counterpart"):
        run.drop_vars(["u_wind"]).mesonet.rotate_winds()
    with pytest.raises(mesonet.MesonetError, match="u_wind has no counterpart"):
        run.drop_vars(["v_wind"]).mesonet.rotate_winds()
    with pytest.raises(mesonet.MesonetError, match="no variable 'a'"):
        run.mesonet.rotate_winds([("a", "b")])
    with pytest.raises(mesonet.MesonetError, match="the grid has 140 rows of 210; the data has 65 of 93"):
        run.mesonet.rotate_winds(grid=client.grid("safrica"))
    with pytest.raises(mesonet.MesonetError, match="u_wind has the dimensions"):
        run.mesonet.rotate_winds([("u_wind", "v_wind_10m")])


def test_a_tile_is_selected_by_its_coordinates(client):
    tile = client.tile("nam211", "temperature_2m", 3, 2, 3).to_xarray()
    at = tile.mesonet.sel_place(lat=30.0, lon=-80.0)
    assert at == tile.sel(lat=30.0, lon=-80.0, method="nearest")
    around = tile.assign_coords(lon=tile.lon % 360).mesonet.sel_place(lat=30.0, lon=-80.0)
    assert float(around) == float(at)
    with pytest.raises(mesonet.MesonetError, match="longitude 10.0 is not on the grid"):
        tile.mesonet.sel_place(lat=30.0, lon=10.0)


def test_frames_of_every_source_have_quality(client):
    readings = client.readings().to_pandas()
    feed = mesonet.read_feed(METAR).to_pandas()
    hours = np.arange(3) * 3_600_000
    air = mesonet.SeriesReadings("airTemperature", "Instantaneous", 0, hours, [-12.0, -11.5, 140.0])
    [verdicts] = mesonet.check_station(-135.07, 60.71, 706.0, [air])
    own = pandas.DataFrame({"value": air.values, "quality_base": verdicts.base})
    assert own.mesonet.worst() == mesonet.BaseQuality.Error
    assert own.mesonet.masked("Good").isna().tolist() == [False, False, True]
    for frame in (readings, feed):
        names = frame.quality_base.astype(str)
        ranks = names.map(mesonet.BaseQuality.__members__).to_numpy()
        assert frame.mesonet.codes().tolist() == ranks.tolist()
        assert frame.mesonet.worst() == ranks.min()
        assert len(frame.mesonet.at_least("Good")) == (ranks >= 6).sum()
        assert frame.mesonet.counts().to_dict() == names.value_counts().to_dict()
        by = frame.mesonet.worst(by="observation_name")
        first = by.index[0]
        assert mesonet.BaseQuality(by[first]) == ranks[(frame.observation_name == first).to_numpy()].min()
        table = frame.mesonet.counts(by="observation_name")
        assert table.to_numpy().sum() == len(frame)
        flags = frame.mesonet.flags(mesonet.QARTOD)
        assert flags.index.equals(frame.index)
        assert flags[ranks == 6].isin([1]).all()
    assert len(readings) > 10_000


def test_what_is_not_a_quality_code_is_refused():
    for column, said in [
        ([6.0, 3.0], "a name or a whole number"),
        ([6, 9], "9 is not a quality code"),
        (["Good", None], "row 1 of 'quality_base' has no quality code"),
        (["Good", "Well"], "Well"),
    ]:
        with pytest.raises(mesonet.MesonetError, match=said):
            pandas.DataFrame({"quality_base": column}).mesonet.codes()
    with pytest.raises(mesonet.MesonetError, match="no column 'quality_base'"):
        pandas.DataFrame({"a": [1]}).mesonet.worst()
    empty = pandas.DataFrame({"quality_base": pandas.Series([], dtype="u1"), "a": []})
    assert empty.mesonet.worst() == mesonet.BaseQuality.Unknown
