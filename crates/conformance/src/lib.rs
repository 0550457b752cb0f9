//! One suite for every kind of system: native, wrapped, foreign, remote.
//!
//! It builds fresh systems as it needs them and returns the first broken promise as a sentence.

use dovetail_core::{
    Archive, Capabilities, Evaluation, Input, Interface, Knot, Linearization, MAX_DEGREE,
    MacroStep, Response, Signal, SignalKind, StepRule, System, visit_system,
};
use nalgebra::DVector;

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

/// Promises about the interface and about steps.
impl Suite<'_> {
    fn interface_is_sound(&mut self) -> Result<(), String> {
        let outputs = &self.interface.outputs;
        ensure(
            self.names_are_unique(),
            "names of inputs and outputs are unique",
        )?;
        let inputs = self.interface.inputs.len();
        let mut fed_through = outputs.iter().flat_map(|output| &output.depends_on);

        ensure(
            fed_through.all(|&input| input < inputs),
            "feedthrough names inputs that exist",
        )
    }

    fn names_are_unique(&self) -> bool {
        let inputs = self.interface.inputs.iter().map(|i| &i.name);
        let outputs = self.interface.outputs.iter().map(|o| &o.name);
        let mut names: Vec<&String> = inputs.chain(outputs).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn answers_repeat(&mut self) -> Result<(), String> {
        let size = self.step();
        let one = self.over(size)?.response;
        let other = self.over(size)?.response;
        ensure(equal_bits(&one, &other), "equal runs give equal bits")?;
        let claimed = self.capabilities.output_derivatives;

        ensure(
            self.smooth(&one).all(|knot| knows(knot, claimed)),
            "derivatives that are claimed are given",
        )
    }

    /// Start values are found by questions: what was asked on the way must not matter.
    fn questions_before_the_start_leave_no_trace(&mut self) -> Result<(), String> {
        let plain = self.over(self.step())?.response;
        let mut subject = self.subject();
        let opening = self.opening();

        for instant in [&opening, &self.detour(), &opening] {
            subject.advance(instant)?;
        }

        subject.begin(&opening)?;
        subject.advance(&self.first_step(1.0))?;
        ensure(
            equal_bits(&plain, &subject.response),
            "a question before the start leaves no trace",
        )
    }

    fn instants_move_nothing(&mut self) -> Result<(), String> {
        let plain = self.over(self.step())?;
        let asked = self.follow(&[self.opening(), self.detour(), self.first_step(1.0)])?;
        ensure(
            equal_bits(&plain.response, &asked.response),
            "an instant leaves no trace in the next step",
        )
    }

    fn two_halves_make_a_whole(&mut self) -> Result<(), String> {
        if !self.free() {
            return Ok(());
        }

        let whole = self.over(self.step())?.response;
        let halves = self.follow(&self.halves())?.response;
        let tolerance = 100.0 * self.expect.tolerance;
        let close = |a: f64, b: f64| (a - b).abs() <= tolerance * (1.0 + a.abs());
        let mut outputs = self.smooth(&whole).zip(self.smooth(&halves));

        ensure(
            outputs.all(|(a, b)| close(a.value, b.value)),
            "two halves of a step make a whole",
        )
    }

    /// The first step in two halves.
    fn halves(&self) -> [Question; 3] {
        let start = self.expect.start;
        let size = self.step();
        let first = self.first(size / 2.0, self.inputs(1.0));
        let rest = first.inputs.iter().map(|s| s.shifted(size / 2.0));
        let second = Question {
            step: MacroStep::new(start + size / 2.0, start + size),
            inputs: rest.collect(),
        };

        [self.opening(), first, second]
    }
}

/// Whether a knot has so many derivatives.
fn knows(knot: &Knot, derivatives: usize) -> bool {
    match derivatives {
        0 => true,
        1 => knot.slope.is_finite() || knot.curvature.is_finite(),
        _ => knot.curvature.is_finite(),
    }
}

/// Promises about checkpoints.
impl Suite<'_> {
    /// What was written down of a system makes it, or another one, go on to the same bits.
    fn restored_systems_go_on_as_before(&mut self) -> Result<(), String> {
        if !self.capabilities.checkpoint {
            return Ok(());
        }

        let mut system = self.begun()?.system;
        self.go(system.as_mut(), 0)?;
        let checkpoint = written(system.as_mut())?;
        let plain = self.go_on(system.as_mut())?;
        let another = self.begun()?.system;

        for mut system in [system, another] {
            let mut archive = Archive::reader(checkpoint.clone());
            visit_system(system.as_mut(), &mut archive).map_err(message)?;
            let again = self.go_on(system.as_mut())?;
            ensure(plain == again, "a restored system goes on as it would have")?;
        }
        Ok(())
    }

    /// The bits of the answers to the steps after the first.
    fn go_on(&self, system: &mut dyn System) -> Result<[Vec<u64>; 2], String> {
        Ok([self.go(system, 1)?, self.go(system, 2)?])
    }

    /// The bits of the answer to step `number`.
    fn go(&self, system: &mut dyn System, number: usize) -> Result<Vec<u64>, String> {
        let size = self.step();
        let start = self.expect.start + number as f64 * size;
        let step = MacroStep::new(start, start + size);
        let inputs = self.inputs(1.0 - 0.3 * number as f64);
        let mut response = self.response();
        system
            .advance(step, &inputs, &mut response)
            .map_err(message)?;

        Ok(bits(&response))
    }
}

/// The checkpoint of a system.
fn written(system: &mut dyn System) -> Result<Vec<u8>, String> {
    let mut archive = Archive::writer();
    visit_system(system, &mut archive).map_err(message)?;
    Ok(archive.into_bytes())
}

/// Promises about trials.
impl Suite<'_> {
    fn trials_leave_no_trace(&mut self) -> Result<(), String> {
        if !self.capabilities.trial {
            return Ok(());
        }

        let plain = self.over(self.step())?.response;
        self.trial_leaves_no_trace(&plain, false)?;
        self.trial_leaves_no_trace(&plain, true)
    }

    fn trial_leaves_no_trace(
        &mut self,
        plain: &Response,
        also_the_same: bool,
    ) -> Result<(), String> {
        let mut subject = self.begun()?;
        let same = self.first_step(1.0);
        subject.respond(&self.first_step(-0.5))?;

        if also_the_same {
            trial_answers_like_the_step(&mut subject, &same, plain)?;
        }

        ensure(
            subject.linearization(self.zeros())? == self.follow(&[self.opening()])?.linearization,
            "a trial leaves no trace in the linearization",
        )?;
        subject.advance(&same)?;
        ensure(
            equal_bits(plain, &subject.response),
            "a trial leaves no trace",
        )
    }

    /// Under inputs that move little an estimate is near what the step then answers; it gives
    /// slopes and makes up no states.
    fn estimates_are_near(&mut self) -> Result<(), String> {
        let mut subject = self.subject();
        if subject.system.trial().is_none() {
            return Ok(());
        }

        subject.begin(&self.opening())?;
        let first = self.first_step(1e-3);
        subject.try_step(&first)?;
        if !subject.response.estimated {
            return Ok(());
        }

        let estimate = std::mem::replace(&mut subject.response, self.response());
        estimate_is_of_the_end(&estimate, first.step)?;
        subject.advance(&first)?;

        self.estimate_is_near(&estimate, &subject.response)
    }

    fn estimate_is_near(&self, estimate: &Response, answer: &Response) -> Result<(), String> {
        for (told, found) in self.smooth(estimate).zip(self.smooth(answer)) {
            let moved = 1.0 + found.value.abs();
            ensure(
                (told.value - found.value).abs() <= 1e-2 * moved,
                "an estimate is near what the step answers",
            )?;
            ensure(told.slope.is_finite(), "an estimate has slopes")?;
        }
        Ok(())
    }
}

fn trial_answers_like_the_step(
    subject: &mut Subject,
    step: &Question,
    plain: &Response,
) -> Result<(), String> {
    let stopped = subject.respond(step)?;
    let response = &subject.response;
    ensure(
        stopped || response.estimated || equal_bits(plain, response),
        "a trial answers what the step would, or says that it estimates",
    )
}

fn estimate_is_of_the_end(estimate: &Response, step: MacroStep) -> Result<(), String> {
    ensure(
        estimate.reached == step.end,
        "an estimate is of the end of the step",
    )?;
    ensure(
        estimate.states.iter().all(|x| x.is_nan()),
        "an estimate makes up no states",
    )
}

/// Promises about derivatives.
impl Suite<'_> {
    fn slopes_match_differences(&mut self) -> Result<(), String> {
        let claimed = self.capabilities.output_derivatives;
        if claimed == 0 || !self.free() {
            return Ok(());
        }

        let size = self.step();
        let gap = 1e-3 * size;
        let answers = self.around(size, gap)?;

        for knots in self.smooth_around(&answers) {
            let scale = 1.0 + knots.at.value.abs() / size + knots.at.slope.abs();
            slope_matches(&knots, gap, scale)?;
            if claimed > 1 {
                curvature_matches(&knots, gap, scale / size)?;
            }
        }
        Ok(())
    }

    fn smooth_around<'r>(
        &'r self,
        answers: &'r Around<Answer>,
    ) -> impl Iterator<Item = Around<&'r Knot>> {
        let before = self.smooth(&answers.before.response);
        let at = self.smooth(&answers.at.response);
        let after = self.smooth(&answers.after.response);
        let knots = before.zip(at).zip(after);
        knots.map(|((before, at), after)| Around { before, at, after })
    }

    fn linearization_matches_differences(&mut self) -> Result<(), String> {
        if !self.capabilities.linearize || !self.free() {
            return Ok(());
        }

        let size = self.step();
        let gap = 1e-3 * size;
        let Around { before, at, after } = self.around(size, gap)?;
        let around = Around {
            before: before.linearization()?,
            at: at.linearization()?,
            after: after.linearization()?,
        };
        self.matches_along_the_flow(&around, size, gap)?;
        self.evaluations_agree(size)?;

        self.input_columns_match_differences()
    }

    /// Along the flow: `f' = A f + B u' + B_slope u'' + ∂f/∂t`, and the same for `g`.
    fn matches_along_the_flow(
        &self,
        around: &Around<Linearization>,
        size: f64,
        gap: f64,
    ) -> Result<(), String> {
        let Around { before, at, after } = around;
        let (slope, curvature) = self.input_rates(size);
        let f_rate = &at.a * &at.f + &at.b * &slope + &at.b_slope * &curvature + &at.f_time;
        let g_rate = &at.c * &at.f + &at.d * &slope + &at.d_slope * &curvature + &at.g_time;
        let agree = |rate: &DVector<f64>, late: &DVector<f64>, early: &DVector<f64>| {
            let difference = (late - early) / (2.0 * gap);
            let scale = 1.0 + rate.amax() + late.amax() / size;
            (difference - rate).amax() <= 1e-3 * scale
        };
        ensure(
            agree(&f_rate, &after.f, &before.f),
            "A, B and ∂f/∂t match the change of f along the flow",
        )?;

        ensure(
            agree(&g_rate, &after.g, &before.g),
            "C, D and ∂g/∂t match the change of g along the flow",
        )
    }

    /// Slopes and curvatures of the wiggling inputs after `elapsed`.
    fn input_rates(&self, elapsed: f64) -> (DVector<f64>, DVector<f64>) {
        let inputs = self.inputs(1.0);
        let knots: Vec<Knot> = inputs.iter().map(|s| s.at(elapsed)).collect();
        let slopes = knots.iter().map(|k| k.slope);
        let curvatures = knots.iter().map(|k| k.curvature);

        (
            DVector::from_iterator(knots.len(), slopes),
            DVector::from_iterator(knots.len(), curvatures),
        )
    }

    /// Where a system looks elsewhere, it finds at its own place what it has there, and stays where
    /// it is.
    fn evaluations_agree(&mut self, size: f64) -> Result<(), String> {
        if !self.capabilities.evaluate {
            return Ok(());
        }

        let mut subject = self.begun()?;
        let first = self.first(size, self.inputs(1.0));
        subject.advance(&first)?;
        let system = subject.system.as_mut();
        let end = first.step.end;
        let here = linearized(system, self.zeros())?;
        let mut there = self.evaluation_at(&here);
        evaluate(system, end, &mut there)?;
        ensure(
            near(&here.f, &there.f) && near(&here.g, &there.g),
            "f and g elsewhere are f and g at the same place",
        )?;
        there.x.add_scalar_mut(0.1);
        evaluate(system, end + 0.1 * size, &mut there)?;
        let again = linearized(system, self.zeros())?;

        ensure(here == again, "looking elsewhere leaves no trace")
    }

    /// The states and inputs of `here`, with nothing evaluated yet.
    fn evaluation_at(&self, here: &Linearization) -> Evaluation {
        let mut there = Evaluation::of(&self.interface);
        there.x.copy_from(&here.x);
        there.u.copy_from(&here.u);
        there.u_slope.copy_from(&here.u_slope);
        there
    }

    /// B and D, a column at a time, by instants with one input moved.
    fn input_columns_match_differences(&mut self) -> Result<(), String> {
        for input in self.continuous_inputs() {
            let around = Around {
                before: self.beside(input, -INPUT_GAP)?,
                at: self.beside(input, 0.0)?,
                after: self.beside(input, INPUT_GAP)?,
            };
            columns_match(input, &around)?;
        }
        Ok(())
    }

    fn continuous_inputs(&self) -> Vec<usize> {
        let inputs = self.interface.inputs.iter().enumerate();
        inputs
            .filter(|(_, input)| input.kind == SignalKind::Continuous)
            .map(|(index, _)| index)
            .collect()
    }

    /// The linearization at the start with one input moved.
    fn beside(&mut self, input: usize, offset: f64) -> Result<Linearization, String> {
        let mut inputs = self.constants(0.1);
        inputs[input] = Signal::constant(inputs[input].value(0.0) + offset);
        self.follow(&[self.instant(inputs)])?.linearization()
    }
}

fn slope_matches(knots: &Around<&Knot>, gap: f64, scale: f64) -> Result<(), String> {
    let difference = (knots.after.value - knots.before.value) / (2.0 * gap);
    ensure(
        (difference - knots.at.slope).abs() <= 1e-3 * scale,
        "output slopes match differences of outputs",
    )
}

fn curvature_matches(knots: &Around<&Knot>, gap: f64, scale: f64) -> Result<(), String> {
    let scale = scale + knots.at.curvature.abs();
    let difference = (knots.after.slope - knots.before.slope) / (2.0 * gap);
    ensure(
        (difference - knots.at.curvature).abs() <= 1e-3 * scale,
        "curvatures match differences of slopes",
    )
}

fn near(a: &DVector<f64>, b: &DVector<f64>) -> bool {
    (a - b).amax() <= 1e-9 * (1.0 + a.amax())
}

fn columns_match(input: usize, around: &Around<Linearization>) -> Result<(), String> {
    let Around { before, at, after } = around;
    let b = difference_quotient(&after.f, &before.f);
    let d = difference_quotient(&after.g, &before.g);
    let close = |exact: DVector<f64>, approximate: DVector<f64>| {
        let scale = 1.0 + exact.amax() + at.f.amax() + at.g.amax();
        (&exact - approximate).amax() <= 1e-4 * scale
    };
    ensure(
        close(at.b.column(input).into_owned(), b),
        "B matches differences of f",
    )?;

    ensure(
        close(at.d.column(input).into_owned(), d),
        "D matches differences of g",
    )
}

fn difference_quotient(late: &DVector<f64>, early: &DVector<f64>) -> DVector<f64> {
    (late - early) / (2.0 * INPUT_GAP)
}
