//! Where events are sent: the `[[mqtt]]` tables of the configuration file.

use std::path::{Path, PathBuf};

use http::Uri;
use serde::{Deserialize, Serialize};

use super::topic::is_plain;
use crate::setting::{InvalidSetting, is_name, is_this_machine, refuse};

/// One `[[mqtt]]` table. Without one, nothing is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MqttConfig {
    /// Its name: lowercase letters, digits, `-` and `_`, at most 64.
    pub name: String,
    /// The broker: `mqtts://host:port`, by default port 8883, or `mqtt://host:port`, by default 1883.
    pub address: String,
    /// The client identifier; by default `mesonet-` and the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The user name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The file with the password: one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// Certificates (PEM) of the authorities that the broker's certificate may be of; by default those
    /// of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The certificate (PEM) by which the broker knows the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_file: Option<PathBuf>,
    /// Its key (PEM).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// Whether messages may go unencrypted to another machine.
    #[serde(default)]
    pub allow_plaintext: bool,
    /// What all topics begin with.
    #[serde(default = "prefix")]
    pub prefix: String,
    /// Which events: the parameters of `/live`, as they stand after the `?` of a request.
    #[serde(default)]
    pub filter: String,
    /// Whether the broker keeps the latest message of a topic for those who subscribe later.
    #[serde(default = "yes")]
    pub retain: bool,
    /// Seconds that the broker may take to connect and to acknowledge a message.
    #[serde(default = "timeout_s")]
    pub timeout_s: u32,
    /// The centre identifier of WIS2. With it, each report is notified in the form of WIS2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wis2_centre_id: Option<String>,
    /// The identifier of the discovery metadata record of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wis2_metadata_id: Option<String>,
    /// The topic of notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wis2_topic: Option<String>,
    /// The address at which others reach this server, for the links of notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
}

/// How to reach a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    pub is_encrypted: bool,
}

fn prefix() -> String {
    "mesonet".to_owned()
}

const fn yes() -> bool {
    true
}

const fn timeout_s() -> u32 {
    30
}

/// Each has a connection.
const MAX_BROKERS: usize = 10;

/// A prefix must leave room for the rest of a topic, of 65,535 bytes.
const MAX_TOPIC: usize = 200;

const ADDRESS: &str = "mqtts://HOST or mqtts://HOST:PORT, without a user, a password and a path; mqtt:// \
                       only on this machine or with allow_plaintext = true";
const TOPIC: &str = "levels of 1 or more characters with / between them, without +, # and %, 200 bytes \
                     at most, and not begun by $";

impl MqttConfig {
    /// Checks the settings of all brokers, other than `filter`.
    ///
    /// # Errors
    /// A value is not allowed, or two have the same name.
    pub fn check_all(all: &[Self]) -> Result<(), InvalidSetting> {
        if !cfg!(feature = "mqtt") && !all.is_empty() {
            let allowed = "left out: this server was built without the feature mqtt";
            return refuse("mqtt", "a table", allowed);
        }
        if all.len() > MAX_BROKERS {
            return refuse("mqtt", format!("a list of {}", all.len()), "at most 10 tables");
        }
        for (at, one) in all.iter().enumerate() {
            one.check()?;
            if all[..at].iter().any(|before| before.name == one.name) {
                return refuse("mqtt.name", format!("\"{}\"", one.name), "different for each");
            }
            let is_same = |before: &&Self| {
                before.address == one.address && before.client_id() == one.client_id()
            };
            if let Some(before) = all[..at].iter().find(is_same) {
                let got = format!("{:?}, as that of \"{}\"", one.client_id(), before.name);
                return refuse("mqtt.client_id", got, "different for each table of an address");
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), InvalidSetting> {
        if !is_name(&self.name) {
            let allowed = "1 to 64 lowercase letters, digits, - and _";
            return refuse("mqtt.name", format!("\"{}\"", self.name), allowed);
        }
        let Endpoint { is_encrypted, .. } = self.endpoint()?;
        if let Some(id) = &self.client_id
            && (!(1..=128).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            let allowed = "1 to 128 ASCII characters without spaces";
            return refuse("mqtt.client_id", format!("{id:?}"), allowed);
        }
        if let Some(user) = &self.user
            && (!(1..=1_000).contains(&user.len()) || user.chars().any(char::is_control))
        {
            return refuse("mqtt.user", format!("{user:?}"), "1 to 1000 bytes of text");
        }
        if self.password_file.is_some() && self.user.is_none() {
            return refuse("mqtt.password_file", "a file without user", "user, too, or neither");
        }
        let of_tls = [
            ("mqtt.ca_file", &self.ca_file),
            ("mqtt.certificate_file", &self.certificate_file),
            ("mqtt.key_file", &self.key_file),
        ];
        if let Some((key, _)) = of_tls.iter().find(|(_, file)| file.is_some() && !is_encrypted) {
            return refuse(key, "a file", "left out with mqtt://, which is not encrypted");
        }
        if self.certificate_file.is_some() != self.key_file.is_some() {
            let allowed = "given together with key_file, or neither";
            return refuse("mqtt.certificate_file", "one of two files", allowed);
        }
        if !is_topic(&self.prefix) {
            return refuse("mqtt.prefix", format!("{:?}", self.prefix), TOPIC);
        }
        if !(1..=300).contains(&self.timeout_s) {
            return refuse("mqtt.timeout_s", self.timeout_s, "1 to 300");
        }
        self.check_wis2()
    }

    fn check_wis2(&self) -> Result<(), InvalidSetting> {
        let Some(centre) = &self.wis2_centre_id else {
            let others = [
                ("mqtt.wis2_metadata_id", &self.wis2_metadata_id),
                ("mqtt.wis2_topic", &self.wis2_topic),
                ("mqtt.public_url", &self.public_url),
            ];
            return match others.into_iter().find(|(_, value)| value.is_some()) {
                Some((key, _)) => {
                    refuse(key, "a text without wis2_centre_id", "left out without wis2_centre_id")
                }
                None => Ok(()),
            };
        };
        if !is_name(centre) || !centre.contains('-') {
            let allowed = "the identifier of a centre as WIS2 registers it, such as ca-eccc-msc";
            return refuse("mqtt.wis2_centre_id", format!("{centre:?}"), allowed);
        }
        let metadata = self.wis2_metadata_id.as_deref().unwrap_or_default();
        if !metadata.starts_with("urn:wmo:md:") || metadata.contains(char::is_whitespace) {
            let allowed = "the identifier of a discovery metadata record, urn:wmo:md:CENTRE:NAME";
            return refuse("mqtt.wis2_metadata_id", format!("{metadata:?}"), allowed);
        }
        if let Some(topic) = self.wis2_topic.as_ref().filter(|topic| !is_topic(topic)) {
            return refuse("mqtt.wis2_topic", format!("{topic:?}"), TOPIC);
        }
        let url = self.public_url.as_deref().unwrap_or_default();
        let uri: Option<Uri> = url.parse().ok();
        let is_public = uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("https" | "http"))
                && uri.host().is_some_and(|host| !host.is_empty())
                && uri.query().is_none()
                && uri.authority().is_some_and(|of| !of.as_str().contains('@'))
        });
        if !is_public {
            let allowed =
                "the address at which others reach this server, such as https://example.org";
            // Not the text itself: it may have a password.
            let got = if url.is_empty() { "nothing" } else { "another address" };
            return refuse("mqtt.public_url", got, allowed);
        }
        Ok(())
    }

    /// How to reach the broker.
    pub(super) fn endpoint(&self) -> Result<Endpoint, InvalidSetting> {
        // Not the address itself: it may have a password.
        let refused = || refuse("mqtt.address", "an address of another form", ADDRESS);
        let Ok(uri) = self.address.parse::<Uri>() else { return refused() };
        let is_encrypted = match uri.scheme_str() {
            Some("mqtts") => true,
            Some("mqtt") => false,
            _ => return refused(),
        };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let has_user = uri.authority().is_none_or(|of| of.as_str().contains('@'));
        let has_path = !matches!(uri.path(), "" | "/") || uri.query().is_some();
        let may_connect = is_encrypted || self.allow_plaintext || is_this_machine(host);
        if host.is_empty() || has_user || has_path || !may_connect {
            return refused();
        }
        // Not `Uri::port`, to which a number that is too great is none.
        let after_host = uri.authority().and_then(|of| of.as_str().strip_prefix(uri.host()?));
        let port = match after_host.unwrap_or_default() {
            "" => Some(if is_encrypted { 8883 } else { 1883 }),
            port => {
                port.strip_prefix(':').and_then(|port| port.parse().ok()).filter(|&port| port > 0)
            }
        };
        let Some(port) = port else { return refused() };
        Ok(Endpoint { host: host.to_owned(), port, is_encrypted })
    }

    /// The client identifier.
    pub fn client_id(&self) -> String {
        self.client_id.clone().unwrap_or_else(|| format!("mesonet-{}", self.name))
    }

    /// The files that must be readable.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.password_file, &self.ca_file, &self.certificate_file, &self.key_file];
        files.into_iter().filter_map(|file| file.as_deref())
    }

    /// The topic of notifications; `None` without them.
    pub fn notification_topic(&self) -> Option<String> {
        let centre = self.wis2_centre_id.as_ref()?;
        Some(self.wis2_topic.clone().unwrap_or_else(|| {
            format!("origin/a/wis2/{centre}/data/core/weather/surface-based-observations/synop")
        }))
    }
}

fn is_topic(topic: &str) -> bool {
    let is_level = |level: &str| !level.is_empty() && level.chars().all(is_plain);
    topic.len() <= MAX_TOPIC && !topic.starts_with('$') && topic.split('/').all(is_level)
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
