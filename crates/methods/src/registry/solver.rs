//! The solvers of nonlinear equations that methods can be given.

use dovetail_core::Remedy;
use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, FixedPoint, FixedPointOptions, Newton, NewtonOptions, Ngmres,
    NgmresOptions, NonlinearSolver, QuasiNewton, QuasiNewtonOptions, Selection,
};

use super::option::OptionSpec;
use super::refusal::Refusal;
use super::settings::Settings;

/// A solver that can be chosen by its name.
pub trait SolverKind: Sync {
    /// Its name, as users write it.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn summary(&self) -> &'static str;

    /// Its own options.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Whether it remembers how the interface reacts, so that it can start from an extrapolated
    /// guess.
    fn remembers(&self) -> bool {
        false
    }

    /// What to know, and to try, where it does not converge.
    fn advice(&self) -> SolverAdvice {
        SolverAdvice::default()
    }

    /// Makes it, for so many unknowns.
    fn build(&self, size: usize, settings: &Settings) -> Result<Box<dyn NonlinearSolver>, Refusal>;
}

/// What to know, and to try, where a solver does not converge.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverAdvice {
    /// Why it fails where it does, if that does not depend on how its iterations end.
    pub limitation: Option<&'static str>,
    /// What to try.
    pub remedies: Vec<Remedy>,
}

impl Default for SolverAdvice {
    /// The usual solver.
    fn default() -> Self {
        Self {
            limitation: None,
            remedies: vec![Remedy::solver(QUASI_NEWTON)],
        }
    }
}

impl SolverAdvice {
    /// For a solver that seldom fails: this one, or an easier task.
    fn easier_or(solver: &str) -> Self {
        let remedies = vec![
            Remedy::solver(solver),
            Remedy::SmallerStep,
            Remedy::LooserTolerance,
        ];
        Self {
            limitation: None,
            remedies,
        }
    }

    fn contractions_only() -> Self {
        let limitation = "A fixed point is reached only where going round the loop shrinks errors, \
                          and here it does not, whatever the step";
        Self {
            limitation: Some(limitation),
            ..Self::default()
        }
    }
}

/// A solver of ours, which has no options and cannot be refused.
pub(crate) struct OwnSolver {
    name: &'static str,
    summary: &'static str,
    remembers: bool,
    advice: fn() -> SolverAdvice,
    make: fn(usize) -> Box<dyn NonlinearSolver>,
}

/// The solver that is taken where none is asked for.
pub(crate) const QUASI_NEWTON: &str = "quasi-newton";
/// The same where there are too many unknowns for a matrix.
pub(crate) const ANDERSON: &str = "anderson";

pub(crate) static OWN_SOLVERS: [OwnSolver; 6] = [
    OwnSolver {
        name: QUASI_NEWTON,
        summary: "remembers how the interface reacts from step to step; usually the fewest \
            integrations",
        remembers: true,
        advice: || SolverAdvice::easier_or(ANDERSON),
        make: |size| Box::new(QuasiNewton::new(size, QuasiNewtonOptions::default())),
    },
    OwnSolver {
        name: "newton",
        summary: "Newton with matrix-free GMRES and backtracking",
        remembers: false,
        advice: || SolverAdvice::easier_or(QUASI_NEWTON),
        make: |size| Box::new(Newton::new(size, NewtonOptions::default())),
    },
    OwnSolver {
        name: ANDERSON,
        summary: "Anderson mixing",
        remembers: false,
        advice: || SolverAdvice::easier_or(QUASI_NEWTON),
        make: |size| Box::new(Anderson::new(size, AndersonOptions::default())),
    },
    OwnSolver {
        name: "ngmres",
        summary: "nonlinear GMRES",
        remembers: false,
        advice: SolverAdvice::default,
        make: |size| Box::new(Ngmres::new(size, NgmresOptions::default())),
    },
    OwnSolver {
        name: "ngmres-linesearch",
        summary: "nonlinear GMRES with a line search",
        remembers: false,
        advice: SolverAdvice::default,
        make: ngmres_with_line_search,
    },
    OwnSolver {
        name: "fixed-point",
        summary: "the classical IFOSMONDI; converges only where the loop contracts",
        remembers: false,
        advice: SolverAdvice::contractions_only,
        make: |size| Box::new(FixedPoint::new(size, FixedPointOptions::default())),
    },
];

fn ngmres_with_line_search(size: usize) -> Box<dyn NonlinearSolver> {
    let options = NgmresOptions {
        selection: Selection::LineSearch,
        ..NgmresOptions::default()
    };
    Box::new(Ngmres::new(size, options))
}

impl SolverKind for OwnSolver {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn remembers(&self) -> bool {
        self.remembers
    }

    fn advice(&self) -> SolverAdvice {
        (self.advice)()
    }

    fn build(
        &self,
        size: usize,
        _settings: &Settings,
    ) -> Result<Box<dyn NonlinearSolver>, Refusal> {
        Ok((self.make)(size))
    }
}
