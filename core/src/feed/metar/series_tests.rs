use super::*;
use crate::feed::metar::MetarKind;
use crate::observation::Quality;
use crate::time::parse_instant;

fn report_of(text: &str, kind: MetarKind, altitude_m: Option<f64>) -> Report {
    let metar = Metar::parse(text).unwrap();
    let reference_ms = parse_instant("2020-01-01T00:00:00Z").unwrap();
    metar_report(&MetarItem {
        native_id: metar.station.as_str(),
        ts_ms: metar.time_ms(reference_ms),
        raw_text: text,
        header: None,
        place: None,
        altitude_m,
        kind,
        metar,
    })
}

/// The readings, one text each.
fn shown(text: &str, kind: MetarKind) -> Vec<String> {
    let report = report_of(text, kind, None);
    report
        .readings
        .iter()
        .map(|reading| {
            assert_eq!(reading.quality, Quality::UNCHECKED);
            let SeriesKey {
                variable, interval_type, interval_minutes, calculated, ref bucket, ..
            } = reading.series;
            let star = if calculated { "*" } else { "" };
            let bucket = if bucket.is_empty() { String::new() } else { format!(" [{bucket}]") };
            let value = reading.value;
            format!("{variable}{star}{bucket} {interval_type} {interval_minutes} {value}")
        })
        .collect()
}

#[test]
fn every_group_becomes_its_series() {
    let text = "METAR KBUF 312354Z 21014G22KT 1 1/2SM -SN BKN050 OVC012 02/M07 A2973 RMK AO2 PK WND \
                22030/2312 SLP077 4/004 P0007 60012 70245 931015 I1003 I3012 I6025 T00221067 10028 21028 \
                400561006 58034";
    assert_eq!(
        shown(text, MetarKind::Routine),
        [
            "airTemperature Instantaneous 0 2.2",
            "dewPointTemperature Instantaneous 0 -6.7",
            "airTemperature Max 360 2.8",
            "airTemperature Min 360 -2.8",
            "airTemperature Max 1440 5.6",
            "airTemperature Min 1440 -0.6",
            "windSpeed Average 2 25.928",
            "windGust Max 10 40.744",
            "windSpeed10m* Average 2 25.928",
            "windGust10m* Max 10 40.744",
            "windDirection Average 2 210",
            "mslp Instantaneous 0 1007.7",
            "altimeterSetting Instantaneous 0 1006.7733427733793",
            "pressureTendency Cumulative 180 -3.4",
            "pressureTendencyCharacter Unknown 180 8",
            "visibility Instantaneous 0 2.414016",
            "ceilingHeight Instantaneous 0 365.76",
            "cloudCover [layer 1] Instantaneous 0 7",
            "cloudBaseHeight [layer 1] Instantaneous 0 1524",
            "cloudCover [layer 2] Instantaneous 0 8",
            "cloudBaseHeight [layer 2] Instantaneous 0 365.76",
            "precipitation Cumulative 60 1.778",
            "windGust Max 60 55.56",
            "iceAccretion Cumulative 60 0.762",
            "precipitation Cumulative 360 3.048",
            "iceAccretion Cumulative 180 3.048",
            "iceAccretion Cumulative 360 6.35",
            "precipitation Cumulative 1440 62.23",
            "snowDepth Instantaneous 0 10.16",
            "snowfall Cumulative 360 38.1",
        ]
    );
}

#[test]
fn the_hour_of_p_and_of_the_peak_wind_is_that_of_hourly_reports() {
    let hourly = |time: &str, kind| {
        let text = format!("KBUF 31{time}Z RMK PK WND 22030/12 P0000");
        shown(&text, kind)
    };
    let both = ["precipitation Cumulative 60 0", "windGust Max 60 55.56"];
    assert_eq!(hourly("2354", MetarKind::Routine), both);
    assert_eq!(hourly("2345", MetarKind::Unknown), both);
    assert_eq!(hourly("2300", MetarKind::Unknown), both);
    assert!(hourly("2354", MetarKind::Special).is_empty(), "without a group of routine reports");
    assert!(hourly("2336", MetarKind::Unknown).is_empty());
    assert!(hourly("2336", MetarKind::Routine).is_empty(), "a METAR of another minute");
}

#[test]
fn a_routine_report_that_a_file_calls_speci_keeps_its_hour() {
    let hours = |text: &str, named| {
        let all = shown(text, named);
        let is_of_hour = |one: &&String| one.contains(" 60 ");
        all.iter().filter(is_of_hour).cloned().collect::<Vec<_>>()
    };
    let laughlin = "KDLF 262058Z AUTO 14018G27KT 10SM CLR 33/16 A2987 RMK AO2 PK WND 15031/2031 \
                    SLP101 P0002 T03310161 56012";
    let both = ["precipitation Cumulative 60 0.508", "windGust Max 60 57.412"];
    assert_eq!(hours(laughlin, MetarKind::Special), both);
    assert_eq!(hours(laughlin, MetarKind::Routine), both);
    // Real rows of the Center's table, all called SPECI.
    let rain = |text: &str| hours(text, MetarKind::Special);
    let hilo =
        "PHTO 221853Z 24005KT 10SM OVC040 24/22 A3008 RMK AO2 RAB00E27 SLP184 P0000 T02390217";
    assert_eq!(rain(hilo), ["precipitation Cumulative 60 0"]);
    let kingsville = "KNOG 222356Z AUTO 13015KT 10SM CLR 25/18 A2987 RMK AO2 PK WND 13027/2322 \
                      SLP096 6//// T02500183 10311 20250 53008 PNO $";
    assert_eq!(rain(kingsville), ["windGust Max 60 50.004"]);
    let bozeman =
        "KBZN 230948Z AUTO 28007KT 1 1/4SM -SN BR OVC014 00/00 A2960 RMK AO2 P0001 T00000000";
    assert!(rain(bozeman).is_empty(), "a special report: its P is of less than an hour");
    let shemya =
        "PASY 230038Z 18031G38KT 7SM -RA OVC008 07/06 A2976 RMK AO2A PK WND 19044/0016 SLP080";
    assert!(rain(shemya).is_empty(), "at no minute of a routine report");
}

#[test]
fn a_late_report_with_groups_of_its_hour_keeps_them() {
    let marfa = "KMRF 261801Z AUTO 14008KT 10SM 28/12 A3010 RMK AO2 P0001 60012 10283 20156 53001";
    let all = shown(marfa, MetarKind::Unknown);
    for expected in [
        "airTemperature Max 360 28.3",
        "airTemperature Min 360 15.6",
        "precipitation Cumulative 60 0.254",
        "precipitation Cumulative 360 3.048",
    ] {
        assert!(all.contains(&expected.to_owned()), "{expected} in {all:?}");
    }
    let circle =
        "PAFS 231101Z AUTO 00000KT 10SM OVC021 M02/M03 A3000 RMK AO2 SLP168 P0000 T10221028";
    assert!(!shown(circle, MetarKind::Routine).iter().any(|one| one.contains("precipitation")));
}

#[test]
fn layers_have_a_cover_and_a_base_each() {
    let layers = |sky: &str| {
        let all = shown(&format!("KBUF 311154Z {sky}"), MetarKind::Unknown);
        let of_layers = all.iter().filter(|one| one.contains("[layer"));
        of_layers.map(|one| one.replace(" Instantaneous 0", "")).collect::<Vec<_>>()
    };
    assert_eq!(layers("CLR"), ["cloudCover [layer 1] 0"]);
    assert_eq!(layers("VV002"), ["cloudCover [layer 1] 8"], "a vertical visibility is no base");
    assert!(layers("NSC").is_empty() && layers("CAVOK").is_empty(), "high clouds are left out");
    assert_eq!(
        layers("FEW010 ///020 SCT///CB"),
        [
            "cloudCover [layer 1] 2",
            "cloudBaseHeight [layer 1] 304.8",
            "cloudBaseHeight [layer 2] 609.6",
            "cloudCover [layer 3] 4",
        ]
    );
    assert_eq!(layers(&"FEW010 ".repeat(9)).len(), 16, "eight layers");
}

#[test]
fn ice_of_the_hour_is_that_of_hourly_reports() {
    let ice = |text: &str| shown(text, MetarKind::Unknown);
    let bismarck = "KBIS 230852Z AUTO RMK AO2 I1002 I3000 53014";
    assert_eq!(ice(bismarck)[2], "iceAccretion Cumulative 60 0.508");
    assert_eq!(ice(bismarck)[3], "iceAccretion Cumulative 180 0");
    assert!(ice("KBIS 111635Z RMK I1000").is_empty());
}

#[test]
fn a_peak_wind_is_read_at_its_own_time() {
    let peak = |text: &str| {
        let metar = Metar::parse(text).unwrap();
        let ts_ms = metar.time_ms(parse_instant("2020-01-01T00:00:00Z").unwrap());
        let (place, altitude_m, kind) = (None, None, metar.kind);
        let item = MetarItem {
            native_id: "KXYZ",
            ts_ms,
            raw_text: text,
            header: None,
            place,
            altitude_m,
            kind,
            metar,
        };
        metar_peak_wind(&item).map(|report| {
            let values: Vec<_> = report.readings.iter().map(|reading| reading.value).collect();
            (crate::time::Iso8601(report.ts_ms).to_string(), values)
        })
    };
    let at = |time: &str, values: &[f64]| Some((time.to_owned(), values.to_vec()));
    let of_hour = "KIAB 312355Z RMK PK WND 19026/48";
    assert_eq!(peak(of_hour), at("2019-12-31T23:48:00Z", &[48.152, 190.0]));
    // A special report that begins an hour states the peak of the hour before.
    let special = "SPECI KLVS 010039Z RMK PK WND 23037/2355";
    assert_eq!(peak(special), at("2019-12-31T23:55:00Z", &[68.524, 230.0]));
    assert_eq!(
        peak("KLVS 010010Z RMK PK WND 23037/55"),
        at("2019-12-31T23:55:00Z", &[68.524, 230.0])
    );
    assert_eq!(peak("CXDW 311900Z RMK PK WND 00025/1857"), at("2019-12-31T18:57:00Z", &[46.3]));
    assert_eq!(peak("KLVS 010039Z RMK PK WND 23037/0055"), None, "not yet");
    assert_eq!(peak("KLVS 010039Z NIL"), None);
}

#[test]
fn the_past_hour_of_canadian_words_is_an_hour_at_any_minute() {
    let text = "CYXH 231133Z AUTO RMK PCPN 0.5MM PAST HR SLP092";
    assert_eq!(
        shown(text, MetarKind::Special),
        ["mslp Instantaneous 0 1009.2", "precipitation Cumulative 60 0.5"]
    );
}

#[test]
fn the_six_group_is_of_six_or_of_three_hours() {
    let six = |time: &str| shown(&format!("KBUF 31{time}Z RMK 60012 10028"), MetarKind::Routine);
    assert_eq!(six("1152"), ["airTemperature Max 360 2.8", "precipitation Cumulative 360 3.048"]);
    assert_eq!(six("1452"), ["precipitation Cumulative 180 3.048"]);
    assert!(six("1352").is_empty());
    assert!(shown("KBUF 311152Z RMK 6////", MetarKind::Routine).is_empty());
}

#[test]
fn directions() {
    let direction = |wind: &str| {
        let report = report_of(&format!("KBUF 312354Z {wind}"), MetarKind::Unknown, None);
        let directions = report
            .readings
            .iter()
            .filter(|reading| reading.series.variable == Variable::WindDirection);
        directions.map(|reading| reading.value).collect::<Vec<_>>()
    };
    assert_eq!(direction("00000KT"), [0.0]);
    assert_eq!(direction("36005KT"), [360.0]);
    assert!(direction("VRB05KT").is_empty());
    assert!(direction("00005KT").is_empty());
    assert!(direction("///05KT").is_empty());
}

#[test]
fn metric_groups() {
    let shown = shown("UNNT 230030Z 23010MPS 4000 VV001 09/07 Q0992", MetarKind::Unknown);
    assert!(shown.contains(&"windSpeed Average 2 36".to_owned()));
    assert!(shown.contains(&"visibility Instantaneous 0 4".to_owned()));
    assert!(shown.contains(&"ceilingHeight Instantaneous 0 30.48".to_owned()));
    let cavok = self::shown("EGLL 230030Z 27020KMH CAVOK", MetarKind::Unknown);
    assert!(cavok.contains(&"visibility Instantaneous 0 10".to_owned()));
    assert!(cavok.contains(&"windSpeed Average 2 20".to_owned()));
}

#[test]
fn the_station_pressure_needs_the_altitude() {
    let text = "KABQ 312352Z A2980";
    let report = report_of(text, MetarKind::Unknown, None);
    let [altimeter] = report.readings.as_slice() else { panic!("one reading") };
    assert_eq!(altimeter.series.variable, Variable::AltimeterSetting);
    let report = report_of(text, MetarKind::Unknown, Some(500.0));
    let [pressure, _] = report.readings.as_slice() else { panic!("two readings") };
    assert_eq!(pressure.series.variable, Variable::BarometricPressure);
    assert!(pressure.series.calculated);
    assert_eq!((pressure.value * 1000.0).round(), 950_965.0);
}

#[test]
fn present_weather_is_none_if_nothing_is_said_about_it() {
    let weather = |text: &str| report_of(text, MetarKind::Unknown, None).present_weather;
    assert_eq!(weather("KBUF 312354Z NIL"), None);
    assert_eq!(weather("KBUF 312354Z"), None);
    assert_eq!(weather("KBUF 312354Z AUTO 10SM //"), None);
    assert_eq!(weather("KBUF 312354Z AUTO 10SM RMK PWINO"), None);
    assert_eq!(weather("KBUF 312354Z 10SM CLR"), Some(Vec::new()));
    let both = vec!["Light snow".to_owned(), "Mist".to_owned()];
    assert_eq!(weather("KBUF 312354Z 2SM -SN BR RERA"), Some(both));
}

#[test]
fn a_nil_report_has_no_readings_and_a_correction_its_revision() {
    let nil = report_of("KBUF 312354Z NIL", MetarKind::Routine, Some(218.0));
    assert!(nil.readings.is_empty());
    assert_eq!(report_of("CYYZ 312354Z CCB 00000KT", MetarKind::Routine, None).revision, 2);
}

#[test]
fn a_report_says_beside_the_number_what_is_a_trace_and_what_a_bound() {
    use Qualifier::{AtLeast, LessThan, Trace};
    let of = |text: &str, variable: Variable| {
        let report = report_of(text, MetarKind::Routine, None);
        let readings = report.readings.iter().filter(|one| one.series.variable == variable);
        readings.map(|one| (one.value, one.qualifier)).collect::<Vec<_>>()
    };
    // KBUF 2020-01-01 05:54, with traces of one hour, six hours and of ice.
    let traces = "METAR KBUF 010554Z 26015KT 10SM -SN OVC027 M01/M06 A3003 RMK AO2 P0000 60000 \
                  70012 I1000";
    assert_eq!(
        of(traces, Variable::Precipitation),
        [(0.0, Some(Trace)), (0.0, Some(Trace)), (3.048, None)]
    );
    assert_eq!(of(traces, Variable::IceAccretion), [(0.0, Some(Trace))]);
    // Canada's words give an amount, which may be none.
    let words = "METAR CYYZ 010500Z 26015KT 15SM OVC027 M01/M06 A3003 RMK PCPN 0.0MM PAST HR";
    assert_eq!(of(words, Variable::Precipitation), [(0.0, None)]);
    for (seen, value, qualifier) in [
        ("M1/4SM", 0.402_336, Some(LessThan)),
        ("1/4SM", 0.402_336, None),
        ("P6SM", 9.656_064, Some(AtLeast)),
        ("9999", 10.0, Some(AtLeast)),
        ("CAVOK", 10.0, Some(AtLeast)),
        ("8000", 8.0, None),
        ("15SM", 24.140_16, None),
        ("10SM", 16.093_44, None),
    ] {
        let text = format!("METAR CYYZ 010500Z 26015KT {seen} M01/M06 A3003");
        assert_eq!(of(&text, Variable::Visibility), [(value, qualifier)], "{seen}");
    }
    // Stations with AO1 or AO2 report no more than ten miles.
    let automated = "METAR KBUF 010554Z 26015KT 10SM CLR M01/M06 A3003 RMK AO1";
    assert_eq!(of(automated, Variable::Visibility), [(16.093_44, Some(AtLeast))]);
}
