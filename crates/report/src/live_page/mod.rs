//! The page of a run as a program serves it: the page of a report, with values while the run is under way and controls
//! to change the model and run it again.

mod rows;

use serde::Serialize;
use serde_json::{Value, json};

use crate::page::{Origin, Page};

pub use rows::LiveRows;

const PAGE: Page = Page {
    sections: concat!(
        include_str!("../run_page/navigation.html"),
        include_str!("controls.html"),
        include_str!("../run_page/sections.html"),
    ),
    script: concat!(
        include_str!("../run_page/run.js"),
        include_str!("past.js"),
        include_str!("controls.js"),
        include_str!("live.js"),
    ),
    is_served: true,
};

/// Something that can be given another value before a run.
#[derive(Clone, Debug, Serialize)]
pub struct Settable {
    /// `system.name`.
    pub name: String,
    /// Its system.
    pub system: String,
    /// What it is: a parameter, a start value, an input.
    pub role: &'static str,
    /// The value that it has in the model, where that is known.
    pub value: Option<String>,
    /// Its unit.
    pub unit: Option<String>,
    /// What the system that has it says of it.
    pub description: Option<String>,
}

/// A page that is served while a program runs a model.
#[derive(Clone, Copy, Debug)]
pub struct LivePage<'a> {
    /// The name of the model.
    pub name: &'a str,
    /// What was asked of the program.
    pub origin: &'a Origin,
    /// When runs end as the model has it.
    pub stop: f64,
    /// The methods that can be chosen, each with what it is.
    pub methods: &'a [(String, String)],
    /// What the command line has chosen: method, step, tolerance, pace.
    pub chosen: &'a Value,
    /// What can be changed.
    pub settable: &'a [Settable],
}

impl LivePage<'_> {
    /// The page, which asks where it came from for its runs.
    pub fn render(&self) -> String {
        let live = json!({
            "stop": self.stop,
            "methods": self.methods,
            "chosen": self.chosen,
            "settable": self.settable,
        });
        let name = match self.name {
            "" => "A model without a name",
            name => name,
        };
        PAGE.render(name, self.origin, json!({ "live": live }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::data_of;

    fn page() -> String {
        let settable = [Settable {
            name: "mass.m</script>".into(),
            system: "mass".into(),
            role: "parameter",
            value: Some("2".into()),
            unit: None,
            description: None,
        }];
        let page = LivePage {
            name: "spring and mass",
            origin: &Origin::default(),
            stop: 10.0,
            methods: &[("jacobi".into(), "in parallel".into())],
            chosen: &json!({ "method": "jacobi" }),
            settable: &settable,
        };
        page.render()
    }

    #[test]
    fn a_live_page_asks_its_own_server_and_nobody_else() {
        assert!(page().contains("default-src 'none';"));
        assert!(page().contains("connect-src 'self'\""));
        assert!(page().len() < 200_000);
    }

    #[test]
    fn what_can_be_changed_is_data_and_never_markup() {
        assert!(!page().contains("mass.m</script>"));
        let live = &data_of(&page())["live"];
        assert_eq!(live["settable"][0]["name"], "mass.m</script>");
        assert_eq!(live["chosen"]["method"], "jacobi");
    }
}
