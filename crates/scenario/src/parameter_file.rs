//! Values of parameters in files: TOML, a parameter set of SSP (`.ssv`), or text with a name and a value in each line.

use std::collections::HashMap;
use std::path::Path;

use dovetail_ssp::ParameterValue;

use crate::diagnostic::{BadModel, Problem, SourceText};
use crate::inputs::csv_rows::line_of;

/// A value of a file, as it would be set by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileValue {
    pub name: String,
    /// With its unit after it, where it has one.
    pub text: String,
    /// The file, and the line in it where it has lines.
    pub place: String,
}

impl FileValue {
    /// Where a message has its name, with that of its system or without.
    pub fn place_in(&self, message: &str) -> Option<usize> {
        let dots = self.name.match_indices('.');
        let starts = dots.map(|(dot, _)| dot + 1).chain([0]);
        let names = starts.map(|start| format!("`{}`", &self.name[start..]));
        names.filter_map(|name| message.find(&name)).min()
    }
}

/// Names and values, and what the user should know.
#[derive(Debug, Default)]
pub(crate) struct GivenParameters {
    pub values: Vec<FileValue>,
    pub warnings: Vec<String>,
}

impl GivenParameters {
    fn add(&mut self, name: String, text: String, place: String) {
        self.values.push(FileValue { name, text, place });
    }
}

/// Reads a file of parameters.
pub(crate) fn read(path: &Path) -> Result<GivenParameters, BadModel> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let given = match ending.as_deref() {
        Some("toml") => read_toml(path),
        Some("csv") => read_csv(path),
        Some("ssv") => read_set(path),
        _ => {
            let message = "a file of parameters is .toml, .ssv or .csv";
            Err(BadModel::of_file(path, Problem::general(message)))
        }
    }?;
    check_names(&given.values).map_err(|message| {
        let problem = Problem::general(message);
        BadModel::of_file(path, problem.help("one of the two has to go"))
    })?;
    Ok(given)
}

/// Refuses names that are there twice: which value counts would be a guess.
fn check_names(values: &[FileValue]) -> Result<(), String> {
    let mut known = HashMap::new();
    for value in values {
        if let Some(first) = known.insert(&value.name, value) {
            return Err(format!(
                "{}: `{}` is set to {}, and was set to {} before ({})",
                value.place, value.name, value.text, first.text, first.place
            ));
        }
    }
    Ok(())
}

/// `system.name = value`, in tables or with dots.
fn read_toml(path: &Path) -> Result<GivenParameters, BadModel> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("the parameters cannot be read: {error}");
        BadModel::of_file(path, Problem::general(message))
    })?;
    let source = SourceText {
        path: path.display().to_string(),
        text,
    };
    let bad = |problem: Problem| BadModel {
        source: source.clone(),
        problems: vec![problem],
    };
    let table: toml::Table = toml::from_str(&source.text).map_err(|error| {
        let message = error.message().to_owned();
        bad(Problem::at(error.span().unwrap_or(0..0), message))
    })?;
    let mut given = GivenParameters::default();
    let mut values = Vec::new();
    flatten(&table, "", &mut values).map_err(|message| bad(Problem::general(message)))?;
    for (name, text) in values {
        given.add(name, text, source.path.clone());
    }
    Ok(given)
}

fn flatten(
    table: &toml::Table,
    before: &str,
    values: &mut Vec<(String, String)>,
) -> Result<(), String> {
    for (key, value) in table {
        let name = format!("{before}{key}");
        match value {
            toml::Value::Table(inner) => flatten(inner, &format!("{name}."), values)?,
            value => values.push((name.clone(), text_of(&name, value)?)),
        }
    }
    Ok(())
}

fn text_of(name: &str, value: &toml::Value) -> Result<String, String> {
    Ok(match value {
        toml::Value::Float(number) => format!("{number:?}"),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(truth) => truth.to_string(),
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => {
            let items = items.iter().map(|item| text_of(name, item));
            let items: Vec<String> = items.collect::<Result<_, _>>()?;
            format!("[{}]", items.join(", "))
        }
        toml::Value::Table(_) | toml::Value::Datetime(_) => {
            return Err(format!(
                "`{name}` must be a number, a text, true, false or a list"
            ));
        }
    })
}

/// Lines with a name and a value, under the head `name,value`.
fn read_csv(path: &Path) -> Result<GivenParameters, BadModel> {
    let file = path.display();
    let bad = |message: String| BadModel::of_file(path, Problem::general(message));
    let unreadable = |error: csv::Error| bad(format!("the parameters cannot be read: {error}"));
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(unreadable)?;
    let heads = reader.headers().map_err(unreadable)?;
    let heads: Vec<String> = heads.iter().map(str::to_lowercase).collect();
    let known = matches!(
        heads.first().map(String::as_str),
        Some("name" | "parameter")
    );
    if !known || heads.get(1).is_none_or(|head| head != "value") {
        let message = "its first line must be `name,value`".to_owned();
        return Err(bad(format!("{file}, line 1: {message}")));
    }

    let mut given = GivenParameters::default();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position();
        let line = line.map_or(0, |position| line_of(path, position));
        let field = |position: usize| record.get(position).unwrap_or_default().to_owned();
        let (name, mut value) = (field(0), field(1));
        if name.is_empty() || value.is_empty() {
            return Err(bad(format!(
                "{file}, line {line}: a name and a value are needed"
            )));
        }
        if heads.get(2).is_some_and(|head| head == "unit") && !field(2).is_empty() {
            value = format!("{value} {}", field(2));
        }
        given.add(name, value, format!("{file}, line {line}"));
    }
    Ok(given)
}

/// Nobody converts lists.
fn unit_not_used(name: &str, unit: &str) -> String {
    format!("the value of `{name}` is taken as it is, whatever its unit in the file ({unit})")
}

/// A parameter set of SSP.
fn read_set(path: &Path) -> Result<GivenParameters, BadModel> {
    let bad = |message: String| BadModel::of_file(path, Problem::general(message));
    let set = dovetail_ssp::read_parameter_set(path).map_err(|error| bad(error.to_string()))?;
    let mut given = GivenParameters {
        warnings: set.warnings,
        ..GivenParameters::default()
    };
    for parameter in set.parameters {
        let name = parameter.name;
        let items: Vec<String> = match parameter.value {
            ParameterValue::Float(values) => values.iter().map(|v| format!("{v:?}")).collect(),
            ParameterValue::Integer(values) => values.iter().map(i128::to_string).collect(),
            ParameterValue::Boolean(values) => values.iter().map(bool::to_string).collect(),
            ParameterValue::String(values) => values,
            ParameterValue::Enumeration(items) => items.into_iter().map(|item| item.name).collect(),
            ParameterValue::Binary(_) => {
                return Err(bad(format!("`{name}` is binary, which cannot be set")));
            }
        };
        let unit = parameter.unit.as_ref().map(|unit| &unit.name);
        let value = match (&items[..], unit) {
            ([one], None) if parameter.dimensions.is_empty() => one.clone(),
            ([one], Some(unit)) if parameter.dimensions.is_empty() => format!("{one} {unit}"),
            (items, unit) => {
                let unused = unit.map(|unit| unit_not_used(&name, unit));
                given.warnings.extend(unused);
                format!("[{}]", items.join(", "))
            }
        };
        given.add(name, value, path.display().to_string());
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, text: &str) -> Result<Vec<(String, String)>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        let given = read(&path).map_err(|bad| bad.to_string())?;
        let values = given.values.into_iter();
        Ok(values.map(|value| (value.name, value.text)).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn tables_of_toml_are_systems() {
        let text = "\"a.k\" = 1\n[a]\nm = 2.5\nbox = [1, 2.0]\n[a.b]\non = true\n";
        let expected = [
            ("a.k", "1"),
            ("a.m", "2.5"),
            ("a.box", "[1, 2.0]"),
            ("a.b.on", "true"),
        ];
        assert_eq!(given("p.toml", text), Ok(pairs(&expected)));
        assert!(
            given("p.toml", "a = 1979-05-27\n")
                .unwrap_err()
                .contains("`a` must be")
        );
        assert!(given("p.toml", "a = \n").is_err());
    }

    #[test]
    fn a_text_has_a_name_and_a_value_in_each_line() {
        let text = "name,value\na.k, 1.5\nb,2\n";
        assert_eq!(
            given("p.csv", text),
            Ok(pairs(&[("a.k", "1.5"), ("b", "2")]))
        );
        assert_eq!(
            given("p.csv", "name,value,unit\na.k,500,ms\nb,2,\n"),
            Ok(pairs(&[("a.k", "500 ms"), ("b", "2")]))
        );
        let twice = given("p.csv", "name,value\na,1\n\nb,2\na,3\n").unwrap_err();
        assert!(
            twice.contains("line 5: `a` is set to 3, and was set to 1 before"),
            "{twice}"
        );
        assert!(given("p.csv", "k,v\na,1\n").unwrap_err().contains("line 1"));
        assert!(
            given("p.csv", "name,value\na,1\nb,\n")
                .unwrap_err()
                .contains("line 3")
        );
        assert!(
            given("p.txt", "")
                .unwrap_err()
                .contains(".toml, .ssv or .csv")
        );
    }

    #[test]
    fn a_parameter_set_of_ssp_is_read() {
        let text = r#"<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="p">
<ssv:Parameters>
<ssv:Parameter name="a.k"><ssv:Real value="1.5"/></ssv:Parameter>
<ssv:Parameter name="a.on"><ssv:Boolean value="true"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet>"#;
        assert_eq!(
            given("p.ssv", text),
            Ok(pairs(&[("a.k", "1.5"), ("a.on", "true")]))
        );
        assert!(given("p.ssv", "<x/>").is_err());
    }
}
