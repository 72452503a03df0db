//! The model runs in the data folder. They are kept open while they do not change.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use mesonet::model::{self, RunStamp};

use crate::auth::access::ModelPermission;

/// The model runs of a deployment.
#[derive(Debug)]
pub struct ModelRuns {
    store: model::RunStore,
    /// The models of the catalogue. A reload replaces them.
    catalogue: ArcSwap<model::Catalogue>,
    /// The open runs by model. A run that any process has changed is reopened when it is requested.
    open: RwLock<HashMap<String, BTreeMap<RunStamp, Arc<model::Run>>>>,
    /// The runs of each model, as its folder had them.
    begun: RwLock<HashMap<String, Listing>>,
}

/// The runs in the folder of a model, latest first.
#[derive(Clone, Debug)]
struct Listing {
    runs: Arc<[RunStamp]>,
    /// When the folder was changed last.
    modified: SystemTime,
}

/// A folder that changes twice within this time may say only once when it was changed: this is the
/// coarsest clock of a file system.
const CLOCK_STEP: Duration = Duration::from_secs(2);

impl ModelRuns {
    /// The runs in a data folder, which need not exist.
    pub fn new(data: &Path, catalogue: model::Catalogue) -> Self {
        Self {
            store: model::RunStore::new(data.join("models")),
            catalogue: ArcSwap::from_pointee(catalogue),
            open: RwLock::default(),
            begun: RwLock::default(),
        }
    }

    /// The folder of the runs.
    pub fn store(&self) -> &model::RunStore {
        &self.store
    }

    /// The present models of the catalogue.
    pub fn catalogue(&self) -> Arc<model::Catalogue> {
        self.catalogue.load_full()
    }

    /// Replaces the models of the catalogue. All requests from now on see the new ones. Runs of a
    /// removed model stay in their folder, and the log names them.
    pub(crate) fn take(&self, catalogue: model::Catalogue) {
        let old = self.catalogue.swap(Arc::new(catalogue));
        let new = self.catalogue();
        for gone in old.iter().map(model::Source::name).filter(|name| new.get(name).is_none()) {
            match self.store.begun(gone).map(|runs| runs.len()) {
                Ok(0) => tracing::info!("the model {gone} is no longer in the catalogue"),
                Ok(runs) => tracing::warn!(
                    "the model {gone} is no longer in the catalogue: runs that stay on disk without \
                     being served: {runs}"
                ),
                Err(error) => tracing::error!("the runs of the removed model {gone}: {error}"),
            }
        }
    }

    /// Returns a run in its present state.
    ///
    /// # Errors
    /// The run does not exist or is damaged.
    pub(crate) fn run(
        &self,
        granted: ModelPermission<'_>,
        stamp: RunStamp,
    ) -> Result<Arc<model::Run>, model::RunStoreError> {
        let model = granted.source().name();
        if let Some(run) = self.known(model, stamp)
            && run.is_current()?
        {
            return Ok(run);
        }
        let opened = self.store.run(model, stamp).map(Arc::new);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let runs = open.entry(model.to_owned()).or_default();
        // Runs that were removed in the meantime do not stay mapped.
        runs.retain(|&known, run| known != stamp && run.is_current().unwrap_or(false));
        let run = opened?;
        runs.insert(stamp, Arc::clone(&run));
        Ok(run)
    }

    /// Returns the runs with at least one published hour, latest first. A damaged one is left out
    /// and logged.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn runs(
        &self,
        granted: ModelPermission<'_>,
    ) -> Result<Vec<Arc<model::Run>>, model::RunStoreError> {
        let mut runs = Vec::new();
        for &stamp in &*self.begun(granted.source().name())? {
            runs.extend(self.published(granted, stamp)?);
        }
        Ok(runs)
    }

    /// Returns the latest of these runs, if there is one.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub(crate) fn newest(
        &self,
        granted: ModelPermission<'_>,
    ) -> Result<Option<Arc<model::Run>>, model::RunStoreError> {
        for &stamp in &*self.begun(granted.source().name())? {
            if let Some(run) = self.published(granted, stamp)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Returns the runs of a model that have been begun, latest first. The folder is read when it
    /// has changed.
    fn begun(&self, model: &str) -> Result<Arc<[RunStamp]>, model::RunStoreError> {
        let modified = self.store.modified(model)?;
        {
            let begun = self.begun.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(listing) = begun.get(model)
                && Some(listing.modified) == modified
            {
                return Ok(Arc::clone(&listing.runs));
            }
        }
        let read = SystemTime::now();
        let runs: Arc<[RunStamp]> = self.store.begun(model)?.into();
        if let Some(modified) = modified
            && read.duration_since(modified).is_ok_and(|since| since > CLOCK_STEP)
        {
            let listing = Listing { runs: Arc::clone(&runs), modified };
            let mut begun = self.begun.write().unwrap_or_else(PoisonError::into_inner);
            begun.insert(model.to_owned(), listing);
        }
        Ok(runs)
    }

    fn published(
        &self,
        granted: ModelPermission<'_>,
        stamp: RunStamp,
    ) -> Result<Option<Arc<model::Run>>, model::RunStoreError> {
        match self.run(granted, stamp) {
            Ok(run) => Ok((!run.published().is_empty()).then_some(run)),
            // The run has been removed in the meantime.
            Err(model::RunStoreError::UnknownRun { .. }) => Ok(None),
            Err(error @ model::RunStoreError::Damaged { .. }) => {
                tracing::error!("{error}");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn known(&self, model: &str, stamp: RunStamp) -> Option<Arc<model::Run>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(model)?.get(&stamp).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_new_run_is_listed_at_once_and_a_folder_that_has_not_changed_is_not_read_again() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("models/hrrr");
        let (first, second, third) = ("20240803T000000Z", "20240803T060000Z", "20240803T120000Z");
        let runs = ModelRuns::new(data.path(), model::Catalogue::default());
        let listed = || -> Vec<String> {
            runs.begun("hrrr").unwrap().iter().map(ToString::to_string).collect()
        };
        let is_known = || runs.begun.read().unwrap().contains_key("hrrr");
        assert!(listed().is_empty() && !is_known());
        fs::create_dir_all(folder.join(first)).unwrap();
        // The folder may change again within the same step of its clock.
        assert_eq!(listed(), [first]);
        assert!(!is_known());
        let old = SystemTime::now() - 2 * CLOCK_STEP;
        let age = || File::open(&folder).unwrap().set_modified(old).unwrap();
        age();
        assert_eq!(listed(), [first]);
        assert!(is_known());
        fs::create_dir(folder.join(second)).unwrap();
        assert_eq!(listed(), [second, first]);
        assert_eq!(listed(), [second, first]);
        // What is not read again: the folder says that it is as it was.
        fs::create_dir(folder.join(third)).unwrap();
        age();
        assert_eq!(listed(), [first]);
        fs::remove_dir_all(&folder).unwrap();
        assert!(listed().is_empty());
    }
}
