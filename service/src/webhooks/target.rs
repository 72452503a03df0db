//! Which machines a delivery may go to. The address of a webhook must not lead into the network of
//! the server: a name is resolved once, each of its addresses is checked, and only those that were
//! checked are connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Networks that are not on the public internet: the special-purpose registry of IANA (RFC 6890 and
/// later), and multicast.
const NOT_PUBLIC_V4: [([u8; 4], u32); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Parts of `2000::/3`, the only public one, that are not public.
const NOT_PUBLIC_V6: [([u16; 3], u32); 3] =
    [([0x2001, 0, 0], 23), ([0x2001, 0xdb8, 0], 32), ([0x3fff, 0, 0], 20)];

/// Whether an address is on the public internet. An IPv6 address that stands for an IPv4 address is
/// as public as that.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in = |&(network, bits): &([u8; 4], u32)| {
        (address.to_bits() ^ Ipv4Addr::from(network).to_bits()) >> (u32::BITS - bits) == 0
    };
    !NOT_PUBLIC_V4.iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        // Mapped, and translated by NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => return is_public_v4(v4(g, h)),
        // 6to4 (RFC 3056).
        [0x2002, ..] => return is_public_v4(v4(b, c)),
        _ => {}
    }
    let is_in = |&([x, y, z], bits): &([u16; 3], u32)| {
        let network = Ipv6Addr::new(x, y, z, 0, 0, 0, 0, 0).to_bits();
        (address.to_bits() ^ network) >> (u128::BITS - bits) == 0
    };
    a >> 13 == 1 && !NOT_PUBLIC_V6.iter().any(is_in)
}

/// Resolves names, and refuses a name with an address that is not public.
#[derive(Debug, Default)]
pub(super) struct PublicResolver(DefaultResolver);

/// Why a name is refused.
#[derive(Debug, thiserror::Error)]
#[error(
    "the address {0} is not on the public internet; allow_private allows addresses of this machine \
     and its network"
)]
struct NotPublic(IpAddr);

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        match found.iter().map(std::net::SocketAddr::ip).find(|&at| !is_public(at)) {
            Some(at) => Err(Error::Other(Box::new(NotPublic(at)))),
            None => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_own_network_are_not_public() {
        let public = |text: &str| is_public(text.parse().unwrap());
        for no in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.19.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "3fff:fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "5f00::1",
        ] {
            assert!(!public(no), "{no}");
        }
        for yes in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2002:101:101::1",
            "2606:4700::1111",
            "64:ff9b::1.1.1.1",
            "::ffff:1.1.1.1",
        ] {
            assert!(public(yes), "{yes}");
        }
    }
}
