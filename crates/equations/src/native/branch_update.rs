//! At one instant: which branches a system takes.

use super::branches::Branches;
use super::drive::Drive;
use super::dynamics::Dynamics;
use super::watch::WatchPoint;
use crate::held::SwitchKind;

/// The system where it stands, under its present inputs.
pub(super) struct BranchUpdate<'a> {
    pub dynamics: &'a mut Dynamics,
    pub drive: &'a Drive,
    pub kinds: &'a [SwitchKind],
    /// Scratch.
    pub point: &'a mut WatchPoint,
    pub states: &'a [f64],
    /// A time on the same side of every time switch.
    pub side: f64,
    pub time: f64,
}

impl BranchUpdate<'_> {
    /// Crosses what is due, and takes the branches that agree with the functions.
    pub fn cross(&mut self, branches: &mut Branches) {
        branches.come_to(self.time);
        if branches.are_new() {
            self.begin(branches);
        }

        if branches.any_due() {
            self.evaluate(branches);
            for function in 0..self.kinds.len() {
                if std::mem::take(&mut branches.due[function]) {
                    self.flip(branches, function);
                    branches.crossed[function] = true;
                }
            }
        }

        self.settle(branches);
        self.allow_for_residuals(branches);
    }

    /// The side on which each function is, one after the other: a function may depend on what is
    /// held of those before it.
    fn begin(&mut self, branches: &mut Branches) {
        branches.held.fill(0.0);
        for _ in 0..=self.kinds.len() {
            self.evaluate(branches);
            let mut changed = false;
            for (function, &kind) in self.kinds.iter().enumerate() {
                let held = kind.of(self.point.values[function]);
                changed |= held != branches.held[function];
                branches.held[function] = held;
            }
            if !changed {
                break;
            }
        }
    }

    /// Changes sides until nothing is on the wrong one, at most twice for each function.
    fn settle(&mut self, branches: &mut Branches) {
        for _ in 0..2 * self.kinds.len() + 1 {
            self.evaluate(branches);
            let mut changed = false;
            for function in 0..self.kinds.len() {
                changed |= self.settle_one(branches, function);
            }
            if !changed {
                break;
            }
        }
    }

    /// Changes the side of a function that is clearly on the wrong one, or at zero and on its way
    /// there; true if it has changed.
    fn settle_one(&mut self, branches: &mut Branches, function: usize) -> bool {
        if branches.crossed[function] {
            return false;
        }

        let kind = self.kinds[function];
        let value = self.point.values[function];
        let slack = branches.slack[function];
        let margin = branches.margin(kind, function, value);
        if margin.distance < -slack {
            branches.held[function] = kind.of(value);
            return true;
        }

        let leaves = margin.sign * self.point.rates[function] < 0.0;
        if margin.distance <= slack && leaves {
            self.flip(branches, function);
            branches.crossed[function] = true;
            return true;
        }
        false
    }

    fn flip(&self, branches: &mut Branches, function: usize) {
        let value = self.point.values[function];
        branches.flip(self.kinds[function], function, value);
    }

    /// What has just crossed may be on the wrong side by what its location has left.
    fn allow_for_residuals(&mut self, branches: &mut Branches) {
        for (function, &kind) in self.kinds.iter().enumerate() {
            let margin = branches.margin(kind, function, self.point.values[function]);
            branches.slack[function] = 2.0 * (-margin.distance).max(0.0);
        }
    }

    fn evaluate(&mut self, branches: &Branches) {
        self.dynamics.enter(self.side, &branches.held);
        let at = self.drive.point(self.time, self.states);
        let point = &mut *self.point;
        self.dynamics.derivative(at, &mut point.slopes);
        let motion = self.drive.motion(&point.slopes);
        self.dynamics
            .functions(at, motion, &mut point.values, &mut point.rates);
    }
}
