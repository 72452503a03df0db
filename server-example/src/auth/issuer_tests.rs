use super::*;
use crate::auth::key_set::KeySet;
use crate::auth::token::{Account, Rejection, Token};

fn flags(expires: &str) -> DevelopmentAccount {
    DevelopmentAccount {
        plan: Plan::Pro,
        organisations: vec!["a".to_owned()],
        staff: true,
        expires: expires.to_owned(),
    }
}

#[tokio::test]
async fn a_server_believes_a_token_of_a_key_that_was_made_after_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let set = Arc::new(KeySet::new(None, Some(key_file(folder.path()))).unwrap());
    let now_ms = 1_800_000_000_000;
    let text = development_token(folder.path(), &flags("1h"), now_ms).unwrap();
    // The key is made only once.
    let again = development_token(folder.path(), &flags("1h"), now_ms).unwrap();
    assert_eq!(text, again, "Ed25519 has one signature of a message");

    let read = Token::read(&text).unwrap();
    let key = set.find(read.kid.as_deref().unwrap()).await.unwrap();
    let account = Account {
        plan: Plan::Pro,
        organisations: vec!["a".to_owned()],
        is_staff: true,
        subject: Some("development".to_owned()),
    };
    assert_eq!(read.check(&key, 1_800_000_000.0), Ok(account));
    assert_eq!(read.check(&key, 1_800_003_631.0), Err(Rejection::Expired));
    // Another folder has another key.
    let other = tempfile::tempdir().unwrap();
    let foreign = development_token(other.path(), &flags("1h"), now_ms).unwrap();
    assert!(set.find(Token::read(&foreign).unwrap().kid.as_deref().unwrap()).await.is_none());
    let none = Arc::new(KeySet::new(None, None).unwrap());
    assert!(none.find(read.kid.as_deref().unwrap()).await.is_none());
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_key() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    development_token(folder.path(), &flags("1h"), 0).unwrap();
    let mode = fs::metadata(key_file(folder.path())).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_damaged_key_and_bad_flags_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for bad in ["", "1", "0h", "31d", "1 h", "-1h"] {
        let error = development_token(folder.path(), &flags(bad), 0).unwrap_err();
        assert!(matches!(error, TokenError::Expires(_)), "{bad}: {error}");
    }
    let none = DevelopmentAccount { plan: Plan::None, ..flags("1h") };
    assert!(matches!(development_token(folder.path(), &none, 0), Err(TokenError::Plan)));
}

/// A damaged key once stopped a server on loopback, until the key was deleted.
#[test]
fn a_damaged_key_is_kept_aside_and_a_new_one_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = key_file(folder.path());
    fs::write(&path, b"damaged").unwrap();
    assert!(public_key(&path).is_err());
    assert!(KeySet::new(None, Some(path.clone())).is_ok(), "the server starts without it");
    development_token(folder.path(), &flags("1h"), 0).unwrap();
    assert!(public_key(&path).unwrap().is_some());
    assert_eq!(fs::read(path.with_extension("key.damaged")).unwrap(), b"damaged");
}
