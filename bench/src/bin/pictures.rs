//! Draws the pictures of the book and of the examples, all from runs of the examples themselves.
//!
//! `cargo run --release -p dovetail-bench --bin pictures` writes `book/src/pictures/*.svg` and `examples/*/picture.svg`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dovetail_bench::bounds;
use dovetail_cases::{
    BEHAVIOUR_CHANGE, CAR, DAMPING_REACTION, LOTKA_VOLTERRA, MECHANICAL, PUMP_AND_TANK, ROOMS,
    SPRING, connections, measure_run, model,
};
use dovetail_equations::Monolithic;
use dovetail_fixtures::{Fixture, Model, Version};
use dovetail_report::{
    Curve, Kind, Recorder, Trajectory, Variables, error_plot, line_plot, measure,
};
use dovetail_scenario::{Choices, Scenario};

/// Points along the monolithic solution.
const FINE: usize = 1200;
/// A curve needs no more points than the picture has pixels.
const MOST_POINTS: usize = 1200;

fn main() -> io::Result<()> {
    for (folder, picture) in examples() {
        write(&format!("examples/{folder}/picture.svg"), &picture)?;
    }
    for (name, picture) in book()
        .into_iter()
        .chain(dovetail_bench::predictive_pictures::pictures())
    {
        write(&format!("book/src/pictures/{name}.svg"), &picture)?;
    }
    Ok(())
}

fn examples() -> [(&'static str, String); 9] {
    [
        ("mechanical", mechanical(1.0, 1.5)),
        ("lotka-volterra", lotka_volterra()),
        ("damping-reaction", damping_reaction()),
        ("behaviour-change", behaviour_change()),
        ("car", car()),
        ("spring", spring()),
        ("rooms", rooms()),
        ("pump-and-tank", pump_and_tank()),
        ("laub-loomis", bounds::laub_loomis()),
    ]
}

fn book() -> [(&'static str, String); 19] {
    [
        ("held-input", held_input()),
        ("jacobi-mechanical", jacobi_mechanical()),
        ("jacobi-errors", errors("jacobi")),
        ("gauss-seidel-lotka-volterra", lotka_volterra()),
        ("gauss-seidel-errors", errors("gauss-seidel")),
        ("divergence", divergence()),
        ("run-away", car()),
        ("ifosmondi-solvers", solvers()),
        ("ifosmondi-errors", orders()),
        ("ifosmondi-plate", plate()),
        ("costarica-steps", estimates()),
        ("missiles-errors", one_integration_a_step()),
        ("missiles-steps", chosen_steps()),
        ("f3ornits-steps", flexible_steps()),
        ("f3ornits-errors", errors_for_steps()),
        ("fmu-capabilities", poor_and_rich()),
        ("bounds-trumpet", bounds::trumpet()),
        ("bounds-widths", bounds::widths()),
        ("bounds-rooms", bounds::rooms()),
    ]
}

fn mechanical(from: f64, to: f64) -> String {
    let scenario = MECHANICAL.scenario();
    let curves = [
        truth(&scenario, "left.position", "monolithic", from, to),
        run(
            &scenario,
            "gauss-seidel",
            "1e-3",
            "left.position",
            "gauss-seidel, 1 ms",
        ),
        run(&scenario, "jacobi", "1e-3", "left.position", "jacobi, 1 ms"),
    ];
    line_plot(
        "The lighter body",
        "time in s",
        "position in m",
        &curves.map(|curve| between(curve, from, to)),
    )
}

fn jacobi_mechanical() -> String {
    let (scenario, from, to) = (MECHANICAL.scenario(), 1.0, 1.5);
    let curves = [
        truth(&scenario, "left.position", "monolithic", from, to),
        run(&scenario, "jacobi", "1e-3", "left.position", "jacobi, 1 ms"),
        run(
            &scenario,
            "jacobi",
            "1.5e-3",
            "left.position",
            "jacobi, 1.5 ms",
        ),
    ];
    line_plot(
        "The lighter body",
        "time in s",
        "position in m",
        &curves.map(|curve| between(curve, from, to)),
    )
}

fn lotka_volterra() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let curves = [
        truth(&scenario, "predator.population", "monolithic", 0.0, 20.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.1",
            "predator.population",
            "gauss-seidel, 0.1 s",
        ),
        run(
            &scenario,
            "jacobi",
            "0.1",
            "predator.population",
            "jacobi, 0.1 s",
        ),
    ];
    line_plot("Predators", "time in s", "population", &curves)
}

fn damping_reaction() -> String {
    let scenario = DAMPING_REACTION.scenario();
    let curves = [
        truth(&scenario, "body.x", "body, monolithic", 0.0, 10.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.1",
            "body.x",
            "body, gauss-seidel 0.1 s",
        ),
        truth(&scenario, "plate.position", "plate, monolithic", 0.0, 10.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.1",
            "plate.position",
            "plate, gauss-seidel 0.1 s",
        ),
    ];
    line_plot(
        "Body and plate, D = 4",
        "time in s",
        "position in m",
        &curves,
    )
}

fn divergence() -> String {
    let scenario = DAMPING_REACTION.with(&[("plate.D", 0.64)]);
    let to = 0.3;
    let curves = [
        truth(&scenario, "plate.velocity", "monolithic", 0.0, to),
        run(
            &scenario,
            "jacobi",
            "0.02",
            "plate.velocity",
            "jacobi, 20 ms",
        ),
        run(
            &scenario,
            "jacobi",
            "0.01",
            "plate.velocity",
            "jacobi, 10 ms",
        ),
    ];
    let curves = curves.map(|curve| between(curve, 0.0, to));
    line_plot(
        "Velocity of the plate, D = 0.64",
        "time in s",
        "velocity in m/s",
        &curves,
    )
}

fn behaviour_change() -> String {
    let scenario = BEHAVIOUR_CHANGE.scenario();
    let curves = [
        truth(&scenario, "left.position", "monolithic", 0.0, 200.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.4",
            "left.position",
            "gauss-seidel, 0.4 s",
        ),
        run(&scenario, "jacobi", "0.4", "left.position", "jacobi, 0.4 s"),
    ];
    line_plot("The left mass", "time in s", "position in m", &curves)
}

fn car() -> String {
    let scenario = CAR.scenario();
    let curves = [
        truth(&scenario, "car.v", "monolithic", 0.0, 40.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.01",
            "car.v",
            "gauss-seidel, 10 ms",
        ),
    ];
    line_plot("The car runs away", "time in s", "speed in m/s", &curves)
}

fn spring() -> String {
    let scenario = SPRING.scenario();
    let curves = [
        truth(&scenario, "one.position", "one, monolithic", 0.0, 10.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.2",
            "one.position",
            "one, gauss-seidel 0.2 s",
        ),
        truth(&scenario, "two.position", "two, monolithic", 0.0, 10.0),
        run(
            &scenario,
            "gauss-seidel",
            "0.2",
            "two.position",
            "two, gauss-seidel 0.2 s",
        ),
    ];
    line_plot("Two masses", "time in s", "position", &curves)
}

fn rooms() -> String {
    let scenario = ROOMS.scenario();
    let curves = [
        truth(&scenario, "west.T4", "room 4, monolithic", 0.0, 150.0),
        run(
            &scenario,
            "gauss-seidel",
            "7.5",
            "west.T4",
            "room 4, gauss-seidel 7.5 min",
        ),
        truth(&scenario, "east.T6", "room 6, monolithic", 0.0, 150.0),
        run(
            &scenario,
            "gauss-seidel",
            "7.5",
            "east.T6",
            "room 6, gauss-seidel 7.5 min",
        ),
    ];
    line_plot(
        "Two neighbors across the corridor",
        "time in min",
        "temperature in °C",
        &curves,
    )
}

fn pump_and_tank() -> String {
    let scenario = PUMP_AND_TANK.scenario();
    let curves = [
        truth(&scenario, "valve.pressure", "monolithic", 0.0, 20.0),
        run(
            &scenario,
            "ifosmondi",
            "0.5",
            "valve.pressure",
            "ifosmondi, 0.5 s",
        ),
        run(
            &scenario,
            "jacobi",
            "0.5",
            "valve.pressure",
            "jacobi, 0.5 s",
        ),
    ];
    line_plot("Behind the pump", "time in s", "pressure in bar", &curves)
}

/// The velocity that jacobi cannot hold.
fn plate() -> String {
    let scenario = DAMPING_REACTION.with(&[("plate.D", 0.64)]);
    let to = 0.2;
    let curves = [
        truth(&scenario, "plate.velocity", "monolithic", 0.0, to),
        run(
            &scenario,
            "ifosmondi",
            "0.01",
            "plate.velocity",
            "ifosmondi, 10 ms",
        ),
        run(
            &scenario,
            "jacobi",
            "0.01",
            "plate.velocity",
            "jacobi, 10 ms",
        ),
    ];
    let curves = curves.map(|curve| between(curve, 0.0, to));
    line_plot(
        "Velocity of the plate, D = 0.64",
        "time in s",
        "velocity in m/s",
        &curves,
    )
}

/// The error of three methods on a loop that all of them can couple.
fn orders() -> String {
    let scenario = DAMPING_REACTION.scenario();
    let error = |method: &str| {
        let at = |step: &str| {
            let exact = ("integrator-tolerance", "1e-13");
            let choices = [
                ("method", method),
                ("step", step),
                exact,
                ("tolerance", "1e-10"),
            ];
            (
                number(step),
                measure_run(&scenario, &choices).nrmse("body.x"),
            )
        };
        Curve {
            name: method.into(),
            points: ["0.1", "0.05", "0.02", "0.01"].map(at).to_vec(),
        }
    };
    let curves = ["jacobi", "gauss-seidel", "ifosmondi"].map(error);
    error_plot(
        "Errors on damping-reaction, D = 4",
        "NRMSE of body.x in %",
        &curves,
    )
}

/// Integrations of each solver of ifosmondi; where it does not converge there is no point.
fn solvers() -> String {
    let integrations = |solver: &str| {
        let at = |damper: f64| {
            let scenario = DAMPING_REACTION.with(&[("plate.D", damper)]);
            let paper = [
                ("criterion", "paper"),
                ("step", "1e-2"),
                ("tolerance", "1e-4"),
            ];
            let choices = [&[("method", "ifosmondi"), ("solver", solver)], &paper[..]].concat();
            let end = measure_run(&scenario, &choices).end;
            end.ending
                .is_ok()
                .then(|| (damper, end.work[0].integrations as f64))
        };
        let dampers = [4.0, 1.2346, 1.0, 0.64, 0.25, 0.04, 0.01];
        Curve {
            name: solver.into(),
            points: dampers.into_iter().filter_map(at).collect(),
        }
    };
    let curves = [
        "quasi-newton",
        "newton",
        "anderson",
        "ngmres",
        "ngmres-linesearch",
        "fixed-point",
    ]
    .map(integrations);
    let picture = error_plot(
        "Solvers of ifosmondi, 1000 steps",
        "integrations per system",
        &curves,
    );
    // Logarithmic plots are made for steps; here the other axis is the damper.
    picture.replace("step in s", "damper D of the plate")
}

/// The error of single estimated steps of the isolated prey, with and without interactions that depend on the time of the day.
fn estimates() -> String {
    let error = |name: &str, daily: bool, form: &str| {
        let at = |step: &str| {
            let mut scenario = isolated_prey(daily);
            scenario.stop_time = number(step);
            let exact = ("integrator-tolerance", "1e-14");
            let done = measure_run(
                &scenario,
                &[
                    ("method", "missiles"),
                    ("step", step),
                    ("form", form),
                    exact,
                ],
            );
            (number(step), done.end.quality.discrepancy[0].1)
        };
        Curve {
            name: name.into(),
            points: ["0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001"]
                .map(at)
                .to_vec(),
        }
    };
    let curves = [
        error("degraded", false, "degraded"),
        error("with time, held", true, "held"),
        error("with time, full", true, "full"),
        error("without time, held or full", false, "held"),
    ];
    error_plot(
        "One estimated step of the prey",
        "error of the population",
        &curves,
    )
}

/// The prey of the COSTARICA paper under predators that move along a parabola.
fn isolated_prey(daily: bool) -> Scenario {
    let factor = if daily {
        "(0.55 + 0.45 * sin(2 * pi * time / 2.4))"
    } else {
        "1"
    };
    let (slope, curvature) = if daily {
        (-0.448, 1.034711837)
    } else {
        (-0.16, -0.22016)
    };
    let text = format!(
        "[systems.prey]\ninputs = {{ u = 0.8 }}\nstates = {{ x = 0.8 }}\n\
         equations = \"der(x) = x * (0.67 - {factor} * 1.33 * u)\"\noutputs = {{ x = \"x\" }}\n\
         [systems.predators]\ninputs = {{ prey = 0.8 }}\nstates = {{ u = 0.8, slope = {slope} }}\n\
         equations = \"der(u) = slope; der(slope) = {curvature}\"\noutputs = {{ u = \"u\" }}\n\
         [[connections]]\nfrom = \"predators.u\"\nto = \"prey.u\"\n\
         [[connections]]\nfrom = \"prey.x\"\nto = \"predators.prey\"\n"
    );
    model(1.0, &text)
}

/// The error of methods on lotka-volterra: missiles between jacobi, at the same cost, and ifosmondi, at several times that.
fn one_integration_a_step() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let error = |name: &str, more: &[(&str, &str)]| {
        let at = |step: &str| {
            let choices = [("step", step), ("integrator-tolerance", "1e-13")];
            (
                number(step),
                measure_run(&scenario, &[&choices, more].concat()).nrmse("prey.population"),
            )
        };
        Curve {
            name: name.into(),
            points: ["0.1", "0.05", "0.02", "0.01", "0.005", "0.002"]
                .map(at)
                .to_vec(),
        }
    };
    let curves = [
        error("jacobi", &[("method", "jacobi")]),
        error(
            "missiles, as-printed",
            &[("method", "missiles"), ("form", "as-printed")],
        ),
        error("missiles", &[("method", "missiles")]),
        error(
            "ifosmondi",
            &[("method", "ifosmondi"), ("tolerance", "1e-11")],
        ),
    ];
    error_plot(
        "Errors on lotka-volterra",
        "NRMSE of prey.population in %",
        &curves,
    )
}

/// The steps that missiles chooses.
fn chosen_steps() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let steps = |tolerance: &str| {
        let done = measure_run(
            &scenario,
            &[("method", "missiles"), ("tolerance", tolerance)],
        );
        let pairs = done.trajectory.times().windows(2);
        let points = pairs
            .flat_map(|pair| [pair[0], pair[1]].map(|time| (time, pair[1] - pair[0])))
            .collect();
        Curve {
            name: format!("tolerance {tolerance}"),
            points,
        }
    };
    let curves = [steps("1e-3"), steps("1e-4"), steps("1e-5")];
    line_plot(
        "Chosen steps on lotka-volterra",
        "time in s",
        "step in s",
        &curves,
    )
}

/// Steps that f3ornits chooses, before and after a change of behavior.
fn flexible_steps() -> String {
    let scenario = BEHAVIOUR_CHANGE.scenario();
    let steps = |scale: &str| {
        let own = [
            ("setting", "paper"),
            ("tolerance", "2e-4"),
            ("step", "0.01"),
            ("min-step", "0.01"),
            ("scale", scale),
        ];
        let done = measure_run(&scenario, &[&[("method", "f3ornits")], &own[..]].concat());
        let pairs = done.trajectory.times().windows(2);
        let points = pairs
            .flat_map(|pair| [pair[0], pair[1]].map(|time| (time, pair[1] - pair[0])))
            .collect();
        Curve {
            name: scale.replace('-', " "),
            points,
        }
    };
    let curves = [
        steps("amplitude"),
        steps("damped-amplitude"),
        steps("magnitude"),
    ];
    line_plot(
        "Steps of f3ornits on behaviour-change",
        "time in s",
        "step in s",
        &curves,
    )
}

/// Errors of f3ornits against the number of steps: the default and the paper's setting, on three cases.
fn errors_for_steps() -> String {
    let curve = |name: &str, scenario: &Scenario, variable: &str, setting: &[(&str, &str)]| {
        let at = |tolerance: &str| {
            let options = [("method", "f3ornits"), ("tolerance", tolerance)];
            let done = measure_run(scenario, &[&options, setting].concat());
            (done.end.statistics.steps as f64, done.nrmse(variable))
        };
        Curve {
            name: name.into(),
            points: ["1e-2", "1e-3", "1e-4", "1e-5", "1e-6"].map(at).to_vec(),
        }
    };
    let paper = [("scale", "damped-amplitude")];
    let cases = [
        (BEHAVIOUR_CHANGE, "left.x"),
        (LOTKA_VOLTERRA, "prey.p"),
        (MECHANICAL, "left.x"),
    ];
    let both = |(case, variable): (dovetail_cases::Case, &str)| {
        let scenario = case.scenario();
        let ours = curve(&format!("{}, default", case.name), &scenario, variable, &[]);
        [
            ours,
            curve(
                &format!("{}, paper", case.name),
                &scenario,
                variable,
                &paper,
            ),
        ]
    };
    let curves: Vec<Curve> = cases.into_iter().flat_map(both).collect();
    let picture = error_plot("Errors of f3ornits", "NRMSE in %", &curves);
    // Logarithmic plots are made for steps; here the axis counts them.
    picture.replace("step in s", "number of steps")
}

/// Errors against work of lotka-volterra made of FMUs: of ones that can only step, and of ones that can do everything.
fn poor_and_rich() -> String {
    let of = |fixture: fn(Model, Version) -> Fixture| {
        let unit = |name: &str, what: Model| {
            format!(
                "[systems.{name}]\nfmu = {:?}\n",
                fixture(what, Version::Three).build().display().to_string()
            )
        };
        let wires = connections(&[
            "prey.population -> predator.prey",
            "predator.population -> prey.predators",
        ]);
        model(
            20.0,
            &[
                unit("prey", Model::Prey),
                unit("predator", Model::Predator),
                wires,
            ]
            .concat(),
        )
    };
    let (poor, rich) = (of(Fixture::poor), of(Fixture::new));
    let curve = |name: &str,
                 scenario: &Scenario,
                 method: &str,
                 key: &str,
                 values: &[&str],
                 more: &[(&str, &str)]| {
        let at = |value: &&str| {
            work_and_error(
                scenario,
                &[&[("method", method), (key, *value)], more].concat(),
            )
        };
        Curve {
            name: name.into(),
            points: values.iter().map(at).collect(),
        }
    };
    let (tolerances, tight) = (
        ["1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7"],
        [("tolerance", "1e-11")],
    );
    let steps = ["0.2", "0.1", "0.05", "0.02", "0.01", "0.005", "0.002"];
    let curves = [
        curve(
            "can only step: jacobi",
            &poor,
            "jacobi",
            "step",
            &steps,
            &[],
        ),
        curve(
            "can only step: f3ornits",
            &poor,
            "f3ornits",
            "tolerance",
            &tolerances[..5],
            &[],
        ),
        curve(
            "every capability: f3ornits",
            &rich,
            "f3ornits",
            "tolerance",
            &tolerances[..5],
            &[],
        ),
        curve(
            "every capability: missiles",
            &rich,
            "missiles",
            "tolerance",
            &tolerances[1..],
            &[],
        ),
        curve(
            "every capability: ifosmondi",
            &rich,
            "ifosmondi",
            "step",
            &steps[..5],
            &tight,
        ),
    ];
    let picture = error_plot(
        "Prey and predator as FMUs",
        "NRMSE of prey.population in %",
        &curves,
    );
    // Logarithmic plots are made for steps; here the axis counts integrations.
    picture.replace("step in s", "integrations of both units")
}

/// Integrations of a run of lotka-volterra, whatever it is made of, and its error against the equations.
fn work_and_error(scenario: &Scenario, choices: &[(&str, &str)]) -> (f64, f64) {
    const VARIABLE: &str = "prey.population";
    let mut command_line = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario
        .options(&command_line)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let selection = Variables::of(&scenario.connections)
        .select(&[VARIABLE.to_owned()])
        .expect("BUG: a variable");
    let mut recorder = Recorder::new(
        &scenario.connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    let end = scenario.run(&options, &mut [&mut recorder], &AtomicBool::new(false));
    let end = end.unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let trajectory = recorder.into_sink();
    let values = trajectory
        .column(VARIABLE)
        .expect("BUG: a variable of the model");
    let truth = solution(&LOTKA_VOLTERRA.scenario(), VARIABLE, trajectory.times());
    let error = measure(trajectory.times(), values, &truth);
    let integrations: u64 = end.work.iter().map(|work| work.integrations).sum();
    (
        integrations as f64,
        error.nrmse.expect("BUG: populations move"),
    )
}

/// The predators as they are, and as the prey sees them.
fn held_input() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let answered = run(
        &scenario,
        "jacobi",
        "0.25",
        "predator.population",
        "what predator answers",
    );
    let stairs = answered
        .points
        .windows(2)
        .flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)])
        .collect();
    let held = Curve {
        name: "what prey is given".into(),
        points: stairs,
    };
    let curves = [answered, held].map(|curve| between(curve, 0.0, 10.0));
    line_plot(
        "One connection under jacobi, 0.25 s",
        "time in s",
        "population",
        &curves,
    )
}

/// The error of one method on three cases, from coarse to fine.
fn errors(method: &str) -> String {
    let steps = ["0.01", "0.005", "0.002", "0.001", "5e-4", "2e-4", "1e-4"];
    let error = |scenario: &Scenario, variable: &str, name: &str, steps: &[&str]| Curve {
        name: name.into(),
        points: steps
            .iter()
            .map(|step| {
                (
                    number(step),
                    measured(scenario, method, step).nrmse(variable),
                )
            })
            .collect(),
    };
    let curves = [
        error(
            &MECHANICAL.scenario(),
            "left.position",
            "mechanical, left.position",
            &steps[3..],
        ),
        error(
            &LOTKA_VOLTERRA.scenario(),
            "predator.population",
            "lotka-volterra, predator",
            &steps,
        ),
        error(
            &SPRING.scenario(),
            "one.position",
            "spring, one.position",
            &steps,
        ),
    ];
    error_plot(&format!("Errors of {method}"), "NRMSE in %", &curves)
}

fn number(text: &str) -> f64 {
    text.parse().expect("BUG: a step is a number")
}

fn measured(scenario: &Scenario, method: &str, step: &str) -> dovetail_cases::Measured {
    measure_run(scenario, &[("method", method), ("step", step)])
}

fn run(scenario: &Scenario, method: &str, step: &str, variable: &str, name: &str) -> Curve {
    let done = measured(scenario, method, step);
    let values = done
        .trajectory
        .column(variable)
        .expect("BUG: a variable of the model");
    Curve {
        name: name.into(),
        points: done
            .trajectory
            .times()
            .iter()
            .copied()
            .zip(values.iter().copied())
            .collect(),
    }
}

fn truth(scenario: &Scenario, variable: &str, name: &str, from: f64, to: f64) -> Curve {
    let mut times = vec![scenario.start_time];
    times.extend(
        (0..=FINE)
            .map(|n| from + (to - from) * n as f64 / FINE as f64)
            .filter(|t| *t > scenario.start_time),
    );
    let values = solution(scenario, variable, &times);
    between(
        Curve {
            name: name.into(),
            points: times.into_iter().zip(values).collect(),
        },
        from,
        to,
    )
}

/// The monolithic solution at these times, of which the first is the start.
fn solution(scenario: &Scenario, variable: &str, times: &[f64]) -> Vec<f64> {
    let connections = &scenario.connections;
    let variables = Variables::of(connections);
    let variable = variables
        .all()
        .iter()
        .find(|v| v.name == variable)
        .expect("BUG: a variable of the model");
    let definitions = scenario.definitions().expect("BUG: a model of equations");
    let mut monolithic =
        Monolithic::new(&definitions, connections).expect("BUG: a model that composes");
    let solution = monolithic
        .solve(times, connections.outputs())
        .expect("BUG: a model that can be solved");
    let rows = if variable.kind == Kind::State {
        &solution.states
    } else {
        &solution.outputs
    };
    rows.iter()
        .map(|row| row[variable.stacked(connections)])
        .collect()
}

/// The part of a curve that is shown, with no more points than are seen.
fn between(curve: Curve, from: f64, to: f64) -> Curve {
    let mut points: Vec<(f64, f64)> = curve
        .points
        .into_iter()
        .filter(|p| (from..=to).contains(&p.0))
        .collect();
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.last().copied();
    points = points.into_iter().step_by(stride).collect();
    if points.last().copied() != last {
        points.extend(last);
    }
    Curve {
        name: curve.name,
        points,
    }
}

/// Writes a picture on a white ground: a file of its own cannot know the page around it.
fn write(path: &str, picture: &str) -> io::Result<()> {
    let ground = "<rect width=\"100%\" height=\"100%\" fill=\"white\" stroke=\"none\"/>";
    let end = picture.find('>').expect("BUG: a picture begins with a tag") + 1;
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::create_dir_all(path.parent().expect("BUG: a path in a folder"))?;
    std::fs::write(
        path,
        format!("{}{ground}{}", &picture[..end], &picture[end..]),
    )
}
