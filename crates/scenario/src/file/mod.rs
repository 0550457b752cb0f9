//! Model files: TOML, read and checked.

pub(crate) mod common_keys;
pub(crate) mod connect;
pub(crate) mod overriding;
pub(crate) mod read;
mod pieces;
pub(crate) mod toml_file;
