//! How long answers may be cached, and their encodings.

use axum::http::header;
use mesonet::access::Plan;

use super::{MODELS, RUN, of_models, point, series, service, tile};

#[test]
fn what_is_published_is_cached_for_ever_and_what_may_change_is_revalidated() {
    let service = service();
    let lasting = "public, max-age=31536000, immutable";
    let cache_control = |path: &str| {
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header(header::ETAG).unwrap().starts_with('"'));
        answer.header(header::CACHE_CONTROL).unwrap().to_owned()
    };
    let of_point = point("hour=0&row=40&col=20&fields=u,prmsl");
    let of_tile = tile("u/data/3/1/3?hour=0&level=0");
    let of_series = series("row=40&col=20&fields=prmsl");
    assert_eq!(cache_control(&of_point), lasting);
    assert_eq!(cache_control(&of_tile), lasting);
    assert_eq!(cache_control(&format!("/models/nam211/grid?run={RUN}")), lasting);
    // The second hour is yet to come.
    assert_eq!(cache_control(&of_series), "no-cache");
    let tags = [&of_point, &of_tile, &of_series]
        .map(|path| service.get(path).header(header::ETAG).unwrap().to_owned());
    for (path, tag) in [&of_point, &of_tile, &of_series].into_iter().zip(&tags) {
        let known = service.get_with(path, &[(header::IF_NONE_MATCH, tag)]);
        assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
        assert_eq!(known.header(header::ETAG), Some(&**tag));
    }

    service.publish_second_hour();
    // All pressure is there, but not the second hour of the winds.
    assert_eq!(cache_control(&of_series), lasting);
    assert_eq!(cache_control(&series("row=40&col=20&fields=prmsl,u")), "no-cache");
    assert_eq!(cache_control(&point("hour=1&row=40&col=20&fields=prmsl")), lasting);
    assert_eq!(cache_control(&point("hour=1&row=40&col=20&fields=prmsl,u")), "no-cache");
    // A component is made from both.
    assert_eq!(cache_control(&tile("u/data/3/1/3?hour=1&level=0")), "no-cache");
    let now = [&of_point, &of_tile, &of_series]
        .map(|path| service.get(path).header(header::ETAG).unwrap().to_owned());
    assert_eq!((&tags[0], &tags[1]), (&now[0], &now[1]));
    assert_ne!(tags[2], now[2]);
    // No cache may keep a refusal.
    let refused =
        service.get_with(&point("hour=9&row=0&col=0&fields=u"), &[(header::IF_NONE_MATCH, "*")]);
    let cached = refused.header(header::CACHE_CONTROL);
    assert_eq!((refused.status.as_u16(), cached), (400, Some("no-cache")));
}

/// The newest run may be another one next time, so answers about it are not cached.
#[test]
fn answers_about_the_newest_run_are_not_cached() {
    let service = service();
    for path in ["/models/nam211/grid", "/models/nam211/locate?lat=43&lon=-120"] {
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-store"), "{path}");
        assert_eq!(answer.header(header::ETAG), None, "{path}");
    }
    for path in ["/models/nam211/runs", "/models/nam211/products"] {
        let answer = service.get(path);
        assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-cache"), "{path}");
    }
}

/// Once all hours are there with all products, nothing about the run can change.
#[test]
fn series_and_products_of_a_whole_run_are_immutable() {
    let service = service();
    let products = format!("/models/nam211/products?run={RUN}");
    let of_series = series("row=40&col=20&fields=prmsl,u&winds=earth");
    let cache_control = |path: &str| {
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header(header::ETAG).unwrap().starts_with('"'));
        answer.header(header::CACHE_CONTROL).unwrap().to_owned()
    };
    let definition = service.run().definition().clone();
    let parts: [&dyn Fn(); 3] = [
        &|| service.publish_second_hour(),
        &|| service.publish_wind(&definition, "u", 1_537_160_460_000),
        &|| service.publish_wind(&definition, "v", 1_537_160_520_000),
    ];
    for publish in parts {
        assert_eq!(cache_control(&products), "no-cache");
        assert_eq!(cache_control(&of_series), "no-cache");
        publish();
    }
    let lasting = "public, max-age=31536000, immutable";
    assert_eq!(cache_control(&products), lasting);
    assert_eq!(cache_control(&of_series), lasting);
    // Another run may be the newest next time.
    for path in ["/models/nam211/products", "/models/nam211/products?run=latest"] {
        assert_eq!(cache_control(path), "no-cache");
    }
}

/// A turned wind is made from both components. Without the other one it is not final.
#[test]
fn a_wind_with_one_component_missing_is_revalidated() {
    let service = service();
    let turned = [
        tile("u/data/3/1/3?hour=1&level=0"),
        point("hour=1&row=40&col=20&fields=u&winds=earth"),
        series("row=40&col=20&fields=u&winds=earth"),
    ];
    let as_they_are = [point("hour=1&row=40&col=20&fields=u"), series("row=40&col=20&fields=u")];
    let lasting = "public, max-age=31536000, immutable";
    let got = |path: &String, cache_control: &str| {
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header(header::CACHE_CONTROL), Some(cache_control), "{path}");
        (answer.header(header::ETAG).unwrap().to_owned(), answer.body)
    };
    service.publish_wind(&service.run().definition().clone(), "u", 1_537_160_400_000);
    let before = turned.each_ref().map(|path| got(path, "no-cache"));
    for path in &as_they_are {
        got(path, lasting);
    }
    service.publish_wind(&service.run().definition().clone(), "v", 1_537_160_460_000);
    for (path, before) in turned.iter().zip(before) {
        let now = got(path, lasting);
        assert_ne!(before.0, now.0, "{path}");
        assert_ne!(before.1, now.1, "{path}");
    }
}

/// If winds are already along the meridians, a tile of one component does not need the other.
#[test]
fn a_wind_that_is_not_turned_does_not_need_the_other_component() {
    let service = service();
    let mut definition = service.run().definition().clone();
    definition.run = "20180917T060000Z".parse().unwrap();
    definition.valid_ms.iter_mut().for_each(|valid_ms| *valid_ms += 6 * 3_600_000);
    definition.grid.grid_relative_winds = false;
    service.publish_wind(&definition, "u", 1_537_160_400_000);
    let path = "/models/nam211/products/u/data/3/1/3?hour=1&level=0&run=20180917T060000Z";
    let answer = service.get(path);
    assert_eq!(answer.status, 200);
    let lasting = Some("public, max-age=31536000, immutable");
    assert_eq!(answer.header(header::CACHE_CONTROL), lasting);
}

/// No shared cache may keep answers that are not open to everyone.
#[test]
fn listings_of_a_restricted_model_are_private() {
    let models = MODELS.replacen("access = { plan = \"none\" }", "access = { plan = \"pro\" }", 1);
    let service = of_models(&models, Plan::Pro);
    for path in ["/models/nam211/runs", "/models/nam211/products"] {
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header(header::CACHE_CONTROL), Some("private, no-cache"), "{path}");
    }
    service.publish_second_hour();
    for (path, cache_control) in [
        (point("hour=1&row=40&col=20&fields=u"), "private, no-cache"),
        (point("hour=0&row=40&col=20&fields=u"), "private, max-age=31536000, immutable"),
    ] {
        let answer = service.get(&path);
        assert_eq!(answer.header(header::CACHE_CONTROL), Some(cache_control), "{path}");
    }
}

#[test]
fn a_catalogue_that_makes_another_tile_gives_it_another_tag() {
    let prmsl = tile("prmsl/data/3/1/3?hour=0");
    let u = tile("u/data/3/1/3?hour=0&level=0");
    let of = |models: &str, path: &str| {
        let got = of_models(models, Plan::None).get(path);
        assert_eq!(got.status, 200);
        (got.header(header::ETAG).unwrap().to_owned(), got.body)
    };
    let nearest = MODELS.replace("level = \"101\" }", "level = \"101\", sampling = \"nearest\" }");
    let no_wind = MODELS.replace("winds = [[\"u\", \"v\"]]", "");
    for (models, path, changes) in [
        (&nearest, &prmsl, true),
        (&nearest, &u, false),
        (&no_wind, &prmsl, false),
        (&no_wind, &u, true),
    ] {
        assert_ne!(models, MODELS);
        let (before, after) = (of(MODELS, path), of(models, path));
        assert_eq!((before.0 != after.0, before.1 != after.1), (changes, changes), "{path}");
    }
}

#[test]
fn tiles_and_answers_come_in_the_encoding_that_the_caller_takes() {
    let service = service();
    for path in [tile("prmsl/data/3/1/3?hour=0"), point("hour=0&row=4&col=2&fields=u")] {
        let plain = service.get(&path);
        let mut tags = vec![plain.header(header::ETAG).unwrap().to_owned()];
        for encoding in ["gzip", "br", "zstd"] {
            let encoded = service.get_with(&path, &[(header::ACCEPT_ENCODING, encoding)]);
            assert_eq!(encoded.header(header::CONTENT_ENCODING), Some(encoding));
            assert_eq!(encoded.header(header::VARY), Some("accept-encoding"));
            assert_eq!(encoded.bytes(), plain.body);
            tags.push(encoded.header(header::ETAG).unwrap().to_owned());
        }
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), 4);
    }
}
