//! Options come from the descriptions of methods and solvers, wherever they are shown or given.

use std::path::PathBuf;

use dovetail::methods::{OptionSpec, ValueKind};
use dovetail::scenario::registry;
use dovetail::{Model, option_table, option_tables};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Rewrite the page with `DOVETAIL_OPTIONS=write cargo test -p dovetail-cosim --test options`.
#[test]
fn the_manual_has_the_options_that_there_are() {
    let page = root().join("book/src/options.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (introduction, tables) = text.split_once("## Every run").unwrap();
    let now = option_tables(&registry());
    if std::env::var_os("DOVETAIL_OPTIONS").is_some() {
        std::fs::write(&page, format!("{introduction}{now}")).unwrap();
    } else {
        assert_eq!(format!("## Every run{tables}"), now);
    }
}

/// A page with the tables between its marks, `<!-- options of METHOD -->` and `<!-- end of options -->`, as they are now.
fn with_tables(text: &str) -> String {
    let mut pieces = text.split("<!-- options of ");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (method, rest) = piece.split_once(" -->").unwrap();
        let (_, rest) = rest.split_once("<!-- end of options -->").unwrap();
        let table = option_table(&registry(), method).expect("a method that there is");
        page += &format!("<!-- options of {method} -->\n{table}<!-- end of options -->{rest}");
    }
    page
}

/// Rewrite them in the same way.
#[test]
fn the_pages_of_methods_have_their_options() {
    let pages = std::fs::read_dir(root().join("book/src/methods")).unwrap();
    let mut tables = 0;
    for page in pages.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let now = with_tables(&text);
        tables += now.matches("<!-- options of ").count();
        if std::env::var_os("DOVETAIL_OPTIONS").is_some() {
            std::fs::write(&page, now).unwrap();
        } else {
            assert_eq!(text, now, "{}", page.display());
        }
    }
    assert_eq!(tables, 4);
}

/// Whether the default is a value, rather than words.
fn is_a_value(option: &OptionSpec) -> bool {
    matches!(option.value, ValueKind::Choice(_)) || option.default.parse::<f64>().is_ok()
}

#[test]
fn saying_a_default_aloud_changes_nothing() {
    let model = Model::load(root().join("examples/lotka-volterra/model.toml")).unwrap();
    for kind in registry().methods() {
        let plain = model.simulation().method(kind.name()).run().unwrap();
        for option in kind.options().iter().filter(|option| is_a_value(option)) {
            let simulation = model.simulation().method(kind.name());
            let said = simulation.option(option.key, option.default).run().unwrap();
            let text = format!("{} {}={}", kind.name(), option.key, option.default);
            assert_eq!(said.summary().steps, plain.summary().steps, "{text}");
            for name in plain.names() {
                let same = said.column(name).unwrap() == plain.column(name).unwrap();
                assert!(same, "{text}: {name}");
            }
        }
    }
}
