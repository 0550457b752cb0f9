//! `dovetail fit`: parameters from measured data.

mod support;

use dovetail_fixtures::{Fixture, Model, Version};
use support::{Folder, Table, dovetail, example, number};

/// SplitMix64 and Box and Muller: the same noise on every machine.
struct Noise(u64);

impl Noise {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 * 2.0_f64.powi(-53)
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

const MASS: f64 = 1180.0;
const GAIN: f64 = 620.0;

/// Rows of a run of `car` with the true values: times, speeds and positions every half second.
fn truth(folder: &Folder) -> Table {
    let car = example("car");
    let rows = folder.name("truth.csv");
    let set = ["--set", "car.m=1180", "--set", "controller.gain=620", "-q"];
    let every = ["--output-interval", "0.5", "-o", &rows];
    dovetail(&[&["run", &car], &set[..], &every].concat()).exits(0);
    Table::parse(&folder.read("truth.csv"))
}

/// The same with noise: the speed, which has no unit, and the position in km; one cell in seven is missing.
fn measured(truth: &Table, seed: u64) -> String {
    let mut noise = Noise(seed);
    let mut text = "time,car.v,car.position [km]\n".to_owned();
    let [times, speeds, positions] =
        ["time", "car.v", "car.position"].map(|name| truth.numbers(name));
    for (row, time) in times.iter().enumerate() {
        let speed = speeds[row] + 0.1 * noise.normal();
        let position = 1e-3 * (positions[row] + 2.0 * noise.normal());
        match row % 7 {
            3 => text += &format!("{time},{speed},\n"),
            5 => text += &format!("{time},NaN,{position}\n"),
            _ => text += &format!("{time},{speed},{position}\n"),
        }
    }
    text
}

const VARY: [&str; 4] = [
    "--vary",
    "car.m=500:3000",
    "--vary",
    "controller.gain=100:2000",
];

/// 24 intervals of 95 %: at least 19 hold the truth with a probability of 0.998.
#[test]
fn two_parameters_of_car_are_found_within_their_confidence() {
    let car = example("car");
    let folder = Folder::new();
    let truth = truth(&folder);
    let mut covered = 0;
    for seed in 0..12 {
        let data = folder.file("data.csv", measured(&truth, seed));
        let all = [&["fit", &car, "--data", &data, "--json"], &VARY[..]].concat();
        let json = dovetail(&all).exits(0).json();
        for (name, truth) in [("car.m", MASS), ("controller.gain", GAIN)] {
            let found = &json["parameters"][name];
            let [low, high] = [0, 1].map(|end| number(&found["confidence"][end]));
            let (value, error) = (number(&found["value"]), number(&found["standard_error"]));
            assert!((value - truth).abs() < 5.0 * error, "seed {seed}: {found}");
            assert!(
                low < value && value < high && error < 0.05 * truth,
                "{found}"
            );
            assert_eq!(found["at_bound"], false);
            covered += usize::from(low <= truth && truth <= high);
        }
        assert_eq!(json["converged"], true);
        assert!(number(&json["runs"]) < 250.0, "{json}");
        // Each column is missed by its noise.
        let speed = number(&json["columns"]["car.v"]["rms"]);
        let position = number(&json["columns"]["car.position"]["rms"]);
        assert!(
            (0.07..0.13).contains(&speed) && (1.4..2.6).contains(&position),
            "{json}"
        );
    }
    assert!(covered >= 19, "{covered} of 24 intervals hold the truth");
}

#[test]
fn the_covariance_is_that_of_standard_errors_and_jobs_change_nothing() {
    let car = example("car");
    let folder = Folder::new();
    let data = folder.file("data.csv", measured(&truth(&folder), 7));
    let page = folder.name("fit.html");
    let run = |jobs: &str| {
        let all = [&["fit", &car, "--data", &data], &VARY[..]].concat();
        let rest = ["--jobs", jobs, "--json", "--report", &page];
        let mut json = dovetail(&[&all[..], &rest].concat()).exits(0).json();
        json["wall_seconds"] = 0.into();
        json
    };
    let json = run("1");
    assert_eq!(json, run("2"));
    let error = number(&json["parameters"]["car.m"]["standard_error"]);
    support::assert_near(number(&json["covariance"][0][0]), error * error, 1e-12);
    assert_eq!(json["covariance"][0][1], json["covariance"][1][0]);
    let page = folder.read("fit.html");
    assert!(page.matches("<figure>").count() == 2 && page.contains("measured"));
    assert!(
        page.matches("<circle").count() > 120,
        "every point is drawn"
    );
}

#[test]
fn start_values_of_states_are_fitted_and_what_is_in_the_way_is_named() {
    let car = example("car");
    let folder = Folder::new();
    let data = folder.file("data.csv", measured(&truth(&folder), 2));
    let fit = |vary: &[&str]| {
        let all = [&["fit", &car, "--data", &data], vary].concat();
        dovetail(&all)
    };
    let set = [
        "--set",
        "car.m=1180",
        "--set",
        "controller.gain=620",
        "--json",
    ];
    let started = fit(&[&["--vary", "car.x=-50:50"], &set[..]].concat())
        .exits(0)
        .json();
    let place = &started["parameters"]["car.x"];
    assert!(
        number(&place["value"]).abs() < 4.0 * number(&place["standard_error"]),
        "{place}"
    );

    let bound = fit(&["--vary", "car.m=500:900", "--json"]).exits(0).json();
    assert_eq!(bound["parameters"]["car.m"]["at_bound"], true);
    assert!(bound["parameters"]["car.m"]["confidence"].is_null());
    assert!(
        bound["notes"][0]
            .as_str()
            .unwrap()
            .contains("`car.m` is at its bound 900")
    );
    // The start value of an input that is fed has no influence.
    let useless = fit(&[
        "--vary",
        "car.m=500:3000",
        "--vary",
        "car.force=-1:1",
        "--json",
    ]);
    let useless = useless.exits(0).json();
    let note = useless["notes"][0].as_str().unwrap();
    assert!(note.contains("`car.force` is not identifiable"), "{note}");
}

#[test]
fn an_fmu_is_fitted_as_equations_are() {
    let folder = Folder::new();
    let fmu = Fixture::new(Model::Prey, Version::Two).build();
    let fmu = fmu.display().to_string();
    let rows = folder.name("rows.csv");
    let run = [
        "run",
        &fmu,
        "--stop-time",
        "4",
        "--set",
        "birth=0.55",
        "-q",
        "-o",
        &rows,
    ];
    dovetail(&[&run[..], &["--output-interval", "0.25"]].concat()).exits(0);
    let rows = Table::parse(&folder.read("rows.csv"));
    let mut text = "time,population\n".to_owned();
    for (time, value) in rows
        .numbers("time")
        .iter()
        .zip(rows.numbers("Prey.population"))
    {
        text += &format!("{time},{value}\n");
    }
    let data = folder.file("data.csv", text);
    let fit = ["fit", &fmu, "--stop-time", "4", "--data", &data, "--json"];
    let json = dovetail(&[&fit[..], &["--vary", "birth=0.1:2"]].concat())
        .exits(0)
        .json();
    support::assert_near(number(&json["parameters"]["birth"]["value"]), 0.55, 1e-5);
}

#[test]
fn misuse_is_said_before_anything_is_run() {
    let car = example("car");
    let folder = Folder::new();
    let good = "time,car.v\n0,0\n1,2\n2,3\n";
    for (data, vary, words) in [
        (
            good,
            "car.mm=1:2",
            &["--vary car.mm", "did you mean `car.m`?"][..],
        ),
        (
            good,
            "car.m=1,2",
            &["`car.m` is fitted within bounds", "car.m=LO:HI"],
        ),
        (good, "car.m=2:1", &["the range is empty"]),
        (
            "x,car.v\n0,0\n",
            "car.m=1:2",
            &["--data", "line 1", "must be `time`"],
        ),
        (
            "time,car.w\n0,0\n",
            "car.m=1:2",
            &["column `car.w`", "did you mean"],
        ),
        (
            "time,car.position [s]\n0,0\n",
            "car.m=1:2",
            &["it is in s, but `car.position` is in m"],
        ),
        (
            "time,car.v\n0,0\n41,0\n",
            "car.m=1:2",
            &["t = 41 s", "from 0 s to 40 s"],
        ),
        (
            "time,car.v\n0,0\n0,a\n",
            "car.m=1:2",
            &["line 3", "`a` in column `car.v`"],
        ),
    ] {
        let file = folder.file("data.csv", data);
        let done = dovetail(&["fit", &car, "--data", &file, "--vary", vary]);
        done.exits(2).says(words);
    }
    let file = folder.file("data.csv", good);
    let twice = ["--vary", "car.m=1:2", "--vary", "car.m=1:3"];
    let all = [&["fit", &car, "--data", &file], &twice[..]].concat();
    dovetail(&all).exits(2).says(&["`car.m` is varied twice"]);
    let few = [
        "--vary",
        "car.m=900:1100",
        "--vary",
        "car.x=0:1",
        "--vary",
        "car.v=0:1",
    ];
    let few = [&few[..], &["--vary", "controller.gain=1:2"]].concat();
    let all = [&["fit", &car, "--data", &file], &few[..]].concat();
    dovetail(&all)
        .exits(2)
        .says(&["3 measured values cannot determine 4 parameters"]);
}
