//! Room for a system to work in.

use std::sync::{Arc, Weak};

use dovetail_core::{Archive, Checkpoint, Error};
use dovetail_numerics::Integrator;

use super::clauses::Clauses;
use super::definition::Definition;
use super::delay_line::DelayLine;
use super::drive::Drive;
use super::dynamics::Dynamics;
use super::linear::LinearEngine;
use super::response::EvaluationScratch;
use super::shared::ParameterSet;
use super::state::NativeState;
use super::trail::Trail;
use super::watch::Watch;

/// Registers and scratch of one system at a time. A system of which something switches or is
/// delayed has a room of its own, since that is remembered here; others share theirs.
pub(super) struct Room {
    pub dynamics: Dynamics,
    /// The exact stepper of an affine system.
    pub exact: Option<Box<LinearEngine>>,
    /// Made when it is first needed.
    pub integrator: Option<Box<Integrator>>,
    pub drive: Drive,
    pub work: EvaluationScratch,
    /// The end of the step, for systems that are not asked to try any.
    pub end: NativeState,
    pub trail: Trail,
    /// Where something switches by itself.
    pub watch: Option<Box<Watch>>,
    /// Inputs as they were before, where any is delayed.
    pub delays: Option<Box<DelayLine>>,
    /// Whose parameters are loaded, and whose stepper this is.
    loaded: u64,
    owner: Weak<ParameterSet>,
    /// The lane of the system that is in it.
    pub lane: usize,
}

impl Room {
    /// For a system alone.
    pub fn own(definition: &Definition, end: NativeState) -> Self {
        let model = &definition.model;
        let shared = model.shared();
        let clauses = Clauses::of(model);
        let switches = shared.switches(model);
        let engine = || Box::new(LinearEngine::new(model, switches, 1));

        Self {
            dynamics: Dynamics::new(model, &shared.programs, &definition.parameters),
            exact: shared.exact.then(engine),
            integrator: None,
            drive: Drive::new(&definition.driving_inputs()),
            work: EvaluationScratch::new(model),
            end,
            trail: Trail::default(),
            watch: shared
                .switching
                .as_ref()
                .map(|shape| Box::new(Watch::new(model.states.len(), shape, clauses))),
            delays: DelayLine::of(definition),
            loaded: 0,
            lane: 0,
            owner: Weak::new(),
        }
    }

    /// For all systems of a model, one after the other; the parameters are yet to be loaded.
    pub fn shared(set: &ParameterSet) -> Self {
        let model = &set.model;
        let inputs = vec![0.0; model.inputs.len()];

        Self {
            dynamics: Dynamics::new(model, &set.shared().programs, &set.values),
            exact: None,
            integrator: None,
            drive: Drive::new(&inputs),
            work: EvaluationScratch::new(model),
            end: NativeState::blank(model.states.len(), model.inputs.len()),
            trail: Trail::default(),
            watch: None,
            delays: None,
            loaded: 0,
            lane: 0,
            owner: Weak::new(),
        }
    }

    /// The next system has these parameters.
    pub fn load(&mut self, set: &Arc<ParameterSet>) {
        if self.loaded == set.number {
            return;
        }
        if let Some(engine) = self.exact.take()
            && let Some(owner) = self.owner.upgrade()
        {
            owner.engines.give(self.lane, engine);
        }

        self.loaded = set.number;
        self.owner = Arc::downgrade(set);
        self.dynamics.set_parameters(&set.values);
        if set.shared().exact {
            let users = Arc::strong_count(set);
            let make = || Box::new(LinearEngine::new(&set.model, 0, users));
            self.exact = Some(set.engines.take(self.lane, make));
        }
    }
}

/// What a room of one's own remembers.
impl Checkpoint for Room {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        if let Some(watch) = &mut self.watch {
            archive.slice(&mut watch.spans)?;
        }
        if let Some(delays) = &mut self.delays {
            delays.visit(archive)?;
            if delays.remembers() {
                self.dynamics.undelayed.clear();
            }
        }
        Ok(())
    }
}
