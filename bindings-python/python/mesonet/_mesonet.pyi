from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final, Literal, Protocol, final

import numpy as np
from _typeshed import ReadableBuffer
from numpy.typing import NDArray

__all__ = [
    "__version__",
    "MesonetError",
    "NativeGrid",
    "BASE_QUALITY_NAMES",
    "REASON_QUALITY_NAMES",
    "base_quality_code",
    "reason_quality_code",
    "station_id",
    "known_stations",
    "Record",
    "ArrowStream",
    "record_bulk",
    "record_bulk_parquet",
    "record_alerts",
    "record_models",
    "record_model_point",
    "record_model_series",
    "record_summary",
    "explain_network",
    "worst",
    "distinct_worst_first",
    "worse",
    "decode",
    "encode",
    "decode_blocks",
    "decode_bytes",
    "encode_blocks",
    "rotate",
    "DEFAULT_LIMITS_TOML",
    "check_station",
    "check_network",
    "explain",
    "swob_qa_summary_quality",
    "swob_qa_summary_flag",
    "swob_qa_summary_flags",
    "bufr_033020_quality",
    "bufr_033020_flag",
    "bufr_033020_flags",
    "madis_quality",
    "madis_flag",
    "madis_flags",
    "qartod_quality",
    "qartod_flag",
    "qartod_flags",
    "isd_quality",
    "isd_flag",
    "isd_flags",
    "ghcnh_checks_quality",
    "ghcnh_checks_flag",
    "ghcnh_checks_flags",
    "roughness_m",
    "dew_point_c",
    "heat_index_c",
    "heat_index_f",
    "humidex",
    "mean_sea_level_pressure_hpa",
    "relative_humidity_pct",
    "station_pressure_hpa",
    "stull_wet_bulb_c",
    "wet_bulb_c",
    "wind_at_10m",
    "wind_chill_c",
    "wind_chill_f",
    "conversion",
    "resolve_unit",
    "canonical",
    "convert_numbered",
    "DEFAULT_CAPS",
    "MAX_CANDIDATE_READINGS",
    "instant_ms",
    "AlertMessages",
    "read_alerts",
    "detect_feed",
    "GribFile",
    "ArrowTable",
    "TableColumns",
    "FEED_KINDS",
    "read_feed",
    "MetarReport",
    "parse_metar",
    "position_count",
    "fill_positions",
    "plan",
    "resample_into",
    "pick_into",
    "check_lookback",
    "capabilities",
    "zone_bundle",
]

__version__: Final[str]

class MesonetError(ValueError): ...

BASE_QUALITY_NAMES: Final[list[str]]
REASON_QUALITY_NAMES: Final[list[str]]

decode: Final[np.ufunc]
encode: Final[np.ufunc]
rotate: Final[np.ufunc]
worse: Final[np.ufunc]
dew_point_c: Final[np.ufunc]
heat_index_c: Final[np.ufunc]
heat_index_f: Final[np.ufunc]
humidex: Final[np.ufunc]
mean_sea_level_pressure_hpa: Final[np.ufunc]
relative_humidity_pct: Final[np.ufunc]
station_pressure_hpa: Final[np.ufunc]
stull_wet_bulb_c: Final[np.ufunc]
wet_bulb_c: Final[np.ufunc]
wind_at_10m: Final[np.ufunc]
wind_chill_c: Final[np.ufunc]
wind_chill_f: Final[np.ufunc]
convert_numbered: Final[np.ufunc]

DEFAULT_LIMITS_TOML: Final[str]
DEFAULT_CAPS: Final[tuple[int, int]]
MAX_CANDIDATE_READINGS: Final[int]
FEED_KINDS: Final[list[str]]
swob_qa_summary_flags: Final[list[int]]
bufr_033020_flags: Final[list[int]]
madis_flags: Final[list[str]]
qartod_flags: Final[list[int]]
isd_flags: Final[list[str]]
ghcnh_checks_flags: Final[list[str]]

_Codes = NDArray[np.integer] | NDArray[np.str_] | NDArray[np.object_] | Iterable[int | str]

def base_quality_code(value: int | str, /) -> int: ...
def reason_quality_code(value: int | str, /) -> int: ...
def worst(codes: _Codes, /) -> int: ...
def distinct_worst_first(codes: _Codes, /) -> bytes: ...
def decode_blocks(
    data: bytes, planes: int, rows: int, columns: int, /
) -> NDArray[np.int16]: ...
def encode_blocks(
    values: NDArray[np.int16], planes: int, rows: int, columns: int, nodata: int, /
) -> bytes: ...
def decode_bytes(
    data: ReadableBuffer, scale: float, offset: float, nodata: int, /
) -> NDArray[np.float64]: ...

class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

_Float64s = NDArray[np.float64]
_Int64s = NDArray[np.int64]

@final
class ArrowTable:
    def __len__(self) -> int: ...
    def column_names(self) -> list[str]: ...
    def column(self, name: str) -> tuple[NDArray[np.generic] | list[str | None], str | None]: ...
    def rows(self, start: int, length: int) -> ArrowTable: ...
    def to_ipc(self) -> bytes: ...
    @staticmethod
    def from_ipc(bytes: bytes) -> ArrowTable: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class GribFile:
    def __new__(cls, content: bytes, /) -> GribFile: ...
    def inventory(self) -> list[tuple[dict[str, Any] | None, str | None]]: ...
    def values(self, number: int, /) -> NDArray[np.float32]: ...

@final
class MetarReport:
    def member(self, name: str) -> Any: ...
    def time_ms(self, received_ms: int) -> int: ...

@final
class NativeGrid:
    def __new__(cls, definition: dict[str, object], /) -> NativeGrid: ...
    def definition(self) -> str: ...
    def rows(self) -> int: ...
    def columns(self) -> int: ...
    def proj_string(self) -> str: ...
    def first_xy(self) -> tuple[float, float]: ...
    def locate(self, lon: _Float64s, lat: _Float64s, /) -> tuple[_Float64s, _Float64s]: ...
    def nearest(self, lon: _Float64s, lat: _Float64s, /) -> tuple[_Int64s, _Int64s]: ...
    def position(self, row: _Int64s, column: _Int64s, /) -> tuple[_Float64s, _Float64s]: ...
    def wind_rotation(self, row: _Int64s, column: _Int64s, /) -> tuple[_Float64s, _Float64s]: ...
    def positions(self) -> tuple[_Float64s, _Float64s]: ...
    def wind_rotations(self) -> tuple[_Float64s, _Float64s]: ...

_Grid = tuple[int, int, int]

@final
class TableColumns:
    def __new__(
        cls, table: _Stream, key: list[str], time: str, value: str, sort: bool, /
    ) -> TableColumns: ...
    def series(self) -> int: ...
    def addresses(self) -> tuple[int, int]: ...
    def resample(self, grid: _Grid, max_age_ms: int | None, /) -> ArrowTable: ...

_Site = tuple[float, float, float | None, list[SimpleNamespace]]
_Numbers = tuple[int, int, int]
_Verdicts = tuple[NDArray[np.uint8], NDArray[np.uint8]]

def swob_qa_summary_quality(flag: int, /) -> tuple[int, int]: ...
def swob_qa_summary_flag(code: int, /) -> int | None: ...
def bufr_033020_quality(flag: int, /) -> tuple[int, int]: ...
def bufr_033020_flag(code: int, /) -> int | None: ...
def madis_quality(flag: str, /) -> tuple[int, int]: ...
def madis_flag(code: int, /) -> str | None: ...
def qartod_quality(flag: int, /) -> tuple[int, int]: ...
def qartod_flag(code: int, /) -> int | None: ...
def isd_quality(flag: str, /) -> tuple[int, int]: ...
def isd_flag(code: int, /) -> str | None: ...
def ghcnh_checks_quality(flag: str, /) -> tuple[int, int]: ...
def ghcnh_checks_flag(code: int, /) -> str | None: ...
def roughness_m(exposure: str, /) -> float: ...
def conversion(from_unit: str, to_unit: str, liquid_water: bool, /) -> _Numbers: ...
def resolve_unit(
    text: str, vocabulary: str | None, /
) -> tuple[Literal["exact", "ambiguous", "unknown"], list[str]]: ...
def canonical(
    variable: str, reported_unit: str, vocabulary: str | None, /
) -> tuple[str, _Numbers | None]: ...
def check_station(
    lon: float, lat: float, altitude_m: float | None, series: list[SimpleNamespace], limits: str | None, /
) -> list[_Verdicts]: ...
def check_network(
    stations: list[_Site], limits: str | None, /
) -> list[list[_Verdicts]]: ...
def detect_feed(name: str, content: bytes, /) -> tuple[str, bool] | None: ...

@final
class AlertMessages:
    def __len__(self) -> int: ...
    def states(
        self, at_ms: int, is_replay: bool, /
    ) -> list[tuple[str, str, str, int, list[str], list[str]]]: ...
    def geojson(
        self,
        at_ms: int,
        is_replay: bool,
        is_active: bool,
        language: str,
        sides: tuple[float, float, float, float] | None,
        place: tuple[float, float] | None,
        /,
    ) -> str: ...

def read_alerts(
    files: list[tuple[str, bytes, int, str | None]], zones: bytes | None, /
) -> tuple[AlertMessages, list[dict[str, Any]]]: ...
def read_feed(
    files: list[tuple[str, bytes, int, str | None]], /
) -> tuple[ArrowTable, list[dict[str, Any]]]: ...
def parse_metar(text: str, /) -> MetarReport: ...
def instant_ms(text: str, /) -> int: ...
def position_count(grid: _Grid, /) -> int: ...
def fill_positions(grid: _Grid, out: _Int64s, /) -> None: ...
def plan(
    grid: _Grid, stations: int, names: int, caps: tuple[int, int], /
) -> tuple[int, tuple[int, int, str, int, int] | None]: ...
def resample_into(
    ts_ms: _Int64s,
    value: _Float64s,
    offsets: _Int64s,
    grid: _Grid,
    max_age_ms: int | None,
    out: tuple[_Float64s, _Int64s, _Int64s],
    /,
) -> None: ...
def pick_into(
    candidates: list[_Int64s],
    grid: _Grid,
    max_age_ms: int | None,
    series: _Int64s,
    reading: _Int64s,
    /,
) -> None: ...
def check_lookback(start_ms: int, end_ms: int, now_ms: int, plan: str, /) -> None: ...
def capabilities(plan: str, staff: bool, /) -> str: ...
def explain(
    lon: float,
    lat: float,
    altitude_m: float | None,
    series: list[SimpleNamespace],
    which_series: int,
    which_reading: int,
    limits: str | None,
    /,
) -> str: ...
def explain_network(
    stations: list[_Site], which_series: int, which_reading: int, limits: str | None, /
) -> str: ...
def station_id(network: str, native_id: str, /) -> str: ...
def known_stations() -> ArrowTable: ...
def zone_bundle(
    files: list[tuple[str, bytes, tuple[bytes, str, str | None] | None]], /
) -> tuple[bytes, list[tuple[int, int, int, list[str]]]]: ...

@final
class ArrowStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class Record:
    def __new__(cls, folder: str, writes: bool, zones: bytes | None, /) -> Record: ...
    def close(self) -> None: ...
    def ingest(self, file: tuple[object, ...], /) -> dict[str, Any]: ...
    def seal(self) -> None: ...
    def health(self) -> tuple[int, int, int, int, int | None, list[str]]: ...
    def stations(self) -> ArrowTable: ...
    def readings(
        self, asked: tuple[object, ...], /
    ) -> tuple[ArrowTable, int, int | None, str | None]: ...
    def series(
        self, station: str, filter: str, window: tuple[int, int], /
    ) -> tuple[ArrowTable, int]: ...
    def reports(
        self, station: str, window: tuple[int, int], /
    ) -> tuple[list[tuple[int, int, str | None, str]], int]: ...
    def details(self, station: str | None, at_ms: int, /) -> tuple[str, int]: ...
    def explain(self, station: str, series: int, ts_ms: int, /) -> tuple[str, int]: ...

def record_bulk(
    record: Record, station: str, window: tuple[int, int], entries: str, qualifiers: bool, /
) -> tuple[ArrowStream, int]: ...
def record_bulk_parquet(
    record: Record,
    path: str | bytes,
    station: str,
    window: tuple[int, int],
    entries: str,
    qualifiers: bool,
    /,
) -> int: ...
def record_alerts(
    record: Record, at_ms: int, replay: bool, asked: tuple[object, ...], language: str, /
) -> str: ...
def record_summary(
    record: Record,
    station: str | None,
    periods: tuple[object, ...],
    names: list[str] | None,
    degree_day_base_c: float | None,
    /,
) -> tuple[str, int]: ...
def record_models(record: Record, /) -> list[tuple[str, list[str]]]: ...
def record_model_point(
    record: Record,
    named: tuple[str, str | None, list[str]],
    hour: int | None,
    valid_ms: int | None,
    place: tuple[int, int] | tuple[float, float],
    which: tuple[object, ...],
    /,
) -> str: ...
def record_model_series(
    record: Record,
    named: tuple[str, str | None, list[str]],
    place: tuple[int, int] | tuple[float, float],
    which: tuple[object, ...],
    span_ms: tuple[object, ...],
    /,
) -> str: ...
