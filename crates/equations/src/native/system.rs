//! A model as a system.

use std::sync::Arc;

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Error, Evaluate, Interface, Linearize, MAX_DEGREE,
    MacroStep, Precision, Presence, Response, Signal, StepRule, System, Trial, visit_fields,
};

use super::branches::Branches;
use super::definition::Definition;
use super::events::Clock;
use super::room::Room;
use super::shared::ParameterSet;
use super::state::{NativeState, TriedNative};
use super::stepper::Stepper;

/// A model given as equations, with every capability.
///
/// Systems that are affine between their switching times are stepped exactly (unless they are so
/// stiff that rounding would spoil it); all others by an adaptive integrator that never crosses a
/// switching time. The state after the last trial is kept, so that an advance under the same inputs
/// costs no integration.
pub struct NativeSystem {
    interface: Interface,
    place: WorkPlace,
    /// Relative tolerance of the integrator.
    tolerance: f64,
    /// The largest magnitude of each state so far.
    sizes: Vec<f64>,
    now: NativeState,
    /// What was last tried; none before the first trial.
    tried: Option<Box<TriedNative>>,
    /// Whether events were crossed within the step last taken or tried.
    crossed: bool,
    clock: Clock,
    /// Whether the run has begun: before, no clause runs.
    begun: bool,
    /// Systems of the same lane share a room.
    lane: usize,
}

/// Where a system works.
enum WorkPlace {
    /// In a room of its own.
    Own(Box<Room>),
    /// In any room of its model, where its parameters are loaded.
    Shared(Arc<ParameterSet>),
}

impl NativeSystem {
    /// The system of a definition, at its start values.
    pub fn new(definition: &Definition) -> Self {
        let model = &definition.model;
        let shared = model.shared();
        let whens = model.whens.iter();
        let conditions = whens.filter(|when| when.condition().is_some()).count();
        let branches = Branches::new(shared.programs.functions(), conditions);
        let now = NativeState::start(definition, branches);
        let place = if shared.plain {
            WorkPlace::Shared(shared.parameters(definition))
        } else {
            WorkPlace::Own(Box::new(Room::own(definition, now.clone())))
        };

        Self {
            interface: definition.interface(),
            place,
            tolerance: definition.tolerance,
            sizes: definition.states.iter().map(|state| state.abs()).collect(),
            now,
            tried: None,
            crossed: false,
            clock: Clock::new(definition.sample),
            begun: model.whens.is_empty(),
            lane: 0,
        }
    }

    /// Whether steps are exact: the system is affine from one event to the next.
    pub fn is_exact(&self) -> bool {
        match &self.place {
            WorkPlace::Own(room) => room.exact.is_some(),
            WorkPlace::Shared(set) => set.shared().exact,
        }
    }

    /// The system at work, in its own room or in one that is free.
    pub(super) fn work<R>(&mut self, act: impl FnOnce(&mut Stepper<'_>) -> R) -> R {
        let mut borrowed = match &self.place {
            WorkPlace::Own(_) => None,
            WorkPlace::Shared(set) => Some(set.enter(self.lane)),
        };
        let room = match (&mut self.place, &mut borrowed) {
            (WorkPlace::Own(room), _) | (_, Some(room)) => room,
            (WorkPlace::Shared(_), None) => unreachable!("BUG: a room was taken"),
        };
        let (end, trail) = match &mut self.tried {
            Some(tried) => (&mut tried.end, &mut tried.trail),
            None => (&mut room.end, &mut room.trail),
        };

        let result = act(&mut Stepper {
            interface: &self.interface,
            tolerance: self.tolerance,
            sizes: &mut self.sizes,
            now: &mut self.now,
            end,
            trail,
            crossed: &mut self.crossed,
            clock: &mut self.clock,
            begun: self.begun,
            dynamics: &mut room.dynamics,
            exact: &mut room.exact,
            integrator: &mut room.integrator,
            drive: &mut room.drive,
            work: &mut room.work,
            watch: &mut room.watch,
            delays: &mut room.delays,
        });

        if let (WorkPlace::Shared(set), Some(room)) = (&self.place, borrowed) {
            set.leave(room);
        }
        result
    }

    /// Whether the end of this very step, under these inputs, is known from a trial. What was tried
    /// counts no longer then.
    fn take_tried(&mut self, step: MacroStep, inputs: &[Signal]) -> bool {
        let tried = self.tried.as_deref_mut();
        tried.is_some_and(|tried| tried.step.take() == Some(step) && tried.inputs == inputs)
    }
}

impl NativeSystem {
    /// What every system given as equations can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        trial: true,
        linearize: true,
        evaluate: true,
        checkpoint: true,
        input_degree: MAX_DEGREE,
        output_derivatives: 2,
        step_rule: StepRule::Free,
        presence: Presence {
            initialization_mode: false,
            responds: true,
            ticks: false,
        },
        precision: Precision {
            noise: 0.0,
            resolution: 0.0,
        },
    };
}

impl System for NativeSystem {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        if step.is_instant() {
            return self.work(|system| system.answer_at_instant(step.start, inputs, response));
        }

        self.begun = true;
        response.reused = self.take_tried(step, inputs);
        self.work(|system| {
            if !response.reused {
                system.integrate(step, inputs, false)?;
            }
            system.retrace(step, inputs, response);
            system.answer_at_end(step, step.size(), inputs, response);
            response.crossed = *system.crossed;
            system.arrive(step, inputs);
            Ok(())
        })
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.begun = true;
        self.work(|system| {
            if let Some(delays) = system.delays {
                delays.begin(step.start, inputs);
            }
            system.answer_at_instant(step.start, inputs, response)
        })
    }

    fn presence(&self) -> Presence {
        let ticks = match &self.place {
            WorkPlace::Own(room) => {
                let clauses = room.watch.as_ref().map(|watch| &watch.clauses);
                clauses.is_some_and(|clauses| !clauses.is_empty()) || room.delays.is_some()
            }
            WorkPlace::Shared(_) => false,
        };
        Presence {
            ticks,
            ..Presence::default()
        }
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        Some(self)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn input_degree(&self) -> usize {
        MAX_DEGREE
    }

    fn output_derivatives(&self) -> usize {
        2
    }

    fn join_lane(&mut self, lane: usize) {
        self.lane = lane;
    }
}

impl Trial for NativeSystem {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let now = &self.now;
        let tried = self
            .tried
            .get_or_insert_with(|| Box::new(TriedNative::new(now, inputs.len())));
        tried.step = None;
        tried.inputs.copy_from_slice(inputs);
        let elapsed = self.work(|system| {
            let elapsed = system.integrate(step, inputs, true)?;
            system.answer_at_end(step, elapsed, inputs, response);
            Ok(elapsed)
        })?;
        if let Some(tried) = &mut self.tried
            && elapsed == step.size()
        {
            tried.step = Some(step);
        }
        Ok(())
    }
}

impl Checkpoint for NativeSystem {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.sizes)?;
        visit_fields!(archive, self.clock.start);
        self.begun = true; // what can be written down has
        if let WorkPlace::Own(room) = &mut self.place {
            room.visit(archive)?;
        }
        self.now.visit(archive)?;

        let mut tried = self.tried.is_some();
        archive.field(&mut tried)?;
        if !tried {
            self.tried = None;
            return Ok(());
        }
        let now = &self.now;
        let inputs = self.interface.inputs.len();
        self.tried
            .get_or_insert_with(|| Box::new(TriedNative::new(now, inputs)))
            .visit(archive)
    }
}
