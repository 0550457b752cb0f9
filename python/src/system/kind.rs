//! The kind of source that `python = NUMBER` in the table of a system asks for.

use std::fmt;
use std::sync::Arc;

use dovetail::core::{Capabilities, Interface, System};
use dovetail::scenario::{
    BuildOptions, Built, Given, GivenChoice, Problem, ReadSystem, Reading, SourceKind, Spanned,
    SystemSource, SystemTable,
};

use super::calls::Instance;
use super::hand::HandSystem;
use super::ode::OdeSystem;
use super::stepping::SteppingSystem;
use super::{PythonModel, system};

/// Systems that are written in Python.
pub(crate) struct PythonSystems;

/// The kind, as catalogs take it.
pub(crate) static PYTHON_SYSTEMS: PythonSystems = PythonSystems;

impl SourceKind for PythonSystems {
    fn name(&self) -> &'static str {
        "python"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["python"]
    }

    fn read(
        &self,
        name: &Spanned<String>,
        table: &SystemTable,
        _reading: &mut Reading<'_>,
    ) -> Result<ReadSystem, Vec<Problem>> {
        let known = match table.value("python") {
            Some(Given::Integer(number)) => u64::try_from(number).ok().and_then(system),
            _ => None,
        };
        let unknown = || {
            let message = format!("`{}` was written in Python elsewhere", name.get_ref());
            vec![Problem::at(name.span(), message)]
        };
        let mut source = PythonSource::new(name.get_ref(), known.ok_or_else(unknown)?);
        for (variable, text) in table.overridden() {
            source
                .set(variable, text)
                .map_err(|problem| vec![problem])?;
        }

        Ok(ReadSystem {
            source: Box::new(source),
            restrictions: None,
            warnings: Vec::new(),
        })
    }
}

/// What a system in Python is made from.
struct PythonSource {
    name: String,
    model: Arc<PythonModel>,
    interface: Interface,
    parameters: Vec<(String, f64)>,
    states: Vec<f64>,
}

impl fmt::Debug for PythonSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonSource")
            .field("interface", &self.interface)
            .finish()
    }
}

impl PythonSource {
    fn new(name: &str, model: Arc<PythonModel>) -> Self {
        Self {
            name: name.to_owned(),
            interface: model.interface(name),
            parameters: model.description.parameters.clone(),
            states: model
                .description
                .states
                .iter()
                .map(|(_, start)| *start)
                .collect(),
            model,
        }
    }

    /// Gives a parameter, or the start value of a state or an input, another value.
    fn set(&mut self, variable: &str, text: &str) -> Result<(), Problem> {
        let blamed = |message: String| {
            Problem::general(message).of(GivenChoice::Value {
                name: format!("{}.{variable}", self.name),
                text: text.to_owned(),
            })
        };
        let number = text
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        let number = number.ok_or_else(|| blamed("a number is expected".to_owned()))?;

        if let Some(known) = self
            .parameters
            .iter_mut()
            .find(|(name, _)| name == variable)
        {
            known.1 = number;
        } else if let Some(state) = self
            .interface
            .states
            .iter()
            .position(|name| name == variable)
        {
            self.states[state] = number;
        } else if let Some(input) = self
            .interface
            .inputs
            .iter()
            .position(|i| i.name == variable)
        {
            self.interface.inputs[input].start = number;
        } else {
            let parameters = self.parameters.iter().map(|(name, _)| name.as_str());
            let states = self.interface.states.iter().map(String::as_str);
            let inputs = self
                .interface
                .inputs
                .iter()
                .map(|input| input.name.as_str());
            let known: Vec<&str> = parameters.chain(states).chain(inputs).collect();
            let problem = blamed(format!(
                "`{}` has no parameter, state or input of this name",
                self.name
            ));
            return Err(problem.suggest(variable, known));
        }
        Ok(())
    }

    fn make(&self, states: &[f64], tolerance: f64) -> Result<Box<dyn System>, String> {
        if self.model.description.kind == "hand" {
            return Ok(Box::new(self.hand()));
        }
        let instance = Instance::make(&self.name, self.model.clone(), &self.parameters)?;
        let interface = self.interface.clone();
        Ok(match self.model.description.kind.as_str() {
            "step" => Box::new(SteppingSystem::new(interface, instance)),
            _ => Box::new(OdeSystem::new(interface, instance, states, tolerance)),
        })
    }
}

impl PythonSource {
    fn hand(&self) -> HandSystem {
        HandSystem::new(self.interface.clone(), self.model.clone())
    }
}

/// What is asked of an integrator only to find out what a system can do.
const ANY_TOLERANCE: f64 = 1e-6;

impl SystemSource for PythonSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> Interface {
        self.interface.clone()
    }

    fn capabilities(&self, _step: f64) -> Capabilities {
        let instance = Instance::described(&self.name, self.model.clone());
        let interface = self.interface.clone();
        match self.model.description.kind.as_str() {
            "hand" => Capabilities::of(&mut self.hand()),
            "step" => Capabilities::of(&mut SteppingSystem::new(interface, instance)),
            _ => Capabilities::of(&mut OdeSystem::new(
                interface,
                instance,
                &self.states,
                ANY_TOLERANCE,
            )),
        }
    }

    fn build(&self, options: &BuildOptions) -> Result<Built, String> {
        let states = options.states.as_deref().unwrap_or(&self.states);
        Ok(Built::new(self.make(states, options.integrator_tolerance)?))
    }
}
