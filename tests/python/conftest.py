"""Shared by several tests: the golden vectors, and a running server."""

import json
import os
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
from child import PATIENCE_S, serving

VECTORS = Path(__file__).parent.parent / "vectors"


@pytest.fixture
def vectors():
    """Reads one file of vectors, shared with the Rust and JavaScript runners."""
    return lambda name: json.loads((VECTORS / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Server:
    """A server on the bundled sample."""

    binary: Path
    data: Path
    origin: str


@pytest.fixture(scope="session")
def target():
    """The folder of what is built."""
    return Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))


@pytest.fixture(scope="session")
def binary(target):
    """The debug build of the workspace, or MESONET_SERVER_BIN."""
    return Path(os.environ.get("MESONET_SERVER_BIN", target / "debug" / "mesonet-server"))


@pytest.fixture(scope="session")
def server(binary, tmp_path_factory):
    """A server on a fresh folder."""
    folder = tmp_path_factory.mktemp("server")
    data = folder / "record"
    # Tests ask faster than callers may.
    command = [binary, "--listen", "127.0.0.1:0", "--data", data, "--rate-requests", "0"]
    with serving(*command, log=folder / "log") as origin:
        # The runs of the sample are made while the server answers already.
        end = time.monotonic() + PATIENCE_S
        while len(models(origin)) < 2:
            assert time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.1)
        yield Server(binary, data, origin)


def models(origin):
    with urllib.request.urlopen(f"{origin}/models/coverage", timeout=PATIENCE_S) as answer:
        return json.load(answer)["models"]
