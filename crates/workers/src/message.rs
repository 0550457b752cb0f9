//! Orders, answers and errors, as words.

use dovetail_core::{
    Error, Evaluation, EventGradient, Interface, Knot, Linearization, MAX_DEGREE, MacroStep,
    OperatorShape, OperatorTask, Path, Remedy, Response, Signal,
};

use crate::dictionary::Dictionary;
use crate::question::{DONE, FAILED, LEAST_WORDS, Question};
use crate::wire::{Reader, Writer};
use crate::words::{PutWords, TakeWords};

/// Words that orders and answers of a system with this interface take, at most.
pub(crate) fn words(interface: &Interface) -> usize {
    let (inputs, outputs, states) = (
        interface.inputs.len(),
        interface.outputs.len(),
        interface.states.len(),
    );
    let order = 6 + (MAX_DEGREE + 2) * inputs;
    let response = 6 + (1 + Path::MOST) * (1 + 3 * outputs + 3 * states);
    let matrices = (states + outputs) * (states + 2 * inputs);
    let event = 4 + states + 2 * inputs + states * (states + inputs);
    let linearization = 4 + matrices + 3 * states + 2 * inputs + 2 * outputs + event;

    order.max(response).max(linearization).max(LEAST_WORDS)
}

/// A step under these inputs, to be taken or tried. The numbers of texts are as the other side knows them.
pub(crate) fn put_step(
    put: &mut impl PutWords,
    question: Question,
    step: MacroStep,
    inputs: &[Signal],
    (derivatives, averages): (usize, bool),
    texts: &Dictionary,
) {
    put.word(question as u64);
    put.floats(&[step.start, step.end, step.size()]);
    put.word(derivatives as u64);
    put.word(u64::from(averages));

    for (position, signal) in inputs.iter().enumerate() {
        match texts.number_there(position, signal) {
            Some(number) => {
                put.word(1);
                put.float(number);
            }
            None => {
                put.word(signal.coefficients().len() as u64);
                put.floats(signal.coefficients());
            }
        }
    }
}

/// What [`put_step`] put, but for the question; how many derivatives are asked for, and whether
/// the asker averages.
pub(crate) fn take_step(
    take: &mut impl TakeWords,
    inputs: &mut [Signal],
) -> (MacroStep, (usize, bool)) {
    let step = MacroStep::exactly(take.float(), take.float(), take.float());
    let derivatives = take.word() as usize;
    let averages = take.word() != 0;

    for signal in inputs {
        let mut coefficients = [0.0; MAX_DEGREE + 1];
        let coefficients = &mut coefficients[..(take.word() as usize).clamp(1, MAX_DEGREE + 1)];
        take.floats(coefficients);
        *signal = Signal::new(coefficients);
    }
    (step, (derivatives, averages))
}

/// An answer, and how many seconds it took.
pub(crate) fn put_response(put: &mut impl PutWords, response: &Response, seconds: f64) {
    put.word(DONE);
    put.floats(&[seconds, response.reached, response.next_event]);
    let kept = [
        response.reused,
        response.estimated,
        response.linearized,
        response.ends,
        response.located,
        response.crossed,
    ];
    put.word(
        kept.iter()
            .enumerate()
            .map(|(bit, &is)| u64::from(is) << bit)
            .sum(),
    );
    response
        .outputs
        .iter()
        .for_each(|knot| put.floats(&[knot.value, knot.slope, knot.curvature]));
    put.floats(&response.states);

    response.motion.iter().for_each(|state| put.floats(state));
    put_path(put, &response.path);
}

fn put_path(put: &mut impl PutWords, path: &Path) {
    put.word(path.len() as u64);
    for (index, &time) in path.times().iter().enumerate() {
        put.float(time);
        for knot in path.outputs(index).iter().chain(path.states(index)) {
            put.floats(&[knot.value, knot.slope, knot.curvature]);
        }
    }
}

fn take_path(take: &mut impl TakeWords, outputs: usize, states: usize, path: &mut Path) {
    path.clear();
    for _ in 0..(take.word() as usize).min(Path::MOST) {
        path.push(take.float());
        for _ in 0..outputs {
            path.push_output(take_knot(take));
        }
        for _ in 0..states {
            path.push_state(take_knot(take));
        }
    }
}

/// What [`put_response`] put, but for its first word; the seconds.
pub(crate) fn take_response(take: &mut impl TakeWords, response: &mut Response) -> f64 {
    let seconds = take.float();
    (response.reached, response.next_event) = (take.float(), take.float());
    let kept = take.word();
    (response.reused, response.estimated) = (kept & 1 != 0, kept & 2 != 0);
    (response.linearized, response.ends) = (kept & 4 != 0, kept & 8 != 0);
    (response.located, response.crossed) = (kept & 16 != 0, kept & 32 != 0);

    for knot in &mut response.outputs {
        *knot = take_knot(take);
    }

    take.floats(&mut response.states);
    response
        .motion
        .iter_mut()
        .for_each(|state| take.floats(state));
    let (outputs, states) = (response.outputs.len(), response.states.len());
    take_path(take, outputs, states, &mut response.path);
    seconds
}

fn take_knot(take: &mut impl TakeWords) -> Knot {
    Knot {
        value: take.float(),
        slope: take.float(),
        curvature: take.float(),
    }
}

/// A linearization, and how many seconds it took.
pub(crate) fn put_linearization(put: &mut impl PutWords, of: &Linearization, seconds: f64) {
    put.word(DONE);
    put.float(seconds);
    put.word(of.affine);
    put.word(u64::from(of.kept));
    [&of.a, &of.b, &of.c, &of.d, &of.b_slope, &of.d_slope]
        .iter()
        .for_each(|matrix| put.floats(matrix.as_slice()));
    let vectors = [
        &of.x,
        &of.u,
        &of.u_slope,
        &of.f,
        &of.g,
        &of.f_time,
        &of.g_time,
    ];

    vectors
        .iter()
        .for_each(|vector| put.floats(vector.as_slice()));
    put_event(put, &of.event);
}

fn put_event(put: &mut impl PutWords, event: &EventGradient) {
    put.word(event.due);
    put.word(u64::from(event.resets()));
    if event.due > 0 {
        put.floats(&[event.value, event.time]);
        for vector in [&event.x, &event.u, &event.u_slope] {
            put.floats(vector.as_slice());
        }
    }
    put.floats(event.reset.as_slice());
    put.floats(event.reset_by_inputs.as_slice());
}

fn take_event(take: &mut impl TakeWords, event: &mut EventGradient) {
    event.due = take.word();
    event.make_reset(take.word() != 0);
    if event.due > 0 {
        event.value = take.float();
        event.time = take.float();
        for vector in [&mut event.x, &mut event.u, &mut event.u_slope] {
            take.floats(vector.as_mut_slice());
        }
    }
    take.floats(event.reset.as_mut_slice());
    take.floats(event.reset_by_inputs.as_mut_slice());
}

/// What [`put_linearization`] put, but for its first word; the seconds.
pub(crate) fn take_linearization(take: &mut impl TakeWords, into: &mut Linearization) -> f64 {
    let seconds = take.float();
    into.affine = take.word();
    into.kept = take.word() != 0;
    let Linearization {
        a,
        b,
        c,
        d,
        b_slope,
        d_slope,
        x,
        u,
        u_slope,
        f,
        g,
        f_time,
        g_time,
        affine: _,
        kept: _,
        event,
    } = into;
    [a, b, c, d, b_slope, d_slope]
        .into_iter()
        .for_each(|matrix| take.floats(matrix.as_mut_slice()));
    [x, u, u_slope, f, g, f_time, g_time]
        .into_iter()
        .for_each(|vector| take.floats(vector.as_mut_slice()));
    take_event(take, event);

    seconds
}

/// Where `f` and `g` are wanted, after the question.
pub(crate) fn put_evaluate(put: &mut impl PutWords, time: f64, at: &Evaluation) {
    put.word(Question::Evaluate as u64);
    put.float(time);
    for vector in [&at.x, &at.u, &at.u_slope] {
        put.floats(vector.as_slice());
    }
}

/// What [`put_evaluate`] put, but for the question.
pub(crate) fn take_evaluate(take: &mut impl TakeWords, at: &mut Evaluation) -> f64 {
    let time = take.float();
    for vector in [&mut at.x, &mut at.u, &mut at.u_slope] {
        take.floats(vector.as_mut_slice());
    }
    time
}

/// `f` and `g`, and how many seconds they took.
pub(crate) fn put_evaluation(put: &mut impl PutWords, of: &Evaluation, seconds: f64) {
    put.word(DONE);
    put.float(seconds);

    [&of.f, &of.g]
        .iter()
        .for_each(|vector| put.floats(vector.as_slice()));
}

/// What [`put_evaluation`] put, but for its first word; the seconds.
pub(crate) fn take_evaluation(take: &mut impl TakeWords, into: &mut Evaluation) -> f64 {
    let seconds = take.float();
    [&mut into.f, &mut into.g]
        .into_iter()
        .for_each(|vector| take.floats(vector.as_mut_slice()));
    seconds
}

/// Matrices whose operators are wanted, after the question.
pub(crate) fn put_operator_task(put: &mut impl PutWords, task: &OperatorTask) {
    let shape = &task.shape;
    let sizes = [shape.states, shape.inputs, shape.outputs, shape.degree];
    put.word(Question::Operators as u64);
    sizes.iter().for_each(|size| put.word(*size as u64));
    put.word(shape.with_states.into());
    put.word(shape.inverted.into());
    put.float(task.size);
    put.floats(&task.matrices);
}

/// The shape that [`put_operator_task`] put, but for the question.
pub(crate) fn take_operator_shape(take: &mut impl TakeWords) -> OperatorShape {
    let mut size = || take.word() as usize;
    OperatorShape {
        states: size(),
        inputs: size(),
        outputs: size(),
        degree: size(),
        with_states: size() != 0,
        inverted: size() != 0,
    }
}

/// What [`put_operator_task`] put after the shape.
pub(crate) fn take_operator_task(take: &mut impl TakeWords, task: &mut OperatorTask) {
    task.size = take.float();
    take.floats(&mut task.matrices);
}

/// Operators, or the pole for which there are none.
pub(crate) fn put_operators(put: &mut impl PutWords, task: &OperatorTask) {
    put.word(DONE);
    put.word(task.pole.is_some().into());
    put.float(task.pole.unwrap_or(0.0));
    put.floats(&task.operators);
}

/// What [`put_operators`] put, but for its first word.
pub(crate) fn take_operators(take: &mut impl TakeWords, task: &mut OperatorTask) {
    let has_pole = take.word() != 0;
    task.pole = Some(take.float()).filter(|_| has_pole);
    take.floats(&mut task.operators);
}

/// Why a system has no answer.
pub(crate) fn put_error(put: &mut impl PutWords, error: &Error, system: &str, time: f64) {
    let mut writer = Writer::default();
    match error {
        Error::NotFinite {
            system,
            variable,
            time,
            value,
        } => {
            writer
                .truth(true)
                .text(system)
                .text(variable)
                .float(*time)
                .float(*value);
        }
        Error::System {
            system,
            time,
            reason,
            remedies,
        } => {
            writer
                .truth(false)
                .text(system)
                .text(&reason.to_string())
                .float(*time);
            write_remedies(&mut writer, remedies);
        }
        other => {
            writer
                .truth(false)
                .text(system)
                .text(&other.to_string())
                .float(time);
            write_remedies(&mut writer, &other.remedies());
        }
    }

    put.word(FAILED);
    put.bytes(&writer.into_bytes());
}

/// What [`put_error`] put, but for its first word.
pub(crate) fn take_error(take: &mut impl TakeWords) -> Option<Error> {
    let bytes = take.bytes();
    let mut reader = Reader::new(&bytes);
    let (not_finite, system, text) = (reader.truth()?, reader.text()?, reader.text()?);
    let time = reader.float()?;

    Some(if not_finite {
        Error::NotFinite {
            system,
            variable: text,
            time,
            value: reader.float()?,
        }
    } else {
        Error::system(&system, time, text).with(read_remedies(&mut reader)?)
    })
}

fn write_remedies(writer: &mut Writer, remedies: &[Remedy]) {
    let bytes = postcard::to_allocvec(remedies);
    writer.bytes(&bytes.expect("BUG: remedies can be written"));
}

fn read_remedies(reader: &mut Reader<'_>) -> Option<Vec<Remedy>> {
    postcard::from_bytes(reader.bytes()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::memory::{Put, SharedMemory, Take};

    #[test]
    fn a_step_arrives_to_the_last_bit() {
        let memory = SharedMemory::new(100).unwrap();
        let step = MacroStep::of_size(0.3, 0.1);
        let inputs = [
            Signal::new(&[1.0, f64::NAN, -0.0, 2.0]),
            Signal::constant(-0.0),
            Signal::constant(3.0),
        ];
        let texts = Dictionary::default();
        put_step(
            &mut Put::new(memory.words()),
            Question::Trial,
            step,
            &inputs,
            (2, true),
            &texts,
        );
        let mut take = Take::new(memory.words());
        assert_eq!(Question::of(take.word()), Some(Question::Trial));
        let mut taken = [Signal::constant(9.0); 3];
        assert_eq!(take_step(&mut take, &mut taken), (step, (2, true)));
        let bits = |signal: &Signal| {
            signal
                .coefficients()
                .iter()
                .map(|c| c.to_bits())
                .collect::<Vec<_>>()
        };
        assert!((0..3).all(|i| bits(&taken[i]) == bits(&inputs[i])));
    }

    #[test]
    fn errors_keep_their_sentences_and_remedies() {
        let memory = SharedMemory::new(1000).unwrap();
        let (system, variable) = ("a".to_owned(), "x".to_owned());
        let errors = [
            Error::system(&system, 0.1, "it broke"),
            Error::system(&system, 0.1, "it was slow")
                .with([Remedy::MultipleOfStep(0.25), Remedy::method("jacobi")]),
            Error::NotFinite {
                system,
                variable,
                time: 2.0,
                value: f64::INFINITY,
            },
        ];
        for error in errors {
            put_error(&mut Put::new(memory.words()), &error, "other", 7.0);
            let mut take = Take::new(memory.words());
            assert_eq!(take.word(), FAILED);
            let taken = take_error(&mut take).unwrap();
            assert_eq!(taken.to_string(), error.to_string());
            assert_eq!(taken.remedies(), error.remedies());
        }
    }
}
