//! What is fetched: the `[[fetch]]` tables of the configuration file.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use http::{HeaderValue, Uri};
use mesonet::feed;
use serde::{Deserialize, Serialize};

use super::address::{Policy, Template};
use super::client::FetchLimits;
use crate::setting::{InvalidSetting, is_this_machine, refuse};

/// Where feed files come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "the name of a source", rename_all = "kebab-case")]
pub enum FetchSource {
    /// SWOB files of the Meteorological Service of Canada, from folder listings of its Datamart.
    DatamartSwob,
    /// The same files, announced by the Datamart's message broker.
    DatamartAmqp,
    /// Alerts of Environment and Climate Change Canada, from folder listings of the Datamart.
    DatamartCap,
    /// Observations of api.weather.gov, station by station.
    NwsObservations,
    /// Active alerts of api.weather.gov.
    NwsAlerts,
    /// One file at one address, or one for each station.
    Url,
}

impl FetchSource {
    const fn default_url(self) -> Option<&'static str> {
        match self {
            Self::DatamartSwob => {
                Some("https://dd.weather.gc.ca/today/observations/swob-ml/latest/")
            }
            Self::DatamartAmqp => Some("amqps://anonymous:anonymous@dd.weather.gc.ca/%2f"),
            Self::DatamartCap => Some("https://dd.weather.gc.ca/{date}/WXO-DD/alerts/cap/"),
            Self::NwsAlerts => Some("https://api.weather.gov/alerts/active"),
            // Not `/latest`: it may miss an earlier observation that is published later.
            Self::NwsObservations => {
                Some("https://api.weather.gov/stations/{station}/observations?limit=10")
            }
            Self::Url => None,
        }
    }

    /// Whether the address is that of a folder, not of a file.
    pub(super) const fn is_folder(self) -> bool {
        matches!(self, Self::DatamartSwob | Self::DatamartCap)
    }

    /// The extensions of the files that are fetched.
    const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::DatamartCap => &["cap"],
            Self::DatamartAmqp => &["xml", "cap"],
            _ => &["xml"],
        }
    }

    /// The `Accept` header of a request for a file.
    pub(super) const fn accept(self) -> &'static str {
        match self {
            Self::NwsObservations | Self::NwsAlerts => "application/geo+json",
            _ => "*/*",
        }
    }
}

/// The name in the configuration file.
impl fmt::Display for FetchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One `[[fetch]]` table. Without one, nothing is fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchConfig {
    /// Where the files come from.
    pub source: FetchSource,
    /// The `User-Agent` of requests, with a contact: the services ask for it.
    pub user_agent: String,
    /// The address, with the placeholders `{date}`, `{observed}` and `{station}`; by default the
    /// source's own. For `datamart-amqp`, that of the broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Stations to fetch; empty means all that the source lists.
    #[serde(default)]
    pub stations: Vec<String>,
    /// Kind of the files, by name; detected from each file if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Seconds from one poll to the next.
    #[serde(default = "interval_s")]
    pub interval_s: u32,
    /// Number of concurrent requests.
    #[serde(default = "connections")]
    pub connections: usize,
    /// Seconds that one request may take, up to the last byte.
    #[serde(default = "timeout_s")]
    pub timeout_s: u32,
    /// Longest file.
    #[serde(default = "max_file_bytes")]
    pub max_file_bytes: u64,
    /// Whether unencrypted addresses of other machines are allowed.
    #[serde(default)]
    pub allow_http: bool,
    /// The topic that selects the broker's messages (`datamart-amqp`).
    #[serde(default = "topic")]
    pub topic: String,
    /// Hosts that an announced file may be on (`datamart-amqp`).
    #[serde(default = "hosts")]
    pub hosts: Vec<String>,
}

const fn interval_s() -> u32 {
    300
}

const fn connections() -> usize {
    2
}

const fn timeout_s() -> u32 {
    60
}

const fn max_file_bytes() -> u64 {
    32 << 20
}

fn topic() -> String {
    "v02.post.*.WXO-DD.observations.swob-ml.#".to_owned()
}

fn hosts() -> Vec<String> {
    ["dd.weather.gc.ca", "hpfx.collab.science.gc.ca"].map(str::to_owned).into()
}

impl FetchConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// A value is not allowed.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let agent = &self.user_agent;
        let has_contact = agent.contains('@') || agent.contains("://");
        if !(8..=200).contains(&agent.len())
            || !has_contact
            || HeaderValue::from_str(agent).is_err()
        {
            let allowed = "a name and a contact of 8 to 200 characters, for example \
                           \"(example.org weather map, weather@example.org)\"";
            return refuse("fetch.user_agent", format!("\"{agent}\""), allowed);
        }
        if let Some(kind) = &self.kind
            && kind.parse::<feed::Kind>().is_err()
        {
            return refuse("fetch.kind", format!("\"{kind}\""), "the name of a kind of feed");
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_id = |id: &&String| (1..=40).contains(&id.len()) && id.bytes().all(plain);
        if let Some(id) = self.stations.iter().find(|id| !is_id(id)) {
            let allowed = "ids of 1 to 40 letters, digits, - and _";
            return refuse("fetch.stations", format!("\"{id}\""), allowed);
        }
        if !(60..=86_400).contains(&self.interval_s) {
            return refuse("fetch.interval_s", self.interval_s, "60 to 86400");
        }
        if !(1..=16).contains(&self.connections) {
            return refuse("fetch.connections", self.connections, "1 to 16");
        }
        if !(1..=600).contains(&self.timeout_s) {
            return refuse("fetch.timeout_s", self.timeout_s, "1 to 600");
        }
        if !(1 << 10..=1 << 30).contains(&self.max_file_bytes) {
            return refuse("fetch.max_file_bytes", self.max_file_bytes, "1024 to 1073741824");
        }
        if self.source == FetchSource::DatamartAmqp {
            self.check_broker()
        } else {
            self.check_url()
        }
    }

    pub(super) fn template(&self) -> Result<Template, InvalidSetting> {
        let url = self.url();
        let allowed = "an address with no placeholders but {date}, {observed} and {station}";
        Template::new(url).map_or_else(|| refuse("fetch.url", format!("\"{url}\""), allowed), Ok)
    }

    fn check_url(&self) -> Result<(), InvalidSetting> {
        let (url, template) = (self.url(), self.template()?);
        let refuse_url = |allowed| refuse("fetch.url", format!("\"{url}\""), allowed);
        if template.names_stations() && self.stations.is_empty() {
            return refuse_url("an address without {station} if no stations are given");
        }
        let any = ["X".to_owned()];
        for address in template.addresses(0, 0, &any) {
            let uri = address.parse::<Uri>().map_err(|_| "an absolute address");
            if let Err(allowed) = uri.and_then(|uri| self.policy().allows(&uri)) {
                return refuse_url(allowed);
            }
            if self.source.is_folder() && !address.ends_with('/') {
                return refuse_url("the address of a folder, which ends with /");
            }
        }
        Ok(())
    }

    fn check_broker(&self) -> Result<(), InvalidSetting> {
        if !cfg!(feature = "amqp") {
            let allowed = "datamart-swob, datamart-cap, nws-observations, nws-alerts or url: this \
                           server was built without the feature amqp";
            return refuse("fetch.source", self.source, allowed);
        }
        let url = self.url();
        let is_here = || {
            let uri = url.parse::<Uri>().ok();
            uri.is_some_and(|uri| uri.host().is_some_and(is_this_machine))
        };
        let is_plain = url.starts_with("amqp://");
        if url.starts_with("amqps://") || is_plain && (self.allow_http || is_here()) {
            return Ok(());
        }
        // Not the address itself: it may contain a password.
        let start: String = url.chars().take(8).collect();
        let got = format!("an address that starts with \"{start}\"");
        refuse(
            "fetch.url",
            got,
            "amqps://…; amqp:// only on this machine or with allow_http = true",
        )
    }

    pub(super) fn url(&self) -> &str {
        self.url.as_deref().or(self.source.default_url()).unwrap_or_default()
    }

    pub(super) fn policy(&self) -> Policy {
        Policy { allow_http: self.allow_http }
    }

    pub(super) fn limits(&self) -> FetchLimits {
        let timeout = Duration::from_secs(u64::from(self.timeout_s));
        FetchLimits { max_bytes: self.max_file_bytes, timeout }
    }

    pub(super) fn kind(&self) -> Option<feed::Kind> {
        self.kind.as_ref()?.parse().ok()
    }

    /// Whether a file of a folder is wanted, by its extension and the station in its name.
    pub(super) fn wants(&self, name: &str) -> bool {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| self.source.endings().contains(&extension)) {
            return false;
        }
        // The address already names the stations, or all are wanted.
        if self.stations.is_empty() || self.url().contains("{station}") {
            return true;
        }
        let name = format!("-{}", name.replace('_', "-"));
        self.stations.iter().any(|id| name.contains(&format!("-{}-", id.replace('_', "-"))))
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
