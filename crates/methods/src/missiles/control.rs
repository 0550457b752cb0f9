//! Steps of its own choice: what the step just solved will miss, and what the step just integrated has missed.
//!
//! Two parts of the local error are known. The cubic inputs differ from smooth ones by `u'''' h⁴/4! · (s(s−1))²` on s in [0, 1];
//! the fourth derivative is that of the quintic through the previous start as well, and the quartic is pushed through operators
//! and coupling before anything is integrated. And the integrated outputs minus the solved ones tell by how much the inputs ended
//! at the wrong place; they are known after integrating, and reject a step only where all systems can roll back.
//!
//! Each part is measured twice: as the error of the interface at the end of the step, which the next step may repair, against the
//! tolerance; and as what the states of all systems keep of it, which adds up over the run, against a smaller target.

use dovetail_core::{Grid, Knot, MAX_DEGREE, MacroStep, Signal, readable};

use crate::coupling::Coupling;
use crate::interface_system::InterfaceSystem;
use crate::plan::towards;
use crate::ranges::{Ranges, rounded, time_scale};
use crate::rates::Rates;
use crate::step_bounds::StepBounds;

/// A step may miss its target by this factor.
const MARGIN: f64 = 2.0;
/// Rejections of one step before it is taken all the same.
const MOST_REJECTIONS: usize = 20;
/// No step is shorter than this part of the run.
const SHORTEST: f64 = 1e-12;
/// Nor than this one, once so many more steps were rejected or missed than were accurate: what jumps to and fro all the time (a
/// friction that sticks and slips, a relay that slides) cannot be followed to any tolerance, and the run must end some day.
const SHORTEST_IN_VAIN: f64 = 1e-5;
const MOST_STRUGGLE: u32 = 100;
/// Tighter than this the error is rounding.
const TIGHTEST: f64 = 1e-13;
/// The first step of a model in which nothing moves, as a part of the run.
const FROM_REST: f64 = 1e-6;
/// A step that could grow by less than this stays: operators and factors stay with it.
const WORTHWHILE: f64 = 1.2;
const GROWTH: f64 = 2.0;

/// The chooser of steps.
pub(super) struct Controller {
    grid: Grid,
    bounds: StepBounds,
    /// What a step may leave in the states, and by how much its interface may be wrong; relative to the range of each variable.
    lasting: f64,
    passing: f64,
    tolerance: f64,
    /// The next step; none at the start of a stretch without events.
    size: Option<f64>,
    /// The interface at the start of the step before, and that step's size.
    before: Vec<Knot>,
    before_size: Option<f64>,
    outputs: Ranges,
    states: Ranges,
    rates: Rates,
    /// The error that the solved step promises, in units of what is allowed.
    promised: f64,
    rejections: usize,
    /// Rejections and misses, less the steps that were accurate.
    struggle: u32,
    /// The step that was integrated and rejected last: its size, what it missed, and the size that was planned before.
    rejected: Option<Rejected>,
    tally: Tally,
    /// Room: the inputs, what disturbs them, and what that does to the interface.
    inputs: Vec<Signal>,
    disturbance: Vec<Signal>,
    effect: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Rejected {
    size: f64,
    missed: f64,
    planned: f64,
}

/// What is told when the run is over.
struct Tally {
    /// The shortest and the longest step taken.
    extent: (f64, f64),
    /// Steps that missed and were taken all the same; by how much, and when, the worst of them.
    missed: u64,
    worst: (f64, f64),
}

impl Controller {
    /// Steps over the span of `grid`, within bounds, for these coupling variables.
    pub fn new(grid: Grid, tolerance: f64, bounds: StepBounds, coupling: &Coupling<'_>) -> Self {
        let (connections, variables) = (coupling.connections, coupling.variables.len());
        let states = connections
            .interfaces()
            .iter()
            .map(|interface| interface.states.len())
            .sum();
        let tolerance = tolerance.max(TIGHTEST);
        let nothing = vec![Signal::constant(0.0); variables];
        Self {
            grid,
            bounds,
            // Equal local errors: at order 4 their number grows as tol^(-1/4).
            lasting: 0.15 * tolerance.powf(1.25),
            passing: 0.2 * tolerance,
            tolerance,
            size: None,
            before: vec![Knot::value_only(f64::NAN); variables],
            before_size: None,
            outputs: Ranges::of(coupling),
            states: Ranges::new(states),
            rates: Rates::new(connections),
            promised: 0.0,
            rejections: 0,
            struggle: 0,
            rejected: None,
            tally: Tally {
                extent: (f64::INFINITY, 0.0),
                missed: 0,
                worst: (0.0, f64::NAN),
            },
            inputs: nothing.clone(),
            disturbance: nothing,
            effect: vec![0.0; 2 * variables],
        }
    }

    /// The next step: of the chosen size, or to the next event or the end where that is near.
    pub fn step(
        &mut self,
        reached: f64,
        event: f64,
        coupling: &Coupling<'_>,
        interface_system: &InterfaceSystem,
    ) -> MacroStep {
        let stop = self.grid.time(self.grid.count());
        let limit = if event > reached {
            event.min(stop)
        } else {
            stop
        };
        let (span, rest) = (self.span(), limit - reached);
        if self.size.is_none() {
            self.rates.locate(interface_system);
        }
        let wanted = || match time_scale(coupling, interface_system, &self.rates) {
            known if known.is_finite() => 0.3 * self.tolerance.powf(0.25) * known,
            _ => FROM_REST * span, // everything rests: nothing tells what is to come
        };
        let size = self
            .size
            .unwrap_or_else(|| wanted().min(0.1 * span).min(rest / 3.0))
            .min(self.bounds.longest)
            .max(shortest(span, reached))
            .max(self.bounds.shortest);
        self.size = Some(size);
        self.outputs
            .include(coupling.start.iter().map(|knot| knot.value));
        self.states.include(
            interface_system
                .local()
                .iter()
                .flat_map(|task| task.linearization.x.iter().copied()),
        );
        towards(reached, limit, size)
    }

    fn span(&self) -> f64 {
        self.grid.time(self.grid.count()) - self.grid.time(0)
    }

    /// Below this a step is not cut any more.
    fn short_enough(&self, time: f64) -> f64 {
        let in_vain = if self.struggle > MOST_STRUGGLE {
            SHORTEST_IN_VAIN * self.span()
        } else {
            0.0
        };
        shortest(self.span(), time)
            .max(in_vain)
            .max(self.bounds.shortest)
    }

    /// Whether the step, solved, promises to be accurate; if not the next one is shorter.
    pub fn admits(
        &mut self,
        step: MacroStep,
        coupling: &Coupling<'_>,
        solution: &[f64],
        interface_system: &mut InterfaceSystem,
    ) -> bool {
        let (size, count) = (step.size(), self.before.len());
        self.outputs.expect(
            coupling
                .start
                .iter()
                .zip(solution)
                .map(|(knot, end)| end - knot.value),
        );
        self.states.expect(
            interface_system
                .local()
                .iter()
                .flat_map(|task| task.linearization.f.iter().map(|f| f * size)),
        );
        for (c, start) in coupling.start.iter().enumerate() {
            let end = Knot {
                value: solution[c],
                slope: solution[count + c],
                curvature: f64::NAN,
            };
            let parabola = Signal::parabola_to(size, start.value, end);
            self.inputs[c] = if coupling.smooth {
                Signal::hermite(size, *start, end)
            } else {
                parabola
            };
            self.disturbance[c] = match self.before_size {
                Some(before_size) if coupling.smooth => {
                    quartic(size, &self.inputs[c], before_size, self.before[c])
                }
                // A first step: what the known slope at its start has changed is at least what a cubic misses.
                _ => sum(&self.inputs[c], &parabola, -1.0),
            };
        }
        interface_system.disturb(&self.disturbance, Some(&self.inputs), &mut self.effect);
        interface_system.solve(&mut self.effect);
        self.promised = self.shares(size, 1.0, interface_system, true);
        let admitted = self.promised <= MARGIN || self.cannot_shrink(step);
        if !admitted {
            self.rejections += 1;
            self.struggle += 1;
            self.size = Some(size * (0.9 * self.promised.powf(-0.2)).clamp(0.3, 0.8));
        }
        admitted
    }

    /// Whether the step, integrated, was accurate, by what the integrated outputs miss the solved ones by. Chooses the next size.
    pub fn judge(
        &mut self,
        step: MacroStep,
        discrepancy: &[f64],
        revocable: bool,
        interface_system: &mut InterfaceSystem,
    ) -> bool {
        self.effect.copy_from_slice(discrepancy);
        interface_system.solve(&mut self.effect);
        self.disturbance.fill(Signal::constant(0.0));
        // The inputs were wrong in this step at its end, and will be in the next at its start.
        let missed = self.shares(step.size(), 2.0, interface_system, false);
        let factor = (0.9 * self.promised.powf(-0.2))
            .min(0.9 * missed.powf(-0.25))
            .clamp(0.3, GROWTH);
        let accurate = self.promised + missed <= MARGIN;
        let planned = self
            .rejected
            .map_or(self.size.unwrap_or(step.size()), |rejected| {
                rejected.planned
            });
        // Where a shorter step misses as much, something jumps, or rounding speaks: shorter still would not help.
        let in_vain = self
            .rejected
            .is_some_and(|r| missed > 0.5 * r.missed && step.size() < 0.7 * r.size);
        if !accurate && revocable && !in_vain && !self.cannot_shrink(step) {
            self.rejections += 1;
            self.struggle += 1;
            self.rejected = Some(Rejected {
                size: step.size(),
                missed,
                planned,
            });
            self.size = Some(step.size() * factor.min(0.8));
            return false;
        }
        let error = self.promised + missed;
        self.struggle = if accurate {
            self.struggle.saturating_sub(1)
        } else {
            self.struggle + 1
        };
        // Before anything has moved there is nothing to measure by.
        if error > 2.0 * MARGIN && self.tally.extent.1 > 0.0 {
            self.tally.missed += 1;
            if error > self.tally.worst.0 {
                self.tally.worst = (error, step.start);
            }
        }
        (self.rejections, self.rejected) = (0, None);
        let whole = self.size.is_some_and(|size| step.size() >= 0.9 * size);
        self.size = Some(match factor {
            _ if in_vain => planned,
            shrunk if shrunk < 1.0 => step.size() * shrunk,
            // A step that was cut for an event or the end says little about the size that would have been allowed.
            grown if whole && grown >= WORTHWHILE => step.size() * grown,
            _ => self.size.unwrap_or(step.size()),
        });
        if step.size() < self.short_enough(step.start) {
            // Out of what cannot be resolved, but not at one bound: predictions reach no further than what they stand on.
            self.size = self.size.map(|size| size.max(GROWTH * step.size()));
        }
        true
    }

    fn cannot_shrink(&self, step: MacroStep) -> bool {
        self.rejections >= MOST_REJECTIONS || step.size() <= self.short_enough(step.start)
    }

    /// The step has been taken.
    pub fn learn(&mut self, step: MacroStep, coupling: &Coupling<'_>) {
        self.before.copy_from_slice(&coupling.start);
        self.before_size = Some(step.size());
        let (shortest, longest) = self.tally.extent;
        self.tally.extent = (shortest.min(step.size()), longest.max(step.size()));
    }

    /// The interface has jumped: the stretch after it starts as the run did.
    pub fn restart(&mut self) {
        (self.size, self.before_size) = (None, None);
    }

    /// Half the step that could not be solved, if that is still allowed.
    pub fn halve(&mut self, step: MacroStep) -> bool {
        self.size = Some(step.size() / 2.0);
        self.rejections += 1;
        !self.cannot_shrink(step)
    }

    /// What may interest the user.
    pub fn remark(&self) -> Option<String> {
        let (shortest, longest) = self.tally.extent;
        let (shortest, longest) = (rounded(shortest), rounded(longest));
        (longest > 0.0).then(|| format!("steps were chosen between {shortest} and {longest} s"))
    }

    /// What the user should know.
    pub fn warning(&self) -> Option<String> {
        let Tally {
            missed,
            worst: (error, time),
            ..
        } = self.tally;
        let steps = if missed == 1 {
            "1 step was".to_owned()
        } else {
            format!("{missed} steps were")
        };
        (missed > 0).then(|| {
            format!(
                "{steps} less accurate than asked, the worst by a factor of {error:.1e} at t = {} s, where shorter steps did not help \
                 or a step could not be taken back; a smaller --tolerance or a fixed --step gives shorter steps",
                readable(time)
            )
        })
    }

    /// The largest error, in units of what is allowed: of the interface, whose end is wrong by `effect`, and of what the states
    /// keep of that and of the disturbance within the step, so many times.
    fn shares(
        &mut self,
        size: f64,
        times: f64,
        interface_system: &InterfaceSystem,
        reduced: bool,
    ) -> f64 {
        let count = self.before.len();
        let passing = self.outputs.largest_share(&self.effect[..count]) / self.passing;
        for (c, disturbance) in self.disturbance.iter_mut().enumerate() {
            let knot = |value: f64, slope: f64| Knot {
                value,
                slope,
                curvature: f64::NAN,
            };
            let moved = Signal::hermite(
                size,
                knot(0.0, 0.0),
                knot(self.effect[c], self.effect[count + c]),
            );
            *disturbance = sum(disturbance, &moved, 1.0);
        }
        let inputs = reduced.then_some(&self.inputs[..]);
        interface_system.disturb_states(&self.disturbance, inputs, &mut self.states.errors);
        let lasting = times * self.states.largest_own_share() / self.lasting;
        passing.max(lasting)
    }
}

/// The shortest step that makes sense at a time.
fn shortest(span: f64, time: f64) -> f64 {
    (SHORTEST * span).max(16.0 * f64::EPSILON * time.abs())
}

/// `one + factor · other`.
fn sum(one: &Signal, other: &Signal, factor: f64) -> Signal {
    let mut coefficients = [0.0; MAX_DEGREE + 1];
    coefficients
        .iter_mut()
        .zip(one.coefficients())
        .for_each(|(sum, c)| *sum += c);
    coefficients
        .iter_mut()
        .zip(other.coefficients())
        .for_each(|(sum, c)| *sum += factor * c);
    Signal::new(&coefficients[..=one.degree().max(other.degree())])
}

/// By how much a smooth variable differs from its cubic on a step, given where it started the step before.
fn quartic(size: f64, input: &Signal, before_size: f64, before: Knot) -> Signal {
    let s = -before_size / size;
    let (weight, weight_slope) = (
        s * s * (s - 1.0) * (s - 1.0),
        2.0 * s * (s - 1.0) * (2.0 * s - 1.0),
    );
    let q = (before.value - input.value(-before_size)) / weight;
    let bend =
        (size * (before.slope - input.derivative(1, -before_size)) - q * weight_slope) / weight;
    // Where the slope at the start before is not known, the quartic through its value must do.
    let height = if bend.is_finite() {
        q + bend * (0.5 - s)
    } else {
        q
    };
    let scaled = |factor: f64, power: i32| height * factor / size.powi(power);
    Signal::new(&[0.0, 0.0, scaled(1.0, 2), scaled(-2.0, 3), scaled(1.0, 4)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quartic_is_the_error_of_a_cubic_on_a_quartic() {
        let exact = Signal::new(&[1.0, -0.5, 0.3, 0.2, -0.7]);
        let (size, before_size) = (0.4, 0.3);
        let cubic = Signal::hermite(size, exact.at(0.0), exact.at(size));
        let error = quartic(size, &cubic, before_size, exact.at(-before_size));
        for elapsed in [0.1, 0.2, 0.35] {
            let expected = exact.value(elapsed) - cubic.value(elapsed);
            assert!((error.value(elapsed) - expected).abs() < 1e-14);
        }
    }
}
