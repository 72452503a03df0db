//! The server as a process: it opens its record, listens, replays or takes files in, and stops.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use mesonet::access::Plan;
use mesonet::store::{EmbeddedOptions, Maintained, StoreError};
use mesonet::time::HOUR_MS;
use mesonet::{Intake, Iso8601};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::background::{repeat, rest};
use super::leave::{SHUTDOWN_GRACE, until_told_to_stop};
use super::model_layout::{Remaining, upgrade};
use super::watch::{Watch, WatchError};
use super::{figures, live, product_retention, retention};
use crate::app::key_renewal::keep_keys;
use crate::app::reload::renew_certificate;
use crate::app::signals::Signals;
use crate::config::ReplayStart;
use crate::config::{Config, ConfigError, Flags};
use crate::connections::{Certificate, ConnectionLimits, Connections, Table, raise_file_limit};
use crate::sample::record::put_sample_record;
use crate::sample::replay::Timeline;
use crate::sample::{SampleData, SampleError, sample, sample_alerts};
use crate::state::alert_clocks::FeedClockLead;
use crate::state::clock::Clock;
use crate::state::zones::ZonesError;
use crate::state::{State, StateError};
use mesonet_service::fetch;
use mesonet_service::keys::KeysError;
use mesonet_service::record::{Origin, Record, RecordPlace, is_read_only};

use crate::connections;

/// How often the server checks whether the clock has passed a report.
const TICK: Duration = Duration::from_secs(1);

/// How often the server looks at the watched folder, and whether the store needs maintenance.
const LOOK: Duration = Duration::from_secs(2);
const MAINTENANCE: Duration = Duration::from_secs(10);

/// How often the server looks for stations with new data: their details must be current within a
/// second.
const GLANCE: Duration = Duration::from_millis(100);

/// How long the details must stay unchanged before they are compressed thoroughly.
const SETTLED: Duration = Duration::from_secs(3);

/// Maximum number of connections to `/metrics`.
const OF_METRICS: usize = 16;

/// Why a server could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sample is damaged.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// The clock cannot start at the sample.
    #[error(
        "now is sample, but the record holds readings other than the sample; it must be live or an \
         RFC 3339 instant"
    )]
    NotOfSample,
    /// A fetcher could not be started.
    #[error(transparent)]
    Fetch(#[from] fetch::SpawnError),
    /// The watched folder cannot be read, or the store takes nothing.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The alert zones cannot be read.
    #[error(transparent)]
    Zones(#[from] ZonesError),
    /// The sample has no reports.
    #[error("the sample has no reports")]
    Empty,
    /// The record of API keys cannot be read or written.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state could not be made or updated.
    #[error(transparent)]
    State(#[from] StateError),
    /// The server cannot listen, for example because the address is taken.
    #[error("cannot listen on {listen}: {error}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The server cannot go on.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The record that a server writes to, and the reports that wait for its clock.
type Fed = (Record, Option<Timeline>);

/// Serves a record until the process is told to stop (SIGTERM, Ctrl-C).
///
/// At SIGHUP it reads the settings again, from the flags and the configuration file.
///
/// # Errors
/// The server cannot start; no request can end it.
pub async fn serve(mut config: Config, mut flags: Flags) -> Result<(), ServeError> {
    let certificate = config.certificate()?.map(Arc::new);
    let tls =
        certificate.as_ref().map(Certificate::acceptor).transpose().map_err(ConfigError::from)?;
    let signals = Signals::new()?;
    // First, so that a taken address is reported at once.
    let listener = match passed_socket()? {
        Some(listener) => {
            // Settings that depend on the address, such as tokens for development, use this one.
            config.listen = listener.local_addr()?;
            flags.service.listen = Some(config.listen);
            config.check()?;
            listener
        }
        None => bind(config.listen).await?,
    };
    let of_metrics = match config.metrics_listen {
        Some(listen) => Some(bind(listen).await?),
        None => None,
    };

    let intake = Intake::new(config.checker()?);
    if config.assume_plan > Plan::None {
        tracing::warn!(
            "assuming plan {} for every caller, for development only",
            config.assume_plan
        );
    }
    let watch = config.watch.clone().map(|folder| Watch::new(folder, config.watch_keep));
    // Not on a thread that serves connections: much is read, perhaps from another machine.
    let open = move || open(config, intake);
    let (state, fed) = tokio::task::spawn_blocking(open).await.map_err(io::Error::other)??;
    prepare_zones(&state).await?;
    if let Some(record) = state.services.record() {
        retention::announce(&state, record)?;
        product_retention::announce(&state);
    }
    let app = super::app(Arc::clone(&state)).service();
    // In parallel with the first requests. Requests for models wait.
    let sampled = Arc::clone(&state);
    drop(tokio::task::spawn_blocking(move || {
        sampled.services.models_with_sample();
    }));
    let limits = state.config().connection_limits().within(raise_file_limit());
    tracing::info!(
        "up to {} connections at once, {} of one address",
        limits.connections,
        limits.of_client
    );
    let (max_streams, table) = (state.config().max_streams, Table::new(limits));
    let mut beside = JoinSet::new();
    if let Some(listener) = of_metrics {
        tracing::info!("metrics at http://{}/metrics", listener.local_addr()?);
        let few = ConnectionLimits { connections: OF_METRICS, of_client: OF_METRICS, ..limits };
        let figures = figures::router(
            Arc::clone(&state),
            Arc::clone(&table),
            certificate.as_ref().map(Arc::clone),
        );
        let app: connections::Service = Arc::new(move |request| {
            let answered = figures.clone().oneshot(request);
            Box::pin(answered.map(|answered| answered.unwrap_or_else(|never| match never {})))
        });
        let served = Connections { app, table: Table::new(few), max_streams, tls: None };
        beside.spawn(async move {
            connections::serve(listener, served, std::future::pending(), SHUTDOWN_GRACE).await;
        });
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    tracing::info!("listening on {scheme}://{}", listener.local_addr()?);

    work_beside(&mut beside, &state, fed);
    if let Some(certificate) = certificate.clone() {
        beside.spawn(repeat(Arc::clone(&state), certificate, rest, |_, certificate| {
            renew_certificate(certificate);
            Ok::<_, ServeError>(LOOK)
        }));
    }
    if let Some(watch) = watch {
        beside.spawn(repeat(Arc::clone(&state), watch, rest, look));
    }
    // Stopped on drop.
    let _fetchers = spawn_fetchers(&state)?;
    let stop_requested = until_told_to_stop(signals, Arc::clone(&state), flags, certificate);
    let served = Connections { app, table, max_streams, tls };
    if !connections::serve(listener, served, stop_requested, SHUTDOWN_GRACE).await {
        tracing::warn!("unfinished answers were cut off");
    }
    state.services.stop();
    let traced = Arc::clone(&state);
    if let Err(error) = tokio::task::spawn_blocking(move || traced.traces.stop()).await {
        tracing::error!("the last traces: {error}");
    }
    if let Some(record) = state.services.record().cloned()
        && let Err(error) = tokio::task::spawn_blocking(move || record.close()).await
    {
        tracing::error!("the end of the record: {error}");
    }
    if let Some(keys) = &state.credentials.keys
        && let Err(error) = keys.close()
    {
        tracing::error!("{error}");
    }
    Ok(())
}

async fn bind(listen: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(listen).await.map_err(|error| ServeError::Listen { listen, error })
}

/// Starts the work that runs beside the requests under all settings.
fn work_beside(beside: &mut JoinSet<()>, state: &Arc<State>, fed: Option<Fed>) {
    if let Some((record, timeline)) = fed {
        let replayed = record.clone();
        beside.spawn(repeat(Arc::clone(state), timeline, rest, move |state, timeline| {
            advance(state, &replayed, timeline.as_mut())?;
            state.refresh_alerts()?;
            Ok::<_, ServeError>(TICK)
        }));
        beside.spawn(repeat(Arc::clone(state), record, rest, maintain));
        beside.spawn(repeat(Arc::clone(state), Remaining::default(), rest, upgrade));
        let stayed = product_retention::Stayed::new();
        beside.spawn(repeat(Arc::clone(state), stayed, rest, product_retention::expire));
    }
    if state.services.follower().is_some() {
        beside.spawn(repeat(Arc::clone(state), (), rest, |state, ()| {
            state.refresh_alerts()?;
            Ok::<_, ServeError>(TICK)
        }));
        let config = state.config();
        let every =
            if config.read_only { TICK } else { Duration::from_secs(config.follow_every_s) };
        let look = move |state: &State, (): &mut ()| {
            state.follow()?;
            state.publish_batches()?;
            if let (Some(follower), Some(span_ms)) = (state.services.follower(), recent(state)) {
                follower.keep_recent(span_ms, state.config().recent_memory_bytes)?;
            }
            Ok::<_, ServeError>(every)
        };
        beside.spawn(repeat(Arc::clone(state), (), |_| Duration::ZERO, look));
    }
    beside.spawn(repeat(Arc::clone(state), (), rest_of_details, |state, ()| {
        state.refresh_stations()?;
        Ok::<_, ServeError>(GLANCE)
    }));
    beside.spawn(repeat(Arc::clone(state), None, rest, |state, last| {
        state.snapshots.settle(last).map_err(StateError::from)?;
        Ok::<_, ServeError>(SETTLED)
    }));
    keep_keys(beside, state);
    live::tell(beside, state);
}

/// The socket that the service manager has opened for the server, if any (`LISTEN_FDS`).
fn passed_socket() -> io::Result<Option<TcpListener>> {
    let Some(listener) = listenfd::ListenFd::from_env().take_tcp_listener(0)? else {
        return Ok(None);
    };
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener).map(Some)
}

/// Unpacks the zones in parallel with the first requests. If there are zone files, the function
/// waits, so that faults in them are reported before the server listens.
async fn prepare_zones(state: &Arc<State>) -> Result<(), ServeError> {
    let unpacked = Arc::clone(state);
    let zones = tokio::task::spawn_blocking(move || {
        let zones = unpacked.services.zones()?;
        tracing::info!("{} zones, geography version {}", zones.zones().len(), zones.version());
        Ok::<_, ZonesError>(())
    });
    if !state.config().zones.is_empty() {
        zones.await.map_err(io::Error::other)??;
    }
    Ok(())
}

/// Starts the configured fetchers, which hand their files to the state.
fn spawn_fetchers(state: &Arc<State>) -> Result<fetch::Fetchers, fetch::SpawnError> {
    let config = state.config();
    let sink: Arc<dyn fetch::Sink> = Arc::clone(&state.services) as _;
    let folder = config.data.join("fetch");
    fetch::spawn(&config.fetch, Some(&folder), &sink, &tokio::runtime::Handle::current())
}

/// Opens the record. Also returns what feeds the record, if this server writes to it.
fn open(config: Config, intake: Intake) -> Result<(Arc<State>, Option<Fed>), ServeError> {
    if config.follow.is_some() {
        let clock = of_read_only(&config);
        return Ok((State::of_backups(config, clock, intake)?, None));
    }
    if config.read_only {
        let beside = Record::beside(&config.record())?;
        tracing::info!("only reading {}: takes nothing in", config.place());
        let clock = of_read_only(&config);
        return Ok((State::of_another(config, clock, beside, intake)?, None));
    }
    if let RecordPlace::Embedded(folder) = config.place()
        && is_read_only(&folder)
    {
        let beside = Record::beside(&config.record())?;
        tracing::warn!("{} is read-only: it is served, and nothing is taken in", folder.display());
        let clock = of_read_only(&config);
        return Ok((State::of_another(config, clock, beside, intake)?, None));
    }
    if let RecordPlace::Embedded(folder) = config.place()
        && matches!(config.now, None | Some(ReplayStart::Sample))
        && config.limits.is_none()
        && let Err(error) = put_sample_record(&folder)
    {
        // If the folder cannot be used, the store gives a better error. Otherwise the reports are
        // judged now.
        tracing::warn!("the record of the sample cannot be written: {error}");
    }
    let record = Record::open(&config.record())?;
    if let place @ RecordPlace::ClickHouse(_) = config.place() {
        tracing::info!("writing to {place}");
    }
    let (clock, timeline) = start(config.now, &record, &intake)?;
    let state = State::of_record(config, clock, record.clone(), intake)?;
    Ok((state, Some((record, timeline))))
}

/// The clock of a server that reads the record of another.
fn of_read_only(config: &Config) -> Clock {
    match config.now {
        Some(ReplayStart::At(start_ms)) => Clock::started_at(start_ms),
        _ => Clock::live(),
    }
}

/// Returns the clock, and the reports of the sample that wait for it. Afterwards the record has the
/// part of the sample before the clock.
fn start(
    now: Option<ReplayStart>,
    record: &Record,
    intake: &Intake,
) -> Result<(Clock, Option<Timeline>), ServeError> {
    let origin = record.origin()?;
    let start_ms = match (now, origin) {
        (Some(ReplayStart::Live), _) | (None, Origin::Own) => {
            if origin == Origin::New {
                record.make_own()?;
            }
            tracing::info!("the clock shows real time");
            return Ok((Clock::live(), None));
        }
        (Some(ReplayStart::At(start_ms)), Origin::Own) => {
            tracing::info!("replaying the record from {}: not live", Iso8601(start_ms));
            return Ok((Clock::started_at(start_ms), None));
        }
        (Some(ReplayStart::Sample), Origin::Own) => return Err(ServeError::NotOfSample),
        (None | Some(ReplayStart::Sample), Origin::New | Origin::Sample) => None,
        (Some(ReplayStart::At(start_ms)), Origin::New | Origin::Sample) => Some(start_ms),
    };
    // Alerts are recognized by their ids, so those of an earlier run are not taken in again.
    if record.alerts().failure().is_none() {
        record.alerts().append(sample_alerts()?)?;
    }
    let span = record.sample_span()?;
    if let Some((newest_ms, passed_ms)) = span
        && passed_ms >= newest_ms
    {
        let clock = replay_clock(start_ms, newest_ms);
        tracing::info!("replaying data of {}: not live", date(clock.now_ms()));
        return Ok((clock, None));
    }

    let SampleData { batch, placeless, summary } = sample()?;
    let mut timeline = Timeline::new(batch);
    let newest_ms = timeline.newest_ms().ok_or(ServeError::Empty)?;
    let clock = replay_clock(start_ms, newest_ms);
    match span {
        // An earlier run has read the sample.
        Some((_, passed_ms)) => drop(timeline.pass(passed_ms)),
        // First, so that a record left half filled by a crash is recognized.
        None => record.sample_passed(newest_ms, i64::MIN)?,
    }
    let now_ms = clock.now_ms();
    let past = timeline.pass(now_ms);
    let (reports, stations) = (past.reports.len(), past.stations.len());
    if reports > 0 {
        intake.take_in(&*record.store(), past)?;
        record.sample_passed(newest_ms, now_ms)?;
    }
    tracing::info!(
        "replaying data of {}: not live; read {reports} reports of {stations} stations; {} wait \
         for the clock, {placeless} are of stations without a place, {} could not be read",
        date(now_ms),
        timeline.waiting(),
        summary.refused,
    );
    Ok((clock, Some(timeline)))
}

/// Judges the sample into a record in a new folder, as of its newest report.
/// `sample/record.sqlite.zst` is made with this function.
///
/// # Errors
/// The folder cannot be written, or the sample is damaged.
pub fn judge_sample(folder: &Path) -> Result<(), ServeError> {
    let record = Record::on_disk(folder, EmbeddedOptions::default())?;
    start(None, &record, &Intake::default())?;
    record.close();
    Ok(())
}

/// Formats the day of an instant.
fn date(ts_ms: i64) -> String {
    Iso8601(ts_ms).to_string().split('T').next().unwrap_or_default().to_owned()
}

/// The pause after an update of the details. It is short enough to keep them current within a
/// second, and takes at least half of the time.
fn rest_of_details(took: Duration) -> Duration {
    const LONGEST: Duration = Duration::from_millis(400);
    (took * 3).min(LONGEST).max(took)
}

/// The clock of a replay of the sample. It starts at the given instant or at the newest reading.
/// The clock of alerts starts at moments at which some alerts are in force.
fn replay_clock(start_ms: Option<i64>, newest_ms: i64) -> Clock {
    match start_ms {
        Some(start_ms) => Clock::started_at(start_ms),
        None => Clock::started_at(newest_ms).with_alerts_ahead(FeedClockLead::of_sample(newest_ms)),
    }
}

/// Feeds the store recorded reports as the clock passes them.
fn advance(
    state: &State,
    record: &Record,
    timeline: Option<&mut Timeline>,
) -> Result<(), ServeError> {
    if let Some(timeline) = timeline {
        let (now_ms, newest_ms) = (state.clock.now_ms(), timeline.newest_ms());
        let batch = timeline.pass(now_ms);
        if let Some(newest_ms) = newest_ms.filter(|_| !batch.reports.is_empty()) {
            let reports = batch.reports.len();
            state.services.intake.take_in(&*state.services.store, batch)?;
            record.sample_passed(newest_ms, now_ms)?;
            tracing::debug!("{reports} reports arrived, {} are waiting", timeline.waiting());
        }
    }
    Ok(())
}

/// Seals, merges and deletes what is due.
fn maintain(state: &State, record: &mut Record) -> Result<Duration, ServeError> {
    let retain_from_ms = retention::cutoff_of(state, record)?;
    let done = record.maintain(retain_from_ms)?;
    record.log_faults();
    for fault in &done.set_aside {
        tracing::error!("set aside a damaged file: {fault}");
    }
    if let Some(retain_from_ms) = retain_from_ms {
        let alerts = match record.alerts().failure() {
            Some(_) => 0,
            None => record.alerts().expire(retain_from_ms)?,
        };
        retention::report(record, retain_from_ms, &done, alerts);
    }
    if let Some(span_ms) = recent(state) {
        record.keep_recent(span_ms, state.config().recent_memory_bytes)?;
    }
    if done.sealed_readings > 0 || done.merged_segments > 0 {
        let Maintained { sealed_readings, merged_segments, .. } = done;
        tracing::info!("sealed {sealed_readings} readings, merged {merged_segments} segments");
    }
    if done.rewritten_segments > 0 {
        tracing::info!("wrote {} segments of an earlier version anew", done.rewritten_segments);
    }
    Ok(MAINTENANCE)
}

/// The span of time whose readings are in memory, from a whole hour to now.
fn recent(state: &State) -> Option<Range<i64>> {
    let hours = i64::from(state.config().recent_hours);
    let now_ms = state.clock.now_ms();
    let from_ms = (now_ms.div_euclid(HOUR_MS) - hours) * HOUR_MS;
    (hours > 0).then_some(from_ms..now_ms)
}

/// Looks at the watched folder.
fn look(state: &State, watch: &mut Watch) -> Result<Duration, ServeError> {
    for summary in watch.look(state)? {
        tracing::info!("watched folder: {}", summary.line());
    }
    Ok(LOOK)
}
