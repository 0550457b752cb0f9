use super::*;
use crate::page::tests::data_of;
use crate::sink::Sink;
use crate::summary::tests::compared;

fn curves() -> RunCurves {
    let mut run = Trajectory::new(vec!["spring.F".into(), "mass.x".into()]);
    for n in 0..1000 {
        let spike = if n == 777 { 5.0 } else { 0.0 };
        run.row(f64::from(n), &[1.0, spike])
            .expect("a row in memory");
    }
    RunCurves::new(&run, &[vec![1.5; 1000], vec![0.0; 1000]], 2, 50)
}

#[test]
fn few_rows_are_kept_and_the_largest_difference_is_among_them() {
    let kept = curves();
    assert!(kept.values.times().len() <= 51);
    assert_eq!(kept.values.times().last(), Some(&999.0));
    assert!(
        kept.differences
            .column("mass.x")
            .expect("a column")
            .contains(&5.0)
    );
    assert!(
        kept.differences
            .column("spring.F")
            .expect("a column")
            .iter()
            .all(|d| *d == -0.5)
    );
}

#[test]
fn runs_with_fixed_and_with_chosen_steps_are_told_apart() {
    let fixed = compared("jacobi", 0.1, 1e-3, None);
    let mut chosen = compared("predictive", 0.1, 1e-8, None);
    chosen.step = None;
    let mut of_chosen = curves();
    of_chosen.tolerance = Some(1e-6);
    let page = ComparisonPage {
        model: "spring",
        span: (0.0, 1.0),
        reference_text: "all equations solved as one",
        variables: &[],
        reference: &Trajectory::default(),
        measure: Measure::Nrmse,
        runs: &[fixed, chosen],
        curves: &[curves(), of_chosen],
        origin: &Origin::default(),
    };
    let data = data_of(&page.render());
    let run = |index: usize| {
        (
            data["runs"][index]["kind"].clone(),
            data["runs"][index]["setting"].clone(),
        )
    };
    assert_eq!(run(0), (json!("fixed"), json!("step 0.1 s")));
    assert_eq!(run(1), (json!("adaptive"), json!("tolerance 1e-6")));
    assert_eq!(data["verdict"]["level"], "good");
    assert!(
        data["tables"]["latex"]
            .as_str()
            .expect("text")
            .contains("tabular")
    );
}

#[test]
fn a_run_without_a_measured_error_is_not_usable() {
    let mut lost = compared("jacobi", 0.1, 1e-3, None);
    lost.comparison = None;
    let verdict = banner::of(
        &[lost, compared("missiles", 0.1, 1e-6, None)],
        &[curves(), curves()],
        Measure::Nrmse,
    );
    assert_eq!(verdict["title"], "1 of 2 runs are not usable.");
    assert!(verdict["text"].to_string().contains("jacobi (step 0.1 s)"));
}
