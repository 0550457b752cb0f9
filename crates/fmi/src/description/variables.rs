//! `<ModelVariables>`: the variables of all versions, in the order of the file.

use std::collections::HashMap;

use super::dimensions::dimensions;
use super::findings::{DescriptionError, quoted};
use super::limits::{self, DescriptionLimits, LIMITS};
use super::start;
use super::typed_elements::{typed_child, value_type};
use super::units::Type;
use super::xml::Element;
use super::{
    Causality, Dimension, Initial, ValueType, Variability, Variable, Version, defaults, one,
};

/// Attributes of every variable.
const ANY: &[&str] = &[
    "name",
    "valueReference",
    "description",
    "causality",
    "variability",
    "initial",
    "canHandleMultipleSetPerTimeInstant",
];
/// Attributes that only 3.0 has.
const THREE: &[&str] = &[
    "intermediateUpdate",
    "previous",
    "clocks",
    "mimeType",
    "maxSize",
];
/// Attributes of a typed value.
const TYPED: &[&str] = &["declaredType", "start", "derivative", "reinit"];
/// Attributes of clocks, of which we only say that they are there.
const CLOCK: &[&str] = &[
    "canBeDeactivated",
    "priority",
    "intervalVariability",
    "intervalDecimal",
    "shiftDecimal",
    "supportsFraction",
    "resolution",
    "intervalCounter",
    "shiftCounter",
];

/// The variables, and for each of them what its attribute `derivative` says, to be resolved when
/// all are known.
pub(super) type Listed<'a> = Vec<(Element<'a>, Variable, Option<u32>)>;

/// Reads `<ModelVariables>`.
pub(super) fn variables<'a>(
    list: Element<'a>,
    version: Version,
    types: &HashMap<&str, Type>,
) -> Result<Listed<'a>, DescriptionError> {
    let mut variables = Vec::new();
    for element in list.children() {
        let typed = match version {
            // <ScalarVariable name=".."><Real ../></ScalarVariable>
            Version::One if one::is_negated_alias(element)? => continue,
            Version::One | Version::Two if element.name() == "ScalarVariable" => {
                typed_child(element, version)
            }
            // <Float64 name=".." ../>
            Version::Three => value_type(element.name(), version).map(|_| element),
            Version::One | Version::Two => None,
        };
        if let Some(typed) = typed {
            let (variable, derivative) = VariableReader {
                element,
                typed,
                version,
                types,
            }
            .read()?;
            variables.push((element, variable, derivative));
        } else if version != Version::Three && element.name() == "ScalarVariable" {
            // In 2.0 variables are counted: one that is passed over would shift all that follow.
            return Err(element.invalid(
                "a variable has no type; one of <Real>, <Integer>, <Boolean>, <String> and \
                 <Enumeration> was expected"
                    .into(),
            ));
        } else {
            element.misplaced("ModelVariables")?;
        }
    }
    Ok(variables)
}

/// Reads one variable. In 3.0 both elements are the same.
struct VariableReader<'a, 't> {
    element: Element<'a>,
    typed: Element<'a>,
    version: Version,
    types: &'t HashMap<&'t str, Type>,
}

impl VariableReader<'_, '_> {
    fn read(&self) -> Result<(Variable, Option<u32>), DescriptionError> {
        self.check_attributes()?;
        let mut variable = self.read_parts()?;
        variable.variability = self.variability(&variable)?;
        variable.initial = self.initial(&variable)?;
        start::check(self.element, &variable, self.version)?;
        let derivative = if variable.value_type.is_float() {
            self.typed.integer("derivative")?
        } else {
            None
        };

        Ok((variable, derivative))
    }

    /// All but variability and initial, which depend on the rest.
    fn read_parts(&self) -> Result<Variable, DescriptionError> {
        let element = self.element;
        let value_type = value_type(self.typed.name(), self.version);
        let value_type = value_type.expect("BUG: a variable without a type");
        let name = self.name()?;
        let reference = self.reference(&name)?;
        let declared = self.declared(value_type)?;
        let own = self.limits(value_type)?;
        let dimensions = self.dimensions()?;

        Ok(Variable {
            causality: self.causality(&name)?,
            variability: Variability::Continuous,
            initial: None,
            start: start::read(self.typed, value_type)?,
            unit: self.unit(value_type, &declared)?,
            relative: self.is_relative(&declared)?,
            nominal: own.nominal.or(declared.limits.nominal),
            min: own.min.or(declared.limits.min),
            max: own.max.or(declared.limits.max),
            derivative_of: None,
            dimensions,
            intermediate_update: element.flag("intermediateUpdate")?,
            clocks: element.references("clocks")?.unwrap_or_default(),
            items: declared.items,
            aliases: self.aliases()?,
            description: element.owned("description")?,
            line: element.line(),
            name,
            reference,
            value_type,
        })
    }

    fn limits(&self, value_type: ValueType) -> Result<DescriptionLimits, DescriptionError> {
        if value_type.is_number() {
            limits::read(self.typed)
        } else {
            Ok(DescriptionLimits::default())
        }
    }

    fn dimensions(&self) -> Result<Vec<Dimension>, DescriptionError> {
        match self.version {
            Version::One | Version::Two => Ok(Vec::new()),
            Version::Three => dimensions(self.element),
        }
    }

    fn unit(
        &self,
        value_type: ValueType,
        declared: &Type,
    ) -> Result<Option<String>, DescriptionError> {
        if !value_type.is_number() {
            return Ok(None);
        }

        let own = self.typed.owned("unit")?;
        Ok(own.or_else(|| declared.unit.clone()))
    }

    fn is_relative(&self, declared: &Type) -> Result<bool, DescriptionError> {
        let own = self.typed.boolean("relativeQuantity")?;
        Ok(own.or(declared.relative).unwrap_or(false))
    }

    fn check_attributes(&self) -> Result<(), DescriptionError> {
        match self.version {
            Version::One => {
                self.element.only(&[one::VARIABLE])?;
                self.typed
                    .only(&[&["declaredType", "start", "fixed"], LIMITS])
            }
            Version::Two => {
                self.element.only(&[ANY, &["previous"]])?;
                self.typed.only(&[TYPED, LIMITS])
            }
            Version::Three => self.element.only(&[ANY, THREE, TYPED, LIMITS, CLOCK]),
        }
    }

    fn name(&self) -> Result<String, DescriptionError> {
        let name = self.element.text("name")?.unwrap_or_default();
        if name.is_empty() {
            return Err(self.element.invalid("a variable has no name".into()));
        }
        if !name.contains(char::is_control) {
            return Ok(name.to_owned());
        }

        self.element.departure(format!(
            "the name {} has line breaks or other control characters, which are replaced",
            quoted(name)
        ))?;
        Ok(name.replace(char::is_control, "\u{fffd}"))
    }

    fn reference(&self, name: &str) -> Result<u32, DescriptionError> {
        let text = self.element.text("valueReference")?.unwrap_or_default();
        text.trim().parse().map_err(|_| {
            let found = if text.is_empty() {
                "missing".to_owned()
            } else {
                quoted(text)
            };
            let wanted = "a number from 0 to 4294967295 was expected";
            self.element.invalid(format!(
                "`valueReference` of {} is {found}, where {wanted}",
                quoted(name)
            ))
        })
    }

    fn causality(&self, name: &str) -> Result<Causality, DescriptionError> {
        use Causality as C;
        if self.version == Version::One {
            return one::causality(self.element);
        }

        let wanted = "`parameter`, `calculatedParameter`, `input`, `output`, `local`, \
                      `independent` or, in 3.0, `structuralParameter`";
        let known = [
            ("local", C::Local),
            ("input", C::Input),
            ("output", C::Output),
            ("parameter", C::Parameter),
            ("calculatedParameter", C::CalculatedParameter),
            ("independent", C::Independent),
            ("structuralParameter", C::StructuralParameter),
            ("dependent", C::Dependent),
        ];
        let causality = self.word("causality", wanted, &known)?.unwrap_or(C::Local);

        if self.version == Version::Two
            && matches!(causality, C::StructuralParameter | C::Dependent)
        {
            self.element.departure(format!(
                "`causality` of {} is one that only 3.0 has",
                quoted(name)
            ))?;
        }
        Ok(causality)
    }

    fn variability(&self, variable: &Variable) -> Result<Variability, DescriptionError> {
        use Variability as V;
        if self.version == Version::One {
            return one::variability(self.element, variable.value_type);
        }

        let wanted = "`constant`, `fixed`, `tunable`, `discrete` or `continuous`";
        let known = [
            ("continuous", V::Continuous),
            ("discrete", V::Discrete),
            ("fixed", V::Fixed),
            ("tunable", V::Tunable),
            ("constant", V::Constant),
            ("clock", V::Clock),
        ];
        let Some(given) = self.word("variability", wanted, &known)? else {
            return Ok(defaults::variability(
                variable.causality,
                variable.value_type,
            ));
        };
        let Some(repaired) = defaults::repaired(variable.causality, given, variable.value_type)
        else {
            return Ok(given);
        };
        let causality = variable.causality;
        let taken = repaired;
        let name = quoted(&variable.name);
        self.element.departure(format!(
            "the standard does not allow the variability `{given:?}` for {name}, a \
             `{causality:?}` of type `{:?}`; it is taken as `{taken:?}`",
            variable.value_type
        ))?;

        Ok(repaired)
    }

    fn initial(&self, variable: &Variable) -> Result<Option<Initial>, DescriptionError> {
        if self.version == Version::One {
            return one::initial(self.typed);
        }

        let known = [
            ("exact", Initial::Exact),
            ("approx", Initial::Approx),
            ("calculated", Initial::Calculated),
        ];
        let silent = defaults::initial(self.version, variable.causality, variable.variability);
        let Some(given) = self.word("initial", "`exact`, `approx` or `calculated`", &known)? else {
            return Ok(silent);
        };

        if defaults::allows(
            self.version,
            variable.causality,
            variable.variability,
            given,
        ) {
            return Ok(Some(given));
        }

        // A calculated quantity with an exact start is odd but clear; where one must be set, or
        // cannot be, we know better.
        let calculated = silent == Some(Initial::Calculated);
        let taken = if calculated {
            "taken as it is"
        } else {
            "ignored"
        };
        let name = quoted(&variable.name);
        let causality = variable.causality;
        self.element.departure(format!(
            "the standard does not allow `initial` to be `{given:?}` for {name}, a \
             `{causality:?}`; it is {taken}"
        ))?;

        Ok(if calculated { Some(given) } else { silent })
    }

    /// One of a few words; other cases are understood, other words are not.
    fn word<T: Copy>(
        &self,
        attribute: &str,
        wanted: &str,
        known: &[(&str, T)],
    ) -> Result<Option<T>, DescriptionError> {
        let Some(text) = self.element.text(attribute)? else {
            return Ok(None);
        };
        self.element.value(attribute, text, wanted, |text| {
            let text = text.trim();
            let exact = known
                .iter()
                .find(|(word, _)| *word == text)
                .map(|&(_, value)| (value, true));
            exact.or_else(|| {
                known
                    .iter()
                    .find(|(word, _)| word.eq_ignore_ascii_case(text))
                    .map(|&(_, value)| (value, false))
            })
        })
    }

    /// What the declared type gives; nothing where there is none.
    fn declared(&self, value_type: ValueType) -> Result<Type, DescriptionError> {
        let Some(name) = self.typed.text("declaredType")? else {
            if value_type == ValueType::Enumeration {
                self.element.departure(
                    "an enumeration does not say by `declaredType` which items it has".into(),
                )?;
            }
            return Ok(Type::default());
        };
        match self.types.get(name) {
            Some(declared) if declared.value_type == Some(value_type) => Ok(declared.clone()),
            Some(_) => {
                self.element.departure(format!(
                    "the type {} is one of another kind of values; it is ignored",
                    quoted(name)
                ))?;
                Ok(Type::default())
            }
            None => {
                self.element.departure(format!(
                    "the type {} is not defined; it is ignored",
                    quoted(name)
                ))?;
                Ok(Type::default())
            }
        }
    }

    fn aliases(&self) -> Result<Vec<String>, DescriptionError> {
        if self.version == Version::Two {
            return Ok(Vec::new());
        }

        let aliases = self
            .element
            .children()
            .filter(|child| child.name() == "Alias");
        aliases
            .map(|alias| alias.expected("name"))
            .filter_map(|name| name.map(|name| name.map(str::to_owned)).transpose())
            .collect()
    }
}
