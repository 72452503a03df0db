//! Optimum interpolation: what the neighbours say about a value, and how sure they are.
//!
//! Gandin (Objective Analysis of Meteorological Fields, 1963) weights the values around a place so
//! that the expected square of the error is least, given the structure function: how the variance
//! of the difference between two places grows with their distance. The mean of the field is not
//! assumed. The spatial checks of MADIS (Belousov, Gandin and Mashkovich, 1968) and of titanlib
//! (the spatial consistency test of Lussana, Uboldi and Salvati, Q. J. R. Meteorol. Soc. 136, 2010)
//! use this method. The way to leave out each value in turn with one inverse is from titanlib.

/// The most values in a system: one value, and the values around it.
pub(super) const MOST: usize = 21;
/// How many numbers of a row are computed together.
const LANES: usize = 8;
/// The length of a row, rounded up.
const WIDTH: usize = MOST.next_multiple_of(LANES);

/// A row of an inverse; what is beyond the values of the system stays 0.
type Row = [f64; WIDTH];

/// How alike the values of two places are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Structure {
    /// How the variance of the difference grows with the distance.
    pub variance_per_km: f64,
    /// The horizontal distance that makes as much difference as a metre of altitude.
    pub km_per_m: f64,
    /// The greatest distance of a neighbour.
    pub radius_km: f64,
}

/// A value in a system.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SystemValue {
    /// The place, in kilometres from the centre of the Earth.
    pub place_km: [f64; 3],
    pub altitude_m: f64,
    pub value: f64,
    /// The value's own variance: from the instrument, from what is particular to this place, and
    /// from the time between its readings.
    pub variance: f64,
}

/// A value compared with what the others say about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Residual {
    pub difference: f64,
    /// The standard deviation that the difference is expected to have.
    pub deviation: f64,
}

impl Residual {
    pub(super) fn standardized(self) -> f64 {
        self.difference / self.deviation
    }
}

/// Values and the inverse of their covariances. Values that are left out have zeros.
#[derive(Clone, Debug)]
pub(super) struct System {
    len: usize,
    inverse: [Row; MOST],
    value: [f64; MOST],
    kept: [bool; MOST],
}

impl System {
    pub(super) const EMPTY: Self =
        Self { len: 0, inverse: [[0.0; WIDTH]; MOST], value: [0.0; MOST], kept: [false; MOST] };

    /// Takes some values into an empty system. Returns whether it can be solved: not if there are
    /// too many. It is filled in place, because it is long.
    pub(super) fn solve(&mut self, members: &[SystemValue], structure: &Structure) -> bool {
        let len = members.len();
        if len > MOST {
            return false;
        }
        // An unknown mean is modelled as one that varies a thousand times as much as the values.
        let own = members.iter().map(|member| member.variance).fold(0.0, f64::max);
        let unknown = 1000.0 * (own + structure.variance_per_km * structure.radius_km);
        self.len = len;
        for (i, one) in members.iter().enumerate() {
            self.value[i] = one.value;
            self.kept[i] = true;
            for (j, other) in members.iter().enumerate().take(i) {
                let covariance =
                    unknown - structure.variance_per_km / 2.0 * apart_km(one, other, structure);
                self.inverse[i][j] = covariance;
                self.inverse[j][i] = covariance;
            }
            self.inverse[i][i] = unknown + one.variance;
        }
        invert(&mut self.inverse[..len])
    }

    /// Takes over another system.
    pub(super) fn copy_of(&mut self, other: &Self) {
        self.len = other.len;
        self.inverse[..other.len].copy_from_slice(&other.inverse[..other.len]);
        (self.value, self.kept) = (other.value, other.kept);
    }

    /// Takes other values at the same places. Those that are left out stay so.
    pub(super) fn set_values(&mut self, members: &[SystemValue]) {
        for ((value, member), kept) in self.value.iter_mut().zip(members).zip(self.kept) {
            *value = if kept { member.value } else { 0.0 };
        }
    }

    /// Takes a value out of the system.
    pub(super) fn leave_out(&mut self, which: usize) {
        let len = self.len;
        eliminate(&mut self.inverse[..len], which);
        (self.value[which], self.kept[which]) = (0.0, false);
    }

    /// The values that are in the system.
    pub(super) fn kept(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.len).filter(|&which| self.kept[which])
    }

    /// The sum over the inverse and the values: the residual over its variance.
    fn scaled(&self, which: usize) -> f64 {
        self.inverse[which][..self.len].iter().zip(&self.value).map(|(a, b)| a * b).sum()
    }

    /// A value compared with what all others say about it.
    pub(super) fn residual(&self, which: usize) -> Residual {
        let precision = self.inverse[which][which];
        Residual {
            difference: self.scaled(which) / precision,
            deviation: 1.0 / libm::sqrt(precision),
        }
    }

    /// The weight of one value in what is said about another. They sum to nearly 1.
    pub(super) fn weight(&self, of: usize, which: usize) -> f64 {
        -self.inverse[of][which] / self.inverse[of][of]
    }

    /// A value compared with what the others say about it, leaving out two of them; if the two are
    /// the same, only that one.
    pub(super) fn residual_without(&self, which: usize, [one, two]: [usize; 2]) -> Residual {
        let a = &self.inverse;
        let (scaled, precision) = (self.scaled(which), a[which][which]);
        let (first, second) = (self.scaled(one), self.scaled(two));
        // What remains of row and sum once the two values are eliminated.
        let (x, y) = if one == two {
            (a[which][one] / a[one][one], 0.0)
        } else {
            let determinant = a[one][one] * a[two][two] - a[one][two] * a[one][two];
            (
                (a[which][one] * a[two][two] - a[which][two] * a[one][two]) / determinant,
                (a[which][two] * a[one][one] - a[which][one] * a[one][two]) / determinant,
            )
        };
        let precision = precision - x * a[which][one] - y * a[which][two];
        Residual {
            difference: (scaled - x * first - y * second) / precision,
            deviation: 1.0 / libm::sqrt(precision),
        }
    }
}

/// The last system that was solved, with and without its first value: at a station whose neighbours
/// report at the same times, all readings of a variable have one inverse.
#[derive(Debug)]
pub(super) struct LastSolved {
    members: [SystemValue; MOST],
    structure: Option<Structure>,
    all: System,
    others: System,
}

impl LastSolved {
    pub(super) const NONE: Self = Self {
        members: [SystemValue { place_km: [0.0; 3], altitude_m: 0.0, value: 0.0, variance: 0.0 };
            MOST],
        structure: None,
        all: System::EMPTY,
        others: System::EMPTY,
    };

    /// The systems of some values: all of them, and all but the first. They are solved unless they
    /// are those of the last time but for the values themselves. `None` if they cannot be solved.
    pub(super) fn of(
        &mut self,
        members: &[SystemValue],
        structure: &Structure,
    ) -> Option<(&System, &System)> {
        let same = |(one, other): (&SystemValue, &SystemValue)| {
            (one.place_km, one.altitude_m, one.variance)
                == (other.place_km, other.altitude_m, other.variance)
        };
        let is_last = self.structure == Some(*structure)
            && self.all.len == members.len()
            && members.iter().zip(&self.members).all(same);
        if !is_last {
            self.structure = None;
            self.all = System::EMPTY;
            if !self.all.solve(members, structure) {
                return None;
            }
            self.others.copy_of(&self.all);
            self.others.leave_out(0);
            self.members[..members.len()].copy_from_slice(members);
            self.structure = Some(*structure);
        }
        self.all.set_values(members);
        self.others.set_values(members);
        Some((&self.all, &self.others))
    }
}

/// Inverts a matrix in place (Gauss and Jordan; it is positive definite, so no pivots are sought).
/// Returns whether that was possible.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn invert(rows: &mut [Row]) -> bool {
    for k in 0..rows.len() {
        let pivot = rows[k][k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        rows[k][k] = 1.0;
        let scale = 1.0 / pivot;
        rows[k].iter_mut().for_each(|value| *value *= scale);
        let row = rows[k];
        let width = rows.len().next_multiple_of(LANES);
        for (i, other) in rows.iter_mut().enumerate() {
            if i != k {
                let factor = std::mem::replace(&mut other[k], 0.0);
                subtract(other, factor, &row, width);
            }
        }
    }
    true
}

/// Takes a row and its column out of an inverse.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn eliminate(rows: &mut [Row], which: usize) {
    let row = rows[which];
    let width = rows.len().next_multiple_of(LANES);
    for (other, &factor) in rows.iter_mut().zip(&row) {
        subtract(other, factor / row[which], &row, width);
        other[which] = 0.0;
    }
    rows[which] = [0.0; WIDTH];
}

/// Subtracts a multiple of a row.
#[inline(always)]
#[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
fn subtract(from: &mut Row, factor: f64, row: &Row, width: usize) {
    let chunks = from[..width].chunks_exact_mut(LANES).zip(row[..width].chunks_exact(LANES));
    for (from, row) in chunks {
        for (value, of_row) in from.iter_mut().zip(row) {
            *value -= factor * of_row;
        }
    }
}

/// The effective distance between two places: along the chord, plus altitude.
fn apart_km(one: &SystemValue, other: &SystemValue, structure: &Structure) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|i| one.place_km[i] - other.place_km[i]);
    let rise = structure.km_per_m * (one.altitude_m - other.altitude_m);
    libm::sqrt(x * x + y * y + z * z + rise * rise)
}

#[cfg(test)]
#[path = "interpolation_tests.rs"]
mod tests;
