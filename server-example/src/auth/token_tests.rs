//! Published attacks on tokens (RFC 8725, CVE-2015-9235, CVE-2018-0114, CVE-2022-21449 and similar
//! ones), each with the reason for the refusal.

use std::sync::Arc;

use jsonwebtoken::DecodingKey;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::json;

use super::*;
use crate::auth::provider;

const NOW_S: f64 = 1_800_000_000.0;

const RSA: &[u8] = include_bytes!("testdata/of_tests_only_rsa_2048.der");

/// An identity provider with a key of each kind.
struct Provider {
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

impl Provider {
    fn new() -> Self {
        provider::install();
        let random = SystemRandom::new();
        let ec = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let of = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Self {
            rsa: RsaKeyPair::from_der(RSA).unwrap(),
            ec: EcdsaKeyPair::from_pkcs8(of, ec.as_ref(), &random).unwrap(),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
        }
    }

    fn key(&self, algorithm: Algorithm) -> Key {
        let decoding = match algorithm {
            Algorithm::RS256 => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
                DecodingKey::from_rsa_raw_components(&public.n, &public.e)
            }
            Algorithm::ES256 => DecodingKey::from_ec_der(self.ec.public_key().as_ref()),
            _ => DecodingKey::from_ed_der(self.ed.public_key().as_ref()),
        };
        let (issuer, audience) = (Arc::from("https://id.example.org"), Arc::from("mesonet"));
        Key { decoding, algorithm, issuer, audience }
    }

    fn sign(&self, algorithm: Algorithm, message: &str) -> Vec<u8> {
        let (message, random) = (message.as_bytes(), SystemRandom::new());
        match algorithm {
            Algorithm::RS256 => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Algorithm::ES256 => self.ec.sign(&random, message).unwrap().as_ref().to_vec(),
            _ => self.ed.sign(message).as_ref().to_vec(),
        }
    }

    /// A token with these texts as header and claims, signed with a key.
    fn token(&self, algorithm: Algorithm, header: &str, claims: &str) -> String {
        let message =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = self.sign(algorithm, &message);
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// The outcome for a token that names the key `k`, with an algorithm.
    fn check(&self, algorithm: Algorithm, token: &str) -> Result<Account, Rejection> {
        let token = Token::read(token)?;
        if token.kid.as_deref() != Some("k") {
            return Err(Rejection::UnknownKid);
        }
        token.check(&self.key(algorithm), NOW_S)
    }

    /// The same for an honest header, signed with Ed25519.
    fn claims(&self, claims: &Value) -> Result<Account, Rejection> {
        let header = r#"{"alg":"EdDSA","kid":"k"}"#;
        self.check(Algorithm::EdDSA, &self.token(Algorithm::EdDSA, header, &claims.to_string()))
    }
}

fn good() -> Value {
    json!({
        "iss": "https://id.example.org",
        "aud": "mesonet",
        "sub": "user-1",
        "exp": NOW_S + 60.0,
        "plan": "pro",
        "orgs": ["a", "b"],
        "staff": true,
    })
}

fn but(name: &str, value: Value) -> Value {
    let mut claims = good();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = good();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

const ALL: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

#[test]
fn a_valid_token_of_each_algorithm_tells_the_account() {
    let provider = Provider::new();
    let account = Account {
        plan: Plan::Pro,
        organisations: vec!["a".to_owned(), "b".to_owned()],
        is_staff: true,
        subject: Some("user-1".to_owned()),
    };
    for algorithm in ALL {
        let header = json!({ "alg": name(algorithm), "kid": "k", "typ": "JWT" }).to_string();
        let token = provider.token(algorithm, &header, &good().to_string());
        assert_eq!(provider.check(algorithm, &token), Ok(account.clone()), "{algorithm:?}");
    }
}

#[test]
fn the_signatures_of_rfc_7515_and_8037_hold() {
    provider::install();
    // RFC 7515, A.2: RS256.
    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let rs256 = (
        DecodingKey::from_rsa_components(n, "AQAB").unwrap(),
        Algorithm::RS256,
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
    );
    // A.3: ES256.
    let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
    let es256 = (
        DecodingKey::from_ec_components(x, y).unwrap(),
        Algorithm::ES256,
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
    );
    // RFC 8037, A.4: Ed25519.
    let eddsa = (
        DecodingKey::from_ed_components("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap(),
        Algorithm::EdDSA,
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
    );
    for (key, algorithm, message, signature) in [rs256, es256, eddsa] {
        let verify = |message: &str, signature: &str| {
            jsonwebtoken::crypto::verify(signature, message.as_bytes(), &key, algorithm)
        };
        assert_eq!(verify(message, signature), Ok(true), "{algorithm:?}");
        assert_eq!(verify(&format!("{message}A"), signature), Ok(false));
        assert_eq!(verify(message, ""), Ok(false));
    }
}

#[test]
fn an_algorithm_that_is_not_of_the_key_is_a_bad_signature() {
    let provider = Provider::new();
    for own in ALL {
        for claimed in
            ["none", "None", "nOnE", "HS256", "HS512", "RS512", "PS256", "ES384", "", "x"]
        {
            let header = json!({ "alg": claimed, "kid": "k" }).to_string();
            let token = provider.token(own, &header, &good().to_string());
            assert_eq!(provider.check(own, &token), Err(Rejection::BadSignature), "{claimed}");
            let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
            assert_eq!(provider.check(own, &unsigned), Err(Rejection::BadSignature), "{claimed}");
        }
        for other in ALL.into_iter().filter(|&other| other != own) {
            let header = json!({ "alg": name(other), "kid": "k" }).to_string();
            let token = provider.token(other, &header, &good().to_string());
            assert_eq!(provider.check(own, &token), Err(Rejection::BadSignature), "{other:?}");
        }
    }
}

#[test]
fn a_public_key_is_no_secret_of_hs256() {
    // CVE-2015-9235: the public key as the secret of an HMAC.
    let provider = Provider::new();
    let message = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","kid":"k"}"#),
        URL_SAFE_NO_PAD.encode(good().to_string())
    );
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, provider.ec.public_key().as_ref());
    let tag = ring::hmac::sign(&secret, message.as_bytes());
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()));
    for own in ALL {
        assert_eq!(provider.check(own, &token), Err(Rejection::BadSignature));
    }
}

#[test]
fn a_key_that_the_token_brings_along_is_not_used() {
    // CVE-2018-0114, and addresses of keys: signed by the stranger, but naming a key of the server.
    let (provider, stranger) = (Provider::new(), Provider::new());
    let x = URL_SAFE_NO_PAD.encode(stranger.ed.public_key().as_ref());
    for brought in [
        json!({ "jwk": { "kty": "OKP", "crv": "Ed25519", "x": x, "kid": "k" } }),
        json!({ "jku": "https://evil.example.net/keys.json" }),
        json!({ "x5u": "https://evil.example.net/chain.pem" }),
        json!({ "x5c": ["MIIB"] }),
    ] {
        let mut header = json!({ "alg": "EdDSA", "kid": "k" });
        header.as_object_mut().unwrap().extend(brought.as_object().unwrap().clone());
        let token = stranger.token(Algorithm::EdDSA, &header.to_string(), &good().to_string());
        assert_eq!(provider.check(Algorithm::EdDSA, &token), Err(Rejection::BadSignature));
    }
}

#[test]
fn a_signature_of_nothing_is_refused() {
    // CVE-2022-21449: r = s = 0 and similar signatures, an empty signature, and one that was
    // changed or cut.
    let provider = Provider::new();
    let header = r#"{"alg":"ES256","kid":"k"}"#;
    let token = provider.token(Algorithm::ES256, header, &good().to_string());
    let (message, right) = token.rsplit_once('.').unwrap();
    let right = URL_SAFE_NO_PAD.decode(right).unwrap();
    // The order of the curve P-256 (SEC 2).
    let order: [u8; 32] = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
        0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ];
    let mut flipped = right.clone();
    flipped[10] ^= 1;
    for signature in
        [vec![0; 64], [order, order].concat(), vec![], vec![1; 64], flipped, right[..63].to_vec()]
    {
        let forged = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature));
        let checked = provider.check(Algorithm::ES256, &forged);
        assert_eq!(checked, Err(Rejection::BadSignature));
    }
    assert!(provider.check(Algorithm::ES256, &token).is_ok());
}

#[test]
fn a_token_without_a_known_key_is_told_so_before_its_signature_is_looked_at() {
    let provider = Provider::new();
    for kid in ["", "../../k", "/dev/null", "k' OR '1'='1", "k\u{0}", "K", "k "] {
        let header = json!({ "alg": "EdDSA", "kid": kid }).to_string();
        let token = provider.token(Algorithm::EdDSA, &header, &good().to_string());
        let checked = provider.check(Algorithm::EdDSA, &token);
        assert_eq!(checked, Err(Rejection::UnknownKid), "{kid}");
    }
    let token = provider.token(Algorithm::EdDSA, r#"{"alg":"none"}"#, &good().to_string());
    assert_eq!(provider.check(Algorithm::EdDSA, &token), Err(Rejection::UnknownKid));
}

#[test]
fn what_does_not_decode_is_malformed() {
    let provider = Provider::new();
    let (header, claims) = (r#"{"alg":"EdDSA","kid":"k"}"#, good().to_string());
    let token = provider.token(Algorithm::EdDSA, header, &claims);
    let parts: Vec<&str> = token.split('.').collect();
    let (first, second, third) = (parts[0], parts[1], parts[2]);
    for text in [
        "..".to_owned(),
        format!(".{second}.{third}"),
        format!("{first}..{third}"),
        format!("{first}={second}.{third}."),
        format!("{first}=.{second}.{third}"),
        format!("{first}.{second}.{third}="),
        format!("{first}.{second}.***"),
        format!("{first}.{second} .{third}"),
        format!("{}.{second}.{third}", URL_SAFE_NO_PAD.encode("[]")),
        format!("{first}.{}.{third}", URL_SAFE_NO_PAD.encode("\"x\"")),
        format!("{first}.{}.{third}", URL_SAFE_NO_PAD.encode([0xff, 0xfe])),
    ] {
        assert_eq!(provider.check(Algorithm::EdDSA, &text), Err(Rejection::Malformed), "{text}");
    }
    for header in [
        r#"{"alg":"EdDSA","kid":"k","kid":"k"}"#,
        r#"{"alg":"none","alg":"EdDSA","kid":"k"}"#,
        r#"{"alg":"EdDSA","kid":7}"#,
        r#"{"alg":["EdDSA"],"kid":"k"}"#,
        r#"{"kid":"k"}"#,
        r#"{"alg":"EdDSA","kid":"k","crit":["exp"]}"#,
        r#"{"alg":"EdDSA","kid":"k","b64":false,"crit":["b64"]}"#,
        r#"{"alg":"EdDSA","kid":"k","cty":"JWT"}"#,
        r#"{"alg":"EdDSA","kid":"k","typ":"logout+jwt"}"#,
        r#"{"alg":"EdDSA","kid":"k","zip":"DEF"}"#,
    ] {
        let token = provider.token(Algorithm::EdDSA, header, &claims);
        let checked = provider.check(Algorithm::EdDSA, &token);
        assert_eq!(checked, Err(Rejection::Malformed), "{header}");
    }
    let twice = claims.replacen('{', "{\"plan\":\"commercial\",", 1);
    let token = provider.token(Algorithm::EdDSA, header, &twice);
    assert_eq!(provider.check(Algorithm::EdDSA, &token), Err(Rejection::Malformed));
}

#[test]
fn an_oversized_or_deep_token_is_malformed() {
    let provider = Provider::new();
    let header = r#"{"alg":"EdDSA","kid":"k"}"#;
    let long = but("sub", "x".repeat(MAX_TOKEN_BYTES).into()).to_string();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(1_000), "]".repeat(1_000));
    for claims in [long, deep] {
        let token = provider.token(Algorithm::EdDSA, header, &claims);
        assert_eq!(provider.check(Algorithm::EdDSA, &token), Err(Rejection::Malformed));
    }
}

#[test]
fn a_token_expires_thirty_seconds_after_it_says_so() {
    let provider = Provider::new();
    let expiring = |at: f64| provider.claims(&but("exp", at.into())).map(drop);
    assert_eq!(expiring(NOW_S - 30.0), Ok(()));
    assert_eq!(expiring(NOW_S - 31.0), Err(Rejection::Expired));
    assert_eq!(expiring(0.0), Err(Rejection::Expired));
    // Whatever else is wrong with the token, only a refresh could help.
    let mut claims = but("exp", (NOW_S - 31.0).into());
    claims["aud"] = "other".into();
    assert_eq!(provider.claims(&claims), Err(Rejection::Expired));
    for bad in [json!("tomorrow"), json!(null), json!(true), json!([NOW_S + 60.0])] {
        assert_eq!(provider.claims(&but("exp", bad)), Err(Rejection::BadClaims));
    }
    assert_eq!(provider.claims(&without("exp")), Err(Rejection::BadClaims));
}

#[test]
fn claims_must_be_there_and_as_expected() {
    let provider = Provider::new();
    for claims in [
        but("nbf", (NOW_S + 31.0).into()),
        but("nbf", "now".into()),
        but("iat", "now".into()),
        but("iss", "https://evil.example.net".into()),
        but("iss", json!(["https://id.example.org"])),
        without("iss"),
        but("aud", "other".into()),
        but("aud", json!(["other", "mesonets"])),
        but("aud", json!(["mesonet", 7])),
        without("aud"),
        but("plan", "none".into()),
        but("plan", "PRO".into()),
        but("plan", 3.into()),
        without("plan"),
        but("orgs", "a".into()),
        but("orgs", json!([1])),
        but("orgs", json!(vec!["a"; 257])),
        but("staff", "true".into()),
        but("staff", 1.into()),
        but("sub", 7.into()),
    ] {
        assert_eq!(provider.claims(&claims), Err(Rejection::BadClaims), "{claims}");
    }
    for claims in [
        but("nbf", (NOW_S + 30.0).into()),
        but("aud", json!(["other", "mesonet"])),
        without("orgs"),
        without("staff"),
        without("sub"),
        but("exp", (NOW_S + 0.5).into()),
    ] {
        assert!(provider.claims(&claims).is_ok(), "{claims}");
    }
}
