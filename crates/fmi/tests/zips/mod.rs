//! Writes zip archives byte by byte, so that they can be as wrong as a test wants, and folders that
//! go away after it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder for one test, removed at its end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An entry of an archive; its defaults are those of an honest one.
#[derive(Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    /// Mode of Unix, in the upper half of the external attributes.
    pub mode: u32,
    /// Declared size, if it is not that of the data.
    pub size: Option<u32>,
    /// Where its local header is said to be, if not where it is.
    pub header: Option<u32>,
}

pub fn entry(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Entry {
    Entry {
        name: name.as_ref().to_vec(),
        data: data.as_ref().to_vec(),
        method: 0,
        flags: 0,
        mode: 0o100_644,
        size: None,
        header: None,
    }
}

/// An archive of entries, stored without compression.
pub fn zip(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let start = bytes.len() as u32;
        bytes.extend(0x0403_4b50_u32.to_le_bytes());
        bytes.extend(common(entry));
        bytes.extend(&entry.name);
        bytes.extend(&entry.data);
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        directory.extend([20, 3]);
        directory.extend(common(entry));
        directory.extend([0; 6]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(entry.header.unwrap_or(start).to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(0x0605_4b50_u32.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

/// What local and central headers share.
fn common(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(20_u16.to_le_bytes());
    bytes.extend(entry.flags.to_le_bytes());
    bytes.extend(entry.method.to_le_bytes());
    bytes.extend([0, 0, 0x21, 0]);
    bytes.extend(crc32(&entry.data).to_le_bytes());
    bytes.extend((entry.data.len() as u32).to_le_bytes());
    bytes.extend(entry.size.unwrap_or(entry.data.len() as u32).to_le_bytes());
    bytes.extend((entry.name.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32, _| {
        if crc & 1 == 1 {
            crc >> 1 ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    !data
        .iter()
        .fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// An honest archive that looks like an FMU.
pub fn unit() -> Vec<u8> {
    let mut program = entry("resources/solver", "#!/bin/sh\n");
    program.mode = 0o100_755;
    zip(&[
        entry("modelDescription.xml", "<fmiModelDescription/>"),
        entry("binaries/", ""),
        entry("binaries/linux64/unit.so", vec![7; 5000]),
        entry("resources/mesures été/温度.csv", "0,1\n"),
        program,
    ])
}
