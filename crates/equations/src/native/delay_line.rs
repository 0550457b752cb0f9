//! Inputs as they were before: `delay(u, T)`.
//!
//! A system that delays an input remembers the polynomials that it was stepped with, as far back as
//! its delay reaches. To the equations a delayed input is one more input: a polynomial from one
//! past communication time, delayed, to the next. Before the start of the run the input was what it
//! is at the start.

use std::collections::VecDeque;

use dovetail_core::{Archive, Checkpoint, Error, MacroStep, Signal, visit_fields};

use super::definition::Definition;

/// So many pieces of the past are kept for each delay; beyond them pairs of short ones become one.
const MOST_PIECES: usize = 1 << 14;

/// At an event of the run, an input that changes by more than this part of its largest magnitude,
/// or whose slope, curvature or third derivative would change it by as much over a step, has one
/// of its own, which comes back delayed.
const NOTICEABLE: f64 = 1e-10;
/// An event that has come back so often has been smoothed by what it passes through.
const MOST_RETURNS: u32 = 4;

/// The delays of a system.
pub(super) struct DelayLine {
    /// How many inputs the system has.
    inputs: usize,
    delays: Vec<DelayedInput>,
    /// The inputs of the present segment: those of the step, then the delayed ones.
    signals: Vec<Signal>,
    /// Whether the system has been at an instant since its last step: its inputs may have jumped.
    restarted: bool,
}

/// One delayed input, and what is remembered for it.
struct DelayedInput {
    input: usize,
    delay: f64,
    /// What the input was at the start of the run, and when that was; NaN before.
    before: f64,
    start: f64,
    pieces: VecDeque<Piece>,
    /// Times at which the input jumps or has a kink, delayed, and how often each has come back.
    events: VecDeque<(f64, u32)>,
    /// How often the event at the end of the last step, if there is one, has come back.
    returns: u32,
    /// Its largest magnitude so far.
    largest: f64,
}

/// The input over a step of the past, in time elapsed from its start.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Piece {
    start: f64,
    end: f64,
    signal: Signal,
}

impl Piece {
    fn new(step: MacroStep, signal: &Signal) -> Self {
        Self {
            start: step.start,
            end: step.end,
            signal: *signal,
        }
    }

    fn size(&self) -> f64 {
        self.end - self.start
    }
}

impl DelayLine {
    /// None where nothing is delayed.
    pub fn of(definition: &Definition) -> Option<Box<Self>> {
        let model = &definition.model;
        let times = model.delay_times(&definition.parameters);
        let delays = model.delays.iter().zip(times);
        let delays: Vec<_> = delays
            .map(|(delay, time)| DelayedInput::new(delay.input, time))
            .collect();
        (!delays.is_empty()).then(|| {
            Box::new(Self {
                inputs: model.inputs.len(),
                delays,
                signals: vec![Signal::constant(0.0); model.input_leaves()],
                restarted: false,
            })
        })
    }

    /// The inputs from `time` on, where so much of a step has elapsed, and until when they are
    /// these.
    pub fn enter(&mut self, step: MacroStep, time: f64, inputs: &[Signal]) -> f64 {
        let mut until = f64::INFINITY;
        self.signals[..self.inputs].clone_from_slice(inputs);
        let delayed = &mut self.signals[self.inputs..];

        for (signal, delay) in delayed.iter_mut().zip(&self.delays) {
            let end = delay.signal(step, time, &inputs[delay.input], signal);
            until = until.min(end);
        }
        until
    }

    /// The inputs as they were last entered.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// All inputs at a time, where those that are not delayed are these.
    pub fn look_up(&self, time: f64, inputs: &[f64], values: &mut [f64]) {
        let (now, delayed) = values.split_at_mut(self.inputs);
        now.copy_from_slice(inputs);
        for (value, delay) in delayed.iter_mut().zip(&self.delays) {
            *value = delay.value(time, inputs[delay.input]);
        }
    }

    /// The run begins: what inputs were before is what they are now.
    pub fn begin(&mut self, time: f64, inputs: &[Signal]) {
        for delay in &mut self.delays {
            delay.begin(time, inputs[delay.input].value(0.0));
        }
    }

    /// The first known time after this one at which a delayed input jumps.
    pub fn next_event(&self, time: f64) -> f64 {
        let firsts = self.delays.iter().map(|delay| delay.next_event(time));
        firsts.fold(f64::INFINITY, f64::min)
    }

    /// The system stands at an instant.
    pub fn restart(&mut self) {
        self.restarted = true;
    }

    /// Whether the run has begun: before, what is delayed is what it is now.
    pub fn remembers(&self) -> bool {
        self.delays.iter().any(|delay| !delay.start.is_nan())
    }

    /// The step has been taken.
    pub fn remember(&mut self, step: MacroStep, inputs: &[Signal]) {
        let restarted = std::mem::replace(&mut self.restarted, false);
        for delay in &mut self.delays {
            delay.remember(Piece::new(step, &inputs[delay.input]), restarted);
        }
    }
}

impl DelayedInput {
    fn new(input: usize, delay: f64) -> Self {
        Self {
            input,
            delay,
            before: f64::NAN,
            start: f64::NAN,
            pieces: VecDeque::new(),
            events: VecDeque::new(),
            returns: 0,
            largest: 0.0,
        }
    }

    /// The delayed input from `time` on, in time elapsed from the start of the step, and until when
    /// it is that.
    fn signal(&self, step: MacroStep, time: f64, input: &Signal, into: &mut Signal) -> f64 {
        let (start, before) = if self.start.is_nan() {
            (step.start, input.value(0.0))
        } else {
            (self.start, self.before)
        };
        if time < start + self.delay {
            *into = Signal::constant(before);
            return start + self.delay;
        }

        match self.pieces.get(self.piece_at(time)) {
            Some(piece) => {
                *into = piece.signal.shifted(step.start - self.delay - piece.start);
                piece.end + self.delay
            }
            None => {
                *into = input.shifted(-self.delay);
                f64::INFINITY
            }
        }
    }

    /// The piece of the past that acts from `time` on, if it is not one of the present.
    fn piece_at(&self, time: f64) -> usize {
        self.pieces
            .partition_point(|piece| piece.end + self.delay <= time)
    }

    /// The delayed input at a time; beyond what is remembered, this.
    fn value(&self, time: f64, input: f64) -> f64 {
        if self.start.is_nan() {
            return input;
        }
        if time < self.start + self.delay {
            return self.before;
        }
        match self.pieces.get(self.piece_at(time)) {
            Some(piece) => piece.signal.value(time - self.delay - piece.start),
            None => input,
        }
    }

    fn next_event(&self, time: f64) -> f64 {
        let mut times = self.events.iter().map(|(event, _)| *event);
        times.find(|event| *event > time).unwrap_or(f64::INFINITY)
    }

    fn begin(&mut self, time: f64, value: f64) {
        self.start = time;
        self.before = value;
        self.events.push_back((time + self.delay, 0));
    }

    fn remember(&mut self, piece: Piece, restarted: bool) {
        if self.start.is_nan() {
            self.begin(piece.start, piece.signal.value(0.0));
        } else if restarted && self.returns <= MOST_RETURNS && self.bends(&piece) {
            let event = (piece.start + self.delay, self.returns);
            self.events.push_back(event);
        }
        let now = piece.end;
        self.largest = self.largest.max(piece.signal.value(piece.size()).abs());
        self.pieces.push_back(piece);

        while self
            .pieces
            .front()
            .is_some_and(|first| first.end + self.delay <= now)
        {
            self.pieces.pop_front();
        }
        self.returns = 0;
        while let Some(&(event, returns)) = self.events.front()
            && event <= now
        {
            self.returns = if event == now { returns + 1 } else { 0 };
            self.events.pop_front();
        }
        if self.pieces.len() > MOST_PIECES {
            self.join_pairs();
        }
    }

    /// Whether the input jumps, or changes its slope, where this piece begins.
    fn bends(&self, piece: &Piece) -> bool {
        let Some(last) = self.pieces.back() else {
            return false;
        };
        let size = last.size().max(piece.size());
        let largest = self.largest.max(piece.signal.value(0.0).abs());
        let mut weight = 1.0;

        for order in 0..=3 {
            let before = last.signal.derivative(order, last.size());
            let after = piece.signal.derivative(order, 0.0);
            if (after - before).abs() * weight > NOTICEABLE * largest {
                return true;
            }
            weight *= size / (order + 1) as f64;
        }
        false
    }

    /// Makes one of every two pieces between which nothing happened, from the ends of both.
    fn join_pairs(&mut self) {
        let mut joined = VecDeque::with_capacity(MOST_PIECES + 1);
        while let Some(first) = self.pieces.pop_front() {
            let event = first.end + self.delay;
            let parted = self.events.iter().any(|(at, _)| *at == event);
            match self.pieces.front() {
                Some(second) if !parted => {
                    let size = second.end - first.start;
                    let left = first.signal.at(0.0);
                    let right = second.signal.at(second.size());
                    joined.push_back(Piece {
                        start: first.start,
                        end: second.end,
                        signal: Signal::quintic(size, left, right),
                    });
                    self.pieces.pop_front();
                }
                _ => joined.push_back(first),
            }
        }
        self.pieces = joined;
    }
}

impl Checkpoint for DelayLine {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.restarted);
        self.delays
            .iter_mut()
            .try_for_each(|delay| delay.visit(archive))
    }
}

impl Checkpoint for DelayedInput {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(
            archive,
            self.before,
            self.start,
            self.pieces,
            self.events,
            self.returns,
            self.largest
        );
        Ok(())
    }
}
