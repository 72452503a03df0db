"""Real METAR reports beside python-metar."""

import csv
import gzip
import io
from pathlib import Path

import mesonet
import numpy as np
from metar.Metar import Metar, ParserError

from .measure import in_process

PACKAGES = ("metar",)
SAMPLE = Path(__file__).parents[2] / "server-example" / "sample" / "metar_us_ca.csv.gz"
COUNT = 10_000
SIZE = f"{COUNT:,} reports"
# A temperature of the remarks has tenths.
TENTH = 0.051


def cases():
    """The last reports of the bundled sample. Both read all groups and remarks, and leave out what they cannot read."""
    with gzip.open(SAMPLE, "rt") as file:
        head, *rows = csv.reader(file)
    rows = rows[-COUNT:]
    yield to_arrow(head, rows)
    yield to_objects(rows)


def to_arrow(head, rows):
    """To a table of readings; the other only parses."""
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    content = text.getvalue().encode()

    def ours():
        return mesonet.read_feed(content, received="2024-08-03T22:00Z")

    def agree(feed, reports):
        frame = feed.to_pandas()
        air = frame[frame.observation_name == "airTemperature"].groupby("station", observed=True)
        equal = 0
        for (_, station, *_), report in zip(rows, reports, strict=True):
            if report is None or report.temp is None or station not in air.groups:
                continue
            found = frame.loc[air.groups[station], "value"].to_numpy()
            equal += np.abs(found - report.temp.value("C")).min() < TENTH
        return most_equal(equal)

    other = lambda: by_python_metar(rows)
    return in_process("METAR to Arrow", SIZE, "python-metar (parsing only)", 40, ours, other, agree)


def to_objects(rows):
    """To objects, each asked for one member."""

    def ours():
        read = []
        for raw, *_ in rows:
            try:
                read.append(mesonet.parse_metar(raw).temperature_c)
            except mesonet.MesonetError:
                read.append(None)
        return read

    def agree(temperatures, reports):
        return most_equal(
            sum(
                abs(ours - report.temp.value("C")) < TENTH
                for ours, report in zip(temperatures, reports, strict=True)
                if ours is not None and report is not None and report.temp is not None
            )
        )

    other = lambda: by_python_metar(rows)
    return in_process("METAR to objects", SIZE, "python-metar", 10, ours, other, agree)


def by_python_metar(rows):
    """The reports as python-metar reads them; None for those that it refuses."""
    month, year = int(rows[0][2][5:7]), int(rows[0][2][:4])
    read = []
    for raw, *_ in rows:
        try:
            read.append(Metar(raw, month=month, year=year, strict=False))
        except ParserError:
            read.append(None)
    return read


def most_equal(equal):
    assert equal > 0.9 * COUNT, f"only {equal:,} of {COUNT:,} temperatures are equal"
    return f"{equal:,} of {COUNT:,} temperatures equal"
