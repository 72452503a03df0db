"""The answers of the observation service as objects and tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import answers
from .._mesonet import BASE_QUALITY_NAMES, REASON_QUALITY_NAMES, MesonetError
from ._wire import Answer
from .table import About, ServiceTable, texts, utc

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Reading: TypeAlias = answers.Reading | answers.SeriesReading
_BASE = {name: code for code, name in enumerate(BASE_QUALITY_NAMES)}
_REASON = {name: code for code, name in enumerate(REASON_QUALITY_NAMES)}


def readings_table(
    given: Sequence[Answer], has_units: bool = False, has_local: bool = False
) -> ServiceTable:
    parts: list[answers.Readings] = [answer.json() for answer in given]
    steps = {of.get("step") for of in parts}
    if len(steps) > 1:
        several = ", ".join(map(str, sorted(step or 0 for step in steps)))
        raise MesonetError(
            f"the service coarsened parts of the request to different steps ({several} minutes); "
            "ask for a coarser step or fewer names"
        )
    rows = [
        (station, one)
        for part in parts
        for station, of in part["stations"].items()
        for one in of["readings"]
    ]
    of = [one for _, one in rows]
    columns: dict[str, NDArray[Any]] = {
        "station_id": texts([station for station, _ in rows]),
        "observation_name": texts([one["type"] for one in of]),
        "series_id": np.array([one["typeId"] for one in of], np.int32),
        "timestamp": utc([one["timestamp"] for one in of]),
        "value": np.array([one["value"] for one in of], np.float64),
        **quality_columns(of),
        "qualifier": texts([one.get("qualifier") for one in of]),
        **form_columns(of, has_units, has_local),
    }
    about = About()
    if steps != {None}:
        age = np.array([one["age"] for one in of], np.int64)
        columns["age_s"] = age
        columns["position"] = columns["timestamp"] + age.astype("m8[s]")
        if "step" in parts[0]:
            about["step"] = parts[0]["step"]
        if "coarsening" in parts[0]:
            about["coarsening"] = parts[0]["coarsening"]
    damaged = sum(answer.damaged for answer in given)
    return ServiceTable(columns, about, damaged, given[0].replay)


def form_columns(
    of: Sequence[_Reading], has_units: bool, has_local: bool
) -> "dict[str, NDArray[Any]]":
    """The columns that the form of an answer adds."""
    units = {"unit": texts([one["unit"] for one in of])} if has_units else {}
    local = [one.get("localTimestamp") for one in of] if has_local else None
    return units if local is None else {**units, "local_timestamp": texts(local)}


def quality_columns(of: Sequence[_Reading]) -> "dict[str, NDArray[Any]]":
    return {
        "quality_base": np.array([_BASE[one["quality"]["baseQuality"]] for one in of], np.uint8),
        "quality_reason": np.array(
            [_REASON[one["quality"]["reasonQuality"]] for one in of], np.uint8
        ),
    }


def table(
    answer: Answer, columns: "dict[str, NDArray[Any]]", about: About | None = None
) -> ServiceTable:
    return ServiceTable(columns, about or About(), answer.damaged, answer.replay)
