//! A recorded drive cycle of a million rows drives an FMU and a coupled model.

mod support;

use std::fmt::Write;

use dovetail_fixtures::{Fixture, Model, Version};
use support::{Folder, assert_near, number, run_json};

const ROWS: usize = 1_000_000;
/// Between two rows, in seconds.
const SPACING: f64 = 1e-3;

/// The speed in a row, in km/h, as it is written.
fn speed(row: usize) -> f64 {
    let time = row as f64 * SPACING;
    let speed = 60.0 + 40.0 * (0.013 * time).sin() + 0.5 * (7.0 * time).sin();
    (1e4 * speed).round() / 1e4
}

fn table(folder: &Folder, head: &str) -> String {
    let mut text = format!("time,{head}\n");
    for row in 0..ROWS {
        writeln!(text, "{:.3},{}", row as f64 * SPACING, speed(row)).unwrap();
    }
    folder.file("cycle.csv", text)
}

/// The time of the last row.
fn stop() -> String {
    format!("{:.3}", (ROWS - 1) as f64 * SPACING)
}

#[test]
fn a_million_rows_drive_a_single_fmu() {
    let folder = Folder::new();
    let table = table(&folder, "u");
    let fmu = Fixture::new(Model::Gain, Version::Two).build();
    let options = ["--interface", "model-exchange", "--step", "0.5"];
    let input = ["--input", &table, "--stop-time", &stop(), "--set", "k=3"];
    let run = run_json(&fmu.display().to_string(), &[&options[..], &input].concat());
    assert_near(
        number(&run["final"]["Gain.y"]),
        3.0 * speed(ROWS - 1),
        1e-12,
    );
}

#[test]
fn a_million_rows_drive_a_coupled_model() {
    let folder = Folder::new();
    let table = table(&folder, "car.speed [km/h]");
    let model = "
[model]
stop-time = 999.999
[systems.car]
inputs    = { speed = 0.0 }
states    = { s = 0.0 }
equations = \"der(s) = speed\"
outputs   = { way = \"s\" }
units     = { speed = \"m/s\" }
[systems.meter]
inputs    = { way = 0.0 }
states    = { shown = 0.0 }
equations = \"der(shown) = 10 * (way - shown)\"
[[connections]]
from = \"car.way\"
to   = \"meter.way\"
";
    let model = folder.file("model.toml", model);
    let step = ["--method", "ifosmondi", "--step", "0.5"];
    let run = run_json(&model, &[&["--input", &table], &step[..]].concat());
    // Straight lines between rows: the trapezoidal rule is exact.
    let inner: f64 = (1..ROWS - 1).map(speed).sum();
    let way = SPACING * (inner + 0.5 * (speed(0) + speed(ROWS - 1))) / 3.6;
    assert_near(number(&run["final"]["car.s"]), way, 1e-9);
    // It follows a tenth of a second late, at the speed of the moment.
    let late = way - 0.1 * speed(ROWS - 1) / 3.6;
    assert_near(number(&run["final"]["meter.shown"]), late, 1e-5);
}
