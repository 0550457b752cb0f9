//! A kind of source that systems of a model file can ask for.

use std::path::Path;

use dovetail_core::Restrictions;
use toml::Spanned;

use super::system_source::SystemSource;
use super::table::SystemTable;
use crate::diagnostic::Problem;
use crate::equations::text::KnownModels;
use crate::fmu::store::FmuStore;

/// A kind of source: equations, FMUs, or one that a program adds.
pub trait SourceKind: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The keys in the table of a system that only this kind has. The first of them asks for it.
    fn keys(&self) -> &'static [&'static str];

    /// Checks the table of a system and reads what the system is made from.
    fn read(
        &self,
        name: &Spanned<String>,
        table: &SystemTable,
        reading: &mut Reading<'_>,
    ) -> Result<ReadSystem, Vec<Problem>>;

    /// Makes again what [`SystemSource::portable`] wrote in another process.
    fn restore(&self, _bytes: &[u8]) -> Result<Box<dyn SystemSource>, String> {
        Err(format!(
            "systems of the kind `{}` cannot live in a process of their own",
            self.name()
        ))
    }

    /// Whether values that the user sets are looked up by the source, rather than in the table.
    fn looks_up_values(&self) -> bool {
        true
    }
}

/// What there is beside a system's own table while a model is read.
pub struct Reading<'a> {
    /// The text of the model.
    pub text: &'a str,
    /// The folder of the model, from which files are seen.
    pub folder: &'a Path,
    /// The FMUs of the model, each opened once.
    pub(crate) fmus: FmuStore,
    /// The equations of the model, each compiled once.
    pub(crate) equations: KnownModels,
}

/// A system of a model file, read.
pub struct ReadSystem {
    /// What it is made from.
    pub source: Box<dyn SystemSource>,
    /// What is taken away from it.
    pub restrictions: Option<Restrictions>,
    /// What looks odd.
    pub warnings: Vec<String>,
}
