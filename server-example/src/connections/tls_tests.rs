use mesonet::time::DAY_MS;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use tempfile::TempDir;

use super::*;

/// 2030-01-01.
const NOW_MS: i64 = 1_893_456_000_000;

/// Writes a self-signed certificate, valid in the years 2029 and 2030, and returns its key.
fn write(folder: &TempDir, name: &str) -> KeyPair {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([format!("{name}.example")]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2029, 1, 1), date_time_ymd(2031, 1, 1));
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(folder.path().join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
    key
}

fn read(folder: &TempDir, now_ms: i64) -> Result<Certificate, TlsError> {
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    Certificate::read(&certificate, &key, now_ms)
}

#[test]
fn a_certificate_that_cannot_serve_is_refused_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let refusal = |now_ms| {
        let text = read(&folder, now_ms).map(|_| ()).unwrap_err().to_string();
        text.replace(&format!("{}/", folder.path().display()), "")
    };
    assert!(refusal(NOW_MS).starts_with("the file cert.pem: "), "{}", refusal(NOW_MS));
    write(&folder, "a");
    assert!(read(&folder, NOW_MS).is_ok());
    let never = "the certificate in cert.pem is valid from 2029-01-01T00:00:00Z to \
                 2031-01-01T00:00:00Z, not now";
    assert_eq!(refusal(NOW_MS + 366 * DAY_MS), never);
    assert_eq!(refusal(NOW_MS - 366 * DAY_MS), never);

    let other = KeyPair::generate().unwrap().serialize_pem();
    std::fs::write(folder.path().join("key.pem"), other).unwrap();
    assert_eq!(refusal(NOW_MS), "the key in key.pem is not that of the certificate in cert.pem");
    std::fs::write(folder.path().join("key.pem"), "nothing").unwrap();
    let expected = "the file key.pem must hold a private key (PEM, not encrypted): ";
    assert!(refusal(NOW_MS).starts_with(expected), "{}", refusal(NOW_MS));
    std::fs::write(folder.path().join("cert.pem"), "nothing").unwrap();
    assert_eq!(refusal(NOW_MS), "the file cert.pem must hold a certificate (PEM): none is there");
}

#[test]
fn a_new_certificate_is_taken_when_its_files_change_and_a_broken_one_leaves_the_old() {
    let folder = TempDir::new().unwrap();
    write(&folder, "a");
    let certificate = read(&folder, NOW_MS).unwrap();
    let served = || certificate.current.load().key.cert[0].clone();
    let first = served();
    assert!(!certificate.renew(NOW_MS).unwrap());

    std::fs::write(folder.path().join("cert.pem"), "broken").unwrap();
    assert!(certificate.renew(NOW_MS).is_err());
    assert_eq!(served(), first);
    // The error is reported once.
    assert!(!certificate.renew(NOW_MS).unwrap());
    assert!(certificate.fresh(NOW_MS).is_err());

    write(&folder, "longer");
    assert!(certificate.renew(NOW_MS).unwrap());
    assert_ne!(served(), first);
    assert_eq!(certificate.validity().from_ms, NOW_MS - 365 * DAY_MS);
}
