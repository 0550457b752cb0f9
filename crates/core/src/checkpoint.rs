//! All that the rest of a run depends on, written down and read back.
//!
//! A part of a run (a system, a method, the past) lists its fields once, in [`Checkpoint::visit`];
//! the [`Archive`] that comes by either writes them or fills them in. What follows from the model
//! and its options is not listed, nor is scratch memory: a checkpoint is restored into a run that
//! was set up in the same way. A run that goes on from one has the bits of a run that never stopped.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// Something that later steps depend on.
pub trait Checkpoint {
    /// Hands over, always in the same order, every field that later steps depend on.
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error>;
}

/// Goes through the fields of a run, and writes them or fills them in.
pub struct Archive {
    bytes: Vec<u8>,
    /// How far it has been read; `None` where it is being written.
    read: Option<usize>,
}

impl Archive {
    /// An archive that writes down what it visits.
    pub fn writer() -> Self {
        Self {
            bytes: Vec::new(),
            read: None,
        }
    }

    /// An archive that fills in what was written down.
    pub fn reader(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            read: Some(0),
        }
    }

    /// Whether fields are being filled in.
    pub fn restores(&self) -> bool {
        self.read.is_some()
    }

    /// Writes a field, or fills it in.
    pub fn field<T: Serialize + DeserializeOwned>(&mut self, field: &mut T) -> Result<(), Error> {
        match self.read {
            None => {
                let bytes = std::mem::take(&mut self.bytes);
                self.bytes = postcard::to_extend(field, bytes).map_err(damaged)?;
            }
            Some(read) => {
                let (value, rest) =
                    postcard::take_from_bytes(&self.bytes[read..]).map_err(damaged)?;
                self.read = Some(self.bytes.len() - rest.len());
                *field = value;
            }
        }
        Ok(())
    }

    /// Writes the elements of a sequence, or fills them in: as many as there are.
    pub fn slice<T: Serialize + DeserializeOwned>(&mut self, slice: &mut [T]) -> Result<(), Error> {
        self.same("the length of a list", &slice.len())?;
        slice.iter_mut().try_for_each(|field| self.field(field))
    }

    /// Writes what must be the same when the checkpoint is read, or compares.
    pub fn same<T>(&mut self, what: &str, expected: &T) -> Result<(), Error>
    where
        T: Serialize + DeserializeOwned + Clone + PartialEq + std::fmt::Debug,
    {
        let mut found = expected.clone();
        self.field(&mut found)?;
        if found == *expected {
            return Ok(());
        }

        Err(Error::Checkpoint(format!(
            "it was made by another run: {what} is {found:?} there, and {expected:?} here"
        )))
    }

    /// Visits parts, one after the other.
    pub fn parts<C: Checkpoint>(&mut self, parts: &mut [C]) -> Result<(), Error> {
        self.same("the number of parts", &parts.len())?;
        parts.iter_mut().try_for_each(|part| part.visit(self))
    }

    /// All has been visited. What was read must have come to its end.
    pub fn finish(self) -> Result<(), Error> {
        let left = self.read.map_or(0, |read| self.bytes.len() - read);
        if left > 0 {
            let reason =
                format!("it was made by another run: it has {left} bytes more than this run knows");
            return Err(Error::Checkpoint(reason));
        }
        Ok(())
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn damaged(error: postcard::Error) -> Error {
    Error::Checkpoint(format!("it is damaged ({error})"))
}

/// Visits several fields.
#[macro_export]
macro_rules! visit_fields {
    ($archive:expr, $($field:expr),+ $(,)?) => {{
        $( $archive.field(&mut $field)?; )+
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Part {
        numbers: Vec<f64>,
        known: Option<u64>,
        length: [f64; 2],
    }

    impl Checkpoint for Part {
        fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
            visit_fields!(archive, self.numbers, self.known);
            archive.slice(&mut self.length)
        }
    }

    fn part() -> Part {
        Part {
            numbers: vec![0.1, -0.0, f64::INFINITY],
            known: Some(7),
            length: [1.0, 2.0],
        }
    }

    fn blank() -> Part {
        Part {
            numbers: Vec::new(),
            known: None,
            length: [0.0; 2],
        }
    }

    fn written() -> Vec<u8> {
        let mut archive = Archive::writer();
        part().visit(&mut archive).expect("written");
        archive.into_bytes()
    }

    #[test]
    fn what_was_written_is_filled_in() {
        let mut restored = blank();
        restored
            .visit(&mut Archive::reader(written()))
            .expect("read");
        assert_eq!(restored, part());
        assert!(restored.numbers[1].is_sign_negative());
    }

    #[test]
    fn an_archive_that_ends_too_early_is_refused() {
        for length in 0..written().len() {
            let bytes = written()[..length].to_vec();
            let error = blank().visit(&mut Archive::reader(bytes));
            assert!(matches!(error, Err(Error::Checkpoint(_))), "{length}");
        }
    }

    #[test]
    fn one_of_another_run_is_refused() {
        let mut archive = Archive::writer();
        archive
            .same("the method", &"jacobi".to_owned())
            .expect("written");
        let mut archive = Archive::reader(archive.into_bytes());
        let error = archive.same("the method", &"missiles".to_owned());
        let text = error.expect_err("refused").to_string();
        assert!(text.contains("the method is \"jacobi\" there"), "{text}");
    }
}
