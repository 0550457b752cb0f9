//! Small systems with values that jump, and one with an event that only its trials find.
#![allow(dead_code, reason = "every test program uses a part of this")]

use std::sync::atomic::AtomicBool;

use dovetail_core::{
    Capabilities, Connections, Ending, Error, Grid, Input, Interface, Knot, Linearization,
    Linearize, MAX_DEGREE, MacroStep, Method, Notice, Observer, Orchestrator, Output, Response,
    RunState, Signal, SignalKind, Source, Statistics, StepRule, System, Trial, Workers,
};
use dovetail_equations::{Definition, Model, NativeSystem};
use dovetail_methods::{
    Costarica, Criterion, EstimatorOptions, F3ornits, F3ornitsOptions, GaussSeidel, Ifosmondi,
    IfosmondiOptions, Jacobi, Missiles, MissilesOptions, Predictive, PredictiveOptions, StepBounds,
    initialize,
};
use dovetail_numerics::nonlinear::{QuasiNewton, QuasiNewtonOptions};
use dovetail_workers::SingleThread;

/// Numbers that stand for texts: no arithmetic survives them.
pub const HEATING: f64 = 1e300;
pub const IDLE: f64 = -1.7e308;

pub fn input(name: &str, start: f64, kind: SignalKind) -> Input {
    Input {
        name: name.into(),
        start,
        kind,
        ..Input::default()
    }
}

pub fn output(name: &str, depends_on: &[usize], kind: SignalKind) -> Output {
    Output {
        name: name.into(),
        depends_on: depends_on.to_vec(),
        kind,
        ..Output::default()
    }
}

/// Heats below `low`, until `high` is reached. It looks at the end of its steps.
#[derive(Clone)]
pub struct Thermostat {
    interface: Interface,
    low: f64,
    high: f64,
    on: bool,
}

impl Thermostat {
    pub fn new(low: f64, high: f64) -> Self {
        let outputs = vec![
            output("on", &[], SignalKind::Discrete),
            output("mode", &[], SignalKind::Text),
        ];
        let inputs = vec![input("temperature", 20.0, SignalKind::Continuous)];
        let interface = Interface {
            name: "thermostat".into(),
            inputs: inputs.into(),
            outputs: outputs.into(),
            states: vec![].into(),
        };
        Self {
            interface,
            low,
            high,
            on: true,
        }
    }

    fn answer(&self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> bool {
        let temperature = inputs[0].value(step.size());
        let on = match self.on {
            _ if step.is_instant() => self.on,
            true => temperature < self.high,
            false => temperature <= self.low,
        };
        response.outputs[0] = Knot::value_only(f64::from(u8::from(on)));
        response.outputs[1] = Knot::value_only(if on { HEATING } else { IDLE });
        (response.reached, response.next_event) = (step.end, f64::INFINITY);
        on
    }
}

impl System for Thermostat {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.on = self.answer(step, inputs, response);
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn input_degree(&self) -> usize {
        MAX_DEGREE
    }
}

impl Trial for Thermostat {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.answer(step, inputs, response);
        Ok(())
    }
}

impl Linearize for Thermostat {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        into.g[0] = f64::from(u8::from(self.on));
        into.g[1] = if self.on { HEATING } else { IDLE };
        Ok(())
    }
}

/// Shows a text, and a temperature in whole degrees. It may keep its own pace.
pub struct Display {
    interface: Interface,
    imposed: Option<f64>,
}

impl Display {
    pub fn new(imposed: Option<f64>) -> Self {
        let inputs = vec![
            input("text", 0.0, SignalKind::Text),
            input("sample", 20.0, SignalKind::Discrete),
        ];
        let outputs = vec![
            output("text", &[0], SignalKind::Text),
            output("degrees", &[1], SignalKind::Discrete),
        ];
        Self {
            interface: Interface {
                name: "display".into(),
                inputs: inputs.into(),
                outputs: outputs.into(),
                states: vec![].into(),
            },
            imposed,
        }
    }
}

impl System for Display {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        response.outputs[0] = Knot::value_only(inputs[0].value(0.0));
        response.outputs[1] = Knot::value_only(inputs[1].value(0.0).floor());
        (response.reached, response.next_event) = (step.end, f64::INFINITY);
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn step_rule(&self) -> StepRule {
        self.imposed.map_or(StepRule::Free, StepRule::Imposed)
    }
}

impl Trial for Display {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.advance(step, inputs, response)
    }
}

impl Linearize for Display {
    fn linearize_into(&mut self, _into: &mut Linearization) -> Result<(), Error> {
        Ok(())
    }
}

/// Equations as a system.
pub fn native(
    name: &str,
    states: &[(&str, f64)],
    inputs: &[(&str, f64)],
    equations: &str,
    output: (&str, &str),
) -> NativeSystem {
    let source = dovetail_equations::Source {
        inputs: inputs.iter().map(|(name, _)| *name).collect(),
        parameters: vec![],
        states: states.iter().map(|(name, _)| *name).collect(),
        equations,
        outputs: vec![output],
        ..Default::default()
    };
    let starts = |all: &[(&str, f64)]| all.iter().map(|(_, start)| *start).collect::<Vec<_>>();
    let model = Model::parse(&source).unwrap();
    NativeSystem::new(&Definition::new(
        name,
        model,
        vec![],
        starts(states),
        starts(inputs),
    ))
}

/// A room that loses heat, from 20 degrees: towards 30 with the heating on, towards 10 without.
pub fn room() -> NativeSystem {
    let equations = "der(T) = 2 * on - 0.1 * (T - 10)";
    native(
        "room",
        &[("T", 20.0)],
        &[("on", 1.0)],
        equations,
        ("temperature", "T"),
    )
}

/// A ball above the floor under a force. When it bounces depends on the force, so that nobody can
/// know it in advance: its trials stop there. Polynomial forces are integrated exactly.
#[derive(Clone)]
pub struct Ball {
    interface: Interface,
    restitution: f64,
    motion: Motion,
    force: f64,
}

#[derive(Clone, Copy)]
struct Motion {
    x: f64,
    v: f64,
    /// It touches the floor and has yet to bounce.
    pending: bool,
    /// It has come to rest.
    resting: bool,
}

impl Ball {
    pub fn new(restitution: f64) -> Self {
        let outputs = vec![
            output("x", &[], SignalKind::Continuous),
            output("v", &[], SignalKind::Continuous),
        ];
        let inputs = vec![input("force", 0.0, SignalKind::Continuous)];
        let interface = Interface {
            name: "ball".into(),
            inputs: inputs.into(),
            outputs: outputs.into(),
            states: vec!["x".into(), "v".into()].into(),
        };
        Self {
            interface,
            restitution,
            motion: Motion {
                x: 1.0,
                v: 0.0,
                pending: false,
                resting: false,
            },
            force: 0.0,
        }
    }

    /// `elapsed` later, but for the floor.
    fn fly(from: Motion, begun: f64, elapsed: f64, force: &Signal) -> Motion {
        if from.resting {
            return from;
        }
        let (mut x, mut v) = (
            from.x + from.v * elapsed - elapsed * elapsed / 2.0,
            from.v - elapsed,
        );
        for (p, c) in force.shifted(begun).coefficients().iter().enumerate() {
            let p = p as f64;
            v += c * elapsed.powf(p + 1.0) / (p + 1.0);
            x += c * elapsed.powf(p + 2.0) / ((p + 1.0) * (p + 2.0));
        }
        Motion { x, v, ..from }
    }

    fn bounce(&self, motion: &mut Motion) {
        *motion = Motion {
            x: 0.0,
            v: -self.restitution * motion.v,
            pending: false,
            resting: motion.v > -1e-6,
        };
        if motion.resting {
            motion.v = 0.0;
        }
    }

    /// From `begun` to the floor or to the end of the step: where that is.
    fn fall(motion: &mut Motion, begun: f64, size: f64, force: &Signal) -> f64 {
        let (from, rest) = (*motion, size - begun);
        let below = |part: f64| Self::fly(from, begun, part * rest, force).x < 0.0;
        let found = (1..=64)
            .map(|n| f64::from(n) / 64.0)
            .find(|&part| below(part));
        let mut elapsed = 1.0;
        if let Some(late) = found {
            let (mut early, mut late) = (late - 1.0 / 64.0, late);
            while late - early > 1e-15 {
                let middle = (early + late) / 2.0;
                *(if below(middle) { &mut late } else { &mut early }) = middle;
            }
            elapsed = late;
        }
        *motion = Self::fly(from, begun, elapsed * rest, force);
        motion.pending = found.is_some();
        begun + elapsed * rest
    }

    fn go(
        &self,
        step: MacroStep,
        inputs: &[Signal],
        for_good: bool,
        response: &mut Response,
    ) -> Motion {
        let (mut motion, mut elapsed) = (self.motion, 0.0);
        loop {
            if motion.pending {
                self.bounce(&mut motion);
            }
            if !step.is_instant() {
                elapsed = Self::fall(&mut motion, elapsed, step.size(), &inputs[0]);
            }
            let rest = step.size() - elapsed;
            if !motion.pending || !for_good || rest <= 1e-15 * step.size() {
                response.reached = if rest <= 1e-15 * step.size() {
                    step.end
                } else {
                    step.start + elapsed
                };
                break;
            }
        }
        response.next_event = if motion.pending {
            response.reached
        } else {
            f64::INFINITY
        };
        let force = inputs[0].value(elapsed);
        let rate = if motion.resting { 0.0 } else { force - 1.0 };
        response.outputs[0] = Knot {
            value: motion.x,
            slope: motion.v,
            curvature: f64::NAN,
        };
        response.outputs[1] = Knot {
            value: motion.v,
            slope: rate,
            curvature: f64::NAN,
        };
        response.states.copy_from_slice(&[motion.x, motion.v]);
        motion
    }
}

impl System for Ball {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.motion = self.go(step, inputs, true, response);
        self.force = inputs[0].value(step.size());
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn input_degree(&self) -> usize {
        MAX_DEGREE
    }

    fn output_derivatives(&self) -> usize {
        1
    }
}

impl Trial for Ball {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.go(step, inputs, false, response);
        Ok(())
    }
}

impl Linearize for Ball {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let Motion { x, v, resting, .. } = self.motion;
        let flies = if resting { 0.0 } else { 1.0 };
        (into.a[(0, 1)], into.b[(1, 0)]) = (flies, flies);
        (into.c[(0, 0)], into.c[(1, 1)]) = (1.0, 1.0);
        (into.x[0], into.x[1], into.f[0], into.f[1]) = (x, v, v, flies * (self.force - 1.0));
        into.u[0] = self.force;
        (into.g[0], into.g[1]) = (x, v);
        Ok(())
    }
}

/// A run that is to be made: systems, and for each input what feeds it.
pub struct Coupled {
    pub systems: Vec<Box<dyn System>>,
    pub sources: Vec<Source>,
}

/// How a run ended and what the method says of it.
pub struct Done {
    pub statistics: Statistics,
    pub warnings: Vec<Notice>,
}

/// Runs it to `stop`.
pub fn run(
    model: Coupled,
    method: &str,
    (stop, step): (f64, f64),
    observer: &mut dyn Observer,
) -> Done {
    let mut systems = model.systems;
    if method == "estimated" {
        let wrap = |system| -> Box<dyn System> {
            let wrapped = Costarica::new(system, EstimatorOptions::default());
            Box::new(wrapped.unwrap_or_else(|_| panic!("it can be linearized")))
        };
        systems = systems.into_iter().map(wrap).collect();
    }
    let mut workers = SingleThread::new(systems);
    let connections = Connections::new(workers.interfaces().to_vec(), model.sources);
    let capabilities = workers.capabilities().to_vec();
    let mut method = make(method, &connections, (stop, step), &capabilities);
    let start = initialize(&connections, &mut workers, 0.0, method.derivatives()).unwrap();
    let never = AtomicBool::new(false);
    let mut observers = [observer];
    let mut state = RunState::new(&connections, method.as_ref());
    let mut orchestrator = Orchestrator::new(
        &connections,
        method.as_mut(),
        &mut workers,
        &mut observers,
        &never,
        &mut state,
    );
    let ending = orchestrator
        .run(start, stop)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ending, Ending::Finished);
    let statistics = state.statistics();
    Done {
        statistics,
        warnings: method.warnings(),
    }
}

fn make<'a>(
    name: &str,
    connections: &'a Connections,
    (stop, step): (f64, f64),
    capabilities: &[Capabilities],
) -> Box<dyn Method + 'a> {
    let grid = Grid::new(0.0, stop, step);
    let missiles = |tolerance| {
        let options = MissilesOptions {
            estimator: EstimatorOptions::default(),
            tolerance,
            bounds: StepBounds::default(),
        };
        Missiles::new(connections, grid, options, capabilities)
    };
    match name {
        "jacobi" => Box::new(Jacobi::new(connections, grid)),
        "gauss-seidel" => Box::new(GaussSeidel::new(connections, grid)),
        "f3ornits" => {
            let options = F3ornitsOptions {
                max_step: 2.0 * step,
                ..F3ornitsOptions::new(stop, 1e-5)
            };
            Box::new(F3ornits::new(
                connections,
                (0.0, stop),
                options,
                capabilities,
            ))
        }
        "smooth f3ornits" => {
            let options = F3ornitsOptions {
                max_step: 2.0 * step,
                smooth: true,
                ..F3ornitsOptions::new(stop, 1e-5)
            };
            Box::new(F3ornits::new(
                connections,
                (0.0, stop),
                options,
                capabilities,
            ))
        }
        "missiles" => Box::new(missiles(None)),
        "adaptive" => Box::new(missiles(Some(1e-7))),
        "predictive" => Box::new(Predictive::new(
            connections,
            grid,
            PredictiveOptions::default(),
            capabilities,
        )),
        "adaptive predictive" => {
            let options = PredictiveOptions {
                tolerance: Some(1e-7),
                ..PredictiveOptions::default()
            };
            Box::new(Predictive::new(connections, grid, options, capabilities))
        }
        _ => {
            let size = Ifosmondi::unknowns(connections);
            let options = IfosmondiOptions {
                tolerance: 1e-11,
                extrapolate: true,
                criterion: Criterion::Range,
                chosen: None,
            };
            let solver = QuasiNewton::new(size, QuasiNewtonOptions::default());
            Box::new(Ifosmondi::new(
                connections,
                grid,
                options,
                Box::new(solver),
                capabilities,
            ))
        }
    }
}
