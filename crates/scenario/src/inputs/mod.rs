//! Inputs that are known beforehand: tables in files, and expressions of time.

pub(crate) mod attach;
pub(crate) mod csv_rows;
pub(crate) mod driving;
pub(crate) mod expression;
pub(crate) mod outside;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_rows;
pub(crate) mod pieces;
pub(crate) mod rows;
pub(crate) mod table_drive;
pub(crate) mod table_file;
pub(crate) mod table_format;
pub(crate) mod whole_table;
