"""Surface weather observations: quality codes and checks, units, derived values, tiles, model grids, winds.

The Rust library of the same name does the work. The functions over arrays are NumPy ufuncs or
release the GIL. A value that the library refuses raises :class:`MesonetError`, a ``ValueError``
whose message says what was given and what is allowed. An array of a wrong type raises
``TypeError``; it is never converted silently.

==========================  ====================================================
:class:`BaseQuality`        how far a value can be trusted, worst first
:class:`ReasonQuality`      why a value has its base quality
:func:`worst`               the worst of many codes
:func:`worse`               the worse of two, element by element (ufunc)
:func:`distinct_worst_first`  the distinct codes among many
:func:`check_station`       the quality checks over the series of a station
:func:`check_network`       the same and the comparison with neighbours, over a network
:func:`explain`             what each check found out about a reading
:func:`check_frame`         the checks over a data frame, with columns of verdicts
:class:`Record`             the folder of a server in process: ingest, readings, series, bulk,
                            explain, alerts, model values
:func:`read_feed`           files of published feeds as a table: METAR, SWOB, NDBC, IEM, ISD …
:func:`read_metar` …        the same for one feed: also ``read_swob``, ``read_ndbc``, ``read_iem``,
                            ``read_isd``, ``read_ghcnh``, ``read_nws``, ``read_eccc_hourly``
:func:`known_stations`      stations whose places reports do not say: aerodromes, buoys
:func:`read_cap`            official alerts as GeoJSON with their state at a time; also
                            ``read_nws_alerts``, and ``read_any`` for files of any kind
:func:`zone_bundle`         the outlines of alert zones from the files of the weather services
:func:`parse_metar`         one METAR or SPECI report with all its groups and remarks
:func:`resample`            the latest reading at each position of a time grid
:func:`resample_table`      the same for the series of a table: Arrow, pandas, polars
:func:`plan_grid`           a time grid that fits the limits of an answer
:func:`pick_series`         which series of a variable fills each position
:func:`check_lookback`      whether a plan covers a window
:func:`capabilities`        what a caller on a plan may use
:class:`Crosswalk`          quality flags of other schemes
:func:`convert`             values in another unit
:func:`resolve_unit`        what the text of a unit stands for
:func:`to_canonical`        values in the unit that the service stores
:func:`dew_point_c` …       derived values: humidity, heat index, humidex, wind chill,
                            pressure, wind at 10 m (ufuncs)
:func:`decode`              packed int16 to values (ufunc)
:func:`encode`              values to packed int16 (ufunc)
:func:`decode_bytes`        the bytes of a tile to values
:class:`NativeGrid`         the grid of a model: rows and columns to longitudes and latitudes and
                            back, and how its winds are turned
:func:`read_grib`           the fields of GRIB2 files: what they are, values, xarray; ``true_winds``
:func:`rotate`              grid-relative to earth-relative winds (ufunc)
:mod:`mesonet.plot`         meteogram, wind rose, skew-T and summaries drawn with Matplotlib;
                            :mod:`mesonet.chart` the same with Altair
:class:`Client`             the service as frames, GeoJSON and xarray; needs httpx
:class:`AsyncClient`        the same calls, awaited
==========================  ====================================================
"""

import importlib
from typing import TYPE_CHECKING

from ._mesonet import MesonetError, __version__

if TYPE_CHECKING:
    from .access import capabilities, check_lookback
    from .alert import Alerts, AlertState, read_any, read_cap, read_nws_alerts, zone_bundle
    from .answer import DamagedWarning, IngestError, IngestOutcome, KeptReport, RecordHealth, RecordTable
    from .check import (
        DEFAULT_LIMITS_TOML,
        NetworkStation,
        SeriesReadings,
        Verdicts,
        check_network,
        check_station,
        explain,
    )
    from .client import (
        AsyncClient,
        BulkFile,
        BulkTable,
        Client,
        DamagedError,
        LiveEvent,
        ModelPoint,
        ModelSeries,
        Raster,
        Retry,
        ServiceError,
        ServiceTable,
        Summaries,
        Tile,
        UnreachableError,
    )
    from .features import Features
    from .frame import check_frame
    from .crosswalk import (
        BUFR_033020,
        GHCNH_CHECKS,
        ISD,
        MADIS,
        QARTOD,
        SWOB_QA_SUMMARY,
        Crosswalk,
    )
    from .derived import (
        dew_point_c,
        heat_index_c,
        heat_index_f,
        humidex,
        mean_sea_level_pressure_hpa,
        relative_humidity_pct,
        roughness_m,
        station_pressure_hpa,
        stull_wet_bulb_c,
        wet_bulb_c,
        wind_at_10m,
        wind_chill_c,
        wind_chill_f,
    )
    from .explanation import Explanation
    from .feed import (
        FEED_KINDS,
        FeedFile,
        FeedReadings,
        known_stations,
        read_eccc_hourly,
        read_feed,
        read_ghcnh,
        read_iem,
        read_isd,
        read_metar,
        read_ndbc,
        read_nws,
        read_swob,
    )
    from .grib import GribField, GribFile, GribLevel, GribRefusal, read_grib, true_winds
    from .grid import Cell, NativeGrid, Position, Rotation
    from .metar import Metar, parse_metar
    from .quality import BaseQuality, ReasonQuality, distinct_worst_first, worse, worst
    from .record import Record
    from .table import Table, resample_table
    from .tile import decode, decode_bytes, encode
    from .time_grid import (
        Caps,
        Coarsening,
        Picks,
        Resampled,
        TimeGrid,
        pick_series,
        plan_grid,
        resample,
    )
    from ._labelled import UnitFunction
    from .unit import UnitResolution, convert, resolve_unit, to_canonical
    from .warning import MesonetWarning
    from .wind import rotate

# Importing all modules takes longer than importing NumPy, and most programs use few of them. A module is
# imported when one of its names is first asked for.
_MODULES = {
    "access": (
        "capabilities",
        "check_lookback",
    ),
    "alert": (
        "AlertState",
        "Alerts",
        "read_any",
        "read_cap",
        "read_nws_alerts",
        "zone_bundle",
    ),
    "answer": (
        "DamagedWarning",
        "IngestError",
        "IngestOutcome",
        "KeptReport",
        "RecordHealth",
        "RecordTable",
    ),
    "check": (
        "DEFAULT_LIMITS_TOML",
        "NetworkStation",
        "SeriesReadings",
        "Verdicts",
        "check_network",
        "check_station",
        "explain",
    ),
    "client": (
        "AsyncClient",
        "BulkFile",
        "BulkTable",
        "Client",
        "DamagedError",
        "LiveEvent",
        "ModelPoint",
        "ModelSeries",
        "Raster",
        "Retry",
        "ServiceError",
        "ServiceTable",
        "Summaries",
        "Tile",
        "UnreachableError",
    ),
    "crosswalk": (
        "BUFR_033020",
        "Crosswalk",
        "GHCNH_CHECKS",
        "ISD",
        "MADIS",
        "QARTOD",
        "SWOB_QA_SUMMARY",
    ),
    "derived": (
        "dew_point_c",
        "heat_index_c",
        "heat_index_f",
        "humidex",
        "mean_sea_level_pressure_hpa",
        "relative_humidity_pct",
        "roughness_m",
        "station_pressure_hpa",
        "stull_wet_bulb_c",
        "wet_bulb_c",
        "wind_at_10m",
        "wind_chill_c",
        "wind_chill_f",
    ),
    "explanation": (
        "Explanation",
    ),
    "features": (
        "Features",
    ),
    "feed": (
        "FEED_KINDS",
        "FeedFile",
        "FeedReadings",
        "known_stations",
        "read_eccc_hourly",
        "read_feed",
        "read_ghcnh",
        "read_iem",
        "read_isd",
        "read_metar",
        "read_ndbc",
        "read_nws",
        "read_swob",
    ),
    "frame": (
        "check_frame",
    ),
    "grib": (
        "GribField",
        "GribFile",
        "GribLevel",
        "GribRefusal",
        "read_grib",
        "true_winds",
    ),
    "grid": (
        "Cell",
        "NativeGrid",
        "Position",
        "Rotation",
    ),
    "_labelled": (
        "UnitFunction",
    ),
    "metar": (
        "Metar",
        "parse_metar",
    ),
    "quality": (
        "BaseQuality",
        "ReasonQuality",
        "distinct_worst_first",
        "worse",
        "worst",
    ),
    "record": (
        "Record",
    ),
    "table": (
        "Table",
        "resample_table",
    ),
    "tile": (
        "decode",
        "decode_bytes",
        "encode",
    ),
    "time_grid": (
        "Caps",
        "Coarsening",
        "Picks",
        "Resampled",
        "TimeGrid",
        "pick_series",
        "plan_grid",
        "resample",
    ),
    "unit": (
        "UnitResolution",
        "convert",
        "resolve_unit",
        "to_canonical",
    ),
    "warning": (
        "MesonetWarning",
    ),
    "wind": (
        "rotate",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if module := _MODULE_OF.get(name):
        value = getattr(importlib.import_module(f".{module}", __name__), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        try:
            return importlib.import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "AlertState",
    "Alerts",
    "AsyncClient",
    "BUFR_033020",
    "BaseQuality",
    "BulkFile",
    "BulkTable",
    "Caps",
    "Cell",
    "Client",
    "Coarsening",
    "Crosswalk",
    "DEFAULT_LIMITS_TOML",
    "DamagedError",
    "DamagedWarning",
    "Explanation",
    "FEED_KINDS",
    "Features",
    "FeedFile",
    "FeedReadings",
    "GHCNH_CHECKS",
    "GribField",
    "GribFile",
    "GribLevel",
    "GribRefusal",
    "ISD",
    "IngestError",
    "IngestOutcome",
    "KeptReport",
    "MADIS",
    "MesonetError",
    "MesonetWarning",
    "Metar",
    "LiveEvent",
    "ModelPoint",
    "ModelSeries",
    "NativeGrid",
    "NetworkStation",
    "Picks",
    "Position",
    "QARTOD",
    "Raster",
    "ReasonQuality",
    "Record",
    "RecordHealth",
    "RecordTable",
    "Resampled",
    "Retry",
    "Rotation",
    "SWOB_QA_SUMMARY",
    "SeriesReadings",
    "ServiceError",
    "ServiceTable",
    "Summaries",
    "Table",
    "Tile",
    "TimeGrid",
    "UnitFunction",
    "UnitResolution",
    "UnreachableError",
    "Verdicts",
    "__version__",
    "capabilities",
    "check_frame",
    "check_lookback",
    "check_network",
    "check_station",
    "convert",
    "decode",
    "decode_bytes",
    "dew_point_c",
    "distinct_worst_first",
    "encode",
    "explain",
    "heat_index_c",
    "heat_index_f",
    "humidex",
    "known_stations",
    "mean_sea_level_pressure_hpa",
    "parse_metar",
    "pick_series",
    "plan_grid",
    "read_any",
    "read_cap",
    "read_eccc_hourly",
    "read_feed",
    "read_ghcnh",
    "read_grib",
    "read_iem",
    "read_isd",
    "read_metar",
    "read_ndbc",
    "read_nws",
    "read_nws_alerts",
    "read_swob",
    "relative_humidity_pct",
    "resample",
    "resample_table",
    "resolve_unit",
    "rotate",
    "roughness_m",
    "station_pressure_hpa",
    "stull_wet_bulb_c",
    "to_canonical",
    "true_winds",
    "wet_bulb_c",
    "wind_at_10m",
    "wind_chill_c",
    "wind_chill_f",
    "worse",
    "worst",
    "zone_bundle",
]
