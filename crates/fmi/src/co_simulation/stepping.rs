//! Communication steps: as one, or in the parts that an FMU insists on.

use dovetail_core::{MacroStep, Signal, StepRule};

use super::CoSimulation;
use crate::abilities::InputMode;
use crate::call_error::CallError;
use crate::description::Version;
use crate::instance::{Instance, StepEnd, StepRequest};

/// A step that is discarded is divided into so many parts at most.
const MOST_PARTS: u64 = 1 << 16;

/// An event within this part of a step of its end, or within so many spacings of the clock, is an
/// event at its end.
const NEAR_THE_END: f64 = 1e-9;
const CLOCK_SPACINGS: f64 = 16.0;

/// Early returns in a row at the same time.
const MOST_HALTS: usize = 100;

/// Where a step has led.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub reached: f64,
    /// The FMU asks for the end of the run there.
    pub ends: bool,
}

/// What came of a part of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Covered {
    Whole,
    /// The FMU has discarded it (2.0), and reports that it was done up to this time.
    Discarded(f64),
    /// The FMU asks for the end of the run, at this time.
    Ended(f64),
    /// The FMU waits for an event at this time, which is left to whoever asks next.
    Stopped(f64),
}

/// How far a communication step has come that an FMU makes in parts.
struct StepProgress {
    step: MacroStep,
    /// The part that is due.
    start: f64,
    end: f64,
    /// How far the FMU goes in one part, once it has discarded a longer one (3.0).
    stride: f64,
    /// How often in a row it has stopped where it was.
    halts: usize,
}

impl StepProgress {
    fn new(step: MacroStep) -> Self {
        Self {
            step,
            start: step.start,
            end: step.end,
            stride: f64::INFINITY,
            halts: 0,
        }
    }

    /// The part that is due. The whole step is as it was given: its size is not always the
    /// difference of its ends, to the last bit.
    fn part(&self) -> MacroStep {
        if self.start == self.step.start && self.end == self.step.end {
            self.step
        } else {
            MacroStep::new(self.start, self.end)
        }
    }

    /// The time since the step began.
    fn elapsed(&self) -> f64 {
        self.start - self.step.start
    }

    /// Parts end here from now on.
    fn shorten(&mut self, end: f64) {
        self.end = end;
        self.stride = end - self.start;
    }

    /// Whether the end of the step is reached; a few units in the last place short of it is the
    /// end.
    fn is_whole(&self, reached: f64) -> bool {
        reached >= self.step.end - 4.0 * f64::EPSILON * self.step.end.abs()
    }

    /// Goes on from where a part has led.
    fn go_on(&mut self, reached: f64) -> Result<(), CallError> {
        self.halts = if reached > self.start {
            0
        } else {
            self.halts + 1
        };
        if self.halts > MOST_HALTS || !reached.is_finite() || reached < self.start {
            return Err(self.no_progress(reached));
        }

        self.start = reached;
        self.end = if self.step.end - reached > self.stride * (1.0 + 1e-9) {
            reached + self.stride
        } else {
            self.step.end
        };
        Ok(())
    }

    fn no_progress(&self, reached: f64) -> CallError {
        let end = self.end;
        CallError::Refused {
            function: "doStep",
            status: "no progress",
            message: Some(format!(
                "it stopped at {reached} on its way to {end} and goes no further"
            )),
        }
    }
}

impl<I: Instance> CoSimulation<I> {
    /// From `now` over `step`, in as many parts as the FMU insists on.
    pub(super) fn integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
    ) -> Result<Arrival, CallError> {
        self.past.stepped = true;
        self.crossed = false;
        let mut parts = match self.abilities.step {
            StepRule::Imposed(size) => (step.size() / size).round().max(1.0) as u64,
            StepRule::Free => self.abilities.sub_steps,
        };

        if let (Some(last), Version::Two) = (self.fast_path.discarded, self.version) {
            self.fast_path.discarded = None;
            parts = self.divide(step, parts, last)?;
        }
        loop {
            let (reached, ends) = match self.cover(step, inputs, parts)? {
                Covered::Whole => (step.end, false),
                Covered::Ended(reached) => (reached, true),
                Covered::Stopped(reached) => (self.stop(step, reached), false),
                Covered::Discarded(last) => {
                    parts = self.divide(step, parts, last)?;
                    continue;
                }
            };
            return Ok(Arrival { reached, ends });
        }
    }

    /// The FMU has stopped for an event: the time at which the step is said to end.
    fn stop(&mut self, step: MacroStep, reached: f64) -> f64 {
        let near = near_end(step);
        if step.end - reached <= near {
            self.events.stopped = reached;
            return step.end;
        }
        // Just beyond, so that the next step to it does not end just before.
        reached + 0.5 * near
    }

    /// Whether an event is left to whoever asks next: in a trial, and at the end of a step.
    fn leaves_event(&self, step: MacroStep, reached: f64) -> bool {
        self.abilities.event_mode
            && self.events.pending
            && (self.trying || step.end - reached <= near_end(step))
            && !self.belongs_to_last(step, reached)
    }

    /// Whether an event belongs to the one that has just been handled: what was sent over zero may
    /// be sent back at once.
    fn belongs_to_last(&self, step: MacroStep, reached: f64) -> bool {
        self.at_event && reached - step.start <= near_end(step)
    }

    /// The FMU discarded a part of the step (2.0): back to the start, and smaller parts.
    fn divide(&mut self, step: MacroStep, parts: u64, last: f64) -> Result<u64, CallError> {
        let smaller = 2 * parts;
        let done = last - step.start;
        let fitting = if done > 0.0 && done < step.size() {
            (step.size() / done).ceil() as u64
        } else {
            0
        };
        let parts = smaller.max(fitting.min(4 * smaller));
        if !self.is_saved() || parts > MOST_PARTS || self.abilities.step != StepRule::Free {
            return Err(self.discard("fmi2DoStep"));
        }

        self.restore()?;
        self.count_discard();
        Ok(parts)
    }

    fn count_discard(&self) {
        let monitor = &self.instance.journal().monitor;
        monitor.note(|notes| notes.discarded += 1);
    }

    fn count_event(&self) {
        let monitor = &self.instance.journal().monitor;
        monitor.note(|notes| notes.events += 1);
    }

    /// The step in `parts` equal parts, up to the first that is not done as a whole.
    fn cover(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        parts: u64,
    ) -> Result<Covered, CallError> {
        if parts == 1 {
            return self.communicate_in_parts(step, 0.0, inputs);
        }

        let size = step.size() / parts as f64;
        // The ends of the step are copied, not computed.
        let edge = |number: u64| match number {
            0 => step.start,
            number if number == parts => step.end,
            number => step.start + number as f64 * size,
        };

        for part in 0..parts {
            let offset = part as f64 * size;
            let part = MacroStep::new(edge(part), edge(part + 1));
            let covered = self.communicate_in_parts(part, offset, inputs)?;
            if covered != Covered::Whole {
                return Ok(covered);
            }
        }
        Ok(Covered::Whole)
    }

    /// One communication step, `offset` after the beginning of the inputs: with the stops that the
    /// FMU makes on the way.
    fn communicate_in_parts(
        &mut self,
        step: MacroStep,
        offset: f64,
        inputs: &[Signal],
    ) -> Result<Covered, CallError> {
        let mut progress = StepProgress::new(step);
        if self.events.stopped.is_finite() {
            progress.start = std::mem::replace(&mut self.events.stopped, f64::NAN);
        }
        if self.fast_path.discarded.take().is_some() {
            progress.shorten(self.half_way(&progress)?);
        }
        loop {
            let elapsed = offset + progress.elapsed();
            let ended = self.communicate(progress.part(), elapsed, inputs)?;
            if ended.terminate {
                let last = ended.last.clamp(progress.start, progress.end);
                return Ok(Covered::Ended(last));
            }
            if ended.discarded {
                if self.version == Version::Two {
                    return Ok(Covered::Discarded(ended.last));
                }
                // 3.0 leaves the state as it was: half the way may be possible.
                progress.shorten(self.half_way(&progress)?);
                continue;
            }
            self.events.pending |= ended.event;
            let reached = if ended.last < progress.end {
                ended.last
            } else {
                progress.end
            };
            if progress.is_whole(reached) {
                return Ok(Covered::Whole);
            }
            if self.leaves_event(step, reached) {
                return Ok(Covered::Stopped(reached));
            }
            progress.go_on(reached)?;
            self.crossed |= self.events.pending && !self.belongs_to_last(step, reached);
            if self.events.pending && self.ends_at_event(inputs, offset + progress.elapsed())? {
                return Ok(Covered::Ended(progress.start));
            }
        }
    }

    /// Handles an event on the way; whether the FMU asks for the end of the run there, where it is
    /// then read.
    fn ends_at_event(&mut self, inputs: &[Signal], elapsed: f64) -> Result<bool, CallError> {
        self.count_event();
        let ends = self.handle_event(inputs, elapsed)?;

        if ends {
            self.read()?;
        }
        Ok(ends)
    }

    /// The end of half the part that was discarded (3.0).
    fn half_way(&mut self, progress: &StepProgress) -> Result<f64, CallError> {
        let size = progress.end - progress.start;
        let half = progress.start + 0.5 * size;
        self.count_discard();
        let is_long = size > progress.step.size() / MOST_PARTS as f64;
        if half > progress.start && is_long && self.abilities.step == StepRule::Free {
            return Ok(half);
        }

        Err(self.discard("fmi3DoStep"))
    }

    pub(super) fn discard(&self, function: &'static str) -> CallError {
        CallError::Refused {
            function,
            status: "discard",
            message: self.instance.journal().explanation(),
        }
    }
}

/// What is near enough to the end of a step to be there.
fn near_end(step: MacroStep) -> f64 {
    NEAR_THE_END * step.size() + CLOCK_SPACINGS * f64::EPSILON * step.end.abs()
}

/// One call of the FMU's step, with its inputs.
impl<I: Instance> CoSimulation<I> {
    /// Sets inputs, steps, reads outputs and states.
    fn communicate(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        inputs: &[Signal],
    ) -> Result<StepEnd, CallError> {
        if self.needs_event(inputs, elapsed) && self.handle_event(inputs, elapsed)? {
            self.read()?;
            return Ok(StepEnd {
                discarded: false,
                last: step.start,
                event: false,
                terminate: true,
            });
        }

        self.take_inputs(inputs, elapsed);
        if self.abilities.sub_steps > 1 {
            self.take_means(inputs, elapsed, step.size());
        }

        if !self.abilities.event_mode {
            self.apply_others()?; // with event mode they are set in events only
        }

        let already_set = self.set_moving_inputs(step, elapsed, inputs)?;
        let ended = self.step(step, already_set)?;
        if self.abilities.inputs == InputMode::Intermediate && !ended.discarded {
            self.settle_the_unfollowed(inputs, elapsed + (ended.last - step.start))?;
        }
        Ok(ended)
    }

    /// Whether an event is to be handled before a step.
    fn needs_event(&self, inputs: &[Signal], elapsed: f64) -> bool {
        self.abilities.event_mode
            && (self.events.pending || self.discrete_input_changes(inputs, elapsed))
    }

    /// Inputs that move during the step. Whether their values are set already: values first, then
    /// their derivatives, since an FMU may take a new value for a new constant.
    fn set_moving_inputs(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        inputs: &[Signal],
    ) -> Result<bool, CallError> {
        match self.abilities.inputs {
            InputMode::Held => {}
            InputMode::Derivatives(degree) => {
                if self.polynomial || inputs.iter().any(|signal| signal.degree() > 0) {
                    self.set_smooth_inputs()?;
                    self.set_derivatives(inputs, elapsed, degree)?;
                    return Ok(true);
                }
            }
            InputMode::Intermediate => {
                self.hold_the_unfollowed(inputs, elapsed, step.size());
                self.follow(inputs, elapsed, step.start);
            }
        }
        Ok(false)
    }

    fn step(&mut self, step: MacroStep, already_set: bool) -> Result<StepEnd, CallError> {
        let mut request = StepRequest {
            step,
            // Whoever tries a step goes back to where it began, but never further unless that was
            // announced: that is the flag of the standard.
            final_step: (!self.span.goes_back || self.span.course.stays())
                && (!self.is_saved() || step.start <= self.now),
            input_references: &self.layout.smooth_inputs,
            input_values: &self.buffers.inputs,
            output_references: &self.layout.read,
        };
        if already_set {
            request.input_references = &[];
            request.input_values = &[];
        }
        self.instance.step(&request, &mut self.buffers.read)
    }

    /// Sub-steps take the mean of each input over their part.
    fn take_means(&mut self, inputs: &[Signal], elapsed: f64, size: f64) {
        let mean = |position: usize| inputs[position].shifted(elapsed).mean(size);
        self.layout
            .fill_smooth_inputs(&mut self.buffers.inputs, mean);
    }

    /// Input derivatives of all orders that the FMU takes (2.0).
    fn set_derivatives(
        &mut self,
        inputs: &[Signal],
        elapsed: f64,
        degree: usize,
    ) -> Result<(), CallError> {
        let layout = &self.layout;
        let count = layout.smooth_inputs.len();
        let orders = &mut self.buffers.orders[..count];
        self.polynomial = false;

        for order in 1..=degree {
            orders.fill(order as i32);
            let slopes = &mut self.buffers.slopes;
            layout.fill_smooth_inputs(slopes, |position| {
                inputs[position].derivative(order, elapsed)
            });
            let slopes = &slopes[..count];
            self.polynomial |= slopes.iter().any(|&slope| slope != 0.0);
            if let Some(instance) = self.instance.input_derivatives() {
                instance.set_input_derivatives(&layout.smooth_inputs, orders, slopes)?;
            }
        }
        Ok(())
    }

    /// The inputs are there whenever the FMU asks for them (3.0).
    fn follow(&mut self, inputs: &[Signal], elapsed: f64, start: f64) {
        let positions = self.layout.followed_input_positions.iter();
        let followed = &mut self.buffers.followed;
        followed.clear();
        followed.extend(positions.map(|&position| inputs[position]));

        if let Some(instance) = self.instance.intermediate_inputs() {
            instance.follow(&self.layout.followed_inputs, followed, start - elapsed);
        }
    }

    /// Continuous inputs that may not be set on the way: each is held at its mean over the step, so that its integral is right.
    fn hold_the_unfollowed(&mut self, inputs: &[Signal], elapsed: f64, size: f64) {
        for &(place, position) in &self.layout.unfollowed_inputs {
            self.buffers.inputs[place] = inputs[position].shifted(elapsed).mean(size);
        }
    }

    /// At the end of a step they have the values of there, and so have the outputs that depend on them at once.
    fn settle_the_unfollowed(&mut self, inputs: &[Signal], elapsed: f64) -> Result<(), CallError> {
        let moves = |&(_, position): &(usize, usize)| inputs[position].degree() > 0;
        if !self.layout.unfollowed_inputs.iter().any(moves) {
            return Ok(());
        }
        self.take_inputs(inputs, elapsed);
        self.set_smooth_inputs()?;
        self.read()
    }

    /// The inputs are constants that were set.
    pub(super) fn follow_nothing(&mut self) {
        if let Some(instance) = self.instance.intermediate_inputs() {
            instance.follow(&[], &[], 0.0);
        }
    }
}
