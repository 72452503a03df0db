"""Features of GeoJSON: alerts and zones."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from ._optional import need
from ._shown import ShownRows

if TYPE_CHECKING:
    import geopandas  # type: ignore[import-untyped,unused-ignore]

__all__ = ["Feature", "FeatureCollection", "Features"]

Of = TypeVar("Of", bound=Mapping[str, object])


class Feature(TypedDict):
    """A feature of GeoJSON with any properties. Those of alerts and zones are
    :class:`mesonet.answers.AlertFeature` and :class:`mesonet.answers.ZoneFeature`."""

    type: Literal["Feature"]
    id: NotRequired[str]
    geometry: Mapping[str, object] | None
    properties: Mapping[str, object]


class FeatureCollection(TypedDict, Generic[Of]):
    """Features of GeoJSON."""

    type: Literal["FeatureCollection"]
    features: list[Of]


@dataclass(frozen=True, eq=False)
class Features(ShownRows, Generic[Of]):
    """A GeoJSON FeatureCollection. Its type says of what: ``Features[answers.AlertFeature]``.

    >>> from mesonet import Features
    >>> place = {"type": "Point", "coordinates": [-79.63, 43.68]}
    >>> one = {"type": "Feature", "id": "a", "geometry": place, "properties": {"event": "fog"}}
    >>> features = Features({"type": "FeatureCollection", "features": [one]})
    >>> features, [feature["properties"]["event"] for feature in features]
    (<mesonet.Features: 1 feature>, ['fog'])
    """

    geojson: FeatureCollection[Of]
    """The object, as the service sends it."""
    replay: str | None = None
    """The time on the clock of a service that replays old data; None for a live one."""

    def __len__(self) -> int:
        return len(self.geojson["features"])

    def __iter__(self) -> Iterator[Of]:
        return iter(self.geojson["features"])

    def __repr__(self) -> str:
        return f"<mesonet.Features: {len(self)} feature{'' if len(self) == 1 else 's'}>"

    def _shown(self) -> tuple[list[str], int]:
        names = dict.fromkeys(name for feature in self._plain() for name in feature["properties"])
        return ["id", *names], len(self)

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        of = self._plain()[start:stop]
        return [one.get("id") if name == "id" else one["properties"].get(name) for one in of]

    def _plain(self) -> Sequence[Any]:
        return self.geojson["features"]

    @property
    def __geo_interface__(self) -> FeatureCollection[Of]:
        return self.geojson

    def to_json(self) -> str:
        """The text of the object, for a file ``.geojson``."""
        return json.dumps(self.geojson, ensure_ascii=False)

    def to_geopandas(self) -> "geopandas.GeoDataFrame":
        """The ``geopandas.GeoDataFrame``, in EPSG:4326, with a column for each property.

        A feature without a geometry has None for it; ``id`` of the feature is the index.
        """
        geopandas = need("geopandas", "Features.to_geopandas")
        shape = need("shapely.geometry", "Features.to_geopandas").shape
        features = self._plain()
        shapes = [shape(of["geometry"]) if of["geometry"] else None for of in features]
        names = dict.fromkeys(name for of in features for name in of["properties"])
        columns = {name: [of["properties"].get(name) for of in features] for name in names}
        index = [of.get("id") for of in features]
        return geopandas.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326", index=index)
