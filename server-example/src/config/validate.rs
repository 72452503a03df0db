//! Checks of the settings beyond their types.

use std::fmt;

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
use mesonet_service::setting::InvalidSetting;
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
                return refused(key, &format!("\"{origin}\""), allowed);
            }
        }
        if !["off", "error", "warn", "info", "debug", "trace"].contains(&&*self.log) {
            let allowed = "off, error, warn, info, debug or trace";
            return refused("log", &format!("\"{}\"", self.log), allowed);
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return refused(
                "tls_cert",
                &"one without tls_key, or the other way",
                "both or neither",
            );
        }
        self.check_store()?;
        self.check_follow()?;
        self.check_traces()?;
        self.check_credentials()?;
        self.check_rate()?;
        self.check_live()?;
        if self.max_cells < 1 {
            return refused("max_cells", &self.max_cells, "1 or more");
        }
        if self.max_positions < 2 {
            return refused("max_positions", &self.max_positions, "2 (start and end) or more");
        }
        if self.max_station_ids < 1 {
            return refused("max_station_ids", &self.max_station_ids, "1 or more");
        }
        if self.max_model_values < 1 {
            return refused("max_model_values", &self.max_model_values, "1 or more");
        }
        if self.seal_readings < 1 {
            return refused("seal_readings", &self.seal_readings, "1 or more");
        }
        if self.data.as_os_str().is_empty() {
            return refused("data", &"empty", "a folder");
        }
        if let Some(span) = &self.retention
            && parse_window(span).is_err()
        {
            let allowed = "a positive whole number followed by d or h, for example 400d";
            return refused("retention", &format!("\"{span}\""), allowed);
        }
        if let Some(place) = &self.archive
            && !is_address(place)
        {
            return refused("archive", &format!("\"{place}\""), PLACES);
        }
        self.check_feeds()?;
        if !(64..=1 << 26).contains(&self.max_body_bytes) {
            return refused("max_body_bytes", &self.max_body_bytes, "64 to 67108864");
        }
        if self.max_connections < 1 {
            return refused("max_connections", &self.max_connections, "1 or more");
        }
        if !(1..=1_000).contains(&self.max_streams) {
            return refused("max_streams", &self.max_streams, "1 to 1000");
        }
        if self.max_address_connections == Some(0) {
            return refused("max_address_connections", &0, "1 or more");
        }
        for (key, seconds) in
            [("head_timeout_s", self.head_timeout_s), ("idle_timeout_s", self.idle_timeout_s)]
        {
            if !(1..=3_600).contains(&seconds) {
                return refused(key, &seconds, "1 to 3600");
            }
        }
        if self.leave_s > 600 {
            return refused("leave_s", &self.leave_s, "0 to 600");
        }
        if self.min_bytes_per_s < 1 {
            return refused("min_bytes_per_s", &self.min_bytes_per_s, "1 or more");
        }
        if self.answer_memory_bytes < 16 << 20 {
            return refused("answer_memory_bytes", &self.answer_memory_bytes, "16777216 or more");
        }
        Ok(())
    }

    fn check_paths(&self) -> Result<(), ConfigError> {
        if !is_prefix(&self.api_prefix) {
            let allowed = "a path of letters, digits and - . _ ~ that starts with / and does not \
                           end with it, for example /api/v1";
            return refused("api_prefix", &format!("\"{}\"", self.api_prefix), allowed);
        }
        if !(self.model_prefix.is_empty() || is_prefix(&self.model_prefix)) {
            let allowed = "empty or a path like that of api_prefix";
            return refused("model_prefix", &format!("\"{}\"", self.model_prefix), allowed);
        }
        // Both services have an endpoint /capabilities, and the model service owns everything below
        // /models.
        let models = format!("{}/models", self.model_prefix);
        if self.api_prefix == self.model_prefix
            || format!("{}/", self.api_prefix).starts_with(&format!("{models}/"))
        {
            let allowed = "different from the path of the model service";
            return refused("api_prefix", &format!("\"{}\"", self.api_prefix), allowed);
        }
        Ok(())
    }

    fn check_credentials(&self) -> Result<(), ConfigError> {
        if let Some(keys) = &self.token_keys
            && keys.contains("://")
            && keys.parse::<Uri>().ok().is_none_or(|uri| !fetch::may_fetch(&uri))
        {
            let allowed = "a file or https://…; http:// only on this machine";
            return refused("token_keys", &format!("\"{keys}\""), allowed);
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
                return refused("store", &format!("\"{}\"", self.store), allowed);
            }
            Err(RecordPlaceError::Form(_)) => {
                return refused("store", &format!("\"{}\"", self.store), STORES);
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
        if self.read_only && (self.watch.is_some() || !self.fetch.is_empty()) {
            let allowed =
                "false where files are watched or fetched: such a server takes nothing in";
            return refused("read_only", &"true", allowed);
        }
        if self.read_only && !self.webhooks.is_empty() {
            let allowed = "false with [[webhooks]]: the server that writes sends the alerts";
            return refused("read_only", &"true", allowed);
        }
        if self.read_only && !self.mqtt.is_empty() {
            let allowed = "false with [[mqtt]]: the server that writes sends the events";
            return refused("read_only", &"true", allowed);
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
        if self.follow.is_some() && (self.watch.is_some() || !self.fetch.is_empty()) {
            let allowed =
                "left out where files are watched or fetched: a follower takes nothing in";
            return refused("follow", &"a place", allowed);
        }
        if self.follow.is_some() && !self.webhooks.is_empty() {
            let allowed =
                "left out with [[webhooks]]: the server that is followed sends the alerts";
            return refused("follow", &"a place", allowed);
        }
        if self.follow.is_some() && !self.mqtt.is_empty() {
            let allowed = "left out with [[mqtt]]: the server that is followed sends the events";
            return refused("follow", &"a place", allowed);
        }
        if let Some(place) = &self.follow {
            let got = format!("\"{place}\"");
            if !is_address(place) {
                return refused("follow", &got, PLACES);
            }
            if is_inside(place, &self.data) {
                return refused("follow", &got, "outside the folder of the record");
            }
        }
        if !(1..=86_400).contains(&self.follow_every_s) {
            return refused("follow_every_s", &self.follow_every_s, "1 to 86400");
        }
        Ok(())
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
            return refused(
                "late_after",
                &error,
                "spans such as 90m, NETWORK=2h and NETWORK=never",
            );
        }
        WebhookConfig::check_all(&self.webhooks)?;
        MqttConfig::check_all(&self.mqtt)?;
        if self.max_ingest_bytes < 1 << 10 {
            return refused("max_ingest_bytes", &self.max_ingest_bytes, "1024 or more");
        }
        Ok(())
    }

    fn check_live(&self) -> Result<(), ConfigError> {
        if self.live_listeners < 1 {
            return refused("live_listeners", &self.live_listeners, "1 or more");
        }
        if self.live_address_listeners < 1 {
            return refused("live_address_listeners", &self.live_address_listeners, "1 or more");
        }
        if !(1..=600).contains(&self.live_heartbeat_s) {
            return refused("live_heartbeat_s", &self.live_heartbeat_s, "1 to 600");
        }
        Ok(())
    }

    fn check_rate(&self) -> Result<(), ConfigError> {
        self.hops()?;
        if self.rate_requests > 100_000 {
            return refused("rate_requests", &self.rate_requests, "0 to 100000");
        }
        if !(1..=3_600).contains(&self.rate_span_s) {
            return refused("rate_span_s", &self.rate_span_s, "1 to 3600");
        }
        if self.rate_waiting > 10_000 {
            return refused("rate_waiting", &self.rate_waiting, "0 to 10000");
        }
        if self.rate_wait_ms > 60_000 {
            return refused("rate_wait_ms", &self.rate_wait_ms, "0 to 60000");
        }
        Ok(())
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
    Err(InvalidSetting { key, got: got.to_string(), allowed }.into())
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
