//! SWOB-ML 2.0, the Meteorological Service of Canada's markup of surface weather observations.

mod element;

use std::io::BufRead;

use self::element::{Meaning, WindHeight, meaning};
use super::point_observation::{Element, PointObservation, read_point_observations};
use crate::feed::collect::{Measured, Readings};
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, RefusalReason, Summary, Tally};
use crate::geo::LonLat;
use crate::observation::IntervalType::Instantaneous;
use crate::observation::{Quality, Report, SWOB_QA_SUMMARY, StationType, Variable};
use crate::time::parse_instant;
use crate::unit::Vocabulary;

/// The default namespace of the documents.
const SCHEMA: &str = "http://dms.ec.gc.ca/schema/point-observation/2.0";

/// Reads the observations of a SWOB-ML 2.0 document and visits each.
///
/// A document has one `om:Observation`, or a collection of them. The network is the provider that
/// it names (`data_pvdr`: MSC, NAV CANADA, DND, DFO-CCG, BC-FLNR-BCWS, …); the Service's own moored
/// buoys do not name one and are recognized by their data set. The native id is the first of
/// `msc_id`, `clim_id`, `icao_stn_id`, `tc_id`, `wmo_synop_id`, `stn_id` and `nesdis_id` that is
/// present: `msc_id` is given by every provider and unique across all of them. The same place in
/// another feed, such as METAR, is a station of another network and so another station.
///
/// The name of an element tells how its values are made. `pst` is a past period, in minutes
/// (`_pst1mt`, `_pst10mts`) or hours (`_pst1hr`, `_pst24hrs`); `avg_`, `max_`, `min_` and `tot_`
/// tell how a value represents it; without a period it is instantaneous.
///
/// | Element | Series |
/// | --- | --- |
/// | `air_temp`, `dwpt_temp`, `wetblb_temp`, `rel_hum` | airTemperature, dewPointTemperature, wetBulbTemperature, relativeHumidity |
/// | `mslp`, `stn_pres`, `vis`, `snw_dpth`, `sea_sfc_temp` | mslp, barometricPressure, visibility, snowDepth, seaSurfaceTemperature |
/// | `avg_wnd_spd_10m_pst…`, `max_wnd_gst_spd_10m_pst…` or `max_wnd_spd_10m_pst…` | windSpeed10m Average, windGust10m Max |
/// | the same at another height, `wnd_spd`, `max_avg_wnd_spd_pst…` of buoys | windSpeed, windGust |
/// | `avg_wnd_dir_…`, `wnd_dir_code` (compass code) | windDirection |
/// | `pcpn_amt_pst…`, `rnfl_amt_pst…` | precipitation, rainfall Cumulative |
/// | `avg_globl_solr_radn_pst…`, `tot_globl_solr_radn_pst…` | avgGlobalSolarRadiation, cumulativeGlobalSolarRadiation |
/// | `sig_wave_hgt_pst…`, `pk_wave_hgt_pst…`, `wv_hgt` | waveHeight Average, waveHeightMax Max, waveHeight |
///
/// Where an element leaves a choice:
/// - Elements that end in `_1`, `_2`, `_3` come from single sensors. They represent the station,
///   the lowest first, only if it has no element with the plain name.
/// - Of several elements for one series the first with a value is used, gusts before wind speeds.
/// - The sensor height is 10 m if an element's name says so, else `wnd_snsr_vert_disp`, else the
///   height in a name. A station has one: wind that is measured elsewhere, for example at the
///   precipitation gauge, is left out.
/// - The waves of a buoy are for a period that ended some minutes before the report (`_10mts_ago`);
///   they are given the time of the report.
/// - `wnd_dir_code` is WMO code table 0700, the eight compass points; north is 360, a calm 0.
/// - A value `MSNG` is missing.
///
/// Values that are left out are counted by the name of the element: among them the running totals
/// of precipitation gauges (`cum_pcpn_gag_wt`, in kg/m²; the content of the gauge is not the amount
/// that has fallen), amounts since an unspecified hour (`…_snc_top_of_hr`), values from hours ago,
/// cloud layers and the codes of present weather, for which no table is available.
///
/// The provider's verdict is kept: the qualifier `qa_summary` by [`SWOB_QA_SUMMARY`]. Values
/// without one are not checked; these are the values that the Service derives from others, which
/// have a `data_flag` instead. That tells how a value came about (1 derived, 2 estimated, 4 derived
/// from incomplete data, judging by the files), not how good it is.
///
/// `cor` marks corrections: `orig`, then CCA, CCB, …; the name of the file, which also shows it, is
/// used by [`Kind::read`](crate::feed::Kind::read).
///
/// Observations of partners come with a notice of attribution (`data_attrib_not`) that must be
/// shown with them; those of the Service itself with "Data Source: Environment and Climate
/// Change Canada", as its licence requires.
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
        let ts_ms = parse_instant(observation.required("date_tm")?)?;
        let mut station = station(observation)?;
        let without_variable = &mut summary.without_variable;
        let mut candidates = candidates(observation, without_variable, &mut summary.unread_values);
        let sensor_height_m = sensor_height_m(observation, &candidates);
        station.sensor_height_m = sensor_height_m;
        candidates.retain(|candidate| {
            let is_of_it = is_of_the_sensor(candidate.meaning.height, sensor_height_m);
            if !is_of_it && candidate.value.is_some() {
                without_variable.add(candidate.element.name);
            }
            is_of_it
        });
        let readings = Readings::new(Vocabulary::Swob, &mut summary.kept_as_reported);
        let readings = one_of_each_series(candidates, readings, without_variable);
        let report = Report {
            station: station.id(),
            ts_ms,
            revision: observation.identification("cor").map_or(0, |cor| revision(cor.value)),
            present_weather: None,
            readings: readings.into_readings(),
        };
        summary.read += 1;
        visit(FeedReport::new(station, report));
        Ok(())
    })
}

/// Identification elements that name the station, the most stable first.
const IDS: [&str; 7] =
    ["msc_id", "clim_id", "icao_stn_id", "tc_id", "wmo_synop_id", "stn_id", "nesdis_id"];

fn station(observation: &PointObservation) -> Result<FeedStation, RefusalReason> {
    let network = match observation.identification("data_pvdr") {
        Some(provider) => provider.value,
        None if observation.dataset().starts_with("msc/") => "MSC",
        None => return Err(RefusalReason::Without { what: "data_pvdr" }),
    };
    let native_id = IDS.iter().find_map(|name| observation.identification(name));
    let native_id = native_id.ok_or(RefusalReason::Without { what: "msc_id" })?.value;
    let number = |name| observation.identification(name).and_then(|element| element.number());
    let of_buoys = |element: Element<'_>| element.code_type == "buoy_type";
    let is_buoy = observation.identification("stn_typ").is_some_and(of_buoys);
    Ok(FeedStation {
        name: observation.identification("stn_nam").map(|name| name.value.to_owned()),
        // A place that is missing or off the globe is ignored; the report is valid without it.
        place: number("long").zip(number("lat")).and_then(|(lon, lat)| LonLat::new(lon, lat).ok()),
        altitude_m: observation.identification("stn_elev").and_then(|element| metres(&element)),
        station_type: is_buoy.then_some(StationType::OpenWater),
        ..FeedStation::new(network, native_id)
    })
}

fn metres(element: &Element<'_>) -> Option<f64> {
    element.number().filter(|_| element.unit == "m")
}

/// An element that the service has a variable for.
struct Candidate<'a> {
    meaning: Meaning,
    element: Element<'a>,
    unit: &'a str,
    /// `None` if the element has no value.
    value: Option<f64>,
}

/// The elements that the service has variables for, including those without a value. Other elements
/// and values that are not numbers are counted.
fn candidates<'a>(
    observation: &'a PointObservation,
    without_variable: &mut Tally,
    unread_values: &mut Tally,
) -> Vec<Candidate<'a>> {
    let mut all = Vec::with_capacity(64);
    for element in observation.elements() {
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
                unit: element.unit,
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
const COMPASS: Meaning = Meaning {
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

/// The height of the variables that have one in their name.
const SERVICE_HEIGHT_M: f64 = 10.0;

/// Whether a value is not a wind, or is the wind at the station's sensor.
fn is_of_the_sensor(height: Option<WindHeight>, sensor_height_m: Option<f64>) -> bool {
    match height {
        None | Some(WindHeight::Unspecified) => true,
        Some(WindHeight::Metres(metres)) => sensor_height_m == Some(f64::from(metres)),
        Some(WindHeight::Elsewhere) => false,
    }
}

/// Returns one value of each series and counts the others.
fn one_of_each_series<'t>(
    mut candidates: Vec<Candidate<'_>>,
    mut readings: Readings<'t>,
    without_variable: &mut Tally,
) -> Readings<'t> {
    let series = |of: &Meaning| (of.variable, of.interval_type, of.interval_minutes);
    // The sort is stable: equal elements stay in the order of the document.
    candidates.sort_by_key(|one| (series(&one.meaning), one.meaning.sensor, one.meaning.rank));
    for alike in candidates.chunk_by(|a, b| series(&a.meaning) == series(&b.meaning)) {
        let of_the_station = alike[0].meaning.sensor == 0;
        let mut is_open = true;
        for candidate in alike {
            let Some(value) = candidate.value else { continue };
            if is_open && !(of_the_station && candidate.meaning.sensor > 0) {
                is_open = false;
                let Meaning { variable, interval_type, interval_minutes, .. } = candidate.meaning;
                let measured =
                    Measured::new(variable, interval_type, interval_minutes, candidate.unit);
                readings.push(measured, value, verdict(candidate.element.qa_summary));
            } else {
                without_variable.add(candidate.element.name);
            }
        }
    }
    readings
}

/// The provider's verdict; unchecked if it gives none.
fn verdict(qa_summary: &str) -> Quality {
    qa_summary.parse().map_or(Quality::UNCHECKED, |flag| SWOB_QA_SUMMARY.quality(flag))
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
fn revision_of_name(name: &str) -> u8 {
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
        item.report.revision = item.report.revision.max(of_name);
        visit(item);
    })
}

#[cfg(test)]
#[path = "swob_tests.rs"]
mod tests;
