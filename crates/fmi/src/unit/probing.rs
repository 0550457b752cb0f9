//! A unit is tried out: what does not hold is taken from its abilities.

use std::sync::Arc;

use super::{Prepared, UnitError, Use};
use crate::call_error::CallError;
use crate::description::Version;
use crate::experiment::{Mishap, Observation};
use crate::instance::Instance;
use crate::probe::{self, Laboratory, Verdict};
use crate::reactions::{Mode, Reactions, reactions};

impl Prepared {
    /// Has the unit tried by `laboratory`. Steps of a unit that fails in them are the run's to report.
    pub(super) fn probe(
        &mut self,
        laboratory: &mut dyn Laboratory,
        step: f64,
    ) -> Result<(), UnitError> {
        let co_simulation = self.used == Use::CoSimulation;
        let movable = !self.layout.smooth_input_positions.is_empty();
        let smooth = &self.layout.smooth_output_positions;
        let tried = probe::probe(
            laboratory,
            self.abilities.clone(),
            co_simulation,
            movable,
            smooth,
            step,
        );
        let Verdict {
            abilities,
            findings,
            reactions,
            warnings,
        } = tried.map_err(|mishap| UnitError::Other(mishap.to_string()))?;
        if self.abilities.event_mode && !abilities.event_mode {
            self.settings.without_event_mode = true;
        }
        (self.abilities, self.findings) = (abilities, findings);
        if self.settings.without_event_mode {
            self.abilities = self.abilities.clone().without_event_mode(self.kind());
        }
        self.warnings.extend(warnings);
        let failed = self.findings.iter().filter(|finding| !finding.holds);
        let failed = failed.map(|f| {
            format!(
                "it declares {}, which it does not have: {}; it is not used",
                f.capability, f.what
            )
        });
        self.warnings.extend(failed.collect::<Vec<_>>());
        self.believe_feedthrough(&reactions);
        Ok(())
    }

    /// Moves inputs and states of an instance, to see what reacts.
    pub(crate) fn react(
        &self,
        early: bool,
        directional: bool,
        comparable: bool,
    ) -> Result<Observation, Mishap> {
        let seen = match self.unit.description.version {
            Version::Two => self.reactions_of(
                self.instance2("probe", None, early.then_some(&self.starts()))?
                    .0,
                directional,
                comparable,
            )?,
            Version::Three => self.reactions_of(
                self.instance3("probe", None, early.then_some(&self.starts()))?
                    .0,
                directional,
                comparable,
            )?,
        };
        Ok(Observation {
            reactions: Some(seen),
            ..Observation::default()
        })
    }

    fn reactions_of<I: Instance>(
        &self,
        mut instance: I,
        directional: bool,
        comparable: bool,
    ) -> Result<Reactions, CallError> {
        instance.enter_initialization(self.settings.start, self.settings.stop, None)?;
        let exchange = self.used == Use::ModelExchange;
        // In initialization mode first: what reacts there must be known where start values are found.
        let compares = directional && comparable && !exchange;
        let mut seen = reactions(
            &mut instance,
            &self.layout,
            &self.abilities,
            Mode::Initialization,
            compares,
        )?;
        if !exchange {
            // Whether it can be left from here is not the question: the initial equations were solved for other inputs on the way.
            let _ = instance.exit_initialization();
        } else {
            instance.exit_initialization()?;
            instance.update_discrete_states()?;
            instance.leave_event_mode()?;
            let inside = seen.feedthrough;
            seen = reactions(
                &mut instance,
                &self.layout,
                &self.abilities,
                Mode::ContinuousTime,
                directional,
            )?;
            seen.feedthrough.extend(inside);
        }
        let _ = instance.terminate();
        Ok(seen)
    }

    /// Feedthrough that was seen counts, declared or not; where nothing is declared, what was not seen does not, if it could be seen.
    fn believe_feedthrough(&mut self, found: &Reactions) {
        let late = self.abilities.late_outputs;
        let layout = Arc::make_mut(&mut self.layout);
        let mut unexpected = Vec::new();
        if !layout.dependencies_declared && found.complete && !late {
            let unclear = |input: &usize| found.unclear.contains(input);
            layout
                .outputs
                .iter_mut()
                .for_each(|output| output.depends_on.retain(unclear));
        }
        for &(output, input) in &found.feedthrough {
            let depends_on = &mut layout.outputs[output].depends_on;
            if !depends_on.contains(&input) {
                depends_on.push(input);
                depends_on.sort_unstable();
                if layout.dependencies_declared {
                    unexpected.push(format!(
                        "`{}` on `{}`",
                        layout.outputs[output].name, layout.inputs[input].name
                    ));
                }
            }
        }
        if !unexpected.is_empty() {
            let what = unexpected.join(", ");
            self.warnings.push(format!(
                "it declares no such dependency, but at once depends {what}; this is taken into account"
            ));
        }
    }
}
