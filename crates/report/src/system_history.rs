//! What one system has answered, as curves: its variables between its own communication times.

use std::collections::VecDeque;

use dovetail_core::{Archive, Checkpoint, Error, Knot, Signal, Task, visit_fields};
use serde::{Deserialize, Serialize};

use crate::column::{RecordedColumn, elapsed};
use crate::interpolation::{bulge, hermite, line};
use crate::recent_points::RecentPoints;
use crate::variables::Kind;

/// From so many points on, a curve that goes further than they do is not believed: nothing follows
/// from fewer.
const ENOUGH_POINTS: usize = 3;

/// The answers of one system that are still needed: those ahead of the newest row.
///
/// A queue of one or two, but for a system that runs far ahead; it grows to what that needs and
/// then stays.
pub(crate) struct SystemHistory {
    columns: Vec<RecordedColumn>,
    segments: VecDeque<Segment>,
    /// Segments that are not needed any more, for those to come.
    spare: Vec<Segment>,
    /// Where the system stands: the time, minus infinity before the first answer, and its
    /// variables.
    reached: f64,
    now: Vec<Knot>,
    recent: RecentPoints,
}

/// The variables over one step.
#[derive(Serialize, Deserialize)]
struct Segment {
    start: f64,
    end: f64,
    /// In time elapsed since the start.
    curves: Vec<Signal>,
    /// The values at the end, as they were answered.
    values: Vec<f64>,
}

/// A place in a step that a system has said something about.
#[derive(Clone, Copy, PartialEq)]
enum PlaceInStep {
    Knot(usize),
    End,
}

impl PlaceInStep {
    fn time(self, task: &Task) -> f64 {
        match self {
            Self::Knot(knot) => task.response.path.times()[knot],
            Self::End => task.response.reached,
        }
    }

    fn knot(self, column: &RecordedColumn, task: &Task) -> Knot {
        match self {
            Self::Knot(knot) => column.knot_on_path(task, knot),
            Self::End => column.knot(task, elapsed(task)),
        }
    }
}

impl SystemHistory {
    pub fn new() -> Self {
        Self {
            columns: vec![],
            segments: VecDeque::new(),
            spare: vec![],
            reached: f64::NEG_INFINITY,
            now: vec![],
            recent: RecentPoints::new(),
        }
    }

    pub fn add(&mut self, column: RecordedColumn) {
        self.columns.push(column);
        self.now.push(Knot::value_only(f64::NAN));
    }

    pub fn columns(&self) -> &[RecordedColumn] {
        &self.columns
    }

    /// Room for the first few segments: a run that goes on as it began allocates nothing more.
    pub fn reserve(&mut self) {
        let width = self.columns.len();
        self.spare.extend((0..4).map(|_| Segment::new(width)));
        self.segments.reserve(8);
        self.recent.reserve(width);
    }

    /// The newest time, or minus infinity before the first answer.
    pub fn reached(&self) -> f64 {
        self.reached
    }

    /// Starts from the row that all systems have reached together.
    pub fn seed(&mut self, time: f64, row: &[f64]) {
        self.reached = time;
        for (knot, column) in self.now.iter_mut().zip(&self.columns) {
            *knot = Knot::value_only(row[column.index]);
        }
        self.restart();
    }

    /// Goes on where another history of the same system is, which has all columns of this one.
    pub fn take_up(&mut self, other: &Self) {
        let same = |one: &RecordedColumn, other: &RecordedColumn| {
            (one.kind, one.position) == (other.kind, other.position)
        };
        let place = |column: &RecordedColumn| {
            let found = other.columns.iter().position(|known| same(column, known));
            found.expect("BUG: a variable that is not among all variables")
        };
        let places: Vec<usize> = self.columns.iter().map(place).collect();

        self.reached = other.reached;
        self.now = places.iter().map(|&place| other.now[place]).collect();
        self.segments = other.segments.iter().map(|it| it.of(&places)).collect();
        self.recent.take_up(&other.recent, &places);
    }

    /// What was before says nothing of what comes.
    fn restart(&mut self) {
        self.recent.clear();
        self.recent.push(self.reached, &self.now);
    }

    /// Something has happened at this time, here or elsewhere: curves may have a corner there.
    pub fn expect_corner(&mut self, time: f64) {
        if self.reached == time {
            self.restart();
        }
    }

    /// Adds an answer; an instant, or a second answer for the same time, replaces what was known of
    /// it. Without `curves` nobody will look between the last answer and this one.
    pub fn record(&mut self, task: &Task, curves: bool) {
        let elapsed = elapsed(task);
        let first = self.reached == f64::NEG_INFINITY;
        let again = task.step.is_instant() || self.reached == task.response.reached || first;

        if !again && curves {
            for knot in 0..task.response.path.len() {
                self.follow(task, PlaceInStep::Knot(knot));
            }
            self.follow(task, PlaceInStep::End);
        }

        self.move_to_end(task, elapsed);

        if again {
            self.replace_last_values();
            self.restart();
        } else {
            self.recent.push(self.reached, &self.now);
        }
    }

    /// The system stands at the end of what the task has done.
    fn move_to_end(&mut self, task: &Task, elapsed: f64) {
        self.reached = task.response.reached;
        for (knot, column) in self.now.iter_mut().zip(&self.columns) {
            *knot = column.knot(task, elapsed);
        }
    }

    /// The values at the end of the last segment, where that is the time reached, are those of now.
    fn replace_last_values(&mut self) {
        if let Some(last) = self.segments.back_mut()
            && last.end == self.reached
        {
            copy_values(&self.now, &mut last.values);
        }
    }

    /// The curves from where the system stands to a place in the step, or to its end.
    fn follow(&mut self, task: &Task, place: PlaceInStep) {
        let end = place.time(task);
        let whole = task.response.path.is_empty();
        let size = if whole {
            elapsed(task)
        } else {
            end - self.reached
        };
        if place != PlaceInStep::End && size <= 0.0 {
            return;
        }
        let spare = self.spare.pop();
        let mut segment = spare.unwrap_or_else(|| Segment::new(self.columns.len()));
        segment.start = self.reached;
        segment.end = end;

        for (i, column) in self.columns.iter().enumerate() {
            let left = self.now[i];
            let right = place.knot(column, task);
            segment.values[i] = right.value;
            segment.curves[i] = match column.kind {
                Kind::Input if whole => task.inputs[column.position],
                Kind::Input => task.inputs[column.position].shifted(self.reached - task.step.start),
                _ if column.held => Signal::constant(left.value),
                _ => self.curve(i, size, left, right),
            };
        }
        self.segments.push_back(segment);

        if place != PlaceInStep::End {
            self.reached = end;
            for (knot, column) in self.now.iter_mut().zip(&self.columns) {
                *knot = place.knot(column, task);
            }
            self.recent.push(self.reached, &self.now);
        }
    }

    /// A curve between two knots: of degree 5 or 3 where derivatives are known and can be believed,
    /// otherwise through the last points, or a line, over a jump always.
    fn curve(&self, column: usize, size: f64, left: Knot, right: Knot) -> Signal {
        if let Some(curve) = hermite(size, left, right) {
            let enough = self.recent.len() >= ENOUGH_POINTS;
            let far = enough && bulge(&curve, size) > self.recent.range(column, right.value);
            if !far {
                return curve;
            }
        }

        let value = right.value;
        if !self.recent.is_jump(column, self.reached + size, value) {
            let curve = self.recent.polynomial(column, self.reached, size, value);
            if bulge(&curve, size) <= 0.5 * self.recent.smooth_range(column, value) {
                return curve;
            }
        }

        line(size, left.value, value)
    }

    /// Writes the values at `time` into the row and forgets what lies before.
    pub fn read(&mut self, time: f64, row: &mut [f64]) {
        self.forget_before(time);

        match self.segments.front() {
            Some(segment) if segment.start <= time && time < self.reached => {
                for (i, column) in self.columns.iter().enumerate() {
                    row[column.index] = segment.value(i, time);
                }
            }

            _ => {
                for (column, knot) in self.columns.iter().zip(&self.now) {
                    row[column.index] = knot.value;
                }
            }
        }
    }

    fn forget_before(&mut self, time: f64) {
        while let Some(segment) = self.segments.front()
            && segment.end < time
        {
            self.spare.extend(self.segments.pop_front());
        }
    }
}

impl Segment {
    fn new(width: usize) -> Self {
        Self {
            start: 0.0,
            end: 0.0,
            curves: vec![Signal::constant(0.0); width],
            values: vec![0.0; width],
        }
    }

    /// Some of its columns.
    fn of(&self, places: &[usize]) -> Self {
        Self {
            start: self.start,
            end: self.end,
            curves: places.iter().map(|&place| self.curves[place]).collect(),
            values: places.iter().map(|&place| self.values[place]).collect(),
        }
    }

    fn value(&self, position: usize, time: f64) -> f64 {
        if time == self.end {
            self.values[position]
        } else {
            self.curves[position].value(time - self.start)
        }
    }
}

fn copy_values(knots: &[Knot], values: &mut [f64]) {
    for (value, knot) in values.iter_mut().zip(knots) {
        *value = knot.value;
    }
}

/// Columns follow from what is recorded.
impl Checkpoint for SystemHistory {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.segments, self.reached, self.recent);
        archive.slice(&mut self.now)
    }
}
