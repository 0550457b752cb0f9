//! How this process was started: alone, or several times by `mpirun`.

use std::env::var;

/// Where `mpirun` tells a process how many there are, and which one it is.
const STARTERS: [(&str, &str); 2] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
];

/// What `mpirun` says of this process.
struct Started {
    size: usize,
    rank: usize,
}

impl Started {
    fn read() -> Option<Self> {
        let number = |name: &str| var(name).ok()?.parse().ok();
        STARTERS.iter().find_map(|(size, rank)| {
            Some(Self {
                size: number(size)?,
                rank: number(rank)?,
            })
        })
    }
}

/// How many processes were started together.
pub(crate) fn copies() -> usize {
    Started::read().map_or(1, |started| started.size)
}

/// Whether what all ranks find is said by another one.
pub(crate) fn is_said_elsewhere() -> bool {
    Started::read().is_some_and(|started| started.rank > 0)
}

/// What ends with an FMU that does not return.
pub(crate) fn this_process() -> String {
    match Started::read() {
        Some(started) if started.size > 1 => format!("rank {}", started.rank),
        _ => "the program".to_owned(),
    }
}
