"""The golden vectors against the Python package; each test counts its cases against the file."""

import mesonet
import numpy as np
import pytest
from mesonet import BaseQuality, MesonetError, ReasonQuality


def number(value):
    """A number; None is NaN, "inf" and "-inf" are infinite."""
    return float("nan" if value is None else value)


def numbers(values):
    return np.array([number(value) for value in values], np.float64)


def encoding(case):
    of = case["encoding"]
    return number(of["scale"]), number(of["offset"]), of["nodata"]


def assert_close(got, wanted, tolerance, name):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance, equal_nan=True, err_msg=name)


def test_quality_ranking(vectors):
    file = vectors("quality_ranking.json")
    assert [code.name for code in BaseQuality] == file["base"]
    assert [int(code) for code in BaseQuality] == list(range(len(file["base"])))
    assert [code.name for code in ReasonQuality] == file["reason"]
    ran = 2
    for case in file["worst"]:
        names, name = case["codes"], case["name"]
        codes = np.array([BaseQuality(name) for name in names], np.uint8)
        wanted = BaseQuality(case["worst"])
        assert mesonet.worst(names) is wanted, name
        assert mesonet.worst(codes) is wanted, name
        assert mesonet.worse.reduce(codes, initial=BaseQuality.Unknown) == wanted, name
        for given in (names, codes):
            distinct = mesonet.distinct_worst_first(given)
            assert [code.name for code in distinct] == case["distinct"], name
        ran += 1
    for case in file["refused"]:
        given = [case["codes"]]
        if isinstance(case["codes"][0], int):
            given.append(np.array(case["codes"], np.uint8))
        for codes in given:
            for refusing in (mesonet.worst, mesonet.distinct_worst_first):
                with pytest.raises(MesonetError) as error:
                    refusing(codes)
                assert str(error.value) == case["message"], case["name"]
        ran += 1
    assert ran == file["cases"]


def test_tile(vectors):
    file = vectors("tile.json")
    ran = 0
    for case in file["decode"]:
        parts, name = encoding(case), case["name"]
        raw, wanted = np.array(case["raw"], np.int16), numbers(case["values"])
        spaced = np.repeat(raw, 3)[::3]
        data = bytes.fromhex(case["bytes"])
        assert raw.astype("<i2").tobytes() == data, name
        for got in (
            mesonet.decode(raw, *parts),
            mesonet.decode(spaced, *parts),
            mesonet.decode(raw.astype(np.int64), *parts),
            mesonet.decode_bytes(data, *parts),
        ):
            assert got.dtype == np.float64, name
            assert_close(got, wanted, case["tolerance"], name)
        ran += 1
    for case in file["encode"]:
        values = numbers(case["values"])
        for given in (values, np.repeat(values, 2)[::2]):
            raw = mesonet.encode(given, *encoding(case))
            assert raw.dtype == np.int16, case["name"]
            assert raw.tolist() == case["raw"], case["name"]
        ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            mesonet.decode_bytes(bytes.fromhex(case["bytes"]), *encoding(case))
        assert str(error.value) == case["message"], case["name"]
        ran += 1
    assert ran == file["cases"]


def test_wind_rotation(vectors):
    file = vectors("wind_rotation.json")
    ran = 0
    for case in file["factors"]:
        cos, sin = case["cos"], case["sin"]
        assert np.hypot(cos, sin) == pytest.approx(1.0, abs=file["unit_length_tolerance"])
        assert mesonet.rotate(cos, sin, 1.0, 0.0) == (cos, -sin), case["name"]
        assert mesonet.rotate(cos, sin, 0.0, 1.0) == (sin, cos), case["name"]
        ran += 1
    columns = {
        key: numbers(case[key] for case in file["winds"])
        for key in ("cos", "sin", "u", "v", "u_true", "v_true")
    }
    together = mesonet.rotate(columns["cos"], columns["sin"], columns["u"], columns["v"])
    for at, case in enumerate(file["winds"]):
        given = [number(case[key]) for key in ("cos", "sin", "u", "v")]
        wanted = [number(case[key]) for key in ("u_true", "v_true")]
        assert_close(mesonet.rotate(*given), wanted, case["tolerance"], case["name"])
        assert_close([part[at] for part in together], wanted, case["tolerance"], case["name"])
        ran += 1
    assert ran == file["cases"]
