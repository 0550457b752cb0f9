//! Warnings: the first of a kind in full, so that a large file does not bury them.

use std::collections::HashMap;

use crate::error::Place;

/// As many are kept.
const MOST: usize = 200;

/// What was ignored or assumed.
#[derive(Default)]
pub(crate) struct Warnings {
    /// In order: the first place, the message, and how often it came.
    kept: Vec<(Place, String, usize)>,
    known: HashMap<String, usize>,
    dropped: usize,
}

impl Warnings {
    pub fn at(&mut self, place: &Place, message: &str) {
        if let Some(&index) = self.known.get(message) {
            self.kept[index].2 += 1;
        } else if self.kept.len() < MOST {
            self.known.insert(message.into(), self.kept.len());
            self.kept.push((place.clone(), message.into(), 1));
        } else {
            self.dropped += 1;
        }
    }

    pub fn into_sentences(self) -> Vec<String> {
        let sentence = |(place, message, times): (Place, String, usize)| match times {
            1 => format!("{place}: {message}"),
            _ => format!("{place}: {message} ({times} times)"),
        };
        let mut sentences: Vec<String> = self.kept.into_iter().map(sentence).collect();

        if self.dropped > 0 {
            sentences.push(format!("and {} more warnings", self.dropped));
        }
        sentences
    }
}
