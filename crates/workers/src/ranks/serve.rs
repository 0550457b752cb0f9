//! The life of a rank that is not the first: it makes systems and answers questions for them, until
//! rank 0 says that the program is over.

use dovetail_core::{Capabilities, System};

use super::network::{Network, Unreachable};
use super::orders::{ASK, LEAVE, MAKE, MEASURE, QUIT, SERVE, Wanted};
use crate::answering::Answering;
use crate::introduction::write_interface;
use crate::operator_workspaces::OperatorWorkspaces;
use crate::processes::SystemFactory;
use crate::question::{DONE, FAILED, Question};
use crate::text_table::TextTable;
use crate::words::{PutWords, TakeWords};

/// A system that lives here.
struct Resident<M> {
    name: String,
    system: Box<dyn System>,
    answering: Answering,
    factory: M,
}

struct Server<M, O, S> {
    texts: TextTable,
    open: O,
    /// What the rank does beside systems.
    service: S,
    /// Makes a system, and says how long a step of it takes, if that can be measured.
    measure: fn(&mut M, &[u8]) -> Option<f64>,
    /// Gets the names of the systems that live here.
    announce: fn(&[&str]),
    residents: Vec<Option<Resident<M>>>,
    workspaces: OperatorWorkspaces,
}

/// Serves rank 0 until it says that the program is over. `open` gets the part of the model that a
/// system is made from; `measure` makes a system and says how long a step of it takes; `announce` gets
/// the names of the systems that live here when they have been made; `service` answers what is asked
/// by a [`ServiceLink`](super::ServiceLink).
pub fn serve_rank<M: SystemFactory>(
    network: &Network,
    texts: TextTable,
    open: impl Fn(&[u8]) -> Result<M, String>,
    measure: fn(&mut M, &[u8]) -> Option<f64>,
    announce: fn(&[&str]),
    service: impl FnMut(&[u8]) -> Result<Vec<u8>, String>,
) -> std::io::Result<()> {
    let mut server = Server {
        texts,
        open,
        service,
        measure,
        announce,
        residents: Vec::new(),
        workspaces: OperatorWorkspaces::default(),
    };
    let served = server.serve(network);
    served.map_err(|Unreachable| std::io::Error::other("rank 0 can no longer be reached"))
}

impl<M, O, S> Server<M, O, S>
where
    M: SystemFactory,
    O: Fn(&[u8]) -> Result<M, String>,
    S: FnMut(&[u8]) -> Result<Vec<u8>, String>,
{
    fn serve(&mut self, network: &Network) -> Result<(), Unreachable> {
        let mut order = Vec::new();
        let mut answer = Vec::new();

        loop {
            network.receive_orders(&mut order)?;
            let mut take = order.iter();
            answer.clear();
            match take.word() {
                ASK => self.answer(&mut take, &mut answer)?,
                MAKE => self.make(&take.bytes(), &mut answer),
                MEASURE => self.measure(&take.bytes(), &mut answer),
                LEAVE => self.leave(take.word() as usize, &mut answer),
                SERVE => self.serve_question(&take.bytes(), &mut answer),
                QUIT => return Ok(()),
                _ => return Err(Unreachable),
            }
            network.send_home(&mut answer)?;
        }
    }

    /// One task after the other, up to the first that fails.
    fn answer(
        &mut self,
        take: &mut std::slice::Iter<'_, u64>,
        put: &mut Vec<u64>,
    ) -> Result<(), Unreachable> {
        for _ in 0..take.word() {
            let resident = self.residents.get_mut(take.word() as usize);
            let resident = resident.and_then(Option::as_mut).ok_or(Unreachable)?;
            let question = Question::of(take.word()).filter(|asked| *asked != Question::Leave);
            let question = question.ok_or(Unreachable)?;
            let system = resident.system.as_mut();
            let workspaces = &mut self.workspaces;
            let answering = &mut resident.answering;
            if !answering.answer(question, system, workspaces, take, put) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes systems; either all of them or none.
    fn make(&mut self, list: &[u8], put: &mut Vec<u64>) {
        let made = read_list(list).and_then(|wanted| {
            let made = wanted.into_iter().map(|wanted| self.make_one(wanted));
            made.collect::<Result<Vec<Resident<M>>, String>>()
        });
        match made {
            Ok(mut made) => {
                if self.residents.iter().all(Option::is_none) {
                    self.residents.clear();
                }
                put.word(DONE);
                put.word(self.residents.len() as u64);
                for resident in &mut made {
                    put.bytes(&introduction(resident.system.as_mut(), self.texts));
                }
                self.residents.extend(made.into_iter().map(Some));
                self.announce();
            }
            Err(why) => {
                put.word(FAILED);
                put.bytes(why.as_bytes());
            }
        }
    }

    fn make_one(&self, wanted: Wanted) -> Result<Resident<M>, String> {
        let mut factory = (self.open)(&wanted.job)?;
        let system = factory.make(&wanted.make)?;
        Ok(Resident {
            name: wanted.name,
            system,
            answering: Answering::new(self.texts),
            factory,
        })
    }

    /// Makes systems one after the other, measures each and drops it.
    fn measure(&mut self, list: &[u8], put: &mut Vec<u64>) {
        for wanted in read_list(list).unwrap_or_default() {
            let part = (self.open)(&wanted.job).ok();
            let cost = part.and_then(|mut part| (self.measure)(&mut part, &wanted.make));
            put.float(cost.unwrap_or(f64::NAN));
        }
    }

    fn leave(&mut self, number: usize, put: &mut Vec<u64>) {
        put.word(DONE);
        let resident = self.residents.get_mut(number).and_then(Option::take);
        if let Some(mut resident) = resident {
            // What it does on its way out belongs to the notes.
            drop(resident.system);
            put.bytes(&resident.factory.final_notes());
        }
    }

    fn serve_question(&mut self, question: &[u8], put: &mut Vec<u64>) {
        match (self.service)(question) {
            Ok(answer) => {
                put.word(DONE);
                put.bytes(&answer);
            }
            Err(why) => {
                put.word(FAILED);
                put.bytes(why.as_bytes());
            }
        }
    }

    fn announce(&self) {
        let residents = self.residents.iter().flatten();
        let names: Vec<&str> = residents.map(|resident| resident.name.as_str()).collect();
        (self.announce)(&names);
    }
}

fn read_list(list: &[u8]) -> Result<Vec<Wanted>, String> {
    postcard::from_bytes(list).map_err(|error| error.to_string())
}

fn introduction(system: &mut dyn System, texts: TextTable) -> Vec<u8> {
    let capabilities = Capabilities::of(system);
    write_interface(system.interface(), capabilities, texts)
}
