//! What a step of a system costs, measured on one that is made for that and dropped afterwards.

use std::time::{Duration, Instant};

use dovetail_core::{MacroStep, Response, Signal, System};
use dovetail_workers::{SystemFactory, SystemRequest};
use serde::{Deserialize, Serialize};

use crate::bytes::from_bytes;
use crate::process::child_task::ChildTask;
use crate::process::own_part::OwnPart;
use crate::process::portable::WantedSystem;

/// So many steps are measured. The cheapest counts: the first ones fill caches, and a busy machine
/// interrupts some, for longer than a light step takes.
const STEPS: u32 = 4;
/// What takes longer than this is known well enough.
const ENOUGH: Duration = Duration::from_millis(100);

/// Measures a system in another process.
#[derive(Serialize, Deserialize)]
pub(crate) struct CostTask {
    job: Vec<u8>,
    make: Vec<u8>,
}

impl CostTask {
    pub fn of(request: &SystemRequest) -> Self {
        Self {
            job: request.job.clone(),
            make: request.make.clone(),
        }
    }
}

impl ChildTask for CostTask {
    const NAME: &'static str = "cost";

    type Answer = Option<f64>;

    fn carry_out(self) -> Option<f64> {
        let mut part = OwnPart::open(&self.job).ok()?;
        seconds_of_part(&mut part, &self.make)
    }
}

/// Makes the system that is wanted; the seconds that a step of it takes.
pub(crate) fn seconds_of_part(part: &mut OwnPart, order: &[u8]) -> Option<f64> {
    let wanted: WantedSystem = from_bytes(order).ok()?;
    let step = wanted.build.here().ok()?.step;
    let mut system = part.make(order).ok()?;
    seconds_of_step(system.as_mut(), wanted.start, step)
}

/// Seconds that a step of this size takes, from the start of the run and under start values; none
/// where the system does not take it.
pub(crate) fn seconds_of_step(system: &mut dyn System, start: f64, size: f64) -> Option<f64> {
    let interface = system.interface().clone();
    let inputs = interface.inputs.iter();
    let inputs: Vec<Signal> = inputs.map(|input| Signal::constant(input.start)).collect();
    let mut response = Response::new(&interface, 0);
    let here = MacroStep::instant(start);
    system.begin(here, &inputs, &mut response).ok()?;
    let began = Instant::now();
    let mut least = Duration::MAX;

    for n in 0..STEPS {
        let step = MacroStep::of_size(start + f64::from(n) * size, size);
        response.begin();
        let before = Instant::now();
        system.advance(step, &inputs, &mut response).ok()?;
        least = least.min(before.elapsed());
        if began.elapsed() > ENOUGH {
            break;
        }
    }
    Some(least.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use dovetail_core::{Error, Interface};

    use super::*;

    /// A system whose first steps take longer than the others.
    struct Warming {
        interface: Interface,
        steps: Cell<u32>,
        slow: u32,
    }

    impl System for Warming {
        fn interface(&self) -> &Interface {
            &self.interface
        }

        fn advance(
            &mut self,
            step: MacroStep,
            _inputs: &[Signal],
            _response: &mut Response,
        ) -> Result<(), Error> {
            if !step.is_instant() {
                self.steps.set(self.steps.get() + 1);
            }
            if self.steps.get() <= self.slow {
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }
    }

    fn warming(slow: u32) -> Warming {
        Warming {
            interface: Interface::default(),
            steps: Cell::new(0),
            slow,
        }
    }

    #[test]
    fn the_cheapest_step_counts() {
        let often_slow = seconds_of_step(&mut warming(3), 0.0, 0.1).expect("it steps");
        let always_slow = seconds_of_step(&mut warming(STEPS), 0.0, 0.1).expect("it steps");
        assert!(often_slow < always_slow, "{often_slow} {always_slow}");
    }
}
