//! One run of a study as a row of its table.

use csv::{StringRecord, Writer};

/// The columns of the table, but for the number of the run and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// What is varied.
    pub varied: Vec<String>,
    /// What is kept.
    pub kept: Vec<String>,
}

/// A run that came to its end.
const DONE: &str = "ok";
/// A run that did not.
const FAILED: &str = "failed";

impl Columns {
    /// The names of all columns.
    pub fn names(&self) -> Vec<String> {
        let first = ["run"].map(String::from);
        let last = ["status", "verdict", "reason"].map(String::from);
        [&first[..], &self.varied, &self.kept, &last].concat()
    }

    /// The first line of a file.
    pub(crate) fn line(&self) -> Vec<u8> {
        line(&self.names())
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number, from 0; files count from 1.
    pub run: usize,
    /// What was varied.
    pub point: Vec<f64>,
    /// What was kept and the verdict on the run, or why it failed.
    pub outcome: Result<(Vec<f64>, String), String>,
}

impl Row {
    /// How it ended, in a word.
    pub fn status(&self) -> Option<&str> {
        Some(if self.outcome.is_ok() { DONE } else { FAILED })
    }

    /// The verdict, where it came to its end.
    pub fn verdict(&self) -> Option<&str> {
        let (_, verdict) = self.outcome.as_ref().ok()?;
        Some(verdict)
    }

    /// Why it failed, if it did.
    pub fn reason(&self) -> Option<&str> {
        self.outcome.as_ref().err().map(String::as_str)
    }

    /// The texts of all columns, where so many values are kept.
    pub fn fields(&self, kept: usize) -> Vec<String> {
        let mut fields = vec![(self.run + 1).to_string()];
        fields.extend(self.point.iter().map(|value| format!("{value:?}")));
        match &self.outcome {
            Ok((values, verdict)) => {
                fields.extend(values.iter().map(|value| format!("{value:?}")));
                fields.extend([DONE.to_owned(), verdict.clone(), String::new()]);
            }
            Err(reason) => {
                fields.extend(vec![String::new(); kept]);
                fields.extend([FAILED.to_owned(), String::new(), one_line(reason)]);
            }
        }
        fields
    }

    /// Its line of a file.
    pub fn line(&self, kept: usize) -> Vec<u8> {
        line(&self.fields(kept))
    }

    /// What one line says, to the last bit; none where it is no line of such a table.
    pub fn parse(line: &[u8], columns: &Columns) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).flexible(true).from_reader(line);
        Self::read(&reader.records().next()?.ok()?, columns)
    }

    /// What a line of a file says; none where it is no such line.
    pub(crate) fn read(record: &StringRecord, columns: &Columns) -> Option<Self> {
        let (varied, kept) = (columns.varied.len(), columns.kept.len());
        if record.len() != varied + kept + 4 {
            return None;
        }
        let numbers = |from: usize, count: usize| -> Option<Vec<f64>> {
            let fields = record.iter().skip(from).take(count);
            fields.map(|field| field.parse().ok()).collect()
        };
        let last = |place: usize| record[1 + varied + kept + place].to_owned();
        let outcome = match &record[1 + varied + kept] {
            DONE => Ok((numbers(1 + varied, kept)?, last(1))),
            FAILED => Err(last(2)),
            _ => return None,
        };

        Some(Self {
            run: record[0].parse::<usize>().ok()?.checked_sub(1)?,
            point: numbers(1, varied)?,
            outcome,
        })
    }
}

/// A row is a line, whatever an FMU says.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn line(fields: &[String]) -> Vec<u8> {
    let mut writer = Writer::from_writer(Vec::new());
    let written = writer.write_record(fields);
    written.expect("BUG: memory takes a record");
    writer.into_inner().expect("BUG: memory takes all of it")
}
