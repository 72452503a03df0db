//! Refusing the values of settings.

use std::fmt::Display;
use std::net::IpAddr;

/// The value of a setting is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {got}; it must be {allowed}")]
pub struct InvalidSetting {
    /// Key of the setting.
    pub key: &'static str,
    /// What was given.
    pub got: String,
    /// What is allowed.
    pub allowed: &'static str,
}

/// Refuses a value.
///
/// # Errors
/// Always.
pub fn refuse<T>(
    key: &'static str,
    got: impl Display,
    allowed: &'static str,
) -> Result<T, InvalidSetting> {
    Err(InvalidSetting { key, got: got.to_string(), allowed })
}

/// Whether a text may be the name of a table: 1 to 64 lowercase letters, digits, `-` and `_`.
pub(crate) fn is_name(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// Whether the host of an address is this machine: `localhost` in any case, or an address that loops
/// back, an IPv6 one in brackets or without.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip: IpAddr| ip.is_loopback())
}
