//! Consistent start values, through the connections.
//!
//! Outputs that depend on inputs at once (feedthrough) form a graph. Its strongly connected
//! components are visited in dependency order: a single output is simply asked for; a loop is
//! solved by Newton's method on its outputs alone, with the systems' exact feedthrough where they
//! can be linearized and differences where not. All questions are instants: nothing moves. Values
//! that jump (truth values, texts, what a controller sets) cannot be solved for: a loop through
//! them is settled in rounds, in each of which they keep what the round before has made of them.
//!
//! Systems whose initialization is a mode of its own (FMUs) leave it together, once this is
//! settled. What they then are is the start of the run. Where outputs have changed on the way out,
//! those that can still answer to new inputs are asked again; a Co-Simulation FMU cannot, before
//! its first step.

use std::iter::zip;

use nalgebra::{DMatrix, DVector};

use dovetail_core::{
    Connections, Error, Interface, Knot, LinearizeTask, MacroStep, Signal, SignalKind, Source,
    Task, Workers, components,
};
use dovetail_numerics::nonlinear::{Anderson, AndersonOptions, Equations, NonlinearSolver};

/// Newton iterations before a loop is given up.
const MOST_ITERATIONS: usize = 50;
/// Rounds before values that jump are said not to settle.
const MOST_ROUNDS: usize = 50;
/// An output that differs by more than this, relative, from what it was in initialization mode is
/// late.
const LATE: f64 = 1e-12;
/// Below this reciprocal condition number a loop counts as singular.
const SINGULAR: f64 = 1e-12;

/// The algebraic loops of a model: for each, its outputs as stacked positions. What is held over a
/// step closes no loop.
pub fn algebraic_loops(connections: &Connections) -> Vec<Vec<usize>> {
    let graph = feedthrough(connections, |input| !connections.is_held(input));
    components(&graph)
        .into_iter()
        .filter(|members| is_loop(members, &graph))
        .collect()
}

/// Start values that agree with one another: tasks of size zero at `time`, answered, with so many
/// output derivatives.
pub fn initialize(
    connections: &Connections,
    workers: &mut dyn Workers,
    time: f64,
    derivatives: usize,
) -> Result<Vec<Task>, Error> {
    start_values(
        connections,
        workers,
        time,
        derivatives,
        &StartAssumptions::default(),
    )
    .map(|values| values.tasks)
}

/// The start of a run.
pub struct StartValues {
    /// Tasks of size zero, answered.
    pub tasks: Vec<Task>,
    /// Outputs (stacked) that feed a system with an initialization mode, and were something else
    /// while that was in its mode: with the values that they have now, and those that were assumed
    /// or answered before.
    pub late: Vec<LateOutput>,
}

/// An output that is known only after its system has left its initialization mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateOutput {
    /// The output, stacked.
    pub output: usize,
    /// What it was while systems were in their initialization modes.
    pub before: f64,
    /// What it is.
    pub value: f64,
}

/// What is known of a start before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct StartAssumptions<'a> {
    /// Outputs (stacked) whose values inside the initialization mode do not count, with values
    /// found by an earlier try.
    pub assumed: &'a [(usize, f64)],
    /// For each system, values of its inputs to begin with; none: their start values.
    pub inputs: Option<&'a [Vec<f64>]>,
}

/// Whether some system becomes another one as the run begins.
fn any_begins(workers: &dyn Workers) -> bool {
    let mut capabilities = workers.capabilities().iter();
    capabilities.any(|c| c.presence.initialization_mode || c.presence.ticks)
}

/// The same, where something is known beforehand.
pub fn start_values(
    connections: &Connections,
    workers: &mut dyn Workers,
    time: f64,
    derivatives: usize,
    known: &StartAssumptions<'_>,
) -> Result<StartValues, Error> {
    let modes = any_begins(workers);
    // In the mode only values are asked for.
    let mut start = StartSearch::new(
        connections,
        workers,
        time,
        if modes { 0 } else { derivatives },
    );
    start.insists = true;
    start.assumed = known.assumed.to_vec();

    for (task, inputs) in start.tasks.iter_mut().zip(known.inputs.unwrap_or_default()) {
        task.inputs
            .iter_mut()
            .zip(inputs)
            .for_each(|(signal, value)| *signal = Signal::constant(*value));
    }

    start.make_consistent(workers)?;
    let mut late = Vec::new();

    if modes {
        let before = start.outputs.clone();
        start.begin(workers, derivatives)?;
        late = start.late(workers, &before);
        if before
            .iter()
            .zip(&start.outputs)
            .any(|(before, now)| before.to_bits() != now.to_bits())
        {
            start.make_consistent(workers)?;
        }
    }

    if derivatives > 0 && start.needs_slopes() && start.settle_slopes(workers)? {
        start.make_consistent(workers)?;
    }
    Ok(StartValues {
        tasks: start.tasks,
        late,
    })
}

/// The same in the midst of a run, from the present outputs (stacked): a loop with several
/// solutions stays on its branch. Slopes are made to agree as well; whether that was possible.
pub fn reinitialize(
    connections: &Connections,
    workers: &mut dyn Workers,
    time: f64,
    (derivatives, averages): (usize, &[bool]),
    present: &[Knot],
) -> Result<(Vec<Task>, bool), Error> {
    let mut start = StartSearch::new(connections, workers, time, derivatives);
    for (task, averages) in start.tasks.iter_mut().zip(averages) {
        task.response.averages = *averages;
    }
    start.begun = true;
    start
        .outputs
        .iter_mut()
        .zip(present)
        .for_each(|(value, knot)| *value = knot.value);
    start.publish();
    let known = |slope: f64| if slope.is_finite() { slope } else { 0.0 };
    start
        .slopes
        .iter_mut()
        .zip(present)
        .for_each(|(slope, knot)| *slope = known(knot.slope));
    (0..connections.systems()).for_each(|system| start.dispatch(system));
    start.make_consistent(workers)?;
    let settled = derivatives > 0 && start.settle_slopes(workers)?;

    if settled && start.uses_slopes() {
        // The slope of an output that is itself a slope would need curvatures, which a question
        // about the present does not have.
        start.make_consistent(workers)?;
        return Ok((start.tasks, false));
    }
    Ok((start.tasks, settled))
}

/// For each output (stacked) the outputs on which it depends at once, by way of the inputs
/// (stacked) that count.
fn feedthrough(connections: &Connections, counts: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut graph = Vec::with_capacity(connections.outputs());
    for (system, interface) in connections.interfaces().iter().enumerate() {
        let first = connections.inputs_of(system).start;
        for output in &interface.outputs {
            let fed_by = |&input: &usize| match connections.sources()[first + input] {
                Source::Output(source) if counts(first + input) => Some(source),
                _ => None,
            };
            graph.push(output.depends_on.iter().filter_map(fed_by).collect());
        }
    }
    graph
}

fn is_loop(members: &[usize], graph: &[Vec<usize>]) -> bool {
    members.len() > 1 || graph[members[0]].contains(&members[0])
}

struct StartSearch<'a> {
    connections: &'a Connections,
    tasks: Vec<Task>,
    outputs: Vec<f64>,
    slopes: Vec<f64>,
    /// The outputs as held inputs know them.
    held: Vec<f64>,
    /// Whether held values that do not settle are an error. In the midst of a run their readers
    /// hear of them a step later.
    insists: bool,
    /// Outputs whose answers do not count until the systems have begun, with the values that do.
    assumed: Vec<(usize, f64)>,
    /// Whether all systems have left their initialization.
    begun: bool,
    /// For each system, whether its inputs may have slopes.
    takes_slopes: Vec<bool>,
    time: f64,
}

impl<'a> StartSearch<'a> {
    fn new(
        connections: &'a Connections,
        workers: &dyn Workers,
        time: f64,
        derivatives: usize,
    ) -> Self {
        let mut tasks = connections.tasks(derivatives);
        tasks
            .iter_mut()
            .for_each(|task| task.step = MacroStep::instant(time));

        Self {
            connections,
            tasks,
            outputs: vec![f64::NAN; connections.outputs()],
            slopes: vec![0.0; connections.outputs()],
            held: vec![f64::NAN; connections.outputs()],
            insists: false,
            assumed: Vec::new(),
            begun: false,
            takes_slopes: workers
                .capabilities()
                .iter()
                .map(|c| c.input_degree > 0)
                .collect(),
            time,
        }
    }

    /// All systems leave their initialization, under the inputs as they are, and are read.
    fn begin(&mut self, workers: &mut dyn Workers, derivatives: usize) -> Result<(), Error> {
        let mut tasks = self.connections.tasks(derivatives);
        for (task, settled) in tasks.iter_mut().zip(&self.tasks) {
            task.step = settled.step;
            task.inputs = settled.inputs.clone();
        }

        workers.begin(&mut tasks)?;
        self.tasks = tasks;
        self.begun = true;

        for system in 0..self.tasks.len() {
            self.take_in(system);
        }
        Ok(())
    }

    /// Outputs that have changed since all systems were in their initialization, as far as someone
    /// there should have known.
    fn late(&self, workers: &dyn Workers, before: &[f64]) -> Vec<LateOutput> {
        let connections = self.connections;
        let has_mode =
            |system: &usize| workers.capabilities()[*system].presence.initialization_mode;
        let readers = (0..connections.systems()).filter(has_mode);
        let inputs = readers.flat_map(|system| connections.inputs_of(system));
        let mut outputs: Vec<usize> = inputs
            .filter_map(|input| connections.sources()[input].output())
            .collect();
        outputs.sort_unstable();
        outputs.dedup();
        let late = outputs.into_iter().map(|output| LateOutput {
            output,
            before: before[output],
            value: self.outputs[output],
        });

        late.filter(|LateOutput { before, value, .. }| {
            (before - value).abs() > LATE * before.abs().max(value.abs()).max(1e-6)
        })
        .collect()
    }

    /// What depends on what at once, as far as the systems can answer to it.
    fn graph(&self, workers: &dyn Workers, counts: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut graph = feedthrough(self.connections, counts);
        for (output, feeders) in graph.iter_mut().enumerate() {
            let silent = self.begun
                && !workers.capabilities()[self.connections.owner(output)]
                    .presence
                    .responds;
            if silent || self.is_assumed(output) {
                feeders.clear();
            }
        }
        graph
    }

    fn is_assumed(&self, output: usize) -> bool {
        !self.begun && self.assumed.iter().any(|(assumed, _)| *assumed == output)
    }

    /// Values that agree, with the slopes as they are.
    fn make_consistent(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        let everyone: Vec<usize> = (0..self.connections.systems()).collect();
        self.ask(workers, &everyone)?;
        self.publish();
        let graph = self.graph(workers, |_| true);

        for members in components(&graph) {
            if is_loop(&members, &graph) {
                self.settle_loop(workers, &members)?;
            } else {
                self.ask_for(workers, members[0])?;
                self.held[members[0]] = self.outputs[members[0]];
            }
        }

        // An output without feedthrough was right from the first; the systems that read it still have
        // to be given it, and asked once more. In an initialization mode it may nevertheless follow an
        // input, through initial equations: then they have to be given it again.
        for _ in 0..MOST_ROUNDS.max(everyone.len()) {
            self.publish();
            let before = self.outputs.clone();
            everyone.iter().for_each(|&system| self.dispatch(system));
            self.ask(workers, &everyone)?;
            let modes = !self.begun && any_begins(workers);
            if !modes || self.outputs_are(&before) {
                break;
            }
        }
        Ok(())
    }

    /// Whether the outputs are these, to rounding.
    fn outputs_are(&self, before: &[f64]) -> bool {
        let same = |a: f64, b: f64| a == b || (a - b).abs() <= LATE * a.abs().max(b.abs());
        zip(before, &self.outputs).all(|(a, b)| same(*a, *b))
    }

    /// One output, from all that is known.
    fn ask_for(&mut self, workers: &mut dyn Workers, output: usize) -> Result<(), Error> {
        let owner = self.connections.owner(output);
        self.dispatch(owner);
        self.ask(workers, &[owner])
    }

    /// Held inputs learn of the outputs as they are.
    fn publish(&mut self) {
        self.held.copy_from_slice(&self.outputs);
    }

    /// The outputs of one loop. What is held on the way round cuts it: between two rounds it takes
    /// its new value, until nothing changes any more.
    fn settle_loop(&mut self, workers: &mut dyn Workers, members: &[usize]) -> Result<(), Error> {
        let connections = self.connections;
        if !members.iter().any(|&member| connections.feeds_held(member)) {
            return self.solve_loop(workers, members);
        }

        let mut graph = self.graph(workers, |input| !connections.is_held(input));
        for (output, feeders) in graph.iter_mut().enumerate() {
            let inside = members.contains(&output);
            feeders.retain(|feeder| inside && members.contains(feeder));
        }

        let mut disagreement: f64 = 0.0;
        for _ in 0..MOST_ROUNDS {
            disagreement = 0.0;
            for part in components(&graph)
                .iter()
                .filter(|part| members.contains(&part[0]))
            {
                if is_loop(part, &graph) {
                    self.solve_loop(workers, part)?;
                } else {
                    self.ask_for(workers, part[0])?;
                }
                for &output in part {
                    disagreement = disagreement.max(self.disagreement(output));
                    self.held[output] = self.outputs[output];
                }
            }
            if disagreement == 0.0 {
                return Ok(());
            }
        }

        if self.insists {
            Err(self.unsolved(members, MOST_ROUNDS, disagreement))
        } else {
            Ok(())
        }
    }

    /// By how much held inputs know this output otherwise than it is, if that counts.
    fn disagreement(&self, output: usize) -> f64 {
        let known = self.held[output];
        let now = self.outputs[output];

        match self.connections.output(output).kind {
            SignalKind::Continuous if (known - now).abs() <= 1e-9 * known.abs().max(now.abs()) => {
                0.0
            }
            SignalKind::Text => f64::from(u8::from(known != now)),
            _ if known == now || !self.connections.feeds_held(output) => 0.0,
            _ => (known - now).abs(),
        }
    }

    /// Whether anything depends on the slope of an input.
    fn needs_slopes(&self) -> bool {
        self.connections
            .interfaces()
            .iter()
            .flat_map(|i| &i.inputs)
            .any(|input| input.uses_slope)
            || self.uses_slopes()
    }

    /// Whether some output depends on the slope of an input.
    fn uses_slopes(&self) -> bool {
        let mut outputs = self
            .connections
            .interfaces()
            .iter()
            .flat_map(|i| &i.outputs);
        outputs.any(|output| !output.depends_on_slopes.is_empty())
    }

    /// Slopes that agree, under the values as they are; false where some system does not know its
    /// slopes, or where they do not settle. They are affine in one another, so that Anderson mixing
    /// ends after at most as many rounds as there are.
    fn settle_slopes(&mut self, workers: &mut dyn Workers) -> Result<bool, Error> {
        let smooth = |i: &Interface| {
            i.outputs
                .iter()
                .any(|output| output.kind == SignalKind::Continuous)
        };
        let systems = self
            .connections
            .interfaces()
            .iter()
            .zip(workers.capabilities());

        if systems
            .filter(|(interface, _)| smooth(interface))
            .any(|(_, c)| c.output_derivatives == 0)
        {
            return Ok(false);
        }

        let size = self.slopes.len();
        let mut slopes = self.slopes.clone();
        let mut residual = vec![0.0; size];
        let mut equations = SlopeEquations {
            start: self,
            workers,
            error: None,
        };
        let options = AndersonOptions {
            iteration_limit: size + 10,
            ..AndersonOptions::default()
        };
        let outcome =
            Anderson::new(size, options).solve(&mut equations, &mut slopes, &mut residual);
        equations.error.map_or(Ok(()), Err)?;
        self.slopes.copy_from_slice(&slopes);

        Ok(outcome.converged())
    }

    /// Feeds `system` from the outputs known so far.
    fn dispatch(&mut self, system: usize) {
        for (signal, input) in self.tasks[system]
            .inputs
            .iter_mut()
            .zip(self.connections.inputs_of(system))
        {
            if self.connections.is_held(input) {
                *signal = Signal::constant(self.connections.feed(input, &self.held));
                continue;
            }
            let value = self.connections.feed(input, &self.outputs);
            let source = self.connections.sources()[input];
            *signal = match source {
                Source::Output(output) if self.takes_slopes[system] => {
                    Signal::new(&[value, self.slopes[output]])
                }
                _ => Signal::constant(value),
            };
        }
    }

    /// Asks these systems and takes their outputs in.
    fn ask(&mut self, workers: &mut dyn Workers, systems: &[usize]) -> Result<(), Error> {
        for &system in systems {
            workers.advance(&mut self.tasks[system..=system])?;
            self.take_in(system);
        }
        Ok(())
    }

    /// The outputs that a system has answered, or what is assumed in their place.
    fn take_in(&mut self, system: usize) {
        let places = self.connections.outputs_of(system);
        let answered = self.tasks[system]
            .response
            .outputs
            .iter()
            .map(|knot| knot.value);

        for (output, value) in places.zip(answered) {
            self.outputs[output] = value;
        }
        for &(output, value) in self
            .assumed
            .iter()
            .filter(|(output, _)| !self.begun && self.connections.owner(*output) == system)
        {
            self.outputs[output] = value;
        }
    }

    /// The systems of these outputs, each once.
    fn owners_of(&self, outputs: &[usize]) -> Vec<usize> {
        let owner = |&output: &usize| self.connections.owner(output);
        let mut owners: Vec<usize> = outputs.iter().map(owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Newton on `y − g(Φᵀ y) = 0` for the outputs of one loop, halving updates that make things
    /// worse.
    fn solve_loop(&mut self, workers: &mut dyn Workers, members: &[usize]) -> Result<(), Error> {
        let owners = self.owners_of(members);
        let values = members.iter().map(|&output| self.outputs[output]);
        let mut guess = DVector::from_iterator(members.len(), values);
        let mut residual = self.residual(workers, members, &owners, &guess)?;
        self.check_finite(members)?;

        for iteration in 0..MOST_ITERATIONS {
            let Some(update) = self.newton_update(workers, members, &owners, &residual)? else {
                return Err(self.without_direction(members, iteration, residual.amax()));
            };
            let mut fraction = 1.0;
            let (next, next_residual) = loop {
                let next = &guess - &update * fraction;
                let next_residual = self.residual(workers, members, &owners, &next)?;
                // NaN fails the comparison, so that it counts as worse.
                if next_residual.norm() <= residual.norm() || fraction < 1e-3 {
                    break (next, next_residual);
                }
                fraction /= 2.0;
            };
            let scale = 1.0 + next.amax();
            let settled = (&next - &guess).amax() <= 4.0 * f64::EPSILON * scale;
            guess = next;
            residual = next_residual;
            let left = residual.amax();
            if left <= f64::EPSILON * scale || (settled && left <= 1e-9 * scale) {
                return Ok(());
            }
        }
        if residual.amax() <= 1e-9 * (1.0 + guess.amax()) {
            return Ok(());
        }
        Err(self.unsolved(members, MOST_ITERATIONS, residual.amax()))
    }

    /// A loop whose outputs are no numbers at the start values gives Newton nothing to work with.
    fn check_finite(&self, members: &[usize]) -> Result<(), Error> {
        let Some(&output) = members
            .iter()
            .find(|&&output| !self.outputs[output].is_finite())
        else {
            return Ok(());
        };
        let owner = self.connections.owner(output);
        let interface = &self.connections.interfaces()[owner];

        Err(Error::NotFinite {
            system: interface.name.clone(),
            variable: interface.outputs[output - self.connections.outputs_of(owner).start]
                .name
                .clone(),
            time: self.time,
            value: self.outputs[output],
        })
    }

    fn unsolved(&self, members: &[usize], iterations: usize, residual: f64) -> Error {
        Error::UnsolvedLoop {
            variables: self.names(members),
            time: self.time,
            iterations,
            residual,
        }
    }

    /// A matrix that is singular from the start belongs to a singular loop; one that becomes so on
    /// the way, to a loop whose residual has a least value that is not zero.
    fn without_direction(&self, members: &[usize], iteration: usize, residual: f64) -> Error {
        if iteration > 0 {
            return self.unsolved(members, iteration, residual);
        }
        Error::SingularLoop {
            variables: self.names(members),
            time: self.time,
        }
    }

    /// By how much the members, fed with `guess`, answer something else.
    fn residual(
        &mut self,
        workers: &mut dyn Workers,
        members: &[usize],
        owners: &[usize],
        guess: &DVector<f64>,
    ) -> Result<DVector<f64>, Error> {
        for (&output, &value) in members.iter().zip(guess) {
            self.outputs[output] = value;
        }

        owners.iter().for_each(|&owner| self.dispatch(owner));
        self.ask(workers, owners)?;
        Ok(DVector::from_iterator(
            members.len(),
            members
                .iter()
                .zip(guess)
                .map(|(&o, &asked)| asked - self.outputs[o]),
        ))
    }

    /// `(I − D Φᵀ)⁻¹ r`, with the systems' feedthrough where they stand; nothing where that is
    /// singular.
    fn newton_update(
        &mut self,
        workers: &mut dyn Workers,
        members: &[usize],
        owners: &[usize],
        residual: &DVector<f64>,
    ) -> Result<Option<DVector<f64>>, Error> {
        let mut matrix = DMatrix::<f64>::identity(members.len(), members.len());
        for &owner in owners {
            let gains = self.feedthrough_of(workers, owner)?;
            let first = self.connections.outputs_of(owner).start;
            let inputs = self.connections.inputs_of(owner);
            for (row, &output) in members
                .iter()
                .enumerate()
                .filter(|(_, o)| self.connections.outputs_of(owner).contains(o))
            {
                for (input, stacked) in inputs
                    .clone()
                    .enumerate()
                    .filter(|(_, i)| !self.connections.is_held(*i))
                {
                    let source = self.connections.sources()[stacked];
                    if let Some(column) = members
                        .iter()
                        .position(|&member| source == Source::Output(member))
                    {
                        matrix[(row, column)] -= gains[(output - first, input)];
                    }
                }
            }
        }
        Ok(solve_if_regular(matrix, residual))
    }

    /// D of a system: exact where it can be linearized, by differences of instants where not, or
    /// not yet.
    fn feedthrough_of(
        &mut self,
        workers: &mut dyn Workers,
        system: usize,
    ) -> Result<DMatrix<f64>, Error> {
        let interface = &self.connections.interfaces()[system];
        let capabilities = &workers.capabilities()[system];

        if capabilities.linearize && (self.begun || !capabilities.presence.initialization_mode) {
            let mut task = LinearizeTask::new(system, interface);
            workers.linearize(std::slice::from_mut(&mut task))?;
            return Ok(task.linearization.d);
        }
        self.feedthrough_by_differences(workers, system)
    }

    fn feedthrough_by_differences(
        &self,
        workers: &mut dyn Workers,
        system: usize,
    ) -> Result<DMatrix<f64>, Error> {
        let base = &self.tasks[system].response.outputs;
        let mut probe = self.tasks[system].clone();
        let inputs = probe.inputs.len();
        let mut gains = DMatrix::zeros(base.len(), inputs);
        let first = self.connections.inputs_of(system).start;
        let magnitudes = probe.inputs.iter().map(|signal| signal.value(0.0).abs());
        let largest = magnitudes.fold(0.0, f64::max);

        for input in (0..inputs).filter(|input| !self.connections.is_held(first + input)) {
            let value = probe.inputs[input].value(0.0);
            let gap = difference_gap(value, largest);
            probe.inputs[input] = Signal::constant(value + gap);
            workers.advance(std::slice::from_mut(&mut probe))?;
            for (output, knot) in probe.response.outputs.iter().enumerate() {
                gains[(output, input)] = (knot.value - base[output].value) / gap;
            }
            probe.inputs[input] = Signal::constant(value);
        }
        Ok(gains)
    }

    fn names(&self, members: &[usize]) -> Vec<String> {
        members
            .iter()
            .map(|&output| self.connections.output_name(output))
            .collect()
    }
}

/// The solution of a linear system; none where it is singular or not finite.
fn solve_if_regular(matrix: DMatrix<f64>, right: &DVector<f64>) -> Option<DVector<f64>> {
    if matrix.iter().any(|gain| !gain.is_finite()) {
        return None;
    }

    let svd = matrix.svd(true, true);
    let regular = svd.singular_values.min() > SINGULAR * svd.singular_values.max();
    let solution = || svd.solve(right, 0.0);

    regular.then(|| solution().expect("BUG: both factors were asked for"))
}

/// How much an input is moved for a difference quotient. Of an input that is zero nothing is known:
/// it may be as large as the others.
fn difference_gap(value: f64, largest: f64) -> f64 {
    let sizes = [value.abs(), largest, 1.0];
    let size = sizes.into_iter().find(|size| *size > 0.0);
    1e-6 * size.unwrap_or(1.0)
}

/// Slopes of all outputs, minus what the systems answer to them.
struct SlopeEquations<'b, 'a> {
    start: &'b mut StartSearch<'a>,
    workers: &'b mut dyn Workers,
    error: Option<Error>,
}

impl Equations for SlopeEquations<'_, '_> {
    fn size(&self) -> usize {
        self.start.slopes.len()
    }

    fn evaluate(&mut self, slopes: &[f64], residual: &mut [f64]) -> bool {
        self.start.slopes.copy_from_slice(slopes);
        let everyone: Vec<usize> = (0..self.start.connections.systems()).collect();
        everyone
            .iter()
            .for_each(|&system| self.start.dispatch(system));

        if let Err(error) = self.start.ask(self.workers, &everyone) {
            self.error = Some(error);
            return false;
        }

        let connections = self.start.connections;
        let outputs = connections
            .interfaces()
            .iter()
            .flat_map(|interface| &interface.outputs);
        let answered = self
            .start
            .tasks
            .iter()
            .flat_map(|task| task.response.outputs.iter().map(|knot| knot.slope));

        for (r, (asked, (given, output))) in residual
            .iter_mut()
            .zip(slopes.iter().zip(answered.zip(outputs)))
        {
            // What jumps from value to value is flat in between.
            *r = if output.kind == SignalKind::Continuous {
                asked - given
            } else {
                *asked
            };
        }
        true
    }

    fn converged(&self, slopes: &[f64], residual: &[f64]) -> bool {
        let largest = slopes
            .iter()
            .fold(0.0, |largest: f64, slope| largest.max(slope.abs()));
        residual
            .iter()
            .zip(slopes)
            .all(|(r, s)| r.abs() <= 1e-11 * s.abs().max(1e-2 * largest))
    }
}
