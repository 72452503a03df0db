"""Files that are there under their name only once they are whole."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives the path of a file beside the final one; it is flushed to the disk and takes the final
    name at the end, and is removed if something fails.
    """
    final = Path(path)
    part = final.with_name(f".{final.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        flush(part)
        part.replace(final)
        flush(final.parent)
    finally:
        part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """What is written survives a loss of power. Windows cannot do so for folders."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
