"""The types of the JSON answers are those of the description, and public signatures use them."""

import ast
import re
import types
import typing
from pathlib import Path

import mesonet
import pytest
import write_answers
from mesonet import answers
from mesonet.client.table import About
from mesonet.grid import GridDefinition

SCHEMAS = write_answers.schemas()
OBJECTS = [name for name, of in SCHEMAS.items() if "properties" in of]


@pytest.mark.parametrize("name", OBJECTS)
def test_an_answer_has_the_members_of_its_schema(name):
    schema, told = SCHEMAS[name], getattr(answers, name)
    assert told.__required_keys__ == set(schema.get("required", ()))
    assert told.__required_keys__ | told.__optional_keys__ == set(schema["properties"])


def test_the_words_of_an_enumeration_are_those_of_its_schema():
    words = {name: of["enum"] for name, of in SCHEMAS.items() if "enum" in of}
    assert {name: list(typing.get_args(getattr(answers, name))) for name in words} == words


def test_the_module_is_what_the_description_gives():
    command = "python tests/python/write_answers.py"
    assert Path(answers.__file__).read_text(encoding="utf-8") == write_answers.written(), command


def test_what_is_said_of_all_rows_is_what_the_service_says():
    series = typing.get_type_hints(answers.ObservationSeries)
    del series["readings"]
    grid = typing.get_type_hints(answers.Readings)
    del grid["stations"]
    assert typing.get_type_hints(About) == series | grid


def test_a_definition_has_members_of_the_grid_of_a_model():
    grid, told = answers.ModelGrid, GridDefinition
    assert told.__required_keys__ < grid.__required_keys__
    assert told.__optional_keys__ <= grid.__optional_keys__ | {"radius_m"}
    hints = typing.get_type_hints(grid)
    del hints["projection"]
    own = {name: hint for name, hint in typing.get_type_hints(told).items() if name in hints}
    assert own == {name: hints[name] for name in own}


def test_answers_in_process_are_of_their_types(tmp_path):
    report = b"SACN31 CWAO 032000\nMETAR CYYZ 032000Z 24012G20KT 29/17 A2991=\n"
    at = "2024-08-03T20:01Z"
    with mesonet.Record(tmp_path, write=True) as record:
        record.ingest(report, received=at)
        station = record.details("CYYZ", at=at)
        assert faults(station, answers.StationDetail) == []
        assert faults(record.details(at=at), answers.StationDetails) == []
        [air] = [of["id"] for of in station["types"] if of["name"] == "airTemperature"]
        assert faults(dict(record.explain("CYYZ", air, "2024-08-03T20:00Z")), answers.Explanation) == []
        days = record.summary("CYYZ", "2024-08-03", "2024-08-03").periods
        assert [faults(of, answers.PeriodSummary) for _, of in days] == [[]]
    assert faults(mesonet.capabilities("pro"), answers.Capabilities) == []
    grid = {"rows": 2, "columns": 3, "first_lon": 0, "first_lat": 50, "column_step": 2500, "row_step": 2500}
    cone = {"projection": "lambert_conformal", "origin_lat": 40, "central_lon": 0, "parallels": [40, 50]}
    grid |= cone | {"radius_m": 6371229, "flattening": 0.003, "grid_relative_winds": False}
    assert faults(mesonet.NativeGrid(grid).definition, GridDefinition) == []
    assert faults({"rows": 2.5}, GridDefinition) != []


def faults(value, hint, where="it"):
    """Where a value is not of its type."""
    of, given = typing.get_origin(hint), typing.get_args(hint)
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        wrong = [f"{where} lacks {name}" for name in hint.__required_keys__ - value.keys()]
        wrong += [f"{where} has {name}" for name in value.keys() - hints.keys()]
        return wrong + [
            fault
            for name in value.keys() & hints.keys()
            for fault in faults(value[name], hints[name], f"{where}.{name}")
        ]
    if of in (types.UnionType, typing.Union):
        tried = [faults(value, one, where) for one in given if isinstance(value, plain(one))]
        return min(tried, key=len, default=[f"{where} is {value!r}"])
    if of is typing.Literal:
        return [] if value in given else [f"{where} is {value!r}"]
    if not isinstance(value, plain(hint)):
        return [f"{where} is {value!r}"]
    if of is list:
        return [fault for one in value for fault in faults(one, given[0], f"{where}[]")]
    if of is dict:
        return [fault for name, one in value.items() for fault in faults(one, given[1], f"{where}[{name}]")]
    return []


def plain(hint):
    """What `isinstance` takes for a type."""
    of = dict if typing.is_typeddict(hint) else typing.get_origin(hint) or hint
    return (int, float) if of is float else str if of is typing.Literal else of


# Where a public signature has Any, and why.
ANY = {
    # The type of the numbers is that of the column.
    "mesonet.client.table ServiceTable.columns",
    "mesonet.client.table ServiceTable.__getitem__",
    "mesonet.table Rows.__getitem__",
    "mesonet.table Rows.__iter__",
    # What an event carries depends on its topic.
    "mesonet.client._live LiveEvent.data",
    # The members of a report as a dictionary; the report itself has their types.
    "mesonet.metar Metar.to_dict",
    # Made by read_grib of what a file says, not by users.
    "mesonet._grib_field GribField.__init__",
}


def test_public_signatures_have_no_any():
    package, shared = Path(mesonet.__file__).parent, shared_names()
    found = set()
    for path in sorted(package.rglob("*.py*")):
        if path.suffix not in (".py", ".pyi"):
            continue
        parts = path.relative_to(package.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = set() if any(part.startswith("_") for part in module.split(".")) else listed(tree)
        if names is not None:
            names |= shared.get(module, set())
        for what in any_in(tree):
            if names is None or what.partition(".")[0] in names:
                found.add(f"{module} {what}")
    assert found == ANY


def shared_names():
    """The public classes, and what they inherit from, by their modules."""
    shared = {}
    for name in mesonet.__all__:
        public = getattr(mesonet, name)
        for cls in (public if isinstance(public, type) else type(public)).__mro__:
            shared.setdefault(cls.__module__, set()).add(cls.__name__)
    return shared


def listed(tree):
    """The names in ``__all__``; None if there is no such list."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def any_in(node, within=""):
    """The public functions and variables whose annotations have Any."""
    for part in node.body:
        if isinstance(part, ast.If):
            yield from any_in(part, within)
        elif isinstance(part, ast.ClassDef) and is_public(part.name):
            if any(map(has_any, part.bases)):
                yield within + part.name
            yield from any_in(part, f"{within}{part.name}.")
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and is_public(part.name):
            of = part.args
            given = [*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg]
            if any(map(has_any, [part.returns, *(one.annotation for one in given if one)])):
                yield within + part.name
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            is_alias = ast.unparse(part.annotation) == "TypeAlias"
            if is_public(part.target.id) and has_any(part.value if is_alias else part.annotation):
                yield within + part.target.id


def is_public(name):
    return not name.startswith("_") or name.startswith("__")


def has_any(annotation):
    return annotation is not None and re.search(r"\bAny\b", ast.unparse(annotation)) is not None
