//! Files that break off or are damaged, and what they leave until they arrive whole.

use mesonet::model;
use mesonet::model::RunStamp;

use super::messages::{message, octet, own};
use super::support::{START_MS, deliver_named, grib, new_store};

fn whole() -> Vec<u8> {
    let fields = [(0, 0), (1, 0), (3, 0), (5, 0), (0, 1)];
    fields.map(|(number, hour)| message(number, hour, 0)).concat()
}

/// Returns where each message of a file begins.
fn starts(file: &[u8]) -> Vec<usize> {
    (0..file.len()).filter(|&at| file[at..].starts_with(b"GRIB")).collect()
}

fn run(store: &model::RunStore) -> model::Run {
    let run = store.newest_run("stated").unwrap();
    assert_eq!(run.verify(), []);
    run
}

#[test]
fn a_file_that_breaks_off_leaves_its_hours_open_until_it_arrives_whole() {
    let (catalogue, file) = (own(), whole());
    let source = catalogue.get("stated").unwrap();
    let starts = starts(&file);
    for (at, used) in [
        (starts[1] + 2, 1),
        (starts[1] + 9, 1),
        (starts[2] - 1, 1),
        (starts[3] + 200, 3),
        (file.len() - 1, 4),
    ] {
        let (_folder, store) = new_store();
        let report = deliver_named(source, &store, &[("f000.grib2", &file[..at])], 1);
        assert_eq!((report.used, report.broken_files.len()), (used, 1), "{at}: {report:?}");
        assert!(!report.is_whole());
        let cut = run(&store);
        assert!(!cut.published()[0].is_whole() && cut.published()[0].broken.contains("f000.grib2"));
        assert!(cut.has("pressure", 0) && !cut.is_whole("pressure", 0), "it was read whole");

        // Another file says nothing about this one.
        let other = deliver_named(source, &store, &[("f000.gust.grib2", &message(1, 0, 0))], 2);
        assert!(other.is_whole());
        assert!(!run(&store).is_whole("pressure", 0));

        let report = deliver_named(source, &store, &[("in/f000.grib2.gz", &file)], 3);
        assert!(report.is_whole(), "{report:?}");
        assert_eq!(report.used + report.there_already, 5);
        let now = run(&store);
        assert!(
            now.is_whole("pressure", 0) && now.is_whole("pressure", 1),
            "{:?}",
            now.published()
        );
        let wind = now.product("wind").unwrap();
        assert!(
            wind.value(0, 0, 3, 3).unwrap().is_some() && wind.value(0, 2, 3, 3).unwrap().is_some()
        );
    }
}

/// A file that ends where a message ends cannot be told from a whole one: what is missing is what the
/// catalogue has beyond it.
#[test]
fn a_file_cut_between_two_messages_leaves_what_did_not_arrive_missing() {
    let (catalogue, file) = (own(), whole());
    let source = catalogue.get("stated").unwrap();
    let (_folder, store) = new_store();
    let report = deliver_named(source, &store, &[("f000", &file[..starts(&file)[3]])], 1);
    assert!(report.is_whole());
    let cut = run(&store);
    assert!(!cut.published()[0].is_whole(), "the wind lacks two levels");
    assert_eq!(cut.published()[0].partial["wind"], [0, 1]);
    assert!(cut.is_whole("pressure", 0) && !cut.is_whole("wind", 0));
    deliver_named(source, &store, &[("f000", &file)], 2);
    assert_eq!(run(&store).published()[0].partial["wind"], [1]);
}

#[test]
fn garbage_within_a_file_is_noticed() {
    let (catalogue, file) = (own(), whole());
    let source = catalogue.get("stated").unwrap();
    let starts = starts(&file);
    for (from, to, lost) in [
        (starts[2], starts[2] + 4, 1),
        (starts[2] + 30, starts[2] + 700, 1),
        // The field before was read before the end of its message was missed.
        (starts[2] - 3, starts[3] + 10, 2),
    ] {
        let mut bytes = file.clone();
        bytes[from..to].fill(0x5a);
        let (_folder, store) = new_store();
        let report = deliver_named(source, &store, &[("f000", &bytes)], 1);
        assert_eq!((report.used, report.is_whole()), (5 - lost, false), "{from}: {report:?}");
        assert!(run(&store).published()[0].broken.contains("f000"));
        deliver_named(source, &store, &[("f000", &file)], 2);
        assert!(run(&store).published()[0].broken.is_empty());
    }
    // Headings of bulletins and some padding are not.
    let bulletin = b"####018000219####\r\r\nYTQA98 KWBC 170000\r\r\n".to_vec();
    let parts: Vec<Vec<u8>> =
        starts.windows(2).map(|ends| file[ends[0]..ends[1]].to_vec()).collect();
    let bytes: Vec<u8> =
        parts.iter().flat_map(|part| [&bulletin[..], part]).flatten().copied().collect();
    let (_folder, store) = new_store();
    assert!(deliver_named(source, &store, &[("bulletins", &bytes)], 1).is_whole());
}

#[test]
fn values_beyond_a_packing_are_refused_with_what_it_holds() {
    let (_folder, store) = new_store();
    let text = "[narrow]\ntitle = \"n\"\nhours = \"0-3\"\nproducts = [{ name = \"pressure\", unit = \
                \"Pa\", scale = 0.03125, offset = 101325, parameter = \"7:0.3.1\", level = \"101\" }]";
    let catalogue = model::Catalogue::from_toml(text).unwrap();
    let source = catalogue.get("narrow").unwrap();
    let report = deliver_named(source, &store, &[("f000", &message(0, 0, 0))], 1);
    assert_eq!((report.used, report.refused, report.is_whole()), (0, 1, false));
    let refusal = report.refusals[0].to_string();
    assert!(
        refusal.starts_with("field 1 (7:0.3.1): ")
            && refusal.ends_with(
                " is beyond the packing of product pressure, which holds 100301.03125 to 102348.96875; a \
                 larger scale, or packing = \"auto\", would hold it"
            ),
        "{refusal}"
    );
}

#[test]
fn a_run_in_the_future_is_refused_and_takes_the_place_of_none() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    deliver_named(source, &store, &[("a", &message(0, 0, 0)), ("b", &message(0, 0, 1))], 1);
    let before = store.runs("stated").unwrap();
    for year in [2099_u16, 8995] {
        let mut future = message(0, 0, 0);
        for (at, byte) in (13..).zip(year.to_be_bytes()) {
            *octet(&mut future, 1, at) = byte;
        }
        let file = [future, message(0, 1, 1)].concat();
        let report = deliver_named(source, &store, &[("future", &file)], 2);
        assert_eq!(report.refused, 1);
        assert_eq!(
            report.refusals[0].to_string(),
            format!(
                "fields of run {year}0917T000000Z (1): run {year}0917T000000Z is in the future: it is \
                 2033-05-18T03:33:20.002Z now"
            )
        );
        assert_eq!(store.runs("stated").unwrap(), before);
    }
    assert_eq!(RunStamp::from_ms(START_MS + 86_400_000).unwrap(), before[0]);
}

/// Until it is set aside, what is damaged is neither there nor overwritten; then the same file puts
/// it back.
#[test]
fn what_is_damaged_is_not_there_already_and_is_put_back_once_it_is_set_aside() {
    let ((folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let file = whole();
    deliver_named(source, &store, &[("f000", &file)], 1);
    let intact = run(&store);
    let values = |run: &model::Run| {
        let value = |product, level| run.product(product).unwrap().value(0, level, 30, 30);
        [value("pressure", 0), value("gust", 0), value("wind", 0), value("wind", 2)]
    };
    let before = values(&intact);
    let stamp = intact.definition().run;
    drop(intact);
    let of_run = folder.path().join("stated").join(stamp.to_string());
    let shard = of_run.join("wind/c/0/0/0/0");
    let mut bytes = std::fs::read(&shard).unwrap();
    bytes[600] ^= 1;
    std::fs::write(&shard, &bytes).unwrap();

    let report = deliver_named(source, &store, &[("f000", &file)], 2);
    assert_eq!((report.used, report.there_already, report.refused), (0, 3, 2), "{report:?}");
    assert!(
        !report.is_whole() && report.broken_files[0].1.contains("wind/c/0/0/0/0 is damaged: chunk")
    );
    // Another level of it neither.
    let report = deliver_named(source, &store, &[("f000", &message(5, 0, 0))], 2);
    assert_eq!((report.used, report.refused, report.is_whole()), (0, 1, false));
    assert_eq!(std::fs::read(&shard).unwrap(), bytes);

    let aside = folder.path().join("aside");
    assert_eq!(store.set_aside("stated", stamp, &aside).unwrap().faults.len(), 1);
    let lost = run(&store);
    assert!(
        lost.product("wind").unwrap().value(0, 0, 3, 3).is_err(),
        "it is not said to be missing"
    );
    assert_eq!(values(&lost)[..2], before[..2]);
    let report = deliver_named(source, &store, &[("f000", &file)], 3);
    assert_eq!((report.used, report.there_already, report.is_whole()), (2, 3, true));
    assert_eq!(values(&run(&store)), before);

    // The document of the run: the run goes as a whole, and comes back as a whole.
    std::fs::write(of_run.join("zarr.json"), "{").unwrap();
    let report = deliver_named(source, &store, &[("f000", &file)], 4);
    assert_eq!((report.used, report.there_already, report.is_whole()), (0, 0, false));
    store.set_aside("stated", stamp, &aside).unwrap();
    assert!(deliver_named(source, &store, &[("f000", &file)], 5).is_whole());
    assert_eq!(values(&run(&store)), before);
}

#[test]
fn runs_are_kept_within_so_many_bytes() {
    let (_folder, store) = new_store();
    let text = "[small]\ntitle = \"s\"\nkeep_bytes = 36000\nproducts = [{ name = \"pressure\", unit = \
                \"Pa\", scale = 0.5, offset = 100000, parameter = \"7:0.3.1\", level = \"101\" }]";
    let catalogue = model::Catalogue::from_toml(text).unwrap();
    let source = catalogue.get("small").unwrap();
    let deliver = |day: u8| deliver_named(source, &store, &[("a", &message(0, 0, day))], 1);
    for day in [1, 2, 3] {
        let report = deliver(day);
        assert_eq!((report.used, report.removed.len()), (1, usize::from(day == 3)), "{report:?}");
    }
    let runs = store.runs("small").unwrap();
    let bytes = runs.iter().map(|run| store.run_bytes("small", *run).unwrap()).sum::<u64>();
    assert!(runs.len() == 2 && (18_000..=36_000).contains(&bytes), "{bytes}");
}

/// The messages of a file whose fields are all of products, in 20 files that are cut elsewhere.
#[test]
fn what_breaks_off_anywhere_is_completed_by_the_whole_file() {
    let catalogue = model::Catalogue::from_toml(
        "[some]\ntitle = \"s\"\nproducts = [{ name = \"wind\", unit = \"m/s\", packing = \"auto\", \
         parameter = \"7:0.2.2\", level = \"100\" }, { name = \"gust\", unit = \"m/s\", packing = \
         \"auto\", parameter = \"7:0.2.22\", level = \"1\" }]",
    )
    .unwrap();
    let source = catalogue.get("some").unwrap();
    let file = grib("nam211_20180917T00Z_f000");
    for at in (1..20).map(|part| file.len() * part / 20) {
        let (_folder, store) = new_store();
        let cut = deliver_named(source, &store, &[("f000", &file[..at])], 1);
        assert!(!cut.is_whole() || starts(&file).contains(&at), "{at}");
        assert!(deliver_named(source, &store, &[("f000", &file)], 2).is_whole());
        let run = store.newest_run("some").unwrap();
        assert!(run.published()[0].is_whole() && run.verify().is_empty(), "{at}");
    }
}
