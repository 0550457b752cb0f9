//! Columns of numbers in the data of a page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A column as base64 of its numbers, each as eight bytes, least first: nothing is rounded, and numbers that are none pass.
pub(crate) fn encoded(values: &[f64]) -> Value {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    json!({ "f64": STANDARD.encode(bytes) })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The numbers of a column.
    pub(crate) fn decoded(column: &Value) -> Vec<f64> {
        let bytes = STANDARD
            .decode(column["f64"].as_str().expect("text"))
            .expect("base64");
        let numbers = bytes.chunks_exact(8);
        numbers
            .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
            .collect()
    }

    #[test]
    fn columns_come_back_to_the_last_bit() {
        let column = [
            1.0 / 3.0,
            -0.0,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            999_999.999_999,
        ];
        let back = decoded(&encoded(&column));
        assert_eq!(back.map_bits(), column.to_vec().map_bits());
        assert!(decoded(&encoded(&[f64::NAN]))[0].is_nan());
    }

    trait Bits {
        fn map_bits(&self) -> Vec<u64>;
    }

    impl Bits for Vec<f64> {
        fn map_bits(&self) -> Vec<u64> {
            self.iter().map(|value| value.to_bits()).collect()
        }
    }
}
