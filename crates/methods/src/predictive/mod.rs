//! The engine's own method: MISSILES without its limits.
//!
//! Needs: that every system can be linearized; for quintic inputs also that outputs know their
//! curvatures. Rollback is used where it is there. One linear system a step predicts the interface
//! at its end, and every system is integrated once under inputs that arrive there. Beside MISSILES,
//! from the inside out:
//!
//! - a *consistent restart* (`restart`): the interface at the start of a step is that of the states
//!   as integrated, not of the prediction before, also right after an event;
//! - *feedback* (`memory`): what the linear operators missed in the last steps is continued into
//!   the next;
//! - *quintic inputs*, where curvatures are known;
//! - *a look ahead* (`look_ahead`): f and g at the predicted end tell whether the step is too long
//!   before it is integrated;
//! - *systems without states* (`static_part`) tell how they end the step before it is integrated;
//! - *corrections* (`integration`) of poor predictions, where all systems can roll back;
//! - *error vectors* (`local_error`) of each step, from which steps are chosen (`controller`), and
//!   an estimate of the error of the whole run (`global_error`).

mod advice;
mod assembled;
mod checkpoint;
mod completion;
mod consistency;
mod controller;
mod coupled_blocks;
mod coupled_change;
mod coupled_exponential;
mod coupled_operator;
mod delayed_errors;
mod event_error;
mod global_error;
mod integration;
pub(crate) mod kind;
mod local_error;
mod look_ahead;
mod memory;
mod options;
mod prediction;
mod report;
mod restart;
mod run_state;
mod static_part;
mod tuning;
mod unseen_events;

use dovetail_core::{
    Advice, Capabilities, Checkpoint, Connections, Error, Exchange, Grid, MacroStep, Method,
    MethodQuality, Notice, Outcome, Past, StepRule, Task, Workers,
};
use serde::{Deserialize, Serialize};

use crate::costarica::{Control, EstimatorOptions};
use crate::coupling::{Coupling, CouplingVariable};
use crate::events::meeting_event;
use crate::interface_system::steps::Steps;
use crate::interface_system::{InterfaceSystem, JUMP, MOST_ORDERS, OperatorScope};
use crate::interface_vector::InterfaceVector;
use crate::predictions::Predictions;
use crate::ranges::Ranges;
use crate::rates::Rates;
use crate::state_counts::total_states;
use crate::time_scale::time_scale;
use controller::Controller;
use event_error::EventError;
use global_error::GlobalError;
use local_error::LocalError;
use look_ahead::LookAhead;
use memory::MissMemory;
pub use options::{Inputs, PredictiveOptions, Relinearize};
use restart::Restart;
use run_state::{ErrorKnowledge, RunCounts, StepState};
use static_part::StaticPart;
use tuning::{HALF, LEAST_OF_GRID};
use unseen_events::UnseenEvents;

/// Signals of every step: what the prediction missed, its size, and the degree of its inputs.
const OWN_SIGNALS: usize = 3;

/// The method's name, as users write it.
const NAME: &str = "predictive";

/// The method, with its buffers.
pub struct Predictive<'a> {
    connections: &'a Connections,
    options: PredictiveOptions,
    coupling: Coupling<'a>,
    interface_system: InterfaceSystem,
    restart: Restart,
    memory: MissMemory,
    look_ahead: LookAhead,
    static_part: StaticPart,
    errors: ErrorEstimates,
    scales: Scales,
    steps: Steps<Controller>,
    abilities: SystemAbilities,
    /// Whether the start of the run has been looked at.
    begun: bool,
    ends: Ends,
    predictions: Predictions,
    step_state: StepState,
    counts: RunCounts,
    /// Another method that should be used.
    advice: Option<Advice>,
    signals: Vec<f64>,
    /// The outputs whose errors are reported.
    estimated_outputs: Vec<(usize, usize)>,
    /// Scratch for questions about the present.
    present: Vec<Task>,
}

/// What is known of errors: of a step, and of the whole run.
struct ErrorEstimates {
    local: LocalError,
    global: GlobalError,
    knowledge: ErrorKnowledge,
    /// Of the event that is being crossed.
    event: EventError,
    unseen: UnseenEvents,
}

/// What errors and moves are measured by.
#[derive(Serialize, Deserialize)]
struct Scales {
    /// Ranges of coupling variables and of states.
    outputs: Ranges,
    states: Ranges,
    /// How fast systems are.
    rates: Rates,
    from_rest: FromRest,
}

/// What the systems permit.
#[derive(Clone, Copy)]
struct SystemAbilities {
    /// Steps can be tried before they are taken.
    revocable: bool,
    /// Steps can be of any size.
    free: bool,
    /// Curvatures are known, and inputs of degree five are taken.
    quintics: bool,
    /// All answer questions about the present.
    responds: bool,
}

/// The interface at the end of the step: values, slopes and curvatures of all coupling variables.
#[derive(Serialize, Deserialize)]
struct Ends {
    /// As predicted, and then corrected.
    solution: InterfaceVector,
    /// The same before the last correction.
    uncorrected: InterfaceVector,
    /// As integrated.
    integrated: InterfaceVector,
    /// What is expected to come out differently than the linear operators say, and what did.
    expected: InterfaceVector,
    difference: InterfaceVector,
    /// Impulses that are returned with this step, part of what is expected.
    returned: InterfaceVector,
    /// Integrated minus predicted.
    missed: InterfaceVector,
    /// Scratch.
    right: InterfaceVector,
}

/// Scratch for what will become of states, system by system, and of outputs that are zero.
#[derive(Default, Serialize, Deserialize)]
struct FromRest {
    states: Vec<Vec<f64>>,
    outputs: Vec<f64>,
}

impl SystemAbilities {
    fn of(capabilities: &[Capabilities], quintics: bool) -> Self {
        let all = |has: fn(&Capabilities) -> bool| capabilities.iter().all(has);
        Self {
            revocable: all(|c| c.trial),
            free: all(|c| c.step_rule == StepRule::Free),
            quintics,
            responds: all(|c| c.presence.responds),
        }
    }
}

impl Ends {
    /// For so many coupling variables.
    fn new(variables: usize) -> Self {
        let zeros = || InterfaceVector::zeros(MOST_ORDERS, variables);
        Self {
            solution: zeros(),
            uncorrected: zeros(),
            integrated: zeros(),
            expected: zeros(),
            difference: zeros(),
            returned: zeros(),
            missed: zeros(),
            right: zeros(),
        }
    }

    /// A correction follows.
    fn keep_uncorrected(&mut self, unknowns: usize) {
        self.uncorrected[..unknowns].copy_from_slice(&self.solution[..unknowns]);
    }

    /// As before the correction.
    fn restore_uncorrected(&mut self, unknowns: usize) {
        self.solution[..unknowns].copy_from_slice(&self.uncorrected[..unknowns]);
    }
}

impl FromRest {
    fn new(connections: &Connections, variables: usize) -> Self {
        let interfaces = connections.interfaces().iter();
        let states = interfaces.map(|interface| vec![0.0; interface.states.len()]);

        Self {
            states: states.collect(),
            outputs: vec![0.0; variables],
        }
    }
}

/// The linear system of the interface, with operators for what disturbs inputs too.
fn solver_of(
    coupling: &Coupling<'_>,
    options: &PredictiveOptions,
    capabilities: &[Capabilities],
    quintics: bool,
) -> InterfaceSystem {
    let scope = OperatorScope {
        degree: if quintics { 6 } else { 4 },
        states: true,
        quintics,
        keeps: options.relinearize != Relinearize::Always,
    };
    let estimator = EstimatorOptions {
        control: Control::Tangent,
        ..EstimatorOptions::default()
    };
    let connections = coupling.connections;

    InterfaceSystem::new(connections, coupling, capabilities, estimator, scope)
}

impl<'a> Predictive<'a> {
    /// The method with steps on `grid`, or within its span where they are chosen.
    pub fn new(
        connections: &'a Connections,
        grid: Grid,
        options: PredictiveOptions,
        capabilities: &[Capabilities],
    ) -> Self {
        let mut coupling = Coupling::new(connections, JUMP, capabilities, grid.size());
        coupling.allow_averages();
        let quintics = options.inputs != Inputs::Cubic && allows_quintics(&coupling, capabilities);

        if quintics {
            coupling = coupling.with_curvatures();
        }

        let interface_system = solver_of(&coupling, &options, capabilities, quintics);
        let count = coupling.variables.len();
        let states = total_states(connections);
        let estimated_outputs = report::estimated_outputs(connections);
        let steps = Steps::new(grid, options.tolerance, |tolerance| {
            Controller::new(grid, tolerance, options.bounds)
        });

        Self {
            connections,
            options,
            restart: Restart::new(&coupling, &interface_system, quintics),
            memory: MissMemory::new(count, options.tolerance.is_none()),
            look_ahead: LookAhead::new(connections, count),
            static_part: StaticPart::new(connections, &coupling, capabilities),
            errors: ErrorEstimates {
                local: LocalError::new(&coupling, states),
                global: GlobalError::new(connections, &coupling, &interface_system),
                knowledge: ErrorKnowledge::of(connections),
                event: EventError::new(states),
                unseen: UnseenEvents::new(connections, capabilities),
            },
            scales: Scales {
                outputs: Ranges::of(&coupling),
                states: Ranges::new(states),
                rates: Rates::new(connections),
                from_rest: FromRest::new(connections, count),
            },
            steps,
            abilities: SystemAbilities::of(capabilities, quintics),
            begun: false,
            ends: Ends::new(count),
            predictions: Predictions::new(count),
            step_state: StepState::default(),
            counts: RunCounts::default(),
            advice: None,
            signals: vec![0.0; OWN_SIGNALS + states + estimated_outputs.len()],
            estimated_outputs,
            present: connections.tasks(if quintics { 2 } else { 1 }),
            coupling,
            interface_system,
        }
    }

    fn plan_step(&mut self, reached: f64, event: f64) -> MacroStep {
        let coupling = &self.coupling;
        let interface_system = &self.interface_system;
        let rates = &self.scales.rates;
        let moved = |state: usize| self.scales.states.moved(state);

        match &mut self.steps {
            Steps::Fixed(plan) => plan.step(reached, event),
            Steps::Adaptive(controller) => {
                let scale = || time_scale(coupling, interface_system, rates, moved);
                controller.step(reached, event, self.step_state.trust, scale)
            }
        }
    }

    /// Whether the step may still be cut.
    fn may_shrink(&self, step: MacroStep) -> bool {
        match &self.steps {
            _ if !self.abilities.free => false,
            Steps::Fixed(plan) => step.size() > plan.grid().size() / LEAST_OF_GRID,
            Steps::Adaptive(controller) => controller.may_refuse(step),
        }
    }

    /// The same where a system could not be integrated: fixed steps are then cut further than for
    /// their errors.
    fn halve_after_failure(&mut self, step: MacroStep) -> bool {
        match &mut self.steps {
            Steps::Fixed(plan) if self.abilities.free => plan.shorten(step),
            _ => self.halve(step),
        }
    }

    /// The next step is half of this one, if that is still allowed.
    fn halve(&mut self, step: MacroStep) -> bool {
        if !self.may_shrink(step) {
            return false;
        }
        match &mut self.steps {
            Steps::Fixed(plan) => plan.shorten(step),
            Steps::Adaptive(controller) => {
                controller.refuse(step, HALF);
                true
            }
        }
    }
}

/// Whether all coupled outputs know their curvatures and all that follow them take quintics.
fn allows_quintics(coupling: &Coupling<'_>, capabilities: &[Capabilities]) -> bool {
    let knows_curvature =
        |variable: &CouplingVariable| capabilities[variable.system].output_derivatives >= 2;
    let follows = |system: usize| {
        let mut inputs = coupling.connections.inputs_of(system);
        inputs.any(|input| coupling.feeders[input].is_some())
    };
    let takes_quintics = |system: usize| capabilities[system].input_degree >= 5 || !follows(system);

    coupling.variables.iter().all(knows_curvature) && (0..capabilities.len()).all(takes_quintics)
}

impl Method for Predictive<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let event = self
            .coupling
            .begin_attempt(past, meeting_event(past, workers));
        if !self.begun {
            self.begin(past, workers)?;
        }

        let step = self.plan_step(past.reached(), event);
        self.coupling.step = step;
        self.choose_degree(step);

        if let Err(reason) = self.predict(workers) {
            let shortened = self.halve(step);
            return reason.reject_or_fail(shortened, &self.coupling);
        }

        self.settle_static_part(workers);
        if !self.passes_lookahead(step, workers)? {
            self.counts.refused_before += 1;
            return Ok(Outcome::Rejected(step));
        }
        if !self.integrate(step, workers)? {
            return Ok(Outcome::Rejected(step));
        }

        self.complete_step(workers)?;
        let tasks = &self.coupling.tasks;
        let iterations = self.step_state.corrections;
        let before = self.coupling.near_side.tasks();

        Ok(Outcome::Accepted(Exchange {
            tasks,
            before,
            iterations,
            signals: &self.signals,
        }))
    }

    fn advice(&self) -> Option<Advice> {
        self.advice.clone()
    }

    fn derivatives(&self) -> usize {
        1
    }

    fn looks_back(&self) -> bool {
        false
    }

    fn signals(&self) -> Vec<String> {
        self.signal_names()
    }

    fn warnings(&self) -> Vec<Notice> {
        self.all_warnings()
    }

    fn remarks(&self) -> Vec<String> {
        self.all_remarks()
    }

    fn quality(&self) -> MethodQuality {
        self.known_quality()
    }
}
