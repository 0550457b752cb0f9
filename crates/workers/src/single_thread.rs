//! All systems in the calling thread.

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, Interface, LinearizeTask, System, Task, Work,
    Workers, visit_system,
};

use crate::slot::{Operation, Slot, WorkerTask, advance, begin, evaluate, linearize, trial};

/// All systems in the calling thread, one after the other.
pub struct SingleThread {
    slots: Vec<Slot>,
    interfaces: Vec<Interface>,
    capabilities: Vec<Capabilities>,
    work: Vec<Work>,
}

impl SingleThread {
    /// Takes the systems over.
    pub fn new(mut systems: Vec<Box<dyn System>>) -> Self {
        let interfaces = systems.iter().map(|system| system.interface().clone());
        Self {
            interfaces: interfaces.collect(),
            capabilities: systems
                .iter_mut()
                .map(|system| Capabilities::of(system.as_mut()))
                .collect(),
            work: vec![Work::default(); systems.len()],
            slots: systems.into_iter().map(Slot::new).collect(),
        }
    }

    /// Carries out the tasks that are due.
    fn call<T: WorkerTask>(
        &mut self,
        tasks: &mut [T],
        operation: Operation<T>,
    ) -> Result<(), Error> {
        for task in tasks.iter_mut().filter(|task| task.is_due()) {
            let slot = &mut self.slots[task.system()];
            operation(slot, task)?;
            self.work[task.system()] = slot.work;
        }
        Ok(())
    }
}

impl Workers for SingleThread {
    fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.capabilities
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
