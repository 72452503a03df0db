"""Clients that other programs generate from the committed description work with a running server."""

import os
import shutil
import sys
from pathlib import Path

import child
import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
DESCRIPTION = ROOT / "docs/openapi-v1.json"


def tool(name):
    return str(Path(sys.executable).with_name(name))


def test_a_python_client_is_made_and_works(service, tmp_path):
    # The generator calls ruff, which is beside it.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    child.run(
        tool("openapi-python-client"), "generate", "--path", str(DESCRIPTION), "--meta", "none",
        "--output-path", str(tmp_path / "mesonet_client"), "--fail-on-warning",
        "--config", str(HERE / "python_client.yaml"), env=os.environ | {"PATH": path},
    )  # fmt: skip
    use = str(HERE / "use_client.py")
    env = os.environ | {"PYTHONPATH": str(tmp_path), "MYPYPATH": str(tmp_path)}
    # The client's own file client.py is not clean, whatever the description says.
    checked = child.run(
        tool("mypy"), "--strict", "--follow-imports=silent", use, env=env, cwd=tmp_path
    )
    assert "Success" in checked
    token = service.token("--plan", "free")
    assert "works" in child.run(sys.executable, use, service.origin, token, env=env)


def test_a_typescript_client_is_made_and_works(service):
    folder = HERE / "typescript"
    child.run("npm", "ci", "--no-audit", "--no-fund", cwd=folder)
    child.run("npm", "run", "generate", cwd=folder)
    child.run("npm", "run", "build", cwd=folder)
    assert "works" in child.run("node", "built/use.js", service.origin, cwd=folder)


def test_the_explorer_shows_every_operation_and_asks_no_one_else(service, description, tmp_path):
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        pytest.skip("there is no Chromium")
    page = child.run(
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
        "--virtual-time-budget=30000", "--enable-logging=stderr",
        f"--user-data-dir={tmp_path}",
        # Anything on another host is not found.
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        service.origin + "/swagger",
    )  # fmt: skip
    for item in description["paths"].values():
        for operation in item.values():
            assert operation["summary"] in page, operation["operationId"]
