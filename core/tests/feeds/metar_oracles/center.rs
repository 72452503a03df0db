//! What the Aviation Weather Center decoded beside each report of its table.

use std::io::Read;

use mesonet::feed::metar::{Altimeter, DistanceUnit, Metar, SkyCover, WindFrom};
use mesonet::time::parse_instant;

use super::comparison::{Comparison, Disagreement, flag, number, tenths, text};
use super::{AWC_TABLES, knots, open, weather_apart};

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
            let observed = names.iter().position(|name| name == "observation_time").unwrap();
            match Metar::parse_beside(&row[0], parse_instant(&row[observed]).unwrap()) {
                Ok(metar) => compare_with_the_center(&mut comparison, &metar, &names, &row),
                Err(_) => unread += 1,
            }
        }
    }
    assert_eq!(unread, 5);
    comparison.assert(CENTER);
    let document = include_str!("../../../../docs/quality.md");
    for line in CENTER.lines().filter(|line| !line.starts_with(' ')) {
        if let Some((field, counts)) = line.split_once(": ") {
            let (agree, of) = counts.split_once(" of ").unwrap();
            let row = format!("| {field} | {agree} | {of} |");
            assert!(document.contains(&row), "docs/quality.md must contain {row}");
        }
    }
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

/// Returns the first four layers as the center names them; it omits those without an amount, and
/// puts the base of an obscured sky elsewhere.
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

/// Whether there is no blank between two groups, as in `FEW03027/20` and in `9999FEW023`.
fn is_glued(raw: &str) -> bool {
    let covers = ["FEW", "SCT", "BKN", "OVC", "NSC"];
    raw.split(' ').any(|group| {
        let layers = covers.iter().filter(|cover| group.contains(**cover)).count();
        let is_more = group.contains('/') && !group.contains("///") || group.starts_with("9999");
        layers > 1 || layers == 1 && is_more
    })
}

fn why_the_center_differs(case: &Disagreement<'_>) -> &'static str {
    match case.field {
        _ if case.has("HUEN 230930KT") => "a torn time: the center takes it for the wind",
        _ if case.has("231100Z,Z") => "a torn time: the center reads nothing behind it",
        "altimeter" if case.has(" Q") && case.has(" A2") => "two settings: we take the first",
        "corrected" if case.has(" CCA ") => "the center has no CCA here",
        "temperature" | "dew point" if case.only_ours() && case.has("///") => {
            "one of the two is missing: the center drops both"
        }
        "dew point" if case.only_ours() && case.has("28/ 23") => {
            "a blank in it: the center loses the dew point"
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
        "sky" | "visibility" if is_glued(case.raw) => {
            "glued to the group behind it: the center loses one or both"
        }
        "visibility" if case.has("NDV") => "NDV behind metres: unknown to the center",
        "visibility" if case.has("214V274") => "the center takes a digit of the group before",
        "visibility" if case.only_ours() && case.has("10 SM") => "10 SM: unknown to the center",
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
        "wind direction" if case.only_theirs() && case.has(" 000") => {
            "000 of a wind that blows: we have no direction"
        }
        "wind direction" | "wind speed" if case.has("G//KT") => "a gust without a value",
        "wind speed" if case.only_ours() && case.has(" ///") => {
            "no direction: the center drops both"
        }
        "wind gust" if case.has("26MPS") => "the center rounds 50.54 kt to 50",
        "wind direction" | "wind speed" | "wind gust" if case.has("12/92000013") => {
            "a garbled group: the center finds 00013G23KT in it"
        }
        _ => "UNEXPLAINED",
    }
}

/// Field, reports in which both agree, of those in which either side has it; below it the reasons.
const CENTER: &str = "
FZRANO: 484 of 484
PWINO: 314 of 314
TSNO: 593 of 593
altimeter: 31436 of 31442
    1 a torn time: the center reads nothing behind it
    1 a torn time: the center takes it for the wind
    4 two settings: we take the first
auto: 20607 of 20607
automated station: 18684 of 18684
corrected: 23 of 26
    3 the center has no CCA here
dew point: 33102 of 33107
    1 a blank in it: the center loses the dew point
    4 one of the two is missing: the center drops both
maintenance: 2525 of 2525
maximum of 24 h: 84 of 86
    2 0.0 is left out by the center
maximum of 6 h: 1185 of 1203
    1 a torn time: the center takes it for the wind
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
sky: 27000 of 27074
    69 an amount without a height: left out by the center
    5 glued to the group behind it: the center loses one or both
snow depth: 3 of 3
station: 33716 of 33716
temperature: 33246 of 33282
    36 one of the two is missing: the center drops both
time: 33716 of 33716
vertical visibility: 166 of 166
visibility: 30567 of 30745
    3 10 SM: unknown to the center
    168 NDV behind metres: unknown to the center
    5 a garbled group: the center guesses
    1 glued to the group behind it: the center loses one or both
    1 the center takes a digit of the group before
weather: 3468 of 3494
    1 the center cuts the text off
    10 the center drops the sign of -UP
    6 the center reorders the groups
    1 the center splits VCTSSH
    2 the center takes a part of NOISG, of BRN017TCU, as weather
    5 the center takes a part of recent weather as present
    1 the center takes a word after the body as weather
wind direction: 33209 of 33252
    40 000 of a wind that blows: we have no direction
    1 a garbled group: the center finds 00013G23KT in it
    1 a gust without a value
    1 a torn time: the center takes it for the wind
wind gust: 3573 of 3575
    1 a garbled group: the center finds 00013G23KT in it
    1 the center rounds 50.54 kt to 50
wind speed: 33249 of 33266
    1 a garbled group: the center finds 00013G23KT in it
    1 a gust without a value
    1 a torn time: the center takes it for the wind
    14 no direction: the center drops both
";
