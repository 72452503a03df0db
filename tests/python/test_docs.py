"""The examples that users read: READMEs, docstrings, and the docs of ufuncs, which doctest skips."""

import doctest
from pathlib import Path

import mesonet
import numpy as np
import pytest

MODULES = [
    mesonet,
    mesonet.access,
    mesonet.alert,
    mesonet.answer,
    mesonet.answers,
    mesonet.check,
    mesonet.frame,
    mesonet.explanation,
    mesonet.record,
    mesonet.crosswalk,
    mesonet.derived,
    mesonet.feed,
    mesonet.grib,
    mesonet.grid,
    mesonet.metar,
    mesonet.quality,
    mesonet.table,
    mesonet.tile,
    mesonet.time_grid,
    mesonet.unit,
    mesonet.wind,
]
ROOT = Path(__file__).parents[2]
UFUNCS = [name for name in mesonet.__all__ if isinstance(getattr(mesonet, name), np.ufunc)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_module(module):
    assert module.__doc__
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0 or module is mesonet


@pytest.mark.parametrize("name", ["BaseQuality", "ReasonQuality"])
def test_codes(name):
    # Their module is given as `mesonet`, where pickling finds them, and so do their examples.
    tests = doctest.DocTestFinder(recurse=False).find(getattr(mesonet, name), module=mesonet)
    assert sum(run(test) for test in tests) > 0


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc(name):
    doc = getattr(mesonet, name).__doc__
    assert run(doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)) > 0


@pytest.mark.parametrize("readme", ["README.md", "bindings-python/README.md"])
def test_readme(readme):
    result = doctest.testfile(str(ROOT / readme), module_relative=False, encoding="utf-8")
    assert (result.failed, result.attempted > 0) == (0, True)


def test_everything_public_is_documented():
    for name in mesonet.__all__:
        assert getattr(mesonet, name).__doc__, name


def run(test):
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0
    return result.attempted
