//! The table of a study as a file of comma-separated lines, which a killed study leaves whole but for its last line.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::StudyError;
use crate::design::Design;
use crate::row::{Columns, Row};

/// The file. Every row is written at once, by a single call, in the order of the runs.
#[derive(Debug)]
pub struct RowFile {
    file: File,
    kept: usize,
}

impl RowFile {
    /// Creates the file, or empties one that exists.
    pub fn create(path: &Path, columns: &Columns) -> io::Result<Self> {
        let mut file = File::create(path)?;
        file.write_all(&columns.line())?;
        let kept = columns.kept.len();
        Ok(Self { file, kept })
    }

    /// Goes on with a file of the same study, and returns the rows that it has; a file that is not there is created.
    /// A last line without its end is dropped.
    pub fn resume(
        path: &Path,
        columns: &Columns,
        design: &Design,
    ) -> Result<(Self, Vec<Row>), ResumeError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = &bytes[..whole.map_or(0, |at| at + 1)];

        let header = columns.line();
        // What was killed in its first line has nothing to go on with; what begins otherwise is somebody else's.
        if whole.is_empty() && !header.starts_with(&bytes) {
            return Err(other_study("its first line is another one"));
        }
        let rows = match whole.strip_prefix(header.as_slice()) {
            Some(lines) => read_rows(lines, columns, design)?,
            None if whole.is_empty() => Vec::new(),
            None => return Err(other_study("it varies or keeps something else")),
        };
        file.set_len(whole.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        if whole.is_empty() {
            file.write_all(&header)?;
        }

        let kept = columns.kept.len();
        Ok((Self { file, kept }, rows))
    }

    /// Writes a row.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        self.file.write_all(&row.line(self.kept))
    }

    /// All rows are on the disk when this returns.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// Why a study cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is not a file of this study.
    #[error(transparent)]
    Other(#[from] StudyError),
}

fn other_study(what: &str) -> ResumeError {
    StudyError::new(format!("it is the file of another study: {what}")).into()
}

fn read_rows(lines: &[u8], columns: &Columns, design: &Design) -> Result<Vec<Row>, ResumeError> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true);
    let mut rows = Vec::new();

    for (run, record) in reader.from_reader(lines).records().enumerate() {
        // The first line has the names.
        let line = run + 2;
        let row = record
            .ok()
            .and_then(|record| Row::read(&record, columns))
            .filter(|row| row.run == run);
        let Some(row) = row else {
            return Err(
                StudyError::new(format!("line {line} is no row of run {}", run + 1)).into(),
            );
        };
        if run >= design.runs() {
            let runs = design.runs();
            return Err(other_study(&format!(
                "it has more rows than the {runs} runs of this one"
            )));
        }
        if !is_same(&row.point, &design.point(run)) {
            return Err(other_study(&format!("line {line} has other values")));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Equal to the bit: all digits are written.
fn is_same(read: &[f64], expected: &[f64]) -> bool {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    bits(read) == bits(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DesignKind;

    fn design(seed: u64) -> Design {
        let factors = vec!["a.x=0:1".parse().unwrap(), "a.y=1:2".parse().unwrap()];
        Design::new(DesignKind::LatinHypercube, factors, Some(10), seed).unwrap()
    }

    fn columns() -> Columns {
        Columns {
            varied: vec!["a.x".into(), "a.y".into()],
            kept: vec!["final(a.z)".into(), "max(a.r[1,2])".into()],
        }
    }

    fn row(run: usize) -> Row {
        let outcome = match run {
            1 => Err("it \"failed\",\nbadly".to_owned()),
            _ => Ok((vec![run as f64 / 3.0, f64::NAN], "good".to_owned())),
        };
        Row {
            run,
            point: design(1).point(run),
            outcome,
        }
    }

    fn whole_file(path: &Path) -> Vec<u8> {
        let mut file = RowFile::create(path, &columns()).unwrap();
        (0..10).for_each(|run| file.write(&row(run)).unwrap());
        file.sync().unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_completed_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let whole = whole_file(&path);
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut file, rows) = RowFile::resume(&path, &columns(), &design(1)).unwrap();
            let ends = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(rows.len(), ends.saturating_sub(1));
            (rows.len()..10).for_each(|run| file.write(&row(run)).unwrap());
            file.sync().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_read_back_is_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        whole_file(&path);
        let (_, rows) = RowFile::resume(&path, &columns(), &design(1)).unwrap();
        assert_eq!(rows[1].outcome, Err("it \"failed\", badly".to_owned()));
        let Ok((values, verdict)) = &rows[2].outcome else {
            panic!("run 2 went well")
        };
        assert_eq!((values[0], verdict.as_str()), (2.0 / 3.0, "good"));
        assert!(values[1].is_nan());
        assert_eq!(rows[2].point, design(1).point(2));
    }

    #[test]
    fn the_file_of_another_study_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let whole = whole_file(&path);
        let refused = |columns: &Columns, design: &Design| {
            let error = RowFile::resume(&path, columns, design).unwrap_err();
            assert_eq!(std::fs::read(&path).unwrap(), whole);
            error.to_string()
        };
        let other = Columns {
            kept: vec!["final(a.z)".into()],
            ..columns()
        };
        assert!(refused(&other, &design(1)).contains("varies or keeps something else"));
        assert!(refused(&columns(), &design(2)).contains("line 2 has other values"));
        let text = String::from_utf8(whole.clone()).unwrap();
        std::fs::write(&path, text.replace("\n4,", "\n5,")).unwrap();
        let error = RowFile::resume(&path, &columns(), &design(1)).unwrap_err();
        assert_eq!(error.to_string(), "line 5 is no row of run 4");
        std::fs::write(&path, "a letter without an end of its line").unwrap();
        let error = RowFile::resume(&path, &columns(), &design(1)).unwrap_err();
        assert!(error.to_string().contains("another study"), "{error}");
    }
}
