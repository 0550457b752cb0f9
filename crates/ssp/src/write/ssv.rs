//! Parameter sets.

use crate::value::ParameterValue;

use super::declared::Declared;
use super::xml::{attribute, double};
use super::{SspVersion, WrittenComponent, WrittenParameter, declared, types};

/// The values of a component.
pub(super) fn text(component: &WrittenComponent, version: SspVersion) -> String {
    let types = component.parameters.iter();
    let declared = declared(types.map(|parameter| &parameter.typing));
    let parameters = component.parameters.iter();
    let parameters = parameters.map(|own| parameter(own, &declared, version));
    let parameters: String = parameters.collect();
    let about = attribute("version", version.number()) + &attribute("name", &component.name);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ssv:ParameterSet{about}\n    \
         xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\"\n    \
         xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\">\n  \
         <ssv:Parameters>\n{parameters}  </ssv:Parameters>\n{}</ssv:ParameterSet>\n",
        declared.text("ssv")
    )
}

fn parameter(own: &WrittenParameter, declared: &Declared, version: SspVersion) -> String {
    let name = attribute("name", &own.name);
    let element = types::element(own.typing.data_type, version);
    let typing = types::attributes(&own.typing, declared);
    let value = match values(&own.value) {
        Values::List(texts) => format!("{}{typing}/>", attribute("value", texts.join(" "))),
        Values::Each(texts) if own.dimensions.is_empty() => {
            let text = texts.first().map_or("", String::as_str);
            format!("{}{typing}/>", attribute("value", text))
        }
        Values::Each(texts) => {
            let each = texts.iter().map(|text| attribute("value", text));
            let each: String = each.map(|text| format!("<ssv:Value{text}/>")).collect();
            format!("{typing}>{each}</ssv:{element}>")
        }
    };
    let sizes = types::dimensions(&own.dimensions);
    format!("    <ssv:Parameter{name}><ssv:{element}{value}{sizes}</ssv:Parameter>\n")
}

/// Values as texts.
enum Values {
    /// In one attribute.
    List(Vec<String>),
    /// Each in an element of its own.
    Each(Vec<String>),
}

fn values(value: &ParameterValue) -> Values {
    match value {
        ParameterValue::Float(numbers) => {
            Values::List(numbers.iter().map(|number| double(*number)).collect())
        }
        ParameterValue::Integer(numbers) => {
            Values::List(numbers.iter().map(i128::to_string).collect())
        }
        ParameterValue::Boolean(truths) => {
            Values::List(truths.iter().map(bool::to_string).collect())
        }
        ParameterValue::String(texts) => Values::Each(texts.clone()),
        ParameterValue::Enumeration(items) => {
            Values::Each(items.iter().map(|item| item.name.clone()).collect())
        }
        ParameterValue::Binary(all) => {
            let digits = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            Values::Each(all.iter().map(digits).collect())
        }
    }
}
