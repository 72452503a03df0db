//! The place of a record, as settings and commands name it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use http::Uri;

use crate::password::{PasswordError, has_password};

/// The environment variable with the password of a database, if no file has it. ClickHouse's own
/// client reads it too.
pub(super) const PASSWORD: &str = "CLICKHOUSE_PASSWORD";

/// What a place may be.
const PLACES: &str = if cfg!(feature = "clickhouse") {
    "embedded:FOLDER, clickhouse:http://HOST:PORT/DATABASE, or for a cluster \
     clickhouse:http://HOST:PORT,HOST:PORT,…/DATABASE/CLUSTER with all its nodes; https:// is encrypted; \
     with USER@ before the first HOST for a user other than ClickHouse's default"
} else {
    "embedded:FOLDER; this server was built without the feature clickhouse"
};

/// Where the readings, the stations and the alerts of a record are.
///
/// ```
/// use mesonet_service::record::RecordPlace;
/// let place: RecordPlace = "embedded:mesonet-data".parse()?;
/// assert_eq!(place, RecordPlace::Embedded("mesonet-data".into()));
/// assert_eq!(place.to_string(), "embedded:mesonet-data");
/// # Ok::<(), mesonet_service::record::RecordPlaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// `embedded:FOLDER`: in files of a folder.
    Embedded(PathBuf),
    /// `clickhouse:http://HOST:PORT/DATABASE`: in a ClickHouse database, or
    /// `clickhouse:http://HOST:PORT,HOST:PORT/DATABASE/CLUSTER`: in a database on the nodes of a
    /// cluster. With `https://` all connections are encrypted. A server that was built without the
    /// feature `clickhouse` refuses it.
    ClickHouse(ClickHouseAddress),
}

/// A ClickHouse database. It has no password, since it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickHouseAddress {
    /// Addresses of the HTTP interface, such as `http://127.0.0.1:8123`: one, or those of all nodes
    /// of a cluster.
    pub urls: Vec<String>,
    /// The database.
    pub database: String,
    /// The name of the cluster, if the tables are replicated and divided.
    pub cluster: Option<String>,
    /// The user; `None` is ClickHouse's `default`.
    pub user: Option<String>,
}

/// Why a text is not the place of a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordPlaceError {
    /// The text has another form.
    #[error("\"{0}\" is not the place of a record; it must be {PLACES}")]
    Form(String),
    /// The address has a password, which is not repeated here.
    #[error(
        "the place of a record has a password; it must be in the file that store_password_file names, \
         or in the environment variable {PASSWORD}"
    )]
    Password,
    /// The file with the password cannot be read.
    #[error(transparent)]
    PasswordFile(#[from] PasswordError),
}

impl FromStr for RecordPlace {
    type Err = RecordPlaceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || RecordPlaceError::Form(text.to_owned());
        match text.split_once(':') {
            Some(("embedded", folder)) if !folder.is_empty() => Ok(Self::Embedded(folder.into())),
            Some(("clickhouse", address)) => {
                if has_password(address) {
                    return Err(RecordPlaceError::Password);
                }
                let address = ClickHouseAddress::read(address);
                let address = address.filter(|_| cfg!(feature = "clickhouse"));
                address.map(Self::ClickHouse).ok_or_else(unknown)
            }
            _ if has_password(text) => Err(RecordPlaceError::Password),
            _ => Err(unknown()),
        }
    }
}

/// As it is read.
impl fmt::Display for RecordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(folder) => write!(f, "embedded:{}", folder.display()),
            Self::ClickHouse(ClickHouseAddress { urls, database, cluster, user }) => {
                let (schemes, hosts): (Vec<_>, Vec<_>) =
                    urls.iter().filter_map(|url| url.split_once("://")).unzip();
                let (scheme, hosts) = (schemes.first().unwrap_or(&"http"), hosts.join(","));
                let (user, at) = user.as_ref().map_or(("", ""), |user| (user, "@"));
                let (slash, cluster) = cluster.as_ref().map_or(("", ""), |name| ("/", name));
                write!(f, "clickhouse:{scheme}://{user}{at}{hosts}/{database}{slash}{cluster}")
            }
        }
    }
}

impl ClickHouseAddress {
    fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = rest.split_once('/')?;
        let (user, hosts) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(user, hosts)| (Some(user), hosts));
        let (database, cluster) = path
            .split_once('/')
            .map_or((path, None), |(database, cluster)| (database, Some(cluster)));
        let urls: Option<Vec<String>> = hosts.split(',').map(|host| url_of(scheme, host)).collect();
        let urls = urls.filter(|urls| urls.len() == 1 || cluster.is_some())?;
        let is_named = is_name(database) && user.is_none_or(is_name);
        (is_named && cluster.is_none_or(is_cluster)).then(|| Self {
            urls,
            database: database.to_owned(),
            cluster: cluster.map(str::to_owned),
            user: user.map(str::to_owned),
        })
    }
}

/// The address of a node. It must have a port: the default ports of `http://` and `https://` are
/// not those of ClickHouse.
fn url_of(scheme: &str, host: &str) -> Option<String> {
    let uri: Uri = format!("{scheme}://{host}/").parse().ok()?;
    let authority = uri.authority()?;
    let is_plain = authority.as_str() == host && !uri.host()?.is_empty() && !host.contains('@');
    let is_known = ["http", "https"].contains(&scheme);
    (is_known && is_plain && authority.port().is_some()).then(|| format!("{scheme}://{host}"))
}

/// Letters, digits, `_`, `-` and `.`, as in a path of Keeper.
fn is_cluster(text: &str) -> bool {
    let is_own = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !text.is_empty() && text.bytes().all(is_own)
}

/// Letters, digits and `_`, so that nothing needs quotes in an address or in SQL.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
