//! The METAR parser against others, report by report: what the Aviation Weather Center decoded
//! beside each report of its table, and what the crate `weather-reports` reads.
//!
//! Every disagreement must fall into a class that says why; the counts of the classes are asserted,
//! so that a change on either side shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use flate2::read::GzDecoder;
use mesonet::feed::metar::{
    Altimeter, DistanceUnit, Intensity, Metar, MetarWind, SkyCover, SpeedUnit, Weather, WindFrom,
};
use mesonet::feed::{read_awc_csv, read_bulletins};
use mesonet::parse_instant;
use weather_reports::tokens;

const AWC_TABLES: [&str; 7] = [
    "2022-10-22T0253Z",
    "2022-10-22T1913Z",
    "2022-10-23T0050Z",
    "2022-10-23T0953Z",
    "2022-10-23T1040Z",
    "2022-10-23T1118Z",
    "2022-10-23T1137Z",
];
const REWRITTEN_TABLES: [&str; 6] = ["1732Z", "1922Z", "1930Z", "1942Z", "2015Z", "2119Z"];
const KTPA: &str = "ktpa_weather-reports_0.1.5.txt.gz";

fn open(name: &str) -> impl BufRead + use<> {
    let path = format!("{}/../tests/data/metar/{name}", env!("CARGO_MANIFEST_DIR"));
    BufReader::new(GzDecoder::new(BufReader::new(File::open(path).unwrap())))
}

/// A value to compare: a number, or a text for what has parts.
#[derive(Clone, Debug)]
enum Value {
    Number(f64),
    Text(String),
}

/// How often two readers agree on a field, and why they do not.
#[derive(Default)]
struct Field {
    compared: u32,
    agree: u32,
    reasons: BTreeMap<&'static str, (u32, String)>,
}

/// The comparison of all fields of all reports.
#[derive(Default)]
struct Comparison(BTreeMap<&'static str, Field>);

/// A disagreement, for the rule that gives its reason.
struct Disagreement<'a> {
    field: &'static str,
    ours: Option<&'a Value>,
    theirs: Option<&'a Value>,
    raw: &'a str,
}

impl Disagreement<'_> {
    fn only_ours(&self) -> bool {
        self.theirs.is_none()
    }

    fn only_theirs(&self) -> bool {
        self.ours.is_none()
    }

    fn has(&self, text: &str) -> bool {
        self.raw.contains(text)
    }

    /// Whether our value is this number.
    fn is(&self, number: f64) -> bool {
        matches!(self.ours, Some(Value::Number(ours)) if *ours == number)
    }

    /// Whether a wind stands in the remarks or in the forecast.
    fn has_wind_later(&self) -> bool {
        let winds =
            self.raw.split(' ').filter(|group| group.ends_with("KT") || group.ends_with("MPS"));
        winds.count() > 1
    }
}

impl Comparison {
    fn compare(
        &mut self,
        field: &'static str,
        raw: &str,
        (ours, theirs): (Option<Value>, Option<Value>),
        tolerance: f64,
        reason: impl Fn(&Disagreement<'_>) -> &'static str,
    ) {
        let agree = match (&ours, &theirs) {
            (None, None) => return,
            (Some(Value::Number(ours)), Some(Value::Number(theirs))) => {
                (ours - theirs).abs() <= tolerance
            }
            (Some(Value::Text(ours)), Some(Value::Text(theirs))) => ours == theirs,
            _ => false,
        };
        let tally = self.0.entry(field).or_default();
        tally.compared += 1;
        if agree {
            tally.agree += 1;
            return;
        }
        let (ours, theirs) = (ours.as_ref(), theirs.as_ref());
        let reason = reason(&Disagreement { field, ours, theirs, raw });
        let (count, examples) = tally.reasons.entry(reason).or_default();
        *count += 1;
        if *count <= 8 {
            writeln!(examples, "      ours {ours:?} theirs {theirs:?} in {raw}").unwrap();
        }
    }

    /// One line for each field and one for each reason, as it is asserted.
    fn table(&self) -> String {
        let mut table = String::new();
        for (name, field) in &self.0 {
            writeln!(table, "{name}: {} of {}", field.agree, field.compared).unwrap();
            for (reason, (count, _)) in &field.reasons {
                writeln!(table, "    {count} {reason}").unwrap();
            }
        }
        table
    }

    fn assert(&self, expected: &str) {
        let table = self.table();
        if table.trim() != expected.trim() {
            for (name, field) in &self.0 {
                for (reason, (_, examples)) in &field.reasons {
                    println!("{name}: {reason}\n{examples}");
                }
            }
            panic!("the table of agreement is now\n{table}");
        }
    }
}

fn number(value: Option<f64>) -> Option<Value> {
    value.map(Value::Number)
}

fn text(value: String) -> Option<Value> {
    (!value.is_empty()).then_some(Value::Text(value))
}

fn flag(value: bool) -> Option<Value> {
    text(if value { "yes".to_owned() } else { String::new() })
}

fn tenths(value: Option<i16>) -> Option<Value> {
    number(value.map(|tenths| f64::from(tenths) / 10.0))
}

/// Weather with each phenomenon apart and without what is over, as the center writes it: "-RA -DZ"
/// for -RADZ.
fn weather_apart<'a>(weather: impl Iterator<Item = &'a Weather>) -> String {
    let mut groups = Vec::new();
    for weather in weather.filter(|weather| !weather.recent) {
        let descriptors = ["MI", "PR", "BC", "DR", "BL", "SH", "TS", "FZ"];
        let (before, phenomena): (Vec<_>, Vec<_>) =
            weather.codes().partition(|code| descriptors.contains(code));
        let sign = match weather.intensity {
            Intensity::Plain => "",
            Intensity::Light => "-",
            Intensity::Heavy => "+",
        };
        let vicinity = if weather.in_vicinity { "VC" } else { "" };
        let head = format!("{sign}{vicinity}{}", before.concat());
        if phenomena.is_empty() {
            groups.push(head);
        } else {
            groups.extend(phenomena.iter().map(|phenomenon| format!("{head}{phenomenon}")));
        }
    }
    groups.join(" ")
}

fn knots(wind: &MetarWind, speed: Option<u16>) -> Option<Value> {
    number(speed.map(|speed| {
        let speed = f64::from(speed);
        match wind.unit {
            SpeedUnit::Knot => speed,
            SpeedUnit::MetrePerSecond => speed * 3600.0 / 1852.0,
            SpeedUnit::KilometrePerHour => speed / 1.852,
        }
    }))
}

#[test]
fn the_center_s_own_decoding_agrees() {
    let mut comparison = Comparison::default();
    let mut unread = 0;
    for table in AWC_TABLES {
        let mut input = open(&format!("awc_metars_cache_{table}.csv.gz"));
        // Older exports have lines before the header.
        let mut content = String::new();
        input.read_to_string(&mut content).unwrap();
        let content = &content[content.find("raw_text").unwrap()..];
        let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(content.as_bytes());
        let names = rows.headers().unwrap().clone();
        for row in rows.records() {
            let row = row.unwrap();
            match Metar::parse(&row[0]) {
                Ok(metar) => compare_with_the_center(&mut comparison, &metar, &names, &row),
                Err(_) => unread += 1,
            }
        }
    }
    assert_eq!(unread, 7);
    comparison.assert(CENTER);
}

fn compare_with_the_center(
    comparison: &mut Comparison,
    metar: &Metar,
    names: &csv::StringRecord,
    row: &csv::StringRecord,
) {
    let raw = &row[0];
    let column = |name: &str| {
        let at = names.iter().position(|other| other == name).unwrap();
        row.get(at).unwrap_or_default()
    };
    let theirs = |name: &str| number(column(name).parse().ok());
    let their_flag = |name: &str| flag(column(name) == "TRUE");
    let remarks = &metar.remarks;
    let mut compare = |field, ours, theirs, tolerance| {
        comparison.compare(field, raw, (ours, theirs), tolerance, why_the_center_differs);
    };
    let observed = parse_instant(column("observation_time")).unwrap();
    compare("time", text(metar.time_ms(observed).to_string()), text(observed.to_string()), 0.0);
    compare(
        "station",
        text(metar.station.as_str().to_owned()),
        text(column("station_id").to_owned()),
        0.0,
    );
    compare("temperature", tenths(metar.air_temperature_tenths_c()), theirs("temp_c"), 1e-6);
    compare(
        "dew point",
        tenths(metar.dew_point_temperature_tenths_c()),
        theirs("dewpoint_c"),
        1e-6,
    );
    // The center has VRB as direction 0.
    let direction = metar.wind.and_then(|wind| match wind.from {
        WindFrom::Degrees(degrees) => Some(f64::from(degrees)),
        WindFrom::Variable => Some(0.0),
        WindFrom::Missing => None,
    });
    compare("wind direction", number(direction), theirs("wind_dir_degrees"), 0.0);
    let speed = metar.wind.and_then(|wind| knots(&wind, wind.speed));
    compare("wind speed", speed, theirs("wind_speed_kt"), 0.5);
    let gust = metar.wind.and_then(|wind| knots(&wind, wind.gust));
    compare("wind gust", gust, theirs("wind_gust_kt"), 0.5);
    // 9999 and CAVOK are 6.21 miles there, 9999 m.
    let miles = metar.visibility.map(|visibility| match visibility.unit {
        DistanceUnit::StatuteMile => visibility.distance,
        DistanceUnit::Metre => visibility.distance.min(9999.0) / 1609.344,
    });
    compare("visibility", number(miles), theirs("visibility_statute_mi"), 0.005_001);
    // An inch is 33.8667 hPa there.
    let inches = metar.altimeter.map(|altimeter| match altimeter {
        Altimeter::HundredthsInchHg(hundredths) => f64::from(hundredths) / 100.0,
        Altimeter::Hectopascal(hpa) => f64::from(hpa) / 33.8667,
    });
    compare("altimeter", number(inches), theirs("altim_in_hg"), 0.002);
    let slp = metar.sea_level_pressure_tenths_hpa().map(|tenths| f64::from(tenths) / 10.0);
    compare("sea-level pressure", number(slp), theirs("sea_level_pressure_mb"), 1e-6);
    compare("corrected", flag(metar.revision > 0), their_flag("corrected"), 0.0);
    compare("auto", flag(metar.auto), their_flag("auto"), 0.0);
    let outages = remarks.outages;
    compare(
        "automated station",
        flag(remarks.automated.is_some()),
        their_flag("auto_station"),
        0.0,
    );
    let maintenance = their_flag("maintenance_indicator_on");
    compare("maintenance", flag(outages.maintenance), maintenance, 0.0);
    compare("TSNO", flag(outages.lightning), their_flag("lightning_sensor_off"), 0.0);
    compare("FZRANO", flag(outages.freezing_rain), their_flag("freezing_rain_sensor_off"), 0.0);
    let present_weather = their_flag("present_weather_sensor_off");
    compare("PWINO", flag(outages.present_weather), present_weather, 0.0);
    let weather = weather_apart(metar.weather.iter());
    compare("weather", text(weather), text(column("wx_string").to_owned()), 0.0);
    compare("sky", text(sky_of_four(metar)), text(their_sky(names, row)), 0.0);
    let vertical = metar.sky.iter().find(|layer| layer.cover == SkyCover::Obscured);
    let vertical = vertical.and_then(|layer| layer.base_ft).map(f64::from);
    compare("vertical visibility", number(vertical), theirs("vert_vis_ft"), 0.0);
    let tendency = remarks.pressure_tendency.map(|tendency| tendency.change_tenths_hpa);
    compare("pressure tendency", tenths(tendency), theirs("three_hr_pressure_tendency_mb"), 1e-6);
    compare("maximum of 6 h", tenths(remarks.max_6h_tenths_c), theirs("maxT_c"), 1e-6);
    compare("minimum of 6 h", tenths(remarks.min_6h_tenths_c), theirs("minT_c"), 1e-6);
    compare("maximum of 24 h", tenths(remarks.max_24h_tenths_c), theirs("maxT24hr_c"), 1e-6);
    compare("minimum of 24 h", tenths(remarks.min_24h_tenths_c), theirs("minT24hr_c"), 1e-6);
    // A trace, which is 0000 in the report, is 0.005 in there.
    let inches = |hundredths: Option<u16>| {
        number(hundredths.map(|hundredths| match hundredths {
            0 => 0.005,
            hundredths => f64::from(hundredths) / 100.0,
        }))
    };
    let six_group = |minutes| {
        let due = metar.six_group_minutes() == Some(minutes);
        inches(remarks.six_group_hundredths_in.filter(|_| due))
    };
    let hourly = inches(remarks.hourly_precipitation_hundredths_in);
    compare("precipitation", hourly, theirs("precip_in"), 1e-6);
    compare("precipitation of 3 h", six_group(180), theirs("pcp3hr_in"), 1e-6);
    compare("precipitation of 6 h", six_group(360), theirs("pcp6hr_in"), 1e-6);
    let daily = inches(remarks.daily_precipitation_hundredths_in);
    compare("precipitation of 24 h", daily, theirs("pcp24hr_in"), 1e-6);
    let depth = number(remarks.snow_depth_in.map(f64::from));
    compare("snow depth", depth, theirs("snow_in"), 1e-6);
}

/// The first four layers as the center names them; those without an amount are left out there, and
/// the base of an obscured sky stands elsewhere.
fn sky_of_four(metar: &Metar) -> String {
    let layers = metar.sky.iter().filter(|layer| layer.cover != SkyCover::Missing).map(|layer| {
        let cover = match layer.cover {
            SkyCover::SkyClear => "SKC",
            SkyCover::Few => "FEW",
            SkyCover::Scattered => "SCT",
            SkyCover::Broken => "BKN",
            SkyCover::Overcast => "OVC",
            SkyCover::Obscured => return "OVX".to_owned(),
            _ => "CLR",
        };
        layer.base_ft.map_or(cover.to_owned(), |base_ft| format!("{cover} {base_ft}"))
    });
    layers.take(4).collect::<Vec<_>>().join(", ")
}

fn their_sky(names: &csv::StringRecord, row: &csv::StringRecord) -> String {
    let covers = (0..names.len()).filter(|&at| &names[at] == "sky_cover");
    let layers = covers.map(|at| (row[at].to_owned(), row[at + 1].to_owned()));
    let layers = layers.filter(|(cover, _)| !cover.is_empty() && cover != "CAVOK");
    let layers = layers.map(|(cover, base)| match (cover.as_str(), base.as_str()) {
        ("OVX", _) | (_, "") => cover,
        (cover, base) => format!("{cover} {base}"),
    });
    layers.collect::<Vec<_>>().join(", ")
}

fn why_the_center_differs(case: &Disagreement<'_>) -> &'static str {
    match case.field {
        "altimeter" if case.has(" Q") && case.has(" A2") => "two settings: we take the first",
        "corrected" if case.has(" CCA ") => "the center has no CCA here",
        "temperature" | "dew point" if case.only_ours() && case.has("///") => {
            "one of the two is missing: the center drops both"
        }
        "temperature" | "dew point" if case.only_theirs() && case.has("/") => {
            "glued to the group before it: we lose the group"
        }
        "maximum of 6 h" | "minimum of 6 h" if case.has("/// Q") => {
            "the center takes the digits of Q1017 for the group"
        }
        "maximum of 24 h" | "minimum of 24 h" if case.only_ours() && case.is(0.0) => {
            "0.0 is left out by the center"
        }
        "maximum of 6 h" | "minimum of 6 h" if case.only_theirs() && case.has_wind_later() => {
            "the center takes a second wind, 11026KT, for the group"
        }
        "precipitation of 3 h" if case.only_ours() && case.has(" 60") => {
            "the center's column is empty, the group is there"
        }
        "pressure tendency" if case.only_ours() && case.has(" 5400") => {
            "steady: left out by the center"
        }
        "pressure tendency" if case.has(" 56125") => "a fall of 12.5 hPa is 0.0 at the center",
        "pressure tendency" if case.has("NO CARRIER") => "line noise: we read no 7 as a tendency",
        "sea-level pressure" if case.has("K1MW") => "10 or 9 with a false altimeter setting",
        "sea-level pressure" if case.only_ours() && case.has("/N") => {
            "after words with a slash: lost by the center"
        }
        "sky" if case.has("///") => "an amount without a height: left out by the center",
        "sky" if case.has("FEW018SCT080") || case.has("9999FEW") => {
            "glued to the group before it: we lose the group"
        }
        "visibility" if case.has("NDV") => "NDV behind metres: unknown to the center",
        "visibility" if case.has("214V274") => "the center takes a digit of the group before",
        "visibility" if case.only_ours() && case.has("10 SM") => "10 SM: unknown to the center",
        "visibility" if case.only_theirs() && case.has("4000E") => {
            "only one direction: we take none"
        }
        "visibility" if case.only_theirs() => "a garbled group: the center guesses",
        "weather" if case.has("-UP") => "the center drops the sign of -UP",
        "weather" if case.has("BCFG") || case.has("PRFG") => "the center reorders the groups",
        "weather" if case.has("RE") => "the center takes a part of recent weather as present",
        "weather" if case.has("CBRA/") => "the center takes a word after the body as weather",
        "weather" if case.has("VCTSSH") => "the center splits VCTSSH",
        "weather" if case.has("SHSNRAGS") => "the center cuts the text off",
        "weather" if case.only_theirs() => {
            "the center takes a part of NOISG, of BRN017TCU, as weather"
        }
        "wind direction" | "wind speed" if case.has("G//KT") => "a gust without a value",
        "wind speed" if case.only_ours() && case.has(" ///") => {
            "no direction: the center drops both"
        }
        "wind gust" if case.has("26MPS") => "the center rounds 50.54 kt to 50",
        "wind direction" | "wind speed" if case.only_theirs() && case.raw.starts_with("HS") => {
            "no unit: we do not guess"
        }
        "wind direction" | "wind speed" | "wind gust" if case.has("12/92000013") => {
            "a garbled group: the center finds 00013G23KT in it"
        }
        _ => "UNEXPLAINED",
    }
}

/// Field, reports in which it agrees, of those in which one side has it; below it the reasons.
const CENTER: &str = "
FZRANO: 484 of 484
PWINO: 314 of 314
TSNO: 593 of 593
altimeter: 31436 of 31440
    4 two settings: we take the first
auto: 20607 of 20607
automated station: 18684 of 18684
corrected: 23 of 26
    3 the center has no CCA here
dew point: 33096 of 33104
    4 glued to the group before it: we lose the group
    4 one of the two is missing: the center drops both
maintenance: 2525 of 2525
maximum of 24 h: 84 of 86
    2 0.0 is left out by the center
maximum of 6 h: 1185 of 1202
    16 the center takes a second wind, 11026KT, for the group
    1 the center takes the digits of Q1017 for the group
minimum of 24 h: 80 of 86
    6 0.0 is left out by the center
minimum of 6 h: 1185 of 1276
    90 the center takes a second wind, 11026KT, for the group
    1 the center takes the digits of Q1017 for the group
precipitation: 963 of 963
precipitation of 3 h: 85 of 94
    9 the center's column is empty, the group is there
precipitation of 6 h: 137 of 137
pressure tendency: 3931 of 3947
    1 a fall of 12.5 hPa is 0.0 at the center
    1 line noise: we read no 7 as a tendency
    14 steady: left out by the center
sea-level pressure: 11228 of 11233
    2 10 or 9 with a false altimeter setting
    3 after words with a slash: lost by the center
sky: 26997 of 27068
    69 an amount without a height: left out by the center
    2 glued to the group before it: we lose the group
snow depth: 3 of 3
station: 33714 of 33714
temperature: 33240 of 33280
    4 glued to the group before it: we lose the group
    36 one of the two is missing: the center drops both
time: 33714 of 33714
vertical visibility: 166 of 166
visibility: 30563 of 30742
    3 10 SM: unknown to the center
    168 NDV behind metres: unknown to the center
    5 a garbled group: the center guesses
    2 only one direction: we take none
    1 the center takes a digit of the group before
weather: 3469 of 3494
    1 the center cuts the text off
    10 the center drops the sign of -UP
    6 the center reorders the groups
    1 the center splits VCTSSH
    2 the center takes a part of NOISG, of BRN017TCU, as weather
    4 the center takes a part of recent weather as present
    1 the center takes a word after the body as weather
wind direction: 33244 of 33250
    1 a garbled group: the center finds 00013G23KT in it
    1 a gust without a value
    4 no unit: we do not guess
wind gust: 3573 of 3575
    1 a garbled group: the center finds 00013G23KT in it
    1 the center rounds 50.54 kt to 50
wind speed: 33244 of 33264
    1 a garbled group: the center finds 00013G23KT in it
    1 a gust without a value
    14 no direction: the center drops both
    4 no unit: we do not guess
";

#[test]
fn weather_reports_agrees() {
    let mut comparison = Comparison::default();
    let (mut reports, mut theirs_unread) = (0, 0);
    let mut visit = |raw: &str, metar: &Metar| {
        reports += 1;
        match weather_reports::parse::metar(raw) {
            Ok(theirs) => compare_with_weather_reports(&mut comparison, raw, metar, &theirs),
            Err(_) => theirs_unread += 1,
        }
    };
    for table in AWC_TABLES {
        let input = open(&format!("awc_metars_cache_{table}.csv.gz"));
        read_awc_csv(input, |item| visit(item.raw_text, &item.metar)).unwrap();
    }
    for table in REWRITTEN_TABLES {
        let input = open(&format!("liveairdata_metars_20240803T{table}.csv.gz"));
        read_awc_csv(input, |item| visit(item.raw_text, &item.metar)).unwrap();
    }
    read_bulletins(open(KTPA), 0, |item| visit(item.raw_text, &item.metar)).unwrap();
    // It reads most of what it does not know as words, and refuses the rest.
    assert_eq!((reports, theirs_unread), (72_061, 537));
    comparison.assert(WEATHER_REPORTS);
}

fn compare_with_weather_reports(
    comparison: &mut Comparison,
    raw: &str,
    metar: &Metar,
    theirs: &tokens::MetarReport<'_>,
) {
    let mut compare = |field, ours, theirs, tolerance| {
        comparison.compare(field, raw, (ours, theirs), tolerance, why_weather_reports_differs);
    };
    compare(
        "station",
        text(metar.station.as_str().to_owned()),
        text(theirs.identifier.to_owned()),
        0.0,
    );
    let time = theirs.observation_time.map(|at| (at.day_of_month, at.time.hour, at.time.minute));
    compare(
        "time",
        text(format!("{:?}", (metar.day, metar.hour, metar.minute))),
        time.and_then(|time| text(format!("{time:?}"))),
        0.0,
    );
    let flags = &theirs.observation_flags;
    compare("auto", flag(metar.auto), flag(flags.contains(&tokens::ObservationFlag::Auto)), 0.0);
    compare("cavok", flag(metar.cavok), flag(theirs.cavok), 0.0);
    // A direction of VRB and one of /// are both none there.
    let direction = metar.wind.and_then(|wind| match wind.from {
        WindFrom::Degrees(degrees) => Some(f64::from(degrees)),
        WindFrom::Variable | WindFrom::Missing => None,
    });
    let their_direction =
        theirs.wind.and_then(|wind| wind.direction).map(|angle| angle.value.to_degrees());
    compare("wind direction", number(direction), number(their_direction), 1e-6);
    // Velocities are in m/s there.
    let their_knots = |speed: f64| speed * 3600.0 / 1852.0;
    let their_speed = theirs.wind.and_then(|wind| wind.speed).map(|speed| their_knots(speed.value));
    let speed = metar.wind.and_then(|wind| knots(&wind, wind.speed));
    compare("wind speed", speed, number(their_speed), 1e-3);
    let their_gust =
        theirs.wind.and_then(|wind| wind.peak_gust).map(|speed| their_knots(speed.value));
    let gust = metar.wind.and_then(|wind| knots(&wind, wind.gust));
    compare("wind gust", gust, number(their_gust), 1e-3);
    let turns = metar.wind.and_then(|wind| wind.turns_between);
    let their_turns = theirs.wind.and_then(|wind| wind.variance).map(|(from, to)| {
        (from.value.to_degrees().round() as u16, to.value.to_degrees().round() as u16)
    });
    compare(
        "wind turns",
        turns.and_then(|turns| text(format!("{turns:?}"))),
        their_turns.and_then(|turns| text(format!("{turns:?}"))),
        0.0,
    );
    // 9999 is 9999 m there.
    let metres =
        metar.visibility.filter(|_| !metar.cavok).map(|visibility| match visibility.unit {
            DistanceUnit::StatuteMile => visibility.distance * 1609.344,
            DistanceUnit::Metre => visibility.distance.min(9999.0),
        });
    let their_metres = theirs.visibility.and_then(|visibility| visibility.prevailing);
    let their_metres = their_metres.map(|raw| raw.distance.value);
    compare("visibility", number(metres), number(their_metres), 1e-6);
    let mut weather: Vec<_> =
        weather_apart(metar.weather.iter()).split(' ').map(str::to_owned).collect();
    weather.sort_unstable();
    let mut their_weather: Vec<_> = theirs.weather.iter().flat_map(their_codes).collect();
    their_weather.sort_unstable();
    compare("weather", text(weather.join(" ")), text(their_weather.join(" ")), 0.0);
    let sky: Vec<_> = metar
        .sky
        .iter()
        .filter(|layer| layer.cover != SkyCover::Missing)
        .map(|layer| {
            let cover = match layer.cover {
                SkyCover::SkyClear => "SKC",
                SkyCover::Clear => "CLR",
                SkyCover::NoSignificantCloud => "NSC",
                SkyCover::NoCloudDetected => "NCD",
                SkyCover::Few => "FEW",
                SkyCover::Scattered => "SCT",
                SkyCover::Broken => "BKN",
                SkyCover::Overcast => "OVC",
                SkyCover::Obscured => "VV",
                SkyCover::Missing => "///",
            };
            format!("{cover} {:?}", layer.base_ft)
        })
        .collect();
    let their_sky: Vec<_> = theirs
        .cloud_cover
        .iter()
        .map(|layer| {
            let base_ft = layer.base.map(|base| (base.value / 0.3048).round() as u32);
            format!("{} {base_ft:?}", <&str>::from(layer.coverage))
        })
        .collect();
    compare("sky", text(sky.join(", ")), text(their_sky.join(", ")), 0.0);
    let celsius = |kelvin: f64| number(Some(kelvin - 273.15));
    let temperatures = theirs.temperatures;
    compare(
        "temperature",
        number(metar.temperature_c.map(f64::from)),
        temperatures.and_then(|both| celsius(both.air.value)),
        1e-6,
    );
    compare(
        "dew point",
        number(metar.dew_point_c.map(f64::from)),
        temperatures.and_then(|both| both.dewpoint).and_then(|dew_point| celsius(dew_point.value)),
        1e-6,
    );
    // Version 0.1.5 has the units the wrong way round: A2992 is 2992 hPa there, and Q1013 is 10.13
    // inches of mercury. The digits can be had back.
    let digits = metar.altimeter.map(|altimeter| match altimeter {
        Altimeter::HundredthsInchHg(digits) | Altimeter::Hectopascal(digits) => digits,
    });
    let inches = matches!(metar.altimeter, Some(Altimeter::HundredthsInchHg(_)));
    let their_digits = theirs
        .pressure
        .map(|pressure| if inches { pressure.value / 100.0 } else { pressure.value / 33.863_89 });
    compare("altimeter", number(digits.map(f64::from)), number(their_digits), 0.01);
}

fn their_codes(weather: &tokens::Weather) -> Vec<String> {
    let head = format!(
        "{}{}{}",
        <&str>::from(weather.intensity),
        if weather.vicinity { "VC" } else { "" },
        weather.descriptor.map_or("", <&str>::from)
    );
    match &weather.condition {
        None => vec![head],
        Some(tokens::Condition::Precipitation(all)) => {
            all.iter().map(|&code| format!("{head}{}", <&str>::from(code))).collect()
        }
        Some(tokens::Condition::Obscuration(code)) => {
            vec![format!("{head}{}", <&str>::from(*code))]
        }
        Some(tokens::Condition::Other(code)) => vec![format!("{head}{}", <&str>::from(*code))],
    }
}

fn why_weather_reports_differs(case: &Disagreement<'_>) -> &'static str {
    match case.field {
        "temperature" | "dew point" if case.only_ours() => {
            "15/09 behind 6000 or ////// is a fraction of the visibility there"
        }
        "visibility" if case.ours.is_some() && case.theirs.is_some() => {
            "15/09 behind 6000 or ////// is a fraction of the visibility there"
        }
        "visibility" if case.only_ours() && case.has("NDV") => "NDV behind metres: unknown there",
        "altimeter" if case.has(" QFE ") => "the station pressure is the altimeter setting there",
        "wind direction" | "wind speed" | "wind gust" if case.only_theirs() => {
            "too few digits or a fraction of a knot: we do not guess"
        }
        "weather" if case.has("VCTSSH") => "VCTSSH is two phenomena there",
        "sky" if case.has("BKN 24/21") => "an amount alone: we lose the group",
        "sky" if case.has("FW023") => "FW for FEW: we lose the group",
        _ if case.only_theirs() || case.field == "sky" => {
            "a garbled group or one without its blank: we lose the group"
        }
        _ => "UNEXPLAINED",
    }
}

const WEATHER_REPORTS: &str = "
altimeter: 67503 of 67517
    6 a garbled group or one without its blank: we lose the group
    8 the station pressure is the altimeter setting there
auto: 37676 of 37676
cavok: 7073 of 7073
dew point: 70173 of 70406
    224 15/09 behind 6000 or ////// is a fraction of the visibility there
    9 a garbled group or one without its blank: we lose the group
sky: 58954 of 58968
    1 FW for FEW: we lose the group
    12 a garbled group or one without its blank: we lose the group
    1 an amount alone: we lose the group
station: 71524 of 71524
temperature: 70480 of 70713
    224 15/09 behind 6000 or ////// is a fraction of the visibility there
    9 a garbled group or one without its blank: we lose the group
time: 71524 of 71524
visibility: 58621 of 59096
    224 15/09 behind 6000 or ////// is a fraction of the visibility there
    242 NDV behind metres: unknown there
    9 a garbled group or one without its blank: we lose the group
weather: 6468 of 6469
    1 VCTSSH is two phenomena there
wind direction: 65805 of 65808
    3 too few digits or a fraction of a knot: we do not guess
wind gust: 7859 of 7861
    2 too few digits or a fraction of a knot: we do not guess
wind speed: 70558 of 70561
    3 too few digits or a fraction of a knot: we do not guess
wind turns: 5553 of 5553
";
