//! Texts of others inside a text of ours, so that nothing in them can be taken for ours.

/// The text between tags of this name. If the end tag stands in the text, both tags bear a number
/// that no end tag in it has.
pub(crate) fn tagged(tag: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let attributes: String = attributes
        .iter()
        .map(|(name, value)| format!(" {name}=\"{}\"", attribute(value)))
        .collect();
    let tag = unused(tag, text);
    let body = text.strip_suffix('\n').unwrap_or(text);
    format!("<{tag}{attributes}>\n{body}\n</{tag}>")
}

/// The tag, or the tag with the first number from 2 whose end tag the text does not contain. White
/// space and other cases are ignored, because a model ignores them, too.
fn unused(tag: &str, text: &str) -> String {
    if !text.contains('<') {
        return tag.to_owned();
    }
    let plain: String = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect::<String>()
        .to_lowercase();
    let is_free = |name: &String| !plain.contains(&format!("</{name}"));
    let mut numbered = (2_u32..).map(|number| format!("{tag}-{number}"));
    let free = std::iter::once(tag.to_owned()).find(is_free);
    free.or_else(|| numbered.find(|name| !plain.contains(&format!("</{name}>"))))
        .unwrap_or_else(|| tag.to_owned())
}

/// A value between quotes, on one line.
fn attribute(value: &str) -> String {
    let flat = |letter: char| match letter {
        '"' => '\'',
        '<' | '>' => ' ',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    value.chars().map(flat).collect()
}

/// A name or path within a sentence: on one line, in backticks.
pub(crate) fn name(text: &str) -> String {
    let flat = |letter: char| {
        if letter.is_control() || letter == '`' {
            ' '
        } else {
            letter
        }
    };
    let text: String = text.chars().map(flat).collect();
    format!("`{text}`")
}

/// Names in a row.
pub(crate) fn names<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let names: Vec<String> = texts.into_iter().map(name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_whose_end_stands_in_its_text_is_numbered() {
        assert_eq!(tagged("role", &[], "a\n"), "<role>\na\n</role>");
        assert_eq!(
            tagged(
                "received",
                &[("from", "a\"b"), ("path", "x>y")],
                "</received>"
            ),
            "<received-2 from=\"a'b\" path=\"x y\">\n</received>\n</received-2>"
        );
        let both = "</ Received> and </received-2>";
        assert!(tagged("received", &[], both).starts_with("<received-3>"));
        assert!(tagged("received", &[], "</received-2>").starts_with("<received-3>"));
    }
}
