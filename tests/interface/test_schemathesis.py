"""Schemathesis sends a running server requests that its description allows, and requests that it does not."""

import os
import sys
from pathlib import Path

import child

HERE = Path(__file__).parent

# Fuzzing goes on until it is over.
BUDGET_S = 180


def test_the_server_is_as_its_description_says(service, tmp_path):
    command = Path(sys.executable).with_name("schemathesis")
    tokens = {
        "MESONET_TOKEN": service.token("--plan", "commercial", "--staff"),
        "MESONET_PUSH_KEY": service.push_key,
    }
    out = child.run(
        str(command), "--config-file", str(HERE / "schemathesis.toml"),
        "run", service.origin + "/openapi/v1.json",
        "--continue-on-failure", "--no-shrink", "--max-time", str(BUDGET_S),
        cwd=tmp_path, env=os.environ | tokens, patience_s=3 * BUDGET_S,
    )  # fmt: skip
    print(out)
    # Every operation was reached, even by the phases that choose operations themselves.
    assert "❌" not in out
