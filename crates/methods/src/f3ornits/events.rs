//! Events: those that systems announce, and jumps that only show in their outputs.

use dovetail_core::{Connections, Error, MacroStep, Past, Signal, SignalKind, Workers};

use super::F3ornits;
use super::system_state::Role;
use crate::coupling::CouplingVariable;
use crate::due_tasks::due;

/// An error so many times the tolerance, on the step after an event of a feeder, is the echo of
/// that event.
const ECHO: f64 = 10.0;
/// A step is cut so often at most for events at which trials stop.
const MOST_CUTS: usize = 5;
/// A jump is located to this fraction of the run.
const RESOLUTION: f64 = 1e-10;

impl F3ornits<'_> {
    /// Tries the step that is planned. Where an output jumps on it, the step is cut to end just
    /// after the jump; true if so.
    pub(super) fn locate_jump(
        &mut self,
        past: &Past,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        let mut excess = self.try_until(f64::INFINITY, past, workers)?;
        let mut before = 0.0;
        if self.stops_early(past, workers)? {
            return Ok(true);
        }
        if excess <= 1.0 {
            return Ok(false);
        }

        let due = || self.steps.iter().flatten();
        let mut early = due().map(|step| step.start).fold(f64::INFINITY, f64::min);
        let mut late = due().map(|step| step.end).fold(f64::NEG_INFINITY, f64::max);
        let start = early;
        let resolution = RESOLUTION * self.span + 8.0 * f64::EPSILON * late.abs();

        while late - early > resolution {
            let middle = early + (late - early) / 2.0;
            let found = self.try_until(middle, past, workers)?;
            if found > 1.0 {
                late = middle;
                excess = found;
            } else {
                early = middle;
                before = found;
            }
        }

        // An error that only grew past the limit is about the same on both sides: the step was too
        // long, that is all.
        let jumps = excess > 2.0 * before || early == start;
        // Where estimates jump by themselves, from step to step, there is no end to shorter steps.
        let end = if jumps {
            late.max(start + self.options.min_step.min(self.options.first_step))
        } else {
            early
        };
        self.try_until(end, past, workers)?;
        self.keep_tried();

        Ok(jumps)
    }

    /// Where a system has stopped its trial at an event of its own, all steps are cut to end there;
    /// true if so. The inputs stay what they are, but for those that are smoothed or reduced: then
    /// the event may have moved, and is looked for again.
    fn stops_early(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<bool, Error> {
        let mut any = false;
        let span = self.span;
        let shortest = self.options.min_step.min(self.options.first_step);
        let least = shortest.max(self.chatter.dwell(span));
        for _ in 0..MOST_CUTS {
            let due = || due(&self.tasks);
            let early = due().filter(|task| task.response.reached < task.step.end);
            let event = early
                .map(|task| task.response.reached)
                .fold(f64::INFINITY, f64::min);
            let start = due()
                .map(|task| task.step.start)
                .fold(f64::INFINITY, f64::min);
            let end = due()
                .map(|task| task.step.end)
                .fold(f64::NEG_INFINITY, f64::max);
            let cut = event.max(start + least);
            // An event too near to the start is crossed within the step.
            if cut >= end {
                break;
            }
            self.try_until(cut, past, workers)?;
            any = true;
        }

        if any {
            self.keep_tried();
        }
        let sizes = due(&self.tasks).map(|task| task.step.size());
        let size = sizes.fold(f64::INFINITY, f64::min);
        self.chatter.note(size, any, span);
        Ok(any)
    }

    /// The steps that were tried are those that are planned.
    fn keep_tried(&mut self) {
        for (step, task) in self.steps.iter_mut().zip(&self.tasks) {
            *step = step.map(|_| task.step);
        }
    }

    /// Tries the steps that are planned, but none beyond `end`; by how many times the worst error
    /// is too large for an error.
    fn try_until(
        &mut self,
        end: f64,
        past: &Past,
        workers: &mut dyn Workers,
    ) -> Result<f64, Error> {
        for (task, step) in self.tasks.iter_mut().zip(&self.steps) {
            if let Some(step) = step {
                task.step = if end < step.end {
                    MacroStep::new(step.start, end)
                } else {
                    *step
                };
            }
        }

        self.begin_attempt();
        for turn in self.turns.all() {
            if self.call(turn) {
                self.place();
                workers.trial(&mut self.tasks)?;
                self.pass(past);
            }
        }

        self.tasks
            .iter_mut()
            .zip(&self.steps)
            .for_each(|(task, step)| task.due = step.is_some());
        let due = due(&self.tasks);
        Ok(due
            .map(|task| self.states[task.system].excess(task, &self.options))
            .fold(0.0, f64::max))
    }

    /// Systems that have come to an event, or have jumped, begin afresh on its far side; so do
    /// those whose outputs jump with them, because they depend on them at once.
    pub(super) fn cross_events(
        &mut self,
        past: &Past,
        located: bool,
        workers: &mut dyn Workers,
    ) -> Result<(), Error> {
        self.find_events(past, located);
        if self.events.iter().all(Option::is_none) {
            return Ok(());
        }

        self.keep_near_side(past);
        self.ask_beyond_events(workers)?;

        for (k, event) in self.events.iter().enumerate() {
            self.tasks[k].due = self.steps[k].is_some();
            match event {
                Some(event) => self.states[k].restart(*event, &self.tasks[k], &self.options),
                // A jump at one system is a bend at those it feeds: not another jump.
                None => self.states[k].expect_bend(),
            }
        }
        Ok(())
    }

    /// What was answered just before the events.
    fn keep_near_side(&mut self, past: &Past) {
        self.near_side.keep(&self.tasks);
        let kept = self.near_side.tasks_mut().iter_mut();

        for task in kept.filter(|task| task.due) {
            self.states[task.system].undo_jumps(task, &self.options);
        }
        for task in due(&self.tasks) {
            let (_, before) = past.point(task.system, 0);
            let answers = before.iter().zip(&task.response.outputs);
            for (output, (before, now)) in self.connections.outputs_of(task.system).zip(answers) {
                // What is held is still what it was at the start of the step.
                self.before_event[output] = if jumps(self.connections, output) {
                    before.value
                } else {
                    now.value
                };
            }
        }
    }

    /// Systems at events are asked once more, and those whose outputs jump with them.
    fn ask_beyond_events(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        for (task, event) in self.tasks.iter_mut().zip(&self.events) {
            task.due = event.is_some();
            if task.due {
                task.step = MacroStep::instant(task.response.reached);
                self.inputs.place_present(task);
            }
        }

        workers.advance(&mut self.tasks)?;
        // A chain of such outputs is as long as there are systems at most.
        for _ in 0..self.tasks.len() {
            if !self.hand_on_jumps() {
                break;
            }
            workers.advance(&mut self.tasks)?;
        }
        Ok(())
    }

    /// Notes for each system that has moved the event it has come to or stepped over, or the jump
    /// that it shows.
    fn find_events(&mut self, past: &Past, located: bool) {
        self.events.fill(None);
        for task in due(&self.tasks) {
            let k = task.system;
            let reached = task.response.reached;
            let mut unannounced = false;
            let announced = past.next_event_of(k);
            let ahead = task.response.next_event;
            self.events[k] = if announced > task.step.start && announced <= reached {
                Some(announced)
            } else if ahead <= reached || reached < task.step.end || self.switches(past, k) {
                Some(reached)
            } else if self.states[k].worst_error() > ECHO && self.inputs.echoes(k) {
                // What it depends on at once has jumped where it could not follow, between its own
                // times: it does now.
                Some(reached)
            } else {
                let jumped = self.states[k]
                    .channels
                    .iter()
                    .position(|channel| channel.jumped);
                jumped.map(|position| {
                    let output = self.connections.outputs_of(k).start + position;
                    self.jumps
                        .record(output, reached, task.step.size(), located);
                    unannounced = !located;
                    reached
                })
            };
            if unannounced
                && self.states[k].expect_jumps(reached, (self.times.0, self.span), &self.options)
                    == 1
                && self.options.in_turn
            {
                self.turns.put_first(k, self.connections);
            }
        }
    }

    /// Whether an output of the system that others hold has another value than before its step.
    fn switches(&self, past: &Past, k: usize) -> bool {
        let (_, before) = past.point(k, 0);
        let values = before.iter().zip(&self.tasks[k].response.outputs);
        let mut outputs = values
            .zip(self.connections.outputs_of(k))
            .zip(&self.states[k].channels);

        outputs.any(|(((before, now), output), channel)| {
            channel.role == Role::Held
                && jumps(self.connections, output)
                && before.value != now.value
        })
    }

    /// Marks the systems with direct feedthrough from an output that has jumped, and gives them
    /// its new value; true if there are any. They are then due, and nobody else.
    fn hand_on_jumps(&mut self) -> bool {
        let mut any = false;
        self.tasks.iter_mut().for_each(|task| task.due = false);

        for k in 0..self.tasks.len() {
            if self.events[k].is_none() && self.steps[k].is_some() {
                any |= self.hand_on_jumps_to(k);
            }
        }

        for (event, task) in self.events.iter_mut().zip(&self.tasks) {
            if task.due {
                *event = Some(task.step.start);
            }
        }
        any
    }

    /// Whether a system reads a value that has jumped; then its task is a question under it.
    fn hand_on_jumps_to(&mut self, k: usize) -> bool {
        let now = self.tasks[k].response.reached;
        for (position, input) in self.connections.inputs_of(k).enumerate() {
            if !self.reads_at_once(k, position) && !self.connections.is_held(input) {
                continue;
            }
            let Some(value) = self.jumped_value(input, now) else {
                continue;
            };
            if !std::mem::replace(&mut self.tasks[k].due, true) {
                self.tasks[k].step = MacroStep::instant(now);
                self.inputs.place_present(&mut self.tasks[k]);
            }
            self.tasks[k].inputs[position] = Signal::constant(value);
        }
        self.tasks[k].due
    }

    /// Whether some output of a system depends on one of its inputs at once.
    fn reads_at_once(&self, k: usize, input: usize) -> bool {
        let mut outputs = self.connections.interfaces()[k].outputs.iter();
        outputs.any(|output| output.depends_on.contains(&input))
    }

    /// The new value of what feeds `input`, if that has just jumped at `time`.
    fn jumped_value(&self, input: usize, time: f64) -> Option<f64> {
        let output = self.connections.sources()[input].output()?;
        let feeder = CouplingVariable::of(self.connections, output);
        let reached = self.tasks[feeder.system].response.reached;
        self.events[feeder.system].filter(|_| reached == time)?;
        let value = feeder.answer(&self.tasks).value;
        let before = self.before_event[output];
        let jumped = if jumps(self.connections, output) {
            value != before
        } else {
            let options = &self.options;
            let tolerance = options.absolute_tolerance + options.tolerance * before.abs();
            (value - before).abs() > tolerance
        };

        jumped.then_some(value)
    }
}

/// Whether an output (stacked) jumps from value to value by its nature.
fn jumps(connections: &Connections, output: usize) -> bool {
    connections.output(output).kind != SignalKind::Continuous
}
