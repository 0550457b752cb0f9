//! A system with fewer capabilities than it has, to study what a poor system does to a coupling.

use crate::error::Error;
use crate::forward_to_system;
use crate::macro_step::MacroStep;
use crate::signal::{MAX_DEGREE, Signal};
use crate::system::{Capabilities, Evaluate, Linearize, StepRule, System, Trial};
use crate::task::Response;
use crate::wrapping::trial_of;

/// What is taken away. The default takes nothing.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Restrictions {
    /// Input polynomials are followed up to this degree only.
    pub input_degree: usize,
    /// Whether "what if" is still answered.
    pub rollback: bool,
    /// Whether the system can still be linearized.
    pub linearization: bool,
    /// How many output derivatives are still told.
    pub output_derivatives: usize,
    /// The only macro-step (and its multiples) that is still taken.
    pub imposed_step: Option<f64>,
}

impl Default for Restrictions {
    fn default() -> Self {
        Self {
            input_degree: MAX_DEGREE,
            rollback: true,
            linearization: true,
            output_derivatives: 2,
            imposed_step: None,
        }
    }
}

impl Restrictions {
    /// What is left of these capabilities.
    pub fn restrict(&self, of: Capabilities) -> Capabilities {
        Capabilities {
            trial: of.trial && self.rollback,
            linearize: of.linearize && self.linearization,
            input_degree: of.input_degree.min(self.input_degree),
            output_derivatives: of.output_derivatives.min(self.output_derivatives),
            step_rule: self.imposed_step.map_or(of.step_rule, StepRule::Imposed),
            ..of
        }
    }
}

/// A system behind its restrictions.
pub struct Restricted<S> {
    system: S,
    restrictions: Restrictions,
    inputs: Vec<Signal>,
}

impl<S: System> Restricted<S> {
    /// Restricts `system`.
    pub fn new(system: S, restrictions: Restrictions) -> Self {
        let inputs = vec![Signal::constant(0.0); system.interface().inputs.len()];
        Self {
            system,
            restrictions,
            inputs,
        }
    }

    fn assert_degree(&self, inputs: &[Signal]) {
        let accepted = self.input_degree();
        assert!(
            inputs.iter().all(|s| s.degree() <= accepted),
            "BUG: a signal above the accepted degree"
        );
    }

    /// What was not asked for, or may not be told, is not known.
    fn forget_derivatives(&self, response: &mut Response) {
        response.path.clear();
        let known = self.output_derivatives();
        for knot in &mut response.outputs {
            if known < 1 {
                knot.slope = f64::NAN;
            }
            if known < 2 {
                knot.curvature = f64::NAN;
            }
        }
        response
            .motion
            .iter_mut()
            .for_each(|state| state[known.min(2)..].fill(f64::NAN));
    }

    /// How many imposed steps make up `step`; methods see to it that the number is whole.
    fn parts(&self, step: MacroStep) -> u64 {
        match self.step_rule() {
            StepRule::Imposed(size) if !step.is_instant() => {
                let parts = (step.size() / size).round();
                assert!(
                    (step.size() / size - parts).abs() < 1e-6 && parts >= 1.0,
                    "BUG: a step off the imposed grid"
                );
                parts as u64
            }
            _ => 1,
        }
    }
}

impl<S: System> System for Restricted<S> {
    forward_to_system!(system: interface, checkpoint, presence, join_lane, precision);

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.assert_degree(inputs);
        let parts = self.parts(step);

        if parts == 1 {
            self.system.advance(step, inputs, response)?;
        } else {
            let size = step.size() / parts as f64;
            for part in 0..parts {
                let start = if part == 0 {
                    step.start
                } else {
                    step.start + part as f64 * size
                };
                let end = if part + 1 == parts {
                    step.end
                } else {
                    step.start + (part + 1) as f64 * size
                };
                for (shifted, signal) in self.inputs.iter_mut().zip(inputs) {
                    *shifted = signal.shifted(part as f64 * size);
                }
                self.system
                    .advance(MacroStep::new(start, end), &self.inputs, response)?;
                if response.ends {
                    break;
                }
            }
        }

        self.forget_derivatives(response);
        Ok(())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.system.begin(step, inputs, response)?;
        self.forget_derivatives(response);
        Ok(())
    }

    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        if self.restrictions.linearization {
            self.system.evaluate()
        } else {
            None
        }
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        let offered = self.restrictions.rollback && self.system.trial().is_some();
        offered.then_some(self as &mut dyn Trial)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        if self.restrictions.linearization {
            self.system.linearize()
        } else {
            None
        }
    }

    fn input_degree(&self) -> usize {
        self.restrictions
            .input_degree
            .min(self.system.input_degree())
    }

    fn output_derivatives(&self) -> usize {
        self.restrictions
            .output_derivatives
            .min(self.system.output_derivatives())
    }

    fn step_rule(&self) -> StepRule {
        self.restrictions
            .imposed_step
            .map_or_else(|| self.system.step_rule(), StepRule::Imposed)
    }
}

impl<S: System> Trial for Restricted<S> {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.assert_degree(inputs);
        // Several imposed steps are tried as one: the system behind takes steps of any size, and
        // what it answers differs from that of the parts by the error of its integrator at most.
        self.parts(step);
        trial_of(&mut self.system).respond(step, inputs, response)?;
        self.forget_derivatives(response);
        Ok(())
    }
}
