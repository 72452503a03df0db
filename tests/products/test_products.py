"""Raster products as others read them: GDAL and rio-cogeo the files, ecCodes the fields they
were made of, and GDAL over HTTP a running server.

The server is the program of `MESONET_SERVER_BIN`.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import child
import numpy as np
import pytest
import rasterio
from rasterio.warp import transform
from rasterio.windows import Window

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data/grib"
SAMPLE = ROOT / "server-example/sample"
SERVER = os.environ["MESONET_SERVER_BIN"]
OWN = ROOT / "tests/products/products.toml"


class Case(NamedTuple):
    """A file, the product of its first field, and the packing of that."""

    file: Path
    product: str
    path: str
    unit: str
    scale: float
    offset: float
    # Numbers that mark missing values, though the message does not say so.
    sentinels: tuple = ()


CASES = [
    Case(
        SAMPLE / "mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz",
        "reflectivity", "instant/20230406T120039Z.tif", "dBZ", 0.1, 0.0, (-999,),
    ),
    Case(
        DATA / "nam211_prmsl_simple.grib2.gz",
        "pressure", "instant/20180917T000000Z.tif", "Pa", 0.5, 1e5,
    ),
    Case(
        DATA / "nam211_prmsl_as_mercator.grib2.gz",
        "mercator", "instant/20180917T000000Z.tif", "Pa", 0.5, 1e5,
    ),
    Case(
        DATA / "gfs2p5_20110110T12Z_f120_gh10.grib2.gz",
        "height", "instant/20110115T120000Z.tif", "m", 0.5, 3e4,
    ),
    Case(
        DATA / "arome_20260413T21Z_f001_tcdc_ccsds.grib2.gz",
        "cloudCover", "instant/20260413T220000Z.tif", "%", 0.01, 0.0,
    ),
    Case(
        DATA / "hrrr_20240101T00Z_f000_refc.grib2.gz",
        "forecastReflectivity", "instant/20240101T000000Z.tif", "dB", 0.1, 7.3,
    ),
    Case(
        DATA / "ndfd_20231102T11Z_minrh_scan80.grib2.gz",
        "leastHumidity", "12h/20231103T060000Z.tif", "%", 0.01, 0.0,
    ),
    Case(
        DATA / "safrica_20100308T12Z_f000_ps.grib2.gz",
        "precipitableWater", "instant/20100308T120000Z.tif", "kg/m²", 0.01, 0.0,
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with all files ingested."""
    folder = tmp_path_factory.mktemp("data")
    for case in CASES:
        run("ingest", "--product", case.product, "--data", folder, case.file)
    return folder


def run(*arguments):
    child.run(SERVER, *arguments, env={"MESONET_PRODUCTS": str(OWN)})


@pytest.fixture(params=CASES, ids=lambda case: case.product)
def case(request):
    return request.param


@pytest.fixture
def tif(case, data):
    return data / "products" / case.product / case.path


class Field(NamedTuple):
    values: np.ndarray
    lat: np.ndarray
    lon: np.ndarray


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    """Reads the first field of a file with ecCodes, row 0 in the north; NaN is missing."""
    folder, known = tmp_path_factory.mktemp("fields"), {}

    def field(case):
        if case.product not in known:
            out = folder / f"{case.product}.npz"
            program = ROOT / "tests/products/read_grib.py"
            child.run(sys.executable, program, case.file, out)
            arrays = np.load(out)
            values = arrays["values"]
            values[np.isin(values, case.sentinels)] = np.nan
            known[case.product] = Field(values, arrays["lat"], arrays["lon"])
        return known[case.product]

    return field


def test_rio_cogeo_finds_nothing_wrong(tif):
    rio = Path(sys.executable).with_name("rio")
    command = [rio, "cogeo", "validate", "--strict", tif]
    said = child.run(*command)
    assert said == f"{tif} is a valid cloud optimized GeoTIFF\n"


def test_gdal_reads_how_it_is_packed(case, tif):
    with rasterio.open(tif) as file:
        assert file.dtypes == ("int16",)
        assert (file.scales, file.offsets) == ((case.scale,), (case.offset,))
        assert (file.units, file.nodata) == ((case.unit,), -32768)
        assert file.descriptions[0]
        assert file.block_shapes == [(512, 512)]
        assert file.profile["compress"] == "deflate"
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert file.tags(ns="IMAGE_STRUCTURE")["PREDICTOR"] == "2"
        tags = file.tags()
        assert tags["PRODUCT"] == case.product
        assert float(tags["PACKING_ERROR"]) == case.scale / 2
        stamp = tags["VALID_TIME"].replace("-", "").replace(":", "")
        assert case.path.endswith(f"{stamp}.tif")


def test_the_distributions_gdal_reads_it_too(case, tif):
    """A version other than the wheel's, such as that of a GIS on a server."""
    command = ["gdalinfo", "-json", "-checksum", tif]
    said = json.loads(child.run(*command))
    (band,) = said["bands"]
    packing = (band["scale"], band["offset"], band["noDataValue"], band["unit"])
    assert packing == (case.scale, case.offset, -32768, case.unit)
    assert said["metadata"]["IMAGE_STRUCTURE"]["LAYOUT"] == "COG"
    # Every tile and every overview can be decoded.
    assert band["checksum"] > 0
    sizes = [overview["size"] for overview in band.get("overviews", [])]
    assert all(overview["checksum"] >= 0 for overview in band.get("overviews", []))
    assert sizes == sorted(sizes, reverse=True)


def test_values_are_within_half_a_step_of_those_that_eccodes_reads(case, tif, fields):
    expected = fields(case).values
    with rasterio.open(tif) as file:
        raw = file.read(1)
    assert raw.shape == expected.shape
    assert np.array_equal(raw == -32768, np.isnan(expected))
    error = np.abs(raw * case.scale + case.offset - expected)
    # Values are single precision before they are packed.
    rounding = 6e-8 * np.nanmax(np.abs(expected))
    assert np.nanmax(error) <= case.scale / 2 + rounding


def test_pixels_lie_where_the_points_of_the_field_do(case, tif, fields):
    expected = fields(case)
    rows, columns = (a.ravel() for a in np.indices(expected.values.shape))
    some = np.random.default_rng(1).integers(len(rows), size=2000)
    corners = [0, expected.values.shape[1] - 1, -expected.values.shape[1], -1]
    some = np.concatenate([some, corners])
    rows, columns = rows[some], columns[some]
    with rasterio.open(tif) as file:
        place = file.transform
        x, y = place.a * (columns + 0.5) + place.c, place.e * (rows + 0.5) + place.f
        # To positions on the same Earth, so that no datum shift interferes.
        positions = file.crs
        if file.crs.is_projected:
            radius = file.crs.to_dict()["R"]
            positions = rasterio.crs.CRS.from_proj4(f"+proj=longlat +R={radius}")
        lon, lat = (np.array(axis) for axis in transform(file.crs, positions, x, y))
    turn = (lon - expected.lon[rows, columns] + 180) % 360 - 180
    assert np.abs(lat - expected.lat[rows, columns]).max() < 1e-5
    # A degree of longitude is shorter near a pole.
    assert np.abs(turn * np.cos(np.radians(lat))).max() < 1e-5


def test_smaller_copies_are_made_of_the_values_below_them(case, tif):
    pool = {"reflectivity": "max", "forecastReflectivity": "max", "leastHumidity": "nearest"}
    pool = pool.get(case.product, "average")
    with rasterio.open(tif) as file:
        raw, levels = file.read(1), file.overviews(1)
    height, width = raw.shape
    needed = 0
    while max(height, width) / 2**needed > 512:
        needed += 1
    assert levels == [2**level for level in range(1, needed + 1)]
    for index, _ in enumerate(levels):
        padded = np.pad(raw, [(0, n % 2) for n in raw.shape], constant_values=-32768)
        four = np.stack([padded[i::2, j::2] for i in (0, 1) for j in (0, 1)]).astype(np.int64)
        known = four != -32768
        count = known.sum(axis=0)
        if pool == "average":
            total = np.where(known, four, 0).sum(axis=0)
            n = np.maximum(count, 1)
            expected = np.sign(total) * ((2 * np.abs(total) + n) // (2 * n))
        elif pool == "max":
            expected = four.max(axis=0)
        else:
            expected, count = four[0], known[0]
        raw = np.where(count > 0, expected, -32768).astype(np.int16)
        with rasterio.open(tif, OVERVIEW_LEVEL=index) as file:
            assert np.array_equal(file.read(1), raw)


@pytest.fixture
def server(data, tmp_path):
    """The address of a server over the data folder."""
    command = [SERVER, "--listen", "127.0.0.1:0", "--now", "live", "--data", data]
    # Tests send requests faster than callers may.
    command += ["--rate-requests", "0"]
    environment = {"MESONET_PRODUCTS": str(OWN)}
    with child.serving(*command, log=tmp_path / "log", env=environment) as origin:
        yield origin


@pytest.fixture
def counted(server):
    """The same server behind a proxy, and its traffic: method, range, status, bytes."""
    seen = []

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            request = Request(server + self.path, headers=headers, method=self.command)
            with urlopen(request) as answer:
                body = answer.read()
                # Logged before the client has the answer and goes on.
                seen.append((self.command, self.headers.get("Range"), answer.status, len(body)))
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{proxy.server_address[1]}", seen
    proxy.shutdown()
    proxy.server_close()


ADDRESS = "/api/v1/products/reflectivity?timestamp=2023-04-06T12:00:39Z"


def test_gdal_reads_over_http_only_the_tiles_that_it_wants(counted, data):
    address, seen = counted
    whole = data / "products/reflectivity/instant/20230406T120039Z.tif"
    length = whole.stat().st_size
    window = Window(3000, 1500, 300, 200)
    with rasterio.open(whole) as file:
        expected = file.read(1, window=window)
    environment = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "VSI_CACHE": "FALSE"}
    with rasterio.Env(**environment), rasterio.open(f"/vsicurl/{address}{ADDRESS}") as file:
        opening = len(seen)
        assert np.array_equal(file.read(1, window=window), expected)
    bodies = [size for method, _, _, size in seen if method == "GET"]
    ranged = [status for method, wanted, status, _ in seen if method == "GET" and wanted]
    assert len(ranged) == len(bodies) and set(ranged) == {206}
    # The beginning of the file, then the two tiles that the window is in.
    assert len(bodies) == 3
    assert opening == len(seen) - 2
    assert sum(bodies) < length / 30


def test_gdal_reads_a_small_copy_for_a_small_picture(counted, data):
    address, seen = counted
    whole = data / "products/reflectivity/instant/20230406T120039Z.tif"
    environment = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "VSI_CACHE": "FALSE"}
    with rasterio.Env(**environment), rasterio.open(f"/vsicurl/{address}{ADDRESS}") as file:
        small = file.read(1, out_shape=(219, 438))
    with rasterio.open(whole, OVERVIEW_LEVEL=3) as file:
        assert np.array_equal(small, file.read(1))
    bodies = [size for method, _, _, size in seen if method == "GET"]
    assert sum(bodies) < 100_000


def test_the_newest_is_the_same_file_and_nothing_of_it_is_lost(server, data):
    whole = data / "products/reflectivity/instant/20230406T120039Z.tif"
    with urlopen(server + "/api/v1/products/reflectivity") as answer:
        assert answer.read() == whole.read_bytes()
        assert answer.headers["Content-Location"] == ADDRESS
