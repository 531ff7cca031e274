//! Dates with times, as seconds.

/// Seconds since 1970 of `YYYY-MM-DD HH:MM:SS.fraction`, perhaps with a zone (`Z`, `+HH:MM`).
pub fn seconds(text: &str) -> Option<f64> {
    let (date, rest) = text.split_once([' ', 'T'])?;
    let (time, zone) = match rest.find(['+', '-', 'Z']) {
        Some(at) => (&rest[..at], zone(&rest[at..])?),
        None => (rest, 0),
    };
    let [year, month, day] = numbers(date, '-')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    let is_date = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 59 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    Some((days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone) as f64 + fraction)
}

fn zone(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text[1..].split_once(':')?;
    Some(sign * (number(hours)? * 3600 + number(minutes)? * 60))
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.split(between).map(number);
    let found = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(found)
}

fn number(text: &str) -> Option<i64> {
    let is_short = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok())?
}

/// Days since 1970 in the Gregorian calendar, whose years are counted from March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 3 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn dates_are_read_or_refused() {
        assert_eq!(seconds("1970-01-01 00:00:00"), Some(0.0));
        assert_eq!(seconds("2024-03-01T00:00:01.5Z"), Some(1_709_251_201.5));
        assert_eq!(seconds("2024-02-29 23:59:59+01:00"), Some(1_709_247_599.0));
        for wrong in
            ["", "2024-01-01", "2024-13-01 00:00:00", "2024-01-01 24:00:00", "2024-01-01 00:00:0x", "-1-1-1 0:0:0"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
