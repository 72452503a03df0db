"""A sounding of a model: a skew-T log-p diagram with its hodograph.

Run `mesonet-server` (its sample has a run of NAM), then `python sounding.py`.
"""

import mesonet
import mesonet.xarray
import numpy as np
from matplotlib.ticker import NullFormatter, ScalarFormatter
from style import BLUE, GREEN, GRID, INK, RED, plt, save, service

PLACE = {"lat": 29.95, "lon": -90.07}
BOTTOM_HPA, TOP_HPA = 1050.0, 100.0
SKEW = 37.0
"""By how many degrees an isotherm leans over a factor e of pressure."""

BARBS_AT = 54.0
"""Where the barbs stand, in degrees at the bottom."""

KAPPA = 287.05 / 1004.6
"""Gas constant of dry air over its heat capacity."""


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
    axes = left.subplots()
    background(axes)
    axes.plot(skewed(air, pressure), pressure, color=RED, lw=2, label="temperature")
    axes.plot(skewed(dew, pressure), pressure, color=GREEN, lw=2, label="dew point")
    axes.barbs(
        np.full(len(pressure), BARBS_AT),
        pressure,
        sounding.u_wind,
        sounding.v_wind,
        length=6,
        lw=0.8,
        color=INK,
        zorder=5,
    )
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 1.0), facecolor="white", frameon=True, edgecolor="none")
    place_text = f"{float(sounding.lat):.2f}°, {float(sounding.lon):.2f}°"
    time = np.datetime_as_string(sounding.valid_time.values, "m").replace("T", " ")
    axes.set_title(f"NAM at {place_text}, {time}Z")

    hodograph(right.subplots(2, 1, height_ratios=(1.2, 1)), sounding)
    save(figure, args.out, "sounding")


def skewed(celsius, hpa):
    """Where a temperature is drawn at a pressure."""
    return celsius + SKEW * np.log(BOTTOM_HPA / np.asarray(hpa))


def background(axes):
    levels = np.geomspace(BOTTOM_HPA, TOP_HPA, 60)
    for celsius in range(-120, 50, 10):
        axes.plot(skewed(celsius, levels), levels, color=BLUE if celsius == 0 else GRID, lw=0.7, zorder=1)
    for theta in range(250, 460, 10):
        dry = theta * (levels / 1000.0) ** KAPPA - 273.15
        axes.plot(skewed(dry, levels), levels, color="#e0b090", lw=0.5, zorder=1)
    for start in range(-20, 40, 5):
        axes.plot(skewed(moist(start, levels), levels), levels, color="#9fc7a5", lw=0.5, ls="--", zorder=1)
    axes.set_yscale("log")
    axes.set(ylim=(BOTTOM_HPA, TOP_HPA), xlim=(-35, 60), ylabel="hPa", xlabel="°C at the bottom")
    axes.set_yticks([1000, 850, 700, 500, 400, 300, 250, 200, 150, 100])
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", visible=False)


def moist(celsius, levels):
    """The temperature of a saturated parcel that rises from the first level (pseudoadiabatic lapse
    rate of the AMS Glossary), in steps small enough for a drawing."""
    kelvin, along = celsius + 273.15, []
    for hpa, following in zip(levels, np.append(levels[1:], levels[-1]), strict=True):
        along.append(kelvin - 273.15)
        vapour = 6.112 * np.exp(17.67 * (kelvin - 273.15) / (kelvin - 29.65))
        mixing = 0.622 * vapour / max(hpa - vapour, 1.0)
        warming = (287.05 * kelvin + 2.501e6 * mixing) / (
            1004.6 + 2.501e6**2 * mixing * 0.622 / (287.05 * kelvin**2)
        )
        kelvin += warming / hpa * (following - hpa)
    return np.array(along)


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
