//! Results as comma-separated text.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::sink::Sink;

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
        writer.write_all(b"time")?;
        for name in names {
            writer.write_all(b",")?;
            write_field(&mut writer, name)?;
        }

        writer.write_all(b"\n")?;
        Ok(Self { writer })
    }
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
