//! One suite for every kind of system: native, wrapped, foreign, remote.
//!
//! It builds fresh systems as it needs them and returns the first broken promise as a sentence.

use dovetail_core::{
    Archive, Capabilities, Evaluation, Input, Interface, Knot, Linearization, MAX_DEGREE,
    MacroStep, Response, Signal, SignalKind, StepRule, System, visit_system,
};

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

/// An answer with the linearization there, if there is one.
struct Answer {
    response: Response,
    linearization: Option<Linearization>,
}

fn ensure(condition: bool, claim: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(claim.to_owned())
    }
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
    let system = system.linearize().ok_or("a linearization stays on offer")?;
    system
        .linearize_into(&mut into)
        .map_err(|e| e.to_string())?;
    into.affine = 0;
    Ok(into)
}

fn evaluate(system: &mut dyn System, time: f64, into: &mut Evaluation) -> Result<(), String> {
    let system = system.evaluate().ok_or("an evaluation stays on offer")?;
    system.evaluate_into(time, into).map_err(|e| e.to_string())
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
        let degree = self.capabilities.input_degree.min(MAX_DEGREE);
        let signal = |i: usize, start: f64| {
            let scale = wiggle * (1.0 + start.abs()) * (1.0 + 0.3 * i as f64);
            let power =
                |p: usize| scale * [0.1, 1.0, -0.7, 0.4, 0.2, -0.1][p] / self.step().powi(p as i32);
            let coefficients: Vec<f64> = (0..=degree)
                .map(|p| power(p) + if p == 0 { start } else { 0.0 })
                .collect();
            Signal::new(&coefficients)
        };
        let one = |(i, input): (usize, &Input)| match input.kind {
            SignalKind::Continuous => signal(i, input.start),
            _ => Signal::constant(input.start),
        };
        self.interface.inputs.iter().enumerate().map(one).collect()
    }

    fn constants(&self, offset: f64) -> Vec<Signal> {
        let one = |input: &Input| match input.kind {
            SignalKind::Continuous => {
                Signal::constant(input.start + offset * (1.0 + input.start.abs()))
            }
            _ => Signal::constant(input.start),
        };
        self.interface.inputs.iter().map(one).collect()
    }

    /// The outputs that have slopes and may be measured: what jumps from value to value is told to the last bit, or is a text.
    fn smooth<'r>(&'r self, response: &'r Response) -> impl Iterator<Item = &'r Knot> {
        let outputs = self.interface.outputs.iter().zip(&response.outputs);
        outputs
            .filter(|(output, _)| output.kind == SignalKind::Continuous)
            .map(|(_, knot)| knot)
    }

    /// A fresh system that begins with the first of these steps, an instant, and is taken through the others.
    fn walk(&mut self, steps: &[(MacroStep, Vec<Signal>)]) -> Result<Answer, String> {
        let (mut system, mut response) = ((self.make)(), self.response());
        for (number, (step, inputs)) in steps.iter().enumerate() {
            let done = match number {
                0 => system.begin(*step, inputs, &mut response),
                _ => system.advance(*step, inputs, &mut response),
            };
            done.map_err(|e| e.to_string())?;
            ensure(
                response.reached == step.end,
                "a system stops at the end of its step",
            )?;
        }
        let mut linearization = self.zeros();
        let told = system
            .linearize()
            .map(|l| l.linearize_into(&mut linearization))
            .transpose();
        let told = told.map_err(|e| e.to_string())?;
        linearization.affine = 0; // a number of its own for every system
        Ok(Answer {
            response,
            linearization: told.map(|()| linearization),
        })
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

    fn opening(&self) -> (MacroStep, Vec<Signal>) {
        (MacroStep::instant(self.expect.start), self.constants(0.0))
    }

    /// From the start over `size` under the wiggling inputs.
    fn over(&mut self, size: f64) -> Result<Answer, String> {
        let step = MacroStep::new(self.expect.start, self.expect.start + size);
        let steps = [self.opening(), (step, self.inputs(1.0))];
        self.walk(&steps)
    }

    fn interface_is_sound(&mut self) -> Result<(), String> {
        let inputs = self.interface.inputs.len();
        let mut names: Vec<&str> = self
            .interface
            .inputs
            .iter()
            .map(|i| i.name.as_str())
            .collect();
        names.extend(self.interface.outputs.iter().map(|o| o.name.as_str()));
        names.sort_unstable();
        ensure(
            names.windows(2).all(|pair| pair[0] != pair[1]),
            "names of inputs and outputs are unique",
        )?;
        let sound = self
            .interface
            .outputs
            .iter()
            .flat_map(|o| &o.depends_on)
            .all(|&i| i < inputs);
        ensure(sound, "feedthrough names inputs that exist")
    }

    fn answers_repeat(&mut self) -> Result<(), String> {
        let size = self.step();
        let (one, other) = (self.over(size)?, self.over(size)?);
        ensure(
            bits(&one.response) == bits(&other.response),
            "equal runs give equal bits",
        )?;
        let known = |k: &Knot, n: usize| {
            n == 0 || (n == 1 && k.slope.is_finite()) || k.curvature.is_finite()
        };
        let claimed = self.capabilities.output_derivatives;
        ensure(
            self.smooth(&one.response).all(|k| known(k, claimed)),
            "derivatives that are claimed are told",
        )
    }

    /// Start values are found by questions: what was asked on the way must not matter.
    fn questions_before_the_start_leave_no_trace(&mut self) -> Result<(), String> {
        let end = self.expect.start + self.step();
        let step = (MacroStep::new(self.expect.start, end), self.inputs(1.0));
        let plain = self.walk(&[self.opening(), step.clone()])?;
        let (mut system, mut response) = ((self.make)(), self.response());
        let (opening, detour) = (
            self.opening(),
            (MacroStep::instant(self.expect.start), self.constants(0.5)),
        );
        for (instant, inputs) in [&opening, &detour, &opening] {
            system
                .advance(*instant, inputs, &mut response)
                .map_err(|e| e.to_string())?;
        }
        system
            .begin(opening.0, &opening.1, &mut response)
            .map_err(|e| e.to_string())?;
        system
            .advance(step.0, &step.1, &mut response)
            .map_err(|e| e.to_string())?;
        ensure(
            bits(&plain.response) == bits(&response),
            "a question before the start leaves no trace",
        )
    }

    fn instants_move_nothing(&mut self) -> Result<(), String> {
        let end = self.expect.start + self.step();
        let step = (MacroStep::new(self.expect.start, end), self.inputs(1.0));
        let detour = (MacroStep::instant(self.expect.start), self.constants(0.5));
        let plain = [self.opening(), step.clone()];
        let asked = [self.opening(), detour, step];
        let (plain, asked) = (self.walk(&plain)?, self.walk(&asked)?);
        ensure(
            bits(&plain.response) == bits(&asked.response),
            "an instant leaves no trace in the next step",
        )
    }

    fn two_halves_make_a_whole(&mut self) -> Result<(), String> {
        if !self.free() {
            return Ok(());
        }
        let (start, size) = (self.expect.start, self.step());
        let inputs = self.inputs(1.0);
        let tail: Vec<Signal> = inputs.iter().map(|s| s.shifted(size / 2.0)).collect();
        let halves = [
            self.opening(),
            (MacroStep::new(start, start + size / 2.0), inputs),
            (MacroStep::new(start + size / 2.0, start + size), tail),
        ];
        let (whole, halves) = (self.over(size)?, self.walk(&halves)?);
        let tolerance = 100.0 * self.expect.tolerance;
        let close = |a: f64, b: f64| (a - b).abs() <= tolerance * (1.0 + a.abs());
        let mut outputs = self
            .smooth(&whole.response)
            .zip(self.smooth(&halves.response));
        ensure(
            outputs.all(|(a, b)| close(a.value, b.value)),
            "two halves of a step make a whole",
        )
    }

    /// What was written down of a system makes it, or another one, go on to the same bits.
    fn restored_systems_go_on_as_before(&mut self) -> Result<(), String> {
        if !self.capabilities.checkpoint {
            return Ok(());
        }
        let mut system = self.at_start()?;
        self.go(system.as_mut(), 0)?;
        let mut archive = Archive::writer();
        visit_system(system.as_mut(), &mut archive).map_err(|e| e.to_string())?;
        let checkpoint = archive.into_bytes();
        let plain = [self.go(system.as_mut(), 1)?, self.go(system.as_mut(), 2)?];
        let another = self.at_start()?;
        for mut system in [system, another] {
            let mut archive = Archive::reader(checkpoint.clone());
            visit_system(system.as_mut(), &mut archive).map_err(|e| e.to_string())?;
            let again = [self.go(system.as_mut(), 1)?, self.go(system.as_mut(), 2)?];
            ensure(plain == again, "a restored system goes on as it would have")?;
        }
        Ok(())
    }

    /// A system that has begun.
    fn at_start(&mut self) -> Result<Box<dyn System>, String> {
        let mut system = (self.make)();
        let mut response = self.response();
        let (step, inputs) = self.opening();
        system
            .begin(step, &inputs, &mut response)
            .map_err(|e| e.to_string())?;
        Ok(system)
    }

    /// The bits of the answer to step `number`.
    fn go(&self, system: &mut dyn System, number: usize) -> Result<Vec<u64>, String> {
        let size = self.step();
        let start = self.expect.start + number as f64 * size;
        let mut response = self.response();
        let step = MacroStep::new(start, start + size);
        system
            .advance(step, &self.inputs(1.0 - 0.3 * number as f64), &mut response)
            .map_err(|e| e.to_string())?;
        Ok(bits(&response))
    }

    fn trials_leave_no_trace(&mut self) -> Result<(), String> {
        if !self.capabilities.trial {
            return Ok(());
        }
        let size = self.step();
        let plain = self.over(size)?;
        let step = MacroStep::new(self.expect.start, self.expect.start + size);
        for also_the_same in [false, true] {
            let (mut system, mut response) = ((self.make)(), self.response());
            let opening = self.opening();
            system
                .begin(opening.0, &opening.1, &mut response)
                .map_err(|e| e.to_string())?;
            let (other, same) = (self.inputs(-0.5), self.inputs(1.0));
            let trial = system.trial().ok_or("a trial stays on offer")?;
            trial
                .respond(step, &other, &mut response)
                .map_err(|e| e.to_string())?;
            stops_at_event(step, &response)?;
            if also_the_same {
                trial
                    .respond(step, &same, &mut response)
                    .map_err(|e| e.to_string())?;
                let told = stops_at_event(step, &response)?;
                let same = told || response.estimated || bits(&plain.response) == bits(&response);
                ensure(
                    same,
                    "a trial answers what the step would, or says that it estimates",
                )?;
            }
            let mut there = self.zeros();
            let told = system
                .linearize()
                .map(|l| l.linearize_into(&mut there))
                .transpose()
                .map_err(|e| e.to_string())?;
            there.affine = 0;
            let fresh = self.walk(&[self.opening()])?.linearization;
            ensure(
                told.map(|()| there) == fresh,
                "a trial leaves no trace in the linearization",
            )?;
            system
                .advance(step, &same, &mut response)
                .map_err(|e| e.to_string())?;
            ensure(
                bits(&plain.response) == bits(&response),
                "a trial leaves no trace",
            )?;
        }
        Ok(())
    }

    /// Under inputs that move little an estimate is near what the step then answers; it tells slopes and makes up no states.
    fn estimates_are_near(&mut self) -> Result<(), String> {
        let (mut system, mut estimate) = ((self.make)(), self.response());
        let Some(_) = system.trial() else {
            return Ok(());
        };
        let (opening, inputs) = (self.opening(), self.inputs(1e-3));
        system
            .begin(opening.0, &opening.1, &mut estimate)
            .map_err(|e| e.to_string())?;
        let step = MacroStep::new(self.expect.start, self.expect.start + self.step());
        let trial = system.trial().ok_or("a trial stays on offer")?;
        trial
            .respond(step, &inputs, &mut estimate)
            .map_err(|e| e.to_string())?;
        if !estimate.estimated {
            return Ok(());
        }
        ensure(
            estimate.reached == step.end,
            "an estimate is of the end of the step",
        )?;
        ensure(
            estimate.states.iter().all(|x| x.is_nan()),
            "an estimate makes up no states",
        )?;
        let mut answer = self.response();
        system
            .advance(step, &inputs, &mut answer)
            .map_err(|e| e.to_string())?;
        for (told, found) in self.smooth(&estimate).zip(self.smooth(&answer)) {
            let moved = 1.0 + found.value.abs();
            ensure(
                (told.value - found.value).abs() <= 1e-2 * moved,
                "an estimate is near what the step answers",
            )?;
            ensure(told.slope.is_finite(), "an estimate tells slopes")?;
        }
        Ok(())
    }

    fn slopes_match_differences(&mut self) -> Result<(), String> {
        if self.capabilities.output_derivatives == 0 || !self.free() {
            return Ok(());
        }
        let size = self.step();
        let gap = 1e-3 * size;
        let (before, at, after) = (
            self.over(size - gap)?,
            self.over(size)?,
            self.over(size + gap)?,
        );
        let [before, at, after] = [&before.response, &at.response, &after.response];
        let triples = self
            .smooth(before)
            .zip(self.smooth(at))
            .zip(self.smooth(after));
        for ((before, at), after) in triples {
            let scale = 1.0 + at.value.abs() / size + at.slope.abs();
            let difference = (after.value - before.value) / (2.0 * gap);
            ensure(
                (difference - at.slope).abs() <= 1e-3 * scale,
                "output slopes match differences of outputs",
            )?;
            if self.capabilities.output_derivatives > 1 {
                let scale = scale / size + at.curvature.abs();
                let difference = (after.slope - before.slope) / (2.0 * gap);
                ensure(
                    (difference - at.curvature).abs() <= 1e-3 * scale,
                    "curvatures match differences of slopes",
                )?;
            }
        }
        Ok(())
    }

    fn linearization_matches_differences(&mut self) -> Result<(), String> {
        if !self.capabilities.linearize || !self.free() {
            return Ok(());
        }
        let (size, gap) = (self.step(), 1e-3 * self.step());
        let (before, at, after) = (
            self.over(size - gap)?,
            self.over(size)?,
            self.over(size + gap)?,
        );
        let [before, at, after] = [before, at, after].map(|answer| answer.linearization);
        let (Some(before), Some(at), Some(after)) = (before, at, after) else {
            return Err("a linearization stays on offer".into());
        };
        // Along the flow: f' = A f + B u' + B_slope u'' + ∂f/∂t, and the same for g.
        let knots: Vec<Knot> = self.inputs(1.0).iter().map(|s| s.at(size)).collect();
        let slope = nalgebra::DVector::from_iterator(knots.len(), knots.iter().map(|k| k.slope));
        let curvature =
            nalgebra::DVector::from_iterator(knots.len(), knots.iter().map(|k| k.curvature));
        let f_rate = &at.a * &at.f + &at.b * &slope + &at.b_slope * &curvature + &at.f_time;
        let g_rate = &at.c * &at.f + &at.d * &slope + &at.d_slope * &curvature + &at.g_time;
        let agree = |rate: &nalgebra::DVector<f64>,
                     late: &nalgebra::DVector<f64>,
                     early: &nalgebra::DVector<f64>| {
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
        )?;
        self.evaluations_agree(size)?;
        self.input_columns_match_differences()
    }

    /// Where a system looks elsewhere, it finds at its own place what it has there, and stays where it is.
    fn evaluations_agree(&mut self, size: f64) -> Result<(), String> {
        if !self.capabilities.evaluate {
            return Ok(());
        }
        let (mut system, mut response) = ((self.make)(), self.response());
        let (opening, inputs) = (self.opening(), self.inputs(1.0));
        let step = MacroStep::new(self.expect.start, self.expect.start + size);
        system
            .begin(opening.0, &opening.1, &mut response)
            .map_err(|e| e.to_string())?;
        system
            .advance(step, &inputs, &mut response)
            .map_err(|e| e.to_string())?;
        let here = linearized(system.as_mut(), self.zeros())?;
        let mut there = Evaluation::of(&self.interface);
        there.x.copy_from(&here.x);
        there.u.copy_from(&here.u);
        there.u_slope.copy_from(&here.u_slope);
        evaluate(system.as_mut(), step.end, &mut there)?;
        let near = |a: &nalgebra::DVector<f64>, b: &nalgebra::DVector<f64>| {
            (a - b).amax() <= 1e-9 * (1.0 + a.amax())
        };
        ensure(
            near(&here.f, &there.f) && near(&here.g, &there.g),
            "f and g elsewhere are f and g at the same place",
        )?;
        there.x.add_scalar_mut(0.1);
        evaluate(system.as_mut(), step.end + 0.1 * size, &mut there)?;
        let again = linearized(system.as_mut(), self.zeros())?;
        ensure(here == again, "looking elsewhere leaves no trace")
    }

    /// B and D, a column at a time, by instants with one input moved.
    fn input_columns_match_differences(&mut self) -> Result<(), String> {
        let gap = 1e-5;
        let smooth = |i: &usize| self.interface.inputs[*i].kind == SignalKind::Continuous;
        let inputs: Vec<usize> = (0..self.interface.inputs.len()).filter(smooth).collect();
        for i in inputs {
            let mut answers = Vec::new();
            for side in [-gap, 0.0, gap] {
                let mut inputs = self.constants(0.1);
                inputs[i] = Signal::constant(inputs[i].value(0.0) + side);
                let instant = (MacroStep::instant(self.expect.start), inputs);
                answers.push(
                    self.walk(&[instant])?
                        .linearization
                        .ok_or("a linearization stays on offer")?,
                );
            }
            let column = |late: &nalgebra::DVector<f64>, early: &nalgebra::DVector<f64>| {
                (late - early) / (2.0 * gap)
            };
            let (b, d) = (
                column(&answers[2].f, &answers[0].f),
                column(&answers[2].g, &answers[0].g),
            );
            let at = &answers[1];
            let close = |exact: nalgebra::DVector<f64>, approximate: nalgebra::DVector<f64>| {
                (&exact - approximate).amax()
                    <= 1e-4 * (1.0 + exact.amax() + at.f.amax() + at.g.amax())
            };
            ensure(
                close(at.b.column(i).into_owned(), b),
                "B matches differences of f",
            )?;
            ensure(
                close(at.d.column(i).into_owned(), d),
                "D matches differences of g",
            )?;
        }
        Ok(())
    }
}
