//! The library inside an exported FMU: a coupled model behind the C interface of FMI.
//!
//! ```text
//! fmi2, fmi3   the functions of the standard: pointers in, a status out
//! registry     the instances there are; what importers hold are their numbers, never followed
//! instance     one instance: the order of calls, its values, its run
//! intermediate inputs that an importer gives as functions of time
//! logger       sentences for the importer
//! ```
//!
//! Whatever an importer does wrong is answered by a status and a sentence: a wrong reference, a call out of order, a pointer to
//! nowhere. Nothing is started, and nothing stays behind: no thread, no file, no handler of signals.

mod fmi2;
mod fmi3;
mod instance;
mod intermediate;
mod logger;
mod pointers;
mod registry;
mod resources;

use std::ffi::c_void;
use std::path::PathBuf;

use dovetail::export::ExportedInterface;
use instance::Instance;
use logger::Logger;

/// Makes an instance of the FMU whose resources are where the importer says; null, and a sentence, where that is not possible.
fn instantiate(
    named: Option<PathBuf>,
    token: &str,
    interface: ExportedInterface,
    logger: Logger,
) -> *mut c_void {
    let refused = |logger: Logger, sentence: &str| {
        logger.error(sentence);
        std::ptr::null_mut()
    };
    let resources = match resources::find(named) {
        Ok(resources) => resources,
        Err(sentence) => return refused(logger, &sentence),
    };
    registry::expect();
    match Instance::new(resources, token, interface, logger) {
        Ok(instance) => registry::insert(instance),
        Err((logger, sentence)) => {
            registry::gone();
            refused(logger, &sentence)
        }
    }
}
