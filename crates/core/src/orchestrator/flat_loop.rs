//! The time loop over legs of steps that are nothing but numbers.

use std::sync::atomic::Ordering;

use crate::error::Error;
use crate::flat::{FeedPlan, FlatRows, Leg, LegEnd, LegExtremes};
use crate::method::Exchange;
use crate::observer::Need;
use crate::orchestrator::{Ending, Orchestrator, Progress};
use crate::task::Task;

/// What legs need, made once in a run.
pub(super) struct FlatLoop {
    plan: FeedPlan,
    leg: Leg,
    extremes: LegExtremes,
    /// In the order in which the systems step.
    tasks: Vec<Task>,
    /// The last step has been seen by those who need no other.
    shown: bool,
}

/// When it is tried to go on in legs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlatAccess {
    /// After so many steps. Workers that are not ready for it may be so later.
    After(u64),
    /// Never: it cannot be done, or it was done for a while.
    Closed,
}

impl Default for FlatAccess {
    /// The first step shows what an FMU is like: it is taken in the ordinary way.
    fn default() -> Self {
        Self::After(1)
    }
}

impl FlatAccess {
    pub fn is_due(self, steps: u64) -> bool {
        matches!(self, Self::After(first) if steps >= first)
    }
}

impl Orchestrator<'_, '_> {
    /// Goes on in legs for as long as that can be done; how the run has ended, if it has.
    pub(super) fn proceed_flat(&mut self, until: f64) -> Result<Option<Ending>, Error> {
        self.flat = FlatAccess::Closed;
        let Some(mut flat) = self.enter_flat() else {
            return Ok(None);
        };

        let ended = self.take_legs(&mut flat, until);
        let left = self.leave_flat(&mut flat);
        ended.and_then(|ending| left.map(|()| ending))
    }

    fn enter_flat(&mut self) -> Option<FlatLoop> {
        if self.progress.state.past.next_event() < f64::INFINITY {
            return None;
        }
        let method = self.method.holds_inputs()?;
        let Some(workers) = self.workers.flat() else {
            self.flat = FlatAccess::After(2 * self.progress.state.statistics.steps);
            return None;
        };
        let connections = self.progress.connections;
        let plan = FeedPlan::new(connections, &workers.layouts(), method.order);
        if !workers.enter(&plan) {
            return None;
        }

        let mut leg = Leg::new(&plan);
        let latest = self.progress.state.past.latest();
        leg.begin_from(&plan, latest.iter().map(|knot| knot.value));
        let mut tasks = connections.tasks(0);
        let mut turn = vec![0; tasks.len()];
        for (position, &system) in plan.order.iter().enumerate() {
            turn[system] = position;
        }
        tasks.sort_by_key(|task| turn[task.system]);

        Some(FlatLoop {
            leg,
            extremes: LegExtremes::new(&plan),
            tasks,
            shown: true,
            plan,
        })
    }

    fn take_legs(&mut self, flat: &mut FlatLoop, until: f64) -> Result<Option<Ending>, Error> {
        let mut reached = self.progress.state.past.reached();
        while reached < until {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(Some(Ending::Interrupted));
            }
            let ended = self.take_leg(flat, reached, until);
            self.progress.take_in_leg(flat)?;
            reached = flat.leg.last_step().map_or(reached, |last| last.end);

            match ended {
                LegEnd::Done => {}
                LegEnd::Unready => return Ok(None),
                LegEnd::Unfinished { member } => {
                    if let Some(ending) = self.complete_step(flat, member)? {
                        return Ok(Some(ending));
                    }
                    reached = self.progress.state.past.reached();
                    if self.progress.state.past.next_event() < f64::INFINITY {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }

    fn take_leg(&mut self, flat: &mut FlatLoop, reached: f64, until: f64) -> LegEnd {
        let FlatLoop { plan, leg, .. } = flat;
        let (Some(method), Some(workers)) = (self.method.holds_inputs(), self.workers.flat())
        else {
            return LegEnd::Unready;
        };

        leg.begin(plan);
        let most = self
            .progress
            .longest_leg(leg.room().min(workers.longest_leg()));
        method.cursor.extend(&mut leg.steps, reached, until, most);
        workers.take_leg(plan, leg, self.interrupted)
    }

    /// The step after those of the leg is out of the ordinary: it is completed with care and seen as any other.
    #[cold]
    fn complete_step(
        &mut self,
        flat: &mut FlatLoop,
        member: usize,
    ) -> Result<Option<Ending>, Error> {
        self.progress.catch_up(flat)?;
        let FlatLoop {
            plan, leg, tasks, ..
        } = flat;
        let step = leg.steps[leg.done];
        tasks.iter_mut().for_each(|task| task.step = step);
        if let Some(workers) = self.workers.flat() {
            workers.complete_step(plan, leg, member, tasks)?;
        }
        let exchange = Exchange {
            tasks,
            before: &[],
            iterations: 0,
            signals: &[],
        };
        let ending = self.progress.accept(exchange)?;
        let latest = self.progress.state.past.latest();
        leg.begin_from(plan, latest.iter().map(|knot| knot.value));
        Ok(ending)
    }

    /// The ordinary loop can go on from here, and whoever looks at the run finds it where it is.
    fn leave_flat(&mut self, flat: &mut FlatLoop) -> Result<(), Error> {
        if let Some(workers) = self.workers.flat() {
            workers.leave(&flat.plan, &flat.leg);
        }
        self.progress.catch_up(flat)
    }
}

impl Progress<'_, '_> {
    /// Where someone must see each step before the next is taken, a leg is one step.
    fn longest_leg(&self, room: usize) -> usize {
        if self.observers.iter().any(|o| o.need() == Need::Steps) {
            1
        } else {
            room
        }
    }

    /// Those who watch see the steps that a leg has done.
    fn take_in_leg(&mut self, flat: &mut FlatLoop) -> Result<(), Error> {
        let FlatLoop {
            plan,
            leg,
            extremes,
            tasks,
            shown,
        } = flat;
        if leg.done == 0 {
            return Ok(());
        }
        *shown = false;
        self.state.statistics.steps += leg.done as u64;
        self.state.growth.note_leg(plan, leg);

        if self.observers.iter().any(|o| o.need() == Need::Rows) {
            extremes.find(plan, leg);
            let rows = FlatRows {
                plan,
                leg,
                extremes,
            };
            let mut watching = self.observers.iter_mut();
            watching.try_for_each(|o| match o.need() {
                Need::Rows => o.rows(rows),
                _ => Ok(()),
            })?;
        }
        if leg.done == 1 && self.observers.iter().any(|o| o.need() == Need::Steps) {
            leg.fill_tasks(plan, leg.steps[0], tasks);
            self.show(tasks, Need::Steps)?;
        }
        Ok(())
    }

    /// The past, and those who need the last step only, catch up with the last step of the leg.
    fn catch_up(&mut self, flat: &mut FlatLoop) -> Result<(), Error> {
        let Some(step) = flat.leg.last_step().filter(|_| !flat.shown) else {
            return Ok(());
        };
        flat.leg.fill_tasks(&flat.plan, step, &mut flat.tasks);
        flat.shown = true;
        self.state.past.record(&flat.tasks);
        self.show(&flat.tasks, Need::LastStep)
    }

    fn show(&mut self, tasks: &[Task], need: Need) -> Result<(), Error> {
        let exchange = Exchange {
            tasks,
            before: &[],
            iterations: 0,
            signals: &[],
        };
        let mut watching = self.observers.iter_mut().filter(|o| o.need() == need);
        watching.try_for_each(|o| o.accepted(exchange))
    }
}
