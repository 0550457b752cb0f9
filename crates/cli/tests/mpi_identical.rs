//! A run does not depend on how many MPI ranks its systems live on: not by a bit, not by a count.
//!
//! Started without `mpirun`, this program starts itself with it, on two, three and five ranks.

mod support;

use std::sync::atomic::AtomicBool;

use dovetail::core::{MacroStep, Response, Signal, System, Work};
use dovetail::fmi::{number_to_text, text_to_number};
use dovetail::report::{Recorder, Trajectory, Variables};
use dovetail::scenario::{
    Choices, Network, Overrides, Placement, RankPlacement, RunEnd, RunOptions, Scenario,
    dismiss_ranks, serve_rank,
};
use dovetail_conformance::{Expectations, conformance};
use dovetail_fixtures::{Fixture, Model, Version};
use support::{EXAMPLES, Folder, example, is_rank, run_on_ranks};

const METHODS: [&str; 6] = [
    "jacobi",
    "gauss-seidel",
    "f3ornits",
    "ifosmondi",
    "missiles",
    "predictive",
];

// Without the test harness: all ranks have to do the same, one thing after the other.
fn main() {
    if !is_rank() {
        for ranks in [2, 3, 5] {
            run_on_ranks(ranks);
        }
        return;
    }

    let network = Network::join();
    if network.orchestrates() {
        examples_run_the_same_on_ranks(network);
        fmus_run_the_same_on_ranks(network);
        two_systems_that_fail_at_once_end_a_run_with_the_same_words(network);
        systems_on_ranks_conform(network);
        texts_cross_ranks_by_what_they_say(network);
        a_checkpoint_of_ranks_is_that_of_a_single_thread(network);
        dismiss_ranks(network);
    } else {
        serve_rank(network).expect("rank 0 is there");
    }
    network.leave();
}

fn ranks(network: &'static Network) -> Placement {
    Placement::Ranks(RankPlacement {
        network,
        orchestrator_only: false,
    })
}

fn orchestrated(network: &'static Network) -> Placement {
    Placement::Ranks(RankPlacement {
        network,
        orchestrator_only: true,
    })
}

fn options(scenario: &Scenario, choices: &[(&str, &str)], placement: Placement) -> RunOptions {
    let mut chosen = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| chosen.set(key, *value));
    RunOptions {
        placement,
        ..scenario.options(&chosen).expect("the options are right")
    }
}

struct Run {
    end: RunEnd,
    bits: Vec<Vec<u64>>,
}

impl Run {
    /// None where the model does not permit the method.
    fn of(scenario: &Scenario, method: &str, placement: Placement) -> Option<Self> {
        let options = options(scenario, &[("method", method)], placement);
        let session = scenario.session(&options).ok()?;
        let everything = Variables::of(&scenario.connections)
            .with_signals(&session.signals())
            .everything();
        let sink = Trajectory::of(&everything);
        let mut recorder = Recorder::new(&scenario.connections, &everything, sink, "memory");
        let end = session.run(&mut [&mut recorder], &AtomicBool::new(false));
        let trajectory = recorder.into_sink();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
        let columns = trajectory.columns().map(|(_, values)| bits(values));
        Some(Self {
            bits: columns.chain([bits(trajectory.times())]).collect(),
            end,
        })
    }

    /// Work but for the seconds, which no two runs share.
    fn counts(&self) -> Vec<Work> {
        let work = self.end.work.iter();
        work.map(|work| Work {
            seconds: 0.0,
            ..*work
        })
        .collect()
    }
}

/// How many methods the model permits.
fn assert_identical(name: &str, scenario: &Scenario, network: &'static Network) -> usize {
    let mut permitted = 0;
    for method in METHODS {
        let Some(single) = Run::of(scenario, method, Placement::SingleThread) else {
            continue;
        };
        permitted += 1;
        for placement in [ranks(network), orchestrated(network)] {
            let what = format!("{name} under {method}, {placement:?}");
            let spread = Run::of(scenario, method, placement).expect(&what);
            assert!(spread.bits == single.bits, "{what}");
            assert_eq!(spread.counts(), single.counts(), "{what}");
            assert_eq!(spread.end.statistics, single.end.statistics, "{what}");
            assert_eq!(
                spread.end.reached.to_bits(),
                single.end.reached.to_bits(),
                "{what}"
            );
        }
    }
    permitted
}

fn load(model: &str) -> Scenario {
    Scenario::load(model.as_ref(), &Overrides::default()).expect("the model is right")
}

fn examples_run_the_same_on_ranks(network: &'static Network) {
    for name in EXAMPLES {
        let permitted = assert_identical(name, &load(&example(name)), network);
        assert!(permitted >= 5, "{name} permits {permitted} methods");
    }
}

fn fmus_run_the_same_on_ranks(network: &'static Network) {
    let folder = Folder::new();
    for version in [Version::Two, Version::Three] {
        for prey in [
            Fixture::new(Model::Prey, version),
            Fixture::poor(Model::Prey, version),
        ] {
            let predator = Fixture::new(Model::Predator, version).build();
            let model = format!(
                "[model]\nstop-time = 2.0\n[systems.prey]\nfmu = {:?}\n[systems.predator]\nfmu = {:?}\n\
                 [[connections]]\nfrom = \"prey.population\"\nto = \"predator.prey\"\n\
                 [[connections]]\nfrom = \"predator.population\"\nto = \"prey.predators\"\n",
                prey.build().display().to_string(),
                predator.display().to_string()
            );
            let model = folder.file("model.toml", model);
            assert!(assert_identical("prey and predator", &load(&model), network) >= 2);
        }
    }
}

/// Both systems leave for infinity at t = 1.
fn two_systems_that_fail_at_once_end_a_run_with_the_same_words(network: &'static Network) {
    let folder = Folder::new();
    let system = |name: &str| {
        format!(
            "[systems.{name}]\ninputs = {{ u = 0.0 }}\nstates = {{ x = 1.0 }}\nequations = \"der(x) = x * x + 0 * u\"\n\
             outputs = {{ y = \"1 / x\" }}\n"
        )
    };
    let connections = "[[connections]]\nfrom = \"one.y\"\nto = \"other.u\"\n\
                       [[connections]]\nfrom = \"other.y\"\nto = \"one.u\"\n";
    let model = [
        "[model]\nstop-time = 2.0\n",
        &system("one"),
        &system("other"),
        connections,
    ];
    let scenario = load(&folder.file("model.toml", model.concat()));
    for method in METHODS {
        let ending = |placement| {
            let run = Run::of(&scenario, method, placement).expect("the method is permitted");
            let error = run.end.ending.expect_err("it cannot go on");
            (error.to_string(), run.bits, run.end.reached.to_bits())
        };
        let single = ending(Placement::SingleThread);
        assert!(single.0.contains("`one"), "{}", single.0);
        let spread = ending(ranks(network));
        assert!(spread == single, "{method}: {} / {}", spread.0, single.0);
    }
}

fn systems_on_ranks_conform(network: &'static Network) {
    let expectations = || Expectations {
        start: 0.0,
        step: 0.01,
        tolerance: 1e-9,
    };
    let conforms = |scenario: &Scenario, choices: &[(&str, &str)]| {
        let options = options(scenario, choices, orchestrated(network));
        for system in 0..scenario.connections.systems() {
            let mut make = || -> Box<dyn System> {
                let mut systems = scenario.systems(&options).expect("systems are made");
                systems.swap_remove(system)
            };
            conformance(&mut make, expectations()).expect("the system conforms");
        }
    };

    for name in ["behaviour-change", "mechanical", "rooms"] {
        conforms(&load(&example(name)), &[("integrator-tolerance", "1e-12")]);
    }
    for version in [Version::Two, Version::Three] {
        for fixture in [
            Fixture::new(Model::Prey, version),
            Fixture::poor(Model::Prey, version),
        ] {
            let changes = Overrides {
                stop_time: Some(10.0),
                ..Overrides::default()
            };
            let scenario = Scenario::load(&fixture.build(), &changes).expect("an FMU");
            conforms(&scenario, &[("step", "0.01")]);
        }
    }
}

fn texts_cross_ranks_by_what_they_say(network: &'static Network) {
    let fmu = Fixture::new(Model::Types, Version::Two).build();
    let changes = Overrides {
        stop_time: Some(1.0),
        ..Overrides::default()
    };
    let scenario = Scenario::load(&fmu, &changes).expect("an FMU");
    let options = options(&scenario, &[], orchestrated(network));
    let mut system = scenario
        .systems(&options)
        .expect("it is made")
        .swap_remove(0);
    let interface = system.interface().clone();
    let named = |name: &str| name == "string_in" || name == "string_out";
    let input = interface.inputs.iter().position(|input| named(&input.name));
    let output = interface
        .outputs
        .iter()
        .position(|output| named(&output.name));
    let (input, output) = (input.expect("an input"), output.expect("an output"));
    let inputs = interface.inputs.iter();
    let mut inputs: Vec<Signal> = inputs.map(|input| Signal::constant(input.start)).collect();
    let mut response = Response::new(&interface, 0);
    // Texts that only this rank knows: its numbers are not those of the other.
    for number in 0..100 {
        text_to_number(&format!("text {number}"));
    }
    for text in ["one and", "another", "", "one and"] {
        inputs[input] = Signal::constant(text_to_number(text));
        let now = MacroStep::instant(0.0);
        system
            .advance(now, &inputs, &mut response)
            .expect("it answers");
        assert_eq!(&*number_to_text(response.outputs[output].value), text);
    }
}

fn a_checkpoint_of_ranks_is_that_of_a_single_thread(network: &'static Network) {
    let scenario = load(&example("lotka-volterra"));
    let final_bits = |placement: Placement, resumed: bool| {
        let options = options(&scenario, &[("method", "jacobi")], placement);
        let never = AtomicBool::new(false);
        let mut session = scenario.session(&options).expect("a session");
        let end = if resumed {
            let stopped = AtomicBool::new(true);
            let ending = session.proceed(scenario.stop_time, &mut [], &stopped);
            ending.expect("it is interrupted");
            let checkpoint = session.save().expect("equations have checkpoints");
            let mut again = scenario.session(&options).expect("a session");
            again.restore(&checkpoint).expect("it goes on");
            again.run(&mut [], &never)
        } else {
            session.run(&mut [], &never)
        };
        (end.statistics, end.reached.to_bits())
    };
    let single = final_bits(Placement::SingleThread, false);
    assert_eq!(final_bits(ranks(network), false), single);
    assert_eq!(final_bits(ranks(network), true), single);
}
