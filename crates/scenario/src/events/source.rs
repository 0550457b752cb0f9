//! The events of a model as a source of a system.

use std::sync::OnceLock;

use dovetail_core::{Capabilities, Interface};
use dovetail_equations::{Definition, NativeSystem, SyntaxError};
use dovetail_guaranteed::Boxes;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::system::{EventsSystem, with_held_outputs};
use crate::bytes::{from_bytes, to_bytes};
use crate::diagnostic::Problem;
use crate::equations::text::{EquationsText, KnownModels};
use crate::source::kind::{ReadSystem, Reading, SourceKind};
use crate::source::system_source::{BuildOptions, Built, KnownEquations, Portable, SystemSource};
use crate::source::table::SystemTable;

/// The name of this kind of source.
pub(crate) const NAME: &str = "events";

/// Events as equations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventsText {
    pub equations: EquationsText,
    /// The output that asks for the end of the run.
    pub stop: Option<usize>,
}

/// The same, compiled.
#[derive(Debug)]
pub(crate) struct EventsSource {
    text: EventsText,
    definition: Definition,
    boxes: OnceLock<Box<Boxes>>,
}

impl EventsSource {
    pub fn compile(mut text: EventsText) -> Result<Self, Vec<SyntaxError>> {
        Ok(Self {
            definition: text.equations.compile(&mut KnownModels::default())?,
            boxes: OnceLock::new(),
            text,
        })
    }
}

impl SystemSource for EventsSource {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn interface(&self) -> Interface {
        with_held_outputs(self.definition.interface())
    }

    fn capabilities(&self, _step: f64) -> Capabilities {
        NativeSystem::CAPABILITIES
    }

    fn build(&self, options: &BuildOptions) -> Result<Built, String> {
        let definition = Definition {
            tolerance: options.integrator_tolerance,
            ..self.definition.clone()
        };
        let system = NativeSystem::new(&definition);
        Ok(Built::new(EventsSystem::new(system, self.text.stop)))
    }

    /// Equations do not say that a run ends.
    fn equations(&self) -> Option<KnownEquations<'_>> {
        let boxes = || Box::new(self.text.equations.boxes());
        self.text.stop.is_none().then(|| KnownEquations {
            definition: &self.definition,
            boxes: self.boxes.get_or_init(boxes),
        })
    }

    fn portable(&self) -> Option<Portable> {
        Some(Portable {
            kind: NAME,
            bytes: to_bytes(&self.text),
        })
    }
}

/// Systems that are the events of a model; no table asks for one.
pub(crate) struct EventsKind;

impl SourceKind for EventsKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keys(&self) -> &'static [&'static str] {
        &[]
    }

    fn read(
        &self,
        name: &Spanned<String>,
        _table: &SystemTable,
        _reading: &mut Reading<'_>,
    ) -> Result<ReadSystem, Vec<Problem>> {
        let message = "events are written as [[events]], not as a system";
        Err(vec![Problem::at(name.span(), message)])
    }

    fn restore(&self, bytes: &[u8]) -> Result<Box<dyn SystemSource>, String> {
        let source = EventsSource::compile(from_bytes(bytes)?);
        let source = source.map_err(|_| "BUG: events were checked before they were sent")?;
        Ok(Box::new(source))
    }
}
