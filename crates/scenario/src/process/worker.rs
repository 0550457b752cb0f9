//! The life of a worker process: it makes one system of a model, or carries out tasks.

use std::sync::Arc;

use dovetail_core::System;
use dovetail_fmi::Monitor;
use dovetail_methods::EstimatorOptions;
use dovetail_workers::SystemFactory;

use super::child_task::{ChildTask, Request, perform};
use super::portable::{FinalReport, PortablePart, WantedSystem};
use super::texts::TEXTS;
use crate::bytes::{from_bytes, to_bytes};
use crate::catalog::Catalog;
#[cfg(feature = "mpi")]
use crate::cost::CostTask;
use crate::fmu::child_experiments::{FreeTask, ProbeTask, ResetTask};
use crate::run::rehearsal::RehearsalTask;
use crate::source::part::Part;
use crate::stand_in::estimated_by;

/// The life of a worker process, which was started by a run with [`Placement::processes`](crate::Placement::processes).
pub fn serve_worker() -> std::io::Result<()> {
    dovetail_fmi::set_single_fmu_process();
    dovetail_workers::serve(TEXTS, dovetail_fmi::note_calls_in, OwnPart::open, carry_out)
}

/// Does what another process asks for.
fn carry_out(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let request: Request = from_bytes(bytes)?;
    match request.name.as_str() {
        ProbeTask::NAME => perform::<ProbeTask>(&request),
        ResetTask::NAME => perform::<ResetTask>(&request),
        FreeTask::NAME => perform::<FreeTask>(&request),
        #[cfg(feature = "mpi")]
        CostTask::NAME => perform::<CostTask>(&request),
        RehearsalTask::NAME => perform::<RehearsalTask>(&request),
        name => Err(format!("BUG: there is no task `{name}`")),
    }
}

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
