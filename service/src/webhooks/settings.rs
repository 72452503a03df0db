//! Where alerts are sent: the `[[webhooks]]` tables of the configuration file.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use http::Uri;
use mesonet::alert::{Query, Severity};
use mesonet::geo::{MultiPolygon, Polygon};
use mesonet::zone::Code;
use mesonet::{BBox, LonLat};
use serde::{Deserialize, Serialize};

use super::target::is_public;
use crate::setting::{InvalidSetting, is_name, refuse};

/// One `[[webhooks]]` table. Without one, nothing is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// Its name: lowercase letters, digits, `-` and `_`, at most 64.
    pub name: String,
    /// The address that alerts are sent to.
    pub url: String,
    /// The file with the secret that signs deliveries.
    pub secret_file: PathBuf,
    /// Longitude and latitude: only alerts for this place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<[f64; 2]>,
    /// West, south, east, north: only alerts that share a point with this box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
    /// Longitudes and latitudes of a ring: only alerts that share a point with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polygon: Vec<[f64; 2]>,
    /// Only alerts for one of these zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// Only alerts of these severities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub severity: Vec<Severity>,
    /// Language of the texts, `en` or `fr`.
    #[serde(default = "english")]
    pub lang: String,
    /// Seconds that one delivery may take.
    #[serde(default = "timeout_s")]
    pub timeout_s: u32,
    /// Whether the address may be unencrypted.
    #[serde(default)]
    pub allow_http: bool,
    /// Whether the address may be on this machine or its network.
    #[serde(default)]
    pub allow_private: bool,
}

fn english() -> String {
    "en".to_owned()
}

const fn timeout_s() -> u32 {
    10
}

/// Each has a thread.
const MAX_WEBHOOKS: usize = 100;

impl WebhookConfig {
    /// Checks the settings of all webhooks.
    ///
    /// # Errors
    /// A value is not allowed, or two have the same name.
    pub fn check_all(all: &[Self]) -> Result<(), InvalidSetting> {
        if all.len() > MAX_WEBHOOKS {
            return refuse("webhooks", format!("a list of {}", all.len()), "at most 100 tables");
        }
        for (at, one) in all.iter().enumerate() {
            one.check()?;
            if all[..at].iter().any(|before| before.name == one.name) {
                return refuse("webhooks.name", format!("\"{}\"", one.name), "different for each");
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), InvalidSetting> {
        if !is_name(&self.name) {
            let allowed = "1 to 64 lowercase letters, digits, - and _";
            return refuse("webhooks.name", format!("\"{}\"", self.name), allowed);
        }
        // Not the whole address: its path may be a secret.
        let uri: Uri = self.url.parse().or_else(|_| {
            refuse("webhooks.url", "a text that is not an address", "an absolute address")
        })?;
        let refuse_url = |allowed| {
            refuse("webhooks.url", format!("an address of \"{}\"", origin(&uri)), allowed)
        };
        let scheme = uri.scheme_str();
        if scheme != Some("https") && !(scheme == Some("http") && self.allow_http) {
            return refuse_url("https://…; http:// only with allow_http = true");
        }
        let has_password = uri.authority().is_some_and(|of| of.as_str().contains('@'));
        let host = uri.host().unwrap_or_default();
        if host.is_empty() || has_password {
            return refuse_url("an address with a host and without a password");
        }
        let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let is_private = host.eq_ignore_ascii_case("localhost")
            || address.is_some_and(|address| !is_public(address));
        if is_private && !self.allow_private {
            return refuse_url("on the public internet; others only with allow_private = true");
        }
        if !["en", "fr"].contains(&&*self.lang) {
            return refuse("webhooks.lang", format!("\"{}\"", self.lang), "en or fr");
        }
        if !(1..=60).contains(&self.timeout_s) {
            return refuse("webhooks.timeout_s", self.timeout_s, "1 to 60");
        }
        self.query().map(|_| ())
    }

    /// The alerts that are sent.
    pub(super) fn query(&self) -> Result<Query, InvalidSetting> {
        let place = self.place.map(|place| place_at("webhooks.place", place));
        let bbox = self.bbox.map(|sides| {
            let [west, south, east, north] = sides;
            let allowed = "west, south, east, north, in degrees";
            BBox::new(west, south, east, north)
                .or_else(|_| refuse("webhooks.bbox", format!("{sides:?}"), allowed))
        });
        let codes = self.codes.iter().map(|code| {
            let allowed = "codes of zones, such as OKC027, OKZ025 or 065100";
            code.parse::<Code>()
                .or_else(|_| refuse("webhooks.codes", format!("\"{code}\""), allowed))
        });
        Ok(Query::default()
            .at(place.transpose()?)
            .bbox(bbox.transpose()?)
            .area(self.area()?.map(Arc::new))
            .codes(codes.collect::<Result<_, _>>()?)
            .severities(self.severity.clone()))
    }

    fn area(&self) -> Result<Option<MultiPolygon>, InvalidSetting> {
        if self.polygon.is_empty() {
            return Ok(None);
        }
        let mut ring = Vec::new();
        for place in &self.polygon {
            ring.push(place_at("webhooks.polygon", *place)?);
        }
        if ring.first() != ring.last() {
            ring.extend(ring.first().copied());
        }
        let area = Polygon::new(&ring, &[]).and_then(|polygon| MultiPolygon::new([polygon]));
        match area {
            Ok(area) if area.is_valid() => Ok(Some(area)),
            Ok(_) => refuse("webhooks.polygon", "a ring that crosses itself", RING),
            Err(error) => refuse("webhooks.polygon", error, RING),
        }
    }
}

fn place_at(key: &'static str, [lon, lat]: [f64; 2]) -> Result<LonLat, InvalidSetting> {
    let allowed = "a longitude from -180 to 180 and a latitude from -90 to 90";
    LonLat::new(lon, lat).or_else(|_| refuse(key, format!("{:?}", [lon, lat]), allowed))
}

const RING: &str = "a ring of three or more places that does not cross itself";

/// The scheme, host and port of an address.
pub(super) fn origin(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{host}{port}")
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
