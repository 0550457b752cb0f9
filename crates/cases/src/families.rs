//! Families of models that grow.

use std::fmt::Write;

use dovetail_scenario::{Overrides, Scenario};

use crate::load;

/// A ring of `n` systems `x' = k (u − x)`, each fed by its neighbour, the first one starting at 1 and the others at 0, from 0
/// to 10 s. The sum of all states is conserved, and under Jacobi to rounding.
pub fn ring(n: usize) -> Scenario {
    let mut text = String::from("[model]\nstop-time = 10.0\n");
    for i in 0..n {
        let start = if i == 0 { 1.0 } else { 0.0 };
        let _ = write!(
            text,
            "[systems.s{i}]\ninputs = {{ u = 0.0 }}\nparameters = {{ k = 1.0 }}\nstates = {{ x = {start:?} }}\n\
             equations = \"der(x) = k * (u - x)\"\noutputs = {{ y = \"x\" }}\n\
             [[connections]]\nfrom = \"s{i}.y\"\nto = \"s{}.u\"\n",
            (i + 1) % n
        );
    }
    load("ring", &text, &Overrides::default())
}
