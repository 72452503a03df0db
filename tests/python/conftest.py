"""The golden vectors, shared with the Rust and JavaScript runners."""

import json
from pathlib import Path

import pytest

VECTORS = Path(__file__).parent.parent / "vectors"


@pytest.fixture
def vectors():
    """Reads one file of vectors."""
    return lambda name: json.loads((VECTORS / name).read_text(encoding="utf-8"))
