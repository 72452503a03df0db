//! The span of time that the groups of a report cover.

use super::{Metar, MetarKind};

/// Latest minute past an hour at which a report still belongs to that hour.
const LATEST_MINUTE_PAST: u8 = 20;

impl Metar {
    /// Length of the period of the `6RRRR` group in minutes: 360 in the report of a main synoptic
    /// hour (0, 6, 12, 18 UTC), 180 in that of an intermediate one (3, 9, 15, 21); `None` for any
    /// other hour, when the group has no meaning. The hour is the [nominal](Self::nominal_hour)
    /// one.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// let minutes = |time| Metar::parse(&format!("KBUF 31{time}Z")).unwrap().six_group_minutes();
    /// assert_eq!((minutes("1754"), minutes("1854"), minutes("2054")), (Some(360), None, Some(180)));
    /// ```
    pub fn six_group_minutes(&self) -> Option<u16> {
        match self.nominal_hour() % 6 {
            0 => Some(360),
            3 => Some(180),
            _ => None,
        }
    }

    /// The hour that a report stands for, 0 to 23: the next full hour; for a report of up to 20
    /// minutes past an hour, that hour.
    ///
    /// Routine reports are made in the minutes before the hour. Some stations make them at the hour
    /// or send them late, with the amounts and extremes of the hour that has just ended.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// let hour = |time| Metar::parse(&format!("KMRF 01{time}Z")).unwrap().nominal_hour();
    /// assert_eq!((hour("1753"), hour("1800"), hour("1801"), hour("1820")), (18, 18, 18, 18));
    /// assert_eq!((hour("1821"), hour("2353")), (19, 0));
    /// ```
    pub fn nominal_hour(&self) -> u8 {
        (self.hour + u8::from(self.minute > LATEST_MINUTE_PAST)) % 24
    }

    /// Whether the groups that count from the last routine report, `Pnnnn`, `I1nnn` and `PK WND`,
    /// cover an hour.
    ///
    /// The kind in the file is not enough to decide: the Aviation Weather Center's table has SPECI
    /// on routine reports of changing weather, and METAR on reports of any minute. Sea-level
    /// pressure and the groups of 3, 6 and 24 hours are for routine reports only (FMH-1, tables of
    /// remarks and of additive data: METAR, not SPECI). Of the 138 reports of other minutes that
    /// the Center's sample calls SPECI, one has a sea-level pressure; of those of minute 45 to 59,
    /// 37 of 59.
    pub(super) fn is_hourly(&self, named: MetarKind) -> bool {
        match self.minute {
            45..=59 | 0 => named != MetarKind::Special || self.has_groups_of_routine_reports(),
            1..=LATEST_MINUTE_PAST => self.has_groups_of_synoptic_hours(),
            _ => false,
        }
    }

    fn has_groups_of_routine_reports(&self) -> bool {
        self.remarks.sea_level_pressure_digits.is_some()
            || self.remarks.outages.sea_level_pressure
            || self.has_groups_of_synoptic_hours()
    }

    fn has_groups_of_synoptic_hours(&self) -> bool {
        let remarks = &self.remarks;
        remarks.six_group_hundredths_in.is_some()
            || remarks.daily_precipitation_hundredths_in.is_some()
            || remarks.max_6h_tenths_c.is_some()
            || remarks.min_6h_tenths_c.is_some()
            || remarks.max_24h_tenths_c.is_some()
            || remarks.min_24h_tenths_c.is_some()
            || remarks.pressure_tendency.is_some()
    }
}

#[cfg(test)]
#[path = "period_tests.rs"]
mod tests;
