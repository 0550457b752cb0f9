//! The texts that FMUs exchange.

use dovetail_workers::TextTable;

/// Between processes, texts travel as texts.
pub(crate) const TEXTS: TextTable = TextTable {
    text: |number| dovetail_fmi::number_to_text(number).to_string(),
    number: dovetail_fmi::text_to_number,
    passing: dovetail_fmi::passing_text_to_number,
    keep: |number| drop(dovetail_fmi::number_to_text(number)),
};
