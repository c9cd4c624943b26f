//! The findings as a page.

use diskbench::{Direction, Sample};
use support::cli::Failure;
use support::page::Page;
use support::plot::{Plot, Series, Shape};

use crate::Findings;
use crate::show;
use crate::summary::Summary;

const STEPS: usize = 80;

pub(crate) fn page(found: &Findings) -> Result<Page, Failure> {
    let mut page = Page::new(&format!("Disk speed of {}", found.report.volume.mount_point.display()));
    page.lead(&found.summaries().map(|s| format!("{}. {}", show::heading(s), show::change_line(s))).collect::<Vec<_>>());
    page.list(&show::warnings(found));
    for summary in found.summaries() {
        page.heading(&show::heading(summary));
        page.list(&show::verdicts(summary));
        page.facts(&show::figures(summary, found.confidence));
    }
    if found.summaries().next().is_some() {
        page.heading("Rate over size");
        page.figure(&rate_over_size(found)?, "Each mark is a file: its bytes over the time of transfer and sync. Lines: the robust fit.");
        page.heading("Time over size");
        page.figure(&time_over_size(found)?, "The same files. Lines: time = latency + bytes / bandwidth.");
        page.heading("Rate in run order");
        page.figure(&rate_in_order(found)?, "The same files in the order of the run: a disk that slows down shows here.");
    }
    for summary in found.summaries() {
        page.heading(&format!("By size: {}", summary.direction));
        page.table(&show::size_head(summary), &show::size_rows(summary));
    }
    page.heading("How and where");
    for facts in [show::setting_lines(found), show::volume_lines(&found.report), found.machine.lines()] {
        page.facts(&facts);
    }
    Ok(page)
}

fn colour(direction: Direction) -> usize {
    match direction {
        Direction::Write => 0,
        Direction::Read => 1,
    }
}

fn marks(found: &Findings, s: &Summary, point: impl Fn(&Sample) -> (f64, f64)) -> Series {
    let points = found.report.samples(s.direction).map(point).collect();
    Series::new(s.direction.to_string(), colour(s.direction), Shape::Points(points))
}

/// The fit over the sizes of the run, evenly in their logarithm; `None` without one.
fn curve(s: &Summary, value: impl Fn(f64, f64) -> f64) -> Option<Series> {
    let affine = s.affine.as_ref().ok()?;
    let (first, last) = (s.by_size.first()?.bytes as f64, s.by_size.last()?.bytes as f64);
    let at = |i: usize| first * (last / first).powf(i as f64 / STEPS as f64);
    let points = (0..=STEPS).map(at).map(|bytes| (bytes * 1e-6, value(bytes, affine.predict(bytes)))).collect();
    Some(Series::new("", colour(s.direction), Shape::Line(points)))
}

fn rate_over_size(found: &Findings) -> Result<String, Failure> {
    let mut plot = Plot::new("size (MB)", "rate (MB/s)");
    plot.log_x = true;
    for s in found.summaries() {
        plot.series.extend(curve(s, |bytes, seconds| bytes / seconds * 1e-6));
        plot.series.push(marks(found, s, |sample| (sample.bytes as f64 * 1e-6, sample.bytes_per_second() * 1e-6)));
    }
    plot.svg()
}

fn time_over_size(found: &Findings) -> Result<String, Failure> {
    let mut plot = Plot::new("size (MB)", "time (s)");
    for s in found.summaries() {
        plot.series.extend(curve(s, |_, seconds| seconds));
        plot.series.push(marks(found, s, |sample| (sample.bytes as f64 * 1e-6, sample.elapsed().as_secs_f64())));
    }
    plot.svg()
}

fn rate_in_order(found: &Findings) -> Result<String, Failure> {
    let mut plot = Plot::new("file in run order", "rate (MB/s)");
    for s in found.summaries() {
        let points = found.report.samples(s.direction).enumerate().map(|(i, sample)| (i as f64 + 1.0, sample.bytes_per_second() * 1e-6));
        plot.series.push(Series::new(s.direction.to_string(), colour(s.direction), Shape::Points(points.collect())));
    }
    plot.svg()
}
