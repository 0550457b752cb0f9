//! How fast systems are by themselves: bounds on the sizes of their eigenvalues.

use dovetail_core::{Connections, components};
use dovetail_numerics::spectral_bound;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::interface_system::InterfaceSystem;
use crate::state_counts::distinct_state_counts;

/// Of larger systems it is not asked: they count as slow.
const MOST_STATES: usize = 64;
/// A step is long for a system whose eigenvalues times its size exceed this.
const STIFF: f64 = 10.0;

/// A bound for each system, with room to compute it in.
#[derive(Serialize, Deserialize)]
pub(crate) struct Rates {
    all: Vec<f64>,
    /// The loop that each system is on, and whether some system on it is kept where it switches:
    /// then the loop is faster than any step.
    loops: Vec<usize>,
    kept: Vec<bool>,
    /// For each number of states that occurs.
    scratch: Vec<DMatrix<f64>>,
}

impl Rates {
    pub fn new(connections: &Connections) -> Self {
        let sizes = distinct_state_counts(connections).into_iter();
        let small = sizes.filter(|size| *size <= MOST_STATES);

        let loops = loops(connections);

        Self {
            all: vec![0.0; connections.interfaces().len()],
            kept: vec![false; loops.len()],
            loops,
            scratch: small.map(|size| DMatrix::zeros(size, size)).collect(),
        }
    }

    /// The systems stand elsewhere: how fast they are there.
    pub fn locate(&mut self, interface_system: &InterfaceSystem) {
        self.kept.fill(false);
        for (system, here) in interface_system.linearizations().enumerate() {
            self.kept[self.loops[system]] |= here.kept;
        }

        for (rate, here) in self.all.iter_mut().zip(interface_system.linearizations()) {
            let mut scratch = self.scratch.iter_mut();
            if let Some(scratch) = scratch.find(|scratch| scratch.nrows() == here.a.nrows()) {
                *rate = spectral_bound(&here.a, scratch);
            }
        }
    }

    /// How fast a system is.
    pub fn of(&self, system: usize) -> f64 {
        self.all[system]
    }

    /// How fast the fastest system is.
    pub fn fastest(&self) -> f64 {
        self.all.iter().copied().fold(0.0, f64::max)
    }

    /// Whether a step of this size is long for a system: then its slopes say little.
    pub fn is_long(&self, system: usize, size: f64) -> bool {
        self.all[system] * size > STIFF || self.kept[self.loops[system]]
    }

    /// Whether a system is on a loop that is kept where something switches.
    pub fn is_kept(&self, system: usize) -> bool {
        self.kept[self.loops[system]]
    }

    /// Whether any is.
    pub fn any_kept(&self) -> bool {
        self.kept.contains(&true)
    }

    /// Whether it is long for any.
    pub fn is_long_for_any(&self, size: f64) -> bool {
        (0..self.all.len()).any(|system| self.is_long(system, size))
    }
}

/// For each system the number of the loop that it is on: systems that feed one another have the
/// same.
fn loops(connections: &Connections) -> Vec<usize> {
    let systems = connections.systems();
    let fed_by = |system: usize| {
        let sources = &connections.sources()[connections.inputs_of(system)];
        let outputs = sources.iter().filter_map(|source| source.output());
        outputs.map(|output| connections.owner(output)).collect()
    };
    let graph: Vec<Vec<usize>> = (0..systems).map(fed_by).collect();
    let mut loops = vec![0; systems];

    for (number, members) in components(&graph).into_iter().enumerate() {
        members
            .into_iter()
            .for_each(|system| loops[system] = number);
    }
    loops
}
