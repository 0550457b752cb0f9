//! Systems that are set, stepped and read as plain numbers, and batches of them.

use std::any::Any;
use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::flat::held_layout::HeldLayout;
use crate::flat::leg::Leg;
use crate::flat::plan::{FeedPlan, PlannedSystem};
use crate::macro_step::MacroStep;
use crate::signal::Signal;
use crate::task::{Response, Task};
use crate::workers::Work;

/// A system whose steps under held inputs are set, step and read, and nothing else.
pub trait HeldSteps {
    /// Where its numbers are.
    fn layout(&self) -> HeldLayout;

    /// Whether it can be stepped in this way from where it stands now.
    fn is_ready(&mut self) -> bool;

    /// Joins a batch of its own kind, or founds one where there is none yet; `place` says where its numbers are among those of all.
    /// Whether it has joined.
    fn join(&mut self, batch: &mut Option<Box<dyn Batch>>, place: &PlannedSystem) -> bool;

    /// The batch could not simply do this step for its member `member`, which is this system: it is done here with all care, or
    /// fails.
    fn settle(
        &mut self,
        batch: &mut dyn Batch,
        member: usize,
        since: &StepsSince<'_>,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error>;

    /// It has been moved by its batch; this was its last step, under these inputs.
    fn moved(&mut self, step: MacroStep, inputs: &[f64]);
}

/// Systems of one kind that step together.
///
/// The systems are neither asked nor dropped while it steps, except for the one that settles a step.
pub trait Batch: Send {
    /// For systems that want to join.
    fn as_any(&mut self) -> &mut dyn Any;

    /// How many systems have joined.
    fn members(&self) -> usize;

    /// Takes the steps of a leg, up to the first that is out of the ordinary or is interrupted. `timed`: in the first step the clock
    /// is read, so that it becomes known how the time is shared.
    fn take_leg(
        &mut self,
        plan: &FeedPlan,
        leg: &mut Leg,
        interrupted: &AtomicBool,
        timed: bool,
    ) -> LegEnd;

    /// Goes on with the step after those that the leg has done, from the member `first` on; the member that could not simply do
    /// it, or their number.
    fn go_on(&mut self, plan: &FeedPlan, leg: &mut Leg, first: usize) -> usize;

    /// The members have spent so many seconds together, which are shared among them as far as it is known how.
    fn spend(&mut self, seconds: f64, order: &[usize], work: &mut [Work]);
}

/// How a leg ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegEnd {
    /// All its steps were done, or those before an interruption.
    Done,
    /// The step after those that were done is out of the ordinary. The members before this one have done it; all of them, if there
    /// is no such member, and then some number is out of the ordinary.
    Unfinished {
        /// Position in the order of the plan.
        member: usize,
    },
    /// Not all systems can go on in this way.
    Unready,
}

/// What a system has done in the leg under way, before the step in question.
pub struct StepsSince<'a> {
    leg: &'a Leg,
    plan: &'a FeedPlan,
    system: usize,
}

impl<'a> StepsSince<'a> {
    /// Of one system.
    pub fn new(leg: &'a Leg, plan: &'a FeedPlan, system: usize) -> Self {
        Self { leg, plan, system }
    }

    /// What was read in the step in question, as far as it was.
    pub fn under_way(&self) -> &'a [f64] {
        let row = self.leg.values_after_step(self.plan, self.leg.done);
        &row[self.plan.systems[self.system].values.clone()]
    }

    /// Each step with the inputs that were held and the numbers that were read, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (MacroStep, &'a [f64], &'a [f64])> {
        let (leg, plan) = (self.leg, self.plan);
        let place = &plan.systems[self.system];
        (0..leg.done).map(move |n| {
            let inputs = &leg.inputs_of_step(plan, n)[place.inputs.clone()];
            let values = &leg.values_after_step(plan, n)[place.values.clone()];
            (leg.steps[n], inputs, values)
        })
    }
}

/// Workers whose systems can all be stepped as numbers.
pub trait FlatWorkers {
    /// Where the systems' numbers are, in the order of the systems.
    fn layouts(&mut self) -> Vec<HeldLayout>;

    /// Makes one batch of all systems; whether that can be done.
    fn enter(&mut self, plan: &FeedPlan) -> bool;

    /// How many steps a leg may have so that nobody waits long for its end.
    fn longest_leg(&self) -> usize;

    /// Takes the steps of a leg, as far as they are ordinary.
    fn take_leg(&mut self, plan: &FeedPlan, leg: &mut Leg, interrupted: &AtomicBool) -> LegEnd;

    /// Completes the step that a leg left unfinished at this member. The tasks, in the order of the plan, have its step and its
    /// inputs, as far as they are known, and take the answers.
    fn complete_step(
        &mut self,
        plan: &FeedPlan,
        leg: &mut Leg,
        member: usize,
        tasks: &mut [Task],
    ) -> Result<(), Error>;

    /// The systems will be asked in the ordinary way from now on: they learn where they are, and all that they did is counted.
    fn leave(&mut self, plan: &FeedPlan, leg: &Leg);
}
