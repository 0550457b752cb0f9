//! Matrices in MAT files of level 4, which MATLAB, Octave, SciPy and Modelica tools read.
//!
//! Each matrix is a header of five 32-bit integers (type, rows, columns, whether it is complex,
//! length of the name), the name with a zero at its end, and the numbers, column by column. The
//! type is `MOPT` in decimal digits: machine (0: little endian), 0, precision (0: double, 2: 32-bit
//! integer, 5: byte), kind (0: numbers, 1: text).

use std::io::{self, Write};

/// Numbers of double precision.
const DOUBLES: i32 = 0;
/// Integers of 32 bits.
const INTEGERS: i32 = 20;
/// Text of one byte a character.
const TEXT: i32 = 51;

/// Writes matrices one after the other. Give it a buffered writer: every number is a small write.
pub struct MatFile<W: Write> {
    writer: W,
}

impl<W: Write> MatFile<W> {
    /// Writes to `writer`; a file of level 4 has no beginning of its own.
    pub fn new(writer: W) -> Self {
        Self { writer }
    }

    /// A matrix of so many rows, its `values` column by column.
    pub fn matrix(&mut self, name: &str, rows: usize, values: &[f64]) -> io::Result<()> {
        self.header(DOUBLES, name, (rows, columns(rows, values.len())), false)?;
        self.doubles(values.iter().copied())
    }

    /// The header of a matrix of so many rows, whose columns are still to come.
    pub(crate) fn announce(&mut self, name: &str, rows: usize) -> io::Result<()> {
        self.header(DOUBLES, name, (rows, 0), false)
    }

    /// A column of complex numbers, each as real and imaginary part.
    pub fn complex_column(&mut self, name: &str, values: &[(f64, f64)]) -> io::Result<()> {
        self.header(DOUBLES, name, (values.len(), 1), true)?;
        self.doubles(values.iter().map(|value| value.0))?;
        self.doubles(values.iter().map(|value| value.1))
    }

    /// A matrix of integers, of so many rows, its `values` column by column.
    pub fn integers(&mut self, name: &str, rows: usize, values: &[i32]) -> io::Result<()> {
        self.header(INTEGERS, name, (rows, columns(rows, values.len())), false)?;
        let mut values = values.iter();
        values.try_for_each(|value| self.writer.write_all(&value.to_le_bytes()))
    }

    /// Texts, each a row of characters; the shorter ones end in blanks.
    pub fn text_rows<T: AsRef<str>>(&mut self, name: &str, rows: &[T]) -> io::Result<()> {
        let width = widest(rows);
        self.header(TEXT, name, (rows.len(), width), false)?;
        for column in 0..width {
            let characters = rows.iter().map(|row| byte(row.as_ref(), column, b' '));
            self.writer.write_all(&characters.collect::<Vec<u8>>())?;
        }
        Ok(())
    }

    /// Texts, each a column of characters, ended by zeros.
    pub fn text_columns<T: AsRef<str>>(&mut self, name: &str, all: &[T]) -> io::Result<()> {
        let height = widest(all);
        self.header(TEXT, name, (height, all.len()), false)?;
        for text in all {
            let characters = (0..height).map(|row| byte(text.as_ref(), row, 0));
            self.writer.write_all(&characters.collect::<Vec<u8>>())?;
        }
        Ok(())
    }

    /// All is written, not only buffered.
    pub fn close(mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// The header of a matrix, whose numbers are still to be written.
    fn header(
        &mut self,
        kind: i32,
        name: &str,
        (rows, columns): (usize, usize),
        complex: bool,
    ) -> io::Result<()> {
        let fields = [
            kind,
            fit(rows)?,
            fit(columns)?,
            i32::from(complex),
            fit(name.len() + 1)?,
        ];
        for field in fields {
            self.writer.write_all(&field.to_le_bytes())?;
        }
        self.writer.write_all(name.as_bytes())?;
        self.writer.write_all(&[0])
    }

    fn doubles(&mut self, mut values: impl Iterator<Item = f64>) -> io::Result<()> {
        values.try_for_each(|value| self.writer.write_all(&value.to_le_bytes()))
    }
}

fn columns(rows: usize, values: usize) -> usize {
    values.checked_div(rows).unwrap_or(0)
}

/// The format has no room for more.
fn fit(size: usize) -> io::Result<i32> {
    let too_large = || io::Error::other("a MAT file of level 4 holds no matrix as large as this");
    i32::try_from(size).map_err(|_| too_large())
}

fn widest<T: AsRef<str>>(all: &[T]) -> usize {
    all.iter()
        .map(|text| text.as_ref().len())
        .max()
        .unwrap_or(0)
}

fn byte(text: &str, at: usize, beyond: u8) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut MatFile<&mut Vec<u8>>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut file = MatFile::new(&mut bytes);
        write(&mut file);
        file.close().unwrap();
        bytes
    }

    #[test]
    fn a_matrix_is_a_header_a_name_and_its_columns() {
        let bytes = written(|file| file.matrix("A", 2, &[1.0, 2.0, 3.0, 4.0]).unwrap());
        let header: Vec<u8> = [0, 2, 2, 0, 2]
            .iter()
            .flat_map(|f: &i32| f.to_le_bytes())
            .collect();
        assert_eq!(bytes[..20], header);
        assert_eq!(&bytes[20..22], b"A\0");
        assert_eq!(bytes[22..30], 1.0_f64.to_le_bytes());
        assert_eq!(bytes[30..38], 2.0_f64.to_le_bytes());
        assert_eq!(bytes.len(), 22 + 4 * 8);
    }

    #[test]
    fn texts_are_padded_by_row_or_by_column() {
        let rows = written(|file| file.text_rows("n", &["ab", "c"]).unwrap());
        assert_eq!(&rows[22..], b"acb ");
        let columns = written(|file| file.text_columns("n", &["ab", "c"]).unwrap());
        assert_eq!(&columns[22..], b"abc\0");
    }

    #[test]
    fn complex_numbers_have_their_parts_one_after_the_other() {
        let bytes = written(|file| file.complex_column("e", &[(1.0, 2.0), (3.0, 4.0)]).unwrap());
        assert_eq!(bytes[12], 1);
        let numbers = bytes[22..]
            .chunks(8)
            .map(|eight| f64::from_le_bytes(eight.try_into().unwrap()));
        assert_eq!(numbers.collect::<Vec<_>>(), [1.0, 3.0, 2.0, 4.0]);
    }

    #[test]
    fn what_is_empty_has_no_numbers() {
        let bytes = written(|file| {
            file.matrix("B", 3, &[]).unwrap();
            file.text_rows::<&str>("n", &[]).unwrap();
            file.integers("i", 0, &[]).unwrap();
        });
        assert_eq!(bytes.len(), 3 * 22);
    }
}
