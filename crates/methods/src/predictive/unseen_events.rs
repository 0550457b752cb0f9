//! Events that nobody reports: a Co-Simulation FMU may switch within a step, or as it takes its
//! inputs, and the error of the run is then not what is carried on.
//!
//! What such a system shows at both ends of a step must agree with itself. Over a smooth step
//!
//! ```text
//! T = x₁ − x₀ − h (f₀ + f₁)/2 = −h³ x‴/12,
//! ```
//!
//! and likewise for outputs and their slopes, so that T/h³ changes little from step to step. A jump
//! of f by J leaves about J h in T, one of x or of an output itself: far more than in the steps
//! before and after. One step is judged when the next is there.

use dovetail_core::{Capabilities, Connections, MacroStep};
use serde::{Deserialize, Serialize};

use super::Predictive;
use super::run_state::Doubt;
use super::tuning::{UNSEEN_BESIDE_ERROR, UNSEEN_BESIDE_NEIGHBORS, UNSEEN_BESIDE_NOISE};

/// The systems that do not report events, and what they have shown.
pub(super) struct UnseenEvents {
    /// None of those that can be asked for f and g anywhere: they find their events themselves.
    silent: Vec<bool>,
    /// What their answers may be off by anyway, as a part of their ranges.
    noise: Vec<f64>,
    any: bool,
    /// States and their derivatives at the start of the step, of all systems.
    states: Vec<f64>,
    slopes: Vec<f64>,
    /// The last two steps, of each system: T as a part of a range, and over h³.
    pub last: Vec<[Trace; 2]>,
}

/// What a step has left.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Trace {
    part: f64,
    rate: f64,
}

impl Trace {
    const NONE: Self = Self {
        part: f64::NAN,
        rate: f64::NAN,
    };
}

impl UnseenEvents {
    pub fn new(connections: &Connections, capabilities: &[Capabilities]) -> Self {
        let silent: Vec<bool> = capabilities.iter().map(|able| !able.evaluate).collect();
        let states: usize = connections
            .interfaces()
            .iter()
            .map(|interface| interface.states.len())
            .sum();

        Self {
            any: silent.contains(&true),
            noise: capabilities
                .iter()
                .map(|able| able.precision.noise)
                .collect(),
            last: vec![[Trace::NONE; 2]; silent.len()],
            silent,
            states: Vec::with_capacity(states),
            slopes: Vec::with_capacity(states),
        }
    }

    /// What comes is not to be compared with what was.
    pub fn forget(&mut self) {
        self.last.fill([Trace::NONE; 2]);
    }

    /// One more step of a system; whether the one before it stands out from its neighbors by more
    /// than `least`.
    fn follow(&mut self, system: usize, new: Trace, least: f64) -> bool {
        let [before, last] = self.last[system];
        self.last[system] = [last, new];
        let usual = UNSEEN_BESIDE_NEIGHBORS * before.rate.max(new.rate);
        // What is not known is a NaN, beside which nothing stands out.
        let known = before.rate.is_finite() && new.rate.is_finite();
        let noise = UNSEEN_BESIDE_NOISE * self.noise[system];
        known && last.rate > usual && last.part > least.max(noise)
    }
}

impl Predictive<'_> {
    /// A step has been taken, and systems are not linearized at its end yet.
    pub(super) fn note_start_of_step(&mut self) {
        let unseen = &mut self.errors.unseen;
        if !unseen.any {
            return;
        }
        unseen.states.clear();
        unseen.slopes.clear();
        for here in self.interface_system.linearizations() {
            unseen.states.extend(here.x.iter());
            unseen.slopes.extend(here.f.iter());
        }
    }

    /// Systems are linearized at the end of the step, and the interface still begins at its start.
    pub(super) fn look_for_unseen_events(&mut self, step: MacroStep) {
        if !self.errors.unseen.any {
            return;
        }

        let error = self.scales.states.largest_share(&self.errors.global.states);
        let least = UNSEEN_BESIDE_ERROR * error;
        let mut first = 0;
        for system in 0..self.errors.unseen.silent.len() {
            let states = self.interface_system.linearization(system).x.len();
            if self.errors.unseen.silent[system] {
                let part = self
                    .defect_of_states(system, first, step.size())
                    .max(self.defect_of_outputs(system, step.size()));
                let rate = part / step.size().powi(3);
                if self
                    .errors
                    .unseen
                    .follow(system, Trace { part, rate }, least)
                {
                    self.errors.knowledge.doubt(Doubt::Unseen(system));
                }
            }
            first += states;
        }
    }

    /// The largest T of a system's states, the first of which has this place among all, as a part
    /// of a range.
    fn defect_of_states(&self, system: usize, first: usize, size: f64) -> f64 {
        let here = self.interface_system.linearization(system);
        let unseen = &self.errors.unseen;
        let part = |i: usize| {
            let scale = self.scales.states.scale(first + i);
            let change = here.x[i] - unseen.states[first + i];
            let slopes = here.f[i] + unseen.slopes[first + i];
            share(change - 0.5 * size * slopes, scale)
        };
        (0..here.x.len()).map(part).fold(0.0, f64::max)
    }

    /// The same of its outputs, as far as their slopes are known.
    fn defect_of_outputs(&self, system: usize, size: f64) -> f64 {
        let variables = self.coupling.variables.iter().enumerate();
        let own = variables.filter(|(_, variable)| variable.system == system);
        let part = |(c, variable): (usize, &crate::coupling::CouplingVariable)| {
            let start = self.coupling.start[c];
            let end = self.coupling.answer(variable);
            let change = end.value - start.value;
            let scale = self.scales.outputs.scale(c);
            share(change - 0.5 * size * (start.slope + end.slope), scale)
        };
        own.map(part).fold(0.0, f64::max)
    }
}

/// A defect as a part of a range; nothing where that is not known.
fn share(defect: f64, scale: f64) -> f64 {
    if scale > 0.0 && defect.is_finite() {
        defect.abs() / scale
    } else {
        0.0
    }
}
