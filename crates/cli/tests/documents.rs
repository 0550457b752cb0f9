//! The documents tell the truth: their commands run, and their links lead somewhere.
//!
//! In a block marked `console` every line that begins with `$ dovetail ` is run, in a folder of its own with a copy of the
//! examples and every block that is marked with a file's name (`toml tank.toml`). It must end with exit code 0, or with the
//! `N` of a closing comment `# exit code N`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MARK: &str = "# exit code ";

#[test]
fn commands_in_documents_run() {
    let mut count = 0;
    for document in documents() {
        let text = read(&document);
        let folder = tempfile::tempdir().unwrap();
        copy_examples(folder.path());
        for block in blocks(&text) {
            if let Some((_, name)) = block.info.split_once(' ') {
                fs::write(folder.path().join(name), &block.body).unwrap();
            }
        }
        provide_fmus(&text, folder.path());
        for line in blocks(&text)
            .iter()
            .filter(|block| block.info == "console")
            .flat_map(|block| block.body.lines())
        {
            if let Some(command) = line.strip_prefix("$ dovetail ") {
                run(command, folder.path(), &document);
                count += 1;
            }
        }
    }
    assert!(
        count > 20,
        "only {count} commands were found: has the way of writing them changed?"
    );
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut count = 0;
    for document in documents() {
        for link in links(&prose(&read(&document)))
            .iter()
            .filter(|link| !link.contains("://"))
        {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(file)
            };
            assert!(
                target.exists(),
                "{}: there is no {link}",
                document.display()
            );
            let found = anchor.is_empty()
                || anchors(&prose(&read(&target)))
                    .iter()
                    .any(|known| known == anchor);
            assert!(found, "{}: there is no heading {link}", document.display());
            count += 1;
        }
    }
    assert!(
        count > 20,
        "only {count} links were found: has the way of writing them changed?"
    );
}

#[test]
fn the_summary_lists_every_page_of_the_book() {
    let book = root().join("book/src");
    let listed: Vec<PathBuf> = links(&read(&book.join("SUMMARY.md")))
        .iter()
        .map(|link| book.join(link))
        .collect();
    for page in markdown(&book) {
        assert!(
            page.ends_with("SUMMARY.md") || listed.contains(&page),
            "{} is not in SUMMARY.md",
            page.display()
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents() -> Vec<PathBuf> {
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ]
    .map(|name| root().join(name));
    top.into_iter()
        .chain(markdown(&root().join("book/src")))
        .chain(markdown(&root().join("examples")))
        .collect()
}

/// All Markdown files in a folder and the folders in it, sorted.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let inside = |path: PathBuf| {
        if path.is_dir() {
            markdown(&path)
        } else {
            vec![path]
        }
    };
    entries
        .into_iter()
        .flat_map(inside)
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect()
}

fn copy_examples(into: &Path) {
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let from = entry.unwrap().path();
        let to = into.join("examples").join(from.file_name().unwrap());
        fs::create_dir_all(&to).unwrap();
        fs::copy(from.join("model.toml"), to.join("model.toml")).unwrap();
    }
}

/// The test FMUs, `fmus/NAME.fmu`, that commands and files of a document name.
fn provide_fmus(text: &str, folder: &Path) {
    let is_run = |block: &&Block| block.info == "console" || block.info.contains(' ');
    let wanted: String = blocks(text)
        .iter()
        .filter(is_run)
        .map(|block| &*block.body)
        .collect();
    if !wanted.contains("fmus/") {
        return;
    }

    fs::create_dir(folder.join("fmus")).unwrap();
    for (name, fixture) in dovetail_fixtures::valid() {
        let file = format!("fmus/{name}.fmu");
        if wanted.contains(&file) {
            fs::copy(fixture.build(), folder.join(file)).unwrap();
        }
    }
}

/// A fenced block: what stands behind the fence, and what stands in it.
struct Block {
    info: String,
    body: String,
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, bool) = (vec![], false);
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            open = !open;
            if open {
                found.push(Block {
                    info: info.trim().to_owned(),
                    body: String::new(),
                });
            }
        } else if open && let Some(block) = found.last_mut() {
            block.body += line;
            block.body.push('\n');
        }
    }
    assert!(!open, "a fenced block is not closed");
    found
}

/// The text without its fenced blocks.
fn prose(text: &str) -> String {
    let mut inside = false;
    let kept = text.lines().filter(|line| {
        inside ^= line.starts_with("```");
        !inside
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// Targets of `[text](target)` and `![text](target)`.
fn links(text: &str) -> Vec<String> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors that headings make: small letters, digits and hyphens.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .replace(' ', "-");
        words
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            .collect()
    };
    headings.map(anchor).collect()
}

fn run(line: &str, folder: &Path, document: &Path) {
    let (command, code) = match line.split_once(MARK) {
        Some((command, code)) => (
            command,
            code.trim().parse().expect("a number after `# exit code`"),
        ),
        None => (line, 0),
    };
    // No word of a command contains a blank: quotes only keep the shell from its wildcards.
    let words = command
        .split_whitespace()
        .map(|word| word.trim_matches('\''));
    let output = Command::new(env!("CARGO_BIN_EXE_dovetail"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{}: dovetail {command}\n{said}",
        document.display()
    );
}
