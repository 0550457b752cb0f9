//! An FMU is tried out: what does not hold is taken from its abilities.

use std::sync::Arc;

use super::PreparedFmu;
use super::error::{FmuError, InterfaceUse};
use super::instances::InstanceSource;
use crate::call_error::CallError;
use crate::description::Version;
use crate::experiment::{ExperimentFailure, Observation};
use crate::finding::Finding;
use crate::instance::Instance;
use crate::journal::{CallLog, Journal};
use crate::probe::{self, ExperimentRunner, Subject};
use crate::reactions::{Mode, Reactions, reactions};

/// What is asked of an FMU whose inputs and states are moved.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// Directional derivatives, to compare them with differences.
    pub directional: bool,
    /// Whether they can be compared in initialization mode.
    pub comparable: bool,
}

impl PreparedFmu {
    /// Has the FMU tried by `experiments`. Steps of an FMU that fails in them are the run's to
    /// report.
    pub(super) fn probe(
        &mut self,
        experiments: &mut dyn ExperimentRunner,
        step: f64,
    ) -> Result<(), FmuError> {
        let subject = Subject {
            co_simulation: self.is_co_simulation(),
            movable: !self.layout.smooth_input_positions.is_empty(),
            smooth: self.layout.smooth_output_positions.clone(),
            step,
        };
        let tried = probe::probe(experiments, &self.abilities, &subject);
        let verdict = tried.map_err(FmuError::NotTried)?;

        if self.abilities.event_mode && !verdict.abilities.event_mode {
            self.settings.without_event_mode = true;
        }

        self.abilities = verdict.abilities;
        self.findings = verdict.findings;

        if self.settings.without_event_mode {
            self.abilities = self.abilities.clone().without_event_mode(self.kind());
        }

        self.warnings.extend(verdict.warnings);
        self.warn_of_failures();
        self.believe_feedthrough(&verdict.reactions);
        Ok(())
    }

    fn warn_of_failures(&mut self) {
        let failed = self.findings.iter().filter(|finding| !finding.holds());
        let warning = |finding: &Finding| {
            format!(
                "it declares {}, which it does not have: {}; it is not used",
                finding.capability, finding.what
            )
        };
        self.warnings.extend(failed.map(warning));
    }

    /// Moves inputs and states of an instance, to see what reacts.
    pub(super) fn react(
        &self,
        early: bool,
        asked: Asked,
        log: Option<Arc<CallLog>>,
        instances: &InstanceSource,
    ) -> Result<Observation, ExperimentFailure> {
        let starts = self.starts();
        let early = early.then_some(&starts[..]);
        let journal = Journal::new("probe", log);
        let seen = match self.fmu.description.version {
            Version::One => {
                let instance = self.instance1(journal, early, instances)?;
                self.reactions_of(instance, asked)?
            }
            Version::Two => {
                let instance = self.instance2(journal, early, instances)?;
                self.reactions_of(instance, asked)?
            }
            Version::Three => {
                let instance = self.instance3(journal, early, instances)?;
                self.reactions_of(instance, asked)?
            }
        };

        Ok(Observation {
            reactions: Some(seen),
            ..Observation::default()
        })
    }

    fn reactions_of<I: Instance>(
        &self,
        mut instance: I,
        asked: Asked,
    ) -> Result<Reactions, CallError> {
        instance.enter_initialization(self.settings.start, self.settings.stop, None)?;
        let seen = match self.used {
            InterfaceUse::CoSimulation => self.co_simulation_reactions(&mut instance, asked)?,
            InterfaceUse::ModelExchange => self.model_exchange_reactions(&mut instance, asked)?,
        };
        let _ = instance.terminate();

        Ok(seen)
    }

    fn co_simulation_reactions<I: Instance>(
        &self,
        instance: &mut I,
        asked: Asked,
    ) -> Result<Reactions, CallError> {
        let compares = asked.directional && asked.comparable;
        let seen = self.reactions_in(instance, Mode::Initialization, compares)?;
        // Whether it can be left from here is not the question: the initial equations were solved
        // for other inputs on the way.
        let _ = instance.exit_initialization();

        Ok(seen)
    }

    fn model_exchange_reactions<I: Instance>(
        &self,
        instance: &mut I,
        asked: Asked,
    ) -> Result<Reactions, CallError> {
        // In initialization mode first: what reacts there must be known where start values are
        // found.
        let inside = self.reactions_in(instance, Mode::Initialization, false)?;
        instance.exit_initialization()?;
        instance.update_discrete_states()?;
        instance.leave_event_mode()?;
        let mut seen = self.reactions_in(instance, Mode::ContinuousTime, asked.directional)?;
        seen.feedthrough.extend(inside.feedthrough);

        Ok(seen)
    }

    fn reactions_in<I: Instance>(
        &self,
        instance: &mut I,
        mode: Mode,
        directional: bool,
    ) -> Result<Reactions, CallError> {
        reactions(instance, &self.layout, &self.abilities, mode, directional)
    }

    /// Feedthrough that was seen counts, declared or not; where nothing is declared, what was not
    /// seen does not, if it could be seen.
    fn believe_feedthrough(&mut self, found: &Reactions) {
        let late = self.abilities.late_outputs;
        let layout = Arc::make_mut(&mut self.layout);

        if !layout.dependencies_declared && found.complete && !late {
            layout.keep_dependencies(&found.unclear);
        }

        let mut unexpected = Vec::new();
        for &(output, input) in &found.feedthrough {
            let is_new = layout.add_dependency(output, input);
            if is_new && layout.dependencies_declared {
                let output = &layout.outputs[output].name;
                let input = &layout.inputs[input].name;
                unexpected.push(format!("`{output}` on `{input}`"));
            }
        }

        if !unexpected.is_empty() {
            let what = unexpected.join(", ");
            self.warnings.push(format!(
                "it declares no such dependency, but depends directly {what}; this is taken into \
                 account"
            ));
        }
    }
}
