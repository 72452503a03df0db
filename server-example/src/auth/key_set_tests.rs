use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;

// RFC 7515, A.2 and A.3, and RFC 8037, A.2.
const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
const X: &str = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
const Y: &str = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
const ED: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
/// A modulus of 1,024 bits.
const SHORT: &str = "qZqyGumuVYSvvMz5lmWip7QCxEBMyE5sFHvRNtBxwrDkXrkK2pURNcaGy3pCjzUfjUOGSR-haIMXvBcm6D7elu8I_RYvwn94TcxpojP3DxEvfBGTAcwtuAtwOjLOi1jxy0Voifz_ll6UcuHUCcOF_eAJEkmW2r2Qn8J76evEP0c";

fn source(jwks: impl Into<String>) -> KeySetSource {
    KeySetSource { jwks: jwks.into(), issuer: "i".to_owned(), audience: "a".to_owned() }
}

fn read(keys: &[Value]) -> Result<Vec<(String, Algorithm)>, String> {
    let set = json!({ "keys": keys }).to_string();
    let keys = parse(set.as_bytes(), &source("keys.json"))?;
    let mut keys: Vec<_> = keys.into_iter().map(|(kid, key)| (kid, key.algorithm)).collect();
    keys.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(keys)
}

fn ed(kid: &str) -> Value {
    json!({ "kty": "OKP", "crv": "Ed25519", "x": ED, "kid": kid })
}

#[test]
fn a_key_has_the_algorithm_of_its_kind() {
    let keys = vec![
        json!({ "kty": "RSA", "n": N, "e": "AQAB", "kid": "r", "alg": "RS256", "use": "sig" }),
        json!({ "kty": "EC", "crv": "P-256", "x": X, "y": Y, "kid": "e", "key_ops": ["verify"] }),
        ed("o"),
    ];
    let expected = [("e", Algorithm::ES256), ("o", Algorithm::EdDSA), ("r", Algorithm::RS256)];
    assert_eq!(read(&keys).unwrap(), expected.map(|(kid, of)| (kid.to_owned(), of)));
}

#[test]
fn a_key_that_cannot_check_tokens_is_left_out_and_the_others_serve() {
    for bad in [
        json!({ "kty": "RSA", "n": SHORT, "e": "AQAB", "kid": "k" }),
        json!({ "kty": "RSA", "n": N, "e": "AQAB", "kid": "k", "alg": "RS512" }),
        json!({ "kty": "RSA", "n": N, "e": "AQAB", "kid": "k", "use": "enc" }),
        json!({ "kty": "RSA", "n": N, "e": "AQAB", "kid": "k", "key_ops": ["sign"] }),
        json!({ "kty": "RSA", "n": N, "e": "AQAB" }),
        json!({ "kty": "RSA", "n": N, "e": "AQAB", "kid": "" }),
        json!({ "kty": "RSA", "e": "AQAB", "kid": "k" }),
        json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "k" }),
        json!({ "kty": "EC", "crv": "P-384", "x": X, "y": Y, "kid": "k" }),
        json!({ "kty": "EC", "crv": "P-256", "x": X, "y": "AQAB", "kid": "k" }),
        json!({ "kty": "OKP", "crv": "X25519", "x": ED, "kid": "k" }),
        json!({ "kty": "OKP", "crv": "Ed25519", "x": ED, "d": ED, "kid": "k" }),
        json!("k"),
    ] {
        assert_eq!(read(&[bad.clone(), ed("o")]).unwrap().len(), 1, "{bad}");
        assert!(read(&[bad]).is_err());
    }
    // It is unclear which key is meant.
    assert_eq!(read(&[ed("a"), ed("a"), ed("b")]).unwrap().len(), 1);
    let many: Vec<Value> = (0..101).map(|number| ed(&number.to_string())).collect();
    assert!(read(&many).is_err());
}

/// Signatures by such a key fit any message.
#[test]
fn a_key_of_small_order_is_left_out_by_name() {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let key = |point: [u8; 32]| {
        let x = URL_SAFE_NO_PAD.encode(point);
        json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": "weak" })
    };
    for point in SMALL_ORDER {
        for sign in [0, 0x80] {
            let mut point = point;
            point[31] |= sign;
            assert_eq!(read(&[key(point), ed("o")]).unwrap(), [("o".to_owned(), Algorithm::EdDSA)]);
            let published = serde_json::from_value(key(point)).unwrap();
            let reason = usable(&published).err().unwrap();
            assert_eq!(reason, "\"weak\" has a point of small order: anyone can sign for it");
        }
    }
    assert!(!is_of_small_order(*b"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMl"));
}

#[tokio::test]
async fn a_file_of_keys_that_cannot_be_read_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let shown = path.to_str().unwrap();
    assert!(KeySet::new(Some(source(shown)), None).is_err());
    for bad in ["", "{}", "{\"keys\":[]}", "{\"keys\":7}"] {
        std::fs::write(&path, bad).unwrap();
        assert!(KeySet::new(Some(source(shown)), None).is_err(), "{bad}");
    }
    let write = |kid: &str| {
        std::fs::write(&path, json!({ "keys": [ed(kid)] }).to_string()).unwrap();
    };
    write("one");
    let set = Arc::new(KeySet::new(Some(source(shown)), None).unwrap());
    assert!(set.find("one").await.is_some());
    // A key is replaced while the server runs.
    write("two");
    assert!(set.find("two").await.is_some());
    assert!(set.find("one").await.is_none());
    // A file that is broken later changes nothing.
    std::fs::write(&path, "{").unwrap();
    tokio::time::sleep(PAUSE_OF_FILE).await;
    assert!(set.find("three").await.is_none());
    assert!(set.find("two").await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_asked_again_at_an_unknown_key_and_at_most_once_a_minute() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/keys.json", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let number = counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let body = json!({ "keys": [ed(&format!("k{number}"))] }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    let set = tokio::task::spawn_blocking(move || KeySet::new(Some(source(address)), None));
    let set = Arc::new(set.await.unwrap().unwrap());
    assert!(set.find("k0").await.is_some());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // Rotated: the new key is fetched, and the old one stops working.
    assert!(set.find("k1").await.is_some());
    assert!(set.find("k0").await.is_none());
    // A stranger who sends many names causes no further request.
    for number in 0..200 {
        assert!(set.find(&format!("stranger{number}")).await.is_none());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_address_that_cannot_be_reached_does_not_keep_the_server_from_starting() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = format!("http://{closed}/keys.json");
    let set = tokio::task::spawn_blocking(move || KeySet::new(Some(source(address)), None));
    let set = Arc::new(set.await.unwrap().unwrap());
    assert!(set.find("k").await.is_none());
}
