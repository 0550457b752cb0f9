//! Expressions of time as signals.

use std::sync::Arc;

use dovetail_core::{Drive, Knot, MacroStep, Signal};
use dovetail_equations::{Dual, Evaluator, Model, Program, Source, Threshold};

/// A number with its first two derivatives by time.
type Second = Dual<Dual<f64>>;

/// Expressions of time. Over a step each is the quintic with its values, slopes and curvatures at both ends.
pub(crate) struct ExpressionDrive {
    evaluator: Evaluator<Second>,
    thresholds: Vec<Threshold>,
    switches: Vec<Second>,
    results: Vec<Second>,
    starts: Vec<Knot>,
}

/// The expressions, parsed.
pub(crate) fn parse(texts: &[String]) -> Result<Model, String> {
    let names: Vec<String> = (0..texts.len()).map(|k| format!("v{k}")).collect();
    let outputs = names.iter().zip(texts);
    let model = Model::parse(&Source {
        outputs: outputs
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect(),
        ..Source::default()
    });
    model.map_err(|errors| errors[0].to_string())
}

impl ExpressionDrive {
    pub fn new(texts: &[String]) -> Result<Self, String> {
        let model = parse(texts)?;
        let thresholds = model.thresholds(&[]);
        let zero = Dual::constant(Dual::constant(0.0));
        let program: Program = model.output_program();

        Ok(Self {
            evaluator: Evaluator::new(Arc::new(program), &zero, &[]),
            switches: vec![zero; thresholds.len()],
            results: vec![zero; texts.len()],
            starts: vec![Knot::from(0.0); texts.len()],
            thresholds,
        })
    }

    /// The expressions at `time`, with the conditions that hold right after `side`.
    fn evaluate(&mut self, time: f64, side: f64) {
        for (switch, threshold) in self.switches.iter_mut().zip(&self.thresholds) {
            let truth = f64::from(u8::from(threshold.holds_at(side)));
            *switch = Dual::constant(Dual::constant(truth));
        }
        let time = Dual::new(Dual::variable(time), Dual::constant(1.0));
        self.evaluator.set_time(&time);
        self.evaluator.set_switches(&self.switches);
        self.evaluator.run(&mut self.results);
    }
}

fn knot(result: &Second) -> Knot {
    Knot {
        value: result.value.value,
        slope: result.value.derivative,
        curvature: result.derivative.derivative,
    }
}

impl Drive for ExpressionDrive {
    fn piece_end(&mut self, from: f64) -> Result<f64, String> {
        let times = self.thresholds.iter().map(|threshold| threshold.time);
        Ok(times
            .filter(|&time| time > from)
            .fold(f64::INFINITY, f64::min))
    }

    fn signals(&mut self, step: MacroStep, into: &mut [Signal]) -> Result<(), String> {
        self.evaluate(step.start, step.start);
        for (start, result) in self.starts.iter_mut().zip(&self.results) {
            *start = knot(result);
        }
        if !step.is_instant() {
            self.evaluate(step.end, step.start);
        }

        for ((signal, start), result) in into.iter_mut().zip(&self.starts).zip(&self.results) {
            let end = knot(result);
            if !(start.value.is_finite() && end.value.is_finite()) {
                return Err(format!(
                    "the expression that feeds an input is {} here",
                    end.value
                ));
            }
            *signal = match step.is_instant() {
                true => Signal::new(&[start.value, start.slope, 0.5 * start.curvature]),
                false => Signal::quintic(step.size(), *start, end),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(text: &str) -> ExpressionDrive {
        ExpressionDrive::new(&[text.to_owned()]).unwrap()
    }

    fn signal(drive: &mut ExpressionDrive, start: f64, end: f64) -> Signal {
        let mut signals = [Signal::constant(f64::NAN)];
        drive
            .signals(MacroStep::new(start, end), &mut signals)
            .unwrap();
        signals[0]
    }

    #[test]
    fn an_expression_is_followed_to_the_sixth_order() {
        let mut sine = drive("20 + 5*sin(time)");
        let error = |size: f64, sine: &mut ExpressionDrive| {
            let signal = signal(sine, 1.0, 1.0 + size);
            let middle = 1.0 + 0.5 * size;
            (signal.value(0.5 * size) - (20.0 + 5.0 * middle.sin())).abs()
        };
        let order = (error(0.4, &mut sine) / error(0.2, &mut sine)).log2();
        assert!((5.8..6.4).contains(&order), "{order}");
    }

    #[test]
    fn switching_times_end_pieces_and_both_sides_are_right() {
        let mut step = drive("if time < 2 then time else 7");
        assert_eq!(step.piece_end(0.0), Ok(2.0));
        assert_eq!(step.piece_end(2.0), Ok(f64::INFINITY));
        assert_eq!(signal(&mut step, 1.0, 2.0).value(1.0), 2.0);
        assert_eq!(signal(&mut step, 2.0, 3.0).value(0.0), 7.0);
        assert_eq!(signal(&mut step, 2.0, 2.0).value(0.0), 7.0);
    }

    #[test]
    fn what_is_no_number_is_said() {
        let mut wrong = drive("1/time");
        let mut signals = [Signal::constant(0.0)];
        let refused = wrong.signals(MacroStep::instant(0.0), &mut signals);
        assert!(refused.unwrap_err().contains("inf"));
    }
}
