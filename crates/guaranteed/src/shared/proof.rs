//! The proof of a step: how far solutions can be from the polynomial that was built for it.

use super::run::{Failure, MOST_ORDER, Proved, Run};
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::rounding::above;
use crate::series::{Coefficient, Outlook};

impl Run<'_> {
    /// Tries to prove that `p` is near all solutions up to `until`, losing no more to truncation than `tolerances` say.
    pub fn prove(&mut self, until: f64, tolerances: &[f64]) -> Result<(), Failure> {
        let assumed: Vec<Outlook> = self
            .forms
            .iter()
            .map(|tape| tape.outlook().clone())
            .collect();
        let order = self.order;
        self.try_to_prove(until, tolerances).inspect_err(|_| {
            // A shorter step is tried next, with what was assumed at first.
            if self
                .forms
                .iter()
                .zip(&assumed)
                .any(|(tape, assumed)| tape.outlook() != assumed)
            {
                let _ = self.build(&assumed, |k, _| k == order);
            }
        })
    }

    fn try_to_prove(&mut self, until: f64, tolerances: &[f64]) -> Result<(), Failure> {
        const MOST_REPETITIONS: usize = 6;
        let mut unsure = 0;
        let step = Interval::point(until) - Interval::point(self.time);
        let elapsed = Interval::new(0.0, step.hi);
        let span = Interval::new(self.time, until);
        for _ in 0..MOST_REPETITIONS {
            let polynomial: Vec<Interval> = (0..self.dimension())
                .map(|s| self.span_of(s, elapsed))
                .collect();
            let defect = self.integrated_defect(step.hi, elapsed, tolerances)?;
            let (error, tube) = self.error_bound(span, step.hi, &polynomial, &defect)?;
            // Conditions of an affine problem depend on switches alone.
            let found = if self.problem.affine {
                Vec::new()
            } else {
                self.outlooks(span, &tube)
            };
            let mut assumed = self.forms.iter().map(|tape| tape.outlook()).zip(&found);
            let Some(system) = assumed.position(|(assumed, found)| !assumed.covers(found)) else {
                self.proved = Some(Proved { until, error });
                return Ok(());
            };
            unsure = system;
            // A kink is crossed in a short step: the line that stands for it is as good as the step is short.
            let opened = self.forms[system].outlook().opens(&found[system]);
            let duration = self.problem.stop_time - self.problem.start_time;
            if opened && step.hi > 1e-3 * duration {
                return Err(Failure::Coarse {
                    state: self.problem.systems[system].start,
                });
            }
            // Once more, with what the step really meets, and a margin.
            let wider: Vec<Outlook> = found.iter().map(Outlook::widened).collect();
            let order = self.order;
            self.build(&wider, |k, _| k == order)?;
        }
        Err(Failure::Undecided { system: unsure })
    }

    /// The box of `p` of a state on a span of the step.
    pub(super) fn span_of(&self, state: usize, elapsed: Interval) -> Interval {
        self.ranges_of(state)
            .iter()
            .rev()
            .fold(Interval::ZERO, |sum, range| sum * elapsed + *range)
    }

    /// For each state, the integral of the defect over the step.
    fn integrated_defect(
        &mut self,
        step: f64,
        elapsed: Interval,
        tolerances: &[f64],
    ) -> Result<Vec<f64>, Failure> {
        let order = self.order;
        let top = if self.problem.affine {
            self.top.clone()
        } else {
            self.lagrange(elapsed)
        };
        let truncation = step.powi(order as i32 + 1) / (order + 1) as f64;
        let coarse =
            |(top, tolerance): (&f64, &f64)| top.is_nan() || top * truncation > 4.0 * tolerance;
        if let Some(state) = top.iter().zip(tolerances).position(coarse) {
            return Err(Failure::Coarse { state });
        }
        let integrated = |(state, top): (usize, &f64)| {
            // Horner from the highest order: Σ defect_k h^{k+1} / (k + 1)
            let mut sum = top / (order + 1) as f64;
            for k in (0..order).rev() {
                sum = sum * step + self.defects[state * (MOST_ORDER + 1) + k] / (k + 1) as f64;
            }
            above(sum * step)
        };
        Ok(top.iter().enumerate().map(integrated).collect())
    }

    /// The last coefficient of `f(p)` at every instant of the step: its Lagrange remainder.
    fn lagrange(&mut self, elapsed: Interval) -> Vec<f64> {
        let order = self.order;
        let about: Vec<Vec<Interval>> = (0..self.dimension())
            .map(|state| shifted(self.ranges_of(state), elapsed))
            .collect();
        let plain = FormShape {
            primaries: 0,
            quadratic: false,
            errors: 0,
        };
        let time = Interval::point(self.time) + elapsed;
        let mut top = vec![0.0; self.dimension()];
        for (system, tape) in self.intervals.iter_mut().enumerate() {
            tape.begin(plain, order + 1, time, &self.switches);
            tape.set_outlook(self.forms[system].outlook());
            (0..=order).for_each(|k| {
                tape.set_state_intervals(k, |state| about[state][k]);
                tape.compute(k);
            });
            for (index, state) in self.problem.systems[system].clone().enumerate() {
                if let Coefficient::Plain(range) = tape.result(index, order) {
                    top[state] = range.magnitude();
                }
            }
        }
        top
    }

    /// A bound of the distance between `p` and every solution, and the tube that holds both.
    fn error_bound(
        &mut self,
        span: Interval,
        step: f64,
        polynomial: &[Interval],
        defect: &[f64],
    ) -> Result<(Vec<f64>, Vec<Interval>), Failure> {
        const MOST_GUESSES: usize = 8;
        let widened = |guess: &[f64]| -> Vec<Interval> {
            polynomial
                .iter()
                .zip(guess)
                .map(|(p, &e)| p.widened(e))
                .collect()
        };
        let finite = |error: Vec<f64>| match error.iter().position(|e| !e.is_finite()) {
            Some(state) => Err(Failure::NoInclusion { state }),
            None => Ok(error),
        };
        if self.problem.affine {
            let error = finite(self.majorant_now().grown(step, defect))?;
            let tube = widened(&error);
            return Ok((error, tube));
        }
        let mut guess: Vec<f64> = defect.iter().map(|d| above(1.5 * d)).collect();
        for _ in 0..MOST_GUESSES {
            let tube = widened(&guess);
            let majorant = self.jacobian.majorant(span, &self.switches, &tube);
            let error = finite(majorant.grown(step, defect))?;
            if error.iter().zip(&guess).all(|(e, g)| e < g) {
                return Ok((error, tube));
            }
            // A little more than what came out.
            guess = error.iter().map(|e| above(1.5 * e)).collect();
        }
        let worst = (0..defect.len())
            .max_by(|&a, &b| defect[a].total_cmp(&defect[b]))
            .unwrap_or(0);
        Err(Failure::NoInclusion { state: worst })
    }

    /// Moves to `until` while switches are open, on a rectangular Picard box, and tells it.
    pub fn cross(&mut self, until: f64, switches: &[Interval]) -> Result<Vec<Interval>, Failure> {
        const MOST_GUESSES: usize = 30;
        if self
            .problem
            .loops
            .as_ref()
            .is_some_and(|loops| loops.switched)
        {
            return Err(Failure::SwitchedLoop); // unknowns would jump, nobody knows when
        }
        self.set_switches(switches);
        let span = Interval::new(self.time, until);
        let elapsed = Interval::new(
            0.0,
            (Interval::point(until) - Interval::point(self.time)).hi,
        );
        let boxes = self.set.boxes();
        let mut guess = boxes.clone();
        let mut escaped = 0;
        for _ in 0..MOST_GUESSES {
            let slopes = self.slopes(span, &guess);
            if let Some(state) = slopes.iter().position(|slope| !slope.is_finite()) {
                return Err(Failure::Unbounded { state });
            }
            let picard: Vec<Interval> = boxes
                .iter()
                .zip(&slopes)
                .map(|(x, slope)| *x + elapsed * *slope)
                .collect();
            if picard
                .iter()
                .zip(&guess)
                .all(|(new, guess)| new.inside(*guess))
            {
                let radii: Vec<f64> = slopes
                    .iter()
                    .map(|slope| (elapsed * *slope).magnitude())
                    .collect();
                self.time = until;
                self.set.widen(&radii);
                return Ok(picard);
            }
            escaped = picard
                .iter()
                .zip(&guess)
                .position(|(new, guess)| !new.inside(*guess))
                .unwrap_or(0);
            guess = picard
                .iter()
                .map(|b| b.widened(0.1 * b.width() + 1e-12 * b.magnitude() + 1e-300))
                .collect();
        }
        Err(Failure::NoInclusion { state: escaped })
    }
}

/// The coefficients of a polynomial about every instant `τ` of a span: `Σ_{i ≥ j} binomial(i, j) c_i τ^{i−j}`.
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
