//! What a run leaves behind: recorded variables, result files, error measures, summaries and a page
//! to look at.
//!
//! ```text
//! Exchange ──▶ Recorder ──row──▶ Sink: Trajectory | CsvFile | ParquetFile | LastRow
//!                                        │
//!                     ReferenceFile ──▶ measure ──▶ RunSummary ──▶ JSON, text, HTML
//!
//! enclosure ──box──▶ Tubes | TubeFile ──▶ EnclosureSummary ──▶ JSON, text, HTML
//! ```
//!
//! Nothing here changes a run: whatever is recorded, and however, its values are the same to the
//! last bit.

mod band;
mod canvas;
mod column;
mod compare_page;
mod comparison;
mod csv_file;
mod enclose_page;
mod enclosure;
mod envelope;
mod errors;
pub mod html;
mod interpolation;
mod json;
mod linear_model;
mod live_page;
mod mat_file;
mod mat_trajectory;
mod number;
mod page;
mod paper_table;
#[cfg(feature = "parquet")]
mod parquet_file;
mod picture;
mod plot;
mod recent_points;
mod recorder;
mod reference;
mod reference_rows;
mod requirement;
mod run_page;
mod schedule;
mod sink;
mod summary;
mod system_history;
mod table;
mod text;
mod thinning;
mod ticks;
mod trajectory;
mod tube_file;
mod tubes;
mod variables;
mod verdict;
mod wrap;

pub use band::Band;
pub use compare_page::{ComparisonPage, RunCurves};
pub use comparison::{NOT_VARIED, comparison_table};
pub use csv_file::CsvFile;
pub use enclose_page::{AnsweredRequirement, EnclosurePage};
pub use enclosure::{EnclosureSummary, LooseBound};
pub use envelope::{Envelope, MOST_ROWS};
pub use errors::{ErrorMeasures, Measure, measure, measured_order};
pub use linear_model::LinearModel;
pub use live_page::{LivePage, LiveRows, Settable};
pub use mat_file::MatFile;
pub use mat_trajectory::MatTrajectory;
pub use number::significant;
pub use page::Origin;
pub use paper_table::{TableFormat, paper_table};
#[cfg(feature = "parquet")]
pub use parquet_file::ParquetFile;
pub use picture::Picture;
pub use plot::{Curve, band_plot, error_plot, fan_plot, line_plot, point_plot};
pub use recorder::Recorder;
pub use reference::{ReferenceError, ReferenceFile};
pub use requirement::RequirementSummary;
pub use run_page::RunPage;
pub use schedule::{Rows, interval_problem};
pub use sink::{LastRow, NoRows, RowSummary, Sink};
pub use summary::{Comparison, FinalValue, FmiCosts, PaceReport, Quality, RunSummary, SystemWork};
pub use table::{Alignment, Table, commands_a_terminal, for_terminal};
pub use thinning::thinned;
pub use trajectory::Trajectory;
pub use tube_file::TubeFile;
pub use tubes::Tubes;
pub use variables::{Kind, Selection, UnknownPattern, Variable, Variables};
pub use verdict::{Caveat, ErrorSource, VariableError, VariableRanges, Verdict, judge};
pub use wrap::{LINE, paragraph};
