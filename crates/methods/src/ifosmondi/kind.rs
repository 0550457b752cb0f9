//! IFOSMONDI, as it is chosen.

use dovetail_core::{Error, Method, Remedy, StepRule};

use super::criterion::Criterion;
use super::{Ifosmondi, IfosmondiOptions, NAME};
use crate::costarica::choice::{CONTROL, FORM, LAPLACE, ROLLBACK_FREE, stand_ins};
use crate::registry::common::{SOLVER, STEP, TOLERANCE};
use crate::registry::context::Context;
use crate::registry::kind::{Candidate, MethodKind, Properties, StandIns};
use crate::registry::option::{Choice, OptionSpec};
use crate::registry::refusal::Refusal;
use crate::registry::settings::Settings;
use crate::registry::solver::{ANDERSON, QUASI_NEWTON};

/// A solver that remembers keeps a matrix of so many rows at most, unless it is asked for.
const MOST_REMEMBERED: usize = 1000;

impl Choice for Criterion {
    const NAMES: &'static [(&'static str, Self)] =
        &[("range", Criterion::Range), ("paper", Criterion::Paper)];
}

const CRITERION: OptionSpec = OptionSpec::choice::<Criterion>(
    "criterion",
    "when the iterations of ifosmondi agree: range (within the tolerance of each variable's \
     range), paper (its formula (27) \
     and a fixed step)",
);

static OPTIONS: [OptionSpec; 7] = [
    SOLVER,
    TOLERANCE,
    CRITERION,
    ROLLBACK_FREE,
    CONTROL,
    FORM,
    LAPLACE,
];

/// IFOSMONDI, as it is chosen.
pub(crate) struct IfosmondiKind;

impl MethodKind for IfosmondiKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "iterates until the interfaces agree in value and slope; order 4"
    }

    fn needs(&self) -> &'static str {
        "rollback or linearization"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }

    fn properties(&self) -> Properties {
        Properties {
            limited_by_noise: true,
            ..Properties::default()
        }
    }

    /// The paper's criterion goes with the paper's steps.
    fn chooses_steps(&self, settings: &Settings) -> bool {
        let criterion: Criterion = settings.choice_or_default(&CRITERION);
        !settings.has(&STEP) && criterion == Criterion::Range
    }

    fn tolerance(&self, settings: &Settings) -> Option<f64> {
        Some(settings.tolerance())
    }

    fn stand_ins(
        &self,
        systems: &[Candidate<'_>],
        settings: &Settings,
    ) -> Result<StandIns, Refusal> {
        stand_ins(systems, settings)
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Refusal> {
        for (interface, capabilities) in context.systems() {
            let missing =
                |need: &str, instead: &str| Error::missing(NAME, &interface.name, need, instead);
            if !capabilities.trial {
                let need = "rollback, or a linearization in its place";
                let instead = "f3ornits, jacobi and gauss-seidel work without";
                let remedies = ["f3ornits", "jacobi", "gauss-seidel"].map(Remedy::method);
                return Err(missing(need, instead).with(remedies).into());
            }
            if let StepRule::Imposed(_) = capabilities.step_rule {
                let instead = "jacobi and gauss-seidel work with an imposed step";
                let remedies = ["jacobi", "gauss-seidel"].map(Remedy::method);
                let missing = missing("steps that can be shortened", instead);
                return Err(missing.with(remedies).into());
            }
        }
        Ok(())
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        let settings = &context.settings;
        let unknowns = Ifosmondi::unknowns(context.connections);
        let usual = if unknowns <= MOST_REMEMBERED {
            QUASI_NEWTON
        } else {
            ANDERSON
        };
        let solver = context.solver(settings.solver().unwrap_or(usual))?;
        let chooses = self.chooses_steps(settings);
        let tolerance = if chooses {
            context.tolerance_above_noise()
        } else {
            context.tolerance()
        };
        let options = IfosmondiOptions {
            tolerance,
            extrapolate: solver.remembers(),
            criterion: settings.choice_or_default(&CRITERION),
            chosen: chooses.then(|| context.limits().steps),
        };
        let method = Ifosmondi::new(
            context.connections,
            context.grid(),
            options,
            solver.build(unknowns, settings)?,
            &context.capabilities,
        );

        Ok(Box::new(method.with_advice(solver.advice())))
    }
}
