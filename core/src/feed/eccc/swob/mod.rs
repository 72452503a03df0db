//! SWOB-ML 2.0, the Meteorological Service of Canada's markup of surface weather observations.

mod element;
mod peak_wind;
mod sky;
mod verdict;

use std::borrow::Cow;
use std::io::BufRead;

use self::element::{ElementMeaning, WindHeight, meaning};
use self::verdict::verdict;
use super::point_observation::{Element, PointObservation, read_point_observations};
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, RefusalReason, Summary, Tally};
use crate::observation::IntervalType::Instantaneous;
use crate::observation::{IdScheme, Identifiers, Report, StationType, Variable};
use crate::unit::Vocabulary;

/// The default namespace of the documents.
const SCHEMA: &str = "http://dms.ec.gc.ca/schema/point-observation/2.0";

/// Reads the observations of a SWOB-ML 2.0 document and visits each.
///
/// A document has one `om:Observation`, or a collection of them. The network is the provider that
/// the observation names (`data_pvdr`: MSC, NAV CANADA, DND, DFO-CCG, BC-FLNR-BCWS, …). The
/// Service's own moored buoys name no provider and are recognized by their data set. The native id
/// is the first of `msc_id`, `clim_id`, `icao_stn_id`, `tc_id`, `wmo_synop_id`, `stn_id` and
/// `nesdis_id` that is present: every provider gives `msc_id`, and it is unique across all
/// providers. The same place in another feed, such as METAR, belongs to another network and so is
/// another station.
///
/// The name of an element tells how its values are obtained. `pst` is a past period, in minutes
/// (`_pst1mt`, `_pst10mts`) or hours (`_pst1hr`, `_pst24hrs`); `avg_`, `max_`, `min_` and `tot_`
/// tell how a value represents it; without a period it is instantaneous.
///
/// | Element | Series |
/// | --- | --- |
/// | `air_temp`, `dwpt_temp`, `wetblb_temp`, `rel_hum` | airTemperature, dewPointTemperature, wetBulbTemperature, relativeHumidity |
/// | `mslp`, `stn_pres`, `vis`, `snw_dpth`, `sea_sfc_temp` | mslp, barometricPressure, visibility, snowDepth, seaSurfaceTemperature |
/// | `vert_vis`, `snw_dpth_wtr_equiv` | ceilingHeight, snowWaterEquivalent |
/// | `avg_wnd_spd_10m_pst…`, `max_wnd_gst_spd_10m_pst…` or `max_wnd_spd_10m_pst…` | windSpeed10m Average, windGust10m Max |
/// | the same at another height, `wnd_spd`, `max_avg_wnd_spd_pst…` of buoys | windSpeed, windGust |
/// | `avg_wnd_dir_…`, `wnd_dir_code` (compass code) | windDirection |
/// | `wnd_dir_10m_pst…_max_spd` | maxWindDirection Max, of the same interval as the gust |
/// | `pcpn_amt_pst…`, `rnfl_amt_pst…` | precipitation, rainfall Cumulative |
/// | `avg_globl_solr_radn_pst…`, `tot_globl_solr_radn_pst…` | avgGlobalSolarRadiation, cumulativeGlobalSolarRadiation |
/// | `avg_photosnthticly_actv_radn_pst…` | photosyntheticRadiation Average |
/// | `sig_wave_hgt_pst…`, `pk_wave_hgt_pst…`, `wv_hgt` | waveHeight Average, waveHeightMax Max, waveHeight |
/// | `avg_wave_pd_pst…`, `pk_wave_pd_pst…` | wavePeriodAverage, wavePeriodPeak Average |
/// | `cum_pcpn_gag_wt`, `avg_cum_pcpn_gag_wt_fltrd_pst…` | precipitationGaugeWeight |
/// | `cum_pcpn_amt` | precipitationSinceReset |
/// | `altmetr_setng` | altimeterSetting |
/// | `pres_tend_amt_pst3hrs`, `pres_tend_char_pst3hrs` | pressureTendency Cumulative 180, pressureTendencyCharacter Unknown 180 |
/// | `cld_bas_hgt_1` … | cloudBaseHeight, a bucket for each layer |
/// | `max_pk_wnd_spd_10m_pst1hr`, `wnd_dir_10m_pst1hr_pk_spd` at `max_pk_wnd_tm_pst1hr` | peakWindSpeed, peakWindDirection, in [`FeedReport::earlier`] |
///
/// Every element of the known files is in `docs/swob.md`, with its variable or why it has none.
///
/// Where an element leaves a choice:
/// - Elements that end in `_1`, `_2`, `_3` come from single sensors. They represent the station,
///   lowest number first, only if there is no element with the plain name. For snow depth, gauges
///   and other variables that a map does not show, they are also series of their own, in the
///   buckets `sensor 1`, `sensor 2`, `sensor 3`.
/// - If several elements give one series, the first with a value is used, gusts before wind speeds.
/// - The sensor height is 10 m if an element's name says so, else `wnd_snsr_vert_disp`, else the
///   height in a name. A station has one sensor height. The speed of wind measured elsewhere is in
///   a bucket, `precipitation gauge` or the height (`3 m`), and its direction is left out.
/// - The waves of a buoy are for a period that ended some minutes before the report (`_10mts_ago`);
///   they are given the time of the report.
/// - `wnd_dir_code` is WMO code table 0700, the eight compass points; north is 360, a calm 0.
/// - A value `MSNG` is missing.
///
/// Values that are left out are counted by the name of the element: among them amounts since the
/// top of the hour (`…_snc_top_of_hr`), values from hours ago, and the codes of present weather, for
/// which no table is available. The content of a gauge, in kg/m², is not the amount that has
/// fallen.
///
/// The provider's verdict is kept: the qualifier `qa_summary` by
/// [`SWOB_QA_SUMMARY`](crate::observation::SWOB_QA_SUMMARY). Values without a `qa_summary` are
/// unchecked. These are the values that the Service derives from others; they have a `data_flag`
/// instead. The flag tells how a value was obtained (1 derived, 2 estimated, 4 derived from
/// incomplete data, judging by the files), not how good it is.
///
/// `cor` marks corrections: `orig`, then CCA, CCB, … The name of the file shows it too, and
/// [`Kind::read`](crate::feed::Kind::read) uses the name.
///
/// Observations of partners come with a notice of attribution (`data_attrib_not`) that must be
/// shown with them; observations of the Service itself must be shown with "Data Source: Environment
/// and Climate Change Canada", as its licence requires.
///
/// Source: the Service's open data documentation; the periods and providers in the table are those
/// of real files.
///
/// # Errors
/// If the source fails, if the text is not well-formed XML (or deeper than 32 levels or with more
/// than 16 KiB between two tags), or if the document has another schema. An observation without a
/// provider, an id or a time is counted and listed in the summary.
///
/// ```
/// use mesonet::{Quality, Variable, feed::read_swob};
/// let document = r#"<om:ObservationCollection xmlns:om="http://www.opengis.net/om/1.0"
///     xmlns="http://dms.ec.gc.ca/schema/point-observation/2.0"><om:member><om:Observation>
///   <om:metadata><set><identification-elements>
///     <element name="date_tm" uom="datetime" value="2020-07-14T00:52:00.000Z"/>
///     <element name="stn_nam" uom="unitless" value="KUGLUKTUK CLIMATE"/>
///     <element name="data_pvdr" uom="unitless" value="MSC"/>
///     <element name="msc_id" uom="unitless" value="2300904"/>
///   </identification-elements></set></om:metadata>
///   <om:result><elements>
///     <element name="avg_wnd_spd_10m_pst2mts" uom="km/h" value="16.5">
///       <qualifier name="qa_summary" uom="unitless" value="100"/></element>
///   </elements></om:result>
/// </om:Observation></om:member></om:ObservationCollection>"#;
/// let mut reports = Vec::new();
/// let summary = read_swob(document.as_bytes(), |item| reports.push(item))?;
/// assert_eq!((summary.read, summary.refused), (1, 0));
/// let station = &reports[0].station;
/// assert_eq!((station.network.as_str(), station.native_id.as_str()), ("MSC", "2300904"));
/// assert_eq!(station.sensor_height_m, Some(10.0));
/// let wind = &reports[0].report.readings[0];
/// assert_eq!((wind.series.variable, wind.series.interval_minutes), (Variable::WindSpeed10m, 2));
/// assert_eq!((wind.value, wind.quality), (16.5, Quality::GOOD));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_swob(
    input: impl BufRead,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_point_observations(input, SCHEMA, |observation, summary| {
        let report = report(observation, summary)?;
        summary.read += 1;
        visit(report);
        Ok(())
    })
}

/// The report of an observation, also of one in another notation.
pub(super) fn report(
    observation: &PointObservation,
    summary: &mut Summary,
) -> Result<FeedReport, RefusalReason> {
    let ts_ms = plausible::observed(observation.required("date_tm")?)?;
    let mut station = station(observation)?;
    let without_variable = &mut summary.without_variable;
    let candidates = candidates(observation, without_variable, &mut summary.unread_values);
    station.sensor_height_m = sensor_height_m(observation, &candidates);
    let (at_the_sensor, elsewhere) = candidates
        .into_iter()
        .partition(|one| is_of_the_sensor(one.meaning.height, station.sensor_height_m));
    let mut readings = ReadingCollector::new(Vocabulary::Swob, &mut summary.kept_as_reported);
    one_of_each_series(at_the_sensor, &mut readings, without_variable);
    winds_elsewhere(elsewhere, &mut readings, without_variable);
    sky::add_layers(observation, &mut readings, without_variable);
    let report = Report {
        station: station.id(),
        ts_ms,
        revision: observation.identification("cor").map_or(0, |cor| revision(cor.value)),
        present_weather: None,
        text: None,
        readings: readings.into_readings(),
    };
    let earlier = peak_wind::peak_wind(observation, &report, summary);
    Ok(FeedReport { station, report, earlier })
}

/// Identification elements that name the station, the most stable first.
const IDS: [&str; 7] =
    ["msc_id", "clim_id", "icao_stn_id", "tc_id", "wmo_synop_id", "stn_id", "nesdis_id"];

/// The schemes of the ids.
const ID_SCHEMES: [(&str, IdScheme); 7] = [
    ("msc_id", IdScheme::Msc),
    ("clim_id", IdScheme::Climate),
    ("icao_stn_id", IdScheme::Icao),
    ("tc_id", IdScheme::TransportCanada),
    ("wmo_synop_id", IdScheme::Wmo),
    ("stn_id", IdScheme::Provider),
    ("nesdis_id", IdScheme::Nesdis),
];

fn station(observation: &PointObservation) -> Result<FeedStation, RefusalReason> {
    let dataset = observation.dataset();
    let network = match observation.identification("data_pvdr") {
        Some(provider) => provider.value,
        // GeoMet writes a dash for the slash.
        None if dataset.starts_with("msc/") || dataset.starts_with("msc-") => "MSC",
        None => return Err(RefusalReason::Without { what: "data_pvdr" }),
    };
    let native_id = IDS.iter().find_map(|name| observation.identification(name));
    let native_id = native_id.ok_or(RefusalReason::Without { what: "msc_id" })?.value;
    let number = |name| observation.identification(name).and_then(|element| element.number());
    let of_buoys = |element: Element<'_>| element.code_type == "buoy_type";
    let is_buoy = observation.identification("stn_typ").is_some_and(of_buoys)
        || dataset.contains("moored_buoy");
    let mut identifiers = Identifiers::default();
    for (name, scheme) in ID_SCHEMES {
        if let Some(id) = observation.identification(name) {
            identifiers.add(scheme, id.value);
        }
    }
    Ok(FeedStation {
        name: observation.identification("stn_nam").map(|name| name.value.to_owned()),
        // A place that is missing or unknown is ignored; the report is valid without it.
        place: number("long").zip(number("lat")).and_then(|(lon, lat)| plausible::place(lon, lat)),
        altitude_m: observation
            .identification("stn_elev")
            .and_then(|element| metres(&element))
            .and_then(plausible::altitude_m),
        station_type: is_buoy.then_some(StationType::OpenWater),
        identifiers,
        ..FeedStation::new(network, native_id)
    })
}

fn metres(element: &Element<'_>) -> Option<f64> {
    element.number().filter(|_| element.unit == "m")
}

/// An element that the service has a variable for.
struct Candidate<'a> {
    meaning: ElementMeaning,
    element: Element<'a>,
    unit: &'a str,
    /// `None` if the element has no value.
    value: Option<f64>,
}

impl Candidate<'_> {
    fn add_to(
        &self,
        readings: &mut ReadingCollector<'_>,
        bucket: impl Into<Cow<'static, str>>,
        value: f64,
    ) {
        let ElementMeaning { variable, interval_type, interval_minutes, .. } = self.meaning;
        let measured = Measurement::new(variable, interval_type, interval_minutes, self.unit);
        readings.push_in(bucket.into(), measured, value, verdict(self.element.qa_summary));
    }
}

/// The elements that the service has variables for, including those without a value. Other elements
/// and values that are not numbers are counted.
fn candidates<'a>(
    observation: &'a PointObservation,
    without_variable: &mut Tally,
    unread_values: &mut Tally,
) -> Vec<Candidate<'a>> {
    let mut all = Vec::with_capacity(64);
    let apart = |name| sky::is_base(name) || peak_wind::is_part(name);
    for element in observation.elements().filter(|element| !apart(element.name)) {
        let candidate = match element.name {
            "wnd_dir_code" => Some(Candidate {
                meaning: COMPASS,
                element,
                unit: "°",
                value: compass_degrees(element.value),
            }),
            name => meaning(name).map(|meaning| Candidate {
                meaning,
                element,
                // A code is a number, such as the character of the tendency.
                unit: if element.unit == "code" { "unitless" } else { element.unit },
                value: element.number(),
            }),
        };
        match candidate {
            Some(candidate) if candidate.value.is_some() || !element.has_value() => {
                all.push(candidate);
            }
            Some(_) => unread_values.add(element.name),
            None if element.has_value() => without_variable.add(element.name),
            None => {}
        }
    }
    all
}

/// The meaning of a compass code: the wind reported by a lighthouse keeper, by an unspecified
/// method.
const COMPASS: ElementMeaning = ElementMeaning {
    variable: Variable::WindDirection,
    interval_type: Instantaneous,
    interval_minutes: 0,
    sensor: 0,
    height: Some(WindHeight::Unspecified),
    rank: 1,
};

/// The direction from which the wind blows, for a code of WMO table 0700; 9 is none or all.
fn compass_degrees(code: &str) -> Option<f64> {
    let code: u8 = code.parse().ok()?;
    (code <= 8).then(|| f64::from(code) * 45.0)
}

/// The height of the station's wind sensor.
fn sensor_height_m(observation: &PointObservation, candidates: &[Candidate<'_>]) -> Option<f64> {
    let named = candidates.iter().filter_map(|candidate| match candidate.meaning.height {
        Some(WindHeight::Metres(metres)) => Some(f64::from(metres)),
        _ => None,
    });
    if named.clone().any(|height_m| height_m == SERVICE_HEIGHT_M) {
        return Some(SERVICE_HEIGHT_M);
    }
    let displacement = observation.elements().find(|one| one.name == "wnd_snsr_vert_disp");
    displacement.and_then(|element| metres(&element)).or_else(|| named.reduce(f64::max))
}

/// The height of variables that have a height in their name.
const SERVICE_HEIGHT_M: f64 = 10.0;

/// Whether a value is not a wind, or is the wind at the station's sensor.
fn is_of_the_sensor(height: Option<WindHeight>, sensor_height_m: Option<f64>) -> bool {
    match height {
        None | Some(WindHeight::Unspecified) => true,
        Some(WindHeight::Metres(metres)) => sensor_height_m == Some(f64::from(metres)),
        Some(WindHeight::Elsewhere) => false,
    }
}

/// Adds one value of each series and counts the others.
fn one_of_each_series(
    mut candidates: Vec<Candidate<'_>>,
    readings: &mut ReadingCollector<'_>,
    without_variable: &mut Tally,
) {
    let series = |of: &ElementMeaning| (of.variable, of.interval_type, of.interval_minutes);
    // The sort is stable: equal elements stay in the order of the document.
    candidates.sort_by_key(|one| (series(&one.meaning), one.meaning.sensor, one.meaning.rank));
    for alike in candidates.chunk_by(|a, b| series(&a.meaning) == series(&b.meaning)) {
        let of_the_station = alike[0].meaning.sensor == 0;
        let (mut is_open, mut last_sensor) = (true, 0);
        for candidate in alike {
            let Some(value) = candidate.value else { continue };
            let sensor = candidate.meaning.sensor;
            let stands_for_station = is_open && !(of_the_station && sensor > 0);
            if stands_for_station {
                is_open = false;
                candidate.add_to(readings, "", value);
            }
            if sensor > last_sensor && has_sensor_series(candidate.meaning.variable) {
                last_sensor = sensor;
                candidate.add_to(readings, SENSORS[usize::from(sensor)], value);
            } else if !stands_for_station {
                without_variable.add(candidate.element.name);
            }
        }
    }
}

/// Whether single sensors have series of their own. A map shows one value per variable, and the
/// sensors of such a variable measure the same air.
fn has_sensor_series(variable: Variable) -> bool {
    !Variable::map_variables().any(|of_map| of_map == variable)
}

/// The bucket of each sensor; the number in a name has one digit.
const SENSORS: [&str; 10] = [
    "", "sensor 1", "sensor 2", "sensor 3", "sensor 4", "sensor 5", "sensor 6", "sensor 7",
    "sensor 8", "sensor 9",
];

/// Adds the wind that is not measured at the station's sensor, each place in its own bucket.
fn winds_elsewhere(
    mut candidates: Vec<Candidate<'_>>,
    readings: &mut ReadingCollector<'_>,
    without_variable: &mut Tally,
) {
    let series =
        |of: &ElementMeaning| (of.variable, of.interval_type, of.interval_minutes, of.height);
    candidates.sort_by_key(|one| (series(&one.meaning), one.meaning.sensor, one.meaning.rank));
    for alike in candidates.chunk_by(|a, b| series(&a.meaning) == series(&b.meaning)) {
        let mut is_open = has_sensor_series(alike[0].meaning.variable);
        for candidate in alike {
            let Some(value) = candidate.value else { continue };
            if !std::mem::take(&mut is_open) {
                without_variable.add(candidate.element.name);
                continue;
            }
            match candidate.meaning.height {
                Some(WindHeight::Metres(metres)) => {
                    candidate.add_to(readings, format!("{metres} m"), value);
                }
                _ => candidate.add_to(readings, "precipitation gauge", value),
            }
        }
    }
}

/// The revision of a correction: `orig` is 0, CCA (or A) 1, CCB 2; any other text is also a
/// correction.
fn revision(correction: &str) -> u8 {
    if correction.eq_ignore_ascii_case("orig") {
        return 0;
    }
    let letter = correction.get(..2).filter(|start| start.eq_ignore_ascii_case("CC"));
    match letter.map_or(correction, |_| &correction[2..]).as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => letter.to_ascii_uppercase() - b'A' + 1,
        _ => 1,
    }
}

/// The revision in the name of a file: `…-AUTO-CCA-swob.xml` is a first correction.
pub(super) fn revision_of_name(name: &str) -> u8 {
    name.split('-').find(|part| part.len() == 3 && part.starts_with("CC")).map_or(0, revision)
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, SCHEMA)
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let of_name = revision_of_name(file.name);
    read_swob(input, |mut item| {
        item.correct(of_name);
        visit(item);
    })
}

#[cfg(test)]
mod document_tests;
#[cfg(test)]
#[path = "swob_tests.rs"]
mod tests;
