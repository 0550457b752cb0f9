//! One suite for every kind of system: native, wrapped, foreign, remote.
//!
//! It builds fresh systems as it needs them and returns the first broken promise as a sentence.

mod checkpoints;
mod derivatives;
mod steps;
mod trials;

use dovetail_core::{
    Capabilities, Evaluation, Input, Interface, Knot, Linearization, MAX_DEGREE, MacroStep,
    Response, Signal, SignalKind, StepRule, System,
};

/// How much one input is moved to either side for a difference quotient.
const INPUT_GAP: f64 = 1e-5;

/// What the suite may expect.
#[derive(Clone, Copy, Debug)]
pub struct Expectations {
    /// Start of the run.
    pub start: f64,
    /// A macro-step that suits the system.
    pub step: f64,
    /// Relative accuracy of the system's own integration.
    pub tolerance: f64,
}

/// Checks the systems that `make` makes against everything that [`System`] promises.
pub fn conformance(
    make: &mut dyn FnMut() -> Box<dyn System>,
    expect: Expectations,
) -> Result<(), String> {
    let mut suite = Suite::new(make, expect);
    suite.interface_is_sound()?;
    suite.answers_repeat()?;
    suite.questions_before_the_start_leave_no_trace()?;
    suite.instants_move_nothing()?;
    suite.two_halves_make_a_whole()?;
    suite.trials_leave_no_trace()?;
    suite.restored_systems_go_on_as_before()?;
    suite.estimates_are_near()?;
    suite.slopes_match_differences()?;

    suite.linearization_matches_differences()
}

struct Suite<'a> {
    make: &'a mut dyn FnMut() -> Box<dyn System>,
    expect: Expectations,
    interface: Interface,
    capabilities: Capabilities,
}

/// A step and the inputs during it.
#[derive(Clone)]
struct Question {
    step: MacroStep,
    inputs: Vec<Signal>,
}

/// An answer with the linearization there, if there is one.
struct Answer {
    response: Response,
    linearization: Option<Linearization>,
}

impl Answer {
    fn linearization(self) -> Result<Linearization, String> {
        let linearization = self.linearization.ok_or(NO_LINEARIZATION)?;
        Ok(linearization)
    }
}

const NO_LINEARIZATION: &str = "a linearization stays on offer";

/// What was found a little before, at, and a little after a place.
struct Around<T> {
    before: T,
    at: T,
    after: T,
}

fn ensure(condition: bool, claim: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(claim.to_owned())
    }
}

fn message(error: dovetail_core::Error) -> String {
    error.to_string()
}

fn bits(response: &Response) -> Vec<u64> {
    let knots = response
        .outputs
        .iter()
        .flat_map(|k| [k.value, k.slope, k.curvature]);
    knots
        .chain(response.states.iter().copied())
        .chain([response.reached])
        .map(f64::to_bits)
        .collect()
}

fn equal_bits(one: &Response, other: &Response) -> bool {
    bits(one) == bits(other)
}

/// A system under test, and what it answered last.
struct Subject {
    system: Box<dyn System>,
    response: Response,
}

impl Subject {
    fn begin(&mut self, at: &Question) -> Result<(), String> {
        self.system
            .begin(at.step, &at.inputs, &mut self.response)
            .map_err(message)
    }

    fn advance(&mut self, over: &Question) -> Result<(), String> {
        self.system
            .advance(over.step, &over.inputs, &mut self.response)
            .map_err(message)
    }

    /// Answers what would be.
    fn try_step(&mut self, over: &Question) -> Result<(), String> {
        let trial = self.system.trial().ok_or("a trial stays on offer")?;
        trial
            .respond(over.step, &over.inputs, &mut self.response)
            .map_err(message)
    }

    /// Answers what would be, and says whether an event is in the way.
    fn respond(&mut self, over: &Question) -> Result<bool, String> {
        self.try_step(over)?;
        stops_at_event(over.step, &self.response)
    }

    /// The linearization where the system stands, if there is one.
    fn linearization(&mut self, into: Linearization) -> Result<Option<Linearization>, String> {
        match self.system.linearize() {
            Some(_) => linearized(self.system.as_mut(), into).map(Some),
            None => Ok(None),
        }
    }

    fn into_answer(mut self, into: Linearization) -> Result<Answer, String> {
        let linearization = self.linearization(into)?;
        Ok(Answer {
            response: self.response,
            linearization,
        })
    }
}

/// Whether a trial has stopped at an event within its step; it must then say so.
fn stops_at_event(step: MacroStep, response: &Response) -> Result<bool, String> {
    let early = response.reached < step.end;
    ensure(
        !early || response.next_event == response.reached,
        "a trial that stops early stops at an event",
    )?;
    ensure(
        response.reached >= step.start && response.reached <= step.end,
        "a trial stays within its step",
    )?;

    Ok(early)
}

/// The linearization of a system where it stands.
fn linearized(system: &mut dyn System, mut into: Linearization) -> Result<Linearization, String> {
    let system = system.linearize().ok_or(NO_LINEARIZATION)?;
    system.linearize_into(&mut into).map_err(message)?;
    into.affine = 0; // a number of its own for every system
    Ok(into)
}

fn evaluate(system: &mut dyn System, time: f64, into: &mut Evaluation) -> Result<(), String> {
    let system = system.evaluate().ok_or("an evaluation stays on offer")?;
    system.evaluate_into(time, into).map_err(message)
}

impl<'a> Suite<'a> {
    fn new(make: &'a mut dyn FnMut() -> Box<dyn System>, expect: Expectations) -> Self {
        let mut system = make();
        let interface = system.interface().clone();
        let capabilities = Capabilities::of(system.as_mut());

        Self {
            make,
            expect,
            interface,
            capabilities,
        }
    }

    fn step(&self) -> f64 {
        match self.capabilities.step_rule {
            StepRule::Free => self.expect.step,
            StepRule::Imposed(size) => size,
        }
    }

    fn free(&self) -> bool {
        self.capabilities.step_rule == StepRule::Free
    }

    fn response(&self) -> Response {
        Response::new(&self.interface, 2)
    }

    /// Inputs that wiggle as much as the accepted degree allows, about their start values.
    fn inputs(&self, wiggle: f64) -> Vec<Signal> {
        let one = |(i, input): (usize, &Input)| match input.kind {
            SignalKind::Continuous => self.wiggling(i, input.start, wiggle),
            _ => Signal::constant(input.start),
        };
        self.interface.inputs.iter().enumerate().map(one).collect()
    }

    /// A signal of the accepted degree, about `start`.
    fn wiggling(&self, input: usize, start: f64, wiggle: f64) -> Signal {
        let degree = self.capabilities.input_degree.min(MAX_DEGREE);
        let scale = wiggle * (1.0 + start.abs()) * (1.0 + 0.3 * input as f64);
        let power =
            |p: usize| scale * [0.1, 1.0, -0.7, 0.4, 0.2, -0.1][p] / self.step().powi(p as i32);
        let coefficients: Vec<f64> = (0..=degree)
            .map(|p| power(p) + if p == 0 { start } else { 0.0 })
            .collect();

        Signal::new(&coefficients)
    }

    fn constants(&self, offset: f64) -> Vec<Signal> {
        let value = |input: &Input| match input.kind {
            SignalKind::Continuous => input.start + offset * (1.0 + input.start.abs()),
            _ => input.start,
        };
        self.interface
            .inputs
            .iter()
            .map(value)
            .map(Signal::constant)
            .collect()
    }

    /// The outputs that have slopes and may be measured: what jumps from value to value is given to
    /// the last bit, or is a text.
    fn smooth<'r>(&'r self, response: &'r Response) -> impl Iterator<Item = &'r Knot> {
        let outputs = self.interface.outputs.iter().zip(&response.outputs);
        outputs
            .filter(|(output, _)| output.kind == SignalKind::Continuous)
            .map(|(_, knot)| knot)
    }

    fn subject(&mut self) -> Subject {
        Subject {
            system: (self.make)(),
            response: self.response(),
        }
    }

    /// A system that has begun.
    fn begun(&mut self) -> Result<Subject, String> {
        let mut subject = self.subject();
        subject.begin(&self.opening())?;
        Ok(subject)
    }

    /// A fresh system that begins with the first of these questions, at an instant, and is taken
    /// through the others.
    fn follow(&mut self, questions: &[Question]) -> Result<Answer, String> {
        let mut subject = self.subject();
        for (number, question) in questions.iter().enumerate() {
            match number {
                0 => subject.begin(question)?,
                _ => subject.advance(question)?,
            }
            ensure(
                subject.response.reached == question.step.end,
                "a system stops at the end of its step",
            )?;
        }
        subject.into_answer(self.zeros())
    }

    fn zeros(&self) -> Linearization {
        let Interface {
            states,
            inputs,
            outputs,
            ..
        } = &self.interface;
        Linearization::zeros(states.len(), inputs.len(), outputs.len())
    }

    fn instant(&self, inputs: Vec<Signal>) -> Question {
        let step = MacroStep::instant(self.expect.start);
        Question { step, inputs }
    }

    fn opening(&self) -> Question {
        self.instant(self.constants(0.0))
    }

    /// An instant at the start with other inputs.
    fn detour(&self) -> Question {
        self.instant(self.constants(0.5))
    }

    /// From the start over `size`.
    fn first(&self, size: f64, inputs: Vec<Signal>) -> Question {
        let step = MacroStep::new(self.expect.start, self.expect.start + size);
        Question { step, inputs }
    }

    /// The first step, under inputs that wiggle.
    fn first_step(&self, wiggle: f64) -> Question {
        self.first(self.step(), self.inputs(wiggle))
    }

    /// From the start over `size` under the wiggling inputs.
    fn over(&mut self, size: f64) -> Result<Answer, String> {
        let first = self.first(size, self.inputs(1.0));
        self.follow(&[self.opening(), first])
    }

    fn around(&mut self, size: f64, gap: f64) -> Result<Around<Answer>, String> {
        Ok(Around {
            before: self.over(size - gap)?,
            at: self.over(size)?,
            after: self.over(size + gap)?,
        })
    }
}
