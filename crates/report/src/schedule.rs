//! At which times there are rows.

use std::sync::Arc;

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

/// Times this near, as a fraction of the interval, are the same time.
const COINCIDENT: f64 = 1e-9;

/// At which times there are rows.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
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
    /// At the two Gauss points between two times that all systems have reached, and nowhere else:
    /// between any two, but for those that are nearer to the last than this.
    Gauss(f64),
}

/// More rows than these fill any disk.
const MOST_ROWS: f64 = 1e9;

/// Why a run cannot have rows that are so far apart, as the rest of a sentence; nothing where it can.
pub fn interval_problem(interval: f64, start: f64, stop: f64) -> Option<String> {
    if !(interval > 0.0 && interval.is_finite()) {
        return Some(format!("must be a number above zero, not {interval}"));
    }
    let too_small = (stop - start) / interval > MOST_ROWS || start + interval == start;
    too_small.then(|| format!("{interval:e} is too small for a run from {start} to {stop} s"))
}

/// The rows that were asked for, and how many of them there have been.
pub(crate) struct Schedule {
    rows: Rows,
    /// The first time, and how many of the requested times have passed.
    first: f64,
    passed: u64,
    /// The end of the last interval with Gauss points.
    sampled: f64,
}

/// A time that was asked for, and what is near to it.
#[derive(Clone, Copy)]
pub(crate) struct RequestedTime {
    pub time: f64,
    near: f64,
}

impl RequestedTime {
    /// Whether it lies before `time`, and is not the same.
    pub fn is_before(self, time: f64) -> bool {
        self.time < time - self.near
    }
}

impl Schedule {
    pub fn new(rows: Rows) -> Self {
        if let Rows::AtMost(interval) | Rows::Every(interval) = rows {
            assert!(
                interval > 0.0 && interval.is_finite(),
                "BUG: an output interval of {interval}"
            );
        }
        Self {
            rows,
            first: f64::NAN,
            passed: 0,
            sampled: f64::NEG_INFINITY,
        }
    }

    /// Goes on from `time`, where another schedule of the same run is; whether there is a row at that time.
    pub fn take_up(&mut self, other: &Self, time: f64) -> Option<bool> {
        self.first = other.first;
        if self.rows == other.rows {
            (self.passed, self.sampled) = (other.passed, other.sampled);
            return None;
        }

        let mut wanted = !self.is_at_gauss_points();
        while let Some(next) = self.next()
            && next.time <= time + next.near
        {
            self.pass();
            wanted = !next.is_before(time);
        }
        match self.rows {
            Rows::Every(_) | Rows::At(_) => Some(wanted && self.passed > 0),
            _ => Some(wanted),
        }
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The first time of the run.
    pub fn begin(&mut self, time: f64) {
        self.first = time;
    }

    pub fn first(&self) -> f64 {
        self.first
    }

    /// Whether there are rows at the times that all systems have reached, as a rule.
    pub fn is_at_communications(&self) -> bool {
        self.rows == Rows::Communications
    }

    /// Whether there are rows at Gauss points only.
    pub fn is_at_gauss_points(&self) -> bool {
        matches!(self.rows, Rows::Gauss(_))
    }

    /// Whether a time that all have reached is one of those that were asked for.
    pub fn wants(&mut self, time: f64) -> bool {
        let Some(next) = self.next() else {
            return !self.is_at_gauss_points();
        };
        let wanted = next.time <= time + next.near;
        self.passed += u64::from(wanted);

        wanted
    }

    /// The next of the times that were asked for; none where times were not asked for.
    pub fn next(&self) -> Option<RequestedTime> {
        match &self.rows {
            Rows::Every(interval) => Some(self.next_multiple(*interval)),
            Rows::At(times) => Some(self.next_of(times)),
            _ => None,
        }
    }

    fn next_multiple(&self, interval: f64) -> RequestedTime {
        RequestedTime {
            time: self.first + self.passed as f64 * interval,
            near: COINCIDENT * interval,
        }
    }

    /// After the last there is none.
    fn next_of(&self, times: &[f64]) -> RequestedTime {
        let next = times.get(self.passed as usize);
        let time = next.copied().unwrap_or(f64::INFINITY);
        let magnitude = time.abs().min(f64::MAX);

        RequestedTime {
            time,
            near: 8.0 * f64::EPSILON * magnitude,
        }
    }

    /// The next time was given its row.
    pub fn pass(&mut self) {
        self.passed += 1;
    }

    /// Whether there are rows between two times that all have reached.
    pub fn has_rows_between(&self, before: f64, reached: f64) -> bool {
        match self.rows {
            Rows::Communications => false,
            Rows::AtMost(most) => reached - before > most,
            Rows::Gauss(spacing) => reached - self.sampled >= spacing * (1.0 - COINCIDENT),
            Rows::Every(_) | Rows::At(_) => self.next().is_some_and(|next| next.is_before(reached)),
        }
    }

    /// The interval up to this time has its rows at Gauss points.
    pub fn sample(&mut self, reached: f64) {
        self.sampled = reached;
    }
}

impl Checkpoint for Schedule {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.first, self.passed, self.sampled);
        Ok(())
    }
}

/// The number of parts of at most this length into which an interval falls.
pub(crate) fn parts(length: f64, most: f64) -> f64 {
    let parts = length / most * (1.0 - COINCIDENT);
    parts.ceil().max(1.0)
}
