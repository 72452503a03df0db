use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::observation::{
    BaseQuality, IntervalType, Qualifier, Quality, ReasonQuality, Series, SeriesKey, Variable,
};
use crate::query::{Coarsening, LimitedBy};
use crate::time::Step;

fn text(answer: &Readings, until_bytes: usize) -> String {
    let mut writer = ReadingsWriter::new(answer.clone());
    let mut whole = Vec::new();
    loop {
        let mut piece = Vec::new();
        let last = writer.write(&mut piece, until_bytes).unwrap();
        whole.append(&mut piece);
        if last {
            return String::from_utf8(whole).unwrap();
        }
    }
}

fn any_cell() -> impl Strategy<Value = AnswerReading> {
    let value = prop_oneof![
        (-1_000_i32..1_000).prop_map(|tenths| f64::from(tenths) / 10.0),
        proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
    ];
    let ts_ms = -62_167_219_200_000..253_402_300_800_000_i64;
    let quality = (0_u8..8, 0_u8..14).prop_map(|(base, reason)| Quality {
        base: BaseQuality::try_from(base).unwrap(),
        reason: ReasonQuality::try_from(reason).unwrap(),
    });
    (ts_ms, value, 0_u32..3, any::<u32>(), quality, 0_u8..4).prop_map(
        |(ts_ms, value, series, age_s, quality, code)| {
            let qualifier = Qualifier::of_code(code);
            AnswerReading { ts_ms, value, series, age_s, quality, qualifier }
        },
    )
}

fn any_answer() -> impl Strategy<Value = Readings> {
    let stations = proptest::collection::vec(proptest::collection::vec(any_cell(), 1..8), 0..6);
    (stations, proptest::option::of(1_i64..1_000), any::<bool>()).prop_map(
        |(stations, step, coarser)| {
            let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
            let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10);
            let mut answer = Readings {
                series: [key.clone(), wind, key.calculated()]
                    .map(|key| Arc::new(Series::from(key)))
                    .to_vec(),
                step: step.map(|minutes| Step::from_minutes(minutes).unwrap()),
                coarsening: (coarser && step.is_some()).then_some(Coarsening {
                    requested_step: 1,
                    factor: 7,
                    limited_by: LimitedBy::Positions,
                    cells: 1,
                    positions: 2,
                }),
                ..Readings::default()
            };
            for (i, cells) in stations.into_iter().enumerate() {
                answer.cells.extend(cells);
                let id = StationId::new("TEST", &i.to_string());
                answer.stations.push((id, answer.cells.len()));
            }
            answer
        },
    )
}

proptest! {
    #[test]
    fn the_bytes_are_those_of_serde(answer in any_answer(), until_bytes in 0_usize..600) {
        prop_assert_eq!(text(&answer, until_bytes), serde_json::to_string(&answer).unwrap());
    }
}

#[test]
fn an_empty_answer_has_no_stations() {
    assert_eq!(text(&Readings::default(), 1), r#"{"stations":{}}"#);
    let step = Some(Step::from_minutes(15).unwrap());
    let grid = Readings { step, ..Readings::default() };
    assert_eq!(text(&grid, 1), r#"{"stations":{},"step":15}"#);
}

/// The answer for the whole sample is compared in the tests of the endpoints.
#[test]
fn a_piece_ends_soon_after_its_length() {
    let quality = Quality::UNCHECKED;
    let cell =
        AnswerReading { ts_ms: 0, value: -0.1, series: 0, age_s: 0, quality, qualifier: None };
    let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    let stations = (0..1_000).map(|i| (StationId::new("TEST", &i.to_string()), i + 1)).collect();
    let mut writer = ReadingsWriter::new(Readings {
        stations,
        cells: vec![cell; 1_000],
        series: vec![Arc::new(Series::from(key))],
        ..Readings::default()
    });
    let mut pieces = 0;
    loop {
        let mut piece = Vec::new();
        let last = writer.write(&mut piece, 10_000).unwrap();
        assert!(piece.len() < 10_500, "{}", piece.len());
        pieces += 1;
        if last {
            break;
        }
    }
    assert!(pieces > 10);
}
