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
fn where_systems_ran_is_said_with_its_reason() {
    let of = |flags: &[&str]| run_json(&example("rooms"), flags)["workers"].clone();
    let light = of(&["--method", "jacobi"]);
    let light = light.as_str().expect("a choice");
    assert!(
        light.starts_with("a single thread: a step of all systems"),
        "{light}"
    );
    assert!(
        of(&["--method", "gauss-seidel"])
            .to_string()
            .contains("one system at a time")
    );
    assert!(
        of(&["--workers", "threads"]).is_null(),
        "that was not chosen but asked for"
    );
    let run = dovetail(&["run", &example("rooms"), "--method", "jacobi", "-v"]).exits(0);
    assert!(
        run.line()
            .contains("workers a single thread: a step of all systems takes")
    );
}

/// Two systems of so many nonlinear equations, each fed by the other.
fn heavy_pair(states: usize) -> String {
    let mut text = "[model]\nstop-time = 1.0\n".to_owned();
    for (name, other) in [("one", "two"), ("two", "one")] {
        let starts: Vec<String> = (0..states).map(|k| format!("x{k} = 0.{k}")).collect();
        let equation = |k: usize| {
            let before = if k == 0 {
                "u".to_owned()
            } else {
                format!("x{}", k - 1)
            };
            format!("der(x{k}) = sin({before}) - x{k} * abs(x{k})")
        };
        let equations: Vec<String> = (0..states).map(equation).collect();
        text += &format!(
            "[systems.{name}]\ninputs = {{ u = 0.0 }}\nstates = {{ {} }}\nequations = \"\"\"\n{}\n\"\"\"\n\
             outputs = {{ y = \"x{}\" }}\n[[connections]]\nfrom = \"{name}.y\"\nto = \"{other}.u\"\n",
            starts.join(", "),
            equations.join("\n"),
            states - 1
        );
    }
    text
}

#[test]
fn heavy_systems_that_move_into_threads_give_the_same_results() {
    let folder = Folder::new();
    let model = folder.file("heavy.toml", heavy_pair(100));
    let results = |flags: &[&str]| {
        let path = folder.name("results.csv");
        let run = [
            "run", &model, "--method", "missiles", "--step", "0.005", "--quiet", "--output", &path,
        ];
        dovetail(&[&run, flags].concat()).exits(0);
        folder.read("results.csv")
    };
    assert_eq!(results(&[]), results(&["--worker-threads", "1"]));
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
    for place in ["process", "ranks", "thread"] {
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

#[test]
#[cfg(not(feature = "mpi"))]
fn ranks_need_a_build_with_mpi() {
    let run = ["run", &example("mechanical"), "--workers", "mpi"];
    let done = dovetail(&run).exits(2);
    done.says(&["built without MPI", "--features mpi"]);
}

/// Each of them would write the same files.
#[test]
fn copies_that_mpirun_has_started_are_refused() {
    let mut command = support::command(&["run", &example("mechanical")]);
    command.env("OMPI_COMM_WORLD_SIZE", "2");
    command.env("OMPI_COMM_WORLD_RANK", "0");
    let done: support::Done = command.output().expect("it starts").into();
    done.exits(2).says(&["2 times", "--workers mpi"]);
}
