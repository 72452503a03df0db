//! The settings as `--print-config` shows them: a configuration file that says where each setting
//! comes from.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use toml::Table;

use super::{Config, Flags};

/// The text that replaces a secret.
const HIDDEN: &str = "(hidden)";

impl Config {
    /// Writes all settings as a configuration file. Hashes of keys, and the name and password in an
    /// address, are hidden.
    ///
    /// `given` says whether a flag or the environment gave a setting.
    pub fn shown(&self, flags: &Flags, given: impl Fn(&str) -> Option<&'static str>) -> String {
        let text = flags.record.config.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let in_file: Table = text.and_then(|text| text.parse().ok()).unwrap_or_default();
        let Ok(Value::Object(values)) = serde_json::to_value(self) else {
            return String::new();
        };
        let (mut text, mut tables) = (String::new(), String::new());
        for (key, value) in values {
            if let ("fetch" | "webhooks" | "mqtt", Value::Array(entries)) = (&*key, &value) {
                for table in entries.iter().filter_map(Value::as_object) {
                    let _ = writeln!(tables, "\n[[{key}]]");
                    for (name, value) in table {
                        // The path of a webhook may be its secret.
                        let value = match value {
                            Value::String(url) if key == "webhooks" && name == "url" => {
                                &Value::from(without_path(url))
                            }
                            value => value,
                        };
                        if let Some(value) = toml_value(name, value) {
                            let _ = writeln!(tables, "{name} = {value}");
                        }
                    }
                }
                continue;
            }
            let source = match given(&key) {
                Some(given) => given,
                None if in_file.contains_key(&key) => "file",
                None => "default",
            };
            let _ = match toml_value(&key, &value) {
                Some(value) => writeln!(text, "{key} = {value}  # {source}"),
                None => writeln!(text, "# {key} is not set"),
            };
        }
        text + &tables
    }
}

/// Writes a value. The values of settings look the same in TOML and JSON. `None` if there is no
/// value.
fn toml_value(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(hashes) if key == "ingest_key_hashes" => {
            Some(Value::from(vec![HIDDEN; hashes.len()]).to_string())
        }
        Value::String(text) => Some(Value::from(without_secrets(text)).to_string()),
        value => Some(value.to_string()),
    }
}

/// Hides everything after the host of an address.
fn without_path(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{host}/{HIDDEN}")
}

/// Hides the name and password of an address, and its query.
fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, _)) => (rest, format!("?{HIDDEN}")),
        None => (rest, String::new()),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => authority.to_owned(),
    };
    format!("{scheme}://{authority}{path}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mesonet_service::fetch::FetchConfig;

    #[test]
    fn settings_are_shown_as_a_file_that_gives_the_same_without_secrets() {
        let config = Config { max_cells: 7, now: None, ..Config::default() };
        let given = |key: &str| (key == "max_cells").then_some("flag");
        let text = config.shown(&Flags::default(), given);
        assert!(text.contains("\nmax_cells = 7  # flag\n"), "{text}");
        assert!(text.contains("\nlisten = \"127.0.0.1:8080\"  # default\n"), "{text}");
        assert!(text.contains("# now is not set\n"), "{text}");
        let again: Config = toml::from_str(&text).unwrap();
        assert_eq!(again, config);

        let source: FetchConfig = serde_json::from_value(serde_json::json!({
            "source": "datamart-amqp",
            "user_agent": "a b@c.d",
            "url": "amqps://name:pass@host/path?key=1",
        }))
        .unwrap();
        let config = Config {
            ingest_key_hashes: vec!["ab".repeat(32)],
            token_keys: Some("https://me:secret@id.example/keys".to_owned()),
            fetch: vec![source],
            ..Config::default()
        };
        let text = config.shown(&Flags::default(), |_| None);
        assert!(text.contains("token_keys = \"https://(hidden)@id.example/keys\""), "{text}");
        assert!(text.contains("[[fetch]]\n"), "{text}");
        assert!(text.contains("url = \"amqps://(hidden)@host/path?(hidden)\""), "{text}");
        for secret in ["abab", "secret", ":pass", "key=1"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}
