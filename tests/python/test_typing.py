"""The stubs describe the package: they are checked against it, and against code that uses it."""

import ast
import subprocess
import sys
from pathlib import Path

import mesonet
import pytest
from child import PATIENCE_S

HERE = Path(__file__).parent


def mypy(*arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.mark.long
def test_stubs_match_the_package():
    allowed = HERE / "stubtest_allowlist.txt"
    result = mypy("mypy.stubtest", "mesonet", "--allowlist", str(allowed))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", ["BaseQuality", "ReasonQuality"])
def test_stubs_list_the_codes_of_the_package(name):
    # stubtest compares the names of an enum, not its values.
    stub = Path(mesonet.__file__).with_name("quality.pyi").read_text(encoding="utf-8")
    classes = (node for node in ast.parse(stub).body if isinstance(node, ast.ClassDef))
    (code,) = (node for node in classes if node.name == name)
    listed = {
        node.targets[0].id: node.value.value for node in code.body if isinstance(node, ast.Assign)
    }
    members = getattr(mesonet, name).__members__
    assert listed == {name: int(code) for name, code in members.items() if name != "None"}


@pytest.mark.long
def test_code_that_uses_the_package_type_checks(tmp_path):
    source = tmp_path / "use.py"
    source.write_text(
        "import numpy as np\n"
        "import mesonet\n"
        "from mesonet import BaseQuality\n"
        "code: BaseQuality = mesonet.worst(['Good', 3, BaseQuality.Error])\n"
        "names: list[str] = [code.name for code in mesonet.distinct_worst_first(b'12')]\n"
        "tile = mesonet.decode_bytes(b'12', 0.5, 0, -1)\n"
        "reveal_type(tile)\n"
        "chill: object = mesonet.wind_chill_c(np.zeros(2), 20.0)\n"
        "state: str = mesonet.resolve_unit('F', 'cf').state\n"
        "letter: str | None = mesonet.MADIS.flag('Good')\n"
        "air = mesonet.SeriesReadings('airTemperature', 'Instantaneous', 0, [0], [1.0])\n"
        "codes: np.ndarray = mesonet.check_station(0.0, 50.0, None, [air])[0].base\n"
        "grid = mesonet.NativeGrid({'rows': 1, 'projection': 'lat_lon'})\n"
        "row, column = grid.nearest(0.0, np.zeros(2))\n"
        "lat: np.ndarray = grid.positions().lat\n"
        "speed: np.ndarray = mesonet.convert([7], 'kt', 'km/h')\n"
        "at: int = grid.nearest(0.0, 1.0).row\n"
        "reveal_type(mesonet.dew_point_c(20.0, 50.0))\n"
        "access: bool = mesonet.capabilities('pro')['products']['alerts']['allowed']\n"
        "client = mesonet.Client('http://localhost')\n"
        "codes_of: dict[str, list[str]] = client.station('CYYZ')['identifiers']\n"
        "headlines: list[str] = [one['properties']['alertHeadline'] for one in client.alerts()]\n"
        "unit: str = client.model_products('nam211')['temperature_2m']['unit']\n"
        "record = mesonet.Record('record')\n"
        "name: str = record.details('CYYZ', at='2024-08-03T20:00Z')['name']\n"
        "why: str = record.explain('CYYZ', 1, '2024-08-03T20:00Z')['verdict']['baseQuality']\n"
        "record.bulk('CYYZ', '2024-08-03', '2024-08-04', requests=[{'name': 'airTemperature'}])\n"
        "same: bool = mesonet.worst(np.zeros(2, np.uint8)) is BaseQuality('Good')\n"
    )
    cache = ["--cache-dir", str(tmp_path / "cache")]
    result = mypy("mypy", "--strict", *cache, str(source))
    assert result.returncode == 0, result.stdout + result.stderr
    assert 'type is "numpy.ndarray[' in result.stdout
    assert 'type is "numpy.float64' in result.stdout

    source.write_text("import mesonet\nmesonet.capabilities()['product']\n")
    result = mypy("mypy", "--strict", *cache, str(source))
    assert "[typeddict-item]" in result.stdout, result.stdout

    source.write_text("import mesonet\nmesonet.decode_bytes('12', 0.5, 0, -1)\nmesonet.worst(3)\n")
    result = mypy("mypy", "--strict", *cache, str(source))
    assert result.stdout.count("[arg-type]") == 2, result.stdout
