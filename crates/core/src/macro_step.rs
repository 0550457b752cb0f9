//! Macro-steps, and the grids they come from.

/// One macro-step `[t_N, t_{N+1}]`.
///
/// `size` is kept beside the two ends because times come from an index: on the grid `0.1 n` every step has the size 0.1
/// to the last bit, although the differences of its times do not. What depends on the size alone (a matrix
/// exponential, say) can then be kept from step to step. C reads steps as three numbers: start, end, size.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct MacroStep {
    /// `t_N`, where signals have elapsed time 0.
    pub start: f64,
    /// `t_{N+1}`.
    pub end: f64,
    size: f64,
}

impl MacroStep {
    /// The step from `start` to `end`.
    pub fn new(start: f64, end: f64) -> Self {
        Self {
            start,
            end,
            size: end - start,
        }
    }

    /// The step of `size` from `start`: equal sizes are equal to the last bit, wherever they begin.
    pub fn of_size(start: f64, size: f64) -> Self {
        Self {
            start,
            end: start + size,
            size,
        }
    }

    /// The step with these very numbers, as they come from another process.
    pub fn exactly(start: f64, end: f64, size: f64) -> Self {
        Self { start, end, size }
    }

    /// A step of size zero: a question about the present, which moves nothing.
    pub fn instant(time: f64) -> Self {
        Self {
            start: time,
            end: time,
            size: 0.0,
        }
    }

    /// `δ`, the length of the step.
    #[inline]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Whether this is a question about the present.
    #[inline]
    pub fn is_instant(&self) -> bool {
        self.size == 0.0
    }
}

/// Equidistant communication times `start + n·size`, the last one exactly at `stop`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Grid {
    start: f64,
    stop: f64,
    size: f64,
    count: u64,
}

/// Less than this fraction of a step at the end of a run is not a step of its own.
const COINCIDENT: f64 = 1e-6;
/// Times that differ by less than this fraction of a step are the same number, but for rounding.
const ROUNDING: f64 = 1e-12;

impl Grid {
    /// The grid of steps of `size` from `start` to `stop`; the last step is shorter where the size does not divide the
    /// interval. Needs `size > 0` and `stop >= start`.
    pub fn new(start: f64, stop: f64, size: f64) -> Self {
        let count = ((stop - start) / size - COINCIDENT).ceil().max(0.0) as u64;
        Self {
            start,
            stop,
            size,
            count,
        }
    }

    /// How many steps lead to the end.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first communication time.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// The size of a step.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Whether every step, the last one included, is a whole number of steps of `size`.
    pub fn consists_of(&self, size: f64) -> bool {
        let whole = |length: f64| {
            let parts = (length / size).round();
            parts >= 1.0 && (length - parts * size).abs() <= COINCIDENT * size
        };
        whole(self.size) && whole(self.stop - self.start)
    }

    /// Communication time `n`; the end for every `n` beyond it.
    pub fn time(&self, n: u64) -> f64 {
        if n >= self.count {
            self.stop
        } else {
            self.start + n as f64 * self.size
        }
    }

    /// The last communication time up to `limit`, or after it by no more than rounding; the start where there is none.
    pub fn last_within(&self, limit: f64) -> f64 {
        let nearest = self.nearest(limit);
        let time = self.time(nearest);
        if nearest > 0 && time - limit > COINCIDENT * self.size {
            return self.time(nearest - 1);
        }
        time
    }

    /// The number of the communication time nearest to `time`.
    pub fn nearest(&self, time: f64) -> u64 {
        (((time - self.start) / self.size).round().max(0.0) as u64).min(self.count)
    }

    /// The number of the grid step that begins at `reached` or contains it.
    fn index(&self, reached: f64) -> u64 {
        // The conversion rounds towards zero, and what is negative becomes zero.
        let mut index = ((reached - self.start) / self.size + COINCIDENT) as u64;
        // Far from zero (seconds since 1970, say) times are too coarse for the division: a step must still lead on.
        while index < self.count && self.time(index + 1) <= reached {
            index += 1;
        }
        index
    }

    /// The step from `reached` to the next grid time, or to `event` where that comes first.
    ///
    /// An event that coincides with the grid time but for rounding takes its place: both are then the same number.
    pub fn step(&self, reached: f64, event: f64) -> MacroStep {
        let (end, size) = self.end_and_size(self.time(self.index(reached) + 1), reached, event);
        MacroStep {
            start: reached,
            end,
            size,
        }
    }

    /// Of the step from `reached` to `planned`, or to `event`.
    #[inline(never)]
    fn end_and_size(&self, planned: f64, reached: f64, event: f64) -> (f64, f64) {
        let near = self.near(planned, reached);
        let met = event > reached && event < planned + near && event <= self.stop;
        let end = if met { event } else { planned };
        let whole = ((end - reached) - self.size).abs() <= near;
        (end, if whole { self.size } else { end - reached })
    }

    /// What differs by a rounding or two is the same.
    fn near(&self, planned: f64, reached: f64) -> f64 {
        // Unlike `f64::max`, one instruction.
        let (one, other) = (reached.abs(), planned.abs());
        let larger = if one > other { one } else { other };
        ROUNDING * self.size + 4.0 * f64::EPSILON * larger
    }
}

/// A place on a grid: the steps of [`Grid::step`], found without a search where they follow one another.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct GridCursor {
    grid: Grid,
    /// The grid time to which the last step was to lead, and its number.
    planned: f64,
    number: u64,
}

impl GridCursor {
    /// A cursor before the first step.
    pub fn new(grid: Grid) -> Self {
        Self {
            grid,
            planned: f64::NAN,
            number: 0,
        }
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Moves the place to another grid of the same start and step: one that ends elsewhere.
    pub fn set_grid(&mut self, grid: Grid) {
        if grid != self.grid {
            self.planned = f64::NAN; // it may have been the end
        }
        self.grid = grid;
    }

    /// The step from `reached` to the next grid time, or to `event` where that comes first.
    #[inline]
    pub fn step(&mut self, reached: f64, event: f64) -> MacroStep {
        let grid = &self.grid;
        let mut planned = grid.time(self.number + 1);

        if reached != self.planned || planned <= reached {
            self.number = grid.index(reached);
            planned = grid.time(self.number + 1);
        }

        self.number += 1;
        self.planned = planned;
        let near = grid.near(planned, reached);
        // Mostly a whole step without an event, told apart by a branch: a processor that foresees it need not wait for the
        // end of the step before to know this one.
        let ordinary = event >= planned + near && ((planned - reached) - grid.size).abs() <= near;
        let (end, size) = if ordinary {
            (planned, grid.size)
        } else {
            grid.end_and_size(planned, reached, event)
        };

        MacroStep {
            start: reached,
            end,
            size,
        }
    }
}

/// Many steps at once.
impl GridCursor {
    /// Adds the steps from `reached` on, without events, up to `until` and at most so many in all.
    pub fn extend(
        &mut self,
        steps: &mut Vec<MacroStep>,
        mut reached: f64,
        until: f64,
        most: usize,
    ) {
        while steps.len() < most && reached < until {
            let step = self.step(reached, f64::INFINITY);
            steps.push(step);
            reached = step.end;
            if step.end == self.planned {
                reached = self.extend_by_whole_steps(steps, reached, until, most);
            }
        }
    }

    /// The whole steps from a grid time on, up to the first that is not; where they lead to.
    fn extend_by_whole_steps(
        &mut self,
        steps: &mut Vec<MacroStep>,
        mut reached: f64,
        until: f64,
        most: usize,
    ) -> f64 {
        let grid = self.grid;
        let mut number = self.number;
        while steps.len() < most && reached < until && number + 1 < grid.count {
            // Signed numbers are converted by one instruction.
            let planned = grid.start + (number + 1) as i64 as f64 * grid.size;
            let off = ((planned - reached) - grid.size).abs();
            if planned <= reached || off > grid.near(planned, reached) {
                break;
            }
            steps.push(MacroStep::exactly(reached, planned, grid.size));
            number += 1;
            reached = planned;
        }
        if number > self.number {
            self.number = number;
            self.planned = reached;
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(grid: Grid, event: f64) -> Vec<MacroStep> {
        let (mut steps, mut reached, mut walk) = (vec![], grid.time(0), GridCursor::new(grid));
        while reached < grid.stop {
            let event = if event > reached {
                event
            } else {
                f64::INFINITY
            };
            steps.push(grid.step(reached, event));
            assert_eq!(walk.step(reached, event), steps[steps.len() - 1]);
            reached = steps[steps.len() - 1].end;
        }
        if event == f64::INFINITY {
            let (mut at_once, mut cursor) = (vec![], GridCursor::new(grid));
            while at_once.len() < steps.len() {
                let reached = at_once
                    .last()
                    .map_or(grid.time(0), |last: &MacroStep| last.end);
                let most = at_once.len() + 7;
                cursor.extend(&mut at_once, reached, grid.stop, most);
            }
            assert_eq!(at_once, steps);
        }
        steps
    }

    #[test]
    fn ten_thousand_steps_of_a_thousandth_end_at_ten() {
        let steps = walk(Grid::new(0.0, 10.0, 0.001), f64::INFINITY);
        assert_eq!(steps.len(), 10_000);
        assert_eq!(steps[9999].end, 10.0);
        assert_eq!(steps[3].start, 0.003);
        assert!(steps.iter().all(|s| s.size() == 0.001));
    }

    #[test]
    fn a_size_that_does_not_divide_leaves_a_shorter_last_step() {
        let steps = walk(Grid::new(0.0, 1.0, 0.3), f64::INFINITY);
        assert_eq!(steps.len(), 4);
        assert_eq!(steps[3].end, 1.0);
        assert!((steps[3].size() - 0.1).abs() < 1e-15);
    }

    #[test]
    fn an_event_between_grid_times_is_met_and_the_grid_goes_on_after_it() {
        let ends: Vec<f64> = walk(Grid::new(0.0, 1.0, 0.25), 0.3)
            .iter()
            .map(|s| s.end)
            .collect();
        assert_eq!(ends, [0.25, 0.3, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn an_event_that_is_a_grid_time_but_for_rounding_takes_its_place() {
        let event = 0.3; // 3 · 0.1 is 0.30000000000000004
        let steps = walk(Grid::new(0.0, 1.0, 0.1), event);
        assert_eq!(steps.len(), 10);
        assert_eq!(steps[2].end, event);
        assert!(steps.iter().all(|s| s.size() == 0.1));
    }

    #[test]
    fn times_that_are_coarse_still_lead_on() {
        for (start, size) in [(1.7e9, 0.01), (1e6, 1e-5), (1e15, 0.3)] {
            let grid = Grid::new(start, start + 1000.0 * size, size);
            let steps = walk(grid, f64::INFINITY);
            assert!(
                steps
                    .iter()
                    .all(|step| step.end > step.start && step.size() > 0.0)
            );
            assert!(steps.len() as u64 <= grid.count());
        }
    }

    #[test]
    fn a_walk_may_leave_its_way() {
        let grid = Grid::new(0.0, 1.0, 0.1);
        let mut walk = GridCursor::new(grid);
        for reached in [0.0, 0.1, 0.15, 0.2, 0.7, 0.1, 0.2, 0.9, 0.9] {
            assert_eq!(
                walk.step(reached, f64::INFINITY),
                grid.step(reached, f64::INFINITY)
            );
        }
    }

    #[test]
    fn an_empty_interval_has_no_step() {
        assert_eq!(Grid::new(2.0, 2.0, 0.1).count(), 0);
    }
}
