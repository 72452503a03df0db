"""The package on engines: dask's worker processes, and DuckDB."""

import subprocess
import sys
from pathlib import Path

import duckdb
import mesonet
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
ENGINES = ROOT / "docs" / "engines"
METAR = sorted((ROOT / "tests" / "data" / "metar").glob("liveairdata_metars_20240803T19[34]*.csv.gz"))


@pytest.fixture(scope="module")
def engines():
    """The modules of the examples."""
    sys.path.insert(0, str(ENGINES))
    import archive
    import functions_in_duckdb
    import quality_on_dask

    yield archive, quality_on_dask, functions_in_duckdb
    sys.path.remove(str(ENGINES))


@pytest.fixture(scope="module")
def archive(engines, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    assert len(METAR) == 2
    assert engines[0].write(folder, METAR, partitions=4) > 80_000
    return folder


def test_an_archive_is_checked_on_two_processes_as_in_one(engines, archive, tmp_path):
    _, on_dask, _ = engines
    command = [sys.executable, "-W", "error", ENGINES / "quality_on_dask.py"]
    done = subprocess.run(
        [*command, archive, tmp_path, "--workers", "2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "on 2 workers" in done.stdout
    for path in sorted(archive.glob("part=*/*.parquet"))[:2]:
        expected = on_dask.check_stations(pq.read_table(path).to_pandas())
        checked = pd.read_parquet(tmp_path / path.parent.name / path.name)
        for name in ("station", "timestamp", "value", "verdict_base", "verdict_reason"):
            assert checked[name].astype(str).tolist() == expected[name].astype(str).tolist()
    assert not list(tmp_path.glob("**/*.part"))


def test_ray_checks_an_archive_as_dask_does(engines, archive, tmp_path):
    pytest.importorskip("ray")
    _, on_dask, _ = engines
    # Not with warnings as errors: Ray gives some of its own.
    command = [sys.executable, ENGINES / "quality_on_ray.py", archive, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "UserWarning" not in done.stderr
    rows = ["station", "observation_name", "group_bucket_name", "unit", "interval_minutes", "calculated", "timestamp"]
    given = pd.concat(pq.read_table(path).to_pandas() for path in sorted(archive.glob("part=*/*.parquet")))
    expected = on_dask.check_stations(given).astype(str).sort_values(rows)
    checked = pq.read_table(tmp_path / "out").to_pandas().astype(str).sort_values(rows)
    assert len(checked) > 60_000
    for name in ("station", "timestamp", "value", "verdict_base", "verdict_reason"):
        assert checked[name].tolist() == expected[name].tolist()


def test_the_verdicts_are_those_of_a_station_checked_by_itself(engines, archive):
    _, on_dask, _ = engines
    given = pd.concat(pq.read_table(path).to_pandas() for path in archive.glob("part=*/*.parquet"))
    of = given[given.station.astype(str) == "KMIA"]
    checked = on_dask.check_stations(of)
    assert len(checked) == 20 and (checked.verdict_base == "Good").any()
    for _, one in checked.groupby(["observation_name", "unit"], observed=True):
        assert one.timestamp.is_monotonic_increasing
    unknown = on_dask.check_stations(given[given.lat.isna()])
    assert len(unknown) > 0 and (unknown.verdict_base == "Unknown").all()
    placed = given[given.lat.notna()].drop_duplicates([*on_dask.SERIES, "timestamp"], keep="last")
    alone = mesonet.check_frame(placed[placed.station.astype(str) == "KMIA"], neighbours=False)
    assert alone.verdict_base.astype(str).tolist() == checked.verdict_base.astype(str).tolist()


def test_functions_in_sql_are_those_of_the_package(engines, archive):
    *_, in_duckdb = engines
    connection = in_duckdb.register(duckdb.connect())
    top = connection.execute(in_duckdb.QUERY, {"archive": f"{archive}/part=*/*.parquet"}).fetchdf()
    assert len(top) == 10 and top.humidex.is_monotonic_decreasing
    np.testing.assert_array_equal(top.air_f, mesonet.convert(top.air_c.to_numpy(), "°C", "°F"))
    found = connection.execute(
        "select dew_point_c(air, rh), dew_point_c(null, rh), heat_index_c(air, rh)"
        " from (values (25.0, 60.0), (-5.0, 60.0)) as t(air, rh)"
    ).fetchall()
    air, humidity = np.array([25.0, -5.0]), np.array([60.0, 60.0])
    dew, heat = mesonet.dew_point_c(air, humidity), mesonet.heat_index_c(air, humidity)
    for row, one in enumerate(found):
        assert one[:2] == (dew[row], None)
        assert one[2] == (None if np.isnan(heat[row]) else heat[row])
