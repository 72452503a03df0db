//! The client address that a connection counts for.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Callers that share one part of the server's resources: everyone at one IPv4 address, or in one
/// IPv6 /64, which is what a single customer of a provider has.
///
/// Only the peer of the connection counts here. A header that names another address is ignored,
/// because anyone can send one. For trusted proxies the code of the connection, the only caller of
/// [`of`](Self::of), reads the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddr(IpAddr);

/// The address at the other end of a connection, as an extension of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl ClientAddr {
    /// The client address of a peer.
    pub fn of(peer: IpAddr) -> Self {
        Self(match peer.to_canonical() {
            IpAddr::V6(address) => {
                const NETWORK: u128 = u128::MAX << 64;
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK))
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The client address of a request that did not arrive over a connection.
impl Default for ClientAddr {
    fn default() -> Self {
        Self(Ipv4Addr::UNSPECIFIED.into())
    }
}

impl<S: Sync> FromRequestParts<S> for ClientAddr {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_party_and_so_is_a_network_of_64_bits() {
        let client_addr = |text: &str| ClientAddr::of(text.parse().unwrap());
        assert_eq!(client_addr("192.0.2.1"), client_addr("::ffff:192.0.2.1"));
        assert_ne!(client_addr("192.0.2.1"), client_addr("192.0.2.2"));
        assert_eq!(client_addr("2001:db8:0:1::1"), client_addr("2001:db8:0:1:ffff::2"));
        assert_ne!(client_addr("2001:db8:0:1::1"), client_addr("2001:db8:0:2::1"));
    }
}
