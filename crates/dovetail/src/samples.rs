//! Trajectories that start within the boxes of a model: what its bounds hold.

use dovetail_equations::Monolithic;
use dovetail_guaranteed::Interval;
use dovetail_report::Trajectory;
use dovetail_scenario::Scenario;
use dovetail_study::Random;

/// So many rows make a curve look smooth.
const ROWS: usize = 400;
/// Samples are the same every time.
const SEED: u64 = 1;

/// The states along this many trajectories of the coupled equations: from the lowest and the highest corner of all boxes, then
/// from corners and from inside in turn. Or why they could not be computed.
pub fn sampled_trajectories(scenario: &Scenario, count: usize) -> Result<Vec<Trajectory>, String> {
    let mut random = Random::new(SEED);
    let runs = (0..count).map(|index| trajectory(scenario, index, &mut random));
    runs.collect()
}

fn trajectory(
    scenario: &Scenario,
    index: usize,
    random: &mut Random,
) -> Result<Trajectory, String> {
    let failed = |error: &dyn std::error::Error| {
        format!(
            "sampled trajectory {} could not be computed: {error}",
            index + 1
        )
    };
    let boxes = scenario.boxes().map_err(|error| failed(&error))?;
    let mut definitions = scenario.definitions().map_err(|error| failed(&error))?;
    for (definition, boxes) in definitions.iter_mut().zip(&boxes) {
        let mut choose = |range: &Interval| chosen(range, index, random);
        definition.parameters = boxes.parameters.iter().map(&mut choose).collect();
        definition.states = boxes.states.iter().map(&mut choose).collect();
    }

    let (start, stop) = (scenario.start_time, scenario.stop_time);
    let time = |row: usize| start + (stop - start) * row as f64 / (ROWS - 1) as f64;
    let times: Vec<f64> = (0..ROWS).map(time).collect();
    let mut equations =
        Monolithic::new(&definitions, &scenario.connections).map_err(|error| failed(&error))?;
    let solution = equations
        .solve(&times, scenario.connections.outputs())
        .map_err(|error| failed(&error))?;
    let names = names(scenario);
    let column = |state: usize| solution.states.iter().map(|row| row[state]).collect();
    let columns: Vec<Vec<f64>> = (0..names.len()).map(column).collect();

    Ok(Trajectory::from_columns(names, times, columns))
}

/// A value of a box: its ends, or anything within.
fn chosen(range: &Interval, index: usize, random: &mut Random) -> f64 {
    if range.is_point() {
        return range.lo;
    }
    let share = random.unit();
    match index {
        0 => range.lo,
        1 => range.hi,
        index if index % 2 == 0 && share < 0.5 => range.lo,
        index if index % 2 == 0 => range.hi,
        _ => (range.lo + share * (range.hi - range.lo)).clamp(range.lo, range.hi),
    }
}

/// The names of all states, system by system.
fn names(scenario: &Scenario) -> Vec<String> {
    let interfaces = scenario.connections.interfaces().iter();
    let states = interfaces.flat_map(|interface| {
        let states = interface.states.iter();
        states.map(|state| interface.qualified(state))
    });
    states.collect()
}
