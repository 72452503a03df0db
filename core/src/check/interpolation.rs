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

/// How alike the values of two places are.
#[derive(Clone, Copy, Debug)]
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
    inverse: [[f64; MOST]; MOST],
    value: [f64; MOST],
    kept: [bool; MOST],
}

impl System {
    /// The system of some values; `None` if there are too many, or if it cannot be solved.
    pub(super) fn new(members: &[SystemValue], structure: &Structure) -> Option<Self> {
        let len = members.len();
        if len > MOST {
            return None;
        }
        // An unknown mean is modelled as one that varies a thousand times as much as the values.
        let own = members.iter().map(|member| member.variance).fold(0.0, f64::max);
        let unknown = 1000.0 * (own + structure.variance_per_km * structure.radius_km);
        let mut system =
            Self { len, inverse: [[0.0; MOST]; MOST], value: [0.0; MOST], kept: [false; MOST] };
        for (i, one) in members.iter().enumerate() {
            system.value[i] = one.value;
            system.kept[i] = true;
            for (j, other) in members.iter().enumerate().take(i) {
                let covariance =
                    unknown - structure.variance_per_km / 2.0 * apart_km(one, other, structure);
                system.inverse[i][j] = covariance;
                system.inverse[j][i] = covariance;
            }
            system.inverse[i][i] = unknown + one.variance;
        }
        system.invert().then_some(system)
    }

    /// Inverts the matrix in place (Gauss and Jordan; it is positive definite, so no pivots are
    /// sought). Returns whether that was possible.
    fn invert(&mut self) -> bool {
        let Self { len, inverse, .. } = self;
        for k in 0..*len {
            let pivot = inverse[k][k];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            inverse[k][k] = 1.0;
            let scale = 1.0 / pivot;
            for value in &mut inverse[k][..*len] {
                *value *= scale;
            }
            let row = inverse[k];
            for (i, other) in inverse[..*len].iter_mut().enumerate() {
                if i != k {
                    let factor = std::mem::replace(&mut other[k], 0.0);
                    for (value, of_row) in other[..*len].iter_mut().zip(&row) {
                        *value -= factor * of_row;
                    }
                }
            }
        }
        true
    }

    /// Takes a value out of the system.
    pub(super) fn leave_out(&mut self, which: usize) {
        let row = self.inverse[which];
        for (i, &factor) in row.iter().enumerate().take(self.len) {
            let factor = factor / row[which];
            for (value, of_row) in self.inverse[i][..self.len].iter_mut().zip(&row) {
                *value -= factor * of_row;
            }
        }
        for i in 0..self.len {
            self.inverse[i][which] = 0.0;
            self.inverse[which][i] = 0.0;
        }
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

/// The effective distance between two places: along the chord, plus altitude.
fn apart_km(one: &SystemValue, other: &SystemValue, structure: &Structure) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|i| one.place_km[i] - other.place_km[i]);
    let rise = structure.km_per_m * (one.altitude_m - other.altitude_m);
    libm::sqrt(x * x + y * y + z * z + rise * rise)
}

#[cfg(test)]
#[path = "interpolation_tests.rs"]
mod tests;
