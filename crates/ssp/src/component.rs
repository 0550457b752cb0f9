//! What a component stands for: an FMU, another system structure, or nothing yet.

use std::path::PathBuf;

use crate::error::{Place, SspError, known_keys};
use crate::flattener::{Flattener, Located, Member};
use crate::library::{DEFAULT_SSD, Site, missing, source_error};
use crate::source::{Folder, Target};
use crate::ssd::{Content, Element};
use crate::structure::{Component, Implementation};
use crate::xml::shortened;

/// What the file of a component is.
enum FileKind {
    Fmu,
    Definition,
    Package,
}

/// A component with a source.
struct Sourced<'a> {
    path: &'a str,
    element: &'a Element,
    source: &'a str,
    implementation: Implementation,
}

impl Flattener<'_> {
    /// Adds a component, or all that is in the structure it refers to; returns its file with it.
    pub fn instantiate(
        &mut self,
        at: &Located,
        path: &str,
        element: &Element,
    ) -> Result<(Member, Option<PathBuf>), SspError> {
        let Content::Component {
            media_type,
            source,
            implementation,
        } = &element.content
        else {
            unreachable!("BUG: only components are instantiated")
        };
        let Some(source) = source else {
            return Ok((self.empty_system(path, element), None));
        };
        let component = Sourced {
            path,
            element,
            source,
            implementation: *implementation,
        };
        let site = site(&at.folder, &element.place);
        let target = site.resolve(source)?;

        if target.path.as_os_str().is_empty() {
            let scope = self.same_document(at, &component, target.fragment)?;
            return Ok((Member::System(scope), None));
        }

        let kind = file_kind(media_type.as_deref(), &target, &site)?;
        if !target.path.exists() {
            return Err(missing(&element.place, source, &target.path, &at.folder));
        }

        let member = self.content_of(kind, at, &component, &target)?;
        Ok((member, Some(target.path)))
    }

    fn empty_system(&mut self, path: &str, element: &Element) -> Member {
        self.library.warn(
            &element.place,
            format!(
                "the component `{path}` has no source; it was taken as a system with nothing in it"
            ),
        );
        Member::System(self.scope(path, &element.name, &element.connectors))
    }

    fn content_of(
        &mut self,
        kind: FileKind,
        at: &Located,
        component: &Sourced,
        target: &Target,
    ) -> Result<Member, SspError> {
        match kind {
            FileKind::Fmu => Ok(self.fmu(component, target.path.clone())),
            FileKind::Definition => {
                let folder = Folder::of(&target.path, &at.folder.root);
                let inner = self.located(target.path.clone(), folder)?;
                let index = match &target.fragment {
                    Some(id) => by_id(&inner, id, component.element)?,
                    None => inner.root(),
                };
                self.nested(&inner, index, component)
            }
            FileKind::Package => {
                let inner = self.package(target, component)?;
                self.nested(&inner, inner.root(), component)
            }
        }
    }

    fn located(&mut self, file: PathBuf, folder: Folder) -> Result<Located, SspError> {
        let description = self.library.description(&file, &folder)?;
        Ok(Located {
            file,
            folder,
            description,
        })
    }

    fn fmu(&mut self, component: &Sourced, source: PathBuf) -> Member {
        let element = component.element;
        Member::Component(self.component(Component {
            name: component.path.into(),
            source,
            implementation: component.implementation,
            parameters: Vec::new(),
            connectors: element.connectors.clone(),
            place: element.place.clone(),
        }))
    }

    /// A system of the same file, once more.
    fn same_document(
        &mut self,
        at: &Located,
        component: &Sourced,
        id: Option<String>,
    ) -> Result<usize, SspError> {
        let place = &component.element.place;
        let Some(id) = id else {
            let help = "give the path of an FMU, or leave the attribute out";
            let message = "the source is empty".into();
            return Err(source_error(place, component.source, message, help));
        };
        let index = by_id(at, &id, component.element)?;

        self.system(at, index, component.path, place)
    }

    fn package(&mut self, target: &Target, component: &Sourced) -> Result<Located, SspError> {
        let place = &component.element.place;
        let source = component.source;
        let root = self.library.package(&target.path, source, place)?;
        let folder = Folder {
            base: root.clone(),
            root,
        };
        let name = target.fragment.as_deref().unwrap_or(DEFAULT_SSD);
        let ssd = site(&folder, place).resolve(name)?.path;
        if !ssd.is_file() {
            return Err(missing(place, source, &ssd, &folder));
        }

        let folder = Folder::of(&ssd, &folder.root);
        self.located(ssd, folder)
    }

    /// A structure in place of a component. Its own connectors count; what only the component
    /// declares leads nowhere.
    fn nested(
        &mut self,
        inner: &Located,
        index: usize,
        component: &Sourced,
    ) -> Result<Member, SspError> {
        let path = component.path;
        let scope = self.system(inner, index, path, &component.element.place)?;

        for connector in &component.element.connectors {
            let name = &connector.name;
            if !self.scopes[scope].connectors.contains_key(name) {
                let message = format!("the structure behind `{path}` has no connector `{name}`");
                self.library.warn(&connector.place, message);
                self.placeholder(scope, connector);
            }
        }
        Ok(Member::System(scope))
    }
}

/// A component's place, for the files that it refers to.
fn site<'a>(folder: &'a Folder, place: &'a Place) -> Site<'a> {
    Site {
        folder,
        place,
        component: None,
    }
}

/// By the media type, or by the ending of the file where there is none.
fn file_kind(media_type: Option<&str>, target: &Target, site: &Site) -> Result<FileKind, SspError> {
    let unsupported = |what: String, help| SspError::Unsupported {
        place: site.place.clone(),
        what,
        help,
    };
    match media_type.map(without_parameters) {
        Some("application/x-fmu-sharedlibrary") => Ok(FileKind::Fmu),
        Some("application/x-ssp-definition") => Ok(FileKind::Definition),
        Some("application/x-ssp-package") => Ok(FileKind::Package),
        Some("text/x-modelica") => Err(unsupported(
            "a component that is a Modelica model".into(),
            "export it as an FMU and refer to that",
        )),
        None | Some("") => Ok(kind_by_ending(target)),
        Some(other) => Err(unsupported(
            format!("a component of the type `{}`", shortened(other)),
            "refer to an FMU, an .ssd or an .ssp",
        )),
    }
}

fn without_parameters(media_type: &str) -> &str {
    let first = media_type.split(';').next();
    first.unwrap_or("").trim()
}

fn kind_by_ending(target: &Target) -> FileKind {
    let ending = target.path.extension().and_then(|ending| ending.to_str());
    match ending.unwrap_or("").to_ascii_lowercase().as_str() {
        "ssd" => FileKind::Definition,
        "ssp" => FileKind::Package,
        _ => FileKind::Fmu,
    }
}

fn by_id(at: &Located, id: &str, element: &Element) -> Result<usize, SspError> {
    let ids = &at.description.ids;
    let found = ids.get(id).copied();

    found.ok_or_else(|| SspError::Unknown {
        place: element.place.clone(),
        what: "system with the id",
        name: id.into(),
        owner: format!("`{}`", at.folder.name(&at.file)),
        help: known_keys(ids),
    })
}
