//! Model runs of an older layout, written again beside the requests.

use std::collections::VecDeque;
use std::time::Duration;

use mesonet::model::{RunStamp, RunStoreError};

use crate::state::State;

/// Between two runs, so that requests and intake are not held up for long.
const BETWEEN: Duration = Duration::from_secs(2);
/// Once nothing is left. Older runs may come back with a backup.
const RESTED: Duration = Duration::from_hours(24);

/// The runs that are still to be looked at, the latest of each model first.
#[derive(Debug, Default)]
pub struct RunQueue(Option<VecDeque<(String, RunStamp)>>);

/// Writes the next run of an older layout again, and returns how long to wait before the one after
/// it.
///
/// # Errors
/// If the runs cannot be listed, or the disk reports an error.
pub fn upgrade(state: &State, remaining: &mut RunQueue) -> Result<Duration, RunStoreError> {
    let store = state.services.models.store();
    let runs = match &mut remaining.0 {
        Some(runs) => runs,
        none => {
            let mut runs = VecDeque::new();
            for model in store.models()? {
                runs.extend(store.runs(&model)?.into_iter().map(|run| (model.clone(), run)));
            }
            none.insert(runs)
        }
    };
    while let Some((model, run)) = runs.pop_front() {
        match store.upgrade(&model, run) {
            Ok(false) | Err(RunStoreError::UnknownRun { .. }) => {}
            Ok(true) => {
                tracing::info!(
                    "run {run} of model {model} was written again in the present layout"
                );
                return Ok(BETWEEN);
            }
            // Its writer gives it the present layout first.
            Err(error @ (RunStoreError::Busy(_) | RunStoreError::Damaged { .. })) => {
                tracing::warn!("run {run} of model {model} keeps its older layout: {error}");
            }
            Err(error) => {
                runs.push_front((model, run));
                return Err(error);
            }
        }
        if state.services.is_stopping() {
            break;
        }
    }
    remaining.0 = None;
    Ok(RESTED)
}
