//! What a run will be, as far as that can be known before any system is made.

use dovetail_core::{Capabilities, Method, Notice, Remedy};
use dovetail_methods::{
    AUTO, Candidate, Context, INTEGRATOR_TOLERANCE, MethodKind, Refusal, StandIns, build_watched,
    choose,
};

use super::build_plan::BuildPlan;
use crate::diagnostic::{BadModel, Problem};
use crate::options::RunOptions;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::source::system_source::BuildOptions;

/// Without a step given, methods on a grid take so many steps.
const DEFAULT_STEPS: f64 = 500.0;

/// The solver of an FMU is asked for this part of the coupling tolerance.
const FMU_SHARE: f64 = 0.01;

/// What a run will be, as far as that can be known before any system is made.
pub(crate) struct Plan<'a> {
    pub kind: &'static dyn MethodKind,
    pub context: Context<'a>,
    /// Why `auto` chose the method.
    pub reason: Option<String>,
    pub systems: BuildPlan,
    pub warnings: Vec<Notice>,
}

impl Scenario {
    /// The method of a run and what its systems are to be, checked; neither is made.
    pub(crate) fn plan(&self, options: &RunOptions) -> Result<Plan<'_>, BadModel> {
        let step = self.step(options)?;
        let mut found = self.capabilities(step);
        let (kind, reason) = self.method_of(options, &found);
        let stand_ins = self.stand_ins(kind, options, &found);
        let stand_ins = stand_ins.map_err(|refusal| self.refused(refusal))?;
        stand_ins.raise(&mut found);
        let mut warnings: Vec<Notice> = stand_ins.warnings.into_iter().map(Notice::from).collect();
        warnings.extend(self.middles_taken().map(Notice::from));
        warnings.extend(self.unfitting(step).into_iter().map(Notice::from));
        warnings.extend(self.noisy(kind, options, &found));
        let context = self.context(options, step, found);
        kind.check(&context)
            .map_err(|refusal| self.refused(refusal))?;
        let each = BuildOptions {
            step,
            integrator_tolerance: options.integrator_tolerance(),
            fmu_tolerance: fmu_tolerance(kind, options),
            log: options.fmi_log.clone(),
            inputs: None,
            states: None,
            goes_back: options.goes_back,
            course: options.course.clone(),
            outside: options.outside.clone(),
        };
        let with_states = |k: usize| BuildOptions {
            states: self.start_states.as_ref().map(|all| all[k].clone()),
            ..each.clone()
        };
        let systems = BuildPlan {
            each: (0..self.parts.len()).map(with_states).collect(),
            estimated: stand_ins.estimated,
            settings: options.settings.clone(),
        };

        Ok(Plan {
            kind,
            context,
            reason,
            systems,
            warnings,
        })
    }

    /// The method that the options ask for, and why where it was chosen from what the systems can do.
    fn method_of(
        &self,
        options: &RunOptions,
        found: &[Capabilities],
    ) -> (&'static dyn MethodKind, Option<String>) {
        if options.method != AUTO {
            return (self.method_named(&options.method), None);
        }

        let chosen = choose(found, self.is_coupled(), self.jumping());
        (self.method_named(chosen.name), Some(chosen.reason))
    }

    fn method_named(&self, name: &str) -> &'static dyn MethodKind {
        let kind = self.catalog.registry().method(name);
        kind.expect("BUG: names of methods are checked when options are read")
    }

    fn stand_ins(
        &self,
        kind: &dyn MethodKind,
        options: &RunOptions,
        found: &[Capabilities],
    ) -> Result<StandIns, Refusal> {
        let systems = self.parts.iter().zip(found);
        let candidates: Vec<Candidate<'_>> = systems
            .map(|(part, capabilities)| Candidate {
                name: part.name(),
                capabilities: *capabilities,
            })
            .collect();
        kind.stand_ins(&candidates, &options.settings)
    }

    fn context(
        &self,
        options: &RunOptions,
        step: f64,
        capabilities: Vec<Capabilities>,
    ) -> Context<'_> {
        Context {
            connections: &self.connections,
            start: self.start_time,
            stop: self.stop_time + options.beyond_stop,
            beyond: options.beyond_stop,
            step,
            capabilities,
            settings: options.settings.clone(),
            solvers: self.catalog.registry().solvers(),
            whole: Some(self),
        }
    }

    pub(crate) fn build_method<'a>(
        &'a self,
        kind: &dyn MethodKind,
        context: Context<'a>,
        options: &RunOptions,
    ) -> Result<Box<dyn Method + 'a>, BadModel> {
        let automatic = options.method == AUTO;
        let method = build_watched(self.catalog.registry(), kind, context, automatic);
        method.map_err(|refusal| self.refused(refusal))
    }

    fn refused(&self, refusal: Refusal) -> BadModel {
        self.bad(Problem {
            help: refusal.help,
            remedies: refusal.remedies,
            ..Problem::general(refusal.message)
        })
    }

    /// The methods that the systems permit, under these options. Neither systems nor methods are made for it.
    pub fn permitted_methods(&self, options: &RunOptions) -> Vec<&'static str> {
        let mut names = self.catalog.registry().method_names();
        names.retain(|name| self.plan(&options.with_method(name)).is_ok());
        names
    }

    /// Whether the method of this name solves all equations as one system, so that nothing is coupled.
    pub fn solves_as_one(&self, name: &str) -> bool {
        let kind = self.catalog.registry().method(name);
        kind.is_some_and(|kind| kind.properties().solves_as_one)
    }

    /// What the systems can do in a run with steps of about this size.
    fn capabilities(&self, step: f64) -> Vec<Capabilities> {
        self.parts
            .iter()
            .map(|part| part.capabilities(step))
            .collect()
    }

    /// What the systems can do, in order; none of them is made.
    pub fn capabilities_of_systems(
        &self,
        options: &RunOptions,
    ) -> Result<Vec<Capabilities>, BadModel> {
        Ok(self.capabilities(self.step(options)?))
    }

    /// Refuses a method that the systems do not permit.
    pub fn check_method(&self, options: &RunOptions) -> Result<(), BadModel> {
        self.plan(options).map(|_| ())
    }

    /// The method that will run, and why where `auto` chose it.
    pub fn chosen_method(
        &self,
        options: &RunOptions,
    ) -> Result<(&'static str, Option<String>), BadModel> {
        let plan = self.plan(options)?;
        Ok((plan.kind.name(), plan.reason))
    }

    /// The step of methods on a grid, and a usual one for the others.
    fn step(&self, options: &RunOptions) -> Result<f64, BadModel> {
        let span = self.stop_time - self.start_time;
        let step = options.step().unwrap_or_else(|| {
            self.fitting_step(self.proposed_step.unwrap_or(span / DEFAULT_STEPS))
        });
        let resolved =
            self.start_time + step > self.start_time && self.stop_time - step < self.stop_time;
        if resolved && span / step < u64::MAX as f64 {
            return Ok(step);
        }

        let message = format!(
            "a step of {step:e} s is too small for a run from {} to {} s: times that close are the \
             same number",
            self.start_time, self.stop_time
        );
        Err(self.bad(Problem::general(message).with([Remedy::LargerStep])))
    }

    /// A step near the proposed one that is made of the steps inside FMUs and of those that systems impose.
    fn fitting_step(&self, proposed: f64) -> f64 {
        let steps = self.parts.iter().filter_map(Part::own_step);
        let longest = steps.fold(0.0, f64::max);

        if longest > 0.0 {
            longest * (proposed / longest).round().max(1.0)
        } else {
            proposed
        }
    }
}

/// What the solvers inside FMUs are asked for: far less than what the coupling is allowed to be off by, where the method
/// knows that; none: what an FMU itself proposes.
fn fmu_tolerance(kind: &dyn MethodKind, options: &RunOptions) -> Option<f64> {
    if options.settings.has(&INTEGRATOR_TOLERANCE) {
        return Some(options.integrator_tolerance());
    }

    let coupling = kind.tolerance(&options.settings)?;
    Some((FMU_SHARE * coupling).clamp(1e-12, 1e-4))
}
