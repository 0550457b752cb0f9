//! Rows of results from the exchanges of a run.

use std::collections::VecDeque;
use std::io;

use dovetail_core::{Connections, Error, Exchange, Observer, Task};

use crate::{Kind, Selection, Sink};

/// Watches a run and gives its sink one row for each time that all systems have reached.
///
/// One row is held back: an event is crossed by a second answer for the same time, and the row then is that of the second
/// answer. Where systems keep their own pace, those ahead are read off between their own times, linearly.
pub struct Recorder<S> {
    lanes: Vec<Lane>,
    /// So far all systems have answered together, for the same times: the lanes are not needed yet.
    in_step: bool,
    /// Columns that show what the method tells about itself.
    signals: Vec<Column>,
    row: Vec<f64>,
    row_time: Option<f64>,
    sink: S,
    label: String,
}

/// The answers of one system that are still needed: the last one at or before the newest row, and those ahead of it.
///
/// A queue of one or two, but for a system that runs far ahead; it grows to what that needs and then stays.
struct Lane {
    columns: Vec<Column>,
    times: VecDeque<f64>,
    values: VecDeque<f64>,
}

/// A column of the row, and which of the system's variables it shows.
struct Column {
    index: usize,
    kind: Kind,
    position: usize,
}

impl<S: Sink> Recorder<S> {
    /// Records `selection` into `sink`; `label` names the sink in errors ("results.csv").
    pub fn new(connections: &Connections, selection: &Selection, sink: S, label: impl Into<String>) -> Self {
        let mut lanes: Vec<Lane> = (0..connections.systems()).map(|_| Lane::new()).collect();
        let mut signals = Vec::new();
        for (index, variable) in selection.variables().iter().enumerate() {
            let column = Column { index, kind: variable.kind, position: variable.position };
            match variable.kind {
                Kind::Signal => signals.push(column),
                _ => lanes[variable.system].columns.push(column),
            }
        }
        lanes.iter_mut().for_each(Lane::reserve);
        let row = vec![f64::NAN; selection.variables().len()];
        Self { lanes, in_step: true, signals, row, row_time: None, sink, label: label.into() }
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The sink, after the run.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Gives the held row away, if there is one.
    fn emit(&mut self) -> Result<(), Error> {
        // Taken first: after a failure the row is not offered again.
        let Some(time) = self.row_time.take() else { return Ok(()) };
        let written = self.sink.row(time, &self.row);
        written.map_err(|source| self.failure(&format!(" at t = {time} s"), source))
    }

    /// Moves the held row on to `time`, giving the old one away if time has moved.
    fn hold(&mut self, time: f64) -> Result<(), Error> {
        if self.row_time.is_some_and(|held| time > held) {
            self.emit()?;
        }
        self.row_time = Some(time);
        Ok(())
    }

    /// All systems have answered for `time`: their values are the row.
    fn take_together(&mut self, time: f64, tasks: &[Task]) -> Result<(), Error> {
        self.hold(time)?;
        for task in tasks {
            let elapsed = elapsed(task);
            for column in &self.lanes[task.system].columns {
                self.row[column.index] = column.value(task, elapsed);
            }
        }
        Ok(())
    }

    /// Systems that keep their own pace: the row is that of the slowest.
    fn take_apart(&mut self, tasks: &[Task]) -> Result<(), Error> {
        if std::mem::replace(&mut self.in_step, false)
            && let Some(time) = self.row_time
        {
            self.lanes.iter_mut().for_each(|lane| lane.seed(time, &self.row));
        }
        for task in tasks.iter().filter(|task| task.due) {
            self.lanes[task.system].take(task);
        }
        let reached = self.lanes.iter().map(Lane::reached).fold(f64::INFINITY, f64::min);
        if !reached.is_finite() {
            return Ok(()); // some system has not answered yet
        }
        self.hold(reached)?;
        self.lanes.iter_mut().for_each(|lane| lane.read(reached, &mut self.row));
        Ok(())
    }

    fn failure(&self, when: &str, source: io::Error) -> Error {
        Error::Observer { what: format!("could not write {}{when}", self.label), source }
    }
}

impl<S: Sink> Observer for Recorder<S> {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let tasks = exchange.tasks;
        match tasks.first().map(|task| task.response.reached) {
            Some(time) if self.in_step && is_together(tasks, time, self.lanes.len()) => self.take_together(time, tasks),
            _ => self.take_apart(tasks),
        }?;
        for column in &self.signals {
            // At the start of a run there is nothing to tell yet.
            self.row[column.index] = exchange.signals.get(column.position).copied().unwrap_or(0.0);
        }
        Ok(())
    }

    fn finished(&mut self) -> Result<(), Error> {
        let emitted = self.emit();
        let closed = self.sink.close().map_err(|source| self.failure("", source));
        emitted.and(closed)
    }
}

/// Whether every one of so many systems has answered for `time`.
fn is_together(tasks: &[Task], time: f64, systems: usize) -> bool {
    tasks.len() == systems && tasks.iter().all(|task| task.due && task.response.reached == time)
}

impl Lane {
    fn new() -> Self {
        Self { columns: vec![], times: VecDeque::new(), values: VecDeque::new() }
    }

    fn reserve(&mut self) {
        self.times.reserve(4);
        self.values.reserve(4 * self.columns.len());
    }

    /// The newest time, or minus infinity before the first answer.
    fn reached(&self) -> f64 {
        self.times.back().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Starts from the row that all systems have reached together.
    fn seed(&mut self, time: f64, row: &[f64]) {
        self.times.push_back(time);
        self.values.extend(self.columns.iter().map(|column| row[column.index]));
    }

    /// Adds an answer; it replaces one for the same time.
    fn take(&mut self, task: &Task) {
        let time = task.response.reached;
        if self.reached() == time {
            self.values.truncate(self.values.len() - self.columns.len());
        } else {
            self.times.push_back(time);
        }
        let elapsed = elapsed(task);
        self.values.extend(self.columns.iter().map(|column| column.value(task, elapsed)));
    }

    /// Writes the values at `time` into the row and forgets what lies before.
    fn read(&mut self, time: f64, row: &mut [f64]) {
        let width = self.columns.len();
        while self.times.len() > 1 && self.times[1] <= time {
            self.times.pop_front();
            self.values.drain(..width);
        }
        let exact = self.times.len() == 1 || self.times[0] >= time;
        let weight = if exact { 0.0 } else { (time - self.times[0]) / (self.times[1] - self.times[0]) };
        for (i, column) in self.columns.iter().enumerate() {
            let left = self.values[i];
            row[column.index] = if exact { left } else { between(left, self.values[width + i], weight) };
        }
    }
}

impl Column {
    #[inline]
    fn value(&self, task: &Task, elapsed: f64) -> f64 {
        match self.kind {
            Kind::Input => task.inputs[self.position].value(elapsed),
            Kind::State => task.response.states[self.position],
            Kind::Output => task.response.outputs[self.position].value,
            Kind::Signal => f64::NAN, // not a task's affair
        }
    }
}

/// The time since the step began. The size of the step, not the difference of its ends, which may be off by rounding; the
/// latter only where the system stopped early.
fn elapsed(task: &Task) -> f64 {
    let reached = task.response.reached;
    if reached == task.step.end { task.step.size() } else { reached - task.step.start }
}

/// `left` for weight 0, `right` for weight 1.
pub(crate) fn between(left: f64, right: f64, weight: f64) -> f64 {
    (1.0 - weight) * left + weight * right
}

#[cfg(test)]
pub(crate) mod tests;
