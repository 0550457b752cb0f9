//! The part of a model that lives in another process or on another rank, and the system it makes there.

use std::sync::Arc;

use dovetail_core::System;
use dovetail_fmi::Monitor;
use dovetail_methods::EstimatorOptions;
use dovetail_workers::SystemFactory;

use super::portable::{FinalReport, PortablePart, WantedSystem};
use crate::bytes::{from_bytes, to_bytes};
use crate::catalog::Catalog;
use crate::source::part::Part;
use crate::stand_in::estimated_by;

/// The part of a model that lives in this process.
pub(crate) struct OwnPart {
    part: Part,
    catalog: Catalog,
    monitor: Option<Arc<Monitor>>,
}

impl OwnPart {
    pub(crate) fn open(job: &[u8]) -> Result<Self, String> {
        let catalog = Catalog::default();
        let part: PortablePart = from_bytes(job)?;

        Ok(Self {
            part: part.read(&catalog)?,
            catalog,
            monitor: None,
        })
    }

    fn estimator(&self, options: &[(String, String)]) -> Result<EstimatorOptions, String> {
        let texts = options
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let settings = self.catalog.registry().settings(texts);
        let settings = settings.map_err(|bad| bad.to_string())?;

        Ok(EstimatorOptions::of(&settings))
    }
}

impl SystemFactory for OwnPart {
    fn make(&mut self, order: &[u8]) -> Result<Box<dyn System>, String> {
        let WantedSystem {
            build, estimator, ..
        } = from_bytes(order)?;
        let built = self.part.build(&build.here()?)?;
        self.monitor = built.monitor;

        match estimator {
            Some(options) => Ok(estimated_by(built.system, self.estimator(&options)?)),
            None => Ok(built.system),
        }
    }

    fn final_notes(&mut self) -> Vec<u8> {
        let report: FinalReport = self
            .monitor
            .as_ref()
            .map(|monitor| (monitor.costs(), monitor.notes()));
        to_bytes(&report)
    }
}
