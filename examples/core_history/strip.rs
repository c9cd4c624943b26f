//! The strip chart: a row for each CPU, a column for each reading, the darker the busier.

use std::fmt::Write;

use crate::record::History;

const LEFT: usize = 150;
const WIDTH: usize = 600;
const ROW: usize = 18;

/// The chart as an `<svg>` element.
pub(crate) fn svg(history: &History) -> String {
    let height = ROW * history.cpus.len() + 40;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n",
        LEFT + WIDTH + 10
    );
    let end = history.times.last().copied().unwrap_or(1.0);
    let x = |time: f64| LEFT as f64 + WIDTH as f64 * time / end;
    for (row, cpu) in history.cpus.iter().enumerate() {
        let y = ROW * row + 4;
        let level = cpu.level.as_ref().map_or("", |(_, name)| name.as_str());
        let _ = writeln!(text, "<text x=\"4\" y=\"{}\">CPU {} {}</text>", y + 12, cpu.cpu, support::page::escape(level));
        let mut from = 0.0;
        for (&to, busy) in history.times.iter().zip(&cpu.busy) {
            if let Some(busy) = busy {
                let _ = writeln!(
                    text,
                    "<rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" fill=\"#0072b2\" fill-opacity=\"{busy:.3}\"/>",
                    x(from),
                    x(to) - x(from),
                    ROW - 2
                );
            }
            from = to;
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
}
