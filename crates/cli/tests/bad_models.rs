//! What `dovetail check` says about each model of `bad/`, to the letter: `name.stderr` beside `name.toml`.
//!
//! `DOVETAIL_BLESS=1 cargo test -p dovetail-cli --test bad_models` writes what it says now. Read it before you keep it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Done, command};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn models() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    models.sort();
    models
}

fn check(model: &Path) -> Done {
    let name = model.file_name().unwrap().to_str().unwrap();
    command(&["check", name])
        .current_dir(folder())
        .output()
        .unwrap()
        .into()
}

/// What is wrong with the answer, if anything.
fn fault(model: &Path) -> Option<String> {
    let (found, expected) = (check(model), model.with_extension("stderr"));
    if std::env::var_os("DOVETAIL_BLESS").is_some() {
        fs::write(&expected, &found.err).unwrap();
    }
    let expected = fs::read_to_string(&expected).unwrap_or_default();
    let same = found.code == Some(2) && found.out.is_empty() && found.err == expected;
    (!same).then(|| {
        format!(
            "{}: exit {:?}\n{}instead of\n{expected}",
            model.display(),
            found.code,
            found.err
        )
    })
}

#[test]
fn every_bad_model_is_refused_in_the_words_beside_it() {
    let faults: Vec<String> = models().iter().filter_map(|model| fault(model)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_folder_holds_the_models_it_should() {
    assert!(models().len() > 60);
}
