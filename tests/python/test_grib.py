"""GRIB2 files: fields as ecCodes reads them, places as pyproj has them, xarray, and what is refused."""

import bz2
import datetime
import gzip
import io
import json
import pickle
import sys
from pathlib import Path

import mesonet
import numpy as np
import pyproj
import pytest
import xarray as xr
from mesonet import GribLevel, MesonetError

DATA = Path(__file__).parents[1] / "data" / "grib"
SAMPLE = Path(__file__).parents[2] / "server-example" / "sample"
ECCODES = json.loads((DATA / "eccodes.json").read_text(encoding="utf-8"))
GRIDS = json.loads((DATA / "grids" / "golden.json").read_text(encoding="utf-8"))
NAM = SAMPLE / "nam211_20180917T00Z_f000_181msg.grib2"
# What a producer writes for "nothing here", which ecCodes does not know.
SENTINELS = {"161:209.3.57": [-999], "54:0.7.6": [-1]}


def path_of(name):
    [path] = [path for folder in (DATA, SAMPLE) for path in [folder / f"{name}.gz"] if path.is_file()]
    return path


@pytest.mark.parametrize("name", ECCODES)
def test_fields_are_what_eccodes_reads(name):
    file = mesonet.read_grib(path_of(name))
    assert (len(file), file.refused) == (len(ECCODES[name]), ())
    for field, golden in zip(file, ECCODES[name], strict=True):
        assert field.parameter == golden["parameter"]
        assert field.shape == field.values.shape == (golden["rows"], golden["columns"])
        assert field.valid.strftime("%Y%m%d%H%M") == golden["validity"]
        assert field.packing == golden["packing"]
        none = SENTINELS.get(field.parameter, [])
        for row, column, expected in golden["points"]:
            if expected is not None and any(abs(expected - value) < 1e-6 for value in none):
                expected = None
            got = field.values[row, column]
            assert np.isnan(got) if expected is None else got == pytest.approx(expected, rel=1e-7)
        assert np.nanmax(field.values) == pytest.approx(golden["max"], rel=1e-7)
        if not none:
            assert np.isnan(field.values).sum() == golden["missing"]
            assert np.nanmin(field.values) == pytest.approx(golden["min"], rel=1e-7, abs=1e-30)


@pytest.mark.parametrize("name", GRIDS)
def test_places_of_every_kind_of_grid(name):
    [field] = mesonet.read_grib(DATA / "grids" / f"{name}.grib2")
    points = np.array([point[1:] for point in GRIDS[name]["points"]])
    lon, lat = (points[:, 2] + 180) % 360 - 180, points[:, 1]
    np.testing.assert_allclose(field.at(lon, lat), points[:, 0], rtol=6e-8)
    array = field.to_xarray()
    if not field.is_reduced:
        row, column = np.divmod([point[0] for point in GRIDS[name]["points"]], field.shape[1])
        places = xr.broadcast(array.latitude, array.longitude)
        at_lat, at_lon = (place.transpose(*array.dims).values[row, column] for place in places)
        np.testing.assert_allclose(at_lat, lat, atol=1e-7)
        np.testing.assert_allclose((at_lon - lon + 180) % 360 - 180, 0, atol=1e-6)


def test_what_a_field_says_of_itself():
    file = mesonet.read_grib(NAM)
    assert (len(file), repr(file)) == (181, "<mesonet.GribFile: 181 fields>")
    [gust] = file.select(wgrib2_name="GUST")
    assert (gust.parameter, gust.level, gust.units, gust.kind) == ("7:0.2.22", (1, 0.0), "m/s", "deterministic")
    assert repr(gust).startswith("<mesonet.GribField: gust at 1:0, 2018-09-17T00:00Z")
    start = datetime.datetime(2018, 9, 17, tzinfo=datetime.UTC)
    assert (gust.reference, gust.valid, gust.interval, gust.statistic) == (start, start, datetime.timedelta(0), None)
    assert file.select(wgrib2_name="TMP", level="103:2") == file.select(wgrib2_name="TMP", level=GribLevel(103, 2.0))
    assert len(file.select(wgrib2_name="TMP", level=(100, 50_000.0))) == 1
    layers = [field for field in file if field.second_level]
    assert layers and all(field.second_level.kind for field in layers)
    assert isinstance(file[0].grid, mesonet.NativeGrid) and file[0].grid == file[-1].grid
    assert [field.number for field in file[:3]] == [0, 1, 2]
    assert not file[0].values.flags.writeable and file[0].values is file[0].values
    rain = mesonet.read_grib(path_of("ndfd_20231102T11Z_minrh_scan80.grib2"))[0]
    assert (rain.statistic, rain.interval) == ("minimum", datetime.timedelta(hours=12))
    assert rain.to_xarray().attrs["cell_methods"] == "valid_time: minimum"


def test_a_field_as_xarray():
    file = mesonet.read_grib(NAM)
    [air] = file.select(wgrib2_name="TMP", level="103:2")
    array = air.to_xarray()
    assert (array.dims, array.shape, array.dtype, array.name) == (("y", "x"), (65, 93), np.float32, "t")
    assert np.shares_memory(array.values, air.values)
    assert array.attrs["units"] == "K" and array.attrs["standard_name"] == "air_temperature"
    assert array.attrs["GRIB_level"] == "103:2"
    assert array.valid_time.values == np.datetime64("2018-09-17T00:00") and array.step.values == np.timedelta64(0, "ns")
    # The axes are those of the projection, as PROJ has it.
    lon, lat = pyproj.Proj(array.attrs["projection"])(*np.meshgrid(array.x, array.y), inverse=True)
    np.testing.assert_allclose(array.longitude, (lon + 180) % 360 - 180, atol=1e-9)
    np.testing.assert_allclose(array.latitude, lat, atol=1e-9)
    # NetCDF's conventions are read by others.
    assert array.x.attrs["standard_name"] == "projection_x_coordinate"
    globe = mesonet.read_grib(path_of("gfs2p5_20110110T12Z_f120_gh10.grib2"))[0].to_xarray(name="height")
    assert (globe.dims, globe.name) == (("latitude", "longitude"), "height")
    assert globe.step.values == np.timedelta64(5, "D")
    assert globe.longitude.values.tolist() == np.arange(0, 360, 2.5).tolist()
    assert globe.sel(latitude=90, longitude=0) == globe.values[0, 0]


def test_winds_are_turned_to_true_north():
    file = mesonet.read_grib(NAM)
    [u], [v] = (file.select(wgrib2_name=name, level="103:10") for name in ["UGRD", "VGRD"])
    assert (u.to_xarray().attrs["standard_name"], v.to_xarray().attrs["standard_name"]) == ("x_wind", "y_wind")
    east, north = mesonet.true_winds(u, v)
    assert (east.attrs["standard_name"], north.attrs["standard_name"]) == ("eastward_wind", "northward_wind")
    np.testing.assert_allclose(np.hypot(east, north), np.hypot(u.values, v.values), rtol=1e-6)
    # The angle between the axes of the map and those of the Earth, from PROJ.
    proj = pyproj.Proj(east.attrs["projection"])
    angle = proj.get_factors(east.longitude.values, east.latitude.values).meridian_convergence
    turned = np.degrees(np.angle((east.values + 1j * north.values) / (u.values + 1j * v.values)))
    assert np.abs(angle).max() > 20
    np.testing.assert_allclose(turned, -angle, atol=1e-3)


def test_values_at_places():
    [field] = mesonet.read_grib(path_of("gfs2p5_20110110T12Z_f120_gh10.grib2"))
    assert field.at(0, 90) == field.values[0, 0] and field.at(0, 90).ndim == 0
    assert field.at([[-79.4], [2.4]], [43.7, 48.9]).shape == (2, 2)
    [regional] = mesonet.read_grib(path_of("nam211_prmsl_simple.grib2"))
    places = regional.at([-79.4, 2.4, np.nan], [43.7, 48.9, 0.0])
    assert np.isnan(places).tolist() == [False, True, True]


def test_the_same_file_from_every_source(tmp_path):
    path = path_of("nam211_prmsl_simple.grib2")
    content = gzip.decompress(path.read_bytes())
    plain = tmp_path / "prmsl.grib2"
    plain.write_bytes(content)
    wanted = mesonet.read_grib(path)[0].values
    for source in [content, bytearray(content), plain, str(plain), io.BytesIO(content), bz2.compress(content)]:
        np.testing.assert_array_equal(mesonet.read_grib(source)[0].values, wanted)
    twice = mesonet.read_grib(content + content)
    assert len(twice) == 2 and twice[1].number == 1


def test_what_cannot_be_read_is_named():
    content = gzip.decompress(path_of("nam211_prmsl_simple.grib2").read_bytes())
    broken = mesonet.read_grib(content + content[:-10] + content)
    assert len(broken) >= 1 and broken.refused
    edition = mesonet.read_grib(DATA / "grids" / "refused_edition_1.grib")
    assert [refusal.reason for refusal in edition.refused] == ["unsupported GRIB edition 1: it must be 2"]
    icon = mesonet.read_grib(DATA / "grids" / "refused_icosahedral_icon.grib2")
    [field] = icon
    assert "unstructured, as the icosahedral grid of ICON" in field.refusal
    for use in [lambda: field.grid, lambda: field.values, lambda: field.to_xarray(), lambda: field.at(0, 0), lambda: field.shape]:
        with pytest.raises(MesonetError, match="icosahedral grid of ICON") as error:
            use()
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    [logarithms] = mesonet.read_grib(DATA / "grids" / "refused_logarithms.grib2")
    with pytest.raises(MesonetError, match="logarithms"):
        logarithms.values


def nam(name, level):
    [field] = mesonet.read_grib(NAM).select(wgrib2_name=name, level=level)
    return field


REFUSED = {
    "content": (lambda: mesonet.read_grib(b"hello"), "content: it holds no GRIB message"),
    "packed": (lambda: mesonet.read_grib(b"\x1f\x8bhello"), "cannot be unpacked"),
    "levels": (lambda: mesonet.true_winds(nam("UGRD", "103:10"), nam("VGRD", "100:50000")), "must have the same level"),
    "parameters": (
        lambda: mesonet.true_winds(nam("VGRD", "103:10"), nam("UGRD", "103:10")),
        "v must be the parameter after u, such as 0.2.3 after 0.2.2; got 7:0.2.3 and 7:0.2.2",
    ),
    "place": (lambda: nam("TMP", "103:2").at(0, 91), "latitude must be from -90 to 90; got 91"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(MesonetError, match=message):
        call()


def test_a_type_that_is_refused(monkeypatch):
    with pytest.raises(TypeError, match="a source is a path, bytes, a binary file, or several of them; got int"):
        mesonet.read_grib(5)
    with pytest.raises(TypeError, match="a field has no member lvl; it has eccodes_name, interval"):
        mesonet.read_grib(NAM).select(lvl=1)
    with pytest.raises(TypeError, match="lon must be numbers"):
        nam("TMP", "103:2").at("x", 0)
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="to_xarray needs xarray: pip install 'xarray'"):
        nam("TMP", "103:2").to_xarray()


def at_times(message, run_hour, forecast_hour):
    """A message of a run of another hour, for another hour ahead: its octets 1.17 and 4.19 to 4.22."""
    made = bytearray(message)
    at = 16
    while made[at : at + 4] != b"7777":
        length, section = int.from_bytes(made[at : at + 4], "big"), made[at + 4]
        if section == 1:
            made[at + 16] = run_hour
        if section == 4:
            made[at + 18 : at + 22] = forecast_hour.to_bytes(4, "big")
        at += length
    return bytes(made)


def messages(path):
    content, found = gzip.decompress(path.read_bytes()), []
    while content:
        length = int.from_bytes(content[8:16], "big")
        found.append(content[:length])
        content = content[length:]
    return found


def test_a_dataset_has_each_variable_at_each_time():
    """Pressure at hour 0 alone, gusts at hour 1 alone, winds of two levels at both."""
    all_of = messages(path_of("nam211_20180917T00Z_f000.grib2"))
    prmsl, gust, *winds = [
        message for name in ("prmsl", "gust", "u") for message in all_of if mesonet.read_grib(message)[0].called == name
    ]
    assert len(winds) == 2
    file = mesonet.read_grib(at_times(prmsl, 0, 0) + at_times(gust, 0, 1) + b"".join(
        at_times(message, 0, hour) for message in winds for hour in (0, 1)
    ))  # fmt: skip
    data = file.to_xarray()
    hours = [np.datetime64("2018-09-17T00", "ns"), np.datetime64("2018-09-17T01", "ns")]
    assert data.valid_time.values.tolist() == np.array(hours).tolist() and data.time.values == hours[0]
    for field in file:
        values = data[field.called].sel(valid_time=np.datetime64(field.valid.replace(tzinfo=None), "ns"))
        if "isobaricInhPa" in values.dims:
            values = values.sel(isobaricInhPa=field.level.value / 100)
        np.testing.assert_array_equal(values, field.values)
    assert np.isnan(data.prmsl.sel(valid_time=hours[1])).all() and np.isnan(data.gust.sel(valid_time=hours[0])).all()
    assert "valid_time" in data.u.dims and data.sizes["isobaricInhPa"] == 2


def test_a_dataset_has_one_run_at_each_valid_time():
    [message] = messages(path_of("nam211_prmsl_simple.grib2"))
    gust = messages(path_of("nam211_20180917T00Z_f000.grib2"))
    [gust] = [one for one in gust if mesonet.read_grib(one)[0].called == "gust"]
    # Two runs that share no valid time are a row of times, each with its run.
    data = mesonet.read_grib(at_times(message, 0, 0) + at_times(gust, 6, 1)).to_xarray()
    assert data.time.dims == ("valid_time",) and data.sizes["valid_time"] == 2
    assert (data.valid_time - data.time).values.tolist() == [0, 3_600_000_000_000]
    # Two runs for one valid time: the later one has it, if neither has more fields.
    both = at_times(message, 0, 6) + at_times(gust, 6, 0)
    said = "1 of the fields are not in the dataset: prmsl at 101:0, 2018-09-17T06:00Z: it is of another run, 2018-09-17T00:00Z"
    with pytest.warns(mesonet.MesonetWarning, match=said):
        data = mesonet.read_grib(both).to_xarray()
    assert set(data.data_vars) == {"gust"} and "valid_time" not in data.dims
    # A third time, of the first run: now that has the most.
    for more in (both + at_times(message, 0, 7), at_times(message, 0, 7) + both):
        with pytest.warns(mesonet.MesonetWarning, match="gust at 1:0, 2018-09-17T06:00Z: it is of another run"):
            data = mesonet.read_grib(more).to_xarray()
        assert set(data.data_vars) == {"prmsl"} and data.sizes["valid_time"] == 2 and data.time.ndim == 0
    run = datetime.datetime(2018, 9, 17, 6, tzinfo=datetime.UTC)
    assert set(mesonet.read_grib(more).to_xarray(reference=run).data_vars) == {"gust"}
