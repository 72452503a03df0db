"""What a caller of the service may ask for, by plan.

>>> from mesonet import check_lookback
>>> check_lookback("2024-08-02T00:00Z", "2024-08-03T00:00Z", "none", now="2024-08-03T12:00Z")
"""

import datetime
import json

from . import _mesonet, answers
from ._columns import Instant, instant_ms

__all__ = ["capabilities", "check_lookback"]


def check_lookback(start: Instant, end: Instant, plan: str = "none", *, now: Instant | None = None) -> None:
    """Checks a window against the lookback of a plan, as the service does: its length, and how far
    back it ends.

    ``plan`` is ``none``, ``free``, ``pro`` or ``commercial``; ``now`` is the present by default. A
    window beyond a limit raises :class:`mesonet.MesonetError`; the message names the limit.

    >>> from mesonet import check_lookback
    >>> check_lookback("2024-07-01T00:00Z", "2024-08-01T00:00Z", "free", now="2024-08-01T00:00Z")
    Traceback (most recent call last):
    mesonet.MesonetError: the window is 31 d long; the limit maxWindowMs of plan free is 7 d
    """
    now = datetime.datetime.now(datetime.UTC) if now is None else now
    _mesonet.check_lookback(
        instant_ms(start, "start"), instant_ms(end, "end"), instant_ms(now, "now"), plan
    )


def capabilities(plan: str = "none", *, staff: bool = False) -> answers.Capabilities:
    """What a caller on a plan may use in the observation service, as ``/capabilities`` answers.

    >>> from mesonet import capabilities
    >>> view = capabilities("pro")
    >>> view["limits"]["maxWindowMs"] // 86_400_000
    30
    >>> view["products"]["historical.bulk"]
    {'allowed': False, 'requires': 'commercial', 'requiresStanding': 'none'}
    """
    view: answers.Capabilities = json.loads(_mesonet.capabilities(plan, staff))
    return view
