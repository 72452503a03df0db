"""Files that appear under their name only once they are whole."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives the path of a temporary file beside the final one. At the end it is flushed to disk and
    takes the final name; if something fails, it is removed.
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
    """Flushes a file or folder, so that it survives a loss of power. Windows cannot do so for
    folders.
    """
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
