//! Where Redis is, as the setting names it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use axum::http::Uri;

use crate::password::has_password;

/// Where the Redis is in which several servers count together. It has no password, since it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisAddress {
    /// `redis://[USER@]HOST:PORT[/DB]`, or `rediss://…` over TLS.
    Network {
        /// A name or an address, that of IPv6 without brackets.
        host: String,
        port: u16,
        /// `None` is Redis' `default`.
        user: Option<String>,
        database: u16,
        is_tls: bool,
    },
    /// `unix:/PATH`: a socket of this machine.
    Socket(PathBuf),
}

/// Why a text is not the address of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedisAddressError {
    /// It is of another form.
    Form,
    /// It has a password.
    Password,
}

impl FromStr for RedisAddress {
    type Err = RedisAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = Some(path).filter(|path| path.starts_with('/') && !path.starts_with("//"));
            return path.map(|path| Self::Socket(path.into())).ok_or(RedisAddressError::Form);
        }
        if has_password(text) {
            return Err(RedisAddressError::Password);
        }
        network(text).ok_or(RedisAddressError::Form)
    }
}

impl RedisAddress {
    /// The user that it names.
    #[cfg(feature = "redis")]
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::Network { user, .. } => user.as_deref(),
            Self::Socket(_) => None,
        }
    }
}

fn network(text: &str) -> Option<RedisAddress> {
    let (scheme, rest) = text.split_once("://")?;
    let is_tls = match scheme {
        "redis" => false,
        "rediss" => true,
        _ => return None,
    };
    let (rest, database) = match rest.split_once('/') {
        Some((rest, database)) => (rest, number(database)?),
        None => (rest, 0),
    };
    let (user, host) = match rest.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, rest),
    };
    if user.is_some_and(|user| !is_name(user)) {
        return None;
    }
    let uri: Uri = format!("http://{host}/").parse().ok()?;
    let authority = uri.authority().filter(|authority| authority.as_str() == host)?;
    let port = number(authority.as_str().rsplit_once(':')?.1).filter(|&port| port > 0)?;
    let host = authority.host();
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = inside.unwrap_or(host).to_owned();
    let user = user.map(str::to_owned);
    (!host.is_empty()).then_some(RedisAddress::Network { host, port, user, database, is_tls })
}

/// Reads a number as it is shown: digits, without a sign or a zero before them.
fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|number: &u16| number.to_string() == text)
}

/// What needs no encoding in an address.
fn is_name(text: &str) -> bool {
    let is_own = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_own)
}

/// As it is read.
impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network { host, port, user, database, is_tls } => {
                f.write_str(if *is_tls { "rediss://" } else { "redis://" })?;
                if let Some(user) = user {
                    write!(f, "{user}@")?;
                }
                if host.contains(':') {
                    write!(f, "[{host}]:{port}")
                } else {
                    write!(f, "{host}:{port}")
                }?;
                if *database > 0 { write!(f, "/{database}") } else { Ok(()) }
            }
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_a_host_or_of_a_socket_and_is_shown_as_it_is_read() {
        for text in [
            "redis://127.0.0.1:6379",
            "redis://cache.example.org:6379/3",
            "redis://mesonet@[2001:db8::1]:1",
            "rediss://me.so-net@cache:65535/15",
            "unix:/run/redis/redis-server.sock",
        ] {
            let address: RedisAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        let address = "redis://me@[::1]:7/2".parse();
        let (host, user) = ("::1".to_owned(), Some("me".to_owned()));
        let whole = RedisAddress::Network { host, port: 7, user, database: 2, is_tls: false };
        assert_eq!(address, Ok(whole));
    }

    #[test]
    fn what_is_no_address_is_refused_and_a_password_by_name() {
        for text in [
            "",
            "127.0.0.1:6379",
            "http://127.0.0.1:6379",
            "redis:127.0.0.1:6379",
            "redis://127.0.0.1",
            "redis://127.0.0.1:",
            "redis://127.0.0.1:0",
            "redis://127.0.0.1:65536",
            "redis://127.0.0.1:06379",
            "redis://:6379",
            "redis://127.0.0.1:6379/",
            "redis://127.0.0.1:6379/x",
            "redis://127.0.0.1:6379/-1",
            "redis://127.0.0.1:6379/0/1",
            "redis://127.0.0.1:6379?timeout=1",
            "redis://@127.0.0.1:6379",
            "redis://a b@127.0.0.1:6379",
            "redis://::1:6379",
            "unix:",
            "unix:redis.sock",
            "unix:///run/redis.sock",
        ] {
            assert_eq!(text.parse::<RedisAddress>(), Err(RedisAddressError::Form), "{text}");
        }
        for text in ["redis://:secret@127.0.0.1:6379", "rediss://me:secret@127.0.0.1:6379/1"] {
            assert_eq!(text.parse::<RedisAddress>(), Err(RedisAddressError::Password), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_more_than_refused(text in "(rediss?://|unix:/|)\\PC*") {
            if let Ok(address) = text.parse::<RedisAddress>() {
                let again: RedisAddress = address.to_string().parse().unwrap();
                proptest::prop_assert_eq!(again, address);
            }
        }
    }
}
