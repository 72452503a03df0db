//! A decoded METAR as the service's series, in canonical units.

use std::borrow::Cow;

use super::metar_item::MetarItem;
use super::{
    Altimeter, Bound, DistanceUnit, Metar, MetarVisibility, PressureTendency, SkyCover, WindFrom,
};
use crate::derived::{roughness_m, station_pressure_hpa, wind_at_10m};
use crate::feed::collect::layer_label;
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::geo::LonLat;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Max, Min, Unknown};
use crate::observation::{
    EarlierPlaces, IdScheme, Identifiers, IntervalType, Qualifier, Reading, Report, ReportText,
    SeriesKey, Station, StationId, StationType, Variable,
};
use crate::time::MINUTE_MS;
use crate::unit::{Conversion, Unit, feet_to_m, knots_to_kmh};

/// Network that stations of METAR reports belong to.
pub const METAR_NETWORK: &str = "METAR";

/// Height of the wind sensor above ground: 10 m by rule (ICAO Annex 3, appendix 3, 4.1; FMH-1,
/// chapter 5).
pub(in crate::feed) const SENSOR_HEIGHT_M: f64 = 10.0;
/// Oldest peak wind: it counts from the last routine report, which is an hour old, or two if one is
/// missing.
const MAX_PEAK_AGE_MINUTES: i64 = 120;

/// Room for the readings of nine reports in ten. It takes less than a kilobyte: up to that size an
/// allocator keeps freed memory at hand.
const USUAL_READINGS: usize = 14;

/// Aerodromes are open country.
pub(in crate::feed) const EXPOSURE: StationType = StationType::OpenCountry;

/// The station of METAR reports with an ICAO location indicator.
///
/// Its wind sensor is at 10 m and in the open, as the rules for aerodromes require. Without a name,
/// the indicator is the name.
///
/// ```
/// use mesonet::{LonLat, StationId, feed::metar_station};
/// let station = metar_station("CYYZ", None, LonLat::new(-79.63, 43.68)?, Some(173.0));
/// assert_eq!(station.id, StationId::new("METAR", "CYYZ"));
/// assert_eq!((station.name.as_str(), station.sensor_height_m), ("CYYZ", 10.0));
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
pub fn metar_station(
    native_id: &str,
    name: Option<&str>,
    place: LonLat,
    altitude_m: Option<f64>,
) -> Station {
    Station {
        id: StationId::new(METAR_NETWORK, native_id),
        network: METAR_NETWORK.to_owned(),
        native_id: native_id.to_owned(),
        name: name.unwrap_or(native_id).to_owned(),
        station_type: Some(EXPOSURE),
        coordinates: place,
        sensor_height_m: SENSOR_HEIGHT_M,
        altitude_m,
        identifiers: Identifiers::default().with(IdScheme::Icao, native_id),
        earlier_places: EarlierPlaces::default(),
    }
}

/// The report of a decoded METAR: its values as readings in canonical units, not yet checked.
///
/// | Group | Series |
/// | --- | --- |
/// | wind | windSpeed, windDirection Average 2; windGust Max 10; calculated windSpeed10m, windGust10m |
/// | `PK WND` | windGust Max 60; see also [`metar_peak_wind`] |
/// | sky | cloudCover, cloudBaseHeight Instantaneous, a bucket for each layer: `layer 1` … |
/// | visibility, ceiling | visibility, ceilingHeight Instantaneous |
/// | temperatures, `T` | airTemperature, dewPointTemperature Instantaneous |
/// | `SLP` | mslp Instantaneous |
/// | altimeter | altimeterSetting Instantaneous; calculated barometricPressure Instantaneous |
/// | `5appp` | pressureTendency Cumulative 180; pressureTendencyCharacter Unknown 180 |
/// | `P`, `6`, `7` | precipitation Cumulative 60; 180 or 360; 1440 |
/// | `PCPN …MM PAST HR` | precipitation Cumulative 60 |
/// | `I1`, `I3`, `I6` | iceAccretion Cumulative 60; 180; 360 |
/// | `4/`, `931` | snowDepth Instantaneous; snowfall Cumulative 360 |
/// | `1`, `2`, `4` | airTemperature Max and Min 360; 1440 |
///
/// Where a group leaves a choice:
/// - The tenths of the `T` group win over the whole degrees of the body, unless they are more than
///   a degree apart.
/// - A calm has speed 0 and direction 0, as reported; north is 360. `VRB` has a speed and no
///   direction; a direction of 000 with a speed means nothing and is left out.
/// - A bound counts as its value: P6SM is 6 miles, M1/4SM a quarter of a mile, 9999 and CAVOK 10
///   km.
/// - A trace of precipitation or ice (`P0000`, `60000`, `I1000`) is 0 with the qualifier Trace. A
///   visibility has a qualifier where the report bounds it: `M1/4SM` is less than 1/4 mile, `P6SM`,
///   `9999` and CAVOK are that or more, and so are the 10SM of a station with AO1 or AO2, which
///   reports no more: the Aviation Weather Center has `10+` for each of 12,087 such reports of
///   2024-08-03, and for none of 15SM.
/// - `P`, `I1` and `PK WND` count from the last routine report. That is an hour in an hourly
///   report. A report of minute 45 to 59 or 0 is hourly if it is not called SPECI, or if it has
///   sea-level pressure or groups of 3, 6 or 24 hours, which only routine reports have (FMH-1,
///   chapter 12). A report of minute 1 to 20 is hourly if it has groups of 3, 6 or 24 hours. In
///   other reports these groups are left out.
/// - The `6` group covers 6 or 3 hours, depending on its [nominal hour](Metar::nominal_hour); `1`,
///   `2` and `931` cover 6 hours and are left out if that is not 0, 6, 12 or 18 UTC.
///
/// The character of the pressure tendency is a figure of WMO code table 0200; no interval type fits
/// a code. The tendency is negative if the character is a fall. The cover of a layer is
/// [`SkyCover::oktas`]; a hidden sky has a cover of 8 and no base, its vertical visibility is the
/// ceiling. Layers are in the order of the report, usually the lowest first.
///
/// The wind is an average of 2 minutes in Canada and the United States;
/// elsewhere ICAO requires 10.
///
/// `item.altitude_m` is needed only for the station pressure; if the feed does not give it but
/// the station is known, fill it in. A `NIL` report has no readings.
///
/// Present weather is in English, without weather that has ended (`RE`); it is `None` if the report
/// gives no information: no body, `//`, or a sensor that is out of order.
///
/// ```
/// use mesonet::Variable;
/// use mesonet::feed::{metar_report, read_bulletins};
/// use mesonet::time::parse_instant;
/// let text = "METAR KBUF 312354Z 21014KT 1SM -SN OVC012 02/M07 A2973 RMK AO2 T00221067=";
/// let received_ms = parse_instant("2020-01-01T00:01:00Z").unwrap();
/// read_bulletins(text.as_bytes(), received_ms, |item| {
///     let report = metar_report(&item);
///     assert_eq!(report.present_weather, Some(vec!["Light snow".to_owned()]));
///     let value = |variable| {
///         report.readings.iter().find(|reading| reading.series.variable == variable).unwrap().value
///     };
///     assert_eq!(value(Variable::AirTemperature), 2.2);
///     assert_eq!(value(Variable::WindSpeed10m), 25.928);
///     assert_eq!(value(Variable::Visibility), 1.609344);
///     assert_eq!(value(Variable::CeilingHeight), 365.76);
/// })?;
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn metar_report(item: &MetarItem<'_>) -> Report {
    report_of(item, StationId::new(METAR_NETWORK, item.native_id))
}

fn report_of(item: &MetarItem<'_>, station: StationId) -> Report {
    let metar = &item.metar;
    let mut readings = ReportReadings(Vec::with_capacity(USUAL_READINGS));
    if !metar.nil {
        temperatures(metar, &mut readings);
        wind(metar, &mut readings);
        pressures(metar, item.altitude_m, &mut readings);
        sky(metar, &mut readings);
        layers(metar, &mut readings);
        hourly(metar, metar.is_hourly(item.kind), &mut readings);
        totals(metar, &mut readings);
    }
    Report {
        station,
        ts_ms: item.ts_ms,
        revision: metar.revision,
        present_weather: present_weather(metar),
        text: ReportText::new(item.raw_text, item.header),
        readings: readings.0,
    }
}

/// The peak wind of a decoded METAR, as a report for the moment when it blew: peakWindSpeed and
/// peakWindDirection Instantaneous. `None` if there is no peak wind.
///
/// The reading has the time of the peak, because a peak is an event. So a peak that a special
/// report and the routine report after it both state is one reading, and the peak of a special
/// report is not lost. The time is the last such time before the report. A peak that would be more
/// than two hours old has a false time and is left out. As the extreme of the hour, in
/// [`metar_report`], it remains windGust Max 60.
///
/// ```
/// use mesonet::feed::{metar_peak_wind, read_bulletins};
/// use mesonet::{Iso8601, Variable, time::parse_instant};
/// let text = "METAR KBUF 010054Z 21014KT 02/M07 A2973 RMK AO2 PK WND 22030/2356=";
/// let received_ms = parse_instant("2020-01-01T01:01:00Z").unwrap();
/// read_bulletins(text.as_bytes(), received_ms, |item| {
///     let peak = metar_peak_wind(&item).unwrap();
///     assert_eq!(Iso8601(peak.ts_ms).to_string(), "2019-12-31T23:56:00Z");
///     assert_eq!(peak.readings[0].series.variable, Variable::PeakWindSpeed);
///     assert_eq!((peak.readings[0].value, peak.readings[1].value), (55.56, 220.0));
/// })?;
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn metar_peak_wind(item: &MetarItem<'_>) -> Option<Report> {
    peak_wind_of(item, || StationId::new(METAR_NETWORK, item.native_id))
}

fn peak_wind_of(item: &MetarItem<'_>, station: impl FnOnce() -> StationId) -> Option<Report> {
    let metar = &item.metar;
    let peak = metar.remarks.peak_wind.filter(|_| !metar.nil)?;
    let minute_of_day = |hour: u8, minute: u8| i64::from(hour) * 60 + i64::from(minute);
    let minutes_ago = match peak.hour {
        Some(hour) => (minute_of_day(metar.hour, metar.minute) - minute_of_day(hour, peak.minute))
            .rem_euclid(24 * 60),
        None => (i64::from(metar.minute) - i64::from(peak.minute)).rem_euclid(60),
    };
    let speed_kmh = knots_to_kmh(f64::from(peak.speed_kt));
    let direction = peak.from_degrees.map(f64::from);
    let report = peak_wind_report(station(), item.ts_ms, minutes_ago, speed_kmh, direction)?;
    Some(Report { revision: metar.revision, ..report })
}

/// A peak wind as a report for the time when it blew; `None` if that time is in the future, or
/// longer ago than such a peak can be. A direction of 0 means nothing and is left out.
pub(super) fn peak_wind_report(
    station: StationId,
    ts_ms: i64,
    minutes_ago: i64,
    speed_kmh: f64,
    direction: Option<f64>,
) -> Option<Report> {
    if !(0..=MAX_PEAK_AGE_MINUTES).contains(&minutes_ago) {
        return None;
    }
    let mut readings = ReportReadings(Vec::with_capacity(2));
    readings.add(Variable::PeakWindSpeed, Instantaneous, 0, Some(speed_kmh));
    let direction = direction.filter(|&degrees| degrees > 0.0);
    readings.add(Variable::PeakWindDirection, Instantaneous, 0, direction);
    let ts_ms = ts_ms.saturating_sub(minutes_ago * MINUTE_MS);
    Some(Report {
        station,
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: readings.0,
    })
}

/// A decoded METAR with its station, as [`Kind::read`](crate::feed::Kind::read) gives it: the
/// report of [`metar_peak_wind`], then the report of [`metar_report`]. If the file gives no
/// altitude, that of the known station is used.
///
/// ```
/// use mesonet::feed::{FileContext, metar_feed_report, read_bulletins};
/// let text = "METAR KBUF 010054Z 21014KT 02/M07 A2973 RMK AO2 PK WND 22030/2356=";
/// let file = FileContext::new("sa.txt", mesonet::time::parse_instant("2020-01-01T01:01:00Z").unwrap());
/// read_bulletins(text.as_bytes(), file.received_ms, |item| {
///     let report = metar_feed_report(item, &file);
///     assert_eq!((report.station.native_id.as_str(), report.readings()), ("KBUF", 9));
///     assert!(report.earlier.is_some());
/// })?;
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn metar_feed_report(mut item: MetarItem<'_>, file: &FileContext<'_>) -> FeedReport {
    let station = FeedStation {
        place: item.place,
        altitude_m: item.altitude_m,
        sensor_height_m: Some(SENSOR_HEIGHT_M),
        station_type: Some(EXPOSURE),
        identifiers: Identifiers::default().with(IdScheme::Icao, item.native_id),
        ..FeedStation::new(METAR_NETWORK, item.native_id)
    };
    // The hash costs a tenth of the reading, so it is computed once per report.
    let id = station.id();
    if item.altitude_m.is_none() {
        // Used only for the pressure: the report itself does not give it for the station.
        item.altitude_m = (file.known)(id).and_then(|known| known.altitude_m);
    }
    FeedReport { station, report: report_of(&item, id), earlier: peak_wind_of(&item, || id) }
}

/// Collects readings.
struct ReportReadings(Vec<Reading>);

impl ReportReadings {
    fn add(&mut self, variable: Variable, kind: IntervalType, minutes: i32, value: Option<f64>) {
        self.push(SeriesKey::new(variable, kind, minutes), value);
    }

    fn add_qualified(
        &mut self,
        variable: Variable,
        kind: IntervalType,
        minutes: i32,
        value: Option<f64>,
        qualifier: Option<Qualifier>,
    ) {
        let series = SeriesKey::new(variable, kind, minutes);
        let reading = |value| Reading { qualifier, ..Reading::unchecked(series, value) };
        self.0.extend(value.map(reading));
    }

    /// Adds hundredths of an inch; 0 is a trace, because a report leaves out amounts when there
    /// were none.
    fn add_amount(&mut self, variable: Variable, minutes: i32, hundredths_in: Option<u16>) {
        let qualifier = (hundredths_in == Some(0)).then_some(Qualifier::Trace);
        let amount_mm = hundredths_in.map(hundredths_inch_to_mm);
        self.add_qualified(variable, Cumulative, minutes, amount_mm, qualifier);
    }

    fn add_calculated(
        &mut self,
        variable: Variable,
        kind: IntervalType,
        minutes: i32,
        value: Option<f64>,
    ) {
        self.push(SeriesKey::new(variable, kind, minutes).calculated(), value);
    }

    fn push(&mut self, series: SeriesKey, value: Option<f64>) {
        self.0.extend(value.map(|value| Reading::unchecked(series, value)));
    }
}

/// Tenths as the nearest double.
fn tenths(tenths: i16) -> f64 {
    f64::from(tenths) / 10.0
}

/// Hundredths of an inch in millimetres. The whole number is converted: 7 hundredths give 1.778 mm,
/// 0.07 in do not.
fn hundredths_inch_to_mm(hundredths_in: u16) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::HundredthInch, Unit::Millimetre);
    CONVERSION.apply(f64::from(hundredths_in))
}

fn inches_to_cm(depth_in: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::Inch, Unit::Centimetre);
    CONVERSION.apply(depth_in)
}

fn temperatures(metar: &Metar, readings: &mut ReportReadings) {
    let Metar { remarks, .. } = metar;
    let air = metar.air_temperature_tenths_c();
    readings.add(Variable::AirTemperature, Instantaneous, 0, air.map(tenths));
    let dew_point = metar.dew_point_temperature_tenths_c();
    readings.add(Variable::DewPointTemperature, Instantaneous, 0, dew_point.map(tenths));
    if metar.nominal_hour().is_multiple_of(6) {
        let (max, min) = (remarks.max_6h_tenths_c, remarks.min_6h_tenths_c);
        readings.add(Variable::AirTemperature, Max, 360, max.map(tenths));
        readings.add(Variable::AirTemperature, Min, 360, min.map(tenths));
    }
    let (max, min) = (remarks.max_24h_tenths_c, remarks.min_24h_tenths_c);
    readings.add(Variable::AirTemperature, Max, 1440, max.map(tenths));
    readings.add(Variable::AirTemperature, Min, 1440, min.map(tenths));
}

fn wind(metar: &Metar, readings: &mut ReportReadings) {
    let Some(wind) = metar.wind else { return };
    let kmh = |speed| wind.unit.kmh(speed);
    let at_10m = |speed: f64| wind_at_10m(speed, SENSOR_HEIGHT_M, roughness_m(EXPOSURE));
    let (speed, gust) = (wind.speed.map(kmh), wind.gust.map(kmh));
    readings.add(Variable::WindSpeed, Average, 2, speed);
    readings.add(Variable::WindGust, Max, 10, gust);
    readings.add_calculated(Variable::WindSpeed10m, Average, 2, speed.and_then(at_10m));
    readings.add_calculated(Variable::WindGust10m, Max, 10, gust.and_then(at_10m));
    let direction = match wind.from {
        WindFrom::Degrees(0) => (wind.speed == Some(0)).then_some(0.0),
        WindFrom::Degrees(degrees) => Some(f64::from(degrees)),
        WindFrom::Variable | WindFrom::Missing => None,
    };
    readings.add(Variable::WindDirection, Average, 2, direction);
}

fn pressures(metar: &Metar, altitude_m: Option<f64>, readings: &mut ReportReadings) {
    let mslp = metar.sea_level_pressure_tenths_hpa().map(|tenths| f64::from(tenths) / 10.0);
    readings.add(Variable::Mslp, Instantaneous, 0, mslp);
    let station =
        metar.altimeter.map(Altimeter::hpa).zip(altitude_m).and_then(
            |(altimeter_hpa, altitude_m)| station_pressure_hpa(altimeter_hpa, altitude_m),
        );
    readings.add_calculated(Variable::BarometricPressure, Instantaneous, 0, station);
    let altimeter = metar.altimeter.map(Altimeter::hpa);
    readings.add(Variable::AltimeterSetting, Instantaneous, 0, altimeter);
    if let Some(PressureTendency { characteristic, change_tenths_hpa }) =
        metar.remarks.pressure_tendency
    {
        let change_hpa = tenths(change_tenths_hpa);
        readings.add(Variable::PressureTendency, Cumulative, 180, Some(change_hpa));
        let character = Variable::PressureTendencyCharacter;
        readings.add(character, Unknown, 180, Some(f64::from(characteristic)));
    }
}

fn sky(metar: &Metar, readings: &mut ReportReadings) {
    let (seen, bound) = (metar.visibility.map(MetarVisibility::km), visibility_qualifier(metar));
    readings.add_qualified(Variable::Visibility, Instantaneous, 0, seen, bound);
    let ceiling_m = metar.ceiling_ft().map(|ceiling_ft| feet_to_m(f64::from(ceiling_ft)));
    readings.add(Variable::CeilingHeight, Instantaneous, 0, ceiling_m);
}

/// The highest visibility in statute miles that automated stations of the United States report.
const HIGHEST_AUTOMATED_SM: f64 = 10.0;

/// The qualifier of a visibility. Ten miles from an automated station mean ten or more, as the
/// Aviation Weather Center decodes them.
fn visibility_qualifier(metar: &Metar) -> Option<Qualifier> {
    let MetarVisibility { distance, unit, bound } = metar.visibility?;
    let is_highest = unit == DistanceUnit::StatuteMile
        && distance == HIGHEST_AUTOMATED_SM
        && metar.remarks.automated.is_some();
    match bound {
        Bound::Less => Some(Qualifier::LessThan),
        Bound::More => Some(Qualifier::AtLeast),
        Bound::Exact => is_highest.then_some(Qualifier::AtLeast),
    }
}

/// Cover and base of each layer; the height of a hidden sky is not a base.
fn layers(metar: &Metar, readings: &mut ReportReadings) {
    for (index, layer) in metar.sky.iter().enumerate() {
        let base_ft = layer.base_ft.filter(|_| layer.cover != SkyCover::Obscured);
        let base_m = base_ft.map(|base_ft| feet_to_m(f64::from(base_ft)));
        let oktas = layer.cover.oktas().map(f64::from);
        for (variable, value) in
            [(Variable::CloudCover, oktas), (Variable::CloudBaseHeight, base_m)]
        {
            if let Some(label) = layer_label(index) {
                let bucket = Cow::Borrowed(label);
                let series = SeriesKey::new(variable, Instantaneous, 0);
                readings.push(SeriesKey { bucket, ..series }, value);
            }
        }
    }
}

fn hourly(metar: &Metar, is_hourly: bool, readings: &mut ReportReadings) {
    let Metar { remarks, .. } = metar;
    let of_group = remarks.hourly_precipitation_hundredths_in.filter(|_| is_hourly);
    let of_words = remarks.past_hour_precipitation_tenths_mm;
    if of_group.is_some() {
        readings.add_amount(Variable::Precipitation, 60, of_group);
    } else {
        let amount_mm = of_words.map(|tenths_mm| f64::from(tenths_mm) / 10.0);
        readings.add(Variable::Precipitation, Cumulative, 60, amount_mm);
    }
    let peak = remarks.peak_wind.filter(|_| is_hourly);
    let peak_kmh = peak.map(|peak| knots_to_kmh(f64::from(peak.speed_kt)));
    readings.add(Variable::WindGust, Max, 60, peak_kmh);
    let ice = remarks.ice_1h_hundredths_in.filter(|_| is_hourly);
    readings.add_amount(Variable::IceAccretion, 60, ice);
}

fn totals(metar: &Metar, readings: &mut ReportReadings) {
    let Metar { remarks, .. } = metar;
    if let Some(minutes) = metar.six_group_minutes() {
        let amount = remarks.six_group_hundredths_in;
        readings.add_amount(Variable::Precipitation, i32::from(minutes), amount);
    }
    for (minutes, ice) in [(180, remarks.ice_3h_hundredths_in), (360, remarks.ice_6h_hundredths_in)]
    {
        readings.add_amount(Variable::IceAccretion, minutes, ice);
    }
    let daily = remarks.daily_precipitation_hundredths_in;
    readings.add_amount(Variable::Precipitation, 1440, daily);
    let depth_cm = remarks.snow_depth_in.map(|depth_in| inches_to_cm(f64::from(depth_in)));
    readings.add(Variable::SnowDepth, Instantaneous, 0, depth_cm);
    if metar.nominal_hour().is_multiple_of(6) {
        let fall_mm = remarks.snowfall_tenths_in.map(|tenths| hundredths_inch_to_mm(tenths * 10));
        readings.add(Variable::Snowfall, Cumulative, 360, fall_mm);
    }
}

fn present_weather(metar: &Metar) -> Option<Vec<String>> {
    let blind = metar.weather.is_empty()
        && (metar.weather_missing || metar.remarks.outages.present_weather);
    (metar.has_body() && !blind && !metar.nil).then(|| {
        metar.weather.iter().filter(|weather| !weather.recent).map(ToString::to_string).collect()
    })
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
