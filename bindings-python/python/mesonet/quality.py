"""Quality codes and their ranking.

A verdict is a pair: how far a value can be trusted (:class:`BaseQuality`) and why it is not Good
(:class:`ReasonQuality`). Base codes are ordered from worst (0) to best, so a column of them is a
``uint8`` array whose minimum is the worst.
"""

from enum import IntEnum
from keyword import iskeyword

from . import _mesonet
from ._columns import is_lazy, is_pint
from ._mesonet import worse

__all__ = ["BaseQuality", "ReasonQuality", "distinct_worst_first", "worse", "worst"]


class _Code(IntEnum):
    """An integer that prints as its name and can be found by number or name."""

    def __str__(self):
        return self.name


def _codes(title, names, code_of, doc):
    # A reserved word of Python (ReasonQuality "None") can be written with a trailing underscore.
    aliases = {name + "_": code for code, name in enumerate(names) if iskeyword(name)}
    members = {name: code for code, name in enumerate(names)} | aliases
    codes = _Code(title, members, module="mesonet")
    codes.__doc__ = doc
    # Called for anything other than a member's number: a name, or a value to refuse with the core's
    # message.
    codes._missing_ = classmethod(lambda cls, value: cls(code_of(value)))
    return codes


BaseQuality = _codes(
    "BaseQuality",
    _mesonet.BASE_QUALITY_NAMES,
    _mesonet.base_quality_code,
    """How far a value can be trusted, worst first; ``Unknown`` (not checked) is the best.

    >>> from mesonet import BaseQuality
    >>> BaseQuality("Good"), BaseQuality(0)
    (<BaseQuality.Good: 6>, <BaseQuality.Suppressed: 0>)
    >>> BaseQuality.Error < BaseQuality.Doubtful
    True
    >>> BaseQuality(9)
    Traceback (most recent call last):
    mesonet.MesonetError: 9 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)
    """,
)

ReasonQuality = _codes(
    "ReasonQuality",
    _mesonet.REASON_QUALITY_NAMES,
    _mesonet.reason_quality_code,
    """Why a value has its base quality; not a ranking.

    ``None`` is reserved in Python, so that reason is written ``None_``.

    >>> from mesonet import ReasonQuality
    >>> ReasonQuality("Range"), str(ReasonQuality.None_)
    (<ReasonQuality.Range: 3>, 'None')
    """,
)


def worst(codes):
    """Returns the worst of several base quality codes; for no codes, ``Unknown``.

    ``codes`` is a ``uint8`` array of any shape (fast), another array of integers or names, or an
    iterable of codes and names. An unknown number or name raises
    :class:`mesonet.MesonetError`; an array of another type raises ``TypeError``.

    >>> import numpy as np
    >>> from mesonet import worst
    >>> worst(np.array([6, 3, 7], np.uint8))
    <BaseQuality.Doubtful: 3>
    >>> worst(["Good", "Unknown"])
    <BaseQuality.Good: 6>
    >>> worst(np.array([6.0, 3.0]))
    Traceback (most recent call last):
    TypeError: an array of quality codes holds integers or names; got float64
    """
    return BaseQuality(_mesonet.worst(_several(codes)))


def distinct_worst_first(codes):
    """Returns the distinct base quality codes among many, worst first, as a list.

    Accepts and refuses the same as :func:`worst`.

    >>> from mesonet import distinct_worst_first
    >>> [str(code) for code in distinct_worst_first(["Good", "Doubtful", "Good"])]
    ['Doubtful', 'Good']
    """
    return [BaseQuality(code) for code in _mesonet.distinct_worst_first(_several(codes))]


def _several(codes):
    # They look like iterables.
    if is_lazy(codes) or is_pint(codes) or not (hasattr(codes, "__iter__") or hasattr(codes, "__array__")):
        raise TypeError(f"codes are an array or an iterable; got {type(codes).__name__}")
    return codes
