//! What is promised of interfaces and steps.

use dovetail_core::{Knot, MacroStep};

use super::{Question, Suite, ensure, equal_bits};

impl Suite<'_> {
    pub(super) fn interface_is_sound(&mut self) -> Result<(), String> {
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

    pub(super) fn answers_repeat(&mut self) -> Result<(), String> {
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
    pub(super) fn questions_before_the_start_leave_no_trace(&mut self) -> Result<(), String> {
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

    pub(super) fn instants_move_nothing(&mut self) -> Result<(), String> {
        let plain = self.over(self.step())?;
        let asked = self.follow(&[self.opening(), self.detour(), self.first_step(1.0)])?;
        ensure(
            equal_bits(&plain.response, &asked.response),
            "an instant leaves no trace in the next step",
        )
    }

    pub(super) fn two_halves_make_a_whole(&mut self) -> Result<(), String> {
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
