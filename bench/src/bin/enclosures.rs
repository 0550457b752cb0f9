//! What bounds cost, in one thread: shared symbols beside boxes exchanged between systems, and chains of ever more systems.
//!
//! Both methods run in this one program, boxes with the step and extrapolation that make them tightest. Widths and volumes are the
//! same on every machine; times are not, and their ratios are what counts. Nobody watches, so that tubes are not computed.

use std::fmt::Write;
use std::time::Instant;

use dovetail_cases::{ROOMS, SPRING, chain, connections, model, spread, unseen};
use dovetail_guaranteed::{
    Boxes, EnclosureObserver, EnclosureOutcome, Integrator, Interval, Method, Options, Pieces,
    Problem, enclose,
};
use dovetail_report::{Alignment, Table, significant};
use dovetail_scenario::Scenario;

/// Macro-steps that boxes are tried with, as parts of the whole.
const PARTS: [f64; 5] = [30.0, 150.0, 600.0, 1500.0, 3000.0];
/// Extrapolations that they are tried with.
const EXTRAPOLATIONS: [Option<usize>; 5] = [None, Some(1), Some(2), Some(3), Some(4)];
/// Runs are repeated for about so many seconds, and the least time is told.
const PATIENCE: f64 = 0.5;
const CHAINS: [usize; 3] = [10, 50, 200];
/// Corners and inner points that trajectories are sampled from.
const CORNERS: usize = 1024;
const INSIDE: usize = 1000;

fn main() {
    against_boxes();
    laub_loomis();
    chains();
    reachability();
}

/// Wants nothing but the end.
struct Nobody;

impl EnclosureObserver for Nobody {
    fn instant(&mut self, _time: f64, _states: &[Interval]) {}

    fn tube(&mut self, _from: f64, _to: f64, _states: &[Interval]) {}

    fn wants_tubes(&self) -> bool {
        false
    }
}

fn shared() -> Options {
    Options {
        method: Method::SharedSymbols,
        step: None,
        output_interval: None,
        threads: 1,
        pieces: Pieces::Automatic,
    }
}

/// An enclosure and the least time it took, in seconds.
fn timed(problem: &Problem, options: &Options) -> (EnclosureOutcome, f64) {
    let clock = Instant::now();
    let mut least = f64::INFINITY;
    loop {
        let start = Instant::now();
        let outcome = enclose(problem, options, &mut Nobody);
        least = least.min(start.elapsed().as_secs_f64());
        if clock.elapsed().as_secs_f64() > PATIENCE {
            return (outcome, least);
        }
    }
}

fn widest(outcome: &EnclosureOutcome) -> f64 {
    outcome.states.iter().map(|x| x.width()).fold(0.0, f64::max)
}

fn volume(outcome: &EnclosureOutcome) -> f64 {
    outcome.states.iter().map(|x| x.width()).product()
}

/// The model with boxes of this radius around its start values.
fn around(scenario: &Scenario, radius: f64) -> Problem {
    let definitions = scenario.definitions().expect("BUG: equations");
    let mut boxes: Vec<Boxes> = definitions.iter().map(Boxes::points).collect();
    for state in boxes
        .iter_mut()
        .flat_map(|b| &mut b.states)
        .filter(|_| radius > 0.0)
    {
        *state = state.widened(radius);
    }
    let span = (scenario.start_time, scenario.stop_time);
    Problem::new(&definitions, &boxes, &scenario.connections, span)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"))
}

/// The tightest that boxes get, with what they got it.
fn best_boxes(problem: &Problem, span: f64) -> Option<(Options, f64)> {
    let mut best: Option<(Options, f64)> = None;
    for parts in PARTS {
        for extrapolation in EXTRAPOLATIONS {
            let method = Method::Boxes {
                integrator: Integrator::Rk4,
                extrapolation,
            };
            let options = Options {
                method,
                step: Some(span / parts),
                output_interval: None,
                threads: 1,
                pieces: Pieces::Automatic,
            };
            let outcome = enclose(problem, &options, &mut Nobody);
            let width = widest(&outcome);
            if outcome.stopped.is_none() && best.as_ref().is_none_or(|(_, least)| width < *least) {
                best = Some((options, width));
            }
        }
    }
    best
}

fn against_boxes() {
    let columns = [
        "model", "method", "steps", "ms", "times", "widest", "volume",
    ];
    let left = |index: usize| {
        if index < 2 {
            Alignment::Left
        } else {
            Alignment::Right
        }
    };
    let mut table = Table::new(&std::array::from_fn::<_, 7, _>(|i| (columns[i], left(i))));
    let spring = SPRING.scenario();
    let models = [
        (
            "rooms",
            ROOMS
                .scenario()
                .to_enclose()
                .unwrap_or_else(|bad| panic!("BUG: {bad}")),
            150.0,
        ),
        ("spring from a point", around(&spring, 0.0), 10.0),
        ("spring from ±0.125", around(&spring, 0.125), 10.0),
    ];
    for (name, problem, span) in models {
        let (ours, own) = timed(&problem, &shared());
        let row = |method: String, outcome: &EnclosureOutcome, seconds: f64| {
            let numbers = [1e3 * seconds, seconds / own].map(|x| significant(x, 3));
            let sizes = [
                significant(widest(outcome), 4),
                significant(volume(outcome), 6),
            ];
            let start = [name.to_owned(), method, outcome.steps.to_string()];
            start
                .into_iter()
                .chain(numbers)
                .chain(sizes)
                .collect::<Vec<_>>()
        };
        table.row(row("shared symbols".to_owned(), &ours, own));
        if let Some((options, _)) = best_boxes(&problem, span) {
            let (theirs, seconds) = timed(&problem, &options);
            table.row(row(told(&options), &theirs, seconds));
        }
    }
    println!("Bounds of linear examples, in one thread");
    print!("{}", table.render(""));
    println!(
        "times: against shared symbols; boxes: rk4, with the step H and the extrapolation K that make them tightest\n"
    );
}

fn told(options: &Options) -> String {
    let step = options
        .step
        .map_or_else(String::new, |step| significant(step, 3));
    match options.method {
        Method::Boxes {
            extrapolation: Some(order),
            ..
        } => format!("boxes, H = {step}, K = {order}"),
        Method::Boxes { .. } => format!("boxes, H = {step}"),
        Method::SharedSymbols => "shared symbols".to_owned(),
    }
}

/// The enzyme model of Laub and Loomis in two systems.
fn laub_loomis() {
    let text = "[systems.one]\ninputs = { x3 = 1.5, x4 = 2.4 }\nstates = { x1 = 1.2, x2 = 1.05, x5 = 1.0 }\nequations = '''\n\
        der(x1) = 1.4 * x3 - 0.9 * x1\nder(x2) = 2.5 * x5 - 1.5 * x2\nder(x5) = 0.7 * x1 - x4 * x5\n'''\n\
        outputs = { x1 = 'x1', x2 = 'x2' }\n\
        [systems.two]\ninputs = { x1 = 1.2, x2 = 1.05 }\nstates = { x3 = 1.5, x4 = 2.4, x6 = 0.1, x7 = 0.45 }\nequations = '''\n\
        der(x3) = 0.6 * x7 - 0.8 * x2 * x3\nder(x4) = 2 - 1.3 * x3 * x4\nder(x6) = 0.3 * x1 - 3.1 * x6\n\
        der(x7) = 1.8 * x6 - 1.6 * x2 * x7\n'''\noutputs = { x3 = 'x3', x4 = 'x4' }\n";
    let wires = [
        "two.x3 -> one.x3",
        "two.x4 -> one.x4",
        "one.x1 -> two.x1",
        "one.x2 -> two.x2",
    ];
    let scenario = model(20.0, &(text.to_owned() + &connections(&wires)));
    let heads = [
        "radius at the start",
        "steps",
        "ms",
        "width of x4",
        "widest",
    ];
    let mut table = Table::new(&heads.map(|head| (head, Alignment::Right)));
    for radius in [0.01, 0.05] {
        let problem = around(&scenario, radius);
        let x4 = problem
            .names()
            .iter()
            .position(|name| name == "two.x4")
            .expect("BUG: a state");
        let (outcome, seconds) = timed(&problem, &shared());
        let numbers = [1e3 * seconds, outcome.states[x4].width(), widest(&outcome)]
            .map(|x| significant(x, 3));
        table.row(
            [radius.to_string(), outcome.steps.to_string()]
                .into_iter()
                .chain(numbers)
                .collect(),
        );
    }
    println!("Laub-Loomis in two systems, bounds at t = 20");
    print!("{}", table.render(""));
    println!();
}

/// Cost against the number of systems: masses between two walls, each a system of two states.
fn chains() {
    let heads = [
        "systems",
        "from",
        "steps",
        "ms",
        "ms per step",
        "growth",
        "widest",
    ];
    let left = |index: usize| {
        if index == 1 {
            Alignment::Left
        } else {
            Alignment::Right
        }
    };
    let mut table = Table::new(&std::array::from_fn::<_, 7, _>(|i| (heads[i], left(i))));
    for (name, radius) in [("points", 0.0), ("boxes ±0.001", 1e-3)] {
        let mut before = f64::NAN;
        for n in CHAINS {
            let (outcome, seconds) = timed(&around(&chain(n, 0.0), radius), &shared());
            let step = 1e3 * seconds / outcome.steps as f64;
            let mut row = vec![n.to_string(), name.to_owned(), outcome.steps.to_string()];
            row.extend(
                [1e3 * seconds, step, step / before, widest(&outcome)].map(|number| {
                    match number.is_nan() {
                        true => "-".to_owned(),
                        false => significant(number, 3),
                    }
                }),
            );
            if let Some(stopped) = &outcome.stopped {
                let _ = write!(row[2], " ({stopped})");
            }
            before = step;
            table.row(row);
        }
    }
    println!("Bounds of chains of n oscillators, to t = 10");
    print!("{}", table.render(""));
    println!("growth: of a step, against the row above");
}

/// The usual benchmarks of reachability, beside what sampled trajectories reach.
fn reachability() {
    let heads = ["model", "reached", "pieces", "s", "widest", "worst ratio"];
    let left = |index: usize| match index {
        0 => Alignment::Left,
        _ => Alignment::Right,
    };
    let mut table = Table::new(&std::array::from_fn::<_, 6, _>(|i| (heads[i], left(i))));
    for model in unseen("reachability") {
        let scenario = model.scenario();
        let problem = scenario.to_enclose();
        let problem = problem.unwrap_or_else(|bad| panic!("BUG: {bad}"));
        let start = Instant::now();
        let outcome = enclose(&problem, &shared(), &mut Nobody);
        let seconds = start.elapsed().as_secs_f64();
        let worst = match outcome.stopped {
            None => worst_ratio(&outcome, &spread(&scenario, CORNERS, INSIDE)),
            Some(_) => None,
        };
        let ratio = worst.map_or_else(|| "-".to_owned(), |ratio| significant(ratio, 3));
        table.row(vec![
            model.name.clone(),
            significant(outcome.reached, 4),
            outcome.pieces.to_string(),
            significant(seconds, 3),
            significant(widest(&outcome), 4),
            ratio,
        ]);
    }
    println!("Bounds of the usual benchmarks of reachability, without options");
    print!("{}", table.render(""));
    println!(
        "worst ratio: of a state's width to what {CORNERS} corners and {INSIDE} inner points reach, where that is more than a thousandth of it"
    );
}

/// Among states that spread by more than a thousandth.
fn worst_ratio(outcome: &EnclosureOutcome, reached: &[(f64, f64)]) -> Option<f64> {
    let pairs = outcome.states.iter().zip(reached);
    let ratios = pairs.filter_map(|(bounds, (lo, hi))| {
        let wide = hi - lo > 1e-3 * lo.abs().max(hi.abs());
        wide.then(|| bounds.width() / (hi - lo))
    });
    ratios.reduce(f64::max)
}
