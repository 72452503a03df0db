use proptest::prelude::*;

use super::*;
use crate::time::Iso8601;

#[test]
fn a_code_is_parsed() {
    let vtec: Vtec = VTEC_EXAMPLE.parse().unwrap();
    assert_eq!((vtec.class, vtec.action, vtec.is_test()), (b'O', VtecAction::New, false));
    assert_eq!(vtec.event.to_string(), "KCLE.SV.W.0063");
    assert_eq!(Iso8601(vtec.begin_ms.unwrap()).to_string(), "2026-04-14T00:16:00Z");
    assert_eq!(Iso8601(vtec.end_ms.unwrap()).to_string(), "2026-04-14T01:15:00Z");
    assert!("/T.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/".parse::<Vtec>().unwrap().is_test());
}

#[test]
fn every_action_is_known_and_nothing_else() {
    for (name, action) in ACTIONS {
        let text = format!("/O.{name}.KGID.FG.Y.0002.000000T0000Z-210103T1500Z/");
        let vtec: Vtec = text.parse().unwrap();
        assert_eq!((vtec.action, vtec.to_string()), (action, text));
    }
    for wrong in [
        "",
        "/",
        "//",
        "/O.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z",
        "/O.NEX.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/",
        "/Q.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/",
        "/O.NEW.CLE.SV.W.0063.260414T0016Z-260414T0115Z/",
        "/O.NEW.KCLE.sv.W.0063.260414T0016Z-260414T0115Z/",
        "/O.NEW.KCLE.SV.W.063.260414T0016Z-260414T0115Z/",
        "/O.NEW.KCLE.SV.W.0063.261314T0016Z-260414T0115Z/",
        "/O.NEW.KCLE.SV.W.0063.260414T2416Z-260414T0115Z/",
        "/O.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z.X/",
        "/O.NEW.KCLE.SV.W.0063.+60414T0016Z-260414T0115Z/",
        "/O.NEW.KCLÉ.SV.W.0063.260414T0016Z-260414T0115Z/",
    ] {
        let error = wrong.parse::<Vtec>().unwrap_err();
        assert!(
            error.to_string().contains("is not a valid VTEC; an example is /O.NEW."),
            "{error}"
        );
    }
}

#[test]
fn midnight_is_a_time_and_zeros_mean_no_time() {
    let times = |text: &str| {
        let vtec: Vtec = format!("/O.CON.KGID.FG.Y.0002.{text}/").parse().unwrap();
        [vtec.begin_ms, vtec.end_ms].map(|time| time.map(|ms| Iso8601(ms).to_string()))
    };
    let midnight = Some("2026-04-14T00:00:00Z".to_owned());
    assert_eq!(times("000000T0000Z-260414T0000Z"), [None, midnight.clone()]);
    assert_eq!(times("260414T0000Z-000000T0000Z"), [midnight, None]);
    assert!("/O.CON.KGID.FG.Y.0002.000000T0001Z-260414T0000Z/".parse::<Vtec>().is_err());
}

#[test]
fn a_hydrologic_code_has_another_form() {
    assert!(HVTEC_EXAMPLE.parse::<Hvtec>().is_ok());
    for wrong in [
        VTEC_EXAMPLE,
        "/RSON1.4.RS.140608T1800Z.140609T1200Z.000000T0000Z.NO/",
        "/RSON1.1.RS.140608T1800Z.140609T1200Z.NO/",
        "/RSON.1.RS.140608T1800Z.140609T1200Z.000000T0000Z.NO/",
    ] {
        assert!(wrong.parse::<Hvtec>().is_err(), "{wrong}");
    }
    assert!(HVTEC_EXAMPLE.parse::<Vtec>().is_err());
}

proptest! {
    #[test]
    fn codes_round_trip(
        action in 0..ACTIONS.len(),
        office in "[A-Z]{4}",
        number in 0_u16..10_000,
        begin in "(000000T0000Z|[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3])[0-5][0-9]Z)",
    ) {
        let action = ACTIONS[action].0;
        let text = format!("/O.{action}.{office}.SV.W.{number:04}.{begin}-260414T0115Z/");
        prop_assert_eq!(text.parse::<Vtec>().unwrap().to_string(), text);
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "\\PC{0,60}") {
        _ = text.parse::<Vtec>();
        _ = text.parse::<Hvtec>();
    }
}
