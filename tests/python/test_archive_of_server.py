"""An archive of a server's record, read by DuckDB: the readings that bulk export gives."""

import csv
import io
import json
import urllib.request
from pathlib import Path

import duckdb
import pytest
from child import PATIENCE_S, run, serving

METAR = Path(__file__).parents[1] / "data" / "metar"
FILES = [METAR / "ktpa_weather-reports_0.1.5.txt.gz", METAR / "liveairdata_metars_20240803T1732Z.csv.gz"]

COLUMNS = (
    "lat, lon, observation_name, interval_type, interval_minutes,"
    " strftime(timestamp at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ') as timestamp,"
    " value, quality_base, quality_reason, group_bucket_name, coalesce(qualifier, '') as qualifier"
)


@pytest.fixture(scope="module")
def archived(binary, tmp_path_factory):
    """A record, its archive, and the files that count."""
    folder = tmp_path_factory.mktemp("archive")
    data, place = folder / "record", folder / "archive"
    run(binary, "ingest", "--data", data, *FILES)
    summary = json.loads(run(binary, "archive", "--to", place, "--data", data, "--json"))
    newest = json.loads(max(place.glob("manifests/*.json")).read_text())
    months = newest["archive"]["months"]
    files = [str(place / file["path"]) for month in months for file in month["files"]]
    return data, place, summary, months, files


def test_the_manifest_counts_what_duckdb_finds(archived):
    _, place, summary, months, files = archived
    assert sorted(files) == sorted(map(str, place.glob("year=*/month=*/*.parquet")))
    found = duckdb.execute(
        "select format('{:04d}-{:02d}', year::int, month::int), count(*) from read_parquet($files, hive_partitioning = true)"
        " group by all order by all",
        {"files": files},
    ).fetchall()
    assert found == [(month["month"], month["readings"]) for month in months if month["readings"]]
    assert [(month["month"], month["readings"]) for month in summary["months"]] == [
        (month["month"], month["readings"]) for month in months
    ]
    assert len(found) == 13 and sum(count for _, count in found) > 100_000
    spans = duckdb.execute(
        "select count(*) from read_parquet($files, hive_partitioning = true)"
        " where year(timestamp at time zone 'UTC') <> year or month(timestamp at time zone 'UTC') <> month",
        {"files": files},
    ).fetchone()
    assert spans == (0,)


def test_rows_and_values_are_those_of_bulk_export(archived, binary, tmp_path):
    data, _, _, _, files = archived
    stations = duckdb.execute(
        "select station_id, station, count(*) from read_parquet($files)"
        " where station in ('KTPA', 'CYYZ', 'KMIA', 'PANC') group by all",
        {"files": files},
    ).fetchall()
    assert len(stations) == 4
    command = [binary, "--listen", "127.0.0.1:0", "--data", data, "--rate-requests", "0", "--assume-plan", "commercial"]
    with serving(*command, log=tmp_path / "log") as origin:
        for station_id, name, count in stations:
            rows = list(exported(origin, station_id))
            found = duckdb.execute(
                f"select {COLUMNS} from read_parquet($files) where station_id = $id order by timestamp, series_id",
                {"files": files, "id": station_id},
            ).fetchall()
            assert len(found) == len(rows) == count, name
            for row, of_duckdb in zip(rows, found, strict=True):
                assert row == of_duckdb


def exported(origin, station_id):
    """The rows of all pages, numbers as numbers."""
    query = "start=2020-01-01T00:00:00Z&end=2025-01-01T00:00:00Z&qualifiers=true&pageSize=50000"
    cursor = ""
    while cursor is not None:
        request = urllib.request.Request(
            f"{origin}/api/v1/historical/bulk?{query}{cursor}",
            json.dumps({"stationId": station_id}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            for row in csv.reader(io.StringIO(answer.read().decode())):
                if row[0] != "lat":
                    yield (float(row[0]), float(row[1]), row[2], row[3], int(row[4]), row[5], float(row[6]), *row[7:])
            following = answer.headers["X-Next-Cursor"]
        cursor = following and f"&cursor={following}"
