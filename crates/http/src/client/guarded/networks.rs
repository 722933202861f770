//! Which addresses of the network a request may reach.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use bowline_auth::error::Error;

/// The networks that are not public, with what they are for. Of the registries of special addresses
/// (RFC 6890) it has all that are not globally reachable, and those that lead to another address.
const SPECIAL: [(&str, &str); 27] = [
    ("0.0.0.0/8", "this machine"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "the network of a provider"),
    ("127.0.0.0/8", "this machine"),
    ("169.254.0.0/16", "link-local, where cloud platforms hand out credentials"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "for documentation"),
    ("192.88.99.0/24", "reserved for 6to4 relays"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "this machine"),
    ("::1/128", "this machine"),
    ("64:ff9b:1::/48", "a private translation to IPv4"),
    ("100::/64", "discarded"),
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "for documentation"),
    ("2002::/16", "6to4, which leads to another address"),
    ("3fff::/20", "for documentation"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "a private network"),
    ("ff00::/8", "multicast"),
];

/// The networks in which a host that the operator configured may be.
const OF_OPERATORS: [&str; 7] = [
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "::1/128",
    "fc00::/7",
];

/// The addresses of IPv6 that all public ones are among.
const GLOBAL_UNICAST: &str = "2000::/3";
/// The addresses that a translator of the provider turns into IPv4.
const TRANSLATED: &str = "64:ff9b::/96";

/// Which addresses may be reached: public ones, and more networks by choice.
#[derive(Clone, Debug, Default)]
pub(super) struct AllowedNetworks {
    pub(super) has_loopback: bool,
    pub(super) more: Vec<Network>,
}

impl AllowedNetworks {
    /// Whether an address may be reached.
    ///
    /// # Errors
    ///
    /// Says what the address is for.
    pub(super) fn check(&self, address: IpAddr) -> Result<(), &'static str> {
        let address = reached(address);
        let is_own = self.has_loopback && is_loopback(address);
        if is_own || self.more.iter().any(|network| network.contains(address)) {
            return Ok(());
        }
        purpose(address).map_or(Ok(()), Err)
    }
}

/// Whether an address is one that only this machine has.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Whether a host that the operator configured may have this address.
pub(super) fn is_of_operator(address: IpAddr) -> bool {
    let address = reached(address);
    OF_OPERATORS.iter().any(|network| fixed(network).contains(address))
}

/// The address that a connection reaches in the end: one of IPv4 may be written as one of IPv6.
fn reached(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    match address {
        IpAddr::V6(translated) if fixed(TRANSLATED).contains(address) => {
            let [.., a, b, c, d] = translated.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        _ => address,
    }
}

/// What an address is for, if it is not public.
fn purpose(address: IpAddr) -> Option<&'static str> {
    let special = SPECIAL.iter().find(|(network, _)| fixed(network).contains(address));
    match special {
        Some((_, purpose)) => Some(purpose),
        None if address.is_ipv6() && !fixed(GLOBAL_UNICAST).contains(address) => Some("reserved"),
        None => None,
    }
}

/// A network of the tables above.
fn fixed(text: &str) -> Network {
    text.parse().expect("the tables hold networks")
}

/// A network, such as `10.0.0.0/8` or `fc00::/7`. An address alone is a network of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    first: IpAddr,
    prefix: u8,
}

impl Network {
    pub(super) fn contains(self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.prefix);
                let differing = first.to_bits() ^ address.to_bits();
                differing.checked_shr(shift).unwrap_or(0) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.prefix);
                let differing = first.to_bits() ^ address.to_bits();
                differing.checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid =
            || Error::fetch(format!("{text:?} is no network; write it like `10.0.0.0/8`"));
        let (first, prefix) = text.split_once('/').unwrap_or((text, ""));
        let first: IpAddr = first.parse().map_err(|_| invalid())?;
        let longest = if first.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            "" if !text.contains('/') => longest,
            prefix => prefix.parse().ok().filter(|it| *it <= longest).ok_or_else(invalid)?,
        };
        // `10.1.2.3/8` may mean one address or sixteen million.
        match is_zero_after(first, prefix) {
            true => Ok(Self { first, prefix }),
            false => Err(invalid()),
        }
    }
}

/// Whether an address has no bit set beyond a prefix.
fn is_zero_after(address: IpAddr, prefix: u8) -> bool {
    match address {
        IpAddr::V4(it) => it.to_bits().checked_shl(u32::from(prefix)).unwrap_or(0) == 0,
        IpAddr::V6(it) => it.to_bits().checked_shl(u32::from(prefix)).unwrap_or(0) == 0,
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

/// An address of IPv6 that stands for one of IPv4 is shown as both.
pub(super) struct Shown(pub(super) IpAddr);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match reached(self.0) {
            same if same == self.0 => write!(f, "{same}"),
            other => write!(f, "{} (that is {other})", self.0),
        }
    }
}

impl Shown {
    /// The address to write into a setting.
    pub(super) fn reached(&self) -> IpAddr {
        reached(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allowed: &AllowedNetworks, address: &str) -> bool {
        allowed.check(address.parse().unwrap()).is_ok()
    }

    const NOT_PUBLIC: &str = "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 \
        127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 \
        192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 \
        239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 \
        ::ffff:169.254.169.254 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 100::1 1::1 \
        2001::1 2001:db8::1 2002:7f00:1::1 2002:a00:1:: 3fff::1 4000::1 5f00::1 fc00::1 \
        fd00:ec2::254 fe80::1 fec0::1 ff02::1";
    const PUBLIC: &str = "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 \
        126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 \
        192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1 \
        2606:4700::1111 2a00::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8";

    // spec: SBP-3
    #[test]
    fn only_public_addresses_are_reached() {
        let public = AllowedNetworks::default();
        for address in NOT_PUBLIC.split_whitespace() {
            assert!(!check(&public, address), "{address}");
        }
        for address in PUBLIC.split_whitespace() {
            assert!(check(&public, address), "{address}");
        }
    }

    #[test]
    fn a_network_can_be_allowed() {
        let more = vec!["10.1.0.0/16".parse().unwrap(), "fd00::/64".parse().unwrap()];
        let allowed = AllowedNetworks { has_loopback: false, more };
        for address in ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "fd00::1"] {
            assert!(check(&allowed, address), "{address}");
        }
        for address in ["10.2.0.1", "127.0.0.1", "::1", "fd00:0:0:1::1", "192.168.0.1"] {
            assert!(!check(&allowed, address), "{address}");
        }
        let allowed = AllowedNetworks { has_loopback: true, more: Vec::new() };
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(check(&allowed, address), "{address}");
        }
        for address in ["0.0.0.0", "::", "10.0.0.1"] {
            assert!(!check(&allowed, address), "{address}");
        }
    }

    #[test]
    fn the_host_of_an_operator_may_be_private_but_not_link_local() {
        for address in ["10.0.0.1", "192.168.1.1", "127.0.0.1", "::1", "fd00::1"] {
            assert!(is_of_operator(address.parse().unwrap()), "{address}");
        }
        for address in ["169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1", "8.8.8.8"] {
            assert!(!is_of_operator(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn networks_are_read_strictly() {
        for (text, shown) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("10.1.2.3", "10.1.2.3/32"),
            ("fd00::/8", "fd00::/8"),
            ("::1", "::1/128"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(text.parse::<Network>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "10",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.1.2.3/8",
            "::1/64",
            "a/8",
            "10.0.0.0/8/8",
            "010.0.0.0/8",
            "::/129",
            " 10.0.0.0/8",
            "example.com",
        ] {
            let error = text.parse::<Network>().unwrap_err().to_string();
            assert!(error.ends_with("is no network; write it like `10.0.0.0/8`"), "{error}");
        }
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains("8.8.8.8".parse().unwrap()));
    }
}
