//! Results as Parquet.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::sink::Sink;

/// Rows that are kept in memory until they are written together.
const ROWS_IN_GROUP: usize = 1 << 16;

/// Rows wait for so long at most until they are written, or for this part of the time since the
/// file was begun, whichever is longer: many small groups make a file slow to read.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const PART_OF_RUN: u32 = 50;

/// Writes a column of doubles for `time` and for each variable, in groups of rows.
///
/// After a group comes a footer that lists all groups so far, so that the file can be read
/// whenever it ends there: a program that is killed leaves all groups but those of the last second.
/// What is in the midst of a group can be read once it is cut after the last footer.
pub struct ParquetFile<W: Write + Send> {
    /// `None` after closing.
    writer: Option<SerializedFileWriter<W>>,
    /// Time first.
    columns: Vec<Vec<f64>>,
    begun: Instant,
    /// When the last group was written.
    written: Instant,
    /// When the last footer was.
    ended: Instant,
}

impl ParquetFile<BufWriter<File>> {
    /// Creates the file, or empties one that exists.
    pub fn create(path: impl AsRef<Path>, names: &[String]) -> io::Result<Self> {
        Self::new(BufWriter::new(File::create(path)?), names)
    }
}

impl<W: Write + Send> ParquetFile<W> {
    /// Writes to `writer`.
    pub fn new(writer: W, names: &[String]) -> io::Result<Self> {
        let schema = schema(names).map_err(as_io)?;
        // Dictionaries help with repeated values, which trajectories do not have.
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .build();

        let writer =
            SerializedFileWriter::new(writer, schema, Arc::new(properties)).map_err(as_io)?;
        let now = Instant::now();
        Ok(Self {
            writer: Some(writer),
            columns: vec![vec![]; names.len() + 1],
            begun: now,
            written: now,
            ended: now,
        })
    }

    /// Writes rows that have waited long enough. To be asked now and then, also while no rows come.
    pub fn save_in_time(&mut self) -> io::Result<()> {
        let wait = LONGEST_WAIT.max(self.begun.elapsed() / PART_OF_RUN);
        if self.written.elapsed() < wait {
            return Ok(());
        }
        self.save()
    }

    /// Writes all rows so far; the file can be read then.
    pub fn save(&mut self) -> io::Result<()> {
        if self.columns[0].is_empty() {
            return Ok(());
        }
        self.write_group().map_err(as_io)?;
        self.write_footer().map_err(as_io)
    }

    /// A footer in the midst of the file: what comes after it has another one.
    fn write_footer(&mut self) -> Result<(), ParquetError> {
        let Some(writer) = self.writer.as_mut() else {
            return Ok(());
        };
        let groups = writer.flushed_row_groups().to_vec();
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let schema = Arc::new(writer.schema_descr().clone());
        let file = FileMetaData::new(1, rows, None, None, schema, None);
        let metadata = ParquetMetaData::new(file, groups);
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &metadata).finish()?;
        writer.write_all(&footer)?;
        writer.flush()?;
        self.ended = Instant::now();
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let Some(writer) = self.writer.as_mut().filter(|_| !self.columns[0].is_empty()) else {
            return Ok(());
        };

        let mut group = writer.next_row_group()?;
        for values in &mut self.columns {
            let column = group.next_column()?;
            let mut column = column.expect("BUG: a column for each variable");
            let numbers = column.typed::<DoubleType>();
            numbers.write_batch(values, None, None)?;
            column.close()?;
            values.clear();
        }

        group.close()?;
        self.written = Instant::now();
        Ok(())
    }
}

fn schema(names: &[String]) -> Result<TypePtr, ParquetError> {
    let mut fields = vec![number_field("time")?];
    for name in names {
        fields.push(number_field(name)?);
    }

    let results = Type::group_type_builder("results").with_fields(fields);
    results.build().map(Arc::new)
}

fn number_field(name: &str) -> Result<TypePtr, ParquetError> {
    let number = Type::primitive_type_builder(name, PhysicalType::DOUBLE);
    let required = number.with_repetition(Repetition::REQUIRED);
    required.build().map(Arc::new)
}

/// What the disk said, where it was the disk.
fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(disk) => *disk,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

impl<W: Write + Send> Sink for ParquetFile<W> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        assert_eq!(
            values.len() + 1,
            self.columns.len(),
            "BUG: one value for each column"
        );

        let row = [time].into_iter().chain(values.iter().copied());
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }

        if self.columns[0].len() < ROWS_IN_GROUP {
            return Ok(());
        }
        self.write_group().map_err(as_io)?;
        if self.ended.elapsed() < LONGEST_WAIT {
            return Ok(());
        }
        self.write_footer().map_err(as_io)
    }

    fn close(&mut self) -> io::Result<()> {
        let rest = self.write_group();
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };

        // A footer for the groups that are whole is worth a try, whatever happened to the last one.
        let finished = writer.finish().map_err(as_io);
        rest.map_err(as_io)?;
        finished?;
        writer.inner_mut().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn rows_read_back_to_the_same_bits_over_several_groups() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.parquet");
        let value = |n: usize| f64::from_bits(n as u64 * 0x1234_5678_9abc + 1);
        let rows = ROWS_IN_GROUP + 1000;
        let mut file = ParquetFile::create(&path, &["a.x".into(), "b.r[1,2]".into()]).unwrap();
        (0..rows).for_each(|n| file.row(n as f64, &[value(n), -0.0]).unwrap());
        file.close().unwrap();
        file.close().unwrap();

        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let columns = reader
            .metadata()
            .file_metadata()
            .schema_descr()
            .columns()
            .to_vec();
        assert_eq!(
            columns.iter().map(|c| c.name()).collect::<Vec<_>>(),
            ["time", "a.x", "b.r[1,2]"]
        );
        let mut read = 0;
        for (n, row) in reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .enumerate()
        {
            assert_eq!(row.get_double(0).unwrap(), n as f64);
            assert_eq!(row.get_double(1).unwrap().to_bits(), value(n).to_bits());
            assert_eq!(row.get_double(2).unwrap().to_bits(), (-0.0_f64).to_bits());
            read += 1;
        }
        assert_eq!(read, rows);
    }

    #[test]
    fn a_file_that_is_never_closed_can_be_read_up_to_its_last_footer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("killed.parquet");
        let mut file = ParquetFile::create(&path, &["a.x".into()]).unwrap();
        let mut rows = 0;
        for part in 0..3 {
            (0..100).for_each(|n| file.row(f64::from(n), &[f64::from(part)]).unwrap());
            file.save().unwrap();
            rows += 100;
            let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
            assert_eq!(reader.metadata().file_metadata().num_rows(), rows);
            assert_eq!(reader.get_row_iter(None).unwrap().count() as i64, rows);
        }
        file.row(1e3, &[0.5]).unwrap();
        file.close().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.get_row_iter(None).unwrap().count(), 301);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error_and_not_a_panic() {
        let mut file = ParquetFile::create("/dev/full", &["a.x".into()]).unwrap();
        (0..1000).for_each(|n| file.row(f64::from(n), &[1.0]).unwrap());
        assert!(file.close().is_err());
    }
}
