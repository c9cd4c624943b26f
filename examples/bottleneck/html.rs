//! The findings as a page: the verdict first, then the plots.

use diskbench::Direction;
use fit::Model;
use stream::Stage;
use support::cli::Failure;
use support::page::Page;
use support::plot::{Bars, Plot, Series, Shape};

use crate::Findings;
use crate::measure::{Operation, of, plural};
use crate::show;
use crate::verdict::median;

const STEPS: usize = 60;

/// The page of `--report`.
pub(crate) fn page(found: &Findings) -> Result<Page, Failure> {
    let mut page = Page::new("What compression waits for");
    page.lead(&found.verdicts.iter().map(show::verdict_line).collect::<Vec<_>>());
    page.heading("What would help");
    page.list(&found.advice.would_help);
    page.heading("What this cannot know");
    page.list(&found.advice.not_known);

    page.heading("Rate over threads");
    page.figure(&rates(found)?, "Each mark is a run: bytes of the uncompressed side over its time. Lines: rate = a + b·T. Bands, where there are any: the interval of the mean.");
    page.heading("Time over threads");
    page.figure(&times(found)?, "The same runs as times. Lines: time = a·T^b, fitted to the logarithms, and the interval of the mean.");
    page.list(&show::fit_lines(&found.fits));
    for operation in Operation::ALL {
        page.heading(if operation == Operation::Compress { "Compression" } else { "Decompression" });
        let (head, rows) = show::run_table(&found.runs, operation, &found.settings);
        page.table(&head, &rows);
    }
    page.list(&show::run_notes(found));
    page.heading("Stages");
    page.figure(
        &stages(found)?,
        "Compression: time with at least one thread in the stage, and the whole time, median of the runs. Stages overlap.",
    );

    page.heading("Volume");
    page.list(&show::volume_lines(&found.volume));
    if let Some(svg) = disk(found)? {
        page.figure(&svg, "Median rate of whole files, by their size.");
    }
    page.heading("Machine and task");
    page.facts(&found.machine.lines());
    let task = show::task(&found.settings, &found.source);
    page.facts(&task.into_iter().map(|(label, value)| (label.to_string(), value)).collect::<Vec<_>>());
    Ok(page)
}

fn rates(found: &Findings) -> Result<String, Failure> {
    let mut plot = Plot::new("threads", "rate (MB/s)").whole_x();
    for (colour, operation) in Operation::ALL.into_iter().enumerate() {
        plot = fitted(plot, found, operation, colour, |fit| &fit.line, 1e-6);
        let points = of(&found.runs, operation).map(|run| (run.threads as f64, run.rate() * 1e-6)).collect();
        plot = plot.with(Series::new(operation.name(), colour, Shape::Points(points)));
    }
    plot.svg()
}

fn times(found: &Findings) -> Result<String, Failure> {
    let mut plot = Plot::new("threads", "time (s)").whole_x();
    for (colour, operation) in Operation::ALL.into_iter().enumerate() {
        plot = fitted(plot, found, operation, colour, |fit| &fit.power, 1.0);
        let points = of(&found.runs, operation).map(|run| (run.threads as f64, run.seconds())).collect();
        plot = plot.with(Series::new(operation.name(), colour, Shape::Points(points)));
    }
    plot.svg()
}

/// Adds the curve of a model and, where it has one, the band of its mean.
fn fitted<'a>(
    mut plot: Plot,
    found: &'a Findings,
    operation: Operation,
    colour: usize,
    model: impl Fn(&'a crate::fits::Fit) -> &'a dyn Model,
    scale: f64,
) -> Plot {
    let Ok(fit) = found.fits.of(operation) else { return plot };
    let model = model(fit);
    let grid: Vec<f64> = (0..=STEPS).map(|i| 1.0 + (fit.most_threads - 1.0) * i as f64 / STEPS as f64).collect();
    if fit.no_interval.is_none() {
        let band: Option<Vec<_>> = grid
            .iter()
            .map(|&x| {
                model
                    .mean_interval(x, found.fits.confidence)
                    .ok()
                    .filter(|i| i.is_bounded())
                    .map(|i| (x, i.lower.max(0.0) * scale, i.upper * scale))
            })
            .collect();
        if let Some(band) = band {
            plot = plot.with(Series::new("", colour, Shape::Band(band)));
        }
    }
    let line = grid.iter().filter_map(|&x| Some((x, model.predict(x).ok()? * scale))).collect();
    plot.with(Series::new("", colour, Shape::Line(line)))
}

fn stages(found: &Findings) -> Result<String, Failure> {
    let rows = found
        .settings
        .threads
        .iter()
        .filter_map(|&threads| {
            let here: Vec<_> = of(&found.runs, Operation::Compress).filter(|run| run.threads == threads).collect();
            let middle = |value: &dyn Fn(&crate::measure::Run) -> f64| median(&here.iter().map(|run| value(run)).collect::<Vec<_>>());
            let mut values = Vec::new();
            for stage in [Stage::Read, Stage::Process, Stage::Write] {
                values.push(middle(&|run| run.report.stage(stage).occupied.as_secs_f64())?);
            }
            values.push(middle(&|run| run.seconds())?);
            Some((plural(threads), values))
        })
        .collect();
    let parts = ["read", "process", "write", "whole run"].map(String::from).to_vec();
    Bars { x_label: "seconds".into(), parts, rows }.svg()
}

fn disk(found: &Findings) -> Result<Option<String>, Failure> {
    let mut plot = Plot::new("file size (MB)", "rate (MB/s)");
    plot.log_x = true;
    for (colour, direction) in [Direction::Write, Direction::Read].into_iter().enumerate() {
        let line: Vec<_> = found.volume.by_size(direction).into_iter().map(|(size, rate)| (size as f64 * 1e-6, rate * 1e-6)).collect();
        if !line.is_empty() {
            plot = plot.with(Series::new("", colour, Shape::Line(line.clone()))).with(Series::new(
                direction.to_string(),
                colour,
                Shape::Points(line),
            ));
        }
    }
    if plot.series.is_empty() { Ok(None) } else { plot.svg().map(Some) }
}
