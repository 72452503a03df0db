"""Rows of the bulk export as NetCDF by the CF conventions."""

import os
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._mesonet import BASE_QUALITY_NAMES, MesonetError
from .._optional import need
from ._files import flush

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    import xarray
    from xarray import Dataset
    from numpy.typing import NDArray

_STANDARD_NAMES = {
    "airTemperature": "air_temperature",
    "dewPointTemperature": "dew_point_temperature",
    "wetBulbTemperature": "wet_bulb_temperature",
    "heatIndex": "heat_index_of_air_temperature",
    "windChill": "wind_chill_of_air_temperature",
    "seaSurfaceTemperature": "sea_surface_temperature",
    "seaSurfaceTemperature1m": "sea_water_temperature",
    "windSpeed": "wind_speed",
    "windSpeed10m": "wind_speed",
    "windGust": "wind_speed_of_gust",
    "windGust10m": "wind_speed_of_gust",
    "windDirection": "wind_from_direction",
    "waveDirection": "sea_surface_wave_from_direction",
    "waveHeight": "sea_surface_wave_significant_height",
    "barometricPressure": "surface_air_pressure",
    "mslp": "air_pressure_at_mean_sea_level",
    "relativeHumidity": "relative_humidity",
    "precipitation": "lwe_thickness_of_precipitation_amount",
    "rainfall": "thickness_of_rainfall_amount",
    "snowfall": "thickness_of_snowfall_amount",
    "precipitationRate": "lwe_precipitation_rate",
    "snowDepth": "surface_snow_thickness",
    "visibility": "visibility_in_air",
    "solarRadiation": "surface_downwelling_shortwave_flux_in_air",
    "avgGlobalSolarRadiation": "surface_downwelling_shortwave_flux_in_air",
    "cumulativeGlobalSolarRadiation": "integral_wrt_time_of_surface_downwelling_shortwave_flux_in_air",
    "reflectedShortwaveRadiation": "surface_upwelling_shortwave_flux_in_air",
    "uvIndex": "ultraviolet_index",
    "cloudCover": "cloud_area_fraction",
}
"""The CF standard names. CF has no name for the height of a cloud above the ground or for an index of
one country, so these variables have only a long name."""

_UDUNITS = {
    "": "1",
    "°C": "degree_Celsius",
    "°F": "degree_Fahrenheit",
    "K": "K",
    "km/h": "km h-1",
    "m/s": "m s-1",
    "kt": "knot",
    "mph": "mile hour-1",
    "ft/s": "ft s-1",
    "mm/h": "mm h-1",
    "cm/h": "cm h-1",
    "mm/s": "mm s-1",
    "cm/s": "cm s-1",
    "in/h": "inch hour-1",
    "°": "degree",
    "rad": "radian",
    "Pa": "Pa",
    "hPa": "hPa",
    "kPa": "kPa",
    "mbar": "mbar",
    "inHg": "inHg",
    "mmHg": "mmHg",
    "m": "m",
    "km": "km",
    "cm": "cm",
    "mm": "mm",
    "in": "inch",
    "ft": "ft",
    "mi": "mile",
    "nmi": "nautical_mile",
    "kg/m²": "kg m-2",
    "W/m²": "W m-2",
    "J/m²": "J m-2",
    "kJ/m²": "kJ m-2",
    "MJ/m²": "MJ m-2",
    "%": "percent",
    "‰": "0.001",
    "okta": "0.125",
    "s": "s",
    "µmol/(m²·s)": "umol m-2 s-1",
}
"""How UDUNITS writes the symbols of the service."""

_CELL_METHODS = {
    "Average": "mean",
    "Cumulative": "sum",
    "Max": "maximum",
    "Min": "minimum",
    "Median": "median",
}


def dataset_of(table: "pyarrow.Table", damaged: int) -> "xarray.Dataset":
    """The rows as a dataset; see ``BulkTable.to_xarray``."""
    xarray = need("xarray", "BulkTable.to_xarray")
    if "unit" not in table.column_names:
        raise MesonetError('the rows do not say their units; ask for units="metric" or others')
    rows = {name: _plain(table[name]) for name in table.column_names}
    station = rows.get("station_id", np.full(table.num_rows, "", object))
    # Rows are station by station, by time; each time of a station is an observation.
    time = rows["timestamp"].astype("M8[ms]")
    begins = np.ones(len(time), np.bool_)
    begins[1:] = (station[1:] != station[:-1]) | (time[1:] != time[:-1])
    obs = np.cumsum(begins) - 1
    firsts = np.flatnonzero(begins)
    names, of_obs = np.unique(station[firsts], return_inverse=True)
    # Of each station the last row: later observations go over earlier ones.
    newest = np.zeros(len(names), np.intp)
    newest[of_obs] = np.append(firsts, len(time))[1:] - 1
    made: Dataset = xarray.Dataset(
        {
            "row_size": (
                "station",
                np.bincount(of_obs, minlength=len(names)).astype(np.int32),
                {"long_name": "observations of the station", "sample_dimension": "obs"},
            ),
        },
        {
            "station_id": (
                "station",
                names.astype("U") if len(names) else np.array([], "U36"),
                {"long_name": "station identifier", "cf_role": "timeseries_id"},
            ),
            "lat": (
                "station",
                rows["lat"][newest],
                {"standard_name": "latitude", "units": "degrees_north"},
            ),
            "lon": (
                "station",
                rows["lon"][newest],
                {"standard_name": "longitude", "units": "degrees_east"},
            ),
            "time": (
                "obs",
                time[firsts].astype("M8[ns]"),
                {"standard_name": "time", "axis": "T", "units_metadata": "leap_seconds: none"},
            ),
        },
    )
    for name, (chosen, attributes) in _variables(rows).items():
        values = np.full(len(firsts), np.nan)
        quality = np.full(len(firsts), len(BASE_QUALITY_NAMES) - 1, np.int8)
        values[obs[chosen]] = rows["value"][chosen]
        codes = {of: code for code, of in enumerate(BASE_QUALITY_NAMES)}
        quality[obs[chosen]] = [codes[of] for of in rows["quality_base"][chosen]]
        made[name] = "obs", values, {**attributes, "ancillary_variables": f"{name}_quality"}
        made[f"{name}_quality"] = (
            "obs",
            quality,
            {
                "long_name": f"quality of {attributes['long_name']}",
                "standard_name": "quality_flag",
                "flag_values": np.arange(len(BASE_QUALITY_NAMES), dtype=np.int8),
                "flag_meanings": " ".join(BASE_QUALITY_NAMES),
            },
        )
        made[name].encoding = {"_FillValue": np.nan}
        made[f"{name}_quality"].encoding = {"_FillValue": None}
    made["time"].encoding = {
        "units": "milliseconds since 1970-01-01",
        "calendar": "standard",
        "dtype": "int64",
    }
    for coordinate in ("lat", "lon"):
        made[coordinate].encoding = {"_FillValue": None}
    said = {"mesonet_damaged": damaged} if damaged else {}
    return made.assign_attrs(
        Conventions="CF-1.11",
        featureType="timeSeries",
        title="Surface weather observations",
        history="made by mesonet from the rows of a bulk export",
        **said,
    )


def to_netcdf(dataset: "xarray.Dataset", path: str | os.PathLike[str]) -> None:
    """Writes a dataset into a new file."""
    final = Path(path)
    exists = MesonetError(f"{final} exists already; it was not overwritten")
    if final.exists():
        raise exists
    part = final.with_name(f".{final.name}.{uuid.uuid4().hex}.part")
    try:
        dataset.to_netcdf(part, format="NETCDF4")
        flush(part)
        # A link is refused if the file has appeared in the meantime; a new name would replace it.
        os.link(part, final)
        flush(final.parent)
    except FileExistsError:
        raise exists from None
    finally:
        part.unlink(missing_ok=True)


def _variables(rows: "dict[str, NDArray[Any]]") -> "dict[str, tuple[NDArray[Any], dict[str, str]]]":
    """The rows and the attributes of each variable: of each name, interval, bucket and unit."""
    parts = [
        rows[of]
        for of in (
            "observation_name",
            "interval_type",
            "interval_minutes",
            "group_bucket_name",
            "unit",
        )
    ]
    keys = list(zip(*parts, strict=True))
    groups: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        groups.setdefault(key, []).append(row)
    found: dict[str, tuple[NDArray[Any], dict[str, str]]] = {}
    for key in sorted(groups, key=lambda key: tuple(map(str, key))):
        name, kind, minutes, bucket, unit = key
        # A name is that of the variable if there is one series of it, else it says which.
        alone = sum(of[0] == name for of in groups) == 1
        said = [name] if alone else [name, str(kind).lower(), *([str(minutes)] if minutes else [])]
        chosen = _name("_".join([*said, *([bucket] if bucket else [])]), found)
        attributes = {
            "long_name": " ".join(
                [re.sub("(?<=[a-z])(?=[A-Z0-9])", " ", name).lower(), bucket]
            ).strip()
        }
        attributes["units"] = _UDUNITS.get(unit, "1")
        if unit not in _UDUNITS:
            attributes["comment"] = f"in the unit {unit!r}, as it was reported"
        elif name in _STANDARD_NAMES:
            attributes["standard_name"] = _STANDARD_NAMES[name]
            if unit in ("°C", "°F", "K"):
                attributes["units_metadata"] = "temperature: on_scale"
        if kind in _CELL_METHODS:
            length = f" (interval: {minutes} minutes)" if minutes else ""
            attributes["cell_methods"] = f"time: {_CELL_METHODS[kind]}{length}"
        found[chosen] = np.array(groups[key]), attributes
    return found


def _name(wanted: str, taken: "dict[str, Any]") -> str:
    """A name that a variable of NetCDF may have, and that no other has."""
    plain = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_")
    name, count = plain, 2
    while name in taken:
        name, count = f"{plain}_{count}", count + 1
    return name


def _plain(column: Any) -> "NDArray[Any]":
    """A column of Arrow as an array of values."""
    pyarrow = need("pyarrow", "BulkTable.to_xarray")
    if pyarrow.types.is_dictionary(column.type):
        return np.array(column.to_pylist(), object)
    if pyarrow.types.is_timestamp(column.type):
        found: NDArray[Any] = column.cast(pyarrow.timestamp("ms")).to_numpy()
        return found
    plain: NDArray[Any] = column.to_numpy()
    return plain
