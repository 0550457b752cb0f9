//! Inputs from tables and expressions, constants, events and files of parameters, as the program has them.

mod support;

use support::{Folder, assert_near, dovetail, number, run_json};

/// A first-order lag whose input nothing feeds, and what is to feed it.
fn lag(rest: &str) -> String {
    format!(
        "format = 1\n[model]\nstop-time = 4.0\n[systems.lag]\ninputs = {{ u = 0.0 }}\n\
         units = {{ u = \"m/s\" }}\nparameters = {{ tau = 2.0 }}\nstates = {{ x = 0.0 }}\n\
         equations = \"der(x) = (u - x)/tau\"\noutputs = {{ y = \"x\" }}\n{rest}"
    )
}

fn warnings(model: &str, arguments: &[&str]) -> String {
    run_json(model, arguments)["quality"]["warnings"].to_string()
}

fn last(model: &str, arguments: &[&str], name: &str) -> f64 {
    number(&run_json(model, arguments)["final"][name])
}

#[test]
fn a_table_drives_an_input_in_its_own_unit() {
    let folder = Folder::new();
    folder.file("speed.csv", "time,speed [km/h]\n0,36\n1,36\n1,72\n4,72\n");
    let rest = "[[inputs]]\nfile = \"speed.csv\"\nconnect = { \"speed [km/h]\" = \"lag.u\" }\n";
    let model = folder.file("model.toml", lag(rest));
    let expected = 20.0 + (10.0 - 10.0 * (-0.5f64).exp() - 20.0) * (-1.5f64).exp();
    for method in [
        "auto",
        "jacobi",
        "f3ornits",
        "missiles",
        "predictive",
        "ifosmondi",
    ] {
        let found = last(&model, &["--method", method], "lag.x");
        assert_near(found, expected, 1e-9);
    }
}

#[test]
fn columns_find_their_inputs_by_name_and_by_the_flag() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lag(""));
    let table = folder.file("t.csv", "time [ms];lag.u [km/h]\n0;0\n4000;36\n");
    let expected = 2.5 * (4.0 - 2.0 * (1.0 - (-2.0f64).exp()));
    assert_near(last(&model, &["--input", &table], "lag.x"), expected, 1e-9);
    // A parameter, too: from 2 to 4 in the course of the run.
    let table = folder.file("t.csv", "time,lag.u,lag.tau\n0,1,2\n2,1,2\n2,1,4\n4,1,4\n");
    let expected = 1.0 - (-1.0f64 - 0.5).exp();
    assert_near(last(&model, &["--input", &table], "lag.x"), expected, 1e-9);
}

#[test]
fn interpolation_and_what_is_beyond_are_chosen() {
    let folder = Folder::new();
    folder.file("t.csv", "time,u\n1,0\n2,1\n3,1\n");
    let run = |more: &str| {
        let rest = format!("[[inputs]]\nfile = \"t.csv\"\nconnect = {{ u = \"lag.u\" }}\n{more}");
        let text = lag(&rest).replace("(u - x)/tau", "u + 0*tau*x");
        last(&folder.file("model.toml", text), &[], "lag.x")
    };
    assert_near(run(""), 2.5, 1e-12);
    assert_near(run("interpolation = \"hold\"\n"), 2.0, 1e-12);
    assert_near(run("beyond = \"periodic\"\n"), 3.0, 1e-12);
    // The slopes of the cubic: 1.5, 0.5 and -0.5.
    assert_near(
        run("interpolation = \"cubic\"\n"),
        0.5 + 1.0 / 12.0 + 1.0 + 1.0 / 12.0 + 1.0,
        1e-12,
    );
}

#[test]
fn all_that_is_wrong_with_a_table_is_said_with_its_line() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lag(""));
    let refused = |text: &str, words: &[&str]| {
        let table = folder.file("bad.csv", text);
        dovetail(&["run", &model, "--input", &table])
            .exits(2)
            .says(words);
    };
    refused(
        "time,lag.u\n0,1\n1,2\n0.5,3\n",
        &["bad.csv, line 4", "before the 1 s of the row above"],
    );
    refused(
        "time,lag.u\n0,1\n1,\n",
        &["bad.csv, line 3", "no value in column `lag.u`"],
    );
    refused(
        "time,lag.u\n0,NaN\n",
        &["bad.csv, line 2", "`NaN` in column `lag.u`", "finite"],
    );
    refused("time,lag.u\n0,inf\n", &["line 2", "finite"]);
    // Empty lines and line breaks within quotes are lines too.
    refused("time,lag.u\n0,0\n\n\n1,1\n\n0.5,2\n", &["line 7"]);
    refused("time,lag.u\r\n0,0\r\n\r\n1,x\r\n", &["line 4"]);
    refused(
        "time,lag.u\n0,0\n1,\"1\n\"\n0.5,2\n",
        &["line 5", "before the 1 s"],
    );
    refused("time,lag.u\n0,0\n\n1,1,1\n", &["line 4", "3 values"]);
    refused(
        "time,lag.u\n0,1e308\n1,-1e308\n",
        &["bad.csv, line 3", "`lag.u`", "1e308 to -1e308"],
    );
    refused("time,lag.u\n0,0\n1e-300,1e300\n", &["line 3", "slope"]);
    refused(
        "time,lag.u\n0,1\n1,fast\n",
        &["line 3", "`fast` in column `lag.u` is not a number"],
    );
    refused(
        "time,lag.u\n0,1\nnow,1\n",
        &["line 3", "`now` in column `time`"],
    );
    refused("time,lag.u\n0,1,2\n", &["line 2", "3 values", "2 columns"]);
    refused(
        "time,lag.w\n0,1\n",
        &["line 1", "no input and no tunable parameter `w`", "`u`"],
    );
    refused("time,lap.u\n0,1\n", &["line 1", "`lap.u` fits no input"]);
    refused("time,speed\n0,1\n", &["line 1", "`speed` fits no input"]);
    refused("time,lag.u,lag.u\n0,1,1\n", &["driven twice"]);
    refused("time,lag.u [kg]\n0,1\n", &["in kg", "in m/s"]);
    refused(
        "time,lag.u [apples]\n0,1\n",
        &["`apples` is not a known unit"],
    );
    refused("time [kg],lag.u\n0,1\n", &["`kg` is no unit of time"]);
    refused("speed,lag.u\n0,1\n", &["first column must be `time`"]);
    refused("time,lag.u\n", &["has no rows"]);
    refused("time\n0\n", &["no column but time"]);
    refused("", &["first column must be `time`"]);

    let missing = folder.name("none.csv");
    dovetail(&["run", &model, "--input", &missing])
        .exits(2)
        .says(&["none.csv", "No such file"]);
    let other = folder.file("table.xls", "");
    dovetail(&["run", &model, "--input", &other])
        .exits(2)
        .says(&[".csv or .parquet"]);
    dovetail(&["run", &model, "--input", "/dev/zero"]).exits(2);
    let endless = folder.name("link.csv");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("a link");
    dovetail(&["run", &model, "--input", &endless])
        .exits(2)
        .says(&["it is not a file"]);
}

#[test]
fn all_that_is_wrong_with_inputs_of_a_model_is_said_with_its_place() {
    let folder = Folder::new();
    folder.file("t.csv", "time,u\n0,1\n1,1\n");
    let refused = |rest: &str, words: &[&str]| {
        let model = folder.file("model.toml", lag(rest));
        dovetail(&["check", &model]).exits(2).says(words);
    };
    let table = "[[inputs]]\nfile = \"t.csv\"\n";
    let connect = |rest: &str| format!("{table}connect = {{ u = \"lag.u\" }}\n{rest}");
    refused(
        &connect("interpolation = \"spline\"\n"),
        &["`spline`", "linear, hold, cubic"],
    );
    refused(
        &connect("beyond = \"stop\"\n"),
        &["`stop`", "hold, error, periodic"],
    );
    refused(
        &connect("beyond = \"error\"\n"),
        &["covers 0 s to 1 s", "0 s to 4 s"],
    );
    refused(&connect("columns = 1\n"), &["unknown key `columns`"]);
    refused(
        &format!("{table}connect = {{ v = \"lag.u\" }}\n"),
        &["has no column `v`", "model.toml:"],
    );
    refused(
        &format!("{table}connect = {{ u = \"lag.w\" }}\n"),
        &["no input and no tunable parameter `w`"],
    );
    refused(
        &format!("{table}connect = {{ u = \"leg.u\" }}\n"),
        &["`leg.u`"],
    );
    refused(table, &["`u` fits no input", "connect ="]);
    refused(
        &connect("[[connections]]\nvalue = 1\nto = \"lag.u\"\n"),
        &["`lag.u` is fed twice"],
    );
    refused("[[inputs]]\nfile = \"none.csv\"\n", &["none.csv"]);
    folder.file("two.csv", "time,u,u [m/s]\n0,1,2\n1,1,2\n");
    refused(
        "[[inputs]]\nfile = \"two.csv\"\nconnect = { u = \"lag.u\" }\n",
        &["two.csv", "several columns `u`"],
    );

    let value = |value: &str| format!("[[connections]]\nvalue = {value}\nto = \"lag.u\"\n");
    refused(&value("\"2*tim\""), &["tim", "model.toml:"]);
    refused(&value("\"2*\""), &["model.toml:"]);
    refused(&value("\"1/0\""), &["not a finite number"]);
    refused(&value("{ between = [1, 0] }"), &["between"]);
    refused(&value("[1, 2]"), &["a number, or an expression of time"]);
    refused(&value("nan"), &["finite"]);
    refused(
        &format!("{}{}", value("\"time\""), value("\"2*time\"")),
        &["fed twice"],
    );
    let text = lag(&value("1.0")).replace("format = 1", "format = 2");
    let model = folder.file("model.toml", text);
    dovetail(&["check", &model])
        .exits(2)
        .says(&["format 2", "reads format 1"]);
}

#[test]
fn a_value_is_an_expression_of_time_and_constants() {
    let folder = Folder::new();
    let rest = "[constants]\nbase = 20\nswing = \"base/4\"\n[[connections]]\n\
                value = \"base + swing*sin(time)\"\nto = \"lag.u\"\n";
    let model = folder.file("model.toml", lag(rest));
    let expected = |base: f64| {
        let (rate, swing) = (0.5, 0.5 * base / 4.0);
        let forced = |t: f64| (swing * rate * t.sin() - swing * t.cos()) / (rate * rate + 1.0);
        base + forced(4.0) + (-base - forced(0.0)) * (-2.0f64).exp()
    };
    for method in ["auto", "jacobi", "f3ornits", "predictive", "monolithic"] {
        let found = last(&model, &["--method", method], "lag.x");
        assert_near(found, expected(20.0), 1e-8);
    }
    let set = ["--set", "constants.base=8"];
    assert_near(last(&model, &set, "lag.x"), expected(8.0), 1e-8);
    // Equations that take an expression in can still be enclosed.
    let done = dovetail(&["enclose", &model, "--json"]).exits(0);
    assert!(number(&done.json()["max_width"]) < 1e-6);
}

#[test]
fn parameters_are_expressions_of_each_other_and_of_constants() {
    let folder = Folder::new();
    let text = lag("[[connections]]\nvalue = 1\nto = \"lag.u\"\n[constants]\ng = 4\n")
        .replace("{ tau = 2.0 }", "{ tau = \"half*g\", half = 0.5 }")
        .replace("(u - x)/tau", "(u - x)/tau*g/4");
    let model = folder.file("model.toml", text);
    let answer = |tau: f64| 1.0 - (-4.0 / tau).exp();
    assert_near(last(&model, &[], "lag.x"), answer(2.0), 1e-9);
    assert_near(
        last(&model, &["--set", "lag.half=1"], "lag.x"),
        answer(4.0),
        1e-9,
    );
    assert_near(
        last(&model, &["--set", "lag.tau=1"], "lag.x"),
        answer(1.0),
        1e-9,
    );
}

#[test]
fn files_of_parameters_come_before_what_is_set() {
    let folder = Folder::new();
    let model = folder.file(
        "model.toml",
        lag("[[connections]]\nvalue = 1\nto = \"lag.u\"\n"),
    );
    let answer = |tau: f64| 1.0 - (-4.0 / tau).exp();
    let ssv = "<ssv:ParameterSet xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\" \
               version=\"1.0\" name=\"p\"><ssv:Parameters><ssv:Parameter name=\"lag.tau\">\
               <ssv:Real value=\"4\"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>";
    let files = [
        ("p.toml", "[lag]\ntau = 4\n"),
        ("p.csv", "name,value\nlag.tau,4\n"),
        ("p.ssv", ssv),
    ];
    for (name, text) in files {
        let file = folder.file(name, text);
        assert_near(
            last(&model, &["--parameters", &file], "lag.x"),
            answer(4.0),
            1e-9,
        );
        let both = ["--set", "lag.tau=1", "--parameters", &file];
        assert_near(last(&model, &both, "lag.x"), answer(1.0), 1e-9);
    }
    let file = folder.file("p.csv", "name,value\nlag.tow,4\n");
    dovetail(&["run", &model, "--parameters", &file])
        .exits(2)
        .says(&["p.csv, line 2", "lag.tow", "lag.tau"]);
    let file = folder.file("p.csv", "name,value\n\nlag.tau,fast\n");
    dovetail(&["run", &model, "--parameters", &file])
        .exits(2)
        .says(&["p.csv, line 3", "`fast` is not a number"]);
    let file = folder.file("p.csv", "name,value\nlag.tau,4\nlag.x,0\nlag.tau,3\n");
    dovetail(&["run", &model, "--parameters", &file])
        .exits(2)
        .says(&["p.csv, line 4", "`lag.tau` is set to 3", "line 2"]);
    let file = folder.file("p.xml", "");
    dovetail(&["run", &model, "--parameters", &file])
        .exits(2)
        .says(&[".toml, .ssv or .csv"]);
}

#[test]
fn what_is_wrong_with_events_is_said_before_the_run() {
    let folder = Folder::new();
    let refused = |rest: &str, words: &[&str]| {
        let rest = format!("[[connections]]\nvalue = 1\nto = \"lag.u\"\n[[events]]\n{rest}");
        let model = folder.file("model.toml", lag(&rest));
        dovetail(&["check", &model]).exits(2).says(words);
    };
    refused("set = { \"lag.tau\" = 1 }\n", &["`at` or `when`"]);
    refused(
        "at = 1\nwhen = \"lag.y > 1\"\nstop = true\n",
        &["`at` or `when`"],
    );
    refused("at = 1\n", &["does nothing"]);
    refused("at = nan\nstop = true\n", &["finite"]);
    refused(
        "at = 3\nset = { \"lag.y\" = { value = 1, until = 2 } }\n",
        &["begins at 3 s", "over at 2 s"],
    );
    refused(
        "at = 1\nset = { \"lag.tow\" = 1 }\n",
        &["no tunable parameter, input or output `tow`"],
    );
    refused(
        "at = 1\nset = { \"lap.tau\" = 1 }\n",
        &["no system `lap`", "`lag`"],
    );
    refused("at = 1\nset = { tau = 1 }\n", &["system.name"]);
    refused(
        "at = 1\nset = { \"lag.x\" = 1 }\n",
        &["`x` is a state", "reset"],
    );
    refused(
        "at = 1\nset = { \"lag.tau\" = { stuck = true } }\n",
        &["is a parameter"],
    );
    refused(
        "at = 1\nset = { \"lag.y\" = { stuck = 1 } }\n",
        &["true or false"],
    );
    refused(
        "at = 1\nset = { \"lag.y\" = { frozen = true } }\n",
        &["unknown key `frozen`"],
    );
    refused(
        "at = 1\nset = { \"lag.y\" = { value = 1, gain = 2 } }\n",
        &["one of `value`"],
    );
    refused(
        "at = 1\nset = { \"lag.y\" = { until = 2 } }\n",
        &["one of `value`"],
    );
    refused("at = 1\nset = { \"lag.y\" = \"high\" }\n", &["high"]);
    refused("when = \"lag.y >\"\nstop = true\n", &["model.toml:"]);
    refused("when = \"lag.z > 1\"\nstop = true\n", &["model.toml:"]);
    refused(
        "when = \"lag.x > 1\"\nstop = true\n",
        &["`lag.x` is no output"],
    );
}

#[test]
fn an_event_ends_a_run_and_that_is_no_failure() {
    let folder = Folder::new();
    let rest = "[[connections]]\nvalue = 1\nto = \"lag.u\"\n[[events]]\nwhen = \"lag.y > 0.5\"\nstop = true\n";
    let model = folder.file("model.toml", lag(rest));
    for method in ["predictive", "missiles", "ifosmondi"] {
        let rows = folder.name("rows.csv");
        let done = dovetail(&["run", &model, "--method", method, "--output", &rows]).exits(0);
        assert!(
            done.line().contains("`events` asked for the end"),
            "{}",
            done.out
        );
        let rows = std::fs::read_to_string(&rows).expect("rows");
        let time = rows.lines().last().and_then(|row| row.split(',').next());
        let time: f64 = time.expect("a time").parse().expect("a number");
        assert_near(time, 2.0 * 2.0f64.ln(), 1e-6);
    }
}

#[test]
fn processes_read_tables_and_see_events_with_the_same_bits() {
    let folder = Folder::new();
    folder.file("t.csv", "time,u\n0,1\n1.3,2\n1.3,0.5\n4,3\n");
    let rest = "[[inputs]]\nfile = \"t.csv\"\nconnect = { u = \"lag.u\" }\n\
                [systems.other]\ninputs = { y = 0 }\nstates = { z = 0 }\nequations = \"der(z) = y - z\"\n\
                outputs = { z = \"z\" }\n[[connections]]\nfrom = \"lag.y\"\nto = \"other.y\"\n\
                [[events]]\nat = 2\nset = { \"lag.tau\" = 0.7, \"other.y\" = { stuck = true, until = 3 } }\n";
    let model = folder.file("model.toml", lag(rest));
    for method in ["jacobi", "predictive"] {
        let rows = ["threads", "processes"].map(|workers| {
            let file = folder.name("rows.csv");
            let arguments = [
                "run",
                &model,
                "--method",
                method,
                "--workers",
                workers,
                "-o",
                &file,
            ];
            dovetail(&arguments).exits(0);
            std::fs::read_to_string(&file).expect("rows")
        });
        assert!(rows[0] == rows[1], "{method}");
        assert!(rows[0].lines().count() > 10);
    }
}

#[test]
fn results_do_not_replace_a_table_of_inputs() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "time,lag.u\n0,1\n");
    let model = folder.file("model.toml", lag(""));
    let arguments = ["run", &model, "--input", &table, "--output", &table];
    dovetail(&arguments)
        .exits(2)
        .says(&["is a table of inputs"]);
    assert!(
        std::fs::read_to_string(&table)
            .expect("the table")
            .contains("lag.u")
    );
}

#[test]
fn a_driven_model_has_no_monolithic_solution_and_says_so() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "time,lag.u\n0,1\n");
    let model = folder.file("model.toml", lag(""));
    dovetail(&["run", &model, "--input", &table, "--method", "monolithic"])
        .exits(2)
        .says(&["`lag` is driven by a table"]);
}

#[test]
fn values_with_units_are_converted_to_those_of_their_parameters() {
    let folder = Folder::new();
    let text = lag("[[connections]]\nvalue = 1\nto = \"lag.u\"\n")
        .replace("units = { ", "units = { tau = \"s\", ");
    let model = folder.file("model.toml", text);
    let answer = 1.0 - (-4.0f64 / 0.5).exp();
    for (name, text) in [
        ("p.csv", "name,value,unit\nlag.tau,500,ms\n"),
        ("p.toml", "[lag]\ntau = \"500 ms\"\n"),
    ] {
        let file = folder.file(name, text);
        let found = last(&model, &["--parameters", &file], "lag.x");
        assert_near(found, answer, 1e-9);
    }
    assert_near(
        last(&model, &["--set", "tau=500 ms"], "lag.x"),
        answer,
        1e-9,
    );

    let file = folder.file("p.csv", "name,value,unit\nlag.tau,500,kg\n");
    dovetail(&["run", &model, "--parameters", &file])
        .exits(2)
        .says(&["p.csv, line 2", "in kg", "`lag.tau` is in s"]);
    let file = folder.file("p.csv", "name,value,unit\nlag.x,0,m\n");
    let warnings = warnings(&model, &["--parameters", &file]);
    assert!(warnings.contains("`lag.x` has no unit"), "{warnings}");
}

#[test]
fn events_that_do_nothing_in_a_run_are_named() {
    let folder = Folder::new();
    let rest = "[[connections]]\nvalue = 1\nto = \"lag.u\"\n\
                [[events]]\nat = 7\nset = { \"lag.tau\" = 1 }\n";
    let model = folder.file("model.toml", lag(rest));
    let named = warnings(&model, &[]);
    assert!(
        named.contains("the event at t = 7 s (`lag.tau`)"),
        "{named}"
    );
    assert!(named.contains("after the end of the run"), "{named}");
    let longer = warnings(&model, &["--stop-time", "8"]);
    assert!(!longer.contains("does nothing"), "{longer}");
}

#[test]
fn events_of_names_that_read_alike_are_told_apart() {
    let folder = Folder::new();
    let system = |name: &str, parameter: &str| {
        format!(
            "[systems.{name}]\nparameters = {{ {parameter} = 1.0 }}\nstates = {{ x = 0.0 }}\n\
             equations = \"der(x) = {parameter}\"\n"
        )
    };
    let events = "[[events]]\nat = 1\nset = { \"a.b_c\" = { value = 2.0, until = 2 } }\n\
                  [[events]]\nat = 3\nset = { \"a_b.c\" = 5.0, \"a.b_c_lasting\" = 9.0 }\n";
    let a = system("a", "b_c").replace("b_c = 1.0", "b_c = 1.0, b_c_lasting = 0.0");
    let a = a.replace("der(x) = b_c", "der(x) = b_c + b_c_lasting");
    let text = format!("[model]\nstop-time = 4\n{a}{}{events}", system("a_b", "c"));
    let model = folder.file("model.toml", text);
    assert_near(last(&model, &[], "a.x"), 5.0 + 9.0, 1e-12);
    assert_near(last(&model, &[], "a_b.x"), 3.0 + 5.0, 1e-12);
}

#[test]
fn expressions_follow_the_parameters_that_events_and_tables_change() {
    let folder = Folder::new();
    let text = |events: &str| {
        format!(
            "[model]\nstop-time = 1\n[constants]\nhalf = 0.5\n[systems.s]\n             parameters = {{ k = 2.0, c = \"half*k\", d = \"c + 1\" }}\nstates = {{ x = 1.0 }}\n             equations = \"der(x) = -c*x + 0*k + 0*d\"\nunits = {{ c = \"1/s\" }}\n{events}"
        )
    };
    let event = "[[events]]\nat = 0.5\nset = { \"s.k\" = 40.0 }\n";
    let model = folder.file("model.toml", text(event));
    let expected = (-0.5f64 - 0.5 * 20.0).exp();
    for method in ["auto", "jacobi", "monolithic"] {
        assert_near(last(&model, &["--method", method], "s.x"), expected, 1e-6);
    }
    assert_eq!(last(&model, &[], "s.c"), 20.0);
    assert_eq!(last(&model, &[], "s.d"), 21.0);
    // A value that is set is no expression any more.
    let set = ["--set", "s.c=1"];
    assert_near(last(&model, &set, "s.x"), (-1.0f64).exp(), 1e-8);
    let table = folder.file("t.csv", "time,s.k\n0,2\n0.5,2\n0.5,40\n1,40\n");
    let model = folder.file("model.toml", text(""));
    assert_near(last(&model, &["--input", &table], "s.x"), expected, 1e-6);

    let both = "[[events]]\nat = 0.5\nset = { \"s.k\" = 40.0, \"s.c\" = 3.0 }\n";
    let model = folder.file("model.toml", text(both));
    dovetail(&["check", &model])
        .exits(2)
        .says(&["`c` is an expression of `k`", "both are changed"]);
}
