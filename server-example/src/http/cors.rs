//! The sites whose pages may call the service from a browser.

use axum::http::{HeaderValue, Method, Uri, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::{GEOGRAPHY, REPLAY, REPLAY_ALERTS, bulk_headers, damage};

/// A site, or every subdomain of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// `https://`
    scheme: String,
    /// The host, and the port if it is stated. For subdomains, with a dot in front.
    rest: String,
    is_pattern: bool,
}

impl Site {
    /// Reads an origin as a browser sends it, or one with `*.` in front of its host. `None` for
    /// anything else: it could not match.
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (is_pattern, host) = match rest.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, rest),
        };
        let plain = format!("{scheme}://{host}");
        let uri: Uri = plain.parse().ok()?;
        let shown = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
        // The subdomains of a top-level domain belong to many owners.
        let is_own = !is_pattern || host.contains('.');
        let is_origin = matches!(scheme, "http" | "https")
            && shown == plain
            && is_own
            && !plain.contains(['@', '*'])
            && plain == plain.to_ascii_lowercase()
            && HeaderValue::from_str(text).is_ok();
        let rest = if is_pattern { format!(".{host}") } else { host.to_owned() };
        is_origin.then(|| Self { scheme: format!("{scheme}://"), rest, is_pattern })
    }

    /// Whether an origin that a browser sent belongs to the site.
    fn has(&self, origin: &str) -> bool {
        let Some(rest) = origin.strip_prefix(&*self.scheme) else { return false };
        if !self.is_pattern {
            return rest == self.rest;
        }
        // At least one letter comes before the dot, and nothing that ends a host.
        rest.strip_suffix(&*self.rest).is_some_and(|name| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
            !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
        })
    }
}

/// Without sites, no page of another site may read an answer.
pub fn layer(sites: &[String]) -> Option<CorsLayer> {
    let sites: Vec<Site> = sites.iter().filter_map(|site| Site::new(site)).collect();
    if sites.is_empty() {
        return None;
    }
    let is_of_one = move |origin: &HeaderValue, _: &_| {
        origin.to_str().is_ok_and(|origin| sites.iter().any(|site| site.has(origin)))
    };
    let exposed = [
        header::ETAG,
        REPLAY,
        damage::DAMAGED,
        GEOGRAPHY,
        REPLAY_ALERTS,
        header::CONTENT_RANGE,
        header::CONTENT_LOCATION,
    ];
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_of_one))
        .allow_methods([Method::GET, Method::POST])
        // The cookie of an account token.
        .allow_credentials(true)
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_NONE_MATCH,
            // A GeoTIFF reader in a page requests ranges.
            header::RANGE,
            header::IF_RANGE,
        ]);
    Some(cors.expose_headers([&exposed[..], &bulk_headers::ALL].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_what_a_browser_sends_or_a_pattern_of_subdomains() {
        for good in ["https://example.org", "http://localhost:3000", "https://*.example.org"] {
            assert!(Site::new(good).is_some(), "{good}");
        }
        for bad in [
            "*",
            "null",
            "example.org",
            "https://example.org/",
            "ftp://a.org",
            "https://a@b.c",
            "https://*",
            "https://*.org",
            "https://a.*.org",
            "https://*.*.a.org",
            "https://*a.org",
            "https://Example.org",
        ] {
            assert_eq!(Site::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_pattern_has_the_subdomains_and_nothing_that_only_looks_like_one() {
        let site = Site::new("https://*.example.org").unwrap();
        for own in ["https://a.example.org", "https://a.b-c.example.org"] {
            assert!(site.has(own), "{own}");
        }
        for other in [
            "https://example.org",
            "https://.example.org",
            "https://evilexample.org",
            "https://a.example.org.evil.net",
            "https://evil.net/.example.org",
            "https://evil.net#.example.org",
            "https://evil.net:443.example.org",
            "http://a.example.org",
            "https://a.example.org:8443",
            "null",
        ] {
            assert!(!site.has(other), "{other}");
        }
        let port = Site::new("https://*.example.org:8443").unwrap();
        assert!(port.has("https://a.example.org:8443") && !port.has("https://a.example.org"));
    }
}
