//! `dovetail linearize`.

mod support;

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use serde_json::Value;
use support::{Folder, assert_near, dovetail, example, number, pair};

fn linearize(model: &str, arguments: &[&str]) -> Value {
    let all = [&["linearize", model, "--json"], arguments].concat();
    dovetail(&all).exits(0).json()
}

fn eigenvalues(found: &Value) -> Vec<(f64, f64)> {
    let all = found["eigenvalues"].as_array().expect("an array");
    all.iter()
        .map(|value| (number(&value["re"]), number(&value["im"])))
        .collect()
}

/// `[body of 5 kg, body of 80 kg]`: A of both bodies in one system, by hand from the forces.
const MECHANICAL: [[f64; 4]; 4] = [
    [0.0, 1.0, 0.0, 0.0],
    [-20000.0 / 5.0, -20.0 / 5.0, 10000.0 / 5.0, 10.0 / 5.0],
    [0.0, 0.0, 0.0, 1.0],
    [10000.0 / 80.0, 10.0 / 80.0, -110000.0 / 80.0, -50.0 / 80.0],
];

/// The characteristic polynomial of a matrix of four rows, highest power first, by Faddeev and Le Verrier.
fn characteristic(a: &[[f64; 4]; 4]) -> [f64; 5] {
    let mut coefficients = [1.0, 0.0, 0.0, 0.0, 0.0];
    let mut m = [[0.0; 4]; 4];
    for k in 1..=4 {
        for (i, row) in m.iter_mut().enumerate() {
            row[i] += coefficients[k - 1];
        }
        let mut product = [[0.0; 4]; 4];
        for (i, row) in product.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = (0..4).map(|l| a[i][l] * m[l][j]).sum();
            }
        }
        let trace: f64 = (0..4).map(|i| product[i][i]).sum();
        coefficients[k] = -trace / k as f64;
        m = product;
    }
    coefficients
}

/// The root of a polynomial near `guess`, by Newton's method on complex numbers.
fn root(coefficients: &[f64; 5], guess: (f64, f64)) -> (f64, f64) {
    let times = |a: (f64, f64), b: (f64, f64)| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
    let mut z = guess;
    for _ in 0..20 {
        let (mut value, mut slope) = ((0.0, 0.0), (0.0, 0.0));
        for coefficient in coefficients {
            slope = times(slope, z);
            slope = (slope.0 + value.0, slope.1 + value.1);
            value = times(value, z);
            value.0 += coefficient;
        }
        let size = slope.0 * slope.0 + slope.1 * slope.1;
        let step = times(value, (slope.0 / size, -slope.1 / size));
        z = (z.0 - step.0, z.1 - step.1);
    }
    z
}

#[track_caller]
fn is_mechanical(found: &Value, tolerance: f64) {
    for (row, expected) in MECHANICAL.iter().enumerate() {
        for (column, expected) in expected.iter().enumerate() {
            let entry = number(&found["A"][row][column]);
            assert!(
                (entry - expected).abs() <= tolerance * 4000.0,
                "{entry} {expected}"
            );
        }
    }

    let polynomial = characteristic(&MECHANICAL);
    let all = eigenvalues(found);
    assert_eq!(all.len(), 4);
    for (k, &value) in all.iter().enumerate() {
        let (re, im) = root(&polynomial, value);
        let size = re.hypot(im);
        let off = (value.0 - re).hypot(value.1 - im);
        assert!(off <= tolerance * size, "{value:?} instead of {re} {im}");
        assert!(k == 0 || all[k - 1].0 <= value.0, "sorted");
    }
}

#[test]
fn the_coupled_eigenvalues_are_those_of_the_whole() {
    let model = example("mechanical");
    let found = linearize(&model, &[]);
    is_mechanical(&found, 1e-12);
    assert_eq!(found["time"], 0.0);
    assert_eq!(found["states"][3], "right.v");
    assert_eq!(found["state_values"][2], 3.0);
    assert_eq!(found["outputs"].as_array().unwrap().len(), 3);
    // The force of the right body on the left one: 10000 (x - position) + 10 (v - velocity).
    let force: Vec<f64> = (0..4).map(|k| number(&found["C"][2][k])).collect();
    assert_eq!(force, [-10000.0, -10.0, 10000.0, 10.0]);

    let later = linearize(&model, &["--at", "0.5"]);
    is_mechanical(&later, 1e-12);
    assert_eq!(later["time"], 0.5);
    assert_ne!(later["state_values"], found["state_values"]);
}

#[test]
fn a_nonlinear_model_is_linearized_where_it_has_come_to() {
    let found = linearize(
        &example("lotka-volterra"),
        &["--at", "2.5", "--tolerance", "1e-10"],
    );
    let x: Vec<f64> = (0..2).map(|k| number(&found["state_values"][k])).collect();
    let (prey, predator) = (x[0], x[1]);
    let expected = [
        [2.0 / 3.0 - 4.0 / 3.0 * predator, -4.0 / 3.0 * prey],
        [predator, prey - 1.0],
    ];
    for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let entry = number(&found["A"][row][column]);
        assert!(
            (entry - expected[row][column]).abs() < 1e-12,
            "{row} {column}"
        );
    }
    // The run has come to where the orbit through (1, 1) goes: V = x - ln x + 4/3 y - 2/3 ln y is kept.
    let kept = |x: f64, y: f64| x - x.ln() + 4.0 / 3.0 * y - 2.0 / 3.0 * y.ln();
    assert_near(kept(prey, predator), kept(1.0, 1.0), 1e-8);
    assert!((prey - 1.0).abs() > 0.1);
}

#[test]
fn model_exchange_fmus_are_linearized_together() {
    let folder = Folder::new();
    for version in [Version::Two, Version::Three] {
        let fmu = |model| {
            Fixture::new(model, version)
                .kind(Kind::ModelExchange)
                .build()
        };
        let text = format!(
            "[model]\nstop-time = 1.0\n\n[systems.left]\nfmu = {:?}\n\n[systems.right]\nfmu = {:?}\n\n\
             [[connections]]\nfrom = \"right.force\"\nto = \"left.force\"\n\n\
             [[connections]]\nfrom = \"left.position\"\nto = \"right.position\"\n\n\
             [[connections]]\nfrom = \"left.velocity\"\nto = \"right.velocity\"\n",
            fmu(Model::MechanicalLeft),
            fmu(Model::MechanicalRight)
        );
        let model = folder.file("model.toml", text);
        is_mechanical(&linearize(&model, &[]), 1e-10);
    }
}

#[test]
fn an_open_input_has_a_column() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 1.0\n\n[systems.lag]\ninputs = { u = 1.0, w = 2.0 }\nstates = { x = 0.0 }\n\
                equations = \"der(x) = 3 * u - 2 * x\"\noutputs = { y = \"x + 5 * w\" }\n\n\
                [[connections]]\nvalue = 1.0\nto = \"lag.u\"\n\n[[connections]]\nvalue = 2.0\nto = \"lag.w\"\n";
    let found = linearize(&folder.file("model.toml", text), &[]);
    assert_eq!(found["inputs"], serde_json::json!(["lag.u", "lag.w"]));
    assert_eq!(found["B"], serde_json::json!([[3.0, 0.0]]));
    assert_eq!(found["D"], serde_json::json!([[0.0, 5.0]]));
    assert_eq!(eigenvalues(&found), [(-2.0, 0.0)]);
}

#[test]
fn files_are_json_or_mat() {
    let folder = Folder::new();
    let model = example("mechanical");
    let json = folder.name("m.json");
    let done = dovetail(&["linearize", &model, "-o", &json]).exits(0);
    assert!(done.out.contains("-2.03373 ± 63.9363i"), "{}", done.out);
    let read: Value = serde_json::from_str(&folder.read("m.json")).expect("JSON");
    is_mechanical(&read, 1e-12);

    let mat = folder.name("m.mat");
    dovetail(&["linearize", &model, "-q", "-o", &mat]).exits(0);
    let bytes = std::fs::read(&mat).expect("a file");
    // `time` is a header of 20 bytes, a name of 5 and a number; then A, column by column.
    let at = 20 + 5 + 8;
    assert_eq!(&bytes[at..at + 12], [0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]);
    let first = at + 20 + 2;
    let entry =
        |k: usize| f64::from_le_bytes(bytes[first + 8 * k..first + 8 * k + 8].try_into().unwrap());
    assert_eq!([entry(1), entry(4)], [-4000.0, 1.0]);

    dovetail(&["linearize", &model, "-o", &folder.name("m.csv")])
        .exits(2)
        .says(&[".csv", ".json and .mat"]);
}

#[test]
fn what_cannot_be_linearized_is_refused_by_name() {
    let folder = Folder::new();
    let fmu = Fixture::poor(Model::Prey, Version::Two).build();
    dovetail(&["linearize", &fmu.display().to_string()])
        .exits(2)
        .says(&["cannot be linearized"]);

    let model = example("mechanical");
    dovetail(&["linearize", &model, "--at", "-1"])
        .exits(2)
        .says(&["--at -1"]);
    dovetail(&["linearize", &model, "--at", "1", "--method", "monolithic"])
        .exits(2)
        .says(&["monolithic", "another --method"]);

    let singular = pair(1.0, ["der(x) = -x", "u + x"], ["der(x) = -x", "u"]);
    dovetail(&["linearize", &folder.file("loop.toml", singular)])
        .exits(2)
        .says(&["`a.y` and `b.y`"]);
}
