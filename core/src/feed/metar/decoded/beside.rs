//! What the body of a report says in addition to the values that the service keeps.

use super::super::body::BodyGroup;
use super::super::observed;
use super::super::runway::{RunwayGroup, is_old_state, runway};
use super::super::visibility::directional;
use super::{DirectionalVisibility, RunwayVisualRange, add, joined, text};

/// What the body says in addition to the values of [`Metar`], and the groups of the remarks. These, and
/// the trend, have one blank between groups.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) directional_visibilities: Vec<DirectionalVisibility>,
    pub(super) runway_visual_ranges: Vec<RunwayVisualRange>,
    pub(super) runway_states: Vec<String>,
    pub(super) wind_shear: Vec<String>,
    pub(super) sea_surface_temperature_c: Option<i8>,
    pub(super) sea_state: Option<u8>,
    pub(super) trend: Vec<u8>,
    pub(super) remarks: Vec<u8>,
    pub(super) not_understood: Vec<String>,
}

impl Beside {
    pub(super) fn visit(&mut self, group: BodyGroup<'_>) {
        match group {
            BodyGroup::Unread(group) => self.not_understood.push(text(group)),
            BodyGroup::Trend(group) => add(&mut self.trend, group),
            BodyGroup::Remark(group) => add(&mut self.remarks, group),
            BodyGroup::Read(b"WS", mut behind) => {
                self.wind_shear.push(joined(observed::wind_shear(&mut behind)));
            }
            BodyGroup::Read(group @ [b'R', b'0'..=b'9' | b'/', ..], _) => match runway(group) {
                Some(RunwayGroup::VisualRange(range)) => {
                    self.runway_visual_ranges.push(range.into());
                }
                _ => self.runway_states.push(text(group)),
            },
            BodyGroup::Read(group @ [b'W', b'0'..=b'9' | b'M' | b'/', ..], _) => self.sea(group),
            // State of the runway in the old form.
            BodyGroup::Read(group, _) if is_old_state(group) => {
                self.runway_states.push(text(group));
            }
            BodyGroup::Read(group, _) => {
                if let Some((distance_m, direction)) = directional(group) {
                    let direction = text(direction);
                    self.directional_visibilities
                        .push(DirectionalVisibility { distance_m, direction });
                }
            }
        }
    }

    fn sea(&mut self, group: &[u8]) {
        if let Some(sea) = observed::sea(group) {
            self.sea_surface_temperature_c = sea.temperature_c;
            self.sea_state = sea.state.or(self.sea_state);
        }
    }
}
