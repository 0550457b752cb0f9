//! Where a method is on its grid, in a checkpoint.
//!
//! What was found out on the way is restored. The end of the run is that of the run that goes on, which may be a later one: times
//! of a grid are `start + n · step` whatever the end.

use dovetail_core::{Archive, Error, Grid, GridCursor};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that chooses steps within the span of a grid.
pub(crate) trait OnGrid {
    fn grid(&self) -> Grid;
    fn set_grid(&mut self, grid: Grid);

    /// Whether its steps are those of the grid.
    fn keeps_to_grid(&self) -> bool {
        true
    }
}

impl OnGrid for GridCursor {
    fn grid(&self) -> Grid {
        *GridCursor::grid(self)
    }

    fn set_grid(&mut self, grid: Grid) {
        GridCursor::set_grid(self, grid);
    }
}

/// Writes down where steps come from, or reads it back.
pub(crate) fn visit_steps<S: OnGrid + Serialize + DeserializeOwned>(
    steps: &mut S,
    archive: &mut Archive,
) -> Result<(), Error> {
    let grid = steps.grid();
    archive.same("the start of the run", &grid.start())?;
    let size = steps.keeps_to_grid().then(|| grid.size());
    archive.same("the step", &size)?;
    archive.field(steps)?;
    steps.set_grid(grid);

    Ok(())
}
