//! The layers of cloud of a SWOB document.

use super::verdict::verdict;
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::eccc::point_observation::PointObservation;
use crate::feed::summary::Tally;
use crate::observation::Variable::CloudBaseHeight;

const BASE: &str = "cld_bas_hgt_";

/// Whether an element is the base of a layer, which is read here.
pub(super) fn is_base(name: &str) -> bool {
    layer_of(name).is_some()
}

/// The number of the layer, from 1.
fn layer_of(name: &str) -> Option<&str> {
    name.strip_prefix(BASE).filter(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
}

/// Adds the bases of layers. The amount of a layer is a code of an unpublished table. But in every
/// scale of amounts 0 is no cloud, and a station that sees no cloud gives the reach of its
/// instrument (7620 m) as base. From 9 on, the sky is hidden. So a base counts where the code is 1
/// to 8.
pub(super) fn add_layers(
    observation: &PointObservation,
    readings: &mut ReadingCollector<'_>,
    without_variable: &mut Tally,
) {
    for base in observation.elements() {
        let Some(number) = layer_of(base.name).filter(|_| base.has_value()) else { continue };
        let amount = observation
            .elements()
            .find(|one| one.name.strip_prefix("cld_amt_code_") == Some(number))
            .and_then(|amount| amount.number())
            .filter(|code| (1.0..=8.0).contains(code));
        let index = number.parse::<usize>().map_or(0, |number| number - 1);
        let measured = Measurement::layer(CloudBaseHeight, base.unit, index);
        let is_new =
            |of: &Measurement<'_>| !readings.so_far().iter().any(|one| of.is_of(&one.series));
        match (measured.filter(is_new), base.number(), amount) {
            (Some(measured), Some(value), Some(_)) => {
                readings.push(measured, value, verdict(base.qa_summary));
            }
            _ => without_variable.add(base.name),
        }
    }
}
