"""Writes `mesonet/answers.py`, the types of the JSON answers, from the description of the service.

With the packages of requirements.txt: `python tests/python/write_answers.py`.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DESCRIPTION = ROOT / "docs/openapi-v1.json"
MODULE = ROOT / "bindings-python/python/mesonet/answers.py"

# What the calls of the package return or take, as the description names it; what these refer to follows.
ANSWERS = (
    "Alerts", "AreaSummaries", "BulkEntry", "Capabilities", "Coverage", "Explanation", "Feeds", "ModelGrid",
    "ModelPoint", "ModelProducts", "ModelRuns", "ModelSeries", "ObservationSeries", "ProductList", "Readings",
    "StationDetails", "StationMarkers", "StationQuality", "StationReports", "StationSummaries", "StationWeather",
    "Zones",
)  # fmt: skip

HEADER = '''"""The JSON answers of the service, as types for a checker.

The calls that return an answer as it is return one of these: plain dictionaries, named as in the
OpenAPI description. A member that may be absent is ``NotRequired``. An answer may have further
members in later versions.

>>> from mesonet import answers, capabilities
>>> alerts: answers.ProductAccess = capabilities("pro")["products"]["alerts"]
>>> alerts["allowed"]
True
"""

# Made by tests/python/write_answers.py of docs/openapi-v1.json.
# ruff: noqa'''

OPTIONS = (
    "--input-file-type=openapi", "--output-model-type=typing.TypedDict", "--target-python-version=3.11",
    "--enum-field-as-literal=all", "--use-schema-description", "--use-field-description",
    "--use-attribute-docstrings", "--use-single-line-docstring", "--use-object-type", "--use-union-operator",
    "--use-standard-collections", "--disable-future-imports", "--disable-timestamp", "--formatters=builtin",
    "--custom-file-header-path=header.txt", "--input=description.json", "--output=answers.py",
)  # fmt: skip


def schemas():
    """The schemas of the answers, by name."""
    known = json.loads(DESCRIPTION.read_text(encoding="utf-8"))["components"]["schemas"]
    found, left = {}, list(ANSWERS)
    while left:
        name = left.pop()
        if name not in found:
            found[name] = known[name]
            left.extend(_named(known[name]))
    return dict(sorted(found.items()))


def written():
    """The text of the module."""
    description = {
        "openapi": "3.1.0",
        "info": {"title": "answers", "version": "1"},
        "paths": {},
        "components": {"schemas": schemas()},
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "description.json").write_text(json.dumps(description), encoding="utf-8")
        Path(folder, "header.txt").write_text(HEADER, encoding="utf-8")
        command = [sys.executable, "-m", "datamodel_code_generator", *OPTIONS]
        subprocess.run(command, cwd=folder, check=True, timeout=300)
        return Path(folder, "answers.py").read_text(encoding="utf-8")


def _named(schema):
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for part in schema.values():
            yield from _named(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _named(part)


if __name__ == "__main__":
    MODULE.write_text(written(), encoding="utf-8")
