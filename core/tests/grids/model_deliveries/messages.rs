//! Deliveries made of real messages, some of them patched: other hours, other runs, other grids.

use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use mesonet::model::{DeliveryLimits, RunStamp};
use mesonet::time::HOUR_MS;
use mesonet::{grib, model};

use super::support::{NOW_MS, START_MS, deliver, grib, new_store};

/// A model whose runs have four hours, laid out at once, and one whose runs follow their files.
pub fn own() -> model::Catalogue {
    let product = |name: &str, parameter: &str, level: &str, more: &str| {
        format!(
            "{{ name = \"{name}\", unit = \"1\", parameter = \"{parameter}\", level = \
             \"{level}\"{more} }},"
        )
    };
    let products = |levels: &str| {
        format!(
            "products = [{}{}{}]\n",
            product("pressure", "7:0.3.1", "101", ", scale = 0.5, offset = 100000"),
            product("gust", "7:0.2.22", "1", ", scale = 0.01"),
            product("wind", "7:0.2.2", "100", &format!(", scale = 0.01{levels}")),
        )
    };
    let text = format!(
        "[stated]\ntitle = \"s\"\nhours = \"0-3\"\nkeep_runs = 2\n{}[open]\ntitle = \"o\"\n{}",
        products(", levels_hpa = [150, 125, 100]"),
        products(""),
    );
    model::Catalogue::from_toml(&text).unwrap()
}

/// Returns an octet of a section of a message, by its number.
pub fn octet(message: &mut [u8], section: u8, number: usize) -> &mut u8 {
    let mut at = 16;
    while message[at + 4] != section {
        at += u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
    }
    &mut message[at + number - 1]
}

/// Messages of the NAM file of the tests by number: 0 pressure, 1 gust, 3 and 5 wind at 100 and
/// 150 hPa; so many hours after the start of the run, on so many days after the first.
pub fn message(number: usize, hour: u8, days: u8) -> Vec<u8> {
    let bytes = grib("nam211_20180917T00Z_f000");
    let mut message = grib::fields(&bytes).nth(number).unwrap().unwrap().to_message();
    *octet(&mut message, 4, 22) = hour;
    *octet(&mut message, 1, 16) += days;
    message
}

pub fn published(run: &model::Run) -> Vec<(usize, i64, Vec<&str>)> {
    run.published()
        .iter()
        .map(|hour| {
            let absent = hour.absent.iter().map(String::as_str).collect();
            (hour.hour, hour.published_ms - NOW_MS, absent)
        })
        .collect()
}

#[test]
fn a_later_delivery_adds_hours_and_the_products_that_an_hour_lacks() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let first = deliver(source, &store, &[&message(0, 0, 0), &message(5, 0, 0)], 10);
    assert_eq!((first.used, first.runs[0].of_hours), (2, 4));
    // One of three levels arrived.
    assert_eq!(first.runs[0].products[1].missing_levels, 2);
    let before = store.newest_run("stated").unwrap();
    assert_eq!(published(&before), [(0, 10, vec!["gust"])]);
    assert_eq!(before.definition().products[2].levels_hpa, Some(vec![150.0, 125.0, 100.0]));
    let wind = before.product("wind").unwrap();
    assert!(wind.value(0, 0, 3, 3).unwrap().is_some());
    assert_eq!(wind.value(0, 2, 3, 3), Ok(None));

    let files = [message(1, 0, 0), message(0, 0, 0), message(0, 2, 0), message(3, 0, 0)].concat();
    let second = deliver(source, &store, &[&files], 20);
    // Pressure of the first hour does not change, and the wind gets another level.
    assert_eq!((second.used, second.there_already, second.refused), (3, 1, 0));
    assert_eq!(second.runs[0].hours, [0, 2]);
    assert_eq!(second.runs[0].products[2].missing_levels, 1);
    let after = store.newest_run("stated").unwrap();
    assert_eq!(published(&after), [(0, 20, vec![]), (2, 20, vec!["gust", "wind"])]);
    let wind = after.product("wind").unwrap();
    assert_eq!(wind.value(0, 0, 3, 3), before.product("wind").unwrap().value(0, 0, 3, 3));
    assert!(wind.value(0, 1, 3, 3) == Ok(None) && wind.value(0, 2, 3, 3).unwrap().is_some());
    assert_eq!(after.published()[0].partial["wind"], [1]);
    // A reader of before sees what it saw.
    assert_eq!(before.product("wind").unwrap().value(0, 2, 3, 3), Ok(None));

    let third = deliver(source, &store, &[&files], 30);
    assert_eq!((third.used, third.there_already, third.files), (0, 4, 1));
    assert!(third.runs.is_empty() && third.unused_files.is_empty());
    assert_eq!(published(&store.newest_run("stated").unwrap()), published(&after));
}

#[test]
fn what_has_no_place_in_its_run_is_refused_with_what_is_allowed() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let mut other_grid = message(1, 0, 0);
    *octet(&mut other_grid, 3, 44) ^= 1;
    let mut template = message(1, 0, 0);
    (*octet(&mut template, 3, 13), *octet(&mut template, 3, 14)) = (0x80, 0x00);
    let mut packing = message(1, 0, 0);
    *octet(&mut packing, 5, 11) = 61;
    let mut level = message(5, 0, 0);
    // 150 hPa are 15000 Pa.
    *octet(&mut level, 4, 27) += 1;
    let files = [message(0, 0, 0), other_grid, template, packing, level, message(0, 9, 0)].concat();
    let report = deliver(source, &store, &[&files, b"GRIB", &message(2, 0, 0)], 1);
    let refusals: Vec<String> = report.refusals.iter().map(ToString::to_string).collect();
    assert_eq!((report.used, report.refused, report.other_fields), (1, 6, 1));
    let (hpa, start) = (&refusals[2], &refusals[0]);
    assert!(
        start.starts_with(
            "field 2 (7:0.2.22): its grid is not that of run 20180917T000000Z: got 65 rows of 93 \
             from "
        ),
        "{start}"
    );
    assert_eq!(
        refusals[1],
        "field 3 (7:0.2.22): unsupported grid template (Arakawa E-staggered, rotated) 32768; \
         supported: 0 (latitude and longitude), 1 (rotated), 10 (Mercator), 20 (polar \
         stereographic), 30 (Lambert), 40 (Gaussian), 32769 (NCEP's rotated)"
    );
    assert!(
        hpa.starts_with("field 5 (7:0.2.2): ")
            && hpa.ends_with(" hPa is not a level of product wind; its levels are 150, 125, 100"),
        "{hpa}"
    );
    assert_eq!(
        refusals[3],
        "field 6 (7:0.3.1): 2018-09-17T09:00:00Z is not an hour of run 20180917T000000Z; its hours \
         are the 4 from 2018-09-17T00:00:00Z to 2018-09-17T03:00:00Z"
    );
    assert_eq!(refusals[4], "field 1: section 0 is cut short: it has 4 octets");
    // Whether a field can be unpacked is only known later.
    assert_eq!(
        refusals[5],
        "field 4 (7:0.2.22): unsupported packing template (logarithms) 61; supported: 0 (simple), \
         2 and 3 (complex), 4 (IEEE), 40 (JPEG 2000), 41 (PNG), 42 (CCSDS)"
    );
    let unused: Vec<&str> = report.unused_files.iter().map(|(_, error)| &**error).collect();
    assert_eq!(
        unused,
        [
            &*refusals[4],
            "none of its fields belongs to a product of model stated; it holds 7:0.3.5"
        ]
    );
    assert_eq!(published(&store.newest_run("stated").unwrap())[0].2, ["gust", "wind"]);
}

#[test]
fn without_stated_hours_a_run_grows_by_what_arrives() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("open").unwrap();
    let report = deliver(source, &store, &[&message(3, 3, 0)], 1);
    assert_eq!((report.used, &*report.runs[0].hours), (1, &[0][..]));
    let first = store.newest_run("open").unwrap();
    let value = |run: &model::Run, hour, level| {
        run.product("wind").unwrap().value(hour, level, 3, 3).unwrap()
    };
    let at_100 = value(&first, 0, 0);
    assert!(at_100.is_some());
    // A level below it, an earlier hour, a later one, another product.
    for (number, hour) in [(5, 3), (5, 0), (3, 6), (0, 0), (3, 0)] {
        let report = deliver(source, &store, &[&message(number, hour, 0)], 2);
        assert_eq!((report.used, report.refused), (1, 0), "{report:?}");
        assert_eq!(store.newest_run("open").unwrap().verify(), []);
    }
    let run = store.newest_run("open").unwrap();
    let definition = run.definition();
    assert_eq!(definition.valid_ms, [0, 3, 6].map(|hour| START_MS + hour * HOUR_MS));
    let names: Vec<&str> = definition.products.iter().map(|product| &*product.name).collect();
    assert_eq!(names, ["pressure", "wind"]);
    assert_eq!(definition.products[1].levels_hpa, Some(vec![150.0, 100.0]));
    assert_eq!(
        published(&run),
        [(0, 2, vec![]), (1, 2, vec!["pressure"]), (2, 2, vec!["pressure"])]
    );
    // As if all had come together.
    let (_folder, other) = new_store();
    let files = [(3, 3), (5, 3), (5, 0), (3, 6), (0, 0), (3, 0)]
        .map(|(number, hour)| message(number, hour, 0));
    let report = deliver(source, &other, &files.each_ref().map(Vec::as_slice), 1);
    assert_eq!(report.used, 6);
    let together = other.newest_run("open").unwrap();
    assert_eq!(together.definition(), definition);
    for (hour, level) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
        assert_eq!(value(&run, hour, level), value(&together, hour, level), "{hour} {level}");
    }
    assert_eq!((value(&run, 1, 1), value(&run, 2, 0)), (at_100, None));
    let found = store.check_run("open", definition.run).unwrap();
    assert_eq!((found.faults, found.surplus), (vec![], vec![]));
    // A run opened before reads the files that were written since, and sees what it saw.
    assert_eq!((value(&first, 0, 0), first.definition().valid_ms.len()), (at_100, 1));

    // No hour before the start.
    let mut before = message(0, 0, 0);
    *octet(&mut before, 4, 19) = 0x80;
    *octet(&mut before, 4, 22) = 6;
    let report = deliver(source, &store, &[&before], 3);
    assert_eq!(
        report.refusals[0].to_string(),
        "field 1 (7:0.3.1): 2018-09-16T18:00:00Z is not an hour of run 20180917T000000Z; its hours \
         are those from 2018-09-17T00:00:00Z to 2019-11-07T15:00:00Z"
    );
}

#[test]
fn a_run_that_differs_from_the_catalogue_takes_nothing() {
    let ((_folder, store), catalogue) = (new_store(), own());
    deliver(catalogue.get("stated").unwrap(), &store, &[&message(0, 0, 0)], 1);
    let text = "[stated]\ntitle = \"s\"\nhours = \"0-9\"\nproducts = [{ name = \"pressure\", unit \
                = \"1\", scale = 5, parameter = \"7:0.3.1\", level = \"101\" }]";
    let other = model::Catalogue::from_toml(text).unwrap();
    let source = other.get("stated").unwrap();
    let report = deliver(source, &store, &[&message(0, 1, 0), &message(0, 1, 1)], 2);
    assert_eq!(
        report.refusals[0].to_string(),
        "field 1 (7:0.3.1): run 20180917T000000Z already exists with hours, products or packing \
         that differ from the current catalogue; it can only grow as it was laid out"
    );
    // The next run follows the catalogue.
    assert_eq!((report.used, report.refused), (1, 1));
    assert_eq!(store.newest_run("stated").unwrap().definition().valid_ms.len(), 10);
}

#[test]
fn of_two_of_the_same_field_the_later_one_counts() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let mut other = message(0, 0, 0);
    // The sign of the reference value.
    *octet(&mut other, 5, 12) ^= 0x80;
    let report = deliver(source, &store, &[&other, &message(0, 0, 0)], 1);
    assert_eq!((report.used, report.replaced, report.files), (1, 1, 2));
    let value = store.newest_run("stated").unwrap().product("pressure").unwrap().value(0, 0, 3, 3);
    assert!(value.unwrap().unwrap() > 90_000.0);
}

/// For example, the rain of the first hour is also that since the start of the run.
#[test]
fn a_field_may_be_of_two_products() {
    let (_folder, store) = new_store();
    let product = |name: &str, scale: f64| {
        format!(
            "{{ name = \"{name}\", unit = \"Pa\", scale = {scale}, offset = 100000, parameter = \
             \"7:0.3.1\", level = \"101\" }},"
        )
    };
    let products = product("fine", 0.5) + &product("coarse", 10.0);
    let catalogue = format!("[two]\ntitle = \"t\"\nproducts = [{products}]");
    let catalogue = model::Catalogue::from_toml(&catalogue).unwrap();
    let report = deliver(catalogue.get("two").unwrap(), &store, &[&message(0, 0, 0)], 1);
    assert_eq!((report.fields, report.used, report.runs[0].products.len()), (1, 1, 2));
    let run = store.newest_run("two").unwrap();
    let value = |name: &str| run.product(name).unwrap().value(0, 0, 3, 3).unwrap().unwrap();
    assert!((value("fine") - value("coarse")).abs() <= 5.25);
}

#[test]
fn the_newest_runs_are_kept_and_an_older_one_is_not_written() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let stamps = |runs: &[RunStamp]| runs.iter().map(RunStamp::to_string).collect::<Vec<_>>();
    let two = deliver(source, &store, &[&message(0, 0, 3), &message(0, 0, 1)], 1);
    assert_eq!((two.used, two.runs.len(), two.removed.len()), (2, 2, 0));
    let newer = deliver(source, &store, &[&message(0, 1, 3), &message(0, 0, 2)], 2);
    assert_eq!(stamps(&newer.removed), ["20180918T000000Z"]);
    let older = deliver(source, &store, &[&message(0, 0, 0)], 3);
    assert_eq!(
        older.refusals[0].to_string(),
        "fields of run 20180917T000000Z (1): run 20180917T000000Z is older than the 2 runs \
         that are kept; the oldest of those is 20180919T000000Z"
    );
    assert_eq!((older.used, older.refused, older.unused_files.len()), (0, 1, 1));
    let runs = store.runs("stated").unwrap();
    assert_eq!(stamps(&runs), ["20180920T000000Z", "20180919T000000Z"]);
    assert_eq!(published(&store.newest_run("stated").unwrap()).len(), 2);
}

#[test]
fn a_run_that_someone_else_writes_is_refused_and_the_others_are_not() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    deliver(source, &store, &[&message(0, 0, 0)], 1);
    let definition = store.newest_run("stated").unwrap().definition().clone();
    let writer = store.write_run(definition).unwrap();
    let report = deliver(source, &store, &[&message(0, 1, 0), &message(0, 1, 1)], 2);
    assert_eq!((report.used, report.refused), (1, 1));
    assert_eq!(
        report.refusals[0].to_string(),
        "fields of run 20180917T000000Z (1): run 20180917T000000Z is being written by someone \
         else"
    );
    drop(writer);
}

#[test]
fn limits_are_enforced() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let delivery = |limits| model::Delivery::new(source, &store, Cursor::new(Vec::new()), limits);
    let mut small = delivery(DeliveryLimits { points: 6044, ..DeliveryLimits::default() });
    small.add("file", &message(0, 0, 0));
    let report = small.write(NOW_MS, || ());
    assert_eq!(
        report.unused_files[0].1,
        "field 1 (7:0.3.1): the field has 6045 points; the limit is 6044"
    );
    let first = message(0, 0, 0);
    let packed_bytes = first.len() as u64;
    let mut few = delivery(DeliveryLimits { packed_bytes, ..DeliveryLimits::default() });
    few.add("first", &first);
    few.add("second", &message(0, 1, 0));
    let report = few.write(NOW_MS, || ());
    assert_eq!((report.used, report.refused), (1, 1));
    assert_eq!(
        report.unused_files[0].1,
        format!(
            "field 1 (7:0.3.1): the fields of the delivery exceed the limit of {packed_bytes} \
             bytes"
        )
    );
    // A field that is refused for the size of all levels together, before memory is taken for them.
    let mut large = message(5, 0, 0);
    for (first, number) in [(7, 1_u32 << 26), (31, 1 << 13), (35, 1 << 13)] {
        for (at, byte) in (first..).zip(number.to_be_bytes()) {
            *octet(&mut large, 3, at) = byte;
        }
    }
    let five = "[five]\ntitle = \"f\"\nproducts = [{ name = \"wind\", unit = \"1\", scale = 0.5, \
                parameter = \"7:0.2.2\", level = \"100\", levels_hpa = [1000, 850, 150, 125, 100] }]";
    let five = model::Catalogue::from_toml(five).unwrap();
    let report = deliver(five.get("five").unwrap(), &store, &[&large], 1);
    assert_eq!(
        report.refusals[0].to_string(),
        "field 1 (7:0.2.2): an hour of product wind has 335544320 values; the limit is 268435456"
    );
    let empty = delivery(DeliveryLimits::default()).write(NOW_MS, || ());
    assert_eq!((empty.fields, empty.files, empty.runs.len()), (0, 0, 0));
}

/// Returns a message without packed numbers: all points have the reference value.
fn of_one_value(mut message: Vec<u8>, value: f32) -> Vec<u8> {
    *octet(&mut message, 5, 20) = 0;
    for number in [16, 17, 18, 19] {
        *octet(&mut message, 5, number) = 0;
    }
    *octet(&mut message, 5, 11) = 0;
    for (number, byte) in (12..).zip(value.to_be_bytes()) {
        *octet(&mut message, 5, number) = byte;
    }
    message
}

#[test]
fn a_field_of_one_value_is_stored_as_one_beside_levels_that_are_not() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let whole = message(5, 0, 0);
    let files = [&of_one_value(message(0, 0, 0), 101_325.0), &of_one_value(message(3, 0, 0), 42.5)];
    let report = deliver(source, &store, &[files[0], files[1], &whole], 1);
    assert_eq!((report.used, report.refused), (3, 0), "{report:?}");
    let run = store.newest_run("stated").unwrap();
    assert_eq!(run.verify(), vec![]);
    let pressure = run.product("pressure").unwrap();
    for (row, column) in [(0, 0), (31, 17), (64, 92)] {
        assert_eq!(pressure.value(0, 0, row, column), Ok(Some(101_325.0)));
        let mut column_of = [0.0_f64; 3];
        run.product("wind").unwrap().column_into(0, row, column, &mut column_of).unwrap();
        let [at_150, at_125, at_100] = column_of;
        assert!(at_125.is_nan() && at_100 == 42.5, "{column_of:?}");
        assert!(at_150.is_finite() && at_150 != at_100, "{column_of:?}");
    }
}

#[test]
fn what_the_fields_of_a_file_cost_is_bounded() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let spool = Cursor::new(Vec::new());
    let mut delivery = model::Delivery::new(source, &store, spool, DeliveryLimits::default());
    let two = [message(0, 0, 0), message(0, 1, 0)].concat();
    let cost = grib::fields(&two).next().unwrap().unwrap().work_cells().unwrap();
    // The second one would cost as much.
    let spent = delivery.add_within("dear", &two, cost + cost / 2);
    assert!(spent >= cost && spent <= cost + cost / 2);
    // A thousand words that do not begin a message, each of which is looked at.
    let spent = delivery.add_within("words", &b"GRIB".repeat(1_000), 10_000);
    assert_eq!(spent, 10_000);
    let report = delivery.write(NOW_MS, || ());
    assert_eq!(report.used, 1);
    let limit = format!(
        "more than {} cells, the limit for a file of its length; fields left out: 1",
        cost + cost / 2
    );
    let first = report.refusals[0].to_string();
    assert!(first.starts_with("field 2") && first.ends_with(&limit), "{first}");
    assert!(report.refused < 200, "{}", report.refused);
}

/// A file that is cut or changed anywhere is refused in part, and what is written from it is
/// intact.
#[test]
fn damaged_files_leave_whole_runs() {
    let catalogue = own();
    let source = catalogue.get("stated").unwrap();
    let whole = grib("nam211_20180917T00Z_f000");
    let mut refused = 0;
    for at in (10..whole.len()).step_by(1999) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        for bytes in [&whole[..at], &flipped] {
            let (_folder, store) = new_store();
            let report = deliver(source, &store, &[bytes], 1);
            refused += report.refused;
            for run in store.runs("stated").unwrap() {
                assert_eq!(store.run("stated", run).unwrap().verify(), []);
            }
        }
    }
    assert!(refused > 10, "{refused}");
}

/// A spool that counts its traffic.
#[derive(Default)]
struct Counted {
    inner: Cursor<Vec<u8>>,
    read: Rc<Cell<usize>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read);
        Ok(read)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert_eq!(self.read.get(), 0);
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// The waiting messages are those of the fields that are used, unchanged; each is read when it is
/// unpacked, one at a time.
#[test]
fn fields_wait_packed_and_are_read_one_by_one() {
    let ((_folder, store), catalogue) = (new_store(), own());
    let source = catalogue.get("stated").unwrap();
    let spool = Counted::default();
    let read = Rc::clone(&spool.read);
    let mut delivery = model::Delivery::new(source, &store, spool, DeliveryLimits::default());
    let lengths: Vec<usize> = (0..4).map(|hour| message(0, hour, 0).len()).collect();
    for hour in 0..4 {
        // The second field belongs to no product.
        delivery.add("file", &[message(0, hour, 0), message(2, hour, 0)].concat());
    }
    let mut at_each = Vec::new();
    let report = delivery.write(NOW_MS, || at_each.push(read.get()));
    assert_eq!((report.used, report.other_fields), (4, 4));
    let before = |hour: usize| lengths[..hour].iter().sum::<usize>();
    assert_eq!(at_each, (0..4).map(before).collect::<Vec<_>>());
    assert_eq!(read.get(), before(4));
}
