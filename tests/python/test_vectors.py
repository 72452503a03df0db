"""The golden vectors on the Python package; each test checks that it ran all cases of its file."""

import functools
from collections import Counter
from pathlib import Path

import mesonet
import numpy as np
import pytest
from mesonet import BaseQuality, MesonetError, ReasonQuality

DATA = Path(__file__).parents[1] / "data"


def number(value):
    """Returns a number; None is NaN, "inf" and "-inf" are infinite."""
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


def assert_same(got, case, tolerance):
    """Asserts equality to the bit if the tolerance is 0, else closeness; NaN equals NaN."""
    wanted = number(case["expected"])
    got = np.asarray(got, np.float64)
    if tolerance == 0:
        np.testing.assert_array_equal(got, np.full(got.shape, wanted), str(case))
    else:
        assert_close(got, wanted, tolerance, str(case))


def shown(symbols):
    """Returns symbols as the vectors write them: "1" for numbers without a unit."""
    return [symbol or "1" for symbol in symbols]


def test_units(vectors):
    file = vectors("units.json")
    ran = 0
    for section in ("conversions", "liquid_water"):
        for case in file[section]:
            value, tolerance = number(case["value"]), case["tolerance"]
            liquids = [True] if section == "liquid_water" else [False, True]
            for liquid_water in liquids:
                units = {"from_unit": case["from"], "to_unit": case["to"]}
                convert = functools.partial(mesonet.convert, **units, liquid_water=liquid_water)
                # Nine, so that a vector loop and its remainder both run; and strided, and in place.
                values = np.full(9, value)
                assert_same(convert(value), case, tolerance)
                assert_same(convert(values), case, tolerance)
                assert_same(convert(np.repeat(values, 2)[::2]), case, tolerance)
                assert convert(values, out=values) is values
                assert_same(values, case, tolerance)
                with np.errstate(over="ignore"):
                    singles = np.full(9, value, np.float32)
                    wanted = np.float32(number(case["expected"]))
                singles = convert(singles)
                assert singles.dtype == np.float32
                near = 2 * np.finfo(np.float32).eps
                np.testing.assert_allclose(singles, wanted, rtol=near, atol=1e-5, err_msg=str(case))
            ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            mesonet.convert(np.zeros(0), case["from"], case["to"])
        assert str(error.value) == case["message"], case
        ran += 1
    for case in file["resolutions"]:
        got = mesonet.resolve_unit(case["text"], case["vocabulary"])
        if "exact" in case:
            wanted = ("exact", [case["exact"]])
        elif "ambiguous" in case:
            wanted = ("ambiguous", case["ambiguous"])
        else:
            assert case["unknown"] is True
            wanted = ("unknown", [])
        assert (got.state, shown(got.units)) == wanted, case
        ran += 1
    for case in file["canonical"]:
        value = number(case["value"])
        for given in (value, np.full(9, value)):
            values, unit = mesonet.to_canonical(
                case["variable"], given, case["unit"], case["vocabulary"]
            )
            assert_same(values, case, 0)
            assert unit == case["expectedUnit"], case
        ran += 1
    assert ran == file["cases"]


def half_away(value, decimals):
    """Rounds half away from zero; NumPy rounds half to even."""
    power = 10.0**decimals
    return np.copysign(np.floor(np.abs(value * power) + 0.5), value) / power


def test_derived(vectors):
    file = vectors("derived.json")
    ran = 0
    together = {}
    for case in file["derived"]:
        inputs = [number(value) for value in case["inputs"]]
        got = getattr(mesonet, case["function"])(*inputs)
        assert isinstance(got, np.float64)
        if "decimals" in case:
            assert_same(half_away(got, case["decimals"]), case, 0)
        else:
            assert_same(got, case, case["tolerance"])
        together.setdefault(case["function"], []).append((inputs, got))
        ran += 1
    for name, cases in together.items():
        columns = [np.array(column) for column in zip(*(inputs for inputs, _ in cases))]
        got = getattr(mesonet, name)(*columns)
        np.testing.assert_array_equal(got, [value for _, value in cases], name)
    assert ran == file["cases"]


def assert_bits(got, case, *keys):
    """Asserts equality to the bit, as numbers and as an array."""
    wanted = [np.float64(number(case[key])) for key in keys]
    for value, expected in zip(got, wanted, strict=True):
        assert np.array(value).tobytes() == expected.tobytes(), (case, got)


def assert_published(got, case, tolerance, *keys):
    """Asserts closeness to what others published, if they did."""
    published = case.get("published", {})
    if keys[0] in published:
        assert_close(got, [published[key] for key in keys], tolerance, str(case))


def test_native_grid(vectors):
    file = vectors("native_grid.json")
    tolerance = file["tolerance"]
    grids = {}
    for case in file["grids"]:
        grid = mesonet.NativeGrid(case["definition"])
        assert grid.definition == case["definition"]
        assert grid.proj_string == case["proj"]
        assert_bits(grid.first_xy, case, "x", "y")
        grids[case["name"]] = grid
    ran = len(grids)
    for case in file["cells"]:
        grid, cell = grids[case["grid"]], (case["row"], case["column"])
        for of, keys in ((grid.position, ("lon", "lat")), (grid.wind_rotation, ("cos", "sin"))):
            for got in (of(*cell), [column[0] for column in of([cell[0]], [cell[1]])]):
                assert_bits(got, case, *keys)
                assert_published(got, case, tolerance, *keys)
        ran += 1
    for case in file["places"]:
        grid, at = grids[case["grid"]], (case["lon"], case["lat"])
        for got in (grid.locate(*at), [column[0] for column in grid.locate([at[0]], [at[1]])]):
            assert_bits(got, case, "row", "column")
            assert_published(got, case, tolerance, "row", "column")
        if "message" in case:
            with pytest.raises(MesonetError) as error:
                grid.nearest(*at)
            assert str(error.value) == case["message"]
        else:
            assert list(grid.nearest(*at)) == case["nearest"], case
        ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            mesonet.NativeGrid(case["definition"])
        assert str(error.value) == case["message"]
        ran += 1
    for case in file["refused_cells"]:
        for of in (grids[case["grid"]].position, grids[case["grid"]].wind_rotation):
            with pytest.raises(MesonetError) as error:
                of(case["row"], case["column"])
            assert str(error.value) == case["message"]
        ran += 1
    for case in file["refused_places"]:
        for of in (grids[case["grid"]].locate, grids[case["grid"]].nearest):
            with pytest.raises(MesonetError) as error:
                of(case["lon"], case["lat"])
            assert str(error.value) == case["message"]
        ran += 1
    assert ran == file["cases"]


def readings(of):
    """Returns a series of the vectors; without a verdict, the source's is Unknown/None."""
    start = np.datetime64(of["start"].removesuffix("Z"), "ms")
    times = start + np.array(of["minutes"], "m8[m]")
    source = {}
    if "source" in of:
        source = dict(zip(("source_base", "source_reason"), codes(of["source"])))
    return mesonet.SeriesReadings(
        *(of["variable"], of["intervalType"], of["intervalMinutes"], times, numbers(of["values"])),
        reported_unit=of.get("reportedUnit"),
        **source,
    )


def codes(verdicts):
    """Returns the base and reason codes of texts like "Good/None"."""
    pairs = [text.split("/") for text in verdicts]
    base = np.array([BaseQuality(base) for base, _ in pairs], np.uint8)
    return base, np.array([ReasonQuality(reason) for _, reason in pairs], np.uint8)


def test_checks(vectors):
    file = vectors("checks.json")
    assert file["tolerance"] == 0
    ran = 0
    for case in file["stations"]:
        site = case["site"]
        station = (
            *(site["longitude"], site["latitude"], site.get("altitudeM")),
            [readings(of) for of in case["series"]],
        )
        limits = case.get("limits")
        got = mesonet.check_station(*station, limits=limits)
        for which, (verdicts, of) in enumerate(zip(got, case["series"], strict=True)):
            wanted_base, wanted_reason = codes(of["verdicts"])
            np.testing.assert_array_equal(verdicts.base, wanted_base, case["name"], strict=True)
            np.testing.assert_array_equal(verdicts.reason, wanted_reason, case["name"], strict=True)
            for at, wanted in enumerate(of["verdicts"]):
                verdict = mesonet.explain(*station, which, at, limits=limits)["verdict"]
                assert "/".join(verdict.values()) == wanted, case["name"]
        ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            mesonet.check_station(0.0, 0.0, None, [], limits=case["limits"])
        assert str(error.value) == case["message"], case["name"]
        ran += 1
    for case in file["crosswalks"]:
        scheme = getattr(mesonet, case["scheme"])
        base, _ = scheme.quality(case["flag"])
        assert base.name == case["base"], case
        assert scheme.flag(base) == case["written"], case
        ran += 1
    assert ran == file["cases"]


def test_time_grid(vectors):
    file = vectors("time_grid.json")
    ran = 0
    for case in file["plan"]:
        cells, positions = case["caps"]
        plan = mesonet.plan_grid(
            case["start_ms"], case["end_ms"], case["step"],
            stations=case["stations"], names=case["names"], caps=mesonet.Caps(cells, positions),
        )
        assert (plan.step_minutes, plan.times.size) == (case["used"], case["positions"]), case["name"]
        wanted = case["coarsening"] and tuple(case["coarsening"].values())
        assert (plan.coarsening and tuple(plan.coarsening)) == wanted, case["name"]
        ran += 1
    for case in file["resample"]:
        age = case["max_age_ms"]
        grid = mesonet.resample(
            np.array(case["ts_ms"], np.int64), numbers(case["values"]), case["start_ms"], case["end_ms"],
            case["step"], offsets=case["offsets"], max_age=None if age is None else np.timedelta64(age, "ms"),
        )
        assert grid.reading.ravel().tolist() == case["reading"], case["name"]
        assert grid.values.tobytes() == numbers(case["filled"]).tobytes(), case["name"]
        ages = [None if np.isnat(one) else int(one.astype(np.int64)) for one in grid.age.ravel()]
        assert ages == case["age_ms"], case["name"]
        ran += 1
    for case in file["pick"]:
        age = case["max_age_ms"]
        picks = mesonet.pick_series(
            [np.array(times, np.int64) for times in case["candidates"]], case["start_ms"], case["end_ms"],
            case["step"], max_age=None if age is None else np.timedelta64(age, "ms"),
        )
        assert (picks.series.tolist(), picks.reading.tolist()) == (case["series"], case["reading"]), case["name"]
        ran += 1
    for case in file["lookback"]:
        window = (case["start_ms"], case["end_ms"], case["plan"])
        if case["refused"] is None:
            mesonet.check_lookback(*window, now=case["now_ms"])
        else:
            with pytest.raises(MesonetError) as error:
                mesonet.check_lookback(*window, now=case["now_ms"])
            assert str(error.value) == case["refused"], case["name"]
        ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            mesonet.resample(case["ts_ms"], case["values"], 0, 60_000, 1, offsets=case["offsets"])
        assert str(error.value) == case["message"], case["name"]
        ran += 1
    assert ran == file["cases"]


def feature_summary(feature):
    """A feature as alerts.json has it."""
    alert, geometry = feature["properties"], feature["geometry"]
    return {
        "id": feature["id"], "status": alert["status"], "headline": alert["alertHeadline"],
        "event_codes": alert.get("eventCodes", {}), "same_codes": alert.get("sameCodes", []),
        "areas": [
            [area.get("clcCode") or area.get("ugcCode"), area["status"]] for area in alert.get("areas", [])[:12]
        ],
        "geometry": geometry and geometry["type"], "positions": geometry and positions([geometry]),
    }


def positions(geometries):
    count, lons, lats = 0, 0.0, 0.0
    for geometry in filter(None, geometries):
        polygons = geometry["coordinates"]
        for polygon in [polygons] if geometry["type"] == "Polygon" else polygons:
            for lon, lat in (position for ring in polygon for position in ring):
                count, lons, lats = count + 1, lons + lon, lats + lat
    return [count, lons, lats]


def test_alerts(vectors):
    file = vectors("alerts.json")
    readers = {"cap": mesonet.read_cap, "nws-alerts": mesonet.read_nws_alerts}

    def read(case):
        alerts = readers[case["reader"]]([DATA / path for path in case["files"]])
        counts = [sum(of.read for of in alerts.files), sum(of.refused for of in alerts.files)]
        assert counts == [case["read"], case["refused"]], case["name"]
        return alerts

    ran = 0
    for case in file["chains"]:
        alerts, ids = read(case), case["ids"]
        for one in case["states"]:
            states = alerts.states(one["at_ms"])
            assert [state.id for state in states] == ids, case["name"]
            got = [[state.status, [ids.index(id) for id in state.next_ids]] for state in states]
            assert got == one["of"], (case["name"], one["at_ms"])
        for one in case["features"]:
            conditions = {key: one[key] for key in ["active", "bbox", "place", "language"] if key in one}
            features = alerts.to_geojson(one["at_ms"], **conditions)["features"]
            assert [feature_summary(feature) for feature in features] == one["of"], (case["name"], conditions)
        if "collection" in case:
            assert alerts.to_geojson(case["collection"]["at_ms"]) == case["collection"]["of"], case["name"]
        ran += 1
    for case in file["many"]:
        alerts = read(case)
        for one in case["tally"]:
            assert Counter(state.status for state in alerts.states(one["at_ms"])) == one["statuses"]
            outlines = [of["geometry"] for of in alerts.to_geojson(one["at_ms"], active=True)["features"]]
            assert (len(outlines), outlines.count(None)) == (one["active"], one["without_outline"])
            assert positions(outlines) == one["positions"]
        ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            readers[case["reader"]](case["content"].encode())
        assert str(error.value) == f"content: {case['message']}", case["name"]
        ran += 1
    for case in file["left_out"]:
        with pytest.warns(mesonet.MesonetWarning, match="it holds nothing: 1 left out"):
            alerts = mesonet.read_cap(case["content"].encode())
        assert (len(alerts), list(alerts.files[0].refusals)) == (0, case["refusals"]), case["name"]
        ran += 1
    assert ran == file["cases"]


def camel_case(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def in_camel_case(value):
    if isinstance(value, dict):
        return {camel_case(name): in_camel_case(member) for name, member in value.items()}
    return [in_camel_case(one) for one in value] if isinstance(value, list) else value


def test_metar(vectors):
    file = vectors("metar.json")
    ran = 0
    for case in file["reports"]:
        report = mesonet.parse_metar(case["text"], received=case.get("received_ms"))
        decoded = in_camel_case(report.to_dict())
        for path, wanted in case["members"].items():
            got = functools.reduce(lambda of, member: of[member], path.split("."), decoded)
            assert got == wanted, (case["name"], path)
        if "ts_ms" in case:
            assert report.time.timestamp() * 1000 == case["ts_ms"], case["name"]
        ran += 1
    for case in file["refused"]:
        with pytest.raises(MesonetError) as error:
            mesonet.parse_metar(case["text"])
        assert str(error.value) == case["message"], case["name"]
        ran += 1
    assert ran + len(file["files"]) == file["cases"]


def test_metar_files(vectors):
    pa = pytest.importorskip("pyarrow")
    names = [
        "station", "timestamp", "observation_name", "interval_type", "interval_minutes", "value", "unit",
        "qualifier", "group_bucket_name", "calculated",
    ]
    for case in vectors("metar.json")["files"]:
        feed = mesonet.read_metar(case["content"].encode(), received=case["received_ms"])
        rows = pa.table(feed).to_pylist()
        for row in rows:
            row["timestamp"] = round(row["timestamp"].timestamp() * 1000)
            assert [row["lat"], row["lon"], row["altitude_m"]] == case.get("place", [None] * 3), case["name"]
        assert [[row[name] for name in names] for row in rows] == case["readings"], case["name"]
        [of] = feed.files
        assert [of.kind, of.read, list(of.refusals)] == [case["kind"], case["read"], case["refusals"]]
