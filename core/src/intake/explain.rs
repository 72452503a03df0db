//! Why a stored reading has its verdict.

use super::Intake;
use super::neighbourhood;
use super::verdicts::{SeriesVerdicts, StationVerdicts};
use crate::check::{Explanation, StationSite};
use crate::derived::DERIVED_INPUTS;
use crate::quality::{BaseQuality, Quality};
use crate::series::SeriesId;
use crate::station::StationId;
use crate::store::{Reader, StoreError};

/// Why a reading has its verdict. On the wire an object in camelCase.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadingExplanation {
    /// The station.
    pub station_id: StationId,
    /// The series.
    pub type_id: SeriesId,
    /// What the checks found out.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// For a calculated reading what it was made from; its verdict is the worst of theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calculated_from: Vec<InputVerdict>,
}

/// A reading that a calculated one was made from.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputVerdict {
    /// Name of the variable.
    #[serde(rename = "type")]
    pub variable: &'static str,
    /// The series.
    pub type_id: SeriesId,
    /// The value, in the series' unit.
    pub value: f64,
    /// Its verdict.
    pub quality: Quality,
}

impl Intake {
    /// Why a reading has its verdict: the checks that ran, their inputs, limits and sources, worked
    /// out anew from the readings around it. `None` where there is no such reading.
    ///
    /// # Errors
    /// A store that cannot read.
    pub fn explain(
        &self,
        store: &dyn Reader,
        station_id: StationId,
        type_id: SeriesId,
        ts_ms: i64,
    ) -> Result<Option<ReadingExplanation>, StoreError> {
        let directory = store.directory()?;
        let place = directory.stations.binary_search_by_key(&station_id, |known| known.station.id);
        let Ok(place) = place else { return Ok(None) };
        let station =
            StationVerdicts::new(&self.checker, store, &directory, place, (ts_ms, ts_ms))?;
        let Some(which) = station.series.iter().position(|of| of.series.id == type_id) else {
            return Ok(None);
        };
        let of = &station.series[which];
        let Ok(at) = of.ts_ms.binary_search(&ts_ms) else { return Ok(None) };

        let site = StationSite::from(&directory.stations[place].station);
        let readings: Vec<_> = station.series.iter().map(SeriesVerdicts::readings).collect();
        let mut explanation = self
            .checker
            .explain(&site, &readings, which, at)
            .map_err(|error| StoreError::Columns(error.to_string()))?;
        let key = &of.series.key;
        let neighbours =
            neighbourhood::explain(&self.checker, store, &directory, place, key, ts_ms)?;
        if let Some(report) = neighbours {
            explanation.add(report);
        }

        let inputs = DERIVED_INPUTS.iter().find(|&&(variable, _)| variable == key.variable);
        let inputs = inputs.filter(|_| key.calculated).map_or(&[][..], |&(_, inputs)| inputs);
        let inputs = station.inputs_of(which, at, inputs).into_iter();
        let calculated_from: Vec<InputVerdict> = inputs
            .map(|(of, at)| {
                let of = &station.series[of];
                InputVerdict {
                    variable: of.series.key.variable.name(),
                    type_id: of.series.id,
                    value: of.value[at],
                    // As it is in the store: with what the stations around say of it.
                    quality: of.stored[at],
                }
            })
            .collect();
        let worst = calculated_from.iter().map(|input| input.quality).reduce(Quality::worse);
        if let Some(worst) = worst.filter(|worst| worst.base != BaseQuality::Unknown) {
            (explanation.verdict, explanation.decided_by) = (worst, None);
        }
        Ok(Some(ReadingExplanation { station_id, type_id, explanation, calculated_from }))
    }
}
