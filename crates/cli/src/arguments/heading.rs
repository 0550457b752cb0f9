//! Under which headings the help lists flags.

/// What is simulated.
pub(crate) const MODEL: &str = "Model and inputs";
/// How it is coupled.
pub(crate) const METHOD: &str = "Method";
/// What results are measured by.
pub(crate) const REFERENCE: &str = "Reference";
/// Which runs a study has.
pub(crate) const STUDY: &str = "Study";
/// What bounds are to say.
pub(crate) const REQUIREMENTS: &str = "Questions";
/// What runs go on from.
pub(crate) const CHECKPOINTS: &str = "Checkpoints";
/// What is kept and shown.
pub(crate) const RESULTS: &str = "Results";
/// What concerns FMUs alone.
pub(crate) const FMUS: &str = "FMUs";
/// Where systems run, and what they may use.
pub(crate) const WORKERS: &str = "Workers";
