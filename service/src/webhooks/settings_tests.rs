use mesonet::alert::Severity;

use super::*;

fn config() -> WebhookConfig {
    WebhookConfig {
        name: "river".to_owned(),
        url: "https://example.org/hooks/1".to_owned(),
        secret_file: "river.secret".into(),
        place: None,
        bbox: None,
        polygon: Vec::new(),
        codes: Vec::new(),
        severity: Vec::new(),
        lang: english(),
        timeout_s: timeout_s(),
        allow_http: false,
        allow_private: false,
    }
}

fn error(change: impl FnOnce(&mut WebhookConfig)) -> String {
    let mut changed = config();
    change(&mut changed);
    WebhookConfig::check_all(&[changed]).unwrap_err().to_string()
}

#[test]
fn a_table_says_which_alerts_are_sent() {
    let whole = WebhookConfig {
        place: Some([-97.5, 35.4]),
        bbox: Some([-98.0, 35.0, -97.0, 36.0]),
        polygon: vec![[-98.0, 35.0], [-97.0, 35.0], [-97.0, 36.0]],
        codes: vec!["OKC027".to_owned()],
        severity: vec![Severity::Extreme],
        ..config()
    };
    assert_eq!(
        WebhookConfig::check_all(&[config(), WebhookConfig { name: "2".into(), ..whole.clone() }]),
        Ok(())
    );
    let query = whole.query().unwrap();
    assert_eq!(query.at, Some(LonLat::new(-97.5, 35.4).unwrap()));
    assert_eq!(query.codes, ["OKC027".parse().unwrap()]);
    assert_eq!(query.severities, [Severity::Extreme]);
    let area = query.area.unwrap();
    assert!(area.contains(LonLat::new(-97.1, 35.1).unwrap()));
    assert!(!area.contains(LonLat::new(-97.9, 35.9).unwrap()));
}

#[test]
fn an_address_must_be_public_and_encrypted_unless_the_settings_say_otherwise() {
    let url = |url: &str| {
        let url = url.to_owned();
        error(|config| config.url = url)
    };
    let plain = "must be https://…; http:// only with allow_http = true";
    for address in ["http://example.org/secret", "ftp://example.org/secret", "//example.org/secret"]
    {
        let error = url(address);
        assert!(error.ends_with(plain) && !error.contains("secret"), "{error}");
    }
    for address in [
        "https://localhost/secret",
        "https://LocalHost:8443/secret",
        "https://127.0.0.1/secret",
        "https://10.0.0.1:99/secret",
        "https://169.254.169.254/secret",
        "https://[::1]/secret",
        "https://[::ffff:192.168.0.1]/secret",
        "https://[fd00::1]/secret",
    ] {
        let error = url(address);
        assert!(error.ends_with("others only with allow_private = true"), "{error}");
        assert!(!error.contains("secret"), "{error}");
        let private = WebhookConfig { url: address.to_owned(), allow_private: true, ..config() };
        assert_eq!(private.check(), Ok(()));
    }
    let error = url("https://user:hunter2@example.org/");
    assert!(error.ends_with("with a host and without a password") && !error.contains("hunter2"));
    assert!(url("no address").contains("an absolute address"));
    let plain = WebhookConfig { url: "http://example.org/".into(), allow_http: true, ..config() };
    assert_eq!(plain.check(), Ok(()));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for name in ["", "River", "a/b", "..", &"x".repeat(65)] {
        let name = name.to_owned();
        assert!(error(|config| config.name = name).contains("lowercase letters, digits, - and _"));
    }
    let twice = WebhookConfig::check_all(&[config(), config()]).unwrap_err().to_string();
    assert_eq!(twice, "webhooks.name is \"river\"; it must be different for each");
    let many: Vec<_> =
        (0..101).map(|at| WebhookConfig { name: at.to_string(), ..config() }).collect();
    let many = WebhookConfig::check_all(&many).unwrap_err().to_string();
    assert_eq!(many, "webhooks is a list of 101; it must be at most 100 tables");
    assert_eq!(
        error(|config| config.place = Some([35.4, -97.5])),
        "webhooks.place is [35.4, -97.5]; it must be a longitude from -180 to 180 and a latitude from \
         -90 to 90"
    );
    assert!(error(|config| config.bbox = Some([0.0, 2.0, 1.0, 1.0])).contains("webhooks.bbox"));
    assert!(error(|config| config.codes = vec!["OK".into()]).contains("webhooks.codes is \"OK\""));
    let cross = vec![[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 1.0]];
    assert!(error(|config| config.polygon = cross).contains("crosses itself"));
    assert!(error(|config| config.polygon = vec![[0.0, 0.0], [1.0, 1.0]]).contains("polygon"));
    let infinite = vec![[0.0, f64::NAN], [1.0, 1.0], [1.0, 0.0]];
    assert!(error(|config| config.polygon = infinite).contains("polygon"));
    assert_eq!(
        error(|config| config.lang = "de".into()),
        "webhooks.lang is \"de\"; it must be en or fr"
    );
    assert_eq!(error(|config| config.timeout_s = 0), "webhooks.timeout_s is 0; it must be 1 to 60");
}
