"""The client against a running server: what it gives is what the service sends."""

import asyncio
import doctest
import inspect
import io
import json
import urllib.request
import uuid
from pathlib import Path

import child
import mesonet
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from mesonet.client._bulk import Bulk
from mesonet.client._models import Models
from mesonet.client._observations import Observations
from mesonet.client._summaries import SummaryCalls
from mesonet.client._twin import call

TORONTO = "700f7e18-e84e-51b2-90bd-f054766d1ec5"
DAY = ("2024-08-03T00:00Z", "2024-08-04T00:00Z")
BOX = (-80, 43, -79, 44)
CALLS = {
    name: of
    for group in (Observations, SummaryCalls, Bulk, Models)
    for name, of in vars(group).items()
    if isinstance(of, call)
}


@pytest.fixture(scope="module")
def token(server):
    """An API key, which opens the bulk export."""
    args = ("keys", "issue", "--label", "tests", "--data", server.data)
    return child.run(server.binary, *args).split()[-1]


@pytest.fixture(scope="module")
def client(server, token):
    with mesonet.Client(server.origin, token=token) as client:
        yield client


def raw(server, path):
    with urllib.request.urlopen(server.origin + path, timeout=60) as answer:
        return json.loads(answer.read())


def test_the_calls_are_those_that_are_documented():
    assert len(CALLS) == 29


@pytest.mark.parametrize("name", CALLS)
def test_the_example_of_each_call(client, server, name):
    given = {"client": client, "url": server.origin, "mesonet": mesonet}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(CALLS[name]), given, name, None, 0)
    result = doctest.DocTestRunner().run(test)
    assert (result.failed, result.attempted > 0) == (0, True)


@pytest.mark.parametrize("module", ["", ".table", ".errors", ".model", ".bulk", ".raster", "._wire"])
def test_the_examples_of_modules(server, module):
    import importlib

    of = importlib.import_module(f"mesonet.client{module}")
    result = doctest.testmod(of, extraglobs={"url": server.origin})
    assert (result.failed, result.attempted > 0) == (0, True)


def test_answers_are_in_the_units_and_with_the_local_times_that_are_asked_for(client, server):
    plain = client.readings(bbox=BOX, names=["airTemperature", "windSpeed10m"])
    assert "unit" not in plain.columns and "local_timestamp" not in plain.columns
    us = client.readings(
        bbox=BOX, names=["airTemperature", "windSpeed10m"], units="us",
        unit_of={"windSpeed10m": "kt"}, tz="local",
    )
    air = us["observation_name"] == "airTemperature"
    assert set(us["unit"][air]) == {"°F"} and set(us["unit"][~air]) == {"kt"}
    np.testing.assert_allclose(us["value"][air], plain["value"][air] * 1.8 + 32, atol=0.051)
    np.testing.assert_allclose(us["value"][~air], plain["value"][~air] / 1.852, atol=0.051)
    local = [np.datetime64(text.removesuffix("-04:00")) for text in us["local_timestamp"]]
    np.testing.assert_array_equal(np.array(local) + np.timedelta64(4, "h"), us["timestamp"])

    series = client.series(TORONTO, "airTemperature", *DAY, units="us", tz="America/St_Johns")
    assert (series.about["unit"], series.about["timeZone"]) == ("°F", "America/St_Johns")
    assert all(text.endswith("-02:30") for text in series["local_timestamp"])
    station = client.station(TORONTO, units="si", tz="local")
    assert station["timeZone"] == "America/Toronto"
    assert {of["unit"] for of in station["types"]} > {"K", "Pa", "m/s"}
    with pytest.raises(mesonet.ServiceError, match=r"invalid unit ft \(foot\) of airTemperature; allowed are °C, K, °F"):
        client.readings(unit_of={"airTemperature": "ft"})


def test_an_export_of_many_stations_is_that_of_each(client, tmp_path):
    ids = sorted(set(client.readings(bbox=BOX, names=["airTemperature"])["station_id"]))
    assert len(ids) == 9
    many = client.bulk(ids, *DAY, units="metric", page_size=100).to_pandas()
    assert many.station_id.drop_duplicates().tolist() == ids
    for station in ids:
        one = client.bulk(station, *DAY, units="metric").to_pandas()
        of = many[many.station_id == station].drop(columns="station_id").reset_index(drop=True)
        assert of.astype(str).equals(one.astype(str))
    near = client.bulk(None, *DAY, near=(-79.63, 43.68), nearest=1, units="us", tz="local")
    assert near.to_pandas().local_timestamp.str.endswith("-04:00").all()
    near.to_netcdf(tmp_path / "toronto.nc")
    file = client.bulk_to_parquet(
        tmp_path / "many.parquet", ids, *DAY, units="metric", page_size=100
    )
    assert file.rows == len(many) and file.pages > 1
    rows = pyarrow.parquet.read_table(file.path).to_pandas()
    assert rows.value.tolist() == many.value.tolist()
    assert rows.station_id.tolist() == many.station_id.tolist()


def test_readings_are_those_of_the_service(client, server):
    window = "start=2024-08-03T17:00:00Z&end=2024-08-03T21:00:00Z"
    said = raw(server, f"/api/v1/stations/readings?{window}&step=30&minLat=43&maxLat=44&minLon=-80&maxLon=-79")
    grid = client.readings(
        start="2024-08-03T17:00Z", end=np.datetime64("2024-08-03T21:00"), step=30, bbox=BOX
    )
    flat = [(station, one) for station, of in said["stations"].items() for one in of["readings"]]
    assert len(grid) == len(flat) > 300
    frame = grid.to_pandas()
    assert grid.about["step"] == 30
    for (station, one), row in zip(flat, frame.itertuples(), strict=True):
        assert (row.station_id, row.observation_name, row.series_id) == (station, one["type"], one["typeId"])
        assert row.timestamp.isoformat() == one["timestamp"].replace("Z", "+00:00")
        assert (row.value, row.age_s) == (one["value"], one["age"])
        assert row.quality_base == one["quality"]["baseQuality"]
        assert row.quality_reason == one["quality"]["reasonQuality"]
    laid = grid.to_xarray()
    assert laid.sizes == {"station": 9, "time": 9}
    assert str(laid.time.values[0]) == "2024-08-03T17:00:00.000000000"
    cell = frame[(frame.station_id == TORONTO) & (frame.observation_name == "mslp")].iloc[-1]
    assert laid.mslp.sel(station=TORONTO).values[-1] == cell.value
    assert laid.mslp_age_s.sel(station=TORONTO).values[-1] == cell.age_s
    assert laid.attrs["replay"].startswith("2024-08-03T21:")


def test_frames_of_all_kinds_hold_the_same(client):
    readings = client.readings(bbox=BOX)
    pandas, polars, arrow = readings.to_pandas(), readings.to_polars(), readings.to_arrow()
    assert pandas.shape == polars.shape == (arrow.num_rows, arrow.num_columns)
    assert str(pandas.timestamp.dtype) == "datetime64[us, UTC]"
    assert str(polars["timestamp"].dtype) == "Datetime(time_unit='us', time_zone='UTC')"
    assert arrow.schema.field("timestamp").type == pyarrow.timestamp("us", "UTC")
    for name in pandas.columns:
        assert polars[name].to_list() == arrow[name].to_pylist(), name
    assert pandas.quality_base.tolist() == polars["quality_base"].to_list()
    assert list(pandas.quality_base.cat.categories) == list(mesonet.BaseQuality.__members__)
    assert (pandas.quality_base >= "Good").all() and (polars["quality_base"] >= "Good").all()


def test_more_ids_than_a_request_takes_are_asked_for_in_parts(client):
    of = client.stations(bbox=BOX)["station_id"].tolist()
    unknown = [str(uuid.UUID(int=one)) for one in range(5_000)]
    together = client.readings(station_ids=[*of[:3], *unknown, *of[3:]])
    assert together["station_id"].tolist() == client.readings(station_ids=of)["station_id"].tolist()
    assert len(client.readings(station_ids=[])) == 0
    with pytest.raises(mesonet.MesonetError, match="by bbox or by station_ids; got both"):
        client.readings(station_ids=of, bbox=BOX)


def test_a_box_of_stations_may_cross_the_antimeridian(client):
    all_stations = client.stations()
    east = client.stations(bbox=(170, -90, -170, 90))
    lon = all_stations["lon"]
    assert len(east) == ((lon >= 170) | (lon <= -170)).sum() > 5
    assert len(client.stations(bbox=(-180, -90, 180, 90))) == len(all_stations) > 3_000
    with pytest.raises(mesonet.MesonetError, match="a box must have longitudes"):
        client.stations(bbox=(43, -80, 44, 200))


def test_stations_are_chosen_by_place_province_and_what_they_report(client):
    near = client.stations(near=(-79.38, 43.65), nearest=5)
    assert len(near) == 5 and (np.diff(near["distance_km"]) >= 0).all()
    assert near["distance_km"][-1] < 100 and ((near["bearing_deg"] >= 0) & (near["bearing_deg"] < 360)).all()
    ontario = set(client.stations(regions=["ON"])["station_id"])
    of_metar = client.stations(regions=["ON"], networks=["METAR"])
    assert 20 < len(of_metar) <= len(ontario) and set(of_metar["network"]) == {"METAR"}
    readings = client.readings(regions=["ON"], names=["airTemperature"])
    assert 20 < len(set(readings["station_id"])) and set(readings["station_id"]) <= ontario
    both = client.stations(regions=["ON", "NY"], variables=["windSpeed"], min_altitude_m=0, max_altitude_m=300)
    assert len(both) > 10
    with pytest.raises(mesonet.MesonetError, match="by regions or by station_ids; got both"):
        client.readings(station_ids=["CYYZ"], regions=["ON"])
    with pytest.raises(TypeError, match="unknown argument region; allowed are near, radius_km"):
        client.stations(region="ON")
    with pytest.raises(TypeError, match="regions must be a list of texts; got one text"):
        client.stations(regions="ON")
    by_name = client.readings(station_ids=["CYYZ", "icao:KMIA"], names=["airTemperature"])
    assert len(set(by_name["station_id"])) == 2


def test_a_bulk_export_is_the_csv_of_the_service(client, server, token, tmp_path):
    import pandas

    request = urllib.request.Request(
        f"{server.origin}/api/v1/historical/bulk?start={DAY[0]}&end={DAY[1]}&qualifiers=true",
        json.dumps({"stationId": TORONTO}).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        csv = pandas.read_csv(io.BytesIO(answer.read()), keep_default_na=False)
    told = []
    pages = client.bulk(TORONTO, *DAY, page_size=7, progress=lambda *of: told.append(of))
    assert [rows for rows, _ in told] == [*range(7, len(csv), 7), len(csv)]
    assert told[-1][1] == "2024-08-03T21:00:00+00:00"
    file = client.bulk_to_parquet(tmp_path / "a.parquet", TORONTO, *DAY, page_size=7, progress=True)
    assert (file.rows, file.pages, file.damaged) == (len(csv), len(told), 0)
    for frame in (pages.to_pandas(), pandas.read_parquet(file.path)):
        assert list(frame.columns) == list(csv.columns)
        assert frame.value.tolist() == csv.value.tolist()
        assert frame.timestamp.dt.strftime("%Y-%m-%dT%H:%M:%SZ").tolist() == csv.timestamp.tolist()
        for name in ("observation_name", "quality_base", "quality_reason", "group_bucket_name"):
            assert frame[name].astype(str).tolist() == csv[name].tolist()
    assert pyarrow.parquet.ParquetFile(file.path).num_row_groups == file.pages
    assert pages.to_polars().height == len(pyarrow.table(pages)) == len(csv)
    nothing = client.bulk(TORONTO, *DAY, requests=[{"name": "waveHeight"}])
    assert (len(nothing), nothing.series_found) == (0, False)


def test_alerts_and_zones_are_geojson_and_frames(client, server):
    alerts = client.alerts(codes=["041320"], lang="fr")
    assert alerts.geojson == raw(server, "/api/v1/alerts?codes=041320&lang=fr")
    frame = alerts.to_geopandas()
    assert frame.crs.to_epsg() == 4326 and len(frame) == len(alerts) > 0
    assert frame.geometry.is_valid.all() and json.loads(alerts.to_json()) == alerts.geojson
    assert frame.index.tolist() == [one["id"] for one in alerts]
    west, south, east, north = frame.total_bounds
    assert len(client.alerts(bbox=(west, south, east, north))) >= len(frame)
    [zone] = client.zones(["041320", "000000"])
    assert zone["properties"]["clcCode"] == "041320"


def test_a_raster_is_what_gdal_reads(client, tmp_path):
    raster = client.product("reflectivity")
    assert raster.location.startswith("/api/v1/products/reflectivity?")
    with raster.open() as file:
        assert (file.width, file.height) == (7000, 3500)
        window = ((1000, 1100), (3000, 3100))
        expected = file.read(1, window=window) * file.scales[0] + file.offsets[0]
        valid = file.read_masks(1, window=window) > 0
    small = raster.to_xarray(overview=2)
    assert small.sizes["x"] < 1000 and float(small.max()) > 40
    values = raster.to_xarray().values[1000:1100, 3000:3100]
    np.testing.assert_array_equal(values, np.where(valid, expected, np.nan))
    assert raster.save(tmp_path / "a.tif").read_bytes() == raster.content
    assert [path.name for path in tmp_path.iterdir()] == ["a.tif"]


def test_models_are_what_the_service_says_and_the_run_holds(client, server):
    said = raw(server, "/models/nam211/point?run=latest&hour=0&lat=43.7&lon=-79.4&fields=temperature")
    sounding = client.sounding("nam211", lat=43.7, lon=-79.4)
    np.testing.assert_array_equal(sounding["temperature"], said["fields"]["temperature"]["values"])
    made = sounding.to_xarray()
    assert made.level_hpa.values.tolist() == said["fields"]["temperature"]["levels_hpa"]
    assert (made.row, made.col, str(made.valid_time.values)[:13]) == (37, 68, "2018-09-17T00")
    both = client.point("nam211", ["temperature", "absolute_vorticity"], row=37, column=68).to_xarray()
    assert both.absolute_vorticity.notnull().sum() == 5 and both.temperature.notnull().all()
    # Components along the grid, turned here, are those towards true north.
    grid = client.point("nam211", ["u_wind", "v_wind"], row=37, column=68, winds="grid")
    turn = client.grid("nam211").wind_rotation(37, 68)
    u, v = mesonet.rotate(*turn, grid["u_wind"], grid["v_wind"])
    np.testing.assert_allclose((sounding["u_wind"], sounding["v_wind"]), (u, v), atol=1e-4)
    assert client.point("nam211", ["temperature_2m"], lat=43.7, lon=-79.4, valid="2018-09-17T00:00Z")[
        "temperature_2m"
    ] == 296.7
    series = client.model_series(
        "safrica", ["precipitable_water"], row=58, column=97, start="2010-03-08T15:00Z", end="2010-03-08T21:00Z"
    ).to_xarray()
    assert series.precipitable_water.values.tolist() == [18.91, 19.4, 20.56]


def test_a_tile_has_the_values_of_its_places(client):
    tile = client.tile("nam211", "temperature_2m", 6, 17, 23).to_xarray()
    assert tile.lat.values[0] > tile.lat.values[-1] and tile.lon.values[0] < tile.lon.values[-1]
    run = client.tile("nam211", "temperature_2m", 6, 17, 23)
    assert run.run == "20180917T000000Z"
    # Bilinear, between cells of 81 km: a cell's own value is met at its centre.
    grid = client.grid("nam211")
    lon, lat = grid.position(38, 68)
    value = client.point("nam211", ["temperature_2m"], row=38, column=68)["temperature_2m"]
    address = tile_of(lon, lat, 8)
    near = client.tile("nam211", "temperature_2m", *address).to_xarray().sel(lat=lat, lon=lon, method="nearest")
    assert abs(float(near) - value) < 0.05
    with pytest.raises(mesonet.MesonetError, match="unknown product 'x' of model nam211; known are"):
        client.tile("nam211", "x", 0, 0, 0)


def tile_of(lon, lat, z):
    y = np.arcsinh(np.tan(np.radians(lat)))
    return z, int((lon / 360 + 0.5) * 2**z), int((0.5 - y / (2 * np.pi)) * 2**z)


def test_the_async_twin_gives_the_same(client, server, token, tmp_path):
    async def ask():
        async with mesonet.AsyncClient(server.origin, token=token) as twin:
            calls = [twin.readings(bbox=BOX), twin.units(), twin.bulk(TORONTO, *DAY, page_size=9)]
            file = twin.bulk_to_parquet(tmp_path / "a.parquet", TORONTO, *DAY, page_size=9)
            with pytest.raises(mesonet.ServiceError, match="no station has the id"):
                await twin.station("x")
            return await asyncio.gather(*calls, file)

    readings, units, bulk, file = asyncio.run(ask())
    assert readings.to_arrow() == client.readings(bbox=BOX).to_arrow()
    assert units == client.units()
    assert bulk.table == client.bulk(TORONTO, *DAY).table
    assert pyarrow.parquet.read_table(file.path).num_rows == len(bulk)


def test_refusals_of_the_service_are_exceptions(client, server):
    with mesonet.Client(server.origin) as anonymous, mesonet.Client(server.origin, token="a.b.c") as wrong:
        for ask, status, code, message in [
            (lambda: client.station("x"), 404, "not_found", 'no station has the id "x"'),
            (lambda: client.readings(step=-1), 400, "invalid", "step"),
            (lambda: client.readings(names=["x"]), 400, "invalid", "x"),
            (lambda: client.point("x", ["y"], lat=0, lon=0), 404, "not_found", "x"),
            (lambda: anonymous.bulk(TORONTO, *DAY), 401, "unauthorized", ""),
            (wrong.units, 401, "unauthorized", ""),
        ]:
            with pytest.raises(mesonet.ServiceError) as refused:
                ask()
            assert (refused.value.status, refused.value.code) == (status, code)
            assert message in refused.value.message
        assert refused.value.reason == "malformed"
        assert "the token was rejected: malformed" in str(refused.value)


def test_a_path_cannot_leave_its_endpoint(client):
    with pytest.raises(mesonet.ServiceError) as refused:
        client.station("../capabilities?x=")
    assert refused.value.status == 404


def test_too_many_requests_are_tried_again(server, tmp_path):
    flags = ("--rate-requests", "5", "--rate-span-s", "1", "--rate-waiting", "0")
    command = (server.binary, "--listen", "127.0.0.1:0", "--data", tmp_path / "record", *flags)
    # A record that is not new gets no sample, and so it starts at once.
    feed = Path(__file__).parent.parent / "data" / "ndbc" / "latest_obs_2018-07-30.txt.gz"
    child.run(server.binary, "ingest", feed, "--data", tmp_path / "record")
    with child.serving(*command, log=tmp_path / "log") as origin:
        with mesonet.Client(origin, retry=mesonet.Retry(attempts=1)) as once:
            with pytest.raises(mesonet.ServiceError) as refused:
                for _ in range(50):
                    once.units()
        assert (refused.value.status, refused.value.code) == (429, "rate_limited")
        with mesonet.Client(origin, retry=mesonet.Retry(attempts=10, first_wait_s=0.2)) as client:
            assert {client.units()["windSpeed"] for _ in range(12)} == {"km/h"}
