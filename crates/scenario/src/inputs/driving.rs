//! What drives the inputs of a system, in a form that other processes understand.

use std::path::Path;

use dovetail_core::{Drive, Driven, DrivenInputs, Interface, MacroStep, Signal, System};
use serde::{Deserialize, Serialize};

use super::expression::ExpressionDrive;
use super::table_drive::TableDrive;
use super::table_file::TableUse;

/// All that drives inputs of a system; empty for most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Driving {
    /// Start and end of the run.
    pub run: (f64, f64),
    pub signals: Vec<DrivingSignals>,
}

/// Signals that belong together, and the inputs (their positions) that they drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DrivingSignals {
    pub inputs: Vec<usize>,
    pub origin: Origin,
}

/// Where signals come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Origin {
    Table(TableUse),
    /// Expressions of time.
    Expressions(Vec<String>),
}

impl Origin {
    fn open(&self, run: (f64, f64)) -> Result<Box<dyn Drive>, String> {
        Ok(match self {
            Self::Table(table) => Box::new(TableDrive::open(table, run)?),
            Self::Expressions(texts) => Box::new(ExpressionDrive::new(texts)?),
        })
    }
}

impl Driving {
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

    /// The positions of the inputs that are driven.
    pub fn inputs(&self) -> Vec<usize> {
        let signals = self.signals.iter();
        signals
            .flat_map(|signals| signals.inputs.iter().copied())
            .collect()
    }

    /// The files of tables.
    pub fn tables(&self) -> Vec<&Path> {
        let origins = self.signals.iter().map(|signals| &signals.origin);
        let tables = origins.filter_map(|origin| match origin {
            Origin::Table(table) => Some(table.path.as_path()),
            Origin::Expressions(_) => None,
        });
        tables.collect()
    }

    /// How a system looks from outside.
    pub fn outer_interface(&self, inner: Interface) -> Interface {
        match self.is_empty() {
            true => inner,
            false => Driven::<Box<dyn System>>::outer_interface(&inner, &self.inputs()),
        }
    }

    fn open(&self) -> Result<Vec<DrivenInputs>, String> {
        let open = |signals: &DrivingSignals| {
            Ok(DrivenInputs {
                drive: signals.origin.open(self.run)?,
                inputs: signals.inputs.clone(),
            })
        };
        self.signals.iter().map(open).collect()
    }

    /// The system with its inputs driven.
    pub fn drive(&self, system: Box<dyn System>) -> Result<Box<dyn System>, String> {
        if self.is_empty() {
            return Ok(system);
        }
        Ok(Box::new(Driven::new(system, self.open()?)))
    }

    /// What all inputs are at the start, where those that are left are these.
    pub fn start_inputs(
        &self,
        inner: &Interface,
        free: Option<&[f64]>,
    ) -> Result<Vec<f64>, String> {
        let driven = self.inputs();
        let mut all: Vec<f64> = inner.inputs.iter().map(|input| input.start).collect();
        let left = (0..all.len()).filter(|input| !driven.contains(input));
        for (input, value) in left.zip(free.unwrap_or_default()) {
            all[input] = *value;
        }

        let start = MacroStep::instant(self.run.0);
        for mut signals in self.open()? {
            let mut values = vec![Signal::constant(0.0); signals.inputs.len()];
            signals.drive.signals(start, &mut values)?;
            for (&input, signal) in signals.inputs.iter().zip(&values) {
                all[input] = signal.value(0.0);
            }
        }
        Ok(all)
    }
}
