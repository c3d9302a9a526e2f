//! Addresses of servers on the network: which may be reached, and to what their names may lead.
//!
//! An address is the operator's own word, so that a server of this machine or of a private network
//! is allowed where it is plainly meant. What is not plainly meant is refused: other ways to write
//! an address, names that lead somewhere else than they seem to, and clear text to others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use a_society_base::address::is_public;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::HeaderName;

use super::plain;

/// Headers that belong to the connection or to the protocol.
const RESERVED_HEADERS: &[&str] = &[
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Which network an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NetworkZone {
    /// On this machine.
    Here,
    /// In a network of ours.
    Private,
    /// Anywhere else.
    Public,
    /// Nowhere a server could be, or where a cloud keeps the keys of its machines.
    Forbidden,
}

/// The address of a server, if it may be one.
pub(super) fn check(text: &str, is_private: bool) -> Result<Url, String> {
    let shown = plain::head(&plain::line(text), 100);
    let url = Url::parse(text).map_err(|why| format!("`{shown}` is no address: {why}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{shown}` must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "an address may not hold a user or a password; use `headers` with a secret".to_owned(),
        );
    }
    if url.fragment().is_some() {
        return Err(format!("`{shown}` has a fragment, which no server gets"));
    }
    let host = url.host_str().unwrap_or("");
    if host.is_empty() || host.ends_with('.') || !text.contains(host) {
        return Err(format!(
            "`{shown}` writes its host in an unusual way; its plain form is `{host}`"
        ));
    }
    let place = place_of_host(host);
    match place {
        NetworkZone::Forbidden => return Err(format!("no server can be at `{host}`")),
        NetworkZone::Private if !is_private => {
            return Err(format!(
                "`{host}` is in a private network; if it is yours, say `private-network: true`"
            ));
        }
        NetworkZone::Private | NetworkZone::Here | NetworkZone::Public => {}
    }
    if url.scheme() == "http" && place != NetworkZone::Here {
        return Err(format!(
            "`{shown}` would send everything in clear text; only servers of this machine may use \
             http://"
        ));
    }
    Ok(url)
}

/// Whether a header may be configured.
pub(super) fn check_header(name: &str) -> Result<(), String> {
    let shown = plain::head(&plain::line(name), 60);
    let parsed = HeaderName::from_bytes(name.as_bytes());
    let parsed = parsed.map_err(|_| format!("`{shown}` is not the name of a header"))?;
    if RESERVED_HEADERS.contains(&parsed.as_str()) {
        return Err(format!("the header `{shown}` belongs to the protocol"));
    }
    Ok(())
}

/// The network of a host as far as its name reveals it; other names are resolved when they are reached.
fn place_of_host(host: &str) -> NetworkZone {
    if host == "localhost" {
        return NetworkZone::Here;
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse().map_or(NetworkZone::Public, place)
}

/// Which network an address belongs to.
pub(super) fn place(address: IpAddr) -> NetworkZone {
    match address {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => place_v6(address),
    }
}

fn place_v4(address: Ipv4Addr) -> NetworkZone {
    // Shared address space is a provider's or a tunnel's; both are networks of ours.
    let is_shared = matches!(address.octets(), [100, 64..=127, ..]);
    if address.is_loopback() {
        NetworkZone::Here
    } else if (address.is_private() || is_shared) && address != METADATA_V4 {
        NetworkZone::Private
    } else {
        outside(IpAddr::V4(address))
    }
}

fn place_v6(address: Ipv6Addr) -> NetworkZone {
    if address.is_loopback() {
        NetworkZone::Here
    } else if address.is_unique_local() && address != METADATA_V6 {
        NetworkZone::Private
    } else {
        outside(IpAddr::V6(address))
    }
}

fn outside(address: IpAddr) -> NetworkZone {
    if is_public(address) {
        NetworkZone::Public
    } else {
        NetworkZone::Forbidden
    }
}

/// Where two clouds keep what their machines may know; others use link-local addresses.
const METADATA_V4: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Looks up names, and gives only addresses to which the name may lead. All of them must be
/// sound, so that none can be smuggled in among others, and the connection is made to what was
/// checked here.
#[derive(Debug)]
pub(super) struct CheckedResolver {
    pub(super) is_private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_private = self.is_private;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let looked_up = tokio::task::spawn_blocking(move || sound(&host, is_private));
            let addresses = looked_up.await??;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

fn sound(host: &str, is_private: bool) -> Result<Vec<SocketAddr>, Unsound> {
    if host.eq_ignore_ascii_case("localhost") {
        let here = [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ];
        return Ok(here.map(|address| SocketAddr::new(address, 0)).into());
    }
    let found = (host, 0).to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|why| Unsound(why.to_string()))?.collect();
    all_sound(host, found, is_private)
}

fn all_sound(
    host: &str,
    found: Vec<SocketAddr>,
    is_private: bool,
) -> Result<Vec<SocketAddr>, Unsound> {
    for address in &found {
        match place(address.ip()) {
            NetworkZone::Public => {}
            NetworkZone::Private if is_private => {}
            NetworkZone::Private | NetworkZone::Here | NetworkZone::Forbidden => {
                let host = plain::line(host);
                let address = address.ip();
                return Err(Unsound(format!(
                    "the name {host} leads to {address}, where it may not"
                )));
            }
        }
    }
    Ok(found)
}

/// Why a name leads nowhere.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unsound(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_plainly_meant_are_refused() {
        let table = [
            ("N05", "http://[::]/"),
            ("N07", "http://127.1/"),
            ("N09", "http://0x7f000001/"),
            ("N11", "http://[::ffff:127.0.0.1]/"),
            ("N13", "http://[64:ff9b::7f00:1]/"),
            ("N15", "http://169.254.169.254/latest/meta-data/"),
            ("N15", "https://169.254.169.254/latest/meta-data/"),
            ("N17", "https://100.100.100.200/"),
            ("N19", "https://10.0.0.1/"),
            ("N19", "https://172.16.0.1/"),
            ("N19", "https://192.168.0.1/"),
            ("N19", "https://[fc00::1]/"),
            ("N19", "https://[fe80::1]/"),
            ("N19", "https://224.0.0.1/"),
            ("N19", "https://255.255.255.255/"),
            ("N25", "https://example.com@evil.io/"),
            ("N25", "https://EXAMPLE.com/"),
            ("N25", "https://example.com./"),
            ("N25", "https://ex\u{430}mple.com/"),
            ("N29", "http://example.com/"),
            ("P33", "file:///etc/passwd"),
            ("M15", "https://example.com/\r\nX: y"),
        ];
        for (row, text) in table {
            // The last row is a fine address: line ends in one are dropped by everybody's rule,
            // and nothing of them is ever sent.
            match check(text, false) {
                Ok(url) => assert_eq!((row, url.as_str()), ("M15", "https://example.com/X:%20y")),
                Err(why) => assert!(!why.is_empty(), "{row} {text}"),
            }
        }
    }

    #[test]
    fn what_is_plainly_meant_is_allowed() {
        for text in [
            "https://example.com/mcp",
            "https://example.com:8443/mcp?x=y",
            "http://127.0.0.1:3000/mcp",
            "http://localhost:3000/mcp",
            "http://[::1]:3000/mcp",
            "https://93.184.215.14/mcp",
        ] {
            assert!(check(text, false).is_ok(), "{text}");
        }
        assert!(check("https://10.0.0.1/", true).is_ok());
        assert!(check("https://100.64.0.1/", true).is_ok());
        assert!(check("http://10.0.0.1/", true).is_err());
        assert!(check("https://100.100.100.200/", true).is_err());
        assert!(check("https://169.254.169.254/", true).is_err());
        assert!(check("https://[fd00:ec2::254]/", true).is_err());
        assert!(check("https://[fd12::1]/", true).is_ok());
    }

    #[test]
    fn n21_a_name_leads_nowhere_if_one_of_its_addresses_is_unsound() {
        let at = |text: &str| SocketAddr::new(text.parse().unwrap(), 0);
        let public = vec![at("93.184.215.14"), at("2606:2800::1")];
        assert!(all_sound("x.example", public.clone(), false).is_ok());
        for bad in [
            "127.0.0.1",
            "10.0.0.1",
            "169.254.169.254",
            "::1",
            "::ffff:10.0.0.1",
        ] {
            let mixed = [public.clone(), vec![at(bad)]].concat();
            let why = all_sound("x.example", mixed, false).unwrap_err();
            assert!(why.to_string().contains("x.example"), "{bad}");
        }
        assert!(all_sound("x.example", vec![at("10.0.0.1")], true).is_ok());
        assert!(all_sound("x.example", vec![at("127.0.0.1")], true).is_err());
    }

    #[test]
    fn headers_of_the_protocol_cannot_be_configured() {
        for name in ["Authorization", "X-Api-Key", "Cookie"] {
            assert_eq!(check_header(name), Ok(()));
        }
        for name in [
            "Host",
            "content-length",
            "Mcp-Session-Id",
            "A B",
            "A\r\nB",
            "",
        ] {
            assert!(check_header(name).is_err(), "{name:?}");
        }
    }
}
