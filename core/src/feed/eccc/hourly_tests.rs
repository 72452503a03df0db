use super::*;

fn document(dataset: &str, made: &str, elements: &str) -> String {
    format!(
        "<om:ObservationCollection xmlns:om=\"o\" xmlns=\"{SCHEMA}\"><om:Observation>\
         <general><dataset name=\"x/{dataset}-1.0-ascii/\"/></general><identification-elements>\
         <element name=\"observation_date_utc\" value=\"{made}\"/>\
         <element name=\"climate_station_number\" value=\"1100031\"/></identification-elements>\
         <elements>{elements}</elements></om:Observation></om:ObservationCollection>"
    )
}

fn read_all(text: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let summary = read_eccc_hourly(text.as_bytes(), |item| all.push(item)).unwrap();
    (all, summary)
}

fn reasons(text: &str) -> Vec<String> {
    read_all(text).1.refusals.iter().map(|refusal| refusal.reason.to_string()).collect()
}

#[test]
fn yesterday_ends_at_the_last_06_utc() {
    let end = |made| {
        let (all, summary) = read_all(&document("wxo_dd_yesterday_summary", made, ""));
        assert_eq!(summary.refused, 0, "{made}");
        crate::time::Iso8601(all[0].report.ts_ms).to_string()
    };
    assert_eq!(end("2016-06-16T23:45:00.000Z"), "2016-06-16T06:00:00Z");
    assert_eq!(end("2016-06-16T08:00:00.000Z"), "2016-06-16T06:00:00Z");
    assert_eq!(end("2016-06-16T05:59:59.000Z"), "2016-06-15T06:00:00Z");
    for made in ["2016-06-16T06:00:00.000Z", "2016-06-16T07:59:00.000Z"] {
        assert_eq!(
            reasons(&document("wxo_dd_yesterday_summary", made, "")),
            [format!(
                "\"{made}\" is not a time at which yesterday is certain: from 06 to before 08 \
                 UTC the file may be of the day before"
            )]
        );
    }
}

#[test]
fn another_summary_is_refused() {
    assert_eq!(
        reasons(&document("wxo_dd_today_summary", "2016-06-16T23:45:00.000Z", "")),
        ["\"x/wxo_dd_today_summary-1.0-ascii/\" is not a data set of this hour's or yesterday's \
             summary"]
    );
}

#[test]
fn a_station_without_an_id_or_a_time_is_refused() {
    let text = document("wxo_dd_hour_summary", "", "");
    assert_eq!(reasons(&text), ["no observation_date_utc"]);
    assert_eq!(reasons(&text.replace("1100031", "")), ["no climate_station_number"]);
}

#[test]
fn points_of_the_compass_are_degrees() {
    for (point, degrees) in
        [("N", 360.0), ("NNE", 22.5), ("E", 90.0), ("SSW", 202.5), ("O", 270.0), ("ONO", 292.5)]
    {
        assert_eq!(compass_degrees(point), Some(degrees), "{point}");
    }
    for point in ["", "n", "NNNE", "VR", "X"] {
        assert_eq!(compass_degrees(point), None, "{point}");
    }
}

#[test]
fn invalid_values_are_counted() {
    let elements = "<element name=\"air_temperature\" uom=\"Celsius\" value=\"cold\"/>\
        <element name=\"dew_point\" uom=\"Celsius\" value=\"5.7\"/>\
        <element name=\"dew_point\" uom=\"Celsius\" value=\"5.8\"/>\
        <element name=\"wind_direction\" uom=\"code\" value=\"\"/>\
        <element name=\"humidex\" uom=\"unitless\" value=\"31\"/>";
    let (all, summary) =
        read_all(&document("wxo_dd_hour_summary", "2016-06-16T23:45:00.000Z", elements));
    let values: Vec<_> = all[0].report.readings.iter().map(|one| one.value).collect();
    assert_eq!(values, [5.7, 31.0]);
    assert_eq!(all[0].report.readings[1].series.variable, Variable::Humidex);
    assert_eq!(all[0].report.present_weather, None);
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("air_temperature", 1)]);
    let left: Vec<_> = summary.without_variable.iter().collect();
    assert_eq!(left, [("dew_point", 1)]);
}

#[test]
fn a_trace_of_precipitation_is_0_and_says_so() {
    let of = |value: &str| {
        let element =
            format!("<element name=\"total_precipitation\" uom=\"mm\" value=\"{value}\"/>");
        let (all, _) =
            read_all(&document("wxo_dd_yesterday_summary", "2016-06-16T23:45:00.000Z", &element));
        let readings = all[0].report.readings.iter();
        readings.map(|one| (one.value, one.qualifier)).collect::<Vec<_>>()
    };
    assert_eq!(of("Trace"), [(0.0, Some(Qualifier::Trace))]);
    assert_eq!(of("0.0"), [(0.0, None)]);
}
