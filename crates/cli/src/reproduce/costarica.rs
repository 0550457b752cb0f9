//! COSTARICA (Éguillon et al.): the single steps of figure 9, the orders of figures 17 and 22.

use super::Item;
use super::model::{
    BEHAVIOUR_CHANGE, Choices, LOTKA_VOLTERRA, PREY_STEP, PaperModel, compared, nrmse, order, rows,
};
use super::row::Row;
use crate::failure::Failure;

const ROLLBACK: &Choices<'static> = &[("rollback-free", "false")];
const HELD: &Choices<'static> = &[("rollback-free", "true"), ("form", "held")];
const DEGRADED: &Choices<'static> = &[("rollback-free", "true"), ("form", "degraded")];

pub(super) fn items() -> Vec<Item> {
    vec![
        Box::new(single_steps),
        Box::new(|| convergence(17, BEHAVIOUR_CHANGE, "right.x", ["0.4", "0.2"])),
        Box::new(|| convergence(22, LOTKA_VOLTERRA, "prey.population", ["0.1", "0.05"])),
    ]
}

/// Figure 9: what the linearization of the prey misses in one step.
fn single_steps() -> Result<Vec<Row>, Failure> {
    let miss = |values: &[(&str, f64)], size: f64| -> Result<f64, Failure> {
        let scenario = PREY_STEP.scenario_until(values, Some(size))?;
        let step = size.to_string();
        let choices = [
            ("method", "missiles"),
            ("form", "held"),
            ("integrator-tolerance", "1e-14"),
            ("step", step.as_str()),
        ];
        let done = rows(scenario, &choices)?;
        let discrepancy = &done.summary().quality.discrepancy;
        let prey = discrepancy.iter().find(|(name, _)| name == "prey.x");
        Ok(prey.map_or(f64::NAN, |(_, miss)| *miss))
    };
    let by_day = [
        ("prey.depth", 1.0),
        ("predators.slope", -0.448),
        ("predators.bend", 1.034711837),
    ];
    let cases: [(&str, &[(&str, f64)], f64); 2] =
        [("classical", &[], 3.0), ("modified", &by_day, 2.0)];
    let mut found = Vec::new();
    for (name, values, printed) in cases {
        let measured = order(miss(values, 0.1)?, miss(values, 0.01)?, 10.0);
        let item = format!("figure 9, {name} Lotka-Volterra: order of a single step");
        let note = "from steps of 0.1 and 0.01 s";
        found.push(Row::new(item, printed, measured).note(note));
    }
    Ok(found)
}

/// Figures 17 and 22: the order with rollback and with estimates.
fn convergence(
    figure: u32,
    model: PaperModel,
    variable: &str,
    steps: [&str; 2],
) -> Result<Vec<Row>, Failure> {
    let error = |choices: &Choices<'_>, step: &str| -> Result<f64, Failure> {
        let shared = [
            ("method", "ifosmondi"),
            ("criterion", "paper"),
            ("solver", "anderson"),
            ("tolerance", "1e-6"),
            ("integrator-tolerance", "1e-13"),
            ("step", step),
        ];
        let done = compared(model.scenario(&[])?, &[&shared, choices].concat())?;
        Ok(nrmse(&done, variable))
    };
    let is_linear = figure == 17;
    let claims: [(&str, &Choices<'static>, &str); 3] = [
        (
            "rollback",
            ROLLBACK,
            if is_linear { "3" } else { "above COSTARICA" },
        ),
        ("COSTARICA", HELD, if is_linear { "3" } else { "2" }),
        ("COSTARICA, no state derivatives", DEGRADED, "less accurate"),
    ];
    let claims = claims.into_iter().take(if is_linear { 2 } else { 3 });
    let mut found = Vec::new();
    for (name, choices, claim) in claims {
        let errors = [error(choices, steps[0])?, error(choices, steps[1])?];
        let item = format!("figure {figure}, {name}: order");
        let note = format!(
            "errors {:.2e} and {:.2e} % at {} and {} s",
            errors[0], errors[1], steps[0], steps[1]
        );
        let printed = claim
            .parse::<f64>()
            .map_or_else(|_| claim.into(), Into::into);
        found.push(Row {
            item,
            paper: printed,
            ours: order(errors[0], errors[1], 2.0).into(),
            note,
        });
    }
    Ok(found)
}
