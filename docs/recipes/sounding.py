"""A sounding of a model: a skew-T log-p diagram with its hodograph.

Run `mesonet-server` (its sample has a run of NAM), then `python sounding.py`.
"""

import mesonet
import mesonet.xarray
import numpy as np
from style import BLUE, GREEN, GRID, RED, plt, save, service

PLACE = {"lat": 29.95, "lon": -90.07}


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        sounding = client.sounding("nam211", **PLACE).to_xarray()
    sounding = sounding.mesonet.to_units(temperature="°C", u_wind="kt", v_wind="kt")
    pressure = sounding.level_hpa.values
    air = sounding.temperature.values
    dew = mesonet.dew_point_c(air, sounding.relative_humidity.values)

    figure = plt.figure(figsize=(8.5, 7.0), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(2, 1.05))
    place_text = f"{float(sounding.lat):.2f}°, {float(sounding.lon):.2f}°"
    time = np.datetime_as_string(sounding.valid_time.values, "m").replace("T", " ")
    mesonet.plot.skew_t(
        pressure,
        air,
        dew,
        u_kt=sounding.u_wind,
        v_kt=sounding.v_wind,
        title=f"NAM at {place_text}, {time}Z",
        axes=left.subplots(),
    )
    hodograph(right.subplots(2, 1, height_ratios=(1.2, 1)), sounding)
    save(figure, args.out, "sounding")


def hodograph(both, sounding):
    axes, table = both
    height_km = (sounding.geopotential_height - sounding.geopotential_height[0]).values / 1000
    # Up to the first level above 12 km.
    keep = slice(np.searchsorted(height_km, 12) + 1)
    u, v = sounding.u_wind.values, sounding.v_wind.values
    reach = 10 * np.ceil(np.hypot(u, v)[keep].max() / 10)
    for radius in np.arange(10, reach + 1, 10):
        axes.add_patch(plt.Circle((0, 0), radius, fill=False, color=GRID, lw=0.8))
        axes.text(0, -radius, f"{radius:.0f}", fontsize=7, ha="center", va="center", color="#8895a2")
    for low, high, colour in ((0, 3, RED), (3, 6, "#e69f00"), (6, 9, GREEN), (9, 12, BLUE)):
        # Up to the first level of the next part, so that the line is whole.
        first, last = np.searchsorted(height_km, [low, high])
        part = slice(max(first - 1, 0), last + 1)
        axes.plot(u[part], v[part], color=colour, lw=2, label=f"{low}–{high} km")
    axes.axhline(0, color=GRID, lw=0.8)
    axes.axvline(0, color=GRID, lw=0.8)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[])
    axes.set_title("Hodograph, kt")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=2, fontsize=8)

    table.axis("off")
    rows = [("hPa", "m", "°C", "kt")]
    for hpa in (1000, 850, 700, 500, 300, 200):
        at = sounding.sel(level_hpa=hpa)
        speed = np.hypot(float(at.u_wind), float(at.v_wind))
        rows.append((f"{hpa}", f"{float(at.geopotential_height):,.0f}", f"{float(at.temperature):.1f}", f"{speed:.0f}"))
    drawn = table.table(rows, loc="center", edges="horizontal", cellLoc="right")
    for cell in drawn.get_celld().values():
        cell.set_edgecolor(GRID)
    drawn.scale(1, 1.25)


if __name__ == "__main__":
    main()
