//! Tries a unit out before the run: what it declares is believed where it holds.
//!
//! The experiments are carried out by a [`Laboratory`], in a child process where there is one; this decides what their outcomes mean.

use dovetail_core::{Precision, StepRule};
use serde::{Deserialize, Serialize};

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::experiment::{Course, Experiment, Mishap, Observation};
use crate::reactions::Reactions;

/// A restored state reproduces a step to this relative precision.
const REPRODUCTION: f64 = 1e-12;
/// A step from a restored state is as near to one that simply goes on: an inner solver that starts anew makes small differences.
const LIKENESS: f64 = 1e-4;
/// Values that differ by more than this, relative, are not the same.
const SAME: f64 = 1e-12;
/// How far inputs are moved, in units of their size, to see whether they matter before initialization mode; some units cannot be
/// initialized with the one and can with the other.
const OFFSETS: [f64; 2] = [0.5, 0.13];
/// Below this, relative, what one step and two halves of it differ by is rounding.
const ROUNDING: f64 = 1e-13;
/// Steps that become shorter by this factor, after a whole one, show how short a step may be.
const SHORTER: f64 = 0.1;
const MOST_SHORTER: usize = 9;

/// Carries experiments out, each on an instance of its own.
pub trait Laboratory {
    /// What came of it.
    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, Mishap>;

    /// Whether the unit was found to be fit for one instance in a process only.
    fn found_single(&self) -> bool {
        false
    }

    /// What the user should know about how the unit was tried.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// What the probe found of one capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which capability.
    pub capability: String,
    /// Whether it is used.
    pub holds: bool,
    /// Whether that was seen; otherwise the unit is believed, because nothing could be compared.
    pub confirmed: bool,
    /// What was seen.
    pub what: String,
}

impl Finding {
    fn holds(capability: &str, what: impl Into<String>) -> Self {
        Self { capability: capability.to_owned(), holds: true, confirmed: true, what: what.into() }
    }

    fn fails(capability: &str, what: impl Into<String>) -> Self {
        Self { holds: false, ..Self::holds(capability, what) }
    }

    fn believed(capability: &str, what: impl Into<String>) -> Self {
        Self { confirmed: false, ..Self::holds(capability, what) }
    }
}

/// What the probe makes of a unit.
pub(crate) struct Verdict {
    pub abilities: Abilities,
    pub findings: Vec<Finding>,
    pub reactions: Reactions,
    pub warnings: Vec<String>,
}

/// The unit while it is tried.
pub(crate) struct Probe<'a> {
    laboratory: &'a mut dyn Laboratory,
    abilities: Abilities,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    /// The size of the steps.
    size: f64,
    /// Whether it has inputs that can be moved.
    movable: bool,
    co_simulation: bool,
}

/// The largest relative difference.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    // What is next to nothing beside the other values may be noise.
    let noise = 1e-6 * one.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let apart = |(a, b): (&f64, &f64)| {
        if a.to_bits() == b.to_bits() { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()).max(noise) }
    };
    one.iter().zip(other).map(apart).fold(0.0, |most, d| if d.is_nan() || d > most { d } else { most })
}

fn differ(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).any(|(a, b)| a.to_bits() != b.to_bits())
}

/// Tries a unit that declares these abilities.
pub(crate) fn probe(
    laboratory: &mut dyn Laboratory,
    abilities: Abilities,
    co_simulation: bool,
    movable: bool,
    step: f64,
) -> Result<Verdict, Mishap> {
    let size = match abilities.step {
        StepRule::Imposed(size) => size,
        StepRule::Free => step,
    };
    let (findings, warnings) = (Vec::new(), Vec::new());
    let mut probe = Probe { laboratory, abilities, findings, warnings, size, movable, co_simulation };
    let baseline = probe.start()?;
    let reactions = probe.reactions()?;
    if co_simulation && let Some(baseline) = &baseline {
        probe.co_simulation(baseline);
    }
    probe.abilities.single |= probe.laboratory.found_single();
    probe.warnings.extend(probe.laboratory.remark());
    let Probe { abilities, findings, warnings, .. } = probe;
    Ok(Verdict { abilities, findings, reactions, warnings })
}

impl Probe<'_> {
    fn early(&self) -> bool {
        self.abilities.early_inputs
    }

    fn try_out(&mut self, experiment: Experiment) -> Result<Observation, Mishap> {
        self.laboratory.carry_out(&experiment)
    }

    /// How the unit starts; what it answers to a first step, if it can be stepped at all.
    fn start(&mut self) -> Result<Option<Vec<f64>>, Mishap> {
        let mut seen = self.try_out(Experiment::Start { early: true, offset: 0.0 });
        if seen.as_ref().is_ok_and(|seen| seen.refused_early) {
            self.abilities.early_inputs = false;
            seen = self.try_out(Experiment::Start { early: false, offset: 0.0 });
        }
        let seen = match seen {
            Ok(seen) => seen,
            Err(Mishap::Silent(why)) => return Err(Mishap::Silent(why)),
            // A step that fails is the run's to report; what was declared cannot be believed then.
            Err(mishap) => {
                self.distrust(&mishap.to_string());
                return Ok(None);
            }
        };
        let [inside, after, stepped] = &seen.readings[..] else {
            return Err(Mishap::Refused("BUG: a start has three readings".to_owned()));
        };
        let outputs = seen.outputs.min(inside.len());
        self.abilities.late_outputs = distance(&inside[..outputs], &after[..outputs]) > SAME;
        if self.abilities.early_inputs && self.movable {
            self.abilities.enters_with_inputs = self.minds_early_inputs();
        }
        Ok(Some(stepped.clone()))
    }

    fn distrust(&mut self, why: &str) {
        self.abilities = self.abilities.clone().without_promises(self.co_simulation);
        self.warnings
            .push(format!("it could not be tried out before the run ({why}), so what it declares is not used"));
    }

    /// Whether it makes a difference that inputs are known before initialization mode. Where a unit does not take other values at
    /// all, it is supposed to.
    fn minds_early_inputs(&mut self) -> bool {
        for offset in OFFSETS {
            let known = self.try_out(Experiment::Start { early: true, offset });
            let told = self.try_out(Experiment::Start { early: false, offset });
            if let (Ok(known), Ok(told)) = (known, told) {
                let pairs = known.readings.iter().zip(&told.readings);
                return pairs.into_iter().any(|(known, told)| distance(known, told) > SAME);
            }
        }
        true
    }

    /// Directional derivatives and feedthrough.
    fn reactions(&mut self) -> Result<Reactions, Mishap> {
        const NAME: &str = "directional derivatives";
        let (early, directional) = (self.early(), self.abilities.directional);
        let mut seen = self.try_out(Experiment::Reactions { early, directional });
        if let (Err(mishap), true) = (&seen, directional) {
            // It may be the derivatives that fail: once more without them.
            self.findings.push(Finding::fails(NAME, mishap.to_string()));
            self.abilities.directional = false;
            seen = self.try_out(Experiment::Reactions { early, directional: false });
        }
        let reactions = seen?.reactions.unwrap_or_default();
        if self.abilities.directional {
            let finding = match (&reactions.wrong, reactions.compared, reactions.incomparable.len()) {
                (Some(what), ..) => Finding::fails(NAME, what.clone()),
                (None, 0, 0) => Finding::believed(NAME, "there is nothing to compare them with"),
                (None, 0, _) => Finding::believed(NAME, unconfirmed(&reactions.incomparable)),
                (None, _, 0) => Finding::holds(NAME, "they agree with differences"),
                (None, compared, _) => {
                    let rest = unconfirmed(&reactions.incomparable);
                    Finding::holds(NAME, format!("{compared} of them agree with differences; {rest}"))
                }
            };
            self.abilities.directional = finding.holds;
            self.findings.push(finding);
        }
        Ok(reactions)
    }

    /// What a Co-Simulation unit declares. What does not hold is taken from its abilities.
    fn co_simulation(&mut self, baseline: &[f64]) {
        if !self.abilities.directional {
            self.abilities.linearizes = false;
            if self.abilities.slopes == Slopes::Chained {
                self.abilities.slopes = Slopes::Unknown;
            }
        }
        if self.abilities.rollback {
            let finding = self.rollback(baseline);
            self.abilities.rollback = finding.holds;
            self.findings.push(finding);
        }
        match self.abilities.inputs {
            InputWay::Derivatives(most) => self.input_derivatives(most, baseline),
            InputWay::Intermediate => self.intermediate_update(baseline),
            InputWay::Held => {}
        }
        if let Slopes::Told(orders) = self.abilities.slopes {
            let finding = self.output_derivatives(orders);
            if !finding.holds {
                let chained = self.abilities.linearizes;
                self.abilities.slopes = if chained { Slopes::Chained } else { Slopes::Unknown };
            }
            self.findings.push(finding);
        }
        if self.abilities.step == StepRule::Free {
            self.abilities.precision = self.precision(baseline);
        }
    }

    /// Does a restored state reproduce, also after a step under other inputs?
    fn rollback(&mut self, baseline: &[f64]) -> Finding {
        const NAME: &str = "rollback";
        let early = self.early();
        let seen = match self.try_out(Experiment::Rollback { early }) {
            Ok(seen) => seen,
            Err(why) => return Finding::fails(NAME, why.to_string()),
        };
        let [first, again, next, next_again] = &seen.readings[..] else {
            return Finding::fails(NAME, "BUG: four readings");
        };
        let apart = distance(first, again).max(distance(next, next_again));
        let unlike = distance(first, baseline);
        if apart > REPRODUCTION || apart.is_nan() {
            return Finding::fails(NAME, format!("a step repeated from a restored state differs by {apart:.1e}"));
        }
        if unlike > LIKENESS || unlike.is_nan() {
            let what = "a restored state is not the one that was saved: a step from it differs by";
            return Finding::fails(NAME, format!("{what} {unlike:.1e}"));
        }
        if unlike > REPRODUCTION {
            let what = format!("a restored state reproduces, {unlike:.1e} away from going on");
            let text = format!("after a restore it does not go on exactly as it would have: {what}");
            self.warnings.push(text);
            return Finding::holds(NAME, what);
        }
        Finding::holds(NAME, "a restored state reproduces")
    }

    fn one_step(&mut self, course: Course) -> Result<Vec<f64>, Mishap> {
        let (early, sizes) = (self.early(), vec![self.size]);
        let seen = self.try_out(Experiment::Steps { early, course, sizes })?;
        Ok(seen.readings.into_iter().next().unwrap_or_default())
    }

    /// Up to which order input derivatives change anything.
    fn input_derivatives(&mut self, most: usize, baseline: &[f64]) {
        let mut degree = 0;
        while degree < most
            && self.one_step(Course::Derivatives(degree + 1)).is_ok_and(|moved| differ(&moved, baseline))
        {
            degree += 1;
        }
        let mut what = match degree {
            0 => "they have no effect".to_owned(),
            degree => format!("they have an effect up to order {degree}"),
        };
        if degree == 0 && !self.inputs_matter(baseline) {
            // Nor have the values, where the unit starts: nothing speaks against the first order.
            (degree, what) = (1, "inputs have no effect at the start; order 1 is believed".to_owned());
        }
        self.abilities.inputs = if degree > 0 { InputWay::Derivatives(degree) } else { InputWay::Held };
        let finding = Finding { holds: degree > 0, ..Finding::holds("input derivatives", what) };
        self.findings.push(finding);
    }

    /// Does a unit that may ask for its inputs on the way really ask?
    fn intermediate_update(&mut self, baseline: &[f64]) {
        const NAME: &str = "inputs during intermediate update";
        let finding = match self.one_step(Course::Intermediate) {
            Ok(moved) if differ(&moved, baseline) => Finding::holds(NAME, "they are followed"),
            Ok(_) if self.inputs_matter(baseline) => Finding::fails(NAME, "inputs that move have no effect"),
            Ok(_) => Finding::believed(NAME, "inputs have no effect at the start; it is believed"),
            Err(why) => Finding::fails(NAME, why.to_string()),
        };
        self.abilities.inputs = if finding.holds { InputWay::Intermediate } else { InputWay::Held };
        self.findings.push(finding);
    }

    /// Whether other values of the inputs change anything over the first step.
    fn inputs_matter(&mut self, baseline: &[f64]) -> bool {
        self.one_step(Course::Moved(0.5)).is_ok_and(|moved| differ(&moved, baseline))
    }

    /// Are the derivatives of outputs numbers, and not always zero while the outputs move?
    fn output_derivatives(&mut self, orders: usize) -> Finding {
        const NAME: &str = "output derivatives";
        let early = self.early();
        let mut seen = self.try_out(Experiment::OutputDerivatives { early, orders, at_start: true });
        if seen.is_err() {
            // The standard speaks of them after a step.
            seen = self.try_out(Experiment::OutputDerivatives { early, orders, at_start: false });
            self.abilities.slopes_at_start = false;
        }
        let seen = match seen {
            Ok(seen) => seen,
            Err(why) => return Finding::fails(NAME, why.to_string()),
        };
        let after_steps = &seen.slopes[1.min(seen.slopes.len())..];
        let moved = seen.readings.windows(2).any(|pair| differ(&pair[0][..seen.outputs], &pair[1][..seen.outputs]));
        if after_steps.iter().flatten().any(|slope| !slope.is_finite()) {
            return Finding::fails(NAME, "they are not finite numbers");
        }
        if moved && after_steps.iter().flatten().all(|slope| *slope == 0.0) {
            return Finding::fails(NAME, "they are always 0, while the outputs move");
        }
        Finding::holds(NAME, "they are finite and move")
    }

    /// What one step and two halves of it differ by, and how short a step still moves the unit as it should.
    fn precision(&mut self, baseline: &[f64]) -> Precision {
        let (early, size, course) = (self.early(), self.size, Course::Held);
        let halves = self.try_out(Experiment::Steps { early, course, sizes: vec![0.5 * size, 0.5 * size] });
        let noise = match halves.as_ref().ok().and_then(|seen| seen.readings.last()) {
            Some(halves) => relative_distance(baseline, halves),
            None => 0.0,
        };
        let mut sizes = vec![size];
        sizes.extend((1..=MOST_SHORTER).map(|power| size * SHORTER.powi(power as i32)));
        let shorter = self.try_out(Experiment::Steps { early, course, sizes: sizes.clone() });
        let resolution = shorter.map_or(0.0, |seen| resolution(baseline, &seen.readings, &sizes));
        Precision { noise: if noise > ROUNDING { noise } else { 0.0 }, resolution }
    }
}

/// The largest difference, in units of the largest value of the reading.
fn relative_distance(one: &[f64], other: &[f64]) -> f64 {
    let largest = one.iter().chain(other).fold(0.0, |most: f64, value| most.max(value.abs()));
    let apart = one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if apart > 0.0 { apart / largest } else { 0.0 }
}

/// Shorter and shorter steps follow a whole one. A step moves a unit in proportion to its length, but for rounding; the longest that
/// moves it by far too much tells what it resolves.
fn resolution(first: &[f64], readings: &[Vec<f64>], sizes: &[f64]) -> f64 {
    let mut coarse: f64 = 0.0;
    let Some([whole, tenth]) = readings.first_chunk() else { return 0.0 };
    for variable in 0..first.len() {
        // The rate is that of the first short step, which is long enough for it.
        let rate = (tenth[variable] - whole[variable]).abs() / sizes[1];
        let rounding = 64.0 * f64::EPSILON * whole[variable].abs();
        for (pair, size) in readings[1..].windows(2).zip(&sizes[2..]) {
            let moved = (pair[1][variable] - pair[0][variable]).abs();
            if moved > 4.0 * rate * size + rounding && moved.is_finite() && rate > 0.0 {
                coarse = coarse.max(moved / rate);
            }
        }
    }
    coarse
}

fn unconfirmed(names: &[String]) -> String {
    let listed = dovetail_core::list_names(names);
    format!("those by {listed} are not confirmed: nothing can be moved there without moving more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_moves_by_whole_ticks_resolves_no_less() {
        let at = |time: f64| vec![(time / 1e-6).ceil() * 1e-6];
        let sizes: Vec<f64> = (0..10).map(|power| 1e-2 * 0.1_f64.powi(power)).collect();
        let mut time = 0.0;
        let readings: Vec<Vec<f64>> = sizes
            .iter()
            .map(|size| {
                time += size;
                at(time)
            })
            .collect();
        let found = resolution(&readings[0].clone(), &readings, &sizes);
        assert!((5e-7..2e-6).contains(&found), "{found}");
        let smooth: Vec<Vec<f64>> = sizes
            .iter()
            .scan(0.0, |t, size| {
                *t += size;
                Some(vec![(*t as f64).sin()])
            })
            .collect();
        assert_eq!(resolution(&smooth[0].clone(), &smooth, &sizes), 0.0);
    }

    #[test]
    fn noise_is_measured_by_the_largest_value() {
        assert_eq!(relative_distance(&[1000.0, 1.0], &[1000.0, 1.1]), 0.10000000000000009 / 1000.0);
        assert_eq!(relative_distance(&[0.0], &[0.0]), 0.0);
    }
}
