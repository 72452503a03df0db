//! Model runs: hours, products that arrive later, and old runs that are removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
use mesonet::model::{LevelValues, ProductDefinition, RunDefinition, RunStamp, RunWriter};
use mesonet::time::HOUR_MS;
use mesonet::{grid, model};

use crate::Work;

const MODEL: &str = "model";
const ROWS: usize = 20;
const COLUMNS: usize = 18;
const PRODUCTS: [(&str, usize); 3] = [("t2", 1), ("t", 2), ("rain", 1)];
/// The one that has levels.
const LEVELS: usize = 1;
const NODATA: i16 = i16::MIN;

/// 2026-07-01T00:00:00Z.
const START_MS: i64 = 1_782_864_000_000;

pub struct Runs {
    store: model::RunStore,
    writer: Option<(usize, RunWriter)>,
}

/// What a step does to runs, by their numbers.
enum Act {
    /// Publishes products of hours, by their numbers.
    Publish(usize, &'static [usize], &'static [usize]),
    /// Publishes a level of the product that has several at an hour.
    Level(usize, usize, usize),
    Remove(usize),
    /// Keeps only the newest runs.
    Keep,
}

const ACTS: [Act; 11] = [
    Act::Publish(0, &[0], &[0, 1]),
    Act::Publish(0, &[1, 2], &[0, 1, 2]),
    // For an hour that is already published.
    Act::Publish(0, &[0], &[2]),
    Act::Publish(1, &[0, 1], &[0]),
    // The file of the first one is replaced by that of both.
    Act::Level(1, 0, 1),
    Act::Level(1, 0, 0),
    Act::Remove(0),
    Act::Publish(1, &[1], &[1, 2]),
    Act::Publish(2, &[0], &[0, 1, 2]),
    Act::Keep,
    Act::Publish(2, &[1, 2], &[0]),
];

fn stamp(run: usize) -> RunStamp {
    RunStamp::from_ms(START_MS + run as i64 * 6 * HOUR_MS).unwrap()
}

fn definition(run: usize) -> RunDefinition {
    let product = |(name, levels): (&str, usize)| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa: (levels > 1).then(|| vec![1000.0, 850.0]),
        member: None,
        attributes: BTreeMap::new(),
        encoding: Encoding::new(0.5, 100.0, NODATA).unwrap(),
    };
    RunDefinition {
        model: MODEL.to_owned(),
        run: stamp(run),
        grid: grid::Definition {
            rows: ROWS,
            columns: COLUMNS,
            projection: GridProjection::Globe(LatLonGlobe::LatLon),
            first_lon: -100.0,
            first_lat: 30.0,
            column_step: 0.5,
            row_step: 0.5,
            grid_relative_winds: false,
        },
        valid_ms: (0..3).map(|hour| START_MS + hour * HOUR_MS).collect(),
        products: PRODUCTS.map(product).into(),
    }
}

fn values(run: usize, hour: usize, product: usize) -> Vec<i16> {
    let (_, levels) = PRODUCTS[product];
    let field = (run * 3 + hour) * 3 + product;
    (0..levels * ROWS * COLUMNS).map(|cell| (field * 1000 + cell) as i16).collect()
}

/// Returns the documents and coordinates of a run: all files except shards and the group's
/// document.
fn documents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut documents = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(of) = folders.pop() {
        for entry in std::fs::read_dir(of).unwrap() {
            let path = entry.unwrap().path();
            let inside = path.strip_prefix(folder).unwrap().to_owned();
            let is_shards = PRODUCTS.iter().any(|(name, _)| inside == Path::new(name).join("c"));
            if path.is_file() && inside.components().count() > 1 {
                documents.insert(inside, std::fs::read(path).unwrap());
            } else if path.is_dir() && !is_shards {
                folders.push(path);
            }
        }
    }
    documents
}

/// The documents of each run.
static DOCUMENTS: LazyLock<Vec<BTreeMap<PathBuf, Vec<u8>>>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = model::RunStore::new(dir.path());
    let of_run = |run| {
        store.write_run(definition(run)).unwrap();
        documents(&dir.path().join(MODEL).join(stamp(run).to_string()))
    };
    (0..3).map(of_run).collect()
});

impl Runs {
    fn writer(&mut self, run: usize) -> &mut RunWriter {
        if self.writer.as_ref().is_none_or(|(of, _)| *of != run) {
            self.writer = Some((run, self.store.write_run(definition(run)).unwrap()));
        }
        &mut self.writer.as_mut().unwrap().1
    }
}

impl Work for Runs {
    const NAME: &'static str = "model runs";
    const STEPS: usize = ACTS.len();
    /// The run, hour, number and values of each published product.
    type Seen = Vec<(usize, usize, usize, Vec<i16>)>;

    fn open(dir: &Path) -> Self {
        Self { store: model::RunStore::new(dir), writer: None }
    }

    fn step(&mut self, number: usize) {
        match ACTS[number] {
            Act::Publish(run, hours, products) => {
                let writer = self.writer(run);
                for &hour in hours {
                    for &product in products {
                        let values = values(run, hour, product);
                        writer.write(hour, PRODUCTS[product].0, &values).unwrap();
                    }
                }
                writer.publish(hours, START_MS).unwrap();
            }
            Act::Level(run, hour, level) => {
                let values = values(run, hour, LEVELS);
                let planes: Vec<&[i16]> = values.chunks(ROWS * COLUMNS).collect();
                let mut levels = vec![None; planes.len()];
                levels[level] = Some(LevelValues::Each(planes[level]));
                let writer = self.writer(run);
                writer.add_levels(hour, PRODUCTS[LEVELS].0, &levels).unwrap();
                writer.publish(&[hour], START_MS).unwrap();
            }
            Act::Remove(run) => self.store.remove_run(MODEL, stamp(run)).unwrap(),
            Act::Keep => _ = self.store.keep_newest(MODEL, 1).unwrap(),
        }
    }

    fn expected(steps: usize) -> Self::Seen {
        let mut seen = Self::Seen::new();
        for act in &ACTS[..steps] {
            match *act {
                Act::Publish(run, hours, products) => {
                    for &hour in hours {
                        for &product in products {
                            seen.push((run, hour, product, values(run, hour, product)));
                        }
                    }
                }
                Act::Level(run, hour, level) => {
                    let known = |seen: &(usize, usize, usize, _)| {
                        (seen.0, seen.1, seen.2) == (run, hour, LEVELS)
                    };
                    let whole = values(run, hour, LEVELS);
                    let index = seen.iter().position(known).unwrap_or_else(|| {
                        seen.push((run, hour, LEVELS, vec![NODATA; whole.len()]));
                        seen.len() - 1
                    });
                    let plane = level * ROWS * COLUMNS..(level + 1) * ROWS * COLUMNS;
                    seen[index].3[plane.clone()].copy_from_slice(&whole[plane]);
                }
                Act::Remove(run) => seen.retain(|seen| seen.0 != run),
                Act::Keep => {
                    let newest = seen.iter().map(|seen| seen.0).max();
                    seen.retain(|seen| Some(seen.0) == newest);
                }
            }
        }
        seen.sort();
        seen
    }

    fn seen(dir: &Path) -> Self::Seen {
        let store = model::RunStore::new(dir);
        let mut seen = Self::Seen::new();
        for stamp in store.runs(MODEL).unwrap() {
            let number = ((stamp.start_ms() - START_MS) / (6 * HOUR_MS)) as usize;
            let run = store.run(MODEL, stamp).unwrap();
            assert_eq!(run.verify(), []);
            assert_eq!(*run.definition(), definition(number));
            assert_eq!(documents(&dir.join(MODEL).join(stamp.to_string())), DOCUMENTS[number]);
            for published in run.published() {
                let there = PRODUCTS
                    .iter()
                    .enumerate()
                    .filter(|(_, (name, _))| published.absent.iter().all(|absent| absent != name));
                for (product, &(name, levels)) in there {
                    let mut values = vec![0; levels * ROWS * COLUMNS];
                    for (level, plane) in values.chunks_mut(ROWS * COLUMNS).enumerate() {
                        let of = run.product(name).unwrap();
                        of.part_into(published.hour, level, 0..ROWS, 0..COLUMNS, plane).unwrap();
                    }
                    seen.push((number, published.hour, product, values));
                }
            }
        }
        seen.sort();
        seen
    }
}
