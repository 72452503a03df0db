"""Packs the outlines of the time zones of Canada and the United States for `core/src/geo/time_zone.rs`.

Source: timezone-boundary-builder (https://github.com/evansiroky/timezone-boundary-builder), data of OpenStreetMap
contributors under the Open Database License 1.0, as the Python package timezonefinder 6.5.9 (MIT) has it:

    pip install timezonefinder==6.5.9 shapely==2.*
    python tests/vectors/time_zones.py core/src/geo/time_zones.bin

As `regions.py` writes outlines, but the name of a zone is a text after its length, and there is no country. Outlines are
simplified by 0.002°, which is 220 m; islands whose box is less than 0.01° in both directions are left out.
"""

import sys
from pathlib import Path

from regions import varint, zigzag
from shapely import union_all
from shapely.geometry import Polygon
from timezonefinder import TimezoneFinder

TOLERANCE_DEG = 0.002
SMALLEST_DEG = 0.01

# Those that zone.tab of the tz database (2024b) has for CA, US, AS, GU, MP, PR and VI.
NAMES = """
America/St_Johns America/Halifax America/Glace_Bay America/Moncton America/Goose_Bay America/Blanc-Sablon America/Toronto
America/Iqaluit America/Atikokan America/Winnipeg America/Resolute America/Rankin_Inlet America/Regina
America/Swift_Current America/Edmonton America/Cambridge_Bay America/Inuvik America/Creston America/Dawson_Creek
America/Fort_Nelson America/Whitehorse America/Dawson America/Vancouver
America/New_York America/Detroit America/Kentucky/Louisville America/Kentucky/Monticello America/Indiana/Indianapolis
America/Indiana/Vincennes America/Indiana/Winamac America/Indiana/Marengo America/Indiana/Petersburg
America/Indiana/Vevay America/Chicago America/Indiana/Tell_City America/Indiana/Knox America/Menominee
America/North_Dakota/Center America/North_Dakota/New_Salem America/North_Dakota/Beulah America/Denver America/Boise
America/Phoenix America/Los_Angeles America/Anchorage America/Juneau America/Sitka America/Metlakatla America/Yakutat
America/Nome America/Adak Pacific/Honolulu Pacific/Pago_Pago Pacific/Guam Pacific/Saipan America/Puerto_Rico
America/St_Thomas
""".split()


def rings(polygons):
    for polygon in getattr(polygons, "geoms", [polygons]):
        for ring in (polygon.exterior, *polygon.interiors):
            west, south, east, north = ring.bounds
            if max(east - west, north - south) >= SMALLEST_DEG:
                yield [tuple(round(degrees * 1000) for degrees in point) for point in ring.coords[:-1]]


def outlines():
    """Name and outline of each zone."""
    finder = TimezoneFinder(in_memory=True)
    for name in sorted(NAMES):
        parts = finder.get_geometry(tz_name=name, coords_as_pairs=True)
        whole = union_all([Polygon(part[0], part[1:]).buffer(0) for part in parts])
        yield name, whole.simplify(TOLERANCE_DEG)


def packed():
    last, zones = [0, 0], list(outlines())
    yield from varint(len(zones))
    for name, outline in zones:
        of_zone = list(rings(outline))
        yield from varint(len(name))
        yield from name.encode()
        yield from varint(len(of_zone))
        for ring in of_zone:
            yield from varint(len(ring))
        for point in (point for ring in of_zone for point in ring):
            for axis, value in enumerate(point):
                yield from varint(zigzag(value - last[axis]))
                last[axis] = value


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(bytes(packed()))
