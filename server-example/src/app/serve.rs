//! The server as a process: it opens its record, listens, replays or takes files in, and stops.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::pending;
use mesonet::access::Plan;
use mesonet::store::EmbeddedOptions;
use mesonet::{Intake, Iso8601};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::background::{repeat, rest};
use super::error::ServeError;
use super::shutdown::{SHUTDOWN_GRACE, wait_for_shutdown};
use super::upkeep::{Fed, LOOK, look, work_beside};
use super::watch::Watch;
use super::{figures, product_retention, retention, webhooks};
use crate::app::reload::renew_certificate;
use crate::app::signals::Signals;
use crate::config::{Config, ConfigError, Flags, ReplayStart};
use crate::connections::{
    self, Certificate, ConnectionLimits, Connections, Table, raise_file_limit,
};
use crate::sample::record::{NEWEST_MS, put_sample_record};
use crate::sample::replay::Timeline;
use crate::sample::{SampleData, sample, sample_alerts};
use crate::state::State;
use crate::state::alert_clocks::FeedClockLead;
use crate::state::clock::Clock;
use crate::state::zones::ZonesError;
use mesonet_service::fetch;
use mesonet_service::record::{Origin, Record, RecordPlace, is_read_only};

/// Maximum number of connections to `/metrics`.
const OF_METRICS: usize = 16;

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
            connections::serve(listener, served, pending().boxed(), SHUTDOWN_GRACE).await;
        });
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    tracing::info!("listening on {scheme}://{}", listener.local_addr()?);

    work_beside(&mut beside, &state, fed);
    webhooks::deliver(&state)?;
    #[cfg(feature = "mqtt")]
    let deliveries = super::mqtt::deliver(&state)?;
    if let Some(certificate) = certificate.clone() {
        repeat(&mut beside, &state, certificate, rest, |_, certificate| {
            renew_certificate(certificate);
            Ok::<_, ServeError>(LOOK)
        });
    }
    if let Some(watch) = watch {
        repeat(&mut beside, &state, watch, rest, look);
    }
    // Stopped on drop.
    let _fetchers = spawn_fetchers(&state)?;
    let stop_requested = wait_for_shutdown(signals, Arc::clone(&state), flags, certificate).boxed();
    let served = Connections { app, table, max_streams, tls };
    if !connections::serve(listener, served, stop_requested, SHUTDOWN_GRACE).await {
        tracing::warn!("unfinished answers were cut off");
    }
    #[cfg(feature = "mqtt")]
    deliveries.stop().await;
    end(&state).await;
    Ok(())
}

/// Closes what the server has open.
async fn end(state: &Arc<State>) {
    state.services.stop();
    let traced = Arc::clone(state);
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
}

async fn bind(listen: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(listen).await.map_err(|error| ServeError::Listen { listen, error })
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
    let shows_all_of_sample = match config.now {
        None | Some(ReplayStart::Sample) => true,
        Some(ReplayStart::At(start_ms)) => start_ms >= NEWEST_MS,
        Some(ReplayStart::Live) => false,
    };
    if let RecordPlace::Embedded(folder) = config.place()
        && shows_all_of_sample
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

/// The clock of a replay of the sample. It starts at the given instant or at the newest reading.
/// The clock of alerts starts at moments at which some alerts are in force.
fn replay_clock(start_ms: Option<i64>, newest_ms: i64) -> Clock {
    match start_ms {
        Some(start_ms) => Clock::started_at(start_ms),
        None => Clock::started_at(newest_ms).with_alerts_ahead(FeedClockLead::of_sample(newest_ms)),
    }
}
