//! `--workers` and `--worker-threads`: where systems run.

mod support;

use support::{Folder, dovetail, example, run_json};

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    for (name, method) in [
        ("rooms", "jacobi"),
        ("mechanical", "ifosmondi"),
        ("pump-and-tank", "gauss-seidel"),
    ] {
        let results = |file: &str, flags: &[&str]| {
            let path = folder.name(file);
            let run = [
                "run",
                &example(name),
                "--method",
                method,
                "--quiet",
                "--output",
                &path,
            ];
            dovetail(&[&run, flags].concat()).exits(0);
            folder.read(file)
        };
        let single = results("single.csv", &[]);
        for threads in ["1", "2", "4"] {
            let spread = results("threads.csv", &["--worker-threads", threads]);
            assert!(
                spread == single,
                "{name} under {method} in {threads} threads"
            );
        }
        assert!(
            results("cores.csv", &["--workers", "threads"]) == single,
            "{name} under {method}"
        );
    }
}

#[test]
fn a_comparison_takes_them_too() {
    let folder = Folder::new();
    let results = |flags: &[&str]| {
        let path = folder.name("results.csv");
        let compare = [
            "compare",
            &example("rooms"),
            "--method",
            "jacobi",
            "--quiet",
            "--output",
            &path,
        ];
        dovetail(&[&compare, flags].concat()).exits(0);
        folder.read("results.csv")
    };
    assert_eq!(
        results(&["--workers", "threads", "--worker-threads", "3"]),
        results(&[])
    );
}

#[test]
fn work_is_told_for_each_system() {
    let run = run_json(
        &example("rooms"),
        &["--method", "jacobi", "--worker-threads", "2"],
    );
    for system in run["systems"].as_object().unwrap().values() {
        assert!(
            system["integrations"].as_u64().unwrap() >= 500
                && system["seconds"].as_f64().unwrap() > 0.0
        );
    }
}

#[test]
fn a_number_without_effect_is_told() {
    let warnings =
        |flags: &[&str]| run_json(&example("mechanical"), flags)["quality"]["warnings"].to_string();
    assert_eq!(warnings(&["--worker-threads", "2"]), "[]");
    let lowered = warnings(&["--worker-threads", "9"]);
    assert!(
        lowered.contains("9 worker threads were lowered to 2: there are no more systems; try fewer --worker-threads"),
        "{lowered}"
    );
    assert!(
        warnings(&["--worker-threads", "2", "--method", "gauss-seidel"])
            .contains("one system at a time")
    );
}

#[test]
fn no_threads_are_refused_in_words() {
    for number in ["0", "-1", "1.5", "many", ""] {
        let done = dovetail(&["run", &example("mechanical"), "--worker-threads", number]).exits(2);
        done.says(&["--worker-threads", "at least one thread"]);
    }
}

#[test]
fn places_that_do_not_exist_are_refused_with_those_that_do() {
    for place in ["process", "mpi", "thread"] {
        dovetail(&["run", &example("mechanical"), "--workers", place])
            .exits(2)
            .says(&[place, "threads"]);
    }
}

#[test]
fn where_systems_run_is_no_option_of_the_method() {
    let done = dovetail(&[
        "run",
        &example("mechanical"),
        "--option",
        "worker-threads=2",
    ])
    .exits(2);
    done.says(&["unknown option `worker-threads`"]);
}
