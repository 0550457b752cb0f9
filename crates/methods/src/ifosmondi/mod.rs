//! IFOSMONDI and IFOSMONDI-JFM: find end-of-step inputs, values and slopes, that agree with the
//! outputs they cause.
//!
//! Needs: trial (or an estimate in its place: COSTARICA) and a step that can be shortened; cubic
//! inputs and output slopes, or their substitutes. Reference: Éguillon, Lacabanne, Tromeur-Dervout
//! (2021), cited as "(n)". Departures: (28) prints `max` where its text, "without exceeding
//! δt_ref", asks for `min`. The unknowns are the *outputs* that feed something, rather than the
//! inputs they feed: the same equations, each once. A rejected step does not leave the grid of the
//! reference step for good: the next grid time is met again. (27) alone would accept a guess that
//! has run away, since its tolerance grows with the guess; a residual must also have fallen. At a
//! known event all systems meet; where the interface jumps there, values and slopes are made
//! consistent anew; where a system does not know its slopes, the step after it is a first step. An
//! event at which a trial stops ends the next attempt (`early_stops.rs`). What jumps from value to
//! value is no unknown: it is held.

mod criterion;
mod extrapolation;
pub(crate) mod kind;
mod residual;
mod steps;

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Connections, Error, Exchange, Grid, MacroStep, Method,
    MethodQuality, Notice, Outcome, Past, Workers, visit_fields,
};
use dovetail_numerics::nonlinear::{Ending, NonlinearSolver};

use crate::coupling::{Coupling, coupled_outputs};
use crate::notices::notices;
use crate::plan::GridPlan;
use crate::predictions::Predictions;
use crate::ranges::Ranges;
use crate::registry::solver::SolverAdvice;
use crate::saved_steps::visit_steps;
use crate::solver_memory::visit_solver;
use crate::step_bounds::StepBounds;
pub use criterion::Criterion;
use criterion::Measure;
use extrapolation::Extrapolation;
use residual::Residual;
use steps::{Chooser, InputErrors, StepSource};

/// The method's name, as users write it.
pub(crate) const NAME: &str = "ifosmondi";

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IfosmondiOptions {
    /// `ε` of the convergence criterion; where steps are chosen, what the inputs of a step are
    /// judged by.
    pub tolerance: f64,
    /// What residuals are measured by.
    pub criterion: Criterion,
    /// Steps are chosen, within bounds, by the error of the inputs; none: they are given.
    pub chosen: Option<StepBounds>,
    /// Start the solver from the extrapolated interface, rather than from the answer to a held one
    /// as the paper does.
    pub extrapolate: bool,
}

/// The method, with its buffers.
pub struct Ifosmondi<'a> {
    coupling: Coupling<'a>,
    steps: StepSource,
    errors: InputErrors,
    ranges: Ranges,
    options: IfosmondiOptions,
    solver: Box<dyn NonlinearSolver + 'a>,
    /// For a step in which the solver does not converge.
    advice: SolverAdvice,
    extrapolation: Extrapolation,
    /// Values, then slopes, of the coupling variables at the end of the step; and by how much they
    /// disagree.
    unknowns: Vec<f64>,
    residual: Vec<f64>,
    /// Room for the residual of a step's first guess.
    first: Vec<f64>,
    /// For each unknown, in how many steps it was the last to converge.
    slowest: Vec<u64>,
    predictions: Predictions,
    signals: [f64; 2],
    /// The start has not been asked for its slopes yet.
    tries_for_slopes: bool,
}

impl<'a> Ifosmondi<'a> {
    /// How many unknowns a solver for these connections is to be made for.
    pub fn unknowns(connections: &Connections) -> usize {
        2 * coupled_outputs(connections).len()
    }

    /// The method with reference steps on `grid`. The solver is one for [`Self::unknowns`]
    /// unknowns.
    pub fn new(
        connections: &'a Connections,
        grid: Grid,
        options: IfosmondiOptions,
        solver: Box<dyn NonlinearSolver + 'a>,
        capabilities: &[Capabilities],
    ) -> Self {
        let coupling = Coupling::new(connections, options.tolerance, capabilities, grid.size());
        let count = coupling.start.len();
        let ranges = Ranges::of(&coupling);

        Self {
            coupling,
            steps: match options.chosen {
                Some(bounds) => StepSource::Chosen(Chooser::new(grid, options.tolerance, bounds)),
                None => StepSource::Given(GridPlan::new(grid)),
            },
            errors: InputErrors::new(count),
            ranges,
            options,
            solver,
            advice: SolverAdvice::default(),
            extrapolation: Extrapolation::new(count),
            unknowns: vec![0.0; 2 * count],
            residual: vec![0.0; 2 * count],
            first: vec![0.0; 2 * count],
            slowest: vec![0; 2 * count],
            predictions: Predictions::new(count),
            signals: [0.0; 2],
            tries_for_slopes: true,
        }
    }

    /// The same with what is to be said where its solver does not converge.
    pub fn with_advice(self, advice: SolverAdvice) -> Self {
        Self { advice, ..self }
    }

    /// The first attempt from a start: of the run, or where another method was left.
    fn begin(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<(), Error> {
        let first = past.points(0) == 1 || self.coupling.is_new();
        if !first || self.coupling.smooth {
            return Ok(());
        }

        self.coupling.begin(past);
        self.ranges.include(self.coupling.start_values());

        if matches!(self.steps, StepSource::Chosen(_)) && self.tries_for_slopes {
            self.coupling.find_start_slopes(past, workers)?;
            // What is not known now will not be known at the next try.
            self.tries_for_slopes = false;
        }
        Ok(())
    }

    /// The first guess of the end of the step; false if a system has stopped at an event.
    fn predict(
        &mut self,
        step: MacroStep,
        past: &Past,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        if self.options.extrapolate && self.coupling.smooth {
            self.extrapolation
                .guess(step, &self.coupling.start, &mut self.unknowns);
            return Ok(true);
        }

        // (20), (21): the interface held, and what the systems answer to it.
        self.coupling.hold();
        let whole = self.coupling.ask(past, workers)?;
        self.unknowns.copy_from_slice(&self.coupling.answers);

        Ok(whole)
    }

    /// The end of the step is accepted: systems move there, and the next step starts from what
    /// their inputs were.
    fn accept(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        let step = self.coupling.step;
        workers.advance(&mut self.coupling.tasks)?;
        self.errors.accept(step.size());
        self.note_slowest();
        self.coupling
            .note_predictions(&self.unknowns, &mut self.predictions);
        self.coupling.continue_from(&self.unknowns);
        self.extrapolation.record(step.end, &self.coupling.start);

        if self.coupling.at_event() && self.coupling.cross_event(workers)? {
            self.extrapolation.forget();
            self.errors.forget();
            if let StepSource::Chosen(chooser) = &mut self.steps {
                chooser.restart();
            }
        }

        self.ranges.include(self.coupling.start_values());
        Ok(())
    }

    /// Whether the inputs of the step, which agree with the outputs, are accurate enough; if not
    /// the next one is shorter.
    fn promises(&mut self, step: MacroStep) -> bool {
        let moves = self
            .coupling
            .start
            .iter()
            .zip(&self.unknowns)
            .map(|(knot, end)| end - knot.value);
        self.ranges.expect(moves);
        let start = &self.coupling.start;
        let end = &self.unknowns;
        let error = match self.coupling.smooth {
            true => self.errors.estimate(step.size(), start, end, &self.ranges),
            false => self
                .errors
                .estimate_first(step.size(), start, end, &self.ranges),
        };

        match &mut self.steps {
            StepSource::Given(plan) => {
                plan.lengthen();
                true
            }
            StepSource::Chosen(chooser) => chooser.judge(step, error),
        }
    }

    fn measure(&self) -> Measure<'_> {
        let tolerance = self.steps.iterated(self.options.tolerance);
        Measure {
            criterion: self.options.criterion,
            tolerance,
            ranges: &self.ranges,
        }
    }

    /// For each unknown, its residual in units of what is allowed.
    fn shares(&self) -> impl Iterator<Item = f64> {
        let measure = self.measure();
        let unknowns = self.unknowns.iter().zip(&self.residual).enumerate();
        unknowns.map(move |(i, (z, r))| r.abs() / measure.allows(&self.coupling, i, *z))
    }

    fn note_slowest(&mut self) {
        let worst = self
            .shares()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((unknown, share)) = worst {
            self.slowest[unknown] += 1;
            self.signals[1] = share;
        }
    }

    /// The step cannot be made shorter: say which variable stands in the way, and why.
    fn give_up(&self, step: MacroStep, ending: Ending, failure: Option<Error>) -> Error {
        if let Some(error) = failure {
            return error;
        }

        let worst = self
            .shares()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map_or(0, |(unknown, _)| unknown);
        let (system, variable) = self.coupling.name(worst);
        let why = self.advice.limitation.unwrap_or(sentence(ending));

        Error::NotConverged {
            method: NAME,
            solver: self.solver.name(),
            system,
            variable,
            time: step.start,
            size: step.size(),
            why: Box::new(Notice::from(why).with(self.advice.remedies.clone())),
        }
    }
}

/// How the iterations of a step failed, in a sentence without its full stop.
fn sentence(ending: Ending) -> &'static str {
    match ending {
        Ending::Diverged => "Its iterations drift apart",
        Ending::IterationLimit => "Its iterations come closer too slowly",
        Ending::Stagnated => {
            "Its iterations come no closer: the equations may have no solution, or noise hides it"
        }
        _ => "A system answered with something that is no number",
    }
}

impl Method for Ifosmondi<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        self.begin(past, workers)?;
        let event = self.coupling.begin_attempt(past, past.next_event());
        let step = self.steps.step(past.reached(), event);
        self.coupling.step = step;

        match self.predict(step, past, workers) {
            Ok(true) => {}
            Ok(false) => return Ok(Outcome::Rejected(step)),
            // Held inputs may lead a system astray; a shorter step leads it less far.
            Err(_) if self.steps.shorten(step) => return Ok(Outcome::Rejected(step)),
            Err(error) => return Err(error),
        }

        let tolerance = self.steps.iterated(self.options.tolerance);
        let mut equations = Residual::new(
            &mut self.coupling,
            past,
            workers,
            (self.options.criterion, tolerance),
            &mut self.ranges,
            &mut self.first,
        );
        let outcome = self
            .solver
            .solve(&mut equations, &mut self.unknowns, &mut self.residual);
        let failure = equations.error;
        let stopped = equations.stopped;
        if stopped {
            return Ok(Outcome::Rejected(step));
        }

        if !outcome.converged() {
            if self.steps.shorten(step) {
                return Ok(Outcome::Rejected(step));
            }
            return Err(self.give_up(step, outcome.ending, failure));
        }
        if !self.promises(step) {
            return Ok(Outcome::Rejected(step));
        }

        self.coupling.place(&self.unknowns);
        self.accept(workers)?;
        self.signals[0] = outcome.iterations as f64;

        Ok(Outcome::Accepted(Exchange {
            tasks: &self.coupling.tasks,
            before: self.coupling.near_side.tasks(),
            iterations: outcome.iterations as u64,
            signals: &self.signals,
        }))
    }

    fn derivatives(&self) -> usize {
        1
    }

    fn signals(&self) -> Vec<String> {
        vec!["$iterations".to_owned(), "$residual".to_owned()]
    }

    fn warnings(&self) -> Vec<Notice> {
        let mut all = notices(self.coupling.substitutes(true));
        all.extend(notices(self.coupling.chatter_warning()));
        all.extend(
            self.predictions
                .warning(|variable| self.coupling.full_name(variable)),
        );
        all
    }

    /// Trials may have been estimates: then what was agreed on is a prediction.
    fn quality(&self) -> MethodQuality {
        MethodQuality {
            discrepancy: self.coupling.discrepancy(&self.predictions),
            interface_error: Some(self.errors.largest(&self.ranges)),
            step_sizes: self.steps.step_sizes(),
            ..MethodQuality::default()
        }
    }

    fn remarks(&self) -> Vec<String> {
        let steps: u64 = self.slowest.iter().sum();
        let counts = self.slowest.iter().enumerate();
        let slowest = counts.max_by_key(|(_, count)| **count);
        let sentence = |(unknown, count): (usize, &u64)| {
            let (system, variable) = self.coupling.name(unknown);
            format!("`{system}.{variable}` was the last to converge in {count} of {steps} steps")
        };
        let slowest = slowest.filter(|(_, count)| **count > 0);
        slowest.map(sentence).into_iter().collect()
    }
}

impl Checkpoint for Ifosmondi<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the method", &NAME.to_owned())?;
        visit_steps(&mut self.steps, archive)?;
        visit_fields!(archive, self.errors, self.ranges);
        visit_fields!(archive, self.extrapolation, self.predictions);
        archive.slice(&mut self.unknowns)?;
        archive.slice(&mut self.residual)?;
        archive.slice(&mut self.first)?;
        archive.slice(&mut self.slowest)?;
        self.coupling.visit(archive)?;

        visit_solver(self.solver.as_mut(), archive)
    }
}
