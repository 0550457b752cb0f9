//! The engine's own method: MISSILES without its limits.
//!
//! Needs: that every system can be linearised; quintic inputs also that outputs know their curvatures. Rollback is used where it is.
//! One linear system a step predicts the interface at its end, every system is integrated once under inputs that arrive there. Beside
//! MISSILES:
//!
//! - a *consistent restart* (`restart`): the interface at the start of a step is that of the states as integrated, not of the
//!   prediction before, also right after an event;
//! - *feedback* (`memory`): what the linear operators missed in the last steps is continued into the next;
//! - *quintic inputs*, where curvatures are known.

mod memory;
mod options;
mod restart;

use dovetail_core::{
    Capabilities, Connections, Error, Exchange, Grid, Kept, MacroStep, Method, MethodQuality, Past, StepRule, Verdict,
    Workers,
};

use crate::algebraic_loops;
use crate::costarica::{Control, EstimatorOptions};
use crate::coupling::Coupling;
use crate::global::{Global, MOST_ORDERS, Reach, Unsolved};
use crate::jacobi::{check_imposed_steps, meeting_event};
use crate::plan::Plan;
use crate::predictions::Predictions;
use memory::Memory;
pub use options::{DovetailOptions, Inputs, Relinearize};
use restart::{Restart, SingularInterface};

/// The method's name, as users write it.
const NAME: &str = "dovetail";

/// Beyond a jump of this, relative, an interface is made consistent anew at an event.
const JUMP: f64 = 1e-9;
/// Rounds of questions about the present, at most, until an interface agrees after an event.
const MOST_ROUNDS: usize = 8;
/// It agrees when no value changes by more than this, relative.
const AGREED: f64 = 1e-12;

/// The method, with its buffers.
pub struct Dovetail<'a> {
    connections: &'a Connections,
    capabilities: Vec<Capabilities>,
    options: DovetailOptions,
    coupling: Coupling<'a>,
    global: Global,
    restart: Restart,
    memory: Memory,
    plan: Plan,
    /// Whether the start of the run has been looked at.
    begun: bool,
    /// Whether steps can be tried before they are taken.
    revocable: bool,
    /// Whether curvatures are known, and inputs of degree five are taken.
    quintics: bool,
    /// The interface at the end of the step as predicted, as integrated, as the operators had it under the inputs used, and the
    /// difference that was expected between the last two: values, slopes, curvatures.
    solution: Vec<f64>,
    integrated: Vec<f64>,
    estimated: Vec<f64>,
    expected: Vec<f64>,
    right: Vec<f64>,
    predictions: Predictions,
    signals: [f64; 2],
}

impl<'a> Dovetail<'a> {
    /// The method with steps on `grid`, or within its span where they are chosen.
    pub fn new(
        connections: &'a Connections,
        grid: Grid,
        options: DovetailOptions,
        capabilities: &[Capabilities],
    ) -> Self {
        let mut coupling = Coupling::new(connections, JUMP, capabilities, grid.size());
        let quintics = options.inputs != Inputs::Cubic && allows_quintics(&coupling, capabilities);
        if quintics {
            coupling = coupling.with_curvatures();
        }
        let reach = Reach { degree: if quintics { 6 } else { 4 }, states: true, quintics };
        let estimator = EstimatorOptions { control: Control::Tangent, ..EstimatorOptions::default() };
        let global = Global::new(connections, &coupling, capabilities, estimator, reach);
        let count = coupling.variables.len();
        let room = || vec![0.0; MOST_ORDERS * count];
        Self {
            connections,
            capabilities: capabilities.to_vec(),
            options,
            restart: Restart::new(&coupling, &global, quintics),
            coupling,
            global,
            memory: Memory::new(count),
            plan: Plan::new(grid),
            begun: false,
            revocable: capabilities.iter().all(|c| c.trial),
            quintics,
            solution: room(),
            integrated: room(),
            estimated: room(),
            expected: room(),
            right: room(),
            predictions: Predictions::new(count),
            signals: [0.0; 2],
        }
    }

    /// How many derivatives of the interface are measured.
    fn measured(&self) -> usize {
        if self.quintics { 3 } else { 2 }
    }

    /// Newton on the interface, by questions about the present: at the start of the run, and on the far side of an event.
    fn settle(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        let measured = self.measured() * self.coupling.variables.len();
        for _ in 0..MOST_ROUNDS {
            self.coupling.ask_about_present(time, workers)?;
            self.global.localize(time, workers)?;
            Restart::measure(&self.coupling, &self.global, &mut self.integrated[..measured]);
            self.restart_from_integrated(time)?;
            let count = self.coupling.variables.len();
            let agrees = |knot: &dovetail_core::Knot, c: usize| {
                let used = self.integrated[c];
                (knot.value - used).abs() <= AGREED * knot.value.abs().max(used.abs())
            };
            if self.coupling.start.iter().take(count).enumerate().all(|(c, knot)| agrees(knot, c)) {
                break;
            }
        }
        self.coupling.smooth = true;
        Ok(())
    }

    fn restart_from_integrated(&mut self, time: f64) -> Result<(), Error> {
        let measured = self.measured() * self.coupling.variables.len();
        let scale = self.plan.grid().size();
        let solved = self.restart.solve(&mut self.coupling, &self.global, &self.integrated[..measured], scale);
        solved.map_err(|SingularInterface| Error::SingularLoop { variables: self.suspects(), time })
    }

    /// Solves `(I − K) z = r + d` for the change over the step.
    fn predict(&mut self) -> Result<(), Unsolved> {
        let (count, shape) = (self.coupling.start.len(), self.coupling.shape());
        let unknowns = shape.orders() * count;
        for (c, knot) in self.coupling.start.iter().enumerate() {
            let start = [knot.value, knot.slope, knot.curvature];
            (0..shape.orders()).for_each(|order| self.solution[order * count + c] = start[order]);
        }
        let step = self.coupling.step;
        self.memory.predict(step.start, step.size(), 0, &mut self.expected[..unknowns]);
        self.coupling.place(&self.solution[..unknowns]);
        self.global.prepare(&self.coupling, &mut self.right[..unknowns])?;
        let known = self.expected.iter().zip(&self.solution);
        self.right.iter_mut().zip(known).for_each(|(right, (expected, start))| *right += expected - start);
        self.global.solve(&mut self.right[..unknowns]);
        let solution = &mut self.solution[..unknowns];
        solution.iter_mut().zip(&self.right).for_each(|(end, change)| *end += change);
        let ordinary = solution.iter().all(|z| z.is_finite());
        self.coupling.place(&self.solution[..unknowns]);
        if ordinary { Ok(()) } else { Err(Unsolved::Singular) }
    }

    /// Integrates the step; false if it was tried and not taken.
    fn integrate(&mut self, step: MacroStep, workers: &mut dyn Workers) -> Result<bool, Error> {
        if self.options.correction == Some(true) && self.revocable {
            match self.coupling.try_step(workers) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => return if self.plan.shorten(step) { Ok(false) } else { Err(error) },
            }
            self.correct();
        }
        workers.advance(&mut self.coupling.tasks)?;
        Ok(true)
    }

    /// `z ← z + (I − K)⁻¹ (Y − z)`.
    fn correct(&mut self) {
        let (count, orders) = (self.coupling.start.len(), self.coupling.shape().orders());
        for (c, variable) in self.coupling.variables.iter().enumerate() {
            let knot = self.coupling.tasks[variable.system].response.outputs[variable.position];
            for (order, answered) in [knot.value, knot.slope, knot.curvature].into_iter().enumerate().take(orders) {
                let miss = answered - self.solution[order * count + c];
                self.right[order * count + c] = if miss.is_finite() { miss } else { 0.0 };
            }
        }
        let unknowns = orders * count;
        self.global.solve(&mut self.right[..unknowns]);
        self.solution[..unknowns].iter_mut().zip(&self.right).for_each(|(end, change)| *end += change);
        self.coupling.place(&self.solution[..unknowns]);
    }

    /// Systems have moved to the end of the step.
    fn arrive(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        let (step, count) = (self.coupling.step, self.coupling.variables.len());
        let measured = self.measured() * count;
        self.coupling.note_predictions(&self.solution, &mut self.predictions);
        self.global.localize(step.end, workers)?;
        Restart::measure(&self.coupling, &self.global, &mut self.integrated[..measured]);
        self.global.estimate_all(&self.coupling, &mut self.estimated[..measured]);
        let differences = self.integrated.iter().zip(&self.estimated).zip(&mut self.right);
        differences.for_each(|((integrated, estimated), difference)| *difference = integrated - estimated);
        self.memory.learn(step.start, step.size(), &self.right[..measured]);
        let misses = self.integrated.iter().zip(&self.solution).take(count);
        let shares = misses.map(|(integrated, solved)| (integrated - solved).abs() / (1.0 + solved.abs()));
        self.signals = [shares.fold(0.0, f64::max), step.size()];
        self.coupling.stops.accepted(step);
        if self.coupling.at_event() {
            self.global.forget();
            self.memory.forget();
            self.coupling.arrive(&self.solution[..self.coupling.shape().orders() * count]);
            self.coupling.cross_event(workers)?;
            self.settle(step.end, workers)
        } else {
            self.restart_from_integrated(step.end)
        }
    }

    /// The step cannot be solved: a shorter one may be.
    fn shorten(&mut self, step: MacroStep, reason: Unsolved) -> Result<Verdict<'_>, Error> {
        if self.plan.shorten(step) {
            return Ok(Verdict::Rejected(step));
        }
        Err(match reason {
            Unsolved::Pole { system, pole } => Error::System {
                system: self.connections.interfaces()[system].name.clone(),
                time: step.start,
                reason: Box::new(pole),
            },
            Unsolved::Singular => Error::SingularLoop { variables: self.suspects(), time: step.start },
        })
    }

    /// The variables of the algebraic loops, or else all that are coupled.
    fn suspects(&self) -> Vec<String> {
        let mut outputs = algebraic_loops(self.connections).concat();
        if outputs.is_empty() {
            outputs = self.coupling.variables.iter().map(|variable| variable.stacked).collect();
        }
        outputs.into_iter().map(|output| self.connections.output_name(output)).collect()
    }
}

/// Whether all coupled outputs know their curvatures and all that follow them take quintics.
fn allows_quintics(coupling: &Coupling<'_>, capabilities: &[Capabilities]) -> bool {
    let connections = coupling.connections;
    let follows = |system: usize| connections.inputs_of(system).any(|input| coupling.feeders[input].is_some());
    let knows = coupling.variables.iter().all(|variable| capabilities[variable.system].output_derivatives >= 2);
    knows && (0..capabilities.len()).all(|system| capabilities[system].input_degree >= 5 || !follows(system))
}

impl Method for Dovetail<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, workers: &dyn Workers) -> Result<(), Error> {
        for (interface, capabilities) in workers.interfaces().iter().zip(workers.capabilities()) {
            if !capabilities.linearize {
                let instead = "ifosmondi needs rollback instead, f3ornits nothing";
                return Err(Error::missing(NAME, &interface.name, "a linearisation", instead));
            }
        }
        check_imposed_steps(NAME, self.plan.grid(), workers)
    }

    fn attempt(&mut self, past: &Past, _until: f64, workers: &mut dyn Workers) -> Result<Verdict<'_>, Error> {
        let event = self.coupling.set_out(past, meeting_event(past, workers));
        if !self.begun {
            self.coupling.begin(past);
            self.settle(past.reached(), workers)?;
            self.begun = true;
        }
        let step = self.plan.step(past.reached(), event);
        self.coupling.step = step;
        self.coupling.curved = self.quintics;
        if let Err(reason) = self.predict() {
            return self.shorten(step, reason);
        }
        if !self.integrate(step, workers)? {
            return Ok(Verdict::Rejected(step));
        }
        self.plan.lengthen();
        self.arrive(workers)?;
        Ok(Verdict::Accepted(Exchange { tasks: &self.coupling.tasks, iterations: 0, signals: &self.signals }))
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

    fn warnings(&self) -> Vec<String> {
        let mut all = self.coupling.substitutes(false);
        all.extend(self.predictions.warning(|variable| self.coupling.full_name(variable)));
        all
    }

    fn quality(&self) -> MethodQuality {
        let counts = self.global.counts;
        MethodQuality {
            discrepancy: self.coupling.discrepancy(&self.predictions),
            kept: Some(Kept { linearizations: counts.operators_kept, factorizations: counts.factorizations_kept }),
        }
    }
}
