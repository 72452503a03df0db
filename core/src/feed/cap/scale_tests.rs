use super::*;

fn scaled(words: [&str; 3]) -> (alert::Part, u64) {
    let (mut part, mut summary) = (alert::Part::default(), Summary::default());
    scales(&mut part, words.map(Some), &mut summary);
    (part, summary.unread_values.total())
}

#[test]
fn every_word_of_cap_is_read_and_the_impact_follows_the_severity() {
    for (word, severity, impact) in [
        ("Extreme", Severity::Extreme, Impact::Extreme),
        ("Severe", Severity::Severe, Impact::High),
        ("Moderate", Severity::Moderate, Impact::Moderate),
        ("Minor", Severity::Minor, Impact::Low),
        ("Unknown", Severity::Unknown, Impact::Unknown),
    ] {
        let (part, unread) = scaled([word, "Past", "Unlikely"]);
        assert_eq!((part.severity, part.impact, unread), (Some(severity), impact, 0));
    }
    for word in ["Immediate", "Expected", "Future", "Past", "Unknown"] {
        assert_eq!(scaled(["Minor", word, "Likely"]).0.urgency.unwrap().name(), word);
    }
    for word in ["Observed", "Likely", "Possible", "Unlikely", "Unknown"] {
        assert_eq!(scaled(["Minor", "Past", word]).0.certainty.unwrap().name(), word);
    }
    assert_eq!(scaled(["Minor", "Past", "Very Likely"]).0.certainty, Some(Certainty::Likely));
}

#[test]
fn another_word_is_counted_and_left_out() {
    let (part, unread) = scaled(["severe", "Soon", ""]);
    assert_eq!((part.severity, part.urgency, part.certainty, unread), (None, None, None, 3));
    assert_eq!(part.impact, Impact::Unknown);
}

#[test]
fn only_addresses_of_pages_are_kept() {
    let read = |text: &str| {
        let mut summary = Summary::default();
        let web = web(Some(text), &mut summary);
        assert_eq!(web.is_none(), summary.unread_values.total() == 1, "{text}");
        web
    };
    for page in ["http://www.weather.gov", "https://meteo.gc.ca/", "HTTPS://x.org/?a=b&c"] {
        assert_eq!(read(page).as_deref(), Some(page));
    }
    let long = format!("https://{}", "x".repeat(MAX_WEB_BYTES));
    for other in ["javascript:alert(1)", "ftp://a", "www.weather.gov", "http:", "é", &long] {
        assert_eq!(read(other), None);
    }
    assert_eq!(read("https://a.org/<b> onclick="), None);
}

#[test]
fn a_place_has_six_digits() {
    let (mut part, mut summary) = (alert::Part::default(), Summary::default());
    for code in ["039063", "039063", "39063", "03906x", "٠٤١٣٢٠", "339063"] {
        add_same_code(&mut part, code, &mut summary);
    }
    assert_eq!(part.same_codes.iter().collect::<Vec<_>>(), ["039063", "339063"]);
    assert_eq!(summary.unread_values.total(), 3);
}
