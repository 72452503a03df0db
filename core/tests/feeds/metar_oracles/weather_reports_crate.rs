//! What the crate `weather-reports` reads.

use mesonet::feed::metar::{Altimeter, DistanceUnit, Metar, SkyCover, WindFrom};
use mesonet::feed::{read_awc_csv, read_bulletins};
use weather_reports::tokens;

use super::comparison::{Comparison, Disagreement, flag, number, text};
use super::{AWC_TABLES, knots, open, weather_apart};

const REWRITTEN_TABLES: [&str; 6] = ["1732Z", "1922Z", "1930Z", "1942Z", "2015Z", "2119Z"];
const KTPA: &str = "ktpa_weather-reports_0.1.5.txt.gz";

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
    assert_eq!((reports, theirs_unread), (72_063, 539));
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
    // It has no value for a direction of VRB or of ///.
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
    compare("sky", text(our_sky(metar)), text(their_sky(theirs)), 0.0);
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
    // inches of mercury. The digits can be recovered.
    let digits = metar.altimeter.map(|altimeter| match altimeter {
        Altimeter::HundredthsInchHg(digits) | Altimeter::Hectopascal(digits) => digits,
    });
    let inches = matches!(metar.altimeter, Some(Altimeter::HundredthsInchHg(_)));
    let their_digits = theirs
        .pressure
        .map(|pressure| if inches { pressure.value / 100.0 } else { pressure.value / 33.863_89 });
    compare("altimeter", number(digits.map(f64::from)), number(their_digits), 0.01);
}

fn our_sky(metar: &Metar) -> String {
    let layers: Vec<_> = metar
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
    layers.join(", ")
}

fn their_sky(theirs: &tokens::MetarReport<'_>) -> String {
    let layers: Vec<_> = theirs
        .cloud_cover
        .iter()
        .map(|layer| {
            let base_ft = layer.base.map(|base| (base.value / 0.3048).round() as u32);
            format!("{} {base_ft:?}", <&str>::from(layer.coverage))
        })
        .collect();
    layers.join(", ")
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
        "visibility" if case.only_ours() && case.has("4000E") => "only one direction: none there",
        "wind direction" if case.only_theirs() && case.has(" 000") => {
            "000 of a wind that blows: we have no direction"
        }
        "temperature" if case.has("FEW03027/20") => {
            "a digit of it is the height of the cloud there"
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
altimeter: 67506 of 67517
    3 a garbled group or one without its blank: we lose the group
    8 the station pressure is the altimeter setting there
auto: 37676 of 37676
cavok: 7073 of 7073
dew point: 70180 of 70406
    224 15/09 behind 6000 or ////// is a fraction of the visibility there
    2 a garbled group or one without its blank: we lose the group
sky: 58959 of 58968
    1 FW for FEW: we lose the group
    7 a garbled group or one without its blank: we lose the group
    1 an amount alone: we lose the group
station: 71524 of 71524
temperature: 70486 of 70713
    224 15/09 behind 6000 or ////// is a fraction of the visibility there
    1 a digit of it is the height of the cloud there
    2 a garbled group or one without its blank: we lose the group
time: 71524 of 71524
visibility: 58622 of 59098
    224 15/09 behind 6000 or ////// is a fraction of the visibility there
    242 NDV behind metres: unknown there
    8 a garbled group or one without its blank: we lose the group
    2 only one direction: none there
weather: 6468 of 6469
    1 VCTSSH is two phenomena there
wind direction: 65746 of 65808
    59 000 of a wind that blows: we have no direction
    3 too few digits or a fraction of a knot: we do not guess
wind gust: 7859 of 7861
    2 too few digits or a fraction of a knot: we do not guess
wind speed: 70558 of 70561
    3 too few digits or a fraction of a knot: we do not guess
wind turns: 5553 of 5553
";
