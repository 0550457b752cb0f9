//! The methods of `dovetail enclose` by their names.

use dovetail::core::nearest;
use dovetail::guaranteed::{Integrator, Method};
use dovetail::methods::AUTO;
use dovetail::scenario::{ENCLOSURES, registry};

use crate::failure::Failure;

const INTEGRATORS: [&str; 2] = ["heun", "rk4"];
/// Polynomials of higher degree through past boxes are worse than none.
const HIGHEST_DEGREE: usize = 12;

/// The method that was asked for, with what was chosen of it.
pub(super) fn chosen(
    method: Option<&str>,
    integrator: Option<&str>,
    extrapolation: Option<&str>,
) -> Result<Method, Failure> {
    match method.unwrap_or("shared-symbols") {
        "shared-symbols" => {
            let given = [
                ("--integrator", integrator),
                ("--extrapolation", extrapolation),
            ];
            let misplaced = given.iter().find(|(_, value)| value.is_some());
            misplaced.map_or(Ok(Method::SharedSymbols), |(flag, _)| {
                let message = format!(
                    "{flag} is for --method boxes: shared-symbols chooses its orders by itself"
                );
                Err(Failure::misuse(message))
            })
        }
        "boxes" => Ok(Method::Boxes {
            integrator: named_integrator(integrator.unwrap_or("rk4"))?,
            extrapolation: extrapolation.map(degree).transpose()?,
        }),
        other => Err(unknown(other)),
    }
}

/// The name of a method.
pub(super) fn name(method: Method) -> &'static str {
    match method {
        Method::SharedSymbols => "shared-symbols",
        Method::Boxes { .. } => "boxes",
    }
}

/// What was chosen of a method, in words.
pub(super) fn choices(method: Method) -> Option<String> {
    let Method::Boxes {
        integrator,
        extrapolation,
    } = method
    else {
        return None;
    };
    let integrator = match integrator {
        Integrator::Heun => "heun",
        Integrator::Rk4 => "rk4",
    };
    let inputs = extrapolation.map_or("inputs held in their boxes".to_owned(), |degree| {
        format!("inputs extrapolated with degree {degree}")
    });

    Some(format!("{integrator}, {inputs}"))
}

fn named_integrator(name: &str) -> Result<Integrator, Failure> {
    match name {
        "heun" => Ok(Integrator::Heun),
        "rk4" => Ok(Integrator::Rk4),
        other => Err(unknown_integrator(other)),
    }
}

fn unknown_integrator(name: &str) -> Failure {
    let known = INTEGRATORS.join(" and ");
    let suggestion = suggestion(name, INTEGRATORS);
    Failure::misuse(format!(
        "unknown integrator `{name}`; known are {known}{suggestion}"
    ))
}

fn degree(text: &str) -> Result<usize, Failure> {
    text.parse()
        .ok()
        .filter(|degree| *degree <= HIGHEST_DEGREE)
        .ok_or_else(|| {
            Failure::misuse(format!(
                "--extrapolation must be a whole number from 0 to {HIGHEST_DEGREE}, not `{text}`"
            ))
        })
}

fn unknown(name: &str) -> Failure {
    let own = || ENCLOSURES.iter().map(|(name, _)| *name);
    let known = own().collect::<Vec<_>>().join(" and ");

    if name == AUTO || registry().method(name).is_some() {
        return Failure::misuse(format!(
            "`{name}` is a method of `dovetail run`; the methods of enclose are {known}"
        ));
    }
    Failure::misuse(format!(
        "unknown method `{name}`; the methods of enclose are {known}{}",
        suggestion(name, own())
    ))
}

fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known)
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}
