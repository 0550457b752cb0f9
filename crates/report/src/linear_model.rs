//! A linearized model: as JSON, as a MAT file, and as text.

use std::f64::consts::PI;
use std::io::{self, Write};

use nalgebra::DMatrix;
use serde_json::{Value, json};

use crate::mat_file::MatFile;
use crate::number::{brief, significant};
use crate::table::{Alignment, Table};
use crate::text::labeled_lines;

/// The text shows so many eigenvalues.
const MOST_ROWS: usize = 40;

/// `x' = A x + B u`, `y = C x + D u` near where a model stood.
#[derive(Clone, Debug)]
pub struct LinearModel {
    /// Of the engine.
    pub version: String,
    /// The name of the model.
    pub model: String,
    /// Where it was linearized.
    pub time: f64,
    /// Names of the states, `system.name`.
    pub states: Vec<String>,
    /// Names of the open inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// By the states.
    pub a: DMatrix<f64>,
    /// By the inputs.
    pub b: DMatrix<f64>,
    /// The outputs by the states.
    pub c: DMatrix<f64>,
    /// The outputs by the inputs.
    pub d: DMatrix<f64>,
    /// Real and imaginary parts, sorted.
    pub eigenvalues: Vec<(f64, f64)>,
    /// The states there.
    pub state_values: Vec<f64>,
    /// The largest derivative of a state there, and whose it is; none where the model is at rest.
    pub fastest: Option<(String, f64)>,
    /// What the matrices leave out.
    pub notes: Vec<String>,
}

impl LinearModel {
    /// One object; matrices are arrays of rows.
    pub fn to_json(&self) -> Value {
        let values = self.eigenvalues.iter();
        let eigenvalues = values.map(|&(re, im)| json!({ "re": re, "im": im }));

        json!({
            "version": self.version,
            "model": self.model,
            "time": self.time,
            "states": self.states,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "A": rows(&self.a),
            "B": rows(&self.b),
            "C": rows(&self.c),
            "D": rows(&self.d),
            "eigenvalues": eigenvalues.collect::<Vec<_>>(),
            "state_values": self.state_values,
            "notes": self.notes,
        })
    }

    /// As a MAT file of level 4: the matrices, and the names as rows of characters.
    pub fn write_mat(&self, writer: impl Write) -> io::Result<()> {
        let mut file = MatFile::new(writer);
        file.matrix("time", 1, &[self.time])?;
        let matrices = [
            ("A", &self.a),
            ("B", &self.b),
            ("C", &self.c),
            ("D", &self.d),
        ];
        for (name, matrix) in matrices {
            file.matrix(name, matrix.nrows(), matrix.as_slice())?;
        }
        file.complex_column("eigenvalues", &self.eigenvalues)?;
        file.matrix("state_values", self.state_values.len(), &self.state_values)?;
        file.text_rows("states", &self.states)?;
        file.text_rows("inputs", &self.inputs)?;
        file.text_rows("outputs", &self.outputs)?;
        file.close()
    }

    /// The eigenvalues, with what they mean.
    pub fn to_text(&self) -> String {
        let headline = format!(
            "{}, linearized at t = {} s: {}, {}, {}\n",
            self.model,
            brief(self.time),
            counted(self.states.len(), "state"),
            counted(self.inputs.len(), "open input"),
            counted(self.outputs.len(), "output"),
        );
        let notes = labeled_lines("note", &self.notes);
        format!(
            "{headline}{}{}{}{notes}",
            self.table(),
            self.stability(),
            self.rest()
        )
    }

    fn table(&self) -> String {
        if self.eigenvalues.is_empty() {
            return String::new();
        }
        let right = Alignment::Right;
        let mut table = Table::new(&[
            ("eigenvalue [1/s]", right),
            ("time constant [s]", right),
            ("frequency [Hz]", right),
            ("damping", right),
        ]);
        // One row for both of a pair.
        let shown = self.eigenvalues.iter().filter(|(_, im)| *im >= 0.0);
        let count = shown.clone().count();
        for &value in shown.take(MOST_ROWS) {
            table.row(cells(value, self.rounding()));
        }

        let rest = count.saturating_sub(MOST_ROWS);
        let more = match rest {
            0 => String::new(),
            rest => format!("  … and {rest} more\n"),
        };
        format!("\n{}{more}\n", table.render("  "))
    }

    /// Eigenvalues this near to zero are zero but for rounding.
    fn rounding(&self) -> f64 {
        let sizes = self.eigenvalues.iter().map(|(re, im)| re.hypot(*im));
        1e-13 * sizes.fold(0.0, f64::max)
    }

    fn stability(&self) -> String {
        let growing = self.eigenvalues.iter();
        let growing = growing.filter(|(re, _)| *re > self.rounding()).count();
        match growing {
            _ if self.eigenvalues.is_empty() => "no states: no eigenvalues\n".to_owned(),
            0 => "no eigenvalue has a positive real part\n".to_owned(),
            1 => "one eigenvalue has a positive real part: small deviations grow\n".to_owned(),
            many => format!("{many} eigenvalues have positive real parts: small deviations grow\n"),
        }
    }

    /// Whether the model is at rest where it was linearized.
    fn rest(&self) -> String {
        match &self.fastest {
            Some((state, rate)) if *rate != 0.0 => format!(
                "the model moves there: the largest derivative is that of `{state}`, {}\n",
                significant(*rate, 4)
            ),
            _ => "the model is at rest there\n".to_owned(),
        }
    }
}

fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    let rows = matrix.row_iter();
    rows.map(|row| row.iter().copied().collect()).collect()
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The eigenvalue, and what it means in time.
fn cells((re, im): (f64, f64), rounding: f64) -> Vec<String> {
    let re = if re.abs() <= rounding { 0.0 } else { re };
    let size = re.hypot(im);
    let shown = match im {
        0.0 => significant(re, 6),
        _ => format!("{} ± {}i", significant(re, 6), significant(im, 6)),
    };
    let time_constant = match re {
        0.0 => "∞".to_owned(),
        _ => significant(-1.0 / re, 5),
    };
    let (frequency, damping) = match im {
        0.0 => (String::new(), String::new()),
        _ => (significant(im / (2.0 * PI), 5), significant(-re / size, 4)),
    };
    vec![shown, time_constant, frequency, damping]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oscillator() -> LinearModel {
        LinearModel {
            version: "0".into(),
            model: "oscillator".into(),
            time: 0.5,
            states: vec!["s.x".into(), "s.v".into()],
            inputs: vec![],
            outputs: vec!["s.y".into()],
            a: DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -25.0, -6.0]),
            b: DMatrix::zeros(2, 0),
            c: DMatrix::from_row_slice(1, 2, &[1.0, 0.0]),
            d: DMatrix::zeros(1, 0),
            eigenvalues: vec![(-3.0, -4.0), (-3.0, 4.0)],
            state_values: vec![1.0, 2.0],
            fastest: Some(("s.x".into(), 2.0)),
            notes: vec!["a note".into()],
        }
    }

    #[test]
    fn json_has_rows() {
        let value = oscillator().to_json();
        assert_eq!(value["A"], json!([[0.0, 1.0], [-25.0, -6.0]]));
        assert_eq!(value["B"], json!([[], []]));
        assert_eq!(value["eigenvalues"][1], json!({ "re": -3.0, "im": 4.0 }));
    }

    #[test]
    fn text_says_what_eigenvalues_mean() {
        let text = oscillator().to_text();
        for words in [
            "-3.00000 ± 4.00000i",
            "0.33333",
            "0.63662",
            "0.6000",
            "no eigenvalue has a positive real part",
            "`s.x`, 2.000",
            "a note",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
