//! How far a run has come, for whoever shows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dovetail::Observer;
use dovetail::core::{Error, Exchange, FlatRows, Need};

/// The time reached, which another thread may look at.
#[derive(Clone, Default)]
pub(crate) struct Reached(Arc<AtomicU64>);

impl Reached {
    pub fn note(&self, time: f64) {
        self.0.store(time.to_bits(), Ordering::Relaxed);
    }

    pub fn time(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

impl Observer for Reached {
    fn need(&self) -> Need {
        Need::Rows
    }

    fn rows(&mut self, rows: FlatRows<'_>) -> Result<(), Error> {
        if let Some(last) = rows.leg.last_step() {
            self.note(last.end);
        }
        Ok(())
    }

    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        if let Some(task) = exchange.tasks.first() {
            self.note(task.response.reached);
        }
        Ok(())
    }
}
