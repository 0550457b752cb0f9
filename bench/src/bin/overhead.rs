//! What the engine adds to a macro-step: rings of units so light that nothing else is left to measure.
//!
//! A unit is asked as an FMU is: set the input, step, get the output, three calls through a table of functions. The baseline,
//! in the same run, is a bare loop that makes the same calls on the same units. Times differ from machine to machine and from
//! run to run; the ratios are what counts.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Connections, Error, Grid, Input, Interface, MacroStep, Method, Observer, Orchestrator, Output,
    Response, RunState, Signal, Source, System,
};
use dovetail_methods::CouplingResidual;
use dovetail_methods::{GaussSeidel, Jacobi, initialize};
use dovetail_report::{Alignment, LastRow, Recorder, Table, Variables, significant};
use dovetail_workers::SingleThread;

const SIZES: [usize; 3] = [2, 10, 100];
const REPEATS: usize = 7;
/// Unit-steps per run, so that every size works equally long.
const WORK: usize = 2_000_000;
/// The end of a run.
const STOP: f64 = 10.0;

fn main() {
    // One size only, for a profiler.
    let sizes = match std::env::args().nth(1).map(|size| size.parse()) {
        Some(Ok(size)) => vec![size],
        Some(Err(error)) => panic!("the argument is a number of units: {error}"),
        None => SIZES.to_vec(),
    };
    let heads = [
        "units",
        "bare ns",
        "jacobi ns",
        "ratio",
        "watched ns",
        "ratio",
        "gauss-seidel ns",
        "ratio",
    ];
    let mut table = Table::new(&heads.map(|head| (head, Alignment::Right)));
    for n in sizes {
        let (bare, costs) = costs(n);
        let numbers = costs.iter().flat_map(|&cost| [cost, cost / bare]);
        let row = std::iter::once(n.to_string()).chain(
            std::iter::once(bare)
                .chain(numbers)
                .map(|x| significant(x, 3)),
        );
        table.row(row.collect());
    }
    println!(
        "Cost of a macro-step per unit on a ring of n units x += h (u - x), without recording"
    );
    print!("{}", table.render(""));
    println!(
        "bare: the same calls in a plain loop; watched: jacobi, with final values and residuals kept"
    );
}

/// Nanoseconds per unit and step: the bare loop, Jacobi alone, Jacobi watched as the program watches, Gauss-Seidel.
///
/// The kinds take turns, so that a disturbance meets all of them; the least of each is told.
fn costs(n: usize) -> (f64, [f64; 3]) {
    let mut least = (f64::INFINITY, [f64::INFINITY; 3]);
    let least_of =
        |least: &mut f64, seconds: f64| *least = least.min(1e9 * seconds / (WORK / n * n) as f64);
    for _ in 0..REPEATS {
        least_of(&mut least.0, bare(n));
        least_of(
            &mut least.1[0],
            engine(n, false, |connections, grid| {
                Box::new(Jacobi::new(connections, grid))
            }),
        );
        least_of(
            &mut least.1[1],
            engine(n, true, |connections, grid| {
                Box::new(Jacobi::new(connections, grid))
            }),
        );
        least_of(
            &mut least.1[2],
            engine(n, false, |connections, grid| {
                Box::new(GaussSeidel::new(connections, grid))
            }),
        );
    }
    least
}

/// What an FMU offers, in its smallest form.
trait Unit: Send {
    fn set(&mut self, value: f64);
    fn step(&mut self, size: f64);
    fn get(&self) -> f64;
}

struct Relaxation {
    input: f64,
    state: f64,
}

impl Unit for Relaxation {
    fn set(&mut self, value: f64) {
        self.input = value;
    }

    fn step(&mut self, size: f64) {
        self.state += size * (self.input - self.state);
    }

    fn get(&self) -> f64 {
        self.state
    }
}

/// The first unit starts at 1, all others at 0.
fn units(n: usize) -> impl Iterator<Item = Box<dyn Unit>> {
    let unit = |i: usize| Relaxation {
        input: 0.0,
        state: if i == 0 { 1.0 } else { 0.0 },
    };
    // Hidden from the optimizer, which would otherwise call without a table.
    (0..n).map(move |i| black_box(Box::new(unit(i)) as Box<dyn Unit>))
}

/// Seconds of the plain loop.
fn bare(n: usize) -> f64 {
    let mut units: Vec<_> = units(n).collect();
    let steps = WORK / n;
    let size = STOP / steps as f64;
    let mut outputs: Vec<f64> = units.iter().map(|unit| unit.get()).collect();
    let clock = Instant::now();
    for _ in 0..steps {
        for (i, unit) in units.iter_mut().enumerate() {
            unit.set(outputs[if i == 0 { n - 1 } else { i - 1 }]);
            unit.step(size);
        }
        for (output, unit) in outputs.iter_mut().zip(&units) {
            *output = unit.get();
        }
    }
    black_box(&outputs);
    clock.elapsed().as_secs_f64()
}

/// A unit as a system.
struct Coupled {
    interface: Interface,
    unit: Box<dyn Unit>,
}

impl Coupled {
    fn new(number: usize, unit: Box<dyn Unit>) -> Self {
        let interface = Interface {
            name: format!("unit{number}"),
            inputs: vec![Input {
                name: "u".into(),
                ..Input::default()
            }]
            .into(),
            outputs: vec![Output {
                name: "x".into(),
                ..Output::default()
            }]
            .into(),
            states: vec![].into(),
        };
        Self { interface, unit }
    }
}

impl System for Coupled {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.unit.set(inputs[0].value(step.size()));
        if !step.is_instant() {
            self.unit.step(step.size());
        }
        response.outputs[0].value = self.unit.get();
        response.reached = step.end;
        Ok(())
    }
}

/// Seconds of the same ring under a method.
fn engine(
    n: usize,
    watched: bool,
    method: impl Fn(&Connections, Grid) -> Box<dyn Method + '_>,
) -> f64 {
    let systems: Vec<Coupled> = units(n)
        .enumerate()
        .map(|(number, unit)| Coupled::new(number, unit))
        .collect();
    let interfaces = systems
        .iter()
        .map(|system| system.interface.clone())
        .collect();
    let sources = (0..n)
        .map(|i| Source::Output(if i == 0 { n - 1 } else { i - 1 }))
        .collect();
    let connections = Connections::new(interfaces, sources);
    let mut workers = SingleThread::new(
        systems
            .into_iter()
            .map(|system| Box::new(system) as Box<dyn System>)
            .collect(),
    );
    let mut method = method(&connections, Grid::new(0.0, STOP, STOP / (WORK / n) as f64));
    let start = initialize(&connections, &mut workers, 0.0, 0)
        .unwrap_or_else(|error| panic!("BUG: {error}"));
    let everything = Variables::of(&connections).everything();
    let mut last = Recorder::new(
        &connections,
        &everything,
        LastRow::default(),
        "final values",
    );
    let mut residual = CouplingResidual::new(&connections);
    let mut observers: Vec<&mut dyn Observer> = if watched {
        vec![&mut last, &mut residual]
    } else {
        vec![]
    };
    let never = AtomicBool::new(false);
    let mut state = RunState::new(&connections, method.as_ref());
    let mut run = Orchestrator::new(
        &connections,
        method.as_mut(),
        &mut workers,
        &mut observers,
        &never,
        &mut state,
    );
    let clock = Instant::now();
    run.run(start, STOP)
        .unwrap_or_else(|error| panic!("BUG: {error}"));
    clock.elapsed().as_secs_f64()
}
