//! Results as comma-separated text.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::sink::Sink;

/// The unit of time: the first cell of a line of units.
pub(crate) const TIME_UNIT: &str = "s";

/// Writes `time,system.name,…` and then a line for each row, as it comes.
///
/// Numbers have as many digits as it takes to read back the same `f64`, and no more.
pub struct CsvFile<W: Write> {
    writer: W,
}

impl CsvFile<BufWriter<File>> {
    /// Creates the file, or empties one that exists, and writes the header.
    pub fn create(path: impl AsRef<Path>, names: &[String]) -> io::Result<Self> {
        Self::new(
            BufWriter::with_capacity(1 << 16, File::create(path)?),
            names,
        )
    }
}

impl<W: Write> CsvFile<W> {
    /// Writes to `writer`, the header at once. Give it a buffered one: every number is a small
    /// write.
    pub fn new(mut writer: W, names: &[String]) -> io::Result<Self> {
        write_line(&mut writer, "time", names.iter().map(String::as_str))?;
        Ok(Self { writer })
    }

    /// A second line with units; empty where there is none.
    pub fn with_units(mut self, units: &[Option<String>]) -> io::Result<Self> {
        let units = units.iter().map(|unit| unit.as_deref().unwrap_or_default());
        write_line(&mut self.writer, TIME_UNIT, units)?;
        Ok(self)
    }
}

fn write_line<'a>(
    writer: &mut impl Write,
    first: &str,
    rest: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    writer.write_all(first.as_bytes())?;
    for field in rest {
        writer.write_all(b",")?;
        write_field(writer, field)?;
    }
    writer.write_all(b"\n")
}

/// Quotes a field only where it would be misread without.
pub(crate) fn write_field(writer: &mut impl Write, field: &str) -> io::Result<()> {
    if field.contains([',', '"', '\n', '\r']) || field.trim() != field {
        write!(writer, "\"{}\"", field.replace('"', "\"\""))
    } else {
        writer.write_all(field.as_bytes())
    }
}

impl<W: Write> Sink for CsvFile<W> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        write!(self.writer, "{time:?}")?;
        for value in values {
            write!(self.writer, ",{value:?}")?;
        }
        self.writer.write_all(b"\n")
    }

    fn close(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(names: &[&str], rows: &[(f64, Vec<f64>)]) -> String {
        let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
        let mut bytes = vec![];
        let mut file = CsvFile::new(&mut bytes, &names).unwrap();
        rows.iter()
            .for_each(|(time, values)| file.row(*time, values).unwrap());
        file.close().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_file_has_a_header_and_a_line_for_each_row() {
        let rows = [
            (0.0, vec![1.0, -0.0]),
            (0.1, vec![1e300, 0.30000000000000004]),
        ];
        assert_eq!(
            written(&["a.x", "b.y"], &rows),
            "time,a.x,b.y\n0.0,1.0,-0.0\n0.1,1e300,0.30000000000000004\n"
        );
    }

    #[test]
    fn names_are_quoted_only_where_they_must_be() {
        let header = written(&["a.r[1]", "a.r[1,2]", "a.\"q\""], &[]);
        assert_eq!(header, "time,a.r[1],\"a.r[1,2]\",\"a.\"\"q\"\"\"\n");
        let mut reader = csv::Reader::from_reader(header.as_bytes());
        assert_eq!(
            reader.headers().unwrap(),
            vec!["time", "a.r[1]", "a.r[1,2]", "a.\"q\""]
        );
    }

    #[test]
    fn a_line_of_units_may_follow_the_header() {
        let mut bytes = vec![];
        let names = ["a.x".to_owned(), "b.y".to_owned()];
        let file = CsvFile::new(&mut bytes, &names).unwrap();
        let mut file = file.with_units(&[Some("rad/s".into()), None]).unwrap();
        file.row(0.0, &[1.0, 2.0]).unwrap();
        file.close().unwrap();
        assert_eq!(bytes, b"time,a.x,b.y\ns,rad/s,\n0.0,1.0,2.0\n");
        let read = crate::reference::ReferenceFile::read(&bytes[..], "rows.csv").unwrap();
        assert_eq!(read.times(), [0.0]);
    }

    #[test]
    fn a_row_is_on_disk_once_the_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        let mut file = CsvFile::create(&path, &["a.x".into()]).unwrap();
        file.row(0.0, &[1.5]).unwrap();
        file.close().unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "time,a.x\n0.0,1.5\n"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error_and_not_a_panic() {
        let mut file = CsvFile::create("/dev/full", &["a.x".into()]).unwrap();
        let rows = (0..100_000).try_for_each(|n| file.row(f64::from(n), &[1.0]));
        assert!(rows.is_err());
        assert!(file.close().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_number_reads_back_to_the_same_bits(bits in any::<u64>(), small in 0_u64..1 << 52) {
            let (any, subnormal) = (f64::from_bits(bits), f64::from_bits(small));
            let text = written(&["a.x"], &[(any, vec![subnormal])]);
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let row = reader.records().next().unwrap().unwrap();
            let read = |i: usize| row[i].parse::<f64>().unwrap();
            prop_assert_eq!(read(1).to_bits(), subnormal.to_bits());
            // A NaN reads back as a NaN; its payload carries nothing.
            prop_assert!(read(0).to_bits() == any.to_bits() || read(0).is_nan() && any.is_nan());
        }
    }
}
