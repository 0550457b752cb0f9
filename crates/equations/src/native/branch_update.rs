//! At one instant: which branches a system takes, and what it sets anew.

use dovetail_core::EventGradient;

use super::branches::Branches;
use super::clauses::Clauses;
use super::drive::Drive;
use super::dynamics::Dynamics;
use super::sliding::{LAYER, Layer, SLIDING};
use super::watch::WatchPoint;
use crate::held::SwitchKind;

/// Rounds of clauses that run one another before they are given up.
const MOST_UPDATES: usize = 100;

/// What the location of an event leaves of its function is less than this part of how large the
/// function has been.
const MOST_RESIDUAL: f64 = 1e-3;

/// The system where it stands, under its present inputs.
pub(super) struct BranchUpdate<'a> {
    pub dynamics: &'a mut Dynamics,
    pub drive: &'a Drive,
    pub kinds: &'a [SwitchKind],
    pub acting: &'a [bool],
    pub clauses: &'a mut Clauses,
    /// Scratch: all about the place, and what functions and their rates were before clauses ran.
    pub point: &'a mut WatchPoint,
    pub before: &'a mut [f64],
    pub before_rates: &'a mut [f64],
    /// How large each function has been.
    pub spans: &'a mut [f64],
    pub states: &'a mut [f64],
    /// Whether what switches may be averaged, since all that depend on it are affine in it.
    pub may_average: bool,
    /// Whether the system's clock ticks now.
    pub ticks: bool,
    /// What the event makes of a small change of states and inputs, if somebody asks.
    pub reset: Option<&'a mut EventGradient>,
    /// A time on the same side of every time switch.
    pub side: f64,
    pub time: f64,
}

impl BranchUpdate<'_> {
    /// Crosses what is due, takes the branches that agree with the functions, and runs the clauses
    /// whose conditions have become true. Fails where that has no end.
    pub fn cross(&mut self, branches: &mut Branches) -> Result<(), EndlessUpdates> {
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
        let updated = self.run_clauses(branches);
        self.enter_surfaces(branches);
        if self.may_average {
            self.enter_layers(branches);
        }
        self.allow_for_residuals(branches);
        updated
    }

    /// Where both sides of a function that has just been crossed push towards the surface, the
    /// system slides along it.
    fn enter_surfaces(&mut self, branches: &mut Branches) {
        for function in 0..self.kinds.len() {
            let may_slide = branches.crossed[function]
                && self.acting[function]
                && self.kinds[function] == SwitchKind::Side
                && !branches.slides_along(function);
            if may_slide && self.is_held_from_both_sides(branches, function) {
                branches.held[function] = SLIDING;
                self.evaluate(branches);
            }
        }
    }

    /// Where a function that has just been crossed is pushed back by what others make of it, they
    /// keep it at zero.
    fn enter_layers(&mut self, branches: &mut Branches) {
        for function in 0..self.kinds.len() {
            let may_slide = branches.crossed[function]
                && self.acting[function]
                && self.kinds[function] == SwitchKind::Side
                && !branches.slides_along(function);
            if !may_slide {
                continue;
            }
            let now = self.point.rates[function];
            let before = branches.approach[function];
            let [above, below] = if branches.held[function] == 0.0 {
                [now, before]
            } else {
                [before, now]
            };
            if above < 0.0 && below > 0.0 {
                let value = self.point.values[function];
                let layer = Layer::between(value, self.spans[function], [above, below]);
                branches.shares[function] = layer.share;
                if let Some(place) = self.dynamics.layer_mut(function) {
                    *place = layer;
                }
                branches.held[function] = LAYER;
                self.evaluate(branches);
            }
        }
    }

    fn is_held_from_both_sides(&mut self, branches: &mut Branches, function: usize) -> bool {
        let held = branches.held[function];
        let [above, below] = [0.0, 1.0].map(|side| {
            branches.held[function] = side;
            self.evaluate(branches);
            self.point.rates[function]
        });
        branches.held[function] = held;
        self.evaluate(branches);

        above < 0.0 && below > 0.0
    }

    /// Runs clauses until no condition becomes true any more. All that run in one round see what
    /// was before it.
    fn run_clauses(&mut self, branches: &mut Branches) -> Result<(), EndlessUpdates> {
        if self.clauses.is_empty() {
            return Ok(());
        }

        for round in 0..MOST_UPDATES {
            self.dynamics.enter(self.side, &branches.held);
            let at = self.drive.point(self.time, self.states);
            self.dynamics.conditions(at, &mut self.clauses.truths);
            self.clauses
                .fire(&branches.truths, self.ticks && round == 0);
            if self.clauses.fired.is_empty() {
                branches.truths.copy_from_slice(&self.clauses.truths);
                return Ok(());
            }
            if !self.ticks && branches.runs.note(self.time) {
                let unending = self.unending(Unending::PileUp);
                if !self.clauses.come_to_rest(&branches.truths) {
                    return Err(unending);
                }
                branches.runs.forget();
            }
            branches.truths.copy_from_slice(&self.clauses.truths);
            self.evaluate(branches);
            self.before.copy_from_slice(&self.point.values);
            self.before_rates.copy_from_slice(&self.point.rates);
            self.assign();
            self.settle_anew(branches);
        }

        Err(self.unending(Unending::Circle))
    }

    fn unending(&self, kind: Unending) -> EndlessUpdates {
        EndlessUpdates {
            kind,
            conditions: self.clauses.texts_of_fired(),
        }
    }

    /// After states have been set: a function that has crossed may cross again where that has moved
    /// it, be it through others that have changed sides.
    fn settle_anew(&mut self, branches: &mut Branches) {
        for _ in 0..=self.kinds.len() {
            self.settle(branches);
            if !self.release_moved(branches) {
                break;
            }
        }
    }

    fn release_moved(&self, branches: &mut Branches) -> bool {
        let mut any = false;
        for function in 0..self.kinds.len() {
            let moved = self.before[function] != self.point.values[function]
                || self.before_rates[function] != self.point.rates[function];
            any |= moved && branches.crossed[function] && !branches.released[function];
            branches.crossed[function] &= !moved || branches.released[function];
            branches.released[function] |= moved;
        }
        any
    }

    /// Sets the states of the clauses that run.
    fn assign(&mut self) {
        let at = self.drive.point(self.time, self.states);
        self.dynamics.assignments(at, &mut self.clauses.values);
        if let Some(reset) = &mut self.reset {
            self.dynamics
                .assignment_columns(at, &mut self.clauses.columns);
            follow(reset, self.clauses);
        }

        for &(state, assignment) in &self.clauses.fired {
            self.states[state] = self.clauses.values[assignment];
        }
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
            return self.turn_back(branches, function);
        }

        let kind = self.kinds[function];
        let value = self.point.values[function];
        let slack = branches.slack[function];
        let margin = branches.margin(kind, function, value);
        if margin.distance < -slack {
            if branches.slides_along(function) {
                self.flip(branches, function);
                branches.crossed[function] = true;
            } else {
                branches.held[function] = kind.of(value);
            }
            return true;
        }

        let rate = self.point.rates[function];
        let leaves = margin.sign * rate < 0.0;
        if margin.distance <= slack && leaves {
            self.flip(branches, function);
            branches.crossed[function] = true;
            return true;
        }
        // What stays at zero, such as the difference of two numbers that only events change, is
        // what it is there.
        let stays = value == 0.0 && rate == 0.0 && kind == SwitchKind::Side;
        let differs = branches.held[function] != kind.of(value);
        if stays && differs && !branches.slides_along(function) {
            branches.held[function] = kind.of(value);
            return true;
        }
        false
    }

    /// A function that has crossed and that only conditions depend on may turn at zero, by what its
    /// own crossing has set: that is no event of its own.
    fn turn_back(&self, branches: &mut Branches, function: usize) -> bool {
        let value = self.point.values[function];
        let margin = branches.margin(self.kinds[function], function, value);
        let leaves = margin.sign * self.point.rates[function] < 0.0;
        let at_zero = margin.distance <= MOST_RESIDUAL * self.spans[function];
        let turns = leaves && at_zero && !self.acting[function] && !branches.released[function];

        if turns {
            branches.released[function] = true;
            self.flip(branches, function);
        }
        turns
    }

    fn flip(&self, branches: &mut Branches, function: usize) {
        let value = self.point.values[function];
        branches.approach[function] = if branches.slides_along(function) {
            0.0
        } else {
            self.point.rates[function]
        };
        branches.flip(self.kinds[function], function, value);
    }

    /// What has just crossed may be on the wrong side by what its location has left.
    fn allow_for_residuals(&mut self, branches: &mut Branches) {
        for (function, &kind) in self.kinds.iter().enumerate() {
            let margin = branches.margin(kind, function, self.point.values[function]);
            let wrong = 2.0 * (-margin.distance).max(0.0);
            branches.slack[function] = wrong.min(MOST_RESIDUAL * self.spans[function]);
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
        for (function, span) in self.spans.iter_mut().enumerate() {
            if !branches.slides_along(function) {
                *span = span.max(point.values[function].abs());
            }
        }
    }
}

/// How states that have been set depend on what was before the event: what they depended on before
/// this round, and this round.
fn follow(reset: &mut EventGradient, clauses: &Clauses) {
    let states = reset.x.len();
    let by_states = reset.reset.clone();
    let by_inputs = reset.reset_by_inputs.clone();

    for &(state, assignment) in &clauses.fired {
        let column = |j: usize| clauses.columns[(assignment, j)];
        for k in 0..states {
            let terms = (0..states).map(|j| column(j) * by_states[(j, k)]);
            reset.reset[(state, k)] = terms.sum();
        }
        for k in 0..reset.u.len() {
            let terms = (0..states).map(|j| column(j) * by_inputs[(j, k)]);
            reset.reset_by_inputs[(state, k)] = terms.sum::<f64>() + column(states + k);
        }
    }
}

/// In which way clauses have no end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unending {
    /// They run one another at one time.
    Circle,
    /// They run ever more often.
    PileUp,
}

/// Clauses run without end.
pub(super) struct EndlessUpdates {
    pub kind: Unending,
    /// Their conditions.
    pub conditions: Vec<String>,
}
