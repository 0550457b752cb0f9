//! What a coupling method says of itself.

use std::iter::zip;

use dovetail_core::{Capabilities, Method};

use super::context::Context;
use super::option::{BadOption, OptionSpec};
use super::refusal::Refusal;
use super::settings::Settings;

/// A coupling method that can be chosen by its name.
pub trait MethodKind: Sync {
    /// Its name, as users write it.
    fn name(&self) -> &'static str;

    /// Names that it had before: users who write one are answered with its present name.
    fn former_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// What it does, in a line.
    fn summary(&self) -> &'static str;

    /// What it needs of systems, in a few words.
    fn needs(&self) -> &'static str;

    /// Its own options; every run has those of [`COMMON`](super::common::COMMON) besides.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// What is true of it, whatever the options are.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Whether it chooses its steps, under these options.
    fn chooses_steps(&self, _settings: &Settings) -> bool {
        false
    }

    /// The coupling tolerance it works to, under these options.
    fn tolerance(&self, _settings: &Settings) -> Option<f64> {
        None
    }

    /// Refuses options that do not go together.
    fn check_settings(&self, _settings: &Settings) -> Result<(), BadOption> {
        Ok(())
    }

    /// Which systems are replaced by estimates (COSTARICA) while the method tries out steps.
    fn stand_ins(
        &self,
        systems: &[Candidate<'_>],
        _settings: &Settings,
    ) -> Result<StandIns, Refusal> {
        Ok(StandIns::none(systems.len()))
    }

    /// Refuses systems that cannot do what the method needs. No method is made for it.
    fn check(&self, context: &Context<'_>) -> Result<(), Refusal>;

    /// Makes the method for a run.
    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal>;
}

/// What is true of a method, whatever its options are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Inputs are constant over a step: their slopes are zero.
    pub holds_inputs: bool,
    /// Systems are asked one after the other: threads bring nothing.
    pub one_at_a_time: bool,
    /// It keeps to its grid, so that it always gets on.
    pub keeps_to_grid: bool,
    /// Where it chooses its steps, it cannot judge errors below the noise of the systems.
    pub limited_by_noise: bool,
    /// It predicts interfaces from linearized systems: where that leads nowhere, a method that tries
    /// its steps out may get on.
    pub predicts_by_linearization: bool,
    /// Where it chooses its steps, it estimates the error of its results.
    pub estimates_error: bool,
    /// It solves all equations as one system: nothing is coupled, and no error comes of coupling.
    pub solves_as_one: bool,
}

/// A system that may be replaced by an estimate.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// Which systems are replaced by estimates, and what to say of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandIns {
    /// For each system, whether it is.
    pub estimated: Vec<bool>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl StandIns {
    /// Of so many systems, none.
    pub fn none(systems: usize) -> Self {
        Self {
            estimated: vec![false; systems],
            ..Self::default()
        }
    }

    /// What the systems can do with their estimates.
    pub fn raise(&self, capabilities: &mut [Capabilities]) {
        for (found, estimated) in zip(capabilities, &self.estimated) {
            if *estimated {
                found.trial = true;
                found.output_derivatives = found.output_derivatives.max(1);
            }
        }
    }
}
