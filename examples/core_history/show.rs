//! The history live, for people, as JSON, and as a page.

use std::io::Write;

use console::Term;
use qos::Resolution;
use serde_json::{Value, json};
use support::json::number;
use support::machine::Facts;
use support::page::Page;
use support::print::Printer;
use support::units;

use crate::record::{Cpu, Ending, History, Migrations, mean};
use crate::strip;

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A view on standard error that is drawn over again.
pub(crate) struct Live {
    terminal: Term,
    lines: usize,
}

impl Live {
    pub(crate) fn new() -> Self {
        Live { terminal: Term::stderr(), lines: 0 }
    }

    pub(crate) fn draw(&mut self, history: &History) {
        let mut text = String::new();
        if self.lines > 0 {
            text.push_str(&format!("\x1b[{}A", self.lines));
        }
        let (height, width) = self.terminal.size();
        let lines = view(history, usize::from(height), usize::from(width));
        for line in &lines {
            text.push_str(&format!("\x1b[2K{line}\n"));
        }
        // What a taller view has left below.
        text.push_str("\x1b[J");
        self.lines = lines.len();
        // A closed terminal is no reason to stop watching.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// A line for each CPU that a terminal of this size has room for; longer or more lines could not be drawn over.
fn view(history: &History, height: usize, width: usize) -> Vec<String> {
    let room = height.saturating_sub(1).max(1);
    let mut lines: Vec<String> = history.cpus.iter().map(|cpu| line(cpu, width)).collect();
    if lines.len() > room {
        lines.truncate(room - 1);
        let more = format!("and {} more CPUs", history.cpus.len() - lines.len());
        lines.push(more.chars().take(width.saturating_sub(1)).collect());
    }
    lines
}

/// The last readings of a CPU as blocks, on a line shorter than `width`.
fn line(cpu: &Cpu, width: usize) -> String {
    let level = cpu.level.as_ref().map_or("", |(_, name)| name.as_str());
    let now = cpu.busy.last().copied().flatten().map_or_else(|| "off".into(), units::percent);
    let label: String = format!("CPU {:<3} {level:<12} {now:>5} ", cpu.cpu).chars().take(width.saturating_sub(1)).collect();
    let columns = width.saturating_sub(1 + label.chars().count());
    let blocks: String = cpu.busy[cpu.busy.len().saturating_sub(columns)..]
        .iter()
        .map(|busy| busy.map_or('×', |busy| BLOCKS[(busy * 8.0).round() as usize % BLOCKS.len()]))
        .collect();
    label + &blocks
}

fn resolution(history: &History) -> &'static str {
    match history.resolution {
        Resolution::IdleTimes => "idle times in µs, filled in by ticks of 10 ms while a CPU sleeps through",
        Resolution::Ticks => "ticks of 10 ms",
        _ => "not known",
    }
}

const HEAD: [&str; 5] = ["CPU", "level", "cluster", "mean", "most"];

fn rows(history: &History) -> Vec<Vec<String>> {
    let dash = || "–".to_string();
    history
        .cpus
        .iter()
        .map(|cpu| {
            let most = cpu.busy.iter().copied().flatten().reduce(f64::max);
            vec![
                cpu.cpu.to_string(),
                cpu.level.as_ref().map_or_else(dash, |(_, name)| name.clone()),
                cpu.cluster.map_or_else(dash, |cluster| cluster.to_string()),
                mean(0.0, &history.times, &cpu.busy).map_or_else(dash, units::percent),
                most.map_or_else(dash, units::percent),
            ]
        })
        .collect()
}

fn notes(history: &History) -> Vec<String> {
    let mut notes = vec![format!(
        "{} readings, one every {}; source: {}.",
        history.times.len(),
        units::duration(history.interval),
        resolution(history)
    )];
    if history.ending == Ending::Interrupted {
        notes.push("The watching was interrupted.".into());
    }
    if let Ok(Migrations { count, counted }) = &history.migrations {
        notes.push(if *counted {
            format!("The command's threads moved to another CPU {count} times.")
        } else {
            format!("The command's threads were seen on another CPU than at the reading before {count} times (a lower bound).")
        });
    }
    if let Ok(usage) = &history.usage
        && let Some(fast) = usage.performance
        && !usage.total.time.is_zero()
    {
        let share = fast.time.as_secs_f64() / usage.total.time.as_secs_f64();
        notes.push(format!("The command spent {} of its CPU time on performance cores.", units::percent(share)));
    }
    notes
}

pub(crate) fn print(out: &mut Printer, history: &History) {
    out.table(&HEAD, &rows(history));
    for note in notes(history) {
        out.line(note);
    }
}

pub(crate) fn document(facts: &Facts, history: &History) -> Value {
    let cpus: Vec<Value> = history
        .cpus
        .iter()
        .map(|cpu| {
            json!({
                "cpu": cpu.cpu,
                "level": cpu.level.as_ref().map(|level| level.0),
                "level_name": cpu.level.as_ref().map(|level| &level.1),
                "cluster": cpu.cluster,
                "mean_busy": mean(0.0, &history.times, &cpu.busy).map(number),
                "busy": cpu.busy,
            })
        })
        .collect();
    let settings = json!({
        "interval_seconds": number(history.interval.as_secs_f64()),
        "command": if history.command.is_empty() { Value::Null } else { json!(history.command) },
    });
    let results = vec![
        ("resolution", json!(history.resolution)),
        ("resolution_text", json!(resolution(history))),
        ("times_seconds", json!(history.times)),
        ("cpus", json!(cpus)),
        ("migrations", json!(history.migrations.as_ref().ok().map(|seen| seen.count))),
        ("migrations_counted", json!(history.migrations.as_ref().ok().map(|seen| seen.counted))),
        ("migrations_reason", json!(history.migrations.as_ref().err())),
        ("usage", json!(history.usage.as_ref().ok())),
        ("usage_reason", json!(history.usage.as_ref().err())),
        ("ending", json!(history.ending)),
        ("exit_code", json!(history.exit.and_then(|status| status.code()))),
        ("exit_text", json!(history.exit.map(|status| status.to_string()))),
    ];
    support::json::document("gannet/core_history/1", facts.json(), settings, results)
}

pub(crate) fn page(facts: &Facts, history: &History) -> Page {
    let mut page = Page::new("How busy every core was");
    page.lead(&notes(history));
    page.figure(&strip::svg(history).replace(" xmlns=\"http://www.w3.org/2000/svg\"", ""), "A row for each CPU, the darker the busier.");
    page.table(&HEAD, &rows(history));
    facts.put_on(&mut page);
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::history;

    #[test]
    fn the_document_has_its_fields() {
        let value = document(&Facts::detect(), &history());
        assert_eq!(value["schema"], "gannet/core_history/1");
        assert_eq!(value["times_seconds"].as_array().unwrap().len(), 3);
        assert_eq!(value["cpus"][0]["busy"], json!([1.0, 0.5, 0.0]));
        assert!((value["cpus"][0]["mean_busy"].as_f64().unwrap() - 0.5).abs() < 1e-12);
        assert_eq!((&value["migrations"], &value["migrations_reason"]), (&json!(2), &Value::Null));
        assert_eq!(value["migrations_counted"], false);
        assert!(value["usage"].is_null() && value["usage_reason"].is_string());
        assert_eq!(value["settings"]["interval_seconds"], 0.1);
        assert_eq!(value["ending"], "command");
        for field in ["resolution", "resolution_text", "exit_code", "exit_text"] {
            assert!(!value[field].is_null(), "{field}");
        }
    }

    #[test]
    fn a_line_shows_the_last_readings() {
        let mut cpu = history().cpus.remove(0);
        assert_eq!(line(&cpu, 80), format!("CPU 1{}0 % █▄ ", " ".repeat(18)));
        cpu.busy.push(None);
        assert!(line(&cpu, 80).contains("off") && line(&cpu, 80).ends_with('×'));
    }

    #[test]
    fn the_view_fits_every_terminal() {
        let mut history = history();
        history.cpus[0].busy = (0..500).map(|n| Some(f64::from(n) / 500.0)).collect();
        for (height, width) in [(24, 80), (2, 30), (1, 10), (0, 0), (50, 200)] {
            let lines = view(&history, height, width);
            assert!(lines.len() <= height.saturating_sub(1).max(1), "{height}");
            assert!(lines.iter().all(|line| line.chars().count() < width.max(1)), "{width}: {lines:?}");
        }
        // The newest reading is always shown.
        assert!(line(&history.cpus[0], 40).ends_with('█'));
        assert_eq!(view(&history, 2, 80), ["and 2 more CPUs"]);
    }

    #[test]
    fn the_page_needs_nothing_else() {
        let html = page(&Facts::detect(), &history()).html();
        assert!(html.contains("<svg") && !html.contains("http:"));
    }
}
