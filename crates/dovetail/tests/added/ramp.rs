//! A kind of source that only this test has: `ramp = 2.0` in a system's table is a signal of that slope.

use dovetail::core::{Capabilities, Error, Interface, MacroStep, Output, Response, Signal, System};
use dovetail::scenario::{
    BuildOptions, Built, Given, Problem, ReadSystem, Reading, SourceKind, Spanned, SystemSource,
    SystemTable,
};

/// The kind, as tables ask for it.
pub struct RampKind;

impl SourceKind for RampKind {
    fn name(&self) -> &'static str {
        "ramp"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["ramp"]
    }

    fn read(
        &self,
        name: &Spanned<String>,
        table: &SystemTable,
        _reading: &mut Reading<'_>,
    ) -> Result<ReadSystem, Vec<Problem>> {
        let slope = table.value("ramp").as_ref().and_then(Given::number);
        let slope = slope.ok_or_else(|| vec![Problem::general("`ramp` is a number")])?;
        Ok(ReadSystem {
            source: Box::new(RampSource {
                name: name.get_ref().clone(),
                slope,
            }),
            restrictions: None,
            warnings: Vec::new(),
        })
    }
}

/// What systems of this kind are made from.
#[derive(Debug)]
struct RampSource {
    name: String,
    slope: f64,
}

impl RampSource {
    fn ramp(&self) -> Ramp {
        let output = Output {
            name: "y".to_owned(),
            ..Output::default()
        };
        Ramp {
            interface: Interface {
                name: self.name.clone(),
                outputs: vec![output].into(),
                ..Interface::default()
            },
            slope: self.slope,
        }
    }
}

impl SystemSource for RampSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> Interface {
        self.ramp().interface
    }

    fn capabilities(&self, _step: f64) -> Capabilities {
        Capabilities::of(&mut self.ramp())
    }

    fn build(&self, _options: &BuildOptions) -> Result<Built, String> {
        Ok(Built::new(self.ramp()))
    }
}

/// The system itself.
struct Ramp {
    interface: Interface,
    slope: f64,
}

impl System for Ramp {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        _inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        response.outputs[0].value = self.slope * step.end;
        response.reached = step.end;
        Ok(())
    }
}
