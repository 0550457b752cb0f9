//! Experiments on an FMU that was laid out.

use dovetail_core::{
    Input, Linearization, MAX_DEGREE, MacroStep, Output, Response, Signal, SignalKind, StepRule,
    System,
};

use super::error::FmuError;
use super::instances::InstanceSource;
use super::probing::Asked;
use super::{PreparedFmu, RunConditions};
use crate::abilities::{FmuCapabilities, InputMode, OutputSlopes};
use crate::experiment::{Experiment, ExperimentFailure, InputCourse, Observation};

/// A step that is this part of an ordinary one is next to nothing.
const HARDLY: f64 = 1e-5;
/// Each input is moved by so much more than the one before it: an FMU may look at their difference
/// only.
const SPREAD: f64 = 0.37;

impl PreparedFmu {
    /// Tries `experiment` on an instance of this process, over steps of about `conditions.step`.
    pub(super) fn experiment(
        &self,
        experiment: &Experiment,
        conditions: &RunConditions,
        instances: &InstanceSource,
    ) -> Result<Observation, ExperimentFailure> {
        let attempt = Attempt {
            prepared: self,
            conditions,
            instances,
            early: experiment.sets_inputs_early(),
        };
        match *experiment {
            Experiment::Start { offset, .. } => attempt.start(offset),
            Experiment::Reactions {
                early,
                directional,
                comparable,
            } => {
                let asked = Asked {
                    directional,
                    comparable,
                };
                self.react(early, asked, conditions.log.clone(), instances)
            }
            Experiment::Steps {
                course, ref sizes, ..
            } => attempt.steps(course, sizes),
            Experiment::ShorterSteps {
                tried,
                offset,
                ref sizes,
                ..
            } => attempt.shorter_steps(tried, offset, sizes),
            Experiment::Linearization { offset, .. } => attempt.linearize_and_read(offset),
            Experiment::Rollback { .. } => attempt.roll_back(),
            Experiment::OutputSlopes {
                by,
                at_start,
                offset,
                ..
            } => attempt.slopes(by, at_start, offset),
        }
    }

    /// Inputs away from their start values, those that are not quantities at them.
    fn moved_inputs(&self, offset: f64) -> Vec<f64> {
        let moved = |input: &Input| match input.kind {
            SignalKind::Continuous if offset != 0.0 => {
                input.start + offset * (1.0 + input.start.abs())
            }
            _ => input.start,
        };
        self.layout.inputs.iter().map(moved).collect()
    }
}

/// One attempt at an experiment.
struct Attempt<'a> {
    prepared: &'a PreparedFmu,
    conditions: &'a RunConditions,
    instances: &'a InstanceSource,
    early: bool,
}

impl Attempt<'_> {
    /// The FMU as it is without anything that has yet to be tried.
    fn plain(&self) -> FmuCapabilities {
        FmuCapabilities {
            rollback: false,
            linearizes: false,
            slopes: OutputSlopes::Unknown,
            inputs: InputMode::Held,
            early_inputs: self.early,
            ..self.prepared.declared.clone()
        }
    }

    fn made(
        &self,
        abilities: &FmuCapabilities,
        conditions: &RunConditions,
        derivatives: usize,
    ) -> Result<TestSystem, FmuError> {
        TestSystem::new(
            self.prepared,
            abilities,
            conditions,
            derivatives,
            self.instances,
        )
    }

    /// A system with these abilities at the beginning of the run.
    fn begun(
        &self,
        abilities: &FmuCapabilities,
        derivatives: usize,
    ) -> Result<TestSystem, ExperimentFailure> {
        let mut system = self.made(abilities, self.conditions, derivatives)?;
        system.begin()?;
        Ok(system)
    }

    fn start(&self, offset: f64) -> Result<Observation, ExperimentFailure> {
        let inputs = self.prepared.moved_inputs(offset);
        let known = RunConditions {
            inputs: Some(inputs.clone()),
            ..self.conditions.clone()
        };
        let mut system = match self.made(&self.plain(), &known, 0) {
            Err(FmuError::EarlyInputs(_)) => return Ok(Observation::refusal_of_early_inputs()),
            made => made?,
        };
        system.inputs = inputs.into_iter().map(Signal::constant).collect();
        let mut seen = system.nothing_seen();
        system.ask(self.prepared.start_time())?;
        seen.readings.push(system.reading());
        system.begin()?;
        seen.readings.push(system.reading());
        system.advance(system.steps.step(0))?;
        seen.readings.push(system.reading());

        Ok(seen)
    }

    fn steps(&self, course: InputCourse, sizes: &[f64]) -> Result<Observation, ExperimentFailure> {
        let mut able = self.plain();
        able.inputs = match course {
            InputCourse::Derivatives(order) => InputMode::Derivatives(order),
            InputCourse::Intermediate => InputMode::Intermediate,
            InputCourse::Held | InputCourse::Moved(_) => InputMode::Held,
        };
        let mut system = self.begun(&able, 0)?;

        match course {
            InputCourse::Held => {}
            InputCourse::Moved(offset) => system.inputs = system.moved(offset),
            InputCourse::Derivatives(order) => system.bend(order, sizes[0]),
            InputCourse::Intermediate => system.bend(1, sizes[0]),
        }

        let mut seen = system.nothing_seen();
        let mut start = self.prepared.start_time();

        for size in sizes {
            let step = MacroStep::new(start, start + size);
            system.advance(step)?;
            seen.readings.push(system.reading());
            start = step.end;
        }
        Ok(seen)
    }

    /// Readings come in pairs: before each of the shorter steps, and after it.
    fn shorter_steps(
        &self,
        tried: bool,
        offset: f64,
        sizes: &[f64],
    ) -> Result<Observation, ExperimentFailure> {
        let able = FmuCapabilities {
            rollback: tried,
            ..self.plain()
        };
        let mut system = self.begun(&able, 0)?;
        let start = system.inputs.clone();
        let mut seen = system.nothing_seen();
        let mut from = self.prepared.start_time();

        for (number, size) in sizes.iter().enumerate() {
            // A little further every time.
            system.inputs.clone_from(&start);
            system.inputs = system.moved(offset * (1.0 + 0.001 * number as f64));
            let step = MacroStep::new(from, from + size);
            let before = system.reading();
            if tried && number > 0 {
                let after = system.trial(step, &system.inputs.clone())?;
                // Every trial begins where the first step has ended.
                let origin = seen.readings.first().cloned().unwrap_or(before);
                seen.readings.extend([origin, after]);
                continue;
            }
            system.advance(step)?;
            if number > 0 {
                seen.readings.extend([before, system.reading()]);
            }
            from = step.end;
        }
        Ok(seen)
    }

    fn linearize_and_read(&self, offset: f64) -> Result<Observation, ExperimentFailure> {
        let able = FmuCapabilities {
            linearizes: true,
            ..self.plain()
        };
        let mut system = self.begun(&able, 0)?;
        let step = system.steps.step(0);
        system.inputs = system.moved(offset);
        system.advance(step)?;
        let mut seen = system.nothing_seen();
        seen.readings.push(system.reading());
        system.linearize()?;
        system.ask(step.end)?;
        seen.readings.push(system.reading());

        Ok(seen)
    }

    fn roll_back(&self) -> Result<Observation, ExperimentFailure> {
        let able = FmuCapabilities {
            rollback: true,
            ..self.plain()
        };
        let mut system = self.begun(&able, 0)?;
        let inputs = system.inputs.clone();
        let other = system.moved(0.1);
        let step = system.steps.step(0);
        let next = system.steps.step(1);
        let mut seen = system.nothing_seen();
        seen.readings.push(system.trial(step, &inputs)?);
        // Other inputs may be out of the FMU's range: what matters is the way back.
        if let Err(crash @ ExperimentFailure::Crashed(_)) = system.trial(step, &other) {
            return Err(crash);
        }

        seen.readings.push(system.trial(step, &inputs)?);
        system.advance(step)?;
        seen.readings.push(system.trial(next, &inputs)?);
        seen.readings.push(system.trial(next, &inputs)?);

        Ok(seen)
    }

    fn slopes(
        &self,
        by: OutputSlopes,
        at_start: bool,
        offset: f64,
    ) -> Result<Observation, ExperimentFailure> {
        let able = FmuCapabilities {
            slopes: by,
            slopes_at_start: at_start,
            ..self.plain()
        };
        let mut system = self.begun(&able, 1)?;
        let mut seen = system.nothing_seen();
        system.see_slopes(&mut seen);

        if offset != 0.0 {
            system.inputs = system.moved(offset);
        }

        for number in 0..3 {
            system.advance(system.steps.step(number))?;
            system.see_slopes(&mut seen);
        }

        // A step that hardly moves anything: slopes stay, and differences of what was read last do
        // not.
        if self.prepared.abilities.step == StepRule::Free {
            let last = system.steps.step(2);
            system.advance(MacroStep::new(last.end, last.end + HARDLY * last.size()))?;
            system.see_slopes(&mut seen);
        }
        Ok(seen)
    }
}

/// Steps that follow one another.
#[derive(Clone, Copy)]
struct TestSteps {
    start: f64,
    size: f64,
}

impl TestSteps {
    fn step(self, number: usize) -> MacroStep {
        let at = |n: usize| self.start + n as f64 * self.size;
        MacroStep::new(at(number), at(number + 1))
    }
}

/// A system under test, with its answers.
struct TestSystem {
    system: Box<dyn System>,
    response: Response,
    inputs: Vec<Signal>,
    steps: TestSteps,
}

impl TestSystem {
    fn new(
        prepared: &PreparedFmu,
        abilities: &FmuCapabilities,
        conditions: &RunConditions,
        derivatives: usize,
        instances: &InstanceSource,
    ) -> Result<Self, FmuError> {
        let (system, _) = prepared.system_with("probe", abilities, conditions, instances)?;
        let interface = system.interface();
        let start = |input: &Input| Signal::constant(input.start);

        Ok(Self {
            inputs: interface.inputs.iter().map(start).collect(),
            response: Response::new(interface, derivatives),
            steps: TestSteps {
                start: prepared.start_time(),
                size: prepared.probe_step(conditions.step),
            },
            system,
        })
    }

    fn begin(&mut self) -> Result<(), ExperimentFailure> {
        let instant = MacroStep::instant(self.steps.start);
        self.system
            .begin(instant, &self.inputs, &mut self.response)?;
        Ok(())
    }

    /// A question about the present.
    fn ask(&mut self, time: f64) -> Result<(), ExperimentFailure> {
        self.respond(MacroStep::instant(time))
    }

    fn advance(&mut self, step: MacroStep) -> Result<(), ExperimentFailure> {
        self.respond(step)?;
        if self.response.ends {
            let reason = "it asks for the end of the simulation";
            return Err(ExperimentFailure::refused(reason));
        }
        Ok(())
    }

    fn respond(&mut self, step: MacroStep) -> Result<(), ExperimentFailure> {
        let response = &mut self.response;
        Ok(self.system.advance(step, &self.inputs, response)?)
    }

    fn trial(&mut self, step: MacroStep, inputs: &[Signal]) -> Result<Vec<f64>, ExperimentFailure> {
        let trial = self.system.trial().ok_or_else(not_offered)?;
        trial.respond(step, inputs, &mut self.response)?;
        Ok(self.reading())
    }

    fn linearize(&mut self) -> Result<(), ExperimentFailure> {
        let mut into = Linearization::of(self.system.interface());
        let system = self.system.linearize().ok_or_else(not_offered)?;
        system.linearize_into(&mut into)?;
        Ok(())
    }
}

/// What is read.
impl TestSystem {
    fn nothing_seen(&self) -> Observation {
        Observation::new(self.response.outputs.len())
    }

    fn reading(&self) -> Vec<f64> {
        let outputs = self.response.outputs.iter().map(|knot| knot.value);
        let states = self.response.states.iter().copied();
        outputs.chain(states).collect()
    }

    fn see_slopes(&self, seen: &mut Observation) {
        let is_smooth = |output: &Output| output.kind == SignalKind::Continuous;
        let outputs = &self.system.interface().outputs;
        let all = outputs.iter().zip(&self.response.outputs);
        let smooth = all.filter(|(output, _)| is_smooth(output));
        let slopes = smooth.map(|(_, knot)| knot.slope).collect();
        seen.readings.push(self.reading());

        seen.slopes.push(slopes);
    }
}

/// What inputs do.
impl TestSystem {
    /// Other values for the continuous inputs; what is not a quantity may have no other value.
    fn moved(&self, offset: f64) -> Vec<Signal> {
        let mut moved = self.inputs.clone();
        for (i, signal) in moved.iter_mut().enumerate() {
            if self.is_continuous(i) {
                let value = 1.5 * signal.value(0.0) + offset * spread(i);
                *signal = Signal::constant(value);
            }
        }
        moved
    }

    /// Continuous inputs that leave their start values with the power `order` of time.
    fn bend(&mut self, order: usize, size: f64) {
        for i in 0..self.inputs.len() {
            if self.is_continuous(i) {
                let start = self.inputs[i].value(0.0);
                let height = 0.5 * spread(i) * (1.0 + start.abs());
                let mut coefficients = [0.0; MAX_DEGREE + 1];
                coefficients[0] = start;
                coefficients[order] = height / size.powi(order as i32);
                self.inputs[i] = Signal::new(&coefficients);
            }
        }
    }

    fn is_continuous(&self, input: usize) -> bool {
        self.system.interface().inputs[input].kind == SignalKind::Continuous
    }
}

fn spread(input: usize) -> f64 {
    1.0 + SPREAD * input as f64
}

fn not_offered() -> ExperimentFailure {
    ExperimentFailure::refused("it is not offered")
}
