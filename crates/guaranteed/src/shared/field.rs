//! The derivatives of all systems, wherever they are computed.

use super::jacobian::SparseRow;
use super::linear::Linear;
use super::majorant::Majorant;
use super::polynomial::{STRIDE, StepPolynomial};
use super::questions::{FieldMessage, FieldQuestion};
use super::system_fields::SystemFields;
use crate::distribution::{Distribution, Share};
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::assumptions::Assumptions;
use crate::series::tape::Coefficient;
use crate::system_part::{ProblemPart, SystemPart};

/// `f`, system by system.
pub(super) struct VectorField<'p> {
    problem: &'p Problem,
    distribution: &'p Distribution,
    /// Which of several fields it is, where systems are computed elsewhere.
    number: usize,
    /// The systems that are computed here.
    own: SystemFields,
    /// What is assumed of the step for each system, since series have been begun.
    assumed: Vec<Assumptions>,
}

/// Nothing is known of any state of a system.
fn unknown<T: Clone>(value: T) -> impl Fn(&SystemPart) -> Vec<T> {
    move |system| vec![value.clone(); system.states.len()]
}

/// All states of all systems act on a state, nobody knows how.
fn unknown_row(dimension: usize) -> SparseRow {
    (0..dimension)
        .map(|state| (state, Interval::ENTIRE))
        .collect()
}

impl<'p> VectorField<'p> {
    pub fn new(
        problem: &'p Problem,
        distribution: &'p Distribution,
        parameters: &[Interval],
        symbols: &[Option<usize>],
    ) -> Self {
        let field = Self {
            problem,
            distribution,
            number: distribution.next_field(),
            own: SystemFields::new(distribution.own(), parameters, symbols),
            assumed: Vec::new(),
        };
        field.tell(|_| FieldQuestion::Make {
            parameters: parameters.to_vec(),
            symbols: symbols.to_vec(),
        });
        field
    }

    fn tell(&self, news: impl Fn(&Share) -> FieldQuestion) {
        self.distribution.tell(|share| self.message(news(share)));
    }

    fn ask(&self, question: impl Fn(&Share) -> FieldQuestion) {
        self.distribution.ask(|share| self.message(question(share)));
    }

    fn message(&self, question: FieldQuestion) -> FieldMessage {
        FieldMessage {
            field: self.number,
            question,
        }
    }

    /// The present switches.
    pub fn switches(&self) -> &[Interval] {
        &self.own.switches
    }

    pub fn set_switches(&mut self, switches: &[Interval]) {
        self.own.switches = switches.to_vec();
        self.tell(|_| FieldQuestion::Switches(switches.to_vec()));
    }

    /// All derivatives over a box.
    pub fn slopes(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Interval> {
        self.ask(|share| FieldQuestion::Slopes {
            time,
            boxes: share.pick(boxes),
        });
        let own = self.own.slopes(time, boxes);
        self.distribution.of_states(own, unknown(Interval::ENTIRE))
    }

    /// How derivatives depend on states, over a box.
    pub fn jacobian_over(&mut self, time: Interval, boxes: &[Interval]) -> Vec<SparseRow> {
        self.ask(|share| FieldQuestion::Jacobian {
            time,
            boxes: share.pick(boxes),
        });
        let own = self.own.jacobian_over(time, boxes);
        let nothing = unknown_row(self.problem.dimension());
        self.distribution.of_states(own, unknown(nothing))
    }

    /// The majorant over a box.
    pub fn majorant_over(&mut self, time: Interval, boxes: &[Interval]) -> Majorant {
        Majorant::of(&self.jacobian_over(time, boxes))
    }

    /// How derivatives depend on each parameter that is not a point, over a box.
    pub fn jacobian_by_parameters(
        &mut self,
        time: Interval,
        boxes: &[Interval],
        parameters: &[Interval],
    ) -> Vec<(usize, Interval)> {
        if parameters.iter().all(|range| range.is_point()) {
            return Vec::new();
        }

        self.ask(|share| FieldQuestion::Effects {
            time,
            boxes: share.pick(boxes),
            parameters: parameters.to_vec(),
        });
        let mut effects = self.own.jacobian_by_parameters(time, boxes, parameters);
        let nothing: SparseRow = effects.iter().map(|e| (e.0, Interval::ENTIRE)).collect();
        for (_, theirs) in self.distribution.answers(|_| nothing.clone()) {
            for ((_, effect), (_, more)) in effects.iter_mut().zip(theirs) {
                *effect = effect.hull(more);
            }
        }
        effects
    }

    /// The largest magnitude of coefficient `order` of each derivative, where states have these
    /// series at `time`, and the assumptions of the series over forms hold.
    pub fn last_coefficients(
        &mut self,
        time: Interval,
        states: &[Vec<Interval>],
        order: usize,
    ) -> Vec<f64> {
        self.ask(|share| FieldQuestion::LastCoefficients {
            time,
            states: share.pick(states),
            order,
        });
        let own = self.own.last_coefficients(time, states, order);
        self.distribution.of_states(own, unknown(f64::INFINITY))
    }
}

/// What is assumed of a step.
impl VectorField<'_> {
    /// What a box and a span of time decide, for each system.
    pub fn assumptions_over(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Assumptions> {
        self.ask(|share| FieldQuestion::Assumptions {
            time,
            boxes: share.pick(boxes),
        });
        let own = self.own.assumptions_over(time, boxes);
        self.distribution
            .of_systems(own, |_| Assumptions::default())
    }

    /// What is assumed now, for each system.
    pub fn assumptions(&self) -> &[Assumptions] {
        &self.assumed
    }

    /// Whether a box and a span of time decide every condition and jump.
    pub fn is_decided(&mut self, time: Interval, boxes: &[Interval]) -> bool {
        self.ask(|share| FieldQuestion::IsDecided {
            time,
            boxes: share.pick(boxes),
        });
        let own = self.own.is_decided(time, boxes);
        let theirs = self.distribution.answers(|_| false);
        theirs.fold(own, |all, (_, decided)| all && decided)
    }

    /// Why the derivative of a state is not finite: the system in which something is not decided,
    /// if that is it.
    pub fn undecided_system_of(&self, state: usize) -> Option<usize> {
        self.ask(|_| FieldQuestion::Undecided);
        let own = self.own.undecided();
        let undecided = self.distribution.of_systems(own, |_| false);
        let mut systems = self.problem.systems.iter();
        let system = systems.position(|system| system.states.contains(&state));
        system.filter(|&system| undecided[system])
    }

    /// Takes functions of time alone as constant, where that loses no more than `loss`.
    pub fn freeze(&mut self, span: Interval, boxes: &[Interval], loss: f64) {
        self.tell(|share| FieldQuestion::Freeze {
            span,
            boxes: share.pick(boxes),
            loss,
        });
        self.own.freeze(span, boxes, loss);
    }
}

/// Series over forms, order by order.
impl VectorField<'_> {
    /// Begins series at `time`.
    pub fn begin_series(&mut self, shape: FormShape, time: f64, assumptions: &[Assumptions]) {
        self.assumed = assumptions.to_vec();
        self.tell(|share| FieldQuestion::Begin {
            shape,
            time,
            assumptions: share.part.pick(assumptions),
        });
        let own = self.distribution.own().pick(assumptions);
        self.own.begin_series(shape, STRIDE, time, &own);
    }

    /// `f_k` of all states: every system gets coefficient `k` of the states that it depends on.
    pub fn differentiate(&mut self, k: usize, polynomial: &mut StepPolynomial) {
        self.ask(|share| FieldQuestion::Derivative {
            k,
            forms: polynomial.coefficients_of(&share.known, k),
        });
        self.own
            .set_coefficients(k, |state| polynomial.coefficient(state, k));
        self.own.differentiate(k, |state, found| {
            polynomial.set_derivative(state, |shape, form| found.write(shape, form));
        });
        self.take_derivatives(polynomial);
    }

    /// From now on derivatives are products with a matrix, of which each place gets the rows of its
    /// states.
    pub fn tell_linear(&self, linear: &Linear) {
        self.tell(|share| FieldQuestion::Linear(linear.part(&share.part)));
    }

    /// `f_k` of all states, where the flow is a matrix.
    pub fn multiply(&mut self, linear: &Linear, k: usize, polynomial: &mut StepPolynomial) {
        self.ask(|share| FieldQuestion::Multiply {
            shape: polynomial.shape,
            k,
            forms: polynomial.coefficients_of(&share.known, k),
        });
        polynomial.multiply(linear, self.distribution.own(), k);
        self.take_derivatives(polynomial);
    }

    /// The derivatives that other places have found.
    fn take_derivatives(&self, polynomial: &mut StepPolynomial) {
        let shape = polynomial.shape;
        let mut nothing = vec![0.0; shape.width()];
        shape.set_unknown(&mut nothing);
        let unknown = |part: &ProblemPart| nothing.repeat(part.own_states());

        for (part, forms) in self.distribution.answers(unknown) {
            let states = part.systems.iter().flat_map(|system| system.states.clone());
            for (state, found) in states.zip(forms.chunks_exact(shape.width())) {
                let found = Coefficient::Form(found);
                polynomial.set_derivative(state, |shape, form| found.write(shape, form));
            }
        }
    }
}
