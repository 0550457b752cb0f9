//! What is said once between processes, as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Both sides are the same build: what cannot be written or read is a mistake of ours.
pub(crate) fn to_bytes<T: Serialize>(item: &T) -> Vec<u8> {
    postcard::to_allocvec(item).expect("BUG: what is sent to another process can be written")
}

pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes)
        .map_err(|error| format!("BUG: what another process sent cannot be read: {error}"))
}
