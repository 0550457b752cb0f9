//! A run that is stepped by hand. It lives in a thread of its own, which is told what to do and answers.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dovetail::core::{Ending, Exchange, Observer};
use dovetail::report::{LastRow, Recorder, Variables};
use dovetail::scenario::{BadModel, Scenario, SteppedSession, SteppingError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Fields, bad_model, exception};
use crate::going_back::misled;
use crate::remedies;
use crate::request::Request;
use crate::system::{first_exception, system};
use crate::waiting::{Stop, Wait, Waited, start};

/// What the thread is told.
enum Order {
    StepUntil(f64),
    Refresh,
    Save,
    Restore(Vec<u8>),
}

/// What it answers.
enum Answer {
    Present(Present),
    Saved(Vec<u8>),
    Refused(BadModel),
    Failed(dovetail::core::Error),
}

/// Where the run stands.
struct Present {
    time: f64,
    values: Vec<f64>,
    /// Why it ended before the time that it was to reach.
    ended: Option<&'static str>,
    /// On the first answer, the names of all variables and the time at which the run ends.
    start: Option<(Vec<String>, f64)>,
}

/// `dovetail._native.Session`.
#[pyclass]
pub(crate) struct Session {
    orders: Mutex<Option<Sender<Order>>>,
    answers: Mutex<Receiver<Answer>>,
    stop: Stop,
    limit: Option<Duration>,
    systems: Vec<u64>,
    hand: Option<u64>,
    #[pyo3(get)]
    names: Vec<String>,
    #[pyo3(get)]
    stop_time: f64,
    #[pyo3(get)]
    time: f64,
    values: Vec<f64>,
}

#[pymethods]
impl Session {
    /// Starts it: with the systems of Python that it has, and the number of the hand, if there is one.
    #[new]
    fn new(
        py: Python<'_>,
        request: Request,
        systems: Vec<u64>,
        hand: Option<u64>,
    ) -> PyResult<Self> {
        let (orders, told) = channel();
        let (answer, answers) = channel();
        let limit = request.step_limit().map_err(|bad| bad_model(py, bad))?;
        let stop = Stop::default();
        let raised = stop.clone();
        start(move || serve(&request, &told, &answer, &raised))?;
        let mut session = Self {
            orders: Mutex::new(Some(orders)),
            answers: Mutex::new(answers),
            stop,
            limit,
            systems,
            hand,
            names: Vec::new(),
            stop_time: f64::NAN,
            time: f64::NAN,
            values: Vec::new(),
        };
        session.wait(py)?;
        Ok(session)
    }

    /// Goes on to this time; why it ended earlier, if it did.
    fn step_until(&mut self, py: Python<'_>, time: f64) -> PyResult<Option<&'static str>> {
        self.order(py, Order::StepUntil(time))
            .map(|(ended, _)| ended)
    }

    /// The value of a variable where the session stands.
    fn value(&self, place: usize) -> f64 {
        self.values.get(place).copied().unwrap_or(f64::NAN)
    }

    /// Those of all of them.
    fn all_values(&self) -> Vec<f64> {
        self.values.clone()
    }

    /// Sets outputs of the hand.
    fn set(&mut self, py: Python<'_>, outputs: Vec<(usize, f64)>) -> PyResult<()> {
        if let Some(hand) = self.hand.and_then(system) {
            for (output, value) in outputs {
                hand.set_value(output, value);
            }
        }
        self.order(py, Order::Refresh).map(drop)
    }

    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (_, bytes) = self.order(py, Order::Save)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn restore(&mut self, py: Python<'_>, saved: Vec<u8>) -> PyResult<()> {
        self.order(py, Order::Restore(saved)).map(drop)
    }

    /// Ends it: the thread frees its systems.
    fn close(&self, py: Python<'_>) {
        let orders = self
            .orders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(orders);
        // The thread hangs up when its systems are gone.
        py.detach(|| {
            let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            while answers.recv().is_ok() {}
        });
    }
}

impl Session {
    /// Nobody listens to the thread any longer.
    fn give_up(&mut self) {
        let orders = self.orders.get_mut();
        orders.unwrap_or_else(PoisonError::into_inner).take();
        self.answers = Mutex::new(channel().1);
    }

    fn order(&mut self, py: Python<'_>, order: Order) -> PyResult<(Option<&'static str>, Vec<u8>)> {
        let orders = self
            .orders
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let told = orders.as_ref().and_then(|orders| orders.send(order).ok());
        if told.is_none() {
            return Err(exception(
                py,
                "Error",
                "the session is over",
                Fields::default(),
            ));
        }
        self.wait(py)
    }

    /// Waits for the answer, without the interpreter's lock and with an eye on Ctrl-C.
    fn wait(&mut self, py: Python<'_>) -> PyResult<(Option<&'static str>, Vec<u8>)> {
        let wait = Wait {
            stop: &self.stop,
            systems: &self.systems,
            limit: self.limit,
        };
        let answers = &self.answers;
        let heard = py.detach(|| {
            let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            wait.for_answer(&answers, |_| Ok(()))
        });
        let Waited { answer, raised } = match heard {
            Ok(waited) => waited,
            Err(error) => {
                self.give_up();
                return Err(error);
            }
        };
        let cause = first_exception(&self.systems);
        let caused = |error: PyErr| {
            error.set_cause(py, cause);
            error
        };

        let done = match answer {
            Answer::Present(present) => {
                self.time = present.time;
                self.values = present.values;
                if let Some((names, stop_time)) = present.start {
                    (self.names, self.stop_time) = (names, stop_time);
                }
                (present.ended, Vec::new())
            }
            Answer::Saved(bytes) => (None, bytes),
            Answer::Refused(_) | Answer::Failed(_) if raised.is_some() => (None, Vec::new()),
            Answer::Refused(bad) => return Err(caused(bad_model(py, bad))),
            Answer::Failed(error) => {
                let message = remedies::advised(&(&error).into());
                let fields = Fields::of_run(&error);
                return Err(caused(exception(py, "RunError", &message, fields)));
            }
        };
        raised.map_or(Ok(done), Err)
    }
}

/// The life of the thread.
fn serve(request: &Request, orders: &Receiver<Order>, answer: &Sender<Answer>, stop: &Stop) {
    if let Err(bad) = live(request, orders, answer, stop) {
        let _ = answer.send(Answer::Refused(bad));
    }
}

fn live(
    request: &Request,
    orders: &Receiver<Order>,
    answer: &Sender<Answer>,
    stop: &Stop,
) -> Result<(), BadModel> {
    let (scenario, options) = request.read(stop)?;
    if options.goes_back
        && let Some(name) = misled(&scenario, &options, stop)
    {
        let text = format!(
            "rewind=True: `{name}` does not move as it should once it is told that the run may go back to before its current point \
             (noSetFMUStatePriorToCurrentPoint = false)"
        );
        let mut refused = scenario.refuse(text.into());
        let problems = std::mem::take(&mut refused.problems).into_iter();
        refused.problems = problems.map(|problem| problem.of_system(&name)).collect();
        return Err(refused);
    }
    let mut run = scenario.stepped_session(&options)?;
    if options.goes_back
        && let Err(why) = run.save()
    {
        let text = format!("rewind=True: the model cannot go back: {why}");
        return Err(scenario.refuse(text.into()));
    }

    let variables = Variables::of(&scenario.connections);
    let names = variables.everything().names();
    let mut present = present_of(&scenario, &run, None);
    present.start = Some((names, scenario.stop_time));
    let mut next = Answer::Present(present);
    loop {
        if answer.send(next).is_err() {
            return Ok(());
        }
        let Ok(order) = orders.recv() else {
            return Ok(());
        };
        next = carry_out(&scenario, &mut run, order, stop).unwrap_or_else(|error| match error {
            SteppingError::Model(bad) => Answer::Refused(bad),
            SteppingError::Run(error) => Answer::Failed(error),
        });
    }
}

fn carry_out(
    scenario: &Scenario,
    run: &mut SteppedSession<'_>,
    order: Order,
    stop: &Stop,
) -> Result<Answer, SteppingError> {
    let mut ended = None;
    match order {
        Order::Save => return Ok(Answer::Saved(run.save()?)),
        Order::Restore(saved) => run.restore(saved)?,
        Order::Refresh => run.refresh()?,
        Order::StepUntil(until) => {
            let ending = run.step_until(until, &mut [], stop)?;
            ended = match ending {
                Ending::Finished => None,
                Ending::Interrupted => Some("interrupted"),
                Ending::Requested { .. } => Some("requested"),
            };
        }
    }
    Ok(Answer::Present(present_of(scenario, run, ended)))
}

/// The values of all variables where the run stands.
fn present_of(
    scenario: &Scenario,
    run: &SteppedSession<'_>,
    ended: Option<&'static str>,
) -> Present {
    let everything = Variables::of(&scenario.connections).everything();
    let mut row = Recorder::new(
        &scenario.connections,
        &everything,
        LastRow::default(),
        "values",
    );
    let exchange = Exchange {
        tasks: run.tasks(),
        before: &[],
        iterations: 0,
        signals: &[],
    };
    let noted = row.started(exchange);
    noted.expect("BUG: a row in memory is always written");
    Present {
        time: run.reached(),
        values: row.last_row().to_vec(),
        ended,
        start: None,
    }
}
