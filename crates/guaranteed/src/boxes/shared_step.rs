//! What crosses the borders between systems during a macro-step: boxes, and polynomials with
//! bounds. No symbols do.

use super::input::Input;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::series::tape::SeriesTape;

/// What all systems see of a macro-step `[T, T + H]`. States are those of all systems, stacked.
#[derive(Clone, Debug)]
pub(super) struct SharedStep {
    /// `T`.
    pub time: f64,
    /// `T + H`.
    pub end: f64,
    /// `H`; both ends are exact, their difference need not be.
    pub size: Interval,
    /// The conditions on time throughout the step.
    pub switches: Vec<Interval>,
    /// All states at `T`.
    pub start: Vec<Interval>,
    /// A guess, or, once it is proved, the cross-Picard box.
    pub boxes: Vec<Interval>,
    /// What holds all trajectories throughout the step: the box, tightened by the Taylor form.
    pub tubes: Vec<Interval>,
    /// Where Taylor coefficients are wanted: at `T`, or anywhere in the step.
    pub expansion_time: Interval,
    /// Taylor coefficients of all states there, as far as they are known.
    pub coefficients: Vec<Vec<Interval>>,
    /// What is known of each state, as an input of others, over the step.
    pub inputs: Vec<Input>,
}

impl SharedStep {
    pub fn new(time: f64, start: &[Interval]) -> Self {
        Self {
            time,
            end: time,
            size: Interval::ZERO,
            switches: Vec::new(),
            start: start.to_vec(),
            boxes: start.to_vec(),
            tubes: start.to_vec(),
            expansion_time: Interval::point(time),
            coefficients: Vec::new(),
            inputs: vec![Input::held(Interval::ZERO); start.len()],
        }
    }

    /// Sets the macro-step, with its conditions on time.
    pub fn set_step(&mut self, end: f64, switches: Vec<Interval>) {
        self.end = end;
        self.size = Interval::point(end) - Interval::point(self.time);
        self.switches = switches;
    }

    /// All instants of the step.
    pub fn span(&self) -> Interval {
        Interval::new(self.time, self.end)
    }

    /// All times elapsed since `T`.
    pub fn elapsed(&self) -> Interval {
        Interval::new(0.0, self.size.hi)
    }

    /// Begins series about the times `elapsed` after `T`.
    pub fn begin_series(
        &self,
        tape: &mut SeriesTape,
        shape: FormShape,
        capacity: usize,
        elapsed: Interval,
    ) {
        let time = Interval::point(self.time) + elapsed;
        tape.begin(shape, capacity, time, &self.switches);
    }

    /// Whether every condition on time is decided.
    pub fn is_decided(&self) -> bool {
        self.switches.iter().all(|switch| switch.is_point())
    }
}
