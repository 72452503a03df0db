use super::*;

#[test]
fn the_period_of_the_six_group_is_that_of_the_nominal_hour() {
    let minutes = |time| Metar::parse(&format!("KBUF 01{time}Z")).unwrap().six_group_minutes();
    assert_eq!(
        (minutes("2354"), minutes("0000"), minutes("0552")),
        (Some(360), Some(360), Some(360))
    );
    assert_eq!((minutes("0252"), minutes("2100")), (Some(180), Some(180)));
    assert_eq!((minutes("0021"), minutes("0352"), minutes("1252")), (None, None, None));
}

#[test]
fn groups_of_a_report_up_to_20_minutes_past_its_hour_belong_to_it() {
    let minutes = |text: &str| Metar::parse(text).unwrap().six_group_minutes();
    for (head, expected) in [
        ("KMRF 261801Z", Some(360)),
        ("PAHX 261802Z", Some(360)),
        ("KNEL 261806Z", Some(360)),
        ("PADM 260002Z", Some(360)),
        ("PAKF 262101Z", Some(180)),
        ("PAKF 262120Z", Some(180)),
        ("PAKF 262121Z", None),
    ] {
        assert_eq!(minutes(&format!("{head} AUTO RMK AO2 60012 10028 20011")), expected, "{head}");
    }
}
