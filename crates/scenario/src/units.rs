//! Units of measure by their names: SI units with prefixes, and those that engineers use beside them.
//!
//! A unit is a product: `N.m`, `kW.h`, `kg/m3`, `m/s^2`, `1/min`. `Nm` is `N.m` too. The unit of a number is a definition like
//! those that FMUs have, so that both are converted in the same way.

use dovetail_fmi::description::UnitDefinition;

/// Exponents of kg, m, s, A, K, mol, cd, rad.
type Exponents = [i32; 8];

/// A unit by its name: what it measures, and how much of the base units it is.
struct Known {
    name: &'static str,
    exponents: Exponents,
    factor: f64,
    /// Whether `k`, `m` and so on may stand before it.
    prefixed: bool,
}

const fn known(name: &'static str, exponents: Exponents, factor: f64, prefixed: bool) -> Known {
    Known {
        name,
        exponents,
        factor,
        prefixed,
    }
}

const MASS: Exponents = [1, 0, 0, 0, 0, 0, 0, 0];
const LENGTH: Exponents = [0, 1, 0, 0, 0, 0, 0, 0];
const TIME: Exponents = [0, 0, 1, 0, 0, 0, 0, 0];
const ANGLE: Exponents = [0, 0, 0, 0, 0, 0, 0, 1];
const TEMPERATURE: Exponents = [0, 0, 0, 0, 1, 0, 0, 0];
const VOLUME: Exponents = [0, 3, 0, 0, 0, 0, 0, 0];
const NUMBER: Exponents = [0; 8];
const SPEED: Exponents = [0, 1, -1, 0, 0, 0, 0, 0];
const ANGULAR_SPEED: Exponents = [0, 0, -1, 0, 0, 0, 0, 1];
const FORCE: Exponents = [1, 1, -2, 0, 0, 0, 0, 0];
const PRESSURE: Exponents = [1, -1, -2, 0, 0, 0, 0, 0];
const ENERGY: Exponents = [1, 2, -2, 0, 0, 0, 0, 0];
const POWER: Exponents = [1, 2, -3, 0, 0, 0, 0, 0];

const PI: f64 = std::f64::consts::PI;

const UNITS: [Known; 65] = [
    known("g", MASS, 1e-3, true),
    known("t", MASS, 1e3, false),
    known("lb", MASS, 0.453_592_37, false),
    known("m", LENGTH, 1.0, true),
    known("in", LENGTH, 0.0254, false),
    known("ft", LENGTH, 0.3048, false),
    known("mi", LENGTH, 1609.344, false),
    known("s", TIME, 1.0, true),
    known("min", TIME, 60.0, false),
    known("sec", TIME, 1.0, false),
    known("h", TIME, 3600.0, false),
    known("hr", TIME, 3600.0, false),
    known("d", TIME, 86400.0, false),
    known("A", [0, 0, 0, 1, 0, 0, 0, 0], 1.0, true),
    known("K", TEMPERATURE, 1.0, true),
    known("mol", [0, 0, 0, 0, 0, 1, 0, 0], 1.0, true),
    known("cd", [0, 0, 0, 0, 0, 0, 1, 0], 1.0, true),
    known("rad", ANGLE, 1.0, true),
    known("deg", ANGLE, PI / 180.0, false),
    known("degree", ANGLE, PI / 180.0, false),
    known("°", ANGLE, PI / 180.0, false),
    known("rev", ANGLE, 2.0 * PI, false),
    known("rpm", ANGULAR_SPEED, PI / 30.0, false),
    known("RPM", ANGULAR_SPEED, PI / 30.0, false),
    known("Hz", [0, 0, -1, 0, 0, 0, 0, 0], 1.0, true),
    known("1", NUMBER, 1.0, false),
    known("-", NUMBER, 1.0, false),
    known("%", NUMBER, 0.01, false),
    known("ppm", NUMBER, 1e-6, false),
    known("kph", SPEED, 1.0 / 3.6, false),
    known("kmh", SPEED, 1.0 / 3.6, false),
    known("mph", SPEED, 0.44704, false),
    known("kn", SPEED, 1852.0 / 3600.0, false),
    known("N", FORCE, 1.0, true),
    known("lbf", FORCE, 4.448_221_615_260_5, false),
    known("Pa", PRESSURE, 1.0, true),
    known("bar", PRESSURE, 1e5, true),
    known("atm", PRESSURE, 101_325.0, false),
    known("mmHg", PRESSURE, 133.322_387_415, false),
    known("psi", PRESSURE, 6_894.757_293_168_361, false),
    known("J", ENERGY, 1.0, true),
    known("Wh", ENERGY, 3600.0, true),
    known("eV", ENERGY, 1.602_176_634e-19, true),
    known("cal", ENERGY, 4.184, true),
    known("W", POWER, 1.0, true),
    known("hp", POWER, 745.699_871_582_270_2, false),
    known("PS", POWER, 735.498_75, false),
    known("C", [0, 0, 1, 1, 0, 0, 0, 0], 1.0, true),
    known("Ah", [0, 0, 1, 1, 0, 0, 0, 0], 3600.0, true),
    known("V", [1, 2, -3, -1, 0, 0, 0, 0], 1.0, true),
    known("Ohm", [1, 2, -3, -2, 0, 0, 0, 0], 1.0, true),
    known("ohm", [1, 2, -3, -2, 0, 0, 0, 0], 1.0, true),
    known("Ω", [1, 2, -3, -2, 0, 0, 0, 0], 1.0, true),
    known("S", [-1, -2, 3, 2, 0, 0, 0, 0], 1.0, true),
    known("F", [-1, -2, 4, 2, 0, 0, 0, 0], 1.0, true),
    known("H", [1, 2, -2, -2, 0, 0, 0, 0], 1.0, true),
    known("Wb", [1, 2, -2, -1, 0, 0, 0, 0], 1.0, true),
    known("T", [1, 0, -2, -1, 0, 0, 0, 0], 1.0, true),
    known("l", VOLUME, 1e-3, true),
    known("L", VOLUME, 1e-3, true),
    known("gal", VOLUME, 3.785_411_784e-3, false),
    known("lm", [0, 0, 0, 0, 0, 0, 1, 0], 1.0, true),
    known("lx", [0, -2, 0, 0, 0, 0, 1, 0], 1.0, true),
    known("P", [1, -1, -1, 0, 0, 0, 0, 0], 0.1, true),
    known("Nm", ENERGY, 1.0, true),
];

/// Temperatures whose zero is not that of the kelvin: factor and offset.
const TEMPERATURES: [(&str, f64, f64); 5] = [
    ("degC", 1.0, 273.15),
    ("°C", 1.0, 273.15),
    ("Celsius", 1.0, 273.15),
    ("degF", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
    ("°F", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
];

const PREFIXES: [(&str, f64); 13] = [
    ("da", 1e1),
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("h", 1e2),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    // The sign for micro, and the Greek letter.
    ("\u{b5}", 1e-6),
    ("\u{3bc}", 1e-6),
    ("n", 1e-9),
];

/// What a unit of this name is, if it is known.
pub(crate) fn unit_named(name: &str) -> Option<UnitDefinition> {
    let text = name.trim();
    let definition = |exponents, factor, offset| UnitDefinition {
        name: text.to_owned(),
        exponents: Some(exponents),
        factor,
        offset,
    };
    if let Some((_, factor, offset)) = TEMPERATURES.iter().find(|(known, ..)| *known == text) {
        return Some(definition(TEMPERATURE, *factor, *offset));
    }

    let mut exponents = [0; 8];
    let mut factor = 1.0;
    for (sign, part) in factors(text)? {
        let (symbol, power) = split_power(part)?;
        let (own, size) = symbol_named(symbol)?;
        let power = sign * power;
        for (sum, exponent) in exponents.iter_mut().zip(own) {
            *sum += power * exponent;
        }
        factor *= size.powi(power);
    }
    Some(definition(exponents, factor, 0.0))
}

/// The parts of a product, each with the sign of its exponent; after a slash all of a pair of parentheses, or one.
fn factors(text: &str) -> Option<Vec<(i32, &str)>> {
    let mut all = Vec::new();
    let mut sign = 1;
    for (number, quotient) in text.split('/').enumerate() {
        let part = quotient.trim();
        let inside = part
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let part = inside.unwrap_or(part);
        if number > 0 {
            sign = -1;
        }
        // `J/kg.K` is read as most people mean it, J/(kg.K).
        for factor in part.split(['.', '*', '·', ' ']) {
            let factor = factor.trim();
            if factor.is_empty() {
                return None;
            }
            all.push((sign, factor));
        }
    }
    Some(all)
}

/// `m2`, `m^2`, `s-1` and `m²` as symbol and exponent.
fn split_power(part: &str) -> Option<(&str, i32)> {
    if let Some(symbol) = part.strip_suffix('²') {
        return Some((symbol, 2));
    }
    if let Some(symbol) = part.strip_suffix('³') {
        return Some((symbol, 3));
    }
    if part == "1" || part == "-" {
        return Some((part, 1));
    }
    let symbol = part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    let power = &part[symbol.len()..];
    let symbol = symbol.strip_suffix('^').unwrap_or(symbol);
    if symbol.is_empty() {
        return None;
    }
    if power.is_empty() {
        return Some((symbol, 1));
    }
    let power: i32 = power.parse().ok()?;
    (power.abs() <= 9).then_some((symbol, power))
}

fn symbol_named(symbol: &str) -> Option<(Exponents, f64)> {
    let whole = UNITS.iter().find(|unit| unit.name == symbol);
    if let Some(unit) = whole {
        return Some((unit.exponents, unit.factor));
    }
    let degrees = TEMPERATURES.iter().find(|(known, ..)| *known == symbol);
    if let Some((_, factor, _)) = degrees {
        return Some((TEMPERATURE, *factor)); // in a product it is a difference
    }
    PREFIXES.iter().find_map(|(prefix, size)| {
        let rest = symbol.strip_prefix(prefix)?;
        let unit = UNITS
            .iter()
            .find(|unit| unit.name == rest && unit.prefixed)?;
        Some((unit.exponents, size * unit.factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fmu::unit_of_measure::conversion;
    use dovetail_core::Mapping;

    fn converted(value: f64, from: &str, to: &str) -> f64 {
        let definition = |name: &str| unit_named(name).unwrap_or_else(|| panic!("{name}"));
        let mapping = conversion(&definition(from), &definition(to), false);
        mapping
            .unwrap_or_else(|| panic!("{from} to {to}"))
            .value(value)
    }

    #[test]
    fn engineering_units_are_converted() {
        let close = |value: f64, from: &str, to: &str, expected: f64| {
            let found = converted(value, from, to);
            let error = (found - expected).abs();
            assert!(
                error <= 1e-12 * expected.abs(),
                "{value} {from} = {found} {to}"
            );
        };
        close(36.0, "km/h", "m/s", 10.0);
        close(3000.0, "rpm", "rad/s", 100.0 * PI);
        close(1.0, "rev/min", "rpm", 1.0);
        close(20.0, "degC", "K", 293.15);
        close(212.0, "degF", "degC", 100.0);
        close(2.0, "bar", "Pa", 2e5);
        close(1.0, "mbar", "hPa", 1.0);
        close(7.0, "kN.m", "N.m", 7000.0);
        close(7.0, "kNm", "J", 7000.0);
        close(1.0, "kW.h", "MJ", 3.6);
        close(9.0, "g/cm3", "kg/m^3", 9000.0);
        close(90.0, "deg", "rad", PI / 2.0);
        close(60.0, "l/min", "m3/s", 1e-3);
        close(50.0, "%", "1", 0.5);
        close(4.0, "kJ/(kg.K)", "J/kg.degC", 4000.0);
        close(1.0, "1/min", "Hz", 1.0 / 60.0);
        close(1.0, "mm²", "m2", 1e-6);
        close(5.0, "ms", "s", 5e-3);
        close(3000.0, "RPM", "rad/s", 100.0 * PI);
        close(36.0, "km/hr", "m/sec", 10.0);
        close(
            750.061_575_045_4,
            "mmHg",
            "bar",
            750.061_575_045_4 * 133.322_387_415e-5,
        );
        close(90.0, "degree", "rad", PI / 2.0);
        close(2.0, "\u{3bc}m", "\u{b5}m", 2.0);
    }

    #[test]
    fn one_unit_has_several_spellings() {
        let same = |one: &str, other: &str| {
            let (one, other) = (unit_named(one).expect(one), unit_named(other).expect(other));
            assert_eq!(conversion(&one, &other, false), Some(Mapping::Identity));
        };
        same("Nm", "N.m");
        same("N*m", "N·m");
        same("m/s2", "m/s^2");
        same("m/s²", "m.s-2");
        same("-", "1");
    }

    #[test]
    fn what_is_no_unit_is_none() {
        for name in [
            "", "apples", "m//s", "m/", "km/hh", "kkg", "m^99", "degC2.", "(m",
        ] {
            assert_eq!(unit_named(name), None, "{name}");
        }
        let (length, time) = (unit_named("m").unwrap(), unit_named("s").unwrap());
        assert_eq!(conversion(&length, &time, false), None);
    }
}
