//! The archive that is written.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{ExportError, FmiVersion};

/// An archive on its way to a file, which it replaces when it is whole.
pub(crate) struct Package {
    /// None once it is finished.
    writer: Option<ZipWriter<BufWriter<File>>>,
    unfinished: PathBuf,
    path: PathBuf,
}

/// What is not finished does not stay.
impl Drop for Package {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            let _ = std::fs::remove_file(&self.unfinished);
        }
    }
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

    fn writer(&mut self) -> &mut ZipWriter<BufWriter<File>> {
        let writer = self.writer.as_mut();
        writer.expect("BUG: a package is finished once, at its end")
    }

    fn options() -> SimpleFileOptions {
        SimpleFileOptions::default()
    }

    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let started = self.writer().start_file(name, Self::options());
        started.map_err(|error| wrong(&self.path, error))?;
        let written = self.writer().write_all(bytes);
        written.map_err(|error| wrong(&self.path, error))
    }

    pub fn add_text(&mut self, name: &str, text: &str) -> Result<(), ExportError> {
        self.add_bytes(name, text.as_bytes())
    }

    pub fn add_file(&mut self, name: &str, file: &Path) -> Result<(), ExportError> {
        let mut source = File::open(file).map_err(|error| wrong(file, error))?;
        let options = Self::options().large_file(false).unix_permissions(0o755);
        let started = self.writer().start_file(name, options);
        started.map_err(|error| wrong(&self.path, error))?;
        std::io::copy(&mut source, self.writer()).map_err(|error| wrong(file, error))?;
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
            let own = format!("{name}/{}", entry.file_name().to_string_lossy());
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

    pub fn finish(mut self) -> Result<(), ExportError> {
        let finished = match self.writer.take() {
            Some(writer) => self.close(writer),
            None => Ok(()),
        };
        if finished.is_err() {
            let _ = std::fs::remove_file(&self.unfinished);
        }
        finished
    }

    fn close(&self, writer: ZipWriter<BufWriter<File>>) -> Result<(), ExportError> {
        let written = writer.finish().map_err(|error| wrong(&self.path, error))?;
        let file = written.into_inner();
        drop(file.map_err(|error| wrong(&self.path, error))?);
        let renamed = std::fs::rename(&self.unfinished, &self.path);
        renamed.map_err(|error| wrong(&self.path, error))
    }
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> ExportError {
    ExportError::File {
        path: path.to_owned(),
        what: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_packed_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut package = Package::create(&folder.path().join("out.fmu")).unwrap();
        package.add_text("a", "b").unwrap();
        let missing = package.add_file("c", &folder.path().join("nowhere"));
        assert!(missing.is_err());
        drop(package);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_package_that_cannot_take_its_place_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.fmu");
        let mut package = Package::create(&out).unwrap();
        package.add_text("a", "b").unwrap();
        std::fs::create_dir(&out).unwrap();
        assert!(package.finish().is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
