"""An archive in a bucket, beside a service that speaks S3."""

import subprocess
import sys
import urllib.request
from pathlib import Path

import mesonet
import numpy as np
import pytest

pytest.importorskip("datafusion")
server = pytest.importorskip("moto.server")

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
OF_A_YEAR = DATA / "isd" / "DS3505_KAMW_2016.txt.gz"
OF_A_NETWORK = DATA / "metar" / "liveairdata_metars_20240803T1732Z.csv.gz"
ADDRESS = "s3://archive/a/network"


@pytest.fixture(scope="module")
def example():
    """The module, with an archive of a year of one station and of an hour of many."""
    service = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    service.start()
    with pytest.MonkeyPatch.context() as patch:
        endpoint = "http://{}:{}".format(*service.get_host_and_port())
        patch.setenv("AWS_ENDPOINT", endpoint)
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/archive", method="PUT")).close()
        patch.syspath_prepend(ROOT / "docs" / "engines")
        import archive_in_bucket

        for path in (OF_A_YEAR, OF_A_NETWORK):
            table = mesonet.read_feed(path).to_arrow()
            assert archive_in_bucket.write(ADDRESS, table) == len(table)
        yield archive_in_bucket
    service.stop()


def test_the_hours_of_a_station_are_those_of_its_file(example):
    found = example.ask(ADDRESS, "725472-94989", 2016).to_pandas()
    readings = mesonet.read_feed(OF_A_YEAR).to_arrow().to_pandas()
    readings = readings[~readings.quality_base.isin(["Suppressed", "Error"])]
    wide = readings.pivot_table(index="timestamp", columns="observation_name", values="value", aggfunc="max")
    humidex = mesonet.humidex(wide.airTemperature.to_numpy(), wide.dewPointTemperature.to_numpy())
    assert len(found) == 10
    np.testing.assert_array_equal(found.humidex, np.sort(humidex[~np.isnan(humidex)])[::-1][:10])
    assert (wide.loc[found.timestamp].airTemperature.to_numpy() == found.air.to_numpy()).all()
    assert len(example.ask(ADDRESS, "725472-94989", 2024)) == 0
    assert len(example.ask(ADDRESS, "KJFK", 2024)) > 0


def test_nothing_is_replaced_by_what_is_added(example):
    context = example.connect(ADDRESS)
    count = "select count(*) as n from readings"
    before = context.sql(count).to_pydict()["n"][0]
    table = mesonet.read_feed(OF_A_NETWORK).to_arrow()
    assert before == len(table) + len(mesonet.read_feed(OF_A_YEAR).to_arrow())
    example.write("s3://archive/twice", table)
    example.write("s3://archive/twice", table)
    assert example.connect("s3://archive/twice").sql(count).to_pydict()["n"] == [2 * len(table)]


def test_a_query_opens_only_the_files_of_its_year(example):
    """A damaged file of another year does not matter to it, and is not passed over by one of that year."""
    part = example.part_of("KJFK")
    with example.files().open_output_stream(f"archive/a/network/year=1999/part={part}/x.parquet") as file:
        file.write(b"PAR1 is how it begins")
    try:
        assert len(example.ask(ADDRESS, "KJFK", 2024)) > 0
        with pytest.raises(Exception, match="[Pp]arquet"):
            example.ask(ADDRESS, "KJFK", 1999)
    finally:
        example.files().delete_file(f"archive/a/network/year=1999/part={part}/x.parquet")


def test_the_commands(example):
    def run(*words):
        command = [sys.executable, example.__file__, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout

    assert run("write", "s3://archive/commands", OF_A_NETWORK).endswith(" readings\n")
    assert "humidex" in run("ask", "s3://archive/commands", "KJFK", "2024")
