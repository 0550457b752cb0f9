//! Where the steps of a method come from: a grid, or a controller of the method's own.

use dovetail_core::{Archive, Checkpoint, Error, Grid};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::plan::GridPlan;
use crate::saved_steps::{OnGrid, visit_steps};

/// Where steps come from.
pub(crate) enum Steps<Controller> {
    /// A grid, whose steps are cut where they fail.
    Fixed(GridPlan),
    /// The method's own choice.
    Adaptive(Box<Controller>),
}

impl<Controller> Steps<Controller> {
    /// Steps chosen to this tolerance, where there is one; else those of the grid.
    pub fn new(
        grid: Grid,
        tolerance: Option<f64>,
        controller: impl FnOnce(f64) -> Controller,
    ) -> Self {
        match tolerance {
            None => Self::Fixed(GridPlan::new(grid)),
            Some(tolerance) => Self::Adaptive(Box::new(controller(tolerance))),
        }
    }

    /// Whether the method chooses them.
    pub fn is_adaptive(&self) -> bool {
        self.controller().is_some()
    }

    /// What chooses them.
    pub fn controller(&self) -> Option<&Controller> {
        match self {
            Self::Fixed(_) => None,
            Self::Adaptive(controller) => Some(controller),
        }
    }

    /// The same, to be changed.
    pub fn controller_mut(&mut self) -> Option<&mut Controller> {
        match self {
            Self::Fixed(_) => None,
            Self::Adaptive(controller) => Some(controller),
        }
    }
}

impl<Controller: OnGrid + Serialize + DeserializeOwned> Checkpoint for Steps<Controller> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match self {
            Self::Fixed(plan) => visit_steps(plan, archive),
            Self::Adaptive(controller) => visit_steps(controller.as_mut(), archive),
        }
    }
}
