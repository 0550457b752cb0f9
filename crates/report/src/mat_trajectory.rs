//! Results as a MAT file of level 4, laid out like the result files of Modelica tools: `Aclass`, `name`, `description`,
//! `dataInfo`, `data_1` (what is constant; here the first and the last time) and `data_2` (what changes, with the time first).

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use crate::mat_file::MatFile;
use crate::sink::Sink;
use crate::variables::Selection;

/// After so many rows the file is made whole: what it holds can be read whatever becomes of the program.
const ROWS_BETWEEN_SAVES: u64 = 1024;
/// Where in the header of a matrix its number of columns is.
const COLUMNS_FIELD: u64 = 8;
/// The header of a matrix with a name of six letters: five integers, the name and a zero.
const HEADER: u64 = 5 * 4 + 7;

/// Writes rows as they come. Each is a column of `data_2`, whose header is put right now and then and at the end.
pub struct MatTrajectory<W: Write + Seek> {
    writer: W,
    /// Where the header of `data_1` is; that of `data_2` follows its two numbers.
    constants: u64,
    rows: u64,
    times: [f64; 2],
}

impl MatTrajectory<BufWriter<File>> {
    /// Creates the file, or empties one that exists.
    pub fn create(path: impl AsRef<Path>, selection: &Selection) -> io::Result<Self> {
        let file = File::create(path)?;
        Self::new(BufWriter::with_capacity(1 << 16, file), selection)
    }
}

impl<W: Write + Seek> MatTrajectory<W> {
    /// Writes what is known before the first row.
    pub fn new(mut writer: W, selection: &Selection) -> io::Result<Self> {
        let variables = selection.variables();
        let names = variables.iter().map(|variable| variable.name.as_str());
        let names: Vec<&str> = std::iter::once("Time").chain(names).collect();
        let units = variables.iter().map(|variable| match &variable.unit {
            Some(unit) => format!("[{unit}]"),
            None => String::new(),
        });
        let descriptions: Vec<String> =
            std::iter::once("Time in [s]".into()).chain(units).collect();
        let mut file = MatFile::new(&mut writer);
        file.text_rows("Aclass", &["Atrajectory", "1.1", "", "binTrans"])?;
        file.text_columns("name", &names)?;
        file.text_columns("description", &descriptions)?;
        file.integers("dataInfo", 4, &places(names.len())?)?;
        file.close()?;

        let constants = writer.stream_position()?;
        let mut file = MatFile::new(&mut writer);
        file.matrix("data_1", 1, &[0.0; 2])?;
        file.announce("data_2", names.len())?;
        file.close()?;
        Ok(Self {
            writer,
            constants,
            rows: 0,
            times: [0.0; 2],
        })
    }

    /// Makes the file whole: whoever reads it finds all rows so far.
    fn save(&mut self) -> io::Result<()> {
        let rows = i32::try_from(self.rows).map_err(|_| {
            io::Error::other("a MAT file of level 4 holds 2147483647 rows at most: write CSV")
        })?;
        self.writer.seek(SeekFrom::Start(self.constants + HEADER))?;
        for time in self.times {
            self.writer.write_all(&time.to_le_bytes())?;
        }
        let second = self.constants + HEADER + 16;
        self.writer.seek(SeekFrom::Start(second + COLUMNS_FIELD))?;
        self.writer.write_all(&rows.to_le_bytes())?;
        self.writer.seek(SeekFrom::End(0))?;
        Ok(())
    }
}

/// For each name: in which matrix it is (the time is in both, which 0 says), in which row, that it is interpolated linearly,
/// and that nothing is known beyond the ends.
fn places(names: usize) -> io::Result<Vec<i32>> {
    let mut all = vec![0, 1, 0, -1];
    for row in 2..=names {
        let row = i32::try_from(row).map_err(io::Error::other)?;
        all.extend([2, row, 0, -1]);
    }
    Ok(all)
}

impl<W: Write + Seek> Sink for MatTrajectory<W> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        if self.rows == 0 {
            self.times[0] = time;
        }
        self.times[1] = time;
        self.writer.write_all(&time.to_le_bytes())?;
        for value in values {
            self.writer.write_all(&value.to_le_bytes())?;
        }
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_BETWEEN_SAVES) {
            self.save()?;
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        self.save()?;
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::recorder::tests::spring_and_mass;
    use crate::variables::Variables;

    /// The matrices of a file: name, rows, columns and bytes.
    fn matrices(bytes: &[u8]) -> Vec<(String, usize, usize, Vec<u8>)> {
        let mut all = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let field = |i: usize| i32::from_le_bytes(rest[4 * i..4 * i + 4].try_into().unwrap());
            let (rows, columns, name) = (field(1) as usize, field(2) as usize, field(4) as usize);
            let size = match field(0) {
                0 => 8,
                20 => 4,
                _ => 1,
            };
            let text = String::from_utf8(rest[20..20 + name - 1].to_vec()).unwrap();
            let end = 20 + name + rows * columns * size;
            all.push((text, rows, columns, rest[20 + name..end].to_vec()));
            rest = &rest[end..];
        }
        all
    }

    fn doubles(bytes: &[u8]) -> Vec<f64> {
        let eights = bytes.chunks(8);
        eights
            .map(|eight| f64::from_le_bytes(eight.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn rows_are_columns_of_the_second_matrix() {
        let selection = Variables::of(&spring_and_mass());
        let selection = selection
            .select(&["spring.x".into(), "mass.x".into()])
            .unwrap();
        let mut file = MatTrajectory::new(Cursor::new(Vec::new()), &selection).unwrap();
        for n in 0..3000 {
            let time = f64::from(n);
            file.row(time, &[2.0 * time, -time]).unwrap();
        }
        file.close().unwrap();
        let all = matrices(file.writer.get_ref());
        let names: Vec<&str> = all.iter().map(|matrix| matrix.0.as_str()).collect();
        let known = [
            "Aclass",
            "name",
            "description",
            "dataInfo",
            "data_1",
            "data_2",
        ];
        assert_eq!(names, known);
        assert_eq!(all[1].3, b"Time\0\0\0\0spring.xmass.x\0\0");
        assert_eq!(doubles(&all[4].3), [0.0, 2999.0]);
        assert_eq!((all[5].1, all[5].2), (3, 3000));
        assert_eq!(doubles(&all[5].3)[3 * 2999..], [2999.0, 5998.0, -2999.0]);
    }

    #[test]
    fn a_run_without_rows_leaves_a_file_that_can_be_read() {
        let selection = Variables::of(&spring_and_mass()).everything();
        let mut file = MatTrajectory::new(Cursor::new(Vec::new()), &selection).unwrap();
        file.close().unwrap();
        assert_eq!(matrices(file.writer.get_ref())[5].2, 0);
    }
}
