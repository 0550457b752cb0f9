//! A run does not depend on how many threads its systems live in: not by a bit, not by a count.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use dovetail_cases::{LOTKA_VOLTERRA, MECHANICAL, PUMP_AND_TANK, ROOMS, connections, model, ring};
use dovetail_core::{Notice, Remedy, Work};
use dovetail_report::{Recorder, Trajectory, Variables};
use dovetail_scenario::{Choices, Placement, RunEnd, RunOptions, Scenario};

const METHODS: [&str; 5] = [
    "jacobi",
    "gauss-seidel",
    "ifosmondi",
    "missiles",
    "predictive",
];

struct Run {
    end: RunEnd,
    bits: Vec<Vec<u64>>,
}

impl Run {
    fn of(scenario: &Scenario, method: &str, placement: Placement) -> Self {
        let mut choices = Choices::default();
        choices.set("method", method);
        let options = RunOptions {
            placement,
            ..scenario.options(&choices).unwrap()
        };
        let signals = scenario.session(&options).unwrap().signals();
        let everything = Variables::of(&scenario.connections)
            .with_signals(&signals)
            .everything();
        let mut recorder = Recorder::new(
            &scenario.connections,
            &everything,
            Trajectory::of(&everything),
            "memory",
        );
        let end = scenario
            .run(&options, &mut [&mut recorder], &AtomicBool::new(false))
            .unwrap();
        let trajectory = recorder.into_sink();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
        let columns = trajectory.columns().map(|(_, values)| bits(values));
        Self {
            bits: columns.chain([bits(trajectory.times())]).collect(),
            end,
        }
    }

    /// Work but for the seconds, which no two runs share.
    fn counts(&self) -> Vec<Work> {
        self.end
            .work
            .iter()
            .map(|work| Work {
                seconds: 0.0,
                ..*work
            })
            .collect()
    }
}

fn threads(count: usize) -> Placement {
    Placement::Threads(NonZeroUsize::new(count))
}

fn assert_identical(name: &str, scenario: &Scenario) {
    for method in METHODS {
        let single = Run::of(scenario, method, Placement::SingleThread);
        for count in [1, 2, 3, 7] {
            let spread = Run::of(scenario, method, threads(count));
            assert!(
                spread.bits == single.bits,
                "{name} under {method} in {count} threads"
            );
            assert_eq!(
                spread.counts(),
                single.counts(),
                "{name} under {method} in {count} threads"
            );
            assert_eq!(spread.end.statistics, single.end.statistics);
            assert_eq!(spread.end.reached, single.end.reached);
        }
    }
}

#[test]
fn two_linear_bodies_run_the_same_in_any_number_of_threads() {
    assert_identical("mechanical", &MECHANICAL.scenario());
}

#[test]
fn predator_and_prey_run_the_same_in_any_number_of_threads() {
    assert_identical("lotka-volterra", &LOTKA_VOLTERRA.scenario());
}

#[test]
fn rooms_with_events_run_the_same_in_any_number_of_threads() {
    assert_identical("rooms", &ROOMS.scenario());
}

#[test]
fn a_ring_runs_the_same_in_any_number_of_threads() {
    assert_identical("ring", &ring(20));
}

#[test]
fn a_loop_through_feedthrough_runs_the_same_in_any_number_of_threads() {
    assert_identical("pump-and-tank", &PUMP_AND_TANK.scenario());
}

/// Both systems leave for infinity at t = 1.
#[test]
fn a_run_in_which_two_systems_fail_at_once_ends_with_the_same_words() {
    let system = |name: &str| {
        format!(
            "[systems.{name}]\ninputs = {{ u = 0.0 }}\nstates = {{ x = 1.0 }}\nequations = \"der(x) = x * x + 0 * u\"\n\
             outputs = {{ y = \"1 / x\" }}\n"
        )
    };
    let text = [
        system("one"),
        system("other"),
        connections(&["one.y -> other.u", "other.y -> one.u"]),
    ]
    .concat();
    let scenario = model(2.0, &text);
    for method in METHODS {
        let ending = |placement| {
            let run = Run::of(&scenario, method, placement);
            (
                run.end.ending.unwrap_err().to_string(),
                run.bits,
                run.end.reached.to_bits(),
            )
        };
        let single = ending(Placement::SingleThread);
        assert!(single.0.contains("`one"), "{}", single.0);
        for count in [1, 2, 3] {
            assert!(
                ending(threads(count)) == single,
                "{method} in {count} threads instead of: {}",
                single.0
            );
        }
    }
}

#[test]
fn choices_without_effect_are_told() {
    let warnings = |method: &str, count: usize| {
        Run::of(&MECHANICAL.scenario(), method, threads(count))
            .end
            .warnings
    };
    assert_eq!(warnings("jacobi", 2), []);
    let lowered = "3 worker threads were lowered to 2: there are no more systems";
    let lowered = Notice::from(lowered).with([Remedy::FewerWorkerThreads]);
    assert_eq!(warnings("jacobi", 3), [lowered]);
    let alone = "gauss-seidel asks one system at a time: one thread did all the work";
    assert_eq!(warnings("gauss-seidel", 2), [Notice::from(alone)]);
    assert_eq!(warnings("gauss-seidel", 1), []);
}
