//! `--json`.

use fit::Interval;
use serde_json::{Map, Value, json};
use support::json::number;

use crate::args::Args;
use crate::fits::Results;
use crate::outcome::{Known, Outcome, Parameter, Predicted};

/// The whole document but for the machine.
pub(crate) fn document(args: &Args, file: &str, machine: Value, results: &Results) -> Value {
    let settings = json!({
        "file": file,
        "model": args.model.name(),
        "confidence": args.confidence,
        "weights": args.weights,
        "errors": results.errors.name(),
        "response": results.response.map(crate::args::ResponseName::name),
    });
    let mut fields: Vec<(&str, Value)> = Vec::new();
    if let Some(comparison) = &results.comparison {
        fields.push(("models", results.outcomes.iter().map(|o| Value::Object(outcome(o))).collect()));
        let reasons =
            |list: &[(String, String)]| list.iter().map(|(model, reason)| json!({"model": model, "reason": reason})).collect::<Value>();
        fields.push(("failed", reasons(&results.failed)));
        let name = |index: usize| results.outcomes[index].model.clone();
        let ranks = comparison.ranks.iter().map(|r| json!({"model": name(r.index), "aicc": r.aicc, "delta": r.delta, "weight": r.weight}));
        fields.push(("ranks", ranks.collect()));
        fields.push(("unranked", reasons(&comparison.unranked)));
        let envelopes = comparison.envelopes.iter().map(|(x, e)| {
            json!({
                "x": x, "lower": number(e.values.lower), "upper": number(e.values.upper),
                "prediction_lower": number(e.prediction.lower), "prediction_upper": number(e.prediction.upper),
                "extrapolation": number(e.extrapolation), "extrapolated": e.is_extrapolated(),
            })
        });
        fields.push(("envelope", envelopes.collect()));
    }
    let mut document = support::json::document("gannet/curve/1", machine, settings, fields);
    if let (None, Some(object)) = (&results.comparison, document.as_object_mut()) {
        object.append(&mut outcome(&results.outcomes[0]));
    }
    document
}

/// One model as an object.
fn outcome(o: &Outcome) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("model".into(), json!(o.model));
    map.insert("equation".into(), json!(o.equation));
    map.insert("n".into(), json!(o.n));
    map.insert("df".into(), json!(o.df));
    map.insert("parameters".into(), o.parameters.iter().map(parameter).collect());
    known(&mut map, "residual_std_dev", &o.residual_std_dev);
    known(&mut map, "r_squared", &o.r_squared);
    map.insert("r_squared_kind".into(), json!(o.r_squared_kind));
    known(&mut map, "adjusted_r_squared", &o.adjusted_r_squared);
    known(&mut map, "f_statistic", &o.f_statistic);
    known(&mut map, "condition", &o.condition);
    known(&mut map, "aicc", &o.aicc);
    map.insert("predictions".into(), o.predictions.iter().map(predicted).collect());
    map.insert("residuals".into(), o.residuals.iter().map(|(_, e)| number(*e)).collect());
    map.insert("notes".into(), json!(o.notes));
    map
}

/// A number, or `null` with the reason in a field beside it.
fn known(map: &mut Map<String, Value>, name: &str, value: &Known) {
    match value {
        Ok(v) if v.is_finite() => {
            map.insert(name.into(), json!(v));
        }
        Ok(_) => {
            map.insert(name.into(), Value::Null);
            map.insert(format!("{name}_reason"), json!("it is not finite"));
        }
        Err(reason) => {
            map.insert(name.into(), Value::Null);
            map.insert(format!("{name}_reason"), json!(reason));
        }
    }
}

fn parameter(p: &Parameter) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), json!(p.name));
    map.insert("estimate".into(), number(p.estimate));
    known(&mut map, "std_error", &p.std_error);
    ends(&mut map, "", "interval_reason", &p.interval);
    map.insert("at_bound".into(), json!(p.at_bound));
    Value::Object(map)
}

fn predicted(p: &Predicted) -> Value {
    let mut map = Map::new();
    map.insert("x".into(), if p.x.len() == 1 { number(p.x[0]) } else { json!(p.x) });
    map.insert("y".into(), number(p.y));
    ends(&mut map, "mean_", "mean_reason", &p.mean);
    ends(&mut map, "prediction_", "prediction_reason", &p.prediction);
    map.insert("extrapolation".into(), p.extrapolation.map_or(Value::Null, number));
    Value::Object(map)
}

fn ends(map: &mut Map<String, Value>, prefix: &str, reason: &str, interval: &Result<Interval, String>) {
    let (lower, upper, why) = match interval {
        Ok(i) if i.is_bounded() => (json!(i.lower), json!(i.upper), None),
        Ok(i) => (number(i.lower), number(i.upper), Some("the data set no limit there".to_string())),
        Err(reason) => (Value::Null, Value::Null, Some(reason.clone())),
    };
    map.insert(format!("{prefix}lower"), lower);
    map.insert(format!("{prefix}upper"), upper);
    if let Some(why) = why {
        map.insert(reason.into(), json!(why));
    }
}
