//! `dovetail new`.

mod support;

use support::dovetail;

#[test]
fn every_template_runs_at_once_and_well() {
    for template in ["equations", "fmu", "controller"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my \"first\" model");
        let path = path.to_str().unwrap();
        let said = dovetail(&["new", path, "--template", template]).exits(0);
        assert!(said.line().contains("dovetail run"), "{}", said.out);

        let model = format!("{path}/model.toml");
        let text = std::fs::read_to_string(&model).unwrap();
        let schema = text
            .lines()
            .next()
            .unwrap()
            .strip_prefix("#:schema ")
            .unwrap();
        let schema = std::fs::read_to_string(format!("{path}/{schema}")).unwrap();
        assert!(schema.contains("\"title\": \"Dovetail model\""));
        let done = dovetail(&["run", &model, "--json"]).exits(0);
        let run: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(run["model"], "my \"first\" model");
        assert_eq!(run["quality"]["verdict"], "good", "{template}");
        assert_eq!(
            run["quality"]["warnings"],
            serde_json::json!([]),
            "{template}"
        );
    }
}

#[test]
fn a_model_that_is_there_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive");
    let path = path.to_str().unwrap();
    dovetail(&["new", path]).exits(0);
    std::fs::write(format!("{path}/model.toml"), "mine").unwrap();

    let refused = dovetail(&["new", path]).exits(2);
    assert!(refused.err.contains("is there already"), "{}", refused.err);
    let kept = std::fs::read_to_string(format!("{path}/model.toml")).unwrap();
    assert_eq!(kept, "mine");
}

#[test]
fn a_folder_without_a_name_is_refused() {
    let refused = dovetail(&["new", ".."]).exits(2);
    assert!(
        refused.err.contains("no name of its own"),
        "{}",
        refused.err
    );
}
