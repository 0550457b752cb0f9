//! Nonlinear models for the tests of bounds, each in at least two coupled systems, with boxes at
//! the start.

#![allow(dead_code, reason = "every test program uses a part of it")]

use std::fmt::Write;

use dovetail_cases::{Case, LOTKA_VOLTERRA, connections, model};
use dovetail_scenario::{Overrides, Scenario, SourceText};

/// A pendulum that a source of torque drives, which feels where it is.
pub fn pendulum() -> Scenario {
    let text = "
        [systems.pendulum]
        inputs = { torque = 0.0 }
        parameters = { friction = [0.1, 0.11] }
        states = { phi = [1.0, 1.05], omega = [-0.05, 0.0] }
        equations = '''
        der(phi) = omega
        der(omega) = -sin(phi) - friction * omega + torque
        '''
        outputs = { phi = 'phi' }
        [systems.source]
        inputs = { phi = 0.0 }
        states = { lag = [0.0, 0.02] }
        equations = 'der(lag) = 2 * (cos(phi) - lag)'
        outputs = { torque = '0.3 * sin(1.7 * time) + 0.2 * lag' }
        ";
    coupled(
        4.0,
        text,
        &[
            "source.torque -> pendulum.torque",
            "pendulum.phi -> source.phi",
        ],
    )
}

/// One oscillator of Van der Pol, its position in one system and its velocity in the other.
pub fn van_der_pol() -> Scenario {
    let text = "
        [systems.position]
        inputs = { v = 0.0 }
        states = { x = [1.4, 1.45] }
        equations = 'der(x) = v'
        outputs = { x = 'x' }
        [systems.velocity]
        inputs = { x = 1.4 }
        parameters = { mu = 1.0 }
        states = { v = [2.35, 2.4] }
        equations = 'der(v) = mu * (1 - x^2) * v - x'
        outputs = { v = 'v' }
        ";
    coupled(
        5.0,
        text,
        &["velocity.v -> position.v", "position.x -> velocity.x"],
    )
}

/// Predator and prey from boxes around the start of the example.
pub fn lotka_volterra() -> Scenario {
    LOTKA_VOLTERRA.rewritten(&[
        ("p = 1.0 }", "p = [0.97, 1.03] }"),
        ("stop-time = 20.0", "stop-time = 8.0"),
    ])
}

/// Which equations of [`laub_loomis`] are one system.
pub type Split<'a> = &'a [&'a [usize]];

/// All of Laub-Loomis in one system.
pub const ONE: Split<'static> = &[&[1, 2, 3, 4, 5, 6, 7]];
/// In two.
pub const TWO: Split<'static> = &[&[1, 2, 5], &[3, 4, 6, 7]];
/// Every equation on its own.
pub const SEVEN: Split<'static> = &[&[1], &[2], &[3], &[4], &[5], &[6], &[7]];

/// The enzyme model of Laub and Loomis from a box of this radius, split like this.
pub fn laub_loomis(radius: f64, split: Split<'_>, until: f64) -> Scenario {
    const START: [f64; 7] = [1.2, 1.05, 1.5, 2.4, 1.0, 0.1, 0.45];
    const RATES: [(&str, &[usize]); 7] = [
        ("1.4 * x3 - 0.9 * x1", &[1, 3]),
        ("2.5 * x5 - 1.5 * x2", &[2, 5]),
        ("0.6 * x7 - 0.8 * x2 * x3", &[2, 3, 7]),
        ("2 - 1.3 * x3 * x4", &[3, 4]),
        ("0.7 * x1 - x4 * x5", &[1, 4, 5]),
        ("0.3 * x1 - 3.1 * x6", &[1, 6]),
        ("1.8 * x6 - 1.6 * x2 * x7", &[2, 6, 7]),
    ];
    let owner = |state: usize| {
        split
            .iter()
            .position(|own| own.contains(&state))
            .expect("BUG: seven states")
    };
    let (mut text, mut wires) = (String::new(), Vec::new());
    for (k, own) in split.iter().enumerate() {
        let needed = own.iter().flat_map(|&i| RATES[i - 1].1).copied();
        let mut foreign: Vec<usize> = needed.filter(|i| !own.contains(i)).collect();
        foreign.sort_unstable();
        foreign.dedup();
        wires.extend(
            foreign
                .iter()
                .map(|i| format!("s{}.x{i} -> s{k}.x{i}", owner(*i))),
        );
        let list = |items: Vec<String>| items.join(", ");
        let inputs = list(foreign.iter().map(|i| format!("x{i} = 0.0")).collect());
        let state = |i: &usize| {
            let start = START[i - 1];
            format!("x{i} = [{:?}, {:?}]", start - radius, start + radius)
        };
        let states = list(own.iter().map(state).collect());
        let outputs = list(own.iter().map(|i| format!("x{i} = 'x{i}'")).collect());
        let rates: String = own
            .iter()
            .map(|i| format!("der(x{i}) = {}\n", RATES[i - 1].0))
            .collect();
        let _ = write!(
            text,
            "[systems.s{k}]\ninputs = {{ {inputs} }}\nstates = {{ {states} }}\nequations = '''\n{rates}'''\n\
             outputs = {{ {outputs} }}\n"
        );
    }
    let wires: Vec<&str> = wires.iter().map(String::as_str).collect();
    coupled(until, &text, &wires)
}

/// A stirred tank: what reacts, after Arrhenius, and the heat of it.
pub fn reactor() -> Scenario {
    let text = "
        [systems.balance]
        inputs = { temperature = 1.0 }
        parameters = { flow = [0.98, 1.0], rate = 20000.0, activation = 10.0 }
        states = { c = [0.8, 0.83] }
        equations = '''
        reaction = rate * exp(-activation / temperature) * c
        der(c) = flow * (1 - c) - reaction
        '''
        outputs = { reaction = 'reaction' }
        [systems.heat]
        inputs = { reaction = 0.0 }
        parameters = { rise = 0.3, cooling = 0.5 }
        states = { temperature = [1.0, 1.01] }
        equations = 'der(temperature) = 1 - temperature + rise * reaction - cooling * (temperature - 0.9)'
        outputs = { temperature = 'temperature' }
        ";
    coupled(
        4.0,
        text,
        &[
            "balance.reaction -> heat.reaction",
            "heat.temperature -> balance.temperature",
        ],
    )
}

/// Two neurons that excite and inhibit each other.
pub fn neurons() -> Scenario {
    let text = "
        [systems.one]
        inputs = { other = 0.0 }
        parameters = { gain = [1.9, 2.0] }
        states = { x = [0.1, 0.2] }
        equations = 'der(x) = -x + tanh(gain * other - x) + 0.25'
        outputs = { x = 'x' }
        [systems.two]
        inputs = { other = 0.0 }
        states = { x = [-0.4, -0.3] }
        equations = 'der(x) = -0.8 * x + tanh(1.5 - 3 * other)'
        outputs = { x = 'x' }
        ";
    coupled(6.0, text, &["two.x -> one.other", "one.x -> two.other"])
}

/// A mass in water on a spring with a lag: its drag has a kink where it turns round.
pub fn drag() -> Scenario {
    let text = "
        [systems.mass]
        inputs = { force = 0.0 }
        states = { x = [1.0, 1.02], v = [0.0, 0.02] }
        equations = '''
        der(x) = v
        der(v) = force - v * abs(v)
        '''
        outputs = { x = 'x' }
        [systems.spring]
        inputs = { x = 1.0 }
        states = { force = [-1.0, -0.99] }
        equations = 'der(force) = 4 * (-x - force)'
        outputs = { force = 'force' }
        ";
    coupled(
        4.0,
        text,
        &["spring.force -> mass.force", "mass.x -> spring.x"],
    )
}

/// A servo whose drive saturates, both ways.
pub fn saturation() -> Scenario {
    let text = "
        [systems.plant]
        inputs = { drive = 0.0 }
        states = { x = [0.0, 0.02], v = [0.0, 0.01] }
        equations = '''
        der(x) = v
        der(v) = drive - 0.4 * v
        '''
        outputs = { x = 'x', v = 'v' }
        [systems.controller]
        inputs = { x = 0.0, v = 0.0 }
        states = { sum = [0.0, 0.01] }
        equations = '''
        wanted = 2 * (1 - x) - 0.5 * v + 0.1 * sum
        der(sum) = 1 - x
        '''
        outputs = { drive = 'max(-0.5, min(0.5, wanted))' }
        ";
    coupled(
        4.0,
        text,
        &[
            "controller.drive -> plant.drive",
            "plant.x -> controller.x",
            "plant.v -> controller.v",
        ],
    )
}

/// An enzyme after Michaelis and Menten, and what it makes, which hinders it.
pub fn enzyme() -> Scenario {
    let text = "
        [systems.substrate]
        inputs = { product = 0.0 }
        parameters = { most = [0.95, 1.0], half = 0.4, hindrance = 0.7 }
        states = { s = [1.9, 2.0] }
        equations = '''
        turnover = most * s / (half * (1 + product / hindrance) + s)
        der(s) = 0.2 - turnover
        '''
        outputs = { turnover = 'turnover' }
        [systems.product]
        inputs = { turnover = 0.0 }
        states = { p = [0.0, 0.05] }
        equations = 'der(p) = turnover - 0.5 * p'
        outputs = { p = 'p' }
        ";
    coupled(
        6.0,
        text,
        &[
            "substrate.turnover -> product.turnover",
            "product.p -> substrate.product",
        ],
    )
}

/// Tanks that empty one into the next: cooperative, as levels only help each other.
pub fn tanks() -> Scenario {
    let text = "
        [systems.upper]
        inputs = { returned = 0.0 }
        states = { level = [0.9, 1.0] }
        equations = 'der(level) = 0.3 + 0.1 * returned - 0.6 * sqrt(level)'
        outputs = { flow = '0.6 * sqrt(level)' }
        [systems.lower]
        inputs = { flow = 0.5 }
        states = { level = [0.3, 0.36] }
        equations = 'der(level) = flow - 0.7 * sqrt(level)'
        outputs = { level = 'level' }
        ";
    coupled(
        5.0,
        text,
        &["upper.flow -> lower.flow", "lower.level -> upper.returned"],
    )
}

/// A vehicle and the driver who steers it towards a point.
pub fn steering() -> Scenario {
    let text = "
        [systems.vehicle]
        inputs = { turn = 0.0 }
        states = { x = [0.0, 0.02], y = [0.0, 0.02], heading = [0.0, 0.03] }
        equations = '''
        der(x) = cos(heading)
        der(y) = sin(heading)
        der(heading) = turn
        '''
        outputs = { x = 'x', y = 'y', heading = 'heading' }
        [systems.driver]
        inputs = { x = 0.0, y = 0.0, heading = 0.0 }
        parameters = { reaction = [1.9, 2.0] }
        states = { turn = [0.0, 0.01] }
        equations = '''
        bearing = atan2(6 - y, 8 - x)
        der(turn) = reaction * (atan(3 * (bearing - heading)) - turn)
        '''
        outputs = { turn = 'turn' }
        ";
    let wires = [
        "driver.turn -> vehicle.turn",
        "vehicle.x -> driver.x",
        "vehicle.y -> driver.y",
    ];
    coupled(
        4.0,
        text,
        &[&wires[..], &["vehicle.heading -> driver.heading"]].concat(),
    )
}

/// The oscillator of Duffing under a force that depends on time.
pub fn duffing() -> Scenario {
    let text = "
        [systems.mass]
        inputs = { force = 0.0 }
        states = { x = [0.98, 1.02], v = [-0.02, 0.02] }
        equations = '''
        der(x) = v
        der(v) = force - 0.3 * v
        '''
        outputs = { x = 'x' }
        [systems.spring]
        inputs = { x = 1.0 }
        parameters = { strength = [0.98, 1.02] }
        equations = ''
        outputs = { force = 'x - strength * x^3 + 0.5 * cos(1.2 * time)' }
        ";
    coupled(
        4.0,
        text,
        &["spring.force -> mass.force", "mass.x -> spring.x"],
    )
}

/// An oscillator of which only bounds of the parameters are known.
pub fn uncertain() -> Scenario {
    let text = "
        [systems.mass]
        inputs = { force = 0.0 }
        parameters = { m = [0.95, 1.05] }
        states = { x = 1.0, v = [0.0, 0.1] }
        equations = '''
        der(x) = v
        der(v) = force / m
        '''
        outputs = { x = 'x', v = 'v' }
        [systems.suspension]
        inputs = { x = 1.0, v = 0.0 }
        parameters = { k = [1.9, 2.1], d = [0.2, 0.25], lag = [0.04, 0.05] }
        states = { force = -2.0 }
        equations = 'der(force) = (-k * x - d * v - force) / lag'
        outputs = { force = 'force' }
        ";
    coupled(
        4.0,
        text,
        &[
            "suspension.force -> mass.force",
            "mass.x -> suspension.x",
            "mass.v -> suspension.v",
        ],
    )
}

/// Switched at times that are no doubles, and at one that is not known.
pub fn switched() -> Scenario {
    let text = "
        [systems.motor]
        inputs = { load = 0.0 }
        parameters = { p = 0.7, late = [2.0, 2.01] }
        states = { speed = [0.0, 0.05] }
        equations = '''
        drive = if time < 1.3 * p then 1 elseif time < late / 1.1 then -0.4 else 0.6
        der(speed) = drive - load - 0.1 * speed^2
        '''
        outputs = { speed = 'speed' }
        [systems.load]
        inputs = { speed = 0.0 }
        states = { load = [0.0, 0.02] }
        equations = 'der(load) = if 3 * time > 7.1 then speed - 2 * load else 0.5 * speed - load'
        outputs = { load = 'load' }
        ";
    coupled(
        3.0,
        text,
        &["load.load -> motor.load", "motor.speed -> load.speed"],
    )
}

/// Two systems whose outputs depend on each other at once, and not linearly.
pub fn feedthrough() -> Scenario {
    let text = "
        [systems.one]
        inputs = { u = 0.0 }
        states = { x = [0.5, 0.53] }
        equations = 'der(x) = u - x'
        outputs = { y = 'x + 0.3 * sin(u)' }
        [systems.two]
        inputs = { u = 0.5 }
        states = { x = [-0.2, -0.18] }
        equations = 'der(x) = 0.5 * u^2 - x'
        outputs = { y = '0.4 * x + 0.5 * tanh(u) - 0.1 * u^3' }
        ";
    coupled(4.0, text, &["one.y -> two.u", "two.y -> one.u"])
}

/// As [`feedthrough`], with a loop that jumps.
pub fn switched_loop() -> Scenario {
    let text = "
        [systems.one]
        inputs = { u = 0.0 }
        parameters = { when = 1.25 }
        states = { x = [0.5, 0.53] }
        equations = 'der(x) = u - x'
        outputs = { y = 'x + 0.3 * sin(u) + (if time < when then 0 else 1)' }
        [systems.two]
        inputs = { u = 0.5 }
        states = { x = [-0.2, -0.18] }
        equations = 'der(x) = 0.5 * u^2 - x'
        outputs = { y = '0.4 * x + 0.5 * tanh(u) - 0.1 * u^3' }
        ";
    coupled(2.0, text, &["one.y -> two.u", "two.y -> one.u"])
}

/// Ordered at first, for all values of its parameter, and later for the lower ones only.
pub fn order_lost() -> Scenario {
    let text = "
        [systems.one]
        inputs = { y = -1.0, z = 0.0 }
        parameters = { p = [0.0, 1.0] }
        states = { x = [0.0, 0.1] }
        equations = 'der(x) = y * (1 - p * z)'
        outputs = { x = 'x' }
        [systems.two]
        states = { y = [-1.1, -0.9], z = 0.1 }
        equations = '''
        der(y) = -0.01 * y
        der(z) = 1
        '''
        outputs = { y = 'y', z = 'z' }
        ";
    coupled(4.0, text, &["two.y -> one.y", "two.z -> one.z"])
}

/// Solutions that become infinite, the fastest after a second.
pub fn explosion() -> Scenario {
    let text = "
        [systems.one]
        inputs = { square = 1.0 }
        states = { x = [0.9, 1.0] }
        equations = 'der(x) = square'
        outputs = { x = 'x' }
        [systems.two]
        inputs = { u = 1.0 }
        equations = ''
        outputs = { square = 'u^2' }
        ";
    coupled(2.0, text, &["two.square -> one.square", "one.x -> two.u"])
}

/// A state that never moves, beside others that do.
pub fn at_rest() -> Scenario {
    let text = "
        [systems.one]
        inputs = { u = 1.0 }
        states = { x = [0.0, 0.1] }
        equations = 'der(x) = u - x^2'
        outputs = { x = 'x' }
        [systems.two]
        states = { level = [0.9, 1.0] }
        equations = 'der(level) = 0'
        outputs = { level = 'level' }
        ";
    coupled(2.0, text, &["two.level -> one.u"])
}

/// The functions that no other model uses.
pub fn functions() -> Scenario {
    let text = "
        [systems.one]
        inputs = { u = 0.5 }
        parameters = { exponent = 1.5 }
        states = { x = [1.0, 1.03] }
        equations = '''
        der(x) = log(1 + u) - 0.4 * x^exponent + 0.1 * log10(x) - 0.05 * x^(-2) + (if x > -1 then 0.1 else 7)
        '''
        outputs = { x = 'x' }
        [systems.two]
        inputs = { u = 1.0 }
        states = { x = [0.5, 0.52] }
        equations = '''
        der(x) = 0.2 * asin(0.4 * x) - 0.1 * acos(0.3 * u) + 0.2 * tan(0.5 * u) - 0.5 * sinh(x) + 0.1 * cosh(x) * sign(u)
        '''
        outputs = { x = 'x' }
        ";
    coupled(3.0, text, &["two.x -> one.u", "one.x -> two.u"])
}

/// An example with every state widened by this much, relative and absolute.
pub fn widened(case: Case, relative: f64, absolute: f64) -> Scenario {
    let scenario = case.scenario();
    let definitions = scenario.definitions().expect("BUG: equations");
    let states = definitions.iter().flat_map(|d| {
        d.model
            .states
            .iter()
            .zip(&d.states)
            .map(|(x, v)| (&d.name, x, *v))
    });
    let mut values = Vec::new();
    for (system, state, value) in states {
        let radius = relative * value.abs() + absolute;
        values.push((
            format!("{system}.{state}"),
            format!("[{:?}, {:?}]", value - radius, value + radius),
        ));
    }
    let source = SourceText {
        path: case.name.to_owned(),
        text: case.text().to_owned(),
    };
    Scenario::parse(
        source,
        &Overrides {
            values,
            ..Overrides::default()
        },
    )
    .unwrap_or_else(|bad| panic!("BUG: {bad}"))
}

fn coupled(until: f64, text: &str, wires: &[&str]) -> Scenario {
    let text: String = text
        .lines()
        .map(|line| format!("{}\n", line.trim_start()))
        .collect();
    model(until, &(text + &connections(wires)))
}

/// A chain of masses between two walls, cut in the middle: stiffness 100, Rayleigh damping, every
/// start value within `radius`.
pub fn structure(masses: usize, radius: f64, stop_time: f64) -> Scenario {
    let half = masses / 2;
    let text = structure_half("left", 0..half, masses, radius)
        + &structure_half("right", half..masses, masses, radius);
    coupled(
        stop_time,
        &text,
        &[
            "left.x_edge -> right.x_near",
            "left.v_edge -> right.v_near",
            "right.x_edge -> left.x_near",
            "right.v_edge -> left.v_near",
        ],
    )
}

/// Some masses of a chain; its input is the nearest mass of the other half.
fn structure_half(name: &str, own: std::ops::Range<usize>, masses: usize, radius: f64) -> String {
    let neighbor = |kind: char, mass: Option<usize>| match mass {
        Some(mass) if own.contains(&mass) => format!("{kind}{mass}"),
        Some(mass) if mass < masses => format!("{kind}_near"),
        _ => "0".to_owned(),
    };
    let mut states = Vec::new();
    let mut equations = String::new();
    for mass in own.clone() {
        let position = (0.37 * (mass + 1) as f64).sin();
        let velocity = 0.1 * (mass as f64).cos();
        for (kind, value) in [('x', position), ('v', velocity)] {
            states.push(if radius == 0.0 {
                format!("{kind}{mass} = {value:?}")
            } else {
                format!(
                    "{kind}{mass} = [{:?}, {:?}]",
                    value - radius,
                    value + radius
                )
            });
        }
        let [left, right] = [mass.checked_sub(1), Some(mass + 1)];
        let pull = |kind: char| {
            let (left, right) = (neighbor(kind, left), neighbor(kind, right));
            format!("({left} - 2 * {kind}{mass} + {right})")
        };
        writeln!(
            equations,
            "der(x{mass}) = v{mass}\nder(v{mass}) = 100 * {} + 0.1 * {} - 0.02 * v{mass}",
            pull('x'),
            pull('v')
        )
        .expect("BUG: a string");
    }
    let edge = if own.start == 0 {
        own.end - 1
    } else {
        own.start
    };
    format!(
        "[systems.{name}]\ninputs = {{ x_near = 0.0, v_near = 0.0 }}\nstates = {{ {} }}\nequations = '''\n{equations}'''\n\
         outputs = {{ x_edge = 'x{edge}', v_edge = 'v{edge}' }}\n",
        states.join(", ")
    )
}

/// A cascade of equal lags, each in a system of its own: one eigenvalue, one eigenvector.
pub fn cascade(lags: usize, radius: f64, stop_time: f64) -> Scenario {
    let mut text = String::new();
    for lag in 0..lags {
        let value = 1.0 / (lag + 1) as f64;
        let [lo, hi] = [value - radius, value + radius];
        let start = if radius == 0.0 {
            format!("{value:?}")
        } else {
            format!("[{lo:?}, {hi:?}]")
        };
        let input = if lag == 0 {
            ""
        } else {
            "inputs = { u = 0.0 }\n"
        };
        let rate = if lag == 0 { "-3 * x" } else { "3 * (u - x)" };
        writeln!(
            text,
            "[systems.lag{lag}]\n{input}states = {{ x = {start} }}\n\
             equations = 'der(x) = {rate}'\noutputs = {{ x = 'x' }}"
        )
        .expect("BUG: a string");
    }
    let wires: Vec<String> = (1..lags)
        .map(|lag| format!("lag{}.x -> lag{lag}.u", lag - 1))
        .collect();
    let wires: Vec<&str> = wires.iter().map(String::as_str).collect();
    coupled(stop_time, &text, &wires)
}
