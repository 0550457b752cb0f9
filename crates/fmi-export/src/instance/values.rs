//! What variables are, and how they are set.

use std::ffi::CString;

use dovetail::scenario::{FaceRole, FaceType};

use super::{Derivatives, Engine, Instance, Number, Phase};

impl Instance {
    /// Sets an input, or before the run a parameter or the start value of a state.
    pub fn set(
        &mut self,
        reference: u32,
        value: Number,
        accepts: fn(FaceType) -> bool,
    ) -> Result<(), String> {
        let face = &self.variable(reference)?.face;
        let (name, role) = (&face.name, face.role);
        if !accepts(face.value_type) {
            return Err(format!("`{name}` is of another type"));
        }
        if !value.as_float().is_finite() {
            return Err(format!("`{name}` cannot be {}", value.as_float()));
        }
        let text = value.as_text(face.value_type);
        let text = text.ok_or_else(|| format!("`{name}` cannot be {}", value.as_float()))?;
        match role {
            FaceRole::Parameter => self.set_before_run(reference, text),
            FaceRole::State(_) if face.start.is_some() => self.set_before_run(reference, text),
            FaceRole::Input(slot) => self.set_input(slot, value.as_float()),
            _ => Err(format!("`{name}` is what the model computes")),
        }
    }

    fn set_input(&mut self, slot: usize, value: f64) -> Result<(), String> {
        self.expect(&Phase::ALIVE, "an input is set")?;
        let before = self.inputs[slot];
        self.inputs[slot] = Derivatives::default();
        self.inputs[slot][0] = value;
        if let Some(Engine::Equations(model)) = &mut self.engine {
            model.set_input(slot, value);
        }
        if !Phase::RUNNING.contains(&self.phase) && before != self.inputs[slot] {
            self.forget_run();
        }
        Ok(())
    }

    /// Sets a parameter that is a text.
    pub fn set_text(&mut self, reference: u32, text: String) -> Result<(), String> {
        let face = &self.variable(reference)?.face;
        if face.value_type != FaceType::Text || face.role != FaceRole::Parameter {
            return Err(format!("`{}` is no text that could be set", face.name));
        }
        self.set_before_run(reference, text)
    }

    fn set_before_run(&mut self, reference: u32, text: String) -> Result<(), String> {
        let phases = [Phase::Instantiated, Phase::Initialization];
        let name = &self.variable(reference)?.face.name;
        self.expect(&phases, &format!("`{name}` is set"))?;
        if self.text_of(reference)? != text {
            self.parameters.insert(reference, text);
            self.forget_model();
        }
        Ok(())
    }

    /// What a variable is.
    pub fn get(&mut self, reference: u32) -> Result<Number, String> {
        if reference == 0 {
            return Ok(Number::Float(self.time));
        }
        let face = &self.variable(reference)?.face;
        let (name, role) = (face.name.clone(), face.role);
        let value_type = face.value_type;
        match role {
            FaceRole::Input(slot) => Ok(Number::of(self.inputs[slot][0], value_type)),
            FaceRole::Parameter => self.given(reference),
            FaceRole::State(_) if self.phase == Phase::Instantiated && face.start.is_some() => {
                self.given(reference)
            }
            _ => {
                let computed = [Phase::Initialization, Phase::Terminated, Phase::Failed];
                let phases = [&Phase::RUNNING[..], &computed].concat();
                self.expect(&phases, &format!("`{name}` is asked for"))?;
                if self.phase == Phase::Initialization {
                    self.engine()?;
                }
                let value = self.computed(role)?;
                let value = value.ok_or_else(|| format!("`{name}` has no value yet"))?;
                Ok(Number::of(value, value_type))
            }
        }
    }

    /// A value that is set before the run.
    fn given(&self, reference: u32) -> Result<Number, String> {
        let text = self.text_of(reference)?;
        let name = &self.variable(reference)?.face.name;
        Number::parse(&text).ok_or_else(|| format!("`{name}` is {text:?}, which is no number"))
    }

    /// What the model has computed.
    fn computed(&mut self, role: FaceRole) -> Result<Option<f64>, String> {
        let signals = self.signals();
        match (&mut self.engine, role) {
            (Some(Engine::Coupled(run)), FaceRole::Output(stacked)) => {
                Ok(run.output(stacked).map(|knot| knot.value))
            }
            (Some(Engine::Coupled(run)), FaceRole::State(state)) => {
                let here = run.linearize(&signals)?;
                Ok(here.coupled.x.get(state).copied())
            }
            (Some(Engine::Coupled(run)), FaceRole::Derivative(state)) => {
                let here = run.linearize(&signals)?;
                Ok(here.coupled.f.get(state).copied())
            }
            (Some(Engine::Equations(model)), role) => super::exchange::value(model, role),
            _ => Ok(None),
        }
    }

    /// The same, where the importer takes it for a value of such a type.
    pub fn get_as(
        &mut self,
        reference: u32,
        accepts: fn(FaceType) -> bool,
    ) -> Result<Number, String> {
        let own = match reference {
            0 => FaceType::Float,
            _ => self.variable(reference)?.face.value_type,
        };
        match accepts(own) {
            true => self.get(reference),
            false => Err(format!(
                "the variable with the reference {reference} is of another type"
            )),
        }
    }

    /// A value that is set before the run, as text.
    fn text_of(&self, reference: u32) -> Result<String, String> {
        let variable = self.variable(reference)?;
        let own = self.parameters.get(&reference).cloned();
        Ok(own.or(variable.face.start.clone()).unwrap_or_default())
    }

    /// Parameters that are texts; they live until the next call.
    pub fn get_texts(&mut self, references: &[u32]) -> Result<&[CString], String> {
        let mut texts = Vec::with_capacity(references.len());
        for &reference in references {
            let variable = self.variable(reference)?;
            if variable.face.value_type != FaceType::Text {
                return Err(format!("`{}` is no text", variable.face.name));
            }
            let text = self.text_of(reference)?.replace('\0', "");
            texts.push(CString::new(text).unwrap_or_default());
        }
        self.texts = texts;
        Ok(&self.texts)
    }
}
