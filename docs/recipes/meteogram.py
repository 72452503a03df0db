"""A meteogram: temperature, humidity, wind, pressure and precipitation of one station over a day.

Run `mesonet-server` (it replays real reports of 2024-08-03), then `python meteogram.py`.
"""

import mesonet
from style import save, service

STATION = "KMIA"
START, END = "2024-08-03 15:00", "2024-08-03 21:30"
NAMES = [
    "airTemperature",
    "dewPointTemperature",
    "relativeHumidity",
    "windSpeed10m",
    "windGust10m",
    "windDirection",
    "mslp",
    "precipitation",
]


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        readings = client.readings(start=START, end=END, step="10min", station_ids=[STATION], names=NAMES)
        name = client.station(STATION)["name"]
    figure = mesonet.plot.meteogram(readings, title=f"{name} ({STATION})")
    save(figure, args.out, "meteogram")


if __name__ == "__main__":
    main()
