//! Temporary: to be deleted as soon as gaver_stehfest.rs brings these.
use crate::{StateSpace, Transfer};
/// x
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Laplace { /// x
 #[default] Exact, /// x
 GaverStehfest }
/// x
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("pole")]
pub struct Pole { /// x
 pub at: f64 }
impl Transfer { /// x
 pub fn compute_by(&mut self, _l: Laplace, space: StateSpace<'_>, delta: f64) -> Result<(), Pole> { self.compute(space, delta); Ok(()) } }
