//! The methods and solvers that the engine has. A new one is a line here.

use crate::f3ornits::kind::F3ornitsKind;
use crate::gauss_seidel::GaussSeidelKind;
use crate::ifosmondi::kind::IfosmondiKind;
use crate::jacobi::JacobiKind;
use crate::missiles::kind::MissilesKind;
use crate::monolithic::MonolithicKind;
use crate::predictive::kind::PredictiveKind;
use crate::registry::kind::MethodKind;
use crate::registry::list::Registry;
use crate::registry::solver::OWN_SOLVERS;

static METHODS: [&dyn MethodKind; 7] = [
    &JacobiKind,
    &GaussSeidelKind,
    &F3ornitsKind,
    &IfosmondiKind,
    &MissilesKind,
    &PredictiveKind,
    &MonolithicKind,
];

/// The methods and solvers that the engine has.
pub fn standard() -> Registry {
    let methods = METHODS.iter().copied();
    let registry = methods.fold(Registry::default(), Registry::with_method);
    OWN_SOLVERS
        .iter()
        .fold(registry, |registry, solver| registry.with_solver(solver))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_solver_is_found_by_its_name() {
        let registry = standard();
        assert_eq!(registry.methods().len(), METHODS.len());
        for kind in registry.methods() {
            assert_eq!(registry.method(kind.name()).unwrap().name(), kind.name());
        }
        assert_eq!(registry.solvers().len(), OWN_SOLVERS.len());
        assert!(registry.method("waveform").is_none());
    }

    #[test]
    fn options_of_one_name_take_the_same_values() {
        let registry = standard();
        let solvers = registry.solver_names();
        let all = registry.options();
        for kind in registry.methods() {
            for option in kind.options() {
                let listed = all.iter().find(|other| other.key == option.key).unwrap();
                assert_eq!(
                    listed.values(&solvers),
                    option.values(&solvers),
                    "{}",
                    option.key
                );
            }
        }
    }

    #[test]
    fn a_default_that_is_a_value_is_one_that_the_option_takes() {
        let registry = standard();
        let solvers = registry.solver_names();
        for option in registry.options() {
            let a_name = matches!(option.value, crate::registry::option::ValueKind::Choice(_));
            if a_name || option.default.parse::<f64>().is_ok() {
                option.check(option.default, &solvers).unwrap();
            }
        }
    }
}
