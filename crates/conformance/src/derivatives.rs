//! What is promised of slopes, linearizations and evaluations.

use dovetail_core::{Evaluation, Knot, Linearization, Signal, SignalKind};
use nalgebra::DVector;

use super::{Answer, Around, INPUT_GAP, Suite, ensure, evaluate, linearized};

impl Suite<'_> {
    pub(super) fn slopes_match_differences(&mut self) -> Result<(), String> {
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

    pub(super) fn linearization_matches_differences(&mut self) -> Result<(), String> {
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

    /// The linearization at the start with one input moved. A system that remembers an input has to
    /// begin with another one, or what it remembers moves too.
    fn beside(&mut self, input: usize, offset: f64) -> Result<Linearization, String> {
        let mut inputs = self.constants(0.1);
        inputs[input] = Signal::constant(inputs[input].value(0.0) + offset);
        let moved = self.instant(inputs);
        let answer = if self.interface.inputs[input].delayed {
            self.follow(&[self.opening(), moved])?
        } else {
            self.follow(&[moved])?
        };
        answer.linearization()
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
