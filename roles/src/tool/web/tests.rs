//! The web of a test: servers on this machine, under names that only the test knows.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::CallEnd;
use serde_json::json;

use super::client::Web;
use crate::consent::Tier;
use crate::tool::tests::stage::{Stage, done, finish, plan};
use crate::tool::{CallRefusal, Finished, RefusalKind, SearchService, Toolbox};

/// A server that gives each request the next answer, and remembers the requests.
#[derive(Debug)]
struct Server {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut request, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                    request.push_str(&line);
                }
                let mut body = vec![0; length];
                std::io::Read::read_exact(&mut reader, &mut body).unwrap();
                request.push_str(&String::from_utf8(body).unwrap());
                log.lock().unwrap().push(request);
                let _gone = stream.write_all(answer.as_bytes());
            }
        });
        Self { address, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn page(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// Everything is open but the address at which there is no test server.
fn all_but_one(address: IpAddr) -> bool {
    address != IpAddr::from([127, 0, 0, 2])
}

fn tools(stage: &Stage, web: Web) -> Toolbox {
    let mut setting = stage.setting();
    setting.fetch = true;
    Toolbox::over(setting, web).unwrap()
}

/// A web in which every name leads to this address.
fn leads_to(address: SocketAddr) -> Web {
    Web::of_test(move |_, _| Ok(vec![address]), all_but_one)
}

fn fetched(server: &Server, url: &str) -> Result<Finished, CallRefusal> {
    let stage = Stage::new();
    done(
        &tools(&stage, leads_to(server.address)),
        "fetch_url",
        json!({ "url": url }),
    )
}

#[test]
fn a_page_is_fetched_with_nothing_of_ours_in_the_request() {
    let html = "<h1>Title</h1><p>Text</p>";
    let server = Server::new(vec![page("200 OK", "content-type: text/html\r\n", html)]);
    let finished = fetched(&server, "http://example.com/a?b=c#d").unwrap();
    assert_eq!(finished.end, CallEnd::Done, "{}", finished.output);
    assert_eq!(
        finished.output,
        "[status 200, text/html]\n<page url=\"http://example.com/a?b=c#d\">\nTitle\nText\n</page>\n"
    );
    let heard = server.heard().remove(0).to_lowercase();
    let mut lines: Vec<&str> = heard
        .lines()
        .filter(|line| !line.starts_with("user-agent: a-society/"))
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["accept: */*", "get /a?b=c http/1.1", "host: example.com"]
    );
}

#[test]
fn addresses_that_are_not_public_are_refused_before_anything_is_sent() {
    let stage = Stage::new();
    let mut setting = stage.setting();
    setting.fetch = true;
    let tools = Toolbox::open(setting).unwrap();
    for (id, url) in [
        ("N01", "https://127.0.0.1/"),
        ("N03", "https://[::1]/"),
        ("N05", "https://[::]/"),
        ("N07", "https://127.1/"),
        ("N07", "https://2130706433/"),
        ("N07", "https://0177.0.0.1/"),
        ("N09", "https://0x7f000001/"),
        ("N11", "https://[::ffff:127.0.0.1]/"),
        ("N13", "https://[64:ff9b::7f00:1]/"),
        ("N15", "https://169.254.169.254/latest/meta-data/"),
        ("N17", "https://100.100.100.200/"),
        ("N19", "https://10.0.0.1/"),
        ("N19", "https://[fe80::1]/"),
        ("N19", "https://[fe80::1%25eth0]/"),
        ("N19", "https://255.255.255.255/"),
        ("", "https://localhost/"),
        ("", "https://LOCALHOST./"),
        ("", "https://a.localhost:8443/"),
        ("", "https://metadata.google.internal/"),
        ("", "https://router/"),
        ("", "https://127。0。0。1/"),
        ("N25", "https://example.com@evil.io/"),
        ("N25", "https://user:pass@example.com/"),
        ("N29", "http://example.com/"),
        ("P33", "file:///etc/passwd"),
        ("", "ftp://example.com/"),
        ("", "gopher://example.com/"),
        ("", "https://exa\tmple.com/"),
        ("", "https:\\\\example.com/"),
        ("", "https://"),
        ("", "example.com"),
        ("", ""),
    ] {
        assert!(
            plan(&tools, "fetch_url", json!({ "url": url })).is_err(),
            "{id} {url}"
        );
    }
    let planned = plan(
        &tools,
        "fetch_url",
        json!({ "url": "https://EXAMPLE.com./x" }),
    )
    .unwrap();
    assert_eq!(
        (planned.ask.tier, planned.ask.terms),
        (
            Tier::Web,
            ConsentTerms::Web {
                host: "example.com.".to_owned()
            }
        )
    );
}

#[test]
fn n21_a_name_is_resolved_once_and_the_connection_goes_to_what_was_checked() {
    let server = Server::new(vec![page("200 OK", "", "checked")]);
    let (address, asked) = (server.address, Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    // The second answer would be another one.
    let web = Web::of_test(
        move |_, _| match count.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(vec![address]),
            _ => Ok(vec![([127, 0, 0, 2], 1).into()]),
        },
        all_but_one,
    );
    let stage = Stage::new();
    let finished = done(
        &tools(&stage, web),
        "fetch_url",
        json!({ "url": "http://example.com/" }),
    )
    .unwrap();
    assert!(
        finished.output.ends_with("checked\n</page>\n"),
        "{}",
        finished.output
    );
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_name_with_one_closed_address_among_open_ones_is_refused_without_a_connection() {
    let server = Server::new(vec![page("200 OK", "", "reached")]);
    let closed: SocketAddr = ([127, 0, 0, 2], server.address.port()).into();
    for addresses in [
        vec![server.address, closed],
        vec![closed, server.address],
        vec![closed],
        vec![],
    ] {
        let web = Web::of_test(move |_, _| Ok(addresses.clone()), all_but_one);
        let stage = Stage::new();
        let finished = done(
            &tools(&stage, web),
            "fetch_url",
            json!({ "url": "http://example.com/" }),
        )
        .unwrap();
        assert_ne!(finished.end, CallEnd::Done, "{}", finished.output);
    }
    assert_eq!(server.heard(), [""; 0]);
}

#[test]
fn every_hop_is_checked_and_another_host_is_not_followed() {
    let to = |location: &str| {
        page(
            "307 Temporary Redirect",
            &format!("location: {location}\r\n"),
            "",
        )
    };
    // Within one host.
    let server = Server::new(vec![to("/b"), to("c"), page("200 OK", "", "there")]);
    let finished = fetched(&server, "http://example.com/a").unwrap();
    assert!(
        finished.output.ends_with("there\n</page>\n"),
        "{}",
        finished.output
    );
    let firsts: Vec<String> = server
        .heard()
        .iter()
        .map(|it| it.lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(
        firsts,
        ["GET /a HTTP/1.1", "GET /b HTTP/1.1", "GET /c HTTP/1.1"]
    );
    // Elsewhere: N23, N27.
    for location in [
        "http://evil.example.io/x",
        "//evil.example.io/x",
        "http://example.com:81/",
    ] {
        let server = Server::new(vec![to(location), page("200 OK", "", "reached")]);
        let finished = fetched(&server, "http://example.com/a").unwrap();
        assert!(
            finished.output.contains("leads to another host: http://"),
            "{}",
            finished.output
        );
        assert_eq!(server.heard().len(), 1);
    }
    // To what may not be asked at all.
    for location in [
        "http://127.0.0.2/x",
        "file:///etc/passwd",
        "http://a:b@example.com/",
        "http://localhost/",
    ] {
        let server = Server::new(vec![to(location), page("200 OK", "", "reached")]);
        let finished = fetched(&server, "http://example.com/a").unwrap();
        assert_eq!(finished.end, CallEnd::Denied, "{}", finished.output);
        assert_eq!(server.heard().len(), 1);
    }
    // Without end.
    let server = Server::new(vec![to("/again"); 20]);
    let finished = fetched(&server, "http://example.com/a").unwrap();
    assert_eq!((finished.end, server.heard().len()), (CallEnd::Failed, 6));
}

#[test]
fn a_page_that_is_too_long_is_cut_and_one_that_never_comes_is_left() {
    let long = page(
        "200 OK",
        "content-type: text/plain\r\n",
        &"word ".repeat(400_000),
    );
    let finished = fetched(&Server::new(vec![long]), "http://example.com/").unwrap();
    assert!(finished.is_cut && finished.output.ends_with("the rest was not fetched]\n"));

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stage = Stage::new();
    let tools = tools(&stage, leads_to(listener.local_addr().unwrap()));
    let planned = plan(&tools, "fetch_url", json!({ "url": "http://example.com/" })).unwrap();
    let stop = StopSignal::default();
    let raiser = stop.clone();
    thread::spawn(move || {
        let _connection = listener.accept().unwrap();
        raiser.raise();
    });
    assert_eq!(finish(&tools, planned, &stop).end, CallEnd::Stopped);
}

#[test]
fn secrets_neither_leave_in_an_address_nor_arrive_in_a_page() {
    let key = format!("ghp_{}", "CANARYcanaryCANARYcanary0123456789ab");
    let server = Server::new(vec![page(
        "200 OK",
        "content-type: text/plain\r\n",
        &format!("k {key}"),
    )]);
    let finished = fetched(&server, "http://example.com/").unwrap();
    assert!(!finished.output.contains(&key), "{}", finished.output);
    let refused = fetched(&server, &format!("http://example.com/?k={key}")).unwrap_err();
    assert!(refused.kind == RefusalKind::OutOfReach && !refused.text.contains(&key));
}

#[test]
fn a_search_asks_the_service_with_its_key_and_shows_what_it_found() {
    let found = json!({ "results": [
        { "title": "One", "url": "https://one.example", "content": "about one tvly-key-key-key-1" },
        { "title": "Two", "url": "https://two.example" },
        { "title": "Three", "url": "https://three.example" },
    ]});
    let answers = vec![
        page(
            "200 OK",
            "content-type: application/json\r\n",
            &found.to_string(),
        ),
        page("401 Unauthorized", "", "bad key tvly-key-key-key-1"),
        page("200 OK", "", "{}"),
    ];
    let server = Server::new(answers);
    let stage = Stage::new();
    let mut setting = stage.setting();
    assert!(plan(&stage.toolbox(), "web_search", json!({ "query": "x" })).is_err());
    setting.search = Some(SearchService {
        endpoint: format!("http://{}/search", server.address),
        key: "tvly-key-key-key-1".to_owned(),
    });
    let tools = Toolbox::open(setting).unwrap();
    let given = json!({ "query": "what is one", "results": 2 });
    let said = done(&tools, "web_search", given.clone()).unwrap().output;
    assert_eq!(
        said,
        "One\nhttps://one.example\nabout one [secret withheld]\n\nTwo\nhttps://two.example\n\n\n"
    );
    let heard = server.heard().remove(0);
    assert!(
        heard
            .to_lowercase()
            .contains("authorization: bearer tvly-key-key-key-1"),
        "{heard}"
    );
    assert!(
        heard.ends_with(r#"{"max_results":2,"query":"what is one"}"#),
        "{heard}"
    );
    for said in [
        "The search service said 401: bad key [secret withheld]",
        "missing field `results`",
    ] {
        let finished = done(&tools, "web_search", given.clone()).unwrap();
        assert!(
            finished.end == CallEnd::Failed && finished.output.contains(said),
            "{}",
            finished.output
        );
    }
}

#[test]
fn n29_a_server_whose_certificate_nobody_signed_hears_nothing_but_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let signed = rcgen::generate_simple_self_signed(vec!["example.com".to_owned()]).unwrap();
    let key =
        rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![signed.cert.der().clone()], key)
    .unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut heard = Vec::new();
        let mut tls = rustls::Stream::new(&mut connection, &mut stream);
        let _refused = std::io::Read::read_to_end(&mut tls, &mut heard);
        heard
    });
    let stage = Stage::new();
    let tools = tools(&stage, leads_to(address));
    let url = format!("https://example.com:{}/secret-path", address.port());
    let finished = done(&tools, "fetch_url", json!({ "url": url })).unwrap();
    assert_eq!(finished.end, CallEnd::Failed, "{}", finished.output);
    assert!(
        finished.output.to_lowercase().contains("certificate"),
        "{}",
        finished.output
    );
    assert_eq!(server.join().unwrap(), b"");
}
