//! Systems of a program, coupled.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use dovetail_core::{Capabilities, Interface, System};
use dovetail_scenario::{Assembly, BuildOptions, Built, Catalog, Feed, SystemSource};

use crate::error::Error;
use crate::model::Model;
use crate::run::Run;

/// Systems that are coupled by the names of their inputs and outputs.
#[derive(Debug, Default)]
pub struct Coupling {
    sources: Vec<Box<dyn SystemSource>>,
    links: Vec<(String, Feed)>,
    options: Vec<(String, String)>,
    catalog: Catalog,
}

impl Coupling {
    /// No systems yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a system, for one run. Models that are to be run several times say how systems are made:
    /// [`system_from`](Self::system_from).
    pub fn system(self, mut system: impl System + 'static) -> Self {
        let interface = system.interface().clone();
        let capabilities = Capabilities::of(&mut system);
        let boxed: Box<dyn System> = Box::new(system);

        self.source(ProgramSource {
            interface,
            capabilities,
            make: Make::Once(Mutex::new(Some(boxed))),
        })
    }

    /// Adds a system that is made afresh for every run.
    pub fn system_from<S: System + 'static>(
        self,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        let mut system = make();
        let interface = system.interface().clone();
        let capabilities = Capabilities::of(&mut system);

        self.source(ProgramSource {
            interface,
            capabilities,
            make: Make::Always(Box::new(move || Box::new(make()))),
        })
    }

    /// Adds whatever systems can be made from.
    pub fn source(mut self, source: impl SystemSource + 'static) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Leads an output to an input: `connect("mass.place", "spring.place")`.
    pub fn connect(mut self, from: &str, to: &str) -> Self {
        let feed = Feed::Output(from.to_owned());
        self.links.push((to.to_owned(), feed));
        self
    }

    /// Feeds an input with a constant.
    pub fn constant(mut self, value: f64, to: &str) -> Self {
        self.links.push((to.to_owned(), Feed::Constant(value)));
        self
    }

    /// The coupling method of [`run`](Self::run), by name; `auto` by default.
    pub fn method(self, name: &str) -> Self {
        self.option("method", name)
    }

    /// An option of [`run`](Self::run) or of its method: `option("step", 0.01)`.
    pub fn option(mut self, key: &str, value: impl ToString) -> Self {
        self.options.push((key.to_owned(), value.to_string()));
        self
    }

    /// Methods that the engine does not have.
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = catalog;
        self
    }

    /// The model, checked, for runs over this time.
    pub fn model(self, time: Range<f64>) -> Result<Model, Error> {
        let assembly = Assembly {
            name: "coupling".to_owned(),
            start_time: time.start,
            stop_time: time.end,
            sources: self.sources,
            links: self.links,
            catalog: self.catalog,
        };
        Ok(Model::of(assembly.into_scenario()?))
    }

    /// Runs the systems over this time.
    pub fn run(mut self, time: Range<f64>) -> Result<Run, Error> {
        let options = std::mem::take(&mut self.options);
        let model = self.model(time)?;
        let mut simulation = model.simulation();

        for (key, value) in options {
            simulation = simulation.option(&key, value);
        }
        simulation.run()
    }
}

/// How a system of a program is made.
enum Make {
    Once(Mutex<Option<Box<dyn System>>>),
    Always(Box<dyn Fn() -> Box<dyn System> + Send + Sync>),
}

/// A system of a program as a source.
struct ProgramSource {
    interface: Interface,
    capabilities: Capabilities,
    make: Make,
}

impl fmt::Debug for ProgramSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramSource")
            .field("interface", &self.interface)
            .finish()
    }
}

impl SystemSource for ProgramSource {
    fn name(&self) -> &str {
        &self.interface.name
    }

    fn interface(&self) -> Interface {
        self.interface.clone()
    }

    fn capabilities(&self, _step: f64) -> Capabilities {
        self.capabilities
    }

    fn build(&self, _options: &BuildOptions) -> Result<Built, String> {
        match &self.make {
            Make::Always(make) => Ok(Built::new(make())),
            Make::Once(system) => {
                let mut system = system.lock().unwrap_or_else(PoisonError::into_inner);
                let used = || format!("`{}` was made for one run, and that is over", self.name());
                Ok(Built::new(system.take().ok_or_else(used)?))
            }
        }
    }
}
