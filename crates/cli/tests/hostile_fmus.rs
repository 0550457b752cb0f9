//! FMUs that do harm on purpose, of every kind and at every place, in the program, in threads and in processes: each ends in a
//! sentence and an exit code, with its rows kept and nothing left behind.
//!
//! A seeded tenth of all combinations is tried; `DOVETAIL_HOSTILE_ALL=1` tries all of them (`./test full`).

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use support::Folder;

const PLACES: [&str; 10] = [
    "constructor",
    "instantiate",
    "initialize",
    "set",
    "get",
    "step",
    "state",
    "terminate",
    "free",
    "destructor",
];

/// A way of doing harm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Harm {
    /// The call never comes back.
    Ends,
    /// The process may be unusable afterwards.
    Spoils,
    /// The call comes back, and something is not as it was.
    Disturbs,
}

const KINDS: [(&str, Harm); 16] = [
    ("segfault", Harm::Ends),
    ("abort", Harm::Ends),
    ("exit", Harm::Ends),
    ("_exit", Harm::Ends),
    ("exec", Harm::Ends),
    ("hang", Harm::Ends),
    ("stack", Harm::Ends),
    ("memory", Harm::Spoils),
    ("doublefree", Harm::Spoils),
    ("close", Harm::Spoils),
    ("chdir", Harm::Disturbs),
    ("round", Harm::Disturbs),
    ("trap", Harm::Disturbs),
    ("thread", Harm::Disturbs),
    ("helper", Harm::Disturbs),
    ("handler", Harm::Disturbs),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Host,
    Threads,
    Processes,
}

const PLACEMENTS: [Placement; 3] = [Placement::Host, Placement::Threads, Placement::Processes];

/// One combination.
#[derive(Clone, Copy)]
struct Case {
    fmu: usize,
    place: &'static str,
    kind: &'static str,
    harm: Harm,
    placement: Placement,
}

impl Case {
    /// Whether the program can be expected to survive it: in itself it cannot survive what spoils it.
    fn is_due(&self) -> bool {
        self.harm != Harm::Spoils || self.placement == Placement::Processes
    }

    fn name(&self) -> String {
        let fmu = ["FMI 2 CS", "FMI 2 ME", "FMI 3 CS"][self.fmu];
        format!(
            "{fmu:<9} {:<12} {:<11} {:<10?}",
            self.place, self.kind, self.placement
        )
    }

    /// Whether the run is under way when it happens, so that there are rows to be kept.
    fn is_during_run(&self) -> bool {
        matches!(
            self.place,
            "set" | "get" | "step" | "state" | "terminate" | "free" | "destructor"
        )
    }

    fn is_after_run(&self) -> bool {
        matches!(self.place, "terminate" | "free" | "destructor")
    }
}

fn fmus() -> [PathBuf; 3] {
    let of = |version, kind| {
        let fixture = Fixture::new(Model::Prey, version).kind(kind).hostile(true);
        fixture.build()
    };
    [
        of(Version::Two, Kind::CoSimulation),
        of(Version::Two, Kind::ModelExchange),
        of(Version::Three, Kind::CoSimulation),
    ]
}

fn model(folder: &Folder, fmu: &std::path::Path, name: &str) -> String {
    let text = format!(
        "[model]\nstop-time = 1.0\n\n[systems.prey]\nfmu = {fmu:?}\n\n[systems.other]\ninputs = {{ u = 1.0 }}\n\
         states = {{ z = 1.0 }}\nequations = \"der(z) = u - z\"\noutputs = {{ z = \"z\" }}\n\n\
         [[connections]]\nfrom = \"prey.population\"\nto = \"other.u\"\n\n\
         [[connections]]\nfrom = \"other.z\"\nto = \"prey.predators\"\n"
    );
    folder.file(name, text)
}

/// What came of a run.
struct Seen {
    code: Option<i32>,
    err: String,
    out: String,
    rows: usize,
    whole: bool,
    left: usize,
    seconds: f64,
}

fn arguments<'a>(case: &Case, model: &'a str, output: &'a str) -> Vec<&'a str> {
    let mut arguments = vec![
        "run", model, "--method", "jacobi", "--step", "0.01", "--output", output,
    ];
    arguments.extend(["--step-timeout", "1", "--memory-limit", "2G"]);
    match case.placement {
        Placement::Host => {}
        Placement::Threads => arguments.extend(["--worker-threads", "2"]),
        Placement::Processes => arguments.extend(["--workers", "processes"]),
    }
    arguments
}

fn run(case: &Case, model: &str, output: &str, mark: &str) -> Seen {
    let _ = std::fs::remove_file(output);
    // What is tried out elsewhere is the same in all placements: it is to happen where the FMU runs.
    let process = match case.placement {
        Placement::Processes => "worker",
        _ => "host",
    };
    let time = if case.is_during_run() && !case.is_after_run() {
        0.5
    } else {
        0.0
    };
    // An FMU that changes the arithmetic does so from the beginning.
    let time = if matches!(case.kind, "round" | "trap") {
        0.0
    } else {
        time
    };
    let harm = format!("{}:{}:{time}:{process}", case.place, case.kind);
    let began = Instant::now();
    // Nothing takes as long as that, unless it is stuck.
    let [out, err] = ["out", "err"].map(|name| format!("{output}.{name}"));
    let file = |path: &str| std::fs::File::create(path).expect("a file");
    let done = Command::new("timeout")
        .args(["--kill-after=1", "20", env!("CARGO_BIN_EXE_dovetail")])
        .args(arguments(case, model, output))
        .env("DOVETAIL_HOSTILE", harm)
        .env("DOVETAIL_TEST_MARK", mark)
        .stdout(file(&out))
        .stderr(file(&err))
        .status()
        .expect("the program starts");
    let seconds = began.elapsed().as_secs_f64();
    let read = |path: &str| {
        let bytes = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let text = read(output);

    Seen {
        code: done.code(),
        err: read(&err),
        out: read(&out),
        rows: text.lines().count().saturating_sub(1),
        whole: text.is_empty() || text.ends_with('\n'),
        left: left_behind(mark),
        seconds,
    }
}

/// Processes that bear this mark in their environment, three seconds later at the latest.
fn left_behind(mark: &str) -> usize {
    let needle = format!("DOVETAIL_TEST_MARK={mark}");
    let count = || {
        let all = std::fs::read_dir("/proc").expect("processes").flatten();
        let of = |path: PathBuf| std::fs::read(path.join("environ")).unwrap_or_default();
        let has = |bytes: Vec<u8>| {
            bytes
                .split(|&b| b == 0)
                .any(|part| part == needle.as_bytes())
        };
        all.filter(|entry| has(of(entry.path()))).count()
    };
    let began = Instant::now();
    loop {
        let left = count();
        if left == 0 || began.elapsed() > Duration::from_secs(3) {
            return left;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What is wrong with what was seen, if anything.
fn judge(case: &Case, seen: &Seen, undisturbed: &str, rows: &str) -> Option<String> {
    let says = !seen.err.trim().is_empty() && !seen.err.contains("panicked");
    if seen.left > 0 {
        return Some(format!("{} processes are left behind", seen.left));
    }
    if !seen.whole {
        return Some("the last row is torn".to_owned());
    }
    if case.harm == Harm::Disturbs {
        // It may change nothing but what is said.
        return (seen.code != Some(0) || rows != undisturbed).then(|| {
            format!(
                "exit {:?}, rows as undisturbed: {}",
                seen.code,
                rows == undisturbed
            )
        });
    }
    if case.place == "state" && seen.code == Some(0) {
        return None; // this method saves no state
    }
    let was_tried = case.placement == Placement::Processes && case.is_after_run();
    if was_tried && seen.code == Some(2) && says {
        return None; // it showed when the FMU was tried out
    }
    if case.place == "destructor" && seen.code == Some(0) && rows == undisturbed {
        return None; // the program has done its work
    }
    if case.kind == "close" && seen.code == Some(0) && rows == undisturbed && says {
        return None; // no side of the channel had to sleep: it shows only when the process ends
    }
    if case.is_after_run() {
        let warned = seen.line().contains("warning") || says;
        let complete = rows == undisturbed;
        return (!complete || !warned)
            .then(|| format!("rows complete: {complete}, warned: {warned}"));
    }
    if !matches!(seen.code, Some(1 | 2)) || !says {
        return Some(format!("exit {:?}, a sentence: {says}", seen.code));
    }
    if case.is_during_run() && seen.rows < 45 {
        return Some(format!("{} rows of 50", seen.rows));
    }
    None
}

/// Numbers that look random, always the same: xorshift.
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn cases() -> Vec<Case> {
    let mut seed = Seed(0x9e37_79b9_7f4a_7c15);
    let all = std::env::var_os("DOVETAIL_HOSTILE_ALL").is_some();
    let only = std::env::var("DOVETAIL_HOSTILE_ONLY").unwrap_or_default();
    let mut cases = Vec::new();
    for fmu in 0..3 {
        for place in PLACES {
            for (kind, harm) in KINDS {
                for placement in PLACEMENTS {
                    let case = Case {
                        fmu,
                        place,
                        kind,
                        harm,
                        placement,
                    };
                    let chosen = all || seed.next().is_multiple_of(10);
                    let chosen = if only.is_empty() {
                        chosen
                    } else {
                        case.name().contains(&only)
                    };
                    if case.is_due() && chosen {
                        cases.push(case);
                    }
                }
            }
        }
    }
    cases
}

#[test]
fn hostile_fmus_harm_nobody() {
    let folder = Folder::new();
    let models: Vec<String> = fmus()
        .iter()
        .enumerate()
        .map(|(n, fmu)| model(&folder, fmu, &format!("hostile{n}.toml")))
        .collect();
    let output = folder.name("rows.csv");
    let mut undisturbed = BTreeMap::new();
    let mut bad = 0;
    println!(
        "FMU       place        kind        placement  exit  rows  left  seconds  what is said"
    );

    for (number, case) in cases().iter().enumerate() {
        let good = undisturbed.entry(case.fmu).or_insert_with(|| {
            let good = Case {
                kind: "none",
                placement: Placement::Host,
                ..*case
            };
            let seen = run(&good, &models[case.fmu], &output, "good");
            assert_eq!(seen.code, Some(0), "{}", seen.err);
            std::fs::read_to_string(&output).expect("rows")
        });
        let mark = format!("{}-{number}", std::process::id());
        let seen = run(case, &models[case.fmu], &output, &mark);
        let rows = std::fs::read_to_string(&output).unwrap_or_default();
        let wrong = judge(case, &seen, good, &rows);
        bad += usize::from(wrong.is_some());
        let said = seen
            .err
            .lines()
            .find(|line| line.contains("error") || line.contains("ended"));
        let said = said.unwrap_or_default();
        let code = seen.code.map_or("none".to_owned(), |code| code.to_string());
        println!(
            "{} {code:>5} {:>5} {:>5} {:>8.2}  {}{}",
            case.name(),
            seen.rows,
            seen.left,
            seen.seconds,
            said.chars().take(150).collect::<String>(),
            wrong.map_or(String::new(), |wrong| format!("\n    WRONG: {wrong}")),
        );
    }
    assert_eq!(bad, 0, "combinations that do harm");
}

/// A command with an FMU that does this.
fn with_harm(harm: &str, arguments: &[&str]) -> support::Done {
    let mut command = support::command(arguments);
    let done = command.env("DOVETAIL_HOSTILE", harm).output();
    done.expect("the program starts").into()
}

#[test]
fn a_static_look_runs_nothing_of_an_fmu() {
    for fmu in fmus() {
        let fmu = fmu.display().to_string();
        let looked = with_harm("constructor:abort", &["inspect", &fmu, "--static"]).exits(0);
        assert!(looked.line().contains("not tried"), "{}", looked.out);
        let json = with_harm(
            "constructor:abort",
            &["inspect", &fmu, "--static", "--json"],
        );
        let unit = &json.exits(0).json()["units"][0];
        assert!(unit["probed"].is_null() && unit["declared"].is_object());
    }
}

#[test]
fn checks_and_looks_are_isolated() {
    for fmu in fmus() {
        let fmu = fmu.display().to_string();
        for harm in [
            "constructor:segfault",
            "instantiate:_exit",
            "initialize:abort",
        ] {
            with_harm(harm, &["check", &fmu]).exits(2);
            let looked = with_harm(harm, &["inspect", &fmu]).exits(0);
            let said = ["it cannot be run here", "it could not be tried out"];
            let says = said.iter().any(|words| looked.line().contains(words));
            assert!(says, "{harm}: {}", looked.out);
        }
    }
}

#[test]
fn what_an_fmu_has_changed_is_said() {
    let fmu = fmus()[0].display().to_string();
    let changes = [
        ("chdir", "the working directory"),
        ("umask", "the umask"),
        ("round", "floating-point arithmetic"),
        ("handler", "the handlers of signals"),
    ];
    for (kind, what) in changes {
        let harm = format!("initialize:{kind}");
        let done = with_harm(&harm, &["run", &fmu, "--stop-time", "1"]).exits(0);
        assert!(done.line().contains(what), "{kind}: {}", done.out);
    }
}

#[test]
fn a_process_that_an_fmu_copies_goes_on_once() {
    let folder = Folder::new();
    let output = folder.name("rows.csv");
    let fmu = fmus()[2].display().to_string();
    let rows = |harm: &str, more: &[&str]| {
        let run = [
            "run",
            &fmu,
            "--stop-time",
            "1",
            "--method",
            "jacobi",
            "--output",
            &output,
        ];
        with_harm(harm, &[&run[..], more].concat()).exits(0);
        folder.read("rows.csv")
    };
    let undisturbed = rows("none:none", &[]);
    assert_eq!(rows("step:copy:0.9:host", &[]), undisturbed);
    assert_eq!(
        rows("step:copy:0.9:worker", &["--workers", "processes"]),
        undisturbed
    );
}

#[test]
fn a_relative_page_is_written_where_the_program_was_started() {
    let folder = Folder::new();
    let fmu = fmus()[0].display().to_string();
    let mut command = support::command(&["run", &fmu, "--stop-time", "1", "--report", "page.html"]);
    command
        .current_dir(folder.path(""))
        .env("DOVETAIL_HOSTILE", "instantiate:chdir");
    let done: support::Done = command.output().expect("the program starts").into();
    done.exits(0);
    assert!(folder.path("page.html").exists());
}

fn writer_of_texts(version: Version) -> String {
    let fixture = Fixture::poor(Model::Types, version).hostile(true);
    fixture.build().display().to_string()
}

#[test]
fn a_text_that_leads_nowhere_is_a_sentence() {
    for version in [Version::Two, Version::Three] {
        let fmu = writer_of_texts(version);
        let run = [
            "run",
            &fmu,
            "--stop-time",
            "1",
            "--step",
            "0.1",
            "--method",
            "jacobi",
        ];
        let harm = "text:lost:0:host";
        with_harm(harm, &run).says(&["GetString gave a text that cannot be read"]);
        let there = [&run[..], &["--workers", "processes"]].concat();
        let done = with_harm("text:lost:0:worker", &there);
        assert!(
            matches!(done.code, Some(1 | 2)) && done.err.contains("text"),
            "{done:?}"
        );
    }
}

/// A hundred thousand texts, of which each would be kept: twenty times as many as there is room for.
#[test]
fn texts_that_change_in_every_step_take_bounded_memory() {
    let fmu = writer_of_texts(Version::Two);
    let run = [
        "run",
        &fmu,
        "--stop-time",
        "1",
        "--step",
        "1e-5",
        "--method",
        "jacobi",
        "--quiet",
    ];
    for more in [&[][..], &["--workers", "processes"]] {
        let limited = [&run[..], &["--memory-limit", "48M"], more].concat();
        with_harm("text:count", &limited).exits(0);
    }
}

#[test]
fn a_library_of_another_version_is_noticed() {
    for (fmu, version) in [(0, "2.0"), (2, "3.0")] {
        let fmu = fmus()[fmu].display().to_string();
        let done = with_harm("version:1.0", &["run", &fmu, "--stop-time", "1"]).exits(0);
        let words = format!("says `1.0`, where `{version}` was expected");
        assert!(done.line().contains(&words), "{}", done.out);
    }
}
