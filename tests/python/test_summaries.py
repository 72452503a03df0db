"""Summaries of a year of one airport, against polars over the readings that bulk export gives."""

import io
import json
import math
import urllib.request
from datetime import date, datetime, timedelta
from pathlib import Path

import mesonet
import polars as pl
import pytest
from child import PATIENCE_S, run, serving

KTPA = Path(__file__).parents[1] / "data" / "metar" / "ktpa_weather-reports_0.1.5.txt.gz"
# Eastern standard time, the whole year.
OFFSET = timedelta(hours=-5)
REJECTED = ["Suppressed", "Missing", "Error"]
DOUBTED = ["Doubtful", "Inconsistent", "Instrumentation"]
# The verdicts, worst first.
RANKS = [*REJECTED, *DOUBTED, "Good", "Unknown"]
DAYS = 364
NAMES = "airTemperature,dewPointTemperature,windSpeed,precipitation,visibility"


@pytest.fixture(scope="module")
def year(binary, tmp_path_factory):
    """The readings as a frame, and a function that asks for summaries."""
    folder = tmp_path_factory.mktemp("summaries")
    data = folder / "record"
    run(binary, "ingest", "--data", data, KTPA)
    command = [binary, "--listen", "127.0.0.1:0", "--data", data]
    with serving(*command, "--rate-requests", "0", "--assume-plan", "commercial", log=folder / "log") as origin:
        station = next(iter(json.loads(ask(f"{origin}/api/v1/stations/map/details?search=KTPA"))))

        def summaries(query):
            path = f"{origin}/api/v1/stations/{station}/summary?utcOffset=-05:00&{query}"
            return json.loads(ask(path))["periods"]

        summaries.origin, summaries.station, summaries.data = origin, station, data
        yield readings(origin, station), summaries


def ask(address):
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
        return answer.read()


def readings(origin, station):
    """All readings that count, with the start and the end of their intervals at the place."""
    query = "start=2020-07-31T00:00:00Z&end=2021-08-02T00:00:00Z&qualifiers=true&pageSize=50000"
    pages, cursor = [], ""
    while cursor is not None:
        request = urllib.request.Request(
            f"{origin}/api/v1/historical/bulk?{query}{cursor}",
            data=json.dumps({"stationId": station}).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            pages.append(pl.read_csv(io.BytesIO(answer.read()), infer_schema_length=None))
            following = answer.headers["X-Next-Cursor"]
        cursor = following and f"&cursor={following}"
    assert len(pages) > 1
    local = pl.col("timestamp").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="ms") + OFFSET
    minutes = pl.col("interval_minutes")
    # An interval of whole hours ends at the full hour that is at most 20 minutes away.
    rounded = pl.col("local").dt.round("1h")
    is_near = ((pl.col("local") - rounded).abs() <= timedelta(minutes=20)) & (minutes > 0) & (minutes % 60 == 0)
    end = pl.when(is_near).then(rounded).otherwise("local")
    return (
        pl.concat(pages)
        .filter(pl.col("group_bucket_name").is_null() & ~pl.col("quality_base").is_in(REJECTED))
        .with_columns(local=local, rank=pl.col("quality_base").replace_strict(RANKS, range(8)))
        .with_columns(end=end)
        .with_columns(start=pl.col("end") - pl.duration(minutes=minutes))
    )


def at_its_time(frame):
    return frame.with_columns(day=pl.col("local").dt.date())


def within_a_day(frame):
    """The readings whose whole interval lies in one day."""
    last = pl.col("end") - timedelta(milliseconds=1)
    return frame.filter(pl.col("start").dt.date() == last.dt.date()).with_columns(day=pl.col("start").dt.date())


def of(frame, name, kind):
    return frame.filter((pl.col("observation_name") == name) & (pl.col("interval_type") == kind))


def by_day(frame, *columns):
    return {row[0]: row[1] if len(row) == 2 else row[1:] for row in frame.select("day", *columns).iter_rows()}


def days(summaries, query=f"names={NAMES}"):
    """The summaries of all days, in two parts, as an answer has an end."""
    halves = [("2020-08-01", "2021-01-31"), ("2021-02-01", "2021-07-30")]
    found = [day for first, last in halves for day in summaries(f"period=day&from={first}&to={last}&{query}")]
    assert len(found) == DAYS
    return {date.fromisoformat(day["name"]): day for day in found}


def compare(found, wanted, value):
    """Every day has the value of the oracle, or neither has one."""
    compared = 0
    for day, summary in found.items():
        ours, theirs = value(summary), wanted.get(day)
        if ours is None or theirs is None:
            assert ours == theirs, (day, ours, theirs)
        else:
            assert ours == pytest.approx(theirs, abs=1e-4), day
            compared += 1
    return compared


def member(*path):
    def of_day(summary):
        for name in path:
            summary = (summary or {}).get(name)
        return summary

    return of_day


@pytest.mark.parametrize("which", ["max", "min"])
def test_extremes_are_of_readings_and_groups(year, which):
    frame, summaries = year
    kind, best = which.capitalize(), getattr(pl.Expr, which)
    states = at_its_time(of(frame, "airTemperature", "Instantaneous"))
    groups = within_a_day(of(frame, "airTemperature", kind))
    of_all = by_day(pl.concat([states, groups]).group_by("day").agg(best(pl.col("value"))), "value")
    of_day = groups.filter((pl.col("interval_minutes") == 1440) & ~pl.col("quality_base").is_in(DOUBTED))
    alone = by_day(of_day.group_by("day").agg(best(pl.col("value"))), "value")
    assert len(alone) > 350
    found = days(summaries)
    value = member("variables", "airTemperature", which, "value")
    assert compare(found, of_all | alone, value) == DAYS
    # Without the group of 24 hours those of six hours and the readings would say the same of most days.
    rest = pl.concat([states, groups.filter(pl.col("interval_minutes") < 1440)])
    rest = by_day(rest.group_by("day").agg(best(pl.col("value"))), "value")
    assert sum(value(found[day]) == rest[day] for day in found) > 300
    for summary in found.values():
        extreme = summary["variables"]["airTemperature"][which]
        row = frame.filter(
            (pl.col("timestamp") == extreme["from"]["timestamp"])
            & (pl.col("observation_name") == "airTemperature")
            & (pl.col("interval_type") == extreme["from"]["intervalType"])
            & (pl.col("interval_minutes") == extreme["from"]["intervalMinutes"])
        ).row(0, named=True)
        assert (row["value"], row["quality_base"]) == (extreme["value"], extreme["quality"]["baseQuality"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [("airTemperature", "Instantaneous"), ("dewPointTemperature", "Instantaneous"), ("windSpeed", "Average"), ("visibility", "Instantaneous")],
)
def test_means_are_of_the_hours(year, name, kind):
    frame, summaries = year
    states = of(frame, name, kind).with_columns(hour=pl.col("local").dt.truncate("1h"))
    hours = states.group_by("hour").agg(pl.col("value").mean(), pl.len(), pl.col("rank").min())
    hours = hours.with_columns(day=pl.col("hour").dt.date()).group_by("day")
    daily = hours.agg(pl.col("value").mean(), pl.col("len").sum(), pl.col("rank").min(), hours=pl.len())
    found = days(summaries)
    assert compare(found, by_day(daily, "value"), member("variables", name, "mean", "value")) == DAYS
    assert compare(found, by_day(daily, "len"), member("variables", name, "mean", "from", "readings")) == DAYS
    percent = by_day(daily.with_columns(percent=(pl.col("hours") / 24 * 100).round(1)), "percent")
    assert compare(found, percent, member("variables", name, "mean", "coveragePercent")) == DAYS
    ranks = by_day(daily, "rank")
    for day, summary in found.items():
        assert summary["variables"][name]["mean"]["quality"]["baseQuality"] == RANKS[ranks[day]]


def amounts(frame):
    """The amounts of which no hour is in a longer one of the same day."""
    all_amounts = within_a_day(of(frame, "precipitation", "Cumulative")).with_row_index()
    hours = all_amounts.with_columns(
        hour=pl.datetime_ranges("start", "end", interval="1h", closed="left")
    ).explode("hour")
    longest = pl.col("interval_minutes").max().over("hour")
    taken = hours.with_columns(longest=longest).group_by("index").agg(pl.col("longest").max())
    taken = all_amounts.join(taken, on="index").filter(pl.col("interval_minutes") == pl.col("longest"))
    # One report for an interval: the last.
    return taken.sort("timestamp").unique(["start", "end"], keep="last")


def test_totals_count_nothing_twice_and_know_a_trace(year):
    frame, summaries = year
    is_trace = (pl.col("value").sum() == 0) & (pl.col("qualifier") == "trace").any()
    daily = amounts(frame).group_by("day").agg(pl.col("value").sum(), pl.len(), trace=is_trace)
    found = days(summaries)
    total = ("variables", "precipitation", "total")
    assert compare(found, by_day(daily, "value"), member(*total, "value")) == len(daily.filter(pl.col("day") <= date(2021, 7, 30)))
    compare(found, by_day(daily, "len"), member(*total, "from", "readings"))
    traces = {day for day, trace in by_day(daily, "trace").items() if trace and day in found}
    assert traces == {day for day, of_day in found.items() if member(*total, "qualifier")(of_day) == "trace"}
    assert len(traces) > 10


def test_the_wind_has_its_prevailing_sector_its_vector_and_its_peak(year):
    frame, summaries = year
    speeds = at_its_time(of(frame, "windSpeed", "Average"))
    directions = of(frame, "windDirection", "Average").select("timestamp", direction="value")
    winds = speeds.join(directions, on="timestamp", how="left")
    moving = winds.filter((pl.col("value") > 0) & pl.col("direction").is_not_null())
    sector = ((pl.col("direction") + 15) / 30).floor().cast(pl.Int64) % 12
    sectors = moving.with_columns(sector=sector).group_by("day", "sector").agg(pl.len(), pl.col("value").sum())
    first = sectors.sort("len", "value", descending=True).group_by("day", maintain_order=True).first()
    degrees = pl.when(pl.col("sector") == 0).then(360).otherwise(pl.col("sector") * 30)
    found = days(summaries)
    prevailing = by_day(first.with_columns(degrees=degrees), "degrees")
    assert compare(found, prevailing, member("wind", "prevailing", "direction")) > 350
    radians, known = pl.col("direction").radians(), winds.filter((pl.col("value") == 0) | pl.col("direction").is_not_null())
    calm = pl.when(pl.col("value") == 0).then(0.0)
    vector = known.group_by("day").agg(
        east=calm.otherwise(pl.col("value") * radians.sin()).mean(),
        north=calm.otherwise(pl.col("value") * radians.cos()).mean(),
    )
    speed = by_day(vector.with_columns(speed=(pl.col("east") ** 2 + pl.col("north") ** 2).sqrt()), "speed")
    assert compare(found, speed, member("wind", "resultant", "speed")) == DAYS
    gusts = pl.concat([
        at_its_time(of(frame, "peakWindSpeed", "Instantaneous")),
        at_its_time(of(frame, "windGust", "Max").filter(pl.col("interval_minutes") < 60)),
        within_a_day(of(frame, "windGust", "Max").filter(pl.col("interval_minutes") >= 60)),
    ])  # fmt: skip
    peaks = by_day(gusts.group_by("day").agg(pl.col("value").max()), "value")
    assert compare(found, peaks, member("wind", "peak", "value")) > 150


def test_degree_days_are_of_the_extremes_and_months_of_their_days(year):
    frame, summaries = year
    found = days(summaries, f"names={NAMES}&degreeDayBase=18.3333")
    value = {
        which: {day: of_day["variables"]["airTemperature"][which]["value"] for day, of_day in found.items()}
        for which in ("max", "min")
    }
    mean = {day: (value["max"][day] + value["min"][day]) / 2 for day in found}
    heating = {day: max(18.3333 - of_day, 0) for day, of_day in mean.items()}
    cooling = {day: max(of_day - 18.3333, 0) for day, of_day in mean.items()}
    assert compare(found, heating, member("degreeDays", "heating")) == DAYS
    assert compare(found, cooling, member("degreeDays", "cooling")) == DAYS
    months = summaries(f"period=month&from=2020-08-01&to=2021-06-30&names={NAMES}&degreeDayBase=18.3333")
    assert len(months) == 11
    for month in months:
        own = [day for day in found if day.strftime("%Y-%m") == month["name"]]
        air = month["variables"]["airTemperature"]
        assert air["max"]["value"] == max(value["max"][day] for day in own)
        assert air["min"]["value"] == min(value["min"][day] for day in own)
        daily = [found[day]["variables"]["airTemperature"]["mean"]["value"] for day in own]
        assert air["mean"]["value"] == pytest.approx(sum(daily) / len(own), abs=2e-4)
        of_max = sum(value["max"][day] for day in own) / len(own)
        assert air["meanOfMax"]["value"] == pytest.approx(of_max, abs=1e-4)
        assert month["degreeDays"]["cooling"] == pytest.approx(sum(cooling[day] for day in own), abs=1e-3)
        total = [member("variables", "precipitation", "total", "value")(found[day]) or 0 for day in own]
        assert month["variables"]["precipitation"]["total"]["value"] == pytest.approx(sum(total), abs=1e-3)


def test_hours_are_of_their_readings(year):
    frame, summaries = year
    hours = summaries("period=hour&from=2021-01-01&to=2021-01-31&names=airTemperature")
    assert len(hours) == 31 * 24
    states = of(frame, "airTemperature", "Instantaneous").with_columns(hour=pl.col("local").dt.truncate("1h"))
    wanted = {row[0]: row[1:] for row in states.group_by("hour").agg(
        pl.col("value").max(), minimum=pl.col("value").min(), mean=pl.col("value").mean()
    ).iter_rows()}  # fmt: skip
    compared = 0
    for hour in hours:
        local = pl.Series([hour["start"]]).str.to_datetime("%Y-%m-%dT%H:%M:%SZ")[0] + OFFSET
        air = hour["variables"].get("airTemperature")
        if local in wanted:
            compared += 1
            found = (air["max"]["value"], air["min"]["value"], air["mean"]["value"])
            assert found == pytest.approx(wanted[local], abs=1e-4), local
        else:
            assert air is None or "mean" not in air
    assert compared > 730


def test_the_tables_of_the_client_and_of_a_record_are_what_the_service_says(year):
    frame, summaries = year
    origin, station, data = summaries.origin, summaries.station, summaries.data
    asked = {"tz": "America/New_York", "names": NAMES.split(","), "degree_day_base_c": 10}
    with mesonet.Client(origin) as client, mesonet.Record(data) as record:
        of_client = client.summary(station, "2020-09-01", "2020-09-30", **asked)
        of_record = record.summary(station, "2020-09-01", "2020-09-30", **asked)
        hours = client.summary(station, "2020-09-01", "2020-09-01", period="hour", utc_offset="-05:00")
        window = {"period": "window", "start": "2020-09-01T05:00Z", "end": "2020-09-02T05:00Z"}
        of_window = client.summary(station, **window)
        assert of_window.periods == record.summary(station, **window).periods
        many = client.summaries("2020-09-01", **asked)
        named = client.summaries("2020-09-01", station_ids=["KTPA"], **asked)
        nowhere = client.summaries("2020-09-01", regions=["AK"], **asked)
        of_all = record.summary(first="2020-09-01", **asked)
    assert of_client.periods == of_record.periods
    assert (len(of_client), of_client.period, of_client.utc_offset) == (30, "day", "-05:00")
    assert repr(of_client) == "<mesonet.Summaries: 30 days of 1 station>"
    assert [of for _, of in of_client.periods] == [
        day for day in summaries(f"from=2020-09-01&to=2020-09-30&names={NAMES}&degreeDayBase=10")
    ]
    assert many.periods == named.periods == of_all.periods == of_client.periods[:1]
    assert len(nowhere) == 0 and len(nowhere.values()) == 0 and len(nowhere.wind()) == 0
    assert len(hours) == 24
    values = of_client.values().to_polars()
    assert values.columns[:7] == ["station_id", "period", "start", "end", "variable", "unit", "count"]
    first = values.row(by_predicate=(pl.col("period") == "2020-09-01") & (pl.col("variable") == "airTemperature"), named=True)
    raw = of_client.periods[0][1]["variables"]["airTemperature"]
    for name in ("max", "min"):
        assert first[name] == raw[name]["value"]
        assert first[f"{name}_time"].isoformat() == raw[name]["from"]["timestamp"].replace("Z", "+00:00")
    assert (first["mean"], first["coverage_percent"]) == (raw["mean"]["value"], raw["mean"]["coveragePercent"])
    assert math.isnan(first["total"]) and first["total_quality"] == 0
    wind, winds = of_client.wind(), [of["wind"] for _, of in of_client.periods]
    peaks = [of["peak"]["value"] if "peak" in of else None for of in winds]
    assert [None if math.isnan(of) else of for of in wind["peak_kmh"].tolist()] == peaks
    assert 0 < peaks.count(None) < len(peaks)
    assert wind["readings"].tolist() == [of["readings"] for of in winds]
    assert of_client.degree_days()["base_c"].tolist() == [10.0] * 30
    rain = values.filter((pl.col("variable") == "precipitation") & pl.col("trace"))
    assert (rain["total"] == 0).all() and len(rain) > 0


def test_what_a_summary_cannot_be_of_is_refused(year):
    station, data = year[1].station, year[1].data
    refused = [
        ({"first": "2020-09-31"}, "first must be a date such as 2024-08-03; got '2020-09-31'"),
        ({"first": "2020-09-01", "last": "2020-08-01"}, "from must not be after to"),
        ({"first": "2020-09-01", "tz": "America/Ottawa"}, "'America/Ottawa' is not a zone of the tz database"),
        ({"first": "2020-09-01", "utc_offset": "EST"}, '"EST" is not an offset from UTC'),
        ({"first": "2020-09-01", "tz": "UTC", "utc_offset": "Z"}, "the days are given twice"),
        ({"period": "window"}, "a window needs start and end, and no dates"),
        ({"period": "year", "first": "2020-09-01"}, '"year"'),
        ({}, "summaries of each day need first, and no window"),
        ({"first": "2020-09-01", "names": ["heat"]}, '"heat"'),
        ({"station": "XXXX", "first": "2020-09-01"}, 'no station has the id "XXXX"'),
        ({"station": None, "first": "2020-09-01", "last": "2020-09-02"}, "for one day or window"),
    ]
    with mesonet.Record(data) as record:
        for arguments, text in refused:
            with pytest.raises(mesonet.MesonetError) as error:
                record.summary(**{"station": station} | arguments)
            assert text in str(error.value)
        with pytest.raises(TypeError):
            record.summary(station, datetime(2020, 9, 1))
