//! What the model service refuses, and how.

use std::fs;

use super::{RUN, point, service, tile};

const DAMAGED: &str = "the requested data is damaged and cannot be read";

#[test]
fn what_is_not_there_is_a_404_and_what_is_out_of_range_a_400() {
    let service = service();
    for (path, status, text) in [
        ("/models/x/runs", 404, "unknown model \"x\"; known are later, nam211"),
        ("/models/x/point?run=1", 404, "unknown model \"x\"; known are later, nam211"),
        (
            "/models/nam211/point?run=20200101T000000Z&hour=0&row=0&col=0&fields=u",
            404,
            "model \"nam211\" has no run 20200101T000000Z",
        ),
        ("/models/later/products", 404, "model \"later\" has no runs"),
        (
            "/models/nam211/point?run=2018&hour=0&row=0&col=0&fields=u",
            400,
            "invalid run \"2018\": it must be yyyyMMddTHHmmssZ, for example 20180917T000000Z",
        ),
        (
            "/models/nam211/point?hour=0&row=0&col=0&fields=u",
            400,
            "run is required: a run of /runs, for example 20180917T000000Z, or latest",
        ),
        (&point("row=0&col=0&fields=u"), 400, "hour is required"),
        (
            &point("hour=0&row=0&col=0&fields=,"),
            400,
            "fields is required: names of products, comma-separated",
        ),
        (
            &point("hour=0&row=0&col=0&fields=u&fields=v"),
            400,
            "fields is given 2 times; it must be given only once",
        ),
        (&point("hour=2&row=0&col=0&fields=u"), 400, "hour 2 is out of range: it must be 0 to 1"),
        (
            &point("hour=-1&row=0&col=0&fields=u"),
            400,
            "hour must be a non-negative integer; got \"-1\"",
        ),
        (
            &point("hour=1&row=0&col=0&fields=u"),
            404,
            "hour 1 of run 20180917T000000Z is not published yet; published hours: 0",
        ),
        (
            &point("hour=0&row=65&col=0&fields=u"),
            400,
            "row 65, column 0 is not on the grid; allowed are rows 0 to 64 and columns 0 to 92",
        ),
        (
            &point("hour=0&row=0&col=0&fields=u,w"),
            400,
            "unknown product \"w\" of model \"nam211\"; known are prmsl, u, v",
        ),
        (
            &point("hour=0&row=0&col=0&fields=u&level=2"),
            400,
            "level 2 is out of range: it must be 0 to 1",
        ),
        (
            &tile("w/data/0/0/0?hour=0"),
            404,
            "unknown product \"w\" of model \"nam211\"; known are prmsl, u, v",
        ),
        (
            &tile("u/data/0/0/0?hour=0"),
            400,
            "level is required: an index into levels_hpa, 0 to 1, or level_hpa",
        ),
        (&tile("u/data/0/0/0?hour=0&level=2"), 400, "level 2 is out of range: it must be 0 to 1"),
        (
            &tile("prmsl/data/2/4/0?hour=0"),
            400,
            "invalid tile 2/4/0: z must be 0 to 22, x and y 0 to 2^z - 1",
        ),
        (
            &tile("prmsl/data/a/4/0?hour=0"),
            400,
            "a tile is data/z/x/y with non-negative integers; got \"a\"",
        ),
        ("/models/nam211/locate?lat=91&lon=0", 400, "latitude must be from -90 to 90; got 91"),
        ("/models/nam211/locate", 400, "lat and lon are required"),
    ] {
        service.get(path).refuses(status, text);
    }
    service.get("/models/nam211/points").is_empty(404);
    service.get("/models").is_empty(404);
}

#[test]
fn fields_are_a_bounded_number_of_names() {
    let service = service();
    let names: Vec<String> = (0..1025).map(|n| format!("p{n}")).collect();
    service
        .get(&point(&format!("hour=0&row=0&col=0&fields={}", names.join(","))))
        .refuses(400, "fields names 1025 products; the limit is 1024");
    // A name that is repeated counts once.
    let repeated = "u,".repeat(5_000);
    let answer = service.json(&point(&format!("hour=0&row=0&col=0&fields={repeated}")));
    assert_eq!(answer["fields"].as_object().unwrap().len(), 1);
}

#[test]
fn a_damaged_shard_is_a_503_and_other_fields_are_still_served() {
    let service = service();
    let shard = service.folder.path().join("models/nam211").join(RUN).join("u/c/0/0/0/0");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[17] ^= 1;
    fs::write(&shard, bytes).unwrap();
    service.get(&point("hour=0&row=0&col=0&fields=u")).refuses(503, DAMAGED);
    service.get(&tile("u/data/2/0/1?hour=0&level=0")).refuses(503, DAMAGED);
    // What is intact is served.
    assert_eq!(service.get(&point("hour=0&row=0&col=0&fields=v")).status, 200);
}
