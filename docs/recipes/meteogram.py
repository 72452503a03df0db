"""A meteogram: temperature, humidity, wind, pressure and visibility of one station over a day.

Run `mesonet-server` (it replays real reports of 2024-08-03), then `python meteogram.py`.
"""

import matplotlib.dates as mdates
import mesonet
import mesonet.pandas
import numpy as np
from style import BLUE, GREEN, INK, RED, plt, save, service

STATION = "KMIA"
START, END = "2024-08-03T15:00Z", "2024-08-03T21:30Z"


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        stations = client.stations(search=STATION)
        station, name = stations["station_id"][0], stations["name"][0]

        def series(variable):
            """The readings that are not in doubt, as pandas."""
            try:
                frame = client.series(station, variable, START, END).to_pandas()
            except mesonet.ServiceError as error:
                if error.status == 404:
                    raise SystemExit(f"{name} has no {variable}: {error.message}") from None
                raise
            return frame.mesonet.at_least("Doubtful").set_index("timestamp").value

        air, dew = series("airTemperature"), series("dewPointTemperature")
        speed, direction = series("windSpeed10m"), series("windDirection")
        pressure, humidity = series("mslp"), series("relativeHumidity")

    figure, axes = plt.subplots(4, 1, figsize=(7.5, 7.5), sharex=True, layout="constrained")
    warm, wet, wind, press = axes
    figure.suptitle(f"{name} ({STATION})", x=0.01, ha="left", fontweight="bold", fontsize=12)

    warm.plot(air.index, air, color=RED, marker="o", ms=3, label="air")
    warm.plot(dew.index, dew, color=GREEN, marker="o", ms=3, label="dew point")
    warm.fill_between(air.index, dew.reindex(air.index), air, color=RED, alpha=0.07)
    warm.set_ylabel("°C")
    warm.legend(ncols=2, loc="upper left", bbox_to_anchor=(0, 1.22), borderaxespad=0)

    wet.fill_between(humidity.index, humidity, color=BLUE, alpha=0.25)
    wet.plot(humidity.index, humidity, color=BLUE)
    wet.set(ylim=(0, 100), ylabel="relative\nhumidity, %")

    both = speed.index.intersection(direction.index)
    wind.plot(speed.index, speed, color=INK, lw=1)
    # A calm has no direction: it is drawn as the circle of a barb of 0.
    angle, knots = np.radians(direction[both]), mesonet.convert(speed[both], "km/h", "kt")
    top = max(speed.max() * 1.6, 20)
    where = np.full(len(both), top * 0.82)
    wind.barbs(both, where, -knots * np.sin(angle), -knots * np.cos(angle), length=6, lw=0.8, color=INK)
    wind.set(ylim=(0, top), ylabel="wind at 10 m,\nkm/h; barbs in kt")

    press.plot(pressure.index, pressure, color=BLUE, marker="o", ms=3)
    press.set_ylabel("sea-level\npressure, hPa")
    press.ticklabel_format(axis="y", useOffset=False)
    press.xaxis.set_major_locator(mdates.HourLocator())
    press.xaxis.set_major_formatter(mdates.DateFormatter("%Hh"))
    press.set_xlabel(f"{air.index[0]:%Y-%m-%d}, UTC")
    save(figure, args.out, "meteogram")


if __name__ == "__main__":
    main()
