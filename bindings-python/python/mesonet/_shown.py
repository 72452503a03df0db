"""How results show in a notebook: tables of HTML."""

import dataclasses
import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

_EACH_END = 5
"""Rows that are shown of each end of a table."""
_MOST_LETTERS = 80
_MOST_COLUMNS = 20


def table_html(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of texts; everything in them is escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    said = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    head = line(header, "th") if any(header) else ""
    return f"<table>{said}{head}" + "".join(line(row, "td") for row in rows) + "</table>"


def cell(value: Any) -> str:
    """A value as it is shown in a table."""
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return ""
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, np.datetime64):
        return "" if np.isnat(value) else str(value.astype("M8[s]")).replace("T", " ") + "Z"
    if isinstance(value, (dict, list, tuple, set)) and not value:
        return ""
    text = str(value)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


class ShownRows:
    """A table with named columns of one length: its first and last rows are shown."""

    __slots__ = ()

    def _shown(self) -> tuple[list[str], int]:
        """The names of the columns, and the number of rows."""
        raise NotImplementedError

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        """Some values of a column."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        names, count = self._shown()
        shown = names[:_MOST_COLUMNS]
        parts = [(0, count)] if count <= 2 * _EACH_END + 1 else [(0, _EACH_END), (count - _EACH_END, count)]
        rows: list[list[str]] = []
        for start, stop in parts:
            if rows:
                rows.append(["…"] * len(shown))
            columns = [map(cell, self._shown_column(name, start, stop)) for name in shown]
            rows += map(list, zip(*columns, strict=True))
        more = f" and {len(names) - len(shown)} more columns" if len(names) > len(shown) else ""
        return table_html(shown, rows, f"{self!r}{more}".removeprefix("<mesonet.").rstrip(">"))


class ShownFields:
    """A data class: its fields that hold something are shown."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        rows = [[of.name, cell(getattr(self, of.name))] for of in fields]
        return table_html(["", ""], [row for row in rows if row[1]], type(self).__name__)
