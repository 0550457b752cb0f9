//! Columns of tables and expressions, matched with the inputs that they drive.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dovetail_core::{Mapping, SignalKind, list_names};

use super::driving::{DrivingSignals, Origin};
use super::rows::{Column, TableError};
use super::table_file::{Beyond, Interpolation, TableUse, UsedColumn};
use super::table_format::columns;
use crate::diagnostic::Problem;
use crate::quantity::OwnUnit;
use crate::source::part::Part;
use crate::values_of_variables::seconds_in;

/// A table that is to drive inputs.
#[derive(Clone, Debug)]
pub(crate) struct WantedTable {
    pub path: PathBuf,
    pub place: Option<Range<usize>>,
    pub interpolation: Interpolation,
    pub beyond: Beyond,
    pub time_factor: f64,
    pub columns: Vec<WantedColumn>,
}

/// A column of it, and what it is to drive.
#[derive(Clone, Debug)]
pub(crate) struct WantedColumn {
    pub position: usize,
    pub head: String,
    pub unit: Option<String>,
    pub system: String,
    pub name: String,
    pub place: Option<Range<usize>>,
}

/// An expression of time, and what it is to drive.
#[derive(Clone, Debug)]
pub(crate) struct WantedExpression {
    pub text: String,
    pub system: String,
    pub name: String,
    pub place: Option<Range<usize>>,
}

/// The systems of a model, by whose names columns find their inputs.
pub(crate) struct SystemNames<'a> {
    pub names: Vec<&'a str>,
    /// Where there is only one system its name may be left out.
    pub alone: bool,
}

impl SystemNames<'_> {
    /// `system.name` taken apart; names of systems may have dots, and the longest that fits counts.
    pub fn split(&self, qualified: &str) -> Option<(String, String)> {
        let fitting = self.names.iter().filter_map(|system| {
            let name = qualified.strip_prefix(system)?.strip_prefix('.')?;
            Some((system.len(), *system, name))
        });
        match fitting.max() {
            Some((_, system, name)) => Some((system.to_owned(), name.to_owned())),
            None if self.alone => Some((self.names[0].to_owned(), qualified.to_owned())),
            None => None,
        }
    }
}

/// How a table is connected, as its user says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connecting {
    /// The table of the model file that asks for it.
    pub place: Option<Range<usize>>,
    /// Columns, and what each drives; where there is none, all by their names.
    pub connect: Vec<(String, String, Option<Range<usize>>)>,
    pub interpolation: Interpolation,
    pub beyond: Beyond,
}

/// Reads the head of a table and finds what its columns drive.
pub(crate) fn wanted_table(
    path: &Path,
    connecting: Connecting,
    systems: &SystemNames<'_>,
) -> Result<WantedTable, Problem> {
    let place = connecting.place.clone();
    let refuse = |error: TableError| problem_at(&place, error.to_string());
    let heads = columns(path).map_err(refuse)?;
    let time_factor = time_factor(path, heads.first()).map_err(refuse)?;
    let columns = match connecting.connect.is_empty() {
        true => by_their_names(path, &heads, &place, systems)?,
        false => as_connected(path, &heads, &connecting, systems)?,
    };

    Ok(WantedTable {
        path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        place,
        interpolation: connecting.interpolation,
        beyond: connecting.beyond,
        time_factor,
        columns,
    })
}

fn problem_at(place: &Option<Range<usize>>, message: String) -> Problem {
    Problem {
        span: place.clone(),
        ..Problem::general(message)
    }
}

/// The first column is the time, in seconds unless its head has another unit.
fn time_factor(path: &Path, first: Option<&Column>) -> Result<f64, TableError> {
    let wrong = |message: String| TableError {
        file: path.display().to_string(),
        line: Some(1),
        message,
    };
    let name = first.map_or("", |column| column.name.as_str());
    if !["time", "t"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
    {
        let message = format!("the first column must be `time`, not `{name}`");
        return Err(wrong(message));
    }

    let Some(unit) = first.and_then(|column| column.unit.as_deref()) else {
        return Ok(1.0);
    };
    seconds_in(unit).ok_or_else(|| wrong(format!("`{unit}` is no unit of time")))
}

/// Every column has the name of what it drives.
fn by_their_names(
    path: &Path,
    heads: &[Column],
    place: &Option<Range<usize>>,
    systems: &SystemNames<'_>,
) -> Result<Vec<WantedColumn>, Problem> {
    let named = heads.iter().enumerate().skip(1).map(|(position, column)| {
        let Some((system, name)) = systems.split(&column.name) else {
            return Err(fits_nothing(path, column, place, systems));
        };
        Ok(WantedColumn {
            position,
            head: column.head.clone(),
            unit: column.unit.clone(),
            system,
            name,
            place: place.clone(),
        })
    });
    let named: Vec<WantedColumn> = named.collect::<Result<_, _>>()?;
    if named.is_empty() {
        let message = format!("{}: the table has no column but time", path.display());
        return Err(problem_at(place, message));
    }
    Ok(named)
}

fn fits_nothing(
    path: &Path,
    column: &Column,
    place: &Option<Range<usize>>,
    systems: &SystemNames<'_>,
) -> Problem {
    let names: Vec<String> = systems
        .names
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let message = format!(
        "{}, line 1: the column `{}` fits no input: columns are named `system.input`",
        path.display(),
        column.head
    );
    let help = format!(
        "the systems are {}; or say what it feeds: connect = {{ {:?} = \"system.input\" }}",
        list_names(&names),
        column.head
    );
    problem_at(place, message).help(help)
}

/// The columns that `connect` names.
fn as_connected(
    path: &Path,
    heads: &[Column],
    connecting: &Connecting,
    systems: &SystemNames<'_>,
) -> Result<Vec<WantedColumn>, Problem> {
    let columns = connecting.connect.iter().map(|(head, to, place)| {
        let asked = Column::of(head);
        let fits = |column: &Column| {
            let units = column.unit.as_ref().zip(asked.unit.as_ref());
            column.name == asked.name && units.is_none_or(|(one, other)| one == other)
        };
        let fitting = heads.iter().skip(1).filter(|column| fits(column));
        if fitting.count() > 1 {
            let message = format!(
                "{}, line 1: the table has several columns `{head}`, and which is meant is not known",
                path.display()
            );
            let help = "give each a name or a unit of its own";
            return Err(problem_at(place, message).help(help));
        }
        let Some(position) = heads.iter().skip(1).position(fits) else {
            let message = format!("{} has no column `{head}`", path.display());
            let known: Vec<&str> = heads[1..]
                .iter()
                .map(|column| column.head.as_str())
                .collect();
            let listed: Vec<String> = known.iter().map(|head| (*head).to_owned()).collect();
            let problem = problem_at(place, message);
            return Err(problem
                .help(format!("its columns are {}", list_names(&listed)))
                .suggest(head, known));
        };
        let Some((system, name)) = systems.split(to) else {
            let message = format!("`{to}` is not of the form system.input, with a known system");
            return Err(problem_at(place, message).suggest(to, systems.names.iter().copied()));
        };
        let column = &heads[position + 1];
        Ok(WantedColumn {
            position: position + 1,
            head: column.head.clone(),
            unit: column.unit.clone().or(asked.unit),
            system,
            name,
            place: place.clone(),
        })
    });
    columns.collect()
}

/// Has tables and expressions drive the inputs of `parts` over a run; all that is wrong with tables is said. What the
/// user should know is added to `warnings`.
pub(crate) fn attach(
    parts: &mut [Part],
    tables: Vec<WantedTable>,
    expressions: Vec<WantedExpression>,
    run: (f64, f64),
    warnings: &mut Vec<String>,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for table in tables {
        if let Err(wrong) = attach_table(parts, &table, run, warnings) {
            problems.extend(wrong);
        }
    }
    for expression in expressions {
        problems.extend(attach_expression(parts, expression, run).err());
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

/// A column on its way to an input.
struct Target {
    part: usize,
    input: usize,
    column: UsedColumn,
}

fn attach_table(
    parts: &mut [Part],
    table: &WantedTable,
    run: (f64, f64),
    warnings: &mut Vec<String>,
) -> Result<(), Vec<Problem>> {
    let mut targets = Vec::new();
    let mut problems = Vec::new();
    for column in &table.columns {
        match target(parts, table, column, &targets, warnings) {
            Ok(target) => targets.push(target),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    let mut used = TableUse {
        path: table.path.clone(),
        time_factor: table.time_factor,
        columns: targets.iter().map(|target| target.column).collect(),
        interpolation: table.interpolation,
        beyond: table.beyond,
        span: (0.0, 0.0),
    };
    let checked = used.check().and_then(|()| used.check_covers(run.0, run.1));
    checked.map_err(|error| vec![problem_at(&table.place, error.to_string())])?;

    for (k, part) in parts.iter_mut().enumerate() {
        let own: Vec<&Target> = targets.iter().filter(|target| target.part == k).collect();
        if own.is_empty() {
            continue;
        }
        part.driving.run = run;
        part.driving.signals.push(DrivingSignals {
            inputs: own.iter().map(|target| target.input).collect(),
            origin: Origin::Table(TableUse {
                columns: own.iter().map(|target| target.column).collect(),
                ..used.clone()
            }),
        });
    }
    Ok(())
}

/// The input that a column drives, and how its values are converted.
fn target(
    parts: &[Part],
    table: &WantedTable,
    wanted: &WantedColumn,
    before: &[Target],
    warnings: &mut Vec<String>,
) -> Result<Target, Problem> {
    let refuse = |message: String| {
        let file = table.path.display();
        let message = format!("{file}, line 1: the column `{}`: {message}", wanted.head);
        problem_at(&wanted.place, message)
    };
    let (part, input) = find_input(parts, &wanted.system, &wanted.name, refuse)?;
    let twice = before
        .iter()
        .any(|other| other.part == part && other.input == input);
    if twice || parts[part].driving.inputs().contains(&input) {
        let message = format!("`{}.{}` is driven twice", wanted.system, wanted.name);
        return Err(refuse(message).help("an input has one source"));
    }

    let (factor, offset) = conversion_of(&parts[part], input, wanted, warnings).map_err(refuse)?;
    let described = &parts[part].source.interface().inputs[input];
    Ok(Target {
        part,
        input,
        column: UsedColumn {
            position: wanted.position,
            factor,
            offset,
            held: described.kind != SignalKind::Continuous,
            takes: parts[part].takes(&wanted.name),
        },
    })
}

/// The positions of a system and of its input.
fn find_input(
    parts: &[Part],
    system: &str,
    name: &str,
    refuse: impl Fn(String) -> Problem,
) -> Result<(usize, usize), Problem> {
    let Some(part) = parts.iter().position(|part| part.name() == system) else {
        let message = format!("there is no system `{system}`");
        return Err(refuse(message).suggest(system, parts.iter().map(Part::name)));
    };
    let interface = parts[part].source.interface();
    let position = interface.inputs.iter().position(|input| input.name == name);
    match position {
        Some(input) if interface.inputs[input].kind == SignalKind::Text => Err(refuse(format!(
            "`{system}.{name}` is a text, and tables have numbers"
        ))),
        Some(input) => Ok((part, input)),
        None => {
            let message = format!("`{system}` has no input and no tunable parameter `{name}`");
            let known: Vec<String> = interface.inputs.iter().map(|i| i.name.clone()).collect();
            let problem = refuse(message);
            let problem = match known.is_empty() {
                true => problem.help("it has no inputs at all"),
                false => problem.help(format!("its inputs are {}", list_names(&known))),
            };
            Err(problem.suggest(name, known.iter().map(String::as_str)))
        }
    }
}

/// Factor and offset from the unit of a column to that of an input.
fn conversion_of(
    part: &Part,
    input: usize,
    wanted: &WantedColumn,
    warnings: &mut Vec<String>,
) -> Result<(f64, f64), String> {
    let Some(given) = &wanted.unit else {
        return Ok((1.0, 0.0));
    };
    let interface = part.source.interface();
    let input = &interface.inputs[input];
    let qualified = interface.qualified(&input.name);
    let Some(unit) = &input.unit else {
        warnings.push(format!(
            "`{qualified}` has no unit: the values of `{}` are taken as they are",
            wanted.head
        ));
        return Ok((1.0, 0.0));
    };
    match mapping_between(part, &input.name, unit, given)? {
        Mapping::Affine { factor, offset } => Ok((factor, offset)),
        _ => Ok((1.0, 0.0)),
    }
}

/// From numbers in the unit `given` to those of a variable of `part` whose unit is `own`.
pub(crate) fn mapping_between(
    part: &Part,
    name: &str,
    own: &str,
    given: &str,
) -> Result<Mapping, String> {
    let defined = part.source.unit_of_measure(name);
    let own = OwnUnit {
        name: own,
        definition: defined.map(|defined| defined.definition),
        relative: defined.is_some_and(|defined| defined.relative),
    };
    own.mapping_from(given, &format!("{}.{name}", part.name()))
}

fn attach_expression(
    parts: &mut [Part],
    wanted: WantedExpression,
    run: (f64, f64),
) -> Result<(), Problem> {
    let refuse = |message: String| problem_at(&wanted.place, message);
    let (part, input) = find_input(parts, &wanted.system, &wanted.name, refuse)?;
    let qualified = format!("{}.{}", wanted.system, wanted.name);
    if parts[part].driving.inputs().contains(&input) {
        return Err(refuse(format!("the input `{qualified}` is fed twice")));
    }
    let model = super::expression::parse(std::slice::from_ref(&wanted.text)).map_err(&refuse)?;
    if model.jumps() || model.bends() {
        let message = format!(
            "the expression for `{qualified}` switches at times that are not known beforehand"
        );
        let help = "compare `time` with numbers, give a table, or write a system with equations \
                    whose output feeds it";
        return Err(refuse(message).help(help));
    }

    let part = &mut parts[part];
    part.driving.run = run;
    part.driving.signals.push(DrivingSignals {
        inputs: vec![input],
        origin: Origin::Expressions(vec![wanted.text]),
    });
    Ok(())
}
