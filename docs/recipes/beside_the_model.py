"""Observations beside the model at a place: the service's readings, and the model's cell there.

Run `mesonet-server`, then `python beside_the_model.py`. The sample's model run is of 2018 and its
readings of 2024, so the days differ, which the picture says; on live data both are of today.
"""

import mesonet
import mesonet.pandas
import mesonet.xarray
import numpy as np
from style import BLUE, GRID, INK, RED, plt, save, service

BOX = (-100.0, 26.0, -80.0, 37.0)
FIELDS = ["temperature_2m", "relative_humidity_2m", "u_wind_10m", "v_wind_10m", "pressure_msl"]
PANELS = (
    ("airTemperature", "temperature", "°C"),
    ("dewPointTemperature", "dew point", "°C"),
    ("windSpeed10m", "wind at 10 m", "km/h"),
    ("mslp", "sea-level pressure", "hPa"),
)
STATIONS = ["KMSY", "KATL", "KDFW", "KMEM", "KIAH", "KBHM", "KJAN", "KLIT", "KTLH", "KSHV", "KMGM", "KMOB"]


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        found = client.stations(bbox=BOX)
        known = {
            identifier: row
            for row, details in enumerate(found["details"])
            for identifier in details.get("identifiers", {}).get("icao", [])
        }
        rows = [known[of] for of in STATIONS if of in known]
        names = [of for of in STATIONS if of in known]
        ids = found["station_id"][rows]
        readings = client.readings(
            station_ids=ids,
            start="2024-08-03T20:00Z",
            end="2024-08-03T21:10Z",
            names=[name for name, _, _ in PANELS],
        )
        cells = [
            client.point("nam211", FIELDS, lat=lat, lon=lon).to_xarray()
            for lat, lon in zip(found["lat"][rows], found["lon"][rows], strict=True)
        ]
    frame = readings.to_pandas().mesonet.at_least("Doubtful").sort_values("timestamp")
    observed = frame.pivot_table(index="station_id", columns="observation_name", values="value", aggfunc="last").reindex(ids)

    modelled = {name: [] for name, _, _ in PANELS}
    for cell in cells:
        here = cell.mesonet.to_units(
            temperature_2m="°C", u_wind_10m="km/h", v_wind_10m="km/h", pressure_msl="hPa"
        )
        air = here.temperature_2m.item()
        modelled["airTemperature"].append(air)
        modelled["dewPointTemperature"].append(mesonet.dew_point_c(air, here.relative_humidity_2m.item()))
        modelled["windSpeed10m"].append(np.hypot(here.u_wind_10m.item(), here.v_wind_10m.item()))
        modelled["mslp"].append(here.pressure_msl.item())

    figure, axes = plt.subplots(1, 4, figsize=(9.5, 4.6), sharey=True, layout="constrained")
    at = np.arange(len(names))
    for axis, (name, title, unit) in zip(axes, PANELS, strict=True):
        seen, model = observed[name].to_numpy(), np.array(modelled[name])
        axis.hlines(at, seen, model, color=GRID, lw=3, zorder=1)
        axis.scatter(seen, at, color=RED, s=34, label="observed", zorder=3)
        axis.scatter(model, at, color=BLUE, s=34, marker="D", label="model", zorder=3)
        axis.set_title(f"{title}, {unit}")
        axis.set_yticks(at, names)
        difference = np.nanmean(model - seen)
        axis.set_xlabel(f"mean of model − observed: {difference:+.1f}", color=INK)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(
        f"NAM of {cells[0].valid_time.dt.strftime('%Y-%m-%d %H:%MZ').item()} beside "
        f"reports of {frame.timestamp.max():%Y-%m-%d %H:%MZ}",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    save(figure, args.out, "beside_the_model")


if __name__ == "__main__":
    main()
