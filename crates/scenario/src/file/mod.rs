//! Model files: TOML, read and checked.

pub(crate) mod common_keys;
pub(crate) mod connect;
mod constants;
pub(crate) mod overriding;
pub(crate) mod read;
mod signals;
pub(crate) mod toml_file;
