"""Files of alerts: real chains and their state, GeoJSON as the server sends it, and what is refused."""

import datetime
import gzip
import json
import pickle
import sys
import urllib.request
from pathlib import Path

import geojson_validator
import mesonet
import pytest
from geojson_validator.geometry_validation import INVALID_CRITERIA
from mesonet import MesonetError

DATA = Path(__file__).parents[1] / "data"
SAMPLE = Path(__file__).parents[2] / "server-example" / "sample"
TORNADO = sorted((DATA / "capcp").glob("[123]_T_ONCN00_*"))
ACTIVE = SAMPLE / "alerts_active_2026-07-15T200045Z.geojson.gz"
ZONES = SAMPLE / "zones.bin.gz"


def statuses(alerts, time):
    return [state.status for state in alerts.states(at=f"2026-08-{time}Z")]


def test_the_tornado_of_2026_08_12():
    alerts = mesonet.read_cap(TORNADO)
    assert (len(alerts), repr(alerts)) == (3, "<mesonet.Alerts: 3 messages of 3 files>")
    assert [(file.kind, file.read, file.refused) for file in alerts.files] == [("cap", 1, 0)] * 3
    # As a person reads them: core/tests/feeds/alert_chains.rs.
    assert statuses(alerts, "12T23:07:40") == ["Unknown"] * 3
    assert statuses(alerts, "12T23:07:41") == ["Active", "Unknown", "Unknown"]
    assert statuses(alerts, "12T23:13:58") == ["Superseded", "Active", "Unknown"]
    assert statuses(alerts, "12T23:25:16") == ["Superseded", "Superseded", "Ended"]
    first, second, third = alerts.states(at="2026-08-13T00:00Z")
    assert first.next_ids == (second.id, third.id)
    assert second.previous_ids == (first.id,) and third.previous_ids
    assert first.sent == datetime.datetime(2026, 8, 12, 23, 7, 41, tzinfo=datetime.UTC)
    # The same messages again, in another order, are the same alerts.
    again = mesonet.read_cap([*reversed(TORNADO), *TORNADO])
    assert again.states(at=0) == alerts.states(at=0)
    # Today they are over.
    assert [state.status for state in alerts.states()][2] == "Ended"
    assert pickle.loads(pickle.dumps(first)) == first


def test_conditions_on_alerts():
    alerts = mesonet.read_cap(TORNADO, zones=ZONES)
    of = {"at": "2026-08-12T23:14Z"}
    ids = [feature["id"] for feature in alerts.to_geojson(**of)["features"]]
    assert len(ids) == 3
    [active] = alerts.to_geojson(**of, active=True)["features"]
    assert active["id"] == ids[1] and active["geometry"]["type"] == "Polygon"
    lon, lat = active["geometry"]["coordinates"][0][0]
    assert alerts.to_geojson(**of, active=True, bbox=(lon - 1, lat - 1, lon + 1, lat + 1))["features"] == [active]
    assert alerts.to_geojson(**of, bbox=(0, 0, 1, 1))["features"] == []
    assert alerts.to_geojson(**of, place=(0, 0))["features"] == []
    middle = [sum(side) / len(side) for side in zip(*active["geometry"]["coordinates"][0][1:])]
    assert alerts.to_geojson(**of, active=True, place=middle)["features"] == [active]
    assert alerts.__geo_interface__["type"] == "FeatureCollection"


def test_zones_give_the_outlines_that_messages_do_not_draw():
    bare, drawn = mesonet.read_nws_alerts(ACTIVE), mesonet.read_nws_alerts(ACTIVE, zones=ZONES)
    at = "2026-07-15T20:00:45Z"
    without = [feature for feature in bare.to_geojson(at)["features"] if feature["geometry"] is None]
    assert without and all(feature["properties"]["missingZones"] for feature in without)
    left = [feature for feature in drawn.to_geojson(at)["features"] if feature["geometry"] is None]
    assert len(left) < len(without) / 10
    packed = ZONES.read_bytes()
    for zones in [str(ZONES), packed, gzip.decompress(packed)]:
        assert mesonet.read_nws_alerts(ACTIVE, zones=zones).to_geojson(at) == drawn.to_geojson(at)


def test_the_server_says_the_same(server):
    files = sorted(SAMPLE.glob("alerts_canada_*.xml.gz"))
    canada, united_states = mesonet.read_cap(files, zones=ZONES), mesonet.read_nws_alerts(ACTIVE, zones=ZONES)

    def asked(path):
        with urllib.request.urlopen(f"{server.origin}{path}", timeout=60) as answer:
            return json.load(answer)

    # The demonstration replays the alerts of each country at a clock of its own.
    at = asked("/")["replayAlerts"]
    theirs = {feature["id"]: feature for feature in asked("/api/v1/alerts")["features"]}
    ours = {}
    for alerts, now in [(canada, at["canada"]), (united_states, at["unitedStates"])]:
        ours |= {feature["id"]: feature for feature in alerts.to_geojson(now)["features"]}
    assert len(ours) > 300 and ours.keys() == theirs.keys()
    differ = [id for id in ours if ours[id] != theirs[id]]
    # The clocks went on between both requests.
    assert len(differ) < 5, differ
    assert len({feature["properties"]["status"] for feature in theirs.values()}) > 1


def test_real_files_of_every_issuer_are_valid_geojson():
    geojson_validator.configure_logging(enabled=False)
    read = 0
    for folder in ["capcp", "nws_cap", "cap_not_real"]:
        for path in sorted((DATA / folder).glob("*.gz")):
            alerts = mesonet.read_cap(path)
            [file] = alerts.files
            assert file.read + file.refused > 0 and len(file.refusals) == file.refused
            read += file.read
            for language in ["en", "fr"]:
                collection = alerts.to_geojson(language=language)
                assert geojson_validator.validate_structure(collection) == {}, path
                found = geojson_validator.validate_geometries(collection, INVALID_CRITERIA, [])
                assert found["invalid"] == {}, (path, found)
    assert read > 10
    for path in sorted((DATA / "nws_alerts").glob("*.gz")):
        assert len(mesonet.read_any(path)) == mesonet.read_nws_alerts(path).files[0].read


def test_texts_in_two_languages():
    [path] = (DATA / "capcp").glob("example_SVR*")
    alerts = mesonet.read_cap(path)
    headline = {
        language: alerts.to_geojson(language=language)["features"][0]["properties"]["alertHeadline"]
        for language in ["en", "fr", "de"]
    }
    assert headline["en"] != headline["fr"] and headline["de"] == headline["en"]


def test_a_frame_of_geopandas(monkeypatch):
    alerts = mesonet.read_cap(TORNADO)
    frame = alerts.to_geopandas("2026-08-12T23:14Z", active=True)
    [feature] = alerts.to_geojson("2026-08-12T23:14Z", active=True)["features"]
    assert (frame.index.tolist(), frame.crs.to_epsg()) == ([feature["id"]], 4326)
    assert frame["status"].tolist() == ["Active"]
    assert frame.geometry.iloc[0].__geo_interface__["type"] == feature["geometry"]["type"]
    none = alerts.to_geopandas("2026-08-14T00:00Z", active=True)
    assert len(none) == 0 and none.crs == frame.crs
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(ImportError, match="to_geopandas needs geopandas: pip install 'geopandas'"):
        alerts.to_geopandas()


def test_what_is_not_an_alert_is_listed():
    document = TORNADO[0]
    text = gzip.decompress(document.read_bytes()).replace(b"<status>Actual", b"<status>Exercise")
    with pytest.warns(mesonet.MesonetWarning, match='1 left out, the first: .*status is "Exercise"'):
        alerts = mesonet.read_cap(text)
    [file] = alerts.files
    assert (len(alerts), file.read, file.refused) == (0, 0, 1)
    assert "status is \"Exercise\"" in file.refusals[0]
    assert alerts.states() == [] and alerts.to_geojson()["features"] == []


METAR = b"METAR KBUF 312354Z 21014KT="
REFUSED = {
    "kind": (lambda: mesonet.read_cap(METAR), "content: its kind is metar-bulletin; read_cap reads cap"),
    "other alerts": (lambda: mesonet.read_cap(ACTIVE), "its kind is nws-alerts; read_cap reads cap"),
    "cut": (lambda: mesonet.read_cap(gzip.decompress(TORNADO[0].read_bytes())[:900]), "content"),
    "mixed": (lambda: mesonet.read_any([METAR, TORNADO[0]]), "read separately; got content of kind metar-bulletin, 1_T"),
    "unknown": (lambda: mesonet.read_any(b"hello"), "its kind is unknown; known are"),
    "unknown beside alerts": (lambda: mesonet.read_any([TORNADO[0], b"hello"]), "alerts and no readings|its kind is unknown"),
    "GRIB": (lambda: mesonet.read_any(b"GRIB"), "read_grib reads it"),
    "zones": (lambda: mesonet.read_cap(TORNADO, zones=b"zones"), "bundle of zones"),
    "cut zones": (lambda: mesonet.read_cap(TORNADO, zones=ZONES.read_bytes()[:99]), "bundle of zones cannot be unpacked"),
    "time": (lambda: mesonet.read_cap(TORNADO).states("2026-08-12T2314"), "not an instant"),
    "box": (lambda: mesonet.read_cap(TORNADO).to_geojson(bbox=(0, 91, 1, 92)), "latitude must be from -90 to 90; got 91"),
    "sides": (lambda: mesonet.read_cap(TORNADO).to_geojson(bbox=(0, 1, 2)), "west, south, east, north; got 3 numbers"),
    "place": (lambda: mesonet.read_cap(TORNADO).to_geojson(place=(0, float("nan"))), "latitude must be from -90 to 90; got NaN"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_or_condition_that_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(MesonetError, match=message) as error:
        call()
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mesonet.read_cap(5), "a source is a path, bytes, a binary file, or several of them; got int"),
        (lambda: mesonet.read_cap(TORNADO, zones=5), "zones must be a path or bytes; got int"),
        (lambda: mesonet.read_cap(TORNADO).to_geojson(place="here"), "place must be longitude, latitude; got 'here'"),
        (lambda: mesonet.read_cap(TORNADO).to_geojson(language=b"en"), "language must be a text; got bytes"),
        (lambda: mesonet.read_cap(TORNADO).states(1.5), "at must be a text"),
    ],
)
def test_a_type_that_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def unpacked(name, to):
    to.write_bytes(gzip.decompress((DATA / "zones" / name).read_bytes()))
    return to


def test_a_bundle_of_zones_is_made_of_the_files_that_are_published(tmp_path):
    path = DATA / "nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz"
    own = unpacked("nws_ugcs_zone_simplified.geojson.gz", tmp_path / "zones.geojson")
    bundle = mesonet.zone_bundle(own)
    file = tmp_path / "zones.bin"
    file.write_bytes(bundle)

    def outlines(**zones):
        features = mesonet.read_nws_alerts(path, **zones).to_geojson("2026-05-14T16:36Z")["features"]
        return sum(feature["geometry"] is not None for feature in features)

    assert (outlines(), outlines(zones=bundle), outlines(zones=file)) == (14, 204, 204)
    shape = unpacked("eccc_zones_bc.shp.gz", tmp_path / "bc.shp")
    unpacked("eccc_zones_bc.dbf.gz", tmp_path / "bc.dbf")
    with pytest.raises(FileNotFoundError, match="bc.prj"):
        mesonet.zone_bundle(shape)
    (tmp_path / "bc.prj").write_bytes((DATA / "zones/eccc_zones_bc.prj").read_bytes())
    some = some_zones(tmp_path / "some.geojson")
    with pytest.warns(mesonet.MesonetWarning, match=r"bc.shp: 12 of 75 rows are no zones; row 10: .082640-082713. is not"):
        assert len(mesonet.zone_bundle([some, shape])) > len(mesonet.zone_bundle(some))


def some_zones(to):
    """The first zones of a published file. All of them take seconds."""
    zones = json.loads(unpacked("nws_ugcs_zone_simplified.geojson.gz", to).read_bytes())
    to.write_text(json.dumps(zones | {"features": zones["features"][:20]}), encoding="utf-8")
    return to


def test_a_file_of_zones_that_is_none_is_refused(tmp_path):
    wrong = tmp_path / "zones.geojson"
    feature = {"type": "Feature", "properties": {"name": "here"}, "geometry": None}
    for content, message in (
        (b"no json", "zones.geojson: "),
        (json.dumps({"type": "FeatureCollection", "features": [feature]}).encode(), "1 of 1 rows are no zones"),
        (b'{"type": "FeatureCollection", "features": []}', "zones.geojson: there are no zones in it"),
    ):
        wrong.write_bytes(content)
        with pytest.raises(mesonet.MesonetError, match=message):
            mesonet.zone_bundle(wrong)
    # Beside a file that has zones, too.
    good = some_zones(tmp_path / "good.geojson")
    with pytest.raises(mesonet.MesonetError, match="zones.geojson: there are no zones in it"):
        mesonet.zone_bundle([good, wrong])
    for none in ([], iter(())):
        with pytest.raises(mesonet.MesonetError, match="at least one file of zones; got none"):
            mesonet.zone_bundle(none)
