//! The options of estimates as users give them, and which systems are estimated.

use dovetail_numerics::Laplace;

use super::options::{Control, EstimatorOptions, Form};
use crate::registry::kind::{Candidate, StandIns};
use crate::registry::option::{Choice, OptionSpec};
use crate::registry::refusal::Refusal;
use crate::registry::settings::Settings;

impl Choice for Control {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("flexible", Control::Flexible),
        ("zero-order", Control::ZeroOrder),
        ("first-order", Control::FirstOrder),
    ];
}

impl Choice for Form {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("full", Form::Full),
        ("held", Form::Held),
        ("degraded", Form::Degraded),
        ("as-printed", Form::Degraded),
    ];
}

impl Choice for Laplace {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("exact", Laplace::Exact),
        ("gaver-stehfest", Laplace::GaverStehfest),
    ];
}

pub(crate) const CONTROL: OptionSpec = OptionSpec::choice::<Control>(
    "control",
    "how estimates continue what their linearization does not explain",
);

pub(crate) const FORM: OptionSpec = OptionSpec::choice::<Form>(
    "form",
    "what estimates use of the derivatives of states: all of it, held (as COSTARICA has it), \
     nothing (degraded, as-printed)",
);

pub(crate) const LAPLACE: OptionSpec = OptionSpec::choice::<Laplace>(
    "laplace",
    "how estimates are evaluated: exactly, or by numerical inversion as in the papers",
);

pub(crate) const ROLLBACK_FREE: OptionSpec = OptionSpec::choice::<Option<bool>>(
    "rollback-free",
    "estimate what systems would answer (COSTARICA) rather than try it: auto (where they cannot \
     roll back), true, false",
);

impl EstimatorOptions {
    /// As the options ask for.
    pub fn of(settings: &Settings) -> Self {
        Self {
            control: settings.choice_or_default(&CONTROL),
            form: settings.choice_or_default(&FORM),
            laplace: settings.choice_or_default(&LAPLACE),
        }
    }
}

/// Which systems are put behind COSTARICA, because the options or their lack of rollback ask for
/// it.
pub(crate) fn stand_ins(
    systems: &[Candidate<'_>],
    settings: &Settings,
) -> Result<StandIns, Refusal> {
    let mut found = StandIns::default();
    let asked: Option<bool> = settings.choice_or_default(&ROLLBACK_FREE);

    for system in systems {
        let poor = !system.capabilities.trial;
        let can = system.capabilities.linearize;
        let wanted = asked.unwrap_or(poor);
        // The method itself refuses a system that can do neither; one that can roll back was asked
        // for what it cannot do.
        if wanted && !can && !poor {
            return Err(cannot_estimate(system.name));
        }
        found.estimated.push(wanted && can);
        if wanted && can && poor {
            found.warnings.push(format!(
                "`{}` cannot roll back: what it would answer was estimated (COSTARICA), and only \
                 accepted steps were integrated",
                system.name
            ));
        }
    }

    if !found.estimated.contains(&true) {
        found.warnings.extend(unused(settings));
    }
    Ok(found)
}

fn cannot_estimate(system: &str) -> Refusal {
    let message = format!(
        "rollback-free=true needs systems that can be linearized, and `{system}` cannot be"
    );
    Refusal::new(message).help("it can roll back: leave the option out")
}

/// What is said of options for estimates where nothing is estimated.
fn unused(settings: &Settings) -> Vec<String> {
    let keys = [CONTROL, FORM, LAPLACE];
    let given = keys.iter().filter(|option| settings.has(option));
    let text = |option: &OptionSpec| {
        let key = option.key;
        format!("nothing was estimated, so that the option {key} was not used: see rollback-free")
    };

    given.map(text).collect()
}
