//! Model Exchange: time, states, derivatives, events.

use dovetail::scenario::{ExchangeModel, FaceRole, RunOptions, Scenario};

use super::{Engine, Instance, Phase};

/// What an event has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ExchangeEvent {
    /// Continuous states have jumped.
    pub states_changed: bool,
    /// The next time at which something is known to switch.
    pub next_event: Option<f64>,
}

/// Modes in which derivatives and indicators can be asked for.
pub(super) const EVALUATED: [Phase; 3] =
    [Phase::Initialization, Phase::Event, Phase::ContinuousTime];

impl Instance {
    /// The equations, at their start.
    pub(super) fn equations_of(
        &self,
        scenario: &Scenario,
        options: &RunOptions,
    ) -> Result<ExchangeModel, String> {
        let model = scenario.exchange(options);
        let mut model = model.map_err(|bad| bad.to_string())?;
        for (slot, input) in self.inputs.iter().enumerate() {
            model.set_input(slot, input[0]);
        }
        let begun = model.handle_event();
        begun.map_err(|error| error.to_string())?;
        Ok(model)
    }

    fn equations(&mut self) -> Result<&mut ExchangeModel, String> {
        match self.engine()? {
            Engine::Equations(model) => Ok(model),
            Engine::Coupled(_) => Err("this instance is one of Co-Simulation".to_owned()),
        }
    }

    pub fn enter_event_mode(&mut self) -> Result<(), String> {
        let phases = [Phase::ContinuousTime, Phase::Event];
        self.expect(&phases, "event mode is entered")?;
        self.phase = Phase::Event;
        Ok(())
    }

    pub fn enter_continuous_time_mode(&mut self) -> Result<(), String> {
        self.expect(&[Phase::Event], "continuous-time mode is entered")?;
        self.phase = Phase::ContinuousTime;
        Ok(())
    }

    /// Whatever is to happen at this event.
    pub fn update_discrete_states(&mut self) -> Result<ExchangeEvent, String> {
        self.expect(&[Phase::Event], "discrete states are updated")?;
        let handled = self.equations()?.handle_event();
        let handled = handled.map_err(|error| error.to_string());
        if handled.is_err() {
            self.phase = Phase::Failed;
        }
        let handled = handled?;
        Ok(ExchangeEvent {
            states_changed: handled.states_changed,
            next_event: Some(handled.next_event).filter(|time| time.is_finite()),
        })
    }

    /// An integrator has completed a step: events are found by the indicators alone.
    pub fn completed_integrator_step(&mut self) -> Result<(), String> {
        self.expect(&[Phase::ContinuousTime], "an integrator step is completed")
    }

    pub fn set_time(&mut self, time: f64) -> Result<(), String> {
        let phases = [Phase::Event, Phase::ContinuousTime];
        self.expect(&phases, "the time is set")?;
        if !time.is_finite() {
            return Err(format!("the time cannot be {time}"));
        }
        self.equations()?.set_time(time);
        self.time = time;
        Ok(())
    }

    pub fn set_continuous_states(&mut self, values: &[f64]) -> Result<(), String> {
        let phases = [Phase::ContinuousTime, Phase::Event];
        self.expect(&phases, "the continuous states are set")?;
        if let Some(wrong) = values.iter().find(|value| !value.is_finite()) {
            return Err(format!("a state cannot be {wrong}"));
        }
        let model = self.equations()?;
        check_count("continuous states", values.len(), model.state_count())?;
        model.set_states(values);
        Ok(())
    }

    pub fn continuous_states(&mut self, into: &mut [f64]) -> Result<(), String> {
        self.expect(&EVALUATED, "the continuous states are asked for")?;
        let model = self.equations()?;
        check_count("continuous states", into.len(), model.state_count())?;
        model.states(into);
        Ok(())
    }

    pub fn state_derivatives(&mut self, into: &mut [f64]) -> Result<(), String> {
        self.expect(&EVALUATED, "derivatives are asked for")?;
        let model = self.equations()?;
        check_count("continuous states", into.len(), model.state_count())?;
        model.derivatives(into).map_err(|error| error.to_string())
    }

    pub fn event_indicators(&mut self, into: &mut [f64]) -> Result<(), String> {
        self.expect(&EVALUATED, "event indicators are asked for")?;
        let model = self.equations()?;
        check_count("event indicators", into.len(), model.indicator_count())?;
        model.indicators(into).map_err(|error| error.to_string())
    }

    /// Nothing is known of usual magnitudes.
    pub fn state_nominals(&mut self, into: &mut [f64]) -> Result<(), String> {
        let model = self.equations()?;
        check_count("continuous states", into.len(), model.state_count())?;
        into.fill(1.0);
        Ok(())
    }

    /// How many continuous states and event indicators there are.
    pub fn exchange_counts(&self) -> Result<(usize, usize), String> {
        let variables = self.manifest.variables.iter();
        let states = variables.filter(|own| matches!(own.face.role, FaceRole::State(_)));
        Ok((states.count(), self.manifest.indicators))
    }
}

fn check_count(what: &str, given: usize, own: usize) -> Result<(), String> {
    match given == own {
        true => Ok(()),
        false => Err(format!("there are {own} {what}, not {given}")),
    }
}

/// The value of a variable.
pub(super) fn value(model: &mut ExchangeModel, role: FaceRole) -> Result<Option<f64>, String> {
    let worded = |error: dovetail::core::Error| error.to_string();
    let mut room = Vec::new();
    match role {
        FaceRole::Output(stacked) => return model.output(stacked).map(Some).map_err(worded),
        FaceRole::State(_) => {
            room.resize(model.state_count(), 0.0);
            model.states(&mut room);
        }
        FaceRole::Derivative(_) => {
            room.resize(model.state_count(), 0.0);
            model.derivatives(&mut room).map_err(worded)?;
        }
        FaceRole::Indicator(_) => {
            room.resize(model.indicator_count(), 0.0);
            model.indicators(&mut room).map_err(worded)?;
        }
        FaceRole::Input(_) | FaceRole::Parameter => return Ok(None),
    }
    Ok(match role {
        FaceRole::State(k) | FaceRole::Derivative(k) | FaceRole::Indicator(k) => {
            room.get(k).copied()
        }
        _ => None,
    })
}
