//! Systems of one thread that step as rows of numbers.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dovetail_core::{
    Batch, Error, FeedPlan, HeldLayout, HeldSteps, Leg, LegEnd, MacroStep, StepsSince, Task, Work,
};

use crate::slot::Slot;

/// A leg should take no longer than this, so that whoever watches does not wait for it.
const LONGEST_LEG: Duration = Duration::from_millis(10);
/// A step of a system as long as this is heavy: it is timed by itself.
const HEAVY: Duration = Duration::from_micros(5);
/// Of light steps one in so many is timed call by call.
const STRIDE: usize = 1021;

/// One batch of all systems, and what it has done that is not counted yet.
pub(crate) struct FlatSystems {
    batch: Box<dyn Batch>,
    pace: Pace,
    /// Steps that are not counted in the work of the systems.
    uncounted: u64,
    /// Whether all systems are known to be ready.
    ready: bool,
}

/// How long steps take, and whose time is due.
struct Pace {
    /// Seconds that are not shared out yet.
    seconds: f64,
    /// The longest leg that is not too long.
    steps: usize,
    heavy: bool,
    /// Steps until one is timed call by call.
    until_timed: usize,
}

impl Pace {
    fn unknown() -> Self {
        Self {
            seconds: 0.0,
            steps: 1,
            heavy: false,
            until_timed: 0,
        }
    }

    fn is_timed(&mut self) -> bool {
        let timed = self.heavy || self.until_timed == 0;
        if timed {
            self.until_timed = STRIDE;
        }
        timed
    }

    /// So many steps of so many systems took so long.
    fn took(&mut self, time: Duration, steps: usize, systems: usize) {
        let step = time / steps.max(1) as u32;
        let affordable = LONGEST_LEG.as_nanos() / step.as_nanos().max(1);
        self.seconds += time.as_secs_f64();
        self.steps = affordable.clamp(1, usize::MAX as u128 >> 1) as usize;
        self.heavy = step >= HEAVY * systems as u32;
        self.until_timed = self.until_timed.saturating_sub(steps);
    }
}

fn held(slot: &mut Slot) -> &mut dyn HeldSteps {
    let steps = slot.system.held_steps();
    steps.expect("BUG: a system that cannot step as numbers")
}

/// Where the numbers of all systems are; none where one of them cannot step in this way.
pub(crate) fn layouts(slots: &mut [Slot]) -> Vec<HeldLayout> {
    slots.iter_mut().map(|slot| held(slot).layout()).collect()
}

/// Whether all systems can step as numbers from where they stand.
pub(crate) fn are_ready(slots: &mut [Slot]) -> bool {
    slots
        .iter_mut()
        .all(|slot| slot.system.held_steps().is_some_and(HeldSteps::is_ready))
}

impl FlatSystems {
    /// One batch of all systems, if they are of one kind.
    pub fn new(slots: &mut [Slot], plan: &FeedPlan) -> Option<Self> {
        let mut batch = None;
        for &system in &plan.order {
            if !held(&mut slots[system]).join(&mut batch, &plan.systems[system]) {
                return None;
            }
        }
        Some(Self {
            batch: batch?,
            pace: Pace::unknown(),
            uncounted: 0,
            ready: true,
        })
    }

    /// How many steps are no longer than a leg should take.
    pub fn longest_leg(&self) -> usize {
        self.pace.steps
    }

    pub fn take_leg(
        &mut self,
        slots: &mut [Slot],
        plan: &FeedPlan,
        leg: &mut Leg,
        interrupted: &AtomicBool,
    ) -> LegEnd {
        if !self.ready && !are_ready(slots) {
            return LegEnd::Unready;
        }

        let timed = self.pace.is_timed();
        let start = Instant::now();
        let ended = self.batch.take_leg(plan, leg, interrupted, timed);
        self.pace.took(start.elapsed(), leg.done, plan.order.len());
        self.uncounted += leg.done as u64;
        // After a leg that was cut short it is looked at again before the next.
        self.ready = ended == LegEnd::Done && leg.done == leg.steps.len();
        ended
    }

    /// Steps that were taken are counted, and the systems learn of them.
    pub fn count(&mut self, slots: &mut [Slot], plan: &FeedPlan, leg: &Leg, work: &mut [Work]) {
        let Some(step) = leg.last_step().filter(|_| self.uncounted > 0) else {
            return;
        };
        let inputs = leg.last_inputs(plan);
        for (system, slot) in slots.iter_mut().enumerate() {
            slot.work.integrations += self.uncounted;
            held(slot).moved(step, &inputs[plan.systems[system].inputs.clone()]);
        }
        self.uncounted = 0;
        self.share_time(slots, plan, work);
    }

    fn share_time(&mut self, slots: &mut [Slot], plan: &FeedPlan, work: &mut [Work]) {
        for (slot, work) in slots.iter().zip(&mut *work) {
            *work = slot.work;
        }
        let seconds = std::mem::take(&mut self.pace.seconds);
        self.batch.spend(seconds, &plan.order, work);
        for (slot, work) in slots.iter_mut().zip(work) {
            slot.work = *work;
        }
    }
}

/// A step that a leg left unfinished.
pub(crate) struct Completion<'a> {
    pub slots: &'a mut [Slot],
    pub work: &'a mut [Work],
    pub plan: &'a FeedPlan,
    pub leg: &'a mut Leg,
    /// In the order of the plan, with their step.
    pub tasks: &'a mut [Task],
}

impl FlatSystems {
    /// Completes the step at which the member `first` has stopped; those before it have done it.
    pub fn complete(&mut self, mut step: Completion<'_>, first: usize) -> Result<(), Error> {
        self.count(step.slots, step.plan, step.leg, step.work);
        step.accept_from_batch(0..first);
        let mut member = first;
        while member < step.tasks.len() {
            step.settle(self.batch.as_mut(), member)?;
            let next = member + 1;
            member = match next < step.tasks.len() {
                true => self.batch.go_on(step.plan, step.leg, next),
                false => next,
            };
            step.accept_from_batch(next..member);
        }
        Ok(())
    }
}

impl Completion<'_> {
    /// These members have simply done the step.
    fn accept_from_batch(&mut self, members: std::ops::Range<usize>) {
        for task in &mut self.tasks[members] {
            let slot = &mut self.slots[task.system];
            self.leg.fill_next_inputs(self.plan, task);
            self.leg.fill_next_response(self.plan, task);
            slot.work.integrations += 1;
            self.work[task.system] = slot.work;
            let place = &self.plan.systems[task.system];
            let inputs = self.leg.inputs_of_step(self.plan, self.leg.done);
            held(slot).moved(task.step, &inputs[place.inputs.clone()]);
        }
    }

    /// This one has not, and does it with all care.
    fn settle(&mut self, batch: &mut dyn Batch, member: usize) -> Result<(), Error> {
        let task = &mut self.tasks[member];
        self.leg.fill_next_inputs(self.plan, task);
        task.response.begin();
        let Slot {
            system,
            work,
            stopwatch,
        } = &mut self.slots[task.system];
        let system = system.held_steps();
        let system = system.expect("BUG: a system that cannot step as numbers");
        let since = StepsSince::new(self.leg, self.plan, task.system);
        let step: MacroStep = task.step;
        stopwatch.time(&mut work.seconds, || {
            system.settle(
                batch,
                member,
                &since,
                step,
                &task.inputs,
                &mut task.response,
            )
        })?;
        work.count_advance(false, &task.response);
        self.work[task.system] = *work;
        self.leg.take_next_response(self.plan, task);
        Ok(())
    }
}
