//! Explains the verdicts on stored readings.

use super::Intake;
use super::assessment::Assessment;
use super::derived::Inputs;
use super::known::Neighbourhood;
use super::parts::Parts;
use crate::check::{Explanation, OneSeries};
use crate::observation::{BaseQuality, Qualifier, Quality, SeriesId, StationId};
use crate::store::{Reader, StoreError};

/// Why a reading has its verdict.
///
/// It is serialized as an object with camelCase keys.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let (intake, store) = (Intake::default(), MemoryStore::default());
/// # intake.read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson; the humidity was derived from it.
/// use mesonet::intake::{InputVerdict, ReadingExplanation};
/// use mesonet::{BaseQuality, IntervalType, SeriesKey, StationId, Variable};
/// let humidity = SeriesKey::new(Variable::RelativeHumidity, IntervalType::Instantaneous, 0);
/// let (id, humidity) = (StationId::new("METAR", "CYYZ"), humidity.calculated().id());
/// let found: Option<ReadingExplanation> = intake.explain(&store, id, humidity, 1_722_715_200_000)?;
/// let inputs: Vec<InputVerdict> = found.ok_or("there is no such reading")?.calculated_from;
/// assert_eq!((inputs[0].variable, inputs[0].value), ("airTemperature", 29.0));
/// assert!(inputs.iter().all(|input| input.quality.base == BaseQuality::Good));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Explanation))]
pub struct ReadingExplanation {
    /// The station.
    pub station_id: StationId,
    /// The series.
    pub type_id: SeriesId,
    /// The qualifier of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<Qualifier>,
    /// What the checks found.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub explanation: Explanation,
    /// The inputs of a calculated reading, whose verdict is the worst of theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calculated_from: Vec<InputVerdict>,
}

/// An input of a calculated reading.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    /// Explains the verdict on a reading: the checks that ran, their inputs, limits and sources,
    /// computed again from the readings around it. Returns `None` if there is no such reading.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn explain(
        &self,
        store: &dyn Reader,
        station_id: StationId,
        type_id: SeriesId,
        ts_ms: i64,
    ) -> Result<Option<ReadingExplanation>, StoreError> {
        let directory = store.directory()?;
        let Some(place) = directory.stations.place(station_id) else { return Ok(None) };
        let (checker, nearby) = (&self.checker, self.nearby(&directory));
        let (directory, nearby) = (&*directory, &*nearby);
        let mut found = None;
        Assessment { checker, record: store, directory, nearby }.scan(
            vec![(place, ts_ms, ts_ms)],
            |_, site, slices| {
                let parts = Parts::of_station(slices)?;
                let which = parts.iter().position(|of| of.series().id == type_id);
                let reading = which.and_then(|which| Some((which, parts[which].at(ts_ms)?)));
                if let Some((which, at)) = reading {
                    let explanation = checker.explain_reading(site, &parts, which, at);
                    let key = parts[which].key().clone();
                    let qualifier = parts[which].qualifier(at);
                    found = Some((key, qualifier, explanation, inputs_of(&parts, which, ts_ms)));
                }
                Ok(())
            },
        )?;
        let Some((key, qualifier, mut explanation, calculated_from)) = found else {
            return Ok(None);
        };
        let neighbourhood = Neighbourhood { checker, record: store, directory, nearby };
        let (reports, agrees) = neighbourhood.explain(place, &key, ts_ms)?;
        for report in reports {
            explanation.add(report);
        }
        if agrees {
            explanation.clear_jump();
        }
        let worst = calculated_from.iter().map(|input| input.quality).reduce(Quality::worse);
        let decides = |worst: &Quality| {
            worst.base != BaseQuality::Unknown
                && (!explanation.is_impossible() || worst.base < explanation.verdict.base)
        };
        if let Some(worst) = worst.filter(decides) {
            (explanation.verdict, explanation.decided_by) = (worst, None);
        }
        Ok(Some(ReadingExplanation {
            station_id,
            type_id,
            qualifier,
            explanation,
            calculated_from,
        }))
    }
}

/// Returns the inputs of a calculated reading; empty for a reported one.
fn inputs_of(parts: &[Parts<'_, '_>], derived: usize, ts_ms: i64) -> Vec<InputVerdict> {
    let calculated = Inputs::of_station(parts).into_iter().find(|&(which, _)| which == derived);
    let inputs = calculated.and_then(|(_, inputs)| inputs.at(parts, ts_ms)).unwrap_or_default();
    let input = |(of, at): (usize, usize)| {
        let of: &Parts<'_, '_> = &parts[of];
        InputVerdict {
            variable: of.key().variable.name(),
            type_id: of.series().id,
            value: of.value(at),
            // As stored, including the comparison with nearby stations.
            quality: of.stored(at),
        }
    };
    inputs.into_iter().map(input).collect()
}
