//! Eleven nonlinear problems in two systems each, on which coupling methods come to grief: kinks, contacts, friction, exponentials,
//! stiffness, loops through feedthrough. Of our own, after well-known ones.

use dovetail_scenario::Scenario;

use crate::text::{connections, model};

/// A problem, as a model without its wires.
#[derive(Clone, Copy, Debug)]
pub struct Rough {
    /// What it is.
    pub name: &'static str,
    /// How long it runs, in seconds.
    pub stop_time: f64,
    systems: &'static str,
    wires: &'static [&'static str],
}

impl Rough {
    /// The model.
    pub fn scenario(&self) -> Scenario {
        model(
            self.stop_time,
            &(self.systems.to_owned() + &connections(self.wires)),
        )
    }

    /// The model of systems that cannot roll back.
    pub fn without_rollback(&self) -> Scenario {
        let systems = self
            .systems
            .replace("equations", "restrict = { rollback = false }\nequations");
        model(self.stop_time, &(systems + &connections(self.wires)))
    }
}

/// All of them.
pub const ROUGH: [Rough; 11] = [
    // A pendulum on a cart on a spring: force and acceleration depend on each other at once.
    Rough {
        name: "cart and pendulum",
        stop_time: 10.0,
        systems: r#"
[systems.cart]
inputs = { force = 0.0 }
parameters = { m = 2.0, c = 8.0, d = 0.2 }
states = { x = 0.5, v = 0.0 }
equations = """
a = (force - c * x - d * v) / m
der(x) = v
der(v) = a
"""
outputs = { acceleration = "a" }
[systems.pendulum]
inputs = { acceleration = 0.0 }
parameters = { m = 0.6, l = 1.0, g = 9.81 }
states = { angle = 1.5, rate = 0.0 }
equations = """
turn = -(g * sin(angle) + acceleration * cos(angle)) / l
der(angle) = rate
der(rate) = turn
"""
outputs = { force = "m * l * (rate^2 * sin(angle) - turn * cos(angle)) - m * acceleration" }
"#,
        wires: &[
            "cart.acceleration -> pendulum.acceleration",
            "pendulum.force -> cart.force",
        ],
    },
    // Relaxation oscillations, cut between position and velocity.
    Rough {
        name: "van der pol",
        stop_time: 20.0,
        systems: r#"
[systems.position]
inputs = { v = 0.0 }
states = { x = 2.0 }
equations = "der(x) = v"
outputs = { x = "x" }
[systems.velocity]
inputs = { x = 2.0 }
parameters = { mu = 5.0 }
states = { v = 0.0 }
equations = "der(v) = mu * (1 - x^2) * v - x"
outputs = { v = "v" }
"#,
        wires: &["position.x -> velocity.x", "velocity.v -> position.v"],
    },
    // A rectifier: an exponential that opens and closes within a step.
    Rough {
        name: "diode circuit",
        stop_time: 0.06,
        systems: r#"
[systems.source]
inputs = { current = 0.0 }
parameters = { r = 50.0, c = 1e-6 }
states = { v = 0.0 }
equations = "der(v) = ((5 * sin(314.159265358979 * time) - v) / r - current) / c"
outputs = { voltage = "v" }
[systems.load]
inputs = { voltage = 0.0 }
parameters = { saturation = 1e-9, thermal = 0.05, r = 1000.0, c = 1e-5 }
states = { v = 0.0 }
equations = """
current = saturation * (exp((voltage - v) / thermal) - 1)
der(v) = (current - v / r) / c
"""
outputs = { current = "current" }
"#,
        wires: &[
            "source.voltage -> load.voltage",
            "load.current -> source.current",
        ],
    },
    // A mass that a belt takes along by friction, until its spring tears it off.
    Rough {
        name: "stick-slip",
        stop_time: 20.0,
        systems: r#"
[systems.mass]
inputs = { friction = 0.0 }
parameters = { m = 1.0, c = 1.0 }
states = { x = 0.0, v = 0.0 }
equations = """
der(x) = v
der(v) = (friction - c * x) / m
"""
outputs = { velocity = "v" }
[systems.belt]
inputs = { velocity = 0.0 }
parameters = { drive = 0.3, lag = 0.5 }
states = { speed = 0.0 }
equations = """
slip = speed - velocity
der(speed) = (drive - speed) / lag
"""
outputs = { friction = "tanh(slip / 0.01) * (1 + 0.5 * exp(-abs(slip) / 0.1))" }
"#,
        wires: &[
            "mass.velocity -> belt.velocity",
            "belt.friction -> mass.friction",
        ],
    },
    // Two wells, and a friction that changes its sign with the velocity.
    Rough {
        name: "duffing with coulomb friction",
        stop_time: 30.0,
        systems: r#"
[systems.mass]
inputs = { force = 0.0 }
states = { x = 1.0, v = 0.5 }
equations = """
der(x) = v
der(v) = force + 0.35 * cos(1.2 * time)
"""
outputs = { position = "x", velocity = "v" }
[systems.spring]
inputs = { position = 1.0, velocity = 0.5 }
states = { w = 0.0 }
equations = "der(w) = 5 * (position - w)"
outputs = { force = "position - position^3 - 0.2 * velocity - 0.05 * tanh(velocity / 0.01) - 0.02 * w" }
"#,
        wires: &[
            "mass.position -> spring.position",
            "mass.velocity -> spring.velocity",
            "spring.force -> mass.force",
        ],
    },
    // A wheel that drives over bumps, and a stop that stiffens at once.
    Rough {
        name: "quarter car with bump stop",
        stop_time: 5.0,
        systems: r#"
[systems.body]
inputs = { force = 0.0 }
parameters = { m = 300.0 }
states = { x = 0.0, v = 0.0 }
equations = """
der(x) = v
der(v) = force / m
"""
outputs = { position = "x", velocity = "v" }
[systems.wheel]
inputs = { position = 0.0, velocity = 0.0 }
parameters = { m = 40.0, c = 15000.0, d = 1000.0, tyre = 150000.0, stop = 200000.0, travel = 0.03 }
states = { x = 0.0, v = 0.0 }
equations = """
road = 0.05 * sin(6 * time)^2
reach = x - position
force = c * reach + d * (v - velocity) + stop * (max(reach - travel, 0) - max(-reach - travel, 0))
der(x) = v
der(v) = (tyre * (road - x) - force) / m
"""
outputs = { force = "force" }
"#,
        wires: &[
            "body.position -> wheel.position",
            "body.velocity -> wheel.velocity",
            "wheel.force -> body.force",
        ],
    },
    // Three reactions whose rates differ by nine orders of magnitude.
    Rough {
        name: "robertson",
        stop_time: 40.0,
        systems: r#"
[systems.slow]
inputs = { gain = 0.0 }
states = { a = 1.0 }
equations = "der(a) = -0.04 * a + gain"
outputs = { a = "a" }
[systems.fast]
inputs = { a = 1.0 }
states = { b = 0.0, c = 0.0 }
equations = """
der(b) = 0.04 * a - 1e4 * b * c - 3e7 * b^2
der(c) = 3e7 * b^2
"""
outputs = { gain = "1e4 * b * c" }
"#,
        wires: &["slow.a -> fast.a", "fast.gain -> slow.gain"],
    },
    // A tank that ignites: the rate of its reaction grows with the exponential of its temperature.
    Rough {
        name: "stirred reactor",
        stop_time: 20.0,
        systems: r#"
[systems.mixture]
inputs = { temperature = 350.0 }
parameters = { flow = 1.0, feed = 1.0 }
states = { c = 0.5 }
equations = """
rate = 7.2e10 * exp(-8750 / temperature) * c
der(c) = flow * (feed - c) - rate
"""
outputs = { rate = "rate" }
[systems.jacket]
inputs = { rate = 0.0 }
parameters = { flow = 1.0, feed = 350.0, heat = 209.2, transfer = 2.09, coolant = 305.0 }
states = { temperature = 350.0 }
equations = "der(temperature) = flow * (feed - temperature) + heat * rate + transfer * (coolant - temperature)"
outputs = { temperature = "temperature" }
"#,
        wires: &[
            "mixture.rate -> jacket.rate",
            "jacket.temperature -> mixture.temperature",
        ],
    },
    // A controller that is mostly at one of its limits.
    Rough {
        name: "saturated controller",
        stop_time: 20.0,
        systems: r#"
[systems.plant]
inputs = { force = 0.0 }
states = { x = 0.0, v = 0.0 }
equations = """
der(x) = v
der(v) = force - 0.2 * v
"""
outputs = { position = "x", velocity = "v" }
[systems.controller]
inputs = { position = 0.0, velocity = 0.0 }
states = { sum = 0.0 }
equations = """
wish = 4 * (sin(0.5 * time) * 2 - position) - 2 * velocity + sum
der(sum) = 0.3 * (sin(0.5 * time) * 2 - position)
"""
outputs = { force = "max(-1, min(1, wish))" }
"#,
        wires: &[
            "plant.position -> controller.position",
            "plant.velocity -> controller.velocity",
            "controller.force -> plant.force",
        ],
    },
    // Two bodies that radiate at each other.
    Rough {
        name: "thermal",
        stop_time: 2000.0,
        systems: r#"
[systems.heater]
inputs = { other = 300.0 }
parameters = { capacity = 500.0, sigma = 5.67e-8 }
states = { t = 300.0 }
equations = """
power = 400 * (1 + sin(0.01 * time))
flow = sigma * (t^4 - other^4)
der(t) = (power - flow) / capacity
"""
outputs = { flow = "flow" }
[systems.wall]
inputs = { flow = 0.0 }
parameters = { capacity = 200.0, sigma = 5.67e-8, outside = 280.0 }
states = { t = 300.0 }
equations = "der(t) = (flow - 2 * (t - outside) - sigma * (t^4 - outside^4)) / capacity"
outputs = { t = "t" }
"#,
        wires: &["heater.flow -> wall.flow", "wall.t -> heater.other"],
    },
    // A ball on a plate: a force that is there for as long as they touch.
    Rough {
        name: "hertz contact",
        stop_time: 2.0,
        systems: r#"
[systems.ball]
inputs = { force = 0.0 }
parameters = { m = 0.1 }
states = { x = 0.3, v = 0.0 }
equations = """
der(x) = v
der(v) = force / m - 9.81
"""
outputs = { position = "x", velocity = "v" }
[systems.plate]
inputs = { position = 0.3, velocity = 0.0 }
parameters = { m = 1.0, c = 2000.0, d = 5.0, hertz = 20000.0, loss = 0.2 }
states = { x = 0.0, v = 0.0 }
equations = """
depth = max(x - position, 0)
force = hertz * depth^1.5 * max(1 + loss * (v - velocity), 0)
der(x) = v
der(v) = (-force - c * x - d * v) / m
"""
outputs = { force = "force" }
"#,
        wires: &[
            "ball.position -> plate.position",
            "ball.velocity -> plate.velocity",
            "plate.force -> ball.force",
        ],
    },
];
