//! Reads `modelDescription.xml` of all versions.

use std::collections::{HashMap, HashSet};

use super::findings::{DescriptionError, Findings, Strictness, Warning, quoted};
use super::structure::{Positions, StructureReader};
use super::units::Type;
use super::variables::{Listed, variables};
use super::xml::{Document, Element};
use super::{
    DefaultExperiment, Description, Dimension, InterfaceDescription, UnitDefinition, Variable,
    Version, encoding, kind, one, units,
};

/// The largest file that is read.
const LIMIT: usize = 256 << 20;

/// More event indicators than any FMU has: each is watched in every step.
const MOST_INDICATORS: usize = 100_000;

/// Reads a description. Lenient, it takes what it can understand and reports where that departs from
/// the standard; strict, it refuses what the standard forbids.
pub fn read(
    text: &[u8],
    strictness: Strictness,
) -> Result<(Description, Vec<Warning>), DescriptionError> {
    if text.len() > LIMIT {
        return Err(DescriptionError::TooLarge {
            size: text.len(),
            limit: LIMIT,
        });
    }

    let findings = Findings::new(strictness);
    let text = encoding::decode(text, &findings)?;
    let description = {
        let document = Document::parse(&text, &findings)?;
        describe(document.root())?
    };

    Ok((description, findings.into_warnings()))
}

fn describe(root: Element<'_>) -> Result<Description, DescriptionError> {
    check_root(root)?;
    let (version, fmi_version) = version(root)?;
    check_outline(root, version)?;
    let model_name = root.expected("modelName")?.unwrap_or_default();
    let interfaces = Interfaces::read(root, version, model_name)?;
    let units = child_or_default(root, "UnitDefinitions", |list| units::units(list, version))?;
    let types = child_or_default(root, "TypeDefinitions", |list| units::types(list, version))?;
    let listed = model_variables(root, version, &types)?;
    check_names(&listed, version)?;
    if version != Version::One {
        check_units(&listed, &units)?;
    }
    let dependencies = one::dependencies(&listed, version);
    let (variables, positions) = connect(listed, version)?;
    let reader = StructureReader {
        root,
        variables: &variables,
        positions: &positions,
        needs_states: interfaces.is_model_exchange_only(),
    };
    let mut structure = match version {
        Version::One => one::structure(root, &variables, &dependencies)?,
        Version::Two | Version::Three => reader.read()?,
    };

    if version != Version::Three {
        structure.indicator_count = indicator_count(root)?;
    }
    Ok(Description {
        version,
        fmi_version,
        model_name: model_name.to_owned(),
        token: token(root, version)?,
        description: root.owned("description")?,
        generation_tool: root.owned("generationTool")?,
        co_simulation: interfaces.co_simulation,
        model_exchange: interfaces.model_exchange,
        scheduled_execution: interfaces.scheduled_execution,
        variables,
        units,
        structure,
        experiment: child_or_default(root, "DefaultExperiment", experiment)?,
        log_categories: child_or_default(root, "LogCategories", log_categories)?,
    })
}

fn indicator_count(root: Element<'_>) -> Result<usize, DescriptionError> {
    let count = root.integer("numberOfEventIndicators")?.unwrap_or(0);
    if count > MOST_INDICATORS {
        return Err(root.invalid(format!(
            "`numberOfEventIndicators` is `{count}`, more than the {MOST_INDICATORS} that are watched"
        )));
    }
    Ok(count)
}

fn check_root(root: Element<'_>) -> Result<(), DescriptionError> {
    let name = root.name();
    if name.eq_ignore_ascii_case("fmiModelDescription") {
        return Ok(());
    }
    Err(root.invalid(format!(
        "the file begins with <{name}>, where <fmiModelDescription> was expected"
    )))
}

/// What `read` makes of the first child of this name; a default where there is none.
fn child_or_default<'a, T: Default>(
    root: Element<'a>,
    name: &str,
    read: impl FnOnce(Element<'a>) -> Result<T, DescriptionError>,
) -> Result<T, DescriptionError> {
    match root.child(name) {
        Some(child) => read(child),
        None => Ok(T::default()),
    }
}

/// The interfaces that an FMU offers.
#[derive(Default)]
pub(super) struct Interfaces {
    pub(super) co_simulation: Option<InterfaceDescription>,
    pub(super) model_exchange: Option<InterfaceDescription>,
    pub(super) scheduled_execution: bool,
}

impl Interfaces {
    fn read(
        root: Element<'_>,
        version: Version,
        model_name: &str,
    ) -> Result<Self, DescriptionError> {
        if version == Version::One {
            return one::interfaces(root, model_name);
        }

        let co_simulation = root
            .child("CoSimulation")
            .map(|element| kind::co_simulation(element, version, model_name));
        let model_exchange = root
            .child("ModelExchange")
            .map(|element| kind::model_exchange(element, version, model_name));
        let scheduled = version == Version::Three && root.child("ScheduledExecution").is_some();
        let interfaces = Self {
            co_simulation: co_simulation.transpose()?,
            model_exchange: model_exchange.transpose()?,
            scheduled_execution: scheduled,
        };

        if interfaces.are_none() {
            root.departure(
                "the FMU is neither for Co-Simulation nor for Model Exchange, so it cannot be run"
                    .into(),
            )?;
        }
        Ok(interfaces)
    }

    fn are_none(&self) -> bool {
        self.co_simulation.is_none() && self.model_exchange.is_none() && !self.scheduled_execution
    }

    fn is_model_exchange_only(&self) -> bool {
        self.co_simulation.is_none() && self.model_exchange.is_some()
    }
}

fn model_variables<'a>(
    root: Element<'a>,
    version: Version,
    types: &HashMap<&str, Type>,
) -> Result<Listed<'a>, DescriptionError> {
    match root.child("ModelVariables") {
        Some(list) => variables(list, version, types),
        None => {
            root.departure("the file has no <ModelVariables>, which the standard asks for".into())?;
            Ok(Vec::new())
        }
    }
}

/// The version, and how it is written.
fn version(root: Element<'_>) -> Result<(Version, String), DescriptionError> {
    match root.text("fmiVersion")?.map(str::trim) {
        Some(written) => Ok((written_version(root, written)?, written.to_owned())),
        None => assumed_version(root),
    }
}

/// The version of a file that does not say it.
fn assumed_version(root: Element<'_>) -> Result<(Version, String), DescriptionError> {
    let (version, guess) = if root.has("instantiationToken") {
        (Version::Three, "3.0")
    } else {
        (Version::Two, "2.0")
    };
    root.departure(format!(
        "<fmiModelDescription> has no attribute `fmiVersion`; `{guess}` is assumed"
    ))?;
    Ok((version, guess.to_owned()))
}

fn written_version(root: Element<'_>, written: &str) -> Result<Version, DescriptionError> {
    let is_minor = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let shown = quoted(written);
    let mut parts = written.splitn(2, '.');

    match (parts.next(), parts.next()) {
        (Some("1"), Some("0")) => Ok(Version::One),
        (Some("2"), Some("0")) => Ok(Version::Two),
        (Some("3"), Some(minor)) if is_minor(minor) => Ok(Version::Three),
        (Some("2"), rest) if rest.is_none_or(|rest| rest.starts_with('0')) => {
            root.departure(format!("`fmiVersion` is {shown}, where `2.0` was expected"))?;
            Ok(Version::Two)
        }
        (Some("3"), _) => {
            let taken = "the FMU is read as one of version 3.0";
            root.departure(format!(
                "`fmiVersion` is {shown}, which is not a released version; {taken}"
            ))?;
            Ok(Version::Three)
        }
        _ => Err(DescriptionError::Version {
            line: root.line(),
            version: shown.trim_matches('`').to_owned(),
        }),
    }
}

/// Whether the root holds what it may hold, once.
fn check_outline(root: Element<'_>, version: Version) -> Result<(), DescriptionError> {
    const ATTRIBUTES: &[&str] = &[
        "fmiVersion",
        "modelName",
        "description",
        "author",
        "version",
        "copyright",
        "license",
        "generationTool",
        "generationDateAndTime",
        "variableNamingConvention",
    ];
    const ELEMENTS: [&str; 8] = [
        "ModelExchange",
        "CoSimulation",
        "UnitDefinitions",
        "TypeDefinitions",
        "LogCategories",
        "DefaultExperiment",
        "ModelVariables",
        "ModelStructure",
    ];
    let own: &[&str] = match version {
        Version::One => &[
            "modelIdentifier",
            "guid",
            "numberOfContinuousStates",
            "numberOfEventIndicators",
        ],
        Version::Two => &["guid", "numberOfEventIndicators"],
        Version::Three => &["instantiationToken"],
    };
    root.only(&[ATTRIBUTES, own])?;
    let mut seen = HashSet::new();

    for child in root.children() {
        let name = child.name();
        let scheduled = version == Version::Three && name == "ScheduledExecution";
        let implementation = version == Version::One && name == "Implementation";
        if !scheduled && !implementation && !ELEMENTS.contains(&name) {
            child.misplaced("fmiModelDescription")?;
        } else if !seen.insert(name) {
            child.departure(format!("<{name}> is there twice; the first one holds"))?;
        }
    }
    Ok(())
}

/// What `instantiate` must be given.
fn token(root: Element<'_>, version: Version) -> Result<String, DescriptionError> {
    let (right, wrong) = match version {
        Version::One | Version::Two => ("guid", "instantiationToken"),
        Version::Three => ("instantiationToken", "guid"),
    };
    if !root.has(right)
        && let Some(token) = root.text(wrong)?
    {
        root.departure(format!(
            "the attribute `{wrong}` should be spelled `{right}`; it is taken for it"
        ))?;
        return Ok(token.to_owned());
    }
    Ok(root.expected(right)?.unwrap_or_default().to_owned())
}

/// Whether names, and in 3.0 value references, are unique.
fn check_names(listed: &Listed<'_>, version: Version) -> Result<(), DescriptionError> {
    let mut names = HashSet::with_capacity(listed.len());
    let mut references = HashMap::with_capacity(listed.len());

    for (element, variable, _) in listed {
        for name in std::iter::once(&variable.name).chain(&variable.aliases) {
            if !names.insert(name) {
                element.departure(format!(
                    "there are two variables of the name {}; the first one is found by it",
                    quoted(name)
                ))?;
            }
        }
        if version == Version::Three
            && let Some(first) = references.insert(variable.reference, &variable.name)
        {
            let first = quoted(first);
            let second = quoted(&variable.name);
            element.departure(format!(
                "{first} and {second} share the value reference `{}`",
                variable.reference
            ))?;
        }
    }
    Ok(())
}

/// Whether the units of variables are defined.
fn check_units(listed: &Listed<'_>, units: &[UnitDefinition]) -> Result<(), DescriptionError> {
    let defined: HashSet<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
    let mut reported = HashSet::new();

    for (element, variable, _) in listed {
        if let Some(unit) = &variable.unit
            && !defined.contains(unit.as_str())
            && reported.insert(unit)
        {
            let names = (quoted(unit), quoted(&variable.name));
            element.departure(format!(
                "the unit {} of {} is not defined in <UnitDefinitions>",
                names.0, names.1
            ))?;
        }
    }
    Ok(())
}

/// Resolves what variables say of each other.
fn connect(
    listed: Listed<'_>,
    version: Version,
) -> Result<(Vec<Variable>, Positions), DescriptionError> {
    let mut variables = Vec::with_capacity(listed.len());
    let mut rest = Vec::with_capacity(listed.len());

    for (element, variable, derivative) in listed {
        variables.push(variable);
        rest.push((element, derivative));
    }

    let positions = Positions::of(version, &variables);
    for (at, (element, derivative)) in rest.into_iter().enumerate() {
        let name = quoted(&variables[at].name);
        if let Some(said) = derivative {
            match positions.find(said) {
                Some(state) if state != at => variables[at].derivative_of = Some(state),
                _ => element.departure(format!(
                    "`derivative` of {name} is `{said}`, which is no state; it is ignored"
                ))?,
            }
        }
        for dimension in &variables[at].dimensions {
            if let Dimension::Parameter(reference) = dimension
                && positions.find(*reference).is_none()
            {
                // Nobody could tell how many values to set or get.
                let message = format!(
                    "the size of {name} is the variable with the value reference {reference}, \
                     which is not there"
                );
                return Err(element.invalid(message));
            }
        }
    }
    Ok((variables, positions))
}

fn experiment(element: Element<'_>) -> Result<DefaultExperiment, DescriptionError> {
    element.only(&[&["startTime", "stopTime", "tolerance", "stepSize"]])?;
    let finite = |name: &str| {
        let value = element.float(name)?;
        if let Some(value) = value.filter(|value| !value.is_finite()) {
            element.departure(format!(
                "`{name}` is `{value}`, where a finite number was expected; it is left out"
            ))?;
        }
        Ok::<_, DescriptionError>(value.filter(|value| value.is_finite()))
    };
    let positive = |name: &str| {
        let value = finite(name)?;
        if let Some(value) = value.filter(|value| *value <= 0.0) {
            element.departure(format!(
                "`{name}` is `{value}`, where a positive number was expected; it is left out"
            ))?;
        }
        Ok::<_, DescriptionError>(value.filter(|value| *value > 0.0))
    };

    Ok(DefaultExperiment {
        start_time: finite("startTime")?,
        stop_time: finite("stopTime")?,
        tolerance: positive("tolerance")?,
        step_size: positive("stepSize")?,
    })
}

fn log_categories(list: Element<'_>) -> Result<Vec<String>, DescriptionError> {
    let mut names = Vec::new();
    for element in list.children() {
        match element.name() {
            "Category" => names.extend(element.expected("name")?.map(str::to_owned)),
            _ => element.misplaced("LogCategories")?,
        }
    }
    Ok(names)
}
