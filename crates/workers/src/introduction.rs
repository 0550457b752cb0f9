//! A system's interface and capabilities, as bytes for another process.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use dovetail_core::{Capabilities, Interface, SignalKind};

use crate::text_table::TextTable;

/// What a system looks like from outside.
#[derive(Serialize, Deserialize)]
struct Introduction<'a> {
    interface: Cow<'a, Interface>,
    capabilities: Capabilities,
    /// The start values of inputs that are texts: their numbers mean nothing to another process.
    texts: Vec<String>,
}

/// A system's interface and what it can do, as bytes.
pub(crate) fn write_interface(
    interface: &Interface,
    capabilities: Capabilities,
    texts: TextTable,
) -> Vec<u8> {
    let inputs = interface.inputs.iter();
    let text_inputs = inputs.filter(|input| input.kind == SignalKind::Text);
    let introduction = Introduction {
        interface: Cow::Borrowed(interface),
        capabilities,
        texts: text_inputs.map(|input| (texts.text)(input.start)).collect(),
    };

    postcard::to_stdvec(&introduction).expect("BUG: an interface can always be written")
}

/// What [`write_interface`] wrote.
pub(crate) fn read_interface(bytes: &[u8], texts: TextTable) -> Option<(Interface, Capabilities)> {
    let introduction: Introduction<'_> = postcard::from_bytes(bytes).ok()?;
    let mut interface = introduction.interface.into_owned();
    let inputs = interface.inputs.iter_mut();
    let text_inputs = inputs.filter(|input| input.kind == SignalKind::Text);

    for (input, text) in text_inputs.zip(&introduction.texts) {
        input.start = (texts.number)(text);
    }
    Some((interface, introduction.capabilities))
}
