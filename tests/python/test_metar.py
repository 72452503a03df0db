"""METAR reports decoded: every group typed, what is refused, and the sample beside its own columns."""

import copy
import csv
import dataclasses
import datetime
import gzip
import io
import json
import pickle
from pathlib import Path

import mesonet
import pytest
from mesonet import MesonetError, metar

DATA = Path(__file__).parents[1] / "data" / "metar"
REPORT = (
    "METAR KBUF 312354Z COR AUTO 21014G22KT 180V240 1 1/2SM R23/2600VP6000FT/U -SHSN VCTS SCT025CB "
    "BKN050 02/M07 A2973 RMK AO2 PK WND 22034/2331 WSHFT 2315 FROPA OCNL LTGICCG DSNT NE SNB21 "
    "CB DSNT W MOV E SLP077 P0003 60012 T00221067 56012 SNINCR 1/8 PNO FROIN $="
)


def test_a_report_with_nearly_everything():
    report = mesonet.parse_metar(REPORT, received="2020-01-01T00:01Z")
    assert (report.kind, report.station, report.revision, report.auto) == ("METAR", "KBUF", 1, True)
    assert report.time == datetime.datetime(2019, 12, 31, 23, 54, tzinfo=datetime.UTC)
    assert report.wind == metar.Wind(210, False, 14, 22, "kt", 25.928, 40.744, 180, 240)
    assert report.visibility == metar.Visibility(1.5, "mi", "exact", 2.414016)
    [runway] = report.runway_visual_ranges
    assert (runway.least, runway.greatest, runway.is_above_greatest, runway.tendency) == (2600, 6000, True, "up")
    assert [weather.text for weather in report.weather] == ["-SHSN", "VCTS"]
    assert report.clouds[0] == metar.Cloud("SCT", 4, 2500, "CB", "CB")
    assert (report.ceiling_ft, report.temperature_c, report.dew_point_c) == (5000, 2.2, -6.7)
    assert report.altimeter == metar.Altimeter(29.73, "inHg", mesonet.convert(29.73, "inHg", "hPa"))
    remarks = report.remarks
    assert remarks.peak_wind == metar.PeakWind(220, 34, 23, 31)
    assert remarks.wind_shift == metar.WindShift(23, 15, True)
    assert remarks.lightning == (metar.Lightning("OCNL", ("IC", "CG"), "DSNT NE"),)
    assert remarks.weather_times == (metar.WeatherTime("SN", "begin", None, 21),)
    assert remarks.phenomena == (metar.Phenomenon("CB", "DSNT W", "E"),)
    assert (remarks.six_group_in, remarks.six_group_minutes) == (0.12, 360)
    assert (remarks.snow_increase_1h_in, remarks.snow_increase_depth_in) == (1, 8)
    assert remarks.outages == ("maintenance", "rain gauge")
    assert report.not_understood == ("FROIN",)
    assert report.text == REPORT.removesuffix("=")
    assert str(report).startswith("METAR KBUF day 31 23:54Z: corrected; wind from 210° at 14 kt, turning")


def test_a_report_is_a_value():
    report = mesonet.parse_metar(REPORT, received="2020-01-01T00:01Z")
    assert pickle.loads(pickle.dumps(report)) == report == mesonet.parse_metar(REPORT, received="2020-01-01T00:01Z")
    assert hash(report.wind) == hash(mesonet.parse_metar(REPORT).wind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.nil = True
    told = report.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["time"] == "2019-12-31 23:54:00+00:00"
    assert told["remarks"]["lightning"][0]["kinds"] == ["IC", "CG"]
    assert list(told) == [field.name for field in dataclasses.fields(report)]


def test_members_are_made_when_they_are_asked_for():
    report = mesonet.parse_metar(REPORT)
    for name in ("wind", "remarks", "summary", "clouds"):
        slot = getattr(metar.Metar, name)
        with pytest.raises(AttributeError):
            slot.__get__(report)  # the slot itself: nothing was made
        assert getattr(report, name) is getattr(report, name) is slot.__get__(report)
    with pytest.raises(AttributeError, match="'Metar' object has no attribute 'winds'"):
        report.winds


def test_a_report_that_nobody_has_read_is_copied_and_compared_like_any_other():
    whole = mesonet.parse_metar(REPORT, received="2020-01-01T00:01Z")
    assert repr(whole).startswith("Metar(text='METAR KBUF 312354Z COR AUTO")
    assert repr(whole).endswith("Z: " + whole.summary.split("Z: ", 1)[1] + "')")

    def new():
        return mesonet.parse_metar(REPORT, received="2020-01-01T00:01Z")

    for copied in (copy.copy(new()), copy.deepcopy(new()), pickle.loads(pickle.dumps(new())), dataclasses.replace(new())):
        assert copied == whole and repr(copied) == repr(whole) and hash(copied) == hash(whole)
        assert copied.remarks == whole.remarks
    assert dataclasses.replace(new(), kind=None).remarks == whole.remarks
    assert new() != mesonet.parse_metar(REPORT) and new().remarks == mesonet.parse_metar(REPORT).remarks
    match new():
        case metar.Metar(station=station, wind=metar.Wind(speed=speed)):
            assert (station, speed) == ("KBUF", 14)


def test_a_member_of_a_class_is_an_object_of_it():
    """Members are told by their places in Rust, which must be those of the classes."""
    text = (
        "METAR EGLL 312354Z 21014KT 5000 1200SW SCT025 A2973 RMK AO2 VIS 3/4V1 1/2 VIS NE 2 1/2 CIG 002 RWY11 "
        "BKN014 V OVC FU BKN020 TORNADO B13E25 6 NE MOV E 8/6// SC5 1CU030 56012"
    )
    report = mesonet.parse_metar(text)
    remarks = report.remarks
    assert report.directional_visibilities == (metar.DirectionalVisibility(1200, "SW"),)
    assert remarks.variable_visibility_mi == metar.Range(0.75, 1.5)
    assert remarks.sector_visibilities == (metar.SectorVisibility(2.5, "NE"),)
    assert remarks.ceilings == (metar.Ceiling(200, "RWY11"),)
    assert remarks.variable_sky == (metar.VariableSky("BKN", "OVC", 1400),)
    assert remarks.obscurations == (metar.Obscuration("FU", "BKN", 2000),)
    began, ended = metar.ClockTime(None, 13), metar.ClockTime(None, 25)
    assert remarks.phenomena == (metar.Phenomenon("TORNADO", "NE", "E", began, ended, 6.0),)
    assert remarks.cloud_types == metar.CloudTypes(6, None, None)
    assert remarks.cloud_amounts == (metar.CloudAmount("SC", 5),)
    assert remarks.cloud_layers == (metar.CloudLayer(1, "CU", 3000),)
    assert remarks.pressure_tendency == metar.PressureTendency(6, -1.2)


def test_the_readings_of_a_file_are_those_of_its_reports():
    feed = mesonet.read_feed(REPORT.encode(), received="2020-01-01T00:01Z").to_arrow()
    value = {
        (name, kind, minutes): value
        for name, kind, minutes, value in zip(
            *(feed[column].to_pylist() for column in ["observation_name", "interval_type", "interval_minutes", "value"])
        )
    }
    report = mesonet.parse_metar(REPORT)
    assert value["windSpeed", "Average", 2] == report.wind.speed_kmh
    assert value["windGust", "Max", 10] == report.wind.gust_kmh
    assert value["visibility", "Instantaneous", 0] == report.visibility.distance_km
    assert value["airTemperature", "Instantaneous", 0] == report.temperature_c
    assert value["altimeterSetting", "Instantaneous", 0] == report.altimeter.hpa
    assert value["mslp", "Instantaneous", 0] == report.remarks.sea_level_pressure_hpa


def rows(path):
    """The rows of a table with raw reports."""
    text = gzip.decompress(path.read_bytes()).decode(errors="replace").splitlines()
    start = next(number for number, line in enumerate(text) if "raw_text" in line)
    return csv.DictReader(io.StringIO("\n".join(text[start:])))


def test_the_sample_as_the_aviation_weather_center_decoded_it():
    """Every tenth report of the Center's tables, and its own columns for the same groups."""
    # The Center's knots are whole, also of winds in m/s; its inches have two decimals.
    tolerance = {"temp_c": 0.05, "dewpoint_c": 0.05, "wind_speed_kt": 1, "wind_dir_degrees": 0, "altim_in_hg": 0.006}
    agree = dict.fromkeys(tolerance, 0)
    differ, read, refused, groups, left = dict.fromkeys(agree, 0), 0, 0, 0, 0
    for path in sorted(DATA.glob("awc_metars_cache_*.csv.gz")):
        for number, row in enumerate(rows(path)):
            if number % 10:
                continue
            try:
                report = mesonet.parse_metar(row["raw_text"])
            except MesonetError as error:
                assert "is not the time of a report" in str(error)
                refused += 1
                continue
            read += 1
            groups += len(report.text.split())
            left += len(report.not_understood)
            wind, altimeter = report.wind, report.altimeter
            ours = {
                "temp_c": report.temperature_c,
                "dewpoint_c": report.dew_point_c,
                "wind_speed_kt": wind and wind.speed_kmh is not None and wind.speed_kmh / 1.852,
                "wind_dir_degrees": wind and wind.from_deg,
                "altim_in_hg": altimeter and altimeter.hpa / 33.8638866667,
            }
            for name, value in ours.items():
                if row[name] in ("", "VRB") or value in (None, False):
                    continue
                near = abs(float(row[name]) - value) <= tolerance[name]
                (agree if near else differ)[name] += 1
    assert read > 2500 and refused * 100 < read, (read, refused)
    assert left * 40 < groups, (left, groups)
    for name in agree:
        assert agree[name] > 2000 and differ[name] <= 1, (name, agree, differ)


REFUSED = {
    "empty": ("", "\"\" is not a station"),
    "no station": ("METAR 312354Z", "\"312354Z\" is not a station"),
    "no time": ("SPECI COR KBUF AUTO 21014KT", "\"AUTO\" is not the time of a report"),
    "bad time": ("KBUF 322354Z", "\"322354Z\" is not the time"),
    "two": ("KBUF 312354Z=\nKROC 312354Z=", "goes on after the = that ends a report: \"KROC\""),
    "long": ("KBUF 312354Z " + 5000 * "A", "the text has 5013 bytes; a report has 4096 at most"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_text_that_is_refused(case):
    text, message = REFUSED[case]
    with pytest.raises(MesonetError) as error:
        mesonet.parse_metar(text)
    assert message in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize("given", [b"KBUF 312354Z", None, 5])
def test_a_type_that_is_refused(given):
    with pytest.raises(TypeError, match="a report is a text; got"):
        mesonet.parse_metar(given)
