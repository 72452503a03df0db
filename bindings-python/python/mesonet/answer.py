"""The answers of a record: tables, the outcome of a file, health, and the warning about damage."""

import datetime
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from .warning import MesonetWarning
from . import _mesonet
from ._shown import ShownFields
from .table import Rows
from .time_grid import Coarsening

__all__ = ["DamagedWarning", "IngestError", "IngestOutcome", "KeptReport", "RecordHealth", "RecordTable"]


class DamagedWarning(MesonetWarning):
    """An answer lacks readings because part of the record is damaged.

    The message says how many damaged blocks hold, or may hold, readings of the answer, as the
    service does in ``X-Mesonet-Damaged``. :meth:`Record.health` names the blocks.

    >>> import warnings, mesonet
    >>> warnings.simplefilter("error", mesonet.DamagedWarning)  # an exception instead
    """


@dataclass(frozen=True)
class IngestOutcome(ShownFields):
    """The outcome of a file that was taken in.

    >>> import tempfile, mesonet
    >>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
    ...     outcome = record.ingest(b"METAR EGLL 312354Z 21014KT=\\nMETAR CYXX 0320Z 24012KT=\\n",
    ...                             received="2020-01-01T00:00Z")
    >>> outcome.read, outcome.refused, outcome.place_unknown
    (1, 1, {'METAR EGLL': 1})
    >>> outcome.refusals[0][:41]
    'line 2: "0320Z" is not the time of a repo'
    """

    name: str
    """The name of the file; ``content`` for bytes."""
    kind: str
    """Its kind: one of ``FEED_KINDS``."""
    read: int
    """Reports and alerts that were read."""
    refused: int
    """Reports and alerts that were left out."""
    refusals: tuple[str, ...]
    """Where the first of the reports left out are, and why they were left out."""
    added: int
    """New readings, including those derived from them."""
    replaced: int
    """Readings that replaced another for the same time."""
    unchanged: int
    """Readings that were on record already."""
    overtaken: int
    """Readings that had already been overtaken by a correction."""
    expired: int
    """Readings from before the time that the record keeps."""
    alerts_added: int
    """Alerts that are new."""
    alerts_replaced: int
    """Alerts that replaced another version."""
    alerts_unchanged: int
    """Alerts that were on record already."""
    place_unknown: dict[str, int]
    """Reports left out because the place of their station is not known, by station."""
    in_the_future: dict[str, int]
    """Reports left out because their time is more than a day in the future, by station."""


class IngestError(_mesonet.MesonetError):
    """One of several files was refused; those before it are stored.

    >>> import mesonet
    >>> print(mesonet.IngestError("the kind is unknown", ()))
    file 1: the kind is unknown; nothing was stored before it
    """

    def __init__(self, cause: str, outcomes: tuple[IngestOutcome, ...]) -> None:
        self.cause = cause
        """Why it was refused."""
        self.outcomes = outcomes
        """The outcomes of the files before it."""
        super().__init__(f"file {len(outcomes) + 1}: {cause}; {stored(outcomes)}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.cause, self.outcomes)


def stored(outcomes: Sequence[IngestOutcome]) -> str:
    """What is on disk when a file after these is refused."""
    readings = sum(of.added + of.replaced for of in outcomes)
    alerts = sum(of.alerts_added + of.alerts_replaced for of in outcomes)
    counts = (readings, "reading"), (alerts, "alert")
    found = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts if count]
    if not found:
        return "nothing was stored before it"
    return f"{' and '.join(found)} of the files before it {'is' if readings + alerts == 1 else 'are'} stored"


@dataclass(frozen=True)
class KeptReport(ShownFields):
    """A report as it came in; see :meth:`Record.reports`.

    >>> import datetime, mesonet
    >>> mesonet.KeptReport(datetime.datetime(2024, 8, 3, 20, tzinfo=datetime.UTC), 0, None, "METAR").text
    'METAR'
    """

    timestamp: datetime.datetime
    """Time of the report, UTC."""
    revision: int
    """0 for a first report, higher for each correction of it."""
    header: str | None
    """The heading of the bulletin that it came in, such as ``SACN31 CWAO 032000``."""
    text: str
    """The report, with white space as one space."""


@dataclass(frozen=True)
class RecordHealth(ShownFields):
    """The state of a record.

    >>> import tempfile, mesonet
    >>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
    ...     record.health()
    RecordHealth(stations=0, segments=0, sealed_readings=0, fresh_readings=0, newest=None, faults=())
    """

    stations: int
    """Number of stations."""
    segments: int
    """Number of files of sealed readings."""
    sealed_readings: int
    """Readings in those files."""
    fresh_readings: int
    """Readings that are not sealed yet."""
    newest: datetime.datetime | None
    """Time of the newest reading, UTC."""
    faults: tuple[str, ...]
    """What is damaged, as far as it was read. Answers lack the readings in it."""


class RecordTable(Rows):
    """An answer of a record as an Arrow table.

    Anything that takes Arrow's streams takes the table without a copy: ``pyarrow.table(answer)``,
    ``polars.DataFrame(answer)``, DuckDB, and pandas by :meth:`to_pandas`. Columns and rows are also
    those of a :class:`mesonet.Table`: ``answer["value"]``, ``answer.head()``, ``for row in answer``.
    An export by :meth:`Record.bulk` is read from the record in batches while the caller takes it, so
    it may be larger than memory; it has no length, and is taken as a whole or by ``to_batches()``.

    >>> import tempfile, mesonet
    >>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
    ...     record.stations()
    <mesonet.RecordTable: damaged 0>
    """

    def __init__(
        self,
        table: "_mesonet.ArrowTable | _mesonet.ArrowStream",
        damaged: int,
        *,
        step_minutes: int | None = None,
        coarsening: Coarsening | None = None,
    ) -> None:
        self._table = table
        self.damaged = damaged
        """How many damaged blocks hold, or may hold, missing rows; 0 if no rows are missing."""
        self.step_minutes = step_minutes
        """The step of a grid, in minutes."""
        self.coarsening = coarsening
        """Present if the step differs from the requested one."""

    @property
    def _held(self) -> _mesonet.ArrowTable:
        if not isinstance(self._table, _mesonet.ArrowTable):
            raise TypeError("an export is read once, in batches: take to_batches() or to_arrow()")
        return self._table

    def _with(self, table: _mesonet.ArrowTable) -> Self:
        said = {"step_minutes": self.step_minutes, "coarsening": self.coarsening}
        return type(self)(table, self.damaged, **said)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        held = isinstance(self._table, _mesonet.ArrowTable)
        return super()._repr_html_() if held else html.escape(repr(self))

    def __repr__(self) -> str:
        return f"<mesonet.RecordTable: damaged {self.damaged}>"
