//! What each kind of worker costs and brings, as users meet it: the program itself, run in a single thread, in two threads, in
//! two processes and on two MPI ranks.
//!
//! The first table has the cost of an exchange: how much longer a step of two systems that do next to nothing takes than in a
//! single thread. The second has the speed-up of two systems whose steps take about 10 µs to 10 ms. Kinds take turns, so that
//! all meet the same machine; medians of several runs. A machine with other work to do has no second core to give.
//!
//! The third is no measurement but a model: what many ranks would bring on a cluster, if rank 0 handles one message after the
//! other, each at the cost of the exchange with a second rank that was measured here, and a network adds its latency.
//!
//! `workers 10` makes ten runs of each instead of three, `workers 10 3` runs of three seconds. Short runs bring less: what is found
//! out at the start of a run and about its errors is found in a single thread.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use dovetail_report::{Alignment, Table, significant};
use serde_json::Value;

/// Runs of each kind.
const RUNS: usize = 3;
/// A run takes about so long in a single thread, unless it is said.
const SECONDS: f64 = 0.4;
/// Links of the chains of sines whose systems take about so long for a step.
const SIZES: [(&str, usize); 4] = [
    ("10 µs", 30),
    ("100 µs", 350),
    ("1 ms", 3500),
    ("10 ms", 35_000),
];
const METHODS: [&str; 2] = ["ifosmondi", "missiles"];

/// Where systems run.
struct Kind {
    name: &'static str,
    /// What runs the program, if something does.
    launcher: &'static [&'static str],
    flags: &'static [&'static str],
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "1 thread",
        launcher: &[],
        flags: &["--worker-threads", "1"],
    },
    Kind {
        name: "2 threads",
        launcher: &[],
        flags: &["--worker-threads", "2"],
    },
    Kind {
        name: "2 processes",
        launcher: &[],
        flags: &["--workers", "processes"],
    },
    Kind {
        name: "2 ranks",
        launcher: &[
            "mpirun",
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "-n",
            "2",
        ],
        flags: &["--workers", "mpi"],
    },
];

fn main() {
    let bench = Bench::new();
    let exchanges = bench.exchanges();
    bench.speed_ups();
    if let Some((_, seconds)) = exchanges.iter().find(|(name, _)| *name == "2 ranks") {
        model_cluster(*seconds);
    }
}

/// Seconds from a message to its answer on a network of this kind, beyond what it takes on one machine.
const NETWORKS: [(&str, f64); 2] = [("InfiniBand, 3 µs", 3e-6), ("Ethernet, 60 µs", 60e-6)];
const RANKS: [usize; 3] = [10, 100, 1000];
/// Seconds of a step, and systems of each rank.
const LOADS: [(f64, usize); 4] = [(100e-6, 1), (1e-3, 1), (1e-3, 10), (10e-3, 1)];

/// How many times faster R ranks with k systems each would be than a single one with all R·k: `R k c / (k c + (R − 1) m + l)`,
/// with c the cost of a step, m that of a message and its answer, l the latency of the network.
fn model_cluster(message: f64) {
    let mut heads = vec![
        ("a step takes".to_owned(), Alignment::Left),
        ("systems a rank".to_owned(), Alignment::Right),
        ("network".to_owned(), Alignment::Left),
    ];
    heads.extend(RANKS.map(|ranks| (format!("{ranks} ranks"), Alignment::Right)));
    let named: Vec<(&str, Alignment)> = heads
        .iter()
        .map(|(head, at)| (head.as_str(), *at))
        .collect();
    let mut table = Table::new(&named);
    for (cost, systems) in LOADS {
        for (network, latency) in NETWORKS {
            let own = systems as f64 * cost;
            let faster = RANKS.map(|ranks| {
                let exchange = (ranks - 1) as f64 * message + latency;
                significant(ranks as f64 * own / (own + exchange), 3)
            });
            let head = [
                format!("{} ms", 1e3 * cost),
                systems.to_string(),
                network.to_owned(),
            ];
            table.row(head.into_iter().chain(faster).collect());
        }
    }
    println!(
        "\nA model, not a measurement: how many times faster a cluster would be than one rank,"
    );
    println!(
        "with {} µs for a message and its answer",
        significant(1e6 * message, 2)
    );
    print!("{}", table.render(""));
}

struct Bench {
    program: PathBuf,
    folder: PathBuf,
    runs: usize,
    seconds: f64,
    kinds: Vec<&'static Kind>,
}

impl Bench {
    fn new() -> Self {
        let own = std::env::current_exe().expect("this program has a path");
        let program = own.with_file_name("dovetail");
        assert!(program.exists(), "build the program dovetail first");
        let folder = std::env::temp_dir().join(format!("dovetail-workers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for models");
        let runs = std::env::args().nth(1).map(|text| text.parse());
        let seconds = std::env::args().nth(2).map(|text| text.parse());
        let mut bench = Self {
            program,
            folder,
            runs: runs.map_or(RUNS, |runs| runs.expect("a number of runs")),
            seconds: seconds.map_or(SECONDS, |seconds| seconds.expect("a number of seconds")),
            kinds: Vec::new(),
        };

        let model = bench.model(1, 0.1);
        let (kinds, missing): (Vec<_>, Vec<_>) = KINDS
            .iter()
            .partition(|kind| bench.step_seconds(kind, &model, "jacobi", 2).is_some());
        bench.kinds = kinds;
        for kind in missing {
            println!("not here: {}", kind.name);
        }
        bench
    }

    /// Two systems in a loop, each with one state and a chain of so many sines to compute its derivative.
    fn model(&self, links: usize, stop: f64) -> PathBuf {
        let mut text = format!("[model]\nstop-time = {stop}\n");
        for (name, other) in [("one", "two"), ("two", "one")] {
            let mut chain = "a0 = sin(x + 0.1)\n".to_owned();
            for link in 1..links {
                let _ = writeln!(chain, "a{link} = sin(a{} + 0.1)", link - 1);
            }
            let _ = write!(
                text,
                "[systems.{name}]\ninputs = {{ u = 0.0 }}\nstates = {{ x = 0.5 }}\nequations = '''\n{chain}\
                 der(x) = u - x + 0.1 * a{}\n'''\noutputs = {{ y = \"x\" }}\n\
                 [[connections]]\nfrom = \"{name}.y\"\nto = \"{other}.u\"\n",
                links - 1
            );
        }

        let path = self.folder.join(format!("{links}-{stop}.toml"));
        std::fs::write(&path, text).expect("a model is written");
        path
    }

    /// Seconds of a step; none where this kind does not work here.
    fn step_seconds(&self, kind: &Kind, model: &Path, method: &str, steps: usize) -> Option<f64> {
        let mut words = kind.launcher.iter();
        let mut command = match words.next() {
            Some(first) => {
                let mut command = Command::new(first);
                command.args(words).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        let output = command
            .arg("run")
            .arg(model)
            .args([
                "--json",
                "--method",
                method,
                "--step",
                "0.01",
                "--stop-time",
            ])
            .arg((0.01 * steps as f64).to_string())
            .args(kind.flags)
            .output()
            .ok()?;
        let run: Value = serde_json::from_slice(&output.stdout).ok()?;
        let seconds = run["wall_seconds"].as_f64()?;
        let made = run["steps"].as_f64().filter(|steps| *steps > 0.0)?;
        Some(seconds / made)
    }

    /// For each kind the median over runs in turns, in seconds a step.
    fn medians(&self, model: &Path, method: &str, steps: usize) -> Vec<f64> {
        let mut seconds = vec![Vec::new(); self.kinds.len()];
        for _ in 0..self.runs {
            for (kind, seconds) in self.kinds.iter().zip(&mut seconds) {
                seconds.extend(self.step_seconds(kind, model, method, steps));
            }
        }
        seconds.iter_mut().map(|seconds| median(seconds)).collect()
    }

    /// For each kind but the first what an exchange costs, in seconds.
    fn exchanges(&self) -> Vec<(&'static str, f64)> {
        let model = self.model(1, 1.0);
        let medians = self.medians(&model, "jacobi", 200_000);
        let mut table = Table::new(&[
            ("systems in", Alignment::Left),
            ("µs an exchange", Alignment::Right),
        ]);
        let beyond = self.kinds.iter().zip(&medians).skip(1);
        let costs: Vec<(&str, f64)> = beyond
            .map(|(kind, seconds)| (kind.name, seconds - medians[0]))
            .collect();
        for (name, cost) in &costs {
            table.row(vec![(*name).to_owned(), significant(1e6 * cost, 2)]);
        }
        println!("What an exchange with two systems costs, beyond a single thread (jacobi)");
        print!("{}", table.render(""));
        costs
    }

    fn speed_ups(&self) {
        let mut heads = vec![
            ("a step takes", Alignment::Left),
            ("method", Alignment::Left),
            ("measured µs", Alignment::Right),
        ];
        heads.extend(
            self.kinds
                .iter()
                .skip(1)
                .map(|kind| (kind.name, Alignment::Right)),
        );
        let mut table = Table::new(&heads);
        for (size, links) in SIZES {
            let model = self.model(links, 1.0);
            for method in METHODS {
                let alone = self.step_seconds(self.kinds[0], &model, method, 3);
                let alone = alone.expect("a single thread works everywhere");
                let steps = ((self.seconds / alone) as usize).clamp(20, 200_000);
                let medians = self.medians(&model, method, steps);
                let numbers = medians.iter().skip(1).map(|seconds| medians[0] / seconds);
                let numbers = numbers.map(|ratio| significant(ratio, 3));
                let head = [
                    size.to_owned(),
                    method.to_owned(),
                    significant(1e6 * medians[0], 3),
                ];
                table.row(head.into_iter().chain(numbers).collect());
            }
        }
        println!(
            "\nHow many times faster two systems are than in a single thread; 2 would be perfect"
        );
        print!("{}", table.render(""));
        println!(
            "measured: a macro-step of both systems in a single thread, with all that the method asks"
        );
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
