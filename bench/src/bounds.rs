//! Pictures of bounds: tubes, and how wide they get.

use dovetail_cases::{Case, LAUB_LOOMIS, ROOMS, SPRING};
use dovetail_guaranteed::{
    EnclosureObserver, Integrator, Interval, Method, Options, Pieces, enclose,
};
use dovetail_report::{Band, Curve, band_plot, line_plot};

const BOXES: Method = Method::Boxes {
    integrator: Integrator::Rk4,
    extrapolation: None,
};
const EXTRAPOLATED: Method = Method::Boxes {
    integrator: Integrator::Rk4,
    extrapolation: Some(3),
};

/// What is told of one state.
struct Told {
    state: usize,
    band: Band,
}

impl EnclosureObserver for Told {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.band.instants.push((time, states[self.state]));
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        self.band.tubes.push((from, to, states[self.state]));
    }
}

/// The bounds of a state of an example, told every `interval`, with steps of at most `step`.
fn bounds(
    case: Case,
    state: &str,
    method: Method,
    step: Option<f64>,
    interval: f64,
    name: &str,
) -> Band {
    let problem = case
        .scenario()
        .to_enclose()
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let index = problem
        .names()
        .iter()
        .position(|known| known == state)
        .expect("BUG: an unknown state");
    let band = Band {
        name: name.to_owned(),
        tubes: Vec::new(),
        instants: Vec::new(),
    };
    let mut told = Told { state: index, band };
    let options = Options {
        method,
        step,
        output_interval: Some(interval),
        threads: 1,
        pieces: Pieces::Automatic,
    };
    enclose(&problem, &options, &mut told);
    told.band
}

/// The position of the first mass from a point: boxes open like a trumpet.
pub fn trumpet() -> String {
    let bands = [
        bounds(SPRING, "one.x", BOXES, Some(0.01), 0.02, "boxes, 0.01 s"),
        bounds(
            SPRING,
            "one.x",
            Method::SharedSymbols,
            None,
            0.02,
            "shared symbols",
        ),
    ];
    band_plot(
        "The first mass, from a point",
        "time in s",
        "position",
        &bands.map(|band| until(band, 4.5)),
    )
}

fn until(band: Band, time: f64) -> Band {
    Band {
        tubes: band
            .tubes
            .into_iter()
            .filter(|(_, to, _)| *to <= time)
            .collect(),
        instants: band
            .instants
            .into_iter()
            .filter(|(at, _)| *at <= time)
            .collect(),
        ..band
    }
}

/// How wide the bounds of that position are.
pub fn widths() -> String {
    let width = |method: Method, step: Option<f64>, name: &str| {
        let band = bounds(SPRING, "one.x", method, step, 0.1, name);
        let wide = band
            .instants
            .iter()
            .skip(1)
            .filter(|(_, at)| at.width() > 0.0 && at.width() < 1e9);
        Curve {
            name: band.name.clone(),
            points: wide.map(|(t, at)| (*t, at.width().log10())).collect(),
        }
    };
    let curves = [
        width(BOXES, Some(0.01), "boxes, 0.01 s"),
        width(EXTRAPOLATED, Some(0.01), "extrapolated boxes"),
        width(Method::SharedSymbols, None, "shared symbols"),
    ];
    line_plot(
        "Width of the first mass's position, from a point",
        "time in s",
        "logarithm (base 10) of the width",
        &curves,
    )
}

/// Two rooms of the house.
pub fn rooms() -> String {
    let bands = [
        bounds(ROOMS, "west.T4", Method::SharedSymbols, None, 1.0, "room 4"),
        bounds(ROOMS, "east.T7", Method::SharedSymbols, None, 1.0, "room 7"),
    ];
    band_plot(
        "Two rooms, each of the eleven between 20 and 21 °C at first",
        "time in minutes",
        "temperature in °C",
        &bands,
    )
}

/// The fourth enzyme.
pub fn laub_loomis() -> String {
    let bands = [bounds(
        LAUB_LOOMIS,
        "answer.x4",
        Method::SharedSymbols,
        None,
        0.05,
        "x4, from a box of radius 0.01",
    )];
    band_plot("Laub-Loomis, in two systems", "time", "x4", &bands)
}
