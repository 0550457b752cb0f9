//! A table read as a whole: what is not an input of a model, but is compared with its results.

use std::path::Path;

use super::table_format::{columns, open};

/// More numbers than these are not read into memory.
const MOST_NUMBERS: usize = 1 << 27;

/// A table in memory, column by column; the first one is the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WholeTable {
    /// The heads without their units.
    pub names: Vec<String>,
    /// The units in the heads.
    pub units: Vec<Option<String>>,
    /// The values.
    pub columns: Vec<Vec<f64>>,
}

impl WholeTable {
    /// Reads a file, CSV or Parquet by its ending. The error names the file, and the line where it has lines.
    pub fn read(path: &Path) -> Result<Self, String> {
        let heads = columns(path).map_err(|error| error.to_string())?;
        let wanted: Vec<usize> = (1..heads.len()).collect();
        let mut rows = open(path, &wanted).map_err(|error| error.to_string())?;
        let mut table = Self {
            names: heads.iter().map(|head| head.name.clone()).collect(),
            units: heads.iter().map(|head| head.unit.clone()).collect(),
            columns: vec![Vec::new(); heads.len()],
        };
        let mut row = vec![0.0; heads.len()];
        while rows.next(&mut row).map_err(|error| error.to_string())? {
            for (column, value) in table.columns.iter_mut().zip(&row) {
                column.push(*value);
            }
            if table.columns[0].len() * heads.len() > MOST_NUMBERS {
                let shown = path.display();
                return Err(format!(
                    "{shown}: the table is too large to be compared with"
                ));
            }
        }
        Ok(table)
    }
}
