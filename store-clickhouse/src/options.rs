//! Where the record is.

use std::fmt;
use std::time::Duration;

/// Where the record is, and how long a caller waits for it.
///
/// ```
/// use mesonet_clickhouse::Options;
/// let one = Options::new("http://127.0.0.1:8123", "mesonet");
/// let nodes = ["http://ch1:8123", "http://ch2:8123", "http://ch3:8123", "http://ch4:8123"];
/// let four = Options::of_cluster("weather", &nodes, "mesonet");
/// assert_eq!((one.urls.len(), four.urls.len()), (1, 4));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Options {
    /// Addresses of the HTTP interface, such as `http://127.0.0.1:8123`: one address, or the
    /// addresses of all nodes of a cluster in any order. With `https://` the server must have a
    /// certificate that this machine trusts; the environment variable `SSL_CERT_FILE` names a file
    /// of other authorities to trust.
    pub urls: Vec<String>,
    /// The name of a cluster, if the tables are replicated and sharded: letters, digits, `_`, `-`
    /// and `.`. The name is part of the paths of the tables in Keeper.
    pub cluster: Option<String>,
    /// The database, which [`migrate`](crate::migrate) creates.
    pub database: String,
    /// The user; `None` is ClickHouse's `default`.
    pub user: Option<String>,
    /// The password of the user.
    pub password: Option<String>,
    /// How long one query, or one block of an insert, may take.
    pub timeout: Duration,
}

impl Options {
    /// Describes a database on one node, with the user `default` and a limit of 30 s.
    pub fn new(url: &str, database: &str) -> Self {
        Self {
            urls: vec![url.to_owned()],
            cluster: None,
            database: database.to_owned(),
            user: None,
            password: None,
            timeout: Duration::from_secs(30),
        }
    }

    /// Describes a database on all nodes of a cluster, otherwise as [`Options::new`] does.
    pub fn of_cluster(name: &str, urls: &[impl AsRef<str>], database: &str) -> Self {
        let urls = urls.iter().map(|url| url.as_ref().to_owned()).collect();
        Self { urls, cluster: Some(name.to_owned()), ..Self::new("", database) }
    }
}

/// Without the password.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { urls, cluster, database, user, password: _, timeout } = self;
        let mut fields = f.debug_struct("Options");
        fields.field("urls", urls).field("cluster", cluster).field("database", database);
        fields.field("user", user).field("timeout", timeout).finish_non_exhaustive()
    }
}
