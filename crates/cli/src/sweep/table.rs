//! The table of a sweep while it is filled, and what is said of it at the end.

use std::time::{Duration, Instant};

use dovetail::report::Trajectory;
use dovetail::study::{Design, NamedSensitivities, Row, RowFile, SweepPage, sensitivities};
use dovetail::{Sweep, SweepStops, SweptRun};
use serde_json::{Value, json};

use super::arguments::SweepArguments;
use super::on_ranks;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{self, Page};
use crate::progress::SweepProgress;

/// The table of a sweep as far as it is filled.
pub(super) struct Table {
    /// All runs of the design.
    wanted: usize,
    /// Rows of an earlier sweep.
    resumed: usize,
    failed: usize,
    rows: usize,
    /// The first reason of a failure.
    reason: Option<String>,
    /// All rows, where something is made of them at the end.
    all: Option<Vec<Row>>,
    /// Curves of some runs.
    fan: Vec<Trajectory>,
    wall: Duration,
}

impl Table {
    /// The rows that there are `before`; all are kept in memory where they are needed at the end.
    pub fn new(design: &Design, before: Vec<Row>, needs_all: bool) -> Self {
        let mut table = Self {
            wanted: design.runs(),
            resumed: before.len(),
            failed: 0,
            rows: 0,
            reason: None,
            all: (needs_all || design.is_saltelli()).then(Vec::new),
            fan: Vec::new(),
            wall: Duration::ZERO,
        };
        before.into_iter().for_each(|row| table.add(row));
        table
    }

    fn add(&mut self, row: Row) {
        self.rows += 1;
        if let Err(reason) = &row.outcome {
            self.failed += 1;
            let run = row.run + 1;
            self.reason
                .get_or_insert_with(|| format!("run {run}: {reason}"));
        }
        if let Some(all) = &mut self.all {
            all.push(row);
        }
    }

    /// Makes the runs that are left.
    pub fn fill(
        mut self,
        sweep: &Sweep<'_>,
        file: &mut RowFile,
        arguments: &SweepArguments,
    ) -> Result<Self, Failure> {
        let clock = Instant::now();
        let limit = arguments.time_limit;
        let stops = SweepStops {
            starting: &|| limit.is_some_and(|limit| clock.elapsed() >= limit),
            interrupted: interrupt::listen(),
        };
        let progress = SweepProgress::new(arguments.quiet, self.wanted, self.rows);
        let first = self.rows;
        let mut take = |run: SweptRun| {
            file.write(&run.row)?;
            self.fan.extend(run.curves);
            self.add(run.row);
            progress.show(self.rows, self.failed);
            Ok(())
        };
        let filled = match on_ranks::others(arguments.workers.is_some())? {
            Some(mut others) => sweep.run_from_with(first, &mut others, &stops, &mut take),
            None => sweep.run_from(first, &stops, &mut take),
        };
        progress.clear();
        let written = filled.and_then(|_| file.sync());
        written.map_err(|error| Failure::Sweep(output::not_written(&arguments.output, &error)))?;
        self.wall = clock.elapsed();
        Ok(self)
    }

    /// Whether every run of the design has its row.
    pub fn is_complete(&self) -> bool {
        self.rows == self.wanted
    }

    /// The rows, where they were to be kept.
    pub fn all(&self) -> &[Row] {
        self.all.as_deref().unwrap_or_default()
    }

    /// Writes the page and the summary.
    pub fn show(
        &self,
        arguments: &SweepArguments,
        sweep: &Sweep<'_>,
        page: Option<Page>,
        title: &str,
    ) -> Result<(), Failure> {
        let columns = sweep.columns();
        let indices = self.sensitivities(sweep);
        if let Some(page) = page {
            let content = SweepPage {
                title,
                columns: &columns,
                rows: self.all(),
                sensitivities: &indices,
                fan: &self.fan,
                wall_seconds: self.wall.as_secs_f64(),
            };
            page.write(&content.render())?;
        }
        if arguments.json {
            return output::print_json(&self.to_json(&columns.varied, &indices));
        }
        if arguments.quiet {
            return Ok(());
        }
        output::print(&self.to_text(arguments, &columns.varied, &indices))
    }

    /// For each kept value the indices of each varied one.
    fn sensitivities(&self, sweep: &Sweep<'_>) -> Vec<NamedSensitivities> {
        let of_column = |(column, name): (usize, &String)| {
            let kept = |row: &Row| {
                let (values, _) = row.outcome.as_ref().ok()?;
                Some(values[column])
            };
            let values: Vec<Option<f64>> = self.all().iter().map(kept).collect();
            Some((name.clone(), sensitivities(sweep.design(), &values)?))
        };
        let kept = sweep.columns().kept;
        kept.iter().enumerate().filter_map(of_column).collect()
    }

    fn to_json(&self, varied: &[String], indices: &[NamedSensitivities]) -> Value {
        let mut object = json!({
            "runs": self.rows,
            "failed": self.failed,
            "wall_seconds": self.wall.as_secs_f64(),
            "complete": self.is_complete(),
            "resumed": self.resumed,
        });
        if !indices.is_empty() {
            let of_value = |(name, indices): &NamedSensitivities| {
                let factors = varied.iter().zip(indices);
                let factors = factors.map(|(factor, index)| {
                    let both = json!({ "first": index.first, "total": index.total });
                    (factor.clone(), both)
                });
                (name.clone(), Value::Object(factors.collect()))
            };
            object["sensitivities"] = Value::Object(indices.iter().map(of_value).collect());
        }
        object
    }

    fn to_text(
        &self,
        arguments: &SweepArguments,
        varied: &[String],
        indices: &[NamedSensitivities],
    ) -> String {
        let (rows, wall) = (self.rows, self.wall.as_secs_f64());
        let file = arguments.output.display();
        let mut text = format!("{rows} runs in {file}, {wall:.1} s");
        if self.resumed > 0 {
            text += &format!("; {} of them were there", self.resumed);
        }
        text.push('\n');
        if let Some(reason) = &self.reason {
            let failed = self.failed;
            text += &format!("{failed} of them failed, the first of them {reason}\n");
        }
        for (name, indices) in indices {
            text += &format!("\nSensitivities of {name}: alone, and with interactions\n");
            for (factor, index) in varied.iter().zip(indices) {
                let (first, total) = (index.first, index.total);
                text += &format!("  {factor:<24} {first:8.4} {total:8.4}\n");
            }
        }
        text
    }

    /// What the shell is told.
    pub fn end(&self, arguments: &SweepArguments) -> Result<(), Failure> {
        let (rows, wanted) = (self.rows, self.wanted);
        if rows < wanted {
            let limit = arguments.time_limit;
            let why = match limit.filter(|limit| self.wall >= *limit) {
                Some(limit) => format!("the time limit of {} s", limit.as_secs_f64()),
                None => "an interrupt".to_owned(),
            };
            return Err(Failure::Sweep(format!(
                "{why} ended the sweep after {rows} of {wanted} runs: --resume goes on from there"
            )));
        }
        match &self.reason {
            Some(reason) if self.failed == rows => {
                Err(Failure::Sweep(format!("no run worked; {reason}")))
            }
            _ => Ok(()),
        }
    }
}
