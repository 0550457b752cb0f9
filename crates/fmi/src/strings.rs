//! Texts as numbers: a connection carries numbers, so that a text travels as its place in a table
//! of all texts.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Table {
    texts: Vec<Arc<str>>,
    places: HashMap<Arc<str>, usize>,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The number of a text; the empty text is 0.
pub fn number(text: &str) -> f64 {
    if text.is_empty() {
        return 0.0;
    }

    let mut table = table();
    if let Some(&place) = table.places.get(text) {
        return (place + 1) as f64;
    }

    let text = Arc::<str>::from(text);
    let place = table.texts.len();
    table.texts.push(text.clone());
    table.places.insert(text, place);

    (place + 1) as f64
}

/// The text of a number; empty for one that stands for none.
pub fn text(number: f64) -> Arc<str> {
    // Beyond the table for a number that stands for none.
    let place = (number as usize).wrapping_sub(1);
    table().texts.get(place).cloned().unwrap_or_default()
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
}
