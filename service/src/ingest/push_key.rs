//! Keys for pushing feed files, and what each key may push. The server knows only the hashes of the
//! keys.

use std::fmt;

use mesonet::feed;
use subtle::ConstantTimeEq;

use crate::hex::{hex, hex_sha256};

/// The prefix of keys, so that a leaked one is recognized.
const PREFIX: &str = "mesonet_push_";
const KEY_BYTES: usize = 32;

/// The names of files of GRIB2 fields in a scope.
const PRODUCTS: &str = "products";
const MODELS: &str = "models";

/// SHA-256 of a push key. Keys are random, so a plain hash reveals nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHash(String);

impl KeyHash {
    /// Hashes a key.
    pub fn of(key: &str) -> Self {
        Self(hex_sha256(key.as_bytes()))
    }

    /// Returns a new random key and its hash.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn fresh() -> Result<(String, Self), getrandom::Error> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes)?;
        let key = format!("{PREFIX}{}", hex(&bytes));
        let hash = Self::of(&key);
        Ok((key, hash))
    }

    /// The hash as in the settings: 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a push key may push.
///
/// In the settings it follows the hash, in parts that begin with a semicolon:
/// `HASH;networks=METAR|SWOB;feeds=awc-csv;alerts`. Without a part, every network or kind of file
/// is allowed. Alerts are allowed if the scope has no parts, or if it names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    networks: Option<Vec<String>>,
    feeds: Option<Vec<String>>,
    alerts: bool,
}

impl Default for Scope {
    /// Everything.
    fn default() -> Self {
        Self { networks: None, feeds: None, alerts: true }
    }
}

impl Scope {
    /// Limits what may be pushed to networks and kinds of files, if any are named, and to readings unless
    /// `alerts` are allowed.
    pub fn new(networks: Vec<String>, feeds: Vec<String>, alerts: bool) -> Self {
        let some = |names: Vec<String>| (!names.is_empty()).then_some(names);
        let (networks, feeds) = (some(networks), some(feeds));
        let alerts = alerts || (networks.is_none() && feeds.is_none());
        Self { networks, feeds, alerts }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (mut networks, mut feeds, mut alerts) = (Vec::new(), Vec::new(), false);
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let names = |list: &str| -> Vec<String> {
                list.split('|').map(|name| name.trim().to_owned()).collect()
            };
            match part.split_once('=') {
                Some(("networks", list)) => networks = names(list),
                Some(("feeds", list)) => feeds = names(list),
                None if part == "alerts" => alerts = true,
                _ => {
                    return Err(
                        "a part of a scope must be networks=…, feeds=… or alerts".to_owned()
                    );
                }
            }
        }
        if networks.iter().chain(&feeds).any(String::is_empty) {
            return Err("a name in a scope must not be empty".to_owned());
        }
        let is_kind = |name: &String| {
            [PRODUCTS, MODELS].contains(&name.as_str()) || name.parse::<feed::Kind>().is_ok()
        };
        if let Some(unknown) = feeds.iter().find(|name| !is_kind(name)) {
            return Err(format!(
                "\"{unknown}\" is no kind of feed; allowed are those of ingest --feed, {PRODUCTS} and {MODELS}"
            ));
        }
        Ok(Self::new(networks, feeds, alerts))
    }

    /// Refuses a kind of file.
    ///
    /// # Errors
    /// The key may not push it.
    pub fn check_feed(&self, kind: feed::Kind) -> Result<(), String> {
        self.check_named(kind.name())
    }

    /// Refuses raster products.
    ///
    /// # Errors
    /// The key may not push them.
    pub fn check_products(&self) -> Result<(), String> {
        self.check_named(PRODUCTS)
    }

    /// Refuses the output of models.
    ///
    /// # Errors
    /// The key may not push it.
    pub fn check_models(&self) -> Result<(), String> {
        self.check_named(MODELS)
    }

    fn check_named(&self, name: &str) -> Result<(), String> {
        // A key for some networks may not push products or models, which belong to no network.
        let is_allowed = match (&self.feeds, &self.networks) {
            (Some(feeds), _) => feeds.iter().any(|feed| feed == name),
            (None, Some(_)) => ![PRODUCTS, MODELS].contains(&name),
            (None, None) => true,
        };
        if is_allowed { Ok(()) } else { Err(format!("the key may not push {name}")) }
    }

    /// Refuses a report or an alert.
    ///
    /// # Errors
    /// The key may not push it.
    pub fn check_item(&self, item: &feed::Item) -> Result<(), String> {
        let network = match item {
            feed::Item::Alert(_) if self.alerts => return Ok(()),
            feed::Item::Alert(_) => return Err("the key may not push alerts".to_owned()),
            feed::Item::Report(report) => &report.station.network,
        };
        match &self.networks {
            Some(networks) if !networks.contains(network) => Err(format!(
                "the key may not push reports of the network {network}; it may push those of {}",
                networks.join(", ")
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, list) in [("networks", &self.networks), ("feeds", &self.feeds)] {
            if let Some(list) = list {
                write!(f, ";{name}={}", list.join("|"))?;
            }
        }
        let is_limited = self.networks.is_some() || self.feeds.is_some();
        if self.alerts && is_limited { f.write_str(";alerts") } else { Ok(()) }
    }
}

/// A push key of the settings: its hash and its scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushKey {
    hash: KeyHash,
    scope: Scope,
}

impl PushKey {
    /// Reads a push key of the settings.
    ///
    /// # Errors
    /// The text has another form. The error does not repeat the text: it may be the key itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (hash, scope) = text.split_once(';').unwrap_or((text, ""));
        let hash = hash.trim();
        if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let what = if hash.starts_with(PREFIX) {
                "a push key itself, and it must be its hash: "
            } else {
                "it must be "
            };
            return Err(format!("{what}64 hexadecimal digits as printed by push-key"));
        }
        Ok(Self { hash: KeyHash(hash.to_ascii_lowercase()), scope: Scope::parse(scope)? })
    }

    /// Finds the scope of a key among those of the settings, compared in constant time.
    pub fn scope_of(key: &str, keys: &[String]) -> Option<Scope> {
        let hash = KeyHash::of(key);
        let mut found = None;
        for known in keys.iter().filter_map(|text| Self::parse(text).ok()) {
            if bool::from(known.hash.0.as_bytes().ct_eq(hash.0.as_bytes())) {
                found = Some(known.scope);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let (key, hash) = KeyHash::fresh().unwrap();
        let (other, _) = KeyHash::fresh().unwrap();
        assert_ne!(key, other);
        assert!(key.starts_with(PREFIX) && key.len() == PREFIX.len() + 64);
        let keys = [KeyHash::of("x").as_str().to_owned(), hash.as_str().to_uppercase()];
        assert_eq!(PushKey::scope_of(&key, &keys), Some(Scope::default()));
        assert_eq!(PushKey::scope_of(&other, &keys), None);
        assert_eq!(PushKey::scope_of(&key, &[]), None);
    }

    #[test]
    fn the_hash_is_sha_256() {
        // NIST, FIPS 180-4, the example of one block.
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(KeyHash::of("abc").as_str(), hash);
        assert!(PushKey::parse("abc").is_err());
        assert!(PushKey::parse(&hash.replace('b', "g")).is_err());
    }

    /// A key that was pasted in place of its hash was once repeated in the log.
    #[test]
    fn an_error_never_repeats_a_key() {
        let (key, hash) = KeyHash::fresh().unwrap();
        for text in [key.clone(), format!("{key};alerts"), format!(" {key}"), format!("x{key}")] {
            let error = PushKey::parse(&text).unwrap_err();
            assert!(!error.contains(&key[PREFIX.len()..]), "{error}");
        }
        let error = PushKey::parse(&format!("{};{key}=1", hash.as_str())).unwrap_err();
        assert!(!error.contains(&key[PREFIX.len()..]), "{error}");
    }

    #[test]
    fn a_scope_is_written_as_it_is_read() {
        let hash = "ab".repeat(32);
        let scope = |text: &str| PushKey::parse(&format!("{hash}{text}")).map(|key| key.scope);
        for text in ["", ";networks=METAR|NOAA NDBC", ";feeds=awc-csv|products;alerts"] {
            assert_eq!(scope(text).unwrap().to_string(), text);
        }
        let limited = scope(";networks=METAR").unwrap();
        assert!(limited.check_feed(feed::Kind::AwcCsv).is_ok());
        for refused in [limited.check_products(), limited.check_models()] {
            assert!(refused.is_err());
        }
        let alert = feed::Item::Alert(mesonet::alert::Message::default());
        assert_eq!(limited.check_item(&alert).unwrap_err(), "the key may not push alerts");
        assert!(Scope::default().check_item(&alert).is_ok());
        for wrong in [";networks=", ";feeds=nonsense", ";network=METAR", ";feeds=awc-csv||swob"] {
            assert!(scope(wrong).is_err(), "{wrong}");
        }
    }
}
