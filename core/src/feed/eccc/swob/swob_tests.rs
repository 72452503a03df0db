use super::*;
use crate::observation::IntervalType::{Average, Max};
use crate::observation::{BaseQuality, Quality, ReasonQuality};
use crate::time::parse_instant;

fn document(identification: &str, elements: &str) -> String {
    format!(
        "<om:ObservationCollection xmlns:om=\"http://www.opengis.net/om/1.0\" xmlns=\"{SCHEMA}\">\
         <om:member>{}</om:member></om:ObservationCollection>",
        observation(identification, elements)
    )
}

fn observation(identification: &str, elements: &str) -> String {
    format!(
        "<om:Observation><om:metadata><set><general><dataset name=\"partners/x\"/></general>\
         <identification-elements>{identification}</identification-elements></set></om:metadata>\
         <om:result><elements>{elements}</elements></om:result></om:Observation>"
    )
}

fn element(name: &str, unit: &str, value: &str) -> String {
    format!("<element name=\"{name}\" uom=\"{unit}\" value=\"{value}\"/>")
}

fn judged(name: &str, unit: &str, value: &str, qa_summary: &str) -> String {
    format!(
        "<element name=\"{name}\" uom=\"{unit}\" value=\"{value}\">\
         <qualifier name=\"data_flag\" uom=\"code\" value=\"4\"/>\
         <qualifier name=\"qa_summary\" uom=\"unitless\" value=\"{qa_summary}\"/></element>"
    )
}

const IDENTIFICATION: &str = "<element name=\"date_tm\" value=\"2020-07-14T00:52:00.000Z\"/>\
    <element name=\"data_pvdr\" value=\"MSC\"/><element name=\"msc_id\" value=\"2300904\"/>";

fn read_one(identification: &str, elements: &str) -> (FeedReport, Summary) {
    let mut all = Vec::new();
    let text = document(identification, elements);
    let summary = read_swob(text.as_bytes(), |item| all.push(item)).unwrap();
    assert_eq!(all.len(), 1, "{:?}", summary.refusals);
    (all.remove(0), summary)
}

fn refusals(text: &str) -> Vec<String> {
    let summary = read_swob(text.as_bytes(), |_| {}).unwrap();
    assert_eq!(summary.read, 0);
    summary.refusals.iter().map(|refusal| refusal.reason.to_string()).collect()
}

#[test]
fn an_invalid_report_is_refused_and_the_next_one_read() {
    let good = observation(IDENTIFICATION, &element("air_temp", "°C", "1.5"));
    let text = format!(
        "<om:ObservationCollection xmlns:om=\"o\" xmlns=\"{SCHEMA}\">{}{}{good}\
         </om:ObservationCollection>",
        observation("", ""),
        observation("<element name=\"date_tm\" value=\"2020-07-14\"/>", ""),
    );
    let summary = read_swob(text.as_bytes(), |_| {}).unwrap();
    assert_eq!((summary.read, summary.refused), (1, 2));
    assert_eq!(summary.refusals[0].reason, RefusalReason::Without { what: "date_tm" });
    assert!(matches!(summary.refusals[1].reason, RefusalReason::Time(_)));
    assert_eq!(summary.refusals[0].excerpt, "partners/x");

    let time = "<element name=\"date_tm\" value=\"2020-07-14T00:52:00.000Z\"/>";
    assert_eq!(refusals(&document(time, "")), ["no data_pvdr"]);
    let missing =
        "<element name=\"data_pvdr\" value=\"MSC\"/><element name=\"msc_id\" value=\"MSNG\"/>";
    assert_eq!(refusals(&document(&format!("{time}{missing}"), "")), ["no msc_id"]);
}

#[test]
fn the_first_id_present_is_the_native_one() {
    let identification = format!(
        "{}<element name=\"tc_id\" value=\"WIN\"/><element name=\"clim_id\" value=\"12\"/>",
        IDENTIFICATION.replace("2300904", "MSNG")
    );
    assert_eq!(read_one(&identification, "").0.station.native_id, "12");
}

#[test]
fn corrections_have_a_higher_revision() {
    for (text, expected) in [("orig", 0), ("CCA", 1), ("ccb", 2), ("C", 3), ("COR", 1), ("é", 1)] {
        let identification = format!("{IDENTIFICATION}<element name=\"cor\" value=\"{text}\"/>");
        assert_eq!(read_one(&identification, "").0.report.revision, expected, "{text}");
    }
    let text = document(IDENTIFICATION, "");
    let mut revisions = Vec::new();
    for name in ["2013-09-20-1300-CYAZ-MAN-swob.xml", "2013-09-20-1300-CYAZ-MAN-CCB-swob.xml"] {
        let file = FileContext::new(name, 0);
        read(&mut text.as_bytes(), &file, &mut |item| revisions.push(item.report.revision))
            .unwrap();
    }
    assert_eq!(revisions, [0, 2]);
}

#[test]
fn the_verdict_of_the_provider_is_kept() {
    let elements = judged("air_temp", "°C", "1.5", "100")
        + &judged("rel_hum", "%", "60", "-10")
        + &judged("mslp", "hPa", "1013.0", "10")
        + &judged("stn_pres", "hPa", "1000.0", "55")
        + &judged("vis", "km", "10", "x")
        + &element("snw_dpth", "cm", "11");
    let (item, _) = read_one(IDENTIFICATION, &elements);
    let found: Vec<_> = item.report.readings.iter().map(|one| one.quality).collect();
    let of = |base| Quality { base, reason: ReasonQuality::Unknown };
    // In the order of the variables: air temperature, mslp, pressure, humidity, snow, visibility.
    let expected = [
        Quality::GOOD,
        of(BaseQuality::Doubtful),
        of(BaseQuality::Unknown),
        of(BaseQuality::Suppressed),
        Quality::UNCHECKED,
        Quality::UNCHECKED,
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_series_occurs_once() {
    let elements = judged("pcpn_amt_pst6hrs", "mm", "MSNG", "-1")
        + &judged("pcpn_amt_pst6hrs", "mm", "0.2", "100")
        + &element("pcpn_amt_pst6hrs", "mm", "0.3")
        + &element("max_wnd_spd_10m_pst10mts", "km/h", "19.5")
        + &element("max_wnd_gst_spd_10m_pst10mts", "km/h", "21")
        + &element("air_temp_2", "°C", "-3.1")
        + &element("air_temp_1", "°C", "MSNG")
        + &element("rel_hum", "%", "MSNG")
        + &element("rel_hum_1", "%", "50");
    let (item, summary) = read_one(IDENTIFICATION, &elements);
    let values: Vec<_> = item
        .report
        .readings
        .iter()
        .map(|one| (one.series.variable, &*one.series.bucket, one.value))
        .collect();
    assert_eq!(
        values,
        [
            (Variable::AirTemperature, "", -3.1),
            (Variable::WindGust10m, "", 21.0),
            (Variable::RelativeHumidity, "sensor 1", 50.0),
            (Variable::Precipitation, "", 0.2),
        ]
    );
    let left: Vec<_> = summary.without_variable.iter().collect();
    assert_eq!(left, [("max_wnd_spd_10m_pst10mts", 1), ("pcpn_amt_pst6hrs", 1)]);
}

#[test]
fn a_station_has_one_sensor_height() {
    let gauge = element("avg_wnd_spd_pcpn_gag_pst10mts", "km/h", "5");
    let at_3m = element("avg_wnd_spd_3m_pst10mts", "km/h", "6");
    let at_10m = element("avg_wnd_spd_10m_pst10mts", "km/h", "MSNG");
    let displaced = element("wnd_snsr_vert_disp", "m", "5.0");
    let unsaid = element("avg_wnd_spd_pst10mts", "km/h", "7");
    let wind = |elements: String| {
        let (item, summary) = read_one(IDENTIFICATION, &elements);
        let values = item.report.readings.iter();
        let values: Vec<_> =
            values.map(|one| format!("{} {}", one.series.bucket, one.value)).collect();
        (item.station.sensor_height_m, values.join("|"), summary.without_variable.total())
    };
    let all = gauge.clone() + &at_3m + &at_10m;
    assert_eq!(wind(all), (Some(10.0), "3 m 6|precipitation gauge 5".to_owned(), 0));
    let without_10m = gauge.clone() + &at_3m;
    assert_eq!(wind(without_10m), (Some(3.0), " 6|precipitation gauge 5".to_owned(), 0));
    // The displacement itself is counted.
    let displaced = at_3m + &unsaid + &displaced;
    assert_eq!(wind(displaced), (Some(5.0), " 7|3 m 6".to_owned(), 1));
    let twice = gauge.clone() + &element("avg_wnd_spd_pcpn_gag_pst10mts_2", "km/h", "4");
    assert_eq!(wind(twice), (None, "precipitation gauge 5".to_owned(), 1));
    let direction = element("avg_wnd_dir_pcpn_gag_pst10mts", "°", "90");
    assert_eq!(wind(direction), (None, String::new(), 1));
}

#[test]
fn single_sensors_of_what_a_map_does_not_show_are_series_of_their_own() {
    let elements = element("avg_snw_dpth_pst5mts_1", "cm", "-1")
        + &element("avg_snw_dpth_pst5mts_2", "cm", "MSNG")
        + &element("avg_snw_dpth_pst5mts_3", "cm", "2")
        + &element("avg_cum_pcpn_gag_wt_fltrd_pst5mts", "kg/m²", "309.8")
        + &element("avg_cum_pcpn_gag_wt_fltrd_pst5mts_1", "kg/m²", "302.8")
        + &element("air_temp_1", "°C", "3.1")
        + &element("air_temp_2", "°C", "3.2");
    let (item, summary) = read_one(IDENTIFICATION, &elements);
    let found: Vec<_> = item
        .report
        .readings
        .iter()
        .map(|one| (one.series.variable, &*one.series.bucket, one.value))
        .collect();
    assert_eq!(
        found,
        [
            (Variable::AirTemperature, "", 3.1),
            (Variable::SnowDepth, "", -1.0),
            (Variable::SnowDepth, "sensor 1", -1.0),
            (Variable::SnowDepth, "sensor 3", 2.0),
            (Variable::PrecipitationGaugeWeight, "", 309.8),
            (Variable::PrecipitationGaugeWeight, "sensor 1", 302.8),
        ]
    );
    assert_eq!(summary.without_variable.iter().collect::<Vec<_>>(), [("air_temp_2", 1)]);
}

#[test]
fn a_compass_code_is_degrees() {
    let direction = |code| {
        let (item, summary) = read_one(IDENTIFICATION, &element("wnd_dir_code", "code", code));
        let value = item.report.readings.first().map(|one| (one.value, one.series.clone()));
        (value, summary.unread_values.total())
    };
    let series = crate::observation::SeriesKey::new(Variable::WindDirection, Instantaneous, 0);
    for (code, degrees) in [("0", 0.0), ("1", 45.0), ("4", 180.0), ("8", 360.0)] {
        assert_eq!(direction(code), (Some((degrees, series.clone())), 0));
    }
    for code in ["9", "14", "-1", "N", "4.0"] {
        assert_eq!(direction(code), (None, 1));
    }
    assert_eq!(direction("MSNG"), (None, 0));
}

#[test]
fn a_value_that_is_not_a_number_is_counted() {
    let elements = element("air_temp", "°C", "cold")
        + &element("rel_hum", "%", "NaN")
        + &element("mslp", "furlong", "3")
        + &element("batry_volt", "V", "12.6");
    let (item, summary) = read_one(IDENTIFICATION, &elements);
    assert_eq!(item.report.readings.len(), 1);
    assert_eq!(item.report.readings[0].series.reported_unit, "furlong");
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("air_temp", 1), ("rel_hum", 1)]);
    assert_eq!(summary.without_variable.iter().collect::<Vec<_>>(), [("batry_volt", 1)]);
    assert_eq!(summary.kept_as_reported.total(), 1);
}

#[test]
fn units_may_be_written_with_character_references() {
    let elements = element("air_temp", "&#176;C", "7.4") + &element("rel_hum", "&#x25;", "9");
    let (item, summary) = read_one(IDENTIFICATION, &elements);
    assert_eq!(item.report.readings[0].series.reported_unit, "°C");
    assert_eq!(summary.kept_as_reported.total(), 0);
}

#[test]
fn the_wind_of_a_buoy_is_at_its_sensor() {
    let identification = format!(
        "{IDENTIFICATION}<element name=\"stn_typ\" code-type=\"buoy_type\" uom=\"code\" value=\"18\"/>"
    );
    let elements = element("avg_wnd_spd_pst10mts", "km/h", "24.1")
        + &element("max_avg_wnd_spd_pst10mts", "km/h", "29.9")
        + &element("wnd_snsr_vert_disp", "m", "5.0");
    let (item, _) = read_one(&identification, &elements);
    assert_eq!(item.station.station_type, Some(StationType::OpenWater));
    assert_eq!(item.station.sensor_height_m, Some(5.0));
    let series: Vec<_> = item
        .report
        .readings
        .iter()
        .map(|one| (one.series.variable, one.series.interval_type, one.value))
        .collect();
    assert_eq!(series, [(Variable::WindSpeed, Average, 24.1), (Variable::WindGust, Max, 29.9)]);
}

#[test]
fn a_layer_of_cloud_has_a_base_where_there_is_cloud() {
    let elements = element("cld_amt_code_1", "code", "3")
        + &element("cld_bas_hgt_1", "m", "2740")
        + &element("cld_amt_code_2", "code", "0")
        + &element("cld_bas_hgt_2", "m", "7620")
        + &element("cld_amt_code_3", "code", "9")
        + &element("cld_bas_hgt_3", "m", "60")
        + &element("cld_bas_hgt_4", "m", "90");
    let (item, summary) = read_one(IDENTIFICATION, &elements);
    let found: Vec<_> =
        item.report.readings.iter().map(|one| (&*one.series.bucket, one.value)).collect();
    assert_eq!(found, [("layer 1", 2740.0)]);
    let left: Vec<_> = summary.without_variable.iter().map(|(name, _)| name).collect();
    assert!(left.ends_with(&["cld_bas_hgt_2", "cld_bas_hgt_3", "cld_bas_hgt_4"]), "{left:?}");
}

#[test]
fn a_peak_wind_is_a_report_of_its_own_time() {
    let peak = |time: &str| {
        let elements = judged("max_pk_wnd_spd_10m_pst1hr", "km/h", "38.9", "100")
            + &element("wnd_dir_10m_pst1hr_pk_spd", "°", "86")
            + &element("max_pk_wnd_tm_pst1hr", "datetime", time);
        let (item, summary) = read_one(IDENTIFICATION, &elements);
        assert_eq!(item.report.readings, []);
        (item.earlier, summary.without_variable.total())
    };
    let (report, left) = peak("2020-07-14T00:32:00.000Z");
    let report = report.unwrap();
    assert_eq!((report.ts_ms, left), (parse_instant("2020-07-14T00:32:00Z").unwrap(), 0));
    let found: Vec<_> =
        report.readings.iter().map(|one| (one.series.variable, one.value, one.quality)).collect();
    let expected = [
        (Variable::PeakWindSpeed, 38.9, Quality::GOOD),
        (Variable::PeakWindDirection, 86.0, Quality::UNCHECKED),
    ];
    assert_eq!(found, expected);
    // Of the hour before, of the future, of no time.
    for time in ["2020-07-13T23:51:59Z", "2020-07-14T00:53:00Z", "0032"] {
        assert_eq!(peak(time), (None, 3), "{time}");
    }
}
