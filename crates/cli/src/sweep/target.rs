//! Where the table of a sweep goes: lines of text that a killed sweep leaves whole, and, where that is wanted, a Parquet file made
//! of them at the end.

use std::path::{Path, PathBuf};

use dovetail::Sweep;
use dovetail::study::{ResumeError, Row, RowFile};

use super::made_with::MadeWith;
use super::table::Table;
use crate::failure::Failure;
use crate::output;

/// The file of a sweep.
pub(super) struct Target {
    /// As the user named it.
    named: PathBuf,
    /// Where lines are written.
    lines: PathBuf,
    is_parquet: bool,
}

impl Target {
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let lines = output::from_home(path);
        if output::has_ending(path, "csv") {
            return Ok(Self {
                named: path.to_owned(),
                lines,
                is_parquet: false,
            });
        }
        if !output::has_ending(path, "parquet") {
            let shown = path.display();
            return Err(Failure::misuse(format!(
                "--output {shown}: the table of a sweep is a .csv or a .parquet file"
            )));
        }

        check_parquet(path)?;
        Ok(Self {
            named: path.to_owned(),
            lines: lines.with_extension("parquet.rows.csv"),
            is_parquet: true,
        })
    }

    /// Whether the rows of the table are needed at the end.
    pub fn needs_all(&self) -> bool {
        self.is_parquet
    }

    /// The file of lines, and the rows that it has where the sweep goes on.
    pub fn open(
        &self,
        sweep: &Sweep<'_>,
        made_with: &MadeWith,
        resume: bool,
    ) -> Result<(RowFile, Vec<Row>), Failure> {
        let opened = self.open_rows(sweep, made_with, resume)?;
        let written = made_with.write(&self.made_with());
        written.map_err(|error| Failure::cannot_write(&self.named, error))?;
        Ok(opened)
    }

    /// The file that says what the rows are made with.
    fn made_with(&self) -> PathBuf {
        MadeWith::path(&output::from_home(&self.named))
    }

    fn open_rows(
        &self,
        sweep: &Sweep<'_>,
        made_with: &MadeWith,
        resume: bool,
    ) -> Result<(RowFile, Vec<Row>), Failure> {
        let columns = sweep.columns();
        if !resume {
            let file = RowFile::create(&self.lines, &columns);
            let file = file.map_err(|error| Failure::cannot_write(&self.named, error))?;
            return Ok((file, Vec::new()));
        }

        self.check_rows_are_there()?;
        let resumed = RowFile::resume(&self.lines, &columns, sweep.design());
        let (file, rows) = resumed.map_err(|error| match error {
            ResumeError::File(error) => Failure::cannot_write(&self.named, error),
            ResumeError::Other(error) => self.refused(&error.to_string()),
        })?;
        if !rows.is_empty() {
            self.check_made_with(made_with)?;
        }
        Ok((file, rows))
    }

    /// Refuses to go on with rows of another model or of other options.
    fn check_made_with(&self, now: &MadeWith) -> Result<(), Failure> {
        let path = self.made_with();
        let before = MadeWith::read(&path);
        let before = before.map_err(|error| {
            self.refused(&format!("{} cannot be read: {error}", path.display()))
        })?;
        let Some(before) = before else {
            output::complain(&format!(
                "note: {} is not there: whether the rows are those of this model and these options is not known\n",
                path.display()
            ));
            return Ok(());
        };
        match now.difference(&before) {
            Some(what) => Err(self.refused(&what)),
            None => Ok(()),
        }
    }

    /// A Parquet file without lines beside it is complete.
    fn check_rows_are_there(&self) -> Result<(), Failure> {
        let finished = output::from_home(&self.named);
        match self.is_parquet && finished.exists() && !self.lines.exists() {
            true => Err(self
                .refused("the sweep of this file came to its end: there is nothing to go on with")),
            false => Ok(()),
        }
    }

    fn refused(&self, why: &str) -> Failure {
        let shown = self.named.display();
        Failure::misuse(format!("--resume {shown}: {why}"))
    }

    /// Makes the Parquet file; the lines stay where the sweep is to go on.
    pub fn finish(&self, sweep: &Sweep<'_>, table: &Table) -> Result<(), Failure> {
        if !self.is_parquet {
            return Ok(());
        }
        let path = output::from_home(&self.named);
        let written = write_parquet(&path, sweep, table);
        written.map_err(|error| Failure::Sweep(output::not_written(&self.named, &error)))?;
        if table.is_complete() {
            let _ = std::fs::remove_file(&self.lines);
            let _ = std::fs::remove_file(self.made_with());
        }
        Ok(())
    }
}

#[cfg(feature = "parquet")]
fn check_parquet(_path: &Path) -> Result<(), Failure> {
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn check_parquet(path: &Path) -> Result<(), Failure> {
    Err(output::without_parquet(path))
}

#[cfg(feature = "parquet")]
fn write_parquet(path: &Path, sweep: &Sweep<'_>, table: &Table) -> std::io::Result<()> {
    dovetail::study::write_parquet(path, &sweep.columns(), table.all())
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_path: &Path, _sweep: &Sweep<'_>, _table: &Table) -> std::io::Result<()> {
    Ok(()) // it was refused before
}
