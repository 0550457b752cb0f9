//! F3ORNITS on the papers' cases: the twelve variants, hidden jumps, imposed steps, topologies,
//! poor units, the default.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{
    BEHAVIOUR_CHANGE, CAR, Case, LOTKA_VOLTERRA, MECHANICAL, Measured, connections, measure_run,
    model,
};
use dovetail_core::Ending;
use dovetail_report::{Recorder, Trajectory, Variables};
use dovetail_scenario::{Choices, Placement, Scenario};

type Options<'a> = Vec<(&'a str, &'a str)>;

fn run(scenario: &Scenario, options: &[(&str, &str)]) -> Measured {
    let done = measure_run(scenario, &[&[("method", "f3ornits")], options].concat());
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    done
}

/// Tolerances and steps of the paper's table 1.
const TABLE_1: [(&str, &str); 4] = [
    ("setting", "paper"),
    ("tolerance", "2e-4"),
    ("step", "0.01"),
    ("min-step", "0.01"),
];
const SCALES: [&str; 3] = ["magnitude", "amplitude", "damped-amplitude"];
const KINDS: [[&str; 2]; 4] = [
    ["extrapolation", "false"],
    ["extrapolation", "true"],
    ["least-squares", "false"],
    ["least-squares", "true"],
];

fn variant<'a>([calibration, smooth]: [&'a str; 2], scale: &'a str) -> Options<'a> {
    [
        &TABLE_1[..],
        &[
            ("calibration", calibration),
            ("smooth", smooth),
            ("scale", scale),
        ],
    ]
    .concat()
}

fn variants() -> impl Iterator<Item = Options<'static>> {
    KINDS
        .into_iter()
        .flat_map(|kind| SCALES.map(|scale| variant(kind, scale)))
}

/// The case with restrictions of its two systems, as in model files.
fn restricted(left: &str, right: &str) -> Scenario {
    let (position, force) = ("outputs    = { position", "outputs    = { force");
    BEHAVIOUR_CHANGE.rewritten(&[
        (position, &format!("restrict   = {{ {left} }}\n{position}")),
        (force, &format!("restrict   = {{ {right} }}\n{force}")),
    ])
}

/// The same change, but at a state that only its system sees.
fn hidden(restrict: &str) -> Scenario {
    BEHAVIOUR_CHANGE.rewritten(&[
        (
            "x = -1.807, v = 0.0 }",
            &format!("x = -1.807, v = 0.0, clock = 0.0 }}\nrestrict   = {{ {restrict} }}"),
        ),
        ("if time < 100", "if clock < 100"),
        ("link   =", "der(clock) = 1\nlink   ="),
    ])
}

#[test]
fn all_twelve_variants_take_the_steps_and_have_the_errors_measured_elsewhere() {
    // Steps, and NRMSE of left.x in %: for each scale.
    let expected: [[(f64, f64); 3]; 4] = [
        [(1930.0, 0.0007), (654.0, 0.0054), (972.0, 0.0021)],
        [(1966.0, 0.0052), (654.0, 0.0407), (945.0, 0.0042)],
        [(2236.0, 0.0004), (749.0, 0.0059), (1096.0, 0.0017)],
        [(2190.0, 0.0046), (710.0, 0.0073), (1059.0, 0.0074)],
    ];
    for (kind, row) in KINDS.into_iter().zip(expected) {
        for (scale, (steps, error)) in SCALES.into_iter().zip(row) {
            let done = run(&BEHAVIOUR_CHANGE.scenario(), &variant(kind, scale));
            let (taken, found) = (done.end.statistics.steps as f64, done.nrmse("left.x"));
            assert!(
                (taken / steps - 1.0).abs() <= 0.15,
                "{kind:?}, {scale}: {taken} steps"
            );
            assert!(found <= 2.0 * error, "{kind:?}, {scale}: {found} %");
        }
    }
}

#[test]
fn at_equal_steps_the_error_is_hundreds_of_times_that_of_jacobi() {
    let jacobi = measure_run(
        &BEHAVIOUR_CHANGE.scenario(),
        &[("method", "jacobi"), ("step", "0.2")],
    );
    assert!(
        (jacobi.nrmse("left.x") - 0.735).abs() < 0.001,
        "{}",
        jacobi.nrmse("left.x")
    );
    let ours = run(&BEHAVIOUR_CHANGE.scenario(), &variant(KINDS[0], SCALES[2]));
    assert_eq!(
        (jacobi.end.statistics.steps, ours.end.statistics.steps),
        (1000, 971)
    );
    assert!(ours.nrmse("left.x") < jacobi.nrmse("left.x") / 500.0);
    assert_eq!(ours.end.statistics.rejected, 0);
    assert!(
        ours.end.work.iter().all(|work| work.integrations == 971),
        "an answer that was tried is kept"
    );
}

#[test]
fn a_hidden_jump_is_located_where_systems_can_roll_back() {
    for options in variants().chain([vec![]]) {
        let (known, found) = (
            run(&BEHAVIOUR_CHANGE.scenario(), &options),
            run(&hidden(""), &options),
        );
        assert!(
            found.nrmse("left.x") < 1.1 * known.nrmse("left.x"),
            "{options:?}: {}",
            found.nrmse("left.x")
        );
        assert!(found.end.warnings.is_empty(), "{:?}", found.end.warnings);
        // The system finds it itself.
        let jumps = |remark: &String| remark.contains("which no system had announced");
        assert!(
            !found.end.details.iter().any(jumps),
            "{:?}",
            found.end.details
        );
    }
}

#[test]
fn a_hidden_jump_is_noticed_within_a_step_where_they_cannot() {
    for options in variants().chain([vec![]]) {
        let done = run(&hidden("rollback = false"), &options);
        let times = done.trajectory.times();
        let after = times.iter().position(|&t| t >= 100.0).unwrap();
        let lag = times[after] - times[after - 1];
        let told = format!("`right.force` has jumped within the {lag:.3e} s before t = 100");
        assert!(
            done.end
                .warnings
                .iter()
                .any(|warning| warning.text.starts_with(&told)),
            "{:?}",
            done.end.warnings
        );
        assert!(
            times[after + 1] - times[after] < 0.0201,
            "the step begins anew"
        );
        assert_eq!(done.end.work[0].trials, 0);
    }
}

#[test]
fn every_variant_controls_the_car() {
    for options in variants().chain([vec![]]) {
        let done = run(&CAR.scenario(), &options);
        let speed = *done.trajectory.column("car.v").unwrap().last().unwrap();
        assert!((speed - 15.97).abs() < 0.02, "{options:?}: {speed}");
    }
    let jacobi = measure_run(&CAR.scenario(), &[("method", "jacobi")]);
    assert!(*jacobi.trajectory.column("car.v").unwrap().last().unwrap() > 200.0);
}

#[test]
fn imposed_steps_run_at_their_own_pace_and_beat_held_inputs() {
    for (left, right, counts) in [
        ("0.05", "0.08", [4000, 2500]),
        ("0.03", "0.2", [6666, 1000]),
    ] {
        let scenario = restricted(
            &format!("imposed-step = {left}"),
            &format!("imposed-step = {right}"),
        );
        let held = run(&scenario, &[("max-degree", "0")]).nrmse("left.x");
        for kind in KINDS
            .map(|kind| vec![("calibration", kind[0]), ("smooth", kind[1])])
            .into_iter()
            .chain([vec![]])
        {
            let done = run(&scenario, &kind);
            let found = done.nrmse("left.x");
            assert!(
                found < 0.07 * held,
                "{left} and {right}, {kind:?}: {found} against {held} %"
            );
            assert_eq!(
                [done.end.work[0].integrations, done.end.work[1].integrations],
                counts
            );
        }
    }
}

#[test]
fn a_system_whose_steps_do_not_meet_the_end_stops_before_it_and_says_so() {
    let done = run(
        &restricted("imposed-step = 0.03", "imposed-step = 0.2"),
        &[],
    );
    assert_eq!(done.end.reached, 6666.0 * 0.03);
    assert!(
        done.end.warnings[0]
            .text
            .contains("`left` imposes its steps: its last one"),
        "{:?}",
        done.end.warnings
    );
    let mut choices = Choices::default();
    choices.set("method", "f3ornits");
    let too_long = restricted("imposed-step = 300", "");
    let refused = too_long
        .check_method(&too_long.options(&choices).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("`left`") && refused.contains("its own step is 300 s"),
        "{refused}"
    );
}

#[test]
fn with_degree_zero_and_a_common_imposed_step_it_is_jacobi() {
    let scenario = restricted("imposed-step = 0.2", "imposed-step = 0.2");
    let (held, jacobi) = (
        run(&scenario, &[("max-degree", "0")]),
        measure_run(&scenario, &[("method", "jacobi"), ("step", "0.2")]),
    );
    for name in ["left.x", "right.v"] {
        assert!(
            held.trajectory.column(name) == jacobi.trajectory.column(name),
            "{name}"
        );
    }
}

#[test]
fn a_free_system_beside_an_imposed_one_communicates_on_its_grid() {
    for scenario in [
        restricted("imposed-step = 0.08", ""),
        restricted("", "imposed-step = 0.08"),
    ] {
        let done = run(&scenario, &[]);
        assert_eq!(
            [done.end.work[0].integrations, done.end.work[1].integrations],
            [2500, 2500]
        );
        assert!(done.nrmse("left.x") < 0.0025, "{}", done.nrmse("left.x"));
    }
}

/// A system with or without an input and an output.
fn unit(name: &str, [reads, tells]: [bool; 2], rule: &str) -> String {
    let (input, drive) = if reads {
        ("inputs = { u = 0.0 }\n", "u")
    } else {
        ("", "sin(3 * time)")
    };
    let output = if tells {
        "outputs = { y = \"x\" }\n"
    } else {
        ""
    };
    format!(
        "[systems.{name}]\n{input}states = {{ x = 1.0 }}\nequations = \"der(x) = {drive} - x\"\n\
         {output}{rule}"
    )
}

/// What feeds the input of `name`, if it has one: the other, if that has an output.
fn link(name: &str, reads: bool, other: &str, tells: bool) -> String {
    match (reads, tells) {
        (false, _) => String::new(),
        (true, true) => connections(&[&format!("{other}.y -> {name}.u")]),
        (true, false) => format!("[[connections]]\nvalue = 0.5\nto = \"{name}.u\"\n"),
    }
}

#[test]
fn all_sixteen_pairs_of_topologies_run() {
    let kinds = [[true, true], [true, false], [false, true], [false, false]];
    let (free, imposed) = ("", "restrict = { imposed-step = 0.07 }\n");
    let poor = "restrict = { rollback = false, input-degree = 0 }\n";
    for (a, b) in kinds.into_iter().flat_map(|a| kinds.map(|b| (a, b))) {
        for rules in [
            [free, free],
            [imposed, free],
            [free, imposed],
            [imposed, imposed],
            [poor, free],
            [poor, imposed],
        ] {
            let systems = unit("a", a, rules[0]) + &unit("b", b, rules[1]);
            let links = link("a", a[0], "b", b[1]) + &link("b", b[0], "a", a[1]);
            let done = run(&model(2.1, &(systems + &links)), &[]);
            for name in ["a.x", "b.x"] {
                assert!(
                    done.nrmse(name) < 0.5,
                    "{a:?}, {b:?}, {rules:?}: {name} is off by {} %",
                    done.nrmse(name)
                );
            }
            assert_eq!(done.end.reached, 2.1);
        }
    }
}

#[test]
fn units_of_every_degree_run_together_and_the_summary_says_what_was_reduced() {
    let system = |k: usize, start: f64| {
        format!(
            "[systems.s{k}]\ninputs = {{ u = 0.0 }}\nstates = {{ x = {start:?}, v = 0.0 }}\n\
             equations = \"der(x) = v; der(v) = u - x - 0.1 * v\"\n\
             outputs = {{ y = \"x + 0.1 * u\" }}\n\
             restrict = {{ input-degree = {k} }}\n"
        )
    };
    let systems: String = [1.0, 0.0, -0.5, 0.3]
        .into_iter()
        .enumerate()
        .map(|(k, start)| system(k, start))
        .collect();
    let ring = connections(&[
        "s0.y -> s1.u",
        "s1.y -> s2.u",
        "s2.y -> s3.u",
        "s3.y -> s0.u",
    ]);
    let done = run(&model(20.0, &(systems.clone() + &ring)), &[]);
    for k in 0..4 {
        let error = done.nrmse(&format!("s{k}.x"));
        assert!(error < 0.02, "s{k}: {error} %");
        let told =
            format!("`s{k}` takes inputs of degree {k} only: estimates of degree up to 3 were");
        assert_eq!(
            done.end.warnings.iter().any(|w| w.text.starts_with(&told)),
            k < 3,
            "{:?}",
            done.end.warnings
        );
    }
    let smoothed = run(&model(20.0, &(systems + &ring)), &[("smooth", "true")]);
    let told =
        |k: usize| format!("the inputs of `s{k}` were not smoothed: that takes inputs of degree 3");
    assert!(
        (0..4).all(|k| smoothed.end.warnings.contains(&told(k).into()) == (k < 3)),
        "{:?}",
        smoothed.end.warnings
    );
}

#[test]
fn auto_takes_it_where_nothing_more_can_be_had() {
    let chosen = |left: &str, right: &str| {
        let end = measure_run(&restricted(left, right), &[]).end;
        (end.method, end.reason.unwrap())
    };
    let reason = "not all systems support rollback or linearization and a free step, and this \
        method needs neither";
    assert_eq!(
        chosen("rollback = false, linearization = false", ""),
        ("f3ornits", reason.to_owned())
    );
    assert_eq!(
        chosen("imposed-step = 0.05", ""),
        ("f3ornits", reason.to_owned())
    );
    assert_ne!(chosen("rollback = false", "").0, "f3ornits");
}

/// The steps that an error of 0.003 % takes, from runs with tolerances around: a line through the
/// logarithms of error and steps.
fn steps_for_the_same_error(
    case: Case,
    variable: &str,
    options: &[(&str, &str)],
    setting: &str,
) -> f64 {
    let measure = |tolerance: &&str| {
        let done = run(
            &case.scenario(),
            &[&[("tolerance", *tolerance)], options].concat(),
        );
        assert!(
            done.end.details[0].starts_with(setting),
            "{:?}",
            done.end.details
        );
        [
            (done.nrmse(variable) / 0.003).ln(),
            (done.end.statistics.steps as f64).ln(),
        ]
    };
    let points: Vec<[f64; 2]> = ["1e-3", "3e-4", "1e-4", "3e-5", "1e-5"]
        .iter()
        .map(measure)
        .collect();
    let mean = |i: usize| points.iter().map(|point| point[i]).sum::<f64>() / points.len() as f64;
    let product = |i: usize, j: usize| {
        points
            .iter()
            .map(|p| (p[i] - mean(i)) * (p[j] - mean(j)))
            .sum::<f64>()
    };
    (mean(1) - product(0, 1) / product(0, 0) * mean(0)).exp()
}

#[test]
fn the_default_needs_about_half_the_steps_of_the_papers_choice_for_the_same_error() {
    let cases = [
        (BEHAVIOUR_CHANGE, "left.x"),
        (LOTKA_VOLTERRA, "prey.p"),
        (MECHANICAL, "left.x"),
    ];
    for (case, variable) in cases {
        let theirs = steps_for_the_same_error(
            case,
            variable,
            &[("setting", "paper")],
            "setting: as in the paper",
        );
        let ours = steps_for_the_same_error(case, variable, &[], "setting: the default");
        assert!(
            1.8 * ours < theirs,
            "{}: {ours} steps, {theirs} in the paper's setting",
            case.name
        );
    }
}

#[test]
fn a_jump_goes_on_at_once_through_those_who_pass_it_on() {
    // The source jumps at 1; what passes it on has no state; the sink integrates it.
    let text = "[systems.sink]\ninputs = { u = 0.0 }\nstates = { x = 0.0 }\n\
        equations = \"der(x) = u\"\n\
                [systems.pass]\ninputs = { u = 0.0 }\noutputs = { y = \"2 * u\" }\n\
                [systems.source]\nstates = { s = 0.0 }\nequations = \"der(s) = 1\"\n\
                outputs = { y = \"if time < 1 then s else 10 - s\" }\n";
    let done = run(
        &model(
            2.0,
            &(text.to_owned() + &connections(&["source.y -> pass.u", "pass.y -> sink.u"])),
        ),
        &[],
    );
    assert!(done.nrmse("sink.x") < 1e-3, "{}", done.nrmse("sink.x"));
    assert!(done.end.warnings.is_empty(), "{:?}", done.end.warnings);
}

/// Everything of a run, what the method tells of itself included.
fn recorded(scenario: &Scenario, options: &[(&str, &str)], placement: Placement) -> Trajectory {
    let mut choices = Choices::default();
    choices.set("method", "f3ornits");
    options
        .iter()
        .for_each(|(key, value)| choices.set(key, *value));
    let mut options = scenario.options(&choices).unwrap();
    options.placement = placement;
    let signals = scenario.session(&options).unwrap().signals();
    let variables = Variables::of(&scenario.connections).with_signals(&signals);
    let selection = variables.select(&["*".to_owned()]).unwrap();
    let mut recorder = Recorder::new(
        &scenario.connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    scenario
        .run(&options, &mut [&mut recorder], &AtomicBool::new(false))
        .unwrap()
        .ending
        .unwrap();
    recorder.into_sink()
}

#[test]
fn orders_and_steps_are_recorded() {
    let kept = recorded(
        &BEHAVIOUR_CHANGE.scenario(),
        &TABLE_1,
        Placement::SingleThread,
    );
    let (order, step) = (
        kept.column("left.$order").unwrap(),
        kept.column("left.$step").unwrap(),
    );
    assert!(order.iter().all(|order| [0.0, 1.0, 2.0].contains(order)) && order.contains(&2.0));
    let differences = kept.times().windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        differences
            .zip(&step[1..])
            .all(|(difference, step)| (difference - step).abs() < 1e-12)
    );
    let event = kept.times().iter().position(|&t| t == 100.0).unwrap();
    assert_eq!(
        kept.column("right.$order").unwrap()[event + 1],
        0.0,
        "its order begins anew"
    );
    assert_ne!(order[event + 1], 0.0, "that of the other goes on");
    assert!((step[event + 1] - 0.01).abs() < 1e-9);
}

#[test]
fn equal_runs_give_equal_bits_whatever_the_threads() {
    let mixed = restricted(
        "imposed-step = 0.05, input-degree = 1",
        "imposed-step = 0.08",
    );
    let poor = restricted("input-degree = 0, rollback = false", "");
    for scenario in [BEHAVIOUR_CHANGE.scenario(), CAR.scenario(), mixed, poor] {
        let runs = [
            Placement::SingleThread,
            Placement::SingleThread,
            Placement::Threads(None),
        ]
        .map(|placement| recorded(&scenario, &[], placement));
        for (name, column) in runs[0].columns() {
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            for other in &runs[1..] {
                assert_eq!(bits(column), bits(other.column(name).unwrap()), "{name}");
            }
        }
    }
}

/// A source with a known jump between the grid times of four gains in a row, each of which passes
/// on what it gets at once.
fn gains_in_a_row() -> Scenario {
    let mut text = String::from(
        "[systems.source]\nequations = \"\"\n\
         outputs = { y = \"sin(time) + (if time < 5.31 then 0 else 1)\" }\n\
         [systems.plant]\ninputs = { u = 0.0 }\nstates = { z = 0.0 }\n\
         equations = \"der(z) = u - z\"\noutputs = { z = \"z\" }\n",
    );
    let mut wires = vec!["source.y -> g0.u".to_owned(), "g3.y -> plant.u".to_owned()];
    for k in 0..4 {
        text += &format!(
            "[systems.g{k}]\ninputs = {{ u = 0.0 }}\nequations = \"\"\noutputs = {{ y = \"u\" }}\n\
             imposed-step = 0.05\n"
        );
        if k > 0 {
            wires.push(format!("g{}.y -> g{k}.u", k - 1));
        }
    }
    model(
        20.0,
        &(text + &connections(&wires.iter().map(String::as_str).collect::<Vec<_>>())),
    )
}

#[test]
fn a_jump_that_travels_through_imposed_steps_is_not_amplified() {
    let scenario = gains_in_a_row();
    let run =
        |more: &[(&str, &str)]| measure_run(&scenario, &[&[("method", "f3ornits")], more].concat());
    let (ours, held) = (run(&[]), run(&[("max-degree", "0")]));
    for variable in ["g3.y", "plant.z"] {
        assert!(
            ours.nrmse(variable) < held.nrmse(variable),
            "{variable}: {} and {}",
            ours.nrmse(variable),
            held.nrmse(variable)
        );
    }
}

#[test]
fn steps_that_are_too_long_for_the_tolerance_are_said_to_be() {
    let warned = |done: &Measured| {
        done.end
            .warnings
            .iter()
            .any(|w| w.text.contains("times the tolerance away"))
    };
    let text = "restrict = { imposed-step = 7.0 }";
    let coarse = BEHAVIOUR_CHANGE.edited("[systems.left]\n", &format!("[systems.left]\n{text}\n"));
    assert!(warned(&measure_run(&coarse, &[("method", "f3ornits")])));
    let few = measure_run(
        &BEHAVIOUR_CHANGE.scenario(),
        &[("method", "f3ornits"), ("min-step", "9"), ("max-step", "9")],
    );
    assert!(warned(&few), "{:?}", few.end.warnings);
    assert!(!warned(&measure_run(
        &BEHAVIOUR_CHANGE.scenario(),
        &[("method", "f3ornits")]
    )));
}
