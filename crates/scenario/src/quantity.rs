//! Numbers with a unit of measure after them, as users set them: `500 ms`.

use dovetail_core::Mapping;
use dovetail_fmi::description::{Description, UnitDefinition, Value};

use crate::fmu::unit_of_measure::conversion;
use crate::units::unit_named;

/// The unit of a variable.
pub(crate) struct OwnUnit<'a> {
    pub name: &'a str,
    /// What it is made of, where somebody says; else it is looked up by its name.
    pub definition: Option<&'a UnitDefinition>,
    /// Whether the variable is a difference, to which offsets do not apply.
    pub relative: bool,
}

impl<'a> OwnUnit<'a> {
    /// A unit of which only the name is known.
    pub fn named(name: &'a str) -> Self {
        Self {
            name,
            definition: None,
            relative: false,
        }
    }

    /// From numbers in the unit `given` to those of the variable `qualified`, whose unit this is.
    pub fn mapping_from(&self, given: &str, qualified: &str) -> Result<Mapping, String> {
        let own = self.name;
        if own == given {
            return Ok(Mapping::Identity);
        }
        let from = unit_named(given).ok_or_else(|| format!("`{given}` is not a known unit"))?;
        let defined = self.definition.filter(|unit| unit.exponents.is_some());
        let to = defined.cloned().or_else(|| unit_named(own));
        let to =
            to.ok_or_else(|| format!("`{own}`, the unit of `{qualified}`, is not a known unit"))?;
        let found = conversion(&from, &to, self.relative);
        found.ok_or_else(|| format!("it is in {given}, but `{qualified}` is in {own}"))
    }
}

/// The number and the unit of a text such as `500 ms`; nothing where it is something else.
pub(crate) fn quantity(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = text.trim().split_once(char::is_whitespace)?;
    let number = number.parse().ok()?;
    Some((number, unit.trim()))
}

/// What is said of a value that cannot be converted, since its variable has no unit.
pub(crate) fn taken_as_it_is(qualified: &str, unit: &str) -> String {
    format!("`{qualified}` has no unit: its value in {unit} is taken as it is")
}

/// Numbers with units among the values of an FMU, in the units of their variables. What is to be said of them.
pub(crate) fn convert_values(
    system: &str,
    description: &Description,
    values: &mut [(String, Vec<Value>)],
) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    for (name, elements) in values {
        let [Value::String(text)] = &elements[..] else {
            continue;
        };
        let mut variables = description.variables.iter();
        let variable = variables.find(|variable| variable.name == *name);
        let real = variable.filter(|variable| variable.value_type.is_float());
        let (Some(variable), Some((number, unit))) = (real, quantity(text)) else {
            continue;
        };
        let qualified = format!("{system}.{name}");
        let own = variable.unit.as_ref().map(|own| OwnUnit {
            name: own,
            definition: description.units.iter().find(|unit| unit.name == *own),
            relative: variable.relative,
        });
        let value = match own {
            Some(own) => {
                let mapping = own.mapping_from(unit, &qualified);
                mapping
                    .map_err(|what| format!("`{name}` = {text}: {what}"))?
                    .value(number)
            }
            None => {
                warnings.push(taken_as_it_is(&qualified, unit));
                number
            }
        };
        *elements = vec![Value::Float(value)];
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_a_number_and_a_unit() {
        assert_eq!(quantity("500 ms"), Some((500.0, "ms")));
        assert_eq!(quantity(" -1e3\tkg.m / s "), Some((-1e3, "kg.m / s")));
        for text in ["500", "ms", "500ms", "two ms", "[1, 2]", ""] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }
}
