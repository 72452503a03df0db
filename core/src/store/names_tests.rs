use super::*;
use crate::geo::LonLat;
use crate::observation::{Batch, EarlierPlaces, Identifiers, Station};
use crate::store::{MemoryStore, Reader, Store, no_verdicts};

fn station(network: &str, native_id: &str, others: &[(IdScheme, &str)]) -> Station {
    let add = |ids: Identifiers, (scheme, id): &(IdScheme, &str)| ids.with(*scheme, id);
    Station {
        id: StationId::new(network, native_id),
        network: network.into(),
        native_id: native_id.into(),
        name: format!("{native_id} of {network}"),
        station_type: None,
        coordinates: LonLat::new(0.0, 0.0).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: others.iter().fold(Identifiers::default(), add),
        earlier_places: EarlierPlaces::default(),
    }
}

fn store(stations: Vec<Station>) -> MemoryStore {
    let store = MemoryStore::default();
    store.append(&Batch { stations, reports: Vec::new() }, &mut no_verdicts).unwrap();
    store
}

fn airports_and_buoys() -> MemoryStore {
    store(vec![
        station("METAR", "CYYZ", &[(IdScheme::Icao, "CYYZ")]),
        station("SWOB", "CYYZ-AUTO", &[(IdScheme::Icao, "CYYZ"), (IdScheme::Wmo, "71624")]),
        station("METAR", "KMIA", &[(IdScheme::Icao, "KMIA")]),
        station("NWS", "KMIA", &[(IdScheme::Icao, "KMIA")]),
        station("NDBC", "45012", &[(IdScheme::Wmo, "45012")]),
        station("SWOB", "45012", &[]),
        station("SWOB", "A B", &[]),
        station("SWOB", "x1", &[(IdScheme::Msc, "2400")]),
        station("SWOB", "x2", &[(IdScheme::Climate, "2400")]),
    ])
}

#[test]
fn a_station_is_found_by_any_of_its_ids() {
    let directory = airports_and_buoys().directory().unwrap();
    for (name, network, native_id) in [
        ("71624", "SWOB", "CYYZ-AUTO"),
        (" wmo:71624 ", "SWOB", "CYYZ-AUTO"),
        ("WMO 71624", "SWOB", "CYYZ-AUTO"),
        ("cyyz-auto", "SWOB", "CYYZ-AUTO"),
        // The network's own id counts before what another station says of itself.
        ("cyyz", "METAR", "CYYZ"),
        ("icao:CYYZ", "METAR", "CYYZ"),
        ("swob:cyyz-auto", "SWOB", "CYYZ-AUTO"),
        ("metar:kmia", "METAR", "KMIA"),
        ("nws KMIA", "NWS", "KMIA"),
        ("buoy 45012", "NDBC", "45012"),
        ("Buoy:45012", "NDBC", "45012"),
        ("swob:45012", "SWOB", "45012"),
        ("a b", "SWOB", "A B"),
        ("msc:2400", "SWOB", "x1"),
        ("climate:2400", "SWOB", "x2"),
    ] {
        assert_eq!(directory.named(name), Ok(StationId::new(network, native_id)), "{name}");
    }
    // A UUID is an id, on record or not.
    let elsewhere = StationId::new("METAR", "CYUL");
    assert_eq!(directory.named(&elsewhere.to_string()), Ok(elsewhere));
}

#[test]
fn an_id_of_several_stations_is_refused_with_those_that_have_it() {
    let directory = airports_and_buoys().directory().unwrap();
    for (name, candidates) in [
        ("KMIA", ["METAR:KMIA (KMIA of METAR)", "NWS:KMIA (KMIA of NWS)"]),
        ("2400", ["SWOB:x1 (x1 of SWOB)", "SWOB:x2 (x2 of SWOB)"]),
    ] {
        let text = directory.named(name).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("\"{name}\" is the id of 2 stations; name one of ")),
            "{text}"
        );
        for candidate in candidates {
            assert!(text.contains(candidate), "{text}");
            let (id, _) = candidate.split_once(" (").unwrap();
            assert!(directory.named(id).is_ok(), "{id} names one of them");
        }
    }
}

#[test]
fn a_long_list_of_candidates_is_cut() {
    let networks: Vec<String> = (0..30).map(|at| format!("N{at}")).collect();
    let stations = networks.iter().map(|network| station(network, "1", &[])).collect();
    let text = store(stations).directory().unwrap().named("1").unwrap_err().to_string();
    assert!(text.ends_with(" and 20 more") && text.len() < 400, "{text}");
}

#[test]
fn what_no_station_has_is_unknown() {
    let directory = airports_and_buoys().directory().unwrap();
    for name in
        ["", ":", "KMI", "KMIAA", "wmo:CYYZ", "usaf:71624", "metar:", "metar:45012", "buoy 1", "é"]
    {
        assert_eq!(directory.named(name), Err(StationNameError::Unknown(name.trim().to_owned())));
    }
}
