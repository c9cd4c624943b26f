//! Text on standard output, which stops quietly when nobody reads it and stays silent when JSON goes there.

use std::io::{self, Write};

use crate::cli::Failure;
use crate::json::Target;

/// Standard output for people.
#[derive(Debug)]
pub struct Printer {
    open: bool,
    failed: Option<io::Error>,
}

impl Printer {
    /// A printer that is silent if `json` goes to standard output.
    #[must_use]
    pub fn new(json: Option<&Target>) -> Self {
        Self { open: json != Some(&Target::Stdout), failed: None }
    }

    /// Prints one line (or several).
    pub fn line(&mut self, text: impl AsRef<str>) {
        if self.open
            && let Err(error) = writeln!(io::stdout().lock(), "{}", text.as_ref())
        {
            self.open = false;
            self.failed = Some(error);
        }
    }

    /// Whether all lines were written, for programs whose text is the result. Nobody reading on is no failure.
    ///
    /// # Errors
    /// The first that writing met, such as a full disk.
    pub fn finish(self) -> Result<(), Failure> {
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::run(format!("standard output: {error}"))),
            _ => Ok(()),
        }
    }

    /// Prints a heading with an empty line before it.
    pub fn heading(&mut self, text: &str) {
        self.line(format!("\n{text}"));
    }

    /// Prints a table; see [`table`].
    pub fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.line(table(head, rows).trim_end());
    }
}

/// A table in aligned columns: the first is left-aligned, the others right-aligned.
#[must_use]
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut width: Vec<usize> = head.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (w, cell) in width.iter_mut().zip(row) {
            *w = (*w).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let mut push = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::from(" ");
        for (column, (cell, w)) in cells.zip(&width).enumerate() {
            let pad = " ".repeat(w - cell.chars().count());
            line.push(' ');
            if column == 0 {
                line.push_str(cell);
                line.push_str(&pad);
            } else {
                line.push(' ');
                line.push_str(&pad);
                line.push_str(cell);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    push(&mut head.iter().copied());
    for row in rows {
        push(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let text = table(&["a", "rate"], &[vec!["long".into(), "1".into()], vec!["µ".into(), "23456".into()]]);
        assert_eq!(text, "  a      rate\n  long      1\n  µ     23456\n");
    }
}
