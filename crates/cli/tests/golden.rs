//! Every example and every valid fixture, under every method, by one thread, by threads and by processes, gives the
//! very results that `golden.txt` records: steps, rejections, integrations, and a hash of all rows. Who changes results
//! on purpose runs `DOVETAIL_GOLDEN=write cargo test -p dovetail-cli --test golden` and says in the commit what changed
//! and why.
//!
//! Mathematical functions differ in their last bits from one library to the next, and compilers of C differ too. Where
//! those are not the ones that the file was written with, hashes are not compared, everything else is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use serde_json::Value;

const METHODS: [&str; 7] = [
    "jacobi",
    "gauss-seidel",
    "f3ornits",
    "ifosmondi",
    "missiles",
    "predictive",
    "auto",
];
const WORKERS: [&[&str]; 3] = [&[], &["--workers", "threads"], &["--workers", "processes"]];

/// What is run: a name for the file, a model and a method.
struct Job {
    name: String,
    model: PathBuf,
    method: &'static str,
    has_fmus: bool,
}

/// FNV-1a, the same on every machine.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// What the mathematical functions of this machine make of some thousand arguments.
fn mathematics() -> String {
    let functions: [fn(f64) -> f64; 8] = [
        f64::sin,
        f64::cos,
        f64::tan,
        f64::exp,
        f64::ln,
        f64::tanh,
        f64::atan,
        |x| x.powf(1.7),
    ];
    let arguments = (1..2000).map(|n| f64::from(n) * 0.0137);
    let bits: Vec<u8> = arguments
        .flat_map(|x| functions.map(|function| function(x).to_bits().to_le_bytes()))
        .flatten()
        .collect();
    format!("mathematics {:016x}, {}", hash(&bits), instructions())
}

/// The instructions of this processor that libraries for matrices choose between.
fn instructions() -> String {
    #[cfg(target_arch = "x86_64")]
    let known = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let known = [(std::env::consts::ARCH, true)];
    let there: Vec<&str> = known
        .iter()
        .filter(|(_, there)| *there)
        .map(|(name, _)| *name)
        .collect();
    there.join(" ")
}

/// The compiler that makes the fixtures.
fn compiler() -> String {
    let output = Command::new("cc")
        .arg("--version")
        .output()
        .expect("BUG: a compiler of C");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    format!("compiler {}", text.lines().next().unwrap_or("unknown"))
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// All examples, with equations.
fn with_equations(jobs: &mut Vec<Job>) {
    let folders = std::fs::read_dir(examples()).expect("BUG: the examples are there");
    let mut models: Vec<PathBuf> = folders
        .map(|folder| folder.unwrap().path().join("model.toml"))
        .collect();
    models.retain(|model| model.exists());
    models.sort();
    for model in models {
        let name = model
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        for method in METHODS {
            jobs.push(Job {
                name: name.clone(),
                model: model.clone(),
                method,
                has_fmus: false,
            });
        }
    }
}

/// Every valid fixture on its own.
fn fixtures_alone(jobs: &mut Vec<Job>) {
    for (name, fixture) in dovetail_fixtures::valid() {
        jobs.push(Job {
            name,
            model: fixture.build(),
            method: "auto",
            has_fmus: true,
        });
    }
}

/// Two examples, with FMUs in place of equations.
fn coupled_fixtures(folder: &Path, jobs: &mut Vec<Job>) {
    let pairs = [
        (
            "lotka-volterra",
            [("prey", Model::Prey), ("predator", Model::Predator)],
        ),
        (
            "mechanical",
            [
                ("left", Model::MechanicalLeft),
                ("right", Model::MechanicalRight),
            ],
        ),
    ];
    for (example, systems) in pairs {
        for (version, tag) in [(Version::Two, "fmi2"), (Version::Three, "fmi3")] {
            for kind in ["cs", "me", "poor"] {
                let fmu = |model: Model| match kind {
                    "cs" => Fixture::new(model, version)
                        .kind(Kind::CoSimulation)
                        .build(),
                    "me" => Fixture::new(model, version)
                        .kind(Kind::ModelExchange)
                        .build(),
                    _ => Fixture::poor(model, version).build(),
                };
                let name = format!("{example}-{tag}-{kind}");
                let model = folder.join(format!("{name}.toml"));
                std::fs::write(
                    &model,
                    with_fmus(example, systems.map(|(name, model)| (name, fmu(model)))),
                )
                .unwrap();
                for method in METHODS {
                    jobs.push(Job {
                        name: name.clone(),
                        model: model.clone(),
                        method,
                        has_fmus: true,
                    });
                }
            }
        }
    }
}

/// The text of an example with FMUs for its systems.
fn with_fmus(example: &str, fmus: [(&str, PathBuf); 2]) -> String {
    let text = std::fs::read_to_string(examples().join(example).join("model.toml")).unwrap();
    let (mut model, mut skips) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with('[') {
            let fmu = fmus
                .iter()
                .find(|(name, _)| line == format!("[systems.{name}]"));
            skips = fmu.is_some();
            if let Some((name, path)) = fmu {
                writeln!(
                    model,
                    "[systems.{name}]\nfmu = {:?}",
                    path.display().to_string()
                )
                .unwrap();
            }
        }
        if !skips {
            writeln!(model, "{line}").unwrap();
        }
    }
    model
}

/// The results of a job under one kind of workers, as a line of the file.
fn results(job: &Job, workers: &[&str], folder: &Path) -> String {
    let rows = folder.join("rows.csv");
    let _ = std::fs::remove_file(&rows);
    let done = Command::new(env!("CARGO_BIN_EXE_dovetail"))
        .args([
            "run", "--method", job.method, "--json", "--quiet", "--output",
        ])
        .args([&rows, &job.model])
        .args(workers)
        .output()
        .expect("BUG: the program starts");
    let summary: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
    let count = |key: &str| {
        summary[key]
            .as_u64()
            .map_or("-".to_owned(), |count| count.to_string())
    };
    let hash = std::fs::read(&rows).map_or("-".to_owned(), |rows| format!("{:016x}", hash(&rows)));
    format!(
        "{} {}: exit {}, {} steps, {} rejected, {} integrations, rows {hash}",
        job.name,
        job.method,
        done.status.code().unwrap_or(-1),
        count("steps"),
        count("rejected"),
        count("integrations"),
    )
}

/// The results of a job, which are the same whoever does the work.
fn line(job: &Job, folder: &Path) -> String {
    let [one, threads, processes] = WORKERS.map(|workers| results(job, workers, folder));
    assert_eq!(one, threads, "threads change results");
    assert_eq!(one, processes, "processes change results");
    one
}

/// The lines of all jobs, in their order; two at a time.
fn lines(jobs: &[Job]) -> Vec<String> {
    let (next, done) = (Mutex::new(0), Mutex::new(vec![String::new(); jobs.len()]));
    let work = || {
        let folder = tempfile::tempdir().unwrap();
        loop {
            let place = {
                let mut next = next.lock().unwrap();
                *next += 1;
                *next - 1
            };
            let Some(job) = jobs.get(place) else { break };
            let line = line(job, folder.path());
            done.lock().unwrap()[place] = line;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    done.into_inner().unwrap()
}

#[test]
fn results_are_what_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut jobs = Vec::new();
    with_equations(&mut jobs);
    fixtures_alone(&mut jobs);
    coupled_fixtures(folder.path(), &mut jobs);
    let (mathematics, compiler, found) = (mathematics(), compiler(), lines(&jobs));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt");
    if std::env::var("DOVETAIL_GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::write(
            &file,
            format!("{mathematics}\n{compiler}\n{}\n", found.join("\n")),
        )
        .unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&file).expect("BUG: the recorded results are there");
    let mut recorded = recorded.lines();
    let same_mathematics = recorded.next() == Some(&mathematics);
    let same_compiler = recorded.next() == Some(&compiler);
    let recorded: Vec<&str> = recorded.collect();
    assert_eq!(recorded.len(), found.len(), "runs were added or have gone");
    let without_hash = |line: &str| line.split(", rows").next().unwrap_or_default().to_owned();
    let differing = recorded
        .iter()
        .zip(&found)
        .zip(&jobs)
        .filter(|((recorded, found), job)| {
            let comparable = same_mathematics && (same_compiler || !job.has_fmus);
            if comparable {
                *recorded != found
            } else {
                without_hash(recorded) != without_hash(found)
            }
        });
    let differing: Vec<String> = differing
        .map(|((recorded, found), _)| format!("was {recorded}\nnow {found}"))
        .collect();
    assert!(
        differing.is_empty(),
        "{} results changed\n{}",
        differing.len(),
        differing.join("\n")
    );
}
