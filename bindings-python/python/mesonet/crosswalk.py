"""Conversion between quality flags of other schemes and those of mesonet."""

from typing import Generic, TypeVar

import numpy as np

from . import _mesonet
from .quality import BaseQuality, ReasonQuality

__all__ = [
    "BUFR_033020",
    "GHCNH_CHECKS",
    "ISD",
    "MADIS",
    "QARTOD",
    "SWOB_QA_SUMMARY",
    "Crosswalk",
]

_Flag = TypeVar("_Flag", int, str)


class Crosswalk(Generic[_Flag]):
    """The flags of one scheme and the base qualities that they stand for.

    ``SWOB_QA_SUMMARY`` is the scheme of Canadian SWOB-ML, ``MADIS`` has NOAA's letters,
    ``BUFR_033020`` is the WMO code table, ``QARTOD`` the scheme of the IOC's manuals. ``ISD`` has
    the codes of NCEI's Integrated Surface Data, ``GHCNH_CHECKS`` the letters of the checks of
    NCEI's GHCNh.

    >>> from mesonet import GHCNH_CHECKS, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY
    >>> SWOB_QA_SUMMARY.quality(10)
    (<BaseQuality.Doubtful: 3>, <ReasonQuality.Unknown: 13>)
    >>> MADIS.quality("V")[0]
    <BaseQuality.Good: 6>
    >>> QARTOD.flag("Error"), QARTOD.flag("Suppressed")
    (4, None)
    >>> ISD.quality("3")[0], GHCNH_CHECKS.flag("Inconsistent")
    (<BaseQuality.Error: 2>, 'l')
    """

    def __init__(self, name: str) -> None:
        self._name = name
        scheme = name.lower()
        self._quality = getattr(_mesonet, f"{scheme}_quality")
        self._flag = getattr(_mesonet, f"{scheme}_flag")
        self._flags: tuple[_Flag, ...] = tuple(getattr(_mesonet, f"{scheme}_flags"))

    @property
    def flags(self) -> tuple[_Flag, ...]:
        """The flags of the scheme."""
        return self._flags

    def quality(self, flag: _Flag) -> tuple[BaseQuality, ReasonQuality]:
        """Returns what a flag stands for; Unknown for a flag that is not in the scheme."""
        base, reason = self._quality(flag)
        return BaseQuality(base), ReasonQuality(reason)

    def flag(self, base: BaseQuality | int | str) -> _Flag | None:
        """Returns the flag for a base quality; None if the scheme has no counterpart."""
        if not isinstance(base, (str, int, np.integer)):
            raise TypeError(f"a quality code is an integer or a name; got {type(base).__name__}")
        flag: _Flag | None = self._flag(BaseQuality(base))
        return flag

    def __repr__(self) -> str:
        return f"mesonet.{self._name}"

    def __reduce__(self) -> str:
        return self._name


SWOB_QA_SUMMARY: Crosswalk[int] = Crosswalk("SWOB_QA_SUMMARY")
BUFR_033020: Crosswalk[int] = Crosswalk("BUFR_033020")
MADIS: Crosswalk[str] = Crosswalk("MADIS")
QARTOD: Crosswalk[int] = Crosswalk("QARTOD")
ISD: Crosswalk[str] = Crosswalk("ISD")
GHCNH_CHECKS: Crosswalk[str] = Crosswalk("GHCNH_CHECKS")
