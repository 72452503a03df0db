//! The connection: a synchronous face of the asynchronous client, with a limit to every wait.
//!
//! The traits of stores are synchronous, and their callers are threads of any kind: of a pool, of
//! another runtime, of no runtime. So the store has a small runtime of its own. A call hands its
//! future over and waits for the result on a channel, which works on every thread; the callbacks of
//! a scan run on the thread of their caller.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use clickhouse::error::Error;
use clickhouse::query::Query;
use clickhouse::{Client, RowOwned, RowRead, RowWrite};
use mesonet::store::StoreError;
use tokio::runtime::{Builder, Runtime};

/// How often a block of rows is sent before the batch fails.
const ATTEMPTS: u32 = 3;

/// How long to wait before a block is sent again, times the attempts so far.
const PAUSE: Duration = Duration::from_millis(200);

/// How ClickHouse says that its disk is full: by an error of its own, or by that of the system.
const FULL: [&str; 3] = ["Code: 243", "NOT_ENOUGH_SPACE", "No space left on device"];

/// Where the record is, and how long to wait for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Options {
    /// Address of the HTTP interface, such as `http://127.0.0.1:8123`.
    pub url: String,
    /// The database, which [`migrate`](crate::migrate) creates.
    pub database: String,
    /// The user; `None` is ClickHouse's `default`.
    pub user: Option<String>,
    /// The password of the user.
    pub password: Option<String>,
    /// How long one query may take, and one block of an insert.
    pub timeout: Duration,
}

impl Options {
    /// Describes a database with the user `default` and a limit of 30 s.
    pub fn new(url: &str, database: &str) -> Self {
        Self {
            url: url.to_owned(),
            database: database.to_owned(),
            user: None,
            password: None,
            timeout: Duration::from_secs(30),
        }
    }
}

/// Without the password.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, database, user, password: _, timeout } = self;
        let mut fields = f.debug_struct("Options");
        fields.field("url", url).field("database", database).field("user", user);
        fields.field("timeout", timeout).finish_non_exhaustive()
    }
}

pub(crate) struct Link {
    client: Client,
    timeout: Duration,
    /// Names the database in messages.
    name: String,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Link").field(&self.name).finish()
    }
}

impl Link {
    pub(crate) fn new(options: &Options) -> Result<Self, StoreError> {
        let Options { url, database, user, password, timeout } = options;
        let name = format!("{url} database {database}");
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mesonet-clickhouse")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Storage {
                path: name.clone(),
                cause: error.to_string(),
            })?;
        let seconds = timeout.as_secs().max(1).to_string();
        // Releases before 2023 cannot describe the columns of an answer, so the client does not ask.
        let mut client = Client::default()
            .with_url(url)
            .with_validation(false)
            .with_setting("max_execution_time", &seconds)
            .with_setting("receive_timeout", &seconds)
            .with_setting("send_timeout", &seconds);
        if let Some(user) = user {
            client = client.with_user(user);
        }
        if let Some(password) = password {
            client = client.with_password(password);
        }
        Ok(Self { client, timeout: *timeout, name, runtime: Some(runtime) })
    }

    /// Uses a database from now on; a new one is created without.
    pub(crate) fn within(mut self, database: &str) -> Self {
        self.client = self.client.clone().with_database(database);
        self
    }

    pub(crate) fn query(&self, sql: &str) -> Query {
        self.client.query(sql)
    }

    /// Runs a statement that has no answer, as it is written.
    pub(crate) fn run(&self, statement: &str) -> Result<(), StoreError> {
        self.execute(self.client.query_raw(statement))
    }

    pub(crate) fn execute(&self, query: Query) -> Result<(), StoreError> {
        self.wait(query.execute())
    }

    pub(crate) fn rows<R>(&self, query: Query) -> Result<Vec<R>, StoreError>
    where
        R: RowOwned + RowRead + Send + 'static,
    {
        self.wait(query.fetch_all::<R>())
    }

    /// Inserts rows as one block. One that may have been lost on its way is sent again as it was:
    /// a replicated table recognizes it, and the others keep one of the equal rows.
    pub(crate) fn insert<R>(&self, table: &'static str, rows: Vec<R>) -> Result<(), StoreError>
    where
        R: RowOwned + RowWrite + Send + Sync + 'static,
    {
        if rows.is_empty() {
            return Ok(());
        }
        let rows = Arc::new(rows);
        let mut attempt = 1;
        loop {
            let (client, rows, timeout) = (self.client.clone(), Arc::clone(&rows), self.timeout);
            let sent = self.ask(async move {
                let insert = client.insert::<R>(table).await?;
                let mut insert = insert.with_timeouts(Some(timeout), Some(timeout));
                for row in rows.iter() {
                    insert.write(row).await?;
                }
                insert.end().await
            });
            match sent {
                Ok(()) => return Ok(()),
                Err(Error::Network(_) | Error::TimedOut) if attempt < ATTEMPTS => {
                    std::thread::sleep(PAUSE * attempt);
                    attempt += 1;
                }
                Err(error) => return Err(self.refused(&error)),
            }
        }
    }

    fn wait<T: Send + 'static>(
        &self,
        asked: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask(asked).map_err(|error| self.refused(&error))
    }

    fn ask<T: Send + 'static>(
        &self,
        asked: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let Some(runtime) = &self.runtime else { return Err(Error::TimedOut) };
        let (answer, answered) = mpsc::sync_channel(1);
        let timeout = self.timeout;
        runtime.spawn(async move {
            let result = tokio::time::timeout(timeout, asked).await;
            // Nobody waits any more if the caller was killed.
            let _ = answer.send(result.unwrap_or(Err(Error::TimedOut)));
        });
        // The sender is dropped without a message if the future panics.
        answered.recv().unwrap_or(Err(Error::TimedOut))
    }

    /// What ClickHouse or the network refuses.
    fn refused(&self, error: &Error) -> StoreError {
        let (path, cause) = (self.name.clone(), error.to_string());
        if FULL.iter().any(|text| cause.contains(text)) {
            StoreError::Full { path, cause }
        } else {
            StoreError::Unavailable { path, cause }
        }
    }

    /// Something in this database that cannot be right.
    pub(crate) fn failed(&self, cause: &dyn fmt::Display) -> StoreError {
        StoreError::Storage { path: self.name.clone(), cause: cause.to_string() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A runtime must not wait for its end on a thread of another one, so it ends by itself.
impl Drop for Link {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
