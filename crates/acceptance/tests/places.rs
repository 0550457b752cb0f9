//! Bounds do not depend on where systems are computed; a place that is lost ends them where they are
//! proved.

mod recording;

use std::cell::Cell;
use std::rc::Rc;

use dovetail_cases::{ALL, SPRING};
use dovetail_guaranteed::{
    EnclosureOutcome, Integrator, Interval, Method, Options, Pieces, PlaceLost, Places, Problem,
    StopReason, SystemServer, enclose, enclose_at,
};
use dovetail_scenario::{Overrides, Scenario, SourceText};

use recording::Recording;

/// Models that bring in what the examples do not: uncertain parameters, kinks, functions of time,
/// switches, nonlinear loops, a flow that keeps its order.
const FURTHER: [(&str, &str, &str); 5] = [
    (
        "a kink that is met at once",
        "states = { x = [-0.01, 0.02] }\nparameters = { k = [1.0, 1.01] }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = -k * abs(x) + 0.1 * u\"\noutputs = { y = \"x * x\" }",
        "states = { x = [-0.2, 0.1] }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = max(u - x, 0.01) - 0.5 * x\"\noutputs = { y = \"x\" }",
    ),
    (
        "functions of time that come to rest",
        "states = { x = [0.9, 1.1] }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = tanh(80 * (time - 0.1)) - x * u\"\noutputs = { y = \"x\" }",
        "states = { x = 0.5 }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = u - x^2 + tanh(90 * (time - 0.1))\"\noutputs = { y = \"x\" }",
    ),
    (
        "a switch at a time that is not sure",
        "states = { x = [0.9, 1.1] }\nparameters = { when = [0.5, 0.51] }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = (if time < when then 1 else -1) - x * u\"\noutputs = { y = \"x\" }",
        "states = { x = 0.5 }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = u - x\"\noutputs = { y = \"x\" }",
    ),
    (
        "a loop that is not linear",
        "states = { x = [0.45, 0.55] }\ninputs = { u = 0.3 }\n\
         equations = \"der(x) = -x + 0.1 * u\"\noutputs = { y = \"0.3 * cos(u) + x\" }",
        "states = { x = 1.0 }\ninputs = { u = 0.3 }\n\
         equations = \"der(x) = u - x\"\noutputs = { y = \"0.5 * u + 0.1 * x\" }",
    ),
    (
        "a cooperative pair",
        "states = { x = [0.9, 1.1] }\nparameters = { k = [0.5, 0.6] }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = k * u - x^3\"\noutputs = { y = \"x\" }",
        "states = { x = [0.1, 0.2] }\ninputs = { u = 0.0 }\n\
         equations = \"der(x) = u - x\"\noutputs = { y = \"x\" }",
    ),
];

fn pair((name, one, other): &(&str, &str, &str)) -> Scenario {
    let text = format!(
        "[model]\nname = \"{name}\"\nstop-time = 1.0\n[systems.one]\n{one}\n[systems.other]\n{other}\n\
         [[connections]]\nfrom = \"one.y\"\nto = \"other.u\"\n\
         [[connections]]\nfrom = \"other.y\"\nto = \"one.u\"\n"
    );
    let source = SourceText {
        path: "model.toml".to_owned(),
        text,
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn options(method: Method) -> Options {
    Options {
        method,
        step: None,
        output_interval: None,
        threads: 1,
        pieces: Pieces::ONE,
    }
}

fn methods() -> [Method; 4] {
    let boxes = |integrator, extrapolation| Method::Boxes {
        integrator,
        extrapolation,
    };
    [
        Method::SharedSymbols,
        boxes(Integrator::Rk4, None),
        boxes(Integrator::Rk4, Some(2)),
        boxes(Integrator::Heun, None),
    ]
}

/// Places in this very process, one of which may be lost after some messages.
struct Nearby {
    servers: Vec<SystemServer>,
    answers: Vec<Option<Vec<u8>>>,
    messages: Rc<Cell<usize>>,
    most: usize,
}

impl Nearby {
    fn new(places: usize, most: usize, messages: &Rc<Cell<usize>>) -> Box<Self> {
        messages.set(0);
        Box::new(Self {
            servers: (0..=places).map(|_| SystemServer::default()).collect(),
            answers: vec![None; places + 1],
            messages: Rc::clone(messages),
            most,
        })
    }
}

impl Places for Nearby {
    fn send(&mut self, place: usize, message: &[u8]) -> Result<(), PlaceLost> {
        assert!(self.answers[place].is_none(), "a question is not answered");
        let answer = self.servers[place].answer(message).expect("an answer");
        self.answers[place] = Some(answer);
        Ok(())
    }

    fn receive(&mut self, place: usize, answer: &mut Vec<u8>) -> Result<(), PlaceLost> {
        self.messages.set(self.messages.get() + 1);
        if self.messages.get() > self.most {
            return Err(format!("place {place} is gone").into());
        }
        *answer = self.answers[place].take().expect("there was a question");
        Ok(())
    }
}

/// All that is reported, as bits.
fn bits(recording: &Recording) -> Vec<Vec<u64>> {
    let of = |times: &[f64], states: &[Interval]| {
        let bounds = states.iter().flat_map(|range| [range.lo, range.hi]);
        let all = times.iter().copied().chain(bounds);
        all.map(f64::to_bits).collect::<Vec<u64>>()
    };
    let instants = recording.instants.iter();
    let tubes = recording.tubes.iter();
    instants
        .map(|(time, states)| of(&[*time], states))
        .chain(tubes.map(|(from, to, states)| of(&[*from, *to], states)))
        .collect()
}

fn elsewhere(
    problem: &Problem,
    options: &Options,
    owners: &[usize],
    most: usize,
    messages: &Rc<Cell<usize>>,
) -> (EnclosureOutcome, Recording) {
    let places = owners.iter().copied().max().unwrap_or(0);
    let mut recording = Recording::patient(STEPS);
    let places = Nearby::new(places, most, messages);
    let outcome = enclose_at(problem, options, owners, places, &mut recording);
    (outcome, recording)
}

/// As many steps as are looked at.
const STEPS: usize = 40;

/// Systems here and elsewhere; all elsewhere, not in order; every one elsewhere alone.
fn distributions(systems: usize) -> [Vec<usize>; 3] {
    [
        (0..systems).map(|system| system % 3).collect(),
        (0..systems).map(|system| 2 - system % 2).collect(),
        (1..=systems).collect(),
    ]
}

fn scenarios() -> Vec<(String, Scenario)> {
    let examples = ALL
        .iter()
        .map(|case| (case.name.to_owned(), case.scenario()));
    let further = FURTHER.iter().map(|case| (case.0.to_owned(), pair(case)));
    examples.chain(further).collect()
}

#[test]
fn bounds_do_not_depend_on_where_systems_are_computed() {
    let messages = Rc::new(Cell::new(0));
    for (name, scenario) in scenarios() {
        let problem = scenario.to_enclose().unwrap_or_else(|bad| panic!("{bad}"));
        for method in methods() {
            let options = options(method);
            let mut here = Recording::patient(STEPS);
            let expected = enclose(&problem, &options, &mut here);
            for owners in distributions(scenario.connections.systems()) {
                let what = format!("{name}, {method:?}, {owners:?}");
                let (outcome, found) =
                    elsewhere(&problem, &options, &owners, usize::MAX, &messages);
                assert_eq!(outcome, expected, "{what}");
                assert!(bits(&found) == bits(&here), "{what}");
                let is_loop = expected.steps == 0;
                assert!(messages.get() > 0 || is_loop, "{what}");
                assert!(!is_loop || method != Method::SharedSymbols, "{what}");
            }
        }
    }
}

#[test]
fn exchanges_are_few() {
    let messages = Rc::new(Cell::new(0));
    let problem = SPRING.scenario().to_enclose().expect("it can be enclosed");
    let found = methods().map(|method| {
        let (outcome, _) = elsewhere(&problem, &options(method), &[0, 1], usize::MAX, &messages);
        (outcome.steps, messages.get())
    });
    assert_eq!(found, [(24, 364), (40, 320), (40, 360), (40, 320)]);
}

#[test]
fn a_place_that_is_lost_ends_bounds_where_they_are_proved() {
    let messages = Rc::new(Cell::new(0));
    for name in ["spring", "lotka-volterra", "rooms", "a cooperative pair"] {
        let mut all = scenarios().into_iter();
        let (_, scenario) = all.find(|(other, _)| other == name).expect("a model");
        let problem = scenario.to_enclose().unwrap_or_else(|bad| panic!("{bad}"));
        let owners: Vec<usize> = (0..scenario.connections.systems()).map(|s| s % 2).collect();

        for method in methods() {
            let options = options(method);
            let (_, whole) = elsewhere(&problem, &options, &owners, usize::MAX, &messages);
            let count = messages.get();
            for most in [0, 1, 2, 3, 5, count / 7, count / 2, count - 1] {
                let what = format!("{name}, {method:?}, lost after {most} of {count} messages");
                let (outcome, found) = elsewhere(&problem, &options, &owners, most, &messages);
                let Some(StopReason::Lost { time, lost }) = &outcome.stopped else {
                    panic!("{what}: {:?}", outcome.stopped);
                };
                assert_eq!(lost.to_string(), "place 1 is gone", "{what}");
                assert_eq!(*time, outcome.reached, "{what}");
                assert_eq!(messages.get(), most + 1, "{what}: it is asked no more");
                let times = |r: &Recording| r.instants.iter().map(|i| i.0).collect::<Vec<_>>();
                assert!(times(&whole).starts_with(&times(&found)), "{what}");
                assert_eq!(times(&found).last(), Some(&outcome.reached), "{what}");
                let kept = found.instants.iter().zip(&whole.instants);
                for ((_, kept), (_, full)) in kept {
                    let holds = |(kept, full): (&Interval, &Interval)| full.within(*kept);
                    assert!(kept.iter().zip(full).all(holds), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_message_that_makes_no_sense_is_refused() {
    let mut server = SystemServer::default();
    for message in [&[][..], &[9], &[1, 0], &[2, 1], &[0, 1, 2, 3]] {
        let refusal = server.answer(message).unwrap_err().to_string();
        assert!(refusal.contains("cannot be understood"), "{refusal}");
    }
}
