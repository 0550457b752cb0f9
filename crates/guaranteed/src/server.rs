//! The place's side: systems that are computed for another process.

use crate::boxes::BoxPlace;
use crate::distribution::Share;
use crate::places::{Answer, BadMessage, Subject, read};
use crate::shared::FieldPlace;
use crate::system_part::ProblemPart;

/// Computes systems for another process, which proves the bounds
/// ([`enclose_at`](crate::enclose_at)).
#[derive(Default)]
pub struct SystemServer {
    systems: Option<Systems>,
    announce: Option<fn(&[&str])>,
}

struct Systems {
    share: Share,
    fields: FieldPlace,
    boxes: BoxPlace,
}

impl SystemServer {
    /// One by which `announce` gets the names of the systems when they have come.
    pub fn announcing(announce: fn(&[&str])) -> Self {
        Self {
            announce: Some(announce),
            ..Self::default()
        }
    }

    /// Takes in all that a message says; the answer to the question at its end.
    pub fn answer(&mut self, message: &[u8]) -> Result<Vec<u8>, BadMessage> {
        let mut rest = message;
        let mut last = None;
        while !rest.is_empty() {
            last = self.take_in(&mut rest)?;
        }
        let Answer(bytes) = last.ok_or_else(|| BadMessage("it asks nothing".to_owned()))?;
        Ok(bytes)
    }

    fn take_in(&mut self, rest: &mut &[u8]) -> Result<Option<Answer>, BadMessage> {
        let subject: Subject = read(rest)?;
        if let Subject::Problem = subject {
            let part: ProblemPart = read(rest)?;
            self.announce(&part);
            self.systems = Some(Systems {
                boxes: BoxPlace::new(&part),
                fields: FieldPlace::default(),
                share: Share::new(part),
            });
            return Ok(None);
        }

        let systems = self.systems.as_mut();
        let systems = systems.ok_or_else(|| BadMessage("there are no systems".to_owned()))?;
        let share = &systems.share;
        match subject {
            Subject::Boxes => systems.boxes.answer(share, rest),
            Subject::Fields | Subject::Problem => systems.fields.answer(share, rest),
        }
    }

    fn announce(&self, part: &ProblemPart) {
        let names = part.systems.iter().map(|system| system.name.as_str());
        if let Some(announce) = self.announce {
            announce(&names.collect::<Vec<&str>>());
        }
    }
}
