use super::*;
use crate::feed::Kind;

const LINE: &str = "2020 01 01 00   -39   -61 10215   270    46     4     0     0\n";

#[test]
fn a_file_is_of_the_station_that_its_name_says() {
    let kind = Kind::detect("725090-14739-2020", LINE.as_bytes());
    assert_eq!(kind, Some(Kind::IsdLite));
    let ids = |name: &str| {
        let mut ids = Vec::new();
        let file = FileContext::new(name, 0);
        let read = Kind::IsdLite.read(&mut LINE.as_bytes(), &file, &mut |item| {
            ids.extend(item.into_report().map(|report| report.station.native_id));
        });
        read.map(|_| ids).map_err(|error| error.to_string())
    };
    assert_eq!(ids("725090-14739-2020").unwrap(), ["725090-14739"]);
    assert_eq!(ids("A51255-00445-2020.txt").unwrap(), ["A51255-00445"]);
    for name in ["isd_lite", "", "725090-14739", "725090-14739-20", "72509-14739-2020", "é-é-2020"]
    {
        assert_eq!(
            ids(name).unwrap_err(),
            format!(
                "an isd-lite file names its station only in its file name, and \"{name}\" does not; \
                 expected a name such as 725090-14739-2020"
            )
        );
    }
    assert!(read_isd_lite(LINE.as_bytes(), "KBOS", |_| {}).is_err());
}

#[test]
fn missing_values_and_traces() {
    let readings = |line: &str| {
        let mut all = Vec::new();
        let summary =
            read_isd_lite(line.as_bytes(), "725090-14739", |item| all.push(item)).unwrap();
        (all, summary)
    };
    let (all, summary) =
        readings("2020 01 01 00 -9999 -9999 -9999 -9999 -9999 -9999 -9999 -9999\n");
    assert_eq!((all[0].report.readings.len(), summary.without_variable.total()), (0, 0));
    let (all, _) = readings("2020 01 01 00 -9999 -9999 -9999     0     0 -9999    -1     5\n");
    let shown: Vec<_> =
        all[0].report.readings.iter().map(|one| (one.value, one.qualifier)).collect();
    assert_eq!(shown, [(0.0, None), (0.0, Some(Qualifier::Trace)), (0.5, None)], "a calm");
    for bad in [
        "2020 01 01 00 1 2 3",
        "2020 01 01 00 1 2 3 4 5 6 7 8 9",
        "2020 13 01 00 1 2 3 4 5 6 7 8",
        "0020 01 01 00 1 2 3 4 5 6 7 8",
        "2020 01 01 00 1.5 2 3 4 5 6 7 8",
        "nothing",
    ] {
        let (all, summary) = readings(bad);
        assert_eq!((all.len(), summary.refused), (0, 1), "{bad}");
    }
}

#[test]
fn lines_of_other_numbers_are_not_of_this_kind() {
    for text in ["", "1 2 3 4 5 6 7 8 9 10 11 12", "2020 01 01 00 1 2 3", "#YY MM DD hh mm WDIR"] {
        assert!(!is_sign("", text.as_bytes()), "{text}");
    }
}
