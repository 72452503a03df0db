"""What is uploaded: the wheel and the source distribution, which the stages `python` and `wheel` of tests/run make."""

import ast
import graphlib
import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import mesonet
import pytest
from packaging.licenses import canonicalize_license_expression
from trove_classifiers import classifiers

pytestmark = pytest.mark.wheel

LICENCES = {"LICENSE-APACHE", "LICENSE-MIT"}


@pytest.fixture(scope="module")
def uploads(target):
    folder = Path(os.environ.get("MESONET_TEST_WHEELS", target / "test-wheels"))
    wheels, sdists = (sorted(folder.glob(f"mesonet-*{end}")) for end in (".whl", ".tar.gz"))
    assert (len(wheels), len(sdists)) == (1, 1), "tests/run python makes one of each"
    return wheels[0], sdists[0]


def test_the_page_on_the_index_is_rendered(uploads):
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *uploads]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_metadata_are_of_known_words():
    about = importlib.metadata.metadata("mesonet")
    expression = about["License-Expression"]
    assert expression == canonicalize_license_expression(expression) == "MIT OR Apache-2.0"
    assert set(about.get_all("License-File")) == LICENCES
    named = about.get_all("Classifier")
    assert set(named) <= classifiers
    # A licence stands in one place only.
    assert not [name for name in named if name.startswith("License ::")]
    oldest = about["Requires-Python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in named
    assert about["Description-Content-Type"].startswith("text/markdown")


def test_the_addresses_are_those_of_the_repository():
    workspace = (Path(__file__).parents[2] / "Cargo.toml").read_text(encoding="utf-8")
    repository = tomllib.loads(workspace)["workspace"]["package"]["repository"]
    addresses = dict(named.split(", ", 1) for named in importlib.metadata.metadata("mesonet").get_all("Project-URL"))
    assert addresses == {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/HEAD/docs",
        "Repository": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
    }


def test_the_wheel_holds_types_and_licences_and_no_sources(uploads):
    files = importlib.metadata.files("mesonet")
    names = {str(path) for path in files}
    assert {"mesonet/py.typed", "mesonet/_mesonet.pyi", "mesonet/sample/SOURCES.md"} <= names
    assert {path.name for path in files if "licenses" in path.parts} == LICENCES
    assert not [name for name in names if name.endswith((".rs", ".toml"))]
    # One extension for all versions of Python from the oldest on.
    assert "-cp311-abi3-" in uploads[0].name
    assert uploads[0].stat().st_size < 30_000_000


def test_the_source_distribution_holds_what_it_is_built_from_and_no_more(uploads):
    with tarfile.open(uploads[1]) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    needed = {
        "Cargo.lock",
        "Cargo.toml",
        "PKG-INFO",
        "README.md",
        "bindings-python/src/lib.rs",
        "core/src/check/limits.toml",
        "core/src/feed/known/metar_stations.csv",
        "core/src/lib.rs",
        "pyproject.toml",
        "python/mesonet/py.typed",
        "python/mesonet/sample/SOURCES.md",
        *LICENCES,
    }
    assert needed <= names, needed - names
    folders = {name.partition("/")[0] for name in names if "/" in name}
    # The rule of when a record is live is that of the service, which has a store in ClickHouse as a choice.
    assert folders == {"bindings-python", "core", "python", "service", "store-clickhouse"}
    assert not [name for name in names if "target/" in name or name.endswith((".so", ".pyc", ".whl"))]
    assert uploads[1].stat().st_size < 3_000_000


def test_no_modules_import_each_other():
    """Not for their types either: a reader begins with what imports nothing."""
    package = Path(mesonet.__file__).parent
    sources = {path: path.relative_to(package.parent) for path in package.rglob("*.py*") if path.suffix in (".py", ".pyi")}
    name_of = {path: ".".join((*at.parent.parts, at.stem)).removesuffix(".__init__") for path, at in sources.items()}
    modules = set(name_of.values())
    imports = {module: set() for module in modules}
    for path, at in sources.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = at.parent.parts[: len(at.parent.parts) - node.level + 1]
                of = ".".join((*folder, node.module) if node.module else folder)
                found = (f"{of}.{alias.name}" for alias in node.names)
                imports[name_of[path]] |= {full if full in modules else of for full in found}
    assert imports["mesonet.grib"] >= {"mesonet._mesonet", "mesonet.feed"}
    # Raises CycleError, which names the modules.
    assert len(tuple(graphlib.TopologicalSorter(imports).static_order())) == len(modules)
