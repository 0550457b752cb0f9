//! Entries of one name. Some tools write an entry twice; where both are the same, it does not
//! matter which one counts.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

/// The record at the end of an archive, its signature and its length without a comment.
const END: [u8; 4] = *b"PK\x05\x06";
const END_LENGTH: usize = 22;
/// An entry of the directory.
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const ENTRY_LENGTH: usize = 46;
/// A directory larger than this is not looked through.
const LARGEST: u64 = 64 << 20;

/// The first entry that is there twice with different content, by the sizes and checksums in the
/// directory; an error where the directory cannot be followed.
pub(super) fn differing<R: Read + Seek>(file: &mut R) -> std::io::Result<Option<String>> {
    let directory = directory(file)?;
    let mut known = HashMap::new();
    let mut rest = &directory[..];

    while rest.len() >= ENTRY_LENGTH && rest[..4] == ENTRY {
        let [name, extra, comment] =
            [28, 30, 32].map(|at| usize::from(u16::from_le_bytes([rest[at], rest[at + 1]])));
        let end = ENTRY_LENGTH + name;
        let Some(bytes) = rest.get(ENTRY_LENGTH..end) else {
            return Err(damaged());
        };
        // Checksum, and the size of the content.
        let content = (number(rest, 16), number(rest, 24));
        if known
            .insert(bytes.to_vec(), content)
            .is_some_and(|before| before != content)
        {
            return Ok(Some(String::from_utf8_lossy(bytes).into_owned()));
        }
        rest = rest.get(end + extra + comment..).ok_or_else(damaged)?;
    }
    Ok(None)
}

/// The directory of the archive.
fn directory<R: Read + Seek>(file: &mut R) -> std::io::Result<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail = length.min(END_LENGTH as u64 + u64::from(u16::MAX));
    let mut end = vec![0; tail as usize];
    file.seek(SeekFrom::Start(length - tail))?;
    file.read_exact(&mut end)?;
    let last = end.len().checked_sub(END_LENGTH).ok_or_else(damaged)?;
    let record = (0..=last)
        .rev()
        .find(|&at| end[at..at + 4] == END)
        .ok_or_else(damaged)?;
    let size = u64::from(number(&end[record..], 12));
    let start = u64::from(number(&end[record..], 16));
    if size > LARGEST || start == u64::from(u32::MAX) {
        return Err(damaged()); // an archive that large is written otherwise
    }

    let mut directory = vec![0; size as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut directory)?;

    Ok(directory)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn damaged() -> std::io::Error {
    std::io::Error::other("its directory cannot be followed")
}
