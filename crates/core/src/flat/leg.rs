//! Some steps of all systems, one after the other, as rows of numbers.

use crate::flat::plan::FeedPlan;
use crate::macro_step::MacroStep;
use crate::signal::Knot;
use crate::task::Task;

/// The most steps of a leg.
const MOST_STEPS: usize = 256;
/// The least room, whatever it takes.
const LEAST_STEPS: usize = 8;
/// The rows of a leg should stay in a cache of the second level.
const MOST_NUMBERS: usize = 1 << 15;

/// Steps of all systems under held inputs, and what came of them.
#[derive(Clone, Debug)]
pub struct Leg {
    /// The steps to take.
    pub steps: Vec<MacroStep>,
    /// How many of them were taken.
    pub done: usize,
    /// The inputs of the step before the first and of each step, all systems stacked.
    pub inputs: Vec<f64>,
    /// What was read before the first step and after each, with the constants of the model.
    pub values: Vec<f64>,
    /// The step before the first, if it was taken in this way.
    before: Option<MacroStep>,
    room: usize,
}

impl Leg {
    /// Room for the legs of a plan.
    pub fn new(plan: &FeedPlan) -> Self {
        let row = plan.width + plan.inputs();
        let room = (MOST_NUMBERS / row.max(1)).clamp(LEAST_STEPS, MOST_STEPS);
        Self {
            steps: Vec::with_capacity(room),
            done: 0,
            inputs: vec![0.0; (room + 1) * plan.inputs()],
            values: plan.empty_row().repeat(room + 1),
            before: None,
            room,
        }
    }

    /// How many steps there is room for.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Starts anew where the last leg ended.
    pub fn begin(&mut self, plan: &FeedPlan) {
        let (width, inputs) = (plan.width, plan.inputs());
        if self.done > 0 {
            self.before = self.last_step();
            self.values
                .copy_within(self.done * width..(self.done + 1) * width, 0);
            self.inputs
                .copy_within(self.done * inputs..(self.done + 1) * inputs, 0);
        }
        self.steps.clear();
        self.done = 0;
    }

    /// Starts anew from what the systems have answered in another way.
    pub fn begin_from(&mut self, plan: &FeedPlan, outputs: impl Iterator<Item = f64>) {
        let places = plan.systems.iter().flat_map(|system| &system.outputs);
        for (&place, value) in places.zip(outputs) {
            self.values[place] = value;
        }
        self.steps.clear();
        self.done = 0;
        self.before = None;
    }

    /// The last step that was taken, if it was taken in this way.
    pub fn last_step(&self) -> Option<MacroStep> {
        match self.done {
            0 => self.before,
            done => Some(self.steps[done - 1]),
        }
    }

    /// The inputs of step `n`.
    #[inline]
    pub fn inputs_of_step(&self, plan: &FeedPlan, n: usize) -> &[f64] {
        &self.inputs[(n + 1) * plan.inputs()..][..plan.inputs()]
    }

    /// What was read before step `n`, with the constants.
    #[inline]
    pub fn values_before_step(&self, plan: &FeedPlan, n: usize) -> &[f64] {
        &self.values[n * plan.width..][..plan.width]
    }

    /// What was read after step `n`.
    #[inline]
    pub fn values_after_step(&self, plan: &FeedPlan, n: usize) -> &[f64] {
        self.values_before_step(plan, n + 1)
    }

    /// The inputs of the last step that was taken.
    pub fn last_inputs(&self, plan: &FeedPlan) -> &[f64] {
        &self.inputs[self.done * plan.inputs()..][..plan.inputs()]
    }

    /// What was read after the last step that was taken.
    pub fn last_values(&self, plan: &FeedPlan) -> &[f64] {
        self.values_before_step(plan, self.done)
    }

    /// The last step that was taken, as tasks.
    pub fn fill_tasks(&self, plan: &FeedPlan, step: MacroStep, tasks: &mut [Task]) {
        let inputs = self.last_inputs(plan);
        let values = self.last_values(plan);
        for task in tasks {
            task.step = step;
            fill_inputs(plan, inputs, task);
            fill_response(plan, values, task);
        }
    }

    /// The inputs of the step after those that were done, of one task.
    pub fn fill_next_inputs(&self, plan: &FeedPlan, task: &mut Task) {
        fill_inputs(plan, self.inputs_of_step(plan, self.done), task);
    }

    /// What was read after the step after those that were done, of one task, whose step it is.
    pub fn fill_next_response(&self, plan: &FeedPlan, task: &mut Task) {
        fill_response(plan, self.values_after_step(plan, self.done), task);
    }

    /// A system has answered the step after those that were done in the ordinary way.
    pub fn take_next_response(&mut self, plan: &FeedPlan, task: &Task) {
        let place = &plan.systems[task.system];
        let row = &mut self.values[(self.done + 1) * plan.width..][..plan.width];
        for (&place, knot) in place.outputs.iter().zip(&task.response.outputs) {
            row[place] = knot.value;
        }
        for (&place, &state) in place.states.iter().zip(&task.response.states) {
            row[place] = state;
        }
    }
}

fn fill_inputs(plan: &FeedPlan, inputs: &[f64], task: &mut Task) {
    let own = &inputs[plan.systems[task.system].inputs.clone()];
    for (signal, &value) in task.inputs.iter_mut().zip(own) {
        signal.hold(value);
    }
}

fn fill_response(plan: &FeedPlan, values: &[f64], task: &mut Task) {
    let place = &plan.systems[task.system];
    let response = &mut task.response;
    response.begin();
    response.reached = task.step.end;
    response.next_event = f64::INFINITY;
    for (knot, &place) in response.outputs.iter_mut().zip(&place.outputs) {
        *knot = Knot::value_only(values[place]);
    }
    for (state, &place) in response.states.iter_mut().zip(&place.states) {
        *state = values[place];
    }
}
