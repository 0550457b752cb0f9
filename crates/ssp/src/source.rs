//! References to files: what a URI in a system structure means on disk, and what it may not mean.

use std::path::{Path, PathBuf};

use roxmltree::Node;

/// Content that is written in place, or in a file.
pub(crate) enum Reference<T> {
    Inline(T),
    External(External),
}

/// A file that is referred to.
pub(crate) struct External {
    pub source: String,
    /// Relative to the source of the component, not to the .ssd.
    pub of_component: bool,
}

impl<T> Reference<T> {
    pub fn external(source: &str, node: Node) -> Self {
        let of_component = node.attribute("sourceBase") == Some("component");
        Self::External(External {
            source: source.into(),
            of_component,
        })
    }
}

/// The folder of a package and the folder in it that URIs are relative to.
#[derive(Clone)]
pub(crate) struct Folder {
    pub root: PathBuf,
    pub base: PathBuf,
}

/// What a URI refers to.
#[derive(Debug, PartialEq)]
pub(crate) struct Target {
    pub path: PathBuf,
    pub fragment: Option<String>,
}

/// Why a URI is refused, and what to try.
#[derive(Debug, PartialEq)]
pub(crate) struct SourceRefusal {
    pub reason: String,
    pub help: &'static str,
}

impl Folder {
    pub fn of(file: &Path, root: &Path) -> Self {
        Self {
            root: root.into(),
            base: file.parent().unwrap_or(root).into(),
        }
    }

    /// A file as messages name it.
    pub fn name(&self, file: &Path) -> String {
        file.strip_prefix(&self.root)
            .unwrap_or(file)
            .display()
            .to_string()
    }

    /// The file that `uri` refers to, which need not exist.
    pub fn resolve(&self, uri: &str) -> Result<Target, SourceRefusal> {
        let uri = uri.trim();
        refuse_absolute(uri)?;
        let (path, fragment) = uri
            .split_once('#')
            .map_or((uri, None), |(path, fragment)| (path, Some(fragment)));
        let fragment = fragment.map(decode).transpose()?;

        if path.is_empty() {
            return Ok(Target {
                path: PathBuf::new(),
                fragment,
            });
        }

        let decoded = self.inside(&decode(path)?)?;
        // A name with a per cent sign in it is not always encoded.
        let literal = self.inside(path)?;
        let path = if !decoded.exists() && literal.exists() {
            literal
        } else {
            decoded
        };

        Ok(Target { path, fragment })
    }

    /// Joins a relative path to the base without leaving the root. Windows' separators are read as
    /// ours.
    fn inside(&self, relative: &str) -> Result<PathBuf, SourceRefusal> {
        let inner = self.base.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let mut parts: Vec<&str> = inner.iter().filter_map(|part| part.to_str()).collect();

        for part in relative.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        let reason = "the path leaves the folder of the package".into();
                        return Err(SourceRefusal {
                            reason,
                            help: "move the file into that folder and refer to it there",
                        });
                    }
                }
                part => parts.push(part),
            }
        }
        Ok(parts
            .iter()
            .fold(self.root.clone(), |path, part| path.join(part)))
    }
}

fn refuse_absolute(uri: &str) -> Result<(), SourceRefusal> {
    let help = "put the file beside the .ssd and refer to it by a relative path";
    if uri.starts_with(['/', '\\']) {
        return Err(SourceRefusal {
            reason: "absolute paths are not followed".into(),
            help,
        });
    }

    let Some((scheme, _)) = uri.split_once(':') else {
        return Ok(());
    };
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));

    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => Err(SourceRefusal {
            reason: "nothing is fetched from the network".into(),
            help,
        }),
        _ if is_scheme => Err(SourceRefusal {
            reason: format!("addresses with `{scheme}:` are not followed"),
            help,
        }),
        _ => Ok(()),
    }
}

/// Undoes `%20` and the like.
fn decode(text: &str) -> Result<String, SourceRefusal> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();

    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| {
            after
                .get(at)
                .and_then(|&byte| char::from(byte).to_digit(16))
        };
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }

    let help = "write the name in UTF-8, with `%` and two hexadecimal digits where a letter is not \
                allowed";
    match String::from_utf8(bytes) {
        Ok(decoded) if !decoded.contains('\0') => Ok(decoded),
        _ => Err(SourceRefusal {
            reason: "this is not the name of a file".into(),
            help,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> Folder {
        Folder {
            root: "pack".into(),
            base: "pack/inner".into(),
        }
    }

    #[test]
    fn a_uri_is_relative_to_the_ssd_and_decoded() {
        let target = folder().resolve("res/My%20Unit.ssp#B%2Essd").unwrap();
        assert_eq!(target.path, Path::new("pack/inner/res/My Unit.ssp"));
        assert_eq!(target.fragment.as_deref(), Some("B.ssd"));
        assert_eq!(
            folder().resolve("..\\x.fmu").unwrap().path,
            Path::new("pack/x.fmu")
        );
    }

    #[test]
    fn what_leaves_the_package_is_refused() {
        for uri in [
            "../../x",
            "a/../../../x",
            "%2e%2e/%2e%2e/x",
            "/etc/x",
            "C:/x",
            "file:///x",
            "HTTPS://x.org/y",
            "%00",
        ] {
            assert!(folder().resolve(uri).is_err(), "{uri}");
        }
    }
}
