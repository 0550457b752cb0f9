//! What crosses the borders between systems during a macro-step: boxes, and polynomials with
//! bounds. No symbols do.

use serde::{Deserialize, Serialize};

use super::input::Input;
use super::jobs::Job;
use crate::distribution::Share;
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
    /// The last Taylor coefficients of all states there that are known, and their order.
    pub coefficients: Vec<Interval>,
    pub order: usize,
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
            coefficients: start.to_vec(),
            order: 0,
            inputs: vec![Input::held(Interval::ZERO); start.len()],
        }
    }

    /// Sets the macro-step, with its conditions on time.
    pub fn set_step(&mut self, end: f64, switches: Vec<Interval>) {
        self.end = end;
        self.size = Interval::point(end) - Interval::point(self.time);
        self.switches = switches;
    }

    /// What a place needs of it for a job.
    pub fn share(&self, job: Job, share: &Share) -> StepShare {
        let nothing = StepShare {
            times: (self.time, self.end),
            size: self.size,
            switches: self.switches.clone(),
            expansion: (self.expansion_time, self.order),
            start: Vec::new(),
            boxes: Vec::new(),
            tubes: Vec::new(),
            coefficients: Vec::new(),
            inputs: Vec::new(),
        };
        match job {
            Job::Picard => StepShare {
                start: share.pick(&self.start),
                boxes: share.pick(&self.boxes),
                ..nothing
            },
            Job::Coefficient { .. } => StepShare {
                coefficients: share.pick(&self.coefficients),
                ..nothing
            },
            Job::Advance => StepShare {
                start: share.pick(&self.start),
                boxes: share.pick(&self.boxes),
                tubes: share.pick(&self.tubes),
                inputs: share.pick(&self.inputs),
                ..nothing
            },
            Job::Accept => nothing,
        }
    }

    /// Takes over what a place was sent.
    pub fn update(&mut self, news: &StepShare, share: &Share) {
        (self.time, self.end) = news.times;
        self.size = news.size;
        self.switches.clone_from(&news.switches);
        (self.expansion_time, self.order) = news.expansion;
        share.put(&news.start, &mut self.start);
        share.put(&news.boxes, &mut self.boxes);
        share.put(&news.tubes, &mut self.tubes);
        share.put(&news.coefficients, &mut self.coefficients);
        share.put(&news.inputs, &mut self.inputs);
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

/// What a place elsewhere needs of a step: the states that it knows, in their order; nothing of what
/// does not matter for its job.
#[derive(Serialize, Deserialize)]
pub(super) struct StepShare {
    times: (f64, f64),
    size: Interval,
    switches: Vec<Interval>,
    expansion: (Interval, usize),
    start: Vec<Interval>,
    boxes: Vec<Interval>,
    tubes: Vec<Interval>,
    coefficients: Vec<Interval>,
    inputs: Vec<Input>,
}
