//! What tables of systems have in common, whatever the systems are made from.

use dovetail_core::{MAX_DEGREE, Restrictions};
use dovetail_equations::is_name;
use toml::Spanned;

use crate::diagnostic::Problem;
use crate::source::table::SystemTable;

/// A system's name must be one that equations and connections can refer to.
pub(crate) fn check_system_name(name: &Spanned<String>, problems: &mut Vec<Problem>) {
    if !is_name(name.get_ref()) {
        let message = format!("`{}` cannot be the name of a system", name.get_ref());
        problems
            .push(Problem::at(name.span(), message).help("use letters, digits and underscores"));
    }
}

/// The step that a system is to impose, if it is.
fn imposed_step(table: &SystemTable) -> Option<&Spanned<f64>> {
    let restrict = table.restrict.as_ref();
    let restricted = restrict.and_then(|r| r.imposed_step.as_ref());
    restricted.or(table.imposed_step.as_ref())
}

fn wrong_step(step: &Spanned<f64>) -> Option<Problem> {
    let size = *step.get_ref();
    let message = "an imposed step must be a number above zero";
    (!(size > 0.0 && size.is_finite())).then(|| Problem::at(step.span(), message))
}

fn wrong_degree(degree: &Spanned<usize>) -> Option<Problem> {
    let message = || format!("an input degree is 0 to {MAX_DEGREE}");
    (*degree.get_ref() > MAX_DEGREE).then(|| Problem::at(degree.span(), message()))
}

/// What is taken away from a system, if anything is.
pub(crate) fn restrictions(
    table: &SystemTable,
    problems: &mut Vec<Problem>,
) -> Option<Restrictions> {
    let restrict = table.restrict.as_ref();
    let imposed = imposed_step(table);
    let degree = restrict.and_then(|r| r.input_degree.as_ref());
    problems.extend(imposed.and_then(wrong_step));
    problems.extend(degree.and_then(wrong_degree));
    if restrict.is_none() && imposed.is_none() {
        return None;
    }

    let kept = |given: Option<bool>| given.unwrap_or(true);
    Some(Restrictions {
        input_degree: degree.map_or(MAX_DEGREE, |degree| *degree.get_ref()),
        rollback: kept(restrict.and_then(|r| r.rollback)),
        linearization: kept(restrict.and_then(|r| r.linearization)),
        output_derivatives: if kept(restrict.and_then(|r| r.output_derivatives)) {
            2
        } else {
            0
        },
        imposed_step: imposed.map(|step| *step.get_ref()),
    })
}
