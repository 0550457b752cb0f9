//! The two ends of a worker process: what it is told to make, and how it makes it.
//!
//! A process reads the model again and makes one system of it. What the probes of FMUs found travels along, so that no FMU is
//! tried a second time and both sides know the same of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dovetail_core::System;
use dovetail_fmi::{CallLog, Costs, Message, Monitor, Notes};
use dovetail_methods::{Control, EstimatorOptions, Form};
use dovetail_numerics::Laplace;
use dovetail_workers::{Maker, Order, Reader, Texts, Writer};
use serde::{Deserialize, Serialize};

use crate::diagnostic::{BadModel, SourceText};
use crate::errand::{self, from_bytes, to_bytes};
use crate::method;
use crate::overrides::Overrides;
use crate::part::Making;
use crate::scenario::Scenario;
use crate::systems;

/// The texts that FMUs exchange.
pub(crate) const TEXTS: Texts = Texts {
    text: |number| dovetail_fmi::text_of_number(number).to_string(),
    number: dovetail_fmi::number_of_text,
};

/// The life of a worker process, which was started by a run with [`Placement::processes`](crate::Placement::processes).
pub fn work_for_another_process() -> std::io::Result<()> {
    dovetail_fmi::live_for_one_unit();
    dovetail_workers::serve(TEXTS, Workshop::open, errand::carry_out)
}

/// A model, and what was changed in it, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Copy {
    path: String,
    text: String,
    changes: Overrides,
}

impl Copy {
    /// Of this model, with what the probes found of its FMUs: they are not tried again.
    pub fn of(scenario: &Scenario) -> Self {
        let SourceText { path, text } = scenario.source.clone();
        let known = scenario
            .units()
            .iter()
            .map(|(_, prepared)| prepared.knowledge())
            .collect();
        Self {
            path,
            text,
            changes: Overrides {
                known,
                ..scenario.changes.clone()
            },
        }
    }

    /// Reads it.
    pub fn read(self) -> Result<Scenario, BadModel> {
        let Self {
            path,
            text,
            changes,
        } = self;
        if text.is_empty() {
            return Scenario::load(Path::new(&path), &changes);
        }
        Scenario::parse(SourceText { path, text }, &changes)
    }
}

/// The model, and which of its systems to make.
#[derive(Serialize, Deserialize)]
struct Job {
    copy: Copy,
    index: usize,
}

/// How a system is to be made, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RemoteMaking {
    step: f64,
    integrator_tolerance: f64,
    fmu_tolerance: Option<f64>,
    log: Option<PathBuf>,
    inputs: Option<Vec<f64>>,
}

impl RemoteMaking {
    pub fn of(making: &Making) -> Self {
        let Making {
            step,
            integrator_tolerance,
            fmu_tolerance,
            log,
            inputs,
        } = making.clone();
        Self {
            step,
            integrator_tolerance,
            fmu_tolerance,
            log: log.map(|log| log.path().to_owned()),
            inputs,
        }
    }

    /// The same here; the log goes on where the other process has begun it.
    pub fn here(self) -> Result<Making, String> {
        let Self {
            step,
            integrator_tolerance,
            fmu_tolerance,
            log,
            inputs,
        } = self;
        let open = |path: PathBuf| {
            CallLog::append(&path).map_err(|e| format!("{} cannot be written: {e}", path.display()))
        };
        Ok(Making {
            step,
            integrator_tolerance,
            fmu_tolerance,
            log: log.map(open).transpose()?,
            inputs,
        })
    }
}

/// The same, with an estimator before the system if that is wanted.
#[derive(Serialize, Deserialize)]
struct Wanted {
    making: RemoteMaking,
    estimator: Option<Estimation>,
}

/// The options of an estimator, as numbers that can be sent.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Estimation {
    control: usize,
    form: usize,
    gaver_stehfest: bool,
}

const CONTROLS: [Control; 4] = [
    Control::Flexible,
    Control::ZeroOrder,
    Control::FirstOrder,
    Control::Tangent,
];
const FORMS: [Form; 3] = [Form::Full, Form::Held, Form::Degraded];

impl Estimation {
    fn of(options: EstimatorOptions) -> Self {
        let EstimatorOptions {
            control,
            form,
            laplace,
        } = options;
        Self {
            control: CONTROLS
                .iter()
                .position(|known| *known == control)
                .unwrap_or(0),
            form: FORMS.iter().position(|known| *known == form).unwrap_or(0),
            gaver_stehfest: laplace == Laplace::GaverStehfest,
        }
    }

    fn options(self) -> EstimatorOptions {
        let laplace = if self.gaver_stehfest {
            Laplace::GaverStehfest
        } else {
            Laplace::Exact
        };
        EstimatorOptions {
            control: CONTROLS[self.control],
            form: FORMS[self.form],
            laplace,
        }
    }
}

/// What each process is told.
pub(crate) fn orders(scenario: &Scenario, order: &systems::Order) -> Vec<Order> {
    let copy = Copy::of(scenario);
    let each = order.making.iter().zip(&order.estimated).enumerate();
    each.map(|(index, (making, estimated))| {
        let estimator = estimated.then(|| Estimation::of(order.estimator));
        let part = &scenario.parts[index];
        Order {
            name: part.name().to_owned(),
            job: to_bytes(&Job {
                copy: copy.clone(),
                index,
            }),
            make: to_bytes(&Wanted {
                making: RemoteMaking::of(making),
                estimator,
            }),
            once: part.unit().is_some_and(|prepared| prepared.only_once()),
        }
    })
    .collect()
}

/// A model in a worker process, and the one system of it that is made here.
struct Workshop {
    scenario: Scenario,
    index: usize,
    monitor: Option<Arc<Monitor>>,
}

impl Workshop {
    fn open(job: &[u8]) -> Result<Self, String> {
        let Job { copy, index } = from_bytes(job)?;
        let scenario = copy.read().map_err(|bad| bad.to_string())?;
        Ok(Self {
            scenario,
            index,
            monitor: None,
        })
    }
}

impl Maker for Workshop {
    fn make(&mut self, order: &[u8]) -> Result<Box<dyn System>, String> {
        let Wanted { making, estimator } = from_bytes(order)?;
        let part = self
            .scenario
            .parts
            .get(self.index)
            .ok_or("BUG: there is no such system")?;
        let (system, monitor) =
            systems::make(part, &making.here()?).map_err(|problem| problem.message)?;
        self.monitor = monitor;
        Ok(match estimator {
            Some(estimation) => method::estimate(system, estimation.options()),
            None => system,
        })
    }

    fn told(&mut self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.option(self.monitor.as_ref(), |writer, monitor| {
            write_told(writer, &monitor.costs(), &monitor.notes())
        });
        writer.into_bytes()
    }
}

fn write_told(writer: &mut Writer, costs: &Costs, notes: &Notes) {
    let Costs {
        step,
        values,
        state,
    } = *costs;
    let Notes {
        discarded,
        events,
        messages,
        more_messages,
    } = notes;
    writer.float(step).float(values).float(state);
    writer
        .number(*discarded)
        .number(*events)
        .number(*more_messages);
    writer.list(messages, |writer, message| {
        writer
            .number(message.status as u64)
            .text(&message.text)
            .number(message.count);
    });
}

/// What a system told when it left its process; nothing where it is no FMU, or did not come to that.
pub(crate) fn read_told(bytes: &[u8]) -> Option<(Costs, Notes)> {
    let mut reader = Reader::new(bytes);
    reader.truth()?.then_some(())?;
    let costs = Costs {
        step: reader.float()?,
        values: reader.float()?,
        state: reader.float()?,
    };
    let (discarded, events, more_messages) = (reader.number()?, reader.number()?, reader.number()?);
    let messages = reader.list(|reader| {
        Some(Message {
            status: reader.number()? as i32,
            text: reader.text()?,
            count: reader.number()?,
        })
    })?;
    Some((
        costs,
        Notes {
            discarded,
            events,
            messages,
            more_messages,
        },
    ))
}
