use std::collections::HashMap;
use std::io::Read;

use flate2::read::GzDecoder;
use proptest::prelude::*;

use super::{BeginEnd, Decoded, MAX_REPORT_BYTES};
use crate::feed::metar::{Metar, MetarError};

fn remarks(text: &str) -> (super::DecodedRemarks, Vec<String>) {
    let report = Decoded::parse(&format!("KBUF 312354Z RMK {text}")).unwrap();
    (report.remarks, report.not_understood)
}

#[test]
fn groups_of_the_body_that_the_readings_leave_out() {
    let report = Decoded::parse(
        "METAR COR EGXX 312350Z AUTO 00000KT 0800 0400SW R24L/P1500N R06/0450V0900FT/D R10/////// \
         R24/290155 24290155 +FG OVC001 W12/S4 WS ALL RWY 02/01 Q0998 TEMPO 0300 FG RMK",
    )
    .unwrap();
    assert_eq!((report.revision, report.auto, report.kind), (1, true, Some("METAR")));
    assert_eq!(report.directional_visibilities[0].distance_m, 400);
    let ranges: Vec<_> = report
        .runway_visual_ranges
        .iter()
        .map(|range| {
            (&*range.runway, range.least, range.greatest, range.is_above_greatest, range.unit)
        })
        .collect();
    assert_eq!(
        ranges,
        [("24L", Some(1500), Some(1500), true, "m"), ("06", Some(450), Some(900), false, "ft"),],
    );
    assert_eq!(report.runway_states, ["R10///////", "R24/290155", "24290155"]);
    assert_eq!((report.sea_surface_temperature_c, report.sea_state), (Some(12), Some(4)));
    assert_eq!(report.wind_shear, ["ALL RWY"]);
    assert_eq!(report.trend.as_deref(), Some("TEMPO 0300 FG"));
    assert_eq!(report.not_understood, [""; 0]);
}

#[test]
fn a_wind_in_metres_a_second_is_not_the_state_of_a_runway() {
    let report = Decoded::parse("UUEE 312354Z 21005MPS 9999 24290155 8849//99").unwrap();
    assert_eq!(report.runway_states, ["24290155", "8849//99"]);
    assert_eq!(report.wind.and_then(|wind| wind.speed), Some(5));
}

#[test]
fn the_state_of_the_sea_stands_beside_a_missing_temperature() {
    let sea = |group: &str| {
        let report = Decoded::parse(&format!("ENXX 312350Z {group}")).unwrap();
        assert_eq!(report.not_understood, [""; 0], "{group}");
        (report.sea_surface_temperature_c, report.sea_state)
    };
    assert_eq!(sea("W///S3"), (None, Some(3)));
    assert_eq!(sea("WM01/S4"), (Some(-1), Some(4)));
    assert_eq!(sea("W12/H15"), (Some(12), None));
    assert_eq!(sea("W///S/"), (None, None));
    assert_eq!(sea("W12/S/"), (Some(12), None));
}

#[test]
fn remarks_in_words_of_the_manuals() {
    // The examples of FMH-1, chapter 12, and of MANOBS.
    let (of, left) = remarks(
        "TORNADO B13 6 NE AO2 PK WND 28045/15 WSHFT 30 FROPA TWR VIS 1 1/2 VIS 1/2V2 VIS NE 2 1/2 \
         VIS 2 1/2 RWY11 OCNL LTG RAB05E30SNB20E55 TSB0159E30 TS SE MOV NE GR 1 3/4 VIRGA DSNT NE \
         CIG 005V010 FG SCT000 BKN014 V OVC CB W MOV E TCU W ACC W CIG 002 RWY11 PRESRR SLP982 \
         SNINCR 2/10 98096 8/6// VISNO RWY06 CHINO RWY 24R DENSITY ALT -200FT FU2SC3ACC1 $",
    );
    assert_eq!(left, [""; 0]);
    assert!(of.wind_shift.unwrap().frontal_passage);
    assert_eq!(of.tower_visibility_mi, Some(1.5));
    let varying = of.variable_visibility_mi.unwrap();
    assert_eq!((varying.least, varying.greatest), (0.5, 2.0));
    assert_eq!(of.sector_visibilities.len(), 2);
    assert_eq!((of.lightning[0].frequency, of.lightning[0].kinds.len()), (Some("OCNL"), 0));
    let times: Vec<_> = of
        .weather_times
        .iter()
        .map(|time| (&*time.weather, time.event == BeginEnd::Begin, time.hour, time.minute))
        .collect();
    assert_eq!(
        times[..3],
        [("RA", true, None, 5), ("RA", false, None, 30), ("SN", true, None, 20)]
    );
    assert_eq!(times[4], ("TS", true, Some(1), 59));
    assert_eq!(of.hailstone_in, Some(1.75));
    let seen: Vec<_> = of.phenomena.iter().map(|seen| (seen.what, &*seen.place)).collect();
    assert_eq!(
        seen,
        [
            ("TORNADO", "NE"),
            ("TS", "SE"),
            ("VIRGA", "DSNT NE"),
            ("CB", "W"),
            ("TCU", "W"),
            ("ACC", "W")
        ],
    );
    assert_eq!(of.phenomena[1].moving.as_deref(), Some("NE"));
    assert_eq!((of.obscurations[0].base_ft, of.variable_sky[0].base_ft), (Some(0), Some(1400)));
    assert_eq!(of.pressure_change, Some("rising rapidly"));
    assert_eq!((of.sunshine_minutes, of.density_altitude_ft), (Some(96), Some(-200)));
    assert_eq!(of.outages, ["maintenance", "visibility RWY06", "ceiling RWY 24R"]);
    assert_eq!(of.cloud_amounts.len(), 3);
}

#[test]
fn words_that_only_look_like_remarks_are_named() {
    for text in [
        "WSHFT 9",
        "WSHFT 2561",
        "VIS",
        "VIS 2 MISG",
        "CIG RAG",
        "LTGXX",
        "GR",
        "SNINCR 2",
        "98/12",
        "DENSITY ALT MISG",
        "8/X//",
        "QFE12",
        "A9999",
        "RAB",
        "RAB61",
        "B05",
        "XXB05",
        "SC9",
        "TS",
        "1XX030",
        "T0271",
    ] {
        let (of, left) = remarks(text);
        let expected: Vec<&str> = text.split(' ').collect();
        if text == "T0271" {
            assert_eq!((of.temperature_c, left.len()), (Some(27.1), 0), "the dew point is missing");
        } else {
            assert_eq!(left, expected, "{text}");
        }
    }
}

#[test]
fn tenths_that_contradict_the_body_are_named() {
    let report = Decoded::parse("KBUF 312354Z 02/M07 RMK AO2 T02210067").unwrap();
    assert_eq!(report.not_understood, ["T02210067"]);
    assert_eq!((report.temperature_c, report.dew_point_c), (Some(2.0), Some(-7.0)));
}

#[test]
fn a_text_that_is_not_one_report_is_refused() {
    let refused = |text: &str| Decoded::parse(text).unwrap_err();
    assert!(matches!(refused(""), MetarError::Station { .. }));
    assert!(matches!(refused("KBUF"), MetarError::Time { .. }));
    assert!(matches!(refused("KBUF 312354Z= SPECI"), MetarError::More { got } if got == "SPECI"));
    assert!(Decoded::parse("KBUF 312354Z NIL= \n").unwrap().nil);
    let long = format!("KBUF 312354Z {}", "A".repeat(MAX_REPORT_BYTES));
    assert_eq!(refused(&long), MetarError::TooLong { got: long.len() });
}

/// Reports of the sample, by the column of their tables.
fn sample() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/metar");
    let mut reports = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".csv.gz") {
            continue;
        }
        let mut table = String::new();
        GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut table).unwrap();
        let lines = table.lines().skip_while(|line| !line.contains("raw_text"));
        let table = lines.collect::<Vec<_>>().join("\n");
        let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
        let column = rows.headers().unwrap().iter().position(|name| name == "raw_text").unwrap();
        reports.extend(rows.records().map(|row| row.unwrap()[column].to_owned()));
    }
    reports
}

#[test]
fn of_the_sample_few_groups_are_not_understood() {
    let (mut read, mut groups, mut left) = (0, 0, 0);
    let mut words: HashMap<String, u32> = HashMap::new();
    for text in sample() {
        let Ok(report) = Decoded::parse(&text) else { continue };
        let metar = Metar::parse(&text).unwrap();
        read += 1;
        groups += report.text.split(' ').count();
        left += report.not_understood.len();
        assert!(usize::from(metar.unread_groups) <= report.not_understood.len(), "{text}");
        for word in report.not_understood {
            *words.entry(word).or_default() += 1;
        }
    }
    // 1.8 %: most are winds of other masts, and words of one country or of one observer.
    assert_eq!((read, groups), (63_318, 684_806));
    assert!(left <= 12_069, "{left}: {:?}", words.iter().max_by_key(|(_, count)| **count));
}

proptest! {
    #[test]
    fn any_text_is_decoded_or_refused(text in "\\PC{0,200}") {
        let _ = Decoded::parse(&text);
    }

    #[test]
    fn any_groups_are_decoded(
        groups in prop::collection::vec(
            prop_oneof![
                "[A-Z]{1,6}", "[0-9/]{1,8}", "[A-Z]{1,3}[0-9]{1,6}[A-Z]{0,2}", "R[0-9]{2}[LCR]?/[MP0-9VFTUDN/]{1,14}",
                Just("RMK".to_owned()), Just("VIS".to_owned()), Just("CIG".to_owned()), Just("V".to_owned()),
                Just("LTG".to_owned()), Just("MOV".to_owned()), Just("AND".to_owned()), Just("WS".to_owned()),
                Just("TEMPO".to_owned()), Just("GR".to_owned()), Just("DSNT".to_owned()), Just("é".to_owned()),
            ],
            0..30,
        )
    ) {
        let text = format!("KBUF 312354Z {}", groups.join(" "));
        let report = Decoded::parse(&text).unwrap();
        let metar = Metar::parse(&text).unwrap();
        prop_assert_eq!(report.wind.and_then(|wind| wind.speed), metar.wind.and_then(|wind| wind.speed));
        prop_assert!(report.not_understood.len() >= usize::from(metar.unread_groups));
        // The named groups come from the report, in its order.
        let mut rest = report.text.split(' ');
        let is_remark_order = report.not_understood.iter().all(|named| {
            rest.any(|group| group.trim_start_matches("RMK") == named || group == named)
        });
        prop_assert!(is_remark_order || report.not_understood.iter().any(|named| named.starts_with('T')));
        serde_json::to_string(&report).unwrap();
        prop_assert!(report.to_string().is_ascii() || report.to_string().contains('°'));
    }
}
