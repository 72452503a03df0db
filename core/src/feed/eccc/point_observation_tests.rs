use super::*;

fn error(text: &str) -> String {
    read_point_observations(text.as_bytes(), "urn:s", |_, _| Ok(())).unwrap_err().to_string()
}

fn seen(text: &str) -> (Vec<Vec<(String, String)>>, Summary) {
    let mut all = Vec::new();
    let summary = read_point_observations(text.as_bytes(), "urn:s", |observation, _| {
        let pair = |one: Element<'_>| (one.name.to_owned(), one.value.to_owned());
        all.push(observation.elements().map(pair).collect());
        Ok(())
    });
    (all, summary.unwrap())
}

#[test]
fn another_document_is_refused() {
    assert_eq!(error(""), "no elements");
    assert_eq!(error("<?xml version=\"1.0\"?><!-- -->"), "no elements");
    let expected = ", not an ObservationCollection in the schema urn:s";
    assert_eq!(error("<cmml/>"), format!("the document is a <cmml>{expected}"));
    assert!(error("<ObservationCollection xmlns=\"urn:t\">").ends_with(expected));
    assert!(error("<a xmlns=\"urn:s\"/>").ends_with(expected));
    assert!(error("<Observation xmlns=\"&none;\"/>").starts_with("not well-formed XML at byte 0"));
}

#[test]
fn an_observation_may_stand_alone_or_with_others() {
    let one = "<elements><element name='a' value=' 1 '/></elements>";
    let (all, _) = seen(&format!("<Observation xmlns='urn:s'>{one}</Observation>"));
    assert_eq!(all, [[("a".to_owned(), "1".to_owned())]]);
    let (all, _) = seen(&format!(
        "<x:ObservationCollection xmlns:x='o' xmlns='urn:s'><x:Observation>{one}</x:Observation>\
         <element name='b' value='2'/><x:Observation/><x:Observation></x:Observation>\
         </x:ObservationCollection>"
    ));
    assert_eq!(all.len(), 2);
    assert!(all[1].is_empty(), "an observation does not leak into the next");
}

#[test]
fn an_observation_is_bounded() {
    let wrap = |elements: &str| {
        format!(
            "<c:ObservationCollection xmlns:c='o' xmlns='urn:s'><c:Observation><elements>{elements}\
             </elements></c:Observation><c:Observation/></c:ObservationCollection>"
        )
    };
    let (all, summary) = seen(&wrap(&"<element/>".repeat(MAX_ELEMENTS + 1)));
    assert!(all.is_empty());
    let reason = RefusalReason::TooManyElements { limit: MAX_ELEMENTS };
    assert_eq!((summary.refused, &summary.refusals[0].reason), (1, &reason));

    let long = format!("<element name='a' value='{}'/>", "x".repeat(10_000));
    let (_, summary) = seen(&wrap(&long.repeat(MAX_TEXT_BYTES / 10_000 + 1)));
    let reason = RefusalReason::TooLong { limit: MAX_TEXT_BYTES };
    assert_eq!((summary.refused, &summary.refusals[0].reason), (1, &reason));
}
