//! `--workers mpi`: runs on the ranks that `mpirun` has started. Each of them reads the same command line and model.

use crate::failure::Failure;

#[cfg(not(feature = "mpi"))]
mod with_mpi {
    use super::Failure;
    use crate::ranks;

    /// There are no other places.
    pub(crate) enum Nobody {}

    impl dovetail::OtherPlaces for Nobody {
        fn count(&self) -> usize {
            match *self {}
        }

        fn start(&mut self, _place: usize, _run: usize) -> std::io::Result<()> {
            match *self {}
        }

        fn finish(&mut self, _place: usize) -> std::io::Result<Vec<u8>> {
            match *self {}
        }
    }

    /// Who makes runs beside this process, where that is wanted.
    pub(crate) fn others(wanted: bool) -> Result<Option<Nobody>, Failure> {
        if wanted {
            Err(ranks::missing())
        } else {
            Ok(None)
        }
    }
}

#[cfg(feature = "mpi")]
mod with_mpi {
    use std::io;

    use dovetail::scenario::{Network, ServiceLink, serve_rank_with};
    use dovetail::{OtherPlaces, answer_run};

    use super::Failure;
    use crate::sweep::arguments::SweepArguments;
    use crate::sweep::preparation::prepared;
    use crate::{interrupt, ranks};

    /// The ranks but the first.
    pub(crate) struct OtherRanks {
        link: ServiceLink,
        count: usize,
    }

    impl OtherRanks {
        pub fn of(network: &'static Network) -> Self {
            Self {
                link: ServiceLink::new(network),
                count: network.size() - 1,
            }
        }
    }

    impl OtherPlaces for OtherRanks {
        fn count(&self) -> usize {
            self.count
        }

        fn start(&mut self, place: usize, run: usize) -> io::Result<()> {
            let question = (run as u64).to_le_bytes();
            let sent = self.link.send(place + 1, &question);
            sent.map_err(io::Error::other)
        }

        fn finish(&mut self, place: usize) -> io::Result<Vec<u8>> {
            self.link.receive(place + 1).map_err(io::Error::other)
        }
    }

    /// Who makes runs beside this process, where that is wanted.
    pub(crate) fn others(wanted: bool) -> Result<Option<OtherRanks>, Failure> {
        let others = |network: &'static Network| {
            network.watch(None, interrupt::listen());
            OtherRanks::of(network)
        };
        Ok(wanted.then(|| others(ranks::join())))
    }

    /// The life of a rank that is not the first.
    pub(crate) fn serve(
        arguments: &SweepArguments,
        network: &'static Network,
    ) -> Result<(), Failure> {
        let Ok(scenario) = arguments.load() else {
            return refuse(network);
        };
        let Ok(sweep) = prepared(arguments, &scenario) else {
            return refuse(network);
        };
        let answer = |message: &[u8]| {
            let run = message.try_into().map(u64::from_le_bytes);
            let run = run.map_err(|_| "a question that is no run".to_owned())?;
            Ok(answer_run(&sweep, run as usize))
        };
        let served = serve_rank_with(network, answer);
        served.map_err(|error| Failure::EndedEarly(error.to_string()))
    }

    /// What is wrong with the command or the model is said by rank 0; should it find nothing wrong, it is told.
    fn refuse(network: &Network) -> Result<(), Failure> {
        let why = |_: &[u8]| Err("the model could not be read on this rank".to_owned());
        let _ = serve_rank_with(network, why);
        Err(Failure::SaidElsewhere)
    }
}

pub(crate) use with_mpi::others;
#[cfg(feature = "mpi")]
pub(crate) use with_mpi::serve;
