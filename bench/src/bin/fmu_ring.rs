//! Cost of a macro-step per FMU, on rings of the lightest FMU there is, beside a bare C loop over the same FMU.
//!
//! Jacobi, without recording, in CPU time, both in this one run; the least of several repeats, since machines are noisy. Of our own
//! runs a run of a tenth of the steps is taken off, and with it all that happens once. The ratios are what counts. The sum of all states stays 1.

#![allow(unsafe_code, reason = "the bare loop is C")]

use std::ffi::{CString, c_char};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail_bench::run;
use dovetail_fixtures::{Fixture, Model, Version};
use dovetail_fmi::archive::Archive;
use dovetail_report::{Alignment, Kind, LastRow, Recorder, Table, Variables, significant};
use dovetail_scenario::{Choices, Overrides, Scenario, SourceText};

unsafe extern "C" {
    fn bench_cpu_seconds() -> f64;
    fn bench_bare_ring2(
        library: *const c_char,
        token: *const c_char,
        n: usize,
        steps: usize,
        h: f64,
        sum: *mut f64,
    ) -> f64;
    fn bench_bare_ring3(
        library: *const c_char,
        token: *const c_char,
        n: usize,
        steps: usize,
        h: f64,
        sum: *mut f64,
    ) -> f64;
}

const SIZES: [usize; 3] = [2, 10, 100];
const REPEATS: usize = 7;
/// FMU-steps per run, so that every size works equally long.
const WORK: usize = 2_000_000;
/// Of how many times fewer steps the run is that is taken off.
const SHORTER: usize = 10;
/// How far the sum of all states may be from 1, by rounding alone.
const DRIFT: f64 = 1e-9;

/// One kind of FMU that is measured.
struct Subject {
    label: &'static str,
    version: Version,
    fixture: Fixture,
}

fn main() {
    let subjects = [
        Subject {
            label: "FMI 2.0",
            version: Version::Two,
            fixture: Fixture::poor(Model::Ring, Version::Two),
        },
        Subject {
            label: "FMI 3.0",
            version: Version::Three,
            fixture: Fixture::poor(Model::Ring, Version::Three),
        },
        Subject {
            label: "FMI 2.0, every capability",
            version: Version::Two,
            fixture: Fixture::new(Model::Ring, Version::Two),
        },
        Subject {
            label: "FMI 3.0, every capability",
            version: Version::Three,
            fixture: Fixture::new(Model::Ring, Version::Three),
        },
    ];
    let heads = [
        ("unit", Alignment::Left),
        ("units", Alignment::Right),
        ("bare ns", Alignment::Right),
    ];
    let heads = heads.into_iter().chain([
        ("dovetail ns", Alignment::Right),
        ("ratio", Alignment::Right),
    ]);
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    // Arguments pick one row, for a profiler: the beginning of its label, and the number of units.
    let picked: Vec<String> = std::env::args().skip(1).collect();
    let is_picked = |at: usize, text: &str| picked.get(at).is_none_or(|wanted| wanted == text);
    for subject in subjects
        .iter()
        .filter(|subject| is_picked(0, subject.label))
    {
        for n in SIZES.into_iter().filter(|n| is_picked(1, &n.to_string())) {
            let (bare, ours) = measure(subject, n);
            let numbers = [bare, ours, ours / bare].map(|number| significant(number, 3));
            table.row(
                [subject.label.to_owned(), n.to_string()]
                    .into_iter()
                    .chain(numbers)
                    .collect(),
            );
        }
    }
    println!(
        "CPU time of a macro-step per FMU, on a ring of n FMUs x' = u - x under Jacobi, without recording"
    );
    print!("{}", table.render(""));
    println!("bare: set, step and get in a plain C loop over the same FMU");
}

/// Nanoseconds per FMU and step: bare, and ours. The two take turns, so that both meet the same machine.
fn measure(subject: &Subject, n: usize) -> (f64, f64) {
    let (steps, path) = (WORK / n, subject.fixture.build());
    let size = 10.0 / steps as f64;
    let scenario = scenario(&path, n);
    check_sum(&scenario, &format!("{size:e}"));
    let [mut bare_least, mut long_least, mut short_least] = [f64::INFINITY; 3];
    for _ in 0..REPEATS {
        bare_least = bare_least.min(bare(subject, &path, n, steps, size));
        long_least = long_least.min(ours(&scenario, steps));
        short_least = short_least.min(ours(&scenario, steps / SHORTER));
    }
    let more = (steps - steps / SHORTER) * n;
    (bare_least, 1e9 * (long_least - short_least) / more as f64)
}

/// CPU seconds of a run of so many steps.
fn ours(scenario: &Scenario, steps: usize) -> f64 {
    let step = format!("{:e}", 10.0 / steps as f64);
    // SAFETY: reads a clock.
    let before = unsafe { bench_cpu_seconds() };
    let end = run(scenario, &[("method", "jacobi"), ("step", &step)]);
    // SAFETY: as above.
    let spent = unsafe { bench_cpu_seconds() } - before;
    assert!(end.ending.is_ok(), "BUG: {:?}", end.ending);
    assert_eq!(
        end.statistics.steps as usize, steps,
        "the engine took other steps"
    );
    spent
}

fn scenario(path: &Path, n: usize) -> Scenario {
    let mut text = String::from("[model]\nstop-time = 10.0\n");
    for i in 0..n {
        let start = if i == 0 { 1.0 } else { 0.0 };
        let from = (i + n - 1) % n;
        text += &format!(
            "[systems.s{i}]\nfmu = {:?}\nparameters = {{ x0 = {start:?} }}\n",
            path.display().to_string()
        );
        text += &format!("[[connections]]\nfrom = \"s{from}.x\"\nto = \"s{i}.u\"\n");
    }
    let source = SourceText {
        path: "ring.toml".into(),
        text,
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("BUG: {bad}"))
}

/// The sum of all states stays 1, in the engine as in the bare loop; this run is not timed.
fn check_sum(scenario: &Scenario, step: &str) {
    let mut choices = Choices::default();
    choices.set("method", "jacobi");
    choices.set("step", step);
    let options = scenario
        .options(&choices)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let outputs = Variables::of(&scenario.connections).of_kind(Kind::Output);
    let mut last = Recorder::new(
        &scenario.connections,
        &outputs,
        LastRow::default(),
        "final values",
    );
    let end = scenario.run(&options, &mut [&mut last], &AtomicBool::new(false));
    end.unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let sum: f64 = last.sink().values.iter().sum();
    assert!((sum - 1.0).abs() < DRIFT, "the sum of all states is {sum}");
}

fn bare(subject: &Subject, path: &Path, n: usize, steps: usize, size: f64) -> f64 {
    let archive = Archive::open(path).expect("BUG: a fixture that opens");
    let (platform, function, token): (_, unsafe extern "C" fn(_, _, _, _, _, _) -> f64, _) =
        match subject.version {
            Version::One => unreachable!("BUG: no ring of FMI 1.0 is measured"),
            Version::Two => ("linux64", bench_bare_ring2, "{dovetail-Ring-2}"),
            Version::Three => ("x86_64-linux", bench_bare_ring3, "{dovetail-Ring-3}"),
        };
    let library = archive
        .folder()
        .join("binaries")
        .join(platform)
        .join("Ring.so");
    let text = |text: String| CString::new(text).expect("BUG: a text without zeros");
    let (library, token) = (text(library.display().to_string()), text(token.to_owned()));
    let mut sum = f64::NAN;
    // SAFETY: the texts end with zeros and outlive the call, `sum` is ours.
    let spent = unsafe {
        function(
            library.as_ptr(),
            token.as_ptr(),
            n,
            steps,
            size,
            &raw mut sum,
        )
    };
    assert!(spent > 0.0, "the bare loop failed: {spent}");
    assert!((sum - 1.0).abs() < DRIFT, "the sum of all states is {sum}");
    1e9 * spent / (steps * n) as f64
}
