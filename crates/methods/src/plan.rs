//! How long the next step is: the rule of thumb of IFOSMONDI (28), on a grid.

use dovetail_core::{Grid, MacroStep};
use serde::{Deserialize, Serialize};

use crate::saved_steps::OnGrid;

/// A step is halved so often at most.
const MOST_HALVINGS: usize = 10;
/// After a step that converged the next one may be longer by this factor.
const GROWTH: f64 = 1.3;

/// The steps of a run: those of a grid, cut where they do not converge.
#[derive(Serialize, Deserialize)]
pub(crate) struct GridPlan {
    grid: Grid,
    /// At most this long.
    size: f64,
    /// Halvings since a step last converged.
    halvings: usize,
}

impl OnGrid for GridPlan {
    fn grid(&self) -> Grid {
        self.grid
    }

    fn set_grid(&mut self, grid: Grid) {
        self.grid = grid;
    }
}

impl GridPlan {
    pub fn new(grid: Grid) -> Self {
        Self {
            grid,
            size: grid.size(),
            halvings: 0,
        }
    }

    /// The grid of the reference steps.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The next step: to the grid, to an event, or as far as the size allows.
    pub fn step(&self, reached: f64, event: f64) -> MacroStep {
        let whole = self.grid.step(reached, event);
        if whole.size() <= self.size * (1.0 + 1e-9) {
            return whole;
        }

        // Two equal parts rather than one and a sliver.
        let size = if whole.size() < 2.0 * self.size {
            whole.size() / 2.0
        } else {
            self.size
        };
        let part = MacroStep::new(reached, reached + size);
        if part.is_instant() { whole } else { part }
    }

    /// Half the step that failed, if that is still allowed.
    pub fn shorten(&mut self, failed: MacroStep) -> bool {
        self.size = self.size.min(failed.size()) / 2.0;
        self.halvings += 1;
        self.halvings <= MOST_HALVINGS && failed.start + self.size > failed.start
    }

    /// A step has converged.
    pub fn lengthen(&mut self) {
        self.size = self.grid.size().min(GROWTH * self.size);
        self.halvings = 0;
    }
}

/// A step of this size, or to the limit where that is near: two equal parts rather than one and a
/// sliver.
pub(crate) fn towards(reached: f64, limit: f64, size: f64) -> MacroStep {
    let rest = limit - reached;
    if rest <= 1.01 * size {
        return MacroStep::new(reached, limit);
    }

    let part = MacroStep::of_size(reached, if rest < 2.0 * size { rest / 2.0 } else { size });
    // Far from zero the clock is coarse: then a step is what the clock makes of it.
    let rounded = MacroStep::new(reached, part.end);

    if (rounded.size() - part.size()).abs() > 1e-12 * part.size() {
        rounded
    } else {
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_halved_step_comes_back_to_the_grid_and_grows_again() {
        let mut plan = GridPlan::new(Grid::new(0.0, 10.0, 1.0));
        assert_eq!(
            plan.step(2.0, f64::INFINITY),
            Grid::new(0.0, 10.0, 1.0).step(2.0, f64::INFINITY)
        );
        assert!(plan.shorten(plan.step(2.0, f64::INFINITY)));
        let mut reached = 2.0;
        let mut ends = vec![];
        while reached < 6.0 {
            reached = plan.step(reached, f64::INFINITY).end;
            plan.lengthen();
            ends.push(reached);
        }
        assert_eq!(ends[..2], [2.5, 3.0]);
        assert!(
            [4.0, 5.0, 6.0].iter().all(|grid| ends.contains(grid)),
            "{ends:?}"
        );
        assert_eq!(ends.last(), Some(&6.0));
    }

    #[test]
    fn halving_ends() {
        let mut plan = GridPlan::new(Grid::new(0.0, 1.0, 0.1));
        let step = plan.step(0.0, f64::INFINITY);
        assert_eq!((0..100).take_while(|_| plan.shorten(step)).count(), 10);
    }
}
