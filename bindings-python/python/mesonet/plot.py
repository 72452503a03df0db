"""Drawings of weather with Matplotlib: meteogram, wind rose, skew-T, summaries of days.

Each function returns the ``matplotlib.figure.Figure``. Nothing is shown or saved: a notebook shows what a
cell returns, and ``figure.savefig("name.png")`` saves it. :mod:`mesonet.chart` has the same for Altair.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import floats
from ._mesonet import MesonetError
from ._optional import need
from ._plotted import Panel, Rose, SeriesOfStation, degrees_of, panels_of, rose_of, series_of_station
from .unit import convert

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from .client.bulk import BulkTable
    from .client.summaries import Summaries
    from .client.table import ServiceTable
    from .table import Rows

__all__ = ["meteogram", "skew_t", "summary", "wind_rose"]

_INK, _GRID, _RED, _BLUE, _GREEN = "#22303c", "#d7dde3", "#c0392b", "#1f6fb2", "#2e8b57"
_STYLE = {
    "font.size": 9,
    "axes.edgecolor": _GRID,
    "axes.labelcolor": _INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.frameon": False,
}

_BOTTOM_HPA, _TOP_HPA = 1050.0, 100.0
_SKEW = 37.0
"""By how many degrees an isotherm leans over a factor e of pressure."""
_KAPPA = 287.05 / 1004.6
"""Gas constant of dry air over its heat capacity."""


def meteogram(
    readings: "Rows | ServiceTable | BulkTable | pandas.DataFrame | polars.DataFrame | pyarrow.Table",
    *,
    title: str = "",
    at_least: str = "Doubtful",
) -> "Figure":
    """Temperature, humidity, wind, pressure and precipitation of one station over time.

    ``readings`` is what the package returns of one station: :meth:`mesonet.Client.readings`,
    :meth:`mesonet.Record.readings`, :func:`mesonet.read_feed`, an export, or a data frame with the
    columns ``observation_name``, ``timestamp`` (UTC) and ``value``. Values are converted from the
    column ``unit``; without one, they are in the units of the service.
    Readings whose base quality is worse than ``at_least`` are left out. A panel without readings is
    left out too. If a variable has several series, one of them is drawn: of those with the shortest
    interval, as far as it is known, the one with the most readings. Precipitation is drawn over its
    interval, or as lines if the readings do not say it, as those of :meth:`mesonet.Client.readings`.

    Raises :class:`mesonet.MesonetError` for readings of several stations, for a unit that cannot be
    converted, and if there is nothing to draw.

    >>> import mesonet
    >>> text = b"METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991 RMK SLP125="
    >>> figure = mesonet.plot.meteogram(mesonet.read_feed(text, received="2024-08-03"))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['°C', 'wind at 10 m,\\nkm/h; barbs in kt', 'sea-level\\npressure, hPa']
    """
    of = series_of_station(readings, at_least)
    panels = panels_of(of)
    pyplot, dates = need("matplotlib.pyplot", "meteogram"), need("matplotlib.dates", "meteogram")
    with pyplot.rc_context(_STYLE):
        heights = [_DRAWN[panel.name][1] for panel in panels]
        figure, axes = pyplot.subplots(
            len(panels), 1, figsize=(7.5, 1.6 * sum(heights)), sharex=True, layout="constrained",
            height_ratios=heights, squeeze=False,
        )  # fmt: skip
        for panel, one in zip(panels, axes[:, 0], strict=True):
            _DRAWN[panel.name][0](one, of, panel)
        locator = dates.AutoDateLocator()
        last = axes[-1, 0]
        last.xaxis.set_major_locator(locator)
        last.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        last.set_xlabel("UTC")
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
        pyplot.close(figure)
    return figure  # type: ignore[no-any-return]


def _temperature(axes: "Axes", of: SeriesOfStation, panel: Panel) -> None:
    colours = {"air": _RED, "dew point": _GREEN, "sea surface": _BLUE}
    for name, label in panel.lines.items():
        axes.plot(*of[name], color=colours[label], marker="o", ms=3, label=label)
    axes.set_ylabel(panel.unit)
    axes.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)


def _humidity(axes: "Axes", of: SeriesOfStation, panel: Panel) -> None:
    [(name, label)] = panel.lines.items()
    times, values = of[name]
    axes.fill_between(times, values, color=_BLUE, alpha=0.25)
    axes.plot(times, values, color=_BLUE)
    axes.set(ylim=(0, 100), ylabel=_titled(label, panel.unit))


def _wind(axes: "Axes", of: SeriesOfStation, panel: Panel) -> None:
    top, title = 20.0, "gust,\nkm/h"
    for name, label in panel.lines.items():
        times, speed = of[name]
        if label == "gust":
            axes.plot(times, speed, color=_RED, ls="", marker="_", label=label)
            top = max(top, float(np.max(speed)) * 1.35)
            axes.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
            continue
        axes.plot(times, speed, color=_INK, lw=1)
        top = max(top, float(np.max(speed)) * 1.6)
        title = f"{label},\nkm/h; barbs in kt"
    for name, label in panel.lines.items():
        if label != "gust" and "windDirection" in of:
            _barbs(axes, of[name], of["windDirection"], top * 0.86)
    axes.set(ylim=(0, top), ylabel=title)


def _barbs(axes: "Axes", speeds: "tuple[Any, Any]", directions: "tuple[Any, Any]", height: float) -> None:
    (times, speed), (at, degrees) = speeds, directions
    # A calm has no direction: it is drawn as the circle of a barb of 0.
    both, first, second = np.intersect1d(times, at, return_indices=True)
    # Barbs that overlap cannot be read.
    every = slice(None, None, max(1, len(both) // 24))
    angle, knots = np.radians(degrees[second]), convert(speed[first], "km/h", "kt")
    u, v = -knots * np.sin(angle), -knots * np.cos(angle)
    where = np.full(len(both), height)
    axes.barbs(both[every], where[every], u[every], v[every], length=6, lw=0.8, color=_INK)


def _pressure(axes: "Axes", of: SeriesOfStation, panel: Panel) -> None:
    [(name, label)] = panel.lines.items()
    axes.plot(*of[name], color=_BLUE, marker="o", ms=3)
    axes.set_ylabel(_titled(label, panel.unit))
    axes.ticklabel_format(axis="y", useOffset=False)


def _precipitation(axes: "Axes", of: SeriesOfStation, panel: Panel) -> None:
    [(name, label)] = panel.lines.items()
    times, amounts = of[name]
    if minutes := of.minutes[name]:
        axes.bar(times, amounts, width=np.timedelta64(-minutes, "m"), align="edge", color=_BLUE, alpha=0.6)
    else:
        axes.vlines(times, 0, amounts, color=_BLUE, alpha=0.6, lw=4)
    axes.set(ylim=(0, max(float(np.max(amounts)) * 1.2, 1.0)), ylabel=f"{label},\n{panel.unit}")


def _titled(label: str, unit: str) -> str:
    first, second = label.split(" ")
    return f"{first}\n{second}, {unit}"


_DRAWN = {
    "temperature": (_temperature, 1.3),
    "humidity": (_humidity, 0.8),
    "wind": (_wind, 1.2),
    "pressure": (_pressure, 1.0),
    "precipitation": (_precipitation, 0.8),
}
"""How each panel is drawn, and its height."""


def wind_rose(
    speed_kmh: "ArrayLike",
    direction_deg: "ArrayLike",
    *,
    sectors: int = 16,
    classes_kmh: Sequence[float] = (10, 20, 30, 40, 60),
    title: str = "",
) -> "Figure":
    """How often the wind blows from where, and how fast: shares of all winds, calms among them.

    ``speed_kmh`` and ``direction_deg`` (from where it blows; NaN or any value for a calm) are of one
    length. Winds with an unknown speed, and winds that move but whose direction is unknown, are left
    out; NaN and infinite values are unknown. A sector reaches half its width to both sides of its
    direction; ``classes_kmh`` are the lower bounds of the classes after the first. The share of calms
    stands in the middle.

    >>> import mesonet
    >>> figure = mesonet.plot.wind_rose([0, 12, 15, 33], [0, 350, 10, 180])
    >>> figure.axes[0].texts[0].get_text()
    'calm\\n25 %'
    """
    rose = rose_of(speed_kmh, direction_deg, sectors, classes_kmh)
    pyplot = need("matplotlib.pyplot", "wind_rose")
    with pyplot.rc_context(_STYLE):
        figure = pyplot.figure(figsize=(5.6, 4.6), layout="constrained")
        axes = figure.add_subplot(projection="polar")
        axes.set_theta_zero_location("N")
        axes.set_theta_direction(-1)
        # The middle is for the calms.
        inner = max(float(rose.shares.sum(0).max()) * 0.22, 0.5)
        bottom = np.zeros(sectors)
        colours = pyplot.get_cmap("viridis")(np.linspace(0.05, 0.95, len(rose.labels)))
        for shares, label, colour in zip(rose.shares, rose.labels, colours, strict=True):
            axes.bar(
                np.radians(rose.directions), shares, width=np.radians(360 / sectors) * 0.9, bottom=bottom,
                color=colour, label=f"{label} km/h", zorder=3,
            )  # fmt: skip
            bottom += shares
        axes.set_rorigin(-inner)
        axes.set_xticks(np.radians(np.arange(0, 360, 45)), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
        axes.yaxis.set_major_formatter(lambda share, _: f"{share:g} %")
        axes.set_rlabel_position(22.5)
        axes.tick_params(axis="y", labelsize=7)
        axes.spines["polar"].set_visible(False)
        axes.text(0, -inner, f"calm\n{rose.calm:.0f} %", ha="center", va="center", fontsize=8)
        axes.legend(loc="center left", bbox_to_anchor=(1.08, 0.5), title=f"{rose.count} winds", reverse=True)
        if title:
            axes.set_title(title, loc="left", fontweight="bold", pad=18)
        pyplot.close(figure)
    return figure  # type: ignore[no-any-return]


def skew_t(
    pressure_hpa: "ArrayLike",
    temperature_c: "ArrayLike",
    dew_point_c: "ArrayLike | None" = None,
    *,
    u_kt: "ArrayLike | None" = None,
    v_kt: "ArrayLike | None" = None,
    title: str = "",
    axes: "Axes | None" = None,
) -> "Figure":
    """A sounding as a skew-T log-p diagram: temperature and dew point over dry and moist adiabats, with
    barbs of the wind.

    The columns are of one length, of any order of levels. ``u_kt`` and ``v_kt`` are the components
    towards true east and north. ``axes`` draws it into axes that are there. The moist adiabats
    follow the pseudoadiabatic lapse rate of the AMS Glossary.

    >>> import mesonet
    >>> figure = mesonet.plot.skew_t([1000, 850, 500, 250], [25, 15, -12, -45], [20, 9, -30, -60])
    >>> [line.get_label() for line in figure.axes[0].lines[-2:]]
    ['temperature', 'dew point']
    """
    pyplot, ticker = need("matplotlib.pyplot", "skew_t"), need("matplotlib.ticker", "skew_t")
    hpa = _column(pressure_hpa, "pressure_hpa")
    order = np.argsort(-hpa)
    hpa = hpa[order]

    def levels_of(given: "ArrayLike", what: str) -> "NDArray[np.float64]":
        values = _column(given, what)
        if len(values) != len(hpa):
            raise MesonetError(f"{what} must have a value for each of {len(hpa)} levels; got {len(values)}")
        return values[order]

    with pyplot.rc_context(_STYLE):
        own = axes is None
        if axes is None:
            axes = pyplot.figure(figsize=(6.2, 7.0), layout="constrained").subplots()
        _skew_t_background(axes)
        air = levels_of(temperature_c, "temperature_c")
        axes.plot(skewed(air, hpa), hpa, color=_RED, lw=2, label="temperature")
        if dew_point_c is not None:
            dew = levels_of(dew_point_c, "dew_point_c")
            axes.plot(skewed(dew, hpa), hpa, color=_GREEN, lw=2, label="dew point")
        if u_kt is not None and v_kt is not None:
            winds = levels_of(u_kt, "u_kt"), levels_of(v_kt, "v_kt")
            axes.barbs(np.full(len(hpa), 54.0), hpa, *winds, length=6, lw=0.8, color=_INK, zorder=5)
        axes.set_yscale("log")
        axes.set(ylim=(_BOTTOM_HPA, _TOP_HPA), xlim=(-35, 60), ylabel="hPa", xlabel="°C at the bottom")
        axes.set_yticks([1000, 850, 700, 500, 400, 300, 250, 200, 150, 100])
        axes.yaxis.set_major_formatter(ticker.ScalarFormatter())
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper left", facecolor="white", frameon=True, edgecolor="none")
        if title:
            axes.set_title(title, loc="left", fontweight="bold")
        figure: Figure = axes.figure  # type: ignore[assignment]
        if own:
            pyplot.close(figure)
    return figure


def skewed(celsius: "ArrayLike", hpa: "ArrayLike") -> "NDArray[np.float64]":
    """Where :func:`skew_t` draws a temperature at a pressure, in degrees at the bottom.

    >>> import mesonet
    >>> mesonet.plot.skewed([0.0, 0.0], [1050.0, 500.0]).round(1).tolist()
    [0.0, 27.5]
    """
    return np.asarray(celsius, float) + _SKEW * np.log(_BOTTOM_HPA / np.asarray(hpa, float))


def _skew_t_background(axes: "Axes") -> None:
    levels = np.geomspace(_BOTTOM_HPA, _TOP_HPA, 60)
    for celsius in range(-120, 50, 10):
        axes.plot(skewed(celsius, levels), levels, color=_BLUE if celsius == 0 else _GRID, lw=0.7, zorder=1)
    for theta in range(250, 460, 10):
        dry = theta * (levels / 1000.0) ** _KAPPA - 273.15
        axes.plot(skewed(dry, levels), levels, color="#e0b090", lw=0.5, zorder=1)
    for start in range(-20, 40, 5):
        axes.plot(skewed(_moist(start, levels), levels), levels, color="#9fc7a5", lw=0.5, ls="--", zorder=1)


def _moist(celsius: float, levels: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """The temperature of a saturated parcel that rises from the first level."""
    kelvin, along = celsius + 273.15, [celsius]
    for hpa, following in zip(levels, levels[1:], strict=False):
        step = following - hpa
        half = kelvin + _moist_lapse(kelvin, hpa) * step / 2
        kelvin += _moist_lapse(half, hpa + step / 2) * step
        along.append(kelvin - 273.15)
    return np.array(along)


def _moist_lapse(kelvin: float, hpa: float) -> float:
    """K/hPa by the pseudoadiabatic lapse rate of the AMS Glossary."""
    vapour = 6.112 * np.exp(17.67 * (kelvin - 273.15) / (kelvin - 29.65))
    mixing = 0.622 * vapour / max(hpa - vapour, 1.0)
    warming = 287.05 * kelvin + 2.501e6 * mixing
    return float(warming / (1004.6 + 2.501e6**2 * mixing * 0.622 / (287.05 * kelvin**2)) / hpa)


def _column(given: "ArrayLike", what: str) -> "NDArray[np.float64]":
    values = floats(given, what)
    if values.ndim != 1 or not len(values):
        raise MesonetError(f"{what} must be a column of at least one level; got the shape {values.shape}")
    return values


def summary(summaries: "Summaries", *, title: str = "") -> "Figure":
    """The days or months of one station: from the lowest to the highest temperature, and the
    precipitation, which a hatch marks where less than 90 % of the period is known.

    ``summaries`` are those of :meth:`mesonet.Client.summary` or :meth:`mesonet.Record.summary`.

    >>> import mesonet
    >>> text = b"METAR CYYZ 031200Z 24012KT 19/17 A2991=\\nMETAR CYYZ 032000Z 24012KT 29/17 A2991="
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
    ...     outcome = record.ingest(text, received="2024-08-03")
    ...     days = record.summary(("METAR", "CYYZ"), "2024-08-03", "2024-08-03")
    >>> figure = mesonet.plot.summary(days)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['°C']
    """
    air, rain = degrees_of(summaries)
    panels: list[tuple[Any, Mapping[str, Any]]] = [(_air_range, air)] if len(air["start"]) else []
    panels += [(_amounts, rain)] if len(rain["start"]) else []
    if not panels:
        raise MesonetError("the summaries have neither temperatures nor precipitation")
    pyplot, dates = need("matplotlib.pyplot", "summary"), need("matplotlib.dates", "summary")
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(
            len(panels), 1, figsize=(7.5, 2.2 * len(panels) + 0.6), sharex=True, layout="constrained", squeeze=False
        )
        for (draw, values), one in zip(panels, axes[:, 0], strict=True):
            draw(one, values)
        locator = dates.AutoDateLocator()
        axes[-1, 0].xaxis.set_major_locator(locator)
        axes[-1, 0].xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
        pyplot.close(figure)
    return figure  # type: ignore[no-any-return]


def _air_range(axes: "Axes", of: Mapping[str, Any]) -> None:
    width = (of["end"] - of["start"]) * 0.75
    axes.bar(of["start"], of["max"] - of["min"], width=width, bottom=of["min"], align="edge", color=_RED, alpha=0.35)
    axes.scatter(of["start"] + width / 2, of["mean"], color=_RED, s=12, zorder=3, label="mean")
    low, high = float(np.min(of["min"])), float(np.max(of["max"]))
    room = max((high - low) * 0.12, 0.5)
    axes.set_ylim(low - room, high + room)
    axes.set_ylabel("°C")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)


def _amounts(axes: "Axes", of: Mapping[str, Any]) -> None:
    width = (of["end"] - of["start"]) * 0.75
    bars = axes.bar(of["start"], of["total"], width=width, align="edge", color=_BLUE, alpha=0.6)
    for bar, coverage in zip(bars, of["coverage_percent"], strict=True):
        if not coverage >= 90:
            bar.set_hatch("///")
    axes.set(ylim=(0, max(float(np.nanmax(of["total"])) * 1.1, 1.0)), ylabel="precipitation, mm")
