//! Models written as equations: parsed once, evaluated on any kind of number.
//!
//! A [`Model`] is a system `x' = f(t, x, u, u')`, `y = g(t, x, u, u')` read from a [`Source`]. Its
//! expressions form a [`Graph`]; a [`Program`] is some of them compiled to a list of instructions,
//! and an [`Evaluator`] runs it on a [`Number`]: `f64`, a [`Dual`] that carries derivatives, or a
//! [`Symbol`] that builds expressions again.
//!
//! ```
//! use std::sync::Arc;
//! use dovetail_equations::{Evaluator, Model, Source};
//!
//! let model = Model::parse(&Source {
//!     inputs: vec!["predators"],
//!     parameters: vec!["alpha", "beta"],
//!     states: vec!["prey"],
//!     equations: "der(prey) = prey * (alpha - beta * predators)",
//!     outputs: vec![("prey", "prey")],
//!     ..Source::default()
//! })
//! .expect("a correct model");
//!
//! let mut evaluator = Evaluator::new(Arc::new(model.program()), &0.0, &[2.0, 0.5]);
//! evaluator.set_states(&[10.0]);
//! evaluator.set_inputs(&[3.0]);
//! let mut results = [0.0; 2];
//! evaluator.run(&mut results);
//! assert_eq!(results, [5.0, 10.0]); // the derivative, then the output
//! ```

mod analysis;
mod builder;
mod declarations;
mod defect;
mod dual;
mod error;
mod evaluator;
mod expression;
mod graph;
mod held;
mod lexer;
mod lowering;
mod model;
mod monolithic;
mod names;
mod native;
mod number;
mod operation;
mod order;
mod parser;
mod simplify;
mod source;
mod switches;
mod symbol;
mod syntax;
mod tape;

pub use analysis::{Dependencies, Shape, dependencies, leaves, shapes};
pub use defect::{Defect, ErrorEstimate, ErrorSize, RowLayout};
pub use dual::Dual;
pub use error::{Place, SyntaxError};
pub use evaluator::Evaluator;
pub use graph::{Graph, Leaf, LeafKinds, Node, NodeId};
pub use model::{Delay, Model, Trigger, Unused, When};
pub use monolithic::{
    Coupled, CoupledWhen, ExchangeEquations, Monolithic, NotComposable, Solution, SteppedSolution,
    compose,
};
pub use names::{is_name, is_reserved};
pub use native::{Definition, NativeSystem};
pub use number::Number;
pub use operation::{Binary, Unary};
pub use source::{LONGEST_TEXT, Source, WhenText};
pub use switches::{Switch, Switches, Threshold};
pub use symbol::Symbol;
pub use tape::{Instruction, Layout, Program};
