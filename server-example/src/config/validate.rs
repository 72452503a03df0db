//! Checks of the settings beyond their types.

use std::fmt;
use std::ops::RangeBounds;

use axum::http::Uri;
use mesonet::access::Plan;
use mesonet::time::parse_window;

use super::{Config, ConfigError, LateAfter};
use crate::http::cors::Site;
use mesonet_service::fetch;
use mesonet_service::ingest::PushKey;
use mesonet_service::mqtt::MqttConfig;
use mesonet_service::place::{PLACES, is_address, is_inside};
use mesonet_service::record::{RecordPlace, RecordPlaceError};
use mesonet_service::setting::refuse;
use mesonet_service::webhooks::WebhookConfig;

/// The allowed forms of the setting `store`.
const STORES: &str = if cfg!(feature = "clickhouse") {
    "embedded, clickhouse:http://HOST:PORT/DATABASE, or for a cluster \
     clickhouse:http://HOST:PORT,HOST:PORT,…/DATABASE/CLUSTER, with USER@ before the first HOST for \
     another user than default"
} else {
    "embedded: this server was built without the feature clickhouse"
};

const NO_PASSWORD: &str = "without it: the password is in the file that store_password_file names, or \
                           in CLICKHOUSE_PASSWORD";

impl Config {
    /// Checks what the types of the settings cannot express.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.assume_plan > Plan::None && !self.listen.ip().is_loopback() {
            let got = format!("{} while listening on {}", self.assume_plan, self.listen);
            return refused("assume_plan", &got, "none unless on a loopback address (127.0.0.1)");
        }
        self.check_paths()?;
        for (key, origins) in
            [("cors_origins", &self.cors_origins), ("frame_origins", &self.frame_origins)]
        {
            if let Some(origin) = origins.iter().find(|origin| Site::new(origin).is_none()) {
                let allowed = "an origin such as https://example.org, or https://*.example.org";
                return refused(key, &quoted(origin), allowed);
            }
        }
        if !["off", "error", "warn", "info", "debug", "trace"].contains(&&*self.log) {
            let allowed = "off, error, warn, info, debug or trace";
            return refused("log", &quoted(&self.log), allowed);
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            let got = "one without tls_key, or the other way";
            return refused("tls_cert", &got, "both or neither");
        }
        self.check_store()?;
        self.check_follow()?;
        self.check_traces()?;
        self.check_credentials()?;
        self.check_rate()?;
        self.check_live()?;
        in_range("max_cells", self.max_cells, 1.., "1 or more")?;
        in_range("max_positions", self.max_positions, 2.., "2 (start and end) or more")?;
        in_range("max_station_ids", self.max_station_ids, 1.., "1 or more")?;
        in_range("max_model_values", self.max_model_values, 1.., "1 or more")?;
        in_range("seal_readings", self.seal_readings, 1.., "1 or more")?;
        if self.data.as_os_str().is_empty() {
            return refused("data", &"empty", "a folder");
        }
        if let Some(span) = &self.retention
            && parse_window(span).is_err()
        {
            let allowed = "a positive whole number followed by d or h, for example 400d";
            return refused("retention", &quoted(span), allowed);
        }
        if let Some(place) = &self.archive
            && !is_address(place)
        {
            return refused("archive", &quoted(place), PLACES);
        }
        self.check_feeds()?;
        in_range("max_body_bytes", self.max_body_bytes, 64..=1 << 26, "64 to 67108864")?;
        in_range("max_connections", self.max_connections, 1.., "1 or more")?;
        in_range("max_streams", self.max_streams, 1..=1_000, "1 to 1000")?;
        if let Some(connections) = self.max_address_connections {
            in_range("max_address_connections", connections, 1.., "1 or more")?;
        }
        in_range("head_timeout_s", self.head_timeout_s, 1..=3_600, "1 to 3600")?;
        in_range("idle_timeout_s", self.idle_timeout_s, 1..=3_600, "1 to 3600")?;
        in_range("leave_s", self.leave_s, ..=600, "0 to 600")?;
        in_range("min_bytes_per_s", self.min_bytes_per_s, 1.., "1 or more")?;
        in_range("answer_memory_bytes", self.answer_memory_bytes, 16 << 20.., "16777216 or more")
    }

    fn check_paths(&self) -> Result<(), ConfigError> {
        if !is_prefix(&self.api_prefix) {
            let allowed = "a path of letters, digits and - . _ ~ that starts with / and does not \
                           end with it, for example /api/v1";
            return refused("api_prefix", &quoted(&self.api_prefix), allowed);
        }
        if !(self.model_prefix.is_empty() || is_prefix(&self.model_prefix)) {
            let allowed = "empty or a path like that of api_prefix";
            return refused("model_prefix", &quoted(&self.model_prefix), allowed);
        }
        // Both services have an endpoint /capabilities, and the model service owns everything below
        // /models.
        let models = format!("{}/models", self.model_prefix);
        if self.api_prefix == self.model_prefix
            || format!("{}/", self.api_prefix).starts_with(&format!("{models}/"))
        {
            let allowed = "different from the path of the model service";
            return refused("api_prefix", &quoted(&self.api_prefix), allowed);
        }
        Ok(())
    }

    fn check_credentials(&self) -> Result<(), ConfigError> {
        if let Some(keys) = &self.token_keys
            && keys.contains("://")
            && keys.parse::<Uri>().ok().is_none_or(|uri| !fetch::may_fetch(&uri))
        {
            let allowed = "a file or https://…; http:// only on this machine";
            return refused("token_keys", &quoted(keys), allowed);
        }
        let names =
            [("token_issuer", &self.token_issuer), ("token_audience", &self.token_audience)];
        for (key, value) in names {
            if self.token_keys.is_some() && value.as_ref().is_none_or(String::is_empty) {
                return refused(key, &"nothing", "a text: token_keys needs it");
            }
            if self.token_keys.is_none() && value.is_some() {
                return refused(key, &"a text without token_keys", "token_keys, too, or neither");
            }
        }
        Ok(())
    }

    fn check_store(&self) -> Result<(), ConfigError> {
        let is_embedded = self.store == "embedded";
        match self.store.parse::<RecordPlace>() {
            Ok(RecordPlace::ClickHouse(_)) => {}
            _ if is_embedded => {}
            Ok(RecordPlace::Embedded(_)) => {
                let allowed = "embedded, which is in the folder that data names, or in ClickHouse";
                return refused("store", &quoted(&self.store), allowed);
            }
            Err(RecordPlaceError::Form(_)) => {
                return refused("store", &quoted(&self.store), STORES);
            }
            Err(_) => return refused("store", &"an address with a password", NO_PASSWORD),
        }
        if is_embedded && self.read_only {
            let allowed =
                "false: a record on disk is read by its own server, or by one with follow";
            return refused("read_only", &"true", allowed);
        }
        if is_embedded && self.store_password_file.is_some() {
            return refused("store_password_file", &"a file", "left out: a folder has no password");
        }
        if !is_embedded && self.follow.is_some() {
            let allowed = "left out: what is followed is a record on disk; several servers read one \
                           in ClickHouse with read_only";
            return refused("follow", &"a place", allowed);
        }
        if self.read_only {
            self.refuse_writers(
                "read_only",
                &"true",
                [
                    "false where files are watched or fetched: such a server takes nothing in",
                    "false with [[webhooks]]: the server that writes sends the alerts",
                    "false with [[mqtt]]: the server that writes sends the events",
                ],
            )?;
        }
        // Such a server learns of a cutoff a second after readings were deleted. In that second,
        // answers would lack them without saying so.
        if self.read_only && self.archive.is_some() {
            let allowed = "left out with read_only: the server that writes answers from it";
            return refused("archive", &"a place", allowed);
        }
        Ok(())
    }

    fn check_follow(&self) -> Result<(), ConfigError> {
        if let Some(place) = &self.follow {
            self.refuse_writers(
                "follow",
                &"a place",
                [
                    "left out where files are watched or fetched: a follower takes nothing in",
                    "left out with [[webhooks]]: the server that is followed sends the alerts",
                    "left out with [[mqtt]]: the server that is followed sends the events",
                ],
            )?;
            if !is_address(place) {
                return refused("follow", &quoted(place), PLACES);
            }
            if is_inside(place, &self.data) {
                return refused("follow", &quoted(place), "outside the folder of the record");
            }
        }
        in_range("follow_every_s", self.follow_every_s, 1..=86_400, "1 to 86400")
    }

    /// Refuses a setting beside those that only a server which writes can have: files that come in,
    /// webhooks, brokers.
    fn refuse_writers(
        &self,
        key: &'static str,
        got: &dyn fmt::Display,
        allowed: [&'static str; 3],
    ) -> Result<(), ConfigError> {
        let takes_in = self.watch.is_some() || !self.fetch.is_empty();
        let has = [takes_in, !self.webhooks.is_empty(), !self.mqtt.is_empty()];
        match has.iter().position(|&has| has) {
            Some(first) => refused(key, got, allowed[first]),
            None => Ok(()),
        }
    }

    fn check_traces(&self) -> Result<(), ConfigError> {
        let Some(address) = &self.otlp_endpoint else { return Ok(()) };
        let key = "otlp_endpoint";
        if !cfg!(feature = "otel") {
            let allowed = "left out: this server was built without the feature otel";
            return refused(key, &"an address", allowed);
        }
        if !is_http_address(address) {
            // Not the address itself: it may contain a password.
            let allowed = "http://… or https://… without a query";
            return refused(key, &"an address of another form", allowed);
        }
        Ok(())
    }

    fn check_feeds(&self) -> Result<(), ConfigError> {
        // An entry is not repeated: it may be the key itself.
        for (at, key) in self.ingest_key_hashes.iter().enumerate() {
            if let Err(error) = PushKey::parse(key) {
                return Err(ConfigError::PushKey { entry: at + 1, error });
            }
        }
        for source in &self.fetch {
            source.check()?;
        }
        if let Err(error) = LateAfter::parse(&self.late_after) {
            let allowed = "spans such as 90m, NETWORK=2h and NETWORK=never";
            return refused("late_after", &error, allowed);
        }
        WebhookConfig::check_all(&self.webhooks)?;
        MqttConfig::check_all(&self.mqtt)?;
        in_range("max_ingest_bytes", self.max_ingest_bytes, 1 << 10.., "1024 or more")
    }

    fn check_live(&self) -> Result<(), ConfigError> {
        in_range("live_listeners", self.live_listeners, 1.., "1 or more")?;
        in_range("live_address_listeners", self.live_address_listeners, 1.., "1 or more")?;
        in_range("live_heartbeat_s", self.live_heartbeat_s, 1..=600, "1 to 600")
    }

    fn check_rate(&self) -> Result<(), ConfigError> {
        self.hops()?;
        in_range("rate_requests", self.rate_requests, ..=100_000, "0 to 100000")?;
        in_range("rate_span_s", self.rate_span_s, 1..=3_600, "1 to 3600")?;
        in_range("rate_waiting", self.rate_waiting, ..=10_000, "0 to 10000")?;
        in_range("rate_wait_ms", self.rate_wait_ms, ..=60_000, "0 to 60000")
    }
}

fn is_http_address(text: &str) -> bool {
    text.parse::<Uri>().is_ok_and(|address| {
        matches!(address.scheme_str(), Some("http" | "https"))
            && address.host().is_some_and(|host| !host.is_empty())
            && address.query().is_none()
    })
}

fn refused(
    key: &'static str,
    got: &dyn fmt::Display,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    Ok(refuse(key, got, allowed)?)
}

/// Refuses a number outside the range that is allowed.
fn in_range<T: Copy + PartialOrd + fmt::Display>(
    key: &'static str,
    got: T,
    range: impl RangeBounds<T>,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    if range.contains(&got) { Ok(()) } else { refused(key, &got, allowed) }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn is_prefix(text: &str) -> bool {
    let segments = text.strip_prefix('/');
    segments.is_some_and(|segments| {
        segments.split('/').all(|segment| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_plain_path() {
        assert!(is_prefix("/api/v1") && is_prefix("/a-b_c.d~e"));
        for bad in ["", "/", "api", "/api/", "//", "/a//b", "/..", "/{id}", "/a b", "/é"] {
            assert!(!is_prefix(bad), "{bad}");
        }
    }
}
