//! Equations as a source of systems.

use dovetail_core::{Capabilities, Interface};
use dovetail_equations::{Definition, NativeSystem, SyntaxError};
use dovetail_guaranteed::Boxes;

use super::text::EquationsText;
use crate::bytes::to_bytes;
use crate::source::system_source::{BuildOptions, Built, KnownEquations, Portable, SystemSource};

/// The name of this kind of source.
pub(crate) const NAME: &str = "equations";

/// Equations, compiled.
#[derive(Debug)]
pub(crate) struct EquationsSource {
    text: EquationsText,
    pub definition: Definition,
    boxes: Boxes,
}

impl EquationsSource {
    /// Compiles the equations. Where they are sound but numbers are not, that is somebody else's affair.
    pub fn compile(text: EquationsText) -> Result<Self, Vec<SyntaxError>> {
        Ok(Self {
            definition: text.compile()?,
            boxes: text.boxes(),
            text,
        })
    }
}

impl SystemSource for EquationsSource {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn interface(&self) -> Interface {
        self.definition.interface()
    }

    fn capabilities(&self, _step: f64) -> Capabilities {
        NativeSystem::CAPABILITIES
    }

    fn build(&self, options: &BuildOptions) -> Result<Built, String> {
        let definition = Definition {
            tolerance: options.integrator_tolerance,
            ..self.definition.clone()
        };
        Ok(Built::new(NativeSystem::new(&definition)))
    }

    fn equations(&self) -> Option<KnownEquations<'_>> {
        Some(KnownEquations {
            definition: &self.definition,
            boxes: &self.boxes,
        })
    }

    fn portable(&self) -> Option<Portable> {
        Some(Portable {
            kind: NAME,
            bytes: to_bytes(&self.text),
        })
    }
}
