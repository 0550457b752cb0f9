//! How outputs and derivatives of states react when inputs and states are moved, beside what
//! directional derivatives say.
//!
//! A comparison is sound only where nothing moves but what was moved. In initialization mode an FMU
//! solves its initial equations again and may move states along; so an FMU for Model Exchange is
//! compared in continuous-time mode, where we hold the states, and one for Co-Simulation where its
//! other states stay.

use serde::{Deserialize, Serialize};

use crate::abilities::FmuCapabilities;
use crate::call_error::CallError;
use crate::exchange::read_other_outputs;
use crate::instance::Instance;
use crate::layout::Layout;

/// Inputs and states beyond this number are not moved one by one.
const MOST_MOVED: usize = 200;
/// Central differences are taken over so much of a quantity.
const DIFFERENCE: f64 = 6e-6;
/// A derivative and a difference agree if they differ by less, in units of their size.
const AGREEMENT: f64 = 1e-3;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reactions {
    /// Output `j` (a position) reacts to input `i`, while no state has moved.
    pub feedthrough: Vec<(usize, usize)>,
    /// Inputs that moved states along: what reacts to them at once is not known.
    pub unclear: Vec<usize>,
    /// Whether all inputs were moved.
    pub complete: bool,
    /// Directional derivatives that could be compared, and the first that is wrong.
    pub compared: usize,
    /// The first derivative that is wrong.
    pub wrong: Option<String>,
    /// Knowns (by name) for which nothing could be compared.
    pub incomparable: Vec<String>,
}

/// How differences are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By setting variables in initialization mode.
    Initialization,
    /// By setting states and inputs in continuous-time mode (Model Exchange).
    ContinuousTime,
}

/// Moves every input and state of an instance, and looks.
pub(crate) fn reactions<I: Instance>(
    instance: &mut I,
    layout: &Layout,
    abilities: &FmuCapabilities,
    mode: Mode,
    directional: bool,
) -> Result<Reactions, CallError> {
    let mut look = Look::new(instance, layout, mode)?;
    let mut seen = Reactions::default();
    look.move_inputs(&mut seen, abilities, directional)?;

    if directional && layout.state_references.len() == layout.states.len() {
        look.move_states(&mut seen, abilities)?;
    }

    let inputs = layout.smooth_input_positions.len();
    seen.complete = inputs <= MOST_MOVED && inputs == layout.inputs.len();
    Ok(seen)
}

/// The first entry in which a derivative and a difference disagree.
fn disagreement(given: &[f64], seen: &[f64]) -> Option<usize> {
    let largest = seen
        .iter()
        .fold(1.0, |most: f64, value| most.max(value.abs()));
    given.iter().zip(seen).position(|(given, seen)| {
        // A NaN disagrees with everything.
        let apart = (given - seen).abs();
        apart.is_nan() || apart > AGREEMENT * given.abs().max(seen.abs()) + 1e-6 * largest
    })
}

struct Look<'a, I> {
    instance: &'a mut I,
    layout: &'a Layout,
    mode: Mode,
    inputs: Vec<f64>,
    states: Vec<f64>,
    seed: Vec<f64>,
}

/// A column of differences.
struct ReactionColumn {
    /// Of the unknowns of directional derivatives: derivatives of states, then outputs that are
    /// asked for.
    slopes: Vec<f64>,
    /// Outputs (positions) that react at all.
    reacting: Vec<usize>,
    /// A state has moved that was not meant to.
    moved_states: bool,
}

impl ReactionColumn {
    /// The column, where nothing has moved but what was meant to.
    fn sound(self) -> Option<Self> {
        (!self.moved_states).then_some(self)
    }
}

/// What the FMU answers at one place.
struct Reading {
    unknowns: Vec<f64>,
    outputs: Vec<f64>,
    states: Vec<f64>,
}

impl<'a, I: Instance> Look<'a, I> {
    fn new(instance: &'a mut I, layout: &'a Layout, mode: Mode) -> Result<Self, CallError> {
        let inputs: Vec<f64> = layout
            .smooth_input_positions
            .iter()
            .map(|&at| layout.inputs[at].start)
            .collect();
        instance.set_floats(&layout.smooth_inputs, &inputs)?;
        let mut states = vec![0.0; layout.states.len()];

        if mode == Mode::ContinuousTime && !states.is_empty() {
            instance.get_states(&mut states)?;
        }

        let seed = vec![0.0; layout.states.len() + layout.smooth_input_positions.len()];
        Ok(Self {
            instance,
            layout,
            mode,
            inputs,
            states,
            seed,
        })
    }

    /// Moves every continuous input.
    fn move_inputs(
        &mut self,
        seen: &mut Reactions,
        abilities: &FmuCapabilities,
        directional: bool,
    ) -> Result<(), CallError> {
        let layout = self.layout;
        let positions = layout.smooth_input_positions.iter().take(MOST_MOVED);

        for (place, &position) in positions.enumerate() {
            let column = self.move_input(place)?;
            if column.moved_states {
                seen.unclear.push(position);
            } else {
                let reacting = column.reacting.iter();
                seen.feedthrough
                    .extend(reacting.map(|&output| (output, position)));
            }
            if directional {
                let known = layout.states.len() + place;
                let name = &layout.inputs[position].name;
                self.compare(seen, abilities, known, name, column.sound())?;
            }
        }
        Ok(())
    }

    /// Moves every state. An FMU that has refused something is not asked any further.
    fn move_states(
        &mut self,
        seen: &mut Reactions,
        abilities: &FmuCapabilities,
    ) -> Result<(), CallError> {
        let states = &self.layout.states;
        for (known, name) in states.iter().enumerate().take(MOST_MOVED) {
            let compared = match self.move_state(known)? {
                Some(column) => self.compare(seen, abilities, known, name, column.sound()),
                None => {
                    seen.incomparable.extend_from_slice(&states[known..]);
                    return Ok(());
                }
            };
            match compared {
                // In initialization mode states need not be knowns.
                Err(CallError::Refused { .. }) if self.mode == Mode::Initialization => {
                    seen.incomparable.extend_from_slice(&states[known..]);
                    return Ok(());
                }
                compared => compared?,
            }
        }
        Ok(())
    }

    /// What the FMU answers where it stands.
    fn read(&mut self) -> Result<Reading, CallError> {
        let layout = self.layout;
        let mut unknowns = self.read_rates()?;
        let mut read = vec![0.0; layout.read_values];
        self.instance.get_floats(&layout.read, &mut read)?;
        let mut outputs = vec![0.0; layout.outputs.len()];

        for (position, value) in layout.outputs_of(&read) {
            outputs[position] = value;
        }

        let mut states = vec![0.0; layout.states.len()];
        for (position, value) in layout.states_of(&read) {
            states[position] = value;
        }

        let mut scratch = vec![0.0; layout.outputs.len()];
        read_other_outputs(self.instance, layout, &mut scratch, |position, value| {
            outputs[position] = value;
        })?;
        unknowns.extend(layout.asked_output_positions.iter().map(|&at| outputs[at]));

        Ok(Reading {
            unknowns,
            outputs,
            states,
        })
    }

    /// Derivatives of the states.
    fn read_rates(&mut self) -> Result<Vec<f64>, CallError> {
        let mut rates = vec![0.0; self.layout.states.len()];
        if self.mode == Mode::ContinuousTime && !rates.is_empty() {
            self.instance.get_derivatives(&mut rates)?;
        } else {
            let references = &self.layout.derivative_references;
            self.instance.get_floats(references, &mut rates)?;
        }
        Ok(rates)
    }

    fn move_input(&mut self, place: usize) -> Result<ReactionColumn, CallError> {
        let start = self.inputs[place];
        let gap = DIFFERENCE * (1.0 + start.abs());
        let mut sides = Vec::new();

        for moved in [start + gap, start - gap, start] {
            self.inputs[place] = moved;
            self.instance
                .set_floats(&self.layout.smooth_inputs, &self.inputs)?;
            sides.push(self.read()?);
        }

        let [up, down, here] = [&sides[0], &sides[1], &sides[2]];
        let reacts = |j: &usize| {
            [up, down]
                .iter()
                .any(|side| side.outputs[*j].to_bits() != here.outputs[*j].to_bits())
        };

        Ok(ReactionColumn {
            slopes: slopes(up, down, gap),
            reacting: (0..self.layout.outputs.len()).filter(reacts).collect(),
            moved_states: [up, down].iter().any(|side| side.states != here.states),
        })
    }

    /// Nothing where the FMU does not let its state be set.
    fn move_state(&mut self, known: usize) -> Result<Option<ReactionColumn>, CallError> {
        let before = self.read()?;
        let start = match self.mode {
            Mode::Initialization => before.states[known],
            Mode::ContinuousTime => self.states[known],
        };
        let gap = DIFFERENCE * (1.0 + start.abs());
        let mut sides = Vec::new();
        let mut alone = true;

        for moved in [start + gap, start - gap] {
            if !self.place_state(known, moved)? {
                return Ok(None);
            }
            let side = self.read()?;
            let stays = |j: usize| j == known || side.states[j] == before.states[j];
            alone &= side.states[known] == moved && (0..side.states.len()).all(stays);
            sides.push(side);
        }

        self.place_state(known, start)?;
        Ok(Some(ReactionColumn {
            slopes: slopes(&sides[0], &sides[1], gap),
            reacting: Vec::new(),
            moved_states: !alone,
        }))
    }

    /// Whether the FMU lets the state be set.
    fn place_state(&mut self, known: usize, value: f64) -> Result<bool, CallError> {
        match self.mode {
            Mode::ContinuousTime => {
                self.states[known] = value;
                self.instance.set_states(&self.states)?;
                Ok(true)
            }
            // An FMU may refuse this: states that are computed cannot be set.
            Mode::Initialization => match self
                .instance
                .set_floats(&[self.layout.state_references[known]], &[value])
            {
                Err(CallError::Refused { .. }) => Ok(false),
                done => done.map(|()| true),
            },
        }
    }

    /// Asks for the derivatives by a known and holds them against the differences, if there are
    /// any.
    fn compare(
        &mut self,
        seen: &mut Reactions,
        abilities: &FmuCapabilities,
        known: usize,
        name: &str,
        column: Option<ReactionColumn>,
    ) -> Result<(), CallError> {
        let given = self.directional(abilities, known)?;
        let Some(column) = column else {
            seen.incomparable.push(name.to_owned());
            return Ok(());
        };
        seen.compared += 1;

        if let Some(at) = disagreement(&given, &column.slopes) {
            seen.wrong
                .get_or_insert_with(|| self.describe(at, name, &given, &column.slopes));
        }
        Ok(())
    }

    /// The derivatives by a known, as the FMU gives them.
    fn directional(
        &mut self,
        abilities: &FmuCapabilities,
        known: usize,
    ) -> Result<Vec<f64>, CallError> {
        let FmuCapabilities {
            knowns, unknowns, ..
        } = abilities;
        let mut given = vec![f64::NAN; unknowns.len()];
        let scalar = knowns.len() == self.seed.len();

        if scalar {
            // Alone: in initialization mode the others need not be knowns.
            let one = &knowns[known..=known];
            self.instance
                .directional(unknowns, one, &[1.0], &mut given)?;
        } else {
            self.seed[known] = 1.0;
            let asked = self
                .instance
                .directional(unknowns, knowns, &self.seed, &mut given);
            self.seed[known] = 0.0;
            asked?;
        }
        Ok(given)
    }

    fn describe(&self, at: usize, known: &str, given: &[f64], seen: &[f64]) -> String {
        let unknown = match at.checked_sub(self.layout.states.len()) {
            None => format!("der({})", self.layout.states[at]),
            Some(output) => self.layout.outputs[self.layout.asked_output_positions[output]]
                .name
                .clone(),
        };
        format!(
            "the derivative of `{unknown}` by `{known}` is given as {:.6e}, a difference gives \
             {:.6e}",
            given[at], seen[at]
        )
    }
}

fn slopes(up: &Reading, down: &Reading, gap: f64) -> Vec<f64> {
    up.unknowns
        .iter()
        .zip(&down.unknowns)
        .map(|(a, b)| (a - b) / (2.0 * gap))
        .collect()
}
