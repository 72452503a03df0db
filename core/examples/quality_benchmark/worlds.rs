//! Real readings: folders of feed files as worlds of stations and their reports.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use mesonet::feed::{DETECT_BYTES, FeedStation, FileContext, Kind, METAR_NETWORK};
use mesonet::time::{DAY_MS, HOUR_MS, parse_instant};
use mesonet::unit::{inches_to_mm, knots_to_kmh, statute_miles_to_km};
use mesonet::{
    IntervalType, LonLat, Quality, Reading, Report, SeriesKey, Station, StationId, Variable,
};

/// Stations whose files do not give their place: network, id, longitude, latitude, altitude.
const PLACES: [(&str, &str, f64, f64, f64); 6] = [
    (METAR_NETWORK, "KTPA", -82.54, 27.96, 8.0),
    (METAR_NETWORK, "KEWR", -74.17, 40.68, 2.0),
    (METAR_NETWORK, "KJFK", -73.76, 40.64, 4.0),
    (METAR_NETWORK, "KLGA", -73.88, 40.78, 6.0),
    ("NDBC", "41002", -74.95, 31.76, 0.0),
    ("NDBC", "44013", -70.65, 42.35, 0.0),
];
/// The number of stations that makes a network rather than lone stations.
const NETWORK: usize = 20;
/// The network of the table that has days of reports.
const DAYS_NETWORK: &str = "ISD 2019";
/// The time whose reports come in at once, before the rest of a network that has days of reports.
const HISTORY_DAYS: i64 = 5;
/// A lone station needs a history, and room for faults.
const LONE_DAYS: i64 = 40;
const LONE_GAP_DAYS: i64 = 7;

/// Stations and their reports.
pub struct World {
    pub name: String,
    pub stations: Vec<Station>,
    /// Ascending in time.
    pub reports: Vec<Report>,
}

impl World {
    /// Whether a station has others around it.
    pub fn is_network(&self) -> bool {
        self.stations.len() >= NETWORK
    }

    /// How much comes in at once, before the reports come in one after another.
    pub fn history_ms(&self) -> i64 {
        let (first, last) = (&self.reports[0], &self.reports[self.reports.len() - 1]);
        match self.is_network() {
            false => LONE_DAYS * DAY_MS * 3 / 4,
            true if last.ts_ms - first.ts_ms > HISTORY_DAYS * DAY_MS => HISTORY_DAYS * DAY_MS,
            true => 0,
        }
    }

    pub fn station(&self, id: StationId) -> &Station {
        self.stations.iter().find(|station| station.id == id).expect("stations have reports")
    }
}

/// Reads every file of the folders: networks first, then the stations with a long series of
/// their own.
pub fn read(folders: &[PathBuf]) -> io::Result<Vec<World>> {
    let mut found = FoundReports::default();
    for folder in folders {
        found.folder(folder)?;
    }
    Ok(found.worlds())
}

#[derive(Default)]
struct FoundReports {
    stations: HashMap<StationId, Station>,
    /// Keyed by station and time: snapshots of a network repeat reports.
    reports: BTreeMap<(StationId, i64), Report>,
}

impl FoundReports {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.folder(&path)?;
            } else if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                self.file(&path, name)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: &str) -> io::Result<()> {
        let mut text = Vec::new();
        let mut file = BufReader::new(File::open(path)?);
        let unpacked = name.strip_suffix(".gz");
        if unpacked.is_some() {
            GzDecoder::new(file).read_to_end(&mut text)?;
        } else {
            file.read_to_end(&mut text)?;
        }
        let name = unpacked.unwrap_or(name);
        if name.starts_with("nycflights13") {
            return self.new_york(&text);
        }
        if name.starts_with("isd_network") {
            return self.network(&text);
        }
        let start = &text[..text.len().min(DETECT_BYTES)];
        let Some(kind) = Kind::detect(name, start) else { return Ok(()) };
        let known = |id| place(id);
        let context = FileContext { known: &known, ..FileContext::new(name, 0) };
        // Reports that cannot be read are left out: the tests of the readers are elsewhere.
        let _ = kind.read(&mut Cursor::new(&text), &context, &mut |item| {
            let Some(item) = item.into_report() else { return };
            let id = item.station.id();
            let station = match item.station.place {
                Some(at) => Some(item.station.at(at)),
                None => place(id).map(|known| Station {
                    sensor_height_m: item.station.sensor_height_m.unwrap_or(0.0),
                    station_type: item.station.station_type,
                    ..known
                }),
            };
            if let Some(station) = station {
                self.take(&station, item.report);
            }
        });
        Ok(())
    }

    fn take(&mut self, station: &Station, mut report: Report) {
        // The checks decide, not the verdicts of the sources.
        for reading in &mut report.readings {
            reading.quality = Quality::UNCHECKED;
        }
        self.reports.insert((station.id, report.ts_ms), report);
        // Some tables of a network give the altitude, others do not.
        let known = self.stations.entry(station.id).or_insert_with(|| station.clone());
        known.altitude_m = known.altitude_m.or(station.altitude_m);
    }

    /// The table of the R package nycflights13: hourly reports of three airports, at the hours to
    /// which it rounded their times.
    fn new_york(&mut self, text: &[u8]) -> io::Result<()> {
        let mut rows = csv::Reader::from_reader(text);
        for row in rows.records() {
            let row = row?;
            let number = |column: usize| row[column].parse::<f64>().ok();
            let Some(station) = place(StationId::new(METAR_NETWORK, &format!("K{}", &row[0])))
            else {
                continue;
            };
            let Ok(ts_ms) = parse_instant(&row[14]) else { continue };
            let mut readings = Vec::new();
            let mut add = |variable, kind, minutes, value: Option<f64>| {
                let series = SeriesKey::new(variable, kind, minutes);
                let reading =
                    |value| Reading { series, value, quality: Quality::UNCHECKED, qualifier: None };
                readings.extend(value.map(reading));
            };
            // The reports gave tenths of a degree Celsius and whole knots.
            let celsius = |f: f64| ((f - 32.0) / 1.8 * 10.0).round() / 10.0;
            let kmh = |mph: f64| knots_to_kmh((mph * 1.609_344 / 1.852).round());
            let (moment, mean) = (IntervalType::Instantaneous, IntervalType::Average);
            add(Variable::AirTemperature, moment, 0, number(5).map(celsius));
            add(Variable::DewPointTemperature, moment, 0, number(6).map(celsius));
            add(Variable::WindDirection, mean, 2, number(8));
            add(Variable::WindSpeed, mean, 2, number(9).map(kmh));
            add(Variable::WindGust, IntervalType::Max, 10, number(10).map(kmh));
            let fallen = number(11).map(inches_to_mm);
            add(Variable::Precipitation, IntervalType::Cumulative, 60, fallen);
            add(Variable::Mslp, moment, 0, number(12));
            add(Variable::Visibility, moment, 0, number(13).map(statute_miles_to_km));
            let report = Report {
                station: station.id,
                ts_ms,
                revision: 0,
                present_weather: None,
                text: None,
                readings,
            };
            self.take(&station, report);
        }
        Ok(())
    }

    /// A table of the Integrated Surface Data with the places of its stations.
    fn network(&mut self, text: &[u8]) -> io::Result<()> {
        let mut rows = csv::Reader::from_reader(text);
        for row in rows.records() {
            let row = row?;
            let number = |column: usize| row[column].parse::<f64>().ok();
            let when = format!(
                "{}-{:0>2}-{:0>2}T{:0>2}:{:0>2}:00Z",
                &row[2], &row[3], &row[4], &row[5], &row[6]
            );
            let (Ok(ts_ms), Some(lat), Some(lon)) = (parse_instant(&when), number(7), number(8))
            else {
                continue;
            };
            let Ok(place) = LonLat::new(lon, lat) else { continue };
            let native_id = format!("{}-{}", &row[0], &row[1]);
            let station = FeedStation {
                altitude_m: number(9),
                sensor_height_m: Some(10.0),
                ..FeedStation::new(DAYS_NETWORK, &native_id)
            };
            let station = station.at(place);
            let mut readings = Vec::new();
            let mut add = |variable, kind, minutes, value: Option<f64>| {
                let series = SeriesKey::new(variable, kind, minutes);
                let reading = |value| Reading::unchecked(series, value);
                readings.extend(value.map(reading));
            };
            let (moment, mean) = (IntervalType::Instantaneous, IntervalType::Average);
            add(Variable::WindDirection, mean, 2, number(10));
            add(Variable::WindSpeed, mean, 2, number(11).map(|speed_ms| speed_ms * 3.6));
            add(Variable::AirTemperature, moment, 0, number(12));
            add(Variable::DewPointTemperature, moment, 0, number(13));
            add(Variable::Mslp, moment, 0, number(14));
            let report = Report {
                station: station.id,
                ts_ms,
                revision: 0,
                present_weather: None,
                text: None,
                readings,
            };
            self.take(&station, report);
        }
        Ok(())
    }

    fn worlds(self) -> Vec<World> {
        // By station, then time.
        let mut reports: Vec<Report> = self.reports.into_values().collect();
        let mut worlds = Vec::new();
        let together = |one: &Report, next: &Report| {
            one.station == next.station && next.ts_ms - one.ts_ms <= LONE_GAP_DAYS * DAY_MS
        };
        for run in reports.chunk_by(together) {
            let span_ms = run[run.len() - 1].ts_ms - run[0].ts_ms;
            let dense = run.len() as i64 * 4 * HOUR_MS > span_ms;
            if dense && span_ms >= LONE_DAYS * DAY_MS {
                let station = self.stations[&run[0].station].clone();
                let year = &mesonet::Iso8601(run[0].ts_ms).to_string()[..4];
                worlds.push(World {
                    name: format!("{} {year}", station.native_id),
                    stations: vec![station],
                    reports: run.to_vec(),
                });
            }
        }
        worlds.sort_by(|a, b| a.name.cmp(&b.name));
        reports.sort_by_key(|report| (report.ts_ms, report.station));
        let network = |report: &Report| self.stations[&report.station].network.as_str();
        let days: Vec<Report> =
            reports.iter().filter(|report| network(report) == DAYS_NETWORK).cloned().collect();
        reports.retain(|report| network(report) == METAR_NETWORK);
        // A gap of a month separates the times of a network.
        let parted = |one: &Report, next: &Report| next.ts_ms - one.ts_ms <= 30 * DAY_MS;
        for part in reports.chunk_by(parted) {
            let mut ids: Vec<StationId> = part.iter().map(|report| report.station).collect();
            ids.sort_unstable();
            ids.dedup();
            if ids.len() < NETWORK {
                continue;
            }
            // America: elsewhere the stations are far apart.
            let near = |station: &Station| {
                let (lon, lat) = (station.coordinates.lon(), station.coordinates.lat());
                (-170.0..-50.0).contains(&lon) && (15.0..75.0).contains(&lat)
            };
            let stations: Vec<Station> =
                ids.iter().map(|id| self.stations[id].clone()).filter(near).collect();
            let known = |report: &&Report| {
                stations.binary_search_by_key(&report.station, |station| station.id).is_ok()
            };
            let reports: Vec<Report> = part.iter().filter(known).cloned().collect();
            let day = mesonet::Iso8601(reports[0].ts_ms).to_string();
            worlds.push(World { name: format!("METAR {}", &day[..10]), stations, reports });
        }
        if let Some(first) = days.first() {
            let day = mesonet::Iso8601(first.ts_ms).to_string();
            let of_days = |station: &&Station| station.network == DAYS_NETWORK;
            let mut stations: Vec<Station> =
                self.stations.values().filter(of_days).cloned().collect();
            stations.sort_unstable_by_key(|station| station.id);
            worlds.push(World {
                name: format!("ISD network {}", &day[..10]),
                stations,
                reports: days,
            });
        }
        worlds
    }
}

fn place(id: StationId) -> Option<Station> {
    let of = |&(network, native_id, ..): &&(&str, &str, f64, f64, f64)| {
        StationId::new(network, native_id) == id
    };
    let &(network, native_id, lon, lat, altitude_m) = PLACES.iter().find(of)?;
    let station = FeedStation {
        altitude_m: Some(altitude_m),
        sensor_height_m: Some(10.0),
        ..FeedStation::new(network, native_id)
    };
    Some(station.at(LonLat::new(lon, lat).ok()?))
}
