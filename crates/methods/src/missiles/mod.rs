//! MISSILES: one global linear system instead of iterations, then one integration of each system.
//!
//! Needs: that every system can be linearized; cubic inputs, or their substitutes. No rollback.
//! Reference: Éguillon, Lacabanne, Tromeur-Dervout (2022), cited as "(n)". Departures: (10) and
//! (36) to (50) leave `R f_C` out, without which nonlinear systems fall to order 1; it is there,
//! unless the form `as-printed` is asked for. Operators are exact exponentials. The system is
//! solved for the *change* of the interface over the step, which loses less to rounding. Steps are
//! chosen, where they are not fixed, from the error of the cubic inputs, pushed through the
//! coupling, and from the integrated outputs minus the solved ones: predictor and corrector, which
//! the paper leaves to later work.

mod control;
pub(crate) mod kind;
mod step_error;

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Connections, Error, Exchange, Grid, MacroStep, Method,
    MethodQuality, Notice, Outcome, Past, Workers, visit_fields,
};

use crate::costarica::EstimatorOptions;
use crate::coupling::Coupling;
use crate::elementwise::{add, subtract};
use crate::events::meeting_event;
use crate::finite::finite_or_zero;
use crate::imposed_steps::any_imposes_steps;
use crate::interface_system::steps::Steps;
use crate::interface_system::{InterfaceSystem, JUMP, OperatorScope, Unsolved};
use crate::interface_vector::InterfaceVector;
use crate::notices::notices;
use crate::predictions::Predictions;
use crate::step_bounds::StepBounds;
use control::SignalErrorController;

/// The method's name, as users write it.
const NAME: &str = "missiles";

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissilesOptions {
    /// How answers are estimated.
    pub estimator: EstimatorOptions,
    /// Steps are chosen so that the error stays about within this, relative to the range of each
    /// output; none: they are fixed.
    pub tolerance: Option<f64>,
    /// No step of its own choice is shorter or longer than these.
    pub bounds: StepBounds,
}

/// The method, with its buffers.
pub struct Missiles<'a> {
    coupling: Coupling<'a>,
    interface_system: InterfaceSystem,
    steps: Steps<SignalErrorController>,
    /// Whether steps can be of any size.
    free: bool,
    /// Whether a step can be tried before it is taken, and is worth it.
    revocable: bool,
    /// Whether the linearizations are those of the time reached.
    local: bool,
    /// Values, then slopes, of the coupling variables at the end of the step; and by how much the
    /// integrated ones differ.
    solution: InterfaceVector,
    right: InterfaceVector,
    discrepancy: InterfaceVector,
    predictions: Predictions,
    signals: [f64; 2],
}

impl<'a> Missiles<'a> {
    /// The method with steps on `grid`, or within its span where they are chosen.
    pub fn new(
        connections: &'a Connections,
        grid: Grid,
        options: MissilesOptions,
        capabilities: &[Capabilities],
    ) -> Self {
        let coupling = Coupling::new(connections, JUMP, capabilities, grid.size());
        let adaptive = options.tolerance.is_some();
        // Where disturbances are followed, operators are for quartics too, and those of the states
        // are there.
        let scope = OperatorScope {
            degree: if adaptive { 4 } else { 3 },
            states: adaptive,
            quintics: false,
            keeps: false,
        };
        let interface_system = InterfaceSystem::new(
            connections,
            &coupling,
            capabilities,
            options.estimator,
            scope,
        );
        let count = coupling.variables.len();
        let steps = Steps::new(grid, options.tolerance, |tolerance| {
            SignalErrorController::new(grid, tolerance, options.bounds, &coupling)
        });
        let zeros = || InterfaceVector::zeros(2, count);

        Self {
            coupling,
            interface_system,
            steps,
            free: !any_imposes_steps(capabilities),
            revocable: adaptive && capabilities.iter().all(|c| c.trial),
            local: false,
            solution: zeros(),
            right: zeros(),
            discrepancy: zeros(),
            predictions: Predictions::new(count),
            signals: [0.0; 2],
        }
    }

    fn plan_step(&mut self, past: &Past, workers: &dyn Workers) -> MacroStep {
        let event = self
            .coupling
            .begin_attempt(past, meeting_event(past, workers));
        match &mut self.steps {
            Steps::Fixed(plan) => plan.step(past.reached(), event),
            Steps::Adaptive(controller) => controller.step(
                past.reached(),
                event,
                &self.coupling,
                &self.interface_system,
            ),
        }
    }

    /// Solves (50) for the change over the step.
    fn solve(&mut self, workers: &mut dyn Workers) -> Result<(), Unsolved> {
        self.coupling.stack_start(&mut self.solution);
        self.coupling.place(&self.solution);
        self.interface_system
            .prepare(&self.coupling, workers, &mut self.right)?;
        subtract(&mut self.right, &self.solution);
        self.interface_system.solve(&mut self.right);
        add(&mut self.solution, &self.right);
        let ordinary = self.solution.iter().all(|z| z.is_finite());

        if ordinary {
            Ok(())
        } else {
            Err(Unsolved::Singular)
        }
    }

    /// Integrated outputs minus solved ones; a slope that is not known agrees.
    fn compare(&mut self) {
        for (c, variable) in self.coupling.variables.iter().enumerate() {
            let knot = self.coupling.answer(variable);
            let slope = knot.slope - self.solution.slope(c);
            self.discrepancy[c] = knot.value - self.solution[c];
            *self.discrepancy.slope_mut(c) = finite_or_zero(slope);
        }
    }

    /// Integrates the step, once; false if it was tried, found inaccurate, and not taken.
    fn integrate(&mut self, step: MacroStep, workers: &mut dyn Workers) -> Result<bool, Error> {
        if !self.revocable {
            workers.advance(&mut self.coupling.tasks)?;
            self.compare();
            self.judge(step); // what it says of the next step counts
            return Ok(true);
        }

        match self.coupling.try_step(workers) {
            Ok(true) => {}
            Ok(false) => return Ok(false), // the next one ends at the event
            Err(_) if self.halve(step) => return Ok(false),
            Err(error) => return Err(error),
        }

        self.compare();
        let accurate = self.judge(step);

        if accurate {
            workers.advance(&mut self.coupling.tasks)?;
        }
        Ok(accurate)
    }

    fn judge(&mut self, step: MacroStep) -> bool {
        match &mut self.steps {
            Steps::Fixed(plan) => {
                plan.lengthen();
                true
            }
            Steps::Adaptive(controller) => {
                let accurate = controller.judge(
                    step,
                    &self.discrepancy,
                    self.revocable,
                    &mut self.interface_system,
                );
                if accurate {
                    controller.learn(step, &self.coupling);
                }
                accurate
            }
        }
    }

    /// Systems have moved to the end of the step.
    fn complete_step(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        let step = self.coupling.step;
        self.local = false;
        self.coupling
            .note_predictions(&self.solution, &mut self.predictions);
        let misses = self
            .discrepancy
            .iter()
            .enumerate()
            .take(self.coupling.variables.len());
        let shares = misses.map(|(variable, miss)| self.predictions.share(variable, *miss));
        self.signals = [shares.fold(0.0, f64::max), step.size()];
        self.coupling.continue_from(&self.solution);

        if self.coupling.at_event() {
            self.interface_system.forget();
            let jumps = self.coupling.cross_event(workers)?;
            if let Some(controller) = self.steps.controller_mut()
                && jumps
            {
                controller.restart();
            }
        }
        Ok(())
    }

    /// The next step is half of this one, if that is still allowed.
    fn halve(&mut self, step: MacroStep) -> bool {
        match &mut self.steps {
            Steps::Fixed(plan) => self.free && plan.shorten(step),
            Steps::Adaptive(controller) => controller.halve(step),
        }
    }
}

impl Method for Missiles<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        if self.coupling.is_new() && !self.coupling.smooth {
            self.coupling.begin(past);
            if self.steps.is_adaptive() && !self.local {
                self.coupling.find_start_slopes(past, workers)?;
            }
        }

        if !self.local {
            self.interface_system.localize(past.reached(), workers)?;
            self.local = true;
        }

        let step = self.plan_step(past, workers);
        self.coupling.step = step;

        if let Err(reason) = self.solve(workers) {
            let shortened = self.halve(step);
            return reason.reject_or_fail(shortened, &self.coupling);
        }

        if let Some(controller) = self.steps.controller_mut()
            && !controller.admits(
                step,
                &self.coupling,
                &self.solution,
                &mut self.interface_system,
            )
        {
            return Ok(Outcome::Rejected(step));
        }

        self.coupling.place(&self.solution);
        if !self.integrate(step, workers)? {
            return Ok(Outcome::Rejected(step));
        }

        self.complete_step(workers)?;
        Ok(Outcome::Accepted(Exchange {
            tasks: &self.coupling.tasks,
            before: self.coupling.near_side.tasks(),
            iterations: 0,
            signals: &self.signals,
        }))
    }

    fn derivatives(&self) -> usize {
        1
    }

    fn looks_back(&self) -> bool {
        false
    }

    fn signals(&self) -> Vec<String> {
        vec!["$discrepancy".to_owned(), "$step".to_owned()]
    }

    fn warnings(&self) -> Vec<Notice> {
        let mut all = notices(self.coupling.substitutes(false));
        all.extend(notices(self.coupling.chatter_warning()));
        let of_interface = self.interface_system.warning(self.coupling.connections);
        all.extend(notices(of_interface));
        all.extend(
            self.predictions
                .warning(|variable| self.coupling.full_name(variable)),
        );
        all.extend(
            self.steps
                .controller()
                .and_then(SignalErrorController::warning),
        );

        all
    }

    fn quality(&self) -> MethodQuality {
        MethodQuality {
            discrepancy: self.coupling.discrepancy(&self.predictions),
            kept: Some(self.interface_system.counts.kept()),
            step_sizes: self
                .steps
                .controller()
                .and_then(SignalErrorController::step_sizes),
            ..MethodQuality::default()
        }
    }
}

impl Checkpoint for Missiles<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the method", &NAME.to_owned())?;
        visit_fields!(archive, self.local, self.predictions);
        archive.slice(&mut self.solution)?;
        archive.slice(&mut self.discrepancy)?;
        self.coupling.visit(archive)?;
        self.interface_system.visit(archive)?;

        self.steps.visit(archive)
    }
}
