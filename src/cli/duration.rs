//! Durations as people type them: `12h`, `30d`, `2w`.

const SECOND_MS: i64 = 1000;
const UNITS: [(char, i64); 5] = [
    ('s', SECOND_MS),
    ('m', 60 * SECOND_MS),
    ('h', 3600 * SECOND_MS),
    ('d', 86_400 * SECOND_MS),
    ('w', 7 * 86_400 * SECOND_MS),
];

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duration {
    /// Its length.
    pub(crate) ms: i64,
}

impl std::str::FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            "a duration is a whole number and a unit: s, m, h, d or w, such as 30d or 12h"
                .to_owned()
        };
        let unit = text.chars().next_back().ok_or_else(wanted)?;
        let (_, unit_ms) = UNITS
            .into_iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(wanted)?;
        let digits = &text[..text.len() - unit.len_utf8()];
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wanted());
        }
        let number: i64 = digits.parse().map_err(|_| wanted())?;
        let ms = number.checked_mul(unit_ms).ok_or_else(wanted)?;
        Ok(Self { ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        for (text, ms) in [
            ("0s", 0),
            ("90m", 5_400_000),
            ("12h", 43_200_000),
            ("30d", 2_592_000_000),
            ("2w", 1_209_600_000),
        ] {
            assert_eq!(text.parse(), Ok(Duration { ms }), "{text}");
        }
        for text in [
            "",
            "d",
            "30",
            "-1d",
            "+1d",
            "1.5h",
            "30 d",
            "30y",
            "9223372036854775807w",
        ] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }
}
