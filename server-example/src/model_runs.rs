//! The runs of models below the data folder, open as long as they are as they were.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::StatusCode;
use mesonet::{GridRun, GridStore, GridStoreError, ModelCatalogue, RunStamp};

use crate::access::Granted;
use crate::error::ApiError;

/// The runs of the models of a deployment.
#[derive(Debug)]
pub struct ModelRuns {
    store: GridStore,
    catalogue: ModelCatalogue,
    /// By model. A run that is written on, by whatever process, is opened anew when it is asked for.
    open: RwLock<HashMap<String, BTreeMap<RunStamp, Arc<GridRun>>>>,
}

impl ModelRuns {
    /// The runs below a data folder, which need not be there.
    pub fn new(data: &Path, catalogue: ModelCatalogue) -> Self {
        Self { store: GridStore::new(data.join("models")), catalogue, open: RwLock::default() }
    }

    /// The folder of the runs.
    pub fn store(&self) -> &GridStore {
        &self.store
    }

    /// The sources.
    pub fn catalogue(&self) -> &ModelCatalogue {
        &self.catalogue
    }

    /// A run as it is now.
    ///
    /// # Errors
    /// It is not there, or damaged.
    pub(crate) fn run(
        &self,
        granted: Granted<'_>,
        stamp: RunStamp,
    ) -> Result<Arc<GridRun>, GridStoreError> {
        let model = granted.source().name();
        if let Some(run) = self.known(model, stamp)
            && run.is_current()?
        {
            return Ok(run);
        }
        let opened = self.store.run(model, stamp).map(Arc::new);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let runs = open.entry(model.to_owned()).or_default();
        // What was removed meanwhile does not stay mapped.
        runs.retain(|&known, run| known != stamp && run.is_current().unwrap_or(false));
        let run = opened?;
        runs.insert(stamp, Arc::clone(&run));
        Ok(run)
    }

    /// The runs of which at least one hour is published, latest first. One that is damaged is left
    /// out: the log says so.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn runs(&self, granted: Granted<'_>) -> Result<Vec<Arc<GridRun>>, GridStoreError> {
        let mut runs = Vec::new();
        for stamp in self.store.begun(granted.source().name())? {
            runs.extend(self.published(granted, stamp)?);
        }
        Ok(runs)
    }

    /// The latest of these, if there is one.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub(crate) fn newest(
        &self,
        granted: Granted<'_>,
    ) -> Result<Option<Arc<GridRun>>, GridStoreError> {
        for stamp in self.store.begun(granted.source().name())? {
            if let Some(run) = self.published(granted, stamp)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    fn published(
        &self,
        granted: Granted<'_>,
        stamp: RunStamp,
    ) -> Result<Option<Arc<GridRun>>, GridStoreError> {
        match self.run(granted, stamp) {
            Ok(run) => Ok((!run.published().is_empty()).then_some(run)),
            // It went away meanwhile.
            Err(GridStoreError::UnknownRun { .. }) => Ok(None),
            Err(error @ GridStoreError::Damaged { .. }) => {
                tracing::error!("{error}");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn known(&self, model: &str, stamp: RunStamp) -> Option<Arc<GridRun>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(model)?.get(&stamp).cloned()
    }
}

impl From<GridStoreError> for ApiError {
    /// What is not there, or not yet, is a 404; what is damaged a 503 that the log
    /// tells more of; the rest is the caller's.
    fn from(error: GridStoreError) -> Self {
        match error {
            GridStoreError::UnknownModel(_)
            | GridStoreError::UnknownRun { .. }
            | GridStoreError::Unpublished { .. } => Self::NotFound(error.to_string()),
            GridStoreError::Damaged { .. } => {
                tracing::error!("{error}; verify --set-aside");
                let text = "what was asked for is damaged and cannot be read".to_owned();
                Self::Refused(StatusCode::SERVICE_UNAVAILABLE, text)
            }
            error => Self::of(error),
        }
    }
}
