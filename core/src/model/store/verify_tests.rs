use super::super::tests::{MODEL, filled};
use super::*;

const RUN: &str = "20180917T000000Z";

fn run() -> RunStamp {
    RUN.parse().unwrap()
}

/// Returns every file of a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    add_surplus(folder, &BTreeSet::new(), &mut files).unwrap();
    files.into_iter().map(|file| file.strip_prefix(folder).unwrap().to_owned()).collect()
}

#[test]
fn each_file_of_a_run_is_checked_and_no_other_belongs_to_it() {
    let (folder, store) = filled();
    let found = store.check_run(MODEL, run()).unwrap();
    assert_eq!((&*found.faults, &*found.surplus), (&[][..], &[][..]));
    let of_run = files(&folder.path().join(MODEL).join(RUN));
    assert_eq!(found.documents + found.shards, of_run.len());
    assert_eq!(found.shards, 5);

    let foreign = folder.path().join(MODEL).join(RUN).join("t2/c/1/0/0");
    fs::create_dir_all(foreign.parent().unwrap()).unwrap();
    fs::write(&foreign, "of an hour that is not published").unwrap();
    assert_eq!(store.check_run(MODEL, run()).unwrap().surplus, [foreign]);
}

type Harm = fn(&Path, &Path);

#[test]
fn any_damage_to_a_file_of_a_run_is_found_and_set_aside() {
    let harms: [(&str, Harm); 6] = [
        ("flipped", |path, _| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
            fs::write(path, bytes).unwrap();
        }),
        ("cut", |path, _| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("zeroed", |path, _| {
            let length = fs::metadata(path).unwrap().len();
            fs::write(path, vec![0; length as usize]).unwrap();
        }),
        ("emptied", |path, _| fs::write(path, "").unwrap()),
        ("deleted", |path, _| fs::remove_file(path).unwrap()),
        ("swapped", |path, sibling| {
            let bytes = fs::read(sibling).unwrap();
            assert_ne!(bytes, fs::read(path).unwrap());
            fs::write(path, bytes).unwrap();
        }),
    ];
    let (whole, _) = filled();
    for file in files(&whole.path().join(MODEL).join(RUN)) {
        for (name, harm) in harms {
            let (folder, store) = filled();
            let at = folder.path().join(MODEL).join(RUN);
            let sibling = match file.to_str().unwrap() {
                "t2/c/0/0/0" => "t2/c/2/0/0",
                "t2/c/2/0/0" | "rain/c/2/0/0" => "t2/c/0/0/0",
                "t/c/0/0/0/0" => "t/c/2/0/0/0",
                "t/c/2/0/0/0" => "t/c/0/0/0/0",
                "lat/c/0" => "lon/c/0",
                name if name.ends_with("c/0") => "lat/c/0",
                "t2/zarr.json" | "rain/zarr.json" => "t/zarr.json",
                _ => "t2/zarr.json",
            };
            harm(&at.join(&file), &at.join(sibling));
            let shown = format!("{} {name}", file.display());

            let found = store.check_run(MODEL, run()).unwrap();
            let named: Vec<_> = found.faults.iter().map(|fault| &fault.file).collect();
            assert_eq!(named, [&at.join(&file)], "{shown}");

            let aside = folder.path().join("damaged");
            assert_eq!(store.set_aside(MODEL, run(), &aside).unwrap().faults, found.faults);
            assert_eq!(store.check_run(MODEL, run()).unwrap().faults, [], "{shown}");
            let kept = aside.join(MODEL).join(RUN).join(&file);
            assert_eq!(kept.exists(), name != "deleted", "{shown}");
            let is_of_group = file == Path::new("zarr.json");
            assert_eq!(at.exists(), !is_of_group, "{shown}");
            if is_of_group {
                assert!(store.runs(MODEL).unwrap().is_empty(), "{shown}");
                continue;
            }
            // Reading the lost part is an error, and everything else is as before.
            let opened = store.run(MODEL, run()).unwrap();
            for (product, hour) in [("t2", 0), ("t2", 2), ("t", 0), ("t", 2), ("rain", 2)] {
                let value = opened.product(product).unwrap().value(hour, 0, 0, 1);
                let is_lost = file.starts_with(format!("{product}/c/{hour}"));
                assert_eq!(value.is_err(), is_lost, "{shown}: {product} {hour}: {value:?}");
                assert_eq!(opened.has(product, hour), !is_lost);
            }
        }
    }
}

#[test]
fn lost_products_may_be_delivered_again() {
    let (folder, store) = filled();
    fs::write(folder.path().join(MODEL).join(RUN).join("t2/c/0/0/0"), "damaged").unwrap();
    store.set_aside(MODEL, run(), &folder.path().join("damaged")).unwrap();
    let read = || {
        let opened = store.run(MODEL, run()).unwrap();
        let mut series = [0.0; 4];
        let t2 = opened.product("t2").unwrap();
        t2.series_into(0..4, 0, 0, 1, &mut series).map(|()| series[0])
    };
    assert!(read().unwrap_err().to_string().ends_with("is damaged: it was set aside"));
    let mut writer = store.write_run(super::super::tests::definition()).unwrap();
    writer.write(0, "t2", &super::super::tests::values(0, 1)).unwrap();
    writer.publish(&[0], 43).unwrap();
    assert_eq!(read(), Ok(100.5));
    assert_eq!(store.check_run(MODEL, run()).unwrap().faults, []);
    // If it is damaged once more, the first file is not overwritten.
    drop(writer);
    fs::write(folder.path().join(MODEL).join(RUN).join("t2/c/0/0/0"), "again").unwrap();
    store.set_aside(MODEL, run(), &folder.path().join("damaged")).unwrap();
    let kept = folder.path().join("damaged").join(MODEL).join(RUN).join("t2/c/0/0");
    assert_eq!(fs::read(kept.join("0")).unwrap(), b"damaged");
    assert_eq!(fs::read(kept.join("0.2")).unwrap(), b"again");
}

#[test]
fn a_run_in_the_folder_of_another_is_refused() {
    let (folder, store) = filled();
    let other = "20180917T060000Z";
    let model = folder.path().join(MODEL);
    fs::rename(model.join(RUN), model.join(other)).unwrap();
    let error = store.run(MODEL, other.parse().unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("it belongs to run 20180917T000000Z of model test-model"), "{error}");
    assert_eq!(store.check_run(MODEL, other.parse().unwrap()).unwrap().faults.len(), 1);
}
