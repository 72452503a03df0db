"""The codec of model runs for Zarr, so that zarr and xarray open them.

Nothing has to be imported: once mesonet is installed, zarr finds the codec by its name,
``mesonet.blocks``. It takes int16 arrays whose last two axes are rows and columns; a chunk has
multiples of 16 of both. Every value comes back as it was. Needs zarr 3.

>>> import numpy as np, zarr
>>> from mesonet.zarr import Blocks
>>> array = zarr.create_array(
...     zarr.storage.MemoryStore(),
...     shape=(40, 70),
...     chunks=(64, 64),
...     dtype="int16",
...     fill_value=-32768,
...     serializer=Blocks(),
...     compressors=None,
... )
>>> array[:] = np.add.outer(np.arange(40), 10 * np.arange(70))
>>> array[3, 5:8]
array([53, 63, 73], dtype=int16)
"""

import asyncio
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from . import _mesonet
from ._optional import need

need("zarr", "the codec of model runs", "zarr>=3")

from zarr.abc.codec import ArrayBytesCodec  # noqa: E402

if TYPE_CHECKING:
    from typing import Self

    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer
    from zarr.core.common import JSON

__all__ = ["Blocks"]

NAME = "mesonet.blocks"


@dataclass(frozen=True)
class Blocks(ArrayBytesCodec):
    """The codec ``mesonet.blocks``: blocks of 16 by 16 integers, as differences in few bits."""

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: "dict[str, JSON]") -> "Self":
        """Returns the codec of an array's document. It has no configuration."""
        configuration = data.get("configuration") or {}
        if data.get("name") != NAME or configuration:
            raise ValueError(f"expected the codec {NAME} without configuration; got {data}")
        return cls()

    def to_dict(self) -> "dict[str, JSON]":
        """Returns the codec as it stands in an array's document."""
        return {"name": NAME, "configuration": {}}

    async def _decode_single(self, chunk_bytes: "Buffer", chunk_spec: "ArraySpec") -> "NDBuffer":
        planes, rows, columns = _shape(chunk_spec)
        bytes_ = chunk_bytes.to_bytes()
        values = await asyncio.to_thread(_mesonet.decode_blocks, bytes_, planes, rows, columns)
        values = values.reshape(chunk_spec.shape)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(values)

    async def _encode_single(
        self, chunk_array: "NDBuffer", chunk_spec: "ArraySpec"
    ) -> "Buffer | None":
        planes, rows, columns = _shape(chunk_spec)
        values = chunk_array.as_numpy_array()
        fill_value = int(chunk_spec.fill_value)
        encoded = await asyncio.to_thread(
            _mesonet.encode_blocks, values, planes, rows, columns, fill_value
        )
        # A chunk without values takes no bytes, and is left out.
        return chunk_spec.prototype.buffer.from_bytes(encoded) if encoded else None

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: "ArraySpec") -> int:
        """The size depends on the values."""
        raise NotImplementedError


def _shape(spec: "ArraySpec") -> tuple[int, int, int]:
    dtype = spec.dtype.to_native_dtype()
    if dtype != "int16" or len(spec.shape) < 2:
        raise ValueError(
            f"{NAME} takes int16 arrays of two or more axes; got {dtype} with {len(spec.shape)}"
        )
    *before, rows, columns = spec.shape
    return prod(before), rows, columns
