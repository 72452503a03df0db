use proptest::prelude::*;

use super::*;

/// A listing by Apache with `FancyIndexing`.
const APACHE: &str = r#"<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
<html><head><title>Index of /today/observations/swob-ml/20240803</title></head><body>
<h1>Index of /today/observations/swob-ml/20240803</h1>
<pre><img src="/icons/blank.gif" alt="Icon "> <a href="?C=N;O=D">Name</a>  <a href="?C=M;O=A">Last modified</a>      <a href="?C=S;O=A">Size</a>  <a href="?C=D;O=A">Description</a><hr><img src="/icons/back.gif" alt="[PARENTDIR]"> <a href="/today/observations/swob-ml/">Parent Directory</a>                             -   
<img src="/icons/folder.gif" alt="[DIR]"> <a href="CYYZ/">CYYZ/</a>                   2024-08-03 21:05    -   
<img src="/icons/text.gif" alt="[TXT]"> <a href="CYVR-MAN-swob.xml">CYVR-MAN-swob.xml</a>       2024-08-03 21:04  9.8K  
<img src="/icons/text.gif" alt="[TXT]"> <a href="CYVR-AUTO-minute-swob.xml">CYVR-AUTO-minute-sw..&gt;</a> 2024-08-03 21:05   12K  
<hr></pre></body></html>"#;

/// A listing by Apache with `HTMLTable`.
const TABLE: &str = r#"<table><tr><th><a href="?C=N;O=D">Name</a></th></tr>
<tr><td valign="top"><img src="/icons/folder.gif" alt="[DIR]"></td><td><a href="CYYZ/">CYYZ/</a></td><td align="right">2024-08-03 21:05  </td><td align="right">  - </td></tr>
<tr><td><img src="/icons/unknown.gif"></td><td><A HREF='CYVR-MAN-swob.xml'>CYVR-MAN-swob.xml</A></td><td align="right">2024-08-03 21:04  </td><td align="right">9.8K</td></tr>
</table>"#;

/// A listing by nginx.
const NGINX: &str = "<pre><a href=\"../\">../</a>\r\n<a href=\"CYYZ/\">CYYZ/</a>         \
    03-Aug-2024 21:05                   -\r\n<a href=\"CYVR-MAN-swob.xml\">CYVR-MAN-swob.xml</a>  \
    03-Aug-2024 21:04                9984\r\n</pre>";

fn at(text: &str) -> Option<i64> {
    parse_instant(text).ok()
}

fn brief(page: &str) -> Vec<(String, bool, Option<i64>)> {
    let entries = read_listing(page).unwrap();
    entries.into_iter().map(|entry| (entry.name, entry.is_folder, entry.modified_ms)).collect()
}

#[test]
fn listings_of_apache_and_nginx_give_names_kinds_and_times() {
    let manual = ("CYVR-MAN-swob.xml".to_owned(), false, at("2024-08-03T21:04:00Z"));
    let folder = ("CYYZ".to_owned(), true, at("2024-08-03T21:05:00Z"));
    let minute = ("CYVR-AUTO-minute-swob.xml".to_owned(), false, at("2024-08-03T21:05:00Z"));
    assert_eq!(brief(APACHE), [minute, manual.clone(), folder.clone()]);
    assert_eq!(brief(TABLE), [manual.clone(), folder.clone()]);
    assert_eq!(brief(NGINX), [manual, folder]);
}

#[test]
fn a_plain_list_of_links_has_no_times() {
    assert_eq!(
        brief("<ul><li><a href=\"a.xml\"> a.xml</a></li></ul>"),
        [("a.xml".to_owned(), false, None)]
    );
}

#[test]
fn links_that_lead_elsewhere_are_left_out() {
    for href in [
        "../",
        "..",
        ".",
        "/",
        "/a.xml",
        "//host/a.xml",
        "https://host/a.xml",
        "a/b.xml",
        "?C=N",
        "a.xml?b",
        "#a",
        "a%2Fb.xml",
        "a b.xml",
        "a\\b",
        "javascript:x",
        "a&amp;b",
        "é.xml",
        "",
        ".hidden",
    ] {
        assert_eq!(brief(&format!("<a href=\"{href}\">x</a> 2024-08-03 21:05 1K")), [], "{href}");
    }
    let long = "a".repeat(256);
    assert_eq!(brief(&format!("<a href=\"{long}\">x</a>")), []);
    assert_eq!(brief("<a>x</a><a name=\"href\"><a href=x><a href=\"x"), []);
}

#[test]
fn a_stamp_changes_with_time_and_size_and_nothing_else() {
    let stamp = |page: &str| read_listing(page).unwrap()[0].stamp;
    let first = stamp("<a href=\"a.xml\">a</a> 2024-08-03 21:05 1K");
    assert_eq!(
        first,
        stamp("<b><a class='x' href=\"a.xml\">a</a></b>  2024-08-03 21:05   1K  new")
    );
    for other in [
        "<a href=\"a.xml\">a</a> 2024-08-03 21:06 1K",
        "<a href=\"a.xml\">a</a> 2024-08-03 21:05 2K",
        "<a href=\"b.xml\">a</a> 2024-08-03 21:05 1K",
        "<a href=\"a.xml/\">a</a> 2024-08-03 21:05 1K",
    ] {
        assert_ne!(first, stamp(other), "{other}");
    }
}

#[test]
fn a_minute_is_settled_once_it_is_over() {
    let entry = &read_listing("<a href=\"a.xml\">a</a> 2024-08-03 21:05 1K").unwrap()[0];
    assert!(!entry.is_settled(at("2024-08-03T21:05:59Z").unwrap()));
    assert!(!entry.is_settled(at("2024-08-03T21:06:01Z").unwrap()));
    assert!(entry.is_settled(at("2024-08-03T21:06:02Z").unwrap()));
}

#[test]
fn a_listing_without_end_is_refused() {
    use std::fmt::Write;
    let mut page = String::new();
    for i in 0..MAX_ENTRIES {
        write!(page, "<a href=\"{i}.xml\">").unwrap();
    }
    assert_eq!(read_listing(&page).unwrap().len(), MAX_ENTRIES);
    page.push_str("<a href=\"more.xml\">");
    assert_eq!(read_listing(&page), Err(TooManyEntries));
}

proptest! {
    #[test]
    fn any_text_is_read(page in "(<a href=[\"']?|<|>|[a-z/.%?\"' é]|2024-08-03 |21:05){0,60}") {
        for entry in read_listing(&page).unwrap() {
            prop_assert!(!entry.name.contains(['/', '%', '?', '"']));
        }
    }

    #[test]
    fn a_listing_cut_off_anywhere_is_read(cut in 0..APACHE.len()) {
        let whole = brief(APACHE);
        for (name, ..) in brief(&APACHE[..cut]) {
            prop_assert!(whole.iter().any(|entry| entry.0 == name));
        }
    }
}
