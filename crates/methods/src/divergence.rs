//! Telling a coupling that diverges from a solution that grows.
//!
//! Held inputs arrive a step late. Around a loop through feedthrough the delayed values can feed on
//! themselves: the outputs then grow by a constant factor with *every* step, however small the
//! step. A solution that the steps resolve does not do that: in ten steps it may grow five times,
//! but not in ten steps and again in the next ten, six times over. Only outputs on such a loop are
//! watched; what grows elsewhere does so by its own dynamics.

use dovetail_core::{Connections, Error, SignalKind, Task};
use serde::{Deserialize, Serialize};

use crate::initialization::algebraic_loops;

/// Steps in a window.
const WINDOW: usize = 10;
/// Growth from one window to the next that is suspicious.
const SUSPICIOUS: f64 = 5.0;
/// So many suspicious windows in a row are a divergence.
const WINDOWS: usize = 6;

/// Watches the size of the outputs on loops through feedthrough, window by window.
#[derive(Serialize, Deserialize)]
pub(crate) struct Divergence {
    /// Largest value of each output, stacked, in the window under way.
    largest: Vec<f64>,
    watched: Vec<Growth>,
    step: usize,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Growth {
    output: usize,
    previous: f64,
    /// Suspicious windows in a row, and the size before the first of them.
    run: usize,
    before: f64,
}

impl Growth {
    fn of(output: usize) -> Self {
        Self {
            output,
            ..Self::default()
        }
    }

    fn close_window(&mut self, largest: f64) {
        let suspicious = self.previous > 0.0 && largest >= SUSPICIOUS * self.previous;
        if suspicious && self.run == 0 {
            self.before = self.previous;
        }

        self.run = if suspicious { self.run + 1 } else { 0 };
        self.previous = largest;
    }
}

impl Divergence {
    pub(crate) fn new(connections: &Connections) -> Self {
        let mut watched = algebraic_loops(connections).concat();
        watched.retain(|&output| connections.output(output).kind == SignalKind::Continuous);

        Self {
            largest: vec![0.0; connections.outputs()],
            watched: watched.into_iter().map(Growth::of).collect(),
            step: 0,
        }
    }

    /// Whether there is anything to watch.
    pub(crate) fn is_needed(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Takes in the answers of one step; an error once an output has grown through enough windows.
    #[inline]
    pub(crate) fn watch(
        &mut self,
        method: &'static str,
        connections: &Connections,
        tasks: &[Task],
    ) -> Result<(), Error> {
        if self.watched.is_empty() {
            Ok(())
        } else {
            self.take_in(method, connections, tasks)
        }
    }

    fn take_in(
        &mut self,
        method: &'static str,
        connections: &Connections,
        tasks: &[Task],
    ) -> Result<(), Error> {
        for task in tasks {
            let largest = &mut self.largest[connections.outputs_of(task.system)];
            for (largest, knot) in largest.iter_mut().zip(&task.response.outputs) {
                *largest = largest.max(knot.value.abs());
            }
        }

        self.step += 1;
        if self.step.is_multiple_of(WINDOW) {
            self.watched
                .iter_mut()
                .for_each(|growth| growth.close_window(self.largest[growth.output]));
            self.largest.fill(0.0);
            if let Some(growth) = self.watched.iter().find(|growth| growth.run >= WINDOWS) {
                return Err(diverged(growth, method, connections, tasks));
            }
        }
        Ok(())
    }
}

fn diverged(
    growth: &Growth,
    method: &'static str,
    connections: &Connections,
    tasks: &[Task],
) -> Error {
    let owner = connections.owner(growth.output);
    let interface = &connections.interfaces()[owner];
    let steps = growth.run * WINDOW;

    Error::Diverged {
        system: interface.name.clone(),
        variable: interface.outputs[growth.output - connections.outputs_of(owner).start]
            .name
            .clone(),
        time: tasks[0].response.reached,
        value: growth.previous,
        growth: (growth.previous / growth.before).powf(1.0 / steps as f64),
        steps,
        method,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_core::{Input, Interface, Knot, Output, Source};

    /// Steps until an output that follows `values` is called divergent.
    fn watch(values: impl Iterator<Item = f64>) -> Option<usize> {
        let output = Output {
            name: "y".into(),
            depends_on: vec![0],
            ..Output::default()
        };
        let inputs = vec![Input {
            name: "u".into(),
            ..Input::default()
        }];
        let interface = Interface {
            name: "s".into(),
            inputs: inputs.into(),
            outputs: vec![output].into(),
            ..Interface::default()
        };
        let connections = Connections::new(vec![interface], vec![Source::Output(0)]);
        let mut watch = Divergence::new(&connections);
        let mut tasks = connections.tasks(0);
        for (n, value) in values.enumerate() {
            tasks[0].response.outputs[0] = Knot::from(value);
            if watch.watch("jacobi", &connections, &tasks).is_err() {
                return Some(n + 1);
            }
        }
        None
    }

    #[test]
    fn growth_with_every_step_is_a_divergence() {
        let diverging = (0..500).map(|n| 1.25f64.powi(n) * f64::from(n % 4 - 2).signum());
        assert_eq!(watch(diverging), Some(70));
    }

    #[test]
    fn a_resolved_exponential_is_not() {
        assert_eq!(watch((0..5000).map(|n| (0.05 * f64::from(n)).exp())), None);
    }

    #[test]
    fn neither_is_a_start_from_rest_nor_a_jump() {
        assert_eq!(watch((0..1000).map(|n| f64::from(n).powi(4))), None);
        assert_eq!(
            watch((0..1000).map(|n| if n < 500 { 1e-9 } else { 1e9 })),
            None
        );
    }
}
