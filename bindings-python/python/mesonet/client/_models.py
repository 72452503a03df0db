"""The calls of the model service."""

from collections.abc import Sequence
from typing import Literal

from .. import answers
from .._columns import Instant
from .._mesonet import MesonetError
from ..grid import NativeGrid
from ._filter import parameters
from ._parameters import instant_text
from ._twin import call
from ._wire import Program, Request, segment
from .model import SOUNDING_FIELDS, ModelPoint, ModelSeries, Tile


class Models:
    """The calls of :class:`mesonet.Client` and :class:`mesonet.AsyncClient` to models.

    ``run`` is a stamp as :meth:`runs` lists them, or ``latest``. A place is ``lat`` and ``lon``, or
    ``row`` and ``col`` of the model's grid. ``level`` is an index into the levels of a product,
    ``level_hpa`` the pressure of a level, and ``member`` the number of an ensemble member.
    """

    @call
    def models(self) -> Program[dict[str, answers.ModelCoverage]]:
        """The models that this caller may use and that have a run, by name: grid, box, latest run
        and its forecast hours.

        >>> client.models()["safrica"]["latest_run"]
        '20100308T120000Z'
        """
        found: answers.Coverage = (yield Request("/models/coverage", model=True)).json()
        return found["models"]

    @call
    def runs(self, model: str) -> Program[list[answers.RunDetail]]:
        """The runs of a model, latest run first, with their published hours.

        >>> [run["run"] for run in client.runs("nam211")]
        ['20180917T000000Z']
        """
        answer = yield Request(f"/models/{segment(model)}/runs", model=True)
        found: answers.ModelRuns = answer.json()
        return found["details"]

    @call
    def model_products(self, model: str, *, run: str = "latest") -> Program[dict[str, answers.ModelProduct]]:
        """The products of a run by name: unit, levels, packing, members.

        >>> client.model_products("nam211")["temperature_2m"]["unit"]
        'K'
        """
        _, found = yield from _products(model, run)
        return found

    @call
    def grid(self, model: str, *, run: str = "latest") -> Program[NativeGrid]:
        """The native grid of a model.

        >>> client.grid("nam211").nearest(-79.4, 43.7)
        Cell(row=37, column=68)
        """
        query = parameters(run=run)
        return NativeGrid(
            (yield Request(f"/models/{segment(model)}/grid", query, model=True)).json()
        )

    @call
    def point(
        self,
        model: str,
        fields: Sequence[str],
        *,
        lat: float | None = None,
        lon: float | None = None,
        row: int | None = None,
        column: int | None = None,
        run: str | None = None,
        hour: int | None = None,
        valid: Instant | None = None,
        level: int | None = None,
        level_hpa: float | None = None,
        member: int | None = None,
        winds: Literal["grid", "earth"] = "earth",
    ) -> Program[ModelPoint]:
        """The values of the cell at a place, at an hour of a run or at a valid time.

        ``hour`` is an index, 0 by default. ``valid`` replaces it; without ``run``, ``valid`` also
        chooses the newest run that has published that time. Components of winds are towards true
        east and north, or along the axes of the grid with ``winds="grid"``.

        >>> point = client.point("nam211", ["temperature_2m", "u_wind_10m"], lat=43.7, lon=-79.4)
        >>> point["temperature_2m"], point.valid_time
        (296.7, '2018-09-17T00:00:00Z')
        """
        if valid is None:
            run, hour = run or "latest", hour or 0
        query = parameters(
            run=run,
            hour=None if hour is None else str(hour),
            valid=None if valid is None else instant_text(valid, "valid"),
            fields=_fields(fields),
            winds=winds if winds == "earth" else None,
        ) + _at(lat, lon, row, column, level, level_hpa, member)
        return ModelPoint((yield Request(f"/models/{segment(model)}/point", query, model=True)).json())

    @call
    def sounding(
        self,
        model: str,
        *,
        lat: float | None = None,
        lon: float | None = None,
        row: int | None = None,
        column: int | None = None,
        run: str = "latest",
        hour: int = 0,
        member: int | None = None,
    ) -> Program[ModelPoint]:
        """The column over a place: temperature, humidity, height and wind on the pressure levels of
        the model. Winds are towards true east and north.

        >>> sounding = client.sounding("nam211", lat=43.7, lon=-79.4).to_xarray()
        >>> sorted(sounding.data_vars)
        ['geopotential_height', 'relative_humidity', 'temperature', 'u_wind', 'v_wind']
        >>> sounding.temperature.sel(level_hpa=500).item()
        267.49
        """
        run, products = yield from _products(model, run)
        fields = [name for name in SOUNDING_FIELDS if name in products and products[name].get("levels_hpa")]
        if not fields:
            raise MesonetError(f"model {model} has no product on levels of pressure")
        query = parameters(run=run, hour=str(hour), fields=_fields(fields), winds="earth")
        query += _at(lat, lon, row, column, None, None, member)
        return ModelPoint((yield Request(f"/models/{segment(model)}/point", query, model=True)).json())

    @call
    def model_series(
        self,
        model: str,
        fields: Sequence[str],
        *,
        lat: float | None = None,
        lon: float | None = None,
        row: int | None = None,
        column: int | None = None,
        run: str = "latest",
        start: Instant | None = None,
        end: Instant | None = None,
        level: int | None = None,
        level_hpa: float | None = None,
        member: int | None = None,
        winds: Literal["grid", "earth"] = "earth",
    ) -> Program[ModelSeries]:
        """The values of the cell at a place over the hours of a run that are published, between
        ``start`` and ``end`` (valid times, both included).

        >>> series = client.model_series("safrica", ["precipitable_water"], lat=-30, lon=25)
        >>> series.to_xarray().precipitable_water[:3].values.tolist()
        [17.73, 18.91, 19.4]
        """
        query = parameters(
            run=run,
            fields=_fields(fields),
            winds=winds if winds == "earth" else None,
            to=None if end is None else instant_text(end, "end"),
        ) + _at(lat, lon, row, column, level, level_hpa, member)
        if start is not None:
            query += (("from", instant_text(start, "start")),)
        return ModelSeries(
            (yield Request(f"/models/{segment(model)}/series", query, model=True)).json()
        )

    @call
    def tile(
        self,
        model: str,
        name: str,
        z: int,
        x: int,
        y: int,
        *,
        run: str = "latest",
        hour: int | None = None,
        valid: Instant | None = None,
        level: int | None = None,
        level_hpa: float | None = None,
        member: int | None = None,
    ) -> Program[Tile]:
        """A web Mercator tile of 256 by 256 values, decoded; NaN where there is no value.

        ``hour`` is 0 by default; ``valid`` replaces it, within the run.

        >>> tile = client.tile("nam211", "temperature_2m", 3, 2, 3)
        >>> tile.values.shape, tile.unit, round(float(tile.to_xarray().mean()), 1)
        ((256, 256), 'K', 300.4)
        """
        # The run is named in both requests: a newer one may come in between.
        run, products = yield from _products(model, run)
        if name not in products:
            known = ", ".join(products)
            raise MesonetError(f"unknown product {name!r} of model {model}; known are {known}")
        if valid is None:
            hour = hour or 0
        query = parameters(
            run=run,
            hour=None if hour is None else str(hour),
            valid=None if valid is None else instant_text(valid, "valid"),
        ) + _at(None, None, None, None, level, level_hpa, member)
        path = f"/models/{segment(model)}/products/{segment(name)}/data/{z}/{x}/{y}"
        answer = yield Request(path, query, accept="application/octet-stream", model=True)
        return Tile.decoded(answer.content, name, products[name], (z, x, y), run)


def _products(model: str, run: str) -> Program[tuple[str, dict[str, answers.ModelProduct]]]:
    """The run that a text stands for, and its products by name."""
    answer = yield Request(f"/models/{segment(model)}/products", parameters(run=run), model=True)
    said: answers.ModelProducts = answer.json()
    return said["run"], {of["name"]: of for of in said["products"]}


def _fields(fields: Sequence[str]) -> str:
    if isinstance(fields, str):
        raise TypeError("fields must be a list of texts; got one text")
    return ",".join(fields)


def _at(
    lat: float | None,
    lon: float | None,
    row: int | None,
    column: int | None,
    level: int | None,
    level_hpa: float | None,
    member: int | None,
) -> tuple[tuple[str, str], ...]:
    return parameters(
        lat=None if lat is None else repr(float(lat)),
        lon=None if lon is None else repr(float(lon)),
        row=None if row is None else str(row),
        col=None if column is None else str(column),
        level=None if level is None else str(level),
        level_hpa=None if level_hpa is None else repr(float(level_hpa)),
        member=None if member is None else str(member),
    )
