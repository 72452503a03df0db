use proptest::prelude::*;

use super::*;

const STRUCTURE: Structure = Structure { variance_per_km: 0.04, km_per_m: 0.35, radius_km: 250.0 };

fn member(x_km: f64, y_km: f64, altitude_m: f64, value: f64) -> SystemValue {
    SystemValue { place_km: [x_km, y_km, 0.0], altitude_m, value, variance: 0.5 }
}

fn solved(members: &[SystemValue]) -> Option<System> {
    let mut system = System::EMPTY;
    system.solve(members, &STRUCTURE).then_some(system)
}

fn close(one: Residual, other: Residual) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
    near(one.difference, other.difference) && near(one.deviation, other.deviation)
}

/// Between two equal distances the estimate is the mean, and its variance is that of kriging with
/// an unknown mean: the error of the value, of the mean of two, and what the distance adds.
#[test]
fn between_two_values_lies_their_mean() {
    let members =
        [member(0.0, 0.0, 0.0, 20.0), member(-30.0, 0.0, 0.0, 10.0), member(30.0, 0.0, 0.0, 12.0)];
    let system = solved(&members).unwrap();
    let residual = system.residual(0);
    assert!((residual.difference - 9.0).abs() < 1e-3, "{residual:?}");
    assert!((system.weight(0, 1) - 0.5).abs() < 1e-3);
    // γ(30) - γ(60) / 4 of the structure, with γ(d) = 0.04 d / 2, twice; errors of one and a half.
    let variance = 2.0 * 0.02 * 30.0 - 0.02 * 60.0 / 2.0 + 0.5 * 1.5;
    assert!((residual.deviation - libm::sqrt(variance)).abs() < 1e-3, "{residual:?}");
}

/// A neighbour that is high above counts like one that is far away.
#[test]
fn altitude_counts_as_distance() {
    let near = |altitude_m| {
        let others = [member(20.0, 0.0, altitude_m, 10.0), member(-60.0, 0.0, 0.0, 12.0)];
        let members = [member(0.0, 0.0, 0.0, 11.0), others[0], others[1]];
        solved(&members).unwrap().weight(0, 1)
    };
    assert!(near(0.0) > 0.6 && near(500.0) < 0.4, "{} {}", near(0.0), near(500.0));
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let mut last = LastSolved::NONE;
    let twice = SystemValue { variance: 0.0, ..member(0.0, 0.0, 0.0, 1.0) };
    assert!(solved(&[twice, twice]).is_none());
    for _ in 0..2 {
        assert!(last.of(&[twice, twice], &STRUCTURE).is_none());
    }
    assert!(solved(&[member(f64::NAN, 0.0, 0.0, 1.0), twice]).is_none());
    let many: Vec<_> = (0..=MOST).map(|i| member(i as f64, 0.0, 0.0, 1.0)).collect();
    assert!(solved(&many).is_none());
    assert!(solved(&many[1..]).is_some());
}

proptest! {
    /// Other values, places, uncertainties, numbers of values and structures in turn.
    #[test]
    fn what_was_solved_last_changes_no_bit(
        members in prop::collection::vec((-200.0..200.0_f64, 0.1..2.0_f64), 3..14),
        turns in prop::collection::vec((0..3_usize, 0..3_usize, 1..3_usize, -20.0..20.0_f64), 1..12),
    ) {
        let mut last = LastSolved::NONE;
        for (at, unsure, left_out, value) in turns {
            let mut members: Vec<_> = members
                .iter()
                .map(|&(x, variance)| SystemValue { variance, ..member(x, 0.0, 0.0, x + value) })
                .collect();
            members[at % 3].place_km[1] += [0.0, 0.0, 5.0][at];
            members[1].variance += [0.0, 0.0, 0.5][unsure];
            members.truncate(members.len() - (left_out - 1));
            let structure = Structure { radius_km: [250.0, 250.0, 100.0][(at + unsure) % 3], ..STRUCTURE };
            let mut all = System::EMPTY;
            prop_assert!(all.solve(&members, &structure));
            let mut others = all.clone();
            others.leave_out(0);
            let (last_all, last_others) = last.of(&members, &structure).unwrap();
            let bits = |system: &System, which| {
                let Residual { difference, deviation } = system.residual(which);
                (difference.to_bits(), deviation.to_bits(), system.weight(which, 1).to_bits())
            };
            prop_assert_eq!(bits(&all, 0), bits(last_all, 0));
            prop_assert!(others.kept().eq(last_others.kept()));
            for which in others.kept() {
                prop_assert_eq!(bits(&others, which), bits(last_others, which));
            }
        }
    }

    /// Leaving values out of the inverse gives the same result as a system without them.
    #[test]
    fn what_is_left_out_was_never_there(
        members in prop::collection::vec(
            (-200.0..200.0_f64, -200.0..200.0_f64, 0.0..1000.0_f64, -20.0..20.0_f64),
            4..14,
        ),
        (one, two) in (1..100_usize, 1..100_usize),
    ) {
        let members: Vec<_> = members.iter().map(|&(x, y, z, v)| member(x, y, z, v)).collect();
        let rest = members.len() - 1;
        let (one, two) = (1 + one % rest, 1 + two % rest);
        let system = solved(&members).unwrap();
        let without = |left_out: &[usize]| {
            let kept: Vec<_> = (0..members.len())
                .filter(|which| !left_out.contains(which))
                .map(|which| members[which])
                .collect();
            solved(&kept).unwrap().residual(0)
        };
        prop_assert!(close(system.residual_without(0, [one, two]), without(&[one, two])));
        let mut fewer = system.clone();
        fewer.leave_out(one);
        prop_assert!(close(fewer.residual(0), without(&[one])));
        prop_assert_eq!(fewer.kept().count(), rest);
        if one != two {
            fewer.leave_out(two);
            prop_assert!(close(fewer.residual(0), without(&[one, two])));
        }
        let weights: f64 = (1..members.len()).map(|which| system.weight(0, which)).sum();
        prop_assert!((weights - 1.0).abs() < 0.01, "{weights}");
    }
}
