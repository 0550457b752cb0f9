//! F3ORNITS, as it is chosen: its options, and which setting they ask for.

use dovetail_core::{Error, Method, Remedy, StepRule};

use super::calibration::Calibration;
use super::scheduler;
use super::stepper::Scale;
use super::{F3ornits, F3ornitsOptions, HIGHEST_DEGREE, NAME};
use crate::imposed_steps::any_imposes_steps;
use crate::registry::common::{STEP, TOLERANCE as COUPLING_TOLERANCE};
use crate::registry::context::Context;
use crate::registry::kind::MethodKind;
use crate::registry::option::{BadOption, Choice, OptionSpec, ValueKind};
use crate::registry::refusal::Refusal;
use crate::registry::settings::Settings;

/// What is taken where an option is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// Ours.
    Default,
    /// What the paper proposes.
    Paper,
}

impl Choice for Setting {
    const NAMES: &'static [(&'static str, Self)] =
        &[("default", Setting::Default), ("paper", Setting::Paper)];
}

impl Choice for Calibration {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("extrapolation", Calibration::Extrapolation),
        ("least-squares", Calibration::LeastSquares),
    ];
}

impl Choice for Scale {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("damped-amplitude", Scale::DampedAmplitude),
        ("amplitude", Scale::Amplitude),
        ("magnitude", Scale::Magnitude),
    ];
}

const TOLERANCE: OptionSpec = OptionSpec {
    default: "1e-4",
    ..COUPLING_TOLERANCE
};

const SETTING: OptionSpec = OptionSpec::choice::<Setting>(
    "setting",
    "default, or paper: degrees up to 2, growth by 1.05, orders and steps by the newest error, an \
     absolute tolerance of 1e-6",
);

const CALIBRATION: OptionSpec =
    OptionSpec::choice::<Calibration>("calibration", "how outputs are continued");

const SMOOTH: OptionSpec =
    OptionSpec::choice::<bool>("smooth", "make inputs continuously differentiable");

const SCALE: OptionSpec = OptionSpec::choice::<Scale>("scale", "what errors are measured by");

const DAMPING: OptionSpec = OptionSpec {
    key: "damping",
    value: ValueKind::NotNegative,
    default: "0.05",
    meaning: "how fast a damped amplitude forgets, per second",
};

const MAX_DEGREE: OptionSpec = OptionSpec {
    key: "max-degree",
    value: ValueKind::Whole(HIGHEST_DEGREE),
    default: "3, or 2 with setting=paper",
    meaning: "highest degree of continued outputs",
};

const MIN_STEP: OptionSpec = OptionSpec::positive(
    "min-step",
    "by tolerance and length of the run",
    "shortest step that is asked for",
);

const MAX_STEP: OptionSpec = OptionSpec::positive(
    "max-step",
    "1/50 of the run, 1/1000 where a system cannot roll back",
    "longest step of a free system",
);

const MAX_GROWTH: OptionSpec = OptionSpec {
    key: "max-growth",
    value: ValueKind::AtLeast(1.0),
    default: "1.5, or 1.05 with setting=paper",
    meaning: "a step is so many times the one before it at most",
};

const ABSOLUTE_TOLERANCE: OptionSpec = OptionSpec {
    key: "absolute-tolerance",
    value: ValueKind::NotNegative,
    default: "0, or 1e-6 with setting=paper",
    meaning: "error that is always allowed, whatever the scale",
};

static OPTIONS: [OptionSpec; 11] = [
    TOLERANCE,
    SETTING,
    CALIBRATION,
    SMOOTH,
    SCALE,
    DAMPING,
    MAX_DEGREE,
    MIN_STEP,
    MAX_STEP,
    MAX_GROWTH,
    ABSOLUTE_TOLERANCE,
];

/// F3ORNITS, as it is chosen.
pub(crate) struct F3ornitsKind;

impl MethodKind for F3ornitsKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "continues outputs from their past, with the order, step and pace each system permits"
    }

    fn needs(&self) -> &'static str {
        "nothing"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }

    fn chooses_steps(&self, _settings: &Settings) -> bool {
        true
    }

    fn tolerance(&self, settings: &Settings) -> Option<f64> {
        let given = settings.number(&TOLERANCE);
        Some(given.unwrap_or(F3ornitsOptions::TOLERANCE))
    }

    fn check_settings(&self, settings: &Settings) -> Result<(), BadOption> {
        if let Some(shortest) = settings.number(&MIN_STEP)
            && let Some(longest) = settings.number(&MAX_STEP)
            && shortest > longest
        {
            let message =
                format!("`min-step`, {shortest} s, is longer than `max-step`, {longest} s");
            return Err(BadOption::new(MIN_STEP.key, message));
        }
        Ok(())
    }

    fn check(&self, context: &Context<'_>) -> Result<(), Refusal> {
        for (interface, capabilities) in context.systems() {
            if let StepRule::Imposed(size) = capabilities.step_rule
                && !scheduler::has_room(context.start, context.stop, size)
            {
                let need = format!(
                    "a step that fits into the run from {} to {} s",
                    context.start, context.stop
                );
                let instead = format!("its own step is {size} s: let the run be that long");
                let missing = Error::missing(NAME, &interface.name, need, instead);
                return Err(missing.with([Remedy::StopTime]).into());
            }
        }
        Ok(())
    }

    fn build<'a>(&self, context: &Context<'a>) -> Result<Box<dyn Method + 'a>, Refusal> {
        let mut options = options(context);
        if !context.settings.has(&MAX_STEP) {
            let longest = context.limits().steps.longest;
            options.max_step = options.max_step.min(longest.max(options.min_step));
            options.first_step = options.first_step.min(options.max_step);
        }

        let times = (context.start, context.stop);
        let method = F3ornits::new(context.connections, times, options, &context.capabilities);
        Ok(Box::new(method.meant_for(context.span())))
    }
}

/// The options of a run.
fn options(context: &Context<'_>) -> F3ornitsOptions {
    let settings = &context.settings;
    let base = base(context);
    let shortest = settings.number(&MIN_STEP);
    let first = settings.number(&STEP);
    let max_step = settings
        .number(&MAX_STEP)
        .unwrap_or(base.max_step.max(shortest.unwrap_or(0.0)));
    // Where only one of them is given, the other gives way.
    let own_shortest = base
        .min_step
        .min(max_step)
        .min(first.unwrap_or(f64::INFINITY));
    let min_step = shortest.unwrap_or(own_shortest);
    // The first step may be shorter than any other, but where a user says otherwise.
    let first_step = match (first, shortest) {
        (Some(step), _) => step.clamp(min_step, max_step),
        (None, Some(_)) => base.first_step.clamp(min_step, max_step),
        (None, None) => base.first_step.min(max_step),
    };
    let number = |option: &OptionSpec, usual: f64| settings.number(option).unwrap_or(usual);

    F3ornitsOptions {
        calibration: settings.choice(&CALIBRATION).unwrap_or(base.calibration),
        smooth: settings.choice(&SMOOTH).unwrap_or(base.smooth),
        scale: settings.choice(&SCALE).unwrap_or(base.scale),
        damping: number(&DAMPING, base.damping),
        max_degree: settings.whole(&MAX_DEGREE).unwrap_or(base.max_degree),
        absolute_tolerance: number(&ABSOLUTE_TOLERANCE, base.absolute_tolerance),
        max_growth: number(&MAX_GROWTH, base.max_growth),
        first_step,
        min_step,
        max_step,
        ..base
    }
}

/// What holds where nothing is given.
fn base(context: &Context<'_>) -> F3ornitsOptions {
    let span = context.span();
    let capabilities = &context.capabilities;
    let given = context.settings.number(&TOLERANCE);
    let tolerance = given.unwrap_or(F3ornitsOptions::TOLERANCE);
    if context.settings.choice(&SETTING) == Some(Setting::Paper) {
        return F3ornitsOptions::of_paper(span, tolerance);
    }

    let base = if any_imposes_steps(capabilities) {
        // Where steps cannot follow the error, parabolas chosen by the newest error do better than
        // the averaged choice of cubics.
        F3ornitsOptions {
            absolute_tolerance: 0.0,
            in_turn: true,
            ..F3ornitsOptions::of_paper(span, tolerance)
        }
    } else {
        F3ornitsOptions::new(span, tolerance)
    };
    if capabilities.iter().any(|c| !c.trial) {
        base.unseen(span)
    } else {
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::f3ornits::StepControl;
    use crate::standard::standard;
    use dovetail_core::Connections;

    fn chosen(given: &[(&str, &str)]) -> F3ornitsOptions {
        let registry = standard();
        let connections = Connections::new(Vec::new(), Vec::new());
        let context = Context {
            connections: &connections,
            start: 0.0,
            stop: 100.0,
            beyond: 0.0,
            step: 0.2,
            capabilities: Vec::new(),
            settings: registry.settings(given.iter().copied()).unwrap(),
            solvers: registry.solvers(),
            whole: None,
        };
        options(&context)
    }

    #[test]
    fn the_papers_setting_is_taken_where_it_is_asked_for() {
        let ours = chosen(&[
            ("step", "0.5"),
            ("tolerance", "1e-3"),
            ("max-step", "3"),
            ("smooth", "true"),
            ("damping", "0.1"),
        ]);
        assert_eq!(ours.steering, StepControl::Averaged);
        assert_eq!((ours.max_degree, ours.max_growth), (3, 1.5));
        assert_eq!((ours.first_step, ours.max_step), (0.5, 3.0));
        assert_eq!((ours.tolerance, ours.absolute_tolerance), (1e-3, 0.0));
        let paper = chosen(&[("setting", "paper"), ("max-growth", "2")]);
        assert_eq!(paper.steering, StepControl::Plain);
        assert_eq!((paper.max_degree, paper.max_growth), (2, 2.0));
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
            let ordered = found.min_step <= found.first_step && found.first_step <= found.max_step;
            assert!(ordered, "{given:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let registry = standard();
        let refused = |given: &[(&str, &str)]| {
            let settings = registry.settings(given.iter().copied());
            settings.unwrap_err().message
        };
        assert!(refused(&[("max-degree", "5")]).contains("a whole number from 0 to 4"));
        assert!(refused(&[("max-degree", "1.5")]).contains("a whole number"));
        assert!(refused(&[("damping", "-1")]).contains("zero or above"));
        assert!(refused(&[("max-growth", "0.9")]).contains("at least 1"));
        assert!(refused(&[("min-step", "2"), ("max-step", "1")]).contains("is longer than"));
        assert!(refused(&[("scale", "size")]).contains("unknown scale"));
        assert!(refused(&[("smooth", "yes")]).contains("unknown smooth"));
    }
}
