"""A map of stations with wind barbs, coloured by temperature.

Run `mesonet-server`, then `python station_map.py`. The coast and the borders come from the outlines
of the service's own alert zones, so that nothing else has to be downloaded.
"""

import mesonet
import mesonet.pandas
import numpy as np
from style import GRID, INK, plt, save, service

BOX = (-88.0, 24.0, -79.0, 31.5)
TIME = "2024-08-03T21:10Z"
ZONES = [f"FLZ{number:03}" for number in range(1, 210)]


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        readings = client.readings(
            bbox=BOX,
            start="2024-08-03T19:30Z",
            end=TIME,
            names=["airTemperature", "windSpeed10m", "windDirection"],
        )
        stations = client.stations(bbox=BOX).to_pandas().set_index("station_id")
        zones = client.zones(ZONES)

    # One row for each station; where it has several series, the newest reading.
    frame = readings.to_pandas().mesonet.at_least("Doubtful").sort_values("timestamp")
    table = frame.pivot_table(index="station_id", columns="observation_name", values="value", aggfunc="last")
    table = table.join(stations[["lon", "lat"]]).dropna(subset=["airTemperature", "windSpeed10m"])

    figure, axes = plt.subplots(figsize=(7.5, 7.0), layout="constrained")
    for zone in zones:
        for ring in rings(zone["geometry"]):
            axes.fill(*np.array(ring).T, facecolor="#f6f4ee", edgecolor="#c9c3b5", lw=0.5, zorder=1)
    knots = mesonet.convert(table.windSpeed10m, "km/h", "kt")
    angle = np.radians(table.windDirection.fillna(0.0))
    calm = knots < 2.5
    dots = axes.scatter(
        table.lon, table.lat, c=table.airTemperature, cmap="RdYlBu_r", s=26, edgecolor=INK, lw=0.4, zorder=3
    )
    axes.barbs(
        table.lon[~calm],
        table.lat[~calm],
        (-knots * np.sin(angle))[~calm],
        (-knots * np.cos(angle))[~calm],
        length=5.5,
        lw=0.7,
        color=INK,
        zorder=2,
    )
    axes.scatter(table.lon[calm], table.lat[calm], s=80, facecolor="none", edgecolor=INK, lw=0.6, zorder=2)
    axes.set(xlim=BOX[::2], ylim=BOX[1::2], xlabel="longitude", ylabel="latitude")
    # A degree of longitude is as long as it is in the middle of the map.
    axes.set_aspect(1 / np.cos(np.radians(np.mean(BOX[1::2]))))
    axes.set_title(f"{len(table)} stations, newest reports before {TIME.replace('T', ' ')}")
    axes.set_facecolor("#eaf2f8")
    axes.grid(color=GRID)
    bar = figure.colorbar(dots, ax=axes, shrink=0.7, pad=0.01)
    bar.set_label("air temperature, °C; barbs in knots")
    save(figure, args.out, "station_map")


def rings(geometry):
    """The outer rings of a polygon or of several."""
    polygons = [geometry["coordinates"]] if geometry["type"] == "Polygon" else geometry["coordinates"]
    return [polygon[0] for polygon in polygons]


if __name__ == "__main__":
    main()
