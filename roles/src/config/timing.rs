//! When a schedule is due: a cron line in a time zone, a period, or one moment.
//!
//! Due times depend on the schedule alone, and not on when a server was started, so that two servers, or one before
//! and one after a crash, mean the same run by the same due time.

use std::fmt;
use std::str::FromStr as _;

use a_society_facts::At;
use chrono::{DateTime, LocalResult, NaiveDateTime, TimeZone as _};
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

/// How a period begins in the place of a cron line.
const EVERY: &str = "@every";

/// Where a cron line is tried out: one that is not due within eight centuries from here never is.
const TRIED_FROM_MS: i64 = 946_684_800_000;

/// The longest period; a longer one is a slip of the keyboard.
const PERIOD_S_MAX: i64 = 366 * 24 * 3600;

/// When a schedule is due. All due times are whole seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    when: When,
    /// As it was written, with its time zone: two timings with the same text have the same due times.
    text: String,
}

#[derive(Debug, Clone, PartialEq)]
enum When {
    Cron(Box<Cron>, Tz),
    /// So many seconds, counted from 1970.
    Every(i64),
    Once(At),
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Timing {
    /// A cron line of five fields, a name such as `@daily`, or a period such as `@every 90m`.
    pub(super) fn of_line(line: &str, zone: Option<Tz>) -> Result<Self, String> {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(period) = line.strip_prefix(EVERY) {
            if zone.is_some() {
                return Err("a period has no `time-zone`: it is counted from 1970".to_owned());
            }
            return Ok(Self {
                when: When::Every(seconds_of(period.trim())?),
                text: line,
            });
        }
        let parser = CronParser::builder();
        let parser = parser.seconds(Seconds::Disallowed).year(Year::Disallowed);
        let cron = parser.build().parse(&line);
        let cron =
            cron.map_err(|error| format!("{line:?} cannot be read as a cron line: {error}"))?;
        let zone = zone.unwrap_or(Tz::UTC);
        let timing = Self {
            when: When::Cron(Box::new(cron), zone),
            text: format!("{line} {zone}"),
        };
        let is_ever_due = timing.next_after(At::from_ms(TRIED_FROM_MS)).is_some();
        is_ever_due
            .then_some(timing)
            .ok_or_else(|| format!("{line:?} is never due"))
    }

    /// A moment such as `2026-12-01T09:00` in a time zone, or one that ends with `Z`.
    pub(super) fn of_moment(written: &str, zone: Option<Tz>) -> Result<Self, String> {
        const WANTED: &str = "a moment looks like 2026-12-01T09:00, in the `time-zone`";
        let (local, zone) = match (written.strip_suffix('Z'), zone) {
            (Some(local), None | Some(Tz::UTC)) => (local, Tz::UTC),
            (Some(_), Some(_)) => {
                return Err("a moment that ends with Z has no other `time-zone`".to_owned());
            }
            (None, zone) => (written, zone.unwrap_or(Tz::UTC)),
        };
        let seconds = if local.matches(':').count() == 1 {
            ":00"
        } else {
            ""
        };
        let local = NaiveDateTime::from_str(&format!("{local}{seconds}"));
        let local = local.map_err(|_| WANTED.to_owned())?;
        let at = match zone.from_local_datetime(&local) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => at,
            LocalResult::None => {
                return Err(format!("the clocks of {zone} skip {written}"));
            }
        };
        Ok(Self {
            when: When::Once(At::from_ms(at.timestamp() * 1_000)),
            text: format!("at {written} {zone}"),
        })
    }

    /// Whether it is due at one moment only.
    #[must_use]
    pub const fn is_once(&self) -> bool {
        matches!(self.when, When::Once(_))
    }

    /// The first due time after a moment.
    #[must_use]
    pub fn next_after(&self, at: At) -> Option<At> {
        match &self.when {
            When::Once(due) => Some(*due).filter(|due| *due > at),
            When::Every(period) => {
                let periods = at.ms().div_euclid(1_000).div_euclid(*period);
                Some(of_seconds(
                    periods.saturating_add(1).saturating_mul(*period),
                ))
            }
            When::Cron(cron, zone) => {
                let found = cron.find_next_occurrence(&local(at, *zone)?, false);
                found.ok().map(|found| of_seconds(found.timestamp()))
            }
        }
    }

    /// The last due time at a moment or before it.
    #[must_use]
    pub fn last_until(&self, at: At) -> Option<At> {
        match &self.when {
            When::Once(due) => Some(*due).filter(|due| *due <= at),
            When::Every(period) => {
                let periods = at.ms().div_euclid(1_000).div_euclid(*period);
                Some(of_seconds(periods.saturating_mul(*period)))
            }
            When::Cron(cron, zone) => {
                let found = cron.find_previous_occurrence(&local(at, *zone)?, true);
                found.ok().map(|found| of_seconds(found.timestamp()))
            }
        }
    }
}

fn of_seconds(seconds: i64) -> At {
    At::from_ms(seconds.saturating_mul(1_000))
}

/// The moment on the clocks of a zone, without what is less than a second.
fn local(at: At, zone: Tz) -> Option<DateTime<Tz>> {
    let utc = DateTime::from_timestamp(at.ms().div_euclid(1_000), 0)?;
    Some(utc.with_timezone(&zone))
}

/// A zone by its name, such as `Europe/Berlin`.
pub(super) fn zone_named(name: &str) -> Result<Tz, String> {
    Tz::from_str(name)
        .map_err(|_| format!("there is no time zone {name:?}; they are called as in Europe/Berlin"))
}

/// The seconds of a period such as `90s`, `1h30m` or `7d`.
fn seconds_of(period: &str) -> Result<i64, String> {
    let wanted =
        || format!("a period looks like {EVERY} 90s, 1h30m or 7d, and has at most 366 days");
    let (mut whole, mut number) = (0_i64, String::new());
    for letter in period.chars() {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let unit = match letter {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return Err(wanted()),
        };
        let count: i64 = number.parse().map_err(|_| wanted())?;
        whole = whole.saturating_add(count.saturating_mul(unit));
        number.clear();
    }
    let fits = number.is_empty() && (1..=PERIOD_S_MAX).contains(&whole);
    fits.then_some(whole).ok_or_else(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> At {
        text.parse().unwrap()
    }

    fn line(line: &str, zone: &str) -> Timing {
        Timing::of_line(line, Some(zone_named(zone).unwrap())).unwrap()
    }

    /// The due times after a moment.
    fn after(timing: &Timing, from: &str, count: usize) -> Vec<String> {
        let mut from = at(from);
        let mut found = Vec::new();
        while found.len() < count {
            let Some(next) = timing.next_after(from) else {
                break;
            };
            found.push(next.to_string());
            from = next;
        }
        found
    }

    #[test]
    fn a_cron_line_is_due_by_the_clocks_of_its_zone() {
        let nightly = line("30 2 * * *", "Europe/Berlin");
        assert_eq!(
            after(&nightly, "2026-01-10T00:00:00.000Z", 2),
            ["2026-01-10T01:30:00.000Z", "2026-01-11T01:30:00.000Z"]
        );
        assert_eq!(
            after(&nightly, "2026-07-10T00:00:00.000Z", 1),
            ["2026-07-10T00:30:00.000Z"]
        );
        let workdays = line("0 9 * * MON-FRI", "America/New_York");
        // Friday, and then Monday.
        assert_eq!(
            after(&workdays, "2026-05-15T00:00:00.000Z", 2),
            ["2026-05-15T13:00:00.000Z", "2026-05-18T13:00:00.000Z"]
        );
    }

    #[test]
    fn an_hour_that_the_clocks_skip_is_made_up_for_once_right_after_it() {
        // On 29 March 2026 the clocks of Berlin go from 2:00 to 3:00, which is 1:00 UTC.
        let nightly = line("30 2 * * *", "Europe/Berlin");
        assert_eq!(
            after(&nightly, "2026-03-28T12:00:00.000Z", 2),
            ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]
        );
    }

    #[test]
    fn an_hour_that_the_clocks_repeat_has_one_due_time_of_a_fixed_hour_and_all_of_a_period() {
        // On 25 October 2026 the clocks of Berlin go from 3:00 to 2:00, which is 1:00 UTC.
        let nightly = line("30 2 * * *", "Europe/Berlin");
        assert_eq!(
            after(&nightly, "2026-10-24T12:00:00.000Z", 2),
            ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]
        );
        let half_hours = line("*/30 * * * *", "Europe/Berlin");
        assert_eq!(
            after(&half_hours, "2026-10-24T23:59:00.000Z", 5),
            [
                "2026-10-25T00:00:00.000Z",
                "2026-10-25T00:30:00.000Z",
                "2026-10-25T01:00:00.000Z",
                "2026-10-25T01:30:00.000Z",
                "2026-10-25T02:00:00.000Z"
            ]
        );
    }

    #[test]
    fn a_day_that_a_month_does_not_have_is_left_out() {
        let last = line("0 0 31 * *", "UTC");
        assert_eq!(
            after(&last, "2026-01-31T00:00:00.000Z", 3),
            [
                "2026-03-31T00:00:00.000Z",
                "2026-05-31T00:00:00.000Z",
                "2026-07-31T00:00:00.000Z"
            ]
        );
        let leap = line("0 0 29 2 *", "UTC");
        assert_eq!(
            after(&leap, "2026-01-01T00:00:00.000Z", 1),
            ["2028-02-29T00:00:00.000Z"]
        );
    }

    #[test]
    fn a_period_is_counted_from_1970_and_a_moment_comes_once() {
        let period = Timing::of_line("@every  1h30m", None).unwrap();
        assert_eq!(
            after(&period, "2026-05-27T00:00:00.000Z", 2),
            ["2026-05-27T01:30:00.000Z", "2026-05-27T03:00:00.000Z"]
        );
        assert_eq!(period.to_string(), "@every 1h30m");
        let zone = zone_named("Europe/Berlin").unwrap();
        let once = Timing::of_moment("2026-12-01T09:00", Some(zone)).unwrap();
        assert_eq!(
            after(&once, "2026-01-01T00:00:00.000Z", 2),
            ["2026-12-01T08:00:00.000Z"]
        );
        let utc = Timing::of_moment("2026-12-01T09:00:30Z", None).unwrap();
        assert_eq!(
            utc.last_until(at("2026-12-02T00:00:00.000Z")),
            Some(at("2026-12-01T09:00:30.000Z"))
        );
    }

    #[test]
    fn what_is_no_timing_or_is_never_due_is_refused() {
        let berlin = zone_named("Europe/Berlin").unwrap();
        for (written, zone) in [
            ("0 0 30 2 *", None),
            ("* * * *", None),
            ("0 * * * * *", None),
            ("61 * * * *", None),
            ("@every", None),
            ("@every 0s", None),
            ("@every 5", None),
            ("@every 367d", None),
            ("@every 99999999999999999999d", None),
            ("@every 1h", Some(berlin)),
            ("@sometimes", None),
        ] {
            assert!(Timing::of_line(written, zone).is_err(), "{written}");
        }
        for (written, zone) in [
            ("tomorrow", None),
            ("2026-03-29T02:30", Some(berlin)),
            ("2026-03-29T02:30Z", Some(berlin)),
            ("2026-02-30T00:00", None),
        ] {
            assert!(Timing::of_moment(written, zone).is_err(), "{written}");
        }
        assert!(zone_named("Berlin").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_last_due_time_is_the_one_that_those_after_it_begin_behind(
            which in 0_usize..8,
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
            // From 2025 to 2029, with every change of clocks in it.
            second in 1_735_689_600_i64..1_861_920_000,
        ) {
            let lines = [
                "30 2 * * *", "*/7 * * * *", "0 0 31 * *", "15 1-3 * * SUN",
                "0 */5 * 3,10 *", "@daily", "0 0 29 2 *", "45 1,2 * * *",
            ];
            let timing = line(lines[which], zone);
            let now = At::from_ms(second * 1_000 + 123);
            let last = timing.last_until(now).unwrap();
            prop_assert!(last <= now);
            let next = timing.next_after(last).unwrap();
            prop_assert!(next > now, "{} after {} is {}, and not after {}", lines[which], last, next, now);
            // No due time is only seen from behind.
            let before = At::from_ms(last.ms() - 1_000);
            prop_assert_eq!(timing.next_after(before), Some(last));
        }
    }
}
