"""A day with the model service: its answers, the library, the run as xarray opens it, and PROJ.

All four speak of the same cells and the same values, and are held against each other here.
"""

import gzip
import json
import re
import urllib.error
import urllib.request
import warnings
from collections import namedtuple
from functools import cache
from pathlib import Path

import child
import mesonet
import numpy as np
import pyproj
import pytest
import xarray

HRDPS = Path(__file__).parent.parent / "data" / "grib" / "hrdps_20260219T00Z_f000_cape.grib2.gz"
RUNS = {"nam211": "20180917T000000Z", "safrica": "20100308T120000Z"}
MODELS = list(RUNS)

Answer = namedtuple("Answer", "status headers body")


class Client:
    """Sends requests to the service, repeated ones only once."""

    def __init__(self, server):
        self.server = server

    def get(self, path, **headers):
        """Returns any answer, including refusals."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.server.origin + path, headers=headers)
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return Answer(answer.status, answer.headers, answer.read())

    def json(self, path, status=200):
        answer = self.get(path)
        assert answer.status == status, (path, answer.body)
        return json.loads(answer.body)

    @cache
    def grid(self, model):
        return mesonet.NativeGrid(self.json(f"/models/{model}/grid"))

    @cache
    def products(self, model):
        products = self.json(f"/models/{model}/products")["products"]
        return {product["name"]: product for product in products}

    @cache
    def point(self, model, row, column, more=""):
        """Returns a cell at the first hour, with all products unless `more` names some."""
        more = more or "&fields=" + ",".join(self.products(model))
        query = f"run={RUNS[model]}&hour=0&row={row}&col={column}{more}"
        return self.json(f"/models/{model}/point?{query}")

    @cache
    def run(self, model, stamp=None):
        """Returns the run as xarray opens it, from the folder of the server."""
        folder = self.server.data / "models" / model / (stamp or RUNS[model])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return xarray.open_zarr(folder, consolidated=False, decode_coords="all")

    def tile(self, model, name, address, level=None):
        query = f"run={RUNS[model]}&hour=0" + ("" if level is None else f"&level={level}")
        return self.get(f"/models/{model}/products/{name}/data/{address}?{query}")


@pytest.fixture(scope="module")
def service(server):
    return Client(server)


def places(grid, number):
    """Returns places on the grid, some of them close to its edges, and some beyond it."""
    random = np.random.default_rng(211)
    lon, lat = grid.positions()
    lat = random.uniform(lat.min(), lat.max(), 20 * number)
    lon = random.uniform(lon.min(), lon.max(), 20 * number)
    row, column = grid.locate(lon, lat)
    inside = ~np.isnan(row)
    edge = inside & ((np.abs(row - (grid.rows - 1) / 2) > grid.rows / 2 - 2))
    edge |= inside & (np.abs(column - (grid.columns - 1) / 2) > grid.columns / 2 - 2)
    pick = lambda which: [(float(lon[at]), float(lat[at])) for at in np.flatnonzero(which)]
    on_grid = list(dict.fromkeys(pick(edge)[: number // 5] + pick(inside)))[:number]
    return on_grid, pick(~inside)[:8]


@pytest.mark.parametrize("model", MODELS)
def test_the_library_finds_the_cells_that_the_service_finds(service, model):
    grid = service.grid(model)
    on_grid, beyond = places(grid, 50)
    assert (len(on_grid), len(beyond)) == (50, 8)
    for lon, lat in on_grid:
        got = service.json(f"/models/{model}/locate?lat={lat!r}&lon={lon!r}")
        row, column = grid.nearest(lon, lat)
        assert (got["row"], got["col"]) == (row, column)
        # To the bit: JSON has all digits of a number.
        assert (got["lon"], got["lat"]) == grid.position(row, column)
        assert tuple(got["wind_rotation"].values()) == grid.wind_rotation(row, column)
        assert (got["fractional_row"], got["fractional_col"]) == grid.locate(lon, lat)
    for lon, lat in beyond:
        with pytest.raises(mesonet.MesonetError, match="is not on the grid") as refused:
            grid.nearest(lon, lat)
        # In the same words.
        refusal = service.json(f"/models/{model}/locate?lat={lat!r}&lon={lon!r}", status=400)
        assert refusal == str(refused.value)


@pytest.mark.parametrize("model", MODELS)
def test_proj_places_the_corners_where_the_service_has_them(service, model):
    """Uses only what `/grid` gives to other programs, and nothing from the library."""
    grid = service.json(f"/models/{model}/grid")
    to_earth = pyproj.Transformer.from_crs(grid["proj"], "EPSG:4326", always_xy=True)
    bottom, right = grid["ny"] - 1, grid["nx"] - 1
    cells = [(0, 0), (0, right), (bottom, right), (bottom, 0)]
    for (row, column), corner in zip(cells, grid["corners"], strict=True):
        x, y = grid["x0"] + column * grid["column_step"], grid["y0"] + row * grid["row_step"]
        lon, lat = to_earth.transform(x, y)
        assert abs(lat - corner[1]) < 1e-12 and abs(lon - corner[0]) < 1e-12
        bounds = grid["bounds"]
        assert bounds["minLat"] <= corner[1] <= bounds["maxLat"]
        assert bounds["minLon"] <= corner[0] <= bounds["maxLon"]


@pytest.mark.parametrize("model", MODELS)
def test_winds_turn_by_the_convergence_of_the_meridians_of_proj(service, model):
    proj = pyproj.Proj(service.json(f"/models/{model}/grid")["proj"])
    grid = service.grid(model)
    for row, column in [(0, 0), (grid.rows // 2, grid.columns // 2), (grid.rows - 1, 3)]:
        cell = service.point(model, row, column)
        turn = np.radians(proj.get_factors(cell["lon"], cell["lat"]).meridian_convergence)
        cos, sin = cell["wind_rotation"].values()
        # PROJ computes its derivatives numerically.
        np.testing.assert_allclose([cos, sin], [np.cos(turn), np.sin(turn)], rtol=0, atol=1e-6)


def check_values(values, wanted):
    """Null values must be NaN, and the others equal to 1e-9."""
    values = np.array(values, dtype=np.float64)
    assert values.shape == wanted.shape
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-9, equal_nan=True)
    return values.size


def check_point(run, point, products):
    cell = run.isel(valid_time=point["hour"], y=point["row"], x=point["col"])
    assert np.datetime64(point["valid_time"].removesuffix("Z")) == cell.valid_time.values
    assert list(point["fields"]) == list(products)
    values = 0
    for name, entry in point["fields"].items():
        field, levels_hpa = cell[name], products[name]["levels_hpa"]
        assert entry["unit"] == field.units == products[name]["unit"]
        if levels_hpa is None:
            values += check_values(entry["value"], field.values)
        else:
            assert entry["levels_hpa"] == levels_hpa == field[field.dims[0]].values.tolist()
            values += check_values(entry["values"], field.values)
    return values


def test_points_are_the_values_of_the_store_for_all_products_and_levels(service):
    run, products = service.run("nam211"), service.products("nam211")
    assert set(products) == set(run.data_vars) and len(products) == 26
    for row, column in [(0, 0), (0, 92), (64, 92), (64, 0), (37, 68), (32, 46), (11, 80)]:
        point = service.point("nam211", row, column)
        # 6 products with 19 levels, one with 5, and 19 with one.
        assert check_point(run, point, products) == 6 * 19 + 5 + 19
        for level in (0, 10, 18):
            more = f"&level={level}&fields=temperature,temperature_2m"
            one = service.point("nam211", row, column, more)["fields"]
            of_all = point["fields"]["temperature"]
            assert one["temperature"]["values"] == of_all["values"][level : level + 1]
            assert one["temperature"]["levels_hpa"] == of_all["levels_hpa"][level : level + 1]
            assert one["temperature_2m"] == point["fields"]["temperature_2m"]


def test_a_place_indexes_the_arrays_of_xarray(service):
    """Toronto by latitude and longitude over HTTP, and by the library in the data set."""
    lat, lon = 43.7, -79.4
    query = f"run={RUNS['nam211']}&hour=0&lat={lat}&lon={lon}&fields=temperature_2m"
    value = service.json(f"/models/nam211/point?{query}")["fields"]["temperature_2m"]["value"]
    field = service.run("nam211").temperature_2m.isel(valid_time=0)
    assert abs(field.values[service.grid("nam211").nearest(lon, lat)] - value) < 1e-9


def hour_of(run, part):
    """Returns the indices of the hours of a part in the run."""
    return np.searchsorted(run.valid_time.values, part.valid_time.values).tolist()


def test_series_are_those_of_the_store(service):
    run, products = service.run("safrica"), service.products("safrica")
    assert set(products) == {"precipitable_water", "brightness_temperature"}
    hours = run.sizes["valid_time"]
    fields = ",".join(products)
    for row, column in [(0, 0), (139, 209), (70, 105), (101, 108)]:
        address = f"/models/safrica/series?run={RUNS['safrica']}&row={row}&col={column}&fields={fields}"
        for window in [("", ""), ("2010-03-09T00:00:00", "2010-03-09T21:00:00")]:
            bounds = "".join(
                f"&{side}={time}Z" for side, time in zip(("from", "to"), window, strict=True) if time
            )
            got = service.json(address + bounds)
            cell = run.isel(y=row, x=column)
            cell = cell.sel(valid_time=slice(*(time or None for time in window)))
            assert got["valid_from"] == "2010-03-08T12:00:00Z"
            assert got["valid_to"] == "2010-03-11T12:00:00Z"
            assert got["forecast_hours"] == hours == 25
            for name, entry in got["fields"].items():
                times = [item["valid_time"].removesuffix("Z") for item in entry["series"]]
                np.testing.assert_array_equal(np.array(times, "M8[ns]"), cell.valid_time.values)
                assert [item["hour"] for item in entry["series"]] == hour_of(run, cell)
                values = [item["value"] for item in entry["series"]]
                assert check_values(values, cell[name].values) == (8 if bounds else 25)
                assert entry["unit"] == cell[name].units


def pixels(address):
    """Returns the longitudes and latitudes of the pixel centres of a Web-Mercator tile."""
    z, x, y = map(int, address.split("/"))
    turns = [(at * 256 + np.arange(256) + 0.5) / (256 << z) for at in (x, y)]
    lon = turns[0] * 360 - 180
    lat = np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * turns[1]))))
    return np.meshgrid(lon, lat)


def sampled(grid, lon, lat, field, sampling):
    """Returns the expected tile from `field`, which gives the values of rows and columns.

    `grid` is the answer of `/grid`; PROJ says where the pixels lie on it.
    """
    to_map = pyproj.Transformer.from_crs("EPSG:4326", grid["proj"], always_xy=True)
    x, y = to_map.transform(lon, lat)
    row, column = (y - grid["y0"]) / grid["row_step"], (x - grid["x0"]) / grid["column_step"]
    if sampling == "nearest":
        row, column = np.rint(row), np.rint(column)
    last = grid["ny"] - 1, grid["nx"] - 1
    inside = (row >= 0) & (row <= last[0]) & (column >= 0) & (column <= last[1])
    row, column = row[inside], column[inside]
    top = np.minimum(row.astype(int), last[0] - 1)
    left = np.minimum(column.astype(int), last[1] - 1)
    down, right = row - top, column - left
    upper = field(top, left) * (1 - right) + field(top, left + 1) * right
    lower = field(top + 1, left) * (1 - right) + field(top + 1, left + 1) * right
    values = np.full(np.shape(lat), np.nan)
    values[inside] = upper * (1 - down) + lower * down
    return values


# Product, level, tile, and how many of its pixels lie between the centres of cells: the first and the
# last tile lie across edges of the grid.
TILES = [
    ("temperature_2m", None, "3/1/3", 42_036),
    ("categorical_rain", None, "4/4/5", 65_536),
    ("u_wind", 10, "4/4/5", 65_536),
    ("v_wind_10m", None, "3/0/2", 10_959),
]


@pytest.mark.parametrize(("name", "level", "address", "count"), TILES)
def test_tiles_are_what_lies_between_the_cells(service, name, level, address, count):
    grid, product = service.json("/models/nam211/grid"), service.products("nam211")[name]
    encoding, sampling = product["encoding"], product["sampling"]
    assert (encoding["height"], encoding["width"]) == (grid["ny"], grid["nx"])
    got = service.tile("nam211", name, address, level)
    packing = (encoding["scale"], encoding["offset"], encoding["nodata"])
    values = mesonet.decode_bytes(got.body, *packing).reshape(256, 256)

    # All pixels, from the run on disk. Winds are turned before anything is interpolated.
    hour = service.run("nam211").isel(valid_time=0)
    of_store = lambda name: (hour[name] if level is None else hour[name].isel(level_hpa=level)).values
    field = of_store(name)
    if "wind" in product:
        turns = service.grid("nam211").wind_rotations()
        field = mesonet.rotate(*turns, *map(of_store, product["wind"]))
        field = field[product["wind"].index(name)]
    lon, lat = pixels(address)
    wanted = sampled(grid, lon, lat, lambda row, column: field[row, column], sampling)
    np.testing.assert_array_equal(np.isnan(values), np.isnan(wanted))
    assert np.count_nonzero(~np.isnan(values)) == count
    half = 0 if sampling == "nearest" else 0.5000001 * encoding["scale"]
    assert np.nanmax(np.abs(values - wanted)) <= half
    assert np.nanmax(values) > np.nanmin(values)

    # Some of them, from points. Those of winds have two more decimals than the tile.
    def of_point(row, column):
        more = f"&winds=earth&fields={name}" + ("" if level is None else f"&level={level}")
        entry = service.point("nam211", int(row), int(column), more)["fields"][name]
        return entry["value"] if level is None else entry["values"][0]

    some = np.random.default_rng(3).choice(np.argwhere(~np.isnan(values)), 10)
    at = tuple(some.T)
    wanted = sampled(grid, lon[at], lat[at], np.vectorize(of_point), sampling)
    half += 0.006 * encoding["scale"] if "wind" in product else 0
    assert np.abs(values[at] - wanted).max() <= half


def test_an_answer_is_fetched_once(service):
    run = RUNS["nam211"]
    tile = f"/models/nam211/products/temperature_2m/data/4/4/5?run={run}&hour=0"
    point = f"/models/nam211/point?run={run}&hour=0&row=37&col=68&fields=temperature"
    for address, kind in [(tile, "application/octet-stream"), (point, "application/json")]:
        plain, packed = service.get(address), service.get(address, Accept_Encoding="gzip")
        assert (plain.headers["Content-Encoding"], packed.headers["Content-Encoding"]) == (None, "gzip")
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < len(plain.body)
        assert plain.headers["Content-Type"] == packed.headers["Content-Type"] == kind
        tags = plain.headers["ETag"], packed.headers["ETag"]
        # Strong, and each for one sequence of bytes.
        assert all(re.fullmatch(r'"[^"]+"', tag) for tag in tags) and tags[0] != tags[1]
        again = service.get(address, Accept_Encoding="gzip", If_None_Match=tags[1])
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tags[1])
        for answer in (plain, packed, again):
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert "accept-encoding" in answer.headers["Vary"].lower()
        assert service.get(address, If_None_Match='"another"').status == 200


def test_what_is_published_meanwhile_is_served_with_its_gaps(service):
    """HRDPS, on a rotated globe, whose file has -1 J/kg where nothing was computed."""
    server = service.server
    stamp = "20260219T000000Z"
    child.run(server.binary, "ingest", HRDPS, "--model", "hrdps", "--data", server.data)
    assert service.json("/models/coverage")["models"]["hrdps"]["latest_run"] == stamp
    run, grid = service.run("hrdps", stamp), service.grid("hrdps")
    field = run.cape_surface.isel(valid_time=0).values
    missing = np.isnan(field)
    assert (np.count_nonzero(missing), field.size) == (2_943_598, 1290 * 2540)
    random = np.random.default_rng(7)
    for cells, count in [(missing, 10), (~missing, 10)]:
        for row, column in random.choice(np.argwhere(cells), count):
            lon, lat = grid.position(row, column)
            query = f"run={stamp}&hour=0&lat={lat!r}&lon={lon!r}&fields=cape_surface"
            got = service.json(f"/models/hrdps/point?{query}")
            assert (got["row"], got["col"], got["lat"], got["lon"]) == (row, column, lat, lon)
            assert (got["fields"]["cape_surface"]["value"] is None) == bool(missing[row, column])
            check_values(got["fields"]["cape_surface"]["value"], field[row, column])
    # An hour that does not exist yet is not an hour without values.
    later = f"/models/hrdps/point?run={stamp}&hour=1&row=0&col=0&fields=cape_surface"
    assert service.get(later).status == 404
