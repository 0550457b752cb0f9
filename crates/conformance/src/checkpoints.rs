//! What is promised of checkpoints.

use dovetail_core::{Archive, MacroStep, System, visit_system};

use super::{Suite, bits, ensure, message};

impl Suite<'_> {
    /// What was written down of a system makes it, or another one, go on to the same bits.
    pub(super) fn restored_systems_go_on_as_before(&mut self) -> Result<(), String> {
        if !self.capabilities.checkpoint {
            return Ok(());
        }

        let mut system = self.begun()?.system;
        self.go(system.as_mut(), 0)?;
        let checkpoint = written(system.as_mut())?;
        let plain = self.go_on(system.as_mut())?;
        let another = self.begun()?.system;

        for mut system in [system, another] {
            let mut archive = Archive::reader(checkpoint.clone());
            visit_system(system.as_mut(), &mut archive).map_err(message)?;
            let again = self.go_on(system.as_mut())?;
            ensure(plain == again, "a restored system goes on as it would have")?;
        }
        Ok(())
    }

    /// The bits of the answers to the steps after the first.
    fn go_on(&self, system: &mut dyn System) -> Result<[Vec<u64>; 2], String> {
        Ok([self.go(system, 1)?, self.go(system, 2)?])
    }

    /// The bits of the answer to step `number`.
    fn go(&self, system: &mut dyn System, number: usize) -> Result<Vec<u64>, String> {
        let size = self.step();
        let start = self.expect.start + number as f64 * size;
        let step = MacroStep::new(start, start + size);
        let inputs = self.inputs(1.0 - 0.3 * number as f64);
        let mut response = self.response();
        system
            .advance(step, &inputs, &mut response)
            .map_err(message)?;

        Ok(bits(&response))
    }
}

/// The checkpoint of a system.
fn written(system: &mut dyn System) -> Result<Vec<u8>, String> {
    let mut archive = Archive::writer();
    visit_system(system, &mut archive).map_err(message)?;
    Ok(archive.into_bytes())
}
