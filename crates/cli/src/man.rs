//! `dovetail man`: manual pages, one for each command.

use std::fs;
use std::path::Path;

use clap::CommandFactory;

use crate::command_line::Arguments;
use crate::failure::Failure;
use crate::output;

pub(crate) fn write(folder: &Path) -> Result<(), Failure> {
    let refuse = |error| Failure::cannot_write(folder, error);
    let path = output::from_home(folder);
    fs::create_dir_all(&path).map_err(refuse)?;
    clap_mangen::generate_to(Arguments::command(), &path).map_err(refuse)?;
    output::print(&format!(
        "Manual pages are in {}; `man -l {}/dovetail.1` shows the first.\n",
        folder.display(),
        folder.display()
    ))
}
