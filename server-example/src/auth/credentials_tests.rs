use super::*;

fn sent(lines: &[(&'static str, &str)]) -> Result<Option<String>, Rejection> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, value.parse().unwrap());
    }
    credential(&headers).map(|found| found.map(str::to_owned))
}

#[test]
fn a_credential_comes_from_the_header_or_an_account_token_from_the_cookie() {
    let found = |lines: &[(&'static str, &str)]| sent(lines).unwrap();
    assert_eq!(found(&[]), None);
    assert_eq!(found(&[("authorization", "Bearer abc")]).as_deref(), Some("abc"));
    assert_eq!(found(&[("authorization", "bearer  abc ")]).as_deref(), Some("abc"));
    let both = [("authorization", "Bearer h.h.h"), ("cookie", "acct_at=c.c.c")];
    assert_eq!(found(&both).as_deref(), Some("h.h.h"));
    assert_eq!(found(&[("cookie", "a=1; acct_at=c.c.c; b=2")]).as_deref(), Some("c.c.c"));
    assert_eq!(found(&[("cookie", "a=1"), ("cookie", "acct_at=c.c.c")]).as_deref(), Some("c.c.c"));
    // Another name of the cookie, and a value that is not a token.
    assert_eq!(found(&[("cookie", "xacct_at=c.c.c; Acct_At=c.c.c")]), None);
    assert_eq!(found(&[("cookie", "acct_at=mesonet_key_0")]), None);
    assert_eq!(found(&[("authorization", "Basic dXNlcjpwYXNz")]), None);
    // With another scheme in the header, the cookie counts.
    let other = [("authorization", "Basic eA"), ("cookie", "acct_at=c.c.c")];
    assert_eq!(found(&other).as_deref(), Some("c.c.c"));
}

#[test]
fn two_credentials_are_malformed() {
    let two = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
    assert_eq!(sent(&two), Err(Rejection::Malformed));
}

#[test]
fn a_rejection_says_why_in_the_words_of_the_interface() {
    let named = [
        (Rejection::Malformed, "malformed"),
        (Rejection::UnknownKid, "unknown_kid"),
        (Rejection::BadSignature, "bad_signature"),
        (Rejection::Expired, "expired"),
        (Rejection::BadClaims, "bad_claims"),
    ];
    for (rejection, name) in named {
        assert_eq!(serde_json::to_value(rejection).unwrap(), name);
        assert_eq!(rejection.into_response().status(), 401);
    }
}
