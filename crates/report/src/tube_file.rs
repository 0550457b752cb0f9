//! Proved boxes as comma-separated text.

use std::io::{self, Write};

use dovetail_guaranteed::Interval;

use crate::csv_file::write_field;

/// Writes `t0,t1,system.state.lo,system.state.hi,…` and then a line for each box, as it comes: with
/// `t0 = t1` it holds at that instant, otherwise throughout `t0..=t1`.
///
/// Numbers have 17 digits, so that they read back to the same `f64` with any reader: a bound that
/// is rounded is no bound.
pub struct TubeFile<W: Write> {
    writer: W,
}

impl<W: Write> TubeFile<W> {
    /// Writes to `writer`, the header at once. Give it a buffered one: every number is a small
    /// write.
    pub fn new(mut writer: W, names: &[String]) -> io::Result<Self> {
        writer.write_all(b"t0,t1")?;

        for name in names {
            for bound in ["lo", "hi"] {
                writer.write_all(b",")?;
                write_field(&mut writer, &format!("{name}.{bound}"))?;
            }
        }

        writer.write_all(b"\n")?;
        Ok(Self { writer })
    }

    /// All states lie in `states` throughout `from..=to`.
    pub fn row(&mut self, from: f64, to: f64, states: &[Interval]) -> io::Result<()> {
        write!(self.writer, "{from:.16e},{to:.16e}")?;

        for state in states {
            write!(self.writer, ",{:.16e},{:.16e}", state.lo, state.hi)?;
        }
        self.writer.write_all(b"\n")
    }

    /// There are no more rows: those that were given are written, not only buffered.
    pub fn close(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(names: &[&str], rows: &[(f64, f64, &[Interval])]) -> String {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let mut bytes = vec![];
        let mut file = TubeFile::new(&mut bytes, &names).unwrap();
        rows.iter()
            .for_each(|(from, to, states)| file.row(*from, *to, states).unwrap());
        file.close().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn instants_and_tubes_have_17_digits() {
        let states = [Interval::new(0.1, 0.25)];
        let expected = "t0,t1,a.x.lo,a.x.hi\n\
                        0.0000000000000000e0,0.0000000000000000e0,1.0000000000000001e-1,2.5000000000000000e-1\n\
                        0.0000000000000000e0,5.0000000000000000e-1,1.0000000000000001e-1,2.5000000000000000e-1\n";
        assert_eq!(
            written(&["a.x"], &[(0.0, 0.0, &states), (0.0, 0.5, &states)]),
            expected
        );
    }

    proptest! {
        #[test]
        fn every_bound_reads_back_to_the_same_bits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let bounds = [Interval { lo: value, hi: value }];
            let text = written(&["a.x"], &[(value, value, &bounds)]);
            for field in text.lines().nth(1).unwrap().split(',') {
                let read: f64 = field.parse().unwrap();
                prop_assert!(read.to_bits() == bits || read.is_nan() && value.is_nan());
            }
        }
    }
}
