//! What numbers from elsewhere mean for the variables of a model: start values to begin with, and units of measured data.

use dovetail_core::Mapping;

use crate::file::constants::constants;
use crate::file::overriding::{self, CONSTANTS};
use crate::file::pieces;
use crate::inputs::attach::mapping_between;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::units::unit_named;

impl Scenario {
    /// The value of a parameter, or the start value of a state or an input, where it is a number that is known before a run.
    pub fn start_value(&self, name: &str) -> Option<f64> {
        let qualified = self.patterns(&[name.to_owned()]).concat();
        match self.part_of(&qualified) {
            Some((part, bare)) => start_value_in(part, bare),
            // A name without its system.
            None => {
                let mut parts = self.parts.iter();
                parts
                    .find_map(|part| start_value_in(part, name))
                    .or_else(|| self.constant(name))
            }
        }
    }

    /// The value of a constant of the model file that is a number.
    fn constant(&self, name: &str) -> Option<f64> {
        let mut file = pieces::parse(&self.source).ok()?;
        overriding::apply(&self.changes, &mut file, &self.catalog).ok()?;
        let full = overriding::full_name(&file, name, &self.catalog)?;
        let bare = full.strip_prefix(CONSTANTS)?.strip_prefix('.')?;
        let known = constants(&self.source.text, &file).ok()?;
        let mut known = known.iter();
        known.find_map(|(constant, value)| (constant == bare).then_some(*value))
    }

    /// How numbers in `unit` become those of a variable, `system.name`, whose unit is `own`. None where the variable has no unit.
    pub fn conversion(
        &self,
        variable: &str,
        own: Option<&str>,
        unit: &str,
    ) -> Result<Option<Mapping>, String> {
        let Some(own) = own else {
            return Ok(None);
        };
        let Some((part, bare)) = self.part_of(variable) else {
            return Ok(None);
        };
        mapping_between(part, bare, own, unit).map(Some)
    }

    /// The system of a variable, and the variable's name within it. Names of systems may have dots: the longest that fits counts.
    pub(crate) fn part_of<'a>(&self, qualified: &'a str) -> Option<(&Part, &'a str)> {
        let fitting = self.parts.iter().filter_map(|part| {
            let bare = qualified.strip_prefix(part.name())?.strip_prefix('.')?;
            Some((part, bare))
        });
        fitting.max_by_key(|(part, _)| part.name().len())
    }
}

fn start_value_in(part: &Part, name: &str) -> Option<f64> {
    let Some(known) = part.source.equations() else {
        return part.source.start_value(name);
    };
    let definition = known.definition;
    let model = &definition.model;
    let parameters = model.parameters.iter().zip(&definition.parameters);
    let states = model.states.iter().zip(&definition.states);
    let inputs = model.inputs.iter().zip(&definition.inputs);
    let mut all = parameters.chain(states).chain(inputs);
    all.find_map(|(known, value)| (known == name).then_some(*value))
}

/// The seconds in a unit of time of this name.
pub fn seconds_in(unit: &str) -> Option<f64> {
    let seconds = unit_named("s").and_then(|seconds| seconds.exponents);
    let known = unit_named(unit).filter(|known| known.exponents == seconds);
    known.map(|known| known.factor)
}
