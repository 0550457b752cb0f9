//! The paper's method on its examples: the numbers it shows, and that no trajectory leaves its
//! boxes.

use dovetail_cases::{ALL, LOTKA_VOLTERRA, PUMP_AND_TANK, ROOMS, SPRING, connections, model};
use dovetail_equations::Monolithic;
use dovetail_guaranteed::{
    EnclosureObserver, EnclosureOutcome, Integrator, Interval, Method, Options, Pieces, StopReason,
    enclose,
};
use dovetail_scenario::Scenario;

/// Everything that is reported.
#[derive(Clone, Debug, Default, PartialEq)]
struct Recording {
    instants: Vec<(f64, Vec<Interval>)>,
    tubes: Vec<(f64, f64, Vec<Interval>)>,
    /// After how many steps to stop.
    patience: Option<usize>,
}

impl EnclosureObserver for Recording {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.instants.push((time, states.to_vec()));
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        self.tubes.push((from, to, states.to_vec()));
    }

    fn proceed(&mut self, _: f64) -> bool {
        self.patience
            .is_none_or(|patience| self.tubes.len() < patience)
    }
}

impl Recording {
    /// The largest width at an instant.
    fn width_at(&self, time: f64) -> f64 {
        let (_, states) = self
            .instants
            .iter()
            .min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()))
            .unwrap();
        widest(states)
    }
}

fn widest(states: &[Interval]) -> f64 {
    states.iter().map(|x| x.width()).fold(0.0, f64::max)
}

fn volume(states: &[Interval]) -> f64 {
    states.iter().map(|x| x.width()).product()
}

fn options(integrator: Integrator, extrapolation: Option<usize>, step: f64) -> Options {
    Options {
        method: Method::Boxes {
            integrator,
            extrapolation,
        },
        step: Some(step),
        output_interval: None,
        threads: 1,
        pieces: Pieces::ONE,
    }
}

fn run(scenario: &Scenario, options: &Options) -> (EnclosureOutcome, Recording) {
    let mut recording = Recording::default();
    let outcome = enclose(&scenario.to_enclose().unwrap(), options, &mut recording);
    (outcome, recording)
}

/// Numbers from [0, 1), the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of an interval: often one of its ends.
    fn from(&mut self, range: Interval) -> f64 {
        match (3.0 * self.roll()) as usize {
            0 => range.lo,
            1 => range.hi,
            _ => range.lo + self.roll() * (range.hi - range.lo),
        }
    }
}

/// Trajectories from all over the start boxes stay in everything that was reported.
fn assert_trajectories_stay_inside(scenario: &Scenario, recording: &Recording, samples: usize) {
    let boxes = scenario.boxes().unwrap();
    let mut times: Vec<f64> = recording.instants.iter().map(|(time, _)| *time).collect();
    times.extend(
        recording
            .tubes
            .iter()
            .flat_map(|(from, to, _)| [0.25, 0.5, 0.75].map(|part| from + part * (to - from))),
    );
    times.sort_by(f64::total_cmp);
    let mut dice = Dice(7);
    for sample in 0..samples {
        let mut definitions = scenario.definitions().unwrap();
        for (definition, boxes) in definitions.iter_mut().zip(&boxes) {
            // The first two are from the lowest and the highest corner: the exact hull, where
            // systems are cooperative.
            let corner = |x: Interval| [x.lo, x.hi].get(sample).copied();
            definition.states = boxes
                .states
                .iter()
                .map(|&x| corner(x).unwrap_or_else(|| dice.from(x)))
                .collect();
            definition.parameters = boxes.parameters.iter().map(|&x| dice.from(x)).collect();
            definition.tolerance = 1e-13;
        }
        let outputs = definitions.iter().map(|d| d.model.outputs.len()).sum();
        let mut monolithic = Monolithic::new(&definitions, &scenario.connections).unwrap();
        let solution = monolithic.solve(&times, outputs).unwrap();
        for (time, states) in times.iter().zip(&solution.states) {
            let at = recording
                .instants
                .iter()
                .filter(|(t, _)| t == time)
                .map(|(_, states)| states);
            let around = recording
                .tubes
                .iter()
                .filter(|(from, to, _)| from <= time && time <= to)
                .map(|(.., states)| states);
            for bounds in at.chain(around) {
                for (bound, &x) in bounds.iter().zip(states) {
                    // The samples have errors of their own.
                    let slack = 1e-11 * (1.0 + x.abs());
                    assert!(
                        bound.widened(slack).contains(x),
                        "{x} is not in {bound} at {time}"
                    );
                }
            }
        }
    }
}

#[test]
fn rooms_have_the_volume_measured_elsewhere() {
    let scenario = ROOMS.scenario();
    let (outcome, recording) = run(&scenario, &options(Integrator::Rk4, None, 1.0));
    let volume = volume(&outcome.states);
    // DynIbex: 0.2022; the exact hull: 0.18345487.
    assert!((volume / 0.2022 - 1.0).abs() < 0.01, "{volume}");
    assert_eq!(
        (outcome.steps, outcome.rejected, outcome.stopped),
        (150, 0, None)
    );
    assert_trajectories_stay_inside(&scenario, &recording, 40);
}

#[test]
fn a_scheme_of_higher_order_and_extrapolation_are_tighter() {
    let scenario = ROOMS.scenario();
    let volume = |integrator, extrapolation| {
        volume(
            &run(&scenario, &options(integrator, extrapolation, 1.0))
                .0
                .states,
        )
    };
    let (heun, rk4) = (
        volume(Integrator::Heun, None),
        volume(Integrator::Rk4, None),
    );
    let (heun_extrapolated, rk4_extrapolated) = (
        volume(Integrator::Heun, Some(3)),
        volume(Integrator::Rk4, Some(3)),
    );
    // The order of table 1.
    assert!(
        rk4 < heun && rk4_extrapolated < heun_extrapolated,
        "{rk4} {heun} {rk4_extrapolated} {heun_extrapolated}"
    );
    assert!(heun_extrapolated < heun && rk4_extrapolated < rk4);
    assert!(rk4_extrapolated > 0.183_454_87, "below the exact hull");
}

#[test]
fn rooms_with_extrapolation_hold_their_trajectories() {
    let scenario = ROOMS.scenario();
    for integrator in [Integrator::Heun, Integrator::Rk4] {
        let (_, recording) = run(&scenario, &options(integrator, Some(3), 1.0));
        assert_trajectories_stay_inside(&scenario, &recording, 20);
    }
}

#[test]
fn the_spring_is_a_trumpet_whatever_integrates_it() {
    let scenario = SPRING.scenario();
    for integrator in [Integrator::Heun, Integrator::Rk4] {
        let (outcome, recording) = run(&scenario, &options(integrator, None, 0.01));
        assert_eq!(outcome.stopped, None);
        let (early, late) = (recording.width_at(5.0), recording.width_at(8.0));
        assert!((8.0..16.0).contains(&early) && late > 1e3, "{early} {late}");
        assert_trajectories_stay_inside(&scenario, &recording, 1);
    }
}

#[test]
fn extrapolation_delays_the_trumpet() {
    let scenario = SPRING.scenario();
    let width = |extrapolation| {
        let (_, recording) = run(&scenario, &options(Integrator::Rk4, extrapolation, 0.01));
        assert_trajectories_stay_inside(&scenario, &recording, 1);
        recording.width_at(10.0)
    };
    let (held, extrapolated) = (width(None), width(Some(3)));
    assert!(extrapolated < 1e-3 * held, "{held} {extrapolated}");
}

#[test]
fn boxes_around_the_spring_hold_their_trajectories() {
    let scenario = SPRING.rewritten(&[(
        "states     = { x = 1.0, v = 1.0 }",
        "states     = { x = [0.9, 1.1], v = [0.95, 1.0] }",
    )]);
    for extrapolation in [None, Some(0), Some(3)] {
        let (_, recording) = run(&scenario, &options(Integrator::Rk4, extrapolation, 0.05));
        assert_trajectories_stay_inside(&scenario, &recording, 20);
    }
}

/// Two Van der Pol oscillators, coupled by their positions.
fn van_der_pol() -> Scenario {
    let system = |name: &str, x: &str| {
        format!(
            "[systems.{name}]\ninputs = {{ other = 1.0 }}\nparameters = {{ mu = [0.99, 1.01] }}\n\
             states = {{ x = {x}, v = [0.0, 0.01] }}\n\
             equations = \"\"\"\nder(x) = v\nder(v) = mu * (1 - x^2) * v - 2 * x + other\n\"\"\"\n\
             outputs = {{ x = \"x\" }}\n"
        )
    };
    let systems = system("one", "[1.2, 1.21]") + &system("two", "[1.0, 1.01]");
    model(
        1.5,
        &(systems + &connections(&["one.x -> two.other", "two.x -> one.other"])),
    )
}

#[test]
fn nonlinear_systems_hold_their_trajectories() {
    let predators = LOTKA_VOLTERRA.rewritten(&[
        (
            "states     = { p = 1.0 }",
            "states     = { p = [0.99, 1.01] }",
        ),
        ("stop-time = 20.0", "stop-time = 2.0"),
    ]);
    for scenario in [predators, van_der_pol()] {
        for (integrator, extrapolation) in [
            (Integrator::Heun, None),
            (Integrator::Rk4, None),
            (Integrator::Rk4, Some(3)),
        ] {
            let (outcome, recording) = run(&scenario, &options(integrator, extrapolation, 0.02));
            assert_eq!(outcome.stopped, None, "{outcome:?}");
            assert_trajectories_stay_inside(&scenario, &recording, 25);
        }
    }
}

/// Kinks and an uncertain switching time: where they are open, the rectangle form makes the step.
#[test]
fn kinks_and_uncertain_switches_hold_their_trajectories() {
    let text = "[systems.one]\ninputs = { other = 0.0 }\nparameters = { when = [0.4, 0.45] }\n\
        states = { x = [0.2, 0.3] }\n\
        equations = \"der(x) = (if time < when then -1 else 1) + 0.5 * max(other, 0.0)\"\noutputs = { x = \"x\" }\n\
        [systems.two]\ninputs = { other = 0.0 }\nstates = { x = [-0.1, 0.1], v = 0.0 }\n\
        equations = \"\"\"\nder(x) = v\nder(v) = -v * abs(v) - x + sin(3 * time) * other\n\"\"\"\n\
        outputs = { x = \"x\" }\n";
    let scenario = model(
        1.0,
        &(text.to_owned() + &connections(&["one.x -> two.other", "two.x -> one.other"])),
    );
    for extrapolation in [None, Some(2)] {
        let (outcome, recording) = run(&scenario, &options(Integrator::Rk4, extrapolation, 0.01));
        assert_eq!(outcome.stopped, None, "{outcome:?}");
        assert_trajectories_stay_inside(&scenario, &recording, 25);
    }
}

#[test]
fn every_example_holds_its_trajectory() {
    for case in ALL.iter().filter(|case| case.name != PUMP_AND_TANK.name) {
        let scenario = case.scenario();
        for extrapolation in [None, Some(3)] {
            let choice = Options {
                step: None,
                ..options(Integrator::Rk4, extrapolation, 1.0)
            };
            assert_trajectories_stay_inside(&scenario, &run(&scenario, &choice).1, 2);
        }
    }
}

#[test]
fn loops_that_are_not_linear_are_refused() {
    let (outcome, _) = run(
        &PUMP_AND_TANK.scenario(),
        &options(Integrator::Rk4, None, 0.1),
    );
    let Some(StopReason::BlownUp { reason, .. }) = outcome.stopped else {
        panic!("not refused")
    };
    assert!(reason.contains("shared-symbols"), "{reason}");
}

#[test]
fn threads_change_nothing() {
    let scenario = ROOMS.scenario();
    let choice = options(Integrator::Rk4, Some(2), 2.0);
    let alone = run(&scenario, &choice);
    for threads in [2, 3] {
        assert_eq!(
            run(
                &scenario,
                &Options {
                    threads,
                    ..choice.clone()
                }
            ),
            alone
        );
    }
}

#[test]
fn a_solution_that_explodes_stops_the_run_and_names_the_state() {
    let text = "[systems.one]\nstates = { x = [0.9, 1.0] }\nequations = \"der(x) = x^2\"\noutputs = { x = \"x\" }\n";
    let (outcome, recording) = run(&model(2.0, text), &options(Integrator::Rk4, None, 0.01));
    let Some(StopReason::BlownUp { time, reason }) = &outcome.stopped else {
        panic!("{outcome:?}")
    };
    assert!(
        reason.contains("`one.x`") && *time == outcome.reached,
        "{reason}"
    );
    // The fastest solution explodes at t = 1.
    assert!(
        (0.8..1.0).contains(time) && recording.instants.last().unwrap().0 == *time,
        "{time}"
    );
}

#[test]
fn instants_are_on_the_grid_and_runs_can_be_interrupted() {
    let scenario = SPRING.scenario();
    let choice = Options {
        output_interval: Some(0.04),
        ..options(Integrator::Rk4, None, 0.03)
    };
    let mut recording = Recording {
        patience: Some(20),
        ..Recording::default()
    };
    let outcome = enclose(&scenario.to_enclose().unwrap(), &choice, &mut recording);
    assert!((1..10).all(|k| {
        recording
            .instants
            .iter()
            .any(|(time, _)| *time == 0.04 * f64::from(k))
    }));
    assert_eq!(
        outcome.stopped,
        Some(StopReason::Interrupted {
            time: recording.instants.last().unwrap().0
        })
    );
    assert_eq!(outcome.steps, 20);
}
