//! Any system structure is read or refused, with a line; what is read has no loose ends.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use dovetail_ssp::{DEFAULT_SSD, SspError, read};
use libfuzzer_sys::fuzz_target;

/// The files of a package, in the order in which a text has them, with zeros between.
const FILES: [&str; 5] = [DEFAULT_SSD, "set.ssv", "map.ssm", "bus.ssb", "Part.ssd"];

fuzz_target!(|text: &str| {
    let folder = folder();
    let mut parts = text.split('\0');
    for file in FILES {
        let path = folder.join(file);
        match parts.next() {
            Some(part) => std::fs::write(path, part).expect("the folder can be written"),
            None => drop(std::fs::remove_file(path)),
        }
    }
    match read(&folder.join(DEFAULT_SSD), folder, &mut |_| Ok(folder.clone())) {
        Ok(structure) => {
            for connection in &structure.connections {
                assert!(connection.from.component < structure.components.len());
                assert!(connection.to.component < structure.components.len());
                if let Ok(transform) = connection.route.resolve(None, None) {
                    transform.number(0.5);
                }
            }
            for parameter in structure.components.iter().flat_map(|component| &component.parameters) {
                let _ = parameter.value_in(None);
            }
        }
        Err(SspError::Unreadable { .. }) => {}
        Err(error) => assert!(error.to_string().contains(':')),
    }
});

/// A folder for this process, with an FMU and a package in it, which are empty.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("dovetail-fuzz-ssd-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        for file in ["Unit.fmu", "Part.ssp"] {
            std::fs::write(folder.join(file), "").expect("the folder can be written");
        }
        folder
    })
}
