"""How users name a station."""

import uuid
from typing import TypeAlias

from . import _mesonet

StationRef: TypeAlias = str | uuid.UUID | tuple[str, str]
"""The id of a station, or its network and native id: ``("METAR", "CYYZ")``."""


def station_id(given: StationRef) -> str:
    if isinstance(given, (str, uuid.UUID)):
        return str(given)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, str) for part in given):
        return _mesonet.station_id(*given)
    raise TypeError(f"a station is an id or a pair of network and native id; got {given!r}")
