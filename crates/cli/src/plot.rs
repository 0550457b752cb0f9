//! The figure of `dovetail run --plot`.

use dovetail::report::Variables;
use dovetail::scenario::Scenario;
use dovetail::{Executed, run_picture};

use crate::arguments::{RunArguments, check_distinct_files, refuse_to_replace};
use crate::failure::Failure;
use crate::output::{self, Page, check_ending, has_ending};

/// A figure to be written when the run is over.
pub(crate) struct Plot {
    file: Page,
    is_png: bool,
    /// The variable on the horizontal axis, where that is not time.
    x: Option<String>,
}

impl Plot {
    /// Refuses names of files that are no pictures.
    pub fn check_name(arguments: &RunArguments) -> Result<(), Failure> {
        let plot = arguments.plot.as_deref();
        check_ending("--plot", plot, &["svg", "png"])?;
        match plot {
            Some(path) if output::is_standard(path) || path.extension().is_none() => Err(
                Failure::misuse("--plot needs a file that ends in .svg or .png"),
            ),
            _ => Ok(()),
        }
    }

    /// The figure that was asked for, its file opened; none where none was.
    pub fn wanted(arguments: &RunArguments, scenario: &Scenario) -> Result<Option<Self>, Failure> {
        let Some(path) = &arguments.plot else {
            return Ok(None);
        };
        let x = arguments.plot_x.as_deref();
        let x = x.map(|name| variable(scenario, name)).transpose()?;
        let others = [&arguments.shared.output, &arguments.shared.report];
        for other in others.into_iter().flatten() {
            check_distinct_files("--plot", path, other)?;
        }
        refuse_to_replace(&arguments.model, scenario, path)?;

        Ok(Some(Self {
            file: Page::create(path)?,
            is_png: has_ending(path, "png"),
            x,
        }))
    }

    pub fn write(
        self,
        scenario: &Scenario,
        done: &Executed,
        shown: &[String],
    ) -> Result<(), Failure> {
        let picture = run_picture(scenario, done, shown, self.x.as_deref());
        let picture = picture.expect("BUG: what a figure shows was not recorded");
        if self.is_png {
            let png = picture.to_png().map_err(Failure::EndedEarly)?;
            return self.file.write_bytes(&png);
        }
        self.file.write(&picture.to_svg())
    }
}

/// The whole name of a variable.
fn variable(scenario: &Scenario, name: &str) -> Result<String, Failure> {
    let all = Variables::of(&scenario.connections);
    let patterns = scenario.patterns(&[name.to_owned()]);
    let found = all.select(&patterns).map_err(Failure::misuse_by)?.names();
    match &found[..] {
        [one] => Ok(one.clone()),
        several => Err(Failure::misuse(format!(
            "--plot-x {name} fits {} variables: name one of them",
            several.len()
        ))),
    }
}
