"""Each tutorial of the docs runs as it stands, and prints what it shows."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def blocks(name, port):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8").replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    return BLOCK.findall(text)


def run(command, folder, port, binary, text):
    """What a shell or Python prints that gets the blocks of a language, one after the other."""
    env = os.environ | {
        "PATH": f"{binary.parent}:{os.environ['PATH']}",
        "MESONET_LISTEN": f"127.0.0.1:{port}",
        "MESONET_RATE_REQUESTS": "0",
        "MPLBACKEND": "agg",
    }
    done = subprocess.run(command, cwd=folder, env=env, input=text, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def squeezed(text):
    return " ".join(text.split())


def test_a_network_gets_a_server(binary, tmp_path):
    port = free_port()
    found = blocks("network", port)
    # Its last command ends the server, however the script ends.
    script = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n" + "".join(of for kind, of in found if kind == "sh")
    out = squeezed(run(["bash", "-euo", "pipefail"], tmp_path, port, binary, script))
    shown = [line for kind, of in found if kind == "text" for line in of.splitlines()]
    assert len(shown) == 5
    for line in shown:
        assert squeezed(line) in out, line
    # The explanation names checks and their sources, and the corrected reading replaced the other one.
    assert '"check"' in out and '"source"' in out
    assert out.endswith("no fault")


@pytest.mark.usefixtures("server")
def test_a_notebook_has_its_first_readings(server, tmp_path):
    port = int(server.origin.rpartition(":")[2])
    code = "\n".join(of for kind, of in blocks("notebook", port) if kind == "python")
    out = run([sys.executable, "-W", "error", "-"], tmp_path, port, server.binary, code)
    # The last check that is printed is the one that doubts the reading.
    assert "29.0     Doubtful       Disagree" in out
    assert re.search(r"^\w+ .'baseQuality': 'Doubtful', 'reasonQuality': 'Disagree'", out, re.MULTILINE), out
    drawn = (tmp_path / "meteogram.png").read_bytes()
    assert drawn.startswith(b"\x89PNG") and len(drawn) > 20_000
