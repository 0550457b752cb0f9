//! A unit for Co-Simulation as a system.

use std::sync::Arc;

use dovetail_core::{
    Error, Interface, Knot, Linearization, Linearize, MAX_DEGREE, MacroStep, Nature, Response, Signal, StepRule,
    System, Trial,
};

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::description::Version;
use crate::glider::Glider;
use crate::instance::{CallError, Instance, Status, StepRequest};
use crate::layout::Layout;

/// A step that is discarded is divided into so many parts at most.
const MOST_PARTS: u64 = 1 << 16;

/// Early returns in a row at the same time.
const MOST_HALTS: usize = 100;

/// What a system needs to know of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub stop: f64,
    /// The relative tolerance that the unit is asked for.
    pub tolerance: Option<f64>,
}

/// How far an instance has come in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Made,
    Initializing,
    Stepping,
}

/// A step that was tried, whose end the instance stands at.
struct Tried {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
    response: Response,
    /// The next event, and whether one is pending, at its end.
    events: (f64, bool),
}

/// Room for values on their way.
struct Buffers {
    /// All inputs, as they are being set.
    all: Vec<f64>,
    inputs: Vec<f64>,
    others: Vec<f64>,
    read: Vec<f64>,
    slopes: Vec<f64>,
    seed: Vec<f64>,
    column: Vec<f64>,
    orders: Vec<i32>,
    followed: Vec<Signal>,
}

/// A Co-Simulation unit.
///
/// Where trials are asked for, every step starts from a restored state, the first try as well: a unit whose inner solver starts
/// anew after a restore would otherwise answer the same question in two ways.
pub(crate) struct CoSimulation<I: Instance> {
    interface: Interface,
    instance: I,
    layout: Arc<Layout>,
    abilities: Abilities,
    version: Version,
    span: Span,
    phase: Phase,
    now: f64,
    next_event: f64,
    /// The unit waits for an event to be handled.
    event_pending: bool,
    /// The state that is saved is that of `now`.
    saved: bool,
    /// The instance is not at `now`: something was tried, to its end or to a failure.
    displaced: bool,
    /// The discrete inputs of the saved state.
    saved_discrete: Vec<f64>,
    /// Trials are asked of this system.
    rolls_back: bool,
    /// Of a unit that needs nothing but set, step and get: its steps, prepared.
    glider: Option<Glider>,
    /// Before a prepared step something is to be saved or made sure of.
    needs_preparation: bool,
    /// Why a prepared step failed.
    trouble: Option<CallError>,
    /// Someone may ask for slopes or a linearisation after a step.
    remembers: bool,
    tried: Tried,
    /// Input derivatives that are in force (2.0) and must be cleared before a constant.
    polynomial: bool,
    /// Values of the discrete inputs last set, where they need an event to be set.
    discrete: Vec<f64>,
    /// The inputs last applied, and their slopes.
    applied: Vec<f64>,
    applied_slopes: Vec<f64>,
    buffers: Buffers,
}

impl<I: Instance> CoSimulation<I> {
    /// A system that stands before its initialisation.
    pub fn new(
        name: &str,
        instance: I,
        layout: Arc<Layout>,
        abilities: Abilities,
        version: Version,
        span: Span,
    ) -> Self {
        let interface = layout.interface(name);
        let inputs = interface.inputs.len();
        let (states, outputs) = (layout.states.len(), layout.smooth_output_positions.len());
        let signals = vec![Signal::constant(0.0); inputs];
        let widest = inputs.max(interface.outputs.len()).max(layout.read_values).max(states + outputs);
        Self {
            tried: Tried {
                step: None,
                inputs: signals,
                response: Response::new(&interface, 2),
                events: (f64::INFINITY, false),
            },
            applied: interface.inputs.iter().map(|input| input.start).collect(),
            applied_slopes: vec![0.0; inputs],
            discrete: vec![f64::NAN; inputs],
            saved_discrete: vec![f64::NAN; inputs],
            displaced: false,
            buffers: Buffers {
                all: vec![0.0; inputs],
                inputs: vec![0.0; layout.smooth_input_positions.len()],
                others: vec![0.0; widest],
                read: vec![0.0; layout.read_values],
                slopes: vec![0.0; outputs.max(layout.smooth_input_positions.len())],
                seed: vec![0.0; states + inputs],
                column: vec![0.0; states + outputs],
                orders: vec![0; layout.smooth_outputs.len().max(layout.smooth_inputs.len())],
                followed: Vec::with_capacity(layout.smooth_input_positions.len()),
            },
            trouble: None,
            remembers: abilities.linearizes || abilities.slopes != Slopes::Unknown,
            glider: is_plain(&abilities, &layout).then(|| {
                let saved = abilities.rollback && version == Version::Two;
                Glider::new(instance.component(), &layout, !saved)
            }),
            needs_preparation: abilities.inputs != InputWay::Held || abilities.rollback && version == Version::Two,
            interface,
            instance,
            layout,
            abilities,
            version,
            span,
            phase: Phase::Made,
            now: f64::NAN,
            next_event: f64::INFINITY,
            event_pending: false,
            saved: false,
            rolls_back: false,
            polynomial: false,
        }
    }

    fn failure(&self, time: f64, error: CallError) -> Error {
        Error::System { system: self.interface.name.clone(), time, reason: Box::new(error) }
    }

    /// Into initialisation mode, at the start of the run.
    fn initialize(&mut self, start: f64) -> Result<(), CallError> {
        self.instance.enter_initialization(start, self.span.stop, self.span.tolerance)?;
        (self.phase, self.now) = (Phase::Initializing, start);
        Ok(())
    }

    /// Out of initialisation mode, if that has not happened yet.
    fn begin_stepping(&mut self, start: f64) -> Result<(), CallError> {
        if self.phase == Phase::Stepping {
            return Ok(());
        }
        if self.phase == Phase::Made {
            self.initialize(start)?;
        }
        self.instance.exit_initialization()?;
        self.phase = Phase::Stepping;
        if self.abilities.event_mode {
            // With event mode in use the run begins in it.
            let discrete = self.instance.update_discrete_states()?;
            self.settle(discrete)?;
            self.note_discrete_inputs();
        }
        Ok(())
    }

    /// After the discrete states were updated: back to step mode.
    fn settle(&mut self, discrete: crate::instance::Discrete) -> Result<(), CallError> {
        if discrete.terminate {
            return Err(CallError::Terminated { message: self.instance.journal().explanation() });
        }
        self.instance.leave_event_mode()?;
        (self.next_event, self.event_pending) = (discrete.next_event, false);
        Ok(())
    }

    /// The values of discrete inputs, as they now are in the unit.
    fn note_discrete_inputs(&mut self) {
        self.discrete.copy_from_slice(&self.buffers.all);
    }

    /// Whether a discrete input is about to change, which takes an event where event mode is used.
    fn discrete_input_changes(&self, inputs: &[Signal], elapsed: f64) -> bool {
        let natures = self.interface.inputs.iter().map(|input| input.nature);
        let mut values = inputs.iter().zip(&self.discrete).zip(natures);
        values.any(|((signal, &set), nature)| nature != Nature::Continuous && signal.value(elapsed) != set)
    }

    /// Handles an event, under these inputs.
    fn handle_event(&mut self, inputs: &[Signal], elapsed: f64) -> Result<(), CallError> {
        self.instance.enter_event_mode()?;
        self.apply(inputs, elapsed)?;
        let discrete = self.instance.update_discrete_states()?;
        self.settle(discrete)?;
        self.note_discrete_inputs();
        Ok(())
    }

    /// Sets all inputs as they are after `elapsed`.
    fn apply(&mut self, inputs: &[Signal], elapsed: f64) -> Result<(), CallError> {
        self.take_inputs(inputs, elapsed);
        self.instance.set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)?;
        self.apply_others()
    }

    /// Input values after `elapsed`, into the buffers.
    #[inline]
    fn take_inputs(&mut self, inputs: &[Signal], elapsed: f64) {
        for (value, signal) in self.buffers.all.iter_mut().zip(inputs) {
            *value = signal.value(elapsed);
        }
        for (value, &position) in self.buffers.inputs.iter_mut().zip(&self.layout.smooth_input_positions) {
            *value = self.buffers.all[position];
        }
    }

    /// Sets the inputs that are not double-precision numbers.
    fn apply_others(&mut self) -> Result<(), CallError> {
        for group in &self.layout.other_inputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            values.iter_mut().zip(&group.positions).for_each(|(value, &position)| *value = self.buffers.all[position]);
            self.instance.set_values(group.kind, &group.references, values)?;
        }
        Ok(())
    }

    /// The instance stands at `now`, not at the end of something tried.
    fn return_to_now(&mut self) -> Result<(), CallError> {
        self.tried.step = None;
        if self.displaced { self.restore() } else { Ok(()) }
    }

    /// Back to the saved state. Which inputs are in force there is not known.
    fn restore(&mut self) -> Result<(), CallError> {
        self.instance.restore()?;
        (self.polynomial, self.displaced) = (true, false);
        self.discrete.copy_from_slice(&self.saved_discrete);
        Ok(())
    }

    /// The state of `now` is saved.
    fn save(&mut self) -> Result<(), CallError> {
        if !self.saved {
            self.instance.save()?;
            self.saved = true;
            self.saved_discrete.copy_from_slice(&self.discrete);
        }
        Ok(())
    }

    /// From `now` over `step`, in as many parts as the unit insists on.
    fn integrate(&mut self, step: MacroStep, inputs: &[Signal]) -> Result<(), CallError> {
        let mut parts = match self.abilities.step {
            StepRule::Imposed(size) => (step.size() / size).round().max(1.0) as u64,
            StepRule::Free => self.abilities.sub_steps,
        };
        loop {
            match self.cover(step, inputs, parts)? {
                None => return Ok(()),
                Some(part) => parts = self.divide(step, parts, part)?,
            }
        }
    }

    /// The unit discarded a part of the step (2.0): back to the start, and smaller parts.
    fn divide(&mut self, step: MacroStep, parts: u64, last: f64) -> Result<u64, CallError> {
        let smaller = 2 * parts;
        let done = last - step.start;
        let fitting = if done > 0.0 && done < step.size() { (step.size() / done).ceil() as u64 } else { 0 };
        let parts = smaller.max(fitting.min(4 * smaller));
        if !self.saved || parts > MOST_PARTS || self.abilities.step != StepRule::Free {
            return Err(self.discard("fmi2DoStep"));
        }
        self.restore()?;
        self.instance.journal().monitor.note(|notes| notes.discarded += 1);
        Ok(parts)
    }

    /// The step in `parts` equal parts. The time up to which a part was done, where one was discarded for good.
    fn cover(&mut self, step: MacroStep, inputs: &[Signal], parts: u64) -> Result<Option<f64>, CallError> {
        if parts == 1 {
            return self.stretch(step, 0.0, inputs);
        }
        let size = step.size() / parts as f64;
        for part in 0..parts {
            let offset = part as f64 * size;
            let start = if part == 0 { step.start } else { step.start + offset };
            let end = if part + 1 == parts { step.end } else { step.start + (part + 1) as f64 * size };
            if let Some(last) = self.stretch(MacroStep::new(start, end), offset, inputs)? {
                return Ok(Some(last));
            }
        }
        Ok(None)
    }

    /// One communication step, `offset` after the beginning of the inputs: with the stops that the unit makes on the way.
    fn stretch(&mut self, step: MacroStep, offset: f64, inputs: &[Signal]) -> Result<Option<f64>, CallError> {
        let (mut start, mut end, mut halts) = (step.start, step.end, 0);
        // How far the unit goes in one part, once it has discarded a longer one (3.0).
        let mut stride = f64::INFINITY;
        loop {
            // The whole step as it was given: its size is not always the difference of its ends, to the last bit.
            let part = if start == step.start && end == step.end { step } else { MacroStep::new(start, end) };
            let ended = self.communicate(part, offset + (start - step.start), inputs)?;
            if ended.terminate {
                return Err(CallError::Terminated { message: self.instance.journal().explanation() });
            }
            if ended.discarded {
                if self.version == Version::Two {
                    return Ok(Some(ended.last));
                }
                // 3.0 leaves the state as it was: half the way may be possible.
                end = self.shorten(step, start, end)?;
                stride = end - start;
                continue;
            }
            self.event_pending |= ended.event;
            let reached = if ended.last < end { ended.last } else { end };
            halts = if reached > start { 0 } else { halts + 1 };
            // A few units in the last place short of the end is the end.
            if reached >= step.end - 4.0 * f64::EPSILON * step.end.abs() {
                return Ok(None);
            }
            if halts > MOST_HALTS || !reached.is_finite() || reached < start {
                let message = Some(format!("it stopped at {reached} on its way to {end} and goes no further"));
                return Err(CallError::Refused { function: "doStep", status: "no progress", message });
            }
            start = reached;
            end = if step.end - start > stride * (1.0 + 1e-9) { start + stride } else { step.end };
            if self.event_pending {
                self.instance.journal().monitor.note(|notes| notes.events += 1);
                self.handle_event(inputs, offset + (start - step.start))?;
            }
        }
    }

    fn shorten(&mut self, step: MacroStep, start: f64, end: f64) -> Result<f64, CallError> {
        let half = start + 0.5 * (end - start);
        self.instance.journal().monitor.note(|notes| notes.discarded += 1);
        if half > start && end - start > step.size() / MOST_PARTS as f64 && self.abilities.step == StepRule::Free {
            return Ok(half);
        }
        Err(self.discard("fmi3DoStep"))
    }

    fn discard(&self, function: &'static str) -> CallError {
        CallError::Refused { function, status: "discard", message: self.instance.journal().explanation() }
    }

    /// Sets inputs, steps, reads outputs and states.
    fn communicate(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        inputs: &[Signal],
    ) -> Result<crate::instance::StepEnd, CallError> {
        if self.abilities.event_mode && (self.event_pending || self.discrete_input_changes(inputs, elapsed)) {
            self.handle_event(inputs, elapsed)?;
        }
        self.take_inputs(inputs, elapsed);
        if self.abilities.sub_steps > 1 {
            self.take_means(inputs, elapsed, step.size());
        }
        if !self.abilities.event_mode {
            self.apply_others()?; // with event mode they are set in events only
        }
        // Values first, then their derivatives: a unit may take a new value for a new constant.
        let mut already_set = false;
        match self.abilities.inputs {
            InputWay::Held => {}
            InputWay::Derivatives(degree) => {
                already_set = self.polynomial || inputs.iter().any(|signal| signal.degree() > 0);
                if already_set {
                    self.instance.set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)?;
                    self.set_derivatives(inputs, elapsed, degree)?;
                }
            }
            InputWay::Intermediate => self.follow(inputs, elapsed, step.start),
        }
        let request = StepRequest {
            step,
            final_step: !self.saved,
            input_references: if already_set { &[] } else { &self.layout.smooth_inputs },
            input_values: if already_set { &[] } else { &self.buffers.inputs },
            output_references: &self.layout.read,
        };
        self.instance.step(&request, &mut self.buffers.read)
    }

    /// Sub-steps take the mean of each input over their part.
    fn take_means(&mut self, inputs: &[Signal], elapsed: f64, size: f64) {
        for (value, &position) in self.buffers.inputs.iter_mut().zip(&self.layout.smooth_input_positions) {
            *value = inputs[position].shifted(elapsed).mean(size);
        }
    }

    /// Input derivatives of all orders that the unit takes (2.0).
    fn set_derivatives(&mut self, inputs: &[Signal], elapsed: f64, degree: usize) -> Result<(), CallError> {
        let count = self.layout.smooth_inputs.len();
        self.polynomial = false;
        for order in 1..=degree {
            self.buffers.orders[..count].fill(order as i32);
            for (value, &position) in self.buffers.slopes.iter_mut().zip(&self.layout.smooth_input_positions) {
                *value = inputs[position].derivative(order, elapsed);
            }
            self.polynomial |= self.buffers.slopes[..count].iter().any(|&value| value != 0.0);
            self.instance.set_input_derivatives(
                &self.layout.smooth_inputs,
                &self.buffers.orders[..count],
                &self.buffers.slopes[..count],
            )?;
        }
        Ok(())
    }

    /// The inputs are there whenever the unit asks for them (3.0).
    fn follow(&mut self, inputs: &[Signal], elapsed: f64, start: f64) {
        self.buffers.followed.clear();
        self.buffers.followed.extend(self.layout.smooth_input_positions.iter().map(|&position| inputs[position]));
        self.instance.follow(&self.layout.smooth_inputs, &self.buffers.followed, start - elapsed);
    }

    /// Fills the response from what was read.
    #[inline]
    fn answer(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        for &(place, position) in &self.layout.read_output {
            response.outputs[position] = Knot::value_only(self.buffers.read[place]);
        }
        for &(place, position) in &self.layout.read_state {
            response.states[position] = self.buffers.read[place];
        }
        for group in &self.layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance.get_values(group.kind, &group.references, values)?;
            values
                .iter()
                .zip(&group.positions)
                .for_each(|(&value, &at)| response.outputs[at] = Knot::value_only(value));
        }
        response.reached = step.end;
        response.next_event = if self.event_pending { step.end } else { self.next_event };
        if response.derivatives() > 0 && self.abilities.slopes != Slopes::Unknown {
            self.take_slopes(step.size(), inputs, response)?;
        }
        Ok(())
    }

    /// Output derivatives, by whichever way the unit has.
    fn take_slopes(&mut self, elapsed: f64, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        let held = self.interface.outputs.iter().zip(&mut response.outputs);
        held.filter(|(output, _)| output.nature != Nature::Continuous)
            .for_each(|(_, knot)| *knot = Knot::from(knot.value));
        let count = self.layout.smooth_outputs.len();
        match self.abilities.slopes {
            Slopes::Unknown => {}
            Slopes::Told(orders) => {
                for order in 1..=orders.min(response.derivatives()) {
                    self.buffers.orders[..count].fill(order as i32);
                    let values = &mut self.buffers.slopes[..self.layout.smooth_output_positions.len()];
                    self.instance.output_derivatives(
                        &self.layout.smooth_outputs,
                        &self.buffers.orders[..count],
                        values,
                    )?;
                    for (&value, &position) in values.iter().zip(&self.layout.smooth_output_positions) {
                        let knot = &mut response.outputs[position];
                        *(if order == 1 { &mut knot.slope } else { &mut knot.curvature }) = value;
                    }
                }
            }
            Slopes::Chained => {
                // y' = C f + D u', one directional derivative in the direction in which the unit moves.
                let states = self.layout.states.len();
                let seed = &mut self.buffers.seed[..states + self.layout.smooth_input_positions.len()];
                self.instance.get_floats(&self.layout.derivative_references, &mut seed[..states])?;
                for (value, &position) in seed[states..].iter_mut().zip(&self.layout.smooth_input_positions) {
                    *value = inputs[position].derivative(1, elapsed);
                }
                let values = &mut self.buffers.slopes[..self.layout.smooth_output_positions.len()];
                self.instance.directional(&self.layout.smooth_outputs, &self.abilities.knowns, seed, values)?;
                for (&value, &position) in values.iter().zip(&self.layout.smooth_output_positions) {
                    response.outputs[position].slope = value;
                }
            }
        }
        Ok(())
    }

    /// A question about the present.
    fn ask(&mut self, time: f64, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        if self.phase == Phase::Made {
            self.initialize(time)?;
        }
        self.return_to_now()?;
        let event = self.abilities.event_mode
            && self.phase == Phase::Stepping
            && (self.event_pending || self.next_event <= time || self.discrete_input_changes(inputs, 0.0));
        if event {
            self.handle_event(inputs, 0.0)?;
            self.saved = false;
        } else if self.abilities.event_mode && self.phase == Phase::Stepping {
            self.take_inputs(inputs, 0.0);
            self.instance.set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)?;
        } else {
            self.apply(inputs, 0.0)?;
        }
        self.applied.copy_from_slice(&self.buffers.all);
        self.remember_slopes(inputs, 0.0);
        self.instance.get_floats(&self.layout.read, &mut self.buffers.read)?;
        self.answer(MacroStep::instant(time), inputs, response)
    }

    fn remember_slopes(&mut self, inputs: &[Signal], elapsed: f64) {
        for (slope, signal) in self.applied_slopes.iter_mut().zip(inputs) {
            *slope = signal.derivative(1, elapsed);
        }
    }

    /// The inputs as they are at the end of a step, for whoever linearises there.
    fn remember_end(&mut self, step: MacroStep, inputs: &[Signal]) {
        if self.abilities.linearizes {
            for (applied, signal) in self.applied.iter_mut().zip(inputs) {
                *applied = signal.value(step.size());
            }
            self.remember_slopes(inputs, step.size());
        }
    }

    /// Whatever is not a step of a plain unit.
    #[inline(never)]
    fn advance_with_care(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), Error> {
        let done = match self.trouble.take() {
            Some(error) => Err(error),
            None if step.is_instant() => self.ask(step.start, inputs, response),
            None => self.take(step, inputs, response),
        };
        done.map_err(|error| self.failure(step.start, error))
    }

    /// A step of a plain unit: set, step, get, and nothing else. Whether it was done; otherwise nothing has moved, or there is
    /// trouble.
    #[inline]
    fn glide(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> bool {
        // The question comes first and decides for every step whether it is timed.
        let quick = self.instance.is_quick();
        if self.glider.is_none() || !quick || self.phase != Phase::Stepping || self.rolls_back {
            return false;
        }
        if self.needs_preparation && !self.prepare_to_glide(inputs) {
            return false;
        }
        let Some(glider) = self.glider.as_mut() else { return false };
        // All inputs are continuous and in order: a plain unit has no others.
        for (value, signal) in glider.inputs().iter_mut().zip(inputs) {
            *value = signal.value(0.0);
        }
        if (!self.instance.glide(glider, step) || glider.terminates()) && !self.was_done_after_all(step) {
            return false;
        }
        let Some(glider) = self.glider.as_ref() else { return false };
        let read = glider.outputs();
        for &(place, position) in &self.layout.read_output {
            response.outputs[position] = Knot::value_only(read[place]);
        }
        for &(place, position) in &self.layout.read_state {
            response.states[position] = read[place];
        }
        (response.reached, response.next_event, self.now) = (step.end, f64::INFINITY, step.end);
        self.saved = false;
        !self.remembers || self.finish(step, inputs, response)
    }

    /// A unit that follows inputs gets constants as such; one of 2.0 that can be restored is saved, so that a discarded step can be
    /// repeated in parts.
    #[inline(never)]
    fn prepare_to_glide(&mut self, inputs: &[Signal]) -> bool {
        match self.abilities.inputs {
            InputWay::Held => {}
            _ if self.polynomial || inputs.iter().any(|signal| signal.degree() > 0) => return false,
            InputWay::Derivatives(_) => {}
            InputWay::Intermediate => self.instance.follow(&[], &[], 0.0),
        }
        if self.abilities.rollback && self.version == Version::Two {
            self.trouble = self.save().err();
        }
        self.trouble.is_none()
    }

    /// Whether a prepared step took its time and is done now; otherwise notes the trouble, if there is any. A discarded step of 3.0
    /// is none: nothing has moved.
    #[cold]
    #[inline(never)]
    fn was_done_after_all(&mut self, step: MacroStep) -> bool {
        let Some(glider) = self.glider.as_mut() else { return false };
        let terminates = glider.terminates();
        self.trouble = match self.instance.not_glided(glider, step) {
            Err(error) => Some(error),
            Ok(Status::Fine) if !terminates => return true,
            Ok(Status::Fine) => Some(CallError::Terminated { message: self.instance.journal().explanation() }),
            Ok(_) if self.version == Version::Two && !self.saved => Some(self.end_of_discard()),
            // What is saved is restored before the step is taken with more care.
            Ok(_) => {
                self.displaced = self.saved;
                None
            }
        };
        false
    }

    /// Slopes, and the inputs where someone may linearise.
    #[inline(never)]
    fn finish(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> bool {
        self.remember_end(step, inputs);
        if response.derivatives() > 0 && self.abilities.slopes != Slopes::Unknown {
            self.trouble = self.take_slopes(step.size(), inputs, response).err();
        }
        self.trouble.is_none()
    }

    /// A discarded step of 2.0 that cannot be repeated: an end that the unit asked for, or a failure.
    #[cold]
    fn end_of_discard(&mut self) -> CallError {
        if self.instance.wants_to_end() {
            return CallError::Terminated { message: self.instance.journal().explanation() };
        }
        self.discard("fmi2DoStep")
    }

    /// Takes the step for good.
    fn take(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        self.begin_stepping(step.start)?;
        if self.tried.step == Some(step) && self.tried.inputs == inputs {
            (self.tried.step, self.displaced) = (None, false);
            response.outputs.copy_from_slice(&self.tried.response.outputs);
            response.states.copy_from_slice(&self.tried.response.states);
            (response.reached, response.next_event) = (step.end, self.tried.response.next_event);
            (self.next_event, self.event_pending) = self.tried.events;
            response.reused = true;
        } else {
            self.return_to_now()?;
            if self.rolls_back {
                self.save()?;
                self.restore()?;
            } else if self.abilities.rollback && self.version == Version::Two {
                self.save()?; // a discarded step can then be taken in smaller parts
            }
            self.integrate(step, inputs)?;
            self.answer(step, inputs, response)?;
        }
        self.remember_end(step, inputs);
        (self.now, self.saved) = (step.end, false);
        Ok(())
    }

    /// Tries the step from the saved state.
    fn attempt(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        self.begin_stepping(step.start)?;
        self.instance.sample();
        self.rolls_back = true;
        let before = (self.next_event, self.event_pending);
        self.save()?;
        self.tried.step = None;
        self.restore()?;
        self.displaced = true;
        let tried = self.integrate(step, inputs).and_then(|()| self.answer(step, inputs, response));
        self.tried.events = (self.next_event, self.event_pending);
        (self.next_event, self.event_pending) = before;
        tried?;
        let kept = &mut self.tried.response;
        kept.outputs.copy_from_slice(&response.outputs);
        kept.states.copy_from_slice(&response.states);
        kept.next_event = response.next_event;
        self.tried.inputs.copy_from_slice(inputs);
        self.tried.step = Some(step);
        Ok(())
    }

    /// Fills the matrices, a column for each state and each continuous input.
    fn fill(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        self.return_to_now()?;
        // At the end of a step the unit may still hold the inputs of its beginning.
        for (value, &position) in self.buffers.inputs.iter_mut().zip(&self.layout.smooth_input_positions) {
            *value = self.applied[position];
        }
        self.instance.set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)?;
        let (layout, states) = (&*self.layout, self.layout.states.len());
        for matrix in [&mut into.a, &mut into.b, &mut into.c, &mut into.d, &mut into.b_slope, &mut into.d_slope] {
            matrix.fill(0.0);
        }
        into.f_time.fill(0.0);
        into.g_time.fill(0.0);
        self.instance.get_floats(&layout.derivative_references, into.f.as_mut_slice())?;
        self.instance.get_floats(&layout.read, &mut self.buffers.read)?;
        layout.read_output.iter().for_each(|&(place, at)| into.g[at] = self.buffers.read[place]);
        layout.read_state.iter().for_each(|&(place, at)| into.x[at] = self.buffers.read[place]);
        for group in &layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance.get_values(group.kind, &group.references, values)?;
            values.iter().zip(&group.positions).for_each(|(&value, &at)| into.g[at] = value);
        }
        into.u.as_mut_slice().copy_from_slice(&self.applied);
        into.u_slope.as_mut_slice().copy_from_slice(&self.applied_slopes);
        into.affine = 0;
        let knowns = states + layout.smooth_input_positions.len();
        let seed = &mut self.buffers.seed[..knowns];
        seed.fill(0.0);
        for column in 0..knowns {
            seed[column] = 1.0;
            self.instance.directional(
                &self.abilities.unknowns,
                &self.abilities.knowns,
                seed,
                &mut self.buffers.column,
            )?;
            seed[column] = 0.0;
            let (rates, slopes) = self.buffers.column.split_at(states);
            let (f, g, at) = if column < states {
                (&mut into.a, &mut into.c, column)
            } else {
                (&mut into.b, &mut into.d, layout.smooth_input_positions[column - states])
            };
            f.column_mut(at).as_mut_slice().copy_from_slice(rates);
            for (&slope, &position) in slopes.iter().zip(&layout.smooth_output_positions) {
                g[(position, at)] = slope;
            }
        }
        if let (Slopes::Told(_), InputWay::Held) = (self.abilities.slopes, self.abilities.inputs) {
            self.fill_time(into)?;
        }
        Ok(())
    }

    /// What the unit tells of its outputs' slopes beyond C f is their derivative by time, where its inputs are held.
    fn fill_time(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        let count = self.layout.smooth_outputs.len();
        self.buffers.orders[..count].fill(1);
        let told = &mut self.buffers.slopes[..self.layout.smooth_output_positions.len()];
        self.instance.output_derivatives(&self.layout.smooth_outputs, &self.buffers.orders[..count], told)?;
        for (&slope, &at) in told.iter().zip(&self.layout.smooth_output_positions) {
            let flow: f64 = into.c.row(at).iter().zip(into.f.iter()).map(|(c, f)| c * f).sum();
            let rest = slope - flow;
            // Rounding is no motion.
            into.g_time[at] = if rest.abs() <= 1e-9 * (slope.abs() + flow.abs()) { 0.0 } else { rest };
        }
        Ok(())
    }
}

/// Whether a step is set, step and get, and no more.
fn is_plain(abilities: &Abilities, layout: &Layout) -> bool {
    let simple_values = layout.other_inputs.is_empty() && layout.other_outputs.is_empty();
    let simple_steps = abilities.step == StepRule::Free && abilities.sub_steps == 1;
    let no_events = !abilities.event_mode && !abilities.returns_early;
    simple_values && simple_steps && no_events
}

impl<I: Instance> System for CoSimulation<I> {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), Error> {
        if !step.is_instant() && self.glide(step, inputs, response) {
            return Ok(());
        }
        self.advance_with_care(step, inputs, response)
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        if self.abilities.rollback { Some(self) } else { None }
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        if self.abilities.linearizes { Some(self) } else { None }
    }

    fn input_degree(&self) -> usize {
        match self.abilities.inputs {
            _ if self.abilities.sub_steps > 1 => MAX_DEGREE,
            InputWay::Held => 0,
            InputWay::Derivatives(degree) => degree,
            InputWay::Intermediate => MAX_DEGREE,
        }
    }

    fn output_derivatives(&self) -> usize {
        match self.abilities.slopes {
            Slopes::Unknown => 0,
            Slopes::Told(orders) => orders,
            Slopes::Chained => 1,
        }
    }

    fn step_rule(&self) -> StepRule {
        self.abilities.step
    }
}

impl<I: Instance> Trial for CoSimulation<I> {
    fn respond(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), Error> {
        self.attempt(step, inputs, response).map_err(|error| self.failure(step.start, error))
    }
}

impl<I: Instance> Linearize for CoSimulation<I> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now;
        let done = self.begin_stepping(now).and_then(|()| self.fill(into));
        done.map_err(|error| self.failure(now, error))
    }
}

impl<I: Instance> Drop for CoSimulation<I> {
    fn drop(&mut self) {
        if self.phase == Phase::Stepping {
            let _ = self.instance.terminate(); // the run is over: what it answers does not matter any more
        }
    }
}
