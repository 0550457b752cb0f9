//! Those who watch a run.

use crate::error::Error;
use crate::flat::FlatRows;
use crate::macro_step::MacroStep;
use crate::method::Exchange;

/// What an observer needs of steps that are taken as rows of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The last step of the run, as tasks; and others as it comes.
    LastStep,
    /// Rows of numbers, many steps at a time ([`Observer::rows`]).
    Rows,
    /// Every step as tasks, before the next one is taken: what is written must survive whatever comes.
    Steps,
}

/// Watches a run: records, shows progress, measures. Nothing an observer does changes the numbers of a run; it may end it by
/// failing (a full disk).
///
/// Call order: `started` once, then `accepted` and `rejected` in the order of the attempts, then `finished` once, also
/// after a run that ended early.
pub trait Observer {
    /// What it needs of steps under held inputs. Whoever needs less makes light systems faster.
    fn need(&self) -> Need {
        Need::Steps
    }

    /// The consistent start of the run, as tasks of size zero.
    fn started(&mut self, start: Exchange<'_>) -> Result<(), Error> {
        self.accepted(start)
    }

    /// Systems have moved.
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error>;

    /// Systems have taken some steps, for those who need [`Need::Rows`]. Steps out of the ordinary come as tasks.
    fn rows(&mut self, _rows: FlatRows<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// An attempt was given up.
    fn rejected(&mut self, _step: MacroStep) -> Result<(), Error> {
        Ok(())
    }

    /// The run is over.
    fn finished(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
