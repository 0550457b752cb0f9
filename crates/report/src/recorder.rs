//! Rows of results from the exchanges of a run.

mod flat_rows;
mod resumed;

use std::io;

use dovetail_core::{Connections, Error, Exchange, FlatRows, Need, Observer, Task};

use crate::column::{RecordedColumn, elapsed};
use crate::schedule::{Rows, Schedule, parts};
use crate::sink::Sink;
use crate::system_history::SystemHistory;
use crate::variables::{Kind, Selection, Variable};

/// The Gauss points of an interval of length one.
const GAUSS_POINTS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];

/// Watches a run and gives its sink rows: those of the times that all systems have reached, or
/// others.
///
/// One row is held back: an event is crossed by a second answer for the same time, and the row then
/// is that of the second answer, or there are two, before and after. Between its own times a system
/// is read off its curves: the inputs that it was given, and Hermite polynomials through what it
/// answered.
pub struct Recorder<S> {
    histories: Vec<SystemHistory>,
    signals: Vec<SignalColumn>,
    schedule: Schedule,
    /// An event has two rows.
    both_sides: bool,
    /// So far all systems have answered together, for the same times: histories are not needed yet.
    synchronous: bool,
    row: Vec<f64>,
    row_time: Option<f64>,
    /// Whether the held row is one of those that were asked for; the last one always is.
    wanted: bool,
    /// The sink needs no row but the last.
    last_only: bool,
    /// There has been a row.
    began: bool,
    /// The row before an event.
    before: Vec<f64>,
    /// The least and the largest of each column over some rows.
    low: Vec<f64>,
    high: Vec<f64>,
    sink: S,
    label: String,
}

/// A column that shows what the method reports about itself.
struct SignalColumn {
    index: usize,
    position: usize,
}

/// The answers of an exchange.
#[derive(Clone, Copy)]
struct Answers<'a> {
    tasks: &'a [Task],
    /// Only those that were given after an event count.
    after_event: bool,
}

impl<'a> Answers<'a> {
    fn all(tasks: &'a [Task]) -> Self {
        Self {
            tasks,
            after_event: false,
        }
    }

    fn after_event(tasks: &'a [Task]) -> Self {
        Self {
            tasks,
            after_event: true,
        }
    }

    fn due(self) -> impl Iterator<Item = &'a Task> {
        let tasks = self.tasks.iter();
        tasks.filter(move |task| self.counts(task))
    }

    fn counts(self, task: &Task) -> bool {
        task.due && (!self.after_event || task.step.is_instant())
    }

    /// The time of the event that was crossed, if one was.
    fn event(self) -> Option<f64> {
        let instant = self.due().find(|task| task.step.is_instant());
        instant.map(|task| task.response.reached)
    }

    fn any_reached(self, time: f64) -> bool {
        self.due().any(|task| task.response.reached == time)
    }
}

impl<S: Sink> Recorder<S> {
    /// Records `selection` into `sink`; `label` names the sink in errors ("results.csv").
    pub fn new(
        connections: &Connections,
        selection: &Selection,
        sink: S,
        label: impl Into<String>,
    ) -> Self {
        let row = vec![f64::NAN; selection.variables().len()];
        Self {
            histories: histories(connections, selection),
            signals: signal_columns(selection),
            schedule: Schedule::new(Rows::Communications),
            both_sides: false,
            synchronous: true,
            last_only: sink.need() == Need::LastStep,
            began: false,
            before: row.clone(),
            low: row.clone(),
            high: row.clone(),
            row,
            row_time: None,
            wanted: true,
            sink,
            label: label.into(),
        }
    }

    /// Rows at these times.
    pub fn with_rows(mut self, rows: Rows) -> Self {
        self.schedule = Schedule::new(rows);
        self
    }

    /// At an event there are two rows, before and after it, where they differ.
    pub fn with_both_sides(mut self) -> Self {
        self.both_sides = true;
        self
    }

    /// The times of its rows.
    pub fn times(&self) -> &Rows {
        self.schedule.rows()
    }

    /// The newest row; empty where there was none.
    pub fn last_row(&self) -> &[f64] {
        if self.began { &self.row } else { &[] }
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The sink, after the run.
    pub fn into_sink(self) -> S {
        self.sink
    }

    fn failure(&self, when: &str, source: io::Error) -> Error {
        Error::Observer {
            what: format!("could not write {}{when}", self.label),
            source,
        }
    }
}

/// The row that is held back.
impl<S: Sink> Recorder<S> {
    /// Writes the held row, if there is one.
    fn emit(&mut self) -> Result<(), Error> {
        // Taken first: after a failure the row is not offered again.
        match self.row_time.take() {
            Some(time) => self.write(time),
            None => Ok(()),
        }
    }

    fn write(&mut self, time: f64) -> Result<(), Error> {
        let written = self.sink.row(time, &self.row);
        written.map_err(|source| self.failure(&format!(" at t = {time} s"), source))
    }

    /// Moves the held row on to `time`, writing the old one if time has moved.
    fn hold(&mut self, time: f64) -> Result<(), Error> {
        let moves = self.row_time.is_some_and(|held| time > held);
        if self.wanted && moves && !self.last_only {
            self.emit()?;
        }

        self.row_time = Some(time);
        self.began = true;
        Ok(())
    }

    fn read(&mut self, time: f64, signals: &[f64]) {
        for history in &mut self.histories {
            history.read(time, &mut self.row);
        }
        self.read_signals(signals);
    }

    fn read_signals(&mut self, signals: &[f64]) {
        for column in &self.signals {
            // At the start of a run there is nothing to report yet.
            let signal = signals.get(column.position).copied();
            self.row[column.index] = signal.unwrap_or(0.0);
        }
    }
}

/// Systems that answer together, and systems that keep their own pace.
impl<S: Sink> Recorder<S> {
    /// All systems have answered for `time`: their values are the row.
    fn record_synchronous(
        &mut self,
        time: f64,
        tasks: &[Task],
        signals: &[f64],
    ) -> Result<(), Error> {
        self.hold(time)?;
        for task in tasks {
            let elapsed = elapsed(task);
            for column in self.histories[task.system].columns() {
                self.row[column.index] = column.value(task, elapsed);
            }
        }

        self.read_signals(signals);
        Ok(())
    }

    /// Systems that keep their own pace, or rows between the times of all: the newest row is that
    /// of the slowest.
    fn record_asynchronous(&mut self, answers: Answers<'_>, signals: &[f64]) -> Result<(), Error> {
        self.seed_histories();
        self.extend_histories(answers);

        let reached = self.reached();
        if !reached.is_finite() {
            return Ok(()); // some system has not answered yet
        }

        match self.row_time {
            None => self.schedule.begin(reached),
            // Somebody has gone ahead, that is all.
            Some(held) if held == reached && !answers.any_reached(reached) => return Ok(()),
            Some(before) if before < reached => self.fill_up_to(before, reached, signals)?,
            // A second answer for the same time: an event was crossed.
            Some(_) if self.both_sides => return self.cross(reached, signals),
            // The row is as wanted as it was.
            Some(_) => {
                self.read(reached, signals);
                return Ok(());
            }
        }

        self.hold(reached)?;
        self.wanted = self.schedule.wants(reached);
        self.read(reached, signals);
        Ok(())
    }

    /// The histories begin with the row up to which all systems answered together. Until then they
    /// take no memory for points.
    fn seed_histories(&mut self) {
        let was_synchronous = std::mem::replace(&mut self.synchronous, false);
        if !was_synchronous {
            return;
        }

        for history in &mut self.histories {
            history.reserve();
            if let Some(time) = self.row_time {
                history.seed(time, &self.row);
            }
        }
    }

    fn extend_histories(&mut self, answers: Answers<'_>) {
        let curves = self.needs_curves(answers.tasks);
        for task in answers.due() {
            self.histories[task.system].record(task, curves);
        }

        if let Some(event) = answers.event() {
            for history in &mut self.histories {
                history.expect_corner(event);
            }
        }
    }

    /// Where all arrive together, and no row is asked for on the way, curves are not needed.
    fn needs_curves(&self, tasks: &[Task]) -> bool {
        let time = first_time(tasks).unwrap_or(f64::NAN);
        !is_together(tasks, time, self.histories.len()) || self.has_rows_up_to(time)
    }

    /// Whether there are rows between the held one, if there is one, and `time`.
    fn has_rows_up_to(&self, time: f64) -> bool {
        let rows_between = |before: f64| self.schedule.has_rows_between(before, time);
        self.row_time.is_none_or(rows_between)
    }

    /// The time that the slowest system has reached.
    fn reached(&self) -> f64 {
        let times = self.histories.iter().map(SystemHistory::reached);
        times.fold(f64::INFINITY, f64::min)
    }

    /// The far side of an event at the time of the held row.
    fn cross(&mut self, time: f64, signals: &[f64]) -> Result<(), Error> {
        self.before.copy_from_slice(&self.row);
        self.read(time, signals);

        if self.differs_from_before() && time > self.schedule.first() {
            std::mem::swap(&mut self.before, &mut self.row);
            let written = self.write(time);
            std::mem::swap(&mut self.before, &mut self.row);
            written?;
            self.wanted = true;
        }
        Ok(())
    }

    fn differs_from_before(&self) -> bool {
        let mut pairs = self.before.iter().zip(&self.row);
        pairs.any(|(before, after)| !is_same(*before, *after))
    }
}

/// The rows between two times that all have reached.
impl<S: Sink> Recorder<S> {
    fn fill_up_to(&mut self, before: f64, reached: f64, signals: &[f64]) -> Result<(), Error> {
        if self.schedule.is_at_communications() {
            return Ok(());
        }

        if self.wanted {
            self.emit()?;
        }

        self.wanted = false;

        match *self.schedule.rows() {
            Rows::AtMost(most) => self.fill_evenly(before, reached, most, signals),
            Rows::Gauss(_) => self.fill_gauss_points(before, reached, signals),
            _ => self.fill_requested(reached, signals),
        }
    }

    fn fill_requested(&mut self, reached: f64, signals: &[f64]) -> Result<(), Error> {
        while let Some(next) = self.schedule.next()
            && next.is_before(reached)
        {
            self.write_between(next.time, signals)?;
            self.schedule.pass();
        }
        Ok(())
    }

    fn fill_evenly(
        &mut self,
        before: f64,
        reached: f64,
        most: f64,
        signals: &[f64],
    ) -> Result<(), Error> {
        let length = reached - before;
        let parts = parts(length, most);

        for part in 1..parts as u64 {
            let share = part as f64 / parts;
            self.write_between(before + length * share, signals)?;
        }
        Ok(())
    }

    fn fill_gauss_points(
        &mut self,
        before: f64,
        reached: f64,
        signals: &[f64],
    ) -> Result<(), Error> {
        if !self.has_rows_up_to(reached) {
            return Ok(());
        }

        self.schedule.sample(reached);
        for share in GAUSS_POINTS {
            let time = before + share * (reached - before);
            self.write_between(time, signals)?;
        }
        Ok(())
    }

    fn write_between(&mut self, time: f64, signals: &[f64]) -> Result<(), Error> {
        self.read(time, signals);
        self.write(time)
    }
}

impl<S: Sink> Observer for Recorder<S> {
    fn need(&self) -> Need {
        if self.is_plain() {
            self.sink.need()
        } else {
            Need::Steps
        }
    }

    fn rows(&mut self, rows: FlatRows<'_>) -> Result<(), Error> {
        self.record_flat(rows)
    }

    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let tasks = exchange.tasks;
        let signals = exchange.signals;

        if let Some(time) = self.synchronous_time(tasks) {
            return self.record_synchronous(time, tasks, signals);
        }
        if exchange.before.is_empty() {
            return self.record_asynchronous(Answers::all(tasks), signals);
        }

        // An event was crossed: first the answers before it, then those of the systems that
        // answered again after it.
        self.record_asynchronous(Answers::all(exchange.before), signals)?;
        self.record_asynchronous(Answers::after_event(tasks), signals)
    }

    fn finished(&mut self) -> Result<(), Error> {
        let emitted = if self.schedule.is_at_gauss_points() {
            Ok(())
        } else {
            self.emit()
        };

        let closed = self.sink.close();
        emitted.and(closed.map_err(|source| self.failure("", source)))
    }
}

impl<S> Recorder<S> {
    /// Whether rows are those of the communication times, as all systems answer together.
    fn is_plain(&self) -> bool {
        self.synchronous && self.schedule.is_at_communications() && !self.both_sides
    }

    /// The time of an exchange that needs no histories.
    fn synchronous_time(&self, tasks: &[Task]) -> Option<f64> {
        let time = first_time(tasks)?;
        (self.is_plain() && is_together(tasks, time, self.histories.len())).then_some(time)
    }
}

/// A history for each system, with columns for its selected variables.
fn histories(connections: &Connections, selection: &Selection) -> Vec<SystemHistory> {
    let systems = 0..connections.systems();
    let mut histories: Vec<SystemHistory> = systems.map(|_| SystemHistory::new()).collect();

    for (index, variable) in selection.variables().iter().enumerate() {
        if variable.kind != Kind::Signal {
            histories[variable.system].add(RecordedColumn::new(index, variable, connections));
        }
    }

    histories
}

fn signal_columns(selection: &Selection) -> Vec<SignalColumn> {
    let variables = selection.variables().iter().enumerate();
    let signals = variables.filter(|(_, variable)| variable.kind == Kind::Signal);
    let column = |(index, variable): (usize, &Variable)| SignalColumn {
        index,
        position: variable.position,
    };

    signals.map(column).collect()
}

/// Unlike `==`, takes two values that are not numbers for the same.
fn is_same(one: f64, other: f64) -> bool {
    one == other || one.is_nan() && other.is_nan()
}

/// The time of the first answer.
fn first_time(tasks: &[Task]) -> Option<f64> {
    tasks.first().map(|task| task.response.reached)
}

/// Whether every one of so many systems has answered for `time`.
fn is_together(tasks: &[Task], time: f64, systems: usize) -> bool {
    let answers = |task: &Task| task.due && task.response.reached == time;
    tasks.len() == systems && tasks.iter().all(answers)
}

#[cfg(test)]
pub(crate) mod tests;
