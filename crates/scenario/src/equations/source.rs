//! Equations as a source of systems.

use std::sync::OnceLock;

use dovetail_core::{Capabilities, Interface};
use dovetail_equations::{Definition, NativeSystem, SyntaxError};
use dovetail_guaranteed::Boxes;

use super::text::{EquationsText, KnownModels};
use crate::bytes::to_bytes;
use crate::source::system_source::{BuildOptions, Built, KnownEquations, Portable, SystemSource};

/// The name of this kind of source.
pub(crate) const NAME: &str = "equations";

/// Equations, compiled.
#[derive(Debug)]
pub(crate) struct EquationsSource {
    text: EquationsText,
    pub definition: Definition,
    /// Made when somebody asks for it.
    boxes: OnceLock<Box<Boxes>>,
}

impl EquationsSource {
    /// Compiles the equations, unless they are known. Where they are sound but numbers are not, that is somebody else's affair.
    pub fn compile(
        mut text: EquationsText,
        known: &mut KnownModels,
    ) -> Result<Self, Vec<SyntaxError>> {
        Ok(Self {
            definition: text.compile(known)?,
            boxes: OnceLock::new(),
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
            states: (options.states.as_ref())
                .unwrap_or(&self.definition.states)
                .clone(),
            ..self.definition.clone()
        };
        Ok(Built::new(NativeSystem::new(&definition)))
    }

    fn equations(&self) -> Option<KnownEquations<'_>> {
        Some(KnownEquations {
            definition: &self.definition,
            boxes: self.boxes.get_or_init(|| Box::new(self.text.boxes())),
        })
    }

    fn portable(&self) -> Option<Portable> {
        Some(Portable {
            kind: NAME,
            bytes: to_bytes(&self.text),
        })
    }
}
