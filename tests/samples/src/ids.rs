//! Names and places of the sample facts.

use std::fmt::Debug;
use std::str::FromStr;

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::id::Seq;
use a_society_facts::line::Recorded;

/// A name that is written in the program.
///
/// # Panics
/// When the text is no such name, which a test of the program would show.
#[must_use]
pub fn id<T>(text: &str) -> T
where
    T: FromStr,
    T::Err: Debug,
{
    text.parse().expect("a name in the program is a name")
}

/// Facts with their places, as a journal would hold them: one every quarter of a second, from
/// 27 May 2026 on.
pub fn recorded(facts: impl IntoIterator<Item = Fact>) -> impl Iterator<Item = Recorded> {
    const BEGIN_MS: i64 = 1_779_892_200_000;
    (1_u64..).zip(facts).map(|(seq, fact): (Seq, Fact)| {
        let passed_ms = i64::try_from(seq).unwrap_or(0).saturating_mul(250);
        Recorded::new(seq, At::from_ms(BEGIN_MS.saturating_add(passed_ms)), fact)
    })
}
