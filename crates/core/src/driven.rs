//! A system some of whose inputs are known beforehand: a table, an expression of time.
//!
//! Whoever couples the system does not see these inputs at all, and so neither delays nor predicts them: the system follows them
//! exactly, under every method. Where their course has a kink or a jump the system announces an event. They are shown as
//! outputs of the same names, so that they can be recorded and connected.

mod linear;

use crate::checkpoint::{Archive, Checkpoint};
use crate::error::Error;
use crate::forward_to_system;
use crate::interface::{Interface, Output, SignalKind};
use crate::linearization::{Evaluation, Linearization};
use crate::macro_step::MacroStep;
use crate::offer_as_system;
use crate::signal::{Knot, Signal};
use crate::system::{StepRule, System, Trial};
use crate::task::Response;
use crate::visit_fields;
use crate::wrapping::{checkpoint_of, trial_of};

/// Signals that are known beforehand. They consist of polynomials, one after the other.
pub trait Drive: Send {
    /// Where the pieces that hold right after `from` end; infinite where they never do.
    fn piece_end(&mut self, from: f64) -> Result<f64, String>;

    /// The pieces that hold right after the start of `step`, in time elapsed since then. They need be right up to its end only.
    fn signals(&mut self, step: MacroStep, into: &mut [Signal]) -> Result<(), String>;

    /// Nobody asks any more for what was before this time, but after a restart.
    fn forget(&mut self, _before: f64) {}

    /// The system, linearized where it stands, with the inputs that are driven.
    fn linearized(&mut self, _whole: &Linearization) {}
}

/// Some signals, and the inputs that they are.
pub struct DrivenInputs {
    /// What is known of them.
    pub drive: Box<dyn Drive>,
    /// Positions of the inputs, in the order of the signals.
    pub inputs: Vec<usize>,
}

/// A system behind inputs that are known.
pub struct Driven<S> {
    system: S,
    interface: Interface,
    drives: Vec<DrivenInputs>,
    /// For each input that is left, its position inside.
    free: Vec<usize>,
    /// Driven inputs that are shown as outputs, in their order.
    shown: Vec<usize>,
    /// For each input inside, whether it is held over a step.
    held: Vec<bool>,
    /// The inputs inside over the step under way, as exactly as they are known.
    exact: Vec<Signal>,
    /// The same as the system can take them.
    inputs: Vec<Signal>,
    /// The driven inputs where the system stands, on the side of an event on which it stands.
    knots: Vec<Knot>,
    reached: f64,
    scratch: Scratch,
}

/// Room for the system's own answers.
struct Scratch {
    signals: Vec<Signal>,
    sums: Vec<f64>,
    response: Response,
    linearization: Linearization,
    evaluation: Evaluation,
}

impl<S: System> Driven<S> {
    /// Drives some inputs of `system`.
    pub fn new(system: S, drives: Vec<DrivenInputs>) -> Self {
        let inner = system.interface();
        let driven = driven_inputs(&drives);
        let count = inner.inputs.len();
        let starts = inner
            .inputs
            .iter()
            .map(|input| Signal::constant(input.start));
        let starts: Vec<Signal> = starts.collect();
        let kinds = inner.inputs.iter();
        let held = kinds.map(|input| input.kind != SignalKind::Continuous);
        let most = drives.iter().map(|drive| drive.inputs.len()).max();
        let scratch = Scratch {
            signals: vec![Signal::constant(0.0); most.unwrap_or(0)],
            sums: vec![0.0; count],
            response: Response::new(inner, 0),
            linearization: Linearization::of(inner),
            evaluation: Evaluation::of(inner),
        };

        Self {
            interface: Self::outer_interface(inner, &driven),
            free: (0..count).filter(|input| !driven.contains(input)).collect(),
            shown: shown(inner, &driven),
            held: held.collect(),
            exact: starts.clone(),
            inputs: starts,
            knots: vec![Knot::from(0.0); count],
            reached: f64::NAN,
            drives,
            scratch,
            system,
        }
    }

    /// How a system looks from outside where these inputs are driven.
    pub fn outer_interface(inner: &Interface, driven: &[usize]) -> Interface {
        let left = |input: &usize| !driven.contains(input);
        let free: Vec<usize> = (0..inner.inputs.len()).filter(left).collect();
        let new_positions = |old: &[usize]| {
            let positions = free.iter().enumerate();
            let kept = positions.filter(|(_, input)| old.contains(input));
            kept.map(|(position, _)| position).collect()
        };
        let mut outputs: Vec<Output> = inner.outputs.iter().cloned().collect();
        for output in &mut outputs {
            output.depends_on = new_positions(&output.depends_on);
            output.depends_on_slopes = new_positions(&output.depends_on_slopes);
        }
        outputs.extend(shown(inner, driven).into_iter().map(|input| {
            let input = &inner.inputs[input];
            Output {
                name: input.name.clone(),
                unit: input.unit.clone(),
                kind: input.kind,
                ..Output::default()
            }
        }));

        Interface {
            name: inner.name.clone(),
            inputs: free
                .iter()
                .map(|&input| inner.inputs[input].clone())
                .collect(),
            outputs: outputs.into(),
            states: inner.states.clone(),
        }
    }

    fn failed(&self, time: f64, reason: String) -> Error {
        Error::System {
            system: self.interface.name.clone(),
            time,
            reason: reason.into(),
            remedies: Vec::new(),
        }
    }

    /// Where the pieces end that hold right after `from`.
    fn piece_end(&mut self, from: f64) -> Result<f64, Error> {
        let mut end = f64::INFINITY;
        for driven in &mut self.drives {
            match driven.drive.piece_end(from) {
                Ok(own) => end = end.min(own),
                Err(reason) => return Err(self.failed(from, reason)),
            }
        }
        Ok(end)
    }

    /// The driven inputs over a step that is no longer than their pieces.
    fn drive(&mut self, step: MacroStep) -> Result<(), Error> {
        for driven in &mut self.drives {
            let signals = &mut self.scratch.signals[..driven.inputs.len()];
            if let Err(reason) = driven.drive.signals(step, signals) {
                return Err(self.failed(step.start, reason));
            }
            for (&input, signal) in driven.inputs.iter().zip(signals) {
                self.exact[input] = *signal;
            }
        }
        Ok(())
    }

    /// The free inputs, from `elapsed` after the start of the step on.
    fn take_free(&mut self, inputs: &[Signal], elapsed: f64) {
        for (&position, signal) in self.free.iter().zip(inputs) {
            let signal = if elapsed == 0.0 {
                *signal
            } else {
                signal.shifted(elapsed)
            };
            (self.exact[position], self.inputs[position]) = (signal, signal);
        }
    }

    /// What the system can take of the driven inputs over a step of this size.
    fn reduce(&mut self, size: f64) {
        let degree = self.system.input_degree();
        for driven in &self.drives {
            for &input in &driven.inputs {
                let exact = self.exact[input];
                self.inputs[input] = match self.held[input] {
                    true => Signal::constant(exact.value(0.0)),
                    false if size == 0.0 => exact,
                    false => exact.reduced(size, degree),
                };
            }
        }
    }

    /// The means of the driven inputs over a step that goes across kinks, for a system that takes no other.
    fn average(&mut self, step: MacroStep) -> Result<(), Error> {
        self.scratch.sums.fill(0.0);
        let mut from = step.start;
        while from < step.end {
            let end = self.piece_end(from)?.min(step.end);
            let part = MacroStep::new(from, end);
            self.drive(part)?;
            for (sum, signal) in self.scratch.sums.iter_mut().zip(&self.exact) {
                *sum += part.size() * signal.mean(part.size());
            }
            if from == step.start {
                self.reduce(0.0); // what is held keeps its value at the start
            }
            from = end;
        }

        for driven in &self.drives {
            for &input in driven.inputs.iter().filter(|&&input| !self.held[input]) {
                let mean = self.scratch.sums[input] / step.size();
                self.inputs[input] = Signal::constant(mean);
            }
        }
        Ok(())
    }

    /// The driven inputs are where the exact ones are after `elapsed`.
    fn stand(&mut self, time: f64, elapsed: f64) {
        for driven in &self.drives {
            for &input in &driven.inputs {
                self.knots[input] = match self.held[input] {
                    true => Knot::from(self.exact[input].value(elapsed)),
                    false => self.exact[input].at(elapsed),
                };
            }
        }
        self.reached = time;
    }

    /// Hands on what the system has answered.
    fn answer(&mut self, next_event: f64, elapsed: f64, response: &mut Response) {
        let inner = &mut self.scratch.response;
        let (own, further) = response.outputs.split_at_mut(inner.outputs.len());
        own.copy_from_slice(&inner.outputs);
        for (knot, &input) in further.iter_mut().zip(&self.shown) {
            *knot = self.exact[input].at(elapsed);
        }
        response.states.copy_from_slice(&inner.states);
        response.motion.copy_from_slice(&inner.motion);
        response.reached = inner.reached;
        response.next_event = inner.next_event.min(next_event);
        (response.located, response.crossed) = (inner.located, inner.crossed);
        (response.reused, response.estimated) = (inner.reused, inner.estimated);
        (response.linearized, response.ends) = (inner.linearized, inner.ends);
    }

    /// What the system went through, with the driven inputs.
    fn hand_on_path(&self, start: f64, response: &mut Response) {
        let path = &self.scratch.response.path;
        for (knot, &time) in path.times().iter().enumerate() {
            response.path.push(time);
            for &output in path.outputs(knot) {
                response.path.push_output(output);
            }
            for &input in &self.shown {
                response
                    .path
                    .push_output(self.exact[input].at(time - start));
            }
            for &state in path.states(knot) {
                response.path.push_state(state);
            }
        }
    }

    fn ask_anew(&mut self, response: &Response) {
        self.scratch.response.ask_as(response);
        self.scratch.response.begin();
    }

    /// A question about the present, on the right side of an event.
    fn instant(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
        begins: bool,
    ) -> Result<(), Error> {
        self.ask_anew(response);
        self.take_free(inputs, 0.0);
        self.drive(step)?;
        self.reduce(0.0);
        let inner = &mut self.scratch.response;
        if begins {
            self.system.begin(step, &self.inputs, inner)?;
        } else {
            self.system.advance(step, &self.inputs, inner)?;
        }
        let end = self.piece_end(step.start)?;
        self.stand(step.end, 0.0);
        self.answer(end, 0.0, response);
        Ok(())
    }

    /// A step of a system that takes no other.
    fn imposed(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.take_free(inputs, 0.0);
        self.average(step)?;
        self.system
            .advance(step, &self.inputs, &mut self.scratch.response)?;
        let reached = self.scratch.response.reached;
        self.drive(MacroStep::instant(reached))?;
        let end = self.piece_end(reached)?;
        self.stand(reached, 0.0);
        self.answer(end, 0.0, response);
        Ok(())
    }

    /// A step in as many parts as it has pieces: one, where all have met at the last kink.
    fn in_parts(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let mut from = step.start;
        let mut crossed = false;
        loop {
            let kink = self.piece_end(from)?;
            let whole = from == step.start && kink >= step.end;
            let part = if whole {
                step
            } else {
                MacroStep::new(from, kink.min(step.end))
            };
            self.take_free(inputs, from - step.start);
            self.drive(part)?;
            self.reduce(part.size());
            self.scratch.response.begin();
            self.system
                .advance(part, &self.inputs, &mut self.scratch.response)?;
            let inner = &mut self.scratch.response;
            crossed |= inner.crossed;
            inner.crossed = crossed;
            let stopped = inner.ends || inner.reached < part.end;
            let reached = inner.reached;

            if stopped || part.end >= step.end {
                let elapsed = if stopped { reached - from } else { part.size() };
                self.stand(reached, elapsed);
                self.answer(kink, elapsed, response);
                if whole {
                    self.hand_on_path(from, response);
                }
                return Ok(());
            }
            from = part.end;
        }
    }
}

/// All inputs that are driven.
fn driven_inputs(drives: &[DrivenInputs]) -> Vec<usize> {
    let inputs = drives.iter().flat_map(|driven| &driven.inputs);
    inputs.copied().collect()
}

/// Those of them that are shown as outputs: all whose names are free.
fn shown(inner: &Interface, driven: &[usize]) -> Vec<usize> {
    let taken = |input: usize| {
        let name = &inner.inputs[input].name;
        inner.outputs.iter().any(|output| output.name == *name)
    };
    let mut shown: Vec<usize> = driven.to_vec();
    shown.retain(|&input| !taken(input));
    shown
}

impl<S: System> System for Driven<S> {
    forward_to_system!(system: presence, join_lane, precision, input_degree, output_derivatives, step_rule);
    offer_as_system!(system: trial, linearize, evaluate, checkpoint);

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
            return self.instant(step, inputs, response, false);
        }

        self.ask_anew(response);
        if self.system.step_rule() == StepRule::Free {
            self.in_parts(step, inputs, response)?;
        } else {
            self.imposed(step, inputs, response)?;
        }
        let reached = self.reached;
        let drives = self.drives.iter_mut();
        drives.for_each(|driven| driven.drive.forget(reached));
        Ok(())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.instant(step, inputs, response, true)
    }
}

impl<S: System> Checkpoint for Driven<S> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.reached);
        archive.slice(&mut self.knots)?;
        checkpoint_of(&mut self.system).visit(archive)
    }
}

impl<S: System> Trial for Driven<S> {
    /// A trial that would go across a kink stops there: all know when it is, and can meet there.
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.ask_anew(response);
        self.take_free(inputs, 0.0);
        let kink = self.piece_end(step.start)?;
        let imposed = self.system.step_rule() != StepRule::Free;
        let step = match kink < step.end && !imposed {
            true => MacroStep::new(step.start, kink),
            false => step,
        };

        if imposed && !step.is_instant() {
            self.average(step)?;
        } else {
            self.drive(step)?;
            self.reduce(step.size());
        }
        trial_of(&mut self.system).respond(step, &self.inputs, &mut self.scratch.response)?;

        let reached = self.scratch.response.reached;
        let elapsed = if imposed {
            self.drive(MacroStep::instant(reached))?;
            0.0
        } else if reached < step.end {
            reached - step.start
        } else {
            step.size()
        };
        self.answer(kink, elapsed, response);
        Ok(())
    }
}
