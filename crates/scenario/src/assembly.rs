//! Models that a program puts together, without a file.

use std::ops::Range;

use toml::Spanned;

use crate::catalog::Catalog;
use crate::connected::Connected;
use crate::diagnostic::{BadModel, Problem, SourceText};
use crate::file::connect::connect;
use crate::file::toml_file::ConnectionTable;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::source::system_source::SystemSource;
use crate::times::possible;

/// Systems, connected by name.
#[derive(Debug)]
pub struct Assembly {
    /// The model's name.
    pub name: String,
    /// Start of the run.
    pub start_time: f64,
    /// End of the run.
    pub stop_time: f64,
    /// What the systems are made from.
    pub sources: Vec<Box<dyn SystemSource>>,
    /// For each input, `system.input`, what feeds it.
    pub links: Vec<(String, Feed)>,
    /// The methods that runs may choose from.
    pub catalog: Catalog,
}

/// What feeds an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// An output, `system.output`.
    Output(String),
    /// A number.
    Constant(f64),
}

/// Nothing has a place in a file here.
const NOWHERE: Range<usize> = 0..0;

impl Assembly {
    /// The model, checked.
    pub fn into_scenario(self) -> Result<Scenario, BadModel> {
        let source = SourceText {
            path: self.name.clone(),
            text: String::new(),
        };
        let bad = |problems: Vec<Problem>| BadModel {
            source: source.clone(),
            problems: problems.into_iter().map(without_place).collect(),
        };
        let times = possible(self.start_time, self.stop_time);
        let times = times.map_err(|problem| bad(vec![problem]))?;
        let parts: Vec<Part> = self.sources.into_iter().map(Part::from_source).collect();
        let names = vec![NOWHERE; parts.len()];
        let tables: Vec<_> = self.links.into_iter().map(table).collect();
        let connected = connect(&parts, &names, &tables, false).map_err(bad)?;
        let connected = Connected {
            places: Vec::new(),
            ..connected
        };

        Ok(Scenario {
            catalog: self.catalog,
            ..Scenario::new(source, self.name, times, parts, connected)
        })
    }
}

fn without_place(problem: Problem) -> Problem {
    Problem {
        span: None,
        ..problem
    }
}

/// A link as it would stand in a file.
fn table((to, feed): (String, Feed)) -> Spanned<ConnectionTable> {
    let (from, value) = match feed {
        Feed::Output(name) => (Some(Spanned::new(NOWHERE, name)), None),
        Feed::Constant(number) => {
            let value = toml::Value::Float(number);
            (None, Some(Spanned::new(NOWHERE, value)))
        }
    };
    let to = Spanned::new(NOWHERE, to);
    Spanned::new(NOWHERE, ConnectionTable { from, value, to })
}
