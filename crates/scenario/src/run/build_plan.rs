//! How the systems of a run are to be made, here or elsewhere.

use dovetail_core::System;
use dovetail_methods::{EstimatorOptions, Settings};
use dovetail_workers::SystemRequest;

use super::fmu_report::FmuReport;
use crate::diagnostic::{BadModel, Problem};
use crate::process::portable;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::source::system_source::BuildOptions;
use crate::stand_in::estimated_by;

/// How the systems of a run are to be made.
#[derive(Clone, Debug)]
pub(crate) struct BuildPlan {
    /// For each system.
    pub each: Vec<BuildOptions>,
    /// For each system, whether an estimator (COSTARICA) stands before it.
    pub estimated: Vec<bool>,
    /// The options of the run, those of estimators among them.
    pub settings: Settings,
}

impl BuildPlan {
    /// The system at position `k`, made in this process.
    pub fn build(&self, k: usize, part: &Part) -> Result<(Box<dyn System>, FmuReport), String> {
        let built = part.build(&self.each[k])?;
        let report = built.monitor.map_or(FmuReport::None, FmuReport::Here);
        if !self.estimated[k] {
            return Ok((built.system, report));
        }

        let estimator = EstimatorOptions::of(&self.settings);
        Ok((estimated_by(built.system, estimator), report))
    }

    /// What another process is told to make.
    pub fn orders(&self, scenario: &Scenario) -> Result<Vec<SystemRequest>, BadModel> {
        let order = |(k, part): (usize, &Part)| {
            let settings = self.estimated[k].then_some(&self.settings);
            let order = portable::order(part, &self.each[k], scenario.start_time, settings);
            order.map_err(|error| scenario.bad(Problem::general(error)))
        };
        scenario.parts.iter().enumerate().map(order).collect()
    }
}
