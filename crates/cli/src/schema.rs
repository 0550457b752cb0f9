//! `dovetail schema`: a JSON schema of model files, with which editors complete and check them.

use dovetail::methods::{AUTO, OptionSpec, Registry, ValueKind};
use dovetail::scenario::registry;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::output;

/// Everything but the options of methods, which the registry has.
const BASE: &str = include_str!("../schema/base.json");

pub(crate) fn print() -> Result<(), Failure> {
    output::print_json(&schema())
}

/// The schema as a text.
pub(crate) fn text() -> String {
    format!("{:#}\n", schema())
}

/// The schema of model files.
fn schema() -> Value {
    let mut schema: Value = serde_json::from_str(BASE).expect("BUG: the schema is JSON");
    schema["properties"]["method"]["properties"] = method_keys().into();
    schema
}

fn method_keys() -> Map<String, Value> {
    let kinds = registry();
    let mut names = vec![AUTO];
    names.extend(kinds.method_names());
    let mut keys = Map::new();
    keys.insert(
        "name".to_owned(),
        json!({ "description": "The coupling method.", "enum": names }),
    );
    for option in kinds.options() {
        keys.insert(option.key.to_owned(), option_schema(&option, &kinds));
    }
    keys
}

fn option_schema(option: &OptionSpec, kinds: &Registry) -> Value {
    let mut schema = match option.value {
        ValueKind::Choice(names) => choice(&names()),
        ValueKind::Solver => json!({ "enum": kinds.solver_names() }),
        ValueKind::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        ValueKind::NotNegative => json!({ "type": "number", "minimum": 0 }),
        ValueKind::AtLeast(least) => json!({ "type": "number", "minimum": least }),
        ValueKind::Between(least, most) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        ValueKind::Whole(most) => json!({ "type": "integer", "minimum": 0, "maximum": most }),
        ValueKind::Text => json!({ "type": "string" }),
    };
    schema["description"] = json!(format!("{} (default: {})", option.meaning, option.default));
    schema
}

/// A choice among names; truth values may be written without quotes.
fn choice(names: &[&str]) -> Value {
    let mut values: Vec<Value> = names.iter().map(|name| json!(name)).collect();
    for truth in [false, true] {
        if names.contains(&truth.to_string().as_str()) {
            values.push(json!(truth));
        }
    }
    json!({ "enum": values })
}
