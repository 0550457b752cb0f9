//! Models that are not among the examples, by kind: what methods promise is judged by them. No threshold was set on them; on four of the kind
//! `rest` (`drive-shaft`, `gyro`, `rc-ladder`, `servo-valve`) two forms of an estimate were compared.

use std::path::Path;

use dovetail_scenario::{Overrides, Scenario};

use crate::load;

/// A model that is not among the examples.
#[derive(Debug)]
pub struct Unseen {
    /// The name of its file.
    pub name: String,
    text: String,
}

/// The models of one kind, in the order of their names.
pub fn unseen(kind: &str) -> Vec<Unseen> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(kind);
    let files = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("BUG: {}: {error}", folder.display()));
    let read = |path: &Path| Unseen {
        name: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        text: std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("BUG: {}: {error}", path.display())),
    };
    let mut all: Vec<Unseen> = files
        .map(|file| read(&file.expect("BUG: a folder that can be read").path()))
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));

    all
}

impl Unseen {
    /// The model.
    pub fn scenario(&self) -> Scenario {
        self.with(&[])
    }

    /// The model with some values set, as by `--set`.
    pub fn with(&self, values: &[(&str, f64)]) -> Scenario {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), format!("{value:?}")))
            .collect();
        load(
            &self.name,
            &self.text,
            &Overrides {
                values,
                ..Overrides::default()
            },
        )
    }

    /// The model of systems that can do less, by what stands under `restrict`.
    pub fn restricted(&self, restrictions: &str) -> Scenario {
        let text = self.text.replace(
            "outputs    =",
            &format!("restrict   = {{ {restrictions} }}\noutputs    ="),
        );
        load(&self.name, &text, &Overrides::default())
    }
}
