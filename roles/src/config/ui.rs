//! How the terminal looks to its operator.

use a_society_yaml::{ParseBudget, YamlTree};

use crate::reading::{DocumentSink, TextFault, read};

use super::parse::{is_blank, top};

const UI: &str = "ui";
const UI_KEYS: &[&str] = &["plain"];

/// How the terminal looks to its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UiConfig {
    /// Whether everything is printed as labelled lines, as a screen reader needs it.
    pub plain: bool,
}

pub(super) fn read_ui(text: &str) -> Result<UiConfig, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(UiConfig::default());
    }
    let found = read(text, ParseBudget::BLOCK, |sink, tree| {
        top(tree, UI).and_then(|tree| sink.ui(tree))
    })?;
    Ok(found.unwrap_or_default())
}

impl DocumentSink<'_> {
    fn ui(&mut self, tree: &YamlTree) -> Option<UiConfig> {
        let fields = self.fields(tree, "`ui`", UI_KEYS)?;
        let plain = match fields.get("plain") {
            Some(tree) => self.boolean(tree, "`plain`")?,
            None => false,
        };
        Some(UiConfig { plain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_is_plain_where_that_is_said() {
        let plain = |text: &str| read_ui(text).map(|ui| ui.plain);
        assert_eq!(plain(""), Ok(false));
        assert_eq!(plain("model: m\n"), Ok(false));
        assert_eq!(plain("ui: { plain: true }\n"), Ok(true));
        for (text, says) in [
            ("ui: { plain: perhaps }\n", "`true` or `false`"),
            ("ui: { plane: true }\n", "plane"),
        ] {
            let faults = read_ui(text).unwrap_err();
            assert!(faults[0].to_string().contains(says), "{faults:?}");
        }
    }
}
