//! What the method remembers of one system: its estimates, the course of its outputs, the step it
//! wishes for.

use dovetail_core::{Interface, Past, Signal, Task};
use serde::{Deserialize, Serialize};

use super::calibration::Points;
use super::jump::RecentErrors;
use super::order::Order;
use super::stepper::{OutputRange, dilatation, next_size};
use super::{F3ornitsOptions, StepControl};

/// What is smaller than this part of the largest output of its system may be rounding.
const ROUNDING: f64 = 1e-14;
/// A step is rough when an error is so many times the tolerance.
const ROUGH: f64 = 10.0;
/// But not among the first of a stretch: there values are held, and ranges small.
const UNSETTLED: u64 = 8;

/// A step was cut short by something else if it is shorter than this part of what its errors allow.
const CUT: f64 = 0.5;
/// Such a step does not show that steps so many times longer are possible.
const FORESIGHT: f64 = 2.0;
/// The time of a jump over the whole range should be known to this part of the time between two of
/// them.
const TIMING: f64 = 0.01;
/// But steps are not made shorter for it than this part of the run.
const SHORTEST_CAP: f64 = 1e-4;
/// Jumps smaller than this part of the range count as if they were as large.
const LEAST_JUMP: f64 = 0.01;
/// So many jumps are many; the first step after one of many is this part of the longest.
const MANY: u64 = 5;
const RESTART: f64 = 0.25;

/// Estimates of all outputs of a system, made when it communicated.
#[derive(Serialize, Deserialize)]
pub(crate) struct Estimate {
    /// When; the signals count time from there.
    pub made: f64,
    /// How many events the system had behind it.
    pub epoch: u64,
    pub signals: Vec<Signal>,
}

/// What an output is to those that it feeds.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// It feeds nobody and has no part in the coupling.
    Idle,
    /// They hold its newest value. It has no error.
    Held,
    /// They follow its estimates.
    Followed,
}

/// One output.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Channel {
    order: Order,
    range: OutputRange,
    /// The error before the newest.
    before: f64,
    recent: RecentErrors,
    pub role: Role,
    /// Whether the newest error was beyond all bounds.
    pub jumped: bool,
}

impl Channel {
    fn is_followed(&self) -> bool {
        self.role == Role::Followed
    }
}

/// One system.
#[derive(Serialize, Deserialize)]
pub(crate) struct SystemState {
    pub channels: Vec<Channel>,
    /// Newest first; one before it, for those who are behind.
    pub estimates: [Estimate; 2],
    /// What its last step went through, its end included, as long as nothing has happened there;
    /// never made where systems do not go in turn.
    pub passed: Estimate,
    /// How many times shorter its steps are than its estimates allow.
    pub shortening: f64,
    /// The size of the next step as its errors allow it, and that of the last one.
    pub pace: f64,
    pub last_pace: f64,
    /// The longest step that what has jumped in it allows, and how often and how far (relative to
    /// its range) something has.
    cap: f64,
    pub jumps: u64,
    farthest: f64,
    /// The size of the next step, if it could choose alone.
    pub proposal: f64,
    /// The last event it has left behind.
    pub last_event: f64,
    pub epoch: u64,
    /// It has communicated since its newest estimate.
    pub moved: bool,
    /// Steps, and those of them that were as short as is allowed and not short enough.
    pub steps: u64,
    pub starved: u64,
    /// Steps whose errors were far beyond the tolerance, and the largest error, in units of the
    /// tolerance.
    pub rough: u64,
    pub worst: f64,
    /// Steps since it began, or began afresh.
    settled: u64,
}

impl SystemState {
    /// A system that has not begun, with the roles of its outputs.
    pub fn new(roles: impl Iterator<Item = Role>, first_step: f64, shortening: f64) -> Self {
        let channel = |role: Role| Channel {
            order: Order::new(),
            range: OutputRange::at(0.0, 0.0),
            before: 1.0,
            recent: RecentErrors::default(),
            role,
            jumped: false,
        };
        let channels: Vec<Channel> = roles.map(channel).collect();
        let estimate = || Estimate {
            made: f64::NEG_INFINITY,
            epoch: 0,
            signals: vec![Signal::constant(0.0); channels.len()],
        };
        let estimates = [estimate(), estimate()];
        let passed = estimate();

        Self {
            channels,
            estimates,
            passed,
            shortening,
            pace: first_step,
            last_pace: first_step,
            cap: f64::INFINITY,
            jumps: 0,
            farthest: 0.0,
            proposal: first_step,
            last_event: f64::NEG_INFINITY,
            epoch: 0,
            moved: true,
            steps: 0,
            starved: 0,
            rough: 0,
            worst: 0.0,
            settled: 0,
        }
    }

    /// The start of the run: ranges begin at the first values.
    pub fn begin(&mut self, past: &Past, system: usize, interface: &Interface) {
        let (_, outputs) = past.point(system, 0);
        let all = self
            .channels
            .iter_mut()
            .zip(outputs.iter().zip(&interface.outputs));

        for (channel, (knot, output)) in all.filter(|(channel, _)| channel.is_followed()) {
            channel.range = OutputRange::at(knot.value, output.nominal.unwrap_or(0.0));
        }
    }

    /// New estimates from the newest points, (21) to (23).
    pub fn estimate(&mut self, past: &Past, system: usize, options: &F3ornitsOptions) {
        self.estimates.swap(0, 1);
        let newest = &mut self.estimates[0];
        newest.made = past.reached_by(system);
        newest.epoch = self.epoch;
        let (_, outputs) = past.point(system, 0);

        for (position, channel) in self.channels.iter().enumerate() {
            newest.signals[position] = match channel.role {
                Role::Idle => continue,
                Role::Held => Signal::constant(outputs[position].value),
                Role::Followed => Points::of(past, system, position)
                    .estimate(options.calibration, channel.order.degree),
            };
        }
        self.moved = false;
    }

    /// What the step of `task`, just taken, went through.
    pub fn pass(&mut self, past: &Past, task: &Task, options: &F3ornitsOptions) {
        self.passed.made = task.response.reached;
        self.passed.epoch = self.epoch;

        for (position, channel) in self.channels.iter().enumerate() {
            let value = task.response.outputs[position].value;
            self.passed.signals[position] = match channel.role {
                Role::Idle => continue,
                // Nobody knows where within the step it changed.
                Role::Held => self.estimates[0].signals[position],
                Role::Followed => {
                    let points = Points::of(past, task.system, position).then(elapsed(task), value);
                    let error = self.error(position, &channel.range, value, elapsed(task), options);
                    // Where it has jumped, nobody knows when: on the average in the middle.
                    let degree = if error > channel.recent.limit() {
                        1
                    } else {
                        channel.order.degree.max(1)
                    };
                    points.estimate(options.calibration, degree)
                }
            };
        }
    }

    /// The largest degree of the estimates in use.
    pub fn degree(&self) -> usize {
        self.channels
            .iter()
            .filter(|channel| channel.is_followed())
            .map(|channel| channel.order.degree)
            .max()
            .unwrap_or(0)
    }

    /// By how many times the worst error of an answer is beyond what passes for an error of the
    /// estimate.
    pub fn excess(&self, task: &Task, options: &F3ornitsOptions) -> f64 {
        let excess = |position: usize| {
            let channel = &self.channels[position];
            let mut range = channel.range;
            let value = task.response.outputs[position].value;
            range.include(value, elapsed(task), options.damping);
            self.error(position, &range, value, elapsed(task), options) / channel.recent.limit()
        };
        let followed =
            (0..self.channels.len()).filter(|&position| self.channels[position].is_followed());
        followed.map(excess).fold(0.0, f64::max)
    }

    /// The error of the estimate of one output in units of its tolerance, (29).
    fn error(
        &self,
        position: usize,
        range: &OutputRange,
        value: f64,
        elapsed: f64,
        options: &F3ornitsOptions,
    ) -> f64 {
        let miss = (value - self.estimates[0].signals[position].value(elapsed)).abs();
        let scale = range.scale(options.scale, value);
        if options.absolute_tolerance > 0.0 {
            return miss / (options.absolute_tolerance + options.tolerance * scale);
        }

        // Without an absolute tolerance units do not matter; what is zero but for rounding has no
        // scale of its own.
        let scale = scale.max(range.least(value)).max(ROUNDING * self.largest());
        if scale > 0.0 {
            miss / (options.tolerance * scale)
        } else {
            0.0
        }
    }

    /// What the value of an output may be off by.
    pub fn tolerance(&self, position: usize, value: f64, options: &F3ornitsOptions) -> f64 {
        let range = &self.channels[position].range;
        let least = range.least(value).max(ROUNDING * self.largest());
        options.absolute_tolerance
            + options.tolerance * range.scale(options.scale, value).max(least)
    }

    /// The largest value that any output has had.
    fn largest(&self) -> f64 {
        self.channels
            .iter()
            .map(|channel| channel.range.magnitude())
            .fold(0.0, f64::max)
    }

    /// Learns from a step that was taken: orders for the next one, and its size.
    pub fn learn(&mut self, past: &Past, task: &Task, options: &F3ornitsOptions) {
        let size = elapsed(task);
        // Two errors in a row say where they are going only if their steps were as long as they
        // would be.
        let cut = options.steering == StepControl::Averaged && size < CUT * self.pace;
        let steering = if cut {
            StepControl::Plain
        } else {
            options.steering
        };
        let mut least = f64::INFINITY;

        for position in 0..self.channels.len() {
            if self.channels[position].is_followed() {
                let dilatation = self.learn_of(position, past, task, steering, options);
                least = least.min(dilatation);
            }
        }

        self.count_step(least < 1.0 && size <= 1.001 * options.min_step);
        self.last_pace = self.pace;
        let next = next_size(options, least, size, self.pace);
        self.pace = if cut {
            next.min(self.pace.max(FORESIGHT * size))
        } else {
            next
        };
        self.proposal = self.pace.min(self.cap);

        self.moved = true;
    }

    /// The same of one output: by what factor the step may grow.
    fn learn_of(
        &mut self,
        position: usize,
        past: &Past,
        task: &Task,
        steering: StepControl,
        options: &F3ornitsOptions,
    ) -> f64 {
        let size = elapsed(task);
        let mut channel = self.channels[position];
        let value = task.response.outputs[position].value;
        channel.range.include(value, size, options.damping);
        let error = self.error(position, &channel.range, value, size, options);
        let degree = channel.order.degree;
        let longer = |error: f64| error * self.shortening.powi(degree as i32 + 1);
        let dilatation = dilatation(steering, longer(error), longer(channel.before), degree);
        channel.jumped = error > channel.recent.limit();
        channel.before = error;
        channel.recent.record(error);
        let points = Points::of(past, task.system, position);
        channel
            .order
            .choose(options.steering, &points, size, value, options.max_degree);
        self.channels[position] = channel;

        dilatation
    }

    fn count_step(&mut self, starved: bool) {
        self.settled += 1;
        if self.settled > UNSETTLED {
            let worst = self.worst_error();
            self.rough += u64::from(worst > ROUGH);
            self.worst = self.worst.max(worst);
        }

        self.steps += 1;
        self.starved += u64::from(starved);
    }

    /// Something that nobody had announced has jumped, and was noticed at `time`, the end of a
    /// step: from now on steps are so short that the time of such jumps is known to a part of the
    /// time between them. How often it has happened.
    pub fn expect_jumps(
        &mut self,
        time: f64,
        (start, span): (f64, f64),
        options: &F3ornitsOptions,
    ) -> u64 {
        let jumped = self
            .channels
            .iter()
            .filter(|channel| channel.jumped)
            .map(|channel| channel.before);
        let size = (options.tolerance * jumped.fold(0.0, f64::max)).clamp(LEAST_JUMP, 1.0);
        self.jumps += 1;
        self.farthest = self.farthest.max(size);
        let between = (time - start) / self.jumps as f64;
        self.cap = (TIMING / self.farthest * between)
            .max(SHORTEST_CAP * span)
            .max(options.min_step);

        self.jumps
    }

    /// The largest error of the newest step, in units of the tolerance.
    pub fn worst_error(&self) -> f64 {
        self.channels
            .iter()
            .filter(|channel| channel.is_followed())
            .map(|channel| channel.before)
            .fold(0.0, f64::max)
    }

    /// The answers of `task` as they would be without the jumps that it shows.
    pub fn undo_jumps(&self, task: &mut Task, options: &F3ornitsOptions) {
        let elapsed = elapsed(task);
        let jumped =
            |channel: &Channel| channel.jumped && options.tolerance * channel.before > LEAST_JUMP;

        for position in
            (0..self.channels.len()).filter(|&position| jumped(&self.channels[position]))
        {
            let signal = &self.estimates[0].signals[position];
            task.response.outputs[position] = signal.at(elapsed);
        }
    }

    /// Something happened elsewhere: errors may be larger for a while.
    pub fn expect_bend(&mut self) {
        self.channels
            .iter_mut()
            .for_each(|channel| channel.recent = RecentErrors::default());
    }

    /// Begins afresh on the far side of an event at `event`, with these answers there: what came
    /// before says nothing of what comes.
    pub fn restart(&mut self, event: f64, task: &Task, options: &F3ornitsOptions) {
        let channels = self.channels.iter_mut().zip(&task.response.outputs);
        for (channel, knot) in channels.filter(|(channel, _)| channel.is_followed()) {
            channel.range.include(knot.value, 0.0, options.damping);
            channel.order = Order::new();
            channel.recent = RecentErrors::default();
            channel.before = 1.0;
        }

        self.settled = 0;
        self.pace = if self.jumps >= MANY {
            options.first_step.max(RESTART * self.cap)
        } else {
            options.first_step
        };
        self.proposal = self.pace.min(self.cap);
        self.last_event = event;
        self.epoch += 1;

        self.moved = true;
    }
}

/// The length of the step of `task`, or of what was made of it where the system stopped early.
pub(crate) fn elapsed(task: &Task) -> f64 {
    let reached = task.response.reached;
    if reached == task.step.end {
        task.step.size()
    } else {
        reached - task.step.start
    }
}
