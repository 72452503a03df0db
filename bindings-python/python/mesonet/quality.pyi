from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._mesonet import worse as worse

__all__ = ["BaseQuality", "ReasonQuality", "distinct_worst_first", "worse", "worst"]

class BaseQuality(IntEnum):
    # By number or name.
    def __new__(cls, value: int | str) -> Self: ...

    Suppressed = 0
    Missing = 1
    Error = 2
    Doubtful = 3
    Inconsistent = 4
    Instrumentation = 5
    Good = 6
    Unknown = 7

class ReasonQuality(IntEnum):
    def __new__(cls, value: int | str) -> Self: ...

    None_ = 0
    Missing = 1
    ValueType = 2
    Range = 3
    Inert = 4
    Change = 5
    Decrease = 6
    Increase = 7
    Disagree = 8
    GreaterThan = 9
    LessThan = 10
    Difference = 11
    AverageInconsistent = 12
    Unknown = 13

_Codes = NDArray[np.integer] | NDArray[np.str_] | NDArray[np.object_] | Iterable[int | str]

def worst(codes: _Codes) -> BaseQuality: ...
def distinct_worst_first(codes: _Codes) -> list[BaseQuality]: ...
