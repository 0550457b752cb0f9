//! Numbers and texts as bytes, for what two processes of this very program tell each other once.
//!
//! Both sides are the same build: there is no version to agree on, and what cannot be read is a mistake of ours.

/// Writes one thing after the other.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// A whole number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.bytes.extend(number.to_le_bytes());
        self
    }

    /// A floating-point number, to the last bit.
    pub fn float(&mut self, number: f64) -> &mut Self {
        self.number(number.to_bits())
    }

    /// A truth value.
    pub fn truth(&mut self, truth: bool) -> &mut Self {
        self.number(truth.into())
    }

    /// A text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
        self
    }

    /// A list, and how each of its items is written.
    pub fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) -> &mut Self {
        self.number(items.len() as u64);
        items.iter().for_each(|item| each(self, item));
        self
    }

    /// What may be missing.
    pub fn option<T>(&mut self, item: Option<&T>, each: impl FnOnce(&mut Self, &T)) -> &mut Self {
        self.truth(item.is_some());
        if let Some(item) = item {
            each(self, item);
        }
        self
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what a [`Writer`] wrote, in the same order. `None`: that is not what was written.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins to read.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.left.split_at_checked(count)?;
        self.left = left;
        Some(taken)
    }

    /// A whole number.
    pub fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// A floating-point number.
    pub fn float(&mut self) -> Option<f64> {
        self.number().map(f64::from_bits)
    }

    /// A truth value.
    pub fn truth(&mut self) -> Option<bool> {
        self.number().map(|number| number != 0)
    }

    /// A text.
    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    /// A list, and how each of its items is read.
    pub fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        // Every item takes a byte at least: no more room than that is made for what the list claims.
        (count <= self.left.len() as u64).then_some(())?;
        (0..count).map(|_| each(self)).collect()
    }

    /// What may be missing.
    pub fn option<T>(&mut self, each: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.truth()? {
            each(self).map(Some)
        } else {
            Some(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer
            .number(7)
            .float(-0.0)
            .truth(true)
            .text("ü")
            .list(&[1.5, f64::NAN], |w, &x| {
                w.float(x);
            });
        writer.option(Some(&3), |w, &n| {
            w.number(n);
        });
        writer.option(None::<&u64>, |_, _| unreachable!());
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(
            (reader.number(), reader.float().map(f64::to_bits)),
            (Some(7), Some((-0.0_f64).to_bits()))
        );
        assert_eq!(
            (reader.truth(), reader.text().as_deref()),
            (Some(true), Some("ü"))
        );
        assert!(
            reader
                .list(Reader::float)
                .is_some_and(|list| list[0] == 1.5 && list[1].is_nan())
        );
        assert_eq!(
            (reader.option(Reader::number), reader.option(Reader::number)),
            (Some(Some(3)), Some(None))
        );
        assert_eq!(reader.number(), None);
    }

    #[test]
    fn a_list_that_claims_too_much_is_refused() {
        let mut writer = Writer::default();
        writer.number(u64::MAX);
        assert_eq!(Reader::new(&writer.into_bytes()).list(Reader::number), None);
    }
}
