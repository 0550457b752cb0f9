//! A run for machines.

use serde_json::{Map, Value, json};

use dovetail_core::{EstimatedError, Kept, Notice, Refused};

use crate::errors::ErrorMeasures;
use crate::summary::{Quality, RunSummary, SystemWork};

impl RunSummary {
    /// One object; `error` and `order` are there when the run was compared. Numbers that are not
    /// finite become `null`.
    pub fn to_json(&self) -> Value {
        let systems = self.systems.iter();
        let final_values = self.final_values.iter();
        let mut object = json!({
            "method": self.method,
            "reason": self.reason,
            "workers": self.workers,
            "step": self.step,
            "steps": self.steps,
            "rejected": self.rejected,
            "iterations": self.iterations,
            "integrations": self.integrations(),
            "linearizations": self.linearizations(),
            "wall_seconds": self.wall_seconds,
            "systems": map(systems.map(|system| (&system.name, system_json(system)))),
            "final": map(final_values.map(|last| (&last.name, json!(last.value)))),
            "quality": quality_json(&self.quality),
            "completed": self.completed,
            "reached": self.reached,
            "message": self.message.as_ref().map(|message| &message.text),
            "version": env!("CARGO_PKG_VERSION"),
            "model": self.model,
            "start_time": self.start,
            "stop_time": self.stop,
        });

        if let Some(pace) = &self.real_time {
            object["real_time"] = json!({
                "factor": pace.factor,
                "late_steps": pace.late,
                "late_share": pace.late_share(),
                "worst_lateness": pace.worst_lateness,
                "worst_time": pace.worst_time,
            });
        }

        if let Some(comparison) = &self.comparison {
            object["error"] = map_of(&comparison.error, measures_json);
            object["order"] = map_of(&comparison.order, |order| json!(order));
        }

        if !self.varied.is_empty() {
            object["options"] = map_of(&self.varied, |value| json!(value));
        }
        object
    }
}

fn map<'a>(entries: impl Iterator<Item = (&'a String, Value)>) -> Map<String, Value> {
    entries.map(|(name, value)| (name.clone(), value)).collect()
}

fn map_of<T>(entries: &[(String, T)], value: impl Fn(&T) -> Value) -> Value {
    map(entries.iter().map(|(name, entry)| (name, value(entry)))).into()
}

fn system_json(system: &SystemWork) -> Value {
    let mut object = json!({
        "integrations": system.integrations,
        "trials": system.trials,
        "linearizations": system.linearizations,
        "seconds": system.seconds,
    });
    if let Some(fmi) = system.fmi {
        object["fmi"] = json!({
            "step_seconds": fmi.step,
            "values_seconds": fmi.values,
            "state_seconds": fmi.state,
        });
    }
    object
}

fn quality_json(quality: &Quality) -> Value {
    let remarks = quality.remarks.iter().chain(&quality.details);
    json!({
        "verdict": quality.verdict.word(),
        "verdict_reason": quality.verdict_reason.text,
        "residual": quality.residual,
        "residual_variable": quality.residual_variable,
        "estimated_error": quality.estimated_error.as_deref().map(estimates_json),
        "verified_error": quality.verified_error.as_deref().map(estimates_json),
        "interface_error": quality.interface_error,
        "discrepancy": map_of(&quality.discrepancy, |miss| json!(miss)),
        "kept": quality.kept.map(kept_json),
        "refused": quality.refused.map(refused_json),
        "warnings": texts(&quality.warnings),
        "step_sizes": quality.step_sizes.map(|(shortest, longest)| [shortest, longest]),
        "remarks": remarks.collect::<Vec<_>>(),
    })
}

fn texts(notices: &[Notice]) -> Vec<&str> {
    notices.iter().map(|notice| notice.text.as_str()).collect()
}

fn estimates_json(estimates: &[(String, EstimatedError)]) -> Value {
    let one = |estimate: &EstimatedError| json!({ "end": estimate.end, "max": estimate.max });
    map_of(estimates, one)
}

fn kept_json(kept: Kept) -> Value {
    json!({ "linearizations": kept.linearizations, "factorizations": kept.factorizations })
}

fn refused_json(refused: Refused) -> Value {
    json!({ "before": refused.before, "after": refused.after })
}

fn measures_json(error: &ErrorMeasures) -> Value {
    json!({ "nrmse": error.nrmse, "l2": error.l2, "max": error.max })
}

#[cfg(test)]
mod tests {
    use crate::summary::RunSummary;
    use crate::summary::tests::{compared, example};
    use serde_json::{Value, json};

    fn keys(value: &Value) -> Vec<&str> {
        value
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect()
    }

    #[test]
    fn a_run_has_these_keys_in_this_order() {
        let all = "method reason workers step steps rejected iterations integrations linearizations \
                   wall_seconds systems final quality completed reached message version model start_time stop_time";
        let json = example().to_json();
        assert_eq!(keys(&json), all.split_whitespace().collect::<Vec<_>>());
        let quality = "verdict verdict_reason residual residual_variable estimated_error \
                       verified_error interface_error discrepancy kept refused warnings step_sizes remarks";
        assert_eq!(
            keys(&json["quality"]),
            quality.split_whitespace().collect::<Vec<_>>()
        );
        assert_eq!(
            json["quality"]["discrepancy"],
            json!({ "spring.F": 2.5e-7, "mass.x": 1e-9 })
        );
        assert_eq!(
            json["quality"]["kept"],
            json!({ "linearizations": 996, "factorizations": 498 })
        );
        assert_eq!(
            json["quality"]["refused"],
            json!({ "before": 2, "after": 0 })
        );
        assert_eq!(keys(&json["systems"]), ["spring", "mass"]);
        assert_eq!(
            keys(&json["systems"]["mass"]),
            ["integrations", "trials", "linearizations", "seconds"]
        );
        assert_eq!(
            keys(&json["final"]),
            [
                "spring.x",
                "spring.heat",
                "spring.F",
                "mass.F",
                "mass.v",
                "mass.x"
            ]
        );
        assert_eq!(
            keys(&json["quality"]["estimated_error"]["mass.x"]),
            ["end", "max"]
        );
    }

    #[test]
    fn a_comparison_adds_error_and_order() {
        let json = compared("jacobi", 0.1, 0.5, Some(1.0)).to_json();
        assert_eq!(keys(&json)[20..], ["error", "order"]);
        assert_eq!(keys(&json["error"]["mass.x"]), ["nrmse", "l2", "max"]);
        assert_eq!(json["order"], json!({ "spring.F": 1.0, "mass.x": 1.0 }));
    }

    #[test]
    fn numbers_keep_every_digit() {
        let text = example().to_json().to_string();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["final"]["mass.v"].as_f64(), Some(1.0 / 3.0));
        assert_eq!(json["integrations"], 13000);
    }

    #[test]
    fn what_is_not_known_or_not_finite_is_null() {
        let mut run = RunSummary {
            reached: f64::NAN,
            ..RunSummary::default()
        };
        run.quality.residual = f64::INFINITY;
        let json = run.to_json();
        for missing in [
            &json["reason"],
            &json["step"],
            &json["message"],
            &json["reached"],
            &json["quality"]["residual"],
        ] {
            assert!(missing.is_null());
        }
        assert!(json["quality"]["estimated_error"].is_null());
        assert_eq!(json["quality"]["warnings"], json!([]));
    }
}
