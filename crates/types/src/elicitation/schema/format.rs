//! Checks a text against its format, loosely: enough to catch typing errors.
//!
//! The four formats that forms may demand of a text (ELIC-19). A text is refused only if it is surely
//! wrong; an unusual value passes.

use super::StringFormat;

/// Whether a text fits a format. Every text fits an unknown format.
pub(super) fn fits(format: &StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => is_uri(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        StringFormat::Other(_) => true,
    }
}

/// The format in words, with an example.
pub(super) fn describe(format: &StringFormat) -> String {
    match format {
        StringFormat::Email => "a mail address such as `ada@example.com`".to_owned(),
        StringFormat::Uri => "a URI such as `https://example.com`".to_owned(),
        StringFormat::Date => "a day such as `2026-07-28`".to_owned(),
        StringFormat::DateTime => "a moment such as `2026-07-28T12:00:00Z`".to_owned(),
        StringFormat::Other(word) => format!("the format `{word}`"),
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    plain(local) && plain(domain) && !domain.starts_with('.') && !domain.ends_with('.')
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let may_follow = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
    scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.chars().all(may_follow)
        && !rest.is_empty()
        && !text.contains(|it: char| it.is_whitespace() || it.is_control())
}

/// Whether a text is a date of RFC 3339.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let (Some(year), Some(month), Some(day), None) = (
        year.and_then(|it| digits(it, 4)),
        month.and_then(|it| digits(it, 2)),
        day.and_then(|it| digits(it, 2)),
        parts.next(),
    ) else {
        return false;
    };
    (1..=days_in(year, month)).contains(&day)
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// Whether a text is a date and time of RFC 3339, with its offset.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let Some((time, offset)) = split_offset(time) else { return false };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let fraction_fits = !fraction.is_empty() && fraction.bytes().all(|it| it.is_ascii_digit());
    // 60 allows a leap second.
    is_date(date) && is_clock(clock, &[23, 59, 60]) && fraction_fits && offset.is_none_or(is_offset)
}

/// Splits a time from its offset, which is `None` for `Z`.
fn split_offset(time: &str) -> Option<(&str, Option<&str>)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, None));
    }
    let (time, offset) = time.split_once(['+', '-'])?;
    Some((time, Some(offset)))
}

fn is_offset(text: &str) -> bool {
    is_clock(text, &[23, 59])
}

/// Whether a text is numbers of two digits, joined by colons, each at most its limit.
fn is_clock(text: &str, limits: &[u32]) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    parts.len() == limits.len()
        && parts
            .iter()
            .zip(limits)
            .all(|(part, limit)| digits(part, 2).is_some_and(|it| it <= *limit))
}

/// Parses a number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|it| it.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &StringFormat, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(fits(format, text), "{text}");
        }
        for text in bad {
            assert!(!fits(format, text), "{text}");
        }
    }

    // spec: ELIC-19
    #[test]
    fn a_mail_address_has_two_sides() {
        let bad = ["", "ada", "@example.com", "ada@", "a b@example.com", "ada@.com", "ada@com."];
        check(&StringFormat::Email, &["ada@example.com", "a+b@localhost", "ä@ö.de"], &bad);
    }

    // spec: ELIC-19
    #[test]
    fn a_uri_begins_with_its_scheme() {
        let good = ["https://example.com", "mailto:ada@example.com", "urn:isbn:1", "x-y+z.1:a"];
        check(
            &StringFormat::Uri,
            &good,
            &["", "example.com", "1a:b", ":b", "a:", "a b:c", "a:b c"],
        );
    }

    // spec: ELIC-19
    #[test]
    fn a_day_is_in_the_calendar() {
        let good = ["2026-07-28", "2024-02-29", "2000-02-29", "0001-01-01"];
        let bad = [
            "2026-7-28",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-04-31",
            "28.07.2026",
            "2026-07-28-01",
            "+026-07-28",
            "",
        ];
        check(&StringFormat::Date, &good, &bad);
    }

    // spec: ELIC-19
    #[test]
    fn a_moment_has_a_day_a_time_and_an_offset() {
        let good = [
            "2026-07-28T12:00:00Z",
            "2026-07-28t23:59:60.123z",
            "2026-07-28T00:00:00-05:30",
            "2026-07-28 12:00:00+00:00",
        ];
        let bad = [
            "2026-07-28",
            "2026-07-28T12:00:00",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:60:00Z",
            "2026-07-28T12:00Z",
            "2026-07-28T12:00:00.Z",
            "2026-07-28T12:00:00+5",
            "2026-02-30T12:00:00Z",
        ];
        check(&StringFormat::DateTime, &good, &bad);
    }

    #[test]
    fn a_format_that_is_not_known_fits_everything() {
        check(&StringFormat::Other("moon".to_owned()), &["", "anything"], &[]);
    }
}
