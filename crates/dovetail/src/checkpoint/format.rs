//! Bytes that say what they are, who wrote them, and whether they are still what was written.
//!
//! A line that names the format, the version of the format, the version of the program, the length of what follows, what
//! follows, and the SHA-256 of all of this.

use sha2::{Digest, Sha256};

use super::CheckpointError;

/// How every checkpoint begins.
const MAGIC: &[u8] = b"Dovetail checkpoint\n";
/// Checkpoints of another format cannot be read; one of another program could be, but its numbers would not be the same.
const FORMAT: u32 = 1;
const PROGRAM: &str = env!("CARGO_PKG_VERSION");
const SUM: usize = 32;

/// Puts content into a frame.
pub(super) fn seal(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len() + 128);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(PROGRAM.len() as u32).to_le_bytes());
    bytes.extend_from_slice(PROGRAM.as_bytes());
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(content);
    let sum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&sum);

    bytes
}

/// The content of a frame that is whole, of this format and of this program.
pub(super) fn open(bytes: &[u8]) -> Result<&[u8], CheckpointError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        // The first bytes of a checkpoint are no other file.
        return Err(match MAGIC.starts_with(bytes) && !bytes.is_empty() {
            true => CheckpointError::Truncated,
            false => CheckpointError::Foreign,
        });
    };
    let (format, rest) = number(rest)?;
    if format != FORMAT {
        return Err(CheckpointError::Format {
            found: format,
            known: FORMAT,
        });
    }
    let (length, rest) = number(rest)?;
    let (program, rest) = split(rest, length as usize)?;
    let (length, rest) = split(rest, 8)?;
    let length = u64::from_le_bytes(length.try_into().map_err(|_| CheckpointError::Truncated)?);
    let length = usize::try_from(length).map_err(|_| CheckpointError::Truncated)?;
    let (content, sum) = split(rest, length)?;

    let (sum, beyond) = split(sum, SUM)?;
    let framed = bytes.len() - SUM - beyond.len();
    if Sha256::digest(&bytes[..framed]).as_slice() != sum || !beyond.is_empty() {
        return Err(CheckpointError::Damaged);
    }
    if program != PROGRAM.as_bytes() {
        return Err(CheckpointError::Program {
            found: String::from_utf8_lossy(program).into_owned(),
            known: PROGRAM,
        });
    }
    Ok(content)
}

fn number(bytes: &[u8]) -> Result<(u32, &[u8]), CheckpointError> {
    let (number, rest) = split(bytes, 4)?;
    let number = number.try_into().map_err(|_| CheckpointError::Truncated)?;
    Ok((u32::from_le_bytes(number), rest))
}

fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), CheckpointError> {
    bytes.split_at_checked(at).ok_or(CheckpointError::Truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened() {
        for content in [&b""[..], b"something"] {
            assert_eq!(open(&seal(content)).expect("whole"), content);
        }
    }

    #[test]
    fn whatever_is_cut_off_or_changed_is_noticed() {
        let whole = seal(b"something");
        for length in 1..whole.len() {
            let refused = open(&whole[..length]).expect_err("cut off");
            assert!(
                matches!(refused, CheckpointError::Truncated),
                "{length}: {refused}"
            );
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x10;
            assert!(open(&changed).is_err(), "{place}");
        }
        assert!(open(&[&whole[..], b"more"].concat()).is_err());
    }

    #[test]
    fn other_files_and_other_versions_are_told_apart() {
        assert!(matches!(open(b""), Err(CheckpointError::Foreign)));
        assert!(matches!(open(b"time,a.x\n"), Err(CheckpointError::Foreign)));

        let mut newer = seal(b"");
        newer[MAGIC.len()] = 7;
        assert!(matches!(
            open(&newer),
            Err(CheckpointError::Format { found: 7, .. })
        ));

        let mut other = seal(b"");
        let program = MAGIC.len() + 8;
        other[program] = b'9';
        let framed = other.len() - SUM;
        let sum = Sha256::digest(&other[..framed]);
        other[framed..].copy_from_slice(&sum);
        assert!(matches!(open(&other), Err(CheckpointError::Program { .. })));
    }
}
