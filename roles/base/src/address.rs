//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of four bytes that are not public, with the length of their prefix: this network,
/// private ones, shared, loopback, link-local, protocol assignments, documentation, relays,
/// benchmarks, multicast and what is reserved.
const CLOSED_4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Of sixteen bytes only this network is public, and of it not these: protocol assignments with
/// tunnels among them, documentation, and one that holds addresses of four bytes.
const PUBLIC_6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
const CLOSED_6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address is one of the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let bits = u32::from(address);
            !CLOSED_4
                .iter()
                .any(|(network, length)| (bits ^ u32::from(*network)) >> (32 - length) == 0)
        }
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            let is_in = |(network, length): &(Ipv6Addr, u32)| {
                (bits ^ u128::from(*network)) >> (128 - length) == 0
            };
            // Addresses of four bytes within longer ones lie outside of the public network.
            is_in(&PUBLIC_6) && !CLOSED_6.iter().any(is_in)
        }
    }
}

/// Whether a name is one that a local network gives meaning to.
#[must_use]
pub fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let ends = [
        "localhost",
        "local",
        "internal",
        "intranet",
        "lan",
        "home",
        "corp",
        "private",
    ];
    let last = name.rsplit('.').next().unwrap_or_default();
    !name.contains('.') || ends.contains(&last) || name.ends_with(".home.arpa")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_that_could_be_ours_is_public() {
        for (id, text) in [
            ("N01", "127.0.0.1"),
            ("N03", "::1"),
            ("N05", "::"),
            ("N07", "127.255.255.254"),
            ("N11", "::ffff:127.0.0.1"),
            ("N11", "::ffff:8.8.8.8"),
            ("N11", "::127.0.0.1"),
            ("N13", "64:ff9b::7f00:1"),
            ("N13", "64:ff9b:1::1"),
            ("N13", "2002:7f00:1::"),
            ("N13", "2001:0:7f00:1::"),
            ("N15", "169.254.169.254"),
            ("N15", "fd00:ec2::254"),
            ("N17", "100.100.100.200"),
            ("N19", "10.0.0.1"),
            ("N19", "172.16.0.1"),
            ("N19", "172.31.255.255"),
            ("N19", "192.168.1.1"),
            ("N19", "fc00::1"),
            ("N19", "fdff::1"),
            ("N19", "fe80::1"),
            ("N19", "fec0::1"),
            ("N19", "224.0.0.1"),
            ("N19", "ff02::1"),
            ("N19", "255.255.255.255"),
            ("", "0.0.0.0"),
            ("", "0.1.2.3"),
            ("", "198.18.0.1"),
            ("", "192.0.0.170"),
            ("", "203.0.113.5"),
            ("", "240.0.0.1"),
            ("", "2001:db8::1"),
            ("", "100::1"),
        ] {
            assert!(!is_public(text.parse().unwrap()), "{id} {text}");
        }
    }

    #[test]
    fn public_addresses_next_to_closed_ones_stay_open() {
        for text in [
            "8.8.8.8",
            "172.15.255.255",
            "172.32.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "223.255.255.255",
            "192.0.1.1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn names_of_local_networks_are_known() {
        for name in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "intranet",
            "x.home.arpa",
        ] {
            assert!(is_local_name(name), "{name}");
        }
        for name in [
            "10.ai",
            "192.168.fm",
            "fda.gov",
            "fe80.com",
            "localhost.example.com",
        ] {
            assert!(!is_local_name(name), "{name}");
        }
    }
}
