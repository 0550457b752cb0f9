use super::*;
use crate::random::Random;

/// A charge that decays, measured as its voltage and as its current, in units of very different size and with noise of different
/// strength.
fn decay(point: &[f64], time: f64) -> [f64; 2] {
    let [charge, rate] = point[..] else {
        panic!("two parameters")
    };
    let left = charge * (-rate * time).exp();
    [left, 1e4 * rate * left]
}

const TRUTH: [f64; 2] = [3.0, 0.7];
const NOISE: [f64; 2] = [0.05, 1000.0];

/// Two values of the normal distribution (Box, Muller 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random.unit()).cos()
}

fn measured(seed: u64, noise: [f64; 2], rows: usize) -> Measured {
    let mut random = Random::new(seed);
    let times: Vec<f64> = (0..rows).map(|row| 0.1 * row as f64).collect();
    let mut column = |place: usize| MeasuredColumn {
        name: format!("c{place}"),
        unit: None,
        values: times
            .iter()
            .map(|&time| decay(&TRUTH, time)[place] + noise[place] * normal(&mut random))
            .collect(),
        times: times.clone(),
    };
    Measured {
        file: "data.csv".into(),
        time_unit: None,
        columns: vec![column(0), column(1)],
    }
}

fn parameters(ranges: &[&str]) -> Vec<FitParameter> {
    let parse = |text: &&str| FitParameter::new(&text.parse().unwrap(), None).unwrap();
    ranges.iter().map(parse).collect()
}

fn fitted(
    ranges: &[&str],
    measured: &Measured,
    model: &(dyn Fn(&[f64], f64) -> [f64; 2] + Sync),
) -> Result<Fitted, FitError> {
    let predict = |point: &[f64]| {
        let columns = measured.columns.iter().enumerate();
        let values = columns.flat_map(|(place, column)| {
            column
                .times
                .iter()
                .map(move |&time| model(point, time)[place])
        });
        Some(Ok(values.collect()))
    };
    fit(&Fitting {
        parameters: &parameters(ranges),
        measured,
        predict: &predict,
        jobs: NonZeroUsize::new(2).unwrap(),
        sample: 0,
        seed: 0,
        progress: &|_| (),
    })
}

#[test]
fn data_without_noise_give_the_parameters_back() {
    let found = fitted(&["a.q=0:10", "a.k=0:5"], &measured(0, [0.0; 2], 30), &decay).unwrap();
    for (parameter, truth) in found.parameters.iter().zip(TRUTH) {
        assert!(
            (parameter.value - truth).abs() < 1e-6 * truth,
            "{parameter:?}"
        );
        assert!(!parameter.at_bound);
    }
    assert!(found.converged && found.residual < 1e-6 && found.residual_before > 0.1);
    assert!(found.runs < 80, "{} runs", found.runs);
}

/// In 95 of 100 repetitions the interval has the truth in it: of 400 at least 365 and at most 394 with a probability of 0.999.
#[test]
fn confidence_intervals_hold_the_truth_as_often_as_they_say() {
    let repetitions = 400;
    let mut covered = [0; 2];
    for seed in 0..repetitions {
        let found = fitted(&["a.q=0:10", "a.k=0:5"], &measured(seed, NOISE, 30), &decay).unwrap();
        for (count, (parameter, truth)) in
            covered.iter_mut().zip(found.parameters.iter().zip(TRUTH))
        {
            let (low, high) = parameter.confidence.unwrap();
            *count += u64::from(low <= truth && truth <= high);
        }
    }
    for count in covered {
        assert!((365..=394).contains(&count), "{count} of {repetitions}");
    }
}

#[test]
fn a_column_counts_by_its_noise_and_not_by_its_unit() {
    let found = fitted(&["a.q=0:10", "a.k=0:5"], &measured(3, NOISE, 200), &decay).unwrap();
    for (column, noise) in found.columns.iter().zip(NOISE) {
        assert!((column.after / noise - 1.0).abs() < 0.15, "{column:?}");
    }
    // The same data in other units.
    let mut other = measured(3, NOISE, 200);
    other.columns[1]
        .values
        .iter_mut()
        .for_each(|value| *value *= 1e-6);
    let scaled = |point: &[f64], time: f64| {
        let [one, two] = decay(point, time);
        [one, 1e-6 * two]
    };
    let again = fitted(&["a.q=0:10", "a.k=0:5"], &other, &scaled).unwrap();
    for (one, two) in found.parameters.iter().zip(&again.parameters) {
        assert!((one.value - two.value).abs() < 1e-6 * one.value);
    }
}

#[test]
fn a_parameter_at_its_bound_is_named() {
    let found = fitted(&["a.q=0:10", "a.k=1:5"], &measured(1, NOISE, 30), &decay).unwrap();
    let rate = &found.parameters[1];
    assert!(rate.at_bound && rate.value == 1.0 && rate.confidence.is_none());
    assert!(
        found.notes[0].contains("`a.k` is at its bound 1"),
        "{:?}",
        found.notes
    );
    assert!(found.parameters[0].confidence.is_some());
    assert_eq!(found.covariance[0][1], None);
}

#[test]
fn parameters_that_count_as_their_product_only_are_named() {
    let product = |point: &[f64], time: f64| decay(&[point[0] * point[1], point[2]], time);
    let ranges = ["a.q=0.1:10", "a.f=0.1:10", "a.k=0:5"];
    let found = fitted(&ranges, &measured(1, NOISE, 30), &product).unwrap();
    assert!(
        found.notes[0].contains("`a.q` and `a.f` are not identifiable"),
        "{:?}",
        found.notes
    );
    let known: Vec<bool> = found
        .parameters
        .iter()
        .map(|p| p.confidence.is_some())
        .collect();
    assert_eq!(known, [false, false, true]);
    assert!((found.parameters[2].value - 0.7).abs() < 0.1);
}

#[test]
fn a_sample_finds_the_valley_that_a_descent_from_the_middle_misses() {
    // A sine by its frequency: the sum of squares has many valleys.
    let sine = |point: &[f64], time: f64| [(point[0] * time).sin(), 0.0];
    let times: Vec<f64> = (0..100).map(|row| 0.1 * f64::from(row)).collect();
    let data = Measured {
        file: "data.csv".into(),
        time_unit: None,
        columns: vec![MeasuredColumn {
            name: "y".into(),
            unit: None,
            values: times.iter().map(|time| (8.0 * time).sin()).collect(),
            times,
        }],
    };
    let parameters = parameters(&["a.w=0:20"]);
    let predict = |point: &[f64]| {
        let times = data.columns[0].times.iter();
        Some(Ok(times.map(|&time| sine(point, time)[0]).collect()))
    };
    let with_sample = |sample: usize| {
        let found = fit(&Fitting {
            parameters: &parameters,
            measured: &data,
            predict: &predict,
            jobs: NonZeroUsize::MIN,
            sample,
            seed: 0,
            progress: &|_| (),
        });
        found.unwrap().parameters[0].value
    };
    assert!((with_sample(0) - 8.0).abs() > 0.1);
    let found = with_sample(200);
    assert!((found - 8.0).abs() < 1e-6, "{found}");
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let few = fitted(
        &["a.q=0:1", "a.k=0:1", "a.f=0:1"],
        &measured(0, NOISE, 1),
        &decay,
    );
    let words = "2 measured values cannot determine 3 parameters";
    assert_eq!(few.unwrap_err().to_string(), words);
    let list = FitParameter::new(&"a.q=1,2".parse().unwrap(), None).unwrap_err();
    assert!(list.to_string().contains("a.q=LO:HI"));
    let data = measured(0, NOISE, 5);
    let failed = |reason: Prediction| {
        let answer = move |_: &[f64]| reason.clone();
        fit(&Fitting {
            parameters: &parameters(&["a.q=0:1"]),
            measured: &data,
            predict: &answer,
            jobs: NonZeroUsize::MIN,
            sample: 0,
            seed: 0,
            progress: &|_| (),
        })
    };
    let error = failed(Some(Err("it blew up".into())))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "the model cannot be run with a.q = 0.5: it blew up");
    assert_eq!(failed(None).unwrap_err(), FitError::Interrupted);
}
