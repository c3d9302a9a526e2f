//! The text of a page.

/// Tags whose contents are dropped.
const UNREAD: [&str; 6] = ["script", "style", "noscript", "template", "svg", "head"];

/// Tags that begin a line.
const LINES: [&str; 20] = [
    "p",
    "br",
    "div",
    "li",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "table",
    "section",
    "article",
    "header",
    "footer",
    "pre",
    "blockquote",
];

/// The text of a response; nothing if it is not text.
pub(super) fn text(kind: &str, body: &[u8], is_cut: bool) -> Option<String> {
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let is_text = kind.is_empty()
        || kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"]
            .iter()
            .any(|it| kind.contains(it));
    if !is_text || body.contains(&0) {
        return None;
    }
    let mut text = String::from_utf8_lossy(body).into_owned();
    if is_cut {
        // A word that was cut could be a part of a secret that is not recognised.
        let end = text.rfind(char::is_whitespace).unwrap_or(0);
        text.truncate(end);
    }
    if kind == "text/html" || kind.contains("xhtml") {
        return Some(readable(&text));
    }
    Some(text)
}

/// A page without its tags.
fn readable(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        push(&mut out, rest.get(..at).unwrap_or_default());
        let tag = rest.get(at..).unwrap_or_default();
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        let Some((inside, after)) = tag.get(1..).and_then(|it| it.split_once('>')) else {
            return finish(out);
        };
        let name = inside
            .trim_start_matches('/')
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        let opens = !inside.starts_with('/') && !inside.ends_with('/');
        rest = if opens && UNREAD.contains(&name.as_str()) {
            behind(after, &name)
        } else {
            after
        };
        if LINES.contains(&name.as_str()) && !out.ends_with('\n') {
            out.push('\n');
        }
    }
    push(&mut out, rest);
    finish(out)
}

/// What follows the end of a tag whose insides are passed over.
fn behind<'a>(html: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    let at = html
        .as_bytes()
        .windows(end.len())
        .position(|window| window.eq_ignore_ascii_case(end.as_bytes()));
    let rest = at.and_then(|at| html.get(at..)).unwrap_or("");
    rest.split_once('>').map_or("", |(_, rest)| rest)
}

fn push(out: &mut String, text: &str) {
    for (number, word) in text.split_whitespace().enumerate() {
        let is_apart = number > 0 || text.starts_with(char::is_whitespace);
        if is_apart && !out.is_empty() && !out.ends_with(char::is_whitespace) {
            out.push(' ');
        }
        out.push_str(&decoded(word));
    }
    if text.ends_with(char::is_whitespace) && !out.is_empty() && !out.ends_with(char::is_whitespace)
    {
        out.push(' ');
    }
}

fn decoded(word: &str) -> String {
    if !word.contains('&') {
        return word.to_owned();
    }
    // The ampersand comes last, so that nothing is decoded twice.
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(word.to_owned(), |word, (from, to)| word.replace(from, to))
}

fn finish(out: String) -> String {
    let lines = out.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_without_what_nobody_reads() {
        let page = "<!DOCTYPE html><html><head><title>T</title></head><body><!-- <p>no --><h1>One  two</h1>\
                    <script>if (a < b) { x('</p>') }</script><p>a <b>b</b>&amp;lt; c<br/>d</p><STYLE>x</sTyLe>e</body>";
        assert_eq!(
            text("text/html; charset=utf-8", page.as_bytes(), false).unwrap(),
            "One two\na b&lt; c\nd\ne\n"
        );
        assert_eq!(text("image/png", b"x", false), None);
        assert_eq!(text("text/plain", b"a\0", false), None);
        assert_eq!(text("text/plain", b"one tw", true).as_deref(), Some("one"));
        for broken in [
            "<",
            "<p",
            "<script>",
            "<!--",
            "a<b",
            "</",
            "<script>é</scrip",
            "&",
        ] {
            let _any = readable(broken);
        }
    }
}
