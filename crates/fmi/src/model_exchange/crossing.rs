//! How a Model Exchange FMU crosses an event.
//!
//! An FMU decides in event mode by where its indicators are, and an event is located to a few
//! digits: they may still be just before zero. So the FMU is shown, in event mode, the place to
//! which it goes next, an instant later, and keeps the states it has. Indicators are taken to be on
//! the side to which they go, and event mode is entered until the FMU knows that of all.

use dovetail_core::Signal;
use dovetail_numerics::Hint;

use super::ModelExchange;
use crate::call_error::CallError;
use crate::instance::Instance;

/// Event mode is entered so often at one time: what then still goes to and fro slides.
const MOST_ROUNDS: usize = 4;
/// An indicator that is at zero is shown beyond it by this part of what is near.
const BEYOND: f64 = 1e-3;
/// Derivatives that differ by less than this part of themselves are the same.
pub(super) const SAME: f64 = 1e-10;

/// Where an event is: some time after a step has begun, under its inputs.
#[derive(Clone, Copy)]
pub(super) struct EventPlace<'a> {
    pub start: f64,
    pub elapsed: f64,
    pub inputs: &'a [Signal],
    /// What is within this time of zero is at zero.
    pub near: f64,
}

impl<'a> EventPlace<'a> {
    pub fn new(start: f64, elapsed: f64, inputs: &'a [Signal], near: f64) -> Self {
        Self {
            start,
            elapsed,
            inputs,
            near,
        }
    }

    pub fn time(&self) -> f64 {
        self.start + self.elapsed
    }
}

impl<I: Instance> ModelExchange<I> {
    /// Derivatives of the states at `end`, into the first buffer.
    pub(super) fn rates_at_end(&mut self, here: EventPlace<'_>) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let placed = self
            .flow(here.start, here.inputs, false)
            .place(here.elapsed, &state);
        self.end.values = state;
        placed?;
        self.read_rates(0)
    }

    /// Indicators at `end` and how fast they move, by a look back (-1) or ahead (1).
    pub(super) fn measure_indicators(
        &mut self,
        here: EventPlace<'_>,
        direction: f64,
    ) -> Result<(), CallError> {
        self.rates_at_end(here)?;
        let rates = std::mem::take(&mut self.buffers.rates[0]);
        let state = std::mem::take(&mut self.end.values);
        let gap = self.gap(here.time(), &state, &rates);
        // Never back beyond where the step began: there may be an event.
        let gap = if gap > here.elapsed {
            gap
        } else {
            direction * gap
        };
        let latest = self.next_event.next_down().max(here.time());
        let mut flow = self.flow(here.start, here.inputs, false);
        flow.latest = latest;
        let measured = flow.measure(here.elapsed, &state, &rates, gap);
        self.end.values = state;
        self.buffers.rates[0] = rates;

        measured
    }

    /// At the start of a step, or at an instant: events that are due, or that inputs make. Whatever
    /// step is then taken, it starts from there, so that this is no trace of a trial.
    pub(super) fn enter_step(&mut self, start: f64, inputs: &[Signal]) -> Result<(), CallError> {
        let due = self.now.events.any()
            || self.next_event <= start
            || self.discrete_input_changes(inputs);
        // What has just crossed zero may be sent back at once, by inputs that go elsewhere now.
        if !due && !self.at_event && !self.sign_changes(start, inputs)? {
            return Ok(());
        }

        self.end.values.copy_from_slice(&self.now.values);
        self.end.hint = self.now.hint;
        self.cross(EventPlace::new(start, 0.0, inputs, self.near_now), due)?;
        self.now.values.copy_from_slice(&self.end.values);
        self.now.hint = self.end.hint;
        self.now.events.clear();
        Ok(())
    }

    /// Whether the inputs of a step that begins at `now` have moved an indicator over zero.
    fn sign_changes(&mut self, start: f64, inputs: &[Signal]) -> Result<bool, CallError> {
        let state = std::mem::take(&mut self.now.values);
        let changed = self.flow(start, inputs, false).sign_changed(0.0, &state);
        self.now.values = state;
        self.flow.tighten();
        changed
    }

    /// An event within a step that is taken for good. What it does to errors is not known, unless
    /// its time was and nothing jumps but derivatives.
    pub(super) fn cross_within_step(
        &mut self,
        here: EventPlace<'_>,
        timed: bool,
    ) -> Result<(), CallError> {
        self.event_effect.resets = false;
        self.rates_at_end(here)?;
        let before = self.buffers.rates[0].clone();
        self.cross(here, true)?;
        self.rates_at_end(here)?;
        let same =
            |(one, other): (&f64, &f64)| (one - other).abs() <= SAME * (one.abs() + other.abs());
        let bends = !before.iter().zip(&self.buffers.rates[0]).all(same);
        // An FMU without states shows an event in its outputs alone.
        let shows = bends || before.is_empty();
        self.crossed |= self.event_effect.resets || (shows && !timed);
        Ok(())
    }

    /// Has the FMU handle events at `end` until it knows on which side all its indicators are: at
    /// least once where one is `due`.
    fn cross(&mut self, here: EventPlace<'_>, due: bool) -> Result<(), CallError> {
        let mut handled = false;
        for round in 0..MOST_ROUNDS {
            let wrong = self.find_sides(here)?;
            if !(wrong || (due && round == 0)) {
                break;
            }
            self.handle_event(here)?;
            handled = true;
        }
        self.allow_slack();

        if handled {
            self.end.hint = Hint::default();
            self.count_event(here);
        }
        Ok(())
    }

    /// What happens at one time is one event.
    fn count_event(&mut self, here: EventPlace<'_>) {
        if !self.at_event || here.elapsed > 0.0 {
            let monitor = &self.instance.journal().monitor;
            monitor.note(|notes| notes.events += 1);
        }
        self.at_event |= here.elapsed == 0.0;
    }

    /// Measures the indicators at `end`, and finds the side to which each goes; whether the FMU
    /// knows one on another.
    pub(super) fn find_sides(&mut self, here: EventPlace<'_>) -> Result<bool, CallError> {
        if self.flow.indicators.is_empty() {
            self.rates_at_end(here)?;
            return Ok(false);
        }

        self.measure_indicators(here, 1.0)?;
        let flow = &self.flow;
        for (i, up) in self.sides.iter_mut().enumerate() {
            *up = goes_up(flow.indicators[i], flow.indicator_rates[i], here.near);
        }
        Ok(self.sides != flow.positive)
    }

    /// How far ahead the FMU has to be shown for all indicators, as measured, to be where they go.
    pub(super) fn lead(&self, near: f64) -> f64 {
        let mut lead = 0.0_f64;
        for (i, &up) in self.sides.iter().enumerate() {
            let value = self.flow.indicators[i];
            if !is_on_side(value, up) {
                let rate = self.flow.indicator_rates[i];
                lead = lead.max(2.0 * (value / rate).abs() + BEYOND * near);
            }
        }
        lead
    }

    /// Event mode, once, as the FMU will be an instant after `end`.
    fn handle_event(&mut self, here: EventPlace<'_>) -> Result<(), CallError> {
        self.place_ahead(here, self.lead(here.near))?;
        if self.completes && here.elapsed > 0.0 {
            // an event is what comes next in any case
            self.ends |= self.instance.completed_step()?.terminate;
        }

        self.instance.enter_event_mode()?;
        self.set_discrete(here.inputs, here.elapsed)?;
        if self.settle()? {
            self.event_effect.resets = true;
            self.take_reset_states()?;
        }
        self.flow(here.start, here.inputs, false).note_event()
    }

    /// Puts the FMU where it will be after `lead`, in states and inputs. The states shown are kept
    /// in a buffer. Time is still that of the event, unless an indicator depends on it alone.
    pub(super) fn place_ahead(&mut self, here: EventPlace<'_>, lead: f64) -> Result<(), CallError> {
        let mut shown = std::mem::take(&mut self.buffers.moved);
        shown.copy_from_slice(&self.end.values);
        if lead > 0.0 {
            for (shown, rate) in shown.iter_mut().zip(&self.buffers.rates[0]) {
                *shown += lead * rate;
            }
        }
        let mut flow = self.flow(here.start, here.inputs, false);
        let placed = flow.place(here.elapsed + lead, &shown);
        self.buffers.moved = shown;
        placed?;
        self.instance.set_time(here.time())?;

        if lead > 0.0 && !self.shows_sides()? {
            self.instance.set_time(here.time() + lead)?;
        }
        Ok(())
    }

    /// Whether indicators are where they go, as the FMU has been put.
    fn shows_sides(&mut self) -> Result<bool, CallError> {
        let mut shown = self.flow.indicators.clone();
        self.instance.get_indicators(&mut shown)?;
        let mut pairs = shown.iter().zip(&self.sides);
        Ok(pairs.all(|(&value, &up)| is_on_side(value, up)))
    }

    /// The states as the event has set them. Those that it left where they were shown are where
    /// they were.
    pub(super) fn take_reset_states(&mut self) -> Result<(), CallError> {
        let mut after = std::mem::take(&mut self.buffers.rates[1]);
        if !after.is_empty() {
            self.instance.get_states(&mut after)?;
        }
        for (i, &state) in after.iter().enumerate() {
            if state != self.buffers.moved[i] {
                self.end.values[i] = state;
            }
        }
        self.buffers.rates[1] = after;
        Ok(())
    }

    /// Indicators that are still on the side they have left may be there, and a little beyond.
    fn allow_slack(&mut self) {
        let flow = &mut self.flow;
        for (indicator, &value) in flow.indicators.iter().enumerate() {
            let strays = (value > 0.0) != flow.positive[indicator];
            flow.slack[indicator] = if strays { 2.0 * value.abs() } else { 0.0 };
        }
    }
}

/// The side to which an indicator goes that is at zero, or on which it is.
fn goes_up(value: f64, rate: f64, near: f64) -> bool {
    if rate != 0.0 && value.abs() <= near * rate.abs() {
        rate > 0.0
    } else {
        value > 0.0
    }
}

fn is_on_side(value: f64, up: bool) -> bool {
    if up { value > 0.0 } else { value < 0.0 }
}
