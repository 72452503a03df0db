"""An archive of years in a bucket, asked in SQL with the package's functions.

    python archive_in_bucket.py write s3://BUCKET/PREFIX FILE…       readings of any feed
    python archive_in_bucket.py ask s3://BUCKET/PREFIX STATION YEAR  its most oppressive hours

A file has the readings of one year and one part of the stations, by station, variable and time. A query
lists the files of the years and of the part that it names and reads, of their columns, only the pieces
whose statistics may have the station: DataFusion does this, by range requests. Keys, region and endpoint come from
the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`).
"""

import os
import sys
import uuid
import zlib

import mesonet
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet as pq
from datafusion import SessionContext, udf
from datafusion.object_store import AmazonS3
from pyarrow.fs import S3FileSystem

PARTS = 8

FOLDERS = pa.dataset.partitioning(pa.schema([("year", pa.int32()), ("part", pa.int32())]), flavor="hive")

# The columns of all files, in a file of its own, as Parquet's tools write it.
COLUMNS = "_common_metadata"

FUNCTIONS = {
    "dew_point_c": mesonet.dew_point_c,
    "heat_index_c": mesonet.heat_index_c,
    "humidex": mesonet.humidex,
    "relative_humidity_pct": mesonet.relative_humidity_pct,
}

QUERY = """
with reports as (
    select timestamp,
           max(value) filter (where observation_name = 'airTemperature') as air,
           max(value) filter (where observation_name = 'dewPointTemperature') as dew
    from readings
    where year = $year and part = $part and station = $station
      and observation_name in ('airTemperature', 'dewPointTemperature') and quality_base not in ('Suppressed', 'Error')
    group by timestamp
)
select timestamp, air, dew, humidex(air, dew) as humidex
from reports where air is not null and dew is not null
order by humidex desc nulls last, timestamp limit 10
"""


def part_of(station):
    """The part that has all readings of a station."""
    return zlib.crc32(station.encode()) % PARTS


def write(address, table):
    """Adds a table of readings as files of one year and one part each, and returns how many readings it has.

    Files of another call stay. A reading that two calls bring is there twice.
    """
    rows = pa.table({name: plain(table[name]) for name in table.column_names})
    columns = rows.schema
    rows = rows.append_column("year", pa.compute.year(rows["timestamp"]).cast(pa.int32()))
    parts = {station: part_of(station) for station in rows["station"].unique().to_pylist()}
    rows = rows.append_column("part", pa.array([parts[name] for name in rows["station"].to_pylist()], pa.int32()))
    order = ["year", "part", "station", "observation_name", "timestamp"]
    rows = rows.sort_by([(name, "ascending") for name in order])
    pa.dataset.write_dataset(
        rows,
        address.removeprefix("s3://"),
        filesystem=files(),
        format="parquet",
        partitioning=FOLDERS,
        basename_template=f"{uuid.uuid4()}-{{i}}.parquet",
        existing_data_behavior="overwrite_or_ignore",
        max_rows_per_group=100_000,
    )
    with files().open_output_stream(f"{address.removeprefix('s3://')}/{COLUMNS}") as file:
        pq.write_metadata(columns, file)
    return len(rows)


def files():
    return S3FileSystem(endpoint_override=os.environ.get("AWS_ENDPOINT"))


def plain(column):
    """Words as words, which all engines compare in the same way."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def connect(address):
    """Returns a context with the archive as the table `readings`, and with the functions."""
    bucket = address.removeprefix("s3://").split("/")[0]
    endpoint = os.environ.get("AWS_ENDPOINT")
    store = AmazonS3(
        bucket,
        region=os.environ.get("AWS_REGION"),
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
        secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        endpoint=endpoint,
        allow_http=endpoint is not None and endpoint.startswith("http://"),
    )
    context = SessionContext()
    context.register_object_store("s3://", store, bucket)
    # DataFusion would open all files for their columns.
    with files().open_input_file(f"{address.removeprefix('s3://')}/{COLUMNS}") as file:
        columns = pq.read_schema(file)
    folders = [(folder.name, folder.type) for folder in FOLDERS.schema]
    context.register_parquet("readings", f"{address.rstrip('/')}/", table_partition_cols=folders, schema=columns)
    for name, function in FUNCTIONS.items():
        context.register_udf(udf(over_arrays(function), [pa.float64()] * 2, pa.float64(), "immutable", name))
    return context


def over_arrays(function):
    """NULL goes in as NaN, and NaN comes out as NULL."""

    def run(first, second):
        given = (column.to_numpy(zero_copy_only=False) for column in (first, second))
        return pa.array(function(*given), from_pandas=True)

    return run


def ask(address, station, year):
    """The most oppressive reports of a station in a year, as an Arrow table."""
    asked = {"station": station, "part": part_of(station), "year": year}
    return connect(address).sql(QUERY, param_values=asked).to_arrow_table()


def main():
    command, address, *rest = sys.argv[1:]
    if command == "write":
        print(write(address, mesonet.read_feed(rest).to_arrow()), "readings")
    else:
        print(ask(address, rest[0], int(rest[1])).to_pandas().to_string())


if __name__ == "__main__":
    main()
