//! Nothing is allocated per macro-step once a run is under way.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{
    AllocationWatch, BEHAVIOUR_CHANGE, Counting, DAMPING_REACTION, LOTKA_VOLTERRA, ROOMS, ring,
};
use dovetail_report::{CsvFile, Recorder, Variables};
use dovetail_scenario::{Choices, Placement, RunOptions, Scenario};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn set(choices: &mut Choices, text: &str) {
    let (key, value) = text.split_once('=').unwrap();
    choices.set(key, value);
}

/// In a single thread: whether systems move into threads, which allocates, depends on the machine.
fn allocations(scenario: &Scenario, method: &str) -> (u64, u64) {
    allocations_where(scenario, method, Placement::SingleThread)
}

/// Steps of a run, and what was allocated after the first ten of them.
fn allocations_where(scenario: &Scenario, method: &str, placement: Placement) -> (u64, u64) {
    let mut choices = Choices::default();
    let step = format!(
        "step={}",
        (scenario.stop_time - scenario.start_time) / 500.0
    );
    match method {
        "ifosmondi" => ["method=ifosmondi", "criterion=paper"].map(|text| set(&mut choices, text)),
        "adaptive ifosmondi" => {
            ["method=ifosmondi", "tolerance=1e-6"].map(|text| set(&mut choices, text))
        }
        "estimated" => {
            set(&mut choices, "criterion=paper");
            ["method=ifosmondi", "rollback-free=true"].map(|text| set(&mut choices, text))
        }
        "missiles" => ["method=missiles", &step].map(|text| set(&mut choices, text)),
        "adaptive" => ["method=missiles", "tolerance=1e-7"].map(|text| set(&mut choices, text)),
        "predictive" => ["method=predictive", &step].map(|text| set(&mut choices, text)),
        "adaptive predictive" => {
            ["method=predictive", "tolerance=1e-8"].map(|text| set(&mut choices, text))
        }
        _ => ["integrator-tolerance=1e-10", &format!("method={method}")]
            .map(|text| set(&mut choices, text)),
    };
    let options = RunOptions {
        placement,
        ..scenario.options(&choices).unwrap()
    };
    let everything = Variables::of(&scenario.connections).everything();
    let file = CsvFile::new(std::io::sink(), &everything.names()).unwrap();
    let mut recorder = Recorder::new(&scenario.connections, &everything, file, "nowhere");
    let mut watch = AllocationWatch::default();
    let never = AtomicBool::new(false);
    scenario
        .run(&options, &mut [&mut recorder, &mut watch], &never)
        .unwrap()
        .ending
        .unwrap();
    watch.found()
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    let scenarios = [
        ("ring", ring(10)),
        ("large ring", ring(100)),
        ("lotka-volterra", LOTKA_VOLTERRA.scenario()),
        ("damping-reaction", DAMPING_REACTION.scenario()),
        ("behaviour-change", BEHAVIOUR_CHANGE.scenario()),
        ("rooms", ROOMS.scenario()),
    ];
    let poor = BEHAVIOUR_CHANGE.rewritten(&[
        (
            "outputs    = { position",
            "imposed-step = 0.05\noutputs    = { position",
        ),
        (
            "outputs    = { force",
            "restrict   = { input-degree = 0, rollback = false }\noutputs    = { force",
        ),
    ]);
    assert_eq!(
        allocations(&poor, "f3ornits").1,
        0,
        "systems at their own pace, with sub-steps, under f3ornits"
    );
    for (name, scenario) in &scenarios {
        // A jump makes start values consistent anew.
        let smooth = *name != "rooms" && *name != "behaviour-change";
        let implicit: &[&str] = if smooth {
            &[
                "ifosmondi",
                "adaptive ifosmondi",
                "estimated",
                "missiles",
                "adaptive",
                "predictive",
                "adaptive predictive",
            ]
        } else {
            &[]
        };
        // Steps as short as f3ornits needs here make a system change its integrator on the way.
        let flexible: &[&str] = if *name == "damping-reaction" {
            &[]
        } else {
            &["f3ornits"]
        };
        for method in ["jacobi", "gauss-seidel"]
            .iter()
            .chain(flexible)
            .chain(implicit)
        {
            let (steps, allocated) = allocations(scenario, method);
            assert!(
                steps
                    >= if [
                        "adaptive",
                        "f3ornits",
                        "adaptive ifosmondi",
                        "adaptive predictive"
                    ]
                    .contains(method)
                    {
                        100
                    } else {
                        500
                    },
                "{name} under {method}: {steps} steps"
            );
            assert_eq!(allocated, 0, "{name} under {method}, {steps} steps");
        }
    }
    a_look_at_what_threads_would_bring_allocates_little();
}

/// It is repeated after ever longer whiles, and allocates nothing in between.
fn a_look_at_what_threads_would_bring_allocates_little() {
    const MOST_FOR_A_LOOK: u64 = 20;
    let (steps, allocated) = allocations_where(&ring(2), "jacobi", Placement::Auto);
    assert!(steps >= 500 && allocated <= MOST_FOR_A_LOOK, "{allocated}");
}
