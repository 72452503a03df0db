//! The bundled real model runs; `sample/SOURCES.md` gives their sources.

use std::io::{self, Cursor};

use mesonet::model::{self, DeliveryLimits};

/// Name of the model, of the file, and the file.
const RUNS: [(&str, &str, &[u8]); 2] = [
    (
        "nam211",
        "nam211_20180917T00Z_f000_181msg.grib2",
        include_bytes!("../../sample/nam211_20180917T00Z_f000_181msg.grib2"),
    ),
    (
        "safrica",
        "safrica_ps_20100308T12Z_25hours.grib2",
        include_bytes!("../../sample/safrica_ps_20100308T12Z_25hours.grib2"),
    ),
];

/// Creates the bundled runs of models that have no run. This takes less than a second.
///
/// `published_ms` is the time now, milliseconds since 1970.
///
/// # Errors
/// The store cannot be read or written.
pub fn take_in_model_sample(
    store: &model::RunStore,
    catalogue: &model::Catalogue,
    published_ms: i64,
) -> io::Result<()> {
    for (model, name, bytes) in RUNS {
        // The deployment may have removed the model from its catalogue.
        let Some(source) = catalogue.get(model) else { continue };
        if !store.runs(model).map_err(io::Error::other)?.is_empty() {
            continue;
        }
        let spool = Cursor::new(Vec::new());
        let mut delivery = model::Delivery::new(source, store, spool, DeliveryLimits::default());
        delivery.add(name, bytes);
        let report = delivery.write(published_ms, || ());
        // A deployment's own model with the same name may have other products.
        if let Some((_, error)) = report.unused_files.first() {
            tracing::warn!("cannot create the sample run of model {model}: {error}");
        }
        for run in &report.runs {
            tracing::info!("created the sample run {} of model {model}", run.run);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Later than the runs: 2023-11-14T22:13:20Z.
    const NOW_MS: i64 = 1_700_000_000_000;

    #[test]
    fn the_sample_has_two_runs_which_are_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = model::RunStore::new(folder.path());
        let catalogue = model::Catalogue::default();
        take_in_model_sample(&store, &catalogue, NOW_MS).unwrap();
        take_in_model_sample(&store, &catalogue, NOW_MS + 1).unwrap();
        for (model, run, hours, products) in
            [("nam211", "20180917T000000Z", 1, 26), ("safrica", "20100308T120000Z", 25, 2)]
        {
            let [stamp] = &*store.runs(model).unwrap() else { panic!("{model}") };
            let open = store.run(model, *stamp).unwrap();
            assert_eq!(stamp.to_string(), run);
            assert!(open.is_complete());
            assert_eq!(open.published().len(), hours);
            assert!(open.published().iter().all(|hour| hour.published_ms == NOW_MS));
            assert_eq!(open.definition().products.len(), products);
        }
        let none = model::Catalogue::from_toml("without = [\"nam211\"]").unwrap();
        let other = tempfile::tempdir().unwrap();
        let store = model::RunStore::new(other.path());
        take_in_model_sample(&store, &none, NOW_MS).unwrap();
        assert_eq!(store.models().unwrap(), ["safrica"]);
    }
}
