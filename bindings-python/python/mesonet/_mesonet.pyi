from typing import Any, Final

import numpy as np
from _typeshed import ReadableBuffer
from numpy.typing import NDArray

__all__ = [
    "__version__",
    "MesonetError",
    "BASE_QUALITY_NAMES",
    "REASON_QUALITY_NAMES",
    "base_quality_code",
    "reason_quality_code",
    "worst",
    "distinct_worst_first",
    "worse",
    "decode",
    "encode",
    "decode_bytes",
    "rotate",
]

__version__: Final[str]

class MesonetError(ValueError): ...

BASE_QUALITY_NAMES: Final[list[str]]
REASON_QUALITY_NAMES: Final[list[str]]

decode: Final[np.ufunc]
encode: Final[np.ufunc]
rotate: Final[np.ufunc]
worse: Final[np.ufunc]

def base_quality_code(value: int | str, /) -> int: ...
def reason_quality_code(value: int | str, /) -> int: ...
def worst(codes: Any, /) -> int: ...
def distinct_worst_first(codes: Any, /) -> bytes: ...
def decode_bytes(
    data: ReadableBuffer, scale: float, offset: float, nodata: int, /
) -> NDArray[np.float64]: ...
