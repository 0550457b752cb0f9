//! Tries an FMU out before the run: what it declares is believed where it holds.
//!
//! The experiments are carried out by a [`ExperimentRunner`], in a child process where there is one;
//! this decides what their outcomes mean.

mod derivatives;
mod inputs;
mod precision;
mod rollback;

use dovetail_core::StepRule;

use crate::abilities::{FmuCapabilities, InputMode, OutputSlopes};
use crate::experiment::{Experiment, ExperimentFailure, InputCourse, Observation};
use crate::finding::{Capability, Finding};
use crate::measures::{differ, distance};
use crate::reactions::Reactions;

/// Values that differ by more than this, relative, are not the same.
const SAME: f64 = 1e-12;
/// How far inputs are moved, in units of their size, to see whether they matter before
/// initialization mode; some FMUs cannot be initialized with the one and can with the other.
const OFFSETS: [f64; 2] = [0.5, 0.13];
/// How far inputs are moved so that an FMU at rest moves.
const MOVING: f64 = 0.5;

/// Carries experiments out, each on an instance that is fresh or as good as fresh.
pub trait ExperimentRunner {
    /// What came of it.
    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, ExperimentFailure>;

    /// From now on instances are made without event mode.
    fn avoid_event_mode(&mut self);

    /// Whether all experiments so far were carried out on instances as good as fresh. If they were
    /// not, every one from now on has a fresh instance, as if none had been tried before.
    fn confirm(&mut self) -> bool {
        true
    }

    /// Whether the FMU was found to be fit for one instance in a process only.
    fn found_single(&self) -> bool {
        false
    }

    /// What the user should know about how the FMU was tried.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// What the probe makes of an FMU.
pub(crate) struct ProbeVerdict {
    pub abilities: FmuCapabilities,
    pub findings: Vec<Finding>,
    pub reactions: Reactions,
    pub warnings: Vec<String>,
}

/// What is to be tried, beside the declared abilities.
pub(crate) struct Subject {
    pub co_simulation: bool,
    /// Whether it has inputs that can be moved.
    pub movable: bool,
    /// The outputs that have slopes, as positions in readings.
    pub smooth: Vec<usize>,
    /// About how long the steps of the run will be.
    pub step: f64,
}

/// The FMU while it is tried.
struct Probe<'a> {
    experiments: &'a mut dyn ExperimentRunner,
    subject: &'a Subject,
    abilities: FmuCapabilities,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    /// The size of the steps.
    size: f64,
    /// How far inputs were moved, where the FMU took that.
    moving: f64,
}

/// Tries an FMU that declares these abilities.
pub(crate) fn probe(
    experiments: &mut dyn ExperimentRunner,
    abilities: &FmuCapabilities,
    subject: &Subject,
) -> Result<ProbeVerdict, ExperimentFailure> {
    let verdict = Probe::new(experiments, abilities, subject).run();
    if verdict.is_ok() && !experiments.confirm() {
        return Probe::new(experiments, abilities, subject).run();
    }
    verdict
}

impl<'a> Probe<'a> {
    fn new(
        experiments: &'a mut dyn ExperimentRunner,
        abilities: &FmuCapabilities,
        subject: &'a Subject,
    ) -> Self {
        let size = abilities.probe_step(subject.step);
        Self {
            experiments,
            subject,
            abilities: abilities.clone(),
            findings: Vec::new(),
            warnings: Vec::new(),
            size,
            moving: 0.0,
        }
    }
}

impl Probe<'_> {
    fn run(mut self) -> Result<ProbeVerdict, ExperimentFailure> {
        let baseline = self.start()?;
        let reactions = self.reactions_or_declared(baseline.is_some())?;

        if let Some(baseline) = &baseline
            && self.subject.co_simulation
        {
            self.try_co_simulation(baseline);
        }

        self.abilities.single |= self.experiments.found_single();
        self.warnings.extend(self.experiments.remark());

        Ok(ProbeVerdict {
            abilities: self.abilities,
            findings: self.findings,
            reactions,
            warnings: self.warnings,
        })
    }

    fn early(&self) -> bool {
        self.abilities.early_inputs
    }

    fn try_out(&mut self, experiment: Experiment) -> Result<Observation, ExperimentFailure> {
        self.experiments.carry_out(&experiment)
    }

    fn try_start(&mut self, early: bool, offset: f64) -> Result<Observation, ExperimentFailure> {
        self.try_out(Experiment::Start { early, offset })
    }

    /// What a Co-Simulation FMU declares. What does not hold is taken from its abilities.
    fn try_co_simulation(&mut self, baseline: &[f64]) {
        if !self.abilities.directional {
            self.abilities.linearizes = false;
            self.forget_chained_slopes();
        }

        if self.abilities.rollback {
            self.try_rollback(baseline);
        }

        if self.abilities.linearizes {
            self.try_linearization();
        }

        match self.abilities.inputs {
            InputMode::Derivatives(most) => self.try_input_derivatives(most, baseline),
            InputMode::Intermediate => self.try_intermediate_update(baseline),
            InputMode::Held => {}
        }

        if let OutputSlopes::Reported(orders) = self.abilities.slopes {
            self.try_output_derivatives(orders);
        }
        if self.abilities.step == StepRule::Free {
            self.abilities.precision = self.precision(baseline);
        }
    }

    fn forget_chained_slopes(&mut self) {
        if self.abilities.slopes == OutputSlopes::Chained {
            self.abilities.slopes = OutputSlopes::Unknown;
        }
    }

    fn one_step(&mut self, course: InputCourse) -> Result<Vec<f64>, ExperimentFailure> {
        let seen = self.try_out(Experiment::Steps {
            early: self.early(),
            course,
            sizes: vec![self.size],
        })?;
        Ok(seen.readings.into_iter().next().unwrap_or_default())
    }

    /// Whether a step in which the inputs do this ends elsewhere than the first one did.
    fn has_effect(&mut self, course: InputCourse, baseline: &[f64]) -> bool {
        let moved = self.one_step(course);
        moved.is_ok_and(|moved| differ(&moved, baseline))
    }

    /// Whether other values of the inputs change anything over the first step.
    fn inputs_matter(&mut self, baseline: &[f64]) -> bool {
        self.has_effect(InputCourse::Moved(0.5), baseline)
    }
}

/// How the FMU starts.
impl Probe<'_> {
    /// What it answers to a first step, if it can be stepped at all.
    fn start(&mut self) -> Result<Option<Vec<f64>>, ExperimentFailure> {
        match self.first_start() {
            Ok(seen) => self.judge_start(&seen).map(Some),
            Err(failure) if failure.is_silent() => Err(failure),
            // A step that fails is the run's to report; what was declared cannot be believed then.
            Err(failure) => {
                self.distrust(&failure);
                Ok(None)
            }
        }
    }

    fn first_start(&mut self) -> Result<Observation, ExperimentFailure> {
        let mut seen = self.try_start(true, 0.0);
        let event_mode = self.abilities.event_mode && self.subject.co_simulation;

        if event_mode && matches!(seen, Err(ExperimentFailure::NoInstance(_))) {
            seen = self.start_without_event_mode(seen);
        }

        if seen.as_ref().is_ok_and(|seen| seen.refused_early) {
            self.abilities.early_inputs = false;
            seen = self.try_start(false, 0.0);
        }
        seen
    }

    fn judge_start(&mut self, seen: &Observation) -> Result<Vec<f64>, ExperimentFailure> {
        let [inside, after, stepped] = &seen.readings[..] else {
            let bug = "BUG: a start has three readings";
            return Err(ExperimentFailure::refused(bug));
        };
        let outputs = seen.outputs.min(inside.len());
        self.abilities.late_outputs = distance(&inside[..outputs], &after[..outputs]) > SAME;

        if self.abilities.early_inputs && self.subject.movable {
            self.abilities.enters_with_inputs = self.depends_on_early_inputs();
        }
        Ok(stepped.clone())
    }

    /// An FMU that declares event mode and gives no instance may give one without it.
    fn start_without_event_mode(
        &mut self,
        failed: Result<Observation, ExperimentFailure>,
    ) -> Result<Observation, ExperimentFailure> {
        self.experiments.avoid_event_mode();
        let again = self.try_start(true, 0.0);
        if again.is_err() {
            return failed;
        }

        self.abilities.event_mode = false;
        let why = failed.map_or_else(|failure| failure.to_string(), |_| String::new());
        self.findings.push(Capability::EventMode.fails(why));

        again
    }

    fn distrust(&mut self, why: &ExperimentFailure) {
        let declared = self.abilities.clone();
        self.abilities = declared.without_promises(self.subject.co_simulation);
        self.warnings.push(format!(
            "it could not be tried out before the run ({why}), so what it declares is not used"
        ));
    }

    /// Whether it makes a difference that inputs are known before initialization mode. Where an FMU
    /// does not take other values at all, it is supposed to.
    fn depends_on_early_inputs(&mut self) -> bool {
        for offset in OFFSETS {
            let early = self.try_start(true, offset);
            let late = self.try_start(false, offset);
            if let (Ok(early), Ok(late)) = (early, late) {
                let mut pairs = early.readings.iter().zip(&late.readings);
                return pairs.any(|(early, late)| distance(early, late) > SAME);
            }
        }
        true
    }
}

/// Directional derivatives and feedthrough.
impl Probe<'_> {
    /// What reacts to what. An FMU that starts and steps may still refuse other inputs than its
    /// own: its description then counts.
    fn reactions_or_declared(&mut self, has_started: bool) -> Result<Reactions, ExperimentFailure> {
        match self.reactions() {
            Err(failure) if has_started && !failure.is_silent() => {
                self.warnings.push(format!(
                    "what its outputs depend on could not be tried ({failure}): its description \
                     counts"
                ));
                Ok(Reactions::default())
            }
            reactions => reactions,
        }
    }

    fn reactions(&mut self) -> Result<Reactions, ExperimentFailure> {
        let mut seen = self.try_reactions();
        if let Err(failure) = &seen
            && self.abilities.directional
        {
            // It may be the derivatives that fail: once more without them.
            let finding = Capability::DirectionalDerivatives.fails(failure.to_string());
            self.findings.push(finding);
            self.abilities.directional = false;
            seen = self.try_reactions();
        }

        let reactions = seen?.reactions.unwrap_or_default();
        if self.abilities.directional {
            let finding = judge_directional(&reactions);
            self.abilities.directional = finding.holds();
            self.findings.push(finding);
        }
        Ok(reactions)
    }

    fn try_reactions(&mut self) -> Result<Observation, ExperimentFailure> {
        self.try_out(Experiment::Reactions {
            early: self.early(),
            directional: self.abilities.directional,
            comparable: !self.abilities.late_outputs,
        })
    }
}

fn judge_directional(reactions: &Reactions) -> Finding {
    let capability = Capability::DirectionalDerivatives;
    if let Some(what) = &reactions.wrong {
        return capability.fails(what.clone());
    }

    match (reactions.compared, reactions.incomparable.len()) {
        (0, 0) => capability.believed("there is nothing to compare them with"),
        (0, _) => capability.believed(unconfirmed(&reactions.incomparable)),
        (_, 0) => capability.holds("they agree with differences"),
        (compared, _) => {
            let rest = unconfirmed(&reactions.incomparable);
            capability.holds(format!("{compared} of them agree with differences; {rest}"))
        }
    }
}

fn unconfirmed(names: &[String]) -> String {
    let listed = dovetail_core::list_names(names);
    format!("those by {listed} are not confirmed: nothing can be moved there without moving more")
}
