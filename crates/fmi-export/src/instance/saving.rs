//! States of an instance as a whole: saved, restored, written as bytes.

use super::saved_states::{SavedEngine, SavedState};
use super::{Engine, Instance, Phase};

impl Instance {
    /// Keeps all that further answers depend on; `before` is a state to be replaced.
    pub fn save(&mut self, before: usize) -> Result<usize, String> {
        self.check_state()?;
        let engine = match &mut self.engine {
            Some(engine) if Phase::RUNNING.contains(&self.phase) => Some(match engine {
                Engine::Coupled(run) => SavedEngine::Coupled(run.save()?),
                Engine::Equations(model) => {
                    SavedEngine::Equations(model.save().map_err(|error| error.to_string())?)
                }
            }),
            _ => None,
        };
        let state = SavedState {
            phase: self.phase,
            time: self.time,
            times: self.times,
            parameters: self.parameters.clone(),
            inputs: self.inputs.clone(),
            ends: self.ends,
            engine,
            token: self.manifest.token.clone(),
        };
        Ok(self.saved.keep(before, state))
    }

    fn check_state(&self) -> Result<(), String> {
        if self.manifest.capabilities.state {
            return Ok(());
        }
        Err("this FMU declares that its state cannot be saved: not all inside can be".to_owned())
    }

    pub fn restore(&mut self, number: usize) -> Result<(), String> {
        self.check_state()?;
        let state = self.saved.get(number)?.clone();
        if self.parameters != state.parameters || self.times != state.times {
            self.forget_model();
        }
        if state.engine.is_none() {
            self.forget_run();
        }
        self.times = state.times;
        self.parameters = state.parameters;
        self.inputs = state.inputs;
        match (&state.engine, self.engine_if(state.engine.is_some())?) {
            (Some(SavedEngine::Coupled(saved)), Some(Engine::Coupled(run))) => {
                run.restore(saved)?
            }
            (Some(SavedEngine::Equations(saved)), Some(Engine::Equations(model))) => {
                model.restore(saved).map_err(|error| error.to_string())?;
            }
            (None, _) => {}
            _ => return Err("this state belongs to another FMU".to_owned()),
        }
        self.phase = state.phase;
        self.time = state.time;
        self.ends = state.ends;
        Ok(())
    }

    fn engine_if(&mut self, wanted: bool) -> Result<Option<&mut Engine>, String> {
        match wanted {
            true => self.engine().map(Some),
            false => Ok(None),
        }
    }

    pub fn free_state(&mut self, number: usize) -> Result<(), String> {
        self.check_state()?;
        self.saved.free(number)
    }

    /// A state as bytes.
    pub fn state_bytes(&self, number: usize) -> Result<Vec<u8>, String> {
        self.check_state()?;
        let state = self.saved.get(number)?;
        postcard::to_allocvec(state)
            .map_err(|error| format!("the state cannot be written: {error}"))
    }

    /// A state from bytes.
    pub fn state_from(&mut self, bytes: &[u8]) -> Result<usize, String> {
        self.check_state()?;
        let state: SavedState = postcard::from_bytes(bytes)
            .map_err(|error| format!("these bytes are no state: {error}"))?;
        if state.token != self.manifest.token || state.inputs.len() != self.inputs.len() {
            return Err("this state belongs to another FMU".to_owned());
        }
        Ok(self.saved.keep(0, state))
    }
}
