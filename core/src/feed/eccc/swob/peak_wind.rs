//! The peak wind of a SWOB document. It blew before the time of the document.

use super::verdict::verdict;
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::eccc::point_observation::PointObservation;
use crate::feed::summary::{Summary, Tally};
use crate::observation::Report;
use crate::observation::Variable::{PeakWindDirection, PeakWindSpeed};
use crate::time::{HOUR_MS, parse_instant};
use crate::unit::Vocabulary;

const SPEED: &str = "max_pk_wnd_spd_10m_pst1hr";
const TIME: &str = "max_pk_wnd_tm_pst1hr";
const DIRECTION: &str = "wnd_dir_10m_pst1hr_pk_spd";

/// Whether an element is part of the peak wind, which is read here.
pub(super) fn is_part(name: &str) -> bool {
    [SPEED, TIME, DIRECTION].contains(&name)
}

/// The peak wind as a report for the moment when it blew, within the hour before the other report
/// of the document. Values without such a moment are counted.
pub(super) fn peak_wind(
    observation: &PointObservation,
    report: &Report,
    summary: &mut Summary,
) -> Option<Report> {
    let find = |name| observation.elements().find(|one| one.name == name && one.has_value());
    let (speed, direction) = (find(SPEED), find(DIRECTION));
    let time = find(TIME);
    let peak_ms = time.and_then(|time| parse_instant(time.value).ok());
    let peak_ms = peak_ms.filter(|&peak_ms| {
        peak_ms <= report.ts_ms && report.ts_ms.saturating_sub(peak_ms) <= HOUR_MS
    });
    let (Some(peak_ms), Some(_)) = (peak_ms, speed.and_then(|speed| speed.number())) else {
        let count = |tally: &mut Tally| {
            [speed, time, direction].into_iter().flatten().for_each(|one| tally.add(one.name));
        };
        count(&mut summary.without_variable);
        return None;
    };
    let mut readings = ReadingCollector::new(Vocabulary::Swob, &mut summary.kept_as_reported);
    for (variable, element) in [(PeakWindSpeed, speed), (PeakWindDirection, direction)] {
        if let Some((element, value)) = element.and_then(|of| Some((of, of.number()?))) {
            let measured = Measurement::instantaneous(variable, element.unit);
            readings.push(measured, value, verdict(element.qa_summary));
        }
    }
    Some(Report {
        station: report.station,
        ts_ms: peak_ms,
        revision: report.revision,
        present_weather: None,
        text: None,
        readings: readings.into_readings(),
    })
}
