//! The place's side: derivatives of its systems, as another process asks for them.

use super::linear::Linear;
use super::polynomial::STRIDE;
use super::questions::{FieldMessage, FieldQuestion};
use super::system_fields::SystemFields;
use crate::distribution::Share;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::places::{Answer, BadMessage, read};

/// The fields of the systems of a place.
#[derive(Default)]
pub(crate) struct FieldPlace {
    fields: Vec<PlacedField>,
}

struct PlacedField {
    systems: SystemFields,
    /// The shape of the series on their way.
    shape: FormShape,
    linear: Option<Linear>,
}

impl FieldPlace {
    /// Reads a message; the answer to it, if it has one.
    pub fn answer(
        &mut self,
        share: &Share,
        message: &mut &[u8],
    ) -> Result<Option<Answer>, BadMessage> {
        let message: FieldMessage = read(message)?;
        if let FieldQuestion::Make {
            parameters,
            symbols,
        } = &message.question
        {
            self.fields.truncate(message.field);
            self.fields.push(PlacedField {
                systems: SystemFields::new(&share.part, parameters, symbols),
                shape: FormShape::NO_SYMBOLS,
                linear: None,
            });
            return Ok(None);
        }

        let field = self.fields.get_mut(message.field);
        let field = field.ok_or_else(|| BadMessage("there is no such field".to_owned()))?;
        Ok(field.answer(share, message.question))
    }
}

impl PlacedField {
    fn answer(&mut self, share: &Share, question: FieldQuestion) -> Option<Answer> {
        let all = |boxes: &[Interval]| share.among_all(boxes, Interval::ZERO);
        let systems = &mut self.systems;
        match question {
            FieldQuestion::Make { .. } => None,
            FieldQuestion::Switches(switches) => {
                systems.switches = switches;
                None
            }
            FieldQuestion::Freeze { span, boxes, loss } => {
                systems.freeze(span, &all(&boxes), loss);
                None
            }
            FieldQuestion::Begin {
                shape,
                time,
                assumptions,
            } => {
                self.shape = shape;
                systems.begin_series(shape, STRIDE, time, &assumptions);
                None
            }
            FieldQuestion::Linear(linear) => {
                self.linear = Some(linear);
                None
            }
            FieldQuestion::Slopes { time, boxes } => {
                Some(Answer::of(&systems.slopes(time, &all(&boxes))))
            }
            FieldQuestion::Jacobian { time, boxes } => {
                Some(Answer::of(&systems.jacobian_over(time, &all(&boxes))))
            }
            FieldQuestion::Effects {
                time,
                boxes,
                parameters,
            } => {
                let boxes = all(&boxes);
                let effects = systems.jacobian_by_parameters(time, &boxes, &parameters);
                Some(Answer::of(&effects))
            }
            FieldQuestion::LastCoefficients {
                time,
                states,
                order,
            } => {
                let states = share.among_all(&states, Vec::new());
                let magnitudes = systems.last_coefficients(time, &states, order);
                Some(Answer::of(&magnitudes))
            }
            FieldQuestion::Assumptions { time, boxes } => {
                Some(Answer::of(&systems.assumptions_over(time, &all(&boxes))))
            }
            FieldQuestion::IsDecided { time, boxes } => {
                Some(Answer::of(&systems.is_decided(time, &all(&boxes))))
            }
            FieldQuestion::Undecided => Some(Answer::of(&systems.undecided())),
            FieldQuestion::Derivative { k, forms } => {
                Some(Answer::of(&self.derivative(share, k, &forms)))
            }
            FieldQuestion::Multiply { shape, k, forms } => {
                let linear = self.linear.as_ref()?;
                Some(Answer::of(&multiplied(linear, share, shape, k, &forms)))
            }
        }
    }

    /// `f_k` of the states of the place, from coefficient `k` of those that it knows.
    fn derivative(&mut self, share: &Share, k: usize, forms: &[f64]) -> Vec<f64> {
        let width = self.shape.width();
        let mut derivatives = vec![0.0; share.part.own_states() * width];
        let mut next = derivatives.chunks_exact_mut(width);

        self.systems
            .set_coefficients(k, |state| known_form(share, forms, width, state));
        self.systems.differentiate(k, |_, found| {
            if let Some(form) = next.next() {
                found.write(self.shape, form);
            }
        });
        derivatives
    }
}

/// The form of a state among those of the states that a place knows.
fn known_form<'f>(share: &Share, forms: &'f [f64], width: usize, state: usize) -> &'f [f64] {
    let position = share.known.binary_search(&state);
    let position = position.expect("BUG: a place does not know a state that it depends on");
    &forms[position * width..][..width]
}

/// The rows of the matrix times coefficient `k`.
fn multiplied(
    linear: &Linear,
    share: &Share,
    shape: FormShape,
    k: usize,
    forms: &[f64],
) -> Vec<f64> {
    let width = shape.width();
    let known = forms.chunks_exact(width);
    let magnitudes: Vec<f64> = known.map(|form| shape.magnitude_of(form)).collect();
    let magnitudes = share.among_all(&magnitudes, 0.0);
    let coefficient = |state| (known_form(share, forms, width, state), magnitudes[state]);
    let mut derivatives = vec![0.0; share.part.own_states() * width];

    for (row, form) in derivatives.chunks_exact_mut(width).enumerate() {
        linear.derivative(row, k, shape, coefficient, form);
    }
    derivatives
}
