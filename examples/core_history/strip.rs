//! The strip chart: a row for each CPU, a column for each reading, the darker the busier.

use std::fmt::Write;

use support::results::MARK;

use crate::record::{Cpu, History, mean};

const LEFT: usize = 150;
const WIDTH: usize = 600;
const ROW: usize = 18;
/// Between levels and between clusters.
const GAP: usize = 6;
/// More columns than this would be too narrow to see: their readings are shown as means.
const MOST_COLUMNS: usize = 1200;

/// The chart as an `<svg>` element.
pub(crate) fn svg(history: &History) -> String {
    let group = |cpu: &Cpu| (cpu.level.as_ref().map(|level| level.0), cpu.cluster);
    let gaps = history.cpus.windows(2).filter(|pair| group(&pair[0]) != group(&pair[1])).count();
    let height = ROW * history.cpus.len() + GAP * gaps + 40;
    let mut text = format!(
        "<svg {MARK} xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n",
        LEFT + WIDTH + 10
    );
    let end = history.times.last().copied().unwrap_or(1.0);
    let x = |time: f64| LEFT as f64 + WIDTH as f64 * time / end;
    let mut y = 4;
    for (row, cpu) in history.cpus.iter().enumerate() {
        if row > 0 {
            y += ROW + if group(cpu) == group(&history.cpus[row - 1]) { 0 } else { GAP };
        }
        let level = cpu.level.as_ref().map_or("", |(_, name)| name.as_str());
        let _ = writeln!(text, "<text x=\"4\" y=\"{}\">CPU {} {}</text>", y + 12, cpu.cpu, support::page::escape(level));
        for (from, to, busy) in columns(&history.times, &cpu.busy) {
            let _ = writeln!(
                text,
                "<rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" fill=\"#0072b2\" fill-opacity=\"{busy:.3}\"/>",
                x(from),
                x(to) - x(from),
                ROW - 2
            );
        }
        let _ = writeln!(text, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{}\" fill=\"none\" stroke=\"#bbb\"/>", ROW - 2);
    }
    let y = height - 16;
    for step in 0..=4 {
        let time = end * f64::from(step) / 4.0;
        let label = support::units::significant(time, 3);
        let _ =
            writeln!(text, "<text x=\"{:.1}\" y=\"{y}\" text-anchor=\"middle\">{label} s</text>", x(time).min((LEFT + WIDTH - 14) as f64));
    }
    text.push_str("</svg>\n");
    text
}

/// Start, end and mean of each column in which the CPU was there.
fn columns(times: &[f64], busy: &[Option<f64>]) -> Vec<(f64, f64, f64)> {
    let per_column = times.len().div_ceil(MOST_COLUMNS).max(1);
    let mut from = 0.0;
    let mut columns = Vec::new();
    for (times, busy) in times.chunks(per_column).zip(busy.chunks(per_column)) {
        let to = times[times.len() - 1];
        columns.extend(mean(from, times, busy).map(|busy| (from, to, busy)));
        from = to;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_of_every_cpu_is_drawn() {
        let text = svg(&crate::record::tests::history());
        assert_eq!(text.matches("fill-opacity").count(), 6);
        assert_eq!(text.matches("CPU ").count(), 2);
        assert!(text.contains("fill-opacity=\"1.000\"") && text.contains("fill-opacity=\"0.250\""));
        assert!(text.ends_with("</svg>\n"));
    }

    #[test]
    fn a_long_history_is_shown_by_means() {
        let times: Vec<f64> = (1..=3000).map(f64::from).collect();
        let busy: Vec<_> = (0..3000).map(|n| (n >= 3).then_some(f64::from(n % 3) / 2.0)).collect();
        let columns = columns(&times, &busy);
        assert_eq!((columns.len(), columns[0]), (999, (3.0, 6.0, 0.5)));
        assert!(columns.iter().all(|column| column.2 == 0.5));
    }

    #[test]
    fn levels_and_clusters_stand_apart() {
        let mut history = crate::record::tests::history();
        let rows = |history: &History| {
            let text = svg(history);
            text.match_indices("<text x=\"4\" y=\"")
                .map(|(at, _)| text[at + 15..].split('"').next().unwrap().parse::<usize>().unwrap())
                .collect()
        };
        let together: Vec<usize> = rows(&history);
        history.cpus[1].cluster = Some(1);
        let apart: Vec<usize> = rows(&history);
        assert_eq!((together[1] - together[0], apart[1] - apart[0]), (ROW, ROW + GAP));
    }
}
