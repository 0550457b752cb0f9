//! Rows on their way to browsers.

use std::io;
use std::sync::PoisonError;

use dovetail::report::Sink;

use super::runs::SharedRows;

/// A sink whose rows others read while it is filled.
pub(super) struct Feed(pub SharedRows);

impl Sink for Feed {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.push(time, values);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
