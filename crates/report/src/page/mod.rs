//! Pages: one file each that loads nothing. The program writes data and sentences, scripts of the page draw them.
//!
//! All texts are part of the data, which the scripts put in as text: no name of a model is ever read as markup.

mod column;
mod words;

use serde_json::Value;

pub(crate) use column::encoded;
#[cfg(test)]
pub(crate) use column::tests::decoded;
pub(crate) use words::sentence;

const STYLE: &str = include_str!("page.css");
const SHELL: &str = include_str!("shell.html");

/// The scripts that all pages share, in the order in which they build on one another.
const SCRIPTS: [&str; 18] = [
    include_str!("scripts/dom.js"),
    include_str!("scripts/columns.js"),
    include_str!("scripts/numbers.js"),
    include_str!("scripts/ticks.js"),
    include_str!("scripts/curves.js"),
    include_str!("scripts/figure.js"),
    include_str!("scripts/panel.js"),
    include_str!("scripts/axes.js"),
    include_str!("scripts/drawing.js"),
    include_str!("scripts/overlay.js"),
    include_str!("scripts/pointer.js"),
    include_str!("scripts/save.js"),
    include_str!("scripts/list.js"),
    include_str!("scripts/table.js"),
    include_str!("scripts/graph.js"),
    include_str!("scripts/neighbors.js"),
    include_str!("scripts/parts.js"),
    include_str!("scripts/heading.js"),
];

/// Where a page comes from: what was asked of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The file of the model, as the user named it.
    pub file: String,
    /// The command that gives the same again.
    pub command: String,
}

/// A kind of page: its sections and its own script.
pub(crate) struct Page {
    /// Links to its sections, and these.
    pub sections: &'static str,
    /// What fills them.
    pub script: &'static str,
    /// Whether it may ask the program that serves it for data.
    pub is_served: bool,
}

/// What the policy of a page that is served allows besides: to ask where it came from, and nobody else.
const OWN_SERVER: &str = "; connect-src 'self'";

impl Page {
    /// The page about these data, to which name, origin, version and date are added.
    pub fn render(&self, title: &str, origin: &Origin, data: Value) -> String {
        let data = labeled(title, origin, data);
        let (navigation, sections) = self
            .sections
            .split_once("</nav>\n")
            .expect("BUG: sections begin with their navigation");
        let data = without_markup(&data.to_string());
        let script = [&SCRIPTS[..], &[self.script]].concat().join("\n");
        let fill = |name: &str| match name {
            "STYLE" => STYLE,
            "CONNECT" if self.is_served => OWN_SERVER,
            "CONNECT" => "",
            "NAVIGATION" => navigation,
            "SECTIONS" => sections,
            "DATA" => &data,
            "SCRIPT" => &script,
            other => panic!("BUG: the shell of pages has no place {other}"),
        };
        filled(SHELL, fill)
    }
}

/// These data with what they are about and where they come from.
pub(crate) fn labeled(title: &str, origin: &Origin, mut data: Value) -> Value {
    data["name"] = title.into();
    data["file"] = origin.file.as_str().into();
    data["command"] = origin.command.as_str().into();
    data["version"] = env!("CARGO_PKG_VERSION").into();
    data["written"] = seconds_since_1970().into();
    data
}

/// A template with its places, `{{NAME}}`, filled. What is filled in is not looked at again.
fn filled<'a>(template: &'a str, fill: impl Fn(&str) -> &'a str) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after
            .split_once("}}")
            .expect("BUG: a place of the shell of pages has no end");
        text += before;
        text += fill(name);
        rest = after;
    }
    text + rest
}

/// JSON in which nothing can end the element that holds it.
fn without_markup(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// For the date of the page, which is shown in the time zone of its reader.
fn seconds_since_1970() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The data of a page.
    pub(crate) fn data_of(page: &str) -> Value {
        let (_, rest) = page
            .split_once("<script type=\"application/json\" id=\"data\">")
            .expect("data");
        let (data, _) = rest.split_once("</script>").expect("an end of the data");
        serde_json::from_str(data).expect("JSON")
    }

    const EMPTY: Page = Page {
        sections: "<nav></nav>\n",
        script: "",
        is_served: false,
    };

    #[test]
    fn names_cannot_leave_the_data() {
        let name = "</script><img src=x onerror=alert(1)>{{SCRIPT}}";
        let page = EMPTY.render(name, &Origin::default(), Value::Object(Default::default()));
        assert!(!page.contains("<img"));
        assert_eq!(data_of(&page)["name"], name);
    }

    #[test]
    fn a_page_forbids_itself_to_load_anything_and_is_small() {
        let page = EMPTY.render(
            "model",
            &Origin::default(),
            Value::Object(Default::default()),
        );
        assert!(page.contains("default-src 'none'"));
        for outside in ["http:", "https:", "url(", "import "] {
            let own = page
                .replace("http://www.w3.org/2000/svg", "")
                .replace("url(#", "");
            assert!(!own.contains(outside), "{outside}");
        }
        assert!(page.len() < 200_000, "{} bytes", page.len());
    }
}
