//! The same model with other values, read again at little cost.

use std::path::Path;

use crate::diagnostic::BadModel;
use crate::file::overriding::{self, CONSTANTS};
use crate::file::{pieces, read};
use crate::overrides::Overrides;
use crate::scenario::Scenario;

/// Doubles below this are written in full where they are whole.
const LARGEST_WHOLE: f64 = 1e15;

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
        let texts = texts.map(|(name, value)| (name.clone(), text_of(*value)));
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

    /// The full name of a value that can be set, `system.name` or `constants.name`, of which the user may leave away what is
    /// plain. A name that fits nothing stays as it is.
    pub fn full_name(&self, given: &str) -> String {
        if self.source.text.is_empty() {
            return self.patterns(&[given.to_owned()]).concat();
        }
        let file = pieces::parse(&self.source).ok();
        let full = file.and_then(|file| overriding::full_name(&file, given, &self.catalog));
        full.unwrap_or_else(|| given.to_owned())
    }

    /// What gives a parameter or an input, `system.name`, its values in every run, so that setting it does nothing.
    pub fn driver_of(&self, full_name: &str) -> Option<&'static str> {
        let (part, name) = self.part_of(full_name)?;
        if part.drives(name) {
            return Some("a table or an expression of time");
        }
        // An expression that was written into equations has made an output of the input.
        let model = &part.source.equations()?.definition.model;
        let has = |names: &[String]| names.iter().any(|known| known == name);
        if !has(&model.outputs) || has(&model.inputs) {
            return None;
        }
        let file = pieces::parse(&self.source).ok()?;
        let mut tables = file.systems.iter();
        let (_, table) = tables.find(|(key, _)| key.get_ref() == part.name())?;
        let mut inputs = table.get_ref().inputs.keys();
        let was_input = inputs.any(|key| key.get_ref() == name);
        was_input.then_some("an expression of time")
    }

    /// What is to be said of values that were set and do nothing.
    pub(crate) fn ineffective_values(&self) -> Vec<String> {
        if self.parts.iter().all(|part| part.driving.is_empty()) {
            return Vec::new();
        }
        let driven = self.changes.values.iter().filter_map(|(name, value)| {
            let full = self.full_name(name);
            let driver = self.driver_of(&full)?;
            Some(format!(
                "`{full}` is set to {value}, which has no effect: {driver} gives it its values"
            ))
        });
        driven.collect()
    }

    /// The parameters and start values of equations that the model gives as boxes `[lower, upper]`; a constant that is a box is
    /// one unknown, however many systems use it.
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
                let name = match self.is_shared(part.name(), name) {
                    true => format!("{CONSTANTS}.{name}"),
                    false => format!("{}.{name}", part.name()),
                };
                let known = boxes.iter().any(|known: &GivenBox| known.name == name);
                if interval.lo < interval.hi && !known {
                    boxes.push(GivenBox {
                        name,
                        lower: interval.lo,
                        upper: interval.hi,
                    });
                }
            }
        }
        boxes
    }
}

/// A number as it is written for a variable of any type: a whole one without a decimal point.
fn text_of(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < LARGEST_WHOLE {
        true => format!("{value}"),
        false => format!("{value:?}"),
    }
}
