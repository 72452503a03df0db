use super::*;

fn date(text: &str) -> LocalDate {
    text.parse().unwrap()
}

#[test]
fn a_day_is_one_of_standard_time_and_a_month_has_its_days() {
    let offset: UtcOffset = "-06:00".parse().unwrap();
    let of = |period, from, to| {
        let found: Vec<_> = periods(period, date(from), date(to), offset).unwrap().collect();
        found
    };
    let days = of(Period::Day, "2024-03-09", "2024-03-11");
    let labels: Vec<_> = days.iter().map(|&day| period_label(Period::Day, day, offset)).collect();
    assert_eq!(labels, ["2024-03-09", "2024-03-10", "2024-03-11"]);
    // Clocks went forward on the 10th; the day of the climate has 24 hours all the same.
    assert!(days.iter().all(|day| day.span_ms() == DAY_MS));
    assert_eq!(Iso8601(days[1].start_ms()).to_string(), "2024-03-10T06:00:00Z");
    let months = of(Period::Month, "2023-12-31", "2024-02-01");
    assert_eq!(
        months.iter().map(|month| month.span_ms() / DAY_MS).collect::<Vec<_>>(),
        [31, 31, 29]
    );
    assert!(months.windows(2).all(|pair| pair[0].end_ms() == pair[1].start_ms()));
    let whole = of(Period::Window, "2024-03-09", "2024-03-11");
    assert_eq!((whole.len(), whole[0].span_ms()), (1, 3 * DAY_MS));
}

#[test]
fn the_last_day_of_the_calendar_has_periods_too() {
    for period in Period::ALL {
        let found =
            periods(period, date("9999-12-31"), date("9999-12-31"), UtcOffset::UTC).unwrap();
        assert!((1..=24).contains(&found.count()), "{period:?}");
    }
    assert_eq!(LocalDate::at(i64::MAX, UtcOffset::UTC), date("9999-12-31"));
    assert_eq!(LocalDate::at(i64::MIN, UtcOffset::UTC), date("0000-01-01"));
}

#[test]
fn what_is_no_date_offset_or_period_is_refused_with_what_is_allowed() {
    for text in ["2024-8-3", "2024-13-01", "2023-02-29", "+2024-01-01", "2024-08-03T00:00Z", ""] {
        let error = text.parse::<LocalDate>().unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("\"{text}\" is not a date; allowed is year")),
            "{error}"
        );
    }
    for text in
        ["5", "-5", "05:00", "-05:60", "+14:01", "-12:01", "EST", "-0a:00", "−05:00", "--500"]
    {
        let error = text.parse::<UtcOffset>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("\"{text}\" is not an offset from UTC")), "{error}");
    }
    for (text, minutes) in [("+05:30", 330), ("-0330", -210), ("+14", 840), ("Z", 0), ("+00:00", 0)]
    {
        assert_eq!(text.parse::<UtcOffset>().unwrap().minutes(), minutes, "{text}");
    }
    let error = "week".parse::<Period>().unwrap_err().to_string();
    assert_eq!(error, "\"week\" is not a period; allowed are hour, day, month, window");
    let error = periods(Period::Day, date("2024-08-04"), date("2024-08-03"), UtcOffset::UTC);
    let error = error.err().unwrap().to_string();
    assert_eq!(error, "from must not be after to; got from 2024-08-04 and to 2024-08-03");
}
