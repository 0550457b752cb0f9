//! Texts as numbers: a connection carries numbers, so that a text travels as its number in a table
//! of all texts.
//!
//! Texts that a model gives are kept. Of those that FMUs write, which may be new ones in every
//! step, only so many are kept as have been used last: whoever still has the number of a text reads
//! it in every step, or has read it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// So many texts of FMUs, and so many bytes of them, make up a generation; two are kept.
const MOST_TEXTS: usize = 4096;
const MOST_BYTES: usize = 4 << 20;

/// Texts and their numbers, both ways.
#[derive(Default)]
struct Texts {
    by_number: HashMap<u64, Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
    bytes: usize,
}

impl Texts {
    fn insert(&mut self, number: u64, text: Arc<str>) {
        self.bytes += text.len();
        self.by_number.insert(number, text.clone());
        self.numbers.insert(text, number);
    }

    fn take(&mut self, number: u64) -> Option<Arc<str>> {
        let text = self.by_number.remove(&number)?;
        self.numbers.remove(&text);
        Some(text)
    }

    fn is_full(&self) -> bool {
        self.by_number.len() >= MOST_TEXTS || self.bytes >= MOST_BYTES
    }
}

#[derive(Default)]
struct Table {
    last_number: u64,
    /// Those of a model.
    kept: Texts,
    /// Those of FMUs that were used lately, and before.
    young: Texts,
    old: Texts,
}

impl Table {
    fn number(&mut self, text: &str) -> Option<u64> {
        let kept = self.kept.numbers.get(text).or(self.young.numbers.get(text));
        if let Some(&number) = kept {
            return Some(number);
        }
        let number = *self.old.numbers.get(text)?;
        self.renew(number);
        Some(number)
    }

    fn text(&mut self, number: u64) -> Option<Arc<str>> {
        let kept = self.kept.by_number.get(&number);
        if let Some(text) = kept.or(self.young.by_number.get(&number)) {
            return Some(text.clone());
        }
        self.renew(number)
    }

    /// An old text is in use.
    fn renew(&mut self, number: u64) -> Option<Arc<str>> {
        let text = self.old.take(number)?;
        self.add_passing(number, text.clone());
        Some(text)
    }

    fn add_passing(&mut self, number: u64, text: Arc<str>) {
        if self.young.is_full() {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(number, text);
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The number of a text that a model gives, which is kept for ever; the empty text is 0.
pub fn number(text: &str) -> f64 {
    if text.is_empty() {
        return 0.0;
    }

    let mut table = table();
    if let Some(&number) = table.kept.numbers.get(text) {
        return number as f64;
    }
    // One that passes by may be one that is to stay.
    let number = table.number(text);
    let number = number.unwrap_or_else(|| table.next_number());
    table.kept.insert(number, text.into());

    number as f64
}

/// The number of a text that an FMU writes, which is kept as long as it is in use.
pub fn passing_number(text: &str) -> f64 {
    if text.is_empty() {
        return 0.0;
    }

    let mut table = table();
    if let Some(number) = table.number(text) {
        return number as f64;
    }
    let number = table.next_number();
    table.add_passing(number, text.into());

    number as f64
}

/// The text of a number; empty for one that stands for none.
pub fn text(number: f64) -> Arc<str> {
    table().text(number as u64).unwrap_or_default()
}

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers() {
        let (a, b) = (number("one"), number("two"));
        assert!(a != b && number("one") == a && &*text(b) == "two");
        assert_eq!(
            (number(""), &*text(0.0), &*text(1e300), &*text(f64::NAN)),
            (0.0, "", "", "")
        );
    }

    #[test]
    fn texts_that_pass_by_are_forgotten_unless_they_are_used() {
        let kept = number("a text of the model");
        let used = passing_number("a text in use");
        let forgotten = passing_number("a text of long ago");
        for n in 0..20 * MOST_TEXTS {
            passing_number(&format!("text {n}"));
            assert_eq!(passing_number("a text in use"), used);
        }
        assert_eq!(&*text(kept), "a text of the model");
        assert_eq!(&*text(used), "a text in use");
        assert_eq!(&*text(forgotten), "");
        let table = table();
        let there = table.young.by_number.len() + table.old.by_number.len();
        assert!(there <= 2 * MOST_TEXTS, "{there} texts");
    }

    #[test]
    fn a_text_that_passed_by_and_is_to_stay_keeps_its_number() {
        let passing = passing_number("first seen in passing");
        assert_eq!(number("first seen in passing"), passing);
    }
}
