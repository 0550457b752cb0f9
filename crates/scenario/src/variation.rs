//! The same model with other values, read again at little cost.

use std::path::Path;

use crate::diagnostic::BadModel;
use crate::file::read;
use crate::overrides::Overrides;
use crate::scenario::Scenario;

/// A parameter, or the start value of a state, of which the model gives a box.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenBox {
    /// `system.name`.
    pub name: String,
    /// The least value.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
}

impl Scenario {
    /// The model with these values, `system.name` and number, set over those that it was read with. Its equations are not
    /// compiled again and its FMUs are not tried again: what was found of them is taken to hold for the new values too.
    pub fn with_values(&self, values: &[(String, f64)]) -> Result<Self, BadModel> {
        let texts = values.iter();
        let texts = texts.map(|(name, value)| (name.clone(), format!("{value:?}")));
        let mut changes = Overrides {
            known: self.known_of_fmus(),
            ..self.changes.clone()
        };
        changes.values.extend(texts);

        if self.source.text.is_empty() {
            let path = Path::new(&self.source.path);
            return Self::load_with(path, &changes, &self.catalog);
        }
        let source = self.source.clone();
        read::scenario_with(source, &changes, &self.catalog, self.compiled.clone())
    }

    /// The parameters and start values of equations that the model gives as boxes `[lower, upper]`.
    pub fn given_boxes(&self) -> Vec<GivenBox> {
        let mut boxes = Vec::new();
        for part in &self.parts {
            let Some(known) = part.source.equations() else {
                continue;
            };
            let model = &known.definition.model;
            let parameters = model.parameters.iter().zip(&known.boxes.parameters);
            let states = model.states.iter().zip(&known.boxes.states);
            for (name, interval) in parameters.chain(states) {
                if interval.lo < interval.hi {
                    boxes.push(GivenBox {
                        name: format!("{}.{name}", part.name()),
                        lower: interval.lo,
                        upper: interval.hi,
                    });
                }
            }
        }
        boxes
    }
}
