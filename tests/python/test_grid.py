"""Native grids: compared with PROJ, and what the class promises beyond its values."""

import pickle

import mesonet
import numpy as np
import pyproj
import pytest
from mesonet import MesonetError, NativeGrid


@pytest.fixture
def grids(vectors):
    return {case["name"]: case["definition"] for case in vectors("native_grid.json")["grids"]}


@pytest.fixture
def nam(grids):
    return NativeGrid(grids["NAM211"])


GRIDS = ["HRRR", "NAM211", "CMC-ps10km", "HRDPS", "safrica", "GFS 2.5", "Mercator", "southern cone"]


def apart(one, other):
    """Returns the degrees between longitudes, which wrap around."""
    return np.abs((one - other + 180) % 360 - 180)


@pytest.mark.parametrize("name", GRIDS)
def test_cells_lie_where_proj_has_them(grids, name):
    """Uses only the string, the first x and y, and the steps of the definition."""
    definition = grids[name]
    grid = NativeGrid(definition)
    rows, columns = (np.linspace(0, last - 1, 7).astype(int) for last in (grid.rows, grid.columns))
    row, column = np.meshgrid(rows, columns, indexing="ij")
    x, y = grid.first_xy
    x, y = x + column * definition["column_step"], y + row * definition["row_step"]
    to_earth = pyproj.Transformer.from_crs(grid.proj_string, "EPSG:4326", always_xy=True)
    lon, lat = to_earth.transform(x, y)
    position = grid.position(row, column)
    assert position.lat.shape == (7, 7)
    assert np.abs(position.lat - lat).max() < 1e-12
    assert apart(position.lon, lon).max() < 1e-12
    turned = definition["projection"] == "rotated_lat_lon"
    flat = pyproj.Proj(grid.proj_string)
    # This function of PROJ uses radians for the degrees of a rotated globe.
    lon, lat = flat(*(np.radians((x, y)) if turned else (x, y)), inverse=True)
    assert np.abs(position.lat - lat).max() < 1e-12
    assert apart(position.lon, lon).max() < 1e-12


def test_names_of_the_grids_are_all(grids):
    assert list(grids) == GRIDS


def test_whole_grids_are_their_cells(grids):
    for name in ("NAM211", "GFS 2.5", "Mercator"):
        grid = NativeGrid(grids[name])
        row, column = np.indices((grid.rows, grid.columns))
        for one, other in (
            (grid.positions(), grid.position(row, column)),
            (grid.wind_rotations(), grid.wind_rotation(row, column)),
        ):
            np.testing.assert_array_equal(one[0], other[0], strict=True)
            np.testing.assert_array_equal(one[1], other[1], strict=True)


def test_arrays_broadcast_and_numbers_stay_numbers(nam):
    cell = nam.locate(-79.4, 43.7)
    assert [type(value) for value in cell] == [float, float]
    assert [type(value) for value in nam.nearest(-79, 43)] == [int, int]
    many = nam.locate(np.array([-79.4, -100.0, np.nan], np.float32), [[43.7], [50.0]])
    assert many.row.shape == many.column.shape == (2, 3)
    assert np.isnan(many.row[:, 2]).all() and np.isnan(many.column[:, 2]).all()
    assert (many.row[1, 1], many.column[1, 1]) == nam.locate(-100.0, 50.0)
    lat = np.array([43.7, 0.0, 50.0, 0.0])[::2]
    assert nam.nearest(-100, lat).row.dtype == np.int64
    np.testing.assert_array_equal(nam.locate(-100, lat).row, nam.locate(-100, lat.astype(">f8")).row)
    assert nam.locate([], []).row.shape == (0,)


def test_positions_are_taken_in_the_order_in_which_they_are_given(nam):
    assert nam.nearest(*nam.position(37, 68)) == (37, 68)
    assert nam.nearest(lat=43.7, lon=-79.4) == nam.nearest(-79.4, 43.7) == (37, 68)


def test_the_nearest_cells_index_a_field(nam):
    field = np.arange(nam.rows * nam.columns).reshape(nam.rows, nam.columns)
    assert field[nam.nearest(-79.4, 43.7)] == 37 * 93 + 68
    np.testing.assert_array_equal(
        field[nam.nearest([-79.4, -133.4], [43.7, 12.2])], [37 * 93 + 68, 0]
    )


def test_winds_of_a_cell_are_turned(nam):
    u, v = mesonet.rotate(*nam.wind_rotation(40, 20), 10.0, 0.0)
    lon, lat = nam.position([40, 40], [19, 21])
    bearing = np.arctan2(
        lat[1] - lat[0], (lon[1] - lon[0]) * np.cos(np.radians(lat.mean()))
    )
    assert abs(np.arctan2(v, u) - bearing) < 1e-3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda grid: grid.position(-1, 0), MesonetError, "row must not be negative; got -1"),
        (lambda grid: grid.position(1.0, 0), TypeError, "row must be integers; got float64"),
        (lambda grid: grid.position(0, True), TypeError, "column must be integers; got bool"),
        (lambda grid: grid.locate(0, "43"), TypeError, "lat must be numbers; got <U2"),
        (lambda grid: grid.nearest(1j, 0), TypeError, "lon must be numbers; got complex128"),
        (lambda grid: grid.nearest(0, np.nan), MesonetError, "latitude must be from -90 to 90; got NaN"),
        (lambda grid: NativeGrid([1]), TypeError, "a definition must be a mapping; got list"),
    ],
)
def test_what_is_refused(nam, call, error, message):
    with pytest.raises(error) as refused:
        call(nam)
    assert str(refused.value) == message


def test_other_members_are_ignored_and_grids_are_values(grids, nam):
    again = NativeGrid({**grids["NAM211"], "ny": 65, "nx": 93, "proj": nam.proj_string})
    assert again == nam and hash(again) == hash(nam)
    assert pickle.loads(pickle.dumps(nam)) == nam
    assert NativeGrid(grids["HRRR"]) != nam
    assert repr(nam) == "<mesonet.NativeGrid: lambert_conformal, 65 rows of 93>"
    assert NativeGrid({**grids["NAM211"], "parallels": (25, np.float64(25))}) == nam
