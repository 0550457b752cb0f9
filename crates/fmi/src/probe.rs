//! Tries a unit out before the run: what it declares is believed where it holds.
//!
//! The experiments are carried out by a [`Laboratory`], in a child process where there is one; this decides what their outcomes mean.

use dovetail_core::{Precision, StepRule};
use serde::{Deserialize, Serialize};

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::experiment::{Course, Experiment, Mishap, Observation};
use crate::measures::{differ, distance, relative_distance, resolution};
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
/// How far inputs are moved so that a unit at rest moves.
const MOVING: f64 = 0.5;
/// Slopes that differ by more, relative to the largest, before and after next to nothing are none.
const CONTINUOUS: f64 = 0.1;
/// Slopes agree if they differ by less, relative to the largest.
const SLOPES: f64 = 1e-2;
/// Below this, relative, what one step and two halves of it differ by is rounding.
const ROUNDING: f64 = 1e-13;
/// Steps that become shorter by this factor, after a whole one, show how short a step may be.
const SHORTER: f64 = 0.1;
const MOST_SHORTER: usize = 9;

/// Carries experiments out, each on an instance of its own.
pub trait Laboratory {
    /// What came of it.
    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, Mishap>;

    /// From now on instances are made without event mode.
    fn avoid_event_mode(&mut self);

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
        Self {
            capability: capability.to_owned(),
            holds: true,
            confirmed: true,
            what: what.into(),
        }
    }

    fn fails(capability: &str, what: impl Into<String>) -> Self {
        Self {
            holds: false,
            ..Self::holds(capability, what)
        }
    }

    fn believed(capability: &str, what: impl Into<String>) -> Self {
        Self {
            confirmed: false,
            ..Self::holds(capability, what)
        }
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
    /// How far inputs were moved, where the unit took that.
    moving: f64,
    /// The outputs that have slopes, as positions in readings.
    smooth: Vec<usize>,
}

/// Whether there was no instance to ask anything of.
fn is_refusal_to_start(mishap: &Mishap) -> bool {
    matches!(mishap, Mishap::NoInstance(_))
}

/// Tries a unit that declares these abilities.
pub(crate) fn probe(
    laboratory: &mut dyn Laboratory,
    abilities: Abilities,
    co_simulation: bool,
    movable: bool,
    smooth: &[usize],
    step: f64,
) -> Result<Verdict, Mishap> {
    let size = match abilities.step {
        StepRule::Imposed(size) => size,
        StepRule::Free => step,
    };
    let (findings, warnings) = (Vec::new(), Vec::new());
    let mut probe = Probe {
        laboratory,
        abilities,
        findings,
        warnings,
        size,
        movable,
        co_simulation,
        moving: 0.0,
        smooth: smooth.to_vec(),
    };
    let baseline = probe.start()?;
    let reactions = match probe.reactions() {
        // A unit that starts and steps may still refuse other inputs than its own.
        Err(mishap) if baseline.is_some() && !matches!(mishap, Mishap::Silent(_)) => {
            probe.warnings.push(format!(
                "what its outputs depend on could not be tried ({mishap}): its description counts"
            ));
            Reactions::default()
        }
        reactions => reactions?,
    };
    if let (true, Some(baseline)) = (co_simulation, &baseline) {
        probe.co_simulation(baseline);
    }
    probe.abilities.single |= probe.laboratory.found_single();
    probe.warnings.extend(probe.laboratory.remark());
    let Probe {
        abilities,
        findings,
        warnings,
        ..
    } = probe;
    Ok(Verdict {
        abilities,
        findings,
        reactions,
        warnings,
    })
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
        let mut seen = self.try_out(Experiment::Start {
            early: true,
            offset: 0.0,
        });
        if self.abilities.event_mode
            && self.co_simulation
            && seen.as_ref().is_err_and(is_refusal_to_start)
        {
            seen = self.start_without_event_mode(seen);
        }
        if seen.as_ref().is_ok_and(|seen| seen.refused_early) {
            self.abilities.early_inputs = false;
            seen = self.try_out(Experiment::Start {
                early: false,
                offset: 0.0,
            });
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
            return Err(Mishap::Refused(
                "BUG: a start has three readings".to_owned(),
            ));
        };
        let outputs = seen.outputs.min(inside.len());
        self.abilities.late_outputs = distance(&inside[..outputs], &after[..outputs]) > SAME;
        if self.abilities.early_inputs && self.movable {
            self.abilities.enters_with_inputs = self.minds_early_inputs();
        }
        Ok(Some(stepped.clone()))
    }

    /// A unit that declares event mode and gives no instance may give one without it.
    fn start_without_event_mode(
        &mut self,
        failed: Result<Observation, Mishap>,
    ) -> Result<Observation, Mishap> {
        self.laboratory.avoid_event_mode();
        let again = self.try_out(Experiment::Start {
            early: true,
            offset: 0.0,
        });
        if again.is_err() {
            return failed;
        }
        self.abilities.event_mode = false;
        let why = failed.map_or_else(|mishap| mishap.to_string(), |_| String::new());
        self.findings.push(Finding::fails("event mode", why));
        again
    }

    fn distrust(&mut self, why: &str) {
        self.abilities = self.abilities.clone().without_promises(self.co_simulation);
        self.warnings.push(format!(
            "it could not be tried out before the run ({why}), so what it declares is not used"
        ));
    }

    /// Whether it makes a difference that inputs are known before initialization mode. Where a unit does not take other values at
    /// all, it is supposed to.
    fn minds_early_inputs(&mut self) -> bool {
        for offset in OFFSETS {
            let known = self.try_out(Experiment::Start {
                early: true,
                offset,
            });
            let told = self.try_out(Experiment::Start {
                early: false,
                offset,
            });
            if let (Ok(known), Ok(told)) = (known, told) {
                let pairs = known.readings.iter().zip(&told.readings);
                return pairs
                    .into_iter()
                    .any(|(known, told)| distance(known, told) > SAME);
            }
        }
        true
    }

    /// Directional derivatives and feedthrough.
    fn reactions(&mut self) -> Result<Reactions, Mishap> {
        const NAME: &str = "directional derivatives";
        let (early, directional) = (self.early(), self.abilities.directional);
        let comparable = !self.abilities.late_outputs;
        let mut seen = self.try_out(Experiment::Reactions {
            early,
            directional,
            comparable,
        });
        if let (Err(mishap), true) = (&seen, directional) {
            // It may be the derivatives that fail: once more without them.
            self.findings.push(Finding::fails(NAME, mishap.to_string()));
            self.abilities.directional = false;
            seen = self.try_out(Experiment::Reactions {
                early,
                directional: false,
                comparable,
            });
        }
        let reactions = seen?.reactions.unwrap_or_default();
        if self.abilities.directional {
            let finding = match (
                &reactions.wrong,
                reactions.compared,
                reactions.incomparable.len(),
            ) {
                (Some(what), ..) => Finding::fails(NAME, what.clone()),
                (None, 0, 0) => Finding::believed(NAME, "there is nothing to compare them with"),
                (None, 0, _) => Finding::believed(NAME, unconfirmed(&reactions.incomparable)),
                (None, _, 0) => Finding::holds(NAME, "they agree with differences"),
                (None, compared, _) => {
                    let rest = unconfirmed(&reactions.incomparable);
                    Finding::holds(
                        NAME,
                        format!("{compared} of them agree with differences; {rest}"),
                    )
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
        if self.abilities.linearizes {
            self.traces();
        }
        match self.abilities.inputs {
            InputWay::Derivatives(most) => self.input_derivatives(most, baseline),
            InputWay::Intermediate => self.intermediate_update(baseline),
            InputWay::Held => {}
        }
        if let Slopes::Told(orders) = self.abilities.slopes {
            let finding = self.output_derivatives(orders);
            if !finding.holds {
                let chained = self.abilities.linearizes && !self.abilities.derivatives_leave_traces;
                self.abilities.slopes = if chained {
                    Slopes::Chained
                } else {
                    Slopes::Unknown
                };
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
            return Finding::fails(
                NAME,
                format!("a step repeated from a restored state differs by {apart:.1e}"),
            );
        }
        if unlike > LIKENESS || unlike.is_nan() {
            let what = "a restored state is not the one that was saved: a step from it differs by";
            return Finding::fails(NAME, format!("{what} {unlike:.1e}"));
        }
        if unlike > REPRODUCTION {
            let what = format!("a restored state reproduces, {unlike:.1e} away from going on");
            let text =
                format!("after a restore it does not go on exactly as it would have: {what}");
            self.warnings.push(text);
            return Finding::holds(NAME, what);
        }
        Finding::holds(NAME, "a restored state reproduces")
    }

    /// Do directional derivatives leave the unit as it was? Some are differences that the unit takes of itself.
    fn traces(&mut self) {
        let early = self.early();
        let mut seen = self.try_out(Experiment::Linearization {
            early,
            offset: MOVING,
        });
        if seen.is_err() {
            seen = self.try_out(Experiment::Linearization { early, offset: 0.0 });
        }
        let what = match seen.as_ref().map(|seen| &seen.readings[..]) {
            Ok([before, after]) if !differ(before, after) => return,
            Ok([before, after]) => {
                format!(
                    "asking for directional derivatives moves the unit by {:.1e}",
                    relative_distance(before, after)
                )
            }
            Ok(_) => "BUG: two readings".to_owned(),
            Err(why) => why.to_string(),
        };
        let restores = self.abilities.rollback && seen.is_ok();
        if restores {
            let text = format!("{what}; its state is saved before and restored after");
            self.findings.push(Finding::holds("linearization", text));
            self.abilities.derivatives_leave_traces = true;
        } else {
            self.findings.push(Finding::fails("linearization", what));
            self.abilities.linearizes = false;
        }
        if self.abilities.slopes == Slopes::Chained {
            self.abilities.slopes = Slopes::Unknown; // after each step that would be too often
        }
    }

    fn one_step(&mut self, course: Course) -> Result<Vec<f64>, Mishap> {
        let (early, sizes) = (self.early(), vec![self.size]);
        let seen = self.try_out(Experiment::Steps {
            early,
            course,
            sizes,
        })?;
        Ok(seen.readings.into_iter().next().unwrap_or_default())
    }

    /// Up to which order input derivatives change anything.
    fn input_derivatives(&mut self, most: usize, baseline: &[f64]) {
        let mut degree = 0;
        while degree < most
            && self
                .one_step(Course::Derivatives(degree + 1))
                .is_ok_and(|moved| differ(&moved, baseline))
        {
            degree += 1;
        }
        let mut what = match degree {
            0 => "they have no effect".to_owned(),
            degree => format!("they have an effect up to order {degree}"),
        };
        if degree == 0 && !self.inputs_matter(baseline) {
            // Nor have the values, where the unit starts: nothing speaks against the first order.
            (degree, what) = (
                1,
                "inputs have no effect at the start; order 1 is believed".to_owned(),
            );
        }
        self.abilities.inputs = if degree > 0 {
            InputWay::Derivatives(degree)
        } else {
            InputWay::Held
        };
        let finding = Finding {
            holds: degree > 0,
            ..Finding::holds("input derivatives", what)
        };
        self.findings.push(finding);
    }

    /// Does a unit that may ask for its inputs on the way really ask?
    fn intermediate_update(&mut self, baseline: &[f64]) {
        const NAME: &str = "inputs during intermediate update";
        let finding = match self.one_step(Course::Intermediate) {
            Ok(moved) if differ(&moved, baseline) => Finding::holds(NAME, "they are followed"),
            Ok(_) if self.inputs_matter(baseline) => {
                Finding::fails(NAME, "inputs that move have no effect")
            }
            Ok(_) => Finding::believed(NAME, "inputs have no effect at the start; it is believed"),
            Err(why) => Finding::fails(NAME, why.to_string()),
        };
        self.abilities.inputs = if finding.holds {
            InputWay::Intermediate
        } else {
            InputWay::Held
        };
        self.findings.push(finding);
    }

    /// Whether other values of the inputs change anything over the first step.
    fn inputs_matter(&mut self, baseline: &[f64]) -> bool {
        self.one_step(Course::Moved(0.5))
            .is_ok_and(|moved| differ(&moved, baseline))
    }

    /// Are the derivatives of outputs numbers, and not always zero while the outputs move? Where directional derivatives tell the
    /// slopes too, both must agree: some units only take the difference of their last two answers.
    fn output_derivatives(&mut self, orders: usize) -> Finding {
        const NAME: &str = "output derivatives";
        let seen = match self.told_slopes(orders) {
            Ok(seen) => seen,
            Err(why) => return Finding::fails(NAME, why.to_string()),
        };
        let after_steps = &seen.slopes[1.min(seen.slopes.len())..];
        // Not in the first step, where outputs may have moved because the inputs jumped.
        let moves = |pair: &[Vec<f64>]| differ(&pair[0][..seen.outputs], &pair[1][..seen.outputs]);
        let moved = seen.readings.windows(2).skip(1).any(moves);
        if after_steps.iter().flatten().any(|slope| !slope.is_finite()) {
            return Finding::fails(NAME, "they are not finite numbers");
        }
        if moved && after_steps.iter().flatten().all(|slope| *slope == 0.0) {
            return Finding::fails(NAME, "they are always 0, while the outputs move");
        }
        if let [.., last, hardly] = after_steps
            && self.abilities.step == StepRule::Free
            && relative_distance(last, hardly) > CONTINUOUS
        {
            return Finding::fails(NAME, "they are differences of its last answers, not slopes");
        }
        if self.abilities.linearizes && self.chained_are_better(&seen) {
            return Finding::fails(
                NAME,
                "they are further from the slopes of its outputs than what its directional derivatives give",
            );
        }
        if !moved {
            return Finding::believed(NAME, "nothing moves by itself where it was tried");
        }
        Finding::holds(NAME, "they are finite and move")
    }

    /// What the unit says of its slopes, under inputs that move it if it takes them, and from before the first step if it can.
    fn told_slopes(&mut self, orders: usize) -> Result<Observation, Mishap> {
        let (early, by) = (self.early(), Slopes::Told(orders));
        let mut best: Option<(Observation, bool, f64)> = None;
        for (at_start, offset) in [
            (true, MOVING),
            (true, 0.1 * MOVING),
            (true, 0.0),
            (false, MOVING),
            (false, 0.0),
        ] {
            let Ok(seen) = self.try_out(Experiment::OutputSlopes {
                early,
                by,
                at_start,
                offset,
            }) else {
                continue;
            };
            let moves =
                |pair: &[Vec<f64>]| differ(&pair[0][..seen.outputs], &pair[1][..seen.outputs]);
            if seen.readings.windows(2).skip(1).any(moves) {
                best = Some((seen, at_start, offset));
                break; // it moves, and not only because its inputs have jumped
            }
            best.get_or_insert((seen, at_start, offset));
        }
        if let Some((seen, at_start, offset)) = best {
            (self.abilities.slopes_at_start, self.moving) = (at_start, offset);
            return Ok(seen);
        }
        self.try_out(Experiment::OutputSlopes {
            early,
            by,
            at_start: false,
            offset: 0.0,
        })
    }

    /// Whether directional derivatives give slopes that are clearly nearer to a central difference of the outputs. They know nothing of
    /// outputs that move with time by themselves.
    fn chained_are_better(&mut self, told: &Observation) -> bool {
        let (early, by, offset) = (self.early(), Slopes::Chained, self.moving);
        let Ok(chained) = self.try_out(Experiment::OutputSlopes {
            early,
            by,
            at_start: false,
            offset,
        }) else {
            return false;
        };
        // The input has jumped in the first step; the difference is that around the second.
        let ([_, before, _, after, ..], Some(told), Some(chained)) = (
            &told.readings[..],
            told.slopes.get(2),
            chained.slopes.get(2),
        ) else {
            return false;
        };
        let smooth = self
            .smooth
            .iter()
            .map(|&at| (after[at] - before[at]) / (2.0 * self.size));
        let difference: Vec<f64> = smooth.collect();
        let [told, chained] = [told, chained].map(|slopes| relative_distance(slopes, &difference));
        // Where asking for derivatives moves the unit, what they give after a step is spoilt by that.
        told > SLOPES && (self.abilities.derivatives_leave_traces || chained < 0.5 * told)
    }

    /// What one step and two halves of it differ by, and how short a step still moves the unit as it should; under inputs that move
    /// it, if it takes them.
    fn precision(&mut self, baseline: &[f64]) -> Precision {
        let moved = self.one_step(Course::Moved(MOVING));
        let (course, whole) = match moved {
            Ok(whole) => (Course::Moved(MOVING), whole),
            Err(_) => (Course::Held, baseline.to_vec()),
        };
        let (early, size) = (self.early(), self.size);
        let halves = self.try_out(Experiment::Steps {
            early,
            course,
            sizes: vec![0.5 * size, 0.5 * size],
        });
        let noise = match halves.as_ref().ok().and_then(|seen| seen.readings.last()) {
            Some(halves) => relative_distance(&whole, halves),
            None => 0.0,
        };
        let tried = self.abilities.rollback;
        let mut sizes = vec![size];
        sizes.extend((1..=MOST_SHORTER).map(|power| size * SHORTER.powi(power as i32)));
        let offset = if let Course::Moved(offset) = course {
            offset
        } else {
            0.0
        };
        let shorter = self.try_out(Experiment::ShorterSteps {
            early,
            tried,
            offset,
            sizes: sizes.clone(),
        });
        let resolution = shorter.map_or(0.0, |seen| resolution(&seen.readings, &sizes[1..]));
        Precision {
            noise: if noise > ROUNDING { noise } else { 0.0 },
            resolution,
        }
    }
}

fn unconfirmed(names: &[String]) -> String {
    let listed = dovetail_core::list_names(names);
    format!("those by {listed} are not confirmed: nothing can be moved there without moving more")
}
