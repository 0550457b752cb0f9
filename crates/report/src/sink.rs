//! Where rows of results go.

use std::io;

use dovetail_core::{Archive, Checkpoint, Error, Need};

/// Takes rows of results, one for each time, in the order of time.
pub trait Sink {
    /// One row.
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()>;

    /// What it needs of rows that come many at a time: each of them, a [summary](Sink::summary), or the last one.
    fn need(&self) -> Need {
        Need::Steps
    }

    /// Whether a summary of the rows from the first to the last of these times says enough.
    fn sums_up(&self, _first: f64, _last: f64) -> bool {
        true
    }

    /// Several rows, for a sink that needs no more than this.
    fn summary(&mut self, _rows: RowSummary<'_>) -> io::Result<()> {
        Ok(())
    }

    /// There are no more rows. What was given must be safe now: written, not only buffered.
    fn close(&mut self) -> io::Result<()>;
}

/// Several rows, summed up.
#[derive(Clone, Copy, Debug)]
pub struct RowSummary<'a> {
    /// The time of the last of them.
    pub last: f64,
    /// The least value in each column.
    pub low: &'a [f64],
    /// The largest.
    pub high: &'a [f64],
}

/// Keeps the newest row only: the final values of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastRow {
    /// Its time; `None` before the first row.
    pub time: Option<f64>,
    /// Its values.
    pub values: Vec<f64>,
}

impl Sink for LastRow {
    fn need(&self) -> Need {
        Need::LastStep
    }

    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        self.time = Some(time);
        self.values.clear();
        self.values.extend_from_slice(values);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps nothing: for a recorder whose own memory is what counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoRows;

impl Sink for NoRows {
    fn row(&mut self, _time: f64, _values: &[f64]) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Checkpoint for NoRows {
    fn visit(&mut self, _archive: &mut Archive) -> Result<(), Error> {
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        (**self).row(time, values)
    }

    fn close(&mut self) -> io::Result<()> {
        (**self).close()
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        (**self).row(time, values)
    }

    fn close(&mut self) -> io::Result<()> {
        (**self).close()
    }
}

/// A sink that may be absent.
impl<S: Sink> Sink for Option<S> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |sink| sink.row(time, values))
    }

    fn close(&mut self) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), Sink::close)
    }
}

/// Several sinks. One that fails does not keep the others from their rows; the first failure is
/// returned.
impl<S: Sink> Sink for Vec<S> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        first_failure(self.iter_mut().map(|sink| sink.row(time, values)))
    }

    fn close(&mut self) -> io::Result<()> {
        first_failure(self.iter_mut().map(Sink::close))
    }
}

/// Goes through all results, unlike `try_for_each`.
fn first_failure(results: impl Iterator<Item = io::Result<()>>) -> io::Result<()> {
    let mut outcome = Ok(());
    for result in results {
        outcome = outcome.and(result);
    }
    outcome
}

/// Two sinks, as for several.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        let first = self.0.row(time, values);
        first.and(self.1.row(time, values))
    }

    fn close(&mut self) -> io::Result<()> {
        let first = self.0.close();
        first.and(self.1.close())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken;

    impl Sink for Broken {
        fn row(&mut self, _: f64, _: &[f64]) -> io::Result<()> {
            Err(io::Error::other("broken"))
        }

        fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failing_sink_is_reported_and_the_others_still_get_the_row() {
        let mut last = LastRow::default();
        let mut sinks: Vec<Box<dyn Sink + '_>> = vec![Box::new(Broken), Box::new(&mut last)];
        assert!(sinks.row(1.0, &[2.0]).is_err());
        assert!(sinks.close().is_ok());
        drop(sinks);
        assert_eq!(
            last,
            LastRow {
                time: Some(1.0),
                values: vec![2.0]
            }
        );
    }

    #[test]
    fn a_pair_with_an_absent_sink_serves_the_other() {
        let mut pair = (None::<Broken>, LastRow::default());
        pair.row(3.0, &[]).unwrap();
        assert_eq!(pair.1.time, Some(3.0));
    }
}
