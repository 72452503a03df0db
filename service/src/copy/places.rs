//! The places of a copy, opened.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mesonet::store::copy::{Duplicate, NOTE, Original, unfinished};
use mesonet::store::{AlertStore, EmbeddedOptions, EmbeddedReader};
use mesonet::{EmbeddedStore, alert};

use super::CopyCommandError;
use crate::backup::is_record;
use crate::keys::{ApiKey, KEYS, KeyFolder, KeyRecord, SharedKeyRecord};
use crate::record::{FOLLOWER, RecordPlace};

/// A record that is read. Nothing is written to it, and its server goes on.
pub struct From {
    pub reader: Arc<dyn Original>,
    pub alerts: Vec<Arc<alert::Message>>,
    pub keys: Vec<ApiKey>,
    /// What else is in its folder.
    pub left: Vec<String>,
    /// The same reader, if the record is on disk.
    on_disk: Option<Arc<EmbeddedReader>>,
}

/// A store that becomes the copy.
pub struct To {
    pub store: Box<dyn Duplicate>,
    pub alerts: AlertStore,
    pub keys: SharedKeyRecord,
}

/// A place with the absolute path of its folder, so that it means the same in every working
/// directory.
pub fn shown(place: &RecordPlace) -> String {
    match place {
        RecordPlace::Embedded(folder) => {
            let whole = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
            RecordPlace::Embedded(whole.unwrap_or_else(|_| folder.clone())).to_string()
        }
        RecordPlace::ClickHouse(_) => place.to_string(),
    }
}

impl From {
    /// Opens a record to be copied.
    pub fn open(place: &RecordPlace, password: Option<&Path>) -> Result<Self, CopyCommandError> {
        let from = Self::open_copy(place, password)?;
        match from.reader.note(NOTE)?.as_deref().and_then(unfinished) {
            None => Ok(from),
            Some(of) => Err(CopyCommandError::NotARecord {
                place: shown(place),
                what: format!("is an unfinished copy of {of}"),
            }),
        }
    }

    /// Opens a record that may be a copy.
    pub fn open_copy(
        place: &RecordPlace,
        password: Option<&Path>,
    ) -> Result<Self, CopyCommandError> {
        match place {
            RecordPlace::Embedded(folder) => Self::on_disk(folder, place),
            RecordPlace::ClickHouse(address) => in_clickhouse::from(address, password),
        }
    }

    fn on_disk(folder: &Path, place: &RecordPlace) -> Result<Self, CopyCommandError> {
        let reader = Arc::new(EmbeddedReader::open(folder)?);
        let (record, faults) = AlertStore::read(folder)?;
        if let Some(fault) = faults.first() {
            let (place, faults) = (shown(place), fault.to_string());
            return Err(CopyCommandError::Damaged { place, faults });
        }
        let keys = KeyFolder(folder.to_owned()).all()?;
        let left = left_in(folder);
        let on_disk = Some(Arc::clone(&reader));
        Ok(Self { reader, alerts: record.messages, keys, left, on_disk })
    }

    /// The damage that was found in it.
    pub fn faults(&self) -> Vec<String> {
        let faults = self.on_disk.as_ref().map(|reader| reader.health().faults);
        faults.unwrap_or_default().iter().map(ToString::to_string).collect()
    }
}

/// The entries of a folder that are not of its record: products, model runs and others.
fn left_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().display().to_string());
    let mut left: Vec<String> = names.filter(|name| !is_record(name) && name != KEYS).collect();
    left.sort();
    left.into_iter().map(|name| folder.join(name).display().to_string()).collect()
}

impl To {
    /// Opens a place to be copied to. A folder is created if it is missing, and so are the tables of a
    /// database.
    pub fn open(place: &RecordPlace, password: Option<&Path>) -> Result<Self, CopyCommandError> {
        let to = match place {
            RecordPlace::Embedded(folder) => Self::on_disk(folder, place)?,
            RecordPlace::ClickHouse(address) => in_clickhouse::to(address, password)?,
        };
        if let Some(failure) = to.alerts.failure() {
            return Err(failure.clone().into());
        }
        let alerts = to.alerts.record().messages.len();
        if alerts > 0 && to.store.note(NOTE)?.is_none() {
            return Err(CopyCommandError::Alerts { place: shown(place), alerts });
        }
        Ok(to)
    }

    fn on_disk(folder: &Path, place: &RecordPlace) -> Result<Self, CopyCommandError> {
        if folder.join(FOLLOWER).exists() {
            let what = "is the folder of a follower".to_owned();
            return Err(CopyCommandError::NotARecord { place: shown(place), what });
        }
        let store = EmbeddedStore::open(folder, EmbeddedOptions::default())?;
        let (alerts, faults) = AlertStore::open(folder)?;
        let faults: Vec<_> = store.health().faults.into_iter().chain(faults).collect();
        if let Some(fault) = faults.first() {
            let (place, faults) = (shown(place), fault.to_string());
            return Err(CopyCommandError::Damaged { place, faults });
        }
        Ok(Self { store: Box::new(store), alerts, keys: Arc::new(KeyFolder(folder.to_owned())) })
    }
}

#[cfg(feature = "clickhouse")]
mod in_clickhouse {
    use std::path::Path;
    use std::sync::Arc;

    use mesonet::Reader;
    use mesonet::store::copy::{CopyError, NOTE, Original};
    use mesonet_clickhouse::{ClickHouseReader, ClickHouseStore, migrate};

    use super::{CopyCommandError, From, To};
    use crate::keys::{KeyRecord, KeysInClickHouse};
    use crate::record::{ClickHouseAddress, RecordPlace, refuse_written};

    pub fn from(
        address: &ClickHouseAddress,
        password: Option<&Path>,
    ) -> Result<From, CopyCommandError> {
        let options = address.options(password)?;
        let reader = ClickHouseReader::open(&options)?;
        let alerts = reader.alerts().record().messages.clone();
        let keys = KeysInClickHouse::open(&options)?.all()?;
        Ok(From { reader: Arc::new(reader), alerts, keys, left: Vec::new(), on_disk: None })
    }

    pub fn to(
        address: &ClickHouseAddress,
        password: Option<&Path>,
    ) -> Result<To, CopyCommandError> {
        let options = address.options(password)?;
        migrate(&options)?;
        // Opening a record to write replaces its writer, so the record is checked first.
        refuse_written(&options, address)?;
        let reader = ClickHouseReader::open(&options)?;
        let stations = reader.directory()?.stations.len();
        if stations > 0 && reader.note(NOTE)?.is_none() {
            let place = RecordPlace::ClickHouse(address.clone()).to_string();
            return Err(CopyCommandError::Copy { place, error: CopyError::Occupied { stations } });
        }
        let store = ClickHouseStore::open(&options)?;
        let alerts = store.open_alerts()?;
        let keys = Arc::new(KeysInClickHouse::open(&options)?);
        Ok(To { store: Box::new(store), alerts, keys })
    }
}

/// A server without the feature reads no such place.
#[cfg(not(feature = "clickhouse"))]
mod in_clickhouse {
    use std::path::Path;

    pub use from as to;

    use super::CopyCommandError;
    use crate::record::{ClickHouseAddress, RecordPlace, RecordPlaceError};

    pub fn from<T>(address: &ClickHouseAddress, _: Option<&Path>) -> Result<T, CopyCommandError> {
        let place = RecordPlace::ClickHouse(address.clone()).to_string();
        Err(RecordPlaceError::Form(place).into())
    }
}
