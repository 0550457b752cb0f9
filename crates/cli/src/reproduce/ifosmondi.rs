//! IFOSMONDI-JFM (Éguillon, Lacabanne, Tromeur-Dervout): figures 6, 7 and 8.

use dovetail::Compared;

use super::Item;
use super::model::{Choices, DAMPING_REACTION, compared, mean_l2};
use super::row::{Finding, Row};
use crate::failure::Failure;

const STATES: [&str; 3] = ["body.v", "body.x", "plate.x"];
/// The paper's names of solvers, and ours.
const SOLVERS: [(&str, &str); 5] = [
    ("NewtonLS", "newton"),
    ("Anderson", "anderson"),
    ("Ngmres", "ngmres"),
    ("Ngmres with line search", "ngmres-linesearch"),
    ("Fixed-point", "fixed-point"),
];
/// The damper ratings of figure 8.
const DAMPERS: [f64; 7] = [4.0, 1.2346, 1.0, 0.64, 0.25, 0.04, 0.01];
/// Reference steps of figures 6 and 7, from the middle of their axes.
const STEPS: [&str; 2] = ["0.1", "0.01"];

pub(super) fn items() -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (figure, damper) in [(6, 4.0), (7, 0.64)] {
        items.push(Box::new(move || across_steps(figure, damper)));
    }
    for (name, solver) in SOLVERS {
        for damper in DAMPERS {
            items.push(Box::new(move || Ok(vec![figure_8(name, solver, damper)?])));
        }
    }
    items
}

fn run(damper: f64, choices: &Choices<'_>) -> Result<Compared, Failure> {
    compared(DAMPING_REACTION.scenario(&[("plate.D", damper)])?, choices)
}

fn iterated(damper: f64, solver: &str, step: &str) -> Result<Compared, Failure> {
    let choices = [
        ("method", "ifosmondi"),
        ("criterion", "paper"),
        ("solver", solver),
        ("tolerance", "1e-4"),
        ("step", step),
    ];
    run(damper, &choices)
}

/// The error, or how far a run came.
fn outcome(done: &Compared) -> Finding {
    if done.summary.completed {
        mean_l2(done, &STATES).into()
    } else {
        "fails".into()
    }
}

/// Figures 6 and 7: the error against the reference step.
fn across_steps(figure: u32, damper: f64) -> Result<Vec<Row>, Failure> {
    let contracts = damper > 1.0;
    let mut found = Vec::new();
    for step in STEPS {
        for (name, solver) in SOLVERS {
            let done = iterated(damper, solver, step)?;
            let claim = match (solver, contracts) {
                ("fixed-point", false) => "fails",
                _ => "below 1 %",
            };
            let item = format!("figure {figure}, {name}, step {step}: mean L2 error in %");
            found.push(Row::new(item, claim, outcome(&done)).note("the paper has curves only"));
        }
        let held = run(damper, &[("method", "jacobi"), ("step", step)])?;
        let claim = if contracts { "the largest" } else { "fails" };
        let item = format!("figure {figure}, explicit ZOH, step {step}: mean L2 error in %");
        found.push(Row::new(item, claim, outcome(&held)).note("the paper has curves only"));
    }
    Ok(found)
}

/// Figure 8: integrations and error against the damper, with ε = 1e-4 and a reference step of 1e-2.
fn figure_8(name: &str, solver: &str, damper: f64) -> Result<Row, Failure> {
    let done = iterated(damper, solver, "1e-2")?;
    let claim = match (solver, damper) {
        ("fixed-point", d) if d <= 1.0 => "fails",
        ("ngmres", 0.01) => "fails",
        ("newton" | "anderson", 0.01) => "below 0.001 %",
        _ => "converges",
    };
    let most = done
        .summary
        .systems
        .iter()
        .map(|system| system.integrations)
        .max();
    let integrations = most.unwrap_or_default();
    let note = match (solver, damper) {
        ("ngmres", 0.01) => format!(
            "{integrations} integrations of each system; our NGMRES converges, the paper's did not"
        ),
        _ if done.summary.completed => format!("{integrations} integrations of each system"),
        _ => format!("ends at t = {} s", done.summary.reached),
    };
    let item = format!("figure 8, {name}, D = {damper}: mean L2 error in %");
    Ok(Row::new(item, claim, outcome(&done)).note(note))
}
