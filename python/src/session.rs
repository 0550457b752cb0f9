//! A run that is stepped by hand. It lives in a thread of its own, which is told what to do and answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use dovetail::core::{Ending, Exchange, Observer};
use dovetail::report::{LastRow, Recorder, Variables};
use dovetail::scenario::{BadModel, Scenario, SteppedSession, SteppingError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Fields, bad_model, exception};
use crate::remedies;
use crate::request::Request;
use crate::system::{first_exception, system};
use crate::waiting::{GRACE_PERIOD, INTERRUPTED, PAUSE, STACK};

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
    stop: Arc<AtomicBool>,
    systems: Vec<u64>,
    hand: Option<u64>,
    #[pyo3(get)]
    names: Vec<String>,
    #[pyo3(get)]
    stop_time: f64,
    #[pyo3(get)]
    time: f64,
    #[pyo3(get)]
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
        let stop = Arc::new(AtomicBool::new(false));
        let raised = stop.clone();
        let thread = Builder::new().name("dovetail".to_owned()).stack_size(STACK);
        let live = move || serve(&request, &told, &answer, &raised);
        thread.spawn(live).map_err(|error| {
            PyRuntimeError::new_err(format!("no thread could be started for a session: {error}"))
        })?;
        let mut session = Self {
            orders: Mutex::new(Some(orders)),
            answers: Mutex::new(answers),
            stop,
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

    /// Sets an output of the hand.
    fn set(&mut self, py: Python<'_>, output: usize, value: f64) -> PyResult<()> {
        if let Some(hand) = self.hand.and_then(system) {
            hand.set_value(output, value);
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
        let stop = &self.stop;
        let answers = &self.answers;
        let (answer, raised) = py.detach(|| {
            let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            listen(&answers, stop)
        });
        stop.store(false, Ordering::Relaxed);
        INTERRUPTED.store(false, Ordering::Relaxed);
        dovetail::fmi::permit_steps();
        let cause = first_exception(&self.systems);
        let caused = |error: PyErr| {
            error.set_cause(py, cause);
            error
        };

        let done = match answer {
            Some(Answer::Present(present)) => {
                self.time = present.time;
                self.values = present.values;
                if let Some((names, stop_time)) = present.start {
                    (self.names, self.stop_time) = (names, stop_time);
                }
                (present.ended, Vec::new())
            }
            Some(Answer::Saved(bytes)) => (None, bytes),
            Some(Answer::Refused(bad)) => return Err(caused(bad_model(py, bad))),
            Some(Answer::Failed(error)) => {
                let message = remedies::advised(&(&error).into());
                let fields = Fields::of_run(&error);
                return Err(caused(exception(py, "RunError", &message, fields)));
            }
            None => {
                let message = "BUG: the engine has failed; its message is above";
                return Err(PyRuntimeError::new_err(message));
            }
        };
        raised.map_or(Ok(done), Err)
    }
}

/// The answer, and what a signal handler has raised meanwhile.
fn listen(answers: &Receiver<Answer>, stop: &AtomicBool) -> (Option<Answer>, Option<PyErr>) {
    let mut raised: Option<PyErr> = None;
    let mut since = None;
    loop {
        match answers.recv_timeout(PAUSE) {
            Ok(answer) => return (Some(answer), raised),
            Err(RecvTimeoutError::Disconnected) => return (None, raised),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            INTERRUPTED.store(true, Ordering::Relaxed);
            raised.get_or_insert(error);
            since.get_or_insert_with(std::time::Instant::now);
        }
        if since.is_some_and(|since: std::time::Instant| since.elapsed() > GRACE_PERIOD) {
            dovetail::fmi::abandon_steps();
        }
    }
}

/// The life of the thread.
fn serve(request: &Request, orders: &Receiver<Order>, answer: &Sender<Answer>, stop: &AtomicBool) {
    if let Err(bad) = live(request, orders, answer, stop) {
        let _ = answer.send(Answer::Refused(bad));
    }
}

fn live(
    request: &Request,
    orders: &Receiver<Order>,
    answer: &Sender<Answer>,
    stop: &AtomicBool,
) -> Result<(), BadModel> {
    let (scenario, options) = request.read()?;
    let mut run = scenario.stepped(&options)?;
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
    stop: &AtomicBool,
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
