//! MISSILES, as it is chosen.

use dovetail_core::Method;

use super::{Missiles, MissilesOptions, NAME};
use crate::costarica::choice::{CONTROL, FORM, LAPLACE};
use crate::costarica::options::EstimatorOptions;
use crate::interface_system::needs::check_needs;
use crate::registry::common::{STEP, TOLERANCE};
use crate::registry::context::Context;
use crate::registry::kind::{MethodKind, Properties};
use crate::registry::option::OptionSpec;
use crate::registry::refusal::Refusal;
use crate::registry::settings::Settings;

static OPTIONS: [OptionSpec; 4] = [TOLERANCE, CONTROL, FORM, LAPLACE];

/// MISSILES, as it is chosen.
pub(crate) struct MissilesKind;

impl MethodKind for MissilesKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "solves one linear system a step for the interface, then integrates once"
    }

    fn needs(&self) -> &'static str {
        "linearization only"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }

    fn properties(&self) -> Properties {
        Properties {
            limited_by_noise: true,
            predicts_by_linearization: true,
            ..Properties::default()
        }
    }

    fn chooses_steps(&self, settings: &Settings) -> bool {
        !settings.has(&STEP)
    }

    fn tolerance(&self, settings: &Settings) -> Option<f64> {
        let chooses = self.chooses_steps(settings);
        chooses.then(|| settings.tolerance())
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Refusal> {
        check_needs(NAME, context, self.chooses_steps(&context.settings))
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        let chooses = self.chooses_steps(&context.settings);
        let options = MissilesOptions {
            estimator: EstimatorOptions::of(&context.settings),
            tolerance: chooses.then(|| context.tolerance_above_noise()),
            bounds: context.limits().steps,
        };
        let grid = context.grid();
        let method = Missiles::new(context.connections, grid, options, &context.capabilities);

        Ok(Box::new(method))
    }
}
