//! Rows of results from the exchanges of a run.

use std::io;
use std::sync::Arc;

use dovetail_core::{Connections, Error, Exchange, Observer, Task};

use crate::sink::Sink;
use crate::system_history::{Column, SystemHistory, elapsed};
use crate::variables::{Kind, Selection};

/// Times this near, as a fraction of the interval, are the same time.
const COINCIDENT: f64 = 1e-9;

/// At which times there are rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rows {
    /// At every time that all systems have reached.
    #[default]
    Communications,
    /// There too, and between them, so that no two are further apart than this.
    AtMost(f64),
    /// At the first time plus multiples of this, and at the last time.
    Every(f64),
    /// At these times, in ascending order, and at the last time.
    At(Arc<[f64]>),
    /// At the two Gauss points between two times that all systems have reached, and nowhere else: between any two, but for those that are nearer
    /// to the last than this.
    Gauss(f64),
}

/// Where they are in an interval of length one.
const GAUSS_POINTS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];

/// Watches a run and gives its sink rows: those of the times that all systems have reached, or others.
///
/// One row is held back: an event is crossed by a second answer for the same time, and the row then is that of the second
/// answer, or there are two, before and after. Between its own times a system is read off its curves: the inputs that it was given,
/// and Hermite polynomials through what it answered.
pub struct Recorder<S> {
    histories: Vec<SystemHistory>,
    rows: Rows,
    /// An event has two rows.
    both_sides: bool,
    /// So far all systems have answered together, for the same times: the histories are not needed yet.
    synchronous: bool,
    /// Columns that show what the method tells about itself.
    signals: Vec<(usize, usize)>,
    row: Vec<f64>,
    row_time: Option<f64>,
    /// Whether the held row is one of those that were asked for; the last one always is.
    wanted: bool,
    /// The row before an event.
    before: Vec<f64>,
    /// The end of the last interval with Gauss points.
    sampled: f64,
    /// The first time, and how many regular times there have been.
    first: f64,
    regular: u64,
    sink: S,
    label: String,
}

impl<S: Sink> Recorder<S> {
    /// Records `selection` into `sink`; `label` names the sink in errors ("results.csv").
    pub fn new(
        connections: &Connections,
        selection: &Selection,
        sink: S,
        label: impl Into<String>,
    ) -> Self {
        let mut histories: Vec<SystemHistory> = (0..connections.systems())
            .map(|_| SystemHistory::new())
            .collect();
        let mut signals = Vec::new();
        for (index, variable) in selection.variables().iter().enumerate() {
            match variable.kind {
                Kind::Signal => signals.push((index, variable.position)),
                _ => histories[variable.system].add(Column::new(index, variable, connections)),
            }
        }
        histories.iter_mut().for_each(SystemHistory::reserve);
        let row = vec![f64::NAN; selection.variables().len()];
        Self {
            histories,
            rows: Rows::Communications,
            both_sides: false,
            synchronous: true,
            signals,
            before: row.clone(),
            row,
            row_time: None,
            wanted: true,
            sampled: f64::NEG_INFINITY,
            first: f64::NAN,
            regular: 0,
            sink,
            label: label.into(),
        }
    }

    /// Rows at these times.
    pub fn with_rows(mut self, rows: Rows) -> Self {
        if let Rows::AtMost(interval) | Rows::Every(interval) = rows {
            assert!(
                interval > 0.0 && interval.is_finite(),
                "BUG: an output interval of {interval}"
            );
        }
        self.rows = rows;
        self
    }

    /// At an event there are two rows, before and after it, where they differ.
    pub fn with_both_sides(mut self) -> Self {
        self.both_sides = true;
        self
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
        let Some(time) = self.row_time.take() else {
            return Ok(());
        };
        self.write(time)
    }

    fn write(&mut self, time: f64) -> Result<(), Error> {
        let written = self.sink.row(time, &self.row);
        written.map_err(|source| self.failure(&format!(" at t = {time} s"), source))
    }

    /// Moves the held row on to `time`, giving the old one away if time has moved.
    fn hold(&mut self, time: f64) -> Result<(), Error> {
        if self.row_time.is_some_and(|held| time > held) {
            if self.wanted {
                self.emit()?;
            }
            self.row_time = None;
        }
        self.row_time = Some(time);
        Ok(())
    }

    /// All systems have answered for `time`: their values are the row.
    fn record_synchronous(&mut self, time: f64, tasks: &[Task]) -> Result<(), Error> {
        self.hold(time)?;
        for task in tasks {
            let elapsed = elapsed(task);
            for column in self.histories[task.system].columns() {
                self.row[column.index] = column.value(task, elapsed);
            }
        }
        Ok(())
    }

    /// Systems that keep their own pace, or rows between the times of all: the newest row is that of the slowest.
    fn record_asynchronous(
        &mut self,
        tasks: &[Task],
        wanted: impl Fn(&Task) -> bool,
        signals: &[f64],
    ) -> Result<(), Error> {
        if std::mem::replace(&mut self.synchronous, false)
            && let Some(time) = self.row_time
        {
            self.histories
                .iter_mut()
                .for_each(|history| history.seed(time, &self.row));
        }
        let due = || tasks.iter().filter(|task| task.due && wanted(task));
        let time = tasks.first().map_or(f64::NAN, |task| task.response.reached);
        // Where all arrive together, and no row is asked for on the way, curves are not needed.
        let curves = !is_together(tasks, time, self.histories.len()) || self.reads_between(time);
        due().for_each(|task| self.histories[task.system].record(task, curves));
        if let Some(event) = due()
            .find(|task| task.step.is_instant())
            .map(|task| task.response.reached)
        {
            self.histories
                .iter_mut()
                .for_each(|history| history.expect_corner(event));
        }
        let reached = self
            .histories
            .iter()
            .map(SystemHistory::reached)
            .fold(f64::INFINITY, f64::min);
        if !reached.is_finite() {
            return Ok(()); // some system has not answered yet
        }
        let answers_again = || due().any(|task| task.response.reached == reached);
        match self.row_time {
            None => self.first = reached,
            // Somebody has gone ahead, that is all.
            Some(held) if held == reached && !answers_again() => return Ok(()),
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
        self.wanted = self.is_wanted(reached);
        self.read(reached, signals);
        Ok(())
    }

    fn read(&mut self, time: f64, signals: &[f64]) {
        self.histories
            .iter_mut()
            .for_each(|history| history.read(time, &mut self.row));
        for &(index, position) in &self.signals {
            // At the start of a run there is nothing to tell yet.
            self.row[index] = signals.get(position).copied().unwrap_or(0.0);
        }
    }

    /// The far side of an event at the time of the held row.
    fn cross(&mut self, time: f64, signals: &[f64]) -> Result<(), Error> {
        self.before.copy_from_slice(&self.row);
        self.read(time, signals);
        let same =
            |(before, after): (&f64, &f64)| before == after || before.is_nan() && after.is_nan();
        if !self.before.iter().zip(&self.row).all(same) && time > self.first {
            std::mem::swap(&mut self.before, &mut self.row);
            let given = self.write(time);
            std::mem::swap(&mut self.before, &mut self.row);
            given?;
            self.wanted = true;
        }
        Ok(())
    }

    /// Whether a time that all have reached is one of those that were asked for.
    fn is_wanted(&mut self, time: f64) -> bool {
        let Some((next, near)) = self.next_asked_for() else {
            return !matches!(self.rows, Rows::Gauss(_));
        };
        let wanted = next <= time + near;
        self.regular += u64::from(wanted);
        wanted
    }

    /// The next of the times that were asked for, and what is near to it; none where times were not asked for.
    fn next_asked_for(&self) -> Option<(f64, f64)> {
        match &self.rows {
            Rows::Every(interval) => Some((
                self.first + self.regular as f64 * interval,
                COINCIDENT * interval,
            )),
            Rows::At(times) => {
                let next = times
                    .get(self.regular as usize)
                    .copied()
                    .unwrap_or(f64::INFINITY);
                Some((next, 8.0 * f64::EPSILON * next.abs().min(f64::MAX)))
            }
            _ => None,
        }
    }

    /// Whether there are rows between the held one and `reached`.
    fn reads_between(&self, reached: f64) -> bool {
        let Some(before) = self.row_time else {
            return true;
        };
        match self.rows {
            Rows::Communications => false,
            Rows::AtMost(most) => reached - before > most,
            Rows::Gauss(spacing) => reached - self.sampled >= spacing * (1.0 - COINCIDENT),
            Rows::Every(_) | Rows::At(_) => self
                .next_asked_for()
                .is_some_and(|(time, near)| time < reached - near),
        }
    }

    /// The rows between two times that all have reached.
    fn fill_up_to(&mut self, before: f64, reached: f64, signals: &[f64]) -> Result<(), Error> {
        if self.rows == Rows::Communications {
            return Ok(());
        }
        if self.wanted {
            self.emit()?;
        }
        self.wanted = false;
        while let Some((time, _)) = self
            .next_asked_for()
            .filter(|(time, near)| *time < reached - near)
        {
            self.read(time, signals);
            self.write(time)?;
            self.regular += 1;
        }
        match self.rows {
            Rows::AtMost(most) => {
                let parts = ((reached - before) / most * (1.0 - COINCIDENT))
                    .ceil()
                    .max(1.0);
                for part in 1..parts as u64 {
                    let time = before + (reached - before) * (part as f64 / parts);
                    self.read(time, signals);
                    self.write(time)?;
                }
            }
            Rows::Gauss(_) if self.reads_between(reached) => {
                self.sampled = reached;
                for share in GAUSS_POINTS {
                    let time = before + share * (reached - before);
                    self.read(time, signals);
                    self.write(time)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn failure(&self, when: &str, source: io::Error) -> Error {
        Error::Observer {
            what: format!("could not write {}{when}", self.label),
            source,
        }
    }
}

impl<S: Sink> Observer for Recorder<S> {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let (tasks, signals) = (exchange.tasks, exchange.signals);
        let plain = self.synchronous && self.rows == Rows::Communications && !self.both_sides;
        match tasks.first().map(|task| task.response.reached) {
            Some(time) if plain && is_together(tasks, time, self.histories.len()) => {
                self.record_synchronous(time, tasks)?;
                for &(index, position) in &self.signals {
                    self.row[index] = signals.get(position).copied().unwrap_or(0.0);
                }
                Ok(())
            }
            _ if exchange.before.is_empty() => self.record_asynchronous(tasks, |_| true, signals),
            _ => {
                // An event was crossed: first the answers before it, then those of the systems that answered again after it.
                self.record_asynchronous(exchange.before, |_| true, signals)?;
                self.record_asynchronous(tasks, |task| task.step.is_instant(), signals)
            }
        }
    }

    fn finished(&mut self) -> Result<(), Error> {
        let emitted = if matches!(self.rows, Rows::Gauss(_)) {
            Ok(())
        } else {
            self.emit()
        };
        let closed = self.sink.close().map_err(|source| self.failure("", source));
        emitted.and(closed)
    }
}

/// Whether every one of so many systems has answered for `time`.
fn is_together(tasks: &[Task], time: f64, systems: usize) -> bool {
    tasks.len() == systems
        && tasks
            .iter()
            .all(|task| task.due && task.response.reached == time)
}

#[cfg(test)]
pub(crate) mod tests;
