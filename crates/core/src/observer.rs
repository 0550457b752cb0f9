//! Those who watch a run.

use crate::error::Error;
use crate::macro_step::MacroStep;
use crate::method::Exchange;

/// Watches a run: records, shows progress, measures. Nothing an observer does changes the numbers of a run; it may end it by
/// failing (a full disk).
///
/// Call order: `started` once, then `accepted` and `rejected` in the order of the attempts, then `finished` once, also
/// after a run that ended early.
pub trait Observer {
    /// The consistent start of the run, as tasks of size zero.
    fn started(&mut self, start: Exchange<'_>) -> Result<(), Error> {
        self.accepted(start)
    }

    /// Systems have moved.
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error>;

    /// An attempt was given up.
    fn rejected(&mut self, _step: MacroStep) -> Result<(), Error> {
        Ok(())
    }

    /// The run is over.
    fn finished(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
