//! What sampled trajectories of a model with boxes reach: bounds can be no narrower.

use dovetail_equations::Monolithic;
use dovetail_scenario::Scenario;

/// The least and the greatest value of every state at the end, over trajectories from corners of the boxes, all of them or
/// so many, and from so many points inside.
pub fn spread(scenario: &Scenario, corners: usize, inside: usize) -> Vec<(f64, f64)> {
    let boxes = scenario.boxes().expect("BUG: equations");
    let ranges = boxes
        .iter()
        .flat_map(|b| b.states.iter().chain(&b.parameters));
    let open: Vec<(f64, f64)> = ranges
        .filter(|range| !range.is_point())
        .map(|range| (range.lo, range.hi))
        .collect();
    let all = 1_usize.checked_shl(open.len() as u32).unwrap_or(usize::MAX);
    let mut dice = Dice(42);
    let mut reached: Vec<(f64, f64)> = Vec::new();

    for sample in 0..corners.min(all) + inside {
        let parts: Vec<f64> = (0..open.len())
            .map(|number| match sample {
                corner if corner >= corners.min(all) => dice.roll(),
                corner if all <= corners => (corner >> number & 1) as f64,
                _ => dice.roll().round(),
            })
            .collect();
        let end = end_of(scenario, &open, &parts);
        match reached.is_empty() {
            true => reached = end.iter().map(|&x| (x, x)).collect(),
            false => {
                for (range, x) in reached.iter_mut().zip(end) {
                    *range = (range.0.min(x), range.1.max(x));
                }
            }
        }
    }
    reached
}

/// All states at the end of the trajectory that begins at these parts of the open boxes.
fn end_of(scenario: &Scenario, open: &[(f64, f64)], parts: &[f64]) -> Vec<f64> {
    let boxes = scenario.boxes().expect("BUG: equations");
    let mut definitions = scenario.definitions().expect("BUG: equations");
    let mut points = open.iter().zip(parts);

    for (definition, of_system) in definitions.iter_mut().zip(&boxes) {
        let states = definition.states.iter_mut().zip(&of_system.states);
        let parameters = definition.parameters.iter_mut().zip(&of_system.parameters);
        for (value, _) in states
            .chain(parameters)
            .filter(|(_, range)| !range.is_point())
        {
            let ((lo, hi), part) = points.next().expect("BUG: a part for every box");
            *value = (lo + part * (hi - lo)).clamp(*lo, *hi);
        }
    }

    let mut whole = Monolithic::new(&definitions, &scenario.connections).expect("BUG: a model");
    let times = [scenario.start_time, scenario.stop_time];
    let solution = whole.solve(&times, scenario.connections.outputs());
    let mut states = solution.expect("BUG: a trajectory").states;
    states.pop().expect("BUG: the end")
}

/// Numbers from [0, 1), the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
