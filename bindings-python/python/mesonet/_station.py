"""How users name a station and one of its series."""

import uuid
from typing import Any, TypeAlias

from . import _mesonet

StationRef: TypeAlias = str | uuid.UUID | tuple[str, str]
"""The id of a station, any of its identifiers (``CYYZ``, ``wmo:71624``), or its network and native
id: ``("METAR", "CYYZ")``."""


def station_id(given: StationRef) -> str:
    if isinstance(given, (str, uuid.UUID)):
        return str(given)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, str) for part in given):
        return _mesonet.station_id(*given)
    raise TypeError(f"a station is an id or a pair of network and native id; got {given!r}")


def one_series(
    interval_type: str | None,
    interval_minutes: int | None,
    calculated: bool | None,
    reported_unit: str | None,
    bucket: str | None,
) -> dict[str, Any]:
    """What selects one series of a variable, in the names of the interface."""
    chosen = {
        "intervalType": interval_type,
        "intervalMinutes": interval_minutes,
        "calculated": calculated,
        "reportedUnit": reported_unit,
        "groupBucketName": bucket,
    }
    return {name: value for name, value in chosen.items() if value is not None}
