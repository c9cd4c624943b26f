//! What the program promises: the schema, every digit of the certified sets, clear refusals.

use clap::Parser;
use serde_json::{Value, json};
use support::cli::Failure;

use crate::args::{Args, Kind};
use crate::{data, fits, json as document, show};

#[allow(dead_code)]
#[path = "../../crates/fit/tests/it/nist_data.rs"]
mod nist_data;

use nist_data::*;

const TIMES: &str = "threads,seconds\n1,49.32\n2,26.74\n3,18.60\n4,14.29\n5,11.21\n";

fn curve(text: &str, options: &[&str]) -> Result<(Args, data::Data, fits::Results, Value), Failure> {
    let args = Args::try_parse_from(["curve", "-"].iter().chain(options)).map_err(|e| Failure::Usage(e.to_string()))?;
    args.check()?;
    let data = data::parse(text.as_bytes(), args.weights, args.model == Kind::Columns).map_err(Failure::Run)?;
    let results = fits::run(&args, &data, "file")?;
    let text = document::document(&args, "file", json!({}), &results).to_string();
    let value = serde_json::from_str(&text).unwrap();
    Ok((args, data, results, value))
}

fn refused(text: &str, options: &[&str]) -> String {
    match curve(text, options) {
        Err(Failure::Run(message) | Failure::Usage(message)) => message,
        other => panic!("{options:?} must be refused: {:?}", other.map(|o| o.3)),
    }
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn schema_of_one_model() {
    let (.., v) = curve(TIMES, &["--model", "power", "--predict", "10", "14"]).unwrap();
    let fields = [
        "adjusted_r_squared",
        "aicc",
        "condition",
        "df",
        "equation",
        "f_statistic",
        "machine",
        "model",
        "n",
        "notes",
        "parameters",
        "predictions",
        "r_squared",
        "r_squared_kind",
        "residual_std_dev",
        "residuals",
        "schema",
        "settings",
    ];
    assert_eq!(names(&v), fields);
    assert_eq!(v["schema"], "gannet/curve/1");
    assert_eq!(names(&v["settings"]), ["confidence", "errors", "file", "model", "response", "weights"]);
    assert_eq!(names(&v["parameters"][0]), ["at_bound", "estimate", "lower", "name", "std_error", "upper"]);
    let prediction = ["extrapolation", "mean_lower", "mean_upper", "prediction_lower", "prediction_upper", "x", "y"];
    assert_eq!(names(&v["predictions"][1]), prediction);
    assert_eq!(v["predictions"][1]["x"], 14.0);
    assert_eq!(format!("{:.6}", v["predictions"][0]["y"].as_f64().unwrap()), "6.113511");
}

#[test]
fn schema_of_all_models() {
    let (_, _, results, v) = curve(TIMES, &["--model", "all", "--predict", "10"]).unwrap();
    assert_eq!(names(&v), ["envelope", "failed", "machine", "models", "ranks", "schema", "settings", "unranked"]);
    assert_eq!(v["settings"]["response"], "time");
    assert_eq!(names(&v["ranks"][0]), ["aicc", "delta", "model", "weight"]);
    assert_eq!(v["ranks"][0]["model"], "rate-line");
    assert_eq!(v["failed"][0]["model"], "capped");
    assert_eq!(v["unranked"][0]["model"], "usl");
    assert_eq!(v["envelope"][0]["extrapolated"], true);
    let usl = v["models"].as_array().unwrap().iter().find(|m| m["model"] == "usl").unwrap();
    assert_eq!(usl["aicc"], Value::Null);
    assert!(usl["aicc_reason"].as_str().unwrap().contains("got 5"));
    let coherency = &usl["parameters"][2];
    assert_eq!((&coherency["at_bound"], &coherency["upper"], &coherency["std_error"]), (&json!(true), &Value::Null, &Value::Null));
    assert!(coherency["interval_reason"].is_string() && coherency["std_error_reason"].is_string());
    assert_eq!(results.outcomes.len(), 5);
}

#[test]
fn robust_models_say_what_they_lack() {
    let (.., v) = curve(TIMES, &["--model", "theil-sen", "--predict", "2"]).unwrap();
    assert_eq!((&v["r_squared"], &v["predictions"][0]["mean_lower"]), (&Value::Null, &Value::Null));
    assert!(v["r_squared_reason"].is_string() && v["predictions"][0]["mean_reason"].is_string());
    assert!(v["parameters"][1]["lower"].is_number());
    let disk = "2e6 .003\n2e6 .0031\n2e7 .012\n2e7 .0118\n2e8 .102\n2e8 .103\n2e9 1.0\n2e9 1.01\n";
    let (.., v) = curve(disk, &["--model", "affine", "--predict", "1e9"]).unwrap();
    assert_eq!(v["parameters"][1]["name"], "bandwidth");
    assert!((v["predictions"][0]["y"].as_f64().unwrap() - 0.502).abs() < 0.01);
}

fn text(set: &Set) -> String {
    let row = |i: usize| set.x.iter().map(|c| c[i].to_string()).chain([set.y[i].to_string()]).collect::<Vec<_>>().join(" ");
    (0..set.y.len()).map(|i| row(i) + "\n").collect()
}

fn digits(got: &Value, want: f64) -> f64 {
    let got = got.as_f64().unwrap();
    if got == want { 16.0 } else { -((got - want) / want).abs().log10() }
}

/// From the text of a file to the text of the result, no digit is lost.
#[test]
fn certified_digits_from_text_to_text() {
    for (set, model, least) in [
        (NORRIS, "linear", 13.0),
        (NOINT1, "origin", 13.0),
        (LONGLEY, "columns", 13.0),
        (FILIP, "poly:10", 13.0),
        (WAMPLER1, "poly:5", 13.0),
        (WAMPLER2, "poly:5", 13.0),
        (WAMPLER4, "poly:5", 13.0),
        (WAMPLER5, "poly:5", 13.0),
        (DANWOOD, "power-nls", 10.0),
        (MISRA1A, "saturating", 10.0),
        (BOXBOD, "saturating", 10.0),
    ] {
        let (.., v) = curve(&text(&set), &["--model", model]).unwrap();
        assert_eq!(v["n"], set.y.len());
        for (field, want) in [("residual_std_dev", set.residual_std_dev), ("r_squared", set.r_squared), ("f_statistic", set.f_statistic)] {
            if want == 0.0 {
                assert!(v[field].as_f64().unwrap() < 1e-13, "{} {}", set.name, v[field]);
            } else if want.is_finite() {
                let least = f64::min(least, 12.0);
                assert!(digits(&v[field], want) >= least, "{} {field} {}", set.name, v[field]);
            }
        }
        for (k, want) in set.params.iter().enumerate() {
            let p = &v["parameters"][k];
            assert!(digits(&p["estimate"], *want) >= least, "{} {p}", set.name);
            let exact = set.std_errors[k] == 0.0;
            assert!(
                if exact { p["std_error"].as_f64().unwrap() < 1e-13 } else { digits(&p["std_error"], set.std_errors[k]) >= least },
                "{} {p}",
                set.name
            );
        }
    }
}

#[test]
fn weights_and_columns() {
    let (.., v) = curve("0 1 1\n0 3 1\n1 10 1\n1 14 3\n", &["--weights"]).unwrap();
    assert_eq!((&v["parameters"][0]["estimate"], &v["parameters"][1]["estimate"]), (&json!(2.0), &json!(11.0)));
    let rows = "a;b;y\n1;0;1.1\n2;1;3.2\n3;5;8.1\n4;2;6.2\n5;1;5.8\n";
    let (.., v) = curve(rows, &["--model", "columns", "--predict", "1,2", "2,2"]).unwrap();
    assert_eq!(v["predictions"][1]["x"], json!([2.0, 2.0]));
    assert_eq!(v["parameters"].as_array().unwrap().len(), 3);
}

#[test]
fn bad_files_are_named_by_line() {
    for (text, part) in [
        ("", "no numbers"),
        ("# only a comment\n", "no numbers"),
        ("x,y\n", "no numbers"),
        ("1 2\n3\n", "line 2 has 1 columns"),
        ("1 2\n3 abc\n", "line 2: \"abc\" is not a number"),
        ("1 2\nx y\n", "line 2"),
        ("1 nan\n2 3\n", "line 1: \"nan\" is not a finite number"),
        ("1 1e999\n", "not a finite number"),
        ("1 2 3\n", "3 columns"),
        ("1\n2\n", "1 column;"),
        ("1 2\n1 3\n1 4\n", "all values of x are equal"),
        ("1 2\n2 3\n", "at least 3 observations"),
        ("1,2\n,\n", "line 2"),
    ] {
        let message = refused(text, &[]);
        assert!(message.contains(part), "{text:?}: {message}");
    }
    assert!(data::parse(b"1 2\n\xff 3\n", false, false).unwrap_err().contains("line 2 is not text"));
    assert!(refused("1 2\n\n-2 3\n4 5\n", &["--model", "power"]).contains("line 3: x is not above 0"));
    assert!(refused("1 2 0\n2 3 1\n4 5 1\n", &["--weights"]).contains("line 1: the weight"));
    assert!(refused("x;y\n1;2\n2;3,5\n", &[]).contains("line 3: \"3,5\" is not a number: decimals"));
}

/// The same numbers as spreadsheets, old systems and careful people write them.
#[test]
fn many_ways_to_write_a_table() {
    let plain = data::parse(b"1 2\n2 3.5\n3 -5e0\n", false, false).unwrap();
    for text in [
        "\u{feff}1\t2\r\n2\t3.5\r\n3\t-5\r\n",
        "1,2\n2, 3.5\n3 ,-5.0",
        "1;2\n2;3.5\n3;-5\n",
        "\"1\",\"2\"\n\"2\",\" 3.5\"\n\"3\",\"-5\"\n",
        "1 2\r2 3.5\r3 -5\r",
        "# two columns\n\n1 2 # the first\n2 3.5\n  # nothing\n+3 -.5e1\n",
    ] {
        let data = data::parse(text.as_bytes(), false, false).unwrap();
        assert_eq!((&data.x, &data.y), (&plain.x, &plain.y), "{text:?}");
    }
    let named = data::parse("\u{feff}\"threads\";seconds\n1;2\n".as_bytes(), false, false).unwrap();
    assert_eq!((named.names, named.lines), (vec!["threads".to_string(), "seconds".to_string()], vec![2]));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for options in [
        &["--model", "linear", "--response", "time"][..],
        &["--model", "power", "--errors", "additive"],
        &["--model", "theil-sen", "--weights"],
        &["--model", "poly:0"],
        &["--model", "cubic"],
        &["--predict", "x"],
        &["--model", "columns", "--predict", "1,2"],
    ] {
        assert!(matches!(curve(TIMES, options), Err(Failure::Usage(_))), "{options:?}");
    }
}

#[test]
fn page_holds_plot_and_residuals() {
    let (args, data, results, _) = curve(TIMES, &["--model", "power", "--predict", "10"]).unwrap();
    let html = show::page(&args, &results, &data, "file").unwrap().html();
    assert_eq!(html.matches("<svg").count(), 2);
    for part in ["threads", "one further observation", "exponent", "6.113511", "Residuals"] {
        assert!(html.contains(part), "{part}");
    }
    let (args, data, results, _) = curve(TIMES, &["--model", "all"]).unwrap();
    assert!(show::page(&args, &results, &data, "file").unwrap().html().contains("rate-line"));
}
