//! The inputs of a step: estimates of those who feed it, smoothed where that is asked for, reduced
//! where that is needed.

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Connections, Error, Knot, MacroStep, Signal, Source, Task,
};
use serde::{Deserialize, Serialize};

use super::scheduler::usable;
use super::system_state::{Estimate, SystemState};
use crate::coupling::CouplingVariable;

/// Smoothed inputs are cubics.
pub(super) const CUBIC: usize = 3;

/// What is remembered of the inputs of all systems, stacked.
pub(crate) struct InputPolynomials<'a> {
    connections: &'a Connections,
    smooth: bool,
    /// The degree that each system takes.
    accepted: Vec<usize>,
    /// For each system the highest degree that had to be reduced.
    pub reduced: Vec<usize>,
    memories: Vec<InputMemory>,
}

/// One input.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct InputMemory {
    /// What it is on the step under way, before it is reduced.
    signal: Signal,
    /// Of which epoch the estimate is; none for a constant.
    epoch: Option<u64>,
    /// Where the last step left it, and of which epoch that was.
    end: Knot,
    end_epoch: Option<u64>,
    /// Whether an event of the feeder lay between that step and the one before it.
    crossed: bool,
}

impl<'a> InputPolynomials<'a> {
    pub fn new(connections: &'a Connections, smooth: bool, capabilities: &[Capabilities]) -> Self {
        let nothing = InputMemory {
            signal: Signal::constant(0.0),
            epoch: None,
            end: Knot::value_only(f64::NAN),
            end_epoch: None,
            crossed: false,
        };
        Self {
            connections,
            smooth,
            accepted: capabilities.iter().map(|c| c.input_degree).collect(),
            reduced: vec![0; connections.systems()],
            memories: vec![nothing; connections.inputs()],
        }
    }

    /// Whether the inputs of `system` can be smoothed.
    pub fn smooths(&self, system: usize) -> bool {
        self.smooth && self.accepted[system] >= CUBIC
    }

    /// Gives the task its inputs over its step, (24) to (28).
    pub fn place(&mut self, task: &mut Task, states: &[SystemState]) {
        let k = task.system;
        let step = task.step;
        let smooths = self.smooths(k);

        for (input, place) in self.connections.inputs_of(k).zip(&mut task.inputs) {
            let (signal, epoch) = self.newest(input, step, states);
            let memory = &mut self.memories[input];
            memory.signal = signal;
            memory.epoch = epoch;
            // The first step, and the first after an event of the feeder, has nothing to join on
            // to.
            let smooths = smooths && !self.connections.is_held(input);
            if smooths && memory.epoch.is_some() && memory.epoch == memory.end_epoch {
                let end = memory.signal.at(step.size());
                memory.signal = Signal::hermite(step.size(), memory.end, end);
            }
            *place = memory.signal.reduced(step.size(), self.accepted[k]);
        }
    }

    /// What feeds an input over a step, by the newest estimate that there is, and the epoch of
    /// that.
    fn newest(
        &self,
        input: usize,
        step: MacroStep,
        states: &[SystemState],
    ) -> (Signal, Option<u64>) {
        let output = match self.connections.sources()[input] {
            Source::Constant(value) => return (Signal::constant(value), None),
            Source::Output(output) => output,
        };
        let feeder = CouplingVariable::of(self.connections, output);
        let estimate = chosen(&states[feeder.system], step);
        let made = estimate.signals[feeder.position];
        let mut signal = made.shifted(step.start - estimate.made);

        if self.connections.is_held(input) {
            signal = Signal::constant(signal.value(0.0));
        }
        (signal, Some(estimate.epoch))
    }

    /// The step of `task` has been taken.
    pub fn complete_step(&mut self, task: &Task) {
        let k = task.system;
        for input in self.connections.inputs_of(k) {
            let memory = &mut self.memories[input];
            memory.crossed = memory.end_epoch.is_some() && memory.end_epoch != memory.epoch;
            memory.end = memory.signal.at(task.step.size());
            memory.end_epoch = memory.epoch;
            if memory.signal.degree() > self.accepted[k] {
                self.reduced[k] = self.reduced[k].max(memory.signal.degree());
            }
        }
    }

    /// Whether an output of the system, just after its step, has feedthrough from an input that had
    /// to be reduced; not where the system is about to switch, since a question would take it
    /// across.
    pub fn misleads(&self, task: &Task) -> bool {
        let accepted = self.accepted[task.system];
        let first = self.connections.inputs_of(task.system).start;
        let reduced = |&input: &usize| self.memories[first + input].signal.degree() > accepted;
        let outputs = &self.connections.interfaces()[task.system].outputs;
        let at_event = task.response.next_event <= task.response.reached;

        !at_event
            && outputs
                .iter()
                .any(|output| output.depends_on.iter().any(reduced))
    }

    /// Whether an output of the system has feedthrough from an input whose feeder had an event since
    /// the step before.
    pub fn echoes(&self, system: usize) -> bool {
        let first = self.connections.inputs_of(system).start;
        let crossed = |&input: &usize| self.memories[first + input].crossed;
        self.connections.interfaces()[system]
            .outputs
            .iter()
            .any(|output| output.depends_on.iter().any(crossed))
    }

    /// After questions about the present: the inputs of the task are again those of its step.
    pub fn place_again(&self, task: &mut Task) {
        for (input, place) in self
            .connections
            .inputs_of(task.system)
            .zip(&mut task.inputs)
        {
            *place = self.memories[input]
                .signal
                .reduced(task.step.size(), self.accepted[task.system]);
        }
    }

    /// At the end of the last step `input` (stacked) was found to be this.
    pub fn correct(&mut self, input: usize, value: f64) {
        self.memories[input].end.value = value;
    }

    /// The inputs where the last step left them, for a question about the present.
    pub fn place_present(&self, task: &mut Task) {
        for (input, place) in self
            .connections
            .inputs_of(task.system)
            .zip(&mut task.inputs)
        {
            let end = self.memories[input].end;
            let known = if self.accepted[task.system] > 0 {
                end.slope
            } else {
                0.0
            };
            *place = Signal::new(&[end.value, known]);
        }
    }
}

/// The estimate of `unit` for a step of one that it feeds, (25); where it has gone ahead, as far as
/// that step, what it has gone through.
fn chosen(state: &SystemState, step: MacroStep) -> &Estimate {
    if state.passed.made >= step.end {
        return &state.passed;
    }

    let [newest, before] = &state.estimates;
    let choice = usable([newest.made, before.made], step.start, state.last_event);
    &state.estimates[choice]
}

impl Checkpoint for InputPolynomials<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.reduced)?;
        archive.slice(&mut self.memories)
    }
}
