//! F3ORNITS: inputs from the past of the outputs that feed them, with the order, the step and the
//! pace that each system permits.
//!
//! Needs: nothing. Systems may impose their steps, take inputs of any degree, be unable to roll
//! back or to be linearized. Reference: Éguillon, Lacabanne, Tromeur-Dervout (2021), cited as
//! "(n)". Departures: (18) and (20) disagree by one point; (20) holds. (33) means the magnitude.
//! The scheduler, a black box in the paper, is in `scheduler.rs`. At an event a system begins
//! afresh, and its readers do not smooth across it. Growth counts from the step that was asked for.
//! What jumps from value to value is held; when it changes, the systems that read it begin afresh.
//! [`StepControl::Averaged`], degrees up to 3 and faster growth are beyond the paper.

mod calibration;
mod checkpoint;
mod cycle;
mod events;
mod inputs;
mod jump;
pub(crate) mod kind;
mod order;
mod report;
mod scheduler;
mod stepper;
mod system_state;
mod turns;

use std::iter::zip;

use dovetail_core::{
    Capabilities, Checkpoint, Connections, Error, Exchange, MacroStep, Method, Notice, Outcome,
    Past, StepRule, Task, Workers,
};

use crate::chatter::Chatter;
use crate::coupling::{coupled_outputs, held_outputs};
use crate::divergence::Divergence;
use crate::due_tasks::{due, due_mut};
use crate::initialization::algebraic_loops;
use crate::near_side::NearSide;
use crate::notices::notices;
use cycle::Cycle;
use inputs::InputPolynomials;
use jump::Jumps;
use scheduler::{Scheduler, Standing};
use system_state::{Role, SystemState};
use turns::Turns;

pub use calibration::Calibration;
pub use stepper::Scale;

/// The method's name, as users write it.
const NAME: &str = "f3ornits";
/// The highest degree of estimates that can be asked for.
pub const HIGHEST_DEGREE: usize = calibration::HIGHEST;

/// A system that takes constants only makes steps so many times shorter than its estimates allow:
/// what it holds is off by more than they are.
const SHORTENING: f64 = 2.0;

/// How orders and steps are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepControl {
    /// By the newest error alone, as in the paper.
    Plain,
    /// Orders by averaged errors, steps by the two newest (a proportional-integral controller).
    #[default]
    Averaged,
}

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct F3ornitsOptions {
    /// How estimates are made from points.
    pub calibration: Calibration,
    /// Whether inputs are made continuously differentiable.
    pub smooth: bool,
    /// What errors are measured by.
    pub scale: Scale,
    /// `ν`, how fast a damped amplitude forgets, per unit of time.
    pub damping: f64,
    /// `M`, the highest degree of estimates, [`HIGHEST_DEGREE`] at most.
    pub max_degree: usize,
    /// The error that is aimed at, relative to the scale.
    pub tolerance: f64,
    /// The same, absolute.
    pub absolute_tolerance: f64,
    /// The first step, and the first after an event.
    pub first_step: f64,
    /// The shortest step that is asked for.
    pub min_step: f64,
    /// The longest step.
    pub max_step: f64,
    /// A step may be so many times longer than the one before it.
    pub max_growth: f64,
    /// How orders and steps are chosen.
    pub steering: StepControl,
    /// Whether systems that answer at once to what they are fed go after those that feed them, and
    /// agree where they answer one another.
    pub in_turn: bool,
}

/// The longest step, as a fraction of the run: one at rest still looks around so often.
const MAX_STEP: f64 = 0.02;
/// The same for systems that cannot roll back.
const LONGEST_UNSEEN: f64 = 1e-3;

impl F3ornitsOptions {
    /// The tolerance, where none is given.
    pub const TOLERANCE: f64 = 1e-4;

    /// The default, for a run of length `span`: about half the steps of the paper's choice for the
    /// same error.
    pub fn new(span: f64, tolerance: f64) -> Self {
        // A run begins with held values, whose error grows with the square of the step; and nobody
        // knows yet what is fast in the systems.
        let first_step = 1e-4 * tolerance.min(1.0).sqrt() * span;
        Self {
            calibration: Calibration::default(),
            smooth: false,
            scale: Scale::default(),
            damping: 0.05,
            max_degree: 3,
            tolerance,
            absolute_tolerance: 0.0,
            first_step,
            min_step: 10.0 * first_step,
            max_step: MAX_STEP * span,
            max_growth: 1.5,
            steering: StepControl::Averaged,
            in_turn: true,
        }
    }

    /// For systems that cannot roll back: nobody looks at a step before it is taken, and what jumps
    /// in it is noticed at its end.
    pub fn unseen(self, span: f64) -> Self {
        Self {
            max_step: self.max_step.min(LONGEST_UNSEEN * span),
            ..self
        }
    }

    /// The paper's choice of what it leaves free.
    pub fn of_paper(span: f64, tolerance: f64) -> Self {
        let first_step = 0.01 * tolerance.min(1.0).sqrt() * span;
        Self {
            first_step,
            min_step: 0.1 * first_step,
            max_degree: 2,
            max_growth: 1.05,
            steering: StepControl::Plain,
            in_turn: false,
            absolute_tolerance: 1e-6,
            ..Self::new(span, tolerance)
        }
    }
}

/// The method, with its buffers.
pub struct F3ornits<'a> {
    connections: &'a Connections,
    options: F3ornitsOptions,
    capabilities: Vec<Capabilities>,
    /// Whether steps are tried before they are taken.
    tries: bool,
    times: (f64, f64),
    /// The length of the run that sizes are parts of.
    span: f64,
    scheduler: Scheduler,
    turns: Turns,
    cycles: Vec<Cycle>,
    /// Systems around algebraic loops that are passed on late.
    late: Vec<Vec<usize>>,
    states: Vec<SystemState>,
    inputs: InputPolynomials<'a>,
    tasks: Vec<Task>,
    /// What is planned for each system.
    steps: Vec<Option<MacroStep>>,
    standings: Vec<Standing>,
    chatter: Chatter,
    /// The shortest steps as they were chosen: none is shorter than what chatter is kept for.
    shortest: [f64; 2],
    /// For each system the event it has just come to, if any.
    events: Vec<Option<f64>>,
    /// The outputs (stacked) just before an event.
    before_event: Vec<f64>,
    /// Whether outputs depend on themselves at once.
    loops: bool,
    jumps: Jumps,
    divergence: Divergence,
    signals: Vec<f64>,
    near_side: NearSide,
}

impl<'a> F3ornits<'a> {
    /// The method for a run from `start` to `stop`.
    pub fn new(
        connections: &'a Connections,
        (start, stop): (f64, f64),
        options: F3ornitsOptions,
        capabilities: &[Capabilities],
    ) -> Self {
        let rules: Vec<StepRule> = capabilities.iter().map(|c| c.step_rule).collect();
        let systems = connections.systems();
        let states = states_of(connections, &options, capabilities);
        let options = F3ornitsOptions {
            in_turn: options.in_turn && options.max_degree > 0,
            ..options
        };
        let mut turns = if options.in_turn {
            Turns::by_feedthrough(connections)
        } else {
            Turns::together(connections)
        };
        let cycles = cycles_of(connections, &turns, capabilities);
        let late = unroll_unsolved(connections, &mut turns, &cycles);
        let mut method = Self {
            connections,
            options,
            capabilities: capabilities.to_vec(),
            tries: false,
            times: (start, stop),
            span: stop - start,
            scheduler: Scheduler::new(connections, &turns, &rules, (start, stop), options.max_step),
            turns,
            late,
            cycles,
            states,
            inputs: InputPolynomials::new(connections, options.smooth, capabilities),
            tasks: connections.tasks(0),
            steps: vec![None; systems],
            standings: vec![Standing::at(start); systems],
            chatter: Chatter::default(),
            shortest: [options.first_step, options.min_step],
            events: vec![None; systems],
            before_event: vec![0.0; connections.outputs()],
            loops: !algebraic_loops(connections).is_empty(),
            jumps: Jumps::new(),
            divergence: Divergence::new(connections),
            signals: vec![0.0; 2 * systems],
            near_side: NearSide::of(&connections.tasks(0)),
        };
        method.tries = method.locates();

        method
    }

    /// Sizes are parts of a run of this length, though it may go on beyond it.
    pub fn meant_for(self, span: f64) -> Self {
        Self { span, ..self }
    }

    /// Whether a step can be tried before it is taken, to find where an output jumps. A system that
    /// answers at once under reduced inputs would mislead: [`Self::ask_again`] is for steps that
    /// were taken.
    fn locates(&self) -> bool {
        let highest = if self.options.smooth {
            inputs::CUBIC
        } else {
            self.options.max_degree
        };
        let honest = |k: usize| {
            let mut outputs = self.connections.interfaces()[k].outputs.iter();
            self.capabilities[k].input_degree >= highest
                || outputs.all(|output| output.depends_on.is_empty())
        };
        let tries = |k: usize| {
            self.capabilities[k].trial && self.capabilities[k].step_rule == StepRule::Free
        };

        (0..self.states.len()).all(|k| tries(k) && honest(k))
    }

    /// New estimates of those that have communicated.
    fn estimate(&mut self, past: &Past) {
        for (k, state) in self
            .states
            .iter_mut()
            .enumerate()
            .filter(|(_, state)| state.moved)
        {
            if state.estimates[0].made == f64::NEG_INFINITY {
                state.begin(past, k, &self.connections.interfaces()[k]);
            }
            state.estimate(past, k, &self.options);
        }
    }

    /// Plans who goes how far; false when nobody can go on.
    fn plan(&mut self, past: &Past) -> bool {
        for (k, standing) in self.standings.iter_mut().enumerate() {
            let state = &self.states[k];
            *standing = Standing {
                reached: past.reached_by(k),
                wish: state.proposal,
                pace: state.pace,
                jumps: state.jumps > 0,
                shortening: state.shortening,
                next_event: past.next_event_of(k).min(past.limit()),
                last_event: state.last_event,
            };
        }

        let now = self
            .standings
            .iter()
            .map(|standing| standing.reached)
            .fold(f64::INFINITY, f64::min);
        for (standing, state) in self
            .standings
            .iter_mut()
            .zip(&self.states)
            .filter(|(standing, _)| standing.reached > now)
        {
            standing.pace = state.last_pace;
        }

        self.scheduler.set_limit(past.limit());
        let goes_on = self.scheduler.plan(&self.standings, &mut self.steps);
        self.restore_steps();
        goes_on
    }

    /// Those who are about to go have not passed anything yet, whatever they did when it was tried.
    fn begin_attempt(&mut self) {
        for (state, step) in zip(&mut self.states, &self.steps) {
            if step.is_some() {
                state.passed.made = f64::NEG_INFINITY;
            }
        }
    }

    /// Whose turn it is goes: theirs are the tasks that are due. False if there are none.
    fn call(&mut self, turn: usize) -> bool {
        for (task, step) in self.tasks.iter_mut().zip(&self.steps) {
            task.due = step.is_some() && self.turns.is_up(task.system, turn);
        }
        self.tasks.iter().any(|task| task.due)
    }

    fn place(&mut self) {
        for task in due_mut(&mut self.tasks) {
            self.inputs.place(task, &self.states);
        }
    }

    /// Systems move to the ends of their steps, one turn after the other.
    fn advance(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<(), Error> {
        self.begin_attempt();
        for turn in self.turns.all() {
            if !self.call(turn) {
                continue;
            }
            self.place();
            workers.advance(&mut self.tasks)?;
            due(&self.tasks).for_each(|task| self.inputs.complete_step(task));
            let asked = self.ask_again(workers)? | self.agree(turn, workers)?;
            self.call(turn);
            if asked {
                due_mut(&mut self.tasks).for_each(|task| self.inputs.place_again(task));
            }
            self.pass(past);
        }

        self.restore_steps();
        Ok(())
    }

    /// What those that are due have gone through, for those whose turn comes later.
    fn pass(&mut self, past: &Past) {
        if self.options.in_turn {
            for task in due(&self.tasks) {
                self.states[task.system].pass(past, task, &self.options);
            }
        }
    }

    /// Systems of this turn that answer at once to one another agree on what they answer; true if
    /// there were any.
    fn agree(&mut self, turn: usize, workers: &mut dyn Workers) -> Result<bool, Error> {
        let mut any = false;
        let Self {
            connections,
            options,
            states,
            inputs,
            tasks,
            turns,
            steps,
            ..
        } = self;

        for cycle in self
            .cycles
            .iter_mut()
            .filter(|cycle| turns.is_up(cycle.systems[0], turn))
        {
            let reached = tasks[cycle.systems[0]].response.reached;
            // A question would take one that is about to switch across.
            let stands = |&k: &usize| {
                let response = &tasks[k].response;
                steps[k].is_some() && response.reached == reached && response.next_event > reached
            };
            if cycle.systems.iter().all(stands) {
                let tolerance = |output: usize, value: f64| {
                    let system = connections.owner(output);
                    let position = output - connections.outputs_of(system).start;
                    states[system].tolerance(position, value, options)
                };
                cycle.agree(connections, inputs, tasks, workers, tolerance)?;
                cycle
                    .systems
                    .iter()
                    .for_each(|&k| tasks[k].step = steps[k].unwrap_or(tasks[k].step));
                any = true;
            }
        }
        Ok(any)
    }

    /// The tasks are those that were planned: again, after questions of another kind.
    fn restore_steps(&mut self) {
        for (task, step) in zip(&mut self.tasks, &self.steps) {
            set_planned(task, *step);
        }
    }

    /// A system that had to be given reduced inputs answers under those. What depends on its inputs
    /// at once is asked for again under what they really are at the end of the step; true if there
    /// was one.
    fn ask_again(&mut self, workers: &mut dyn Workers) -> Result<bool, Error> {
        let mut any = false;
        for task in due_mut(&mut self.tasks) {
            task.due = self.inputs.misleads(task);
            if task.due {
                task.step = MacroStep::instant(task.response.reached);
                self.inputs.place_present(task);
                any = true;
            }
        }

        if any {
            workers.advance(&mut self.tasks)?;
        }

        self.tasks
            .iter_mut()
            .zip(&self.steps)
            .for_each(|(task, step)| task.step = step.unwrap_or(task.step));
        Ok(any)
    }

    /// Orders and steps for what comes next.
    fn learn(&mut self, past: &Past) {
        for task in due(&self.tasks) {
            let k = task.system;
            let state = &mut self.states[task.system];
            self.signals[2 * k] = state.degree() as f64;
            self.signals[2 * k + 1] = task.step.size();
            state.learn(past, task, &self.options);
        }
    }
}

/// What is remembered of each system, none of which has begun.
fn states_of(
    connections: &Connections,
    options: &F3ornitsOptions,
    capabilities: &[Capabilities],
) -> Vec<SystemState> {
    let followed = coupled_outputs(connections);
    let held = held_outputs(connections);
    let role = |output: usize| {
        if followed.binary_search(&output).is_ok() {
            Role::Followed
        } else if held.binary_search(&output).is_ok() {
            Role::Held
        } else {
            Role::Idle
        }
    };
    let state = |k: usize| {
        let shortening = if holds(connections, &capabilities[k], k) {
            SHORTENING
        } else {
            1.0
        };
        let roles = connections.outputs_of(k).map(role);
        SystemState::new(roles, options.first_step / shortening, shortening)
    };

    (0..connections.systems()).map(state).collect()
}

/// The cycles of systems that depend on one another at once and can all be asked about the present.
fn set_planned(task: &mut Task, step: Option<MacroStep>) {
    task.due = step.is_some();
    task.step = step.unwrap_or(task.step);
}

fn cycles_of(
    connections: &Connections,
    turns: &Turns,
    capabilities: &[Capabilities],
) -> Vec<Cycle> {
    let responds =
        |systems: &Vec<usize>| systems.iter().all(|&k| capabilities[k].presence.responds);
    let able = turns.cycles().filter(responds);
    able.filter_map(|systems| Cycle::new(connections, systems))
        .collect()
}

/// Systems of cycles that nobody solves go one after the other; those of them that have an
/// algebraic loop, which is then passed on late.
fn unroll_unsolved(
    connections: &Connections,
    turns: &mut Turns,
    cycles: &[Cycle],
) -> Vec<Vec<usize>> {
    let loops = algebraic_loops(connections);
    let solved = |systems: &Vec<usize>| cycles.iter().any(|cycle| cycle.systems == *systems);
    let has_loop = |systems: &Vec<usize>| {
        let mut owners = loops.iter().map(|members| connections.owner(members[0]));
        owners.any(|owner| systems.contains(&owner))
    };
    let unsolved: Vec<Vec<usize>> = turns.cycles().filter(|systems| !solved(systems)).collect();

    for systems in &unsolved {
        turns.unroll(systems);
    }
    unsolved.into_iter().filter(has_loop).collect()
}

/// Whether `system` holds inputs over its steps that change within them, and has a course that
/// depends on it. One that can be asked about the present and has no states has none.
fn holds(connections: &Connections, capabilities: &Capabilities, system: usize) -> bool {
    let held = connections
        .inputs_of(system)
        .all(|input| connections.is_held(input));
    let is_static =
        capabilities.presence.responds && connections.interfaces()[system].states.is_empty();
    capabilities.input_degree == 0
        && capabilities.step_rule == StepRule::Free
        && !held
        && !is_static
}

impl Method for F3ornits<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error> {
        let dwell = self.chatter.dwell(self.span);
        let [first, least] = self.shortest.map(|chosen| chosen.max(dwell));
        (self.options.first_step, self.options.min_step) = (first, least);
        self.estimate(past);
        if !self.plan(past) {
            return Ok(Outcome::Finished);
        }

        let located = self.tries && self.locate_jump(past, workers)?;
        self.advance(past, workers)?;
        self.learn(past);
        self.near_side.clear(&self.tasks, past.next_event());
        self.cross_events(past, located, workers)?;
        self.divergence.watch(NAME, self.connections, &self.tasks)?;

        Ok(Outcome::Accepted(Exchange {
            tasks: &self.tasks,
            before: self.near_side.tasks(),
            iterations: 0,
            signals: &self.signals,
        }))
    }

    fn signals(&self) -> Vec<String> {
        let interfaces = self.connections.interfaces().iter();
        interfaces
            .flat_map(|i| [i.qualified("$order"), i.qualified("$step")])
            .collect()
    }

    fn warnings(&self) -> Vec<Notice> {
        let systems = (0..self.states.len()).flat_map(|k| self.warnings_of(k));
        let all = systems
            .chain(self.warnings_of_cycles())
            .chain(self.jumps.warnings(self.connections))
            .chain(self.chatter.warning());
        notices(all)
    }

    fn remarks(&self) -> Vec<String> {
        [
            vec![self.options.setting()],
            self.jumps.remarks(self.connections),
        ]
        .concat()
    }
}
