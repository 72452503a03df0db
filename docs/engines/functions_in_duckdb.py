"""The package's functions in DuckDB's SQL.

`python functions_in_duckdb.py ARCHIVE` asks a partitioned Parquet archive (`archive.py` makes one) for
the most oppressive places. A function over columns becomes one over Arrow's chunks: thousands of rows
a call, without a Python object for each.
"""

import sys

import duckdb
import mesonet
import numpy as np
import pyarrow as pa

FUNCTIONS = {
    "dew_point_c": mesonet.dew_point_c,
    "humidex": mesonet.humidex,
    "heat_index_c": mesonet.heat_index_c,
    "relative_humidity_pct": mesonet.relative_humidity_pct,
}


# NULL comes in as NaN, and NaN goes out as NULL.
OPTIONS = {"type": "arrow", "null_handling": "special"}


def register(connection):
    """Adds the functions of two numbers; they give NULL where their formula is not defined."""
    for name, function in FUNCTIONS.items():
        connection.create_function(name, over_chunks(function), ["DOUBLE", "DOUBLE"], "DOUBLE", **OPTIONS)
    connection.create_function(
        "to_unit",
        lambda values, old, new: pa.array(
            mesonet.convert(numbers(values), old[0].as_py(), new[0].as_py()), from_pandas=True
        ),
        ["DOUBLE", "VARCHAR", "VARCHAR"],
        "DOUBLE",
        **OPTIONS,
    )
    return connection


def over_chunks(function):
    def run(first, second):
        return pa.array(function(numbers(first), numbers(second)), from_pandas=True)

    return run


def numbers(column):
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())


QUERY = """
with hours as (
    select station, timestamp,
           max(value) filter (observation_name = 'airTemperature') as air,
           max(value) filter (observation_name = 'dewPointTemperature') as dew
    from read_parquet($archive, hive_partitioning = true)
    group by station, timestamp
)
select station, max(air) as air_c, max(humidex(air, dew)) as humidex,
       max(to_unit(air, '°C', '°F')) as air_f
from hours where air is not null and dew is not null
group by station order by humidex desc nulls last, station limit 10
"""


def main():
    connection = register(duckdb.connect())
    print(connection.execute(QUERY, {"archive": f"{sys.argv[1]}/part=*/*.parquet"}).fetchdf())


if __name__ == "__main__":
    main()
