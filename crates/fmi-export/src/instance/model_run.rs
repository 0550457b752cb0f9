//! A model and its run, in parts, as one value.

use std::sync::Arc;

use dovetail::core::{Ending, Knot, Signal};
use dovetail::scenario::{
    OuterLinearization, OutsideSignals, Placement, RunOptions, Scenario, SteppedRun,
};

self_cell::self_cell!(
    /// A run borrows its model.
    struct Borrowing {
        owner: Scenario,
        #[not_covariant]
        dependent: SteppedRun,
    }
);

/// A model that runs.
pub(crate) struct ModelRun {
    run: Borrowing,
    outside: Arc<OutsideSignals>,
    /// What the inputs have been since when.
    inputs: Vec<Signal>,
    since: f64,
    /// The model linearized where it stands, once somebody has asked.
    linearization: Option<OuterLinearization>,
}

/// Values that differ by no more than this, relative, are the same: importers compute them.
const SAME: f64 = 1e-12;
/// What changes an input over a step by less than this, relative, is rounding: importers compute polynomials.
const ROUNDING: f64 = 1e-10;

impl ModelRun {
    /// A run at its start, under these inputs.
    pub fn new(scenario: Scenario, options: RunOptions, inputs: &[Signal]) -> Result<Self, String> {
        let outside = Arc::new(OutsideSignals::default());
        let since = scenario.start_time;
        outside.set(since, inputs);
        let options = RunOptions {
            placement: Placement::SingleThread,
            outside: Some(Arc::clone(&outside)),
            ..options
        };
        let run = Borrowing::try_new(scenario, |scenario| scenario.stepped(&options));
        Ok(Self {
            run: run.map_err(|bad| bad.to_string())?,
            outside,
            inputs: inputs.to_vec(),
            since,
            linearization: None,
        })
    }

    fn with<T>(&mut self, part: impl FnOnce(&mut SteppedRun<'_>) -> T) -> T {
        self.run.with_dependent_mut(|_, run| part(run))
    }

    /// The model, for another run of it.
    pub fn into_scenario(self) -> Scenario {
        self.run.into_owner()
    }

    /// The earliest time that any system has reached.
    pub fn reached(&mut self) -> f64 {
        self.with(|run| run.reached())
    }

    /// The newest value of an output, with its derivatives.
    pub fn output(&self, stacked: usize) -> Option<Knot> {
        let outputs = |_: &Scenario, run: &SteppedRun<'_>| run.outputs().get(stacked).copied();
        self.run.with_dependent(outputs)
    }

    /// Goes on to a time under inputs that are polynomials from here on. Where they do not go on from what they were, the model
    /// is made consistent first.
    pub fn advance_to(&mut self, until: f64, inputs: &[Signal]) -> Result<Ending, String> {
        let size = until - self.with(|run| run.reached());
        self.follow(inputs, size)?;
        self.linearization = None;
        let ended = self.with(|run| run.advance_to(until));
        ended.map_err(|error| error.to_string())
    }

    /// Takes inputs from where the model stands.
    fn follow(&mut self, inputs: &[Signal], size: f64) -> Result<(), String> {
        let here = self.with(|run| run.reached());
        let jumped = self.has_jumped(here, inputs, size);
        self.outside.set(here, inputs);
        self.since = here;
        self.inputs.clear();
        self.inputs.extend_from_slice(inputs);
        if !jumped {
            return Ok(());
        }
        self.linearization = None;
        let restarted = self.with(|run| run.restart());
        restarted.map_err(|error| error.to_string())
    }

    /// The model linearized where it stands, under inputs that are these from here on.
    pub fn linearize(&mut self, inputs: &[Signal]) -> Result<&OuterLinearization, String> {
        self.follow(inputs, 0.0)?;
        if self.linearization.is_none() {
            let outside = Arc::clone(&self.outside);
            let found = self.with(|run| run.linearize(&outside))?;
            self.linearization = Some(found);
        }
        self.linearization
            .as_ref()
            .ok_or_else(|| "the model is not linearized".to_owned())
    }

    /// Whether an input is not what its course so far leads to. What a derivative does not change over the step to come, but for
    /// rounding, does not count.
    fn has_jumped(&self, here: f64, inputs: &[Signal], size: f64) -> bool {
        let elapsed = here - self.since;
        let mut pairs = self.inputs.iter().zip(inputs);
        pairs.any(|(before, now)| {
            let led = before.shifted(elapsed);
            let largest = led.value(0.0).abs().max(now.value(0.0).abs());
            let differ = |order: usize| {
                let (a, b) = match order {
                    0 => (led.value(0.0), now.value(0.0)),
                    _ => (led.derivative(order, 0.0), now.derivative(order, 0.0)),
                };
                let difference = (a - b).abs();
                let rounding = difference * size.powi(order as i32) <= ROUNDING * largest;
                difference > SAME * a.abs().max(b.abs()) && (order == 0 || size == 0.0 || !rounding)
            };
            (0..=2).any(differ)
        })
    }

    /// All that the rest of the run depends on.
    pub fn save(&mut self) -> Result<SavedRun, String> {
        let bytes = self.with(|run| run.checkpoint());
        Ok(SavedRun {
            bytes: bytes.map_err(|error| error.to_string())?,
            since: self.since,
            inputs: self.inputs.clone(),
        })
    }

    /// Goes back to it.
    pub fn restore(&mut self, saved: &SavedRun) -> Result<(), String> {
        self.outside.set(saved.since, &saved.inputs);
        self.since = saved.since;
        self.inputs.clone_from(&saved.inputs);
        self.linearization = None;
        let restored = self.with(|run| run.restore(&saved.bytes));
        restored.map_err(|error| error.to_string())
    }
}

/// All that the rest of a run depends on.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct SavedRun {
    bytes: Vec<u8>,
    since: f64,
    inputs: Vec<Signal>,
}
