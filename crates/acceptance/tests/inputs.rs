//! Inputs that are known beforehand and events of a model: what systems with them promise, how accurate runs are, and that
//! it does not matter where systems live.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail_conformance::{Expectations, conformance};
use dovetail_core::{
    Drive, Driven, DrivenInputs, Ending, Error, Exchange, MacroStep, Observer, Overridden,
    OverriddenPlace, OverriddenVariable, Override, Signal, System,
};
use dovetail_equations::NativeSystem;
use dovetail_scenario::{Choices, Overrides, Placement, RunOptions, Scenario, SourceText};

/// A table in a file that the test keeps.
fn table(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("dovetail-inputs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a table");
    path
}

fn scenario(text: &str) -> Scenario {
    let source = SourceText {
        path: "model.toml".into(),
        text: text.into(),
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn options(scenario: &Scenario, method: &str, step: Option<f64>) -> RunOptions {
    let mut choices = Choices::default();
    choices.set("method", method);
    if let Some(step) = step {
        choices.set("step", step.to_string());
    }
    scenario.options(&choices).expect("options")
}

/// Two coupled bodies, one of them pushed by a table with kinks and jumps.
fn bodies(file: &str, interpolation: &str) -> String {
    format!(
        r#"[model]
stop-time = 10.0
[systems.left]
inputs = {{ force = 0.0, u = 0.0 }}
states = {{ x = 0.0, v = 0.0 }}
equations = """
der(x) = v
der(v) = u - x - 0.1*v + force - 0.2*x^3
"""
outputs = {{ position = "x", velocity = "v", felt = "u + x" }}
[systems.right]
inputs = {{ position = 0.0, velocity = 0.0 }}
parameters = {{ k = 2.0 }}
states = {{ x = 0.0, v = 0.0 }}
equations = """
f = k*(x - position) + 0.3*(v - velocity)
der(x) = v
der(v) = -f - x
"""
outputs = {{ force = "f" }}
[[connections]]
from = "left.position"
to = "right.position"
[[connections]]
from = "left.velocity"
to = "right.velocity"
[[connections]]
from = "right.force"
to = "left.force"
[[inputs]]
file = {file:?}
connect = {{ "force" = "left.u" }}
interpolation = "{interpolation}"
"#
    )
}

const PUSHES: &str = "time,force\n0,0\n1,1\n2.35,1\n2.35,-2\n4,-2\n5.5,0.5\n7.1,0.5\n7.1,3\n8,0\n";

/// `left.x`, `left.v`, `right.x` and `right.v` at the end: SciPy's DOP853 from one kink to the next, at a relative
/// tolerance of 1e-13.
const AT_THE_END: [f64; 4] = [
    -1.178_703_880_521_076,
    -1.620_694_274_541_102_6,
    -1.479_674_691_644_841_8,
    -2.363_431_536_972_971_3,
];

/// The bits of all that happens, and a flag that is raised after some steps.
struct Watch<'a> {
    bits: Vec<u64>,
    states: Vec<f64>,
    steps: usize,
    until: usize,
    interrupted: &'a AtomicBool,
}

impl<'a> Watch<'a> {
    fn new(until: usize, interrupted: &'a AtomicBool) -> Self {
        Self {
            bits: Vec::new(),
            states: Vec::new(),
            steps: 0,
            until,
            interrupted,
        }
    }
}

impl Observer for Watch<'_> {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let tasks = exchange.tasks.iter();
        let states = tasks.flat_map(|task| task.response.states.iter().copied());
        self.states = states.collect();
        for task in exchange.tasks {
            let outputs = task.response.outputs.iter().map(|knot| knot.value);
            let all = outputs.chain([task.response.reached]);
            self.bits.extend(all.map(f64::to_bits));
        }
        self.bits
            .extend(self.states.iter().map(|state| state.to_bits()));
        self.steps += 1;
        if self.steps == self.until {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A run in one go.
fn whole<'a>(scenario: &Scenario, options: &RunOptions, going: &'a AtomicBool) -> Watch<'a> {
    let mut watch = Watch::new(usize::MAX, going);
    let end = scenario.run(options, &mut [&mut watch], going);
    let end = end.unwrap_or_else(|bad| panic!("{bad}"));
    end.ending.expect("the run ends well");
    watch
}

fn error(scenario: &Scenario, method: &str, step: f64) -> f64 {
    let going = AtomicBool::new(false);
    let found = whole(scenario, &options(scenario, method, Some(step)), &going).states;
    let pairs = found.iter().zip(AT_THE_END);
    let errors = pairs.map(|(found, expected)| (found - expected).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn kinks_and_jumps_of_a_table_do_not_cost_a_method_its_order() {
    let file = table("pushes.csv", PUSHES);
    let scenario = scenario(&bodies(&file.display().to_string(), "linear"));
    let order = |method: &str, step: f64| {
        let errors = [step, 0.5 * step].map(|step| error(&scenario, method, step));
        (errors[0] / errors[1]).log2()
    };
    // 6.1 and 7.0, 3.07, 4.04, 1.03 were measured.
    assert!(order("predictive", 0.1) > 5.5);
    assert!(order("predictive", 0.05) > 5.5);
    assert!(error(&scenario, "predictive", 0.05) < 1e-8);
    assert!(order("missiles", 0.1) > 2.8);
    assert!(order("ifosmondi", 0.2) > 3.7);
    assert!(order("jacobi", 0.025) > 0.9);
}

#[test]
fn known_inputs_are_followed_exactly_whatever_the_method() {
    // der(x) = u with u a table: only the table matters.
    let file = table("ramp.csv", "time,room.u\n0,0\n1,2\n3,-1\n3,4\n");
    let text = format!(
        "[model]\nstop-time = 5\n[systems.room]\ninputs = {{ u = 0 }}\nstates = {{ x = 0 }}\n\
         equations = \"der(x) = u\"\noutputs = {{ y = \"x\" }}\n[[inputs]]\nfile = {:?}\n",
        file.display().to_string()
    );
    let scenario = scenario(&text);
    let going = AtomicBool::new(false);
    for method in [
        "jacobi",
        "gauss-seidel",
        "f3ornits",
        "missiles",
        "predictive",
    ] {
        let options = options(&scenario, method, Some(0.7));
        let found = whole(&scenario, &options, &going).states[0];
        assert!(
            (found - (1.0 + 1.0 + 8.0)).abs() < 1e-12,
            "{method}: {found}"
        );
    }
}

fn check_conformance(text: &str, system: usize, start: f64, step: f64) {
    let scenario = scenario(text);
    let mut choices = Choices::default();
    choices.set("method", "jacobi");
    choices.set("integrator-tolerance", "1e-11");
    let options = scenario.options(&choices).expect("options");
    let mut make = || -> Box<dyn System> {
        let mut systems = scenario
            .systems(&options)
            .unwrap_or_else(|bad| panic!("{bad}"));
        systems.swap_remove(system)
    };
    let expect = Expectations {
        start,
        step,
        tolerance: 1e-11,
    };
    if let Err(broken) = conformance(&mut make, expect) {
        panic!("from {start} by {step}: not true that {broken}\n{text}");
    }
}

#[test]
fn a_driven_system_keeps_every_promise_of_a_system() {
    let file = table("conforming.csv", PUSHES).display().to_string();
    for interpolation in ["linear", "hold", "cubic"] {
        for start in [0.1, 4.1] {
            check_conformance(&bodies(&file, interpolation), 0, start, 0.1);
        }
    }
    // The slope of an input is used: the expression stays a signal.
    let text = "[model]\nstop-time = 5\n[systems.one]\ninputs = { u = 0, w = 0 }\nstates = { x = 1 }\n\
                equations = \"der(x) = der(u) - x*u + w\"\noutputs = { y = \"x*u\" }\n\
                [systems.two]\ninputs = { x = 0 }\noutputs = { y = \"x\" }\n\
                [[connections]]\nvalue = \"sin(3*time)\"\nto = \"one.u\"\n\
                [[connections]]\nfrom = \"two.y\"\nto = \"one.w\"\n\
                [[connections]]\nfrom = \"one.y\"\nto = \"two.x\"\n";
    check_conformance(text, 0, 0.3, 0.05);
}

/// A tank and a valve to which events happen.
const TANK: &str = r#"[model]
stop-time = 12.0
[constants]
full = 2
[systems.tank]
inputs = { flow = 0.0 }
states = { h = 0.0 }
parameters = { A = 2.0 }
equations = "der(h) = flow/A - 0.1*h"
outputs = { level = "h" }
[systems.valve]
inputs = { level = 0.0 }
parameters = { kp = 1.0, ref = 3.0 }
outputs = { flow = "kp*(ref - level)" }
[[connections]]
from = "tank.level"
to = "valve.level"
[[connections]]
from = "valve.flow"
to = "tank.flow"
[[events]]
at = 2.0
set = { "valve.kp" = 3.0 }
[[events]]
when = "tank.level > full"
set = { "valve.flow" = { stuck = true, until = 6.0 } }
[[events]]
at = 7.0
set = { "valve.level" = { offset = 0.5, until = 9.0 }, "valve.kp" = { value = 5.0, until = 8.0 } }
[[events]]
at = 11.0
stop = true
"#;

/// The level at the end: SciPy's DOP853 from event to event, at a relative tolerance of 1e-13.
const LEVEL: f64 = 2.794_547_353_238_016_3;

#[test]
fn events_happen_under_every_method() {
    let scenario = scenario(TANK);
    let going = AtomicBool::new(false);
    let methods = [
        ("predictive", None, 1e-6),
        ("missiles", Some(0.02), 1e-4),
        ("ifosmondi", None, 1e-6),
        ("f3ornits", None, 1e-4),
        ("jacobi", Some(0.002), 1e-3),
        ("gauss-seidel", Some(0.002), 1e-3),
    ];
    for (method, step, tolerance) in methods {
        let run = whole(&scenario, &options(&scenario, method, step), &going);
        let error = (run.states[0] - LEVEL).abs();
        assert!(error < tolerance, "{method}: {error:e}");
    }
}

#[test]
fn an_event_ends_the_run() {
    let scenario = scenario(TANK);
    let options = options(&scenario, "predictive", None);
    let end = scenario
        .run(&options, &mut [], &AtomicBool::new(false))
        .expect("a run");
    assert_eq!(end.reached, 11.0);
    assert_eq!(
        end.ending.expect("no failure"),
        Ending::Requested { system: 2 }
    );
}

/// Which override is in force, as something that is known beforehand.
struct InForce(f64);

impl Drive for InForce {
    fn piece_end(&mut self, _from: f64) -> Result<f64, String> {
        Ok(f64::INFINITY)
    }

    fn signals(&mut self, _step: MacroStep, into: &mut [Signal]) -> Result<(), String> {
        into.fill(Signal::constant(self.0));
        Ok(())
    }
}

#[test]
fn a_system_with_overrides_keeps_every_promise_of_a_system() {
    let without_events = TANK.split("[[events]]").next().expect("a model");
    let scenario = scenario(without_events);
    let definition = &scenario.definitions().expect("equations")[0];
    // What is stuck remembers, and so depends on more than the inputs of a question.
    let actions = [
        Override::Value(4.0),
        Override::Affine {
            gain: -2.0,
            offset: 1.0,
        },
    ];
    for place in [OverriddenPlace::Input(0), OverriddenPlace::Output(0)] {
        for in_force in 0..=actions.len() {
            let mut make = || -> Box<dyn System> {
                let overridden = OverriddenVariable {
                    place,
                    input: "override".to_owned(),
                    overrides: actions.to_vec(),
                };
                let system = Overridden::new(NativeSystem::new(definition), vec![overridden]);
                let flag = DrivenInputs {
                    drive: Box::new(InForce(in_force as f64)),
                    inputs: vec![1],
                };
                Box::new(Driven::new(system, vec![flag]))
            };
            let expect = Expectations {
                start: 0.5,
                step: 0.1,
                tolerance: 1e-10,
            };
            if let Err(broken) = conformance(&mut make, expect) {
                panic!("{place:?}, override {in_force}: not true that {broken}");
            }
        }
    }
    // The events themselves, too.
    check_conformance(TANK, 2, 0.1, 0.1);
}

#[test]
fn a_run_with_tables_and_events_goes_on_from_a_checkpoint_to_the_same_bits() {
    let file = table("resumed.csv", PUSHES).display().to_string();
    for text in [
        bodies(&file, "linear"),
        bodies(&file, "cubic"),
        TANK.to_owned(),
    ] {
        let scenario = scenario(&text);
        for (method, step) in [
            ("jacobi", Some(0.1)),
            ("predictive", None),
            ("ifosmondi", None),
        ] {
            let options = options(&scenario, method, step);
            let going = AtomicBool::new(false);
            let plain = whole(&scenario, &options, &going);
            for until in [2, plain.steps / 3, plain.steps / 2, plain.steps - 2] {
                let stop = AtomicBool::new(false);
                let mut first = Watch::new(until, &stop);
                let mut session = scenario.session(&options).expect("a session");
                let stopped = session.proceed(scenario.stop_time, &mut [&mut first], &stop);
                stopped.expect("a run to the checkpoint");
                let checkpoint = session.save().expect("a checkpoint");
                let mut second = Watch::new(usize::MAX, &going);
                let mut session = scenario.session(&options).expect("a session");
                session.restore(&checkpoint).expect("a session restored");
                let end = session.run(&mut [&mut second], &going);
                end.ending.expect("the run ends well");
                let bits = [first.bits, second.bits].concat();
                assert!(
                    bits == plain.bits,
                    "{method} after {until} of {} steps",
                    plain.steps
                );
            }
        }
    }
}

#[test]
fn threads_make_no_difference() {
    let file = table("threads.csv", PUSHES).display().to_string();
    let going = AtomicBool::new(false);
    for text in [bodies(&file, "linear"), TANK.to_owned()] {
        let scenario = scenario(&text);
        for method in [
            "jacobi",
            "gauss-seidel",
            "f3ornits",
            "ifosmondi",
            "missiles",
            "predictive",
        ] {
            let alone = options(&scenario, method, None);
            let spread = RunOptions {
                placement: Placement::Threads(NonZeroUsize::new(2)),
                ..alone.clone()
            };
            let alone = RunOptions {
                placement: Placement::SingleThread,
                ..alone
            };
            let bits = [alone, spread].map(|options| whole(&scenario, &options, &going).bits);
            assert!(bits[0] == bits[1], "{method}");
        }
    }
}

/// Exact end of `der(x) = -k x`, where an event sets k.
#[test]
fn the_monolithic_solution_knows_parameters_that_change() {
    let text = "[model]\nstop-time = 3\n[systems.a]\nparameters = { k = 1 }\nstates = { x = 1 }\n\
                equations = \"der(x) = -k*x\"\noutputs = { y = \"x\" }\n\
                [[events]]\nat = 1\nset = { \"a.k\" = 2 }\n[[events]]\nat = 2\nset = { \"a.k\" = { value = 0, until = 2.5 } }\n";
    let scenario = scenario(text);
    let going = AtomicBool::new(false);
    for method in ["monolithic", "predictive", "jacobi"] {
        let found = whole(&scenario, &options(&scenario, method, Some(0.3)), &going).states[0];
        let expected = (-1.0f64 - 2.0 - 1.0).exp();
        assert!(
            (found - expected).abs() < 1e-9,
            "{method}: {found} {expected}"
        );
    }
}
