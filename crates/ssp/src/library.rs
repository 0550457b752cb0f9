//! The files of a system structure, each read once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use roxmltree::{Document, Node};

use crate::error::{Place, SspError};
use crate::source::{Folder, Reference, Target};
use crate::ssd::Description;
use crate::ssm::MappingEntry;
use crate::ssv::SetParameter;
use crate::structure::Connector;
use crate::warnings::Warnings;
use crate::xml::{Reader, tag};
use crate::{ssb, ssd, ssm, ssv};

/// The default system structure of a package.
pub const DEFAULT_SSD: &str = "SystemStructure.ssd";

/// Unpacks an archive, a nested `.ssp` or an FMU with parameters inside, and returns its folder; or
/// says why it cannot.
pub type Unpack<'a> = dyn FnMut(&Path) -> Result<PathBuf, String> + 'a;

/// A file that takes more than this is no system structure.
const LARGEST: u64 = 1 << 30;

pub(crate) struct Library<'u> {
    unpack: &'u mut Unpack<'u>,
    pub warnings: Warnings,
    kept: KeptFiles,
}

/// What was read, by file.
#[derive(Default)]
struct KeptFiles {
    descriptions: HashMap<PathBuf, Rc<Description>>,
    sets: HashMap<PathBuf, Rc<Vec<SetParameter>>>,
    mappings: HashMap<PathBuf, Rc<Vec<MappingEntry>>>,
    dictionaries: HashMap<PathBuf, Rc<Vec<Connector>>>,
    packages: HashMap<PathBuf, PathBuf>,
}

/// Content that is somewhere inside a file that is kept.
pub(crate) enum Loaded<'a, T> {
    Inline(&'a T),
    File(Rc<T>),
}

impl<T> std::ops::Deref for Loaded<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Inline(content) => content,
            Self::File(content) => content,
        }
    }
}

impl<'u> Library<'u> {
    pub fn new(unpack: &'u mut Unpack<'u>) -> Self {
        Self {
            unpack,
            warnings: Warnings::default(),
            kept: KeptFiles::default(),
        }
    }

    pub fn warn(&mut self, place: &Place, message: impl AsRef<str>) {
        self.warnings.at(place, message.as_ref());
    }

    pub fn description(
        &mut self,
        file: &Path,
        folder: &Folder,
    ) -> Result<Rc<Description>, SspError> {
        if let Some(known) = self.kept.descriptions.get(file) {
            return Ok(known.clone());
        }

        let description = Rc::new(parse(&mut self.warnings, file, folder, ssd::read)?);
        self.kept
            .descriptions
            .insert(file.into(), description.clone());
        Ok(description)
    }

    /// The folder of an unpacked archive.
    pub fn package(
        &mut self,
        archive: &Path,
        uri: &str,
        place: &Place,
    ) -> Result<PathBuf, SspError> {
        if let Some(known) = self.kept.packages.get(archive) {
            return Ok(known.clone());
        }

        let unpacked = if archive.is_dir() {
            Ok(archive.into())
        } else {
            (self.unpack)(archive)
        };
        let folder = unpacked.map_err(|reason| {
            source_error(
                place,
                uri,
                format!("the archive cannot be unpacked: {reason}"),
                "check that it is a zip archive",
            )
        })?;
        self.kept.packages.insert(archive.into(), folder.clone());

        Ok(folder)
    }

    pub fn set<'a>(
        &mut self,
        reference: &'a Reference<Vec<SetParameter>>,
        site: &Site,
    ) -> Result<Loaded<'a, Vec<SetParameter>>, SspError> {
        self.load(reference, site, |kept| &mut kept.sets, read_set)
    }

    pub fn mapping<'a>(
        &mut self,
        reference: &'a Reference<Vec<MappingEntry>>,
        site: &Site,
    ) -> Result<Loaded<'a, Vec<MappingEntry>>, SspError> {
        self.load(reference, site, |kept| &mut kept.mappings, read_mapping)
    }

    pub fn dictionary<'a>(
        &mut self,
        reference: &'a Reference<Vec<Connector>>,
        site: &Site,
    ) -> Result<Loaded<'a, Vec<Connector>>, SspError> {
        self.load(
            reference,
            site,
            |kept| &mut kept.dictionaries,
            read_dictionary,
        )
    }

    fn load<'a, T>(
        &mut self,
        reference: &'a Reference<T>,
        site: &Site,
        kept: impl Fn(&mut KeptFiles) -> &mut HashMap<PathBuf, Rc<T>>,
        read: impl FnOnce(&mut Reader, Node) -> Result<T, SspError>,
    ) -> Result<Loaded<'a, T>, SspError> {
        let external = match reference {
            Reference::Inline(content) => return Ok(Loaded::Inline(content)),
            Reference::External(external) => external,
        };
        let (file, folder) = match site.component {
            Some(component) if external.of_component => {
                self.inside(component, &external.source, site)?
            }
            _ => (site.resolve(&external.source)?.path, site.folder.clone()),
        };
        if let Some(known) = kept(&mut self.kept).get(&file) {
            return Ok(Loaded::File(known.clone()));
        }
        if !file.is_file() {
            return Err(missing(site.place, &external.source, &file, &folder));
        }

        let content = Rc::new(parse(&mut self.warnings, &file, &folder, read)?);
        kept(&mut self.kept).insert(file, content.clone());
        Ok(Loaded::File(content))
    }

    /// A file beside a component, which is what RFC 3986 makes of the URI, or else inside it, which
    /// is what SSP means.
    fn inside(
        &mut self,
        component: &Path,
        uri: &str,
        site: &Site,
    ) -> Result<(PathBuf, Folder), SspError> {
        let beside = Folder::of(component, &site.folder.root);
        if let Ok(target) = beside.resolve(uri)
            && target.path.is_file()
        {
            return Ok((target.path, beside));
        }

        let root = self.package(component, uri, site.place)?;
        let folder = Folder {
            base: root.clone(),
            root,
        };
        let target = resolve(&folder, uri, site.place)?;

        Ok((target.path, folder))
    }
}

/// Where a reference is written.
pub(crate) struct Site<'a> {
    pub folder: &'a Folder,
    pub place: &'a Place,
    /// The file of the component that it is written on.
    pub component: Option<&'a Path>,
}

impl Site<'_> {
    pub fn resolve(&self, uri: &str) -> Result<Target, SspError> {
        resolve(self.folder, uri, self.place)
    }
}

fn resolve(folder: &Folder, uri: &str, place: &Place) -> Result<Target, SspError> {
    let target = folder.resolve(uri);
    target.map_err(|refusal| source_error(place, uri, refusal.reason, refusal.help))
}

pub(crate) fn source_error(place: &Place, uri: &str, reason: String, help: &str) -> SspError {
    SspError::Source {
        place: place.clone(),
        source_uri: crate::xml::shortened(uri),
        reason,
        help: help.into(),
    }
}

/// A file that is not where a reference says.
pub(crate) fn missing(place: &Place, uri: &str, file: &Path, folder: &Folder) -> SspError {
    let reason = format!("there is no file `{}`", folder.name(file));
    source_error(
        place,
        uri,
        reason,
        "add it, or correct the path, which is relative to the .ssd",
    )
}

fn read_set(reader: &mut Reader, root: Node) -> Result<Vec<SetParameter>, SspError> {
    expect(reader, root, "ParameterSet", ".ssv")?;
    ssv::read(reader, root, &Rc::default())
}

/// A parameter set in a file of its own, and what is odd about it.
pub(crate) fn read_set_alone(file: &Path) -> Result<(Vec<SetParameter>, Vec<String>), SspError> {
    let root = file.parent().unwrap_or(Path::new(""));
    let mut warnings = Warnings::default();
    let folder = Folder::of(file, root);
    let set = parse(&mut warnings, file, &folder, read_set)?;
    Ok((set, warnings.into_sentences()))
}

fn read_mapping(reader: &mut Reader, root: Node) -> Result<Vec<MappingEntry>, SspError> {
    expect(reader, root, "ParameterMapping", ".ssm")?;
    ssm::read(reader, root)
}

fn read_dictionary(reader: &mut Reader, root: Node) -> Result<Vec<Connector>, SspError> {
    expect(reader, root, "SignalDictionary", ".ssb")?;
    ssb::read(reader, root, &Rc::default())
}

fn expect(reader: &Reader, root: Node, name: &str, ending: &str) -> Result<(), SspError> {
    if tag(root) == name {
        return Ok(());
    }
    Err(reader.malformed(
        root,
        format!("a file that begins with `{name}` was expected here; refer to an {ending} file"),
    ))
}

fn parse<T>(
    warnings: &mut Warnings,
    file: &Path,
    folder: &Folder,
    read: impl FnOnce(&mut Reader, Node) -> Result<T, SspError>,
) -> Result<T, SspError> {
    let text = text(file)?;
    let text = text.trim_start_matches('\u{feff}');
    let name: std::sync::Arc<str> = folder.name(file).into();
    let document = Document::parse(text).map_err(|error| SspError::Syntax {
        place: Place {
            file: name.clone(),
            line: error.pos().row,
        },
        reason: error.to_string(),
    })?;
    let mut reader = Reader::new(name, text, warnings);
    let root = document.root_element();

    read(&mut reader, root)
}

fn text(file: &Path) -> Result<String, SspError> {
    let unreadable = |reason: String, help| SspError::Unreadable {
        file: file.into(),
        reason,
        help,
    };
    let inaccessible = |error: std::io::Error| unreadable(error.to_string(), "check the path");
    let size = std::fs::metadata(file).map_err(inaccessible)?.len();

    if size > LARGEST {
        return Err(unreadable(
            format!("it has {size} bytes"),
            "check that this is the right file",
        ));
    }

    let bytes = std::fs::read(file).map_err(inaccessible)?;
    String::from_utf8(bytes)
        .map_err(|_| unreadable("it is not UTF-8".into(), "SSP has UTF-8 only; save it so"))
}
