//! `dovetail sweep --workers mpi`: runs on the ranks of an MPI program.

mod support;

use dovetail_fixtures::{Fixture, Model, Version};
use support::{Done, Folder, command_on_ranks, dovetail, example};

fn on_ranks(ranks: usize, arguments: &[&str]) -> Done {
    let mut command = command_on_ranks(ranks, arguments);
    command.output().expect("mpirun is installed").into()
}

#[test]
fn rows_are_those_of_one_process_on_two_and_three_ranks() {
    let fmu = Fixture::new(Model::Prey, Version::Two).build();
    let fmu = fmu.display().to_string();
    let car = example("car");
    let sweeps: [&[&str]; 2] = [
        &[
            "sweep",
            &car,
            "--vary",
            "car.m=0:1100:20",
            "--keep",
            "final",
            "--keep",
            "when(v > 10)",
        ],
        &[
            "sweep",
            &fmu,
            "--vary",
            "birth=0.5:0.7:7",
            "--stop-time",
            "1",
        ],
    ];
    for sweep in sweeps {
        let folder = Folder::new();
        let rows = |done: &dyn Fn(&[&str]) -> Done, more: &[&str]| {
            let file = folder.name("rows.csv");
            let all = [sweep, &["-o", &file], more].concat();
            done(&all).exits(0);
            folder.read("rows.csv")
        };
        let alone = rows(&|all| dovetail(all), &[]);
        for ranks in [2, 3] {
            let mpi = ["--workers", "mpi"];
            assert_eq!(
                rows(&|all| on_ranks(ranks, all), &mpi),
                alone,
                "{ranks} ranks"
            );
            // A file that was cut goes on.
            let two: Vec<&str> = alone.lines().take(3).collect();
            folder.file("rows.csv", two.join("\n") + "\n");
            let resumed = ["--workers", "mpi", "--resume"];
            assert_eq!(
                rows(&|all| on_ranks(ranks, all), &resumed),
                alone,
                "{ranks} ranks"
            );
        }
    }
}

#[test]
fn misuse_is_said_once() {
    let folder = Folder::new();
    let file = folder.name("rows.csv");
    let sweep = ["sweep", &example("car"), "-o", &file, "--workers", "mpi"];
    let done = on_ranks(2, &[&sweep[..], &["--vary", "car.mm=1:2:3"]].concat()).exits(2);
    assert_eq!(
        done.err.matches("did you mean `car.m`?").count(),
        1,
        "{}",
        done.err
    );
    let jobs = ["--vary", "car.m=1:2:3", "--jobs", "2"];
    let done = on_ranks(2, &[&sweep[..], &jobs].concat()).exits(2);
    assert_eq!(
        done.err.matches("--jobs has no meaning").count(),
        1,
        "{}",
        done.err
    );
}
