//! Completion scripts.

mod support;

use support::dovetail;

#[test]
fn every_common_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish"] {
        let done = dovetail(&["completions", shell]).exits(0);
        assert!(
            ["dovetail", "output-interval", "worker-threads"]
                .iter()
                .all(|word| done.out.contains(word)),
            "{shell}"
        );
        assert_eq!(done.err, "");
    }
}

#[test]
fn an_unknown_shell_is_misuse() {
    dovetail(&["completions", "cmd"]).exits(2).says(&["cmd"]);
}
