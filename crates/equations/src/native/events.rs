//! Events inside a system: found, located, crossed.
//!
//! A system holds its branches over a step. Where a switching function leaves its side, a trial
//! stops; a step that is taken goes on, on the other side. At an instant all branches are taken
//! anew where they are clearly wrong, and those whose function is at zero by where it goes.

use dovetail_core::{Error, EventGradient, MacroStep, Signal};
use dovetail_numerics::Hint;

use super::branch_update::{BranchUpdate, EndlessUpdates, Unending};
use super::branches::{Branches, Margin};
use super::drive::{Drive, Driven, Segment};
use super::dynamics::Dynamics;
use super::state::NativeState;
use super::stepper::Stepper;
use super::watch::{Crossing, Watch, WatchPoint};
use crate::held::SwitchKind;

/// An event within this part of a step of its end is an event at its end.
const NEAR_THE_END: f64 = 1e-9;
/// One within this part beyond its end is announced.
const ANNOUNCED: f64 = 0.01;
/// And so is one within so many spacings of the clock.
const CLOCK_SPACINGS: f64 = 16.0;
/// Rounds of Newton's method to an event.
const MOST_ROUNDS: usize = 8;
/// Systems that are stepped exactly are looked at after each such part of their fastest time
/// constant, and this often at most.
const PIECE_OF_TIME_CONSTANT: f64 = 2.0;
const MOST_PIECES: f64 = 32.0;
/// Systems without states are looked at so often.
const PIECES_WITHOUT_STATES: f64 = 4.0;

/// So many events at one time are followed; then the system keeps its branches for this part of the
/// step.
const MOST_AT_ONCE: usize = 4;
const DWELL: f64 = 1e-3;

/// Where a stretch of a step has come to.
pub(super) struct Arrival {
    pub elapsed: f64,
    pub event: bool,
}

/// Events that come too close upon one another to be followed: the system keeps its branches for
/// a while after each, so that time goes on.
#[derive(Default)]
pub(super) struct Crowd {
    events: usize,
    last: f64,
    pending: bool,
}

impl Crowd {
    pub fn note(&mut self, arrival: &Arrival) {
        self.pending = arrival.event;
        if arrival.event {
            let apart = arrival.elapsed > self.last;
            self.events = if apart { 0 } else { self.events + 1 };
            self.last = arrival.elapsed;
        }
    }

    /// What is stepped over without looking, if anything.
    pub fn dwell(&self, segment: &Segment) -> Option<Segment> {
        let crowded = self.pending && self.events >= MOST_AT_ONCE;
        let end = segment.start + DWELL * segment.step.size();
        crowded.then(|| segment.part(segment.start, end.min(segment.end)))
    }
}

impl Stepper<'_> {
    /// What is near enough to the end of a step to count as its end.
    pub(super) fn near_end(step: MacroStep) -> f64 {
        NEAR_THE_END * step.size() + CLOCK_SPACINGS * f64::EPSILON * step.end.abs()
    }

    /// Over the segment, whatever happens in it.
    pub(super) fn step_blindly(
        &mut self,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<Arrival, Error> {
        self.step_segment(segment, inputs)?;
        Ok(Arrival {
            elapsed: segment.end,
            event: false,
        })
    }

    /// Over the segment, or to the first event in it.
    pub(super) fn step_watched(
        &mut self,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<Arrival, Error> {
        let watch = self.watch.take_if(|watch| !watch.kinds.is_empty());
        let Some(mut watch) = watch else {
            return self.step_blindly(segment, inputs);
        };
        let arrival = self.watch_segment(&mut watch, segment, inputs);
        *self.watch = Some(watch);
        arrival
    }

    fn watch_segment(
        &mut self,
        watch: &mut Watch,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<Arrival, Error> {
        self.measure(&mut watch.before, segment, segment.start, inputs);
        let crossing = match self.pieces(segment, inputs) {
            Some(pieces) => self.step_pieces(watch, segment, pieces, inputs)?,
            None => self.run_integrator(segment, inputs, Some(watch))?,
        };

        match crossing {
            Some(crossing) => self.go_to(watch, crossing, segment, inputs),
            None => {
                self.note_near_events(watch, segment);
                Ok(Arrival {
                    elapsed: segment.end,
                    event: false,
                })
            }
        }
    }

    fn measure(
        &mut self,
        point: &mut WatchPoint,
        segment: &Segment,
        elapsed: f64,
        inputs: &[Signal],
    ) {
        let mut driven = Driven {
            dynamics: self.dynamics,
            drive: self.drive,
            inputs,
            segment,
            trail: None,
        };
        point.measure(&mut driven, elapsed, &self.end.values);
    }

    /// In how many pieces the segment is stepped, where that takes no integrator.
    fn pieces(&mut self, segment: &Segment, inputs: &[Signal]) -> Option<usize> {
        if self.end.values.is_empty() {
            return Some(PIECES_WITHOUT_STATES as usize);
        }

        if self.dynamics.slides() {
            return None;
        }

        let size = segment.end - segment.start;
        let dynamics = &mut *self.dynamics;
        let engine = self.exact.as_deref_mut()?;
        if !engine.admits(dynamics, size, inputs.len(), self.tolerance) {
            return None;
        }
        let pieces = (size * engine.rate() / PIECE_OF_TIME_CONSTANT).ceil();
        Some(pieces.clamp(1.0, MOST_PIECES) as usize)
    }

    fn step_pieces(
        &mut self,
        watch: &mut Watch,
        segment: &Segment,
        pieces: usize,
        inputs: &[Signal],
    ) -> Result<Option<Crossing>, Error> {
        for piece in 1..=pieces {
            let target = if piece == pieces {
                segment.end
            } else {
                let size = segment.end - segment.start;
                segment.start + size * piece as f64 / pieces as f64
            };
            self.step_segment(&segment.part(watch.before.elapsed, target), inputs)?;
            self.measure(&mut watch.after, segment, target, inputs);
            let mut driven = Driven {
                dynamics: self.dynamics,
                drive: self.drive,
                inputs,
                segment,
                trail: None,
            };
            let crossing = watch.find(&mut driven, &self.end.branches);
            if crossing.is_some() {
                return Ok(crossing);
            }
            watch.go_on();
        }
        Ok(None)
    }

    /// To the event itself, or to the end where the event is that near.
    fn go_to(
        &mut self,
        watch: &mut Watch,
        crossing: Crossing,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<Arrival, Error> {
        let elapsed = if crossing.at_once {
            self.end.values.copy_from_slice(&watch.before.states);
            crossing.elapsed
        } else {
            self.locate(watch, crossing, segment, inputs)?
        };
        let at_end = segment.step.size() - elapsed <= Self::near_end(segment.step);
        let elapsed = if at_end && segment.end == segment.step.size() {
            self.step_from(watch, segment.end, segment, inputs)?;
            segment.end
        } else {
            elapsed
        };

        self.end.branches.due[crossing.function] = true;
        self.end.hint = Hint::default();
        Ok(Arrival {
            elapsed,
            event: true,
        })
    }

    /// Newton's method: integrates to where the event should be, and looks how far it is.
    fn locate(
        &mut self,
        watch: &mut Watch,
        crossing: Crossing,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<f64, Error> {
        let function = crossing.function;
        let earliest = watch.before.elapsed;
        let latest = watch.after.elapsed;
        let mut elapsed = crossing.elapsed;
        let mut last = f64::INFINITY;

        for _ in 0..MOST_ROUNDS {
            self.step_from(watch, elapsed, segment, inputs)?;
            self.measure(&mut watch.after, segment, elapsed, inputs);
            let rate = watch.after.rates[function];
            let margin = self.margin(watch.kinds[function], function, &watch.after);
            let correction = -margin.distance / (margin.sign * rate);
            let spacing = f64::EPSILON * segment.time(elapsed).abs().max(latest);
            let better = correction.abs() < 0.5 * last && elapsed + correction > earliest;
            if !better || correction.abs() <= spacing {
                break;
            }
            last = correction.abs();
            elapsed = (elapsed + correction).min(latest);
        }

        self.step_from(watch, elapsed, segment, inputs)?;
        Ok(elapsed)
    }

    /// From the point before the event to `elapsed`.
    fn step_from(
        &mut self,
        watch: &Watch,
        elapsed: f64,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<(), Error> {
        let from = watch.before.elapsed;
        self.end.values.copy_from_slice(&watch.before.states);
        if elapsed <= from {
            return Ok(());
        }
        self.end.hint.step = elapsed - from;
        self.step_segment(&segment.part(from, elapsed), inputs)
    }

    /// How far a function with this value, which is due, is beyond where it switches.
    pub(super) fn past_switching(&self, function: usize, value: f64) -> f64 {
        let kinds = self.watch.as_ref().map(|watch| watch.kinds.as_slice());
        let kind = kinds.and_then(|kinds| kinds.get(function));
        let branches = &self.now.branches;
        kind.map_or(value, |&kind| {
            let margin = branches.margin(kind, function, value);
            margin.sign * margin.distance
        })
    }

    fn margin(&self, kind: SwitchKind, function: usize, point: &WatchPoint) -> Margin {
        let value = point.values[function];
        self.end.branches.margin(kind, function, value)
    }

    /// Events just beyond the end of the step: at its end, or announced.
    fn note_near_events(&mut self, watch: &Watch, segment: &Segment) {
        if segment.end != segment.step.size() {
            return;
        }

        let step = segment.step;
        let near = Self::near_end(step);
        let last = &watch.before; // the look has gone on
        let branches = &mut self.end.branches;

        for (function, &kind) in watch.kinds.iter().enumerate() {
            let margin = branches.margin(kind, function, last.values[function]);
            let rate = margin.sign * last.rates[function];
            if margin.distance < 0.0 || rate >= 0.0 {
                continue;
            }
            let distance = -margin.distance / rate;
            branches.due[function] = distance <= near;
            if distance > near && distance <= ANNOUNCED * step.size() {
                branches.near = branches.near.min(step.end + distance);
            }
        }
    }

    /// The states have come to `time`, and inputs are as the drive says: crosses what is due, takes
    /// the branches that agree with the functions, and runs clauses.
    pub(super) fn cross(&mut self, at: EventSide, time: f64, averages: bool) -> Result<(), Error> {
        let Some(mut watch) = self.watch.take() else {
            return Ok(());
        };
        let state = match at {
            EventSide::Now => &mut *self.now,
            EventSide::End => &mut *self.end,
        };
        let ticks = self.begun && self.clock.is_due(&state.branches, time);
        if !self.begun {
            state.branches.truths.fill(f64::NAN);
        }
        let updated = update(
            self.dynamics,
            self.drive,
            &mut watch,
            state,
            time,
            (ticks, averages),
            None,
        );
        state.branches.ticks += u64::from(ticks);
        *self.watch = Some(watch);
        updated.map_err(|endless| self.endless(time, &endless))
    }

    /// What the event at which the system stands, if it does, makes of small changes.
    pub(super) fn preview_event(&mut self, into: &mut EventGradient) {
        let Some(mut watch) = self.watch.take() else {
            return;
        };
        let time = self.now.time;
        let ticks = self.clock.is_due(&self.now.branches, time);
        let switches = self.dynamics.next_switch(self.now.side) <= time;
        let resets = !watch.clauses.is_empty();
        let any = ticks || switches || self.now.branches.any_due();
        into.make_reset(resets && any);

        if into.resets() {
            self.drive.hold(&self.now.inputs, &self.now.slopes);
            let mut ahead = self.now.clone();
            ahead.side = time;
            let dynamics = &mut *self.dynamics;
            // One that has no end is reported when it is crossed.
            let _ = update(
                dynamics,
                self.drive,
                &mut watch,
                &mut ahead,
                time,
                (ticks, false),
                Some(into),
            );
        }
        *self.watch = Some(watch);
    }

    fn endless(&self, time: f64, endless: &EndlessUpdates) -> Error {
        let conditions = quoted(&endless.conditions);
        let reason = match endless.kind {
            Unending::Circle => Endless::Circle { conditions },
            Unending::PileUp => Endless::PileUp { conditions },
        };
        Error::system(&self.interface.name, time, reason)
    }
}

/// Takes the branches of a state, and runs clauses.
fn update(
    dynamics: &mut Dynamics,
    drive: &Drive,
    watch: &mut Watch,
    state: &mut NativeState,
    time: f64,
    (ticks, may_average): (bool, bool),
    reset: Option<&mut EventGradient>,
) -> Result<(), EndlessUpdates> {
    let mut crossing = BranchUpdate {
        dynamics,
        drive,
        kinds: &watch.kinds,
        acting: &watch.acting,
        clauses: &mut watch.clauses,
        point: &mut watch.after,
        before: &mut watch.before.values,
        before_rates: &mut watch.before.rates,
        spans: &mut watch.spans,
        states: &mut state.values,
        ticks,
        may_average,
        reset,
        side: state.side,
        time,
    };
    crossing.cross(&mut state.branches)
}

/// Why the clauses of a system have no end.
#[derive(Debug, thiserror::Error)]
enum Endless {
    #[error(
        "its `when` clauses run one another without end: {conditions}; let each set something that \
         makes its own condition false"
    )]
    Circle { conditions: String },
    #[error(
        "its `when` clause {conditions} runs ever more often, and without end about here (Zeno), \
         like a ball that bounces to rest; give `at-rest`, what states are from there on, or let a \
         condition end it, such as a speed below which it stays"
    )]
    PileUp { conditions: String },
}

fn quoted(conditions: &[String]) -> String {
    let quoted: Vec<String> = conditions.iter().map(|text| format!("`{text}`")).collect();
    quoted.join(", ")
}

/// The clock of a system that samples.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// Infinite where there is none.
    pub period: f64,
    /// The start of the run; NaN before anybody has asked.
    pub start: f64,
}

impl Clock {
    pub fn new(period: Option<f64>) -> Self {
        Self {
            period: period.unwrap_or(f64::INFINITY),
            start: f64::NAN,
        }
    }

    /// When it ticks next.
    pub fn next(&self, branches: &Branches) -> f64 {
        match branches.ticks {
            _ if self.period.is_infinite() => f64::INFINITY,
            0 => self.start,
            ticks => self.start + ticks as f64 * self.period,
        }
    }

    fn is_due(&self, branches: &Branches, time: f64) -> bool {
        self.next(branches) <= time
    }
}

/// Which state of a system is at an event.
#[derive(Clone, Copy)]
pub(super) enum EventSide {
    Now,
    End,
}
