//! The count of several servers together, in Redis: the rule of `window.rs` as one script, by the clock
//! of Redis.
//!
//! Redis is asked with each request, and never waited for: what it does not say in time is counted by
//! this server alone, and Redis is left alone for a second.

use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo,
    RedisConnectionInfo, RedisError, RedisResult, ServerErrorKind, cmd,
};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::{Allowance, RedisAddress, SharedHealth, Turn, Window};
use crate::config::{Config, ConfigError};
use crate::door::Party;
use crate::files::shown_name;
use crate::password::password;

/// Where the password of Redis stands if no file has it. Redis' own client reads it too.
const PASSWORD: &str = "REDISCLI_AUTH";

/// Begins all keys. The number is that of what they hold: a server that writes another form takes the
/// next one, and neither reads what the other writes.
const PREFIX: &str = "mesonet:rate:1";

/// How long a request waits for Redis.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(1);

/// The pause before Redis is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The time is that of Redis, since clocks of servers differ.
const NOW: &str = "local clock = redis.call('TIME') local now = clock[1] * 1000000 + clock[2]\n";

/// The rule, at a time `now`.
const RULE: &str = include_str!("window.lua");

/// Asks whether Redis counts: one request in a microsecond is always let through, and written.
const PROBE: Allowance = Allowance {
    requests: 1,
    span: Duration::from_micros(1),
    waiting: 0,
    longest_wait: Duration::ZERO,
};

/// The count in Redis, and the connection to it.
pub struct Shared {
    address: RedisAddress,
    password: Option<String>,
    script: Script,
    patience: Duration,
    /// `None` while Redis is away.
    connection: ArcSwapOption<MultiplexedConnection>,
    was_lost: Notify,
    /// Whether the log has it that Redis is away.
    is_said: AtomicBool,
    alone: AtomicU64,
}

/// Why Redis does not count.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("no answer within {} ms", .0.as_millis())]
    Late(Duration),
    #[error("{}", shown_name(&.0.to_string()))]
    Redis(#[from] RedisError),
    #[error("unexpected answer: {0}")]
    Nonsense(i64),
}

impl Shared {
    /// Counts where the settings say; `None` if they do not. It is not connected yet.
    ///
    /// # Errors
    /// The password cannot be read.
    pub fn new(config: &Config) -> Result<Option<Self>, ConfigError> {
        let Some(address) = config.redis()? else { return Ok(None) };
        let password = password(config.rate_redis_password_file.as_deref(), PASSWORD)?;
        Ok(Some(Self {
            address,
            password,
            script: Script::new(NOW),
            patience: PATIENCE,
            connection: ArcSwapOption::empty(),
            was_lost: Notify::new(),
            is_said: AtomicBool::new(false),
            alone: AtomicU64::new(0),
        }))
    }

    /// Counts a request in Redis, and notes it in the window of this server, so that nobody begins anew
    /// when Redis goes. `None` if Redis does not count, within [`PATIENCE`].
    pub async fn take(&self, party: Party, window: &Window) -> Option<Turn> {
        let allowance = window.allowance();
        if allowance.requests == 0 {
            return Some(Turn::Now);
        }
        let turn = self.ask(&key(party, allowance.span), allowance).await;
        match turn {
            Some(turn) => window.note(party, Instant::now(), turn),
            None => _ = self.alone.fetch_add(1, Ordering::Relaxed),
        }
        turn
    }

    /// Connects, and again whenever the connection is lost, at most every [`RETRY`].
    pub async fn keep_connected(&self) {
        loop {
            let connected = timeout(CONNECT, self.connect()).await;
            match connected.unwrap_or(Err(Trouble::Late(CONNECT))) {
                Ok(connection) => {
                    self.is_said.store(false, Ordering::Relaxed);
                    tracing::info!("rates are counted in Redis, {}", self.address);
                    self.connection.store(Some(Arc::new(connection)));
                    self.was_lost.notified().await;
                }
                Err(trouble) => self.say(&trouble),
            }
            sleep(RETRY).await;
        }
    }

    /// How it goes.
    pub fn health(&self) -> SharedHealth {
        SharedHealth {
            is_up: self.connection.load().is_some(),
            alone: self.alone.load(Ordering::Relaxed),
        }
    }

    async fn ask(&self, key: &str, allowance: Allowance) -> Option<Turn> {
        let connection = self.connection.load_full()?;
        match self.count(&connection, key, allowance).await {
            Ok(turn) => Some(turn),
            Err(trouble) => {
                let before = self.connection.compare_and_swap(&connection, None);
                // Of many requests that wait for it, the first one tells.
                if before.as_ref().is_some_and(|before| Arc::ptr_eq(before, &connection)) {
                    self.say(&trouble);
                    self.was_lost.notify_one();
                }
                None
            }
        }
    }

    async fn count(
        &self,
        connection: &MultiplexedConnection,
        key: &str,
        allowance: Allowance,
    ) -> Result<Turn, Trouble> {
        let arguments = arguments(allowance);
        let answer = timeout(self.patience, self.script.run(connection, key, &arguments)).await;
        let wait_us: i64 = answer.map_err(|_| Trouble::Late(self.patience))??;
        let [.., longest_wait_us] = arguments;
        match u64::try_from(wait_us) {
            Ok(0) => Ok(Turn::Now),
            Ok(wait_us) if wait_us <= longest_wait_us => {
                Ok(Turn::At(Instant::now() + Duration::from_micros(wait_us)))
            }
            Err(_) if wait_us == -1 => Ok(Turn::Refused),
            _ => Err(Trouble::Nonsense(wait_us)),
        }
    }

    /// Connects, and sees that requests can be counted: that they may be written, too.
    async fn connect(&self) -> Result<MultiplexedConnection, Trouble> {
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let client = Client::open(self.place()?)?;
        let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        let own = RandomState::new().hash_one(());
        match self.count(&connection, &format!("{PREFIX}:probe:{own:016x}"), PROBE).await? {
            Turn::Now => Ok(connection),
            Turn::At(_) | Turn::Refused => Err(Trouble::Nonsense(-1)),
        }
    }

    fn place(&self) -> RedisResult<ConnectionInfo> {
        let mut login = RedisConnectionInfo::default().set_skip_set_lib_name();
        // A user without a password logs in with none: else the crate would not name it to Redis.
        if let Some(password) = self.password.as_deref().or(self.address.user().map(|_| "")) {
            login = login.set_password(password);
        }
        if let Some(user) = self.address.user() {
            login = login.set_username(user);
        }
        let place = match &self.address {
            RedisAddress::Socket(path) => ConnectionAddr::Unix(path.clone()),
            RedisAddress::Network { host, port, database, is_tls, .. } => {
                login = login.set_db(i64::from(*database));
                let (host, port) = (host.clone(), *port);
                if *is_tls {
                    // There may be one already: it is this one.
                    let _ = rustls::crypto::ring::default_provider().install_default();
                    ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
                } else {
                    ConnectionAddr::Tcp(host, port)
                }
            }
        };
        let at_once = TcpSettings::default().set_nodelay(true);
        Ok(place.into_connection_info()?.set_redis_settings(login).set_tcp_settings(at_once))
    }

    /// Says in the log that Redis is away, once until it is back.
    fn say(&self, trouble: &Trouble) {
        if !self.is_said.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "rates are counted by this server alone: Redis, {}: {trouble}",
                self.address
            );
        }
    }
}

/// The rule as Redis runs it: by its name, or, when Redis does not know it, by its text.
struct Script {
    text: String,
    /// SHA-1 of the text, as Redis has it.
    name: String,
}

impl Script {
    /// The rule at a time that the line before it tells.
    fn new(now: &str) -> Self {
        let text = format!("{now}{RULE}");
        let name = hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()).as_ref());
        Self { text, name }
    }

    async fn run(
        &self,
        connection: &MultiplexedConnection,
        key: &str,
        arguments: &[u64],
    ) -> RedisResult<i64> {
        // Not the crate's own scripts: they panic if what loads one is no Redis.
        let mut connection = connection.clone();
        let mut by_name = cmd("EVALSHA");
        by_name.arg(&self.name).arg(1).arg(key).arg(arguments);
        match by_name.query_async(&mut connection).await {
            Err(error) if is_unknown(&error) => {
                let mut by_text = cmd("EVAL");
                by_text.arg(&self.text).arg(1).arg(key).arg(arguments);
                by_text.query_async(&mut connection).await
            }
            answer => answer,
        }
    }
}

fn is_unknown(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// What the script is told of an allowance: numbers, and microseconds.
fn arguments(allowance: Allowance) -> [u64; 4] {
    let Allowance { requests, span, waiting, longest_wait } = allowance;
    let us = |time: Duration| time.as_micros() as u64;
    [requests as u64, us(span), waiting as u64, us(longest_wait)]
}

/// The key of a caller, whose address is not in Redis as such. Servers with another span have other keys:
/// one would forget what the other still needs.
fn key(party: Party, span: Duration) -> String {
    let party = Sha256::digest(party.first().to_string());
    format!("{PREFIX}:{}:{}", span.as_millis(), hex(&party[..16]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into memory does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "shared_trouble_tests.rs"]
mod trouble_tests;
