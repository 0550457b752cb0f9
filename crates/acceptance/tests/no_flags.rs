//! Libraries never name a flag or a command of the program: what to try is data, which the program
//! words.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Programs: their words are theirs.
const PROGRAMS: [&str; 2] = ["cli", "fixtures"];

/// The text literals of a source file in Rust or C, comments and tests left out.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next();
    let characters: Vec<char> = source.unwrap_or_default().chars().collect();
    let mut rest = &characters[..];
    let mut found = Vec::new();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            ('/', ['/', ..]) => after_line(after),
            ('/', ['*', ..]) => after_block(after),
            ('r', ['"' | '#', ..]) if raw(after).is_some() => {
                let (text, after) = raw(after).unwrap_or_default();
                found.push(text);
                after
            }
            ('"', _) => {
                let (text, after) = quoted(after);
                found.push(text);
                after
            }
            ('\'', ['\\', _, after @ ..]) => after,
            ('\'', [_, '\'', after @ ..]) => after,
            _ => after,
        };
    }
    found
}

fn after_line(rest: &[char]) -> &[char] {
    let end = rest.iter().position(|c| *c == '\n');
    &rest[end.unwrap_or(rest.len())..]
}

fn after_block(rest: &[char]) -> &[char] {
    let end = rest.windows(2).position(|pair| pair == ['*', '/']);
    &rest[end.map_or(rest.len(), |end| end + 2)..]
}

/// A text up to its closing quote, and what comes after it.
fn quoted(rest: &[char]) -> (String, &[char]) {
    let mut text = String::new();
    let mut rest = rest;
    loop {
        rest = match rest {
            ['\\', escaped, after @ ..] => {
                text.push(*escaped);
                after
            }
            ['"', after @ ..] => return (text, after),
            [] => return (text, rest),
            [character, after @ ..] => {
                text.push(*character);
                after
            }
        };
    }
}

/// A raw text after its `r`, and what comes after it; none if this is not one.
fn raw(rest: &[char]) -> Option<(String, &[char])> {
    let marks = rest.iter().take_while(|c| **c == '#').count();
    let body = rest[marks..].strip_prefix(&['"'])?;
    let mut close = vec!['"'];
    close.resize(marks + 1, '#');
    let end = body.windows(close.len()).position(|part| part == close)?;
    Some((body[..end].iter().collect(), &body[end + close.len()..]))
}

/// Whether a text names a flag (`--step`), a command (`` `dovetail run` ``) or the command line
/// itself.
fn names_the_program(text: &str) -> bool {
    let is_flag = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
    let flag = text.split("--").skip(1).any(is_flag);
    flag || text.contains("`dovetail ") || text.contains("command line")
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    let Ok(entries) = read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, all);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "c")
        {
            all.push(path);
        }
    }
}

#[test]
fn libraries_name_no_flags_and_no_commands() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for library in read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        let name = library.file_name().unwrap().to_string_lossy().into_owned();
        if !PROGRAMS.contains(&name.as_str()) {
            sources(&library.join("src"), &mut files);
            sources(&library.join("c"), &mut files);
        }
    }
    assert!(files.len() > 200, "only {} files were found", files.len());
    let mut named = Vec::new();
    for file in files {
        let texts = literals(&read_to_string(&file).unwrap());
        let texts = texts.into_iter().filter(|text| names_the_program(text));
        named.extend(texts.map(|text| format!("{}: {text:?}", file.display())));
    }
    assert!(
        named.is_empty(),
        "a library says what to try by a `Remedy`, which crates/cli/src/remedies.rs words:\n{}",
        named.join("\n")
    );
}

#[test]
fn flags_are_found_in_texts_and_nowhere_else() {
    let source = r##"
        // "--comment"
        /* "--block" */
        let c = '"'; let d = '\''; let name: &'a str = "a \"--quoted\" one";
        let raw = r#"a "--raw" one"#; let minus = x--y; let dashes = "a -- b, a --> b";
        let command = "see `dovetail run`";
        #[cfg(test)]
mod tests { "--test" }"##;
    let source = source.replace("        #[cfg(test)]", "#[cfg(test)]");
    let named: Vec<String> = literals(&source)
        .into_iter()
        .filter(|text| names_the_program(text))
        .collect();
    let expected = [
        "a \"--quoted\" one",
        "a \"--raw\" one",
        "see `dovetail run`",
    ];
    assert_eq!(named, expected);
}
