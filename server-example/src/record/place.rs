//! Where a record is, as settings and commands name it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use axum::http::Uri;

/// Where the password of a database stands if no file has it. ClickHouse's own client reads it too.
const PASSWORD: &str = "CLICKHOUSE_PASSWORD";

/// What a place may be.
const PLACES: &str = if cfg!(feature = "clickhouse") {
    "embedded:FOLDER or clickhouse:http://HOST:PORT/DATABASE, with USER@ before HOST for a user other \
     than ClickHouse's default"
} else {
    "embedded:FOLDER; this server was built without the feature clickhouse"
};

/// Where the readings, the stations and the alerts of a record are.
///
/// ```
/// use mesonet_server::RecordPlace;
/// let place: RecordPlace = "embedded:mesonet-data".parse()?;
/// assert_eq!(place, RecordPlace::Embedded("mesonet-data".into()));
/// assert_eq!(place.to_string(), "embedded:mesonet-data");
/// # Ok::<(), mesonet_server::RecordPlaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// `embedded:FOLDER`: in files of a folder.
    Embedded(PathBuf),
    /// `clickhouse:http://HOST:PORT/DATABASE`: in a ClickHouse database. A server that was built
    /// without the feature `clickhouse` refuses it.
    ClickHouse(ClickHouseAddress),
}

/// A ClickHouse database. It has no password, since it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickHouseAddress {
    /// Address of the HTTP interface, such as `http://127.0.0.1:8123`.
    pub url: String,
    /// The database.
    pub database: String,
    /// The user; `None` is ClickHouse's `default`.
    pub user: Option<String>,
}

/// Why a text is not the place of a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordPlaceError {
    /// It is of another form.
    #[error("\"{0}\" is not the place of a record; it must be {PLACES}")]
    Form(String),
    /// It has a password, which is not repeated here.
    #[error(
        "the place of a record has a password; it must be in the file that store_password_file names, \
         or in the environment variable {PASSWORD}"
    )]
    Password,
    /// The file with the password cannot be read.
    #[error("the password in {}: {cause}", .path.display())]
    PasswordFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
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
            Self::ClickHouse(ClickHouseAddress { url, database, user }) => {
                let host = url.strip_prefix("http://").unwrap_or(url);
                let (user, at) = user.as_ref().map_or(("", ""), |user| (user, "@"));
                write!(f, "clickhouse:http://{user}{at}{host}/{database}")
            }
        }
    }
}

impl ClickHouseAddress {
    fn read(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let (authority, database) = (uri.authority()?, uri.path().strip_prefix('/')?);
        // The default port of http:// is not that of ClickHouse.
        authority.port()?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.as_str()),
        };
        let is_named = is_name(database) && user.is_none_or(is_name);
        let is_plain = uri.scheme_str() == Some("http") && uri.query().is_none();
        (is_named && is_plain && !uri.host()?.is_empty()).then(|| Self {
            url: format!("http://{host}"),
            database: database.to_owned(),
            user: user.map(str::to_owned),
        })
    }

    /// How the database is opened, with the password in a file, else in the environment.
    ///
    /// # Errors
    /// The file cannot be read, or has more than a line.
    #[cfg(feature = "clickhouse")]
    pub fn options(
        &self,
        password_file: Option<&Path>,
    ) -> Result<mesonet_clickhouse::Options, RecordPlaceError> {
        let mut options = mesonet_clickhouse::Options::new(&self.url, &self.database);
        options.user.clone_from(&self.user);
        options.password = password(password_file)?;
        Ok(options)
    }
}

/// Reads the password: that of a file without the end of its line, else that of the environment.
#[cfg_attr(not(feature = "clickhouse"), allow(dead_code, reason = "only the feature needs one"))]
fn password(file: Option<&Path>) -> Result<Option<String>, RecordPlaceError> {
    let Some(path) = file else { return Ok(std::env::var(PASSWORD).ok()) };
    let failed = |cause| RecordPlaceError::PasswordFile { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() || line.contains(['\n', '\r']) {
        return Err(failed("the file must have one line with the password".to_owned()));
    }
    Ok(Some(line.to_owned()))
}

/// Whether something stands for a password before the host of an address.
fn has_password(text: &str) -> bool {
    let authority = text.split_once("//").map_or(text, |(_, rest)| rest);
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
}

/// Letters, digits and `_`, so that nothing needs quotes in an address or in SQL.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
