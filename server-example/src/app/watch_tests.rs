use std::sync::Arc;

use mesonet::store::{ReaderWrapper, Receipt, VerdictFn};
use mesonet::{Batch, Intake, MemoryStore, Reader, Store};

use super::*;
use crate::{Clock, Config};

const BULLETIN: &str = "SACN43 CWAO 032000\n\
    METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";

fn state(store: Arc<dyn Store>) -> Arc<State> {
    State::new(Config::default(), Clock::live(), store, Intake::default()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn look(watch: &mut Watch, state: &State) -> u64 {
    let summaries = watch.look(state).unwrap();
    summaries.iter().map(|summary| summary.total(|kind| kind.files)).sum()
}

#[test]
fn files_are_read_once_they_are_whole_and_moved_once_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = (folder.path(), state(Arc::new(MemoryStore::default())));
    let mut watch = Watch::new(path.to_owned(), false);
    for name in ["sa_20240803.txt", "b_20240803.part", "b_20240803.tmp", ".b_20240803"] {
        fs::write(path.join(name), BULLETIN).unwrap();
    }
    fs::write(path.join("letter.txt"), "Dear reader").unwrap();
    // At the first look it is unknown whether a file is still growing. This file is.
    assert_eq!(look(&mut watch, &state), 0);
    let grown = BULLETIN.replace("CYYZ", "CYUL").replacen("SACN43", "\nSACN43", 1);
    fs::write(path.join("sa_20240803.txt"), format!("{BULLETIN}{grown}")).unwrap();
    assert_eq!(look(&mut watch, &state), 0);
    assert_eq!(
        names(path),
        [".b_20240803", "b_20240803.part", "b_20240803.tmp", "failed", "sa_20240803.txt",]
    );
    assert_eq!(look(&mut watch, &state), 1);
    assert_eq!(state.services.store.directory().unwrap().stations.len(), 2);
    assert_eq!(names(&path.join("done")), ["sa_20240803.txt"]);
    assert_eq!(names(&path.join("failed")), ["letter.txt", "letter.txt.error.txt"]);
    let reason = fs::read_to_string(path.join("failed/letter.txt.error.txt")).unwrap();
    assert!(reason.ends_with(": unknown kind of file; known are the kinds of --feed\n"));

    // Another file with the same name does not replace it.
    fs::write(path.join("sa_20240803.txt"), BULLETIN).unwrap();
    assert_eq!((look(&mut watch, &state), look(&mut watch, &state)), (0, 1));
    assert_eq!(names(&path.join("done")), ["sa_20240803.txt", "sa_20240803.txt.1"]);
    assert_eq!((look(&mut watch, &state), look(&mut watch, &state)), (0, 0));
}

#[test]
fn files_that_stay_are_read_again_only_when_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = (folder.path(), state(Arc::new(MemoryStore::default())));
    let mut watch = Watch::new(path.to_owned(), true);
    let file = path.join("sa_20240803.txt");
    fs::write(&file, BULLETIN).unwrap();
    let looks = |watch: &mut Watch| [(); 3].map(|()| look(watch, &state));
    assert_eq!(looks(&mut watch), [0, 1, 0]);
    fs::write(&file, format!("{BULLETIN}\n")).unwrap();
    assert_eq!(looks(&mut watch), [0, 1, 0]);
    assert_eq!(names(path), ["sa_20240803.txt"]);
}

/// A store that takes nothing, for a reason that the test gives.
struct Closed(MemoryStore, StoreError);

impl ReaderWrapper for Closed {
    fn wrapped(&self) -> &dyn Reader {
        &self.0
    }
}

impl Store for Closed {
    fn append(&self, _: &Batch, _: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        Err(self.1.clone())
    }
}

#[test]
fn files_stay_while_the_store_takes_nothing_and_are_set_apart_where_they_are_to_blame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["a_20240803.txt", "b_20240803.txt"] {
        fs::write(path.join(name), BULLETIN).unwrap();
    }
    let full = StoreError::Full { path: "x".into(), cause: "no space".into() };
    let state_full = state(Arc::new(Closed(MemoryStore::default(), full)));
    let mut watch = Watch::new(path.to_owned(), false);
    assert_eq!(look(&mut watch, &state_full), 0);
    for _ in 0..2 {
        let error = watch.look(&state_full).unwrap_err().to_string();
        assert!(error.contains("no space is left"), "{error}");
    }
    assert_eq!(names(path), ["a_20240803.txt", "b_20240803.txt"]);

    let station = mesonet::StationId::new("METAR", "CYYZ");
    let refused = StoreError::UnknownStation { index: 0, station };
    let state_refusing = state(Arc::new(Closed(MemoryStore::default(), refused)));
    watch.look(&state_refusing).unwrap();
    assert_eq!(names(path), ["failed"]);
    assert_eq!(names(&path.join("failed")).len(), 4);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let state = state(Arc::new(MemoryStore::default()));
    let error = Watch::new(PathBuf::from("/nowhere"), false).look(&state).unwrap_err();
    assert!(error.to_string().starts_with("the watched folder /nowhere: "), "{error}");
}

#[test]
fn files_in_the_folder_of_a_model_become_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = Config { data: data.clone(), ..Config::default() };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let state = State::new(config, Clock::live(), store, Intake::default()).unwrap();
    let path = folder.path().join("in");
    let (model, none) = (path.join("models/nam211"), path.join("models/nam2"));
    for folder in [&model, &none] {
        fs::create_dir_all(folder).unwrap();
    }
    let grib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib");
    for name in ["nam211_prmsl_simple.grib2.gz", "hrdps_20260219T00Z_f000_cape.grib2.gz"] {
        fs::copy(grib.join(name), model.join(name)).unwrap();
    }
    fs::write(none.join("a.grib2"), "GRIB").unwrap();
    fs::copy(grib.join("nam211_20180917T00Z_f000.grib2.gz"), path.join("f000.grib2.gz")).unwrap();
    let mut watch = Watch::new(path.clone(), false);
    assert!(watch.look(&state).unwrap().is_empty());
    let summaries = watch.look(&state).unwrap();
    let [_, summary] = &*summaries else { panic!("{summaries:?}") };
    let reason = fs::read_to_string(path.join("failed/f000.grib2.gz.error.txt")).unwrap();
    assert!(reason.contains("a file of a model goes into the folder models/NAME/"), "{reason}");
    let models = summary.models.as_ref().unwrap();
    assert_eq!((&*models.model, models.used, models.files), ("nam211", 1, 1));
    assert_eq!(state.services.models.store().runs("nam211").unwrap().len(), 1);
    assert_eq!(names(&model.join("done")), ["nam211_prmsl_simple.grib2.gz"]);
    let failed = "hrdps_20260219T00Z_f000_cape.grib2.gz";
    assert_eq!(names(&model.join("failed")), [failed.to_owned(), format!("{failed}.error.txt")]);
    let reason = fs::read_to_string(none.join("failed/a.grib2.error.txt")).unwrap();
    assert!(reason.contains(": unknown model \"nam2\"; known are aifs, "), "{reason}");
    assert!(watch.look(&state).unwrap().is_empty());
}

/// Once, files behind a link were read, and the files of a linked folder were moved away.
#[cfg(unix)]
#[test]
fn a_symbolic_link_is_not_followed_and_says_so() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let state = state(Arc::new(MemoryStore::default()));
    let (path, outside) = (folder.path().join("in"), folder.path().join("outside"));
    for folder in [&path, &outside, &path.join("models")] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(outside.join("sa_20240803.txt"), BULLETIN).unwrap();
    symlink(outside.join("sa_20240803.txt"), path.join("sa_20240803.txt")).unwrap();
    symlink(folder.path().join("nowhere"), path.join("broken.txt")).unwrap();
    symlink(&outside, path.join("done")).unwrap();
    symlink(&outside, path.join("models/nam211")).unwrap();
    for keep in [true, false] {
        let mut watch = Watch::new(path.clone(), keep);
        for _ in 0..3 {
            assert_eq!(look(&mut watch, &state), 0);
        }
    }
    assert!(state.services.store.directory().unwrap().stations.is_empty());
    assert_eq!(names(&outside), ["sa_20240803.txt"]);
    assert_eq!(names(&path), ["done", "failed", "models"]);
    let reason = fs::read_to_string(path.join("failed/sa_20240803.txt.error.txt")).unwrap();
    assert!(reason.ends_with("sa_20240803.txt: a symbolic link is not followed\n"), "{reason}");
    assert!(fs::symlink_metadata(path.join("failed/broken.txt")).unwrap().is_symlink());
}

#[test]
fn files_of_a_run_that_someone_else_writes_stay_for_the_next_look() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { data: folder.path().join("data"), ..Config::default() };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let state = State::new(config, Clock::live(), store, Intake::default()).unwrap();
    let model = folder.path().join("in/models/nam211");
    fs::create_dir_all(&model).unwrap();
    let name = "nam211_prmsl_simple.grib2.gz";
    let grib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib");
    fs::copy(grib.join(name), model.join(name)).unwrap();
    let mut watch = Watch::new(folder.path().join("in"), false);
    watch.look(&state).unwrap();
    let runs = state.services.models.store();
    fs::create_dir_all(runs.folder().join("nam211")).unwrap();
    let lock = fs::File::create(runs.folder().join("nam211/.20180917T000000Z.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(
        watch.look(&state).unwrap_err().to_string(),
        "run 20180917T000000Z is being written by someone else"
    );
    assert_eq!(names(&model), [name]);
    drop(lock);
    assert_eq!(watch.look(&state).unwrap().len(), 1);
    assert_eq!(names(&model), ["done"]);
}
