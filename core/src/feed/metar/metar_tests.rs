use proptest::prelude::*;

use super::*;
use crate::time::{DAY_MS, parse_instant};

fn parse(body: &str) -> Metar {
    Metar::parse(&format!("CYYZ 231118Z {body}")).unwrap()
}

fn wind(group: &str) -> MetarWind {
    parse(group).wind.unwrap()
}

fn miles(groups: &str) -> Option<(f64, Bound)> {
    parse(groups).visibility.map(|visibility| {
        assert_eq!(visibility.unit, DistanceUnit::StatuteMile);
        (visibility.distance, visibility.bound)
    })
}

fn weather(groups: &str) -> Vec<String> {
    parse(groups).weather.iter().map(ToString::to_string).collect()
}

#[test]
fn prefixes_say_the_kind_and_the_revision() {
    let head = |text: &str| {
        let metar = Metar::parse(text).unwrap();
        (metar.kind, metar.revision, metar.auto, metar.nil)
    };
    assert_eq!(head("CYYZ 231118Z"), (MetarKind::Unknown, 0, false, false));
    assert_eq!(head("CYYZ 231118 AUTO"), (MetarKind::Unknown, 0, true, false), "without the Z");
    assert_eq!(head("METAR CYYZ 231118Z AUTO="), (MetarKind::Routine, 0, true, false));
    assert_eq!(head("SPECI COR CYYZ 231118Z NIL="), (MetarKind::Special, 1, false, true));
    assert_eq!(head("METAR CYYZ 231118Z CCA 00000KT"), (MetarKind::Routine, 1, false, false));
    assert_eq!(head("CYYZ 231118Z CCC AUTO"), (MetarKind::Unknown, 3, true, false));
    assert_eq!(head("CYYZ 231118Z AUTO COR 00000KT"), (MetarKind::Unknown, 1, true, false));
    assert_eq!(
        head("KBUF COR 231118Z AUTO"),
        (MetarKind::Unknown, 1, true, false),
        "before the time"
    );
    assert_eq!(head("METAR CYYZ CCB 231118Z NIL"), (MetarKind::Routine, 2, false, true));
}

#[test]
fn a_time_that_cannot_be_read_is_that_beside_the_report() {
    let observed_ms = parse_instant("2022-10-23T10:14:00Z").unwrap();
    let beside = |text: &str| Metar::parse_beside(text, observed_ms);
    for text in [
        "FMSD 1014Z 10021KT 9999",
        "FMSD 231100Z,Z 10021KT 9999",
        "HUEN 230930KT 10021KT 9999",
        "KBUF O12354Z 10021KT 9999",
        "KBUF 10021KT 9999",
        "KBUF AUTO 10021KT 9999",
        "KBUF COR 1014Z 10021KT 9999",
    ] {
        let metar = beside(text).unwrap();
        assert_eq!((metar.day, metar.hour, metar.minute), (23, 10, 14), "{text}");
        assert_eq!(metar.wind.and_then(|wind| wind.speed), Some(21), "{text}");
        assert_eq!(metar.unread_groups, 0, "{text}");
        assert!(matches!(Metar::parse(text), Err(MetarError::Time { .. })), "{text}");
    }
    let own = beside("FMSD 231100Z 10021KT").unwrap();
    assert_eq!((own.hour, own.minute), (11, 0), "its own time counts");
    let hurricane = beside("KBUF 230100KT 1SM").unwrap();
    assert_eq!(hurricane.wind.and_then(|wind| wind.speed), Some(100), "a wind, not a time");
    // Old airways form, and nothing.
    for text in ["UTO8 M M M 160/-10/-14/3017/M/ PK WND 2922 2354Z SOG 03 2013 38MM", "KBUF"] {
        assert!(matches!(beside(text), Err(MetarError::Time { .. })), "{text}");
    }
}

#[test]
fn a_report_without_station_or_time_is_refused_with_what_was_got() {
    let refusal = |text: &str| Metar::parse(text).unwrap_err().to_string();
    assert!(refusal("").starts_with("\"\" is not a station; "));
    assert!(refusal("1QQQ 081354Z AUTO").starts_with("\"1QQQ\" is not a station; "));
    assert!(refusal("METAR cyyz 231118Z").starts_with("\"cyyz\" is not a station; "));
    assert!(refusal("QQQQ O81354Z").starts_with("\"O81354Z\" is not the time of a report; "));
    for bad in [
        "CYYZ",
        "CYYZ 23111Z",
        "CYYZ 231118ZZ",
        "CYYZ 230930KT",
        "CYYZ 001118Z",
        "CYYZ 321118Z",
        "CYYZ 232418Z",
        "CYYZ 231160Z",
    ] {
        assert!(matches!(Metar::parse(bad), Err(MetarError::Time { .. })), "{bad}");
    }
    let long = format!("CYYZ {}", "é".repeat(1000));
    assert!(refusal(&long).len() < 200);
}

#[test]
fn winds() {
    let calm = wind("00000KT");
    assert_eq!((calm.from, calm.speed, calm.gust), (WindFrom::Degrees(0), Some(0), None));
    let gusty = wind("36010G25KT 340V020");
    assert_eq!((gusty.from, gusty.speed, gusty.gust), (WindFrom::Degrees(360), Some(10), Some(25)));
    assert_eq!((gusty.unit, gusty.turns_between), (SpeedUnit::Knot, Some((340, 20))));
    let variable = wind("VRB03MPS");
    assert_eq!((variable.from, variable.unit), (WindFrom::Variable, SpeedUnit::MetrePerSecond));
    assert_eq!(wind("270105G130KT").gust, Some(130));
    assert_eq!(wind("240P99KMH").speed, Some(99));
    assert_eq!(wind("///15KT").from, WindFrom::Missing);
    assert_eq!(wind("230//KT").speed, None);
    assert_eq!(wind("23010G//KT").gust, None);
    assert_eq!(parse("/////KT").wind, None);
    for bad in ["37010KT", "2301KT", "23010GKT", "KT", "2301OKT", "23010G2500KT"] {
        let metar = parse(bad);
        assert_eq!((metar.wind, metar.unread_groups), (None, 1), "{bad}");
    }
}

#[test]
fn a_wind_without_its_unit_has_that_of_the_country() {
    let wind = |text: &str| {
        let metar = Metar::parse(text).unwrap();
        assert_eq!(metar.unread_groups, 0, "{text}");
        let wind = metar.wind.unwrap();
        (wind.from, wind.speed, wind.gust, wind.unit)
    };
    let (knot, from) = (SpeedUnit::Knot, WindFrom::Degrees);
    let mps = SpeedUnit::MetrePerSecond;
    assert_eq!(wind("KASE 031753Z 04015 KT 10SM CLR"), (from(40), Some(15), None, knot));
    assert_eq!(wind("KOSU 031753Z AUTO 14008G15 10SM"), (from(140), Some(8), Some(15), knot));
    assert_eq!(wind("KGPM 031753Z 00000KTS 10SM"), (from(0), Some(0), None, knot));
    assert_eq!(wind("KWHP 031753Z 26006KTS 10SM"), (from(260), Some(6), None, knot));
    assert_eq!(wind("HAAB 231100Z 09012 9999 23/09"), (from(90), Some(12), None, knot));
    assert_eq!(wind("HSPN 231100Z 04014 9999 32/23 Q1013"), (from(40), Some(14), None, knot));
    assert_eq!(wind("KXYZ 231100Z VRB04 10SM"), (WindFrom::Variable, Some(4), None, knot));
    assert_eq!(wind("UUEE 231100Z 04014 9999"), (from(40), Some(14), None, mps));
    assert_eq!(wind("UUEE 231100Z 04014 KT 9999"), (from(40), Some(14), None, knot));
    for (station, unit) in [
        ("ZBAA", mps),
        ("ZMCK", mps),
        ("UTDD", mps),
        ("UTTT", knot),
        ("UBBB", knot),
        ("UDYZ", knot),
        ("UGTB", knot),
        ("CYYZ", knot),
    ] {
        assert_eq!(wind(&format!("{station} 231100Z 04014")).3, unit, "{station}");
    }
    for not_a_wind in ["99999", "10000", "00010", "04114", "41014", "040140", "04014Q"] {
        let metar = parse(not_a_wind);
        assert_eq!((metar.wind, metar.unread_groups), (None, 1), "{not_a_wind}");
    }
    let late = parse("10SM 04014 A2992");
    assert_eq!((late.wind, late.unread_groups), (None, 1), "only before all else");
}

#[test]
fn visibilities() {
    assert_eq!(miles("10SM"), Some((10.0, Bound::Exact)));
    assert_eq!(miles("1/2SM"), Some((0.5, Bound::Exact)));
    assert_eq!(miles("M1/4SM"), Some((0.25, Bound::Less)));
    assert_eq!(miles("P6SM"), Some((6.0, Bound::More)));
    assert_eq!(miles("1 3/4SM"), Some((1.75, Bound::Exact)));
    assert_eq!(miles("11/2SM"), Some((1.5, Bound::Exact)));
    assert_eq!(miles("10 SM"), Some((10.0, Bound::Exact)));
    assert_eq!(miles("3/16SM"), Some((0.1875, Bound::Exact)));
    let ten_km = Some(visibility::TEN_KM_OR_MORE);
    assert_eq!((parse("9999").visibility, parse("CAVOK").visibility), (ten_km, ten_km));
    let metres = |group| parse(group).visibility.unwrap().distance;
    assert_eq!((metres("0800"), metres("4000NDV"), metres("15KM")), (800.0, 4000.0, 15_000.0));
    let lowest_in_the_south_west = parse("4000 1500SW");
    assert_eq!(lowest_in_the_south_west.visibility.unwrap().distance, 4000.0);
    assert_eq!(lowest_in_the_south_west.unread_groups, 0);
    for missing in ["////SM", "////"] {
        assert_eq!((parse(missing).visibility, parse(missing).unread_groups), (None, 0));
    }
    for bad in ["1/0SM", "0/0SM", "3/2SM", "SM", "1/2/3SM", "10000SM", "99999", "1 10SM"] {
        let metar = parse(bad);
        assert!(metar.unread_groups > 0, "{bad}");
    }
}

#[test]
fn skies_and_ceilings() {
    let ceiling = |groups| parse(groups).ceiling_ft();
    assert_eq!(ceiling("FEW004 SCT015 OVC050"), Some(5000));
    assert_eq!(ceiling("BKN050 OVC012"), Some(1200));
    assert_eq!(ceiling("VV002"), Some(200));
    assert_eq!(ceiling("OVC000"), Some(0));
    assert_eq!(ceiling("SCT100"), None);
    assert_eq!(ceiling("BKN///"), None);
    let sky = parse("FEW020CB ///015TCU //////CB VV/// SCT010///").sky;
    let convection: Vec<_> = sky.iter().map(|layer| layer.convection).collect();
    let (cb, tcu) = (Some(Convection::Cumulonimbus), Some(Convection::ToweringCumulus));
    assert_eq!(convection, [cb, tcu, cb, None, None]);
    assert_eq!(sky[1].base_ft, Some(1500));
    for clear in ["CLR", "SKC", "NSC", "NCD"] {
        assert_eq!(parse(clear).sky.len(), 1);
    }
    for bad in ["BKN", "OVC1", "SCT100M-BM-", "FEW0A0", "BKN010XX"] {
        assert_eq!((parse(bad).sky.len(), parse(bad).unread_groups), (0, 1), "{bad}");
    }
}

#[test]
fn weather_in_english() {
    for (group, english) in [
        ("-SHRA", "Light rain showers"),
        ("TS", "Thunderstorm"),
        ("+TS", "Heavy thunderstorm"),
        ("TSRA", "Thunderstorm with rain"),
        ("-TSRA", "Thunderstorm with light rain"),
        ("VCTS", "Thunderstorm in the vicinity"),
        ("VCSH", "Showers in the vicinity"),
        ("VCBLSN", "Blowing snow in the vicinity"),
        ("BLSN", "Blowing snow"),
        ("DRSN", "Low drifting snow"),
        ("FZDZ", "Freezing drizzle"),
        ("-FZRA", "Light freezing rain"),
        ("MIFG", "Shallow fog"),
        ("BCFG", "Patches of fog"),
        ("PRFG", "Partial fog"),
        ("+SHRASN", "Heavy rain and snow showers"),
        ("-RASNPL", "Light rain, snow and ice pellets"),
        ("+FC", "Tornado or waterspout"),
        ("FC", "Funnel cloud"),
        ("RERA", "Recent rain"),
        ("RETS", "Recent thunderstorm"),
        ("-UP", "Light unknown precipitation"),
        ("SH", "Showers"),
        ("HZ", "Haze"),
        ("VCTSSH", "Thunderstorm with showers in the vicinity"),
        ("-TSSHRA", "Thunderstorm with light rain showers"),
    ] {
        assert_eq!(weather(group), [english], "{group}");
    }
    assert_eq!(weather("-SN BR"), ["Light snow", "Mist"]);
    for bad in ["-", "+", "VC", "RE", "-R", "RAX", "XXRA", "+-RA", "RARARARARARA"] {
        assert_eq!((weather(bad).len(), parse(bad).unread_groups), (0, 1), "{bad}");
    }
    assert!(parse("//").weather_missing);
}

#[test]
fn weather_behind_a_vc_of_its_own_is_in_the_vicinity() {
    assert_eq!(weather("VC RA"), ["Rain in the vicinity"]);
    assert_eq!(weather("VC SH"), ["Showers in the vicinity"]);
    assert_eq!(parse("9999 VC SH FEW020").unread_groups, 0);
    let alone = parse("VC FEW020");
    assert_eq!((alone.weather.len(), alone.sky.len(), alone.unread_groups), (0, 1, 1));
}

#[test]
fn temperatures_and_altimeters() {
    let degrees = |group| (parse(group).temperature_c, parse(group).dew_point_c);
    assert_eq!(degrees("22/17"), (Some(22), Some(17)));
    assert_eq!(degrees("M04/M06"), (Some(-4), Some(-6)));
    assert_eq!(degrees("M00/M00"), (Some(0), Some(0)));
    assert_eq!(degrees("M01/"), (Some(-1), None));
    assert_eq!(degrees("12///"), (Some(12), None));
    assert_eq!(degrees("///05"), (None, Some(5)));
    assert_eq!(degrees("/////"), (None, None));
    assert_eq!(parse("2/1").unread_groups, 1);
    assert_eq!(parse("A2992").altimeter, Some(Altimeter::HundredthsInchHg(2992)));
    assert_eq!(parse("Q0998").altimeter, Some(Altimeter::Hectopascal(998)));
    assert_eq!((parse("A////").altimeter, parse("A////").unread_groups), (None, 0));
    assert_eq!((parse("A29B2").altimeter, parse("A29B2").unread_groups), (None, 1));
}

#[test]
fn remarks_that_carry_data() {
    let metar = parse(
        "RMK AO2 PK WND 24046/1058 WSHFT 0141 SLP077 4/004 P0012 60123 70245 931015 933042 \
         T00221067 10028 21028 400561006 58034 I1003 I3012 I6025 PNO FZRANO TSNO RVRNO PWINO $",
    );
    let peak_wind = PeakWind { from_degrees: Some(240), speed_kt: 46, hour: Some(10), minute: 58 };
    let expected = Remarks {
        automated: Some(AutomatedStation::Ao2),
        temperature_tenths_c: Some(22),
        dew_point_tenths_c: Some(-67),
        sea_level_pressure_digits: Some(77),
        hourly_precipitation_hundredths_in: Some(12),
        past_hour_precipitation_tenths_mm: None,
        six_group_hundredths_in: Some(123),
        daily_precipitation_hundredths_in: Some(245),
        snow_depth_in: Some(4),
        snowfall_tenths_in: Some(15),
        snow_water_tenths_in: Some(42),
        max_6h_tenths_c: Some(28),
        min_6h_tenths_c: Some(-28),
        max_24h_tenths_c: Some(56),
        min_24h_tenths_c: Some(-6),
        pressure_tendency: Some(PressureTendency { characteristic: 8, change_tenths_hpa: -34 }),
        peak_wind: Some(peak_wind),
        ice_1h_hundredths_in: Some(3),
        ice_3h_hundredths_in: Some(12),
        ice_6h_hundredths_in: Some(25),
        outages: Outages {
            maintenance: true,
            rain_gauge: true,
            freezing_rain: true,
            lightning: true,
            present_weather: true,
            runway_visual_range: true,
            sea_level_pressure: false,
        },
    };
    assert_eq!(metar.remarks, expected);
    assert_eq!(metar.unread_groups, 0);
}

#[test]
fn missing_and_malformed_remarks_have_no_value() {
    let missing = parse("RMK SLPNO 6//// 7//// P//// 4//// 5//// 1//// 4//////// SLP///");
    let outages = Outages { sea_level_pressure: true, ..Outages::default() };
    assert_eq!(missing.remarks, Remarks { outages, ..Remarks::default() });
    assert_eq!(missing.unread_groups, 0);
    let malformed =
        parse("RMK SLP12 T0022106 P00A1 4/0A4 93101A 12028 59012 T20221067 PK WND 24046");
    assert_eq!((malformed.remarks, malformed.unread_groups), (Remarks::default(), 9));
    assert_eq!(parse("RMK PK WND 14030/42").remarks.peak_wind.unwrap().hour, None);
    assert_eq!(parse("RMK T2 SET T03270233").unread_groups, 0);
    assert_eq!(parse("RMK T0022").remarks.temperature_tenths_c, Some(22));
    assert_eq!(parse("RMKAO2 SLP123").remarks.automated, Some(AutomatedStation::Ao2));
}

#[test]
fn precipitation_in_the_words_of_canadian_stations() {
    let tenths_mm = |words: &str| {
        parse(&format!("RMK SF5 {words} SLP117")).remarks.past_hour_precipitation_tenths_mm
    };
    assert_eq!(tenths_mm("PCPN 0.8MM PAST HR"), Some(8));
    assert_eq!(tenths_mm("PCPN 25.7MM PAST HR"), Some(257));
    for words in ["PCPN MISG", "PCPN 0.8MM PAST 3HR", "PCPN VRY LGT", "PCPN 8MM PAST HR", "PCPN"] {
        assert_eq!(tenths_mm(words), None, "{words}");
    }
    assert_eq!(parse("RMK PCPN 0.8MM PAST HR SLP117").remarks.sea_level_pressure_digits, Some(117));
}

#[test]
fn forecasts_end_the_body() {
    let metar = parse("9999 Q1013 TEMPO 4000 SHRA BKN020TCU RMK SLP123");
    assert_eq!((metar.weather.len(), metar.sky.len(), metar.unread_groups), (0, 0, 0));
    assert_eq!(metar.remarks.sea_level_pressure_digits, Some(123));
    assert_eq!(parse("9999 NOSIG").unread_groups, 0);
}

#[test]
fn what_follows_a_colour_state_or_a_time_is_a_forecast() {
    let observed = |text: &str| {
        let metar = Metar::parse(text).unwrap();
        assert_eq!(metar.unread_groups, 0, "{text}");
        let weather: Vec<_> = metar.weather.iter().map(ToString::to_string).collect();
        (weather, metar.sky.len(), metar.visibility.unwrap().distance)
    };
    let none = Vec::<String>::new();
    assert_eq!(
        observed("EHKD 231125Z 12010KT 8000 BKN025 16/13 Q1007 WHT GRN 3000 SHRA BKN008"),
        (none.clone(), 1, 8000.0)
    );
    assert_eq!(
        observed("YSCB 231130Z 11005KT 9999 OVC022 14/11 Q1016 FM1230 4000 -RA BKN010"),
        (none.clone(), 1, 10_000.0)
    );
    assert_eq!(
        observed("YBBN 231130Z 23012KT 9999 FEW025 19/16 Q1006 FM231300 30020G35KT TSRA"),
        (none, 1, 10_000.0)
    );
    let remarks = "YBBN 231130Z 9999 19/16 Q1006 FM1300 TSRA RMK RF00.0/000.0 SLP061";
    assert_eq!(Metar::parse(remarks).unwrap().remarks.sea_level_pressure_digits, Some(61));
    let early = parse("BLU 9999 FEW020 16/13 Q1007");
    assert_eq!((early.sky.len(), early.temperature_c), (1, Some(16)), "what follows it is kept");
}

#[test]
fn a_t_group_that_contradicts_the_body_or_has_another_length_is_left_out_and_counted() {
    let tenths = |text: &str| {
        let metar = Metar::parse(text).unwrap();
        let both = (metar.air_temperature_tenths_c(), metar.dew_point_temperature_tenths_c());
        (both, metar.unread_groups)
    };
    let jfk = "KJFK 281851Z 15012KT 10SM 17/00 A3012 RMK AO2 SLP199 T00720000";
    assert_eq!(tenths(jfk), ((Some(170), Some(0)), 1));
    let fjdg = "FJDG 231055Z 12010KT 9999 26/23 A2986 RMK SLP112 T025602333";
    assert_eq!(tenths(fjdg), ((Some(260), Some(230)), 1));
    // The half that agrees stays: 12.7 is 13 in whole degrees.
    assert_eq!(tenths("ETOU 221855Z 13/12 RMK AO2 T01271013"), ((Some(127), Some(120)), 1));
    assert_eq!(tenths("KJFK 281851Z 17/00 RMK T01720000"), ((Some(172), Some(0)), 0));
}

#[test]
fn groups_for_pilots_are_skipped() {
    let metar = parse("R24L/4000VP6000FT/D R/SNOCLO 24290155 R88/CLRD70 WS R25 WS ALL RWY W15/S3");
    assert_eq!((metar.unread_groups, metar.weather.len()), (0, 0));
}

#[test]
fn times_are_the_nearest_to_the_reference() {
    let time = |day_hhmm: &str, reference: &str| {
        let metar = Metar::parse(&format!("KBUF {day_hhmm}Z")).unwrap();
        let ts_ms = metar.time_ms(parse_instant(reference).unwrap());
        crate::time::Iso8601(ts_ms).to_string()
    };
    assert_eq!(time("312354", "2020-01-01T00:05:00Z"), "2019-12-31T23:54:00Z");
    assert_eq!(time("010005", "2019-12-31T23:58:00Z"), "2020-01-01T00:05:00Z");
    assert_eq!(time("290000", "2023-02-28T12:00:00Z"), "2023-03-29T00:00:00Z");
    assert_eq!(time("290000", "2023-02-10T12:00:00Z"), "2023-01-29T00:00:00Z");
    assert_eq!(time("290000", "2024-02-28T12:00:00Z"), "2024-02-29T00:00:00Z");
    assert_eq!(time("311200", "2023-02-15T00:00:00Z"), "2023-01-31T12:00:00Z");
    assert_eq!(time("311200", "2023-06-15T00:00:00Z"), "2023-05-31T12:00:00Z");
}

fn bodies() -> impl Strategy<Value = String> {
    // Text that is half a report: unforeseen shapes.
    prop::collection::vec(
        prop_oneof![
            "[A-Z0-9/+$-]{1,10}",
            "[0-9]{3}[0-9G/V]{2,6}(KT|MPS|SM|)",
            "(RMK|TEMPO|SLP|T|P|6|4/)[0-9/]{0,9}"
        ],
        0..20,
    )
    .prop_map(|groups| groups.join(" "))
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", body in bodies()) {
        let _ = (Metar::parse(&text), Metar::parse_beside(&format!("CYYZ {body}"), 0));
        let metar = parse(&body);
        for weather in &metar.weather {
            prop_assert!(!weather.to_string().is_empty());
        }
        let _ = (metar.ceiling_ft(), metar.sea_level_pressure_tenths_hpa());
    }

    #[test]
    fn no_reference_makes_it_panic(
        reference in prop_oneof![any::<i64>(), -8_000_000_000_000_000_i64..8_000_000_000_000_000],
        day in 1_u8..=31,
    ) {
        let metar = Metar::parse(&format!("KBUF {day:02}2354Z")).unwrap();
        let ts_ms = metar.time_ms(reference);
        prop_assert!(ts_ms.abs_diff(reference) <= 31 * DAY_MS as u64);
    }

    #[test]
    fn values_of_a_formatted_report_come_back(
        (day, hour, minute) in (1_u8..=31, 0_u8..24, 0_u8..60),
        (from, speed, gust) in (0_u16..=36, 0_u16..200, prop::option::of(10_u16..200)),
        (temperature, dew_point) in (-999_i16..=999, -999_i16..=999),
        (altimeter, slp) in (2700_u16..=3150, 0_u16..1000),
        (miles, base) in (0_u16..=15, 0_u32..=300),
    ) {
        let gust_text = gust.map(|gust| format!("G{gust:02}")).unwrap_or_default();
        let whole = |tenths: i16| {
            let degrees = tenths / 10;
            format!("{}{:02}", if degrees < 0 { "M" } else { "" }, degrees.abs())
        };
        let tenths = |tenths: i16| format!("{}{:03}", u8::from(tenths < 0), tenths.abs());
        let text = format!(
            "METAR KXYZ {day:02}{hour:02}{minute:02}Z AUTO {:03}{speed:02}{gust_text}KT {miles}SM \
             OVC{base:03} {}/{} A{altimeter} RMK AO2 SLP{slp:03} T{}{}=",
            from * 10, whole(temperature), whole(dew_point), tenths(temperature), tenths(dew_point),
        );
        let metar = Metar::parse(&text).unwrap();
        prop_assert_eq!(metar.unread_groups, 0);
        prop_assert_eq!((metar.day, metar.hour, metar.minute), (day, hour, minute));
        let wind = metar.wind.unwrap();
        // 000 is the direction of a calm; with a speed it is not a direction.
        let is_lost = from == 0 && (speed > 0 || gust.is_some());
        let expected = if is_lost { WindFrom::Missing } else { WindFrom::Degrees(from * 10) };
        prop_assert_eq!(wind.from, expected);
        prop_assert_eq!((wind.speed, wind.gust), (Some(speed), gust));
        prop_assert_eq!(metar.visibility.unwrap().distance, f64::from(miles));
        prop_assert_eq!(metar.ceiling_ft(), Some(base * 100));
        prop_assert_eq!(metar.temperature_c.map(i16::from), Some(temperature / 10));
        prop_assert_eq!(metar.dew_point_c.map(i16::from), Some(dew_point / 10));
        prop_assert_eq!(metar.remarks.temperature_tenths_c, Some(temperature));
        prop_assert_eq!(metar.remarks.dew_point_tenths_c, Some(dew_point));
        prop_assert_eq!(metar.remarks.sea_level_pressure_digits, Some(slp));
        prop_assert_eq!(metar.altimeter, Some(Altimeter::HundredthsInchHg(altimeter)));
    }
}
