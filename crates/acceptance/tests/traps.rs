//! Models with a trap in them: jumps inside steps, loops with several solutions, functions that
//! look constant, states at rest. Each is either bounded rightly or not at all; silence about a
//! jump would be a wrong proof.

mod recording;

use dovetail_guaranteed::{EnclosureOutcome, Problem, StopReason, enclose};
use dovetail_scenario::{Overrides, Scenario, SourceText};

use recording::{Recording, shared};

fn scenario(text: &str) -> Scenario {
    let source = SourceText {
        path: "model.toml".to_owned(),
        text: text.to_owned(),
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"))
}

/// One system without inputs.
fn single(stop: f64, declarations: &str, equations: &str) -> String {
    format!(
        "[model]\nstop-time = {stop}\n[systems.one]\n{declarations}\nequations = \"\"\"\n{equations}\n\"\"\"\n"
    )
}

/// A loop through `a.o = feedthrough` of `u` and `b.o = back` of `w`, with `x' = slope` and `z' =
/// w`.
fn looped(stop: f64, (x, slope): (f64, &str), guess: f64, feedthrough: &str, back: &str) -> String {
    format!(
        "[model]\nstop-time = {stop}\n\
         [systems.a]\ninputs = {{ u = {guess} }}\nstates = {{ x = {x} }}\nequations = \"der(x) = {slope}\"\n\
         outputs = {{ o = \"{feedthrough}\" }}\n\
         [systems.b]\ninputs = {{ w = {guess} }}\nstates = {{ z = 1.0 }}\nequations = \"der(z) = w\"\n\
         outputs = {{ o = \"{back}\" }}\n\
         [[connections]]\nfrom = \"a.o\"\nto = \"b.w\"\n[[connections]]\nfrom = \"b.o\"\nto = \"a.u\"\n"
    )
}

fn problem(text: &str) -> Problem {
    scenario(text)
        .to_enclose()
        .unwrap_or_else(|bad| panic!("{bad}"))
}

fn run(text: &str) -> (EnclosureOutcome, Recording) {
    let mut recording = Recording::default();
    let outcome = enclose(&problem(text), &shared(None, None), &mut recording);
    (outcome, recording)
}

/// Bounds end before `time`, at which the model jumps, and say why.
fn stops_before(text: &str, time: f64) {
    let (outcome, _) = run(text);
    let Some(StopReason::BlownUp { reason, .. }) = &outcome.stopped else {
        panic!("{:?}", outcome.stopped)
    };
    assert!(
        outcome.reached <= time && reason.contains("a condition on states, or a jump"),
        "{outcome:?}"
    );
}

/// Everything is bounded, and the last state ends between these two numbers, which enclose its true
/// range closely.
fn ends_with(text: &str, lo: f64, hi: f64) {
    let (outcome, _) = run(text);
    assert_eq!(outcome.stopped, None);
    let last = outcome.states[outcome.states.len() - 1];
    assert!(
        last.lo <= lo && hi <= last.hi,
        "{last} does not hold [{lo}, {hi}]"
    );
    assert!(
        last.width() <= 1.5 * (hi - lo) + 1e-11,
        "{last} is much wider than [{lo}, {hi}]"
    );
}

#[test]
fn a_condition_on_states_is_not_overlooked_where_its_branches_are_functions_of_time() {
    stops_before(
        &single(
            2.0,
            "states = { x = -1, y = 1 }",
            "der(x) = 3\nder(y) = if x < 0 then 0.8 else time",
        ),
        1.0 / 3.0,
    );
    let steep = "der(x) = -x\nder(y) = (if x > 1 then 1 else -1) * tanh(100 * (time + 1))";
    stops_before(&single(3.0, "states = { x = 2, y = 0 }", steep), 2f64.ln());
}

#[test]
fn the_cut_of_an_angle_is_not_crossed() {
    let circle = "der(x) = -y\nder(y) = x\nder(z) = atan2(y, x)";
    stops_before(
        &single(5.0, "states = { x = 1, y = 0.1, z = 1 }", circle),
        3.05,
    );
    stops_before(
        &single(3.0, "states = { z = 1 }", "der(z) = atan2(1.5 - time, -1)"),
        1.5,
    );
}

#[test]
fn an_angle_off_its_cut_is_bounded() {
    // The integral of atan2(1 + t, 2 - t) from 0 to 1.5, by quadrature to 15 digits.
    ends_with(
        &single(
            1.5,
            "states = { z = 0 }",
            "der(z) = atan2(1 + time, 2 - time)",
        ),
        1.408_451_373_094_800_6,
        1.408_451_373_094_800_6,
    );
}

#[test]
fn loops_with_jumps_are_refused() {
    let jumping = [
        looped(3.0, (0.5, "1"), 0.1, "0.5 * floor(u) + x", "0.5 * w + 1.5"),
        looped(
            3.0,
            (0.5, "1"),
            0.1,
            "if u < 1 then 0.5 * u else 0.5 * u + 1",
            "0.5 * w + x0",
        ),
        looped(
            3.0,
            (0.5, "0.7"),
            0.1,
            "0.5 * sin(u) + x + 0.3 * floor(x)",
            "0.3 * w",
        ),
    ];
    for text in jumping {
        let text = text.replace("x0", "1");
        let refusal = scenario(&text)
            .to_enclose()
            .map(|_| ())
            .expect_err("a loop that jumps")
            .to_string();
        assert!(
            refusal.contains("has a jump or a condition in it"),
            "{refusal}"
        );
    }
}

#[test]
fn a_loop_stays_on_its_branch_when_an_unrelated_switch_changes() {
    // u³ − 3 u = x has three solutions; the middle one is followed through a switch that hardly
    // changes anything.
    let switched = looped(
        3.7,
        (-1.8, "1 + (if time < 3.6 then 0 else 1e-9)"),
        0.74,
        "u - (u^3 - 3*u - x) / 12",
        "w",
    );
    let smooth = looped(3.7, (-1.8, "1"), 0.74, "u - (u^3 - 3*u - x) / 12", "w");
    let (switched, smooth) = (run(&switched).0.states, run(&smooth).0.states);
    assert!(
        (switched[1].middle() - smooth[1].middle()).abs() < 1e-8,
        "{} {}",
        switched[1],
        smooth[1]
    );
}

#[test]
fn a_function_of_time_with_an_uncertain_parameter_is_not_taken_as_constant() {
    let equations = "der(x) = -1e-3 * y + 0.9e-7 * tanh(1000 * (time - p))\nder(y) = 1e-3 * x";
    let declarations = "parameters = { p = [1.5, 1.5001] }\nstates = { x = [-1, 1], y = [-1, 1] }";
    let (outcome, _) = run(&single(3.0, declarations, equations));
    // Without the forcing x = cos(w t) x0 − sin(w t) y0 at w = 1e-3; the forcing adds 0.9e-7 (3 − 2
    // p) on top.
    let hull = (3e-3f64).cos() + (3e-3f64).sin();
    let x = outcome.states[0];
    assert!(
        x.hi >= hull - 1e-13 && x.lo <= -hull - 0.9e-7 * 2.0e-4 * 0.99,
        "{x} against {hull}"
    );
    assert!(x.hi < hull + 1e-6 && x.lo > -hull - 1e-6, "{x} is wide");
}

#[test]
fn squares_of_tiny_symbols_do_not_vanish() {
    let equations = "der(x) = -1e-9 * x\nder(y) = (1e165 * x) * x + x";
    let (outcome, _) = run(&single(
        1.0,
        "states = { x = [-1e-165, 1e-165], y = 1e-175 }",
        equations,
    ));
    // The vertex of 1e165 s² + s is at −2.5e-166.
    assert!(outcome.states[1].lo < -2.49e-166, "{}", outcome.states[1]);
}

#[test]
fn both_ends_of_an_uncertain_parameter_decide_whether_order_is_kept() {
    // The slope of x in y is 1 − p exp(−y): positive for the least p, of either sign for the
    // largest.
    let declarations = "parameters = { p = [0.5, 3] }\nstates = { x = 0, y = [1.2, 2.8] }";
    let (outcome, _) = run(&single(
        3.0,
        declarations,
        "der(x) = y + p * exp(-y) - x\nder(y) = -y",
    ));
    assert_eq!(outcome.stopped, None);
    assert!(outcome.states[0].contains(2.589), "{}", outcome.states[0]);
}

#[test]
fn states_that_do_not_move_are_bounded() {
    for (declarations, equations) in [
        ("states = { x = 0, v = 0 }", "der(x) = v\nder(v) = -x"),
        ("states = { x = 1, v = 0 }", "der(x) = -x\nder(v) = 0"),
        (
            "states = { x = 0, v = 1 }",
            "der(x) = -x*x + sin(time)^2\nder(v) = 0",
        ),
    ] {
        let (outcome, _) = run(&single(3.0, declarations, equations));
        assert_eq!(outcome.stopped, None, "{equations}");
        assert!(
            outcome.states.iter().all(|range| range.width() < 1e-12),
            "{:?}",
            outcome.states
        );
    }
}

#[test]
fn a_kink_in_time_costs_little() {
    // −∫ |t − 1.25| from 0 to 2.5 is −1.5625.
    let (outcome, _) = run(&single(
        2.5,
        "states = { z = 0 }",
        "der(z) = -abs(time - 1.25)",
    ));
    let z = outcome.states[0];
    assert!(z.contains(-1.5625) && z.width() < 1e-5, "{z}");
}

#[test]
fn a_power_whose_exponent_is_a_parameter_takes_any_sign() {
    // x' = −x² from −0.5: x = −0.5 / (1 − 0.5 t), −1 at t = 1
    let text = single(
        1.0,
        "parameters = { n = 2 }\nstates = { x = -0.5 }",
        "der(x) = -x^n",
    );
    ends_with(&text, -1.0, -1.0);
}

#[test]
fn a_blow_up_late_in_time_ends_the_run() {
    let text = single(1.0, "states = { x = 5000 }", "der(x) = x*x").replace(
        "stop-time = 1\n",
        "start-time = 1e6\nstop-time = 1000000.001\n",
    );
    let (outcome, _) = run(&text);
    assert!(
        matches!(outcome.stopped, Some(StopReason::BlownUp { .. })),
        "{:?}",
        outcome.stopped
    );
}

#[test]
fn nothing_is_bounded_across_a_pole() {
    // On both sides of its poles the tangent grows, and between them nothing is kept in order.
    for (declarations, equations) in [
        (
            "states = { x = 0, y = [1, 2] }",
            "der(x) = tan(y)\nder(y) = 0",
        ),
        (
            "parameters = { k = [1, 2] }\nstates = { x = 0 }",
            "der(x) = tan(k)",
        ),
        ("states = { x = [-1, 1] }", "der(x) = 1 / x"),
    ] {
        let (outcome, _) = run(&single(1.0, declarations, equations));
        assert!(
            matches!(outcome.stopped, Some(StopReason::BlownUp { .. })) && outcome.reached == 0.0,
            "{outcome:?}"
        );
    }
}

#[test]
fn bounds_that_creep_or_are_infinite_are_given_up() {
    let (outcome, _) = run(&single(
        2.0,
        "states = { x = 0, y = 1 }",
        "der(x) = tan(y)\nder(y) = 1",
    ));
    assert!(
        matches!(outcome.stopped, Some(StopReason::BlownUp { .. })),
        "{:?}",
        outcome.stopped
    );
    let (outcome, _) = run(&single(
        1.0,
        "states = { x = [-1.7e308, 1.7e308] }",
        "der(x) = -x",
    ));
    assert!(
        matches!(outcome.stopped, Some(StopReason::BlownUp { .. })),
        "{:?}",
        outcome.stopped
    );
}

#[test]
fn a_root_of_a_state_that_begins_at_zero_is_left_on_its_side() {
    // With s = sqrt(level): t = -8 (s / 2 + ln(1 - s / 2)), so that the level is 1 at 8 ln 2 - 4.
    ends_with(
        &single(
            8.0 * 2f64.ln() - 4.0,
            "states = { level = 0.0 }",
            "der(level) = 1 - 0.5 * sqrt(level)",
        ),
        1.0,
        1.0,
    );
    // A state that shrinks from zero has the root of its negative.
    ends_with(
        &single(
            8.0 * 2f64.ln() - 4.0,
            "states = { level = 0.0 }",
            "der(level) = 0.5 * sqrt(-level) - 1",
        ),
        -1.0,
        -1.0,
    );
}

#[test]
fn an_uncertain_switching_time_moves_a_state_on_one_side_only() {
    // x = 4 + t1 at the end: the slope is 2 before, 1 after.
    ends_with(
        &single(
            4.0,
            "parameters = { t1 = [0.9, 1.1] }\nstates = { x = 0.0 }",
            "der(x) = if time < t1 then 2 else 1",
        ),
        4.9,
        5.1,
    );
}
