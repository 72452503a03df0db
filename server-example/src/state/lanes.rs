//! Which files may be taken in at the same time.
//!
//! Reading a large file takes a while, and files that arrive in the meantime wait for their turn.
//! But a small file waits only for small ones, and a push waits for neither the watched folder nor
//! the fetchers. A push waits without a thread. Both its waiting time and the number of waiting
//! pushes are limited. Beyond the limits, the caller is told to try again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::error::ApiError;
use mesonet_service::sync::lock;

/// How long a push waits for its turn.
const WAIT: Duration = Duration::from_secs(30);

/// Turns of pushed files.
#[derive(Debug)]
struct Lane {
    turns: Arc<Semaphore>,
    /// Limits the number of waiting pushes.
    places: Semaphore,
}

/// The lanes on which files are taken in.
#[derive(Debug)]
pub(crate) struct Lanes {
    small: Lane,
    large: Lane,
    models: Lane,
    /// One delivery of a model at a time, because its runs have one writer at a time.
    of_model: Mutex<HashMap<String, Arc<AsyncMutex<()>>>>,
    /// Held while files of the watched folder are taken in.
    pub watched: Mutex<()>,
    /// Held while fetched files are taken in.
    pub fetched: Mutex<()>,
}

/// Permission to take in a pushed file, until dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _turn: OwnedSemaphorePermit,
    _model: Option<OwnedMutexGuard<()>>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            // A file of the greatest allowed cost does not hold up the others.
            small: Lane::new(2, 256),
            large: Lane::new(1, 16),
            models: Lane::new(2, 16),
            of_model: Mutex::default(),
            watched: Mutex::default(),
            fetched: Mutex::default(),
        }
    }
}

impl Lanes {
    /// Waits for the turn of a pushed file of readings or raster products.
    ///
    /// # Errors
    /// Too many pushes are waiting, or the wait was too long.
    pub async fn pushed(&self, is_small: bool) -> Result<Turn, ApiError> {
        let lane = if is_small { &self.small } else { &self.large };
        let turn = lane.turn(async || None).await?;
        Ok(turn)
    }

    /// Waits for the turn of a pushed file of a model. The model must be in the catalogue.
    ///
    /// # Errors
    /// Too many pushes are waiting, or the wait was too long.
    pub async fn pushed_model(&self, model: &str) -> Result<Turn, ApiError> {
        let own = self.own(model);
        self.models.turn(async || Some(own.lock_owned().await)).await
    }

    /// Waits for the turn of files of a model, blocking the thread.
    pub fn model(&self, model: &str) -> OwnedMutexGuard<()> {
        self.own(model).blocking_lock_owned()
    }

    fn own(&self, model: &str) -> Arc<AsyncMutex<()>> {
        let mut of_model = lock(&self.of_model);
        Arc::clone(of_model.entry(model.to_owned()).or_default())
    }
}

impl Lane {
    fn new(turns: usize, places: usize) -> Self {
        Self { turns: Arc::new(Semaphore::new(turns)), places: Semaphore::new(places) }
    }

    async fn turn(
        &self,
        model: impl AsyncFnOnce() -> Option<OwnedMutexGuard<()>>,
    ) -> Result<Turn, ApiError> {
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let wait = async {
            let model = model().await;
            let turn = Arc::clone(&self.turns).acquire_owned().await;
            Ok(Turn { _turn: turn.map_err(ApiError::internal)?, _model: model })
        };
        timeout(WAIT, wait).await.map_err(|_| busy())?
    }
}

/// The error when too many files arrive at once.
pub(super) fn busy() -> ApiError {
    let text = "too many files are being taken in; try again later".to_owned();
    ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_busy<T: std::fmt::Debug>(turn: Result<T, ApiError>) -> bool {
        turn.is_err_and(|error| error == busy())
    }

    #[allow(clippy::await_holding_lock, reason = "that they hold nobody up is what is tested")]
    #[tokio::test(start_paused = true)]
    async fn a_small_file_waits_for_no_large_one_and_a_large_one_waits_a_bounded_time() {
        let lanes = Lanes::default();
        let _watched = lock(&lanes.watched);
        let _fetched = lock(&lanes.fetched);
        let first = lanes.pushed(false).await.unwrap();
        assert!(is_busy(lanes.pushed(false).await));
        let small = [lanes.pushed(true).await.unwrap(), lanes.pushed(true).await.unwrap()];
        assert!(is_busy(lanes.pushed(true).await));
        drop(first);
        lanes.pushed(false).await.unwrap();
        drop(small);
        lanes.pushed(true).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_bounded_number_waits_and_the_next_is_refused_at_once() {
        let lanes = Arc::new(Lanes::default());
        let first = lanes.pushed(false).await.unwrap();
        let waiting: Vec<_> = (0..16)
            .map(|_| {
                let lanes = Arc::clone(&lanes);
                tokio::spawn(async move { lanes.pushed(false).await.map(drop) })
            })
            .collect();
        tokio::task::yield_now().await;
        let before = tokio::time::Instant::now();
        assert!(is_busy(lanes.pushed(false).await));
        assert_eq!(before.elapsed(), Duration::ZERO);
        drop(first);
        for waiting in waiting {
            waiting.await.unwrap().unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_takes_one_delivery_at_a_time_and_holds_up_no_other_model() {
        let lanes = Lanes::default();
        let first = lanes.pushed_model("one").await.unwrap();
        assert!(is_busy(lanes.pushed_model("one").await));
        drop(lanes.pushed_model("other").await.unwrap());
        drop(first);
        lanes.pushed_model("one").await.unwrap();
    }
}
