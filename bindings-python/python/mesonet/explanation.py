"""Why a reading has its verdict, as a mapping that is shown as a table.

>>> from mesonet import SeriesReadings, explain
>>> air = SeriesReadings("airTemperature", "Instantaneous", 0, [0], [140.0])
>>> print(explain(-135.07, 60.71, 706.0, [air], 0, 0))  # doctest: +ELLIPSIS
airTemperature 140 °C at 1970-01-01T00:00:00Z: Error (Range), by range
check            outcome                                      inputs                 limits
value            Good                                         airTemperature 140 °C
range            Error (Range)                                airTemperature 140 °C  error -90 to 40 °C, doubtful -80 to 35 °C
record           Doubtful (Range)                             airTemperature 140 °C  record -63 to 56.7 °C
spike            not run: the value is missing or impossible
...
"""

from typing import TYPE_CHECKING, Literal, overload

from . import answers
from ._shown import table_html

__all__ = ["Explanation"]


class Explanation(dict[str, object]):
    """The object that the service sends. It shows as a table when printed, and in a notebook.

    Its keys are ``variable``, ``unit``, ``timestamp``, ``value``, ``source``, ``checks``, ``verdict``
    and, if a check gave the verdict, ``decidedBy``.

    >>> from mesonet import SeriesReadings, explain
    >>> air = SeriesReadings("airTemperature", "Instantaneous", 0, [0], [-12.0])
    >>> explanation = explain(-135.07, 60.71, 706.0, [air], 0, 0)
    >>> explanation["verdict"]["baseQuality"], len(explanation["checks"])
    ('Good', 12)
    """

    # A typed dict has no methods of its own, so the types of its members are said here.
    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: Literal["variable", "unit", "timestamp", "stationId"], /) -> str: ...
        @overload
        def __getitem__(self, key: Literal["value"], /) -> float | None: ...
        @overload
        def __getitem__(self, key: Literal["source", "verdict"], /) -> answers.Quality: ...
        @overload
        def __getitem__(self, key: Literal["checks"], /) -> list[answers.CheckReport]: ...
        @overload
        def __getitem__(self, key: Literal["decidedBy"], /) -> answers.Check: ...
        @overload
        def __getitem__(self, key: Literal["calculatedFrom"], /) -> list[answers.InputVerdict]: ...
        @overload
        def __getitem__(self, key: Literal["qualifier"], /) -> answers.Qualifier: ...
        @overload
        def __getitem__(self, key: Literal["typeId"], /) -> int: ...
        @overload
        def __getitem__(self, key: str, /) -> object: ...
        def __getitem__(self, key: str, /) -> object: ...

    def __str__(self) -> str:
        lines = [self._head()]
        lines += _aligned([_HEADER, *map(_check_row, self["checks"])])
        for title, header, rows in self._more():
            lines += ["", title, *_aligned([header, *rows])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [table_html(_HEADER, map(_check_row, self["checks"]), self._head())]
        parts += [table_html(header, rows, title) for title, header, rows in self._more()]
        return "\n".join(parts)

    def _head(self) -> str:
        by = f", by {self['decidedBy']}" if "decidedBy" in self else ""
        value = "no value" if self["value"] is None else f"{_number(self['value'])} {self['unit']}"
        return f"{self['variable']} {value} at {self['timestamp']}: {_verdict(self['verdict'])}{by}"

    def _more(self) -> list[tuple[str, list[str], list[list[str]]]]:
        tables = []
        for check in self["checks"]:
            if check.get("neighbours"):
                rows = [_neighbour_row(of) for of in check["neighbours"]]
                tables.append((f"{check['check']}: compared with", _NEIGHBOUR_HEADER, rows))
        if self.get("calculatedFrom"):
            rows = [
                [of["type"], _number(of["value"]), _verdict(of["quality"])] for of in self["calculatedFrom"]
            ]
            tables.append(("calculated from", ["variable", "value", "verdict"], rows))
        return tables


_HEADER = ["check", "outcome", "inputs", "limits"]
_NEIGHBOUR_HEADER = ["station", "km", "rise m", "value", "weight", "difference in sd"]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _verdict(of: answers.Quality) -> str:
    base, reason = of["baseQuality"], of["reasonQuality"]
    return base if reason == "None" else f"{base} ({reason})"


def _limit(of: answers.CheckLimit) -> str:
    low, high = of.get("min"), of.get("max")
    if low is None:
        span = f"up to {_number(high)}"
    elif high is None:
        span = f"from {_number(low)}"
    else:
        span = f"{_number(low)} to {_number(high)}"
    return f"{of['name']} {span} {of['unit']}".rstrip()


def _check_row(of: answers.CheckReport) -> list[str]:
    outcome = _verdict(of["outcome"]) if "outcome" in of else f"not run: {of.get('notRunBecause', '')}"
    inputs = ", ".join(f"{one['name']} {_number(one['value'])} {one['unit']}".rstrip() for one in of["inputs"])
    return [of["check"], outcome, inputs, ", ".join(map(_limit, of["limits"]))]


def _neighbour_row(of: answers.Neighbour) -> list[str]:
    numbers = (of["distanceKm"], of["riseM"], of["value"], of["weight"], of.get("standardizedDifference"))
    return [str(of.get("name", "")), *map(_number, numbers)]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
