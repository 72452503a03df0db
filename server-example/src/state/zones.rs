//! The zones that are served: the bundled ones and those of newer files.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use flate2::read::GzDecoder;
use mesonet::geo::GeometryError;
use mesonet::zone::{self, ZoneBundleError, ZoneFileError, Zones};

use mesonet_service::sync::get_or_try_init;

/// The zones of `sample/zones.bin.gz`; `tests/data/zones/SOURCES.md` gives its sources.
const BUNDLE: &[u8] = include_bytes!("../../sample/zones.bin.gz");

/// Why zones cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ZonesError {
    /// A file is missing or cannot be read.
    #[error("the file of zones {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file contains no zones.
    #[error("the file of zones {}: {error}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: ZoneFileError,
    },
    /// A file of an unknown kind.
    #[error(
        "the file of zones {}: its name must end with .shp, .geojson or .json", .0.display()
    )]
    Name(PathBuf),
    /// No row of a file is a zone.
    #[error(
        "the file of zones {}: none of its {rows} rows is a zone; the first one: {reason}",
        .path.display()
    )]
    NoZone {
        /// The file.
        path: PathBuf,
        /// How many rows it has.
        rows: usize,
        /// Why the first one is not a zone.
        reason: String,
    },
    /// The binary was built with a damaged bundle.
    #[error("the bundled zones: {0}")]
    Bundle(#[from] ZoneBundleError),
    /// The bundle is damaged, or an outline cannot be simplified.
    #[error("the bundled zones: {0}")]
    Geometry(#[from] GeometryError),
    /// The bundle cannot be unpacked.
    #[error("the bundled zones: {0}")]
    Unpack(io::Error),
}

/// Zones with the JSON of each, which is made when first requested and then kept.
#[derive(Debug)]
pub struct ZoneSet {
    zones: Zones,
    version: String,
    /// By position in [`Zones::iter`].
    features: Box<[OnceLock<Bytes>]>,
}

impl ZoneSet {
    /// Loads the bundled zones and those of files. What a file says about a zone overrides what was
    /// known; an outline is replaced as a whole. Later files override earlier ones.
    ///
    /// # Errors
    /// A file cannot be read or contains no zones.
    pub fn load(paths: &[PathBuf]) -> Result<Arc<Self>, ZonesError> {
        static BUNDLED: OnceLock<Arc<ZoneSet>> = OnceLock::new();
        let bundled = get_or_try_init(&BUNDLED, || {
            let mut bytes = Vec::new();
            GzDecoder::new(BUNDLE).read_to_end(&mut bytes).map_err(ZonesError::Unpack)?;
            Self::new(Zones::from_bundle(&bytes)?)
        })?;
        if paths.is_empty() {
            return Ok(Arc::clone(bundled));
        }
        let mut zones: Vec<_> = bundled.zones.iter().cloned().collect();
        for path in paths {
            let mut file = read(path)?;
            let zone::File { rows, refused, ref refusals, flat_rings, .. } = file;
            if let (true, Some(first)) = (file.zones.is_empty(), refusals.first()) {
                let reason = first.reason.clone();
                return Err(ZonesError::NoZone { path: path.clone(), rows, reason });
            }
            tracing::info!(
                "{} zones from {}; refused {refused} of {rows} rows, {flat_rings} rings have no \
                 area",
                file.zones.len(),
                path.display(),
            );
            for refusal in refusals.iter().take(5) {
                tracing::warn!("{}: row {}: {}", path.display(), refusal.row, refusal.reason);
            }
            file.simplify()?;
            zones.append(&mut file.zones);
        }
        Self::new(Zones::new(zones))
    }

    fn new(zones: Zones) -> Result<Arc<Self>, ZonesError> {
        let version = zones.version()?;
        let features = zones.iter().map(|_| OnceLock::new()).collect();
        Ok(Arc::new(Self { zones, version, features }))
    }

    /// The zones.
    pub fn zones(&self) -> &Zones {
        &self.zones
    }

    /// The geography version. It changes when anything in any zone changes.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the GeoJSON Feature of the zone at a position in [`Zones::iter`].
    fn feature(&self, position: usize) -> Option<Bytes> {
        let cell = self.features.get(position)?;
        if cell.get().is_none() {
            let json = serde_json::to_vec(self.zones.iter().nth(position)?).ok()?;
            return Some(cell.get_or_init(|| json.into()).clone());
        }
        cell.get().cloned()
    }

    /// Returns the FeatureCollection of the zones at some positions.
    pub fn collection(&self, positions: &[usize]) -> Vec<u8> {
        let features: Vec<Bytes> =
            positions.iter().filter_map(|&position| self.feature(position)).collect();
        let length: usize = features.iter().map(|feature| feature.len() + 1).sum();
        let mut body = Vec::with_capacity(length + 64);
        body.extend_from_slice(br#"{"type":"FeatureCollection","features":["#);
        for (i, feature) in features.iter().enumerate() {
            if i > 0 {
                body.push(b',');
            }
            body.extend_from_slice(feature);
        }
        body.extend_from_slice(b"]}");
        body
    }
}

/// Reads a file by its extension. The weather service names its files of fire weather zones `fz…`.
/// Nothing in the files says that they are of fire weather.
fn read(path: &Path) -> Result<zone::File, ZonesError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_fire = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("fz"));
    let hint = is_fire.then_some(zone::ZoneKind::Fire);
    let content = |error| ZonesError::Content { path: path.to_owned(), error };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("geojson" | "json") => zone::read_geojson(&bytes(path)?, hint).map_err(content),
        Some("shp") => {
            let part = |ending| path.with_extension(ending);
            let (dbf, prj) = (bytes(&part("dbf"))?, text(&part("prj"))?);
            let cpg = part("cpg");
            let cpg = if cpg.exists() { Some(text(&cpg)?) } else { None };
            let shp = bytes(path)?;
            let file = zone::Shapefile { shp: &shp, dbf: &dbf, prj: &prj, cpg: cpg.as_deref() };
            zone::read_shapefile(file, hint).map_err(content)
        }
        _ => Err(ZonesError::Name(path.to_owned())),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, ZonesError> {
    let failed = |error| ZonesError::File { path: path.to_owned(), error };
    let file = fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One byte over the limit, so that the reader refuses a file that is too large.
    file.take(zone::MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn text(path: &Path) -> Result<String, ZonesError> {
    Ok(String::from_utf8_lossy(&bytes(path)?).into_owned())
}
