//! A system of a model: what it is made from, and what stands before it.

use dovetail_core::{
    Capabilities, Interface, Mapped, Mapping, Overridden, OverriddenVariable, Restricted,
    Restrictions, SignalKind, System,
};

use crate::fmu::values::is_binary;
use crate::inputs::driving::Driving;
use crate::inputs::outside::ExposedInputs;
use crate::structure::elements::is_or_belongs_to;

use super::system_source::{BuildOptions, Built, KnownEquations, SystemSource};
use super::takes::Takes;

/// One system of a model.
#[derive(Debug)]
pub(crate) struct Part {
    pub source: Box<dyn SystemSource>,
    /// What happens to its inputs on their way in; empty where nothing does.
    pub mappings: Vec<Mapping>,
    pub restrictions: Option<Restrictions>,
    /// What drives inputs that nobody else is to feed.
    pub driving: Driving,
    /// Inputs and outputs that events override.
    pub overrides: Vec<OverriddenVariable>,
    /// Inputs that are left to whoever runs the model.
    pub exposed: ExposedInputs,
}

impl Part {
    /// A system with nothing before it.
    pub fn new(source: impl SystemSource + 'static) -> Self {
        Self::from_source(Box::new(source))
    }

    /// The same.
    pub fn from_source(source: Box<dyn SystemSource>) -> Self {
        Self {
            source,
            mappings: Vec::new(),
            restrictions: None,
            driving: Driving::default(),
            overrides: Vec::new(),
            exposed: ExposedInputs::default(),
        }
    }

    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Its interface, as it is without mappings.
    pub fn interface(&self) -> Interface {
        self.driving.outer_interface(self.overridden_interface())
    }

    /// Its interface with the inputs that say which overrides are in force.
    fn overridden_interface(&self) -> Interface {
        let inner = self.source.interface();
        match self.overrides.is_empty() {
            true => inner,
            false => Overridden::<Box<dyn System>>::outer_interface(&inner, &self.overrides),
        }
    }

    /// Whether its equations say all about it: nothing drives, overrides or converts what they do not know.
    pub fn is_as_its_equations(&self) -> bool {
        self.exposed.is_empty() && self.equations_behind_open_inputs().is_some()
    }

    /// Its equations, where they say all about it but what is fed into inputs that are left open.
    pub fn equations_behind_open_inputs(&self) -> Option<KnownEquations<'_>> {
        let alone =
            self.driving.is_empty() && self.overrides.is_empty() && self.mappings.is_empty();
        self.source.equations().filter(|_| alone)
    }

    /// What the values of an input or output are that travels as a text, or as a number.
    pub fn nature_of(&self, name: &str, kind: SignalKind) -> &'static str {
        let binary = || self.source.fmu().is_some_and(|fmu| is_binary(fmu, name));
        match kind {
            SignalKind::Text if binary() => "a binary value",
            SignalKind::Text => "a text",
            _ => "a number",
        }
    }

    /// Whether something drives the input of this name.
    pub fn drives(&self, name: &str) -> bool {
        if self.driving.is_empty() {
            return false;
        }
        let inner = self.source.interface();
        let driven = self.driving.inputs();
        driven.iter().any(|&input| inner.inputs[input].name == name)
    }

    /// The numbers that a variable can take; those of equations take all.
    pub fn takes(&self, name: &str) -> Takes {
        let Some(prepared) = self.source.fmu() else {
            return Takes::Any;
        };
        let mut variables = prepared.fmu().description().variables.iter();
        let variable = variables.find(|variable| variable.name == name);
        variable.map_or(Takes::Any, |variable| Takes::of_type(variable.value_type))
    }

    /// The same of an array: whether something drives any of its elements.
    pub fn drives_any_of(&self, name: &str) -> bool {
        if self.driving.is_empty() {
            return false;
        }
        let inner = self.source.interface();
        let mut driven = self.driving.inputs().into_iter();
        driven.any(|input| is_or_belongs_to(&inner.inputs[input].name, name))
    }

    /// The step that it imposes, or else the one that it takes inside, if there is one.
    pub fn own_step(&self) -> Option<f64> {
        let inner = self.source.inner_step();
        self.restrictions.and_then(|r| r.imposed_step).or(inner)
    }

    /// What the system can do, without making it; `step` is about that of the run.
    pub fn capabilities(&self, step: f64) -> Capabilities {
        let own = self.source.capabilities(step);
        let restrictions = self.restrictions;
        restrictions.map_or(own, |restrictions| restrictions.restrict(own))
    }

    /// The system at its start values.
    pub fn build(&self, options: &BuildOptions) -> Result<Built, String> {
        let outside = options.outside.as_deref();
        let inputs = options.inputs.as_ref();
        let inputs = inputs.map(|inputs| self.exposed.with_exposed(inputs, outside));
        let inputs = inputs.map(|inputs| self.mapped(&inputs));
        let inputs = self.with_driven(inputs)?;
        let options = BuildOptions {
            inputs,
            ..options.clone()
        };
        let built = self.source.build(&options)?;

        let system = self.wrapped(built.system)?;
        Ok(Built {
            system: self.exposed.drive(system, options.outside.as_ref()),
            ..built
        })
    }

    /// Overrides, restrictions, driven inputs and mappings before a system.
    fn wrapped(&self, mut system: Box<dyn System>) -> Result<Box<dyn System>, String> {
        if !self.overrides.is_empty() {
            system = Box::new(Overridden::new(system, self.overrides.clone()));
        }
        if let Some(restrictions) = self.restrictions {
            system = Box::new(Restricted::new(system, restrictions));
        }
        system = self.driving.drive(system)?;

        if !self.mappings.is_empty() {
            system = Box::new(Mapped::new(system, self.mappings.clone()));
        }
        Ok(system)
    }

    /// What is known of all inputs before the start, where something is driven.
    fn with_driven(&self, inputs: Option<Vec<f64>>) -> Result<Option<Vec<f64>>, String> {
        let own = self.source.interface().inputs.len();
        let mut inputs = inputs;
        if !self.driving.is_empty() {
            let inner = self.overridden_interface();
            inputs = Some(self.driving.start_inputs(&inner, inputs.as_deref())?);
        }
        // Which overrides are in force is none of the system's inputs.
        if let Some(inputs) = &mut inputs {
            inputs.truncate(own);
        }
        Ok(inputs)
    }

    /// Values of inputs behind the mappings.
    fn mapped(&self, inputs: &[f64]) -> Vec<f64> {
        if self.mappings.is_empty() {
            return inputs.to_vec();
        }

        let each = inputs.iter().zip(&self.mappings);
        each.map(|(value, mapping)| mapping.value(*value)).collect()
    }
}
