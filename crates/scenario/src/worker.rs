//! The two ends of a worker process: what it is told to make, and how it makes it.
//!
//! A process reads the model again and makes one system of it. What the probes of FMUs found travels along, so that no FMU is
//! tried a second time and both sides know the same of it.

use std::path::Path;
use std::sync::Arc;

use dovetail_core::System;
use dovetail_fmi::{CallLog, Costs, Knowledge, Message, Monitor, Notes, Use};
use dovetail_methods::{Control, EstimatorOptions, Form};
use dovetail_numerics::Laplace;
use dovetail_workers::{Maker, Order, Reader, Texts, Writer};

use crate::diagnostic::{BadModel, SourceText};
use crate::method;
use crate::options::{Choices, RunOptions};
use crate::overrides::Overrides;
use crate::scenario::Scenario;
use crate::systems;

/// The texts that FMUs exchange.
pub(crate) const TEXTS: Texts =
    Texts { text: |number| dovetail_fmi::text_of_number(number).to_string(), number: dovetail_fmi::number_of_text };

/// The life of a worker process, which was started by a run with [`Placement::processes`](crate::Placement::processes).
pub fn work_for_another_process() -> std::io::Result<()> {
    dovetail_fmi::live_for_one_unit();
    dovetail_workers::serve(TEXTS, |job| Workshop::open(job).ok_or("BUG: the job could not be read")?)
}

/// What each process is told, and which of them put an estimator before their system.
pub(crate) fn orders(scenario: &Scenario, options: &RunOptions, estimated: &[bool]) -> Result<Vec<Order>, BadModel> {
    let step = scenario.step(options)?;
    let order = |(index, &estimated): (usize, &bool)| Order {
        name: scenario.parts[index].name().to_owned(),
        job: job(scenario, index),
        make: conditions(options, step, estimated),
    };
    Ok(estimated.iter().enumerate().map(order).collect())
}

/// The model, and which of its systems to make.
fn job(scenario: &Scenario, index: usize) -> Vec<u8> {
    let SourceText { path, text } = &scenario.source;
    let Overrides { values, start_time, stop_time, strict, interface, stop_time_unless_given, known: _ } =
        &scenario.changes;
    let mut writer = Writer::default();
    writer.text(path).text(text);
    writer.list(values, |writer, (name, value)| {
        writer.text(name).text(value);
    });
    for time in [start_time, stop_time, stop_time_unless_given] {
        writer.option(time.as_ref(), |writer, time| {
            writer.float(*time);
        });
    }
    writer.truth(*strict).option(interface.as_ref(), |writer, used| {
        writer.truth(*used == Use::ModelExchange);
    });
    writer.list(&scenario.units(), |writer, (_, prepared)| {
        writer.list(&prepared.knowledge().to_numbers(), |writer, number| {
            writer.number(*number);
        });
    });
    writer.number(index as u64);
    writer.into_bytes()
}

/// How a system is to be made.
fn conditions(options: &RunOptions, step: f64, estimated: bool) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.float(step).float(options.integrator_tolerance);
    writer.truth(options.given.iter().any(|key| key == "integrator-tolerance"));
    let log = options.fmi_log.as_ref().map(|log| log.path().display().to_string());
    writer.option(log.as_ref(), |writer, path| {
        writer.text(path);
    });
    let EstimatorOptions { control, form, laplace } = options.estimator;
    writer.truth(estimated);
    writer.number(match control {
        Control::Flexible => 0,
        Control::ZeroOrder => 1,
        Control::FirstOrder => 2,
        Control::Tangent => 3,
    });
    writer.number(match form {
        Form::Full => 0,
        Form::Held => 1,
        Form::Degraded => 2,
    });
    writer.truth(laplace == Laplace::GaverStehfest);
    writer.into_bytes()
}

/// A model in a worker process, and the one system of it that is made here.
struct Workshop {
    scenario: Scenario,
    index: usize,
    options: RunOptions,
    monitor: Option<Arc<Monitor>>,
}

impl Workshop {
    /// Reads the model; or why it could not be read. `None`: the job is not what was written.
    fn open(job: &[u8]) -> Option<Result<Self, String>> {
        let mut reader = Reader::new(job);
        let source = SourceText { path: reader.text()?, text: reader.text()? };
        let values = reader.list(|reader| Some((reader.text()?, reader.text()?)))?;
        let mut time = || reader.option(Reader::float);
        let (start_time, stop_time, stop_time_unless_given) = (time()?, time()?, time()?);
        let strict = reader.truth()?;
        let interface = reader.option(Reader::truth)?;
        let interface = interface.map(|exchange| if exchange { Use::ModelExchange } else { Use::CoSimulation });
        let known = reader.list(|reader| Knowledge::of_numbers(&reader.list(Reader::number)?))?;
        let index = usize::try_from(reader.number()?).ok()?;
        let changes = Overrides { values, start_time, stop_time, strict, interface, stop_time_unless_given, known };
        Some(Self::read(source, &changes, index).map_err(|bad| bad.to_string()))
    }

    fn read(source: SourceText, changes: &Overrides, index: usize) -> Result<Self, BadModel> {
        let scenario = if source.text.is_empty() {
            Scenario::load(Path::new(&source.path), changes)?
        } else {
            Scenario::parse(source, changes)?
        };
        let options = scenario.options(&Choices::default())?;
        Ok(Self { scenario, index, options, monitor: None })
    }

    /// Takes over how the system is to be made: the step, and whether an estimator stands before it.
    fn take_over(&mut self, order: &[u8]) -> Option<Result<(f64, bool), String>> {
        let mut reader = Reader::new(order);
        let step = reader.float()?;
        self.options.integrator_tolerance = reader.float()?;
        self.options.given = reader.truth()?.then(|| "integrator-tolerance".to_owned()).into_iter().collect();
        let log = reader.option(Reader::text)?;
        let estimated = reader.truth()?;
        let control = [Control::Flexible, Control::ZeroOrder, Control::FirstOrder, Control::Tangent];
        let form = [Form::Full, Form::Held, Form::Degraded];
        self.options.estimator = EstimatorOptions {
            control: *control.get(reader.number()? as usize)?,
            form: *form.get(reader.number()? as usize)?,
            laplace: if reader.truth()? { Laplace::GaverStehfest } else { Laplace::Exact },
        };
        let log =
            log.map(|path| CallLog::append(Path::new(&path)).map_err(|e| format!("{path} cannot be written: {e}")));
        Some(log.transpose().map(|log| {
            self.options.fmi_log = log;
            (step, estimated)
        }))
    }
}

impl Maker for Workshop {
    fn make(&mut self, order: &[u8]) -> Result<Box<dyn System>, String> {
        let (step, estimated) = self.take_over(order).ok_or("BUG: the order could not be read")??;
        let part = self.scenario.parts.get(self.index).ok_or("BUG: there is no such system")?;
        let (system, monitor) = systems::make(part, &self.options, step).map_err(|problem| problem.message)?;
        self.monitor = monitor;
        Ok(if estimated { method::estimate(system, &self.options) } else { system })
    }

    fn told(&mut self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.option(self.monitor.as_ref(), |writer, monitor| write_told(writer, &monitor.costs(), &monitor.notes()));
        writer.into_bytes()
    }
}

fn write_told(writer: &mut Writer, costs: &Costs, notes: &Notes) {
    let Costs { step, values, state } = *costs;
    let Notes { discarded, events, messages, more_messages } = notes;
    writer.float(step).float(values).float(state);
    writer.number(*discarded).number(*events).number(*more_messages);
    writer.list(messages, |writer, message| {
        writer.number(message.status as u64).text(&message.text).number(message.count);
    });
}

/// What a system told when it left its process; nothing where it is no FMU, or did not come to that.
pub(crate) fn read_told(bytes: &[u8]) -> Option<(Costs, Notes)> {
    let mut reader = Reader::new(bytes);
    reader.truth()?.then_some(())?;
    let costs = Costs { step: reader.float()?, values: reader.float()?, state: reader.float()? };
    let (discarded, events, more_messages) = (reader.number()?, reader.number()?, reader.number()?);
    let messages = reader.list(|reader| {
        Some(Message { status: reader.number()? as i32, text: reader.text()?, count: reader.number()? })
    })?;
    Some((costs, Notes { discarded, events, messages, more_messages }))
}
