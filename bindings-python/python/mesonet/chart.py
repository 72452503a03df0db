"""Drawings of weather with Altair, for pages and notebooks: meteogram, wind rose, skew-T, summaries.

Each function returns a chart of Vega-Lite, with tooltips; ``chart.save("name.html")`` saves it.
:mod:`mesonet.plot` has the same for Matplotlib, and describes what each takes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import floats
from ._mesonet import MesonetError
from ._optional import need
from ._plotted import Panel, degrees_of, panels_of, rose_of, series_of_station

if TYPE_CHECKING:
    import altair
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    from altair import Chart, LayerChart, VConcatChart
    from numpy.typing import ArrayLike

    from .client.bulk import BulkTable
    from .client.summaries import Summaries
    from .client.table import ServiceTable
    from .table import Rows

__all__ = ["meteogram", "skew_t", "summary", "wind_rose"]

_RED, _BLUE, _GREEN, _INK = "#c0392b", "#1f6fb2", "#2e8b57", "#22303c"
_COLOURS = {
    "air": _RED,
    "dew point": _GREEN,
    "sea surface": _BLUE,
    "wind at 10 m": _INK,
    "wind": _INK,
    "gust": _RED,
}
"""The colours of lines; others are blue."""
_WIDTH = 560


def meteogram(
    readings: "Rows | ServiceTable | BulkTable | pandas.DataFrame | polars.DataFrame | pyarrow.Table",
    *,
    title: str = "",
    at_least: str = "Doubtful",
) -> "altair.VConcatChart":
    """The chart of :func:`mesonet.plot.meteogram`; arrows point to where the wind blows.

    >>> import mesonet
    >>> text = b"METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991 RMK SLP125="
    >>> chart = mesonet.chart.meteogram(mesonet.read_feed(text, received="2024-08-03"))
    >>> len(chart.to_dict()["vconcat"])
    3
    """
    altair = need("altair", "meteogram")
    of = series_of_station(readings, at_least)

    def rows(name: str, label: str) -> list[dict[str, Any]]:
        times, values = of[name]
        texts = [f"{at}Z" for at in times.astype("M8[s]")]
        return [{"time": at, "value": value, "of": label} for at, value in zip(texts, values.tolist(), strict=True)]

    spans = [times[-1] - times[0] for times, _ in of.values() if len(times)]
    is_short = max(spans, default=np.timedelta64(0, "ms")) <= np.timedelta64(3, "D")
    clock = altair.Axis(format="%d. %H:%M" if is_short else "%b %d")

    def layer(panel: Panel, names: Sequence[str], mark: str, **options: Any) -> Any:
        labels = list(panel.lines.values())
        colours = altair.Scale(domain=labels, range=[_COLOURS.get(label, _BLUE) for label in labels])
        chart = altair.Chart(altair.Data(values=[row for name in names for row in rows(name, panel.lines[name])]))
        return getattr(chart, f"mark_{mark}")(**options).encode(
            x=altair.X("time:T", title="UTC", scale=altair.Scale(type="utc"), axis=clock),
            y=altair.Y("value:Q", title=panel.unit, scale=altair.Scale(zero=panel.unit not in ("°C", "hPa"))),
            color=altair.Color("of:N", title=None, scale=colours),
            tooltip=[
                altair.Tooltip("time:T", format="%Y-%m-%d %H:%M"), "of:N", altair.Tooltip("value:Q", title=panel.unit)
            ],
        )  # fmt: skip

    charts = []
    for panel in panels_of(of):
        names = list(panel.lines)
        if panel.name == "wind":
            gusts = [name for name in names if panel.lines[name] == "gust"]
            speeds = [name for name in names if name not in gusts]
            parts = [layer(panel, speeds, "line")] if speeds else []
            parts += [layer(panel, gusts, "tick", thickness=3)] if gusts else []
            parts += [arrows for name in speeds if (arrows := _arrows(altair, of, name)) is not None]
        else:
            mark, options = _MARKS[panel.name]
            parts = [layer(panel, names, mark, **options)]
        charts.append(altair.layer(*parts).properties(width=_WIDTH, height=110))
    made: VConcatChart = altair.vconcat(*charts).resolve_scale(x="shared", color="independent").properties(title=title)
    return made


_MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "temperature": ("line", {"point": True}),
    "humidity": ("area", {"opacity": 0.4}),
    "pressure": ("line", {"point": True}),
    "precipitation": ("bar", {"opacity": 0.6}),
}


def _arrows(altair: Any, of: Any, speed: str) -> Any:
    if "windDirection" not in of:
        return None
    (times, speeds), (at, degrees) = of[speed], of["windDirection"]
    both, first, second = np.intersect1d(times, at, return_indices=True)
    every = max(1, len(both) // 24)
    rows = [
        {"time": f"{time}Z", "value": value, "angle": (degree + 180) % 360}
        for time, value, degree in zip(
            both.astype("M8[s]")[::every], speeds[first][::every], degrees[second][::every], strict=True
        )
        if value > 0
    ]
    if not rows:
        return None
    return altair.Chart(altair.Data(values=rows)).mark_point(shape="arrow", size=420, filled=True, color=_INK, opacity=1).encode(
        x="time:T", y="value:Q", angle=altair.Angle("angle:Q", scale=altair.Scale(domain=[0, 360], range=[0, 360]))
    )


def wind_rose(
    speed_kmh: "ArrayLike",
    direction_deg: "ArrayLike",
    *,
    sectors: int = 16,
    classes_kmh: Sequence[float] = (10, 20, 30, 40, 60),
    title: str = "",
) -> "altair.Chart":
    """The chart of :func:`mesonet.plot.wind_rose`; the title says the share of calms.

    >>> import mesonet
    >>> chart = mesonet.chart.wind_rose([0, 12, 15, 33], [0, 350, 10, 180])
    >>> chart.to_dict()["title"]["subtitle"]
    '4 winds, 25 % calm'
    """
    altair = need("altair", "wind_rose")
    rose = rose_of(speed_kmh, direction_deg, sectors, classes_kmh)
    half, rows = np.pi / sectors * 0.9, []
    inner = np.zeros(sectors)
    for number, (label, shares) in enumerate(zip(rose.labels, rose.shares, strict=True)):
        for middle, share, low in zip(rose.directions.tolist(), shares.tolist(), inner.tolist(), strict=True):
            angle = np.radians(middle)
            rows.append(
                {"from": middle, "class": label, "order": number, "share": share, "low": low, "high": low + share,
                 "start": angle - half, "stop": angle + half}
            )  # fmt: skip
        inner += shares
    radius = altair.Scale(domain=[0, float(inner.max())], range=[26, 170])
    circle = altair.Scale(domain=[0, 2 * np.pi], range=[0, 2 * np.pi])
    said = f"{rose.count} winds, {rose.calm:.0f} % calm"
    made: Chart = (
        altair.Chart(altair.Data(values=rows), title=altair.TitleParams(title, subtitle=said))
        .mark_arc()
        .encode(
            theta=altair.Theta("start:Q", scale=circle, stack=None),
            theta2="stop:Q",
            radius=altair.Radius("low:Q", scale=radius, stack=None),
            radius2="high:Q",
            color=altair.Color("class:N", title="km/h", sort=rose.labels, scale=altair.Scale(scheme="viridis")),
            tooltip=["from:Q", "class:N", altair.Tooltip("share:Q", format=".1f", title="%")],
        )
        .properties(width=360, height=360)
    )
    return made


def skew_t(
    pressure_hpa: "ArrayLike",
    temperature_c: "ArrayLike",
    dew_point_c: "ArrayLike | None" = None,
    *,
    title: str = "",
) -> "altair.LayerChart":
    """The chart of :func:`mesonet.plot.skew_t`: temperature, dew point and isotherms, without winds and
    adiabats.

    >>> import mesonet
    >>> chart = mesonet.chart.skew_t([1000, 850, 500, 250], [25, 15, -12, -45], [20, 9, -30, -60])
    >>> len(chart.to_dict()["layer"])
    2
    """
    from .plot import skewed

    altair = need("altair", "skew_t")
    hpa = floats(pressure_hpa, "pressure_hpa")
    columns = {"temperature": temperature_c} | ({} if dew_point_c is None else {"dew point": dew_point_c})
    rows = []
    for name, column in columns.items():
        values = floats(column, name)
        if hpa.ndim != 1 or values.shape != hpa.shape:
            raise MesonetError(f"{name} must have a value for each of {hpa.size} levels; got {values.size}")
        rows += [
            {"of": name, "hpa": level, "celsius": value, "x": at}
            for level, value, at in zip(hpa.tolist(), values.tolist(), skewed(values, hpa).tolist(), strict=True)
            if value == value
        ]
    isotherms = [
        {"celsius": celsius, "hpa": level, "x": float(skewed(celsius, level))}
        for celsius in range(-120, 50, 10)
        for level in (1050.0, 100.0)
    ]
    x = altair.X("x:Q", title="°C at the bottom", scale=altair.Scale(domain=[-35, 60]))
    y = altair.Y("hpa:Q", title="hPa", scale=altair.Scale(type="log", domain=[1050, 100]))
    lines = altair.Chart(altair.Data(values=isotherms)).mark_line(clip=True, color="#d7dde3", strokeWidth=1)
    colours = altair.Scale(domain=list(columns), range=[_RED, _GREEN][: len(columns)])
    sounding = altair.Chart(altair.Data(values=rows)).mark_line(clip=True, point=True)
    made: LayerChart = altair.layer(
        lines.encode(x=x, y=y, detail="celsius:N"),
        sounding.encode(
            x=x, y=y, color=altair.Color("of:N", title=None, scale=colours), order="hpa:Q",
            tooltip=["of:N", altair.Tooltip("celsius:Q", format=".1f"), "hpa:Q"],
        ),
    ).properties(width=380, height=440, title=title)  # fmt: skip
    return made


def summary(summaries: "Summaries", *, title: str = "") -> "altair.VConcatChart":
    """The chart of :func:`mesonet.plot.summary`; the tooltip says how much of a period is known.

    >>> import tempfile, mesonet
    >>> text = b"METAR CYYZ 031200Z 24012KT 19/17 A2991=\\nMETAR CYYZ 032000Z 24012KT 29/17 A2991="
    >>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
    ...     outcome = record.ingest(text, received="2024-08-03")
    ...     days = record.summary(("METAR", "CYYZ"), "2024-08-03", "2024-08-03")
    >>> len(mesonet.chart.summary(days).to_dict()["vconcat"])
    1
    """
    altair = need("altair", "summary")
    charts = []
    clock = altair.Axis(format="%d. %H:%M" if summaries.period == "hour" else "%b %d")
    for of, unit in zip(degrees_of(summaries), ("°C", "mm"), strict=True):
        if not len(of["start"]):
            continue
        rows = [
            {name: (None if value != value else value) for name, value in zip(names, row, strict=True)}
            | {"start": f"{start}Z", "end": f"{end}Z"}
            for names in [("max", "min", "mean", "total", "coverage_percent")]
            for start, end, *row in zip(
                of["start"].astype("M8[s]"), of["end"].astype("M8[s]"), *(of[name].tolist() for name in names), strict=True
            )
        ]
        low, high, colour = ("min:Q", "max:Q", _RED) if unit == "°C" else ("total:Q", None, _BLUE)
        base = altair.Chart(altair.Data(values=rows)).encode(
            x=altair.X("start:T", title="UTC", scale=altair.Scale(type="utc"), axis=clock),
            x2="end:T",
            y=altair.Y(low, title=unit, scale=altair.Scale(zero=high is None)),
            tooltip=[altair.Tooltip("start:T", format="%Y-%m-%d"), *(
                ["max:Q", "mean:Q", "min:Q"] if high else ["total:Q"]
            ), altair.Tooltip("coverage_percent:Q", title="known, %", format=".0f")],
        )  # fmt: skip
        bars = base.mark_rect(color=colour, opacity=0.45)
        drawn = bars.encode(y2=altair.datum(0))
        if high:
            means = base.mark_tick(color=colour, thickness=2).encode(y="mean:Q")
            drawn = altair.layer(bars.encode(y2=high), means)
        charts.append(drawn.properties(width=_WIDTH, height=150))
    if not charts:
        raise MesonetError("the summaries have neither temperatures nor precipitation")
    made: VConcatChart = altair.vconcat(*charts).resolve_scale(x="shared").properties(title=title)
    return made
