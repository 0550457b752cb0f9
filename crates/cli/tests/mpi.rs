//! `--workers mpi`: systems on the ranks of an MPI program.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dovetail_fixtures::{Fault, Fixture, Kind, Model, Version};
use support::{Done, Folder, Table, command_on_ranks, dovetail, example, lone};

/// By this variable the processes of a test are known.
const MARK: &str = "DOVETAIL_TEST_MARK";

/// Runs a command on so many ranks to its end.
fn on_ranks(ranks: usize, arguments: &[&str]) -> Done {
    let mut command = command_on_ranks(ranks, arguments);
    command.output().expect("mpirun is installed").into()
}

/// Prey and predator as FMUs, with the FMU of the prey as given.
fn pair_of_fmus(folder: &Folder, fault: Fault) -> String {
    let prey = Fixture::new(Model::Prey, Version::Two)
        .kind(Kind::CoSimulation)
        .fault(fault);
    let predator = Fixture::new(Model::Predator, Version::Two).build();
    let table = |name: &str, fmu: PathBuf| {
        let fmu = fmu.display().to_string();
        format!("[systems.{name}]\nfmu = {fmu:?}\n\n")
    };
    let connections = "[[connections]]\nfrom = \"prey.population\"\nto   = \"predator.prey\"\n\n\
                       [[connections]]\nfrom = \"predator.population\"\nto   = \"prey.predators\"\n";
    let systems = table("prey", prey.build()) + &table("predator", predator);
    folder.file(
        "model.toml",
        format!("[model]\nstop-time = 2.0\n\n{systems}{connections}"),
    )
}

/// On rank 0, which has the first system, and on another one.
const PLACES: [(usize, &[&str]); 2] = [(2, &[]), (3, &["--orchestrator-only"])];

/// A run on ranks that writes rows to a file.
struct RankedRun {
    folder: Folder,
    mpirun: Child,
    mark: String,
    /// The column with the time that a row reaches.
    reached: &'static str,
}

impl RankedRun {
    /// A run of FMUs.
    fn start(fault: Fault, ranks: usize, flags: &[&str]) -> Self {
        let folder = Folder::new();
        let model = pair_of_fmus(&folder, fault);
        let run = ["run", &model, "--method", "jacobi", "--step", "0.01"];
        Self::begin(folder, "time", ranks, &[&run, flags].concat())
    }

    /// A proof of bounds in many steps.
    fn of_bounds(method: &str, ranks: usize, flags: &[&str]) -> Self {
        let model = example("lotka-volterra");
        let run = ["enclose", &model, "--method", method, "--step", "1e-5"];
        Self::begin(Folder::new(), "t1", ranks, &[&run, flags].concat())
    }

    fn begin(folder: Folder, reached: &'static str, ranks: usize, arguments: &[&str]) -> Self {
        let output = folder.name("results.csv");
        let more = ["--workers", "mpi", "--quiet", "--output", &output];
        let mut command = command_on_ranks(ranks, &[arguments, &more].concat());
        let mark = folder.name("mark");
        let mpirun = command
            .env(MARK, &mark)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mpirun is installed");
        Self {
            folder,
            mpirun,
            mark,
            reached,
        }
    }

    /// The end of the run, when no process of it is left.
    fn end(self) -> (Done, f64) {
        let done: Done = self.mpirun.wait_with_output().expect("it ends").into();
        let began = Instant::now();
        while let Some(left) = marked(&self.mark).first() {
            let limit = Duration::from_secs(20);
            assert!(began.elapsed() < limit, "process {left} is left: {done:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let rows = Table::parse(&self.folder.read("results.csv"));
        let reached = *rows.numbers(self.reached).last().expect("a row");
        (done, reached)
    }

    /// The process in which a rank has its systems, once rows are written.
    fn process_of(&self, rank: usize) -> u32 {
        let began = Instant::now();
        loop {
            let is_there =
                fs::metadata(self.folder.path("results.csv")).is_ok_and(|file| file.len() > 100);
            let of_rank = format!("OMPI_COMM_WORLD_RANK={rank}");
            let mut processes = marked(&self.mark);
            processes.retain(|process| environment(*process).contains(&of_rank));
            // The last is the child of the one that watches over it.
            if let (true, Some(process)) = (is_there, processes.last()) {
                return *process;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no rows come");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn environment(process: u32) -> String {
    let bytes = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The processes with this mark, in the order in which they were started.
fn marked(mark: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes are listed");
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mark = format!("{MARK}={mark}");
    let mut marked: Vec<u32> = numbers
        .filter(|process| environment(*process).contains(&mark))
        .collect();
    marked.sort_unstable();
    marked
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status();
    assert!(sent.expect("kill is there").success());
}

/// Where the FMU takes rank 0 with it, the last row is that before the step under way.
#[track_caller]
fn assert_kept(reached: f64, ranks: usize) {
    assert_eq!(reached, if ranks == 2 { 0.48 } else { 0.49 });
}

#[test]
fn results_do_not_depend_on_ranks() {
    let folder = Folder::new();
    let model = example("rooms");
    let single = folder.name("single.csv");
    let run = ["run", &model, "--method", "jacobi", "--quiet", "--output"];
    dovetail(&[&run[..], &[&single]].concat()).exits(0);
    for (ranks, flags) in PLACES {
        let spread = folder.name("ranks.csv");
        let more = [&[spread.as_str(), "--workers", "mpi"], flags].concat();
        on_ranks(ranks, &[&run[..], &more].concat()).exits(0);
        assert!(folder.read("ranks.csv") == folder.read("single.csv"));
    }
}

#[test]
fn a_comparison_takes_ranks_too() {
    let model = example("lotka-volterra");
    let compare = ["compare", &model, "--method", "jacobi,missiles", "--json"];
    let errors = |done: Done| {
        let runs = done.exits(0).json();
        let runs = runs.as_array().expect("a list").iter();
        runs.map(|run| run["error"].to_string()).collect::<Vec<_>>()
    };
    let spread = on_ranks(3, &[&compare[..], &["--workers", "mpi"]].concat());
    assert_eq!(errors(spread), errors(dovetail(&compare)));
}

#[test]
fn a_run_that_ends_early_says_the_same_on_ranks() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lone(2.0, "x = 1.0", "der(x) = x^2"));
    for command in ["run", "enclose"] {
        let run = [command, &model, "--quiet"];
        let single = dovetail(&run).exits(1);
        let flags = ["--workers", "mpi", "--orchestrator-only"];
        let spread = on_ranks(2, &[&run[..], &flags].concat()).exits(1);
        spread.says(&[single.err.trim()]);
    }
}

#[test]
fn an_fmu_that_crashes_on_a_rank_ends_the_run_with_its_results_kept() {
    for (ranks, flags) in PLACES {
        let (done, reached) = RankedRun::start(Fault::Segfault(0.5), ranks, flags).end();
        done.exits(1)
            .says(&["`prey` failed at t = 0.", "segmentation fault"]);
        assert_eq!(reached, 0.49);
    }
}

#[test]
fn an_fmu_that_exits_on_a_rank_ends_the_run_with_its_results_kept() {
    for (ranks, flags) in PLACES {
        let (done, reached) = RankedRun::start(Fault::Exit(0.5), ranks, flags).end();
        done.exits(1)
            .says(&["calling exit()", "fmi2DoStep", "`prey`"]);
        assert_kept(reached, ranks);
    }
}

#[test]
fn an_fmu_that_hangs_on_a_rank_is_ended_by_the_time_limit() {
    for (ranks, flags) in PLACES {
        let flags = [flags, &["--step-timeout", "1"]].concat();
        let (done, reached) = RankedRun::start(Fault::Hang(0.5), ranks, &flags).end();
        done.exits(1)
            .says(&["did not answer within 1 s", "`prey`", "--step-timeout"]);
        assert_kept(reached, ranks);
    }
}

#[test]
fn a_rank_that_is_killed_is_named() {
    let run = RankedRun::start(Fault::Slow(20.0), 3, &["--orchestrator-only"]);
    signal("KILL", run.process_of(1));
    let (done, reached) = run.end();
    done.exits(1)
        .says(&["rank 1", "killed by signal 9", "`prey`"]);
    assert!(reached >= 0.0);
}

#[test]
fn a_rank_that_stands_still_is_given_up() {
    let flags = ["--orchestrator-only", "--step-timeout", "1"];
    let run = RankedRun::start(Fault::Slow(20.0), 3, &flags);
    signal("STOP", run.process_of(1));
    let (done, reached) = run.end();
    let words = [
        "`prey` failed at t = ",
        "rank 1",
        "did not answer within",
        "--step-timeout",
    ];
    done.exits(1).says(&words);
    assert!(reached >= 0.0);
}

#[test]
fn a_rank_that_is_killed_ends_bounds_where_they_are_proved() {
    for method in ["shared-symbols", "boxes"] {
        for (rank, flags) in [(1, &[][..]), (2, &["--orchestrator-only"])] {
            let run = RankedRun::of_bounds(method, rank + 1, flags);
            signal("KILL", run.process_of(rank));
            let (done, reached) = run.end();
            let name = format!("rank {rank} (with `predator`)");
            done.exits(1).says(&[&name, "killed by signal 9"]);
            assert!((1e-5..1.0).contains(&reached), "{reached}");
        }
    }
}

#[test]
fn bounds_do_not_wait_for_a_rank_that_stands_still() {
    let run = RankedRun::of_bounds("shared-symbols", 2, &["--step-timeout", "1"]);
    signal("STOP", run.process_of(1));
    let (done, reached) = run.end();
    done.exits(1).says(&[
        "the bounds end at t = ",
        "rank 1 did not answer within 3 s",
        "`predator`",
        "--step-timeout",
    ]);
    assert!(reached >= 1e-5, "{reached}");
}

#[test]
fn bounds_are_interrupted_on_ranks_as_elsewhere() {
    let run = RankedRun::of_bounds("boxes", 2, &[]);
    signal("INT", run.process_of(0));
    let (done, reached) = run.end();
    done.exits(1).says(&["it was interrupted at t = "]);
    assert!(reached >= 1e-5, "{reached}");
}

#[test]
fn costly_systems_are_kept_apart() {
    let folder = Folder::new();
    let chain = |links: usize| {
        let link = |k: usize| format!("a{k} = sin(a{} + 0.1)\n", k - 1);
        let chain: String = (1..links).map(link).collect();
        let last = links - 1;
        format!("a0 = sin(x + 0.1)\n{chain}der(x) = 0.1 * a{last} - x")
    };
    let system = |(k, links): (usize, &usize)| {
        let equations = chain(*links);
        format!("[systems.s{k}]\nstates = {{ x = 0.5 }}\nequations = '''\n{equations}\n'''\n\n")
    };
    let systems: String = [2000, 1, 1, 1, 1].iter().enumerate().map(system).collect();
    let model = folder.file(
        "model.toml",
        format!("[model]\nstop-time = 1.0\n\n{systems}"),
    );
    let run = [
        "run",
        &model,
        "--method",
        "jacobi",
        "--workers",
        "mpi",
        "--json",
    ];
    let run = on_ranks(2, &run).exits(0).json();
    let workers = run["workers"].to_string();
    assert!(workers.contains("1, 4"), "{workers}");
}

#[test]
fn nothing_is_left_when_rank_0_is_killed() {
    let run = RankedRun::start(Fault::Slow(20.0), 3, &["--orchestrator-only"]);
    signal("KILL", run.process_of(0));
    let (done, reached) = run.end();
    done.exits(1).says(&["killed by signal 9"]);
    assert!(reached >= 0.0);
}

#[test]
fn copies_of_the_program_are_refused_once() {
    let model = example("mechanical");
    for arguments in [
        &["run", &model][..],
        &["check", &model],
        &["enclose", &model],
    ] {
        let done = on_ranks(3, arguments).exits(2);
        let refusals = done.err.matches("has started this program 3 times");
        assert_eq!(refusals.count(), 1, "{}", done.err);
    }
    for command in ["run", "enclose"] {
        let done = on_ranks(2, &[command, &model]);
        done.exits(2).says(&["--workers mpi"]);
    }
}

#[test]
fn ranks_of_another_mpi_are_refused() {
    let mut command = support::command(&["run", &example("mechanical"), "--workers", "mpi"]);
    command.env("PMI_SIZE", "2").env("PMI_RANK", "0");
    let done: Done = command.output().expect("it starts").into();
    done.exits(2).says(&["do not find one another"]);
}

#[test]
fn one_rank_is_enough_and_says_so() {
    let run = ["run", &example("mechanical"), "--workers", "mpi", "--json"];
    let run = dovetail(&run).exits(0).json();
    let bounds = [
        "enclose",
        &example("mechanical"),
        "--workers",
        "mpi",
        "--json",
    ];
    let bounds = dovetail(&bounds).exits(0).json();
    for warnings in [&run["quality"]["warnings"], &bounds["warnings"]] {
        let warnings = warnings.to_string();
        assert!(warnings.contains("only one rank"), "{warnings}");
        assert!(warnings.contains("mpirun -n R"), "{warnings}");
    }
}

#[test]
fn choices_without_meaning_are_refused() {
    let model = example("mechanical");
    for command in ["run", "enclose"] {
        let run = |flags: &[&str]| dovetail(&[&[command, &model], flags].concat()).exits(2);
        run(&["--orchestrator-only"]).says(&["--workers mpi"]);
        run(&["--workers", "mpi", "--orchestrator-only"]).says(&["two ranks"]);
        run(&["--workers", "mpi", "--worker-threads", "2"]).says(&["--worker-threads"]);
    }
    let alone = ["enclose", &model, "--step-timeout", "1"];
    dovetail(&alone).exits(2).says(&["--workers mpi"]);
}
