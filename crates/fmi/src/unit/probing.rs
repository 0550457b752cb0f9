//! A unit is tried out: what does not hold is taken from its abilities.

use std::sync::Arc;

use super::{Conditions, Prepared, UnitError, Use};
use crate::abilities::{Abilities, Slopes};
use crate::description::Version;
use crate::instance::{CallError, Instance};
use crate::probe::{self, Finding};

impl Prepared {
    /// Tries the unit. Steps of a unit that fails in them are the run's to report.
    pub(super) fn probe(&mut self, conditions: &Conditions) -> Result<(), UnitError> {
        self.probe_reactions()?;
        if self.used == Use::CoSimulation {
            let mut abilities = self.abilities.clone();
            let trip = probe::trip(self.settings.start, conditions.step, abilities.step);
            let mut make = |abilities: &Abilities| {
                self.system_with("probe", abilities, conditions)
                    .map(|(system, _)| system)
                    .map_err(|error| error.to_string())
            };
            match probe::co_simulation(&mut abilities, &mut make, trip) {
                Ok(findings) => self.findings.extend(findings),
                Err(why) => {
                    abilities = abilities.without_promises();
                    self.warnings.push(format!(
                        "it could not be tried out before the run ({why}), so that what it declares is not used"
                    ));
                }
            }
            self.abilities = abilities;
        }
        let drift = self.findings.iter().find(|f| f.holds && f.what.contains("away from going on"));
        if let Some(drift) = drift {
            let warning = format!("after a restore it does not go on exactly as it would have: {}", drift.what);
            self.warnings.push(warning);
        }
        let failed: Vec<String> = self
            .findings
            .iter()
            .filter(|f| !f.holds)
            .map(|f| format!("it declares {}, which it does not have: {}; it is not used", f.capability, f.what))
            .collect();
        self.warnings.extend(failed);
        Ok(())
    }

    /// Directional derivatives and feedthrough, by moving inputs in initialisation mode.
    pub(super) fn probe_reactions(&mut self) -> Result<(), UnitError> {
        let found = match self.unit.description.version {
            Version::Two => self.reactions_of(self.instance2("probe", None)?.0),
            Version::Three => self.reactions_of(self.instance3("probe", None)?.0),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) if self.abilities.directional => {
                // It may be the derivatives that fail: once more without them.
                self.abilities.directional = false;
                let what = error.to_string();
                self.findings.push(Finding { capability: "directional derivatives", holds: false, what });
                let again = match self.unit.description.version {
                    Version::Two => self.reactions_of(self.instance2("probe", None)?.0),
                    Version::Three => self.reactions_of(self.instance3("probe", None)?.0),
                };
                again?
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(finding) = found.derivatives.clone() {
            self.abilities.directional &= finding.holds;
            self.findings.push(finding);
        }
        if !self.abilities.directional {
            self.lose_directional();
        }
        self.believe_feedthrough(&found);
        Ok(())
    }

    pub(super) fn lose_directional(&mut self) {
        if self.used == Use::CoSimulation {
            self.abilities.linearizes = false;
            if self.abilities.slopes == Slopes::Chained {
                self.abilities.slopes = Slopes::Unknown;
            }
        }
    }

    pub(super) fn reactions_of<I: Instance>(&self, mut instance: I) -> Result<probe::Reactions, CallError> {
        instance.enter_initialization(self.settings.start, self.settings.stop, None)?;
        let found = probe::reactions(&mut instance, &self.layout, &self.abilities);
        let _ = instance.exit_initialization();
        let _ = instance.terminate();
        found
    }

    /// Feedthrough that was seen counts, declared or not; where nothing is declared, what was not seen does not.
    pub(super) fn believe_feedthrough(&mut self, found: &probe::Reactions) {
        let layout = Arc::make_mut(&mut self.layout);
        let mut unexpected = Vec::new();
        if !layout.dependencies_declared && found.complete {
            layout.outputs.iter_mut().for_each(|output| output.depends_on.clear());
        }
        for &(output, input) in &found.feedthrough {
            let depends_on = &mut layout.outputs[output].depends_on;
            if !depends_on.contains(&input) {
                depends_on.push(input);
                depends_on.sort_unstable();
                if layout.dependencies_declared {
                    unexpected.push(format!("`{}` on `{}`", layout.outputs[output].name, layout.inputs[input].name));
                }
            }
        }
        if !unexpected.is_empty() {
            let what = unexpected.join(", ");
            self.warnings.push(format!(
                "it declares no such dependency, but at once depends {what}; this is taken into account"
            ));
        }
    }
}
