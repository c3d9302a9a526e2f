//! Numbers as people and models read them.

use std::fmt::Display;

/// A whole number that is not negative, with a comma between each three digits: `1,204`.
pub(crate) fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_in_threes_from_the_right() {
        let shown = [0_u64, 7, 999, 1_000, 2_051, 15_700, 123_456, 1_048_576].map(grouped);
        let expected = [
            "0",
            "7",
            "999",
            "1,000",
            "2,051",
            "15,700",
            "123,456",
            "1,048,576",
        ];
        assert_eq!(shown, expected);
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }
}
