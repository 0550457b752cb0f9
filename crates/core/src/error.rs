//! What can end a run early.

use crate::remedy::{Notice, Remedy};

/// Why a run ends early. A rejected step or an iteration that does not converge is an outcome, not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system could not answer.
    #[error("`{system}` failed at t = {t} s: {reason}", t = readable(*.time))]
    System {
        /// Who.
        system: String,
        /// When.
        time: f64,
        /// The system's own words.
        #[source]
        reason: Box<dyn std::error::Error + Send + Sync>,
        /// What to try, as far as the system knows.
        remedies: Vec<Remedy>,
    },

    /// A system answered with NaN or infinity.
    #[error(
        "`{system}.{variable}` is {v} at t = {t} s, which no step can follow; look for a division by zero, a root or \
         logarithm of a negative number, or a coupling that diverges",
        t = readable(*.time),
        v = magnitude(*.value)
    )]
    NotFinite {
        /// Who.
        system: String,
        /// Which variable.
        variable: String,
        /// When.
        time: f64,
        /// What it was.
        value: f64,
    },

    /// A coupling variable grows step by step without bound.
    #[error(
        "the coupling diverges: `{system}.{variable}` reached {value:.3e} at t = {t} s, growing {growth:.2} times with every \
         step for {steps} steps. {method} passes every value on one step late, and around a loop this feeds on itself; \
         a smaller step helps only where the loop does not run through feedthrough",
        t = readable(*.time)
    )]
    Diverged {
        /// Who.
        system: String,
        /// Which variable.
        variable: String,
        /// When.
        time: f64,
        /// How large it became.
        value: f64,
        /// Mean growth per step.
        growth: f64,
        /// Over how many steps.
        steps: usize,
        /// Under which method.
        method: &'static str,
    },

    /// The iterations of a step do not agree, however short it is.
    #[error(
        "{method} does not converge at t = {t} s with the solver {solver}, even with a step of {size:.1e} s; `{system}.{variable}` \
         disagrees most. {why}",
        t = readable(*.time)
    )]
    NotConverged {
        /// Which method.
        method: &'static str,
        /// With which solver.
        solver: &'static str,
        /// Who.
        system: String,
        /// Which variable disagrees most.
        variable: String,
        /// When.
        time: f64,
        /// The shortest step tried.
        size: f64,
        /// Why, and what to try.
        why: Box<Notice>,
    },

    /// Steps are so short that the end is never reached.
    #[error(
        "{method} makes no headway at t = {t} s: {attempts} attempts moved on by {moved:.1e} s, and {left:.1e} s are left. Something \
         switches back and forth there, or the answers of a system are too noisy for the tolerance",
        t = readable(*.time)
    )]
    NoHeadway {
        /// Which method.
        method: &'static str,
        /// How many attempts.
        attempts: u64,
        /// How far they have moved on.
        moved: f64,
        /// When.
        time: f64,
        /// How much time is left.
        left: f64,
    },

    /// A run could not go on while a variable was growing without bound.
    #[error(
        "`{system}.{variable}` grows without bound near t = {t} s: it has reached {value:.3e}, over {times:.0e} times what it was at \
         t = {b} s. If the model is right, so is that; else look at what feeds it. Then: {source}",
        t = readable(*.time),
        b = readable(*.before)
    )]
    BlowUp {
        /// Who.
        system: String,
        /// Which variable.
        variable: String,
        /// When.
        time: f64,
        /// How large it is.
        value: f64,
        /// A time before.
        before: f64,
        /// How many times larger it is than at that time.
        times: f64,
        /// What ended the run.
        source: Box<Error>,
    },

    /// A method needs what a system does not have.
    #[error("{method} needs {need}, which `{system}` does not have; {instead}")]
    MissingCapability {
        /// Which method.
        method: &'static str,
        /// Which system.
        system: String,
        /// What it needs.
        need: String,
        /// What would work.
        instead: String,
        /// The same as data, as far as it is a choice of the run.
        remedies: Vec<Remedy>,
    },

    /// An algebraic loop has no solution, or many.
    #[error(
        "the algebraic loop through {} is singular at t = {t} s: its equations do not determine it. Put a state (a small \
         delay, a capacity) into the loop, or change the gain that makes it exactly 1",
        list_names(.variables),
        t = readable(*.time)
    )]
    SingularLoop {
        /// The variables on the loop.
        variables: Vec<String>,
        /// When.
        time: f64,
    },

    /// An algebraic loop was not solved.
    #[error(
        "the algebraic loop through {} was not solved at t = {t} s: after {iterations} Newton iterations its variables still \
         disagree by {residual:.3e}. Start values of the inputs nearer to the solution may help",
        list_names(.variables),
        t = readable(*.time)
    )]
    UnsolvedLoop {
        /// The variables on the loop.
        variables: Vec<String>,
        /// When.
        time: f64,
        /// How often Newton tried.
        iterations: usize,
        /// By how much the variables still disagree.
        residual: f64,
    },

    /// A checkpoint cannot be taken or restored.
    #[error("the checkpoint cannot be used: {0}")]
    Checkpoint(String),

    /// An observer could not do its work: a full disk, say.
    #[error("{what}: {source}")]
    Observer {
        /// What it was doing.
        what: String,
        /// What went wrong.
        source: std::io::Error,
    },
}

impl Error {
    /// A method needs something that `system` lacks; what to do instead.
    pub fn missing(
        method: &'static str,
        system: &str,
        need: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Self::MissingCapability {
            method,
            system: system.to_owned(),
            need: need.into(),
            instead: instead.into(),
            remedies: Vec::new(),
        }
    }

    /// A system could not answer, for this reason; there is nothing to try.
    pub fn system(
        system: &str,
        time: f64,
        reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::System {
            system: system.to_owned(),
            time,
            reason: reason.into(),
            remedies: Vec::new(),
        }
    }

    /// The same error with these remedies, where it has room for any.
    pub fn with(mut self, more: impl IntoIterator<Item = Remedy>) -> Self {
        match &mut self {
            Self::System { remedies, .. } | Self::MissingCapability { remedies, .. } => {
                remedies.extend(more);
            }
            Self::NotConverged { why, .. } => why.remedies.extend(more),
            _ => {}
        }
        self
    }

    /// The system that is to blame, where it is one.
    pub fn culprit(&self) -> Option<&str> {
        match self {
            Self::System { system, .. }
            | Self::NotFinite { system, .. }
            | Self::Diverged { system, .. }
            | Self::NotConverged { system, .. }
            | Self::BlowUp { system, .. }
            | Self::MissingCapability { system, .. } => Some(system),
            _ => None,
        }
    }

    /// The variable that shows it, `system.name`, where it is one.
    pub fn variable(&self) -> Option<String> {
        match self {
            Self::NotFinite {
                system, variable, ..
            }
            | Self::Diverged {
                system, variable, ..
            }
            | Self::NotConverged {
                system, variable, ..
            }
            | Self::BlowUp {
                system, variable, ..
            } => Some(format!("{system}.{variable}")),
            Self::SingularLoop { variables, .. } | Self::UnsolvedLoop { variables, .. } => {
                variables.first().cloned()
            }
            _ => None,
        }
    }

    /// When it happened, where that is known.
    pub fn time(&self) -> Option<f64> {
        match self {
            Self::System { time, .. }
            | Self::NotFinite { time, .. }
            | Self::Diverged { time, .. }
            | Self::NotConverged { time, .. }
            | Self::NoHeadway { time, .. }
            | Self::BlowUp { time, .. }
            | Self::SingularLoop { time, .. }
            | Self::UnsolvedLoop { time, .. } => Some(*time),
            Self::MissingCapability { .. } | Self::Checkpoint(_) | Self::Observer { .. } => None,
        }
    }

    /// What to try, most promising first; empty where nothing is known.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::System { remedies, .. } | Self::MissingCapability { remedies, .. } => {
                remedies.clone()
            }
            Self::NotConverged { why, .. } => why.remedies.clone(),
            Self::NotFinite { .. } => vec![Remedy::SmallerStep],
            Self::Diverged { .. } => vec![Remedy::method(ITERATING), Remedy::SmallerStep],
            Self::NoHeadway { .. } => vec![
                Remedy::LooserTolerance,
                Remedy::FixedStep,
                Remedy::method(PLAIN),
            ],
            Self::BlowUp { source, .. } => source.remedies(),
            Self::SingularLoop { .. }
            | Self::UnsolvedLoop { .. }
            | Self::Checkpoint(_)
            | Self::Observer { .. } => Vec::new(),
        }
    }
}

impl From<&Error> for Notice {
    fn from(error: &Error) -> Self {
        Self::from(error.to_string()).with(error.remedies())
    }
}

/// The method that makes interfaces agree, so that errors do not go round a loop.
const ITERATING: &str = "ifosmondi";
/// The method that always gets on.
const PLAIN: &str = "jacobi";

/// A number that may be out of all proportion, in few digits.
fn magnitude(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.3e}")
    } else {
        value.to_string()
    }
}

/// A time for people: 1.4 rather than 1.4000000000000001.
pub fn readable(time: f64) -> f64 {
    // Ten digits, which no model's times need more of; parsing gives the number whose shortest form they are.
    format!("{time:.9e}").parse().unwrap_or(time)
}

/// `` `a`, `b` and `c` ``, for messages; long lists are cut.
pub fn list_names(names: &[String]) -> String {
    const MOST: usize = 8;
    let quoted: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect();

    match (names.len(), quoted.split_last()) {
        (n, _) if n > MOST => format!("{} and {} more", quoted.join(", "), n - MOST),
        (_, Some((last, rest))) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_without_their_rounding() {
        assert_eq!(readable(1.4000000000000001).to_string(), "1.4");
        assert_eq!(readable(-1.0 / 3.0).to_string(), "-0.3333333333");
        assert!(readable(f64::NAN).is_nan());
    }

    #[test]
    fn names_are_listed_as_a_sentence_would() {
        let names = |n: usize| (0..n).map(|i| format!("v{i}")).collect::<Vec<_>>();
        assert_eq!(list_names(&names(1)), "`v0`");
        assert_eq!(list_names(&names(3)), "`v0`, `v1` and `v2`");
        assert!(list_names(&names(20)).ends_with("`v7` and 12 more"));
    }
}
