//! The explorer at `/`: its files in each encoding, and whose pages may frame it.

use std::collections::HashSet;

use axum::body::Body;
use axum::http::{HeaderName, Method, header};
use mesonet_server::Config;

use crate::support::{Answer, Api, TestStore, store};

fn ask(api: &Api, uri: &str, more: &[(HeaderName, &str)]) -> Answer {
    let headers = [&[(header::ACCEPT, "text/html")], more].concat();
    api.call(Method::GET, uri, &headers, Body::empty())
}

#[test]
fn files_are_sent_in_brotli_as_they_were_built_and_in_other_encodings_with_their_own_tags() {
    let api = Api::new(store([]));
    for (uri, built) in [
        ("/", &include_bytes!("../../server-example/web/dist/index.html.br")[..]),
        ("/robots.txt", include_bytes!("../../server-example/web/dist/robots.txt.br")),
        (
            "/explorer/report.wasm",
            include_bytes!("../../server-example/web/dist/explorer/report.wasm.br"),
        ),
    ] {
        let plain = ask(&api, uri, &[]).bytes();
        assert!(plain.len() > built.len() / 2, "{uri}");
        let mut tags = HashSet::new();
        for (accepted, sent) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("br;q=0, gzip", Some("gzip")),
            ("zstd", Some("zstd")),
            ("identity", None),
        ] {
            let encoding = (header::ACCEPT_ENCODING, accepted);
            let answer = ask(&api, uri, std::slice::from_ref(&encoding));
            assert_eq!(answer.status, 200, "{uri} {accepted}");
            assert_eq!(answer.header(header::CONTENT_ENCODING), sent, "{uri} {accepted}");
            assert!(answer.header(header::VARY).unwrap().contains("accept-encoding"), "{uri}");
            assert!(answer.bytes() == plain, "{uri} {accepted}");
            assert!(sent != Some("br") || answer.body == built, "{uri}");
            let tag = answer.header(header::ETAG).unwrap().to_owned();
            let known = ask(&api, uri, &[encoding, (header::IF_NONE_MATCH, &tag)]);
            known.is_empty(304);
            assert_eq!(known.header(header::ETAG), Some(&*tag), "{uri} {accepted}");
            tags.insert(tag);
        }
        assert_eq!(tags.len(), 4, "{uri}: {tags:?}");
    }
}

#[test]
fn only_pages_of_the_sites_that_are_named_may_frame_the_explorer() {
    let framers = |sites: &[&str], uri: &str| {
        let frame_origins = sites.iter().map(|&site| site.to_owned()).collect();
        let config = Config { frame_origins, ..Config::default() };
        let answer = ask(&Api::with(config, TestStore::default()), uri, &[]);
        let policy = answer.header(header::CONTENT_SECURITY_POLICY).unwrap().to_owned();
        policy.split_once("frame-ancestors ").unwrap().1.to_owned()
    };
    assert_eq!(framers(&[], "/"), "'none'");
    let sites = ["https://example.org", "https://*.example.org"];
    assert_eq!(framers(&sites, "/"), "https://example.org https://*.example.org");
    assert_eq!(framers(&sites, "/swagger"), "'none'");
}
