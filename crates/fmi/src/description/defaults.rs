//! What the standard says where a variable is silent, and what it allows where it speaks.

use super::{Causality, Initial, ValueType, Variability, Version};

/// The variability of a variable that names none.
pub(super) fn variability(causality: Causality, value_type: ValueType) -> Variability {
    use Causality as C;
    match causality {
        // 2.0 says `continuous` here and forbids it for parameters elsewhere; 3.0 says `fixed`.
        C::Parameter | C::CalculatedParameter | C::StructuralParameter => Variability::Fixed,
        _ if value_type == ValueType::Clock => Variability::Clock,
        _ if value_type.is_float() => Variability::Continuous,
        _ => Variability::Discrete,
    }
}

/// What to take for a variability that the standard does not allow; `None` where it does.
pub(super) fn repaired(
    causality: Causality,
    variability: Variability,
    value_type: ValueType,
) -> Option<Variability> {
    use Causality as C;
    use Variability as V;
    let parameter = matches!(
        causality,
        C::Parameter | C::CalculatedParameter | C::StructuralParameter
    );

    match variability {
        V::Fixed | V::Tunable if parameter => None,
        _ if parameter => Some(V::Fixed),
        V::Continuous if !value_type.is_float() => Some(V::Discrete),
        V::Continuous => None,
        _ if causality == C::Independent => Some(V::Continuous),
        V::Constant | V::Fixed | V::Tunable if causality == C::Input => Some(V::Discrete),
        // Values that outlive the initialization may be read like any others.
        V::Fixed | V::Tunable if causality == C::Output => Some(variability),
        _ => None,
    }
}

/// How the start value of a variable that does not say is meant: the table "initial" of both
/// standards.
pub(super) fn initial(
    version: Version,
    causality: Causality,
    variability: Variability,
) -> Option<Initial> {
    use Causality as C;
    match causality {
        C::Independent => None,
        // 2.0 has no word for inputs, 3.0 has this one.
        C::Input => (version == Version::Three).then_some(Initial::Exact),
        C::Parameter | C::StructuralParameter => Some(Initial::Exact),
        C::CalculatedParameter | C::Dependent => Some(Initial::Calculated),
        C::Output | C::Local if variability == Variability::Constant => Some(Initial::Exact),
        C::Output | C::Local => Some(Initial::Calculated),
    }
}

/// Whether the standard allows to say `initial` so.
pub(super) fn allows(
    version: Version,
    causality: Causality,
    variability: Variability,
    initial: Initial,
) -> bool {
    use Causality as C;
    match causality {
        C::Independent => false,
        C::Input => version == Version::Three && initial == Initial::Exact,
        C::Parameter | C::StructuralParameter => initial == Initial::Exact,
        C::CalculatedParameter | C::Dependent => initial != Initial::Exact,
        C::Output | C::Local => match variability {
            Variability::Constant => initial == Initial::Exact,
            Variability::Fixed | Variability::Tunable => initial != Initial::Exact,
            _ => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_standard_says_by_itself_it_also_allows() {
        use Causality as C;
        use Variability as V;
        let causalities = [
            C::StructuralParameter,
            C::Parameter,
            C::CalculatedParameter,
            C::Input,
            C::Output,
            C::Local,
            C::Independent,
            C::Dependent,
        ];
        for version in [Version::Two, Version::Three] {
            for causality in causalities {
                for value_type in [ValueType::Float64, ValueType::Int32, ValueType::String] {
                    if causality == C::Independent && value_type != ValueType::Float64 {
                        continue;
                    }
                    let variability = variability(causality, value_type);
                    assert_eq!(
                        repaired(causality, variability, value_type),
                        None,
                        "{causality:?} {value_type:?}"
                    );
                    for variability in [variability, V::Constant, V::Fixed, V::Tunable, V::Discrete]
                    {
                        if repaired(causality, variability, value_type).is_some() {
                            continue;
                        }
                        if let Some(initial) = initial(version, causality, variability) {
                            assert!(
                                allows(version, causality, variability, initial),
                                "{causality:?} {variability:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_are_fixed_and_exact_and_outputs_are_calculated() {
        assert_eq!(
            variability(Causality::Parameter, ValueType::Float64),
            Variability::Fixed
        );
        assert_eq!(
            initial(Version::Two, Causality::Parameter, Variability::Fixed),
            Some(Initial::Exact)
        );
        assert_eq!(
            initial(Version::Two, Causality::Output, Variability::Continuous),
            Some(Initial::Calculated)
        );
        assert_eq!(
            initial(Version::Two, Causality::Input, Variability::Continuous),
            None
        );
        assert_eq!(
            initial(Version::Three, Causality::Input, Variability::Continuous),
            Some(Initial::Exact)
        );
    }
}
