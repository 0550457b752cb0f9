//! Texts travel between systems as numbers, which mean something in one process only.

use std::collections::HashMap;

use dovetail_core::{Error, Interface, Response, Signal, SignalKind};

use crate::conversation::Conversation;
use crate::text_table::TextTable;

/// So many texts are known by both numbers at a time.
const MOST_TEXTS: usize = 1024;

/// The numbers of texts, here and where a system lives.
#[derive(Default)]
pub(crate) struct Dictionary {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// The numbers there of texts that have a number here, by its bits; and the other way round.
    there: HashMap<u64, f64>,
    here: HashMap<u64, f64>,
}

impl Dictionary {
    /// That of a system, with no texts yet.
    pub fn of(interface: &Interface) -> Self {
        let inputs = interface.inputs.iter().map(|input| input.kind);
        let outputs = interface.outputs.iter().map(|output| output.kind);

        Self {
            inputs: positions_of_texts(inputs),
            outputs: positions_of_texts(outputs),
            ..Self::default()
        }
    }

    /// Finds out which numbers stand there for the texts among inputs.
    pub fn learn(
        &mut self,
        inputs: &[Signal],
        texts: TextTable,
        other: &mut impl Conversation,
    ) -> Result<(), Error> {
        // Signals without texts, such as those of a linearization, may be none at all.
        if inputs.is_empty() {
            return Ok(());
        }

        for place in 0..self.inputs.len() {
            let here = inputs[self.inputs[place]].value(0.0);
            if self.there.contains_key(&here.to_bits()) {
                continue;
            }
            let there = other.number_of(&(texts.text)(here))?;
            self.make_room();
            self.there.insert(here.to_bits(), there);
        }
        Ok(())
    }

    /// For an input that is a text: its number there.
    pub fn number_there(&self, position: usize, input: &Signal) -> Option<f64> {
        let number = input.value(0.0).to_bits();
        self.inputs
            .contains(&position)
            .then(|| self.there.get(&number).copied().unwrap_or_default())
    }

    /// Outputs that are texts get their numbers here.
    pub fn translate(
        &mut self,
        response: &mut Response,
        texts: TextTable,
        other: &mut impl Conversation,
    ) -> Result<(), Error> {
        for place in 0..self.outputs.len() {
            let output = &mut response.outputs[self.outputs[place]];
            output.value = self.number_here(output.value, texts, other)?;
        }
        Ok(())
    }

    fn number_here(
        &mut self,
        there: f64,
        texts: TextTable,
        other: &mut impl Conversation,
    ) -> Result<f64, Error> {
        if let Some(&here) = self.here.get(&there.to_bits()) {
            (texts.keep)(here);
            return Ok(here);
        }

        let here = (texts.passing)(&other.text_of(there)?);
        self.make_room();
        self.here.insert(there.to_bits(), here);
        Ok(here)
    }

    /// What is forgotten is asked for again.
    fn make_room(&mut self) {
        for numbers in [&mut self.here, &mut self.there] {
            if numbers.len() >= MOST_TEXTS {
                numbers.clear();
            }
        }
    }
}

fn positions_of_texts(kinds: impl Iterator<Item = SignalKind>) -> Vec<usize> {
    let numbered = kinds.enumerate();
    let texts = numbered.filter(|(_, kind)| *kind == SignalKind::Text);
    texts.map(|(position, _)| position).collect()
}
