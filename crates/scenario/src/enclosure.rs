//! A model as something to be enclosed: its equations with the boxes of its states and parameters.

use std::collections::BTreeMap;

use dovetail_core::{Remedy, list_names};
use dovetail_equations::Definition;
use dovetail_guaranteed::{self as guaranteed, Additions, Boxes, Disturbance};

use crate::diagnostic::{BadModel, Problem};
use crate::questions::Questions;
use crate::scenario::{NoEquations, Scenario};
use crate::source::value::Bounds;

impl Scenario {
    /// The boxes of all systems, numbers being boxes without extent; or the first system that has no equations.
    pub fn boxes(&self) -> Result<Vec<Boxes>, NoEquations> {
        let all = self.equations()?;
        Ok(all.iter().map(|known| known.boxes.clone()).collect())
    }

    /// The coupled equations with their boxes; or why nothing can be proved about this model.
    pub fn to_enclose(&self) -> Result<guaranteed::Problem, BadModel> {
        self.to_enclose_and_answer(&Questions::default())
    }

    /// The same, with questions.
    pub fn to_enclose_and_answer(
        &self,
        questions: &Questions,
    ) -> Result<guaranteed::Problem, BadModel> {
        let definitions = self
            .definitions()
            .map_err(|error| self.no_equations(&error))?;
        let boxes = self.boxes().map_err(|error| self.no_equations(&error))?;
        let disturbances = self.disturbances.iter();
        let additions = Additions {
            disturbances: disturbances
                .map(|(input, bounds)| Disturbance {
                    input: *input,
                    range: bounds.interval(),
                })
                .collect(),
            shared: self.shared_parameters(&definitions),
            ..questions.additions(self.start_time)
        };
        let problem = guaranteed::Problem::with(
            &definitions,
            &boxes,
            &self.connections,
            (self.start_time, self.stop_time),
            &additions,
        );

        problem.map_err(|refusal| self.bad(Problem::general(refusal.to_string())))
    }

    /// The parameters (stacked) that are one constant, which is a box.
    fn shared_parameters(&self, definitions: &[Definition]) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut first = 0;
        for definition in definitions {
            for member in self
                .shared
                .iter()
                .filter(|member| member.system == definition.name)
            {
                let mut names = definition.model.parameters.iter();
                if let Some(own) = names.position(|name| *name == member.constant) {
                    groups
                        .entry(&member.constant)
                        .or_default()
                        .push(first + own);
                }
            }
            first += definition.model.parameters.len();
        }
        groups.into_values().collect()
    }

    /// What a run takes for inputs of which only bounds are known.
    pub fn middles_taken(&self) -> Option<String> {
        let taken = self.disturbances.iter().map(|(input, bounds)| {
            let name = self.input_name(*input);
            let Bounds { lower, upper, .. } = bounds;
            format!(
                "`{name}` may be anything from {lower} to {upper}, and a run takes the middle, {}",
                bounds.middle()
            )
        });
        let taken: Vec<String> = taken.collect();
        (!taken.is_empty()).then(|| taken.join("; "))
    }

    /// What the model asks for that has no meaning for bounds: they are of the coupled equations, not of a way to run them.
    pub fn without_meaning_for_bounds(&self) -> Option<String> {
        let restricted = self.parts.iter().filter(|part| part.restrictions.is_some());
        let names: Vec<String> = restricted.map(|part| part.name().to_owned()).collect();

        (!names.is_empty()).then(|| {
            let names = list_names(&names);
            format!("`restrict` and `imposed-step` have no meaning for bounds, and are ignored for {names}")
        })
    }

    fn no_equations(&self, error: &NoEquations) -> BadModel {
        let position = self
            .parts
            .iter()
            .position(|part| part.name() == error.system);
        let span = position.and_then(|k| self.system_places.get(k).cloned());
        let driven = position.is_some_and(|k| self.parts[k].source.equations().is_some());
        let help = match driven {
            true => {
                "bounds follow from equations alone: feed its inputs by connections in their own units or by expressions of time"
            }
            false => {
                "only systems given as equations can be enclosed: write `states` and `equations` in place of the FMU"
            }
        };

        self.bad(
            Problem {
                span,
                ..Problem::general(error.to_string())
            }
            .help(help)
            .with([Remedy::Run]),
        )
    }
}

#[cfg(test)]
mod tests {
    use dovetail_guaranteed::Interval;

    use super::*;
    use crate::diagnostic::SourceText;
    use crate::overrides::Overrides;

    const MODEL: &str = "[model]\nstop-time = 1.0\n[systems.one]\nparameters = { k = [1, 2], m = 3 }\n\
                         states = { x = [0.9, 1.1], y = 0.1 }\nequations = \"\"\"\nder(x) = -k * x / m\nder(y) = u\n\"\"\"\n\
                         inputs = { u = 0.5 }\n[[connections]]\nvalue = 1.0\nto = \"one.u\"\n";

    fn read(text: &str, values: &[(&str, &str)]) -> Result<Scenario, BadModel> {
        let values = values
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        let source = SourceText {
            path: "model.toml".into(),
            text: text.into(),
        };
        Scenario::parse(
            source,
            &Overrides {
                values,
                ..Overrides::default()
            },
        )
    }

    #[test]
    fn boxes_are_kept_as_they_are_written_and_runs_take_their_middles() {
        let scenario = read(MODEL, &[]).unwrap();
        let boxes = &scenario.boxes().unwrap()[0];
        assert_eq!(
            boxes.states,
            [
                Interval::new(0.9_f64.next_down(), 1.1_f64.next_up()),
                Interval::point(0.1)
            ]
        );
        assert_eq!(
            boxes.parameters,
            [Interval::new(1.0, 2.0), Interval::point(3.0)]
        );
        let definition = &scenario.definitions().unwrap()[0];
        assert_eq!((definition.states[0], definition.parameters[0]), (1.0, 1.5));
    }

    #[test]
    fn a_value_that_is_set_may_be_a_box() {
        let values = [
            ("one.y", "[-1e-3, 2]"),
            ("one.m", "[4,4.5]"),
            ("one.x", "7"),
        ];
        let boxes = &read(MODEL, &values).unwrap().boxes().unwrap()[0];
        assert_eq!(
            boxes.states,
            [
                Interval::point(7.0),
                Interval::new((-1e-3_f64).next_down(), 2.0)
            ]
        );
        assert_eq!(boxes.parameters[1], Interval::new(4.0, 4.5));
    }

    #[test]
    fn a_box_that_is_none_is_refused_with_what_was_set() {
        let refused = |name: &str, value: &str| {
            let bad = read(MODEL, &[(name, value)]).unwrap_err();
            assert_eq!(bad.problems[0].span, None, "the file is not to blame");
            bad.problems[0].sentence()
        };
        assert!(refused("one.x", "[2, 1]").contains("`one.x` = [2, 1]: the box is empty"));
        assert!(refused("one.x", "[1, 2, 3]").contains("[lower, upper]"));
        assert!(refused("one.x", "[1, two]").contains("`two` is not a number"));
        assert!(refused("one.x", "[1, inf]").contains("finite"));
        assert!(refused("one.u", "[1, 2]").contains("`one.u` is an input"));
    }

    #[test]
    fn what_restricts_a_run_has_no_meaning_for_bounds() {
        assert_eq!(read(MODEL, &[]).unwrap().without_meaning_for_bounds(), None);
        let restricted = MODEL.replace("inputs =", "imposed-step = 0.1\ninputs =");
        let said = read(&restricted, &[])
            .unwrap()
            .without_meaning_for_bounds()
            .unwrap();
        assert!(
            said.contains("one") && said.contains("imposed-step"),
            "{said}"
        );
    }
}
