//! Model files: TOML, read and checked.

pub(crate) mod common_keys;
pub(crate) mod connect;
pub(crate) mod constants;
mod events;
pub(crate) mod following;
pub(crate) mod overriding;
pub(crate) mod pieces;
pub(crate) mod read;
mod signals;
pub(crate) mod toml_file;
