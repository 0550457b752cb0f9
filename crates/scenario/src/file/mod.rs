//! Model files: TOML, read and checked.

pub(crate) mod common_keys;
pub(crate) mod connect;
pub(crate) mod overriding;
mod pieces;
pub(crate) mod read;
pub(crate) mod toml_file;
