"""Ten years of a network, archived and queried: tests/scale/archive.py BINARY [--stations N] [--years N] [--folder DIR] [--write DOCUMENT].

The stations are simulated, and say so in their ids and names: hourly air temperature, dew point, wind and pressure,
made up with a fixed seed, as monthly files of GHCNh. They come in as any file does (`mesonet-server ingest`), with
the checks and the derived values. Then the record is archived, all but 400 days of it are deleted, and bulk export
before and after is compared byte for byte. DuckDB and DataFusion ask the archive with the functions of the package,
and must agree with one another.

The archive is in a folder, or beside `tests/bucket` in that bucket. --folder keeps the record between runs. Wants a
release build with the feature s3, and the packages of tests/python/requirements.txt and the wheel.
"""

import argparse
import gzip
import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset
from datafusion import SessionContext, udf
from datafusion.object_store import AmazonS3
from pyarrow.fs import LocalFileSystem, S3FileSystem
from slope import cpu_s, put, resident, size

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs/engines"))
import archive_in_bucket
import functions_in_duckdb

LAST_YEAR = 2025
RETENTION = "400d"
COUNT = 9

COLUMNS = ["temperature", "dew_point_temperature", "station_level_pressure", "sea_level_pressure", "wind_direction",
           "wind_speed"]
ATTRIBUTES = ["Measurement_Code", "Quality_Code", "Report_Type", "Source_Code", "Source_Station_ID"]

# The hours of all stations, by a function of the package.
HOURS = """
with hours as (
    select station, timestamp,
           max(value) filter (where observation_name = 'airTemperature') as air,
           max(value) filter (where observation_name = 'dewPointTemperature') as dew
    from readings
    where observation_name in ('airTemperature', 'dewPointTemperature')
      and quality_base not in ('Suppressed', 'Error') {more}
    group by station, timestamp
)
select station, count(*) as hours, max(air) as air, max(humidex(air, dew)) as humidex,
       min(relative_humidity_pct(air, dew)) as humidity
from hours where air is not null and dew is not null group by station order by station
"""


def drift(rng, hours, columns, scale, keep):
    """Values that tend to zero, each near the value an hour before."""
    values, now = np.empty((hours, columns)), np.zeros(columns)
    steps = rng.normal(0, scale * math.sqrt(1 - keep**2), (hours, columns))
    for hour in range(hours):
        now = keep * now + steps[hour]
        values[hour] = now
    return values


def make(folder, stations, years):
    """Writes the reports, a file for each month."""
    rng = np.random.default_rng(stations)
    begin = datetime(LAST_YEAR - years + 1, 1, 1, tzinfo=timezone.utc)
    hours = int((datetime(LAST_YEAR + 1, 1, 1, tzinfo=timezone.utc) - begin).total_seconds()) // 3600
    rows = math.ceil(math.sqrt(stations / 2))
    number = np.arange(stations)
    lat, lon = 38 + 10 * (number // (2 * rows)) / rows, -105 + 20 * (number % (2 * rows)) / (2 * rows)
    height = 150 + 40 * (number % 7)
    at = np.arange(hours)[:, None]
    year, day = 2 * math.pi * (at / 8766 - 0.05), 2 * math.pi * (at + lon / 15 - 9) / 24
    air = 22 - 0.6 * (lat - 38) - 14 * np.cos(year) + 5 * np.sin(day)
    air += drift(rng, hours, 1, 4, 0.99) + drift(rng, hours, stations, 0.8, 0.9)
    dew = air - np.clip(7 + 3 * np.sin(day) + drift(rng, hours, stations, 2, 0.97), 0.3, None)
    sea = 1014 + drift(rng, hours, 1, 8, 0.99) + drift(rng, hours, stations, 0.2, 0.9)
    level = sea * np.exp(-height / 8434)
    wind = np.clip(4 + drift(rng, hours, stations, 2, 0.95), 0.5, None)
    turn = 1 + (240 + drift(rng, hours, stations, 60, 0.98)).astype(int) % 360
    head = "Station_ID|Station_name|Year|Month|Day|Hour|Minute|Latitude|Longitude|Elevation|" + "|".join(
        "|".join([name, *(f"{name}_{attribute}" for attribute in ATTRIBUTES)]) for name in COLUMNS
    )
    about = [f"SIMULATED{n:03}|Simulated station {n}" for n in range(stations)]
    place = [f"{lat[n]:.3f}|{lon[n]:.3f}|{height[n]}" for n in range(stations)]
    tail = "|||FM12-SYNOP||"
    hour, count = 0, 0
    while hour < hours:
        month = begin + timedelta(hours=hour)
        following = datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=timezone.utc)
        end = hour + int((following - month).total_seconds()) // 3600
        with gzip.open(folder / f"simulated_{month:%Y-%m}.psv.gz", "wt", compresslevel=1) as file:
            file.write(head + "\n")
            for hour in range(hour, end):
                when = f"{begin + timedelta(hours=hour):%Y|%m|%d|%H|%M}"
                for n in range(stations):
                    file.write(
                        f"{about[n]}|{when}|{place[n]}|{air[hour, n]:.1f}{tail}|{dew[hour, n]:.1f}{tail}"
                        f"|{level[hour, n]:.1f}{tail}|{sea[hour, n]:.1f}{tail}|{turn[hour, n]}{tail}|{wind[hour, n]:.1f}{tail}\n"
                    )
                    count += 1
        hour = end
    return count


def run(binary, folder, *args):
    """Runs a command that must succeed. Returns its summary, seconds, and peak memory."""
    began = time.monotonic()
    with (folder / "out").open("w+") as out:
        process = subprocess.Popen([binary, *args], cwd=folder, env=environment(), stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    assert process.returncode == 0, said[-3000:]
    return said, time.monotonic() - began, used.ru_maxrss << 10


def environment():
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


class Server:
    def __init__(self, binary, folder, *args):
        self.log = folder / "log"
        own = ["--data", "data", "--listen", "127.0.0.1:0", "--now", "live", "--rate-requests", "0",
               "--assume-plan", "commercial", "--log-requests", "false"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen([binary, *own, *args], cwd=folder, stderr=log, env=environment())
        self.origin = "http://" + self.wait_for("listening on http://").split()[0]

    def wait_for(self, words):
        """The text in the log after some words."""
        began = time.monotonic()
        while words not in (said := self.log.read_text()):
            assert self.process.poll() is None and time.monotonic() - began < 900, said
            time.sleep(0.05)
        return said.split(words)[1]

    def bulk(self, station, query):
        """A page: its bytes, and the seconds that it took."""
        body = json.dumps({"stationId": station}).encode()
        request = urllib.request.Request(
            f"{self.origin}/api/v1/historical/bulk?{query}", body, {"content-type": "application/json"}
        )
        began = time.perf_counter()
        with urllib.request.urlopen(request, timeout=600) as answer:
            content = answer.read()
            assert answer.headers.get("X-Mesonet-Damaged") is None
        return content, time.perf_counter() - began

    def measure(self, station, query):
        content, first_s = self.bulk(station, query)
        used, took = cpu_s(self.process.pid), []
        for _ in range(COUNT):
            again, seconds = self.bulk(station, query)
            assert again == content
            took.append(seconds)
        used = (cpu_s(self.process.pid) - used) / COUNT
        return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "rows": content.count(b"\n") - 1,
                "first_ms": first_s * 1e3, "p50_ms": sorted(took)[COUNT // 2] * 1e3, "cpu_ms": used * 1e3}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Engines:
    """The files of an archive as the table `readings`, in two engines."""

    def __init__(self, address):
        bucket, _, prefix = address.removeprefix("s3://").partition("/")
        in_bucket = address.startswith("s3://")
        files = S3FileSystem(endpoint_override=os.environ["AWS_ENDPOINT"]) if in_bucket else LocalFileSystem()
        root = f"{bucket}/{prefix}" if in_bucket else address
        selector = pa.fs.FileSelector(f"{root}/manifests")
        newest = max(files.get_file_info(selector), key=lambda file: file.path)
        with files.open_input_stream(newest.path) as manifest:
            self.months = json.loads(manifest.read())["archive"]["months"]
        paths = [f"{root}/{file['path']}" for month in self.months for file in month["files"]]
        folders = pa.schema([("year", pa.int32()), ("month", pa.int32())])
        folders = pa.dataset.partitioning(folders, flavor="hive")
        self.dataset = pa.dataset.dataset(
            paths, filesystem=files, format="parquet", partitioning=folders, partition_base_dir=root
        )
        self.duckdb = functions_in_duckdb.register(duckdb.connect())
        self.duckdb.register("readings", self.dataset)
        self.datafusion = SessionContext()
        if in_bucket:
            endpoint = os.environ["AWS_ENDPOINT"]
            store = AmazonS3(bucket, region=os.environ["AWS_REGION"], endpoint=endpoint, allow_http=True,
                             access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
                             secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])
            self.datafusion.register_object_store("s3://", store, bucket)
        parts = [("year", pa.int32()), ("month", pa.int32())]
        columns = pa.schema([field for field in self.dataset.schema if field.name not in ("year", "month")])
        self.datafusion.register_parquet("readings", f"{address}/", table_partition_cols=parts, schema=columns)
        for name, function in archive_in_bucket.FUNCTIONS.items():
            over = archive_in_bucket.over_arrays(function)
            self.datafusion.register_udf(udf(over, [pa.float64()] * 2, pa.float64(), "immutable", name))

    def ask(self, query):
        """The seconds that each engine took; their rows must be equal."""
        began = time.perf_counter()
        one = self.duckdb.execute(query).fetchall()
        middle = time.perf_counter()
        other = self.datafusion.sql(query).to_arrow_table().to_pydict()
        end = time.perf_counter()
        other = list(zip(*other.values(), strict=True))
        assert one and one == other, (one[:2], other[:2])
        return {"rows": len(one), "hours": sum(row[1] for row in one), "duckdb_s": middle - began,
                "datafusion_s": end - middle}


def measure(given, folder):
    found = {"stations": given.stations, "years": given.years}
    place = folder / "archive"
    if "MESONET_TEST_BUCKET" in os.environ:
        place = f"s3://{os.environ['MESONET_TEST_BUCKET']}/ten-years"
    found["place"] = "a bucket of moto" if str(place).startswith("s3://") else "a folder"
    if not (folder / "whole").is_dir():
        (folder / "files").mkdir()
        reports = make(folder / "files", given.stations, given.years)
        known = {"reports": reports, "readings": 0, "ingest_s": 0}
        # One year after the other, and sealed after each, as a real record grows. Readings that are
        # taken in at once are one file of the record, which is deleted only when all of it is too
        # old.
        for year in range(LAST_YEAR - given.years + 1, LAST_YEAR + 1):
            files = sorted(str(path) for path in (folder / "files").glob(f"simulated_{year}-*"))
            done, seconds, _ = run(given.binary, folder, "ingest", "--json", "--data", "whole", *files)
            kind = json.loads(done)["kinds"]["ghcnh"]
            known["readings"] += kind["added"]
            known["ingest_s"] += seconds
            reports -= kind["reports"]
            run(given.binary, folder, "retention", "--retention", "40000d", "--data", "whole")
        assert reports == 0, f"{reports} reports were not read"
        (folder / "whole.json").write_text(json.dumps(known))
    found |= json.loads((folder / "whole.json").read_text())
    shutil.copytree(folder / "whole", folder / "data", dirs_exist_ok=True)
    found["record_bytes"] = size(folder / "data")

    archive = ["archive", "--to", str(place), "--data", "data", "--json"]
    done, found["archive_s"], found["archive_memory"] = run(given.binary, folder, *archive)
    months = json.loads(done)["months"]
    assert len(months) == 12 * given.years and all(month["outcome"] == "added" for month in months)
    found["archive_bytes"] = sum(month["sentBytes"] for month in months)
    found["archive_files"] = sum(month["files"] for month in months)
    found["archived"] = sum(month["readings"] for month in months)
    done, found["again_s"], _ = run(given.binary, folder, *archive)
    assert all(month["outcome"] == "unchanged" for month in json.loads(done)["months"])

    engines = Engines(str(place))
    assert sum(month["readings"] for month in engines.months) == found["archived"]
    station = engines.duckdb.execute(
        f"select station_id from readings where station = 'SIMULATED007' and year = {LAST_YEAR} limit 1"
    ).fetchone()[0]
    begin = LAST_YEAR - given.years + 1
    asked = {
        "a month": f"start={begin + 1}-01-01T00:00:00Z&end={begin + 1}-02-01T00:00:00Z",
        "a full page": f"start={begin + 1}-01-01T00:00:00Z&end={LAST_YEAR + 1}-01-01T00:00:00Z",
    }
    with Server(given.binary, folder) as server:
        before = {what: server.measure(station, query) for what, query in asked.items()}
    delete = ["retention", "--retention", RETENTION, "--archive", str(place), "--data", "data"]
    _, found["delete_s"], _ = run(given.binary, folder, *delete)
    found["left_bytes"] = size(folder / "data")
    with Server(given.binary, folder, "--archive", str(place)) as server:
        after = {what: server.measure(station, query) for what, query in asked.items()}
        found["server_memory"] = resident(server.process.pid)
    assert all(before[what]["sha256"] == after[what]["sha256"] for what in asked), (before, after)
    with Server(given.binary, folder) as server:
        assert server.measure(station, asked["a month"])["rows"] == 0, "it was not deleted"
    found["bulk"] = {what: {"before": before[what], "after": after[what]} for what in asked}
    found["ask"] = {
        "all stations, all years": engines.ask(HOURS.format(more="")),
        "all stations, one year": engines.ask(HOURS.format(more=f"and year = {begin + 1}")),
        "one station, one year": engines.ask(HOURS.format(more=f"and year = {begin + 1} and station_id = '{station}'")),
    }
    return found


def table(found):
    lines = [f"| {found['stations']} simulated stations, {found['years']} years, archive in {found['place']} | |",
             "| --- | ---: |"]
    row = lambda what, value: lines.append(f"| {what} | {value} |")
    mb = lambda count: f"{count / 1e6:,.0f} MB"
    row("Hourly reports", f"{found['reports']:,}")
    row("Readings, with derived ones", f"{found['readings']:,}")
    row("Read in, with checks", f"{found['ingest_s']:.0f} s, {found['readings'] / found['ingest_s']:,.0f} a second")
    row("Record", mb(found["record_bytes"]))
    rate = found["archived"] / found["archive_s"]
    row("`archive`, first run", f"{found['archive_s']:.0f} s, {rate:,.0f} readings a second, {mb(found['archive_memory'])} resident, mapped files of the record among it")
    row("`archive` again, nothing new", f"{found['again_s']:.0f} s")
    each = found["archive_bytes"] / found["archived"]
    row("Archive", f"{mb(found['archive_bytes'])}, {found['archive_files']} files, {each:.1f} bytes a reading")
    row(f"Record after `retention --retention {RETENTION}`", f"{mb(found['left_bytes'])}, {found['delete_s']:.1f} s")
    row("Memory of the server that answers from the archive", mb(found["server_memory"]))
    for what, of in found["bulk"].items():
        page = of["before"]
        row(f"Bulk export {found['years'] - 1} years back, {what}", f"{page['rows']:,} rows, {page['bytes'] / 1e6:.1f} MB of CSV")
        for when, named in (("before", "from the record"), ("after", "from the archive")):
            page = of[when]
            row(f"… {named}: first, then the median",
                f"{page['first_ms']:.0f} ms, {page['p50_ms']:.0f} ms ({page['cpu_ms']:.0f} ms of a core)")
    for what, of in found["ask"].items():
        row(f"{what}: {of['hours']:,} hours, DuckDB / DataFusion", f"{of['duckdb_s']:.1f} s / {of['datafusion_s']:.1f} s")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--stations", type=int, default=50)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--folder", type=Path, help="keeps the files and the record here for the next run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    assert given.years >= 4 and given.stations >= 8, "years must be 4 or more, stations 8 or more"
    with tempfile.TemporaryDirectory(dir=os.environ.get("MESONET_SCRATCH")) as scratch:
        folder = (given.folder or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("data", "archive"):
            shutil.rmtree(folder / name, ignore_errors=True)
        found = measure(given, folder)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    lines = f"{table(found)}\n\nRelease build; {os.cpu_count()} cores, load of the machine at the end {load}."
    print(lines)
    if given.write:
        put(given.write, "tests/scale/archive.py", lines)


if __name__ == "__main__":
    main()
