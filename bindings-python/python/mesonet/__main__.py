"""``python -m mesonet`` and the command ``mesonet``.

``mesonet demo`` shows the package on real reports that come with it, without a network.
"""

import argparse
import datetime
import sys
from importlib import resources

import numpy as np

import mesonet

REPORTS = "metar_2024-08-03.txt"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        "mesonet", description="Surface weather observations: the Python package."
    )
    parser.add_argument("--version", action="version", version=f"mesonet {mesonet.__version__}")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("demo", help="show the package on real reports, offline")
    given = parser.parse_args(arguments)
    if given.command == "demo":
        demo()
        return 0
    parser.print_help()
    return 0


def demo() -> None:
    """Reads real reports, converts, checks and grids them, and prints each step.

    >>> from mesonet.__main__ import demo
    >>> demo()  # doctest: +ELLIPSIS
    Real reports of 2024-08-03 from six airports (NOAA, public domain).
    ...
    """
    text = (resources.files("mesonet") / "sample" / REPORTS).read_bytes()
    print("Real reports of 2024-08-03 from six airports (NOAA, public domain).\n")
    print(text.decode().splitlines()[0], "\n")

    feed = mesonet.read_feed(text, received="2024-08-03T22:00Z")
    [file] = feed.files
    print(f"mesonet.read_feed: {file.read} reports, {len(feed)} readings, {file.refused} refused.")
    print(f"  columns: {', '.join(feed.column_names)}\n")

    temperature, dew_point = np.array([30.0, 27.2]), np.array([24.4, 25.6])
    humidity = mesonet.relative_humidity_pct(temperature, dew_point)
    print(f"mesonet.convert: {temperature} °C = {mesonet.convert(temperature, '°C', '°F')} °F")
    print(f"mesonet.relative_humidity_pct: {humidity.round(1)} %")
    print(f"mesonet.heat_index_c: {mesonet.heat_index_c(temperature, humidity).round(1)} °C\n")

    times = np.array(["2024-08-03T16:53", "2024-08-03T18:53", "2024-08-03T19:53", "2024-08-03T20:53"], "M8[m]")
    values = [31.1, 30.0, 28.9, 80.0]
    air = mesonet.SeriesReadings("airTemperature", "Instantaneous", 0, times, values)
    [verdicts] = mesonet.check_station(-80.32, 25.79, 4.0, [air])
    print("mesonet.check_station: Miami's temperatures, the last one made wrong:")
    for value, base, reason in zip(values, *verdicts, strict=True):
        print(f"  {value:5} °C  {mesonet.BaseQuality(int(base))}, {mesonet.ReasonQuality(int(reason))}")

    hours = (np.datetime64("2024-08-03T17:00"), np.datetime64("2024-08-03T20:00"))
    grid = mesonet.resample(times, values, *hours, datetime.timedelta(hours=1))
    print("\nmesonet.resample: the latest reading at each hour, and its age:")
    for at, value, age in zip(grid.times, grid.values, grid.age, strict=True):
        print(f"  {at.astype('M8[m]')}Z  {value:5} °C  {age.astype('m8[m]').astype(int):3} min old")
    print("\nThe service as frames: mesonet.Client('http://localhost:8080').readings().to_pandas()")


if __name__ == "__main__":
    sys.exit(main())
