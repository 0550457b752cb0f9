//! What numbers are like: their unit, their typical size, their bounds.

use super::findings::DescriptionError;
use super::xml::Element;

/// Attributes of the types of numbers and of their variables.
pub(super) const LIMITS: &[&str] = &[
    "quantity",
    "unit",
    "displayUnit",
    "relativeQuantity",
    "unbounded",
    "nominal",
    "min",
    "max",
];

/// The typical size of a number and its bounds, as far as given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DescriptionLimits {
    pub(super) nominal: Option<f64>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}

/// Reads `nominal`, `min` and `max`; those that make no sense are left out with a warning.
pub(super) fn read(element: Element<'_>) -> Result<DescriptionLimits, DescriptionError> {
    let nominal = nominal(element)?;
    let min = element.float("min")?;
    let max = element.float("max")?;

    if let (Some(low), Some(high)) = (min, max)
        && low > high
    {
        element.departure(format!(
            "`min` is `{low}` and `max` is `{high}`, which no value satisfies; both are ignored"
        ))?;
        return Ok(DescriptionLimits {
            nominal,
            min: None,
            max: None,
        });
    }
    Ok(DescriptionLimits { nominal, min, max })
}

fn nominal(element: Element<'_>) -> Result<Option<f64>, DescriptionError> {
    match element.float("nominal")? {
        Some(nominal) if nominal > 0.0 && nominal.is_finite() => Ok(Some(nominal)),
        Some(nominal) => {
            element.departure(format!(
                "`nominal` is `{nominal}`, where a positive number was expected"
            ))?;
            Ok(Some(nominal.abs()).filter(|nominal| *nominal > 0.0 && nominal.is_finite()))
        }
        None => Ok(None),
    }
}
