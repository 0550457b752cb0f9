//! The archive that is written.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{ExportError, FmiVersion};

/// An archive on its way to a file, which it replaces when it is whole. What is given up leaves nothing behind.
pub(crate) struct Package {
    /// There until the archive is finished.
    writer: Option<ZipWriter<BufWriter<File>>>,
    unfinished: PathBuf,
    path: PathBuf,
}

impl Package {
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = File::create(&unfinished).map_err(|error| wrong(path, error))?;
        Ok(Self {
            writer: Some(ZipWriter::new(BufWriter::new(file))),
            unfinished,
            path: path.to_owned(),
        })
    }

    fn options() -> SimpleFileOptions {
        SimpleFileOptions::default()
    }

    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let writer = self.writer()?;
        let written = writer.start_file(name, Self::options());
        let written = written.map_err(std::io::Error::from);
        let written = written.and_then(|()| writer.write_all(bytes));
        written.map_err(|error| wrong(&self.path, error))
    }

    pub fn add_text(&mut self, name: &str, text: &str) -> Result<(), ExportError> {
        self.add_bytes(name, text.as_bytes())
    }

    pub fn add_file(&mut self, name: &str, file: &Path) -> Result<(), ExportError> {
        let mut source = File::open(file).map_err(|error| wrong(file, error))?;
        let options = Self::options().large_file(false).unix_permissions(0o755);
        let writer = self.writer()?;
        let started = writer.start_file(name, options);
        let copied = started
            .map_err(std::io::Error::from)
            .and_then(|()| std::io::copy(&mut source, writer));
        copied.map_err(|error| wrong(file, error))?;
        Ok(())
    }

    /// All files in a folder, in the order of their names.
    pub fn add_folder(&mut self, name: &str, folder: &Path) -> Result<(), ExportError> {
        let entries = std::fs::read_dir(folder).map_err(|error| wrong(folder, error))?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let mut entries = entries.map_err(|error| wrong(folder, error))?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let own = entry.file_name().to_string_lossy().into_owned();
            let own = match name.is_empty() {
                true => own,
                false => format!("{name}/{own}"),
            };
            match path.is_dir() {
                true => self.add_folder(&own, &path)?,
                false => self.add_file(&own, &path)?,
            }
        }
        Ok(())
    }

    /// The engine, where importers of this machine look for it.
    pub fn add_library(
        &mut self,
        library: &Path,
        identifier: &str,
        version: FmiVersion,
    ) -> Result<(), ExportError> {
        let platform = match (version, std::env::consts::ARCH) {
            (FmiVersion::Two, "x86_64") => "linux64".to_owned(),
            (_, architecture) => format!("{architecture}-linux"),
        };
        self.add_file(&format!("binaries/{platform}/{identifier}.so"), library)
    }

    fn writer(&mut self) -> Result<&mut ZipWriter<BufWriter<File>>, ExportError> {
        let path = &self.path;
        let writer = self.writer.as_mut();
        writer.ok_or_else(|| wrong(path, "BUG: the archive is finished"))
    }

    pub fn finish(mut self) -> Result<(), ExportError> {
        let path = self.path.clone();
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let written = writer.finish().map_err(|error| wrong(&path, error))?;
        let file = written.into_inner().map_err(|error| wrong(&path, error))?;
        drop(file);
        std::fs::rename(&self.unfinished, &path).map_err(|error| wrong(&path, error))
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        // Where the archive was finished the file has its own name by now.
        let _ = std::fs::remove_file(&self.unfinished);
    }
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> ExportError {
    ExportError::File {
        path: path.to_owned(),
        what: error.to_string(),
    }
}
