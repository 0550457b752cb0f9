//! MISSILES (Éguillon et al.): tables 4 and 6, and the orbits of figure 11.

use dovetail::Run;

use super::Item;
use super::model::{Choices, LOTKA_VOLTERRA, MECHANICAL, PaperModel, compared, nrmse, rows};
use super::row::Row;
use crate::failure::Failure;

/// A table of the paper: NRMSE in percent of one variable of a model.
#[derive(Clone, Copy)]
struct PrintedTable {
    number: u32,
    model: PaperModel,
    variable: &'static str,
    /// For each step: Jacobi, IFOSMONDI-JFM with ε = 1e-2 and 1e-5, MISSILES.
    printed: [(&'static str, [f64; 4]); 2],
}

const TABLE_4: PrintedTable = PrintedTable {
    number: 4,
    model: MECHANICAL,
    variable: "left.position",
    printed: [
        ("1e-3", [5.80, 7.55e-4, 2.66e-4, 7.82e-3]),
        ("1e-4", [2.93e-1, 4.80e-5, 2.27e-5, 1.34e-3]),
    ],
};
const TABLE_6: PrintedTable = PrintedTable {
    number: 6,
    model: LOTKA_VOLTERRA,
    variable: "prey.population",
    printed: [
        ("1e-3", [1.38e-1, 2.62e-4, 2.62e-4, 2.05e-1]),
        ("1e-4", [1.38e-2, 4.84e-4, 4.84e-5, 2.13e-2]),
    ],
};

const JACOBI: &Choices<'static> = &[("method", "jacobi"), ("integrator-tolerance", "1e-12")];
const LOOSE: &Choices<'static> = &[
    ("method", "ifosmondi"),
    ("criterion", "paper"),
    ("solver", "anderson"),
    ("tolerance", "1e-2"),
];
const TIGHT: &Choices<'static> = &[
    ("method", "ifosmondi"),
    ("criterion", "paper"),
    ("solver", "anderson"),
    ("tolerance", "1e-5"),
];
const PRINTED: &Choices<'static> = &[
    ("method", "missiles"),
    ("form", "as-printed"),
    ("laplace", "gaver-stehfest"),
];
const FULL: &Choices<'static> = &[("method", "missiles"), ("integrator-tolerance", "1e-13")];

/// What the columns of the tables are, with what to say of the difference.
const COLUMNS: [(&str, &Choices<'static>, &str); 4] = [
    ("NI Jacobi", JACOBI, ""),
    (
        "IFOSMONDI-JFM 1e-2",
        LOOSE,
        "our integrators err less than those of the paper's tool",
    ),
    (
        "IFOSMONDI-JFM 1e-5",
        TIGHT,
        "our integrators err less than those of the paper's tool",
    ),
    (
        "MISSILES as printed",
        PRINTED,
        "without the term R f_C, Laplace inversion by Gaver-Stehfest",
    ),
];

pub(super) fn items() -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for table in [TABLE_4, TABLE_6] {
        for (step, printed) in table.printed {
            for ((name, choices, note), printed) in COLUMNS.into_iter().zip(printed) {
                items.push(Box::new(move || {
                    let error = error(table, choices, step)?;
                    let item = table.item(name, step);
                    Ok(vec![Row::new(item, printed, error).note(note)])
                }));
            }
            items.push(Box::new(move || {
                let error = error(table, FULL, step)?;
                let item = table.item("MISSILES, full form", step);
                let printed = printed[3];
                let note = "with the term R f_C and exact exponentials, at the same cost";
                Ok(vec![Row::new(item, printed, error).note(note)])
            }));
        }
    }
    items.push(Box::new(orbits));
    items
}

impl PrintedTable {
    fn item(self, method: &str, step: &str) -> String {
        format!("table {}, {method}, step {step}: error in %", self.number)
    }
}

fn error(table: PrintedTable, choices: &Choices<'_>, step: &str) -> Result<f64, Failure> {
    let choices = [choices, &[("step", step)]].concat();
    let done = compared(table.model.scenario(&[])?, &choices)?;
    Ok(nrmse(&done, table.variable))
}

/// The exact solution stays on a closed orbit, where `H` is constant.
fn orbits() -> Result<Vec<Row>, Failure> {
    let drift = |choices: &Choices<'_>| -> Result<f64, Failure> {
        let choices = [choices, &[("step", "0.1")]].concat();
        let run = rows(LOTKA_VOLTERRA.scenario(&[])?, &choices)?;
        Ok(100.0 * (invariant(&run, true) / invariant(&run, false) - 1.0))
    };
    let claims = [
        ("NI Jacobi", JACOBI, "opens"),
        ("MISSILES as printed", PRINTED, "stays"),
        ("MISSILES, full form", FULL, "stays"),
    ];
    let mut found = Vec::new();
    for (name, choices, claim) in claims {
        let item = format!("figure 11, {name}, step 0.1: change of the orbit's invariant in %");
        let note = "the step of the figure is not printed; positive means outwards";
        found.push(Row::new(item, claim, drift(choices)?).note(note));
    }
    Ok(found)
}

/// `x − ln x + (4/3) y − (2/3) ln y` at the end or at the start of a run.
fn invariant(run: &Run, at_end: bool) -> f64 {
    let value = |name: &str| {
        let column = run.column(name).unwrap_or_default();
        let found = if at_end {
            column.last()
        } else {
            column.first()
        };
        found.copied().unwrap_or(f64::NAN)
    };
    let (prey, predators) = (value("prey.population"), value("predator.population"));
    prey - prey.ln() + 4.0 / 3.0 * predators - 2.0 / 3.0 * predators.ln()
}
