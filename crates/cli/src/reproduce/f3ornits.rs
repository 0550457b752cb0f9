//! F3ORNITS (Éguillon, Lacabanne, Tromeur-Dervout): table 1, and the car of figure 12.

use super::Item;
use super::model::{BEHAVIOUR_CHANGE, CAR, Choices, compared, nrmse, rows};
use super::row::Row;
use crate::failure::Failure;

/// Step, steps, and the errors of x₁ and v₁ in percent, under Jacobi.
const JACOBI: [(&str, u64, f64, f64); 5] = [
    ("0.01", 20_000, 0.030, 0.074),
    ("0.05", 4000, 0.197, 0.462),
    ("0.1", 2000, 0.412, 0.981),
    ("0.2", 1000, 0.772, 2.044),
    ("0.4", 500, 1.928, 5.194),
];

/// Scale, calibration, smooth inputs, steps, and the errors of x₁ and v₁ in percent.
type Variant = (&'static str, &'static str, &'static str, u64, f64, f64);
const VARIANTS: [Variant; 12] = [
    ("magnitude", "extrapolation", "false", 1935, 0.017, 0.024),
    ("magnitude", "extrapolation", "true", 1848, 0.014, 0.019),
    ("magnitude", "least-squares", "false", 1768, 0.017, 0.024),
    ("magnitude", "least-squares", "true", 1786, 0.017, 0.024),
    ("amplitude", "extrapolation", "false", 669, 0.083, 0.183),
    ("amplitude", "extrapolation", "true", 674, 0.122, 0.269),
    ("amplitude", "least-squares", "false", 636, 0.083, 0.188),
    ("amplitude", "least-squares", "true", 672, 0.104, 0.227),
    (
        "damped-amplitude",
        "extrapolation",
        "false",
        989,
        0.019,
        0.030,
    ),
    (
        "damped-amplitude",
        "extrapolation",
        "true",
        1007,
        0.024,
        0.048,
    ),
    (
        "damped-amplitude",
        "least-squares",
        "false",
        1071,
        0.020,
        0.037,
    ),
    (
        "damped-amplitude",
        "least-squares",
        "true",
        911,
        0.025,
        0.048,
    ),
];

pub(super) fn items() -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (step, steps, position, speed) in JACOBI {
        items.push(Box::new(move || {
            let choices = [("method", "jacobi"), ("step", step)];
            let item = format!("table 1, NI Jacobi, step {step}");
            let note = "springs and dampers are in a figure of the paper only: fitted to its rows of Jacobi";
            table_row(&item, &choices, (steps, position, speed), note)
        }));
    }
    for (scale, calibration, smooth, steps, position, speed) in VARIANTS {
        items.push(Box::new(move || {
            let choices = [
                ("method", "f3ornits"),
                ("setting", "paper"),
                ("tolerance", "2e-4"),
                ("step", "0.01"),
                ("min-step", "0.01"),
                ("scale", scale),
                ("calibration", calibration),
                ("smooth", smooth),
            ];
            let smoothness = if smooth == "true" {
                "smooth"
            } else {
                "not smooth"
            };
            let item = format!("table 1, {scale}, {calibration}, {smoothness}");
            let note = "scheduler and tolerance are not printed: ours, tolerance 2e-4";
            table_row(&item, &choices, (steps, position, speed), note)
        }));
    }
    items.push(Box::new(car));
    items
}

/// A row of table 1: steps, and the errors of both states of the left mass.
fn table_row(
    item: &str,
    choices: &Choices<'_>,
    (steps, position, speed): (u64, f64, f64),
    note: &str,
) -> Result<Vec<Row>, Failure> {
    let done = compared(BEHAVIOUR_CHANGE.scenario(&[])?, choices)?;
    Ok(vec![
        Row::new(format!("{item}: steps"), steps, done.summary.steps).note(note),
        Row::new(
            format!("{item}: error of x1 in %"),
            position,
            nrmse(&done, "left.x"),
        )
        .note(note),
        Row::new(
            format!("{item}: error of v1 in %"),
            speed,
            nrmse(&done, "left.v"),
        )
        .note(note),
    ])
}

/// Figure 12: the car runs away under held inputs, and keeps its speed with F3ORNITS.
fn car() -> Result<Vec<Row>, Failure> {
    let speed = |choices: &Choices<'_>| -> Result<f64, Failure> {
        let run = rows(CAR.scenario(&[])?, choices)?;
        run.last("car.v")
            .map_err(|error| Failure::EndedEarly(error.to_string()))
    };
    let note = "wind, preset force and gain are ours: the paper has them as curves; the reference ends at 15.97 m/s";
    let held = speed(&[("method", "jacobi"), ("step", "0.01")])?;
    let ours = speed(&[("method", "f3ornits")])?;
    Ok(vec![
        Row::new(
            "figure 12, NI Jacobi: speed at the end in m/s",
            "runs away",
            held,
        )
        .note(note),
        Row::new(
            "figure 12, F3ORNITS: speed at the end in m/s",
            "follows",
            ours,
        )
        .note(note),
    ])
}
