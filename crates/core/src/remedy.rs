//! What a user may try, as data.
//!
//! Libraries say what is wrong in a sentence and what to try in remedies; whoever shows a message to
//! people words them: the command-line program as flags, a binding as arguments.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something to try, or to look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Remedy {
    /// A smaller step.
    SmallerStep,
    /// A larger step.
    LargerStep,
    /// A step that is given, where the method chooses its own.
    FixedStep,
    /// A step that is a multiple of this, in seconds.
    MultipleOfStep(f64),
    /// A smaller coupling tolerance.
    SmallerTolerance,
    /// A larger coupling tolerance.
    LooserTolerance,
    /// A smaller tolerance of the integrators inside systems.
    SmallerIntegratorTolerance,
    /// A larger tolerance of the integrators inside systems.
    LooserIntegratorTolerance,
    /// Any other coupling method.
    AnotherMethod,
    /// The coupling method of this name.
    OtherMethod(String),
    /// The nonlinear solver of this name.
    OtherSolver(String),
    /// Any other nonlinear solver.
    AnotherSolver,
    /// A build of the engine with this feature.
    BuildFeature(String),
    /// A time at which the run is to stop.
    StopTime,
    /// Running again with shorter steps or a smaller tolerance, which shows the error.
    Verify,
    /// A reference that is read from a file of results.
    ReferenceFile,
    /// A log of all calls of FMUs.
    LogFmiCalls,
    /// The Model Exchange interface of an FMU that has both.
    ModelExchange,
    /// A process of its own for each system.
    ProcessPerSystem,
    /// More time for a step, where processes have a time limit.
    MoreTime,
    /// More ranks of an MPI program.
    MoreRanks,
    /// Fewer worker threads.
    FewerWorkerThreads,
    /// A run, which computes a single trajectory, instead of bounds.
    Run,
    /// Bounds by the enclosure method of this name, instead of a run.
    Enclose(String),
    /// The whole model as one FMU, which holds all of it.
    OneFmu,
    /// SSP 2.0.
    SspTwo,
}

impl Remedy {
    /// The coupling method of this name.
    pub fn method(name: &str) -> Self {
        Self::OtherMethod(name.to_owned())
    }

    /// The nonlinear solver of this name.
    pub fn solver(name: &str) -> Self {
        Self::OtherSolver(name.to_owned())
    }
}

impl fmt::Display for Remedy {
    /// In plain words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::SmallerStep => "a smaller step",
            Self::LargerStep => "a larger step",
            Self::FixedStep => "a fixed step",
            Self::MultipleOfStep(size) => {
                return write!(f, "a step that is a multiple of {size} s");
            }
            Self::SmallerTolerance => "a smaller tolerance",
            Self::LooserTolerance => "a looser tolerance",
            Self::SmallerIntegratorTolerance => "a smaller integrator tolerance",
            Self::LooserIntegratorTolerance => "a looser integrator tolerance",
            Self::AnotherMethod => "another method",
            Self::OtherMethod(name) => return write!(f, "the method {name}"),
            Self::OtherSolver(name) => return write!(f, "the solver {name}"),
            Self::AnotherSolver => "another solver",
            Self::BuildFeature(name) => return write!(f, "a build with the feature `{name}`"),
            Self::StopTime => "a stop time of your choice",
            Self::Verify => "verifying the error by running again",
            Self::ReferenceFile => "a reference from a file of results",
            Self::LogFmiCalls => "a log of all FMI calls",
            Self::ModelExchange => "its Model Exchange interface",
            Self::ProcessPerSystem => "a process of its own for each system",
            Self::MoreTime => "more time for a step",
            Self::MoreRanks => "more ranks",
            Self::FewerWorkerThreads => "fewer worker threads",
            Self::Run => "a run, which computes a single trajectory",
            Self::OneFmu => "the whole model as one FMU",
            Self::SspTwo => "SSP 2.0",
            Self::Enclose(name) => return write!(f, "an enclosure by {name}"),
        };
        f.write_str(words)
    }
}

/// Something that the user should know, and what to try.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// In a sentence.
    pub text: String,
    /// What to try; empty where there is nothing.
    pub remedies: Vec<Remedy>,
}

impl Notice {
    /// The same with something more to try.
    pub fn with(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.remedies.extend(remedies);
        self
    }
}

impl From<String> for Notice {
    fn from(text: String) -> Self {
        Self {
            text,
            remedies: Vec::new(),
        }
    }
}

impl From<&str> for Notice {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Notice {
    /// The sentence alone: the remedies are worded by whoever shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
