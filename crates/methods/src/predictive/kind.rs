//! The engine's own method, as it is chosen.

use dovetail_core::Method;

use super::options::{Inputs, PredictiveOptions, Relinearize};
use super::{NAME, Predictive};
use crate::interface_system::needs::check_needs;
use crate::registry::common::{STEP, TOLERANCE};
use crate::registry::context::Context;
use crate::registry::kind::{MethodKind, Properties};
use crate::registry::option::{Choice, OptionSpec};
use crate::registry::refusal::Refusal;
use crate::registry::settings::Settings;

impl Choice for Inputs {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Inputs::Auto),
        ("quintic", Inputs::Quintic),
        ("cubic", Inputs::Cubic),
    ];
}

impl Choice for Relinearize {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Relinearize::Auto),
        ("always", Relinearize::Always),
        ("never", Relinearize::Never),
    ];
}

const INPUTS: OptionSpec = OptionSpec::choice::<Inputs>(
    "inputs",
    "degree of the inputs: auto (quintic where that is possible and pays), quintic, cubic",
);

const CORRECTION: OptionSpec = OptionSpec::choice::<Option<bool>>(
    "correction",
    "integrate a step again under corrected inputs: auto (where it was predicted poorly and all \
     can roll back), false, true",
);

const RELINEARIZE: OptionSpec = OptionSpec::choice::<Relinearize>(
    "relinearize",
    "when to linearize anew: auto (unless a system has hardly changed), always, never (but after \
     events)",
);

const CORRECTED: OptionSpec =
    OptionSpec::choice::<bool>("corrected", "add the estimated error to the results");

static OPTIONS: [OptionSpec; 5] = [TOLERANCE, INPUTS, CORRECTION, RELINEARIZE, CORRECTED];

/// The method, as it is chosen.
pub(crate) struct PredictiveKind;

impl MethodKind for PredictiveKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn former_names(&self) -> &'static [&'static str] {
        &["dovetail"] // the name of the program
    }

    fn summary(&self) -> &'static str {
        "the engine's own: predicts the interface, integrates once, knows its error; order 4 to 6"
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
            estimates_error: true,
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
        let settings = &context.settings;
        let chooses = self.chooses_steps(settings);
        let options = PredictiveOptions {
            inputs: settings.choice_or_default(&INPUTS),
            correction: settings.choice_or_default(&CORRECTION),
            relinearize: settings.choice_or_default(&RELINEARIZE),
            corrected: settings.choice_or_default(&CORRECTED),
            tolerance: chooses.then(|| context.tolerance_above_noise()),
            bounds: context.limits().steps,
        };
        let grid = context.grid();
        let method = Predictive::new(context.connections, grid, options, &context.capabilities);

        Ok(Box::new(method))
    }
}
