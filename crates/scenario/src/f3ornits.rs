//! The options of `f3ornits`, and which setting they ask for.

use dovetail_core::{Capabilities, StepRule};
use dovetail_methods::{Calibration, F3ornitsOptions, HIGHEST_DEGREE, Scale};

use crate::diagnostic::Problem;
use crate::options::{Choices, RunOptions};

/// Where the paper's choice of what it leaves free is to be had: whoever sets one of these means the paper's method.
const KEYS_OF_THE_PAPER: &[&str] =
    &["calibration", "smooth", "scale", "damping", "max-degree", "min-step", "max-growth"];

const CALIBRATIONS: &[(&str, &str)] = &[("extrapolation", ""), ("least-squares", "")];
const SCALES: &[(&str, &str)] = &[("damped-amplitude", ""), ("amplitude", ""), ("magnitude", "")];
const SMOOTH: &[(&str, &str)] = &[("false", ""), ("true", "")];

/// What the user chose of the method's own options; what is not given takes its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct F3ornitsChoices {
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
        let calibration = choices.chosen("calibration", CALIBRATIONS)?.map(|name| match name.as_str() {
            "least-squares" => Calibration::LeastSquares,
            _ => Calibration::Extrapolation,
        });
        let scale = choices.chosen("scale", SCALES)?.map(|name| match name.as_str() {
            "magnitude" => Scale::Magnitude,
            "amplitude" => Scale::Amplitude,
            _ => Scale::DampedAmplitude,
        });
        let max_growth = choices.positive("max-growth")?;
        if max_growth.is_some_and(|growth| growth < 1.0) {
            return Err(
                choices.problem("max-growth", "`max-growth` is the factor by which a step may grow: at least 1")
            );
        }
        let (min_step, max_step) = (choices.positive("min-step")?, choices.positive("max-step")?);
        if let (Some(shortest), Some(longest)) = (min_step, max_step)
            && shortest > longest
        {
            let message = format!("`min-step`, {shortest} s, is longer than `max-step`, {longest} s");
            return Err(choices.problem("min-step", &message));
        }
        Ok(Self {
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
pub(crate) fn options(run: &RunOptions, span: f64, capabilities: &[Capabilities]) -> F3ornitsOptions {
    let asked = run.given.iter().any(|key| KEYS_OF_THE_PAPER.contains(&key.as_str()));
    // Where steps cannot follow the error, parabolas chosen by the newest error do better than the averaged choice of cubics.
    let imposed = capabilities.iter().any(|c| c.step_rule != StepRule::Free);
    let paper = asked || imposed;
    let tolerance = run.tolerance.unwrap_or(F3ornitsOptions::TOLERANCE);
    let base = if paper { F3ornitsOptions::of_paper(span, tolerance) } else { F3ornitsOptions::new(span, tolerance) };
    let chosen = &run.f3ornits;
    let max_step = chosen.max_step.unwrap_or(base.max_step.max(chosen.min_step.unwrap_or(0.0)));
    // Where only one of them is given, the other gives way.
    let min_step = chosen.min_step.unwrap_or(base.min_step.min(max_step).min(run.step.unwrap_or(f64::INFINITY)));
    F3ornitsOptions {
        calibration: chosen.calibration.unwrap_or(base.calibration),
        smooth: chosen.smooth.unwrap_or(base.smooth),
        scale: chosen.scale.unwrap_or(base.scale),
        damping: chosen.damping.unwrap_or(base.damping),
        max_degree: chosen.max_degree.unwrap_or(base.max_degree),
        tolerance,
        absolute_tolerance: chosen.absolute_tolerance.unwrap_or(base.absolute_tolerance),
        first_step: run.step.unwrap_or(base.first_step).clamp(min_step, max_step),
        min_step,
        max_step,
        max_growth: chosen.max_growth.unwrap_or(base.max_growth),
        steering: base.steering,
    }
}
