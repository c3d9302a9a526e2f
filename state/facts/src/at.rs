//! A moment, as the journal writes it: UTC, milliseconds, one fixed shape.
//!
//! Time is data here. This crate never reads a clock, and no decision rests on time;
//! the shape is fixed (`2026-11-21T07:29:29.123Z`) so that lines compare and parse quickly.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// Milliseconds since 1970, between the years 1 and 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
pub struct At(i64);

const DAY_MS: i64 = 86_400_000;
const FIRST_MS: i64 = -62_135_596_800_000;
const LAST_MS: i64 = 253_402_300_799_999;

/// A text that is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a moment looks like 2026-11-21T07:29:29.123Z")]
pub struct NotAMoment;

impl At {
    /// The moment so many milliseconds after 1970 began, held within the years 1 to 9999.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Self {
        if ms < FIRST_MS {
            Self(FIRST_MS)
        } else if ms > LAST_MS {
            Self(LAST_MS)
        } else {
            Self(ms)
        }
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// The moment so many milliseconds later.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self::from_ms(self.0.saturating_add_unsigned(ms))
    }

    /// The 24 bytes of its text.
    #[must_use]
    pub fn text(self) -> [u8; 24] {
        let (year, month, day) = civil(self.0.div_euclid(DAY_MS));
        let in_day = self.0.rem_euclid(DAY_MS);
        let mut out = *b"0000-00-00T00:00:00.000Z";
        digits(&mut out[0..4], year);
        digits(&mut out[5..7], month);
        digits(&mut out[8..10], day);
        digits(&mut out[11..13], in_day / 3_600_000);
        digits(&mut out[14..16], in_day / 60_000 % 60);
        digits(&mut out[17..19], in_day / 1000 % 60);
        digits(&mut out[20..23], in_day % 1000);
        out
    }
}

fn digits(out: &mut [u8], mut value: i64) {
    for slot in out.iter_mut().rev() {
        // The remainder of ten is one digit, so the conversion cannot fail.
        *slot = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
}

/// Year, month and day of a day number, by counting eras of 400 years from 1 March of year 0.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The day number of a date; the inverse of [`civil`].
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let shifted_year = year - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn number(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0_i64, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

fn parse(bytes: &[u8]) -> Option<At> {
    let marks = [
        (4, b'-'),
        (7, b'-'),
        (10, b'T'),
        (13, b':'),
        (16, b':'),
        (19, b'.'),
        (23, b'Z'),
    ];
    if bytes.len() != 24 || marks.iter().any(|(place, mark)| bytes[*place] != *mark) {
        return None;
    }
    let (year, month, day) = (
        number(&bytes[0..4])?,
        number(&bytes[5..7])?,
        number(&bytes[8..10])?,
    );
    let (hour, minute) = (number(&bytes[11..13])?, number(&bytes[14..16])?);
    let (second, ms) = (number(&bytes[17..19])?, number(&bytes[20..23])?);
    if hour > 23 || minute > 59 || second > 59 || year < 1 {
        return None;
    }
    let days = day_number(year, month, day);
    // A day that does not exist comes back as another one.
    if civil(days) != (year, month, day) {
        return None;
    }
    Some(At(days * DAY_MS
        + hour * 3_600_000
        + minute * 60_000
        + second * 1000
        + ms))
}

impl FromStr for At {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        parse(text.as_bytes()).ok_or(NotAMoment)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.text()).unwrap_or(""))
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.text()).unwrap_or(""))
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AtVisitor;
        impl Visitor<'_> for AtVisitor {
            type Value = At;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a moment such as 2026-11-21T07:29:29.123Z")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<At, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(AtVisitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_moments_have_their_known_texts() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_246_169_123, "2026-11-21T07:29:29.123Z"),
            (LAST_MS, "9999-12-31T23:59:59.999Z"),
            (FIRST_MS, "0001-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(At::from_ms(ms).to_string(), text);
            assert_eq!(text.parse::<At>(), Ok(At::from_ms(ms)));
        }
    }

    #[test]
    fn texts_that_are_nearly_moments_are_refused() {
        for text in [
            "2026-11-21T07:29:29Z",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-11-21T24:00:00.000Z",
            "2026-11-21T07:29:60.000Z",
            "2026-11-21 07:29:29.123Z",
            "",
        ] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_reads_back_as_itself(ms in FIRST_MS..=LAST_MS) {
            let at = At::from_ms(ms);
            prop_assert_eq!(at.to_string().parse::<At>(), Ok(at));
        }
    }
}
