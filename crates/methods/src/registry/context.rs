//! What a method is built for.

use dovetail_core::{Capabilities, Connections, Grid, Interface, Method};

use super::limits::Limits;
use super::refusal::Refusal;
use super::settings::Settings;
use super::solver::SolverKind;

/// A run that a method is built for.
#[derive(Clone)]
pub struct Context<'a> {
    /// Who feeds whom.
    pub connections: &'a Connections,
    /// Start of the run.
    pub start: f64,
    /// End of the run.
    pub stop: f64,
    /// So much before its end is beyond what the run is meant to be: an importer may go on, but sizes are parts of the rest.
    pub beyond: f64,
    /// The step of methods on a grid, and a usual one for the others.
    pub step: f64,
    /// What the systems can do.
    pub capabilities: Vec<Capabilities>,
    /// The options.
    pub settings: Settings,
    /// The solvers there are.
    pub solvers: &'a [&'static dyn SolverKind],
    /// The model as one system, where its equations are known.
    pub whole: Option<&'a dyn WholeModel>,
}

/// A model whose systems can be put together as one.
pub trait WholeModel {
    /// All systems as one, with rows at the times of a grid; or why that cannot be.
    fn as_one_system<'a>(&'a self, grid: Grid) -> Result<Box<dyn Method + 'a>, String>;
}

impl Context<'_> {
    /// The communication times of methods with a fixed step.
    pub fn grid(&self) -> Grid {
        Grid::new(self.start, self.stop, self.step)
    }

    /// The systems, with what they can do.
    pub fn systems(&self) -> impl Iterator<Item = (&Interface, &Capabilities)> {
        self.connections.interfaces().iter().zip(&self.capabilities)
    }

    /// The length of the run, without what is beyond what it is meant to be.
    pub fn span(&self) -> f64 {
        self.stop - self.beyond - self.start
    }

    /// What can be asked of the systems.
    pub fn limits(&self) -> Limits {
        Limits::of(&self.capabilities, self.span())
    }

    /// The coupling tolerance, as it was given.
    pub fn tolerance(&self) -> f64 {
        self.settings.tolerance()
    }

    /// The same, but not below what the noise of the systems permits.
    pub fn tolerance_above_noise(&self) -> f64 {
        self.tolerance().max(self.limits().tolerance)
    }

    /// The solver of this name.
    pub fn solver(&self, name: &str) -> Result<&'static dyn SolverKind, Refusal> {
        let found = self.solvers.iter().find(|kind| kind.name() == name);
        let unknown = || Refusal::new(format!("there is no solver `{name}`"));
        found.copied().ok_or_else(unknown)
    }
}
