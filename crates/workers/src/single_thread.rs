//! All systems in the calling thread.

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, FeedPlan, FlatWorkers, HeldLayout, Interface, Leg,
    LegEnd, LinearizeTask, OperatorTask, System, Task, Work, Workers, visit_system,
};
use std::sync::atomic::AtomicBool;

use crate::flat_systems::{Completion, FlatSystems, are_ready, layouts};
use crate::operator_workspaces::OperatorWorkspaces;
use crate::slot::{
    Known, Operation, Slot, WorkerTask, advance, begin, evaluate, linearize, operators, trial,
};

/// All systems in the calling thread, one after the other.
pub struct SingleThread {
    /// While the systems step as numbers; gone before they are.
    flat: Option<FlatSystems>,
    slots: Vec<Slot>,
    workspaces: OperatorWorkspaces,
    known: Known,
    work: Vec<Work>,
}

impl SingleThread {
    /// Takes the systems over.
    pub fn new(mut systems: Vec<Box<dyn System>>) -> Self {
        let known = Known::of(&mut systems);
        Self::of_slots(systems.into_iter().map(Slot::new).collect(), known)
    }

    /// The same with systems that have worked elsewhere before.
    pub(crate) fn of_slots(slots: Vec<Slot>, known: Known) -> Self {
        Self {
            flat: None,
            known,
            work: slots.iter().map(|slot| slot.work).collect(),
            slots,
            workspaces: OperatorWorkspaces::default(),
        }
    }

    /// The systems as they are, to go on elsewhere.
    pub(crate) fn into_slots(self) -> (Vec<Slot>, Known) {
        (self.slots, self.known)
    }

    /// Carries out the tasks that are due.
    fn call<T: WorkerTask>(
        &mut self,
        tasks: &mut [T],
        operation: Operation<T>,
    ) -> Result<(), Error> {
        for task in tasks.iter_mut().filter(|task| task.is_due()) {
            let slot = &mut self.slots[task.system()];
            operation(slot, &mut self.workspaces, task)?;
            self.work[task.system()] = slot.work;
        }
        Ok(())
    }
}

impl Workers for SingleThread {
    fn interfaces(&self) -> &[Interface] {
        &self.known.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.known.capabilities
    }

    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, begin)
    }

    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, advance)
    }

    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, trial)
    }

    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error> {
        self.call(tasks, linearize)
    }

    fn evaluate(&mut self, tasks: &mut [EvaluateTask]) -> Result<(), Error> {
        self.call(tasks, evaluate)
    }

    fn operators(&mut self, tasks: &mut [OperatorTask]) -> Result<(), Error> {
        self.call(tasks, operators)
    }

    fn flat(&mut self) -> Option<&mut dyn FlatWorkers> {
        if self.flat.is_some() || are_ready(&mut self.slots) {
            Some(self)
        } else {
            None
        }
    }

    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.work)?;
        for (slot, work) in self.slots.iter_mut().zip(&self.work) {
            slot.work = *work;
            visit_system(slot.system.as_mut(), archive)?;
        }
        Ok(())
    }

    fn work(&self) -> &[Work] {
        &self.work
    }
}

impl FlatWorkers for SingleThread {
    fn layouts(&mut self) -> Vec<HeldLayout> {
        layouts(&mut self.slots)
    }

    fn enter(&mut self, plan: &FeedPlan) -> bool {
        self.flat = FlatSystems::new(&mut self.slots, plan);
        self.flat.is_some()
    }

    fn longest_leg(&self) -> usize {
        self.flat.as_ref().map_or(1, FlatSystems::longest_leg)
    }

    fn take_leg(&mut self, plan: &FeedPlan, leg: &mut Leg, interrupted: &AtomicBool) -> LegEnd {
        match &mut self.flat {
            Some(flat) => flat.take_leg(&mut self.slots, plan, leg, interrupted),
            None => LegEnd::Unready,
        }
    }

    fn complete_step(
        &mut self,
        plan: &FeedPlan,
        leg: &mut Leg,
        member: usize,
        tasks: &mut [Task],
    ) -> Result<(), Error> {
        let Some(flat) = &mut self.flat else {
            return Ok(());
        };
        let step = Completion {
            slots: &mut self.slots,
            work: &mut self.work,
            plan,
            leg,
            tasks,
        };
        flat.complete(step, member)
    }

    fn leave(&mut self, plan: &FeedPlan, leg: &Leg) {
        if let Some(mut flat) = self.flat.take() {
            flat.count(&mut self.slots, plan, leg, &mut self.work);
        }
    }
}
