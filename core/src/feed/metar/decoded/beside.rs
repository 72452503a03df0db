//! What the body of a report says beside the values that the service keeps.

use super::super::body::{self, BodyGroup};
use super::super::group::small_number;
use super::super::visibility::directional;
use super::{DirectionalVisibility, RunwayVisualRange, runway, text};

/// What the body says beside the values of [`Metar`], and the groups of the remarks.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) directional_visibilities: Vec<DirectionalVisibility>,
    pub(super) runway_visual_ranges: Vec<RunwayVisualRange>,
    pub(super) runway_states: Vec<String>,
    pub(super) wind_shear: Vec<String>,
    pub(super) sea_surface_temperature_c: Option<i8>,
    pub(super) sea_state: Option<u8>,
    pub(super) trend: Vec<String>,
    pub(super) remarks: Vec<String>,
    pub(super) not_understood: Vec<String>,
}

impl Beside {
    pub(super) fn visit(&mut self, group: BodyGroup<'_>) {
        match group {
            BodyGroup::Unread(group) => self.not_understood.push(text(group)),
            BodyGroup::Trend(group) => self.trend.push(text(group)),
            BodyGroup::Remark(group) => self.remarks.push(text(group)),
            BodyGroup::Read(b"WS", behind) => {
                let of =
                    behind.take_while(|group| matches!(group, [b'A', b'L', b'L'] | [b'R', ..]));
                let of: Vec<String> = of.map(text).collect();
                self.wind_shear.push(of.join(" "));
            }
            BodyGroup::Read(group @ [b'R', b'0'..=b'9' | b'/', ..], _) => {
                match runway::visual_range(group) {
                    Some(range) => self.runway_visual_ranges.push(range),
                    None => self.runway_states.push(text(group)),
                }
            }
            BodyGroup::Read(group @ [b'W', b'0'..=b'9' | b'M' | b'/', ..], _) => self.sea(group),
            // State of the runway in the old form.
            BodyGroup::Read(group, _) if body::is_old_runway_state(group) => {
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

    /// `Wtt/Ss`, `W///Ss`; with `Hhhh`, a height of waves, in place of the state it stays without one.
    fn sea(&mut self, group: &[u8]) {
        let behind = group.windows(2).position(|pair| matches!(pair, b"/S" | b"/H"));
        let slash = behind.or_else(|| group.iter().position(|&byte| byte == b'/'));
        let slash = slash.unwrap_or(group.len());
        let (temperature, state) = (&group[1..slash], group.get(slash + 1..).unwrap_or_default());
        let (digits, sign) = match temperature {
            [b'M', digits @ ..] => (digits, -1),
            digits => (digits, 1),
        };
        let degrees = small_number(digits).filter(|_| digits.len() == 2);
        self.sea_surface_temperature_c = degrees.map(|degrees| degrees as i8 * sign);
        if let [b'S', state @ b'0'..=b'9'] = state {
            self.sea_state = Some(state - b'0');
        }
    }
}
