//! One run of a scenario.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Ending, Error, LinearizeTask, Observer, Orchestrator, SingleThread, Statistics, Task, Work, Workers, check_finite,
};
use dovetail_methods::initialize;

use crate::diagnostic::{BadModel, Problem};
use crate::method::choose;
use crate::options::RunOptions;
use crate::scenario::Scenario;

/// Without `--step`, fixed-step methods take so many steps.
const DEFAULT_STEPS: f64 = 500.0;

/// How a run ended, and what it cost.
#[derive(Debug)]
pub struct RunEnd {
    /// The method that ran.
    pub method: &'static str,
    /// Why `auto` chose it.
    pub reason: Option<String>,
    /// The macro-step, where it was fixed.
    pub step: f64,
    /// The time reached.
    pub reached: f64,
    /// Whether it finished, was interrupted, or failed.
    pub ending: Result<Ending, Error>,
    /// Counts of the time loop.
    pub statistics: Statistics,
    /// What each system did.
    pub work: Vec<Work>,
    /// Elapsed time of the run, without reading the model.
    pub wall_seconds: f64,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What may interest the user.
    pub remarks: Vec<String>,
}

impl Scenario {
    /// Runs the model, watched by `observers`. Raising `interrupted` ends it after the step under way.
    ///
    /// What is wrong with the model or the choice of method is an error; a run that began and failed is a [`RunEnd`].
    pub fn run(
        &self,
        options: &RunOptions,
        observers: &mut [&mut dyn Observer],
        interrupted: &AtomicBool,
    ) -> Result<RunEnd, BadModel> {
        let clock = Instant::now();
        let mut workers = SingleThread::new(self.systems(options));
        let step = self.step(options)?;
        let chosen = choose(self, options, step, workers.capabilities()).map_err(|problem| self.bad(problem))?;
        let (mut method, reason) = (chosen.method, chosen.reason);
        method.check(&workers).map_err(|error| self.bad(Problem::general(error.to_string())))?;
        let start = initialize(&self.connections, &mut workers, self.start_time, method.derivatives())
            .map_err(|error| self.blame(&error))?;
        let name = method.name();
        let mut run = Orchestrator::new(&self.connections, method.as_mut(), &mut workers, observers, interrupted);
        let ending = run.run(&start, self.stop_time);
        let (reached, statistics) = (run.reached(), run.statistics());
        let (warnings, remarks) = (method.warnings(), method.remarks());
        Ok(RunEnd {
            method: name,
            reason,
            step,
            reached,
            ending,
            statistics,
            work: workers.work().to_vec(),
            wall_seconds: clock.elapsed().as_secs_f64(),
            warnings: [self.run_warnings(name, options), warnings].concat(),
            remarks,
        })
    }

    /// Consistent start values, as `check` needs them.
    pub fn start(&self, options: &RunOptions) -> Result<Vec<Task>, BadModel> {
        let mut workers = SingleThread::new(self.systems(options));
        let start =
            initialize(&self.connections, &mut workers, self.start_time, 0).map_err(|error| self.blame(&error))?;
        self.check_start(&start, &mut workers).map_err(|error| self.blame(&error))?;
        Ok(start)
    }

    /// A model whose outputs or derivatives are no numbers at its start can be refused without running it.
    fn check_start(&self, start: &[Task], workers: &mut dyn Workers) -> Result<(), Error> {
        check_finite(&self.connections, start)?;
        for (system, interface) in self.connections.interfaces().iter().enumerate() {
            if !workers.capabilities()[system].linearize {
                continue;
            }
            let mut task = LinearizeTask::new(system, interface);
            workers.linearize(std::slice::from_mut(&mut task))?;
            let here = task.linearization;
            if let Some(state) = here.f.iter().position(|rate| !rate.is_finite()) {
                let variable = format!("der({})", interface.states[state]);
                let (system, time, value) = (interface.name.clone(), self.start_time, here.f[state]);
                return Err(Error::NotFinite { system, variable, time, value });
            }
        }
        Ok(())
    }

    /// Refuses a method that the systems do not permit.
    pub fn check_method(&self, options: &RunOptions) -> Result<(), BadModel> {
        let workers = SingleThread::new(self.systems(options));
        let chosen = choose(self, options, self.step(options)?, workers.capabilities());
        let method = chosen.map_err(|problem| self.bad(problem))?.method;
        method.check(&workers).map_err(|error| self.bad(Problem::general(error.to_string())))
    }

    /// Names of what the method tells about itself.
    pub fn signals(&self, options: &RunOptions) -> Result<Vec<String>, BadModel> {
        let workers = SingleThread::new(self.systems(options));
        let chosen = choose(self, options, self.step(options)?, workers.capabilities());
        Ok(chosen.map_err(|problem| self.bad(problem))?.method.signals())
    }

    fn step(&self, options: &RunOptions) -> Result<f64, BadModel> {
        let span = self.stop_time - self.start_time;
        let step = options.step.unwrap_or(span / DEFAULT_STEPS);
        let resolved = self.start_time + step > self.start_time && self.stop_time - step < self.stop_time;
        if resolved && span / step < u64::MAX as f64 {
            return Ok(step);
        }
        let message =
            format!("a step of {step:e} s is too small for a run from {} to {} s", self.start_time, self.stop_time);
        Err(self.bad(Problem::general(message).help("times that close are the same number: choose a larger --step")))
    }

    fn run_warnings(&self, method: &str, options: &RunOptions) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        if method != "ifosmondi" {
            let given = [("tolerance", options.tolerance.is_some()), ("solver", options.solver.is_some())];
            let unused = given.iter().filter(|(_, given)| *given);
            warnings.extend(unused.map(|(key, _)| format!("{method} has no {key}: --{key} was not used")));
        }
        if options.petsc_options.is_some() && options.solver.as_deref() != Some("petsc") {
            warnings.push("--petsc-options was not used: it belongs to --solver petsc".to_owned());
        }
        warnings
    }
}
