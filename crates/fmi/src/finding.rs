//! What the probe found of the capabilities that an FMU declares.

use serde::{Deserialize, Serialize};

/// A capability that an FMU may declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Capability {
    /// Instances with event mode (3.0).
    EventMode,
    /// Directional derivatives.
    DirectionalDerivatives,
    /// Its state can be saved and restored.
    Rollback,
    /// It can be linearized where it stands.
    Linearization,
    /// Inputs as polynomials, by their derivatives (2.0).
    InputDerivatives,
    /// Inputs that it asks for during a step (3.0).
    IntermediateInputs,
    /// Derivatives of its outputs.
    OutputDerivatives,
}

impl Capability {
    /// Its name, as users read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::EventMode => "event mode",
            Self::DirectionalDerivatives => "directional derivatives",
            Self::Rollback => "rollback",
            Self::Linearization => "linearization",
            Self::InputDerivatives => "input derivatives",
            Self::IntermediateInputs => "inputs during intermediate update",
            Self::OutputDerivatives => "output derivatives",
        }
    }

    pub(crate) fn holds(self, what: impl Into<String>) -> Finding {
        self.finding(FindingOutcome::Holds, what)
    }

    pub(crate) fn believed(self, what: impl Into<String>) -> Finding {
        self.finding(FindingOutcome::Believed, what)
    }

    pub(crate) fn fails(self, what: impl Into<String>) -> Finding {
        self.finding(FindingOutcome::Fails, what)
    }

    fn finding(self, outcome: FindingOutcome, what: impl Into<String>) -> Finding {
        Finding {
            capability: self,
            outcome,
            what: what.into(),
        }
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What came of trying a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FindingOutcome {
    /// It is used: it was seen to hold.
    Holds,
    /// It is used: the FMU is believed, because nothing could be compared.
    Believed,
    /// It is not used.
    Fails,
}

/// What the probe found of one capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which capability.
    pub capability: Capability,
    /// What came of it.
    pub outcome: FindingOutcome,
    /// What was seen.
    pub what: String,
}

impl Finding {
    /// Whether the capability is used.
    pub fn holds(&self) -> bool {
        self.outcome != FindingOutcome::Fails
    }

    /// Whether that was seen, rather than believed.
    pub fn confirmed(&self) -> bool {
        self.outcome != FindingOutcome::Believed
    }
}
