//! For people: text and the page of `--report`.

use fit::Interval;
use support::cli::Failure;
use support::page::Page;
use support::plot::{Plot, Series, Shape};
use support::print::Printer;
use support::units::significant;

use crate::args::Args;
use crate::data::Data;
use crate::fits::{Results, response_name};
use crate::outcome::{Known, Outcome};

const PARAMETERS: [&str; 5] = ["parameter", "estimate", "std. error", "lower", "upper"];
const PREDICTIONS: [&str; 7] = ["x", "y", "mean lower", "mean upper", "next lower", "next upper", "outside"];
const RANKS: [&str; 4] = ["model", "AICc", "difference", "weight"];
const ENVELOPE: [&str; 6] = ["x", "least model", "greatest model", "next lower", "next upper", "outside"];

fn digits(value: f64) -> String {
    significant(value, 7)
}

fn known(value: &Known) -> String {
    value.as_ref().map_or_else(|reason| format!("– ({reason})"), |v| digits(*v))
}

fn ends(interval: &Result<Interval, String>) -> [String; 2] {
    let end = |v: f64| if v.is_finite() { digits(v) } else { "no limit".to_string() };
    interval.as_ref().map_or_else(|_| ["–".into(), "–".into()], |i| [end(i.lower), end(i.upper)])
}

fn parameters(o: &Outcome) -> Vec<Vec<String>> {
    o.parameters
        .iter()
        .map(|p| {
            let [lower, upper] = ends(&p.interval);
            let error = p.std_error.as_ref().map_or_else(|_| if p.at_bound { "at bound" } else { "–" }.to_string(), |v| digits(*v));
            vec![p.name.clone(), digits(p.estimate), error, lower, upper]
        })
        .collect()
}

fn predictions(o: &Outcome) -> Vec<Vec<String>> {
    o.predictions
        .iter()
        .map(|p| {
            let [a, b] = ends(&p.mean);
            let [c, d] = ends(&p.prediction);
            let x = p.x.iter().map(|v| digits(*v)).collect::<Vec<_>>().join(", ");
            let outside =
                p.extrapolation.map_or_else(|| "–".into(), |f| if f > 1.0 { format!("×{}", significant(f, 3)) } else { "no".into() });
            vec![x, digits(p.y), a, b, c, d, outside]
        })
        .collect()
}

/// One line of figures each.
fn figures(o: &Outcome) -> Vec<(&'static str, String)> {
    let mut list = vec![("observations", o.n.to_string())];
    if let Some(df) = o.df {
        list.push(("degrees of freedom", df.to_string()));
    }
    let deviation = if o.r_squared_kind == Some("about_mean_of_logarithms") || o.model == "affine" {
        "residual std. dev. (relative)"
    } else {
        "residual std. dev."
    };
    list.push((deviation, known(&o.residual_std_dev)));
    if o.df.is_some() {
        let kind = match o.r_squared_kind {
            Some("about_zero") => "R² (about zero)",
            Some("about_mean_of_logarithms") => "R² (of logarithms)",
            _ => "R²",
        };
        list.push((kind, known(&o.r_squared)));
        list.push(("adjusted R²", known(&o.adjusted_r_squared)));
        if o.f_statistic.is_ok() {
            list.push(("F", known(&o.f_statistic)));
        }
        list.push(("condition", known(&o.condition)));
        list.push(("AICc", known(&o.aicc)));
    }
    list
}

fn ranks(results: &Results) -> Vec<Vec<String>> {
    let Some(comparison) = &results.comparison else { return vec![] };
    let ranked = comparison.ranks.iter().map(|r| {
        vec![results.outcomes[r.index].model.clone(), significant(r.aicc, 6), significant(r.delta, 4), format!("{:.3}", r.weight)]
    });
    let none = comparison.unranked.iter().map(|(model, _)| vec![model.clone(), "–".into(), "–".into(), "–".into()]);
    ranked.chain(none).collect()
}

fn envelopes(results: &Results) -> Vec<Vec<String>> {
    let Some(comparison) = &results.comparison else { return vec![] };
    let row = |(x, e): &(f64, fit::Envelope)| {
        let [a, b] = ends(&Ok(e.values));
        let [c, d] = ends(&Ok(e.prediction));
        vec![
            digits(*x),
            a,
            b,
            c,
            d,
            if e.is_extrapolated() { format!("×{}: beware", significant(e.extrapolation, 3)) } else { "no".into() },
        ]
    };
    comparison.envelopes.iter().map(row).collect()
}

/// Sentences about several models.
fn remarks(results: &Results) -> Vec<String> {
    let Some(comparison) = &results.comparison else { return vec![] };
    let mut lines: Vec<String> = results.failed.iter().map(|(m, why)| format!("{m} was not fitted: {why}")).collect();
    lines.extend(comparison.unranked.iter().map(|(m, why)| format!("{m} is not ranked: {why}")));
    lines.push("AICc and its weights judge the fit to the observations only, not predictions beyond them".into());
    lines
}

fn title(args: &Args, results: &Results, file: &str) -> String {
    let response = response_name(results.response).map_or_else(String::new, |r| format!(", y is a {r}"));
    format!("{} of {file}: {} errors{response}", args.model.name(), results.errors.name())
}

/// To standard output.
pub(crate) fn print(args: &Args, results: &Results, file: &str, out: &mut Printer) {
    out.line(title(args, results, file));
    for o in &results.outcomes {
        out.heading(&format!("{}: {}", o.model, o.equation));
        out.table(&PARAMETERS, &parameters(o));
        let text: Vec<String> = figures(o).into_iter().map(|(label, value)| format!("{label} {value}")).collect();
        out.line(format!("  {}", text.join("; ")));
        if !o.predictions.is_empty() {
            out.table(&PREDICTIONS, &predictions(o));
        }
        for note in &o.notes {
            out.line(format!("  note: {note}"));
        }
    }
    if results.comparison.is_some() {
        out.heading("the models compared");
        out.table(&RANKS, &ranks(results));
        let rows = envelopes(results);
        if !rows.is_empty() {
            out.heading("predictions of all of them together");
            out.table(&ENVELOPE, &rows);
        }
        for line in remarks(results) {
            out.line(format!("  note: {line}"));
        }
    }
    out.line(format!("  intervals: {} %", significant(args.confidence * 100.0, 6)));
}

/// The page.
pub(crate) fn page(args: &Args, results: &Results, data: &Data, file: &str) -> Result<Page, Failure> {
    let mut page = Page::new(&title(args, results, file));
    let [x_name, y_name] = match data.names.as_slice() {
        [x, y, ..] if data.x.len() == 1 => [x.clone(), y.clone()],
        _ => ["x".to_string(), "y".to_string()],
    };
    if data.x.len() == 1 {
        let mut plot = Plot::new(x_name.clone(), y_name);
        let single = results.outcomes.len() == 1;
        for (k, o) in results.outcomes.iter().enumerate() {
            let band: Vec<(f64, f64, f64)> = o.curve.iter().filter_map(|(x, _, i)| i.map(|i| (*x, i.lower, i.upper))).collect();
            if single && band.len() > 1 {
                plot = plot.with(Series::new("one further observation", k, Shape::Band(band)));
            }
            let curve = o.curve.iter().map(|(x, y, _)| (*x, *y)).collect();
            plot = plot.with(Series::new(o.model.clone(), k, Shape::Line(curve)));
        }
        let observed = data.x[0].iter().copied().zip(data.y.iter().copied()).collect();
        plot = plot.with(Series::new("observed", if single { 1 } else { 5 }, Shape::Points(observed)));
        page.figure(
            &plot.svg()?,
            &format!("Observations and what was fitted; bands are intervals of {} %.", significant(args.confidence * 100.0, 6)),
        );
    }
    for o in &results.outcomes {
        page.heading(&format!("{}: {}", o.model, o.equation));
        page.table(&PARAMETERS, &parameters(o));
        page.table(&["", "value"], &figures(o).into_iter().map(|(l, v)| vec![l.to_string(), v]).collect::<Vec<_>>());
        if !o.predictions.is_empty() {
            page.table(&PREDICTIONS, &predictions(o));
        }
        if o.residuals.len() > 1 {
            let points = if data.x.len() == 1 {
                data.x[0].iter().copied().zip(o.residuals.iter().map(|r| r.1)).collect()
            } else {
                o.residuals.clone()
            };
            let x = if data.x.len() == 1 { x_name.as_str() } else { "fitted value" };
            let mut plot = Plot::new(x, "residual").with(Series::new("", 1, Shape::Points(points)));
            plot.from_zero = false;
            page.figure(&plot.svg()?, "Residuals: a good model leaves no pattern.");
        }
        page.list(&o.notes);
    }
    if results.comparison.is_some() {
        page.heading("The models compared");
        page.table(&RANKS, &ranks(results));
        let rows = envelopes(results);
        if !rows.is_empty() {
            page.table(&ENVELOPE, &rows);
        }
        page.list(&remarks(results));
    }
    Ok(page)
}
