//! The examples with FMUs in place of equations give, under every method, the numbers of the equations.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dovetail_cases::{BEHAVIOUR_CHANGE, CAR, Case, DAMPING_REACTION, LOTKA_VOLTERRA, MECHANICAL};
use dovetail_core::Remedy;
use dovetail_fixtures::{Fixture, Habit, Kind, Model, Version};
use dovetail_report::{Recorder, Trajectory, Variables};
use dovetail_scenario::{Choices, Overrides, RunCourse, RunOptions, Scenario, SourceText};

/// How a system of an example is given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum As {
    Equations,
    Unit(Model, Version, Kind),
}

/// The example's text with FMUs for some systems.
fn with_units(case: Case, systems: &[(&str, As)]) -> Scenario {
    let mut text = String::new();
    let mut skipping = false;
    for line in case.text().lines() {
        if line.starts_with('[') {
            let named = systems
                .iter()
                .find(|(name, _)| line == format!("[systems.{name}]"));
            skipping = false;
            if let Some((name, As::Unit(model, version, kind))) = named {
                let path = Fixture::new(*model, *version).kind(*kind).build();
                text += &format!("[systems.{name}]\nfmu = {:?}\n", path.display().to_string());
                skipping = true;
            }
        }
        if !skipping {
            text += line;
            text.push('\n');
        }
    }
    let source = SourceText {
        path: format!("{}.toml", case.name),
        text,
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn run(scenario: &Scenario, choices: &[(&str, &str)], until: f64) -> Trajectory {
    let mut command_line = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario
        .options(&command_line)
        .unwrap_or_else(|bad| panic!("{bad}"));
    let trajectory = recorded(scenario, &options);
    assert!(
        trajectory
            .times()
            .last()
            .is_some_and(|&reached| reached >= until)
    );
    trajectory
}

fn recorded(scenario: &Scenario, options: &RunOptions) -> Trajectory {
    let variables = Variables::of(&scenario.connections);
    let selection = variables.select(&["*".to_owned()]).unwrap();
    let mut recorder = Recorder::new(
        &scenario.connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    let end = scenario.run(options, &mut [&mut recorder], &AtomicBool::new(false));
    let end = end.unwrap_or_else(|bad| panic!("{bad}"));
    assert!(end.ending.is_ok(), "{:?}", end.ending);
    recorder.into_sink()
}

/// The largest difference of an output, in units of its range.
fn distance(one: &Trajectory, other: &Trajectory) -> f64 {
    assert_eq!(one.times(), other.times(), "the steps differ");
    let mut worst = 0.0_f64;
    for (name, values) in one.columns() {
        let Some((_, others)) = other.columns().find(|(known, _)| *known == name) else {
            continue;
        };
        let (low, high) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let range = (high - low).max(1e-3);
        worst = values
            .iter()
            .zip(others)
            .map(|(a, b)| (a - b).abs() / range)
            .fold(worst, f64::max);
    }
    worst
}

const METHODS: [&str; 6] = [
    "jacobi",
    "gauss-seidel",
    "f3ornits",
    "ifosmondi",
    "missiles",
    "predictive",
];

/// Compares under every method; where steps are chosen, tiny differences choose other steps, so that they are fixed.
fn same_under_every_method(
    case: Case,
    step: &str,
    systems: &[(&str, As)],
    tolerance: f64,
    methods: &[&str],
) {
    let (native, units) = (case.scenario(), with_units(case, systems));
    for method in methods {
        // Not all units tell the curvatures that quintic inputs need.
        let own: &[(&str, &str)] = if *method == "predictive" {
            &[("inputs", "cubic"), ("correction", "false")]
        } else {
            &[]
        };
        let choices = [
            ("method", *method),
            ("step", step),
            ("integrator-tolerance", "1e-12"),
        ];
        let choices = [&choices, own].concat();
        let (expected, found) = (run(&native, &choices, 1.0), run(&units, &choices, 1.0));
        let apart = if *method == "f3ornits" {
            at_the_end(&expected, &found)
        } else {
            distance(&expected, &found)
        };
        // Steps that are chosen by tolerance agree to about that.
        let allowed = match *method {
            "f3ornits" => 1e-3,
            // Of units for Co-Simulation f and g are not to be had at the end of the first step, which then is less accurate.
            "predictive" => tolerance.max(2e-6),
            _ => tolerance,
        };
        assert!(
            apart <= allowed,
            "{} by {method} with {systems:?}: {apart:e}",
            case.name
        );
    }
}

/// The largest relative difference of a variable at the end.
fn at_the_end(one: &Trajectory, other: &Trajectory) -> f64 {
    let last = |trajectory: &Trajectory, name: &str| {
        trajectory
            .columns()
            .find(|(known, _)| *known == name)
            .and_then(|(_, values)| values.last().copied())
    };
    let apart = |(name, values): (&str, &[f64])| {
        let (a, b) = (values.last().copied()?, last(other, name)?);
        let size = values.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
        Some((a - b).abs() / size)
    };
    one.columns().filter_map(apart).fold(0.0, f64::max)
}

fn both(case: Case, step: &str, names: [&str; 2], models: [Model; 2], tolerance: f64) {
    for version in [Version::Two, Version::Three] {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let units = |k: usize| (names[k], As::Unit(models[k], version, kind));
            same_under_every_method(case, step, &[units(0), units(1)], tolerance, &METHODS);
        }
    }
}

#[test]
fn lotka_volterra() {
    both(
        LOTKA_VOLTERRA,
        "0.05",
        ["prey", "predator"],
        [Model::Prey, Model::Predator],
        1e-9,
    );
}

/// With steps of its own choice the engine's own method keeps its tolerance on units as on equations, and knows its error.
#[test]
fn the_engines_own_method_keeps_its_tolerance_on_units() {
    let reference = run(
        &LOTKA_VOLTERRA.scenario(),
        &[("method", "predictive"), ("step", "0.01")],
        1.0,
    );
    for version in [Version::Two, Version::Three] {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let unit = |model| As::Unit(model, version, kind);
            let units = with_units(
                LOTKA_VOLTERRA,
                &[
                    ("prey", unit(Model::Prey)),
                    ("predator", unit(Model::Predator)),
                ],
            );
            for (tolerance, most) in [("1e-4", 1e-4), ("1e-6", 1e-6)] {
                let choices = [
                    ("method", "auto"),
                    ("tolerance", tolerance),
                    ("integrator-tolerance", "1e-12"),
                ];
                let apart = at_the_end(&reference, &run(&units, &choices, 1.0));
                assert!(
                    apart < most,
                    "{version:?} {kind:?} at {tolerance}: {apart:e}"
                );
            }
            let mut choices = Choices::default();
            choices.set("method", "auto");
            let end = units
                .run(
                    &units.options(&choices).unwrap(),
                    &mut [],
                    &AtomicBool::new(false),
                )
                .unwrap();
            assert_eq!(end.method, "predictive");
            let known = end.quality.estimated_error.unwrap();
            assert!(
                known
                    .iter()
                    .all(|(_, error)| error.max > 0.0 && error.max < 1e-5),
                "{known:?}"
            );
        }
    }
}

#[test]
fn mechanical() {
    both(
        MECHANICAL,
        "0.004",
        ["left", "right"],
        [Model::MechanicalLeft, Model::MechanicalRight],
        1e-8,
    );
}

/// MISSILES and the engine's own method are left out for Co-Simulation: the push on the body is a function of time, whose derivative only Model Exchange tells.
#[test]
fn damping_reaction() {
    for version in [Version::Two, Version::Three] {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let units = [
                ("body", As::Unit(Model::Body, version, kind)),
                ("plate", As::Unit(Model::Plate, version, kind)),
            ];
            let methods = if kind == Kind::ModelExchange {
                &METHODS[..]
            } else {
                &METHODS[..4]
            };
            same_under_every_method(DAMPING_REACTION, "0.02", &units, 1e-8, methods);
        }
    }
}

/// What FMI 1.0 has no functions for is absent: for Co-Simulation the state, so that nothing iterates and nothing is linearized.
#[test]
fn fmi_1_under_every_method_that_it_permits() {
    let units = |kind| {
        let unit = |model| As::Unit(model, Version::One, kind);
        [
            ("prey", unit(Model::Prey)),
            ("predator", unit(Model::Predator)),
        ]
    };
    let model_exchange = units(Kind::ModelExchange);
    same_under_every_method(LOTKA_VOLTERRA, "0.05", &model_exchange, 1e-6, &METHODS);
    let co_simulation = units(Kind::CoSimulation);
    same_under_every_method(LOTKA_VOLTERRA, "0.05", &co_simulation, 1e-9, &METHODS[..3]);
}

/// The remedies of a refusal are methods that take the model.
#[test]
fn no_method_is_advised_that_is_refused_too() {
    let units = [
        (
            "prey",
            As::Unit(Model::Prey, Version::One, Kind::CoSimulation),
        ),
        (
            "predator",
            As::Unit(Model::Predator, Version::One, Kind::CoSimulation),
        ),
    ];
    let scenario = with_units(LOTKA_VOLTERRA, &units);
    for method in ["ifosmondi", "missiles", "predictive"] {
        let refused = refusal(&scenario, method).expect("it needs what 1.0 does not have");
        let advised = refused.iter().filter_map(|remedy| match remedy {
            Remedy::OtherMethod(name) => Some(name.as_str()),
            _ => None,
        });
        let advised: Vec<&str> = advised.collect();
        assert!(!advised.is_empty(), "{method}");
        for other in advised {
            assert_eq!(refusal(&scenario, other), None, "{method} advises {other}");
        }
    }
}

/// What to try where a method refuses a model.
fn refusal(scenario: &Scenario, method: &str) -> Option<Vec<Remedy>> {
    let mut choices = Choices::default();
    choices.set("method", method);
    choices.set("step", "0.05");
    let options = scenario.options(&choices).expect("sound options");
    let end = scenario.run(&options, &mut [], &AtomicBool::new(false));
    let bad = end.err()?;
    Some(
        bad.problems
            .into_iter()
            .flat_map(|problem| problem.remedies)
            .collect(),
    )
}

/// Of two inputs one may not be set within a step: the other is followed none the less, and that one has its mean.
#[test]
fn inputs_that_can_be_followed_are_followed() {
    let force = |fixture: Fixture, step: &str| {
        let path = fixture.kind(Kind::CoSimulation).build();
        let text = format!(
            "[model]\nstop-time = 1.0\n\
             [systems.source]\noutputs = {{ position = \"sin(5*time)\", velocity = \"5*cos(5*time)\" }}\n\
             [systems.right]\nfmu = {:?}\n\
             [[connections]]\nfrom = \"source.position\"\nto = \"right.position\"\n\
             [[connections]]\nfrom = \"source.velocity\"\nto = \"right.velocity\"\n",
            path.display().to_string()
        );
        let path = "m.toml".to_owned();
        let scenario = Scenario::parse(SourceText { path, text }, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|bad| panic!("{bad}"));
        let choices = [("method", "ifosmondi"), ("step", step)];
        let found = run(&scenario, &choices, 1.0);
        let column = found.columns().find(|(name, _)| *name == "right.force");
        *column
            .and_then(|(_, values)| values.last())
            .expect("a force")
    };
    let fixture = || Fixture::new(Model::MechanicalRight, Version::Three);
    let truth = force(fixture(), "0.001");
    let error = |fixture| (force(fixture, "0.02") - truth).abs();
    let all = error(fixture());
    let one = error(fixture().habit(Habit::LastInputHeld));
    let none = error(fixture().intermediate_update(false));
    // What is left is the error of the coupling: the input that is held is at its mean, which costs no more than that.
    assert!(
        5.0 * all < none && 5.0 * one < none,
        "{all:e}, {one:e}, {none:e}"
    );
}

#[test]
fn mixed_with_equations() {
    let prey = As::Unit(Model::Prey, Version::Three, Kind::CoSimulation);
    let left = As::Unit(Model::MechanicalLeft, Version::Two, Kind::ModelExchange);
    same_under_every_method(
        LOTKA_VOLTERRA,
        "0.05",
        &[("prey", prey), ("predator", As::Equations)],
        1e-9,
        &METHODS,
    );
    same_under_every_method(
        MECHANICAL,
        "0.004",
        &[("left", left), ("right", As::Equations)],
        1e-8,
        &METHODS,
    );
    let two = As::Unit(Model::Predator, Version::Two, Kind::CoSimulation);
    same_under_every_method(
        LOTKA_VOLTERRA,
        "0.05",
        &[("prey", prey), ("predator", two)],
        1e-9,
        &METHODS,
    );
}

/// A known event at 100 s, which a unit for Model Exchange and one with event mode announce.
#[test]
fn behaviour_change() {
    for (version, kind) in [
        (Version::Two, Kind::ModelExchange),
        (Version::Three, Kind::ModelExchange),
        (Version::Three, Kind::CoSimulation),
    ] {
        let left = ("left", As::Unit(Model::BehaviourLeft, version, kind));
        let right = ("right", As::Unit(Model::BehaviourRight, version, kind));
        same_under_every_method(BEHAVIOUR_CHANGE, "0.5", &[left, right], 1e-7, &METHODS);
    }
}

/// The controller needs the slope of its input, which only 2.0 can give to a unit.
#[test]
fn car() {
    let controller = (
        "controller",
        As::Unit(Model::Controller, Version::Two, Kind::CoSimulation),
    );
    for version in [Version::Two, Version::Three] {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let car = ("car", As::Unit(Model::Car, version, kind));
            let methods = ["jacobi", "gauss-seidel"];
            same_under_every_method(CAR, "0.05", &[car, controller], 1e-9, &methods);
            // MISSILES needs the wind's derivative by time, which Co-Simulation does not tell.
            let methods = if kind == Kind::ModelExchange {
                &METHODS[..]
            } else {
                &METHODS[..4]
            };
            same_under_every_method(
                CAR,
                "0.05",
                &[car, ("controller", As::Equations)],
                1e-6,
                methods,
            );
        }
    }
}

/// A model of these texts, run by a method; the last value of a variable.
fn end_of(text: &str, method: &str, step: &str, variable: &str) -> f64 {
    let source = SourceText {
        path: "model.toml".into(),
        text: text.to_owned(),
    };
    let scenario =
        Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"));
    let trajectory = run(
        &scenario,
        &[
            ("method", method),
            ("step", step),
            ("integrator-tolerance", "1e-12"),
        ],
        0.0,
    );
    let (_, values) = trajectory
        .columns()
        .find(|(name, _)| *name == variable)
        .unwrap();
    *values.last().unwrap()
}

fn table(name: &str, model: Model, version: Version, interface: &str) -> String {
    let path = Fixture::new(model, version).build();
    format!(
        "[systems.{name}]\nfmu = {:?}\ninterface = {interface:?}\n",
        path.display().to_string()
    )
}

/// A ball that bounces feeds a lag: state events that move states, whoever drives it.
#[test]
fn state_events_are_met_under_every_method() {
    for version in [Version::Two, Version::Three] {
        let end = |interface: &str, method: &str| {
            let text = format!(
                "[model]\nstop-time = 2.0\n{}[systems.lag]\ninputs = {{ u = 0.0 }}\nstates = {{ x = 0.0 }}\n\
                 equations = \"der(x) = u - x\"\noutputs = {{ x = \"x\" }}\n\
                 [[connections]]\nfrom = \"ball.height\"\nto = \"lag.u\"\n",
                table("ball", Model::BouncingBall, version, interface)
            );
            (
                end_of(&text, method, "0.01", "ball.height"),
                end_of(&text, method, "0.01", "lag.x"),
            )
        };
        let (height, _) = end("co-simulation", "jacobi");
        for method in METHODS {
            let (found, lag) = end("model-exchange", method);
            assert!(
                (found - height).abs() < 1e-6,
                "{version:?} by {method}: {found} instead of {height}"
            );
            assert!(
                lag > 0.1 && lag < 0.6,
                "{version:?} by {method}: the lag is at {lag}"
            );
        }
    }
}

/// An input that crosses a threshold, by and by or from one step to the next, is an event of the unit it feeds.
#[test]
fn inputs_make_events() {
    for version in [Version::Two, Version::Three] {
        let end = |interface: &str, method: &str| {
            let text = format!(
                "[model]\nstop-time = 2.5\n[systems.ramp]\nstates = {{ x = -1.0 }}\nequations = \"der(x) = 1\"\n\
                 outputs = {{ x = \"x\" }}\n{}[[connections]]\nfrom = \"ramp.x\"\nto = \"switch.u\"\n",
                table("switch", Model::Switch, version, interface)
            );
            end_of(&text, method, "0.01", "switch.y")
        };
        let expected = end("co-simulation", "ifosmondi");
        for method in METHODS {
            let found = end("model-exchange", method);
            assert!(
                (found - expected).abs() < 0.05,
                "{version:?} by {method}: {found} instead of {expected}"
            );
        }
    }
}

/// Whether calls are timed or written down depends on the clock and the user; the numbers do not.
#[test]
fn who_watches_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    for (version, rich) in [
        (Version::Two, true),
        (Version::Two, false),
        (Version::Three, true),
        (Version::Three, false),
    ] {
        let fixture = |model| {
            if rich {
                Fixture::new(model, version)
            } else {
                Fixture::poor(model, version)
            }
        };
        let table = |name: &str, model| {
            format!(
                "[systems.{name}]\nfmu = {:?}\n",
                fixture(model).build().display().to_string()
            )
        };
        let text = format!(
            "[model]\nstop-time = 5.0\n{}{}[[connections]]\nfrom = \"prey.population\"\nto = \"predator.prey\"\n\
             [[connections]]\nfrom = \"predator.population\"\nto = \"prey.predators\"\n",
            table("prey", Model::Prey),
            table("predator", Model::Predator)
        );
        let source = SourceText {
            path: "model.toml".into(),
            text,
        };
        let scenario =
            Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"));
        let mut choices = Choices::default();
        choices.set("method", "jacobi");
        choices.set("step", "0.007");
        let quiet = scenario.options(&choices).unwrap();
        let log = dovetail_fmi::CallLog::create(&folder.path().join("calls")).unwrap();
        let logged = RunOptions {
            fmi_log: Some(log),
            ..quiet.clone()
        };
        let (one, other) = (recorded(&scenario, &quiet), recorded(&scenario, &logged));
        for ((name, values), (_, others)) in one.columns().zip(other.columns()) {
            assert_eq!(values, others, "{name}, {version:?}, rich: {rich}");
        }
    }
}

/// Where a run may be taken back, its FMUs hear so with every step; otherwise, or where whoever runs it says so, that it never will be.
#[test]
fn going_back_is_announced_with_every_step() {
    for version in [Version::Two, Version::Three] {
        let folder = tempfile::tempdir().unwrap();
        let fmu = Fixture::new(Model::Prey, version).build();
        let text = format!(
            "[model]\nstop-time = 1\n[systems.prey]\nfmu = {:?}\nprobe = false\n",
            fmu.display().to_string()
        );
        let source = SourceText {
            path: "model.toml".into(),
            text,
        };
        let scenario =
            Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"));
        let mut choices = Choices::default();
        choices.set("method", "jacobi");
        choices.set("step", "0.25");
        let mut results = Vec::new();
        for (goes_back, stays) in [(false, false), (true, false), (true, true)] {
            let path = folder.path().join("calls");
            let options = RunOptions {
                fmi_log: Some(dovetail_fmi::CallLog::create(&path).unwrap()),
                goes_back,
                course: RunCourse {
                    open_end: stays,
                    stays: Some(Arc::new(AtomicBool::new(stays))),
                },
                ..scenario.options(&choices).unwrap()
            };
            let recorded = recorded(&scenario, &options);
            results.push(recorded.times().to_vec());
            drop(options);
            let calls = std::fs::read_to_string(&path).unwrap();
            let steps: Vec<&str> = calls
                .lines()
                .filter(|line| line.contains("DoStep("))
                .collect();
            assert_eq!(steps.len(), 4, "{calls}");
            let never = |line: &&&str| line.contains(", true") || line.contains(", 1)");
            let announced = steps.len() - steps.iter().filter(never).count();
            let expected = if goes_back && !stays { 4 } else { 0 };
            assert_eq!(announced, expected, "{calls}");
            // An end that nobody knows is not announced.
            let told = calls.lines().any(|line| {
                let sets_up = ["SetupExperiment(", "EnterInitializationMode("];
                sets_up.iter().any(|name| line.contains(name)) && line.contains("1.0)")
            });
            assert_eq!(told, !stays, "{calls}");
        }
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], results[2]);
    }
}

/// The same model as TOML and as a system structure gives identical results.
#[test]
fn structures_are_models() {
    let folder = tempfile::tempdir().unwrap();
    let resources = folder.path().join("resources");
    std::fs::create_dir(&resources).unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ssp/tests/data/lotka-volterra");
    copy(&data, folder.path());
    for (model, name) in [(Model::Prey, "Prey.fmu"), (Model::Predator, "Predator.fmu")] {
        std::fs::copy(
            Fixture::new(model, Version::Three).build(),
            resources.join(name),
        )
        .unwrap();
    }
    let structure = Scenario::load(
        &folder.path().join("SystemStructure.ssd"),
        &Overrides::default(),
    );
    let structure = structure.unwrap_or_else(|bad| panic!("{bad}"));
    let unit = |model| As::Unit(model, Version::Three, Kind::Both);
    let toml = with_units(
        LOTKA_VOLTERRA,
        &[
            ("prey", unit(Model::Prey)),
            ("predator", unit(Model::Predator)),
        ],
    );
    for method in METHODS {
        let choices = [("method", method), ("step", "0.05")];
        let (one, other) = (run(&toml, &choices, 20.0), run(&structure, &choices, 20.0));
        assert_eq!(one.times(), other.times());
        for (name, values) in one.columns() {
            let (_, others) = other
                .columns()
                .find(|(known, _)| *known == name)
                .unwrap_or_else(|| panic!("no {name}"));
            assert_eq!(values, others, "{name} by {method}");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
