//! The Host header of a request.

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Version, header};

use crate::http::error::ApiError;

/// Refuses a request with an ambiguous target, as RFC 9112 (3.2) requires: without a host, with
/// two, or with a malformed one. Over HTTP/2 the authority replaces the header (RFC 9113, 8.3.1).
pub fn check<B>(request: &Request<B>) -> Result<(), ApiError> {
    if request.version() == Version::HTTP_2
        && let Some(authority) = request.uri().authority()
    {
        return check_authority(request, authority);
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let refuse = |got: &str| {
        let text = format!("a request must have one Host header, host or host:port; got {got}");
        Err(ApiError::Refused(StatusCode::BAD_REQUEST, text))
    };
    match (hosts.next(), hosts.count()) {
        (None, _) if request.version() < Version::HTTP_11 => Ok(()),
        (None, _) => refuse("none"),
        (Some(host), 0) if is_host(host) => Ok(()),
        (Some(host), 0) => refuse(&format!("\"{}\"", String::from_utf8_lossy(host.as_bytes()))),
        (Some(_), more) => refuse(&format!("{} of them", more + 1)),
    }
}

/// If there is a Host header as well as an authority, both must be the same.
fn check_authority<B>(request: &Request<B>, authority: &Authority) -> Result<(), ApiError> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let same =
        |host: &HeaderValue| host.as_bytes().eq_ignore_ascii_case(authority.as_str().as_bytes());
    let is_one = hosts.next().is_none_or(same) && hosts.next().is_none();
    if is_one && !authority.as_str().contains('@') {
        return Ok(());
    }
    let text = format!(
        "a request must have one authority, and no Host header other than it; got {authority}"
    );
    Err(ApiError::Refused(StatusCode::BAD_REQUEST, text))
}

/// A host may be empty, for an address without one.
fn is_host(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    if text.is_empty() {
        return true;
    }
    // Nearly every host is a name or an IPv4 address, which needs no parser.
    let is_name = |host: &str| {
        !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
    };
    let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    if is_name(name) && is_port(port) {
        return true;
    }
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let port = text.strip_prefix(authority.host()).unwrap_or_default();
    let port_is_one = port.strip_prefix(':').is_none_or(is_port);
    !text.contains('@') && !authority.host().is_empty() && port_is_one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_hosts(hosts: &[&[u8]]) -> Result<(), ApiError> {
        let mut request = Request::new(());
        for host in hosts {
            request.headers_mut().append(header::HOST, HeaderValue::from_bytes(host).unwrap());
        }
        check(&request)
    }

    #[test]
    fn a_host_is_one_name_or_address_with_or_without_a_port() {
        for host in ["example.org", "example.org:8080", "192.0.2.1:80", "[::1]:8080", "[::1]", ""] {
            assert_eq!(check_hosts(&[host.as_bytes()]), Ok(()), "{host}");
        }
        for host in ["a b", "a@b", "a:b", "a:80:80", "a/b", ":80", "http://a", "[::1", "a:999999"] {
            let got = format!("got \"{host}\"");
            let Err(ApiError::Refused(StatusCode::BAD_REQUEST, text)) =
                check_hosts(&[host.as_bytes()])
            else {
                panic!("{host}");
            };
            assert!(text.ends_with(&got), "{text}");
        }
        assert!(check_hosts(&[b"\xff"]).is_err());
        assert!(check_hosts(&[]).is_err());
        assert!(check_hosts(&[b"a", b"a"]).is_err());
        let mut newer =
            Request::builder().uri("https://a.org/b").version(Version::HTTP_2).body(()).unwrap();
        assert_eq!(check(&newer), Ok(()));
        newer.headers_mut().insert(header::HOST, HeaderValue::from_static("A.org"));
        assert_eq!(check(&newer), Ok(()));
        newer.headers_mut().insert(header::HOST, HeaderValue::from_static("b.org"));
        assert!(check(&newer).is_err());
        let mut old = Request::new(());
        *old.version_mut() = Version::HTTP_10;
        assert_eq!(check(&old), Ok(()));
    }
}
