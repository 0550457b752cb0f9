//! What a component stands for: a simulation unit, another system structure, or nothing yet.

use std::path::PathBuf;

use crate::DEFAULT_SSD;
use crate::error::{SspError, known};
use crate::flatten::{Flattener, Located, Member};
use crate::library::{Site, missing, source_error};
use crate::source::{Folder, Target};
use crate::ssd::{Content, Element};
use crate::structure::{Component, Implementation};

enum Stands {
    Unit,
    Definition,
    Package,
}

/// Adds a component, or all that is in the structure it refers to; returns its file with it.
pub(crate) fn instantiate(
    flattener: &mut Flattener,
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
        let message = format!(
            "the component `{path}` has no source; it was taken as a system with nothing in it"
        );
        flattener.library.warnings.at(&element.place, &message);
        return Ok((
            Member::System(flattener.scope(path, &element.name, &element.connectors)),
            None,
        ));
    };
    let site = Site {
        folder: &at.folder,
        place: &element.place,
        component: None,
    };
    let target = site.resolve(source)?;
    if target.path.as_os_str().is_empty() {
        let scope = same_document(flattener, at, path, element, source, target.fragment)?;
        return Ok((Member::System(scope), None));
    }
    let stands = stands_for(media_type.as_deref(), &target, &site)?;
    if !target.path.exists() {
        return Err(missing(&element.place, source, &target.path, &at.folder));
    }
    let file = target.path.clone();
    let member = match stands {
        Stands::Unit => unit(flattener, path, element, file.clone(), *implementation),
        Stands::Definition => {
            let folder = Folder::of(&file, &at.folder.root);
            let description = flattener.library.description(&file, &folder)?;
            let inner = Located {
                file: file.clone(),
                folder,
                description,
            };
            let index = target
                .fragment
                .map_or(Ok(inner.root()), |id| by_id(&inner, &id, element))?;
            nested(flattener, &inner, index, path, element)?
        }
        Stands::Package => {
            let inner = package(flattener, &target, source, element)?;
            nested(flattener, &inner, inner.root(), path, element)?
        }
    };
    Ok((member, Some(file)))
}

/// By the media type, or by the ending of the file where there is none.
fn stands_for(media_type: Option<&str>, target: &Target, site: &Site) -> Result<Stands, SspError> {
    let ending = target
        .path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or("")
        .to_ascii_lowercase();
    let unsupported = |what: String, help| SspError::Unsupported {
        place: site.place.clone(),
        what,
        help,
    };
    match media_type.map(|text| text.split(';').next().unwrap_or("").trim()) {
        Some("application/x-fmu-sharedlibrary") => Ok(Stands::Unit),
        Some("application/x-ssp-definition") => Ok(Stands::Definition),
        Some("application/x-ssp-package") => Ok(Stands::Package),
        Some("text/x-modelica") => Err(unsupported(
            "a component that is a Modelica model".into(),
            "export it as an FMU and refer to that",
        )),
        None | Some("") => Ok(match ending.as_str() {
            "ssd" => Stands::Definition,
            "ssp" => Stands::Package,
            _ => Stands::Unit,
        }),
        Some(other) => Err(unsupported(
            format!("a component of the type `{}`", crate::xml::shortened(other)),
            "refer to an FMU, an .ssd or an .ssp",
        )),
    }
}

fn unit(
    flattener: &mut Flattener,
    path: &str,
    element: &Element,
    source: PathBuf,
    implementation: Implementation,
) -> Member {
    Member::Component(flattener.component(Component {
        name: path.into(),
        source,
        implementation,
        parameters: Vec::new(),
        connectors: element.connectors.clone(),
        place: element.place.clone(),
    }))
}

/// A system of the same file, once more.
fn same_document(
    flattener: &mut Flattener,
    at: &Located,
    path: &str,
    element: &Element,
    source: &str,
    id: Option<String>,
) -> Result<usize, SspError> {
    let help = "give the path of an FMU, or leave the attribute out";
    let id =
        id.ok_or_else(|| source_error(&element.place, source, "the source is empty".into(), help))?;
    let index = by_id(at, &id, element)?;
    flattener.system(at, index, path, &element.place)
}

fn by_id(at: &Located, id: &str, element: &Element) -> Result<usize, SspError> {
    at.description
        .ids
        .get(id)
        .copied()
        .ok_or_else(|| SspError::Unknown {
            place: element.place.clone(),
            what: "system with the id",
            name: id.into(),
            owner: format!("`{}`", at.folder.name(&at.file)),
            help: known(at.description.ids.keys().map(String::as_str)),
        })
}

fn package(
    flattener: &mut Flattener,
    target: &Target,
    source: &str,
    element: &Element,
) -> Result<Located, SspError> {
    let root = flattener
        .library
        .package(&target.path, source, &element.place)?;
    let folder = Folder {
        base: root.clone(),
        root,
    };
    let site = Site {
        folder: &folder,
        place: &element.place,
        component: None,
    };
    let ssd = site
        .resolve(target.fragment.as_deref().unwrap_or(DEFAULT_SSD))?
        .path;
    if !ssd.is_file() {
        return Err(missing(&element.place, source, &ssd, &folder));
    }
    let folder = Folder::of(&ssd, &folder.root);
    let description = flattener.library.description(&ssd, &folder)?;
    Ok(Located {
        file: ssd,
        folder,
        description,
    })
}

/// A structure in place of a component. Its own connectors count; what only the component declares leads nowhere.
fn nested(
    flattener: &mut Flattener,
    inner: &Located,
    index: usize,
    path: &str,
    element: &Element,
) -> Result<Member, SspError> {
    let scope = flattener.system(inner, index, path, &element.place)?;
    for connector in &element.connectors {
        if !flattener.scopes[scope]
            .connectors
            .contains_key(&connector.name)
        {
            let message = format!(
                "the structure behind `{path}` has no connector `{}`",
                connector.name
            );
            flattener.library.warnings.at(&connector.place, &message);
            flattener.placeholder(scope, connector);
        }
    }
    Ok(Member::System(scope))
}
