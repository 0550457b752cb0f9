//! What is asked about the derivatives of systems that are computed elsewhere.
//!
//! Boxes, series and forms are those of the states that the place knows, in their order; answers are
//! about the states, or the systems, of the place.

use serde::{Deserialize, Serialize};

use super::linear::Linear;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::places::{Question, Subject};
use crate::series::assumptions::Assumptions;

/// A question about one of several fields, which differ in their parameters.
#[derive(Serialize, Deserialize)]
pub(super) struct FieldMessage {
    pub field: usize,
    pub question: FieldQuestion,
}

impl Question for FieldMessage {
    const SUBJECT: Subject = Subject::Fields;
}

#[derive(Serialize, Deserialize)]
pub(super) enum FieldQuestion {
    // These need no answer.
    /// The field begins.
    Make {
        parameters: Vec<Interval>,
        symbols: Vec<Option<usize>>,
    },
    Switches(Vec<Interval>),
    Freeze {
        span: Interval,
        boxes: Vec<Interval>,
        loss: f64,
    },
    /// Series over forms begin.
    Begin {
        shape: FormShape,
        time: f64,
        assumptions: Vec<Assumptions>,
    },
    /// The rows of the place's states in the matrix of the flow.
    Linear(Linear),

    // These are answered.
    Slopes {
        time: Interval,
        boxes: Vec<Interval>,
    },
    Jacobian {
        time: Interval,
        boxes: Vec<Interval>,
    },
    Effects {
        time: Interval,
        boxes: Vec<Interval>,
        parameters: Vec<Interval>,
    },
    LastCoefficients {
        time: Interval,
        states: Vec<Vec<Interval>>,
        order: usize,
    },
    Assumptions {
        time: Interval,
        boxes: Vec<Interval>,
    },
    IsDecided {
        time: Interval,
        boxes: Vec<Interval>,
    },
    Undecided,
    /// Coefficient `k` of the derivatives from that of the states.
    Derivative {
        k: usize,
        forms: Vec<f64>,
    },
    /// The same by the rows of the matrix.
    Multiply {
        shape: FormShape,
        k: usize,
        forms: Vec<f64>,
    },
}
