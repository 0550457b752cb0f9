//! A system at work, in the room that it has been given.

use dovetail_core::{Error, Interface, MacroStep, Response, Signal};
use dovetail_numerics::{Integrator, Tolerance};

use super::delay_line::DelayLine;
use super::drive::{Drive, Driven, Segment, Watched};
use super::dynamics::Dynamics;
use super::events::{Clock, Crowd, EventSide};
use super::failure::failure;
use super::linear::LinearEngine;
use super::response::{EvaluationScratch, ResponseFiller};
use super::state::NativeState;
use super::trail::Trail;
use super::watch::{Crossing, Watch};

/// A system and its room, for one call.
pub(super) struct Stepper<'a> {
    pub interface: &'a Interface,
    /// Relative tolerance of the integrator.
    pub tolerance: f64,
    /// The largest magnitude of each state so far.
    pub sizes: &'a mut [f64],
    pub now: &'a mut NativeState,
    /// The end of the step last taken or tried, until it becomes `now`.
    pub end: &'a mut NativeState,
    /// Where the integrator has been on the way there.
    pub trail: &'a mut Trail,
    /// Whether events were crossed on that way.
    pub crossed: &'a mut bool,
    pub clock: &'a mut Clock,
    /// Whether the run has begun: before, no clause runs.
    pub begun: bool,
    pub dynamics: &'a mut Dynamics,
    pub exact: &'a mut Option<Box<LinearEngine>>,
    pub integrator: &'a mut Option<Box<Integrator>>,
    pub drive: &'a mut Drive,
    pub work: &'a mut EvaluationScratch,
    pub watch: &'a mut Option<Box<Watch>>,
    pub delays: &'a mut Option<Box<DelayLine>>,
}

impl Stepper<'_> {
    /// Integrates from `now` over `step` into `end`, from switching time to switching time and from
    /// event to event, or until the first event. The elapsed time reached.
    pub fn integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        until_event: bool,
    ) -> Result<f64, Error> {
        let mut delays = self.delays.take();
        let reached = self.integrate_delayed(step, inputs, delays.as_deref_mut(), until_event);
        *self.delays = delays;
        reached
    }

    fn integrate_delayed(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        mut delays: Option<&mut DelayLine>,
        until_event: bool,
    ) -> Result<f64, Error> {
        self.end.copy_from(self.now);
        self.end.time = step.start;
        self.center_layers(step.start, inputs, delays.as_deref());
        self.end.branches.near = f64::INFINITY;
        *self.crossed = false;
        self.trail.clear();
        let mut elapsed = 0.0;
        let mut crowd = Crowd::default();

        loop {
            let start = if elapsed == 0.0 {
                step.start
            } else {
                self.end.time
            };
            self.end.side = start;
            let (inputs, until) = match &mut delays {
                Some(delays) => {
                    let until = delays.enter(step, start, inputs);
                    (delays.signals(), until)
                }
                None => (inputs, f64::INFINITY),
            };
            self.enter_segment(start, elapsed, inputs)?;
            let tick = self.clock.next(&self.end.branches);
            let switch = self.dynamics.next_switch(start).min(tick).min(until);
            let segment = Segment::new(step, elapsed, switch);
            let arrival = match crowd.dwell(&segment) {
                Some(dwell) => self.step_blindly(&dwell, inputs)?,
                None => self.step_watched(&segment, inputs)?,
            };
            elapsed = arrival.elapsed;
            self.end.time = if elapsed == segment.end {
                segment.end_time
            } else {
                step.start + elapsed
            };
            if elapsed == step.size() || (arrival.event && until_event) {
                return Ok(elapsed);
            }
            *self.crossed |= arrival.event;
            crowd.note(&arrival);
        }
    }

    /// The layers at which others keep the system are where it is under these inputs.
    fn center_layers(&mut self, time: f64, inputs: &[Signal], delays: Option<&DelayLine>) {
        let branches = &self.now.branches;
        self.dynamics.enter(self.now.side, &branches.held);
        if self.dynamics.is_kept() {
            let inputs = delays.map_or(inputs, DelayLine::signals);
            self.drive.set(inputs, 0.0, 1);
            let at = self.drive.point(time, &self.now.values);
            self.dynamics.center_layers(at, &branches.shares);
        }
    }

    /// Branches at the start of a segment: inputs may have jumped, and events may be due.
    fn enter_segment(&mut self, start: f64, elapsed: f64, inputs: &[Signal]) -> Result<(), Error> {
        if self.watch.is_some() {
            self.drive.set(inputs, elapsed, 1);
            self.cross(EventSide::End, start, false)?;
        }
        self.dynamics.enter(start, &self.end.branches.held);
        Ok(())
    }

    /// The next time after `time` at which something is known to switch: a condition on time, or
    /// the clock as it stands in a state.
    fn next_known(&self, state: &NativeState, time: f64) -> f64 {
        let tick = self.clock.next(&state.branches);
        let switch = self.dynamics.next_switch(time);
        let delayed = self.delays.as_ref().map(|delays| delays.next_event(time));
        let switch = switch.min(delayed.unwrap_or(f64::INFINITY));
        if tick > time {
            switch.min(tick)
        } else {
            switch
        }
    }

    pub(super) fn step_segment(
        &mut self,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<(), Error> {
        if self.end.values.is_empty() {
            return Ok(());
        }

        let size = segment.end - segment.start;
        let slides = self.dynamics.slides();
        let exact = self.exact.as_deref_mut().is_some_and(|engine| {
            !slides && engine.admits(self.dynamics, size, inputs.len(), self.tolerance)
        });

        if exact {
            self.step_exactly(segment, inputs);
            return Ok(());
        }
        self.integrate_segment(segment, inputs)
    }

    fn step_exactly(&mut self, segment: &Segment, inputs: &[Signal]) {
        let Some(engine) = self.exact.as_deref_mut() else {
            return;
        };
        let size = segment.end - segment.start;
        let end = &mut self.end.values;
        let initial = &mut self.work.derivative;
        initial.copy_from_slice(end);

        if segment.start == 0.0 {
            engine.step(size, initial, inputs, end);
            return;
        }

        for (shifted, signal) in self.work.shifted.iter_mut().zip(inputs) {
            *shifted = signal.shifted(segment.start);
        }
        engine.step(size, initial, &self.work.shifted, end);
    }

    fn integrate_segment(&mut self, segment: &Segment, inputs: &[Signal]) -> Result<(), Error> {
        self.run_integrator(segment, inputs, None)?;
        Ok(())
    }

    /// The integrator over a segment, or until the watch finds an event.
    pub(super) fn run_integrator(
        &mut self,
        segment: &Segment,
        inputs: &[Signal],
        watch: Option<&mut Watch>,
    ) -> Result<Option<Crossing>, Error> {
        let states = self.end.values.len();
        let integrator = self
            .integrator
            .get_or_insert_with(|| Box::new(Integrator::new(states)));
        let mut driven = Driven {
            dynamics: self.dynamics,
            drive: self.drive,
            inputs,
            segment,
            trail: Some((&mut self.trail, self.end.side)),
        };
        // By what states have been: those that pass through zero are to be followed too, whatever
        // their units.
        let tolerance = Tolerance {
            relative: self.tolerance,
            absolute: 0.0,
            sizes: self.sizes,
            largest: largest_input(inputs, segment.step.size()),
        };
        let start = segment.start;
        let end = segment.end;
        let values = &mut self.end.values;
        let hint = self.end.hint;
        let mut crossing = None;
        let outcome = match watch {
            None => integrator.integrate(&mut driven, start, end, values, tolerance, hint),
            Some(watch) => {
                let mut watched = Watched {
                    driven,
                    watch,
                    branches: &self.end.branches,
                    crossing: None,
                };
                let outcome =
                    integrator.integrate(&mut watched, start, end, values, tolerance, hint);
                crossing = watched.crossing;
                outcome
            }
        };

        match outcome {
            Ok(outcome) => {
                self.end.hint = outcome.hint;
                Ok(crossing)
            }
            Err(error) => Err(failure(self.interface, segment.step, error)),
        }
    }

    /// Fills the response with the outputs at `end` (or `now`) under the inputs as they are after
    /// `elapsed`.
    fn answer(
        &mut self,
        ended: bool,
        time: f64,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let state = if ended { &mut self.end } else { &mut self.now };
        let inputs = self
            .delays
            .as_ref()
            .map_or(inputs, |delays| delays.signals());
        self.drive.set(inputs, elapsed, response.derivatives());
        state.inputs.copy_from_slice(&self.drive.values);
        state.slopes.copy_from_slice(&self.drive.slopes);
        self.dynamics.enter(state.side, &state.branches.held);
        let mut evaluation = ResponseFiller {
            dynamics: self.dynamics,
            at: self.drive.point(time, &state.values),
            drive: self.drive,
            work: self.work,
        };
        evaluation.fill_values(response);
        evaluation.dynamics.read_shares(&mut state.branches.shares);

        if response.derivatives() > 0 {
            evaluation.fill_slopes(response);
        }
        if response.derivatives() > 1 {
            evaluation.fill_curvatures(response);
        }
    }

    /// `time`, but at the end of a step not beyond a switch that lies exactly there.
    pub(super) fn before_switch(&self, time: f64) -> f64 {
        let switch = self.next_known(self.now, self.now.side);
        time.min(switch.next_down())
    }

    /// The end of a step, or the event at which a trial has stopped: the limit from the left, where
    /// something switches there.
    pub fn answer_at_end(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let reached = if elapsed == step.size() {
            step.end
        } else {
            self.end.time
        };
        let switch = self.next_known(self.end, reached.next_down());
        let time = if switch == reached {
            reached.next_down()
        } else {
            reached
        };
        if let Some(delays) = &mut self.delays {
            delays.enter(step, self.end.side, inputs);
        }
        self.answer(true, time, elapsed, inputs, response);
        response.reached = reached;

        let found = if self.end.branches.any_due() {
            reached
        } else {
            self.end.branches.near
        };
        response.located = found < switch;
        response.next_event = found.min(switch);
    }

    /// An instant: time stays, inputs jump.
    pub fn answer_at_instant(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        if self.clock.start.is_nan() {
            self.clock.start = time;
        }

        self.now.time = time;
        self.now.side = time;
        if let Some(delays) = &mut self.delays {
            delays.restart();
            delays.enter(MacroStep::instant(time), time, inputs);
            if delays.remembers() {
                self.dynamics.undelayed.clear();
            }
        }
        let delays = self.delays.take();
        self.center_layers(time, inputs, delays.as_deref());
        *self.delays = delays;
        if self.watch.is_some() {
            let inputs = self
                .delays
                .as_ref()
                .map_or(inputs, |delays| delays.signals());
            self.drive.set(inputs, 0.0, 1);
            self.cross(EventSide::Now, time, response.averages)?;
        }
        self.answer(false, time, 0.0, inputs, response);
        response.reached = time;
        response.next_event = self.next_known(self.now, time);
        Ok(())
    }

    /// The step to `end` is taken, under these inputs.
    pub fn arrive(&mut self, step: MacroStep, inputs: &[Signal]) {
        std::mem::swap(self.now, self.end);
        if let Some(delays) = self.delays {
            delays.remember(step, inputs);
            self.dynamics.undelayed.clear();
        }

        for (size, state) in self.sizes.iter_mut().zip(&self.now.values) {
            *size = size.max(state.abs());
        }
    }
}

/// The largest input at either end of a step.
fn largest_input(inputs: &[Signal], size: f64) -> f64 {
    let mut largest: f64 = 0.0;
    for input in inputs {
        largest = largest.max(input.value(0.0).abs());
        largest = largest.max(input.value(size).abs());
    }
    largest
}
