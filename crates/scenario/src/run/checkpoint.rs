//! A session saved as bytes, and restored from them.

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Error, Interface, SignalKind, list_names, visit_fields,
    visit_method,
};

use super::session::Session;

/// Saving and restoring.
impl Session<'_> {
    /// The time that the run has reached.
    pub fn reached(&self) -> f64 {
        if self.begun {
            self.state.reached()
        } else {
            self.scenario.start_time
        }
    }

    /// When the run is to end.
    pub fn stop_time(&self) -> f64 {
        self.scenario.stop_time
    }

    /// Refuses a run of which no checkpoint can be written that another program could read: it names all systems that stand in
    /// the way.
    pub fn check_saving(&mut self) -> Result<(), Error> {
        let interfaces = self.scenario.connections.interfaces();
        let capabilities = self.workers.capabilities();
        let unsaved = |(interface, able): (&Interface, &Capabilities)| {
            (!able.checkpoint).then(|| interface.name.clone())
        };
        let systems: Vec<String> = interfaces
            .iter()
            .zip(capabilities)
            .filter_map(unsaved)
            .collect();
        if !systems.is_empty() {
            let reason = format!(
                "the state of {} can be neither saved nor restored; an FMU needs a state that can be set and serialized, and that \
                 was found to be restored",
                list_names(&systems)
            );
            return Err(Error::Checkpoint(reason));
        }

        let text = interfaces
            .iter()
            .find(|interface| exchanges_texts(interface));
        if let Some(interface) = text {
            let reason = format!(
                "`{}` exchanges texts, which another program would know by other numbers",
                interface.name
            );
            return Err(Error::Checkpoint(reason));
        }
        self.save().map(drop)
    }

    /// Everything that the rest of the run depends on, as bytes: the states of all systems, of the method and of the time loop.
    /// An error says what cannot be saved, and whose it is; taken right after a session was made, it says so before the run.
    ///
    /// Whoever restores a session in which the run goes on sets [`RunOptions::goes_back`](crate::RunOptions::goes_back): FMUs are
    /// told so.
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        let mut archive = Archive::writer();
        self.visit(&mut archive)?;
        Ok(archive.into_bytes())
    }

    /// Makes the session what it, or another one of the same model under the same options, was when it was saved. The run goes on
    /// with the bits of one that never stopped. Where the end of the run is another, grids have the times that they had.
    ///
    /// After an error the session cannot be used any more.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let mut archive = Archive::reader(saved.to_vec());
        self.visit(&mut archive)?;
        archive.finish()
    }

    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut seconds = self.wall_seconds();
        archive.field(&mut seconds)?;
        if archive.restores() {
            self.earlier_seconds += seconds - self.wall_seconds();
        }

        // The start values are there until the run begins.
        visit_fields!(archive, self.begun, self.start);
        visit_method(self.method.as_mut(), archive)?;
        self.state.visit(archive)?;
        self.workers.checkpoint(archive)
    }
}

fn exchanges_texts(interface: &Interface) -> bool {
    let inputs = interface.inputs.iter().map(|input| input.kind);
    let outputs = interface.outputs.iter().map(|output| output.kind);
    inputs.chain(outputs).any(|kind| kind == SignalKind::Text)
}
