use super::*;
use crate::RequirementSummary;
use crate::page::tests::data_of;
use crate::recorder::tests::spring_and_mass;

fn data(message: Option<String>, requirements: &[AnsweredRequirement]) -> Value {
    let mut tubes = Tubes::new(vec!["mass.x".into(), "<i>".into()]);
    let boxes = [Interval::new(1.0, 2.0), Interval::new(0.0, 0.5)];
    tubes.row(0.0, 0.0, &boxes);
    tubes.row(0.0, 1.0, &boxes);
    tubes.row(1.0, 1.0, &boxes);
    let summary = EnclosureSummary {
        method: "boxes".into(),
        stop: 2.0,
        reached: 1.0,
        states: vec![("mass.x".into(), boxes[0])],
        message,
        requirements: requirements
            .iter()
            .map(|answered| RequirementSummary {
                text: answered.text.clone(),
                answer: answered.answer.clone(),
                ..RequirementSummary::default()
            })
            .collect(),
        ..EnclosureSummary::default()
    };
    let page = EnclosurePage {
        model: "<b>",
        summary: &summary,
        tubes: &tubes,
        connections: &spring_and_mass(),
        samples: &[],
        requirements,
        origin: &Origin::default(),
    };
    let page = page.render();
    assert!(!page.contains("<i>") && !page.contains("<b>"));
    data_of(&page)
}

#[test]
fn every_state_has_its_bounds_at_times_and_between() {
    let data = data(None, &[]);
    assert_eq!(data["variables"].as_array().map(Vec::len), Some(2));
    assert_eq!(data["variables"][0]["upper"], encoded(&[2.0, 2.0]));
    assert_eq!(data["variables"][0]["spans"]["to"], encoded(&[1.0]));
    assert_eq!(data["verdict"]["level"], "good");
}

#[test]
fn an_early_end_says_until_when_bounds_hold() {
    let data = data(Some("no bounds could be proved".into()), &[]);
    assert_eq!(
        data["verdict"]["title"],
        "Ended early: bounds are proved until 1 of 2 s."
    );
}

#[test]
fn requirements_have_their_answers() {
    let answered = AnsweredRequirement {
        text: "mass.x < 3".into(),
        answer: "proved".into(),
        remark: String::new(),
    };
    assert_eq!(
        data(None, &[answered])["requirements"][0]["answer"],
        "proved"
    );
}

#[test]
fn a_page_does_not_claim_what_is_violated_or_open() {
    let verdict = |answers: &[&str]| {
        let answered = answers.iter().map(|answer| AnsweredRequirement {
            text: "mass.x < 3".into(),
            answer: (*answer).into(),
            remark: String::new(),
        });
        data(None, &answered.collect::<Vec<_>>())["verdict"].clone()
    };
    assert_eq!(verdict(&["proved"])["level"], "good");
    assert_eq!(verdict(&["proved", "undecided"])["level"], "note");
    let violated = verdict(&["undecided", "violated", "proved"]);
    assert_eq!(violated["level"], "bad");
    assert_eq!(
        violated["title"],
        "1 of 3 requirements is violated: a trajectory breaks it."
    );
}
