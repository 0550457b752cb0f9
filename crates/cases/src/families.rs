//! Families of models that grow.

use std::fmt::Write;

use dovetail_scenario::{Overrides, Scenario};

use crate::load;

/// A chain of `n` masses between two walls, each a system of two states that sees where its neighbors are and how fast they
/// move; the first one is pulled out, from 0 to 10 s. `bend` is the share of the springs that grows with the cube: 0 is linear.
pub fn chain(n: usize, bend: f64) -> Scenario {
    load("chain", &chain_text(n, bend), &Overrides::default())
}

/// The text of [`chain`].
pub fn chain_text(n: usize, bend: f64) -> String {
    let mut text = String::from("[model]\nstop-time = 10.0\n");
    let bent = if bend == 0.0 {
        ""
    } else {
        "+ bend * ((left_x - x)^3 + (right_x - x)^3) "
    };

    for i in 0..n {
        let start = if i == 0 { 1.0 } else { 0.0 };
        let _ = write!(
            text,
            "[systems.m{i}]\ninputs = {{ left_x = 0.0, left_v = 0.0, right_x = 0.0, right_v = 0.0 }}\n\
             parameters = {{ bend = {bend:?} }}\nstates = {{ x = {start:?}, v = 0.0 }}\nequations = \"\"\"\n\
             der(x) = v\n\
             der(v) = (left_x - x) + (right_x - x) {bent}+ 0.1 * (left_v + right_v - 2 * v)\n\
             \"\"\"\noutputs = {{ x = \"x\", v = \"v\" }}\n"
        );
        for (side, neighbor) in [
            ("left", i.checked_sub(1)),
            ("right", Some(i + 1).filter(|k| *k < n)),
        ] {
            for variable in ["x", "v"] {
                let source = neighbor.map_or_else(
                    || "value = 0.0".into(),
                    |k| format!("from = \"m{k}.{variable}\""),
                );
                let _ = write!(
                    text,
                    "[[connections]]\n{source}\nto = \"m{i}.{side}_{variable}\"\n"
                );
            }
        }
    }
    text
}

/// A ring of `n` systems `x' = k (u − x)`, each fed by its neighbor, the first one starting at 1 and the others at 0, from 0
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
