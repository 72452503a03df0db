"""The command `mesonet`, and the site of the docs."""

import html
import inspect
import json
import re
import subprocess
import sys
import zlib
from importlib import metadata
from pathlib import Path

import mesonet
import pytest

ROOT = Path(__file__).parents[2]


def run(*command, strict=("-W", "error")):
    return subprocess.run(
        [sys.executable, *strict, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_demo_runs_offline_on_the_reports_in_the_package():
    done = run("-m", "mesonet", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "25 reports" in done.stdout and "0 refused" in done.stdout
    assert "80.0 °C  Error, Range" in done.stdout or "80.0 °C  Doubtful" in done.stdout
    sample = Path(mesonet.__file__).parent / "sample"
    reports = sorted((sample / "metar_2024-08-03.txt").read_text().splitlines())
    import gzip

    real = gzip.open(ROOT / "server-example" / "sample" / "metar_us_ca.csv.gz", "rt").read()
    for report in reports:
        assert report.removeprefix("METAR ").removesuffix("=") in real


def test_the_command_is_installed_and_says_its_version():
    [script] = [of for of in metadata.entry_points(group="console_scripts") if of.name == "mesonet"]
    assert script.value == "mesonet.__main__:main"
    assert run("-m", "mesonet", "--version").stdout == f"mesonet {mesonet.__version__}\n"
    assert "demo" in run("-m", "mesonet").stdout


def test_the_metadata_is_what_an_index_shows():
    of = metadata.metadata("mesonet")
    assert of["License-Expression"] == "MIT OR Apache-2.0"
    assert of["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in of.get_all("Classifier")
    assert "client" in of.get_all("Provides-Extra")
    assert (Path(mesonet.__file__).parent / "py.typed").exists()


# Where a page of the site leads.
REFERENCES = {"reference/javascript.html": "javascript/index.html", "reference/rust.html": "rust/mesonet/index.html"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of all documents, built with warnings as errors, its notebooks run."""
    out, references = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("references")
    # Stand-ins for what typedoc and rustdoc make.
    for page in REFERENCES.values():
        (references / page).parent.mkdir(parents=True)
        (references / page).write_text("made by another program", encoding="utf-8")
    options = ("-q", "-W", "--keep-going", "-D", f"html_extra_path={references}")
    # Sphinx's warnings are errors; those of the packages that it loads are theirs.
    done = run("-m", "sphinx", *options, ROOT / "docs", out, strict=())
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.long
@pytest.mark.parametrize("page", REFERENCES)
def test_the_site_leads_to_the_references_that_other_programs_make(site, page):
    text = (site / page).read_text(encoding="utf-8")
    assert f'href="../{REFERENCES[page]}"' in text
    assert (site / REFERENCES[page]).exists()


@pytest.mark.long
def test_the_site_has_everything_public_and_the_recipes(site):
    inventory = (site / "objects.inv").read_bytes()
    listed = zlib.decompress(inventory.split(b"\n", 4)[4]).decode()
    names = set(re.findall(r"^(\S+) py:", listed, re.MULTILINE))
    short = {name.rpartition(".")[2] for name in names}
    missing = set(mesonet.__all__) - short - {"__version__"}
    assert not missing
    calls = {name for name, of in inspect.getmembers(mesonet.Client) if inspect.isfunction(of)}
    assert {f"mesonet.Client.{name}" for name in calls if not name.startswith("_")} <= names
    images = {image.stem for image in (site / "_images").glob("*.png")}
    assert {image.stem for image in (ROOT / "docs" / "recipes" / "images").glob("*.png")} <= images
    # Nothing is loaded from elsewhere.
    for page in site.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|woff2?)"', text), page


@pytest.mark.long
def test_the_site_has_every_document_endpoint_and_command(site, binary):
    pages = {path.relative_to(site).with_suffix("").as_posix() for path in site.glob("**/*.html")}
    documents = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").glob("**/*.md")}
    assert documents <= pages
    http = (site / "reference" / "http.html").read_text(encoding="utf-8")
    description = json.loads((ROOT / "docs" / "openapi-v1.json").read_text(encoding="utf-8"))
    for path, item in description["paths"].items():
        for method in {"get", "head", "post", "put", "delete"} & item.keys():
            assert f"{method.upper()} {path}<" in http, path
    commands = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    listed = subprocess.run([binary, "help"], capture_output=True, text=True, check=True, timeout=60).stdout
    for name in re.findall(r"^  ([a-z-]+)  ", listed.partition("Commands:")[2].partition("\n\n")[0], re.MULTILINE):
        assert name == "help" or f"Usage: mesonet-server {name}" in html.unescape(commands), name
    search = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "gallery/a_storm" in search and "operate/backups" in search


@pytest.mark.long
def test_the_notebooks_of_the_gallery_have_run(site):
    sources = sorted(path for path in (ROOT / "docs" / "gallery").glob("*.md") if path.stem != "index")
    assert len(sources) == 4
    for source in sources:
        page = html.unescape((site / "gallery" / f"{source.stem}.html").read_text(encoding="utf-8"))
        cells = source.read_text(encoding="utf-8").count("```{code-cell}")
        assert page.count("cell docutils") == cells, source
        assert page.count("cell_output docutils") >= cells - 3, source
    storm = (site / "gallery" / "a_storm.html").read_text(encoding="utf-8")
    assert storm.count("<img") >= 2
    own = (site / "gallery" / "own_csv.html").read_text(encoding="utf-8")
    # Each fault that was put in is found.
    assert own.count("<td>True</td>") == 6 and "<td>False</td>" not in own
