//! Images that roles read, as the servers of their models get them: the bytes of the file, once in the
//! journal's blobs, and again in every request that repeats the conversation.

use std::time::Duration;

use a_society_facts::Hash;
use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::models::FLOW;
use super::place::{Place, RUN, wait_until};
use super::requested::holds_what_left;

/// What the model reads, one after the other.
type Reads = &'static [&'static str];

fn results(body: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let items = body["input"].as_array().or(body["messages"].as_array());
    for item in items.into_iter().flatten() {
        if item["type"] == "function_call_output" {
            found.push(item["output"].clone());
        }
        if item["role"] == "tool" {
            found.push(item["content"].clone());
        }
        let blocks = item["content"].as_array().into_iter().flatten();
        let blocks = blocks.filter(|block| block["type"] == "tool_result");
        found.extend(blocks.map(|block| block["content"].clone()));
    }
    found
}

/// A model that reads these files and closes.
fn model(reads: Reads) -> Server {
    paced(reads, |_| Duration::from_millis(1))
}

/// The same, with so much time before each part of an answer.
fn paced(reads: Reads, every: fn(usize) -> Duration) -> Server {
    Server::by(move |seen, number| {
        let shown = results(&seen.body).len();
        let piece = reads.get(shown).map_or_else(
            || Piece::text("Done.\n\n```handoff\ntype: forward-pass-closed\n```\n"),
            |path| Piece::Call {
                id: format!("call_{shown}"),
                name: "read_file".to_owned(),
                arguments: json!({ "path": path }).to_string(),
            },
        );
        let used = Used {
            fresh: 100,
            ..Used::default()
        };
        Reply::Paced(vec![piece], Ending::Natural, used, every(number))
    })
}

fn place(server: &Server, wire: &str, more: &str) -> Place {
    let place = Place::new(FLOW, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    let config = format!(
        "providers:\n  p: {{ wire: {wire}, base-url: '{}' }}\n\
         models:\n  m: {{ provider: p, id: m, window: 100000{more} }}\nmodel: m\n",
        server.url()
    );
    place.write("config.yaml", &config);
    place
}

/// A picture of 640 x 480 whose file has so many bytes.
fn png(size: usize) -> Vec<u8> {
    let mut bytes = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
        &[0, 0, 2, 128, 0, 0, 1, 224, 8, 2, 0, 0, 0],
    ]
    .concat();
    let rest = bytes.len()..size;
    bytes.extend(rest.map(|at| u8::try_from(at * at % 251).unwrap()));
    bytes
}

fn put(place: &Place, name: &str, bytes: &[u8]) {
    std::fs::write(place.workspace.path().join("demo").join(name), bytes).unwrap();
}

/// The text of a result and the bytes of its image, as a wire says them.
fn pictured(result: &Value) -> (String, String, Vec<u8>) {
    let text = result[0]["text"].as_str().unwrap().to_owned();
    let image = &result[1];
    let (kind, data) = match image["image_url"].as_str() {
        Some(address) => {
            let rest = address.strip_prefix("data:").unwrap();
            let (kind, data) = rest.split_once(";base64,").unwrap();
            (kind.to_owned(), data.to_owned())
        }
        None => {
            let text = |name: &str| image["source"][name].as_str().unwrap().to_owned();
            (text("media_type"), text("data"))
        }
    };
    (text, kind, STANDARD.decode(data).unwrap())
}

#[test]
fn an_image_reaches_the_model_and_every_request_holds_the_same_bytes_over_a_kill_and_in_a_fork() {
    for wire in ["anthropic", "openai-responses"] {
        // The second answer takes long enough to be killed in.
        let slow = |number| Duration::from_millis(if number == 2 { 2_000 } else { 1 });
        let server = paced(&["logo.png", "photo.jpg", "logo.png"], slow);
        let place = place(&server, wire, ", images: true");
        let logo = png(200_000);
        let photo = [
            &[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 8, 8, 0][..],
            &[20, 0, 10, 3, 0],
        ]
        .concat();
        put(&place, "logo.png", &logo);
        put(&place, "photo.jpg", &photo);
        let mut child = place.start(&RUN);
        wait_until("the image was sent", || server.seen().len() == 2);
        child.kill().unwrap();
        child.wait().unwrap();
        // The file in the folder is no longer the one that the role saw.
        put(&place, "logo.png", b"something else");
        wait_until("the flow can be opened", || place.flow().is_some());
        let flow = place.flow().unwrap();
        put(&place, "logo.png", &logo);
        wait_until("the flow can be driven", || {
            let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
            assert!(matches!(said.code, 0 | 5), "{said:?}");
            said.code == 0
        });
        assert_eq!(server.refused(), [""; 0]);
        let seen = server.seen();
        assert_eq!(seen.len(), 5, "{wire}");
        assert_eq!(
            seen[1].text, seen[2].text,
            "{wire}: after the kill the same request leaves"
        );
        let last = results(&seen[4].body);
        let told = "logo.png is an image, 640 x 480, 200,000 bytes.";
        let kind = "image/png".to_owned();
        assert_eq!(pictured(&last[0]), (told.to_owned(), kind, logo.clone()));
        let (text, kind, bytes) = pictured(&last[1]);
        assert_eq!(text, "photo.jpg is an image, 10 x 20, 19 bytes.");
        assert_eq!((kind.as_str(), bytes), ("image/jpeg", photo));
        assert_eq!(pictured(&last[2]).2, logo);

        // It is kept once, as the file that it was, and named by all else.
        let blob = Hash::of(&logo).to_string();
        let blobs = std::fs::read_dir(place.folder(&flow).join("blobs")).unwrap();
        let sizes = blobs.map(|entry| entry.unwrap().metadata().unwrap().len());
        assert_eq!(sizes.filter(|size| *size == 200_000).count(), 1);
        let transcript = place.run(&["session", "export", &flow, "owner"]).out;
        assert!(transcript.len() < 100_000, "{}", transcript.len());
        let transcript: Value = serde_json::from_str(&transcript).unwrap();
        let history = transcript["transcriptHistory"].as_array().unwrap();
        let images = history
            .iter()
            .filter(|message| message["image"].is_object());
        let images: Vec<&Value> = images.map(|message| &message["image"]).collect();
        assert_eq!(images.len(), 3);
        assert_eq!(
            *images[0],
            json!({ "blob": blob, "bytes": 200_000, "type": "image/png" })
        );

        // Every request comes back from the journal as it left, also in a fork, and with nothing configured.
        place.write("config.yaml", "providers: {}\n");
        let left: Vec<String> = seen.iter().map(|it| it.text.clone()).collect();
        holds_what_left(&place, &flow, &left);
        let forked = place.run(&["fork", &flow, "--name", "Again", "--json"]);
        assert_eq!(forked.code, 0, "{forked:?}");
        holds_what_left(&place, forked.json()["flow"].as_str().unwrap(), &left);
    }
}

#[test]
fn an_image_that_cannot_be_sent_is_told_in_words_and_the_session_goes_on() {
    let key = format!("sk-ant-{}", "api03-CANARYCANARYCANARYCANARY");
    for (wire, more, expected) in [
        (
            "anthropic",
            ", images: true",
            [
                "logo.png is an image, 640 x 480, 4,000,000 bytes; images of up to 3,932,160 bytes \
                 are sent: make a smaller copy and read that.",
                "wide.png is an image, 9000 x 480, 100 bytes; images of up to 8,000 pixels a side \
                 are sent: make a smaller copy and read that.",
                "secret.png is an image, 640 x 480, 100 bytes; it is not sent, because there is a \
                 secret in it.",
            ],
        ),
        (
            "anthropic",
            "",
            [
                "logo.png is an image, 640 x 480, 4,000,000 bytes; this model gets no images.",
                "wide.png is an image, 9000 x 480, 100 bytes; this model gets no images.",
                "secret.png is an image, 640 x 480, 100 bytes; this model gets no images.",
            ],
        ),
        (
            "openai-chat",
            "",
            [
                "Error: logo.png is an image, 640 x 480, 4,000,000 bytes; this model gets no images.",
                "Error: wide.png is an image, 9000 x 480, 100 bytes; this model gets no images.",
                "Error: secret.png is an image, 640 x 480, 100 bytes; this model gets no images.",
            ],
        ),
    ] {
        let server = model(&["logo.png", "wide.png", "secret.png"]);
        let place = place(&server, wire, more);
        put(&place, "logo.png", &png(4_000_000));
        let mut wide = png(100);
        wide[16..20].copy_from_slice(&9_000_u32.to_be_bytes());
        put(&place, "wide.png", &wide);
        let mut secret = png(100);
        secret[40..40 + key.len()].copy_from_slice(key.as_bytes());
        put(&place, "secret.png", &secret);
        let said = place.run(&RUN);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(server.refused(), [""; 0]);
        let seen = server.seen();
        let told = results(&seen.last().unwrap().body);
        assert_eq!(told, expected.map(Value::from), "{wire}{more}");
    }
}

#[test]
fn a_session_holds_as_many_images_as_one_request_may_have_and_a_large_one_costs_what_an_image_does()
{
    let server = model(&["0.png", "1.png", "2.png", "3.png", "4.png", "5.png"]);
    let place = place(
        &server,
        "anthropic",
        ", images: true, price: { input: 1, output: 1 }",
    );
    for number in 0..6 {
        put(&place, &format!("{number}.png"), &png(3_932_160));
    }
    // A budget that ten megabytes taken for tokens would not leave.
    let said = place.run(&[&RUN[..], &["--budget", "1000000"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(server.refused(), [""; 0]);
    let seen = server.seen();
    let last = seen.last().unwrap();
    assert!(last.text.len() < 32_000_000, "{}", last.text.len());
    let told = results(&last.body);
    assert_eq!(told.iter().filter(|it| it.is_array()).count(), 5);
    let refused = "5.png is an image, 640 x 480, 3,932,160 bytes; the session holds 5 images \
                   already, 19,660,800 bytes, and no more fit until it is compacted.";
    assert_eq!(told[5], refused);
}

#[test]
fn a_model_that_gets_no_images_goes_on_with_a_session_that_has_some() {
    let server = model(&["logo.png"]);
    let place = place(&server, "anthropic", ", images: true");
    put(&place, "logo.png", &png(1_000));
    let mut child = place.start(&RUN);
    wait_until("the image was sent", || server.seen().len() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write("config.yaml", &config.replace(", images: true", ""));
    wait_until("the flow can be opened", || place.flow().is_some());
    let flow = place.flow().unwrap();
    wait_until("the flow can be driven", || {
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert!(matches!(said.code, 0 | 5), "{said:?}");
        said.code == 0
    });
    let seen = server.seen();
    assert_eq!(
        results(&seen.last().unwrap().body),
        ["logo.png is an image, 640 x 480, 1,000 bytes."]
    );
    let left: Vec<String> = seen.iter().map(|it| it.text.clone()).collect();
    holds_what_left(&place, &flow, &left);
}

#[test]
fn images_are_configured_where_the_wire_takes_them_and_listed() {
    let server = model(&[]);
    let place = place(&server, "openai-chat", ", images: true");
    let said = place.run(&["models", "ls"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.err
            .contains("`images` cannot be true on the wire `openai-chat`"),
        "{said:?}"
    );
    place.write("config.yaml", "");
    let add = ["models", "add", "m", "--wire", "anthropic", "--id", "m"];
    let more = ["--window", "100000", "--images", "--key-env", "PATH"];
    let said = place.run(&[&add[..], &more].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let said = place.run(&["models", "ls", "--json"]);
    assert_eq!(said.json()["models"][0]["images"], true, "{said:?}");
    let said = place.run(&["models", "ls"]);
    assert!(said.out.contains("IMAGES"), "{said:?}");
}
