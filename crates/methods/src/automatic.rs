//! Which method `auto` takes, and what takes over where one makes no headway.

use dovetail_core::{Capabilities, Method, StepRule};

use crate::fallback::Fallback;
use crate::registry::context::Context;
use crate::registry::kind::MethodKind;
use crate::registry::list::Registry;
use crate::registry::refusal::Refusal;

/// The name that asks for a method by what the systems can do.
pub const AUTO: &str = "auto";

/// A method that was chosen from what the systems can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its name.
    pub name: &'static str,
    /// Why.
    pub reason: String,
}

impl Chosen {
    fn new(name: &'static str, reason: impl Into<String>) -> Self {
        Self {
            name,
            reason: reason.into(),
        }
    }
}

/// Chooses a method for systems that can do this. `jumping` is a system whose equations jump where
/// nothing announces it: without rollback, which finds such events before a step is taken, the
/// engine's own method would predict beyond the jump.
pub fn choose(capabilities: &[Capabilities], coupled: bool, jumping: Option<&str>) -> Chosen {
    let all = |able: &dyn Fn(&Capabilities) -> bool| capabilities.iter().all(able);
    let free = all(&|c| c.step_rule == StepRule::Free);

    if !coupled {
        let reason = "no system feeds another, so there is nothing to couple";
        return Chosen::new("jacobi", reason);
    }
    if free && all(&|c| c.linearize) {
        return linearizable(all(&|c| c.trial), jumping);
    }

    if free && all(&|c| c.trial) {
        let reason = "all systems support rollback, so the interfaces can be made to agree";
        return Chosen::new("ifosmondi", reason);
    }

    if free && all(&|c| c.trial || c.linearize) {
        let reason = "all systems support rollback or linearization; the response of the latter is \
            estimated";
        return Chosen::new("ifosmondi", reason);
    }

    let reason = "not all systems support rollback or linearization and a free step, and this \
        method needs neither";
    Chosen::new("f3ornits", reason)
}

/// The choice where every system can be linearized.
fn linearizable(rollback: bool, jumping: Option<&str>) -> Chosen {
    if let Some(system) = jumping.filter(|_| !rollback) {
        let reason = format!(
            "all systems support linearization, but not all support rollback, and `{system}` has \
             conditions or jumps that depend on more than time: steps are shortened to meet them"
        );
        return Chosen::new("missiles", reason);
    }

    let reason = if rollback {
        "all systems support linearization and rollback"
    } else {
        "all systems support linearization"
    };
    Chosen::new("predictive", reason)
}

/// Makes a method for a run, watched: where it was chosen by [`choose`], another one takes over
/// when it should be left; otherwise a run that makes no headway ends.
pub fn build_watched<'a>(
    registry: &'a Registry,
    kind: &dyn MethodKind,
    context: Context<'a>,
    automatic: bool,
) -> Result<Box<dyn Method + 'a>, Refusal> {
    let own = kind.build(&context)?;
    let properties = kind.properties();
    if properties.keeps_to_grid {
        return Ok(own);
    }

    let Context { step, stop, .. } = context;
    let other = move |name: &str| {
        let kind = registry.method(name)?;
        kind.check(&context).ok()?;
        let method = kind.build(&context).ok()?;
        Some((method, kind.properties()))
    };
    let successor = automatic.then(|| Box::new(other) as _);

    Ok(Box::new(Fallback::new(
        own, properties, step, stop, successor,
    )))
}
