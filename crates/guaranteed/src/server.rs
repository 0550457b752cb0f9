//! The place's side: systems that are computed for another process.

use crate::boxes::BoxPlace;
use crate::places::{Answer, BadMessage, Share, Subject, read};
use crate::shared::FieldPlace;
use crate::system_part::ProblemPart;

/// Computes systems for another process, which proves the bounds
/// ([`enclose_at`](crate::enclose_at)).
#[derive(Default)]
pub struct SystemServer {
    systems: Option<Systems>,
}

struct Systems {
    share: Share,
    fields: FieldPlace,
    boxes: BoxPlace,
}

impl SystemServer {
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

    /// The names of the systems that are computed here.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let systems = self.systems.iter().flat_map(|all| &all.share.part.systems);
        systems.map(|system| system.name.as_str())
    }

    fn take_in(&mut self, rest: &mut &[u8]) -> Result<Option<Answer>, BadMessage> {
        let subject: Subject = read(rest)?;
        if let Subject::Problem = subject {
            let part: ProblemPart = read(rest)?;
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
}
