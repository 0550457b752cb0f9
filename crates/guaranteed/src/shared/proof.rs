//! The proof of a step: how far solutions can be from the polynomial that was built for it.

use super::flowpipe::{Flowpipe, Proved};
use super::modal::ModalStep;
use super::stepper::StepFailure;
use crate::interval::Interval;
use crate::rounding::above;
use crate::series::assumptions::Assumptions;

/// How often a step is built again with what it really meets.
const MOST_REPETITIONS: usize = 6;

/// How often an error is guessed.
const MOST_ERROR_GUESSES: usize = 8;

/// How often a Picard box is guessed.
const MOST_BOX_GUESSES: usize = 30;

/// A kink is crossed in steps that are at most this part of the run.
const LONGEST_STEP_OVER_A_KINK: f64 = 1e-3;

/// By how much a guess of an error is larger than what the last one led to.
const ERROR_INFLATION: f64 = 1.5;

/// A step that is to be proved.
struct StepSpan {
    until: f64,
    /// At least its length.
    length: f64,
    /// All times elapsed since its start.
    elapsed: Interval,
    /// All its instants.
    instants: Interval,
}

impl StepSpan {
    fn new(from: f64, until: f64) -> Self {
        let length = (Interval::point(until) - Interval::point(from)).hi;
        Self {
            until,
            length,
            elapsed: Interval::new(0.0, length),
            instants: Interval::new(from, until),
        }
    }
}

/// A bound of the distance between `p` and every solution, and the tube that holds both.
struct ErrorBound {
    error: Vec<f64>,
    /// The same by modes, where they are kept so.
    modal: Option<ModalStep>,
    tube: Vec<Interval>,
}

impl ErrorBound {
    /// About `polynomial`.
    fn new(polynomial: &[Interval], error: Vec<f64>) -> Self {
        Self {
            tube: widened(polynomial, &error),
            error,
            modal: None,
        }
    }
}

/// A box that solutions do not leave during a step, and the slopes in it.
struct PicardBox {
    boxes: Vec<Interval>,
    slopes: Vec<Interval>,
}

impl Flowpipe<'_> {
    /// Tries to prove that `p` is near all solutions up to `until`, losing no more to truncation
    /// than `tolerances` say.
    pub fn prove(&mut self, until: f64, tolerances: &[f64]) -> Result<(), StepFailure> {
        let assumed = self.field.assumptions().to_vec();
        // Series that could not be built again have lost theirs.
        let order = self.polynomial.order;
        let step = StepSpan::new(self.time, until);

        self.try_to_prove(&step, tolerances).inspect_err(|_| {
            // A shorter step is tried next, with what was assumed at first.
            if self.field.assumptions() != assumed {
                let _ = self.rebuild(&assumed, order);
            }
        })
    }

    fn try_to_prove(&mut self, step: &StepSpan, tolerances: &[f64]) -> Result<(), StepFailure> {
        let mut undecided = 0;
        for _ in 0..MOST_REPETITIONS {
            let bound = self.error_bound(step, tolerances)?;
            let found = self.found_in(step, &bound.tube);
            let Some(system) = self.first_uncovered(&found) else {
                self.proved = Some(Proved {
                    until: step.until,
                    error: bound.error,
                    modal: bound.modal,
                });
                return Ok(());
            };
            self.check_kink(system, &found[system], step.length)?;
            // Once more, with what the step really meets, and a margin.
            let wider: Vec<Assumptions> = found.iter().map(Assumptions::widened).collect();
            self.rebuild(&wider, self.polynomial.order)?;
            undecided = system;
        }
        Err(StepFailure::Undecided { system: undecided })
    }

    /// What a tube decides. Conditions of an affine problem depend on switches alone.
    fn found_in(&mut self, step: &StepSpan, tube: &[Interval]) -> Vec<Assumptions> {
        if self.problem.affine {
            Vec::new()
        } else {
            self.field.assumptions_over(step.instants, tube)
        }
    }

    /// The first system that meets more than was assumed.
    fn first_uncovered(&self, found: &[Assumptions]) -> Option<usize> {
        let mut systems = self.field.assumptions().iter().zip(found);
        systems.position(|(assumed, found)| !assumed.covers(found))
    }

    /// A kink is crossed in a short step: the line that stands for it is as good as the step is
    /// short.
    fn check_kink(
        &self,
        system: usize,
        found: &Assumptions,
        length: f64,
    ) -> Result<(), StepFailure> {
        let opened = self.field.assumptions()[system].opens(found);
        if opened && length > LONGEST_STEP_OVER_A_KINK * self.problem.duration() {
            return Err(StepFailure::LongOverKink {
                state: self.problem.systems[system].states.start,
            });
        }
        Ok(())
    }
}

/// Defects.
impl Flowpipe<'_> {
    /// For each state, the integral of the defect over the step.
    fn integrated_defect(
        &mut self,
        step: &StepSpan,
        tolerances: &[f64],
    ) -> Result<Vec<f64>, StepFailure> {
        let top = if self.problem.affine {
            self.polynomial.top.clone()
        } else {
            self.lagrange(step.elapsed)
        };
        self.check_truncation(&top, step.length, tolerances)?;
        let states = top.iter().enumerate();

        Ok(states
            .map(|(state, &top)| self.integrated_defect_of(state, top, step.length))
            .collect())
    }

    fn check_truncation(
        &self,
        top: &[f64],
        length: f64,
        tolerances: &[f64],
    ) -> Result<(), StepFailure> {
        let order = self.polynomial.order;
        let truncation = length.powi(order as i32 + 1) / (order + 1) as f64;
        let coarse =
            |(top, tolerance): (&f64, &f64)| top.is_nan() || top * truncation > 4.0 * tolerance;

        match top.iter().zip(tolerances).position(coarse) {
            Some(state) => Err(StepFailure::Coarse { state }),
            None => Ok(()),
        }
    }

    /// Horner from the highest order: `Σ defect_k h^{k+1} / (k + 1)`.
    fn integrated_defect_of(&self, state: usize, top: f64, length: f64) -> f64 {
        let mut sum = top / (self.polynomial.order + 1) as f64;
        let defects = self.polynomial.defects_of(state).iter().enumerate();

        for (k, defect) in defects.rev() {
            sum = sum * length + defect / (k + 1) as f64;
        }
        above(sum * length)
    }

    /// The last coefficient of `f(p)` at every instant of the step: its Lagrange remainder.
    fn lagrange(&mut self, elapsed: Interval) -> Vec<f64> {
        let polynomial = &self.polynomial;
        let series: Vec<Vec<Interval>> = (0..polynomial.dimension())
            .map(|state| shifted(polynomial.ranges_of(state), elapsed))
            .collect();
        let time = Interval::point(self.time) + elapsed;

        self.field
            .last_coefficients(time, &series, polynomial.order)
    }
}

/// Errors.
impl Flowpipe<'_> {
    fn error_bound(
        &mut self,
        step: &StepSpan,
        tolerances: &[f64],
    ) -> Result<ErrorBound, StepFailure> {
        let polynomial = self.polynomial.spans(step.elapsed);
        let defect = self.integrated_defect(step, tolerances)?;
        if let Some(modal) = &self.modal {
            let modal = modal.after(step.length, &defect);
            let modal = modal.ok_or(StepFailure::NoInclusion { state: 0 })?;
            let error = finite(modal.throughout.clone())?;
            return Ok(ErrorBound {
                modal: Some(modal),
                ..ErrorBound::new(&polynomial, error)
            });
        }

        if self.problem.affine {
            let error = finite(self.majorant_now().grown(step.length, &defect))?;
            return Ok(ErrorBound::new(&polynomial, error));
        }
        self.guessed_error_bound(step, &polynomial, &defect)
    }

    /// Where the majorant depends on the tube, which depends on the error.
    fn guessed_error_bound(
        &mut self,
        step: &StepSpan,
        polynomial: &[Interval],
        defect: &[f64],
    ) -> Result<ErrorBound, StepFailure> {
        let mut guess = inflated(defect);
        for _ in 0..MOST_ERROR_GUESSES {
            let tube = widened(polynomial, &guess);
            let majorant = self.field.majorant_over(step.instants, &tube);
            let error = finite(majorant.grown(step.length, defect))?;
            if error.iter().zip(&guess).all(|(e, g)| e < g) {
                return Ok(ErrorBound {
                    error,
                    modal: None,
                    tube,
                });
            }
            guess = inflated(&error);
        }

        let worst = (0..defect.len()).max_by(|&a, &b| defect[a].total_cmp(&defect[b]));
        Err(StepFailure::NoInclusion {
            state: worst.unwrap_or(0),
        })
    }
}

/// A little more.
fn inflated(errors: &[f64]) -> Vec<f64> {
    errors.iter().map(|e| above(ERROR_INFLATION * e)).collect()
}

fn widened(boxes: &[Interval], margins: &[f64]) -> Vec<Interval> {
    let pairs = boxes.iter().zip(margins);
    pairs
        .map(|(range, &margin)| range.widened(margin))
        .collect()
}

fn finite(error: Vec<f64>) -> Result<Vec<f64>, StepFailure> {
    match error.iter().position(|e| !e.is_finite()) {
        Some(state) => Err(StepFailure::NoInclusion { state }),
        None => Ok(error),
    }
}

/// Open switches.
impl Flowpipe<'_> {
    /// Moves to `until` while switches are open, on a rectangular Picard box, which it returns.
    pub fn cross(
        &mut self,
        until: f64,
        switches: &[Interval],
    ) -> Result<Vec<Interval>, StepFailure> {
        let loops = self.problem.loops.as_ref();
        if loops.is_some_and(|loops| loops.switched) {
            return Err(StepFailure::SwitchedLoop); // unknowns would jump, nobody knows when
        }

        self.set_switches(switches);
        let step = StepSpan::new(self.time, until);
        let picard = match self.picard_box(&step, Sides::Both) {
            Err(StepFailure::Unbounded { .. }) if self.is_continuous_around(&step) => {
                self.picard_box(&step, Sides::Ahead)?
            }
            found => found?,
        };
        // What a state moves is the integral of its slope, which stays in the box: the step's whole length times some
        // value of it. Once more over what has been found, which is less than what was guessed.
        let length = Interval::point(until) - Interval::point(self.time);
        let slopes = self.field.slopes(step.instants, &picard.boxes);
        let pairs = picard.slopes.iter().zip(&slopes);
        let moves =
            pairs.map(|(guess, found)| length * guess.intersection(*found).unwrap_or(*guess));
        let moves: Vec<Interval> = moves.collect();
        self.time = until;
        self.set.move_by(&moves);

        Ok(picard.boxes)
    }

    /// Whether no condition changes near the set: what a solution does at its edge it does beside it, too.
    fn is_continuous_around(&mut self, step: &StepSpan) -> bool {
        let around: Vec<Interval> = self.boxes().iter().map(slightly_wider).collect();
        self.field.is_decided(step.instants, &around)
    }

    fn picard_box(&mut self, step: &StepSpan, sides: Sides) -> Result<PicardBox, StepFailure> {
        let start = self.boxes();
        let mut guess = start.clone();
        let mut escaped = 0;

        for _ in 0..MOST_BOX_GUESSES {
            let slopes = self.field.slopes(step.instants, &guess);
            if let Some(state) = slopes.iter().position(|slope| !slope.is_finite()) {
                return Err(StepFailure::Unbounded { state });
            }
            let reached = start.iter().zip(&slopes);
            let boxes: Vec<Interval> = reached
                .map(|(x, slope)| *x + step.elapsed * *slope)
                .collect();
            let moving = boxes.iter().zip(&slopes);
            let mut moving = moving.zip(&guess);
            let Some(state) =
                moving.position(|((new, slope), guess)| !sides.holds(*new, *slope, *guess))
            else {
                return Ok(PicardBox { boxes, slopes });
            };
            escaped = state;
            let moving = boxes.iter().zip(&slopes).zip(&start);
            guess = moving
                .map(|((new, slope), start)| sides.guess(new, *slope, *start))
                .collect();
        }
        Err(StepFailure::NoInclusion { state: escaped })
    }
}

/// On which sides a guess is wider than what has been reached.
#[derive(Clone, Copy, PartialEq)]
enum Sides {
    Both,
    /// Not behind a state that only grows, or only shrinks: it has left where it was, and never comes back. A root of
    /// a state that begins at zero is real there, and not beside it.
    Ahead,
}

impl Sides {
    fn guess(self, reached: &Interval, slope: Interval, start: Interval) -> Interval {
        let wider = slightly_wider(reached);
        if self == Self::Both {
            wider
        } else if slope.lo > 0.0 {
            Interval::new(start.lo, wider.hi)
        } else if slope.hi < 0.0 {
            Interval::new(wider.lo, start.hi)
        } else {
            wider
        }
    }

    /// Whether no solution leaves the guess.
    fn holds(self, reached: Interval, slope: Interval, guess: Interval) -> bool {
        let below = guess.lo < reached.lo || (self == Self::Ahead && slope.lo > 0.0);
        let above = reached.hi < guess.hi || (self == Self::Ahead && slope.hi < 0.0);
        below && above && reached.within(guess)
    }
}

fn slightly_wider(range: &Interval) -> Interval {
    range.widened(0.1 * range.width() + 1e-12 * range.magnitude() + 1e-300)
}

/// The coefficients of a polynomial about every instant `τ` of a span: `Σ_{i ≥ j} binomial(i, j)
/// c_i τ^{i−j}`.
fn shifted(coefficients: &[Interval], span: Interval) -> Vec<Interval> {
    let mut shifted = coefficients.to_vec();
    // Horner's scheme, again and again, each time leaving one coefficient more as it is.
    for done in 0..shifted.len() {
        for i in (done..shifted.len() - 1).rev() {
            shifted[i] = shifted[i] + span * shifted[i + 1];
        }
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_polynomial_has_the_same_values() {
        let coefficients = [1.0, -2.0, 0.5, 3.0].map(Interval::point);
        let shifted = shifted(&coefficients, Interval::point(0.5));
        // 1 - 2 t + t² / 2 + 3 t³ and its derivatives (over factorials) at 0.5
        for (found, wanted) in shifted.iter().zip([0.5, 0.75, 5.0, 3.0]) {
            assert!(
                found.contains(wanted) && found.width() < 1e-14,
                "{found} {wanted}"
            );
        }
    }

    #[test]
    fn a_polynomial_is_shifted_to_every_instant_of_a_span() {
        let coefficients = [0.3, 1.7, -2.2, 0.9, 0.4].map(Interval::point);
        let whole = shifted(&coefficients, Interval::new(0.0, 0.8));
        for part in 0..=16 {
            let there = shifted(&coefficients, Interval::point(0.05 * f64::from(part)));
            assert!(
                there
                    .iter()
                    .zip(&whole)
                    .all(|(there, whole)| there.within(*whole))
            );
        }
    }
}
