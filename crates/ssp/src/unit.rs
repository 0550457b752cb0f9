//! Units: what a number measures, and how to say it in another unit of the same kind.

/// The SI base units whose exponents a unit has, in this order.
pub const BASE_UNITS: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// A unit as a file defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitDef {
    /// Its name, which means something only together with the definition.
    pub name: String,
    /// What it measures; missing where a file names a unit that it does not define.
    pub base: Option<BaseUnit>,
}

/// A unit in terms of the SI: `base value = factor · value + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseUnit {
    /// Exponents of [`BASE_UNITS`].
    pub exponents: [i32; 8],
    /// Base units in one of this.
    pub factor: f64,
    /// Base value of this unit's zero.
    pub offset: f64,
}

/// Two units that do not measure the same thing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{from}` and `{to}` measure different things")]
pub struct UnitMismatch {
    /// The unit of the value.
    pub from: String,
    /// The unit that was asked for.
    pub to: String,
}

impl UnitDef {
    /// Factor and offset that take a value of this unit to one of `target`.
    ///
    /// A unit without definition is taken as the other where it has its name, and as unknown
    /// otherwise: no conversion.
    pub fn conversion(&self, target: &UnitDef) -> Result<(f64, f64), UnitMismatch> {
        let (Some(from), Some(to)) = (self.base, target.base) else {
            return Ok((1.0, 0.0));
        };
        if from.exponents != to.exponents {
            return Err(UnitMismatch {
                from: self.name.clone(),
                to: target.name.clone(),
            });
        }
        if from == to {
            return Ok((1.0, 0.0)); // not left to rounding
        }

        Ok((
            from.factor / to.factor,
            (from.offset - to.offset) / to.factor,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kelvin(name: &str, factor: f64, offset: f64) -> UnitDef {
        UnitDef {
            name: name.into(),
            base: Some(BaseUnit {
                exponents: [0, 0, 0, 0, 1, 0, 0, 0],
                factor,
                offset,
            }),
        }
    }

    #[test]
    fn degrees_are_converted_through_the_base_unit() {
        let (celsius, fahrenheit) = (
            kelvin("degC", 1.0, 273.15),
            kelvin("degF", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
        );
        let (factor, offset) = celsius.conversion(&fahrenheit).unwrap();
        assert!((factor * 100.0 + offset - 212.0).abs() < 1e-9);
        assert_eq!(celsius.conversion(&celsius), Ok((1.0, 0.0)));
    }

    #[test]
    fn a_length_is_no_temperature() {
        let meter = UnitDef {
            name: "m".into(),
            base: Some(BaseUnit {
                exponents: [0, 1, 0, 0, 0, 0, 0, 0],
                factor: 1.0,
                offset: 0.0,
            }),
        };
        let mismatch = meter.conversion(&kelvin("K", 1.0, 0.0)).unwrap_err();
        assert_eq!((mismatch.from.as_str(), mismatch.to.as_str()), ("m", "K"));
    }
}
