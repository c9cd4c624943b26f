//! `--report FILE.html`: one page that needs nothing else, no network and no script.

use std::fmt::Write;
use std::path::Path;

use crate::cli::Failure;
use crate::json::write_whole;
use crate::results::MARK;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:800px;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ddd}\
table{border-collapse:collapse;margin:.6rem 0;font-size:.92rem}td,th{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #eee}\
td:first-child,th:first-child,td.text{text-align:left}th{font-weight:600}.lead{font-size:1.1rem;background:#eef5fb;border-left:4px solid #0072b2;padding:.6rem 1rem}\
figure{margin:1rem 0}figcaption{font-size:.9rem;color:#555}code{background:#f4f4f4;padding:.1rem .3rem}.wide{overflow-x:auto}";

/// A page that is built from top to bottom.
#[derive(Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// A page with a title.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), body: format!("<h1>{}</h1>\n", escape(title)) }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// What the page is about, set apart: one paragraph a line.
    pub fn lead(&mut self, lines: &[String]) {
        let inner: String = lines.iter().map(|line| format!("<p>{}</p>", escape(line))).collect();
        let _ = writeln!(self.body, "<div class=\"lead\">{inner}</div>");
    }

    /// A list with dots.
    pub fn list(&mut self, items: &[String]) {
        let inner: String = items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        let _ = writeln!(self.body, "<ul>{inner}</ul>");
    }

    /// A table: the first column is text, the others are numbers.
    pub fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let head: String = head.iter().map(|h| format!("<th>{}</th>", escape(h))).collect();
        let rows: String = rows
            .iter()
            .map(|row| format!("<tr>{}</tr>\n", row.iter().map(|c| format!("<td>{}</td>", escape(c))).collect::<String>()))
            .collect();
        let _ = writeln!(self.body, "<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>");
    }

    /// Labels and what stands beside them.
    pub fn facts(&mut self, rows: &[(String, String)]) {
        let rows: String =
            rows.iter().map(|(l, v)| format!("<tr><td>{}</td><td class=\"text\">{}</td></tr>\n", escape(l), escape(v))).collect();
        let _ = writeln!(self.body, "<table><tbody>\n{rows}</tbody></table>");
    }

    /// An `<svg>` element with the sentence that says what to see in it.
    pub fn figure(&mut self, svg: &str, caption: &str) {
        let _ = writeln!(self.body, "<figure>{svg}<figcaption>{}</figcaption></figure>", escape(caption));
    }

    /// The whole page.
    #[must_use]
    pub fn html(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\" {MARK}><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{}</title><style>{STYLE}</style></head><body>\n{}</body></html>\n",
            escape(&self.title),
            self.body
        )
    }

    /// Writes the page, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        write_whole(path, self.html().as_bytes())
    }
}

/// Text with the characters that mean something to HTML replaced.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut page = Page::new("a <b>");
        page.paragraph("x & \"y\"");
        page.table(&["h<"], &[vec!["<td>".into()]]);
        let html = page.html();
        assert!(html.contains("a &lt;b&gt;") && html.contains("x &amp; &quot;y&quot;") && html.contains("<td>&lt;td&gt;</td>"));
        assert!(!html.contains("http:") && !html.contains("<script"), "self-contained");
    }
}
