//! What a system is made from, whatever that is.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use dovetail_core::{Capabilities, Interface, System};
use dovetail_equations::Definition;
use dovetail_fmi::description::UnitDefinition;
use dovetail_fmi::{CallLog, Monitor, PreparedFmu, RunCourse};
use dovetail_guaranteed::Boxes;

use crate::inputs::outside::OutsideSignals;

/// What a system is made from. Systems are made afresh for every run.
///
/// Four methods are required. The others are capabilities: override those that the source has.
pub trait SystemSource: fmt::Debug + Send + Sync {
    /// The system's name.
    fn name(&self) -> &str;

    /// Its inputs, outputs and states.
    fn interface(&self) -> Interface;

    /// What the system can do, without making it; `step` is about that of the run.
    fn capabilities(&self, step: f64) -> Capabilities;

    /// Makes the system, at its start values.
    fn build(&self, options: &BuildOptions) -> Result<Built, String>;

    /// Capability: its equations are known.
    fn equations(&self) -> Option<KnownEquations<'_>> {
        None
    }

    /// Capability: it is an FMU.
    fn fmu(&self) -> Option<&PreparedFmu> {
        None
    }

    /// Capability: the source as bytes from which a kind of this name makes it again in another process.
    fn portable(&self) -> Option<Portable> {
        None
    }

    /// Whether an input that nothing feeds keeps its start value; otherwise it must be fed.
    fn holds_open_inputs(&self) -> bool {
        false
    }

    /// What is known of the unit of measure of a variable, beyond its name.
    fn unit_of_measure(&self, _variable: &str) -> Option<UnitOfMeasure<'_>> {
        None
    }

    /// The value of a parameter or the start value of a variable, where it is a number that is known without running anything;
    /// that of equations follows from them.
    fn start_value(&self, _variable: &str) -> Option<f64> {
        None
    }

    /// How it starts.
    fn start_habits(&self) -> StartHabits {
        StartHabits::default()
    }

    /// Whether only one instance of it can be made in a process.
    fn single_instance(&self) -> Option<SingleInstance> {
        None
    }

    /// The fixed step inside the system, where it has one.
    fn inner_step(&self) -> Option<f64> {
        None
    }

    /// That step, where it does not fit a run by steps of this size although the system takes any.
    fn unfitting_step(&self, _step: f64) -> Option<f64> {
        None
    }
}

/// Equations with the boxes of their states and parameters, of which `definition` has the middles.
#[derive(Clone, Copy, Debug)]
pub struct KnownEquations<'a> {
    /// The equations, with their values.
    pub definition: &'a Definition,
    /// What is known of states and parameters.
    pub boxes: &'a Boxes,
}

/// A unit of measure that can be converted.
#[derive(Clone, Copy, Debug)]
pub struct UnitOfMeasure<'a> {
    /// What it is made of.
    pub definition: &'a UnitDefinition,
    /// Whether the variable is a difference, to which offsets do not apply.
    pub relative: bool,
}

/// How a system starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartHabits {
    /// From the inputs that it knows before it is initialized.
    pub enters_with_inputs: bool,
    /// It shows its outputs only when it has been initialized.
    pub late_outputs: bool,
}

/// A source of which only one instance can be made in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleInstance {
    /// Its file: other systems of the same file are concerned too.
    pub file: PathBuf,
    /// Whether it says so itself; otherwise it was found to be so.
    pub declared: bool,
}

/// A source as bytes, for another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portable {
    /// The name of the kind that reads them.
    pub kind: &'static str,
    /// What it reads.
    pub bytes: Vec<u8>,
}

/// How a system is to be made.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// About the step of the run.
    pub step: f64,
    /// Of our own integrators.
    pub integrator_tolerance: f64,
    /// What the solvers inside FMUs are asked for; none: what the FMU itself proposes.
    pub fmu_tolerance: Option<f64>,
    /// Where all calls of FMUs are written down.
    pub log: Option<Arc<CallLog>>,
    /// What is known of its inputs before the start; none: their start values.
    pub inputs: Option<Vec<f64>>,
    /// The states to start from; none: those of the model.
    pub states: Option<Vec<f64>>,
    /// States from before the current communication point may be restored later.
    pub goes_back: bool,
    /// What is said of the course of the run.
    pub course: RunCourse,
    /// What feeds the inputs that are left to whoever runs the model.
    pub outside: Option<Arc<OutsideSignals>>,
}

/// A system that was made.
pub struct Built {
    /// The system.
    pub system: Box<dyn System>,
    /// What can be known of an FMU while it runs.
    pub monitor: Option<Arc<Monitor>>,
}

impl Built {
    /// A system of which nothing more can be known.
    pub fn new(system: impl System + 'static) -> Self {
        Self {
            system: Box::new(system),
            monitor: None,
        }
    }
}
