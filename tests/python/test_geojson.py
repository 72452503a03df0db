"""The server's GeoJSON, checked by an independent validator."""

import csv
import gzip
import json
import urllib.request
from pathlib import Path

import geojson_validator
import pytest
import shapely
from geojson_validator.geometry_validation import INVALID_CRITERIA

ZONES = Path(__file__).parent.parent / "data" / "zones"
# What RFC 7946 says about polygons and coordinates.
CRITERIA = ["excessive_coordinate_precision", "3d_coordinates", "outside_lat_lon_boundaries"]


@pytest.fixture(scope="module")
def api(server):
    """Sends a GET request to an address below the prefix of the service."""
    return lambda path: json.load(urllib.request.urlopen(f"{server.origin}/api/v1{path}", timeout=60))


def codes_by_kind():
    """Returns the codes of all zones, from their source files."""
    with gzip.open(ZONES / "CLC_Base_Zone.csv.gz", "rt", encoding="utf-8") as table:
        yield "base", [row["CLC"] for row in csv.DictReader(table)]
    for kinds, name in [(["public", "marine"], "zone"), (["fire"], "firewx"), (["county"], "county")]:
        with gzip.open(ZONES / f"nws_ugcs_{name}_simplified.geojson.gz") as file:
            features = json.load(file)["features"]
        codes = list(dict.fromkeys(feature["properties"]["ugc"] for feature in features))
        for kind in kinds:
            yield kind, codes


@pytest.mark.long
def test_zones(api):
    geojson_validator.configure_logging(enabled=False)
    counts = {}
    for kind, codes in codes_by_kind():
        for start in range(0, len(codes), 2000):
            query = ",".join(codes[start : start + 2000])
            zones = api(f"/alerts/zones?kind={kind}&codes={query}")
            counts[kind] = counts.get(kind, 0) + len(zones["features"])
            assert geojson_validator.validate_structure(zones) == {}
            found = geojson_validator.validate_geometries(zones, INVALID_CRITERIA, CRITERIA)
            assert found["invalid"] == {} and found["problematic"] == {}, (kind, found)
            for feature in zones["features"]:
                check_antimeridian(feature)
                check_valid(feature)
    # Those with an outline: the table of ECCC's base zones has none, other files have some.
    assert counts == {"base": 182, "public": 4076, "marine": 699, "fire": 3599, "county": 3266}


def test_alerts(api):
    geojson_validator.configure_logging(enabled=False)
    for query in ["", "?lang=fr", "?codes=041320", "?bbox=160,10,-120,80"]:
        alerts = api(f"/alerts{query}")
        assert geojson_validator.validate_structure(alerts) == {}
        found = geojson_validator.validate_geometries(alerts, INVALID_CRITERIA, CRITERIA)
        assert found["invalid"] == {} and found["problematic"] == {}, found
        for feature in alerts["features"]:
            check_antimeridian(feature)
            check_valid(feature)
            is_somewhere = feature["geometry"] or feature["properties"].get("missingZones")
            assert is_somewhere, feature["id"]
    assert len(api("/alerts")["features"]) == 397


def check_antimeridian(feature):
    """The validator takes 180 and -180 for a crossing, so that is checked here."""
    geometry = feature["geometry"] or {"type": "MultiPolygon", "coordinates": []}
    many = geometry["type"] == "MultiPolygon"
    for polygon in geometry["coordinates"] if many else [geometry["coordinates"]]:
        for ring in polygon:
            steps = zip(ring, ring[1:], strict=False)
            assert all(abs(to[0] - at[0]) <= 180 for at, to in steps), feature["id"]


def check_valid(feature):
    """Outlines are valid by OGC's Simple Features, as GEOS sees them."""
    if feature["geometry"]:
        shape = shapely.geometry.shape(feature["geometry"])
        assert shape.is_valid, (feature["id"], shapely.is_valid_reason(shape))


def test_the_validator_finds_what_is_wrong():
    geojson_validator.configure_logging(enabled=False)
    ring = [[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]]
    wrong = {"type": "Polygon", "coordinates": [ring]}
    found = geojson_validator.validate_geometries(wrong, INVALID_CRITERIA, CRITERIA)
    assert found["invalid"] == {"exterior_not_ccw": [0]}
    wrong["coordinates"] = [ring[::-1][:-1]]
    found = geojson_validator.validate_geometries(wrong, INVALID_CRITERIA, CRITERIA)
    assert "unclosed" in found["invalid"]
