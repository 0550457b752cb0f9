//! What whoever runs a model in parts says of the course of its run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What whoever runs a model in parts, such as an importer of the model as an FMU, says of its course.
#[derive(Clone, Debug, Default)]
pub struct RunCourse {
    /// Nobody knows when the run ends: FMUs are told no stop time.
    pub open_end: bool,
    /// Raised while nobody takes the model back to before where it stands, though states can be restored: importers say so with
    /// each step. None: that is not said.
    pub stays: Option<Arc<AtomicBool>>,
}

impl RunCourse {
    /// Whether it is said of the step to come that nobody goes back to before its start.
    pub(crate) fn stays(&self) -> bool {
        let said = self.stays.as_ref();
        said.is_some_and(|said| said.load(Ordering::Relaxed))
    }
}
