use proptest::prelude::*;

use super::*;
use crate::feed::metar::{Decoded, Metar, MetarWind, SpeedUnit, WindFrom};

fn decoded(body: &str) -> Decoded {
    Decoded::parse(&format!("KBUF 312354Z {body}")).unwrap()
}

#[test]
fn glued_groups_are_read_where_there_is_one_way_to_cut_them() {
    for (glued, apart) in [
        ("10SM BKN10027/21 A2990", "10SM BKN100 27/21 A2990"),
        ("10SM SCT040M04/M06A2990", "10SM SCT040 M04/M06 A2990"),
        ("24012G20KT10SM FEW025SCT040", "24012G20KT 10SM FEW025 SCT040"),
        ("24012KT9999FEW020 21/15 Q1013", "24012KT 9999 FEW020 21/15 Q1013"),
        ("10SM-RA BKN025CB27/21", "10SM -RA BKN025CB 27/21"),
        ("CAVOK21/15 Q1013", "CAVOK 21/15 Q1013"),
        ("10SM CLR27/21 A2990RMK SLP125", "10SM CLR 27/21 A2990 RMK SLP125"),
        ("21/15Q1013NOSIG", "21/15 Q1013 NOSIG"),
    ] {
        let (read, expected) = (decoded(glued), decoded(apart));
        assert_eq!(read.not_understood, [""; 0], "{glued}");
        assert_eq!(
            Decoded { text: String::new(), ..read },
            Decoded { text: String::new(), ..expected }
        );
    }
}

#[test]
fn glued_groups_that_could_be_several_things_are_not_guessed() {
    // Neither a height nor a temperature has so many digits.
    for group in [
        "BKN1007/21",
        "BKN100127/21",
        "2401210SM",
        "10SMX",
        "A299",
        "FG5",
        "27/2",
        "RAX",
        "4000BL",
        "BKN10017/21",
        "12/92000013G23KT",
    ] {
        assert!(cut(group.as_bytes()).is_none(), "{group}");
        let read = decoded(&format!("{group} 10SM"));
        assert_eq!(read.not_understood, [group], "{group}");
        assert_eq!(read.visibility.map(|seen| seen.distance), Some(10.0), "what follows is read");
    }
}

#[test]
fn split_groups_are_joined() {
    for (split, whole) in [
        ("10SM CLR 27/21 A 2990", "10SM CLR 27/21 A2990"),
        ("9999 21/15 Q 1013", "9999 21/15 Q1013"),
        ("10SM BKN 100 27/21", "10SM BKN100 27/21"),
        ("10SM CLR 27/ 21 A2990", "10SM CLR 27/21 A2990"),
        ("10SM CLR M01/ M03", "10SM CLR M01/M03"),
        ("9999 21/15 Q1013 RE SHRA NOSIG", "9999 21/15 Q1013 RESHRA NOSIG"),
        ("240 12G20KT 10SM", "24012G20KT 10SM"),
    ] {
        let (read, expected) = (decoded(split), decoded(whole));
        assert_eq!(read.not_understood, [""; 0], "{split}");
        assert_eq!(
            Decoded { text: String::new(), ..read },
            Decoded { text: String::new(), ..expected }
        );
    }
    assert_eq!(decoded("10SM A 1234").not_understood, ["A", "1234"], "no altimeter setting");
    assert_eq!(decoded("10SM BKN RMK AO2").not_understood, ["BKN"]);
}

#[test]
fn winds_with_a_slash_or_with_one_letter_wrong() {
    let wind = |group: &str| {
        let read = Metar::parse(&format!("KBUF 312354Z {group} 10SM")).unwrap();
        read.wind.map(|MetarWind { from, speed, gust, unit, .. }| (from, speed, gust, unit))
    };
    let from = WindFrom::Degrees;
    assert_eq!(wind("200/07KT"), Some((from(200), Some(7), None, SpeedUnit::Knot)));
    assert_eq!(wind("200/07G15KT"), Some((from(200), Some(7), Some(15), SpeedUnit::Knot)));
    for group in ["25005KY", "25005LT", "25005K", "25005KTT", "25005TK"] {
        assert_eq!(wind(group), Some((from(250), Some(5), None, SpeedUnit::Knot)), "{group}");
    }
    assert_eq!(wind("25005MPD"), Some((from(250), Some(5), None, SpeedUnit::MetrePerSecond)));
    assert_eq!(wind("25005KPH"), Some((from(250), Some(5), None, SpeedUnit::KilometrePerHour)));
    // Miles per hour, two units, no direction in tens, no unit.
    for group in ["25005MPH", "25005KM", "25305KY", "25005XX", "200/7KT", "370/07KT"] {
        assert_eq!(wind(group), None, "{group}");
    }
}

#[test]
fn indicators_of_a_trend_are_known_with_one_letter_wrong() {
    for word in [
        "TEMPO", "TEMP0", "TMPO", "TEPMO", "BECMG", "BCMG", "BECGM", "NOSIG", "NOISG", "PROB30",
        "FCST",
    ] {
        assert!(is_change_indicator(word.as_bytes()), "{word}");
        let read = decoded(&format!("9999 21/15 Q1013 {word} 3000 +TSRA OVC010CB"));
        assert_eq!(read.trend, Some(format!("{word} 3000 +TSRA OVC010CB")), "{word}");
        assert!(read.weather.is_empty() && read.clouds.is_empty() && read.ceiling_ft.is_none());
    }
    for word in ["TORNADO", "BKN010", "RETS", "NSW", "SNOCLO"] {
        assert!(!is_change_indicator(word.as_bytes()), "{word}");
    }
}

proptest! {
    /// A cut covers the whole group, in parts that can be read on their own.
    #[test]
    fn parts_are_the_whole(group in "([A-Z]{2,4}|[0-9]{2,5}|/|M|KT|SM|BKN[0-9]{3}|[0-9]{2}/[0-9]{2}){1,6}") {
        if let Some(parts) = cut(group.as_bytes()) {
            prop_assert_eq!(parts.concat(), group.as_bytes());
            for part in &parts {
                prop_assert!(shape(part).is_some());
            }
        }
        let _ = mended(group.as_bytes(), Some(b"2990"));
    }

    #[test]
    fn one_off_is_an_edit(word in "[A-C]{1,6}", other in "[A-C]{1,6}") {
        let (one, two) = (word.as_bytes(), other.as_bytes());
        let mut near = false;
        for at in 0..=one.len() {
            for letter in b'A'..=b'C' {
                let mut more = one.to_vec();
                more.insert(at, letter);
                near |= more == two;
                if at < one.len() {
                    let mut changed = one.to_vec();
                    changed[at] = letter;
                    near |= changed == two && one != two;
                }
            }
            if at < one.len() {
                let mut less = one.to_vec();
                less.remove(at);
                near |= less == two;
            }
            if at + 1 < one.len() {
                let mut turned = one.to_vec();
                turned.swap(at, at + 1);
                near |= turned == two && one != two;
            }
        }
        prop_assert_eq!(is_one_off(one, two), near);
    }
}
