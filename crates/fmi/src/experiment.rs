//! What is done with one fresh instance of a unit while it is tried out.
//!
//! Every experiment makes one instance, asks it a few things and frees it: units that live once in a process can be tried so, each
//! experiment in a process of its own. What the answers mean is decided elsewhere (`probe`).

use dovetail_core::{Error, Linearization, MacroStep, Nature, Response, Signal, StepRule, System};
use serde::{Deserialize, Serialize};

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::call_error::CallError;
use crate::reactions::Reactions;
use crate::unit::{Conditions, Prepared, UnitError};

/// One thing to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Experiment {
    /// From the values of inputs that are known before initialization mode, or in it only, to the end of a step.
    Start {
        /// Whether inputs are set before initialization mode as well as in it.
        early: bool,
        /// How far continuous inputs are from their start values, in units of their size.
        offset: f64,
    },
    /// Inputs and states are moved one by one: what reacts, and whether directional derivatives agree.
    Reactions {
        /// As above.
        early: bool,
        /// Whether directional derivatives are asked for.
        directional: bool,
        /// Whether they can be compared in initialization mode: not where outputs come later.
        comparable: bool,
    },
    /// Steps of these sizes.
    Steps {
        /// As above.
        early: bool,
        /// What the inputs do meanwhile.
        course: Course,
        /// The steps.
        sizes: Vec<f64>,
    },
    /// After a step, shorter and shorter ones under inputs that change every time: an inner solver then starts anew, as in a coupled run.
    ShorterSteps {
        /// As above.
        early: bool,
        /// Whether each is tried from the end of the first step, rather than taken.
        tried: bool,
        /// How far inputs are away, as in [`Course::Moved`].
        offset: f64,
        /// The steps, the first one included.
        sizes: Vec<f64>,
    },
    /// After a step the unit is linearised by its directional derivatives, and read again.
    Linearization {
        /// As above.
        early: bool,
        /// How far inputs are away, as in [`Course::Moved`].
        offset: f64,
    },
    /// A step is tried, also under other inputs, and tried again; then taken, and the next one tried twice.
    Rollback {
        /// As above.
        early: bool,
    },
    /// Slopes of outputs, after the start, over three steps under inputs that have moved, and after one that is next to nothing.
    OutputSlopes {
        /// As above.
        early: bool,
        /// Who knows them: the unit itself, or its directional derivatives.
        by: Slopes,
        /// Whether they are asked for before the first step too.
        at_start: bool,
        /// How far inputs are away, as in [`Course::Moved`].
        offset: f64,
    },
}

/// What inputs do over a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Course {
    /// They keep their start values.
    Held,
    /// They keep other values: so far away, in units of their size.
    Moved(f64),
    /// They leave their start values with this power of time, told as derivatives (2.0).
    Derivatives(usize),
    /// They leave their start values with time, asked for during intermediate update (3.0).
    Intermediate,
}

/// A step that is this part of an ordinary one is next to nothing.
const HARDLY: f64 = 1e-5;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Outputs and states, one reading after the other.
    pub readings: Vec<Vec<f64>>,
    /// How many of the numbers of a reading are outputs.
    pub outputs: usize,
    /// Slopes of continuous outputs, one reading after the other, where they were asked for.
    pub slopes: Vec<Vec<f64>>,
    /// The unit does not let its inputs be set before initialization mode.
    pub refused_early: bool,
    /// What reacts to what.
    pub reactions: Option<Reactions>,
}

/// Why nothing was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum Mishap {
    /// The unit said no.
    #[error("{0}")]
    Refused(String),
    /// There is no instance.
    #[error("{0}")]
    NoInstance(String),
    /// It crashed, or ended its process: nothing more can be done where that happened.
    #[error("{0}")]
    Crashed(String),
    /// It did not answer.
    #[error("{0}")]
    Silent(String),
}

impl From<UnitError> for Mishap {
    fn from(error: UnitError) -> Self {
        match &error {
            UnitError::Call(CallError::Crashed { .. } | CallError::Dead { .. }) => {
                Self::Crashed(error.to_string())
            }
            UnitError::Call(CallError::NotInstantiated { .. }) => {
                Self::NoInstance(error.to_string())
            }
            _ => Self::Refused(error.to_string()),
        }
    }
}

impl From<CallError> for Mishap {
    fn from(error: CallError) -> Self {
        UnitError::from(error).into()
    }
}

impl From<Error> for Mishap {
    /// What a unit itself says of a failure, without our frame.
    fn from(error: Error) -> Self {
        let Error::System { reason, .. } = error else {
            return Self::Refused(error.to_string());
        };
        let crashed = matches!(
            reason.downcast_ref(),
            Some(CallError::Crashed { .. } | CallError::Dead { .. })
        );
        if crashed {
            Self::Crashed(reason.to_string())
        } else {
            Self::Refused(reason.to_string())
        }
    }
}

impl Prepared {
    /// Tries `experiment` on an instance of this process, over steps of about `conditions.step`.
    pub(crate) fn experiment(
        &self,
        experiment: &Experiment,
        conditions: &Conditions,
    ) -> Result<Observation, Mishap> {
        match experiment {
            Experiment::Start { early, offset } => self.start(*early, *offset, conditions),
            Experiment::Reactions {
                early,
                directional,
                comparable,
            } => self.react(*early, *directional, *comparable),
            Experiment::Steps {
                early,
                course,
                sizes,
            } => self.steps(*early, *course, sizes, conditions),
            Experiment::ShorterSteps {
                early,
                tried,
                offset,
                sizes,
            } => self.shorter_steps(*early, *tried, *offset, sizes, conditions),
            Experiment::Linearization { early, offset } => {
                self.linearize_and_read(*early, *offset, conditions)
            }
            Experiment::Rollback { early } => self.roll_back(*early, conditions),
            Experiment::OutputSlopes {
                early,
                by,
                at_start,
                offset,
            } => self.slopes(*early, *by, *at_start, *offset, conditions),
        }
    }

    /// The unit as it is without anything that has yet to be tried.
    fn plain(&self, early: bool) -> Abilities {
        let (slopes, inputs) = (Slopes::Unknown, InputWay::Held);
        Abilities {
            rollback: false,
            linearizes: false,
            slopes,
            inputs,
            early_inputs: early,
            ..self.declared.clone()
        }
    }

    fn start(
        &self,
        early: bool,
        offset: f64,
        conditions: &Conditions,
    ) -> Result<Observation, Mishap> {
        let inputs = self.moved_inputs(offset);
        let known = Conditions {
            inputs: Some(inputs.clone()),
            ..conditions.clone()
        };
        let mut subject = match Subject::new(self, &self.plain(early), &known, 0) {
            Err(UnitError::EarlyInputs(_)) => {
                return Ok(Observation {
                    refused_early: true,
                    ..Observation::default()
                });
            }
            made => made?,
        };
        subject.inputs = inputs
            .iter()
            .map(|&value| Signal::constant(value))
            .collect();
        let instant = MacroStep::instant(self.start_time());
        subject
            .system
            .advance(instant, &subject.inputs, &mut subject.response)?;
        let mut seen = Observation {
            outputs: subject.response.outputs.len(),
            ..Observation::default()
        };
        seen.readings.push(subject.reading());
        subject.begin()?;
        seen.readings.push(subject.reading());
        subject.advance(subject.trip.step(0))?;
        seen.readings.push(subject.reading());
        Ok(seen)
    }

    fn steps(
        &self,
        early: bool,
        course: Course,
        sizes: &[f64],
        conditions: &Conditions,
    ) -> Result<Observation, Mishap> {
        let mut able = self.plain(early);
        able.inputs = match course {
            Course::Derivatives(order) => InputWay::Derivatives(order),
            Course::Intermediate => InputWay::Intermediate,
            Course::Held | Course::Moved(_) => InputWay::Held,
        };
        let mut subject = Subject::new(self, &able, conditions, 0)?;
        subject.begin()?;
        match course {
            Course::Held => {}
            Course::Moved(offset) => subject.inputs = subject.moved(offset),
            Course::Derivatives(order) => subject.bend(order, sizes[0]),
            Course::Intermediate => subject.bend(1, sizes[0]),
        }
        let mut seen = Observation {
            outputs: subject.response.outputs.len(),
            ..Observation::default()
        };
        let mut start = self.start_time();
        for size in sizes {
            let step = MacroStep::new(start, start + size);
            subject.advance(step)?;
            seen.readings.push(subject.reading());
            start = step.end;
        }
        Ok(seen)
    }

    /// Readings come in pairs: before each of the shorter steps, and after it.
    fn shorter_steps(
        &self,
        early: bool,
        tried: bool,
        offset: f64,
        sizes: &[f64],
        conditions: &Conditions,
    ) -> Result<Observation, Mishap> {
        let able = Abilities {
            rollback: tried,
            ..self.plain(early)
        };
        let mut subject = Subject::new(self, &able, conditions, 0)?;
        subject.begin()?;
        let start = subject.inputs.clone();
        let mut seen = Observation {
            outputs: subject.response.outputs.len(),
            ..Observation::default()
        };
        let mut from = self.start_time();
        for (number, size) in sizes.iter().enumerate() {
            // A little further every time.
            subject.inputs.clone_from(&start);
            subject.inputs = subject.moved(offset * (1.0 + 0.001 * number as f64));
            let step = MacroStep::new(from, from + size);
            let before = subject.reading();
            if tried && number > 0 {
                let inputs = subject.inputs.clone();
                let after = subject.trial(step, &inputs)?;
                // Every trial begins where the first step has ended.
                let origin = seen.readings.first().cloned().unwrap_or(before);
                seen.readings.extend([origin, after]);
                continue;
            }
            subject.advance(step)?;
            if number > 0 {
                seen.readings.extend([before, subject.reading()]);
            }
            from = step.end;
        }
        Ok(seen)
    }

    fn linearize_and_read(
        &self,
        early: bool,
        offset: f64,
        conditions: &Conditions,
    ) -> Result<Observation, Mishap> {
        let able = Abilities {
            linearizes: true,
            ..self.plain(early)
        };
        let mut subject = Subject::new(self, &able, conditions, 0)?;
        subject.begin()?;
        subject.inputs = subject.moved(offset);
        subject.advance(subject.trip.step(0))?;
        let mut seen = Observation {
            outputs: subject.response.outputs.len(),
            ..Observation::default()
        };
        seen.readings.push(subject.reading());
        let mut into = Linearization::of(subject.system.interface());
        let unit = subject
            .system
            .linearize()
            .ok_or_else(|| Mishap::Refused("it is not offered".to_owned()))?;
        unit.linearize_into(&mut into)?;
        let now = MacroStep::instant(subject.trip.step(0).end);
        subject
            .system
            .advance(now, &subject.inputs, &mut subject.response)?;
        seen.readings.push(subject.reading());
        Ok(seen)
    }

    fn roll_back(&self, early: bool, conditions: &Conditions) -> Result<Observation, Mishap> {
        let able = Abilities {
            rollback: true,
            ..self.plain(early)
        };
        let mut subject = Subject::new(self, &able, conditions, 0)?;
        subject.begin()?;
        let (inputs, other) = (subject.inputs.clone(), subject.moved(0.1));
        let (step, next) = (subject.trip.step(0), subject.trip.step(1));
        let mut seen = Observation {
            outputs: subject.response.outputs.len(),
            ..Observation::default()
        };
        seen.readings.push(subject.trial(step, &inputs)?);
        // Other inputs may be out of the unit's range: what matters is the way back.
        if let Err(crash @ Mishap::Crashed(_)) = subject.trial(step, &other) {
            return Err(crash);
        }
        seen.readings.push(subject.trial(step, &inputs)?);
        subject.advance(step)?;
        seen.readings.push(subject.trial(next, &inputs)?);
        seen.readings.push(subject.trial(next, &inputs)?);
        Ok(seen)
    }

    fn slopes(
        &self,
        early: bool,
        by: Slopes,
        at_start: bool,
        offset: f64,
        conditions: &Conditions,
    ) -> Result<Observation, Mishap> {
        let able = Abilities {
            slopes: by,
            slopes_at_start: at_start,
            ..self.plain(early)
        };
        let mut subject = Subject::new(self, &able, conditions, 1)?;
        let mut seen = Observation {
            outputs: subject.response.outputs.len(),
            ..Observation::default()
        };
        subject.begin()?;
        let free = self.abilities.step == StepRule::Free;
        for number in 0..=if free { 4 } else { 3 } {
            match number {
                0 => {}
                1..=3 => subject.advance(subject.trip.step(number - 1))?,
                // A step that hardly moves anything: slopes stay, and differences of what was read last do not.
                _ => {
                    let step = subject.trip.step(2);
                    subject.advance(MacroStep::new(step.end, step.end + HARDLY * step.size()))?;
                }
            }
            seen.readings.push(subject.reading());
            let outputs = subject
                .system
                .interface()
                .outputs
                .iter()
                .zip(&subject.response.outputs);
            let smooth = outputs.filter(|(output, _)| output.nature == Nature::Continuous);
            seen.slopes
                .push(smooth.map(|(_, knot)| knot.slope).collect());
            if number == 0 && offset != 0.0 {
                subject.inputs = subject.moved(offset);
            }
        }
        Ok(seen)
    }

    /// Inputs away from their start values, those that are not quantities at them.
    fn moved_inputs(&self, offset: f64) -> Vec<f64> {
        let moved = |input: &dovetail_core::Input| match input.nature {
            Nature::Continuous if offset != 0.0 => input.start + offset * (1.0 + input.start.abs()),
            _ => input.start,
        };
        self.layout.inputs.iter().map(moved).collect()
    }
}

/// Steps that follow one another.
#[derive(Clone, Copy)]
struct Trip {
    start: f64,
    size: f64,
}

impl Trip {
    fn step(self, number: usize) -> MacroStep {
        let at = |n: usize| self.start + n as f64 * self.size;
        MacroStep::new(at(number), at(number + 1))
    }
}

/// A system under trial, with its answers.
struct Subject {
    system: Box<dyn System>,
    response: Response,
    inputs: Vec<Signal>,
    trip: Trip,
}

impl Subject {
    fn new(
        prepared: &Prepared,
        abilities: &Abilities,
        conditions: &Conditions,
        derivatives: usize,
    ) -> Result<Self, UnitError> {
        let (system, _) = prepared.system_with("probe", abilities, conditions)?;
        let interface = system.interface();
        let inputs: Vec<Signal> = interface
            .inputs
            .iter()
            .map(|input| Signal::constant(input.start))
            .collect();
        let response = Response::new(interface, derivatives);
        let trip = Trip {
            start: prepared.start_time(),
            size: prepared.trip_size(conditions.step),
        };
        Ok(Self {
            system,
            response,
            inputs,
            trip,
        })
    }

    fn begin(&mut self) -> Result<(), Mishap> {
        let instant = MacroStep::instant(self.trip.start);
        Ok(self
            .system
            .begin(instant, &self.inputs, &mut self.response)?)
    }

    /// Other values for the continuous inputs; what is not a quantity may have no other value.
    fn moved(&self, offset: f64) -> Vec<Signal> {
        let natures = self
            .system
            .interface()
            .inputs
            .iter()
            .map(|input| input.nature);
        let moved = |(i, (signal, nature)): (usize, (&Signal, Nature))| match nature {
            // Each by another amount: a unit may look at their difference only.
            Nature::Continuous => {
                Signal::constant(1.5 * signal.value(0.0) + offset * (1.0 + 0.37 * i as f64))
            }
            _ => *signal,
        };
        self.inputs
            .iter()
            .zip(natures)
            .enumerate()
            .map(moved)
            .collect()
    }

    /// Continuous inputs that leave their start values with the power `order` of time.
    fn bend(&mut self, order: usize, size: f64) {
        for (i, (signal, input)) in self
            .inputs
            .iter_mut()
            .zip(&self.system.interface().inputs)
            .enumerate()
        {
            if input.nature == Nature::Continuous {
                let start = signal.value(0.0);
                let mut coefficients = [0.0; 6];
                coefficients[0] = start;
                let height = 0.5 * (1.0 + 0.37 * i as f64) * (1.0 + start.abs());
                coefficients[order] = height / size.powi(order as i32);
                *signal = Signal::new(&coefficients);
            }
        }
    }

    fn advance(&mut self, step: MacroStep) -> Result<(), Mishap> {
        self.system
            .advance(step, &self.inputs, &mut self.response)?;
        if self.response.ends {
            return Err(Mishap::Refused(
                "it asks for the end of the simulation".to_owned(),
            ));
        }
        Ok(())
    }

    fn trial(&mut self, step: MacroStep, inputs: &[Signal]) -> Result<Vec<f64>, Mishap> {
        let trial = self
            .system
            .trial()
            .ok_or_else(|| Mishap::Refused("it is not offered".to_owned()))?;
        trial.respond(step, inputs, &mut self.response)?;
        Ok(self.reading())
    }

    fn reading(&self) -> Vec<f64> {
        let outputs = self.response.outputs.iter().map(|knot| knot.value);
        outputs
            .chain(self.response.states.iter().copied())
            .collect()
    }
}
