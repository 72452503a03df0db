//! The order of the cells of one grid against that of another one.

/// How to put the cells of one grid in the order of another grid with the same positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// The rows run in the other direction.
    pub rows: bool,
    /// The columns run in the other direction.
    pub columns: bool,
}

impl Turns {
    /// Puts values in the order of the other grid.
    pub fn apply<T>(self, values: &mut [T], columns: usize) {
        if columns == 0 {
            return;
        }
        if self.rows {
            // Reverse everything, then each row again.
            values.reverse();
        }
        if self.rows != self.columns {
            values.chunks_mut(columns).for_each(<[T]>::reverse);
        }
    }
}
