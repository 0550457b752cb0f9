//! The table of a study as a Parquet file, made of all rows at once.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::row::{Columns, Row};

/// Writes a table with the columns of the text file; what is empty there is null here.
pub fn write_parquet(path: &Path, columns: &Columns, rows: &[Row]) -> io::Result<()> {
    // Whoever reads the file meanwhile sees the old one.
    let incomplete = path.with_extension("parquet.part");
    write(BufWriter::new(File::create(&incomplete)?), columns, rows).map_err(io::Error::other)?;
    std::fs::rename(incomplete, path)
}

fn write<W: io::Write + Send>(
    writer: W,
    columns: &Columns,
    rows: &[Row],
) -> Result<(), ParquetError> {
    let mut file = SerializedFileWriter::new(writer, schema(columns)?, Arc::default())?;
    let mut group = file.next_row_group()?;
    let numbers: Vec<Option<i64>> = rows.iter().map(|row| Some(row.run as i64 + 1)).collect();
    column::<Int64Type, _>(&mut group, &numbers)?;
    for place in 0..columns.varied.len() {
        let values: Vec<Option<f64>> = rows.iter().map(|row| Some(row.point[place])).collect();
        column::<DoubleType, _>(&mut group, &values)?;
    }
    for place in 0..columns.kept.len() {
        let kept = |row: &Row| row.outcome.as_ref().ok().map(|(values, _)| values[place]);
        let values: Vec<Option<f64>> = rows.iter().map(kept).collect();
        column::<DoubleType, _>(&mut group, &values)?;
    }
    for text in [Row::status, Row::verdict, Row::reason] {
        let texts = rows.iter().map(|row| text(row).map(ByteArray::from));
        column::<ByteArrayType, _>(&mut group, &texts.collect::<Vec<_>>())?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

/// One column: what is not null, and where that is.
fn column<D: DataType<T = T>, T: Clone>(
    group: &mut SerializedRowGroupWriter<'_, impl io::Write + Send>,
    values: &[Option<T>],
) -> Result<(), ParquetError> {
    let there: Vec<T> = values.iter().flatten().cloned().collect();
    let levels: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let column = group.next_column()?;
    let mut column = column.expect("BUG: the schema has this column");
    column
        .typed::<D>()
        .write_batch(&there, Some(&levels), None)?;
    column.close()
}

fn schema(columns: &Columns) -> Result<TypePtr, ParquetError> {
    let numbers = columns.varied.iter().chain(&columns.kept);
    let mut fields = vec![field("run", PhysicalType::INT64, None)?];
    for name in numbers {
        fields.push(field(name, PhysicalType::DOUBLE, None)?);
    }
    for name in ["status", "verdict", "reason"] {
        fields.push(field(
            name,
            PhysicalType::BYTE_ARRAY,
            Some(LogicalType::String),
        )?);
    }
    let table = Type::group_type_builder("runs").with_fields(fields);
    table.build().map(Arc::new)
}

fn field(
    name: &str,
    physical: PhysicalType,
    logical: Option<LogicalType>,
) -> Result<TypePtr, ParquetError> {
    let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
    field
        .with_repetition(Repetition::OPTIONAL)
        .build()
        .map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    #[test]
    fn what_is_read_back_is_what_was_written() {
        let columns = Columns {
            varied: vec!["a.x".into()],
            kept: vec!["final(a.y)".into()],
        };
        let rows = [
            Row {
                run: 0,
                point: vec![0.5],
                outcome: Ok((vec![1.0 / 3.0], "good".into())),
            },
            Row {
                run: 1,
                point: vec![-2.0],
                outcome: Err("it failed".into()),
            },
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.parquet");
        write_parquet(&path, &columns, &rows).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let read: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                row.unwrap()
                    .get_column_iter()
                    .map(|(_, field)| field.clone())
                    .collect()
            })
            .collect();
        let text = |text: &str| Field::Str(text.into());
        let known = [
            vec![
                Field::Long(1),
                Field::Double(0.5),
                Field::Double(1.0 / 3.0),
                text("ok"),
                text("good"),
                Field::Null,
            ],
            vec![
                Field::Long(2),
                Field::Double(-2.0),
                Field::Null,
                text("failed"),
                Field::Null,
                text("it failed"),
            ],
        ];
        assert_eq!(read, known);
    }
}
