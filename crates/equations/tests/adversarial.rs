//! Texts made to break a parser end with a model or with errors. They are so long that whatever grows
//! faster than they do would not come to an end.

mod support;

use std::sync::Arc;
use std::thread;

use dovetail_equations::{Dual, Evaluator, Model, Source, SyntaxError};
use support::{equations, expression};

/// Half of what threads usually get.
const STACK: usize = 1 << 20;

/// Parses, evaluates and analyzes on a small stack; the number of errors, or of results.
fn survive(source: &Source<'_>) -> Result<usize, Vec<SyntaxError>> {
    let outcome = thread::scope(|scope| {
        let work = || Model::parse(source).map(|model| exercise(&model));
        thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .unwrap()
            .join()
            .unwrap()
    });
    if let Err(errors) = &outcome {
        assert!(errors.len() <= 100 && !errors.is_empty());
    }
    outcome
}

fn exercise(model: &Model) -> usize {
    let parameters = vec![Dual::constant(1.5); model.parameters.len()];
    let program = Arc::new(model.program());
    let mut evaluator = Evaluator::new(program.clone(), &Dual::constant(0.0), &parameters);
    evaluator.set_states(&vec![Dual::variable(0.5); model.states.len()]);
    let mut results = vec![Dual::constant(0.0); program.results()];
    evaluator.run(&mut results);
    model.is_affine();
    model.thresholds(&vec![1.5; model.parameters.len()]);
    (0..model.states.len().min(10)).for_each(|state| drop(model.derivative_dependencies(state)));
    results.len()
}

fn message(source: &Source<'_>) -> String {
    survive(source).unwrap_err().remove(0).message
}

#[test]
fn long_chains() {
    assert_eq!(
        survive(&expression(&format!("x{}", " + x".repeat(100_000)))),
        Ok(3)
    );
    assert_eq!(
        survive(&expression(&format!("x{}", " - u * 2".repeat(50_000)))),
        Ok(3)
    );
    let chain = format!(
        "if x < 1 then 1 {} else 3",
        "elseif x < u then y ".repeat(40_000)
    );
    assert_eq!(survive(&expression(&chain)), Ok(3));
    let conditions = format!(
        "if x < 1 {} then 1 else 2",
        "and y < 1 or u > 2 ".repeat(20_000)
    );
    assert_eq!(survive(&expression(&conditions)), Ok(3));
    let arguments = format!("max(x{})", ", y".repeat(100_000));
    assert_eq!(survive(&expression(&arguments)), Ok(3));
    let timed = format!("if time{} < 3 then x else y", " + a * time".repeat(20_000));
    assert_eq!(survive(&expression(&timed)), Ok(3));
}

#[test]
fn deep_nesting() {
    let too_deep = "nested too deeply";
    for start in [
        "(",
        "-",
        "sin(",
        "2^",
        "if x < 1 then ",
        "if ",
        "not ",
        "max(1, ",
        "1 + 2 * (3 < -",
        "x or not (",
    ] {
        let text = start.repeat(100_000 / start.len());
        assert_eq!(message(&expression(&text)), too_deep, "{start}");
        let text = format!("der(x) = {text}");
        assert_eq!(message(&equations(&text)), too_deep, "{start}");
    }
    assert_eq!(
        message(&expression(&format!(
            "{}x",
            "if x < 1 then 1 else ".repeat(40_000)
        ))),
        too_deep
    );
    assert_eq!(
        message(&expression(&")".repeat(1_000_000))),
        "a value is missing before `)`"
    );
}

#[test]
fn nesting_up_to_the_limit_fits_a_small_stack() {
    for (open, close) in [
        ("(1 or 1 and 1 < 1 + 1 * ", ")"),
        ("sin(1 + 2 * -", ")"),
        ("-(", ")"),
        ("2 ^ (", ")"),
    ] {
        let text = format!("{}x{}", open.repeat(198), close.repeat(198));
        let _ = survive(&expression(&text));
    }
    let text = format!("{}x{}", "(1 + 2 * ".repeat(190), ")".repeat(190));
    assert_eq!(survive(&expression(&text)), Ok(3));
}

#[test]
fn chains_of_definitions() {
    let doubling: String = (0..20_000)
        .map(|i| format!("v{i}=v{}+v{}*v{}\n", i + 1, i + 1, i + 1))
        .collect();
    assert_eq!(
        survive(&equations(&format!(
            "{doubling} v20000 = x; der(x) = v0; der(y) = 0"
        ))),
        Ok(2)
    );
    let circle: String = (0..50_000)
        .map(|i| format!("v{i}=v{}\n", (i + 1) % 50_000))
        .collect();
    let message = message(&equations(&format!("der(x) = 0; der(y) = 0\n{circle}")));
    assert!(
        message.starts_with("circular definition: v0 -> v1") && message.len() < 200,
        "{message}"
    );
    let dense: String = (0..300)
        .map(|i| format!("v{i}={}0\n", "v0+v1+v2+v3+v4+v299+".repeat(20)))
        .collect();
    assert!(survive(&equations(&format!("der(x) = 0; der(y) = 0\n{dense}"))).is_err());
}

#[test]
fn texts_full_of_mistakes() {
    let unknown: String = (0..60_000).map(|i| format!("v{i}=w{i}\n")).collect();
    assert!(survive(&equations(&unknown)).is_err());
    assert!(survive(&equations(&"der(x) = 1\n".repeat(80_000))).is_err());
    assert!(survive(&equations(&"x = 1\n".repeat(150_000))).is_err());
    assert!(survive(&equations(&"der(z) = )\n".repeat(80_000))).is_err());
    assert!(survive(&equations(&"der(zulu) = 1\n".repeat(70_000))).is_err());
    assert!(survive(&equations(&"=\n".repeat(500_000))).is_err());
    assert!(survive(&equations(&"k = x < 1; k = k + k\n".repeat(40_000))).is_err());
    let mixed: String = (0..60_000).map(|i| format!("v{i}=1<x+(1<2)\n")).collect();
    assert!(survive(&equations(&mixed)).is_err());
    let names: String = (0..20_000)
        .map(|i| format!("averyveryverylongname{i:010}=1\n"))
        .collect();
    let wrong: String = (0..20)
        .map(|i| format!("w{i}=averyveryverylongnamf{i:010}\n"))
        .collect();
    assert!(survive(&equations(&format!("{names}{wrong}"))).is_err());
}

#[test]
fn many_wrong_outputs_and_names() {
    for text in ["zulu", "(", "x < 1", "§"] {
        let outputs: Vec<String> = (0..50_000).map(|index| format!("o{index}")).collect();
        let outputs = outputs.iter().map(|name| (name.as_str(), text)).collect();
        assert!(
            survive(&Source {
                outputs,
                ..expression("")
            })
            .is_err()
        );
    }
    assert!(
        survive(&Source {
            states: vec!["x"; 200_000],
            ..equations("der(x) = 1")
        })
        .is_err()
    );
    assert!(
        survive(&Source {
            parameters: vec![""; 200_000],
            ..equations("der(x) = 1")
        })
        .is_err()
    );
    let states: Vec<String> = (0..50_000).map(|index| format!("s{index}")).collect();
    let states = states.iter().map(String::as_str).collect();
    assert!(
        survive(&Source {
            states,
            ..Source::default()
        })
        .is_err()
    );
}

#[test]
fn long_tokens() {
    assert!(message(&expression(&"x".repeat(1_000_000))).len() < 100);
    assert!(message(&expression(&"1".repeat(1_000_000))).len() < 100);
    assert!(message(&expression(&format!("1{}", "e".repeat(1_000_000)))).len() < 100);
    assert_eq!(
        survive(&expression(&format!("0.{}1", "0".repeat(1_000_000)))),
        Ok(3)
    );
    assert_eq!(
        survive(&expression(&format!("x{}", " ".repeat(1_000_000)))),
        Ok(3)
    );
    assert_eq!(
        survive(&expression(&format!("x #{}", "#".repeat(1_000_000)))),
        Ok(3)
    );
    assert_eq!(
        survive(&expression(&format!("x{}", "\n#".repeat(500_000)))),
        Ok(3)
    );
    let huge = "a".repeat(500_000);
    let message = message(&Source {
        parameters: vec![&huge, &huge],
        ..Source::default()
    });
    assert!(message.len() < 200);
}

#[test]
fn huge_exponents() {
    for text in [
        "x ^ 1e300",
        "x ^ -999999",
        "x ^ 2147483648",
        "2 ^ 2 ^ 2 ^ 2 ^ 2 ^ 2",
        "0 ^ 0",
        "1e308 * 1e308",
        "x ^ (1e6 * 1e6)",
    ] {
        assert_eq!(survive(&expression(text)), Ok(3), "{text}");
    }
}

#[test]
fn strange_characters() {
    for text in [
        "\0",
        "x\0",
        "\u{feff}x",
        "x\u{202e}",
        "é\u{301}",
        "𝒙",
        "x\u{0}\u{0}",
        "\u{fffd}",
        "٣",
        "x²",
        "½",
        "\u{10ffff}",
    ] {
        assert!(survive(&expression(text)).is_err(), "{text:?}");
    }
    assert_eq!(survive(&expression("x\u{a0}+\u{2003}y\r\n")), Ok(3));
    assert!(survive(&expression(&"\0".repeat(1_000_000))).is_err());
    assert!(survive(&expression(&"é".repeat(500_000))).is_err());
}

#[test]
fn a_text_has_a_longest_length() {
    let message = message(&equations(&"#".repeat(1 << 20)));
    assert!(
        message.starts_with("the texts of the model take"),
        "{message}"
    );
    assert!(survive(&expression(&format!("x{}", "+x".repeat(500_000)))).is_err());
}
