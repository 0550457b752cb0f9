//! Large model files, read piece by piece.
//!
//! The reader of TOML keeps every token of its text until it has read all of it: more than ten
//! times the text. A large file is therefore divided where a system or a connection begins, and
//! each piece is read as a file of its own. Whatever goes wrong with that, a boundary in the midst
//! of a text, a system in two pieces, a mistake in the file, is not judged here: the file is then
//! read as a whole.

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::toml_file::{self, ModelFile};
use crate::diagnostic::{Problem, SourceText};

/// A piece has at least so many bytes: then tokens are few beside the rest of a large model.
const LEAST_BYTES: usize = 1 << 16;

/// Reads a model file of any size.
pub(crate) fn parse(source: &SourceText) -> Result<ModelFile, Problem> {
    read(&source.text).map_or_else(|| toml_file::parse(source), Ok)
}

/// The file as its pieces say it; nothing where it has only one, or they do not go together.
fn read(text: &str) -> Option<ModelFile> {
    let mut pieces = pieces(text).peekable();
    let mut whole: Option<ModelFile> = None;
    let mut offset = 0;

    while let Some(piece) = pieces.next() {
        if whole.is_none() && pieces.peek().is_none() {
            return None;
        }
        let read = read_piece(piece, offset)?;
        offset += piece.len();
        match &mut whole {
            None => whole = Some(read),
            Some(whole) => whole.append(read)?,
        }
    }
    whole
}

/// The text, divided before lines with which a system or a connection begins.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = boundary(rest)?;
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Where the first piece of a text ends.
fn boundary(text: &str) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if end >= LEAST_BYTES && begins_a_part(line) {
            break;
        }
        end += line.len();
    }
    Some(end)
}

/// `[systems.name]` or `[[connections]]`; not `[systems.name.part]`.
fn begins_a_part(line: &str) -> bool {
    let system = line.strip_prefix("[systems.");
    system.is_some_and(|name| !name.contains('.')) || line.starts_with("[[connections]]")
}

/// A piece that begins at `offset`. Only one of all pieces has the header: the others get an empty
/// one.
fn read_piece(piece: &str, offset: usize) -> Option<ModelFile> {
    let mut table = DeTable::parse(piece).ok()?.into_inner();
    let name = Spanned::new(0..0, "model".into());
    let is_first = offset == 0;
    if is_first != table.contains_key(&name) {
        return None;
    }
    if !is_first {
        let header = Spanned::new(0..0, DeValue::Table(DeTable::new()));
        table.insert(name, header);
    }

    let table = Spanned::new(offset..offset + piece.len(), shifted_table(table, offset));
    ModelFile::deserialize(Deserializer::from(table)).ok()
}

/// The same, its places those of the whole file.
fn shifted_table(table: DeTable<'_>, offset: usize) -> DeTable<'_> {
    let entries = table.into_iter();
    let shift = |(key, value)| (shifted(key, offset), shifted_value(value, offset));
    entries.map(shift).collect()
}

fn shifted_value(value: Spanned<DeValue<'_>>, offset: usize) -> Spanned<DeValue<'_>> {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::Table(table) => DeValue::Table(shifted_table(table, offset)),
        DeValue::Array(array) => {
            let values = array.into_iter();
            DeValue::Array(values.map(|value| shifted_value(value, offset)).collect())
        }
        plain => plain,
    };
    shifted(Spanned::new(span, value), offset)
}

fn shifted<T>(value: Spanned<T>, offset: usize) -> Spanned<T> {
    let span = value.span();
    Spanned::new(span.start + offset..span.end + offset, value.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that is read in several pieces.
    fn large() -> String {
        let mut text = String::from("[model]\nstop-time = 1.0\n");
        while text.len() < 4 * LEAST_BYTES {
            let k = text.len();
            text += &format!(
                "[systems.s{k}]\nstates = {{ x = [1, 2] }}\nequations = \"\"\"\nder(x) = -x\n\"\"\"\n\
                 [[systems.s{k}.when]]\ncondition = \"x > 1\"\n[[connections]]\nvalue = 1\nto = \"s{k}.u\"\n"
            );
        }
        text + "[method]\nname = \"jacobi\"\n"
    }

    fn whole(text: &str) -> ModelFile {
        toml::from_str(text).expect("a model")
    }

    #[test]
    fn pieces_say_what_the_whole_says_places_included() {
        let text = large();
        assert!(pieces(&text).count() > 2);
        assert_eq!(pieces(&text).collect::<String>(), text);
        let read = read(&text).expect("pieces that go together");
        assert_eq!(format!("{read:?}"), format!("{:?}", whole(&text)));
    }

    #[test]
    fn a_small_file_has_no_pieces() {
        assert!(read("[model]\nstop-time = 1\n").is_none());
        assert!(read("").is_none());
    }

    #[test]
    fn what_does_not_go_together_is_left_to_the_whole() {
        let text = large();
        let twice = format!("{text}[systems.s24]\nstates = {{ x = 1 }}\n");
        assert!(read(&twice).is_none(), "a system in two pieces");
        let method = format!("{text}[systems.last]\n[method]\nname = \"jacobi\"\n");
        assert!(read(&method).is_none(), "a table in two pieces");
        let header = format!("{text}[systems.last]\n[model]\n");
        assert!(read(&header).is_none(), "two headers");
        let broken = format!("{text}[systems.last]\nstates = {{");
        assert!(read(&broken).is_none(), "a mistake");
        let unknown = format!("{text}[systems.last]\n[nonsense]\n");
        assert!(read(&unknown).is_none(), "an unknown table");
    }

    #[test]
    fn a_text_that_looks_like_a_header_is_no_boundary() {
        let padding = "# so long\n".repeat(LEAST_BYTES / 10);
        let text = format!(
            "[model]\n[systems.a]\nequations = \"\"\"\n{padding}[systems.b]\n\"\"\"\n[systems.c]\n"
        );
        assert!(read(&text).is_none());
        assert_eq!(whole(&text).systems.len(), 2);
    }
}
