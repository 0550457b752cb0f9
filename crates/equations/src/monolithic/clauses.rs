//! What the coupled equations set anew at events.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::algebra::CoupledDynamics;
use super::compose::CoupledWhen;

/// Rounds of clauses that run one another before they are given up.
const MOST_ROUNDS: usize = 100;

/// The clauses of all systems, and what they remember.
pub(super) struct CoupledClauses {
    whens: Vec<CoupledWhen>,
    /// Whether each condition held when it was last looked at; none before the run.
    truths: Option<Vec<f64>>,
    /// How often each clock has ticked.
    ticks: Vec<u64>,
    start: f64,
    /// When each clause ran last, and how often it has then followed itself at once.
    runs: Vec<(f64, u32)>,
}

/// Why the clauses had no end.
#[derive(Debug, thiserror::Error)]
#[error("`when` clauses run one another without end, among them `{text}`")]
struct Endless {
    text: String,
}

/// A clause that follows itself after this part of the time since the start has no end,
const AT_ONCE: f64 = 1e-6;
/// if it does so this often.
const MOST_AT_ONCE: u32 = 5;

/// A clause runs ever more often, and says nothing of what it comes to.
#[derive(Debug, thiserror::Error)]
#[error(
    "its `when` clause `{text}` runs ever more often, and without end about here (Zeno); give \
     `at-rest`, what states are from there on"
)]
struct PileUp {
    text: String,
}

impl CoupledClauses {
    pub fn new(whens: &[CoupledWhen], start: f64) -> Self {
        Self {
            ticks: vec![0; whens.len()],
            whens: whens.to_vec(),
            truths: None,
            start,
            runs: vec![(f64::NEG_INFINITY, 0); whens.len()],
        }
    }

    /// When a clock ticks next.
    pub fn next_tick(&self) -> f64 {
        let ticks = self.whens.iter().zip(&self.ticks);
        let times = ticks.map(|(when, &ticks)| self.tick(when, ticks));
        times.fold(f64::INFINITY, f64::min)
    }

    fn tick(&self, when: &CoupledWhen, ticks: u64) -> f64 {
        match ticks {
            _ if when.period.is_infinite() => f64::INFINITY,
            0 => self.start,
            ticks => self.start + ticks as f64 * when.period,
        }
    }

    /// At an event, on its far side: runs what is to run, until nothing is.
    pub fn run(
        &mut self,
        dynamics: &mut CoupledDynamics,
        time: f64,
        states: &mut [f64],
    ) -> Result<(), Error> {
        if self.whens.is_empty() {
            return Ok(());
        }

        let mut last = String::new();
        for _ in 0..MOST_ROUNDS {
            let (truths, values) = dynamics.clauses(time, states)?;
            let before = self.truths.take().unwrap_or_else(|| truths.clone());
            let fired = self.fire(&before, &truths, time);
            self.truths = Some(truths);
            let Some(&first) = fired.first() else {
                return Ok(());
            };
            last.clone_from(&self.whens[first].text);
            let endless = self.note_runs(&fired, time);
            if let Some(&clause) = endless
                .iter()
                .find(|it| self.whens[**it].at_rest.is_empty())
            {
                let when = &self.whens[clause];
                let text = when.text.clone();
                return Err(Error::system(&when.system, time, PileUp { text }));
            }
            self.assign(&fired, &endless, &values, states);
            dynamics.take_sides(time, states)?;
        }

        let system = self.whens.first().map_or("", |when| &when.system);
        Err(Error::system(system, time, Endless { text: last }))
    }

    /// The clauses that run now.
    fn fire(&mut self, before: &[f64], now: &[f64], time: f64) -> Vec<usize> {
        let mut conditions = before.iter().zip(now);
        let mut fired = Vec::new();

        for index in 0..self.whens.len() {
            let runs = match self.whens[index].condition {
                Some(_) => conditions.next() == Some((&0.0, &1.0)),
                None => self.tick(&self.whens[index], self.ticks[index]) <= time,
            };
            if runs {
                fired.push(index);
                self.ticks[index] += u64::from(self.whens[index].condition.is_none());
            }
        }
        fired
    }

    /// Those among the clauses that run now which do so without end.
    fn note_runs(&mut self, fired: &[usize], time: f64) -> Vec<usize> {
        let mut endless = Vec::new();
        for &clause in fired {
            let (last, often) = &mut self.runs[clause];
            let at_once = time > *last && time - *last <= AT_ONCE * (time - self.start);
            *often = if at_once { *often + 1 } else { 0 };
            *last = time;
            if *often > MOST_AT_ONCE && self.whens[clause].condition.is_some() {
                *often = 0;
                endless.push(clause);
            }
        }
        endless
    }

    fn assign(&self, fired: &[usize], endless: &[usize], values: &[f64], states: &mut [f64]) {
        let mut values = values.iter();
        for (index, when) in self.whens.iter().enumerate() {
            for (number, (state, _)) in when.all_assignments().enumerate() {
                let Some(value) = values.next() else { return };
                let at_rest = number >= when.assignments.len();
                if fired.contains(&index) && at_rest == endless.contains(&index) {
                    states[*state] = *value;
                }
            }
        }
    }
}

impl Checkpoint for CoupledClauses {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.truths, self.ticks, self.runs);
        Ok(())
    }
}
