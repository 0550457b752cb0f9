//! What a probe found out, so that another process need not probe again.

use std::sync::Arc;

use dovetail_core::Precision;
use serde::{Deserialize, Serialize};

use crate::abilities::{FmuCapabilities, InputMode, OutputSlopes};
use crate::fmu::error::FmuError;
use crate::fmu::{Fmu, PreparedFmu, Settings};

/// What the probe of an FMU found: enough to prepare it elsewhere in the same way, without trying
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    rollback: bool,
    linearizes: bool,
    directional: bool,
    inputs: InputMode,
    slopes: OutputSlopes,
    slopes_at_start: bool,
    derivatives_leave_traces: bool,
    early_inputs: bool,
    enters_with_inputs: bool,
    late_outputs: bool,
    single: bool,
    event_mode: bool,
    returns_early: bool,
    noise: f64,
    resolution: f64,
    /// For each output, the inputs on which it depends at once.
    depends_on: Vec<Vec<usize>>,
}

impl ProbeResult {
    fn of(abilities: &FmuCapabilities, depends_on: Vec<Vec<usize>>) -> Self {
        let FmuCapabilities {
            rollback,
            linearizes,
            directional,
            inputs,
            slopes,
            ..
        } = *abilities;
        let FmuCapabilities {
            slopes_at_start,
            early_inputs,
            enters_with_inputs,
            late_outputs,
            single,
            precision,
            ..
        } = *abilities;
        let Precision { noise, resolution } = precision;

        Self {
            rollback,
            linearizes,
            directional,
            inputs,
            slopes,
            slopes_at_start,
            derivatives_leave_traces: abilities.derivatives_leave_traces,
            early_inputs,
            enters_with_inputs,
            late_outputs,
            single,
            event_mode: abilities.event_mode,
            returns_early: abilities.returns_early,
            noise,
            resolution,
            depends_on,
        }
    }

    /// What is left of these abilities, as declared.
    fn apply(&self, declared: &FmuCapabilities) -> FmuCapabilities {
        FmuCapabilities {
            rollback: self.rollback,
            linearizes: self.linearizes,
            directional: self.directional,
            inputs: self.inputs,
            slopes: self.slopes,
            slopes_at_start: self.slopes_at_start,
            derivatives_leave_traces: self.derivatives_leave_traces,
            early_inputs: self.early_inputs,
            enters_with_inputs: self.enters_with_inputs,
            late_outputs: self.late_outputs,
            single: self.single,
            event_mode: self.event_mode,
            returns_early: self.returns_early,
            precision: Precision {
                noise: self.noise,
                resolution: self.resolution,
            },
            ..declared.clone()
        }
    }
}

impl PreparedFmu {
    /// What was found out about the FMU.
    pub fn knowledge(&self) -> ProbeResult {
        let depends_on = self
            .layout
            .outputs
            .iter()
            .map(|output| output.depends_on.clone())
            .collect();
        let knowledge = ProbeResult::of(&self.abilities, depends_on);
        debug_assert_eq!(
            knowledge.apply(&self.declared),
            self.abilities,
            "BUG: the probe found more than it passes on"
        );

        knowledge
    }
}

impl Fmu {
    /// Lays the FMU out as where it was tried; neither is it loaded nor does it run.
    pub fn prepare_known(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        knowledge: &ProbeResult,
    ) -> Result<PreparedFmu, FmuError> {
        let mut prepared = self.lay_out(settings, step)?;
        prepared.settings.without_event_mode |=
            prepared.declared.event_mode && !knowledge.event_mode;
        prepared.abilities = knowledge.apply(&prepared.declared);
        let layout = Arc::make_mut(&mut prepared.layout);

        for (output, inputs) in layout.outputs.iter_mut().zip(&knowledge.depends_on) {
            output.depends_on.clone_from(inputs);
        }
        Ok(prepared)
    }
}
