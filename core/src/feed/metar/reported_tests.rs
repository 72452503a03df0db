//! Reports that were once read wrongly, as users found them: `tests/data/reported/metar`.

use super::bulletin::is_sign;
use super::{ClockTime, CloudGenus, Decoded, Metar, Phenomenon};
use crate::feed::{FileContext, Kind};
use crate::observation::{Report, Variable};
use crate::time::parse_instant;

fn file(name: &str) -> String {
    let path = format!("{}/../tests/data/reported/metar/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn decoded(name: &str) -> Decoded {
    Decoded::parse(file(name).trim()).unwrap()
}

/// The reports of a text, as a file of any kind.
fn reports(text: &str) -> Vec<Report> {
    let context = FileContext::new("reports.txt", parse_instant("2024-07-21T10:00:00Z").unwrap());
    let kind = Kind::detect(context.name, text.as_bytes()).expect("a kind");
    let mut all = Vec::new();
    kind.read(&mut text.as_bytes(), &context, &mut |item| all.extend(item.into_report())).unwrap();
    all.into_iter().map(|item| item.report).collect()
}

fn value(report: &Report, variable: Variable) -> Option<f64> {
    let found = report.readings.iter().find(|one| one.series.variable == variable);
    found.map(|one| one.value)
}

#[test]
fn a_trend_whose_indicator_is_misspelt_is_not_observed() {
    let read = decoded("trend_typo_taken_as_observed.metar");
    assert_eq!(read.trend.as_deref(), Some("TEMP0 SCT035CB"));
    assert_eq!((read.clouds.len(), read.ceiling_ft, read.not_understood.len()), (1, None, 0));

    // Any other word behind the altimeter setting ends the body too, and what follows is named.
    for tail in ["XYZZY 3000 +TSRA BKN005CB", "TEMPORARY OVC003", "3000 OVC003", "GRADU 24045G60KT"]
    {
        let text = format!("ESSA 210950Z 25010KT 9999 SCT029 17/10 Q1002 {tail}");
        let read = Decoded::parse(&text).unwrap();
        assert_eq!(read.not_understood.join(" "), tail);
        assert_eq!((read.clouds.len(), read.ceiling_ft), (1, None), "{tail}");
        assert!(read.weather.is_empty(), "{tail}");
        assert_eq!(read.wind.and_then(|wind| wind.gust), None, "{tail}");
        // Remarks come through all the same.
        let with_remarks = Decoded::parse(&format!("{text} RMK SLP021")).unwrap();
        assert_eq!(with_remarks.remarks.sea_level_pressure_hpa, Some(1002.1), "{tail}");
    }
}

#[test]
fn what_is_observed_behind_the_altimeter_setting_is_read() {
    let read = Decoded::parse(
        "ENXX 210950Z 25010KT 9999 17/10 Q1002 RERA WS R24 W12/S4 R24/290155 SCT029 NOSIG",
    )
    .unwrap();
    assert_eq!((read.clouds.len(), read.weather.len()), (1, 1));
    assert_eq!((read.sea_surface_temperature_c, read.runway_states.len()), (Some(12), 1));
    assert_eq!(read.not_understood, [""; 0]);
    // A second setting ends nothing.
    let two = |second: &str| {
        let text = format!("RKSI 210950Z 9999 17/10 Q1002 {second} RERA NOSIG");
        let read = Decoded::parse(&text).unwrap();
        assert_eq!((read.weather.len(), read.altimeter.map(|of| of.hpa)), (1, Some(1002.0)));
        read.not_understood
    };
    assert_eq!(two("A2959"), [""; 0], "the same in another unit");
    assert_eq!(two("A2990"), ["A2990"]);
    assert_eq!(two("RE// W18/H9"), [""; 0]);
}

#[test]
fn a_forecast_tornado_is_no_present_weather() {
    let read = decoded("fcst_taken_as_tornado.metar");
    assert_eq!(read.weather.len(), 1, "light snow: {:?}", read.weather);
    assert_eq!(read.trend.as_deref(), Some("FCST AT0327 +FC"));
    let text = file("fcst_taken_as_tornado.metar");
    assert_eq!(reports(&text)[0].present_weather, Some(vec!["Light snow".to_owned()]));
}

#[test]
fn sea_level_pressure_is_read_before_the_remarks() {
    let text = file("slp_before_rmk.metar");
    assert_eq!(value(&reports(&text)[0], Variable::Mslp), Some(1016.2));
    let read = decoded("slp_before_rmk.metar");
    assert_eq!(read.remarks.sea_level_pressure_hpa, Some(1016.2));
    assert_eq!(read.not_understood, ["WND", "DATA", "ESTMD"]);
    let tenths = |text: &str| {
        Metar::parse(&format!("KCOF 191855Z {text}")).unwrap().sea_level_pressure_tenths_hpa()
    };
    assert_eq!(tenths("28/18 SLP162 A3001 RMK AO2"), Some(10_162));
    assert_eq!(tenths("28/18 A3001 SLP 162"), Some(10_162));
    assert_eq!(tenths("28/18 A3001 AO2 SLP162 T02800180"), Some(10_162), "the RMK is lost");
    assert_eq!(tenths("28/18 A3001 NOSIG SLP162"), Some(10_162));
    assert_eq!(tenths("28/18 A3001 SLP16"), None);
}

#[test]
fn glued_and_split_remarks_are_read() {
    let read = |remarks: &str| {
        let read = Decoded::parse(&format!("KBUF 312354Z 31/21 A3001 RMK {remarks}")).unwrap();
        let of = read.remarks;
        (of.sea_level_pressure_hpa, of.temperature_c, of.six_group_in, read.not_understood)
    };
    let none = Vec::<String>::new();
    let (slp, air) = (Some(1016.9), Some(30.6));
    assert_eq!(read("AO2 SLP169T03060211"), (slp, air, None, none.clone()));
    assert_eq!(read("AO2SLP169T0306021160012"), (slp, air, Some(0.12), none.clone()));
    assert_eq!(read("AO2 SLP169T03060211 60012$"), (slp, air, Some(0.12), none.clone()));
    assert_eq!(read("AO2 SLP 169 T03060211"), (slp, air, None, none));
    // A digit too many: not guessed.
    assert_eq!(read("AO2 SLP1690").3, ["SLP1690"]);
    assert_eq!(read("T030602110").3, ["T030602110"]);
}

#[test]
fn tornadoes_and_lightning_of_the_remarks() {
    let read = decoded("tornado_and_ltgicccg.metar");
    assert_eq!(read.not_understood, [""; 0]);
    let time = |minute| Some(ClockTime { hour: None, minute });
    let tornado = Phenomenon {
        began: time(21),
        ended: time(32),
        distance_mi: Some(8.0),
        place: "N".into(),
        moving: Some("UNKN".into()),
        ..Phenomenon::of("TORNADO")
    };
    assert_eq!(read.remarks.phenomena, [tornado]);
    let lightning = &read.remarks.lightning[0];
    assert_eq!((&*lightning.kinds, &*lightning.place), (&["IC", "CC", "CG"][..], "NE AND W"));
    assert_eq!(read.remarks.temperature_c, Some(30.0));

    let funnel = decoded("funnel_cloud.metar");
    assert_eq!(funnel.not_understood, [""; 0]);
    let expected = Phenomenon {
        began: time(45),
        distance_mi: Some(5.0),
        place: "SW".into(),
        moving: Some("NE".into()),
        ..Phenomenon::of("FUNNEL CLOUD")
    };
    assert_eq!(funnel.remarks.phenomena, [expected]);

    let remarks = |text: &str| {
        let read = Decoded::parse(&format!("KEYW 202053Z RMK AO2 {text}")).unwrap();
        assert_eq!(read.not_understood, [""; 0], "{text}");
        read.remarks
    };
    let spouts = remarks("WATERSPOUT B1958E04 2 1/2SE MOV N WATERSPOUT B40 DSNT S WATERSPOUT E50");
    let [first, second] = &spouts.phenomena[..] else { panic!("{spouts:?}") };
    assert_eq!(first.began, Some(ClockTime { hour: Some(19), minute: 58 }));
    assert_eq!((first.ended, second.began, second.ended), (time(4), time(40), time(50)));
    assert_eq!((&*second.place, second.distance_mi), ("DSNT S", None));
    let kinds = |group: &str| remarks(group).lightning[0].kinds.clone();
    assert_eq!(kinds("LTGICCCCG"), ["IC", "CC", "CG"]);
    assert_eq!(kinds("FRQ LTGICCG OHD"), ["IC", "CG"]);
    assert_eq!(kinds("LTGICCC"), ["IC", "CC"]);
}

#[test]
fn words_that_only_look_like_a_tornado_are_named() {
    for text in ["FUNNEL CAKE", "TORNADO B61", "FUNNEL"] {
        let read = Decoded::parse(&format!("KBUF 312354Z RMK {text}")).unwrap();
        let named = text.strip_prefix("TORNADO ").unwrap_or(text);
        assert_eq!(read.not_understood.join(" "), named);
    }
}

#[test]
fn layers_have_the_genus_that_stands_behind_them() {
    let read = decoded("cloud_genus_suffix.metar");
    let layers: Vec<_> =
        read.clouds.iter().map(|layer| (layer.cover, layer.base_ft, layer.genus)).collect();
    assert_eq!(
        layers,
        [
            ("FEW", Some(2500), Some("SC")),
            ("SCT", Some(4000), Some("SC")),
            ("BKN", Some(9000), Some("AC")),
        ]
    );
    assert_eq!((read.ceiling_ft, read.trend.as_deref()), (Some(9000), Some("BECMG SCT090")));
    assert_eq!(read.not_understood, [""; 0]);
    let layer = |group: &str| Metar::parse(&format!("LOXZ 141420Z {group}")).unwrap().sky[0];
    assert_eq!(layer("SCT025CB").genus, Some(CloudGenus::Cumulonimbus));
    assert_eq!(layer("BKN040SCAC").genus, None, "two");
    assert!(layer("BKN040CUCB").convection.is_some());
    assert!(Metar::parse("LOXZ 141420Z BKN040XX").unwrap().sky.is_empty());
}

#[test]
fn a_line_that_is_a_whole_report_needs_no_keyword() {
    let text = file("bare_lines.txt");
    let all = reports(&text);
    assert_eq!(all.len(), 2);
    assert_eq!(value(&all[0], Variable::AirTemperature), Some(3.3));
    for bare in [
        "EGLL 210950Z AUTO 25010KT 9999 17/10 Q1002=",
        "KDSM 161454Z COR 32026G39KT 10SM",
        "KDSM 161454Z /////KT 10SM",
        "UUEE 161454Z 04014 9999",
        "CYYZ 161454Z NIL=",
    ] {
        assert!(is_sign("", bare.as_bytes()), "{bare}");
    }
    for other in [
        "",
        "Dear reader,\nthe weather was fine.",
        "KDSM 161454Z 1615/1715 32026G39KT P6SM",
        "TAF KDSM 161454Z 1615/1715 32026G39KT P6SM",
        "DATA 161454Z",
        "station,valid,tmpf\nKDSM,2024-07-16 14:54,70",
    ] {
        assert!(!is_sign("", other.as_bytes()), "{other}");
    }
}

#[test]
fn runway_groups_that_are_none_are_named() {
    let not_understood = |group: &str| {
        let read = Decoded::parse(&format!("LFPG 210950Z 25010KT 9999 {group} 17/10")).unwrap();
        assert_eq!(read.temperature_c, Some(17.0), "{group}");
        read.not_understood
    };
    for group in [
        "R26R/AZEAZEDS",
        "R26R/12345",
        "R99X/P2000",
        "R/P2000",
        "R26/29015",
        "R26/CLRDX0",
        "R2/1000",
    ] {
        assert_eq!(not_understood(group), [group]);
    }
    for group in
        ["R26R/P2000N", "R26/0450V0900FT/D", "R/SNOCLO", "R26/CLRD70", "R26/CLRD//", "R26L/29//55"]
    {
        assert_eq!(not_understood(group), [""; 0], "{group}");
    }
    assert_eq!(not_understood("WABC"), ["WABC"]);
    assert_eq!(not_understood("W1/S4"), ["W1/S4"]);
}

#[test]
fn a_visibility_with_a_direction_alone_is_the_visibility() {
    let km = |text: &str| {
        let metar = Metar::parse(&format!("LIRF 210950Z 25010KT {text} 17/10")).unwrap();
        metar.visibility.map(super::MetarVisibility::km)
    };
    assert_eq!(km("4000E"), Some(4.0));
    assert_eq!(km("9999 4000E"), Some(10.0), "beside the prevailing one");
    assert_eq!(km("4000E 2000SW"), None, "neither is the prevailing one");
}

#[test]
fn hail_and_peak_winds_of_the_remarks() {
    let remarks = |text: &str| {
        let read = Decoded::parse(&format!("KBUF 312354Z RMK AO2 {text}")).unwrap();
        (read.remarks, read.not_understood)
    };
    let (hail, left) = remarks("GR LESS THAN 1/4");
    assert_eq!((hail.hailstone_in, hail.hailstone_bound), (Some(0.25), Some("less")));
    assert_eq!(left, [""; 0]);
    let (hail, _) = remarks("GR 1 3/4");
    assert_eq!((hail.hailstone_in, hail.hailstone_bound), (Some(1.75), Some("exact")));
    assert_eq!(remarks("GR LESS").1, ["GR", "LESS"]);

    let (calm, left) = remarks("PK WND 00000/0000");
    assert_eq!((calm.peak_wind, left.join(" ")), (None, "PK WND 00000/0000".to_owned()));
    let (north, _) = remarks("PK WND 00032/2331");
    assert_eq!(north.peak_wind.map(|peak| (peak.from_deg, peak.speed_kt)), Some((None, 32)));
}

#[test]
fn a_direction_of_000_with_wind_is_none() {
    let read = Decoded::parse("KBUF 312354Z 00005KT 10SM").unwrap();
    let wind = read.wind.unwrap();
    assert_eq!((wind.from_deg, wind.variable, wind.speed), (None, false, Some(5)));
    let calm = Decoded::parse("KBUF 312354Z 00000KT 10SM").unwrap();
    assert_eq!(calm.wind.unwrap().from_deg, Some(0));
    assert_eq!(
        value(&reports("METAR KBUF 210954Z 00005KT 10SM=")[0], Variable::WindDirection),
        None
    );
}

#[test]
fn a_vertical_visibility_is_a_ceiling_and_the_base_of_no_cloud() {
    let read = Decoded::parse("KBUF 312354Z 1/4SM FG VV002").unwrap();
    assert_eq!((read.ceiling_ft, read.vertical_visibility_ft), (Some(200), Some(200)));
    let report = &reports("METAR KBUF 210954Z 1/4SM FG VV002=")[0];
    assert_eq!(value(report, Variable::CeilingHeight), Some(60.96));
    assert_eq!(value(report, Variable::CloudBaseHeight), None);
    let cloud = Decoded::parse("KBUF 312354Z 1SM BR OVC002").unwrap();
    assert_eq!((cloud.ceiling_ft, cloud.vertical_visibility_ft), (Some(200), None));
}

#[test]
fn tables_of_reports() {
    let table = |name: &str| {
        let path = format!("{}/../tests/data/reported/tables/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let context = FileContext::new(name, 0);
        let kind = Kind::detect(name, text.as_bytes()).expect("a kind");
        let mut all = Vec::new();
        let mut take = |item: crate::feed::Item| all.extend(item.into_report());
        let summary = kind.read(&mut text.as_bytes(), &context, &mut take).unwrap();
        (all, summary)
    };
    let (all, _) = table("body_slp.csv");
    assert_eq!(value(&all[0].report, Variable::Mslp), Some(1016.2));
    assert_eq!(value(&all[1].report, Variable::CeilingHeight), None);

    // Windshear and recent weather end at the remarks.
    let (all, _) = table("ws_group_drops_remarks.csv");
    assert_eq!(all.len(), 7);
    for item in &all {
        let id = &item.station.native_id;
        let tenths = if id == "CYYY" { 19.0 } else { 19.4 };
        assert_eq!(value(&item.report, Variable::AirTemperature), Some(tenths), "{id}");
        let mslp = value(&item.report, Variable::Mslp);
        assert_eq!(mslp, (id != "EHAM").then_some(1011.3), "{id}");
    }

    let (all, _) = table("awc_elevation_9999.csv");
    for item in &all {
        assert_eq!(item.station.altitude_m, None);
        assert_eq!(value(&item.report, Variable::BarometricPressure), None);
        assert!(value(&item.report, Variable::AltimeterSetting).is_some());
    }

    let (all, summary) = table("awc_year_0284.csv");
    assert_eq!((all.len(), summary.refused), (0, 1));
    assert_eq!(
        summary.refusals[0].reason.to_string(),
        "0284-08-03T20:00:00Z is before 1750; instrument observations are later"
    );

    // A peak wind that a special report and the hourly report both state is one reading.
    let (all, _) = table("iem_peak_wind_twice.csv");
    let peaks = all.iter().filter_map(|item| item.earlier.as_ref());
    assert_eq!(peaks.map(|peak| peak.readings.len()).sum::<usize>(), 2, "speed and direction");
}
