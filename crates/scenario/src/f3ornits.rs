//! The options of `f3ornits`, and which setting they ask for.

use dovetail_core::{Capabilities, StepRule};
use dovetail_methods::{Calibration, F3ornitsOptions, HIGHEST_DEGREE, Scale};

use crate::diagnostic::Problem;
use crate::options::{Choices, RunOptions};

const CALIBRATIONS: &[(&str, &str)] = &[("extrapolation", ""), ("least-squares", "")];
const SCALES: &[(&str, &str)] = &[
    ("damped-amplitude", ""),
    ("amplitude", ""),
    ("magnitude", ""),
];
const SETTINGS: &[(&str, &str)] = &[("default", ""), ("paper", "")];
const SMOOTH: &[(&str, &str)] = &[("false", ""), ("true", "")];

/// What the user chose of the method's own options; what is not given takes its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct F3ornitsChoices {
    paper: bool,
    calibration: Option<Calibration>,
    smooth: Option<bool>,
    scale: Option<Scale>,
    damping: Option<f64>,
    max_degree: Option<usize>,
    min_step: Option<f64>,
    max_step: Option<f64>,
    max_growth: Option<f64>,
    absolute_tolerance: Option<f64>,
}

impl F3ornitsChoices {
    /// Reads them.
    pub(crate) fn of(choices: &Choices) -> Result<Self, Problem> {
        let calibration =
            choices
                .chosen("calibration", CALIBRATIONS)?
                .map(|name| match name.as_str() {
                    "least-squares" => Calibration::LeastSquares,
                    _ => Calibration::Extrapolation,
                });
        let scale = choices
            .chosen("scale", SCALES)?
            .map(|name| match name.as_str() {
                "magnitude" => Scale::Magnitude,
                "amplitude" => Scale::Amplitude,
                _ => Scale::DampedAmplitude,
            });
        let max_growth = choices.positive("max-growth")?;
        if max_growth.is_some_and(|growth| growth < 1.0) {
            return Err(choices.problem(
                "max-growth",
                "`max-growth` is the factor by which a step may grow: at least 1",
            ));
        }
        let (min_step, max_step) = (choices.positive("min-step")?, choices.positive("max-step")?);
        if let (Some(shortest), Some(longest)) = (min_step, max_step)
            && shortest > longest
        {
            let message =
                format!("`min-step`, {shortest} s, is longer than `max-step`, {longest} s");
            return Err(choices.problem("min-step", &message));
        }
        Ok(Self {
            paper: choices.chosen("setting", SETTINGS)?.as_deref() == Some("paper"),
            calibration,
            smooth: choices.chosen("smooth", SMOOTH)?.map(|name| name == "true"),
            scale,
            damping: choices.not_negative("damping")?,
            max_degree: choices.whole("max-degree", HIGHEST_DEGREE)?,
            min_step,
            max_step,
            max_growth,
            absolute_tolerance: choices.not_negative("absolute-tolerance")?,
        })
    }
}

/// The options of a run of length `span`.
pub(crate) fn options(
    run: &RunOptions,
    span: f64,
    capabilities: &[Capabilities],
) -> F3ornitsOptions {
    let chosen = &run.f3ornits;
    let tolerance = run.tolerance.unwrap_or(F3ornitsOptions::TOLERANCE);
    let base = match chosen.paper {
        true => F3ornitsOptions::of_paper(span, tolerance),
        // Where steps cannot follow the error, parabolas chosen by the newest error do better than the averaged choice of cubics.
        false if capabilities.iter().any(|c| c.step_rule != StepRule::Free) => F3ornitsOptions {
            absolute_tolerance: 0.0,
            in_turn: true,
            ..F3ornitsOptions::of_paper(span, tolerance)
        },
        false => F3ornitsOptions::new(span, tolerance),
    };
    let unseen = !chosen.paper && capabilities.iter().any(|c| !c.trial);
    let base = if unseen { base.unseen(span) } else { base };
    let max_step = chosen
        .max_step
        .unwrap_or(base.max_step.max(chosen.min_step.unwrap_or(0.0)));
    // Where only one of them is given, the other gives way.
    let min_step = chosen.min_step.unwrap_or(
        base.min_step
            .min(max_step)
            .min(run.step.unwrap_or(f64::INFINITY)),
    );
    // The first step may be shorter than any other, but where a user says otherwise.
    let first_step = match (run.step, chosen.min_step) {
        (Some(step), _) => step.clamp(min_step, max_step),
        (None, Some(_)) => base.first_step.clamp(min_step, max_step),
        (None, None) => base.first_step.min(max_step),
    };
    F3ornitsOptions {
        calibration: chosen.calibration.unwrap_or(base.calibration),
        smooth: chosen.smooth.unwrap_or(base.smooth),
        scale: chosen.scale.unwrap_or(base.scale),
        damping: chosen.damping.unwrap_or(base.damping),
        max_degree: chosen.max_degree.unwrap_or(base.max_degree),
        tolerance,
        absolute_tolerance: chosen.absolute_tolerance.unwrap_or(base.absolute_tolerance),
        first_step,
        min_step,
        max_step,
        max_growth: chosen.max_growth.unwrap_or(base.max_growth),
        steering: base.steering,
        in_turn: base.in_turn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_methods::Steering;

    fn choices(given: &[(&str, &str)]) -> Choices {
        let mut choices = Choices::default();
        given
            .iter()
            .for_each(|(key, value)| choices.set(key, *value));
        choices
    }

    fn chosen(given: &[(&str, &str)]) -> F3ornitsOptions {
        options(&choices(given).resolve().unwrap(), 100.0, &[])
    }

    #[test]
    fn the_papers_setting_is_taken_where_it_is_asked_for() {
        let given = [
            ("step", "0.5"),
            ("tolerance", "1e-3"),
            ("max-step", "3"),
            ("smooth", "true"),
            ("damping", "0.1"),
        ];
        let ours = chosen(&given);
        assert_eq!(
            (ours.steering, ours.max_degree, ours.max_growth),
            (Steering::Averaged, 3, 1.5)
        );
        assert_eq!(
            (
                ours.first_step,
                ours.max_step,
                ours.tolerance,
                ours.absolute_tolerance
            ),
            (0.5, 3.0, 1e-3, 0.0)
        );
        let paper = chosen(&[("setting", "paper"), ("max-growth", "2")]);
        assert_eq!(
            (paper.steering, paper.max_degree, paper.max_growth),
            (Steering::Plain, 2, 2.0)
        );
        assert_eq!(paper.absolute_tolerance, 1e-6);
    }

    #[test]
    fn bounds_of_steps_never_cross() {
        for given in [
            ("min-step", "50"),
            ("max-step", "1e-9"),
            ("step", "99"),
            ("step", "1e-12"),
        ] {
            let found = chosen(&[given]);
            assert!(
                found.min_step <= found.first_step && found.first_step <= found.max_step,
                "{given:?}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let refused = |given: &[(&str, &str)]| choices(given).resolve().unwrap_err().message;
        assert!(refused(&[("max-degree", "5")]).contains("a whole number from 0 to 4"));
        assert!(refused(&[("max-degree", "1.5")]).contains("a whole number"));
        assert!(refused(&[("damping", "-1")]).contains("zero or above"));
        assert!(refused(&[("max-growth", "0.9")]).contains("at least 1"));
        assert!(refused(&[("min-step", "2"), ("max-step", "1")]).contains("is longer than"));
        assert!(refused(&[("scale", "size")]).contains("unknown scale"));
        assert!(refused(&[("smooth", "yes")]).contains("unknown smooth"));
    }
}
