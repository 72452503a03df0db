//! The client address of a request behind proxies.
//!
//! Each proxy adds the address of its peer at the end of a header, so only the end can be trusted.
//! The client address is the last one that does not belong to a trusted proxy. A stranger may have
//! sent everything before it.

use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, header};
use serde::{Deserialize, Serialize};

/// Maximum number of addresses that are looked at in a header.
const MAX_HOPS: usize = 32;

/// The header that the proxies write. The other one is ignored: a stranger may have sent it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyHeader {
    /// `X-Forwarded-For`, as nginx, HAProxy, Caddy and load balancers write it.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// The proxies that are trusted.
#[derive(Clone, Debug, Default)]
pub struct Hops {
    networks: Vec<Network>,
    header: ProxyHeader,
}

/// The text is neither an address nor a network of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an address, or a network such as 10.0.0.0/8")]
pub struct HopsError(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    first: u128,
    is_v4: bool,
    bits: u32,
}

impl Hops {
    /// The proxies at these addresses and networks.
    ///
    /// # Errors
    /// A text is neither an address nor a network.
    pub fn new(trusted: &[String], header: ProxyHeader) -> Result<Self, HopsError> {
        let networks = trusted.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok(Self { networks, header })
    }

    /// Returns the address that a request comes from, given that of the connection.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        if !self.trusts(client) {
            return client;
        }
        let name = match self.header {
            ProxyHeader::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            ProxyHeader::Forwarded => header::FORWARDED,
        };
        // Several lines of a header are one list.
        let lines: Vec<&str> =
            headers.get_all(name).iter().map(|line| line.to_str().unwrap_or("?")).collect();
        let hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
        for hop in hops.take(MAX_HOPS) {
            let address = match self.header {
                ProxyHeader::XForwardedFor => address(hop.trim()),
                ProxyHeader::Forwarded => forwarded_for(hop).and_then(address),
            };
            // An unreadable entry hides the client address, so the proxy that wrote the entry
            // counts.
            let Some(address) = address else { break };
            client = address;
            if !self.trusts(client) {
                break;
            }
        }
        client
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let (bits, is_v4) = bits_of(address);
        let width = if is_v4 { 32 } else { 128 };
        let of_its_kind = self.networks.iter().filter(|network| network.is_v4 == is_v4);
        of_its_kind.into_iter().any(|network| {
            let mask = u128::MAX.checked_shl(width - network.bits).unwrap_or(0);
            bits & mask == network.first & mask
        })
    }
}

impl FromStr for Network {
    type Err = HopsError;
    fn from_str(text: &str) -> Result<Self, HopsError> {
        let parse = || {
            let (address, bits) = match text.split_once('/') {
                Some((address, bits)) => (address, Some(bits.parse::<u32>().ok()?)),
                None => (text, None),
            };
            let address: IpAddr = address.parse().ok()?;
            let (first, is_v4) = bits_of(address);
            let width = if is_v4 { 32 } else { 128 };
            let bits = bits.unwrap_or(width);
            (bits <= width).then_some(Self { first, is_v4, bits })
        };
        parse().ok_or_else(|| HopsError(text.chars().take(80).collect()))
    }
}

fn bits_of(address: IpAddr) -> (u128, bool) {
    match address {
        IpAddr::V4(address) => (address.to_bits().into(), true),
        IpAddr::V6(address) => (address.to_bits(), false),
    }
}

/// Returns the value of `for` in an element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<&str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    Some(node.trim().trim_matches('"'))
}

/// Reads an address that may have a port. An IPv6 address with a port is in brackets.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let host = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => text.split_once(':')?.0,
    };
    host.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(trusted: &[&str], header: ProxyHeader) -> Hops {
        let trusted: Vec<String> = trusted.iter().map(|&one| one.to_owned()).collect();
        Hops::new(&trusted, header).unwrap()
    }

    fn client(hops: &Hops, peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        hops.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn a_stranger_is_who_connects_whatever_it_says() {
        let hops = hops(&["10.0.0.0/8"], ProxyHeader::XForwardedFor);
        let said = [("x-forwarded-for", "192.0.2.9"), ("forwarded", "for=192.0.2.9")];
        assert_eq!(client(&hops, "198.51.100.1", &said), "198.51.100.1");
        assert_eq!(client(&Hops::default(), "127.0.0.1", &said), "127.0.0.1");
    }

    #[test]
    fn behind_a_trusted_proxy_the_last_address_counts_that_is_not_a_proxy() {
        let hops = hops(&["10.0.0.0/8", "::1"], ProxyHeader::XForwardedFor);
        let of = |line| client(&hops, "10.1.2.3", &[("x-forwarded-for", line)]);
        assert_eq!(of("192.0.2.9"), "192.0.2.9");
        // The stranger sent the first one.
        assert_eq!(of("203.0.113.7, 192.0.2.9"), "192.0.2.9");
        assert_eq!(of("203.0.113.7, 192.0.2.9, 10.9.9.9"), "192.0.2.9");
        assert_eq!(of("192.0.2.9:4711"), "192.0.2.9");
        assert_eq!(of("[2001:db8::1]:80"), "2001:db8::1");
        assert_eq!(of("2001:db8::1"), "2001:db8::1");
        // The address is unknown, so the proxy that says so counts.
        assert_eq!(of("203.0.113.7, unknown"), "10.1.2.3");
        assert_eq!(of("203.0.113.7, "), "10.1.2.3");
        let lines = [("x-forwarded-for", "203.0.113.7"), ("x-forwarded-for", "192.0.2.9")];
        assert_eq!(client(&hops, "::1", &lines), "192.0.2.9");
        // The proxy does not write the other header.
        assert_eq!(client(&hops, "10.1.2.3", &[("forwarded", "for=192.0.2.9")]), "10.1.2.3");
        assert_eq!(
            client(&hops, "::ffff:10.1.2.3", &[("x-forwarded-for", "192.0.2.9")]),
            "192.0.2.9"
        );
    }

    #[test]
    fn forwarded_of_rfc_7239() {
        let hops = hops(&["10.0.0.0/8"], ProxyHeader::Forwarded);
        let of = |line| client(&hops, "10.1.2.3", &[("forwarded", line)]);
        // The examples of its section 4.
        assert_eq!(of("For=\"[2001:db8:cafe::17]:4711\""), "2001:db8:cafe::17");
        assert_eq!(of("for=192.0.2.60;proto=http;by=203.0.113.43"), "192.0.2.60");
        assert_eq!(of("for=192.0.2.43, for=198.51.100.17"), "198.51.100.17");
        assert_eq!(of("for=\"_gazonk\""), "10.1.2.3");
        assert_eq!(of("for=192.0.2.43, proto=http"), "10.1.2.3");
    }

    #[test]
    fn a_network_is_an_address_with_the_number_of_its_bits() {
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0", "10.0.0.0/-1", "example.org"] {
            assert_eq!(bad.parse::<Network>(), Err(HopsError(bad.to_owned())));
        }
        let all = hops(&["0.0.0.0/0"], ProxyHeader::XForwardedFor);
        assert_eq!(client(&all, "192.0.2.1", &[("x-forwarded-for", "192.0.2.9")]), "192.0.2.9");
        assert_eq!(client(&all, "::2", &[("x-forwarded-for", "192.0.2.9")]), "::2");
    }
}
