//! `dovetail reproduce`: numbers of papers, ours beside theirs.

mod support;

use serde_json::Value;
use support::{Folder, dovetail};

fn rows(paper: &str) -> Vec<Value> {
    let json = dovetail(&["reproduce", paper, "--json"]).exits(0).json();
    json.as_array().expect("an array").clone()
}

fn ours(rows: &[Value], item: &str) -> (f64, f64) {
    let row = rows.iter().find(|row| row["item"] == item);
    let row = row.unwrap_or_else(|| panic!("there is no {item} in {rows:#?}"));
    let number = |key: &str| {
        row[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key} of {row}"))
    };
    (number("paper_value"), number("ours"))
}

fn near((paper, ours): (f64, f64), percent: f64) {
    let apart = 100.0 * (ours / paper - 1.0).abs();
    assert!(apart <= percent, "{ours} is {apart} % from {paper}");
}

#[test]
fn every_row_has_the_keys_that_are_promised() {
    for paper in ["missiles", "guaranteed"] {
        for row in rows(paper) {
            assert_eq!(row["paper"], paper);
            let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["paper", "item", "paper_value", "ours", "note"]);
        }
    }
}

#[test]
fn jacobi_in_missiles_is_that_of_the_paper() {
    let rows = rows("missiles");
    let item =
        |table: u32, step: &str| format!("table {table}, NI Jacobi, step {step}: error in %");
    for (table, step) in [(4, "1e-3"), (4, "1e-4"), (6, "1e-3"), (6, "1e-4")] {
        near(ours(&rows, &item(table, step)), 1.0);
    }
    near(
        ours(&rows, "table 6, MISSILES as printed, step 1e-3: error in %"),
        6.0,
    );
    let (printed, full) = ours(&rows, "table 4, MISSILES, full form, step 1e-3: error in %");
    assert!(full < 1e-3 * printed, "{full}");
}

#[test]
fn a_house_as_one_system_is_bounded_tighter_than_in_two() {
    let rows = rows("guaranteed");
    let area = |scheme: &str| ours(&rows, &format!("table 1, {scheme}: final area")).1;
    for (whole, held) in [("HEUN", "co-HEUN"), ("RK4", "co-RK4")] {
        // The exact hull is the least that any bound can be.
        assert!(
            area(whole) > 0.183_45 && area(whole) < area(held),
            "{rows:#?}"
        );
    }
}

#[test]
fn the_table_is_printed_in_80_columns_and_written_to_a_page() {
    let folder = Folder::new();
    let page = folder.name("papers.html");
    let done = dovetail(&["reproduce", "guaranteed", "--report", &page]).exits(0);
    assert!(
        done.out.lines().all(|line| line.chars().count() <= 80),
        "{}",
        done.out
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<h2>guaranteed</h2>") && page.contains("co-RK4-interp"));
}
